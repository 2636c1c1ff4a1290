//! Link arguments of the shared object: its name, and that it stays loaded.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        "-Wl,-soname,libsolum_trace.so.1",
        "-Wl,-z,nodelete",
        "-Wl,--gc-sections",
        "-Wl,--exclude-libs,ALL",
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`: no thread is cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
