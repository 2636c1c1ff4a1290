//! Structures, pointers, generic pointers, private arrays.

use super::{Arg, Case, Draw, Expect, also, bytes, case, changed, input, output, value};

/// `S` of memory.cl, in C's layout: a at 0, b at 4, c at 8, d at 16, e at 24; 32 bytes.
#[derive(Clone, Copy)]
struct S {
    a: i32,
    b: i8,
    c: i64,
    d: [i16; 3],
    e: [f32; 2],
}

impl S {
    fn bytes(&self) -> Vec<u8> {
        let mut v = self.a.to_le_bytes().to_vec();
        v.push(self.b as u8);
        v.resize(8, 0);
        v.extend(self.c.to_le_bytes());
        v.extend(bytes(&self.d));
        v.resize(24, 0);
        v.extend(bytes(&self.e));
        v
    }
    fn number(i: i32) -> Self {
        let c = i64::from(i) << 33;
        Self {
            a: i * 7 - 3,
            b: -i as i8,
            c,
            d: [i as i16, -2, i as i16 * 100],
            e: [0.5, i as f32],
        }
    }
}

fn kernels(module: &'static str) -> Vec<Case> {
    let mut cases = Vec::new();
    let s = S {
        a: -5,
        b: -7,
        c: 1 << 40,
        d: [10, -20, 30],
        e: [1.5, -2.5],
    };
    let packed = [
        &[(-9i8) as u8][..],
        &123_456i32.to_le_bytes(),
        &(-3i16).to_le_bytes(),
        &(-1i64 << 50).to_le_bytes(),
    ]
    .concat();
    let mut out: Vec<i64> = vec![
        -5,
        -7,
        1 << 40,
        -20,
        -2,
        -9,
        123_456,
        -3,
        -1 << 50,
        32 + 1500,
    ];
    out.extend((0..6).map(|i| i - 5));
    cases.push(case(
        module,
        "by_value",
        2,
        3,
        vec![
            Arg::Value(s.bytes()),
            Arg::Value(packed),
            value(1i32),
            output(&out),
        ],
    ));

    let n = 5;
    let all: Vec<S> = (0..n).map(S::number).collect();
    let (mut nested, mut small) = (Vec::new(), Vec::new());
    for i in 0..n as usize {
        let (first, mut second) = (all[i], all[n as usize - 1 - i]);
        let tail = first.a - second.a;
        second.d[i % 3] = 77;
        for s in [first, second] {
            let padding = |i: usize| (5..8).contains(&i) || (22..24).contains(&i);
            nested.extend(
                s.bytes()
                    .into_iter()
                    .enumerate()
                    .map(|(i, b)| (!padding(i)).then_some(b)),
            );
        }
        nested.extend(tail.to_le_bytes().map(Some));
        nested.extend([None; 4]);
        small.push(i as u8);
        small.extend(tail.to_le_bytes());
        small.extend(first.d[1].to_le_bytes());
        small.extend(first.c.to_le_bytes());
    }
    let input_bytes: Vec<u8> = all.iter().flat_map(S::bytes).collect();
    let before = vec![0; nested.len()];
    let packed_before = vec![0xa5; small.len()];
    cases.push(case(
        module,
        "structs",
        n as u32,
        1,
        vec![
            Arg::In(input_bytes),
            Arg::Out(before, Expect::Known(nested)),
            Arg::Out(packed_before, Expect::Bytes(small)),
        ],
    ));

    let floats = [1.0f32, -2.0, 1e30, 0.0];
    let mut out = Vec::new();
    for f in floats {
        let flipped = f.to_bits() ^ 0x8000_0000;
        out.extend([flipped, flipped.wrapping_add(1) & 0xffff]);
    }
    cases.push(case(
        module,
        "unions",
        1,
        4,
        vec![input(&floats), output(&out)],
    ));

    let mut draw = Draw::new(8);
    let a = draw.ints(9, 0, 1 << 30);
    let mut out: Vec<i32> = Vec::new();
    for i in 0..9i32 {
        let (p, q) = (i, 8 - i);
        let second_byte = a[i as usize].to_le_bytes()[1] as i8;
        out.extend([
            a[p as usize] - a[q as usize],
            q - p,
            i32::from(p < q),
            i32::from(p == q),
            a[0],
            i32::from(second_byte),
        ]);
    }
    cases.push(case(
        module,
        "pointers",
        3,
        3,
        vec![changed(&a, &a), output(&out), value(9i32)],
    ));

    let values: Vec<i32> = (0..6).map(|i| i * i - 3).collect();
    let nodes: Vec<u8> = values
        .iter()
        .flat_map(|v| [v.to_le_bytes().to_vec(), vec![0; 12]].concat())
        .collect();
    let sum = values.iter().fold(0i32, |s, v| s * 3 + v);
    cases.push(case(
        module,
        "list",
        1,
        2,
        vec![Arg::Out(nodes, Expect::Any), output(&[sum]), value(6i32)],
    ));

    let n = 12usize;
    let g: Vec<i32> = (0..n as i32).map(|i| i * 3 + 1).collect();
    let (mut after, mut out) = (g.clone(), Vec::new());
    for i in 0..n {
        let first = match i % 3 {
            0 => g[i],
            1 => g[i] * 10,
            _ => [1, 2, 3, 4][i % 4],
        };
        if i % 3 == 0 {
            after[i] = i as i32 + 100;
        }
        out.extend([first, i as i32 + 100, i32::from(i % 3 == 0), [-8, 9][i & 1]]);
    }
    cases.push(case(
        module,
        "generics",
        1,
        n as u32,
        vec![
            changed(&g, &after),
            Arg::Local(4 * n as u32),
            output(&out),
            input(&[-8i32, 9]),
        ],
    ));

    let a = draw.ints(40, -100, 100);
    let mut out = Vec::new();
    for i in 0..40 {
        let mut t: Vec<i32> = (0..33).map(|k| a[(i + k) % 40]).collect();
        t.sort_unstable();
        out.extend([t[16], t[i * 7 % 33]]);
    }
    cases.push(case(
        module,
        "private_array",
        5,
        8,
        vec![input(&a), output(&out), value(40i32)],
    ));

    let after: Vec<i32> = a.iter().map(|x| x + 1).collect();
    let squares: Vec<i32> = after.iter().map(|x| x * x).collect();
    cases.push(case(
        module,
        "volatiles",
        4,
        10,
        vec![changed(&a, &after), output(&squares)],
    ));
    cases
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = kernels("memory");
    cases.extend(also("memory.O0", kernels("memory")));
    cases
}
