//! What is told of a kernel's stack.

use super::native::settings;
use super::sandbox::module;
use std::fmt::Write as _;

/// Reads so many numbers, and needs each again when it has the sum of all.
fn kernel(count: u32) -> String {
    let mut text = "kernel @k(%out: ptr<global>) {\nb0:\n  %gid: i64 = wi.GlobalInvocationId 0\n  %s0: i32 = to.trunc %gid\n".to_owned();
    for i in 0..count {
        let _ = writeln!(
            text,
            "  %at{i}: ptr<global> = offset %out [%gid * 4 + {}]\n  %v{i}: i32 = load %at{i} align 4\n  %s{}: i32 = iadd %s{i}, %v{i}",
            4096 * i,
            i + 1
        );
    }
    for i in 0..count {
        let _ = writeln!(
            text,
            "  %w{i}: i32 = iadd %v{i}, %s{count}\n  store %at{i}, %w{i} align 4"
        );
    }
    text + "  ret\n}\n"
}

#[test]
fn values_without_registers_are_counted() {
    // A few words of loops and addresses come along.
    for (count, bytes) in [(2, 0..64), (64, 128..1 << 16)] {
        for wide in [true, false] {
            let mut settings = settings(8);
            settings.wide = wide;
            let compiled = codegen_llvm::compile_module(module(&kernel(count)), settings);
            let info = compiled.expect("object").info;
            let sizes: Vec<u64> = info
                .kernels
                .iter()
                .map(|kernel| kernel.spill_size)
                .collect();
            assert!(
                matches!(sizes[..], [size] if bytes.contains(&size)),
                "{count}, {wide}: {sizes:?}"
            );
        }
    }
}
