//! The same bits as components of another size: as_int(uchar4), as_double2(float4) and the like.

use super::native::{Native, settings};
use kernel_ir::abi::Launch;

/// Doubles each component of `bits` bits.
fn doubled(bytes: &[u8], bits: usize) -> Vec<u8> {
    let twice = |component: &[u8]| {
        let mut wide = [0; 8];
        wide[..component.len()].copy_from_slice(component);
        let twice = u64::from_le_bytes(wide).wrapping_mul(2);
        twice.to_le_bytes()[..component.len()].to_vec()
    };
    bytes.chunks(bits / 8).flat_map(twice).collect()
}

#[test]
fn bits_are_the_same_in_all_lanes() {
    const ITEMS: usize = 37;
    for (from, to, bits, bytes) in [
        ("<4 x i8>", "i32", 32, 4),
        ("i32", "<4 x i8>", 8, 4),
        ("<2 x i16>", "<4 x i8>", 8, 4),
        ("<4 x f32>", "<2 x i64>", 64, 16),
        ("<2 x f64>", "<4 x i32>", 32, 16),
        ("<2 x i64>", "<8 x i16>", 16, 16),
        ("<8 x i8>", "i64", 64, 8),
        ("f64", "<8 x i8>", 8, 8),
        ("<4 x f16>", "<2 x i32>", 32, 8),
        // As many as there are.
        ("<2 x f32>", "<2 x i32>", 32, 8),
    ] {
        // The second is done by some work-items only.
        for guard in [false, true] {
            let (test, rest) = match guard {
                true => (
                    "%low: i64 = and %i, i64 3
  %some: bool = cmp.ine %low, i64 1
  br_if %some, work, end
work:",
                    "br end
end:",
                ),
                false => ("", ""),
            };
            let text = format!(
                "kernel @k(%in: ptr<global>, %out: ptr<global>) {{
b0:
  %i: i64 = wi.GlobalInvocationId 0
  %from: ptr<global> = offset %in [%i * {bytes} + 0]
  %to: ptr<global> = offset %out [%i * {bytes} + 0]
  {test}
  %v: {from} = load %from align 1
  %c: {to} = to.bitcast %v
  %d: {to} = iadd %c, %c
  store %to, %d align 1
  {rest}
  ret
}}"
            );
            let what = format!("{from} to {to}, {guard}");
            let mut module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{what}: {e}"));
            kernel_ir::passes::prepare(&mut module).unwrap_or_else(|e| panic!("{what}: {e}"));
            let native = Native::new(module, settings(16));
            let lanes = native.text();
            assert!(
                // Stores of some lanes may be.
                guard || !lanes.contains("llvm.cttz"),
                "{what}: lane after lane\n{lanes}"
            );
            let input: Vec<u8> = (0..ITEMS * bytes).map(|i| (i * 37 + 11) as u8).collect();
            let mut output = vec![0u8; input.len()];
            let args = [input.as_ptr() as u64, output.as_mut_ptr() as u64];
            let block: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
            let launch = Launch {
                group_size: [ITEMS as u32, 1, 1],
                work_dim: 1,
                group_count: [1, 1, 1],
                items_per_group: ITEMS as u32,
                ..Launch::default()
            };
            // SAFETY: the block is of this kernel, which stays within both arrays.
            unsafe { native.run_all(&block, &launch) };
            for item in 0..ITEMS {
                let range = item * bytes..(item + 1) * bytes;
                let want = match guard && item % 4 == 1 {
                    true => vec![0; bytes],
                    false => doubled(&input[range.clone()], bits),
                };
                assert_eq!(output[range], want, "{what}: work-item {item}");
            }
        }
    }
}
