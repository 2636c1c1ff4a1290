//! Gives the library its name, keeps it mapped for ever and binds its references to itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        // Subscribers need this name; under any other the dynamic linker would load a second framework for them.
        "-Wl,-soname,libxptifw.so.1",
        // Runtimes and subscribers point into its tables until the process ends.
        "-Wl,-z,nodelete",
        "-Wl,-z,now",
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
        // Run by the dynamic linker as a program it tries a subscriber.
        "-Wl,--entry=solum_xpti_trial",
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`: no thread is cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // Line tables are half of the file, which is to stay small; the dev profile keeps them.
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-debug");
    }
}
