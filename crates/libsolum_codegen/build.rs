//! Link arguments of the shared object: its name, nothing of LLVM visible, and that it stays loaded, since its threads do.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("DEP_SOLUM_CODEGEN_LINKED").is_none() {
        println!(
            "cargo::error=LLVM 22 is missing: apt install llvm-22-dev zlib1g-dev libzstd-dev, or set LLVM_CONFIG"
        );
        std::process::exit(1);
    }
    for argument in [
        "-Wl,-soname,libsolum_codegen.so.1",
        "-Wl,--gc-sections",
        "-Wl,--exclude-libs,ALL",
        "-Wl,-Bsymbolic",
        "-Wl,-z,nodelete",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
