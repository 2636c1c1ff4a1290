//! Sets the library's soname, keeps it mapped forever and binds its references to itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        // Subscribers need this name; under another one the dynamic linker would load a second framework for them.
        "-Wl,-soname,libxptifw.so.1",
        // Runtimes and subscribers point into its tables until the process ends.
        "-Wl,-z,nodelete",
        "-Wl,-z,now",
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
        // The entry point when the dynamic linker runs the library as a program: it tries a subscriber.
        "-Wl,--entry=solum_xpti_trial",
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`, threads are not cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // Line tables take half of the file, which should stay small; the dev profile keeps them.
    if std::env::var("PROFILE").as_deref() == Ok("release") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--strip-debug");
    }
}
