//! Built-in functions of Intel's graphics compiler.

use super::{Arg, Case, Draw, Expect, bytes, case, changed, input, output, value};

/// Bytes in which some are known; the rest keeps the junk of [`output`].
fn placed(len: usize, parts: &[(usize, Vec<u8>)]) -> Arg {
    let before = vec![0xa5; len];
    let mut after = before.clone();
    for (at, part) in parts {
        after[*at..at + part.len()].copy_from_slice(part);
    }
    Arg::Out(before, Expect::Bytes(after))
}

fn accesses() -> Case {
    let (groups, size) = (2u32, 8usize);
    let n = groups as usize * size;
    let mut draw = Draw::new(77);
    let words: Vec<u32> = (0..n + 16).map(|_| draw.next() as u32).collect();
    let mut parts = Vec::new();
    for i in 0..n {
        let mut put = |word: usize, shift: usize, bytes: Vec<u8>| {
            parts.push((4 * (24 * i + word) + shift, bytes));
        };
        let next = i / size * size + (i + 1) % size;
        put(0, 0, bytes(&words[i + 1..i + 2]));
        put(1, 1, vec![(words[i] >> 24) as u8]);
        put(2, 2, bytes(&[(words[i] >> 16) as u16]));
        put(6, 0, bytes(&words[i + 6..i + 9]));
        put(9, 0, bytes(&words[i + 8..i + 16]));
        put(18, 0, bytes(&words[4 * (i & 3)..4 * (i & 3) + 4]));
        put(22, 0, bytes(&[words[next], next as u32]));
    }
    let out = placed(4 * 24 * n, &parts);
    let args = vec![input(&words), out, Arg::Local(8 * size as u32)];
    case("intel", "cached", groups, size as u32, args)
}

fn atomics() -> Vec<Case> {
    let n = 16u32;
    let counters = [3u32, 500, 0, 7, 0xffff_0005, 2, 0, 0];
    let after = [
        3 + n,
        500 - n * (n - 1) / 2,
        (5 - (n as i32 - 1)) as u32,
        3 * (n - 1),
        0xffff_0005 + n,
        2u32.wrapping_sub(n),
        0xff,
        0xff,
    ];
    let wide = (0..n).fold(5u64, |all, i| all ^ 1 << (i + 20));
    let many = vec![
        changed(&counters, &after),
        changed(&[1.0f32, 0.5, 0.0], &[-7.0, 120.5, 3.75]),
        changed(&[5u64], &[wide]),
        Arg::Local(4),
    ];
    let one = vec![
        changed(&[7u32, 7, 3], &[9, 7, 11]),
        changed(&[1.5f32], &[2.5]),
        changed(&[6i64], &[-4]),
        output(&[7u32, 7, 9, 3, 1, 6, 0xfffe, 0xffff_fffd, 0xfff7]),
        Arg::Local(2),
    ];
    vec![
        case("intel", "counted", 2, 8, many),
        case("intel", "old_values", 1, 1, one),
    ]
}

fn rows() -> Case {
    let mut draw = Draw::new(78);
    let words: Vec<u32> = (0..128).map(|_| draw.next() as u32).collect();
    let half = |i: usize| words[i / 2] >> (16 * (i % 2)) & 0xffff;
    let mut out = Vec::new();
    for l in 0..16 {
        let sum = words[48 + l].wrapping_mul(3);
        let sum = sum.wrapping_add(half(80 + l) * 5);
        let sum = sum.wrapping_add(words[2 * (16 + l)].wrapping_mul(7));
        out.push(sum.wrapping_add(words[l] & 0xff));
    }
    out.extend(&words[16..48]);
    let args = vec![input(&words), output(&out), Arg::Local(16)];
    case("intel", "rows", 1, 16, args)
}

/// Bytes that have rows.
struct Surface {
    bytes: Vec<u8>,
    width: i32,
    height: i32,
    pitch: i32,
}

impl Surface {
    /// The element in row `y` and column `x`: zero outside.
    fn at(&self, element: i32, x: i32, y: i32) -> Vec<u8> {
        let mut bytes = vec![0; element as usize];
        for (i, byte) in (0..).zip(&mut bytes) {
            let column = x * element + i;
            if (0..self.width).contains(&column) && (0..self.height).contains(&y) {
                *byte = self.bytes[(y * self.pitch + column) as usize];
            }
        }
        bytes
    }
    /// Rows of columns of elements.
    fn rows(&self, element: i32, (rows, columns): (i32, i32), (x, y): (i32, i32)) -> Vec<u8> {
        let places = (0..rows).flat_map(|r| (0..columns).map(move |c| (x + c, y + r)));
        places.flat_map(|(x, y)| self.at(element, x, y)).collect()
    }
    /// Columns of rows.
    fn columns(&self, element: i32, (rows, columns): (i32, i32), (x, y): (i32, i32)) -> Vec<u8> {
        let places = (0..columns).flat_map(|c| (0..rows).map(move |r| (x + c, y + r)));
        places.flat_map(|(x, y)| self.at(element, x, y)).collect()
    }
    /// Rows of 4 bytes that lie in one column.
    fn packed(&self, element: i32, (rows, columns): (i32, i32), (x, y): (i32, i32)) -> Vec<u8> {
        let together = 4 / element;
        let mut all = Vec::new();
        for r in (0..rows).step_by(together as usize) {
            for c in 0..columns {
                all.extend((0..together).flat_map(|t| self.at(element, x + c, y + r + t)));
            }
        }
        all
    }
}

