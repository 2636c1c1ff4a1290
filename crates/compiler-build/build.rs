//! Hashes the compiler's sources and finds the version of LLVM. The result is part of every key of the cache on disk, and
//! the key is needed before the code generator is loaded.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-changed=build.rs");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    // Links to the crates that the code generator is made of: a package has copies, so its hash is the same.
    println!("cargo:rerun-if-changed=compiler");
    collect(&here.join("compiler"), &mut files);
    // Sorted, since the order of a folder is not defined.
    files.sort();
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142);
    for file in files {
        hash.add(file.file_name().unwrap_or_default().as_encoded_bytes());
        let content = std::fs::read(&file);
        hash.add(&content.unwrap_or_else(|error| panic!("{}: {error}", file.display())));
    }
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".into());
    let llvm = std::process::Command::new(config)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        // No other version is linked: the code generator is then a library that reports its own build.
        .filter(|version| version.starts_with("22."))
        .unwrap_or_default();
    // Runs again when LLVM is installed later.
    let installed = "/etc/ld.so.cache";
    if llvm.is_empty() && Path::new(installed).exists() {
        println!("cargo:rerun-if-changed={installed}");
    }
    println!(
        "cargo:rustc-env=SOLUM_COMPILER_BUILD={}-llvm{}-{:016x}{:016x}",
        std::env::var("CARGO_PKG_VERSION").unwrap_or_default(),
        llvm.trim(),
        hash.0,
        hash.1
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder);
    for entry in entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "ir") {
            files.push(path);
        }
    }
}

/// FNV-1a from two offsets: 128 bits, enough to tell builds apart.
struct Fnv(u64, u64);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            self.1 = (self.1 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_0a9d);
        }
    }
}
