//! For tests: objects that a C compiler makes.

use std::path::PathBuf;
use std::process::Command;

/// Compiles C into an object, as the code generator would.
pub(crate) fn compile(name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    static COUNTER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let file = format!("solum-object-{}-{number}-{name}", std::process::id());
    let base = std::env::temp_dir().join(file);
    let (c, o): (PathBuf, PathBuf) = (base.with_extension("c"), base.with_extension("o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new("cc")
        .args([
            "-O1",
            "-c",
            "-ffreestanding",
            "-fno-stack-protector",
            "-fno-math-errno",
        ])
        .args(flags)
        .arg(&c)
        .arg("-o")
        .arg(&o)
        .status()
        .expect("a C compiler, which Rust's linking needs too");
    assert!(status.success());
    let object = std::fs::read(&o).unwrap();
    let _ = (std::fs::remove_file(c), std::fs::remove_file(o));
    object
}
