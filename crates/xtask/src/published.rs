//! The packages that are published: all that a program with `sycl`, `level-zero` or `xpti` is built from.
//!
//! The list is the manifests' (those without `publish = false`); `tidy` compares them.

/// Those that programs name. Their interfaces follow semantic versioning.
pub(crate) const PUBLIC: [&str; 7] = [
    "sycl",
    "sycl-macros",
    "sycl-build",
    "level-zero",
    "level-zero-sys",
    "xpti",
    "xpti-sys",
];

/// Those that they are built from, which may change in any version.
const INTERNAL: [&str; 25] = [
    "solum-acceleration-structure",
    "solum-cancellation",
    "solum-check-report",
    "solum-codegen-llvm",
    "solum-compiler-build",
    "solum-cpu-target",
    "solum-device-selector",
    "solum-kernel-builder",
    "solum-kernel-checker",
    "solum-kernel-ir",
    "solum-local-ranks",
    "solum-object-loader",
    "solum-owned-file",
    "solum-signal-mask",
    "solum-spirv-reader",
    "solum-spirv-reflection",
    "solum-sycl-graph",
    "solum-vectorise",
    "solum-work-group-pool",
    "solum-ze-abi",
    "solum-ze-abi-macros",
    "solum-ze-cpu",
    "solum-ze-driver",
    "solum-ze-layers",
    "solum-ze-spec",
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    PUBLIC.into_iter().chain(INTERNAL)
}