fn surface() -> Surface {
    let (width, height, pitch) = (96, 40, 112);
    let mut draw = Draw::new(79);
    let bytes = (0..pitch * height).map(|_| draw.next() as u8).collect();
    Surface {
        bytes,
        width,
        height,
        pitch,
    }
}

fn blocks((x, y): (i32, i32)) -> Case {
    let s = surface();
    let beside = |shift: i32| (x + shift, y);
    // A block of half a register is filled up with zeros.
    let filled = |mut bytes: Vec<u8>| {
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes
    };
    let parts = [
        (0, s.rows(2, (8, 16), (x, y))),
        (
            1024,
            [s.rows(2, (8, 16), (x, y)), s.rows(2, (8, 16), beside(16))].concat(),
        ),
        (2048, s.rows(1, (8, 32), (x, y))),
        (3072, s.rows(1, (1, 64), (x, y))),
        (
            4096,
            [
                filled(s.rows(4, (4, 8), (x, y))),
                filled(s.rows(4, (4, 8), beside(8))),
            ]
            .concat(),
        ),
        (5120, s.columns(4, (16, 8), (x, y))),
        (6144, s.columns(4, (8, 8), (x, y))),
        (7168, s.columns(1, (32, 4), (x, y))),
        (8192, s.columns(8, (16, 4), (x, y))),
        (9216, s.packed(1, (32, 16), (x, y))),
        (
            10240,
            [
                s.packed(2, (16, 16), (x, y)),
                s.packed(2, (16, 16), beside(16)),
            ]
            .concat(),
        ),
    ];
    let args = vec![
        input(&s.bytes),
        value(s.width),
        value(s.height),
        value(s.pitch),
        value(x),
        value(y),
        placed(11264, &parts),
    ];
    case("intel", "blocks", 1, 16, args)
}

fn written((x, y): (i32, i32)) -> Case {
    let s = surface();
    let mut after = s.bytes.clone();
    let mut put = |column: i32, row: i32, byte: u8| {
        if (0..s.width).contains(&column) && (0..s.height).contains(&row) {
            after[(row * s.pitch + column) as usize] = byte;
        }
    };
    for r in 0..8i32 {
        for l in 0..16i32 {
            let word = (r * 256 + l + 1) as u16;
            for (i, byte) in (0..).zip(word.to_le_bytes()) {
                put(2 * (x + l) + i, y + r, byte);
                if r < 4 {
                    put(x + 8 + 2 * l + i, y + 9 + r, byte);
                }
            }
        }
    }
    let args = vec![
        changed(&s.bytes, &after),
        value(s.width),
        value(s.height),
        value(s.pitch),
        value(x),
        value(y),
    ];
    case("intel", "written", 1, 16, args)
}

/// The nearest bfloat16, the even one of two.
fn bfloat16(x: f32) -> u16 {
    let bits = x.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn numbers() -> Case {
    let mut draw = Draw::new(80);
    let mut floats = vec![
        1.0f32,
        -2.5,
        0.1,
        3.0e38,
        1.001_953_1,
        1.005_859_4,
        0.0,
        -1.0e-30,
    ];
    floats.extend(
        draw.ints(24, -1_000_000, 1_000_000)
            .iter()
            .map(|&v| v as f32 / 7.0),
    );
    let mut values: Vec<i32> = [
        [0x7f7f_7f7f, 0x7f7f_7f7f, i32::MAX - 5, 1],
        [-1, 0x0102_0304, -7, 0],
        [0x8080_8080u32 as i32, 0x7f7f_7f7f, i32::MIN + 9, 1],
        [-1, -1, -9, 1],
    ]
    .concat();
    values.extend((0..16).map(|_| draw.next() as i32));
    let (mut bf, mut back, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for f in floats.chunks_exact(4) {
        let four: Vec<u16> = f.iter().map(|&x| bfloat16(x)).collect();
        back.extend(
            four[1..3]
                .iter()
                .map(|&b| f32::from_bits(u32::from(b) << 16)),
        );
        bf.extend(four);
    }
    for v in values.chunks_exact(4) {
        let [a, b, sum, flag] = [v[0], v[1], v[2], v[3]];
        let parts = |word: i32, signed: bool| {
            word.to_le_bytes().map(|b| {
                if signed {
                    i64::from(b as i8)
                } else {
                    i64::from(b)
                }
            })
        };
        let products = |signed: (bool, bool)| -> i64 {
            let pairs = parts(a, signed.0).into_iter().zip(parts(b, signed.1));
            pairs.map(|(a, b)| a * b).sum()
        };
        let limited = |total: i64| total.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        let whole = i64::from(sum);
        let either = |total: i64| {
            if flag & 1 == 1 {
                limited(total)
            } else {
                total as i32
            }
        };
        let unsigned = i64::from(sum as u32) + products((false, false));
        out.extend([
            (whole + products((true, true))) as i32,
            either(whole + products((true, false))),
            limited(whole + products((false, true))),
            if flag & 1 == 1 {
                unsigned.min(i64::from(u32::MAX)) as u32 as i32
            } else {
                unsigned as i32
            },
            limited(whole + products((true, true))),
        ]);
    }
    let args = vec![
        input(&floats),
        input(&values),
        output(&bf),
        output(&back),
        output(&out),
    ];
    case("intel", "numbers", 2, 4, args)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![accesses(), rows(), numbers()];
    cases.extend(atomics());
    // Inside, over each edge, and beside the surface.
    for place in [(4, 3), (-4, -3), (40, 30), (8, 39), (200, 5), (0, -40)] {
        cases.push(blocks(place));
        cases.push(written(place));
    }
    cases
}
