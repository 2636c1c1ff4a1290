//! Sets the library's soname, keeps it mapped forever and binds its references to itself.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for argument in [
        "-Wl,-soname,libze_solum_cpu.so.1",
        // Workers and clients' copies of the tables point into it until the process ends.
        "-Wl,-z,nodelete",
        "-Wl,-Bsymbolic",
        "-Wl,--exclude-libs,ALL",
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
    // With `hold_off_cancellation!`: no thread is cancelled inside the library.
    for argument in cancellation::wrap_arguments() {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
