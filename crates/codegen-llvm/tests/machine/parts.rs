//! A program of several kernels is compiled in parts, and is one program all the same.

use super::native::{Native, settings};
use super::sandbox::module;
use kernel_ir::abi::Launch;
use std::fmt::Write as _;

const ITEMS: u32 = 8;

/// Kernels of so many instructions each; kernel `k` adds `k + 1` over and over to the work-item's number.
fn program(sizes: &[u32]) -> String {
    let mut text = String::new();
    for (k, size) in sizes.iter().enumerate() {
        let _ = write!(
            text,
            "kernel @k{k}(%out: ptr<global>) {{\nb0:\n  %gid: i64 = wi.GlobalInvocationId 0\n  %t0: i32 = to.trunc %gid\n"
        );
        for i in 0..*size {
            let _ = writeln!(text, "  %t{}: i32 = iadd %t{i}, i32 {}", i + 1, k + 1);
        }
        let _ = write!(
            text,
            "  %at: ptr<global> = offset %out [%gid * 4 + 0]\n  store %at, %t{size} align 4\n  ret\n}}\n"
        );
    }
    text
}

#[test]
fn programs_in_parts_run() {
    let cases: [(&[u32], usize); 4] = [
        (&[300, 250, 400], 3),
        (&[5, 300, 5, 5, 300, 5], 2),
        (&[5, 5, 300], 1),
        (&[5; 60], 2),
    ];
    for (sizes, parts) in cases {
        let text = program(sizes);
        let compile = || codegen_llvm::compile_module(module(&text), settings(8)).expect("object");
        let (first, second) = (compile(), compile());
        assert_eq!(first, second, "threads decide nothing: {sizes:?}");
        let heads = first.object.windows(4).filter(|w| w == b"\x7fELF").count();
        assert_eq!(heads, parts, "{sizes:?}");
        assert_eq!(first.object.starts_with(b"!<arch>\n"), parts > 1);

        let native = Native::new(module(&text), settings(8));
        assert_eq!(native.info.kernels.len(), sizes.len());
        for (k, size) in sizes.iter().enumerate() {
            let mut out = [0u32; ITEMS as usize];
            let mut args = vec![0u64; native.info.kernels[k].args_size.div_ceil(8) as usize];
            args[native.info.kernels[k].args[0].offset as usize / 8] = out.as_mut_ptr() as u64;
            let args: Vec<u8> = args.iter().flat_map(|v| v.to_le_bytes()).collect();
            let launch = Launch {
                group_size: [ITEMS, 1, 1],
                work_dim: 1,
                group_count: [1; 3],
                items_per_group: ITEMS,
                ..Launch::default()
            };
            let mut memory = vec![0u8; 4096];
            let at = memory.as_mut_ptr().align_offset(64);
            // SAFETY: the kernel writes a word for each work-item, and needs no memory of its own.
            unsafe { native.run(k, &args, &launch, 0..1, memory.as_mut_ptr().add(at)) };
            for (i, found) in out.into_iter().enumerate() {
                assert_eq!(found, i as u32 + size * (k as u32 + 1), "kernel {k}, {i}");
            }
        }
    }
}

#[test]
fn the_first_failure_of_a_part_is_the_programs() {
    let mut broken = module(&program(&[300, 300, 300]));
    for (kernel, size) in broken.kernels.iter_mut().zip([8, 48, 40]) {
        kernel.required_sub_group_size = size;
    }
    let error = codegen_llvm::compile_module(broken, settings(8)).unwrap_err();
    assert!(error.message.contains("\"k1\""), "{error}");
}
