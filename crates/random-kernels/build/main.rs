//! Writes random kernels for the test: `SOLUM_RANDOM_RUST_FIRST` is the first seed, `SOLUM_RANDOM_RUST_KERNELS` says how
//! many follow. A seed always gives the same kernel.

mod expressions;
mod random;
mod statements;

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Kernels where no number is asked for: they take half a minute to compile.
const KERNELS: u64 = 60;

fn number(variable: &str, default: u64) -> u64 {
    println!("cargo::rerun-if-env-changed={variable}");
    match env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable}={text}: a number is needed")),
        Err(_) => default,
    }
}

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(llvm)");
    if env::var_os("DEP_SOLUM_CODEGEN_LINKED").is_some() {
        println!("cargo::rustc-cfg=llvm");
    }
    let first = number("SOLUM_RANDOM_RUST_FIRST", 0);
    let count = number("SOLUM_RANDOM_RUST_KERNELS", KERNELS);
    let seeds = first..first + count;
    let mut text = String::from(statements::PRELUDE);
    for seed in seeds.clone() {
        text += &statements::kernel(seed);
    }
    text += "/// Seed, function on the host, SPIR-V.\npub(crate) const KERNELS: &[Known] = &[\n";
    for seed in seeds {
        let _ = writeln!(
            text,
            "    ({seed}, |a, b, c| kernel{seed}(a, b, c), kernel_builder::spirv::<kernel{seed}>),"
        );
    }
    text += "];\n";
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&folder).join("kernels.rs"), text).expect("the kernels");
}
