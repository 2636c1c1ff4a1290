//! Sets the library's soname and binds its own references to itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        // Loaders open the library by this name, which `cargo` does not set.
        "-Wl,-soname,libze_validation_layer.so.1",
        // The loader exports the same names.
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`: no thread is cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // Line tables and local symbols are most of the file, which is to stay small; the dev profile keeps them.
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
