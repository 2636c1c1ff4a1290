//! Link arguments of the shared object: its name, and nothing of LLVM visible.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        "-Wl,-soname,libsolum_codegen.so.1",
        "-Wl,--gc-sections",
        "-Wl,--exclude-libs,ALL",
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
