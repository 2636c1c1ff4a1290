//! Passes metadata to the build scripts of dependent crates.

fn main() {
    let version: u32 = include!("src/level_zero.version");
    println!("cargo::metadata=LEVEL_ZERO_VERSION={version}");
    println!("cargo::rerun-if-changed=src/level_zero.version");
}
