//! Sets the library's soname and binds its own references to itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        // Clients open the library by this name, which `cargo` does not set.
        "-Wl,-soname,libze_loader.so.1",
        // Our getters must return our own functions, even if the process has another loader.
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`, threads are not cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // Line tables and local symbols take most of the file, which should stay small; the dev profile keeps them.
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
