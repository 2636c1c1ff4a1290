//! A digest of LLVM's text, before LLVM's passes, for each module below some folders and each of a few settings:
//! `code_digest FOLDER...`. Two builds that print the same lines make the same code; `cargo xtask same-code` compares them.
//!
//! With `--text` it prints the texts themselves. With `--bounds` it prints the census of bounds (`kernel_ir::marks`).
//!
//! Names of blocks and values are left out of the digest: renaming one changes no code.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use codegen_llvm::Settings;
use kernel_ir::build::SpirvInput;
use kernel_ir::{Module, Request};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    for folder in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        walk(Path::new(&folder), &mut files)?;
    }
    files.sort();
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(vec![String::new(); files.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(at) else { return };
                    let told = digests(file);
                    if let Ok(mut lines) = lines.lock() {
                        lines[at] = told;
                    }
                }
            });
        }
    });
    let mut out = std::io::stdout().lock();
    if std::env::args().any(|a| a == "--bounds") {
        for (module, name, reach) in kernel_ir::marks::reaches() {
            writeln!(out, "{module}::{name}: {reach:?}")?;
        }
        return Ok(());
    }
    for line in lines.into_inner()? {
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            walk(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|e| e == "spv" || e == "ir") {
        files.push(path.to_owned());
    }
    Ok(())
}

/// Settings that reach different forms: name, processor, features, sub-group size, lanes (1: scalar), quick code.
const SETTINGS: [(&str, &str, &str, u32, u32, bool); 4] = [
    ("v3", "x86-64-v3", "", 16, 0, false),
    ("v4", "x86-64-v4", cpu_target::FAST_GATHERS, 32, 0, false),
    ("v3-8-lanes", "x86-64-v3", "", 8, 8, true),
    ("v3-scalar", "x86-64-v3", "", 16, 1, false),
];

/// A line for each setting.
fn digests(file: &Path) -> String {
    let mut told = String::new();
    let module = read(file).and_then(|mut module| {
        let prepared = kernel_ir::passes::prepare(&mut module);
        prepared.map_err(|error| error.line()).map(|()| module)
    });
    for (name, cpu, features, sub_group_size, lanes, baseline) in SETTINGS {
        let settings = Settings {
            baseline,
            ..Settings::of(&Request {
                cpu: cpu.into(),
                features: features.into(),
                sub_group_size,
                lanes,
                ..Request::default()
            })
        };
        let text = match &module {
            Ok(module) => codegen_llvm::llvm_text(module, &settings).map_err(|error| error.line()),
            Err(error) => Err(error.clone()),
        };
        let digest = match text {
            Ok(text) if std::env::args().any(|a| a == "--text") => {
                told += &without_names(&text);
                String::new()
            }
            Ok(text) => {
                let mut hasher = DefaultHasher::new();
                without_names(&text).hash(&mut hasher);
                format!("{:016x}", hasher.finish())
            }
            Err(error) => error,
        };
        told += &format!("{}\t{name}\t{digest}\n", file.display());
    }
    told
}

fn read(file: &Path) -> Result<Module, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    if file.extension().is_some_and(|e| e == "ir") {
        let text = String::from_utf8_lossy(&bytes);
        return kernel_ir::parse(&text).map_err(|error| error.to_string());
    }
    let request = Request {
        modules: vec![SpirvInput {
            words: bytes,
            constants: Vec::new(),
        }],
        ..Request::default()
    };
    let built = kernel_ir::front::build(&request).map_err(|error| error.line())?;
    Ok(built.module)
}

/// LLVM's text with a number in place of each local name.
fn without_names(text: &str) -> String {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "-$._".contains(c);
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |name: &str| {
        let next = numbers.len();
        format!("%{}", numbers.entry(name.to_owned()).or_insert(next))
    };
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut rest = line;
        let label = line.find(|c: char| !of_name(c)).filter(|&at| at > 0);
        if let Some(at) = label.filter(|&at| line[at..].starts_with(':')) {
            out += &number(&line[..at]);
            rest = &line[at..];
            // LLVM pads the comment that follows a label.
            if let Some(comment) = rest.find(';') {
                out.push(':');
                rest = &rest[comment..];
            }
        }
        while let Some(at) = rest.find('%') {
            out += &rest[..at];
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| !of_name(c)).unwrap_or(rest.len());
            out += &number(&rest[..end]);
            rest = &rest[end..];
        }
        out += rest;
        out.push('\n');
    }
    out
}
