//! Finds out from `codegen-llvm` (feature `embedded`) whether LLVM is linked in; if not, the library is opened at run
//! time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(linked_generator)");
    if std::env::var_os("DEP_SOLUM_CODEGEN_LINKED").is_some() {
        println!("cargo::rustc-cfg=linked_generator");
    }
}
