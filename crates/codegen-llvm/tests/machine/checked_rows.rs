//! Kernels with a copy without checks: rows in which an index wraps around leave what the interpreter leaves, in groups
//! that chunks do not fill.

use super::sandbox::{Arg, Grid, done, line};

/// Reads `%a` twice, where `%i` and where `%j` is less than `%len`.
fn kernel(i: &str, j: &str) -> String {
    format!(
        "kernel @k(%a: ptr<global>, %len: i64, %out: ptr<global>, %n: i64, %m: i64) {{
         e:
         %g: i64 = wi.GlobalInvocationId 0
         %g32: i32 = to.trunc %g
         %masked: i64 = and %g, i64 3
         {i}
         {j}
         %ini: bool = cmp.ult %i, %len
         br_if %ini, one, two
         one:
         %p: ptr<global> = offset %a [%masked * 4 + 0]
         %v: i32 = load %p align 4
         br two
         two:
         %x: i32 = phi e: i32 77, one: %v
         %inj: bool = cmp.ult %j, %len
         br_if %inj, three, end
         three:
         %q: ptr<global> = offset %a [%j * 4 + 0]
         %w: i32 = load %q align 4
         br end
         end:
         %y: i32 = phi two: i32 78, three: %w
         %z: i32 = imul %y, i32 100
         %s: i32 = iadd %x, %z
         %to: ptr<global> = offset %out [%g * 4 + 0]
         store %to, %s align 4
         ret
         }}"
    )
}

/// `factor * id + by` in so many bits, extended.
fn index(name: &str, bits: u32, factor: u32, by: &str, extension: &str) -> String {
    format!(
        "%{name}g: i{bits} = to.trunc %g
         %{name}f: i{bits} = imul %{name}g, i{bits} {factor}
         %{name}b: i{bits} = to.trunc %{by}
         %{name}s: i{bits} = iadd %{name}f, %{name}b
         %{name}: i64 = to.{extension} %{name}s"
    )
}

#[test]
fn indices_that_wrap_around_in_a_row_read_the_same() {
    let elements: Vec<u8> = (1..=40).flat_map(i32::to_le_bytes).collect();
    // Branches on large steps are not tested for a whole chunk.
    for (bits, factor, extensions) in [
        (32, 1, ["zext", "zext"]),
        (32, 8, ["zext", "zext"]),
        (32, 8, ["sext", "zext"]),
        (16, 8, ["zext", "sext"]),
    ] {
        let i = index("i", bits, factor, "n", extensions[0]);
        let j = index("j", 32, 1, "m", extensions[1]);
        let text = kernel(&i, &j);
        for (size, offset) in [(16, 0), (21, 3)] {
            let grid = Grid {
                offset: [offset, 0, 0],
                ..line(2, size)
            };
            for n in [0, 5, -4, -32, i64::from(i32::MAX) - 16, 0x7ff0] {
                for m in [0, 2, -3] {
                    let args = vec![
                        Arg::Buffer(elements.clone()),
                        Arg::Value(40_u64.to_le_bytes().to_vec()),
                        Arg::Buffer(vec![0; 4 * 48]),
                        Arg::Value(n.to_le_bytes().to_vec()),
                        Arg::Value(i64::to_le_bytes(m).to_vec()),
                    ];
                    done(&text, grid, args);
                }
            }
        }
    }
}
