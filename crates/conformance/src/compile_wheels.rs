//! `compile-wheels VENV [baseline]`: reads, validates and compiles every SPIR-V module of the dpctl and dpnp wheels, in full
//! or as baseline code.
//!
//! The modules lie in the wheels' shared objects, in the section that clang's offload bundler makes. Each goes through
//! `libsolum_codegen.so.1`'s C interface as the driver would send it. Exit code 0: no failure; 1: some, listed by
//! message; 2: the modules or the library could not be found.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks"
)]

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kernel_ir::BuildError;
use kernel_ir::build::{Begun, Request, SpirvInput, Tier, decode_begun, decode_reply};

const SECTION: &str = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64";
const MAGIC: [u8; 4] = 0x0723_0203u32.to_le_bytes();

type Compile = unsafe extern "C" fn(*const u8, usize, *mut *mut u8, *mut usize) -> i32;
type Free = unsafe extern "C" fn(*mut u8, usize);
type Handle = *const std::ffi::c_void;
type Open =
    unsafe extern "C" fn(*const u8, usize, u32, u32, *mut *mut u8, *mut usize, *mut Handle) -> i32;
type Kernel = unsafe extern "C" fn(Handle, u32, u32, *mut *mut u8, *mut usize) -> i32;
type Close = unsafe extern "C" fn(Handle);

/// The library's functions, each with the signature of libsolum_codegen's head.
struct Functions<'l> {
    compile: libloading::Symbol<'l, Compile>,
    free: libloading::Symbol<'l, Free>,
    open: libloading::Symbol<'l, Open>,
    kernel: libloading::Symbol<'l, Kernel>,
    close: libloading::Symbol<'l, Close>,
}

struct Failure {
    module: String,
    message: String,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let (venv, baseline) = match &arguments[..] {
        [venv] => (venv, false),
        [venv, word] if word == "baseline" => (venv, true),
        _ => {
            eprintln!("usage: compile-wheels VENV [baseline]");
            return ExitCode::from(2);
        }
    };
    match run(Path::new(venv), baseline) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("compile-wheels: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(venv: &Path, baseline: bool) -> Result<bool, String> {
    let modules = modules(venv)?;
    let bytes: usize = modules.iter().map(|(_, module)| module.len()).sum();
    println!("{} modules, {:.1} MB", modules.len(), bytes as f64 / 1e6);

    let library = std::env::current_exe()
        .ok()
        .and_then(|me| Some(me.parent()?.join("libsolum_codegen.so.1")));
    let library = library.ok_or("cannot find my own folder")?;
    // SAFETY: our own library; its initialisers have no requirements.
    let library = unsafe { libloading::Library::new(&library) }
        .map_err(|error| format!("{}: {error}; run ./x build", library.display()))?;
    // SAFETY: the exported functions have these signatures (libsolum_codegen's head).
    let functions = unsafe {
        let missing = |error: libloading::Error| error.to_string();
        Functions {
            compile: library.get(c"solum_codegen_compile").map_err(missing)?,
            free: library.get(c"solum_codegen_free").map_err(missing)?,
            open: library.get(c"solum_codegen_open").map_err(missing)?,
            kernel: library.get(c"solum_codegen_kernel").map_err(missing)?,
            close: library.get(c"solum_codegen_close").map_err(missing)?,
        }
    };

    let full = AtomicUsize::new(0);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new((Vec::<Failure>::new(), Vec::<(Duration, usize)>::new()));
    let began = Instant::now();
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, words)) = modules.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = Instant::now();
                    let result = match baseline {
                        false => compile_one(&functions, words),
                        true => quickly(&functions, words).map(|others| {
                            full.fetch_add(others, Ordering::Relaxed);
                        }),
                    };
                    let time = one.elapsed();
                    if let Ok(mut results) = results.lock() {
                        results.1.push((time, words.len()));
                        if let Err(message) = result {
                            results.0.push(Failure {
                                module: name.clone(),
                                message,
                            });
                        }
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    if done.is_multiple_of(100) && std::io::stderr().is_terminal() {
                        eprint!("\r{done} of {}", modules.len());
                        let _ = std::io::stderr().flush();
                    }
                }
            });
        }
    });
    let elapsed = began.elapsed();
    let (failures, mut times) = results
        .into_inner()
        .map_err(|_| "a compiling thread panicked".to_owned())?;
    times.sort_unstable();
    let at = |share: f64| {
        times[((times.len() - 1) as f64 * share) as usize]
            .0
            .as_secs_f64()
            * 1e3
    };
    println!(
        "\rcompiled in {:.1} s on {threads} threads: median {:.1} ms, p90 {:.1} ms, p99 {:.1} ms, longest {:.0} ms",
        elapsed.as_secs_f64(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for failure in &failures {
        groups
            .entry(&failure.message)
            .or_default()
            .push(&failure.module);
    }
    for (message, modules) in &groups {
        println!("{:6}  {message}  (first: {})", modules.len(), modules[0]);
    }
    if baseline {
        let full = full.load(Ordering::Relaxed);
        println!(
            "{full} kernels are full code: they have too much in common, or too much on the stack"
        );
    }
    println!(
        "{} passed, {} failed",
        modules.len() - failures.len(),
        failures.len()
    );
    Ok(failures.is_empty())
}

/// As the driver sends it.
fn request(words: &[u8]) -> Vec<u8> {
    let request = Request {
        modules: vec![SpirvInput {
            words: words.to_vec(),
            constants: Vec::new(),
        }],
        options: " -ze-opt-level=2".to_owned(),
        // The level that the driver asks for on most machines of today.
        cpu: "x86-64-v3".to_owned(),
        features: String::new(),
        sub_group_size: 16,
        lanes: 0,
        nulls: None,
        transforms: kernel_ir::Transforms::default(),
        checks: kernel_ir::Checks::default(),
    };
    request.encode()
}

/// The reply that `call` has the library write.
fn ask(free: &Free, call: impl FnOnce(*mut *mut u8, *mut usize) -> i32) -> Result<Vec<u8>, String> {
    let (mut reply, mut len) = (std::ptr::null_mut(), 0);
    let code = call(&raw mut reply, &raw mut len);
    if reply.is_null() {
        return Err(format!("no reply, code {code}"));
    }
    // SAFETY: the library gave `len` readable bytes, ours until they are given back, once.
    Ok(unsafe {
        let bytes = std::slice::from_raw_parts(reply, len).to_vec();
        free(reply, len);
        bytes
    })
}

/// Without its position the same message groups over modules.
fn told(error: &BuildError) -> String {
    let instruction = error.instruction.clone().unwrap_or_default();
    format!("{instruction}: {}", error.message)
}

fn compile_one(functions: &Functions<'_>, words: &[u8]) -> Result<(), String> {
    let request = request(words);
    let reply = ask(&functions.free, |reply, len| {
        // SAFETY: the request is readable for its length; both outputs are writable.
        unsafe { (functions.compile)(request.as_ptr(), request.len(), reply, len) }
    })?;
    let decoded = decode_reply(&reply).map_err(|error| error.to_string())?;
    decoded.map(drop).map_err(|error| told(&error))
}

/// Compiles all kernels as baseline code; how many are full code all the same.
fn quickly(functions: &Functions<'_>, words: &[u8]) -> Result<usize, String> {
    let request = request(words);
    let (few, tier) = (u32::MAX, 1);
    debug_assert_eq!(Tier::ALL[tier as usize], Tier::Baseline);
    let mut session = std::ptr::null();
    let reply = ask(&functions.free, |reply, len| {
        // SAFETY: as in `compile_one`, and the session is writable.
        unsafe {
            (functions.open)(
                request.as_ptr(),
                request.len(),
                few,
                tier,
                reply,
                len,
                &raw mut session,
            )
        }
    })?;
    let begun = decode_begun(&reply).map_err(|error| error.to_string())?;
    let kernels = || -> Result<usize, String> {
        let outline = match begun.map_err(|error| told(&error))? {
            Begun::Whole(whole) => return Ok(whole.info.kernels.len()),
            Begun::Outline(outline) => outline,
        };
        let mut full = 0;
        for number in 0..outline.names.len() as u32 {
            let reply = ask(&functions.free, |reply, len| {
                // SAFETY: the session is closed below; both outputs are writable.
                unsafe { (functions.kernel)(session, number, tier, reply, len) }
            })?;
            let decoded = decode_reply(&reply).map_err(|error| error.to_string())?;
            let compiled = decoded.map_err(|error| told(&error))?;
            full += compiled
                .info
                .kernels
                .iter()
                .filter(|kernel| !kernel.baseline)
                .count();
        }
        Ok(full)
    };
    let full = kernels();
    // SAFETY: what `open` wrote, or null; nobody uses it any more.
    unsafe { (functions.close)(session) };
    full
}

/// Every module with a name, from the shared objects of both packages.
fn modules(venv: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let library = venv.join("lib");
    let site = std::fs::read_dir(&library)
        .map_err(|error| format!("{}: {error}", library.display()))?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("site-packages"))
        .find(|path| path.join("dpctl").is_dir())
        .ok_or_else(|| {
            format!(
                "no dpctl below {}: ./x wheels installs it",
                library.display()
            )
        })?;
    let mut files = Vec::new();
    for package in ["dpctl", "dpnp"] {
        collect(&site.join(package), &mut files);
    }
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let bytes = std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file
            .strip_prefix(&site)
            .unwrap_or(&file)
            .display()
            .to_string();
        for (index, module) in section(&bytes).into_iter().flat_map(split).enumerate() {
            all.push((format!("{name} #{index}"), module.to_vec()));
        }
    }
    if all.is_empty() {
        Err(format!("no SPIR-V below {}", site.display()))
    } else {
        Ok(all)
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if path.to_string_lossy().contains(".so") {
            files.push(path);
        }
    }
}

/// The bytes of the bundle section of an ELF64 file.
fn section(elf: &[u8]) -> Option<&[u8]> {
    let number = |at: usize, len: usize| {
        let bytes = elf.get(at..at + len)?;
        Some(
            bytes
                .iter()
                .rev()
                .fold(0usize, |value, &byte| value << 8 | usize::from(byte)),
        )
    };
    if elf.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table, count, names) = (number(0x28, 8)?, number(0x3c, 2)?, number(0x3e, 2)?);
    let header = |index: usize| table + index * 64;
    let strings = number(header(names) + 24, 8)?;
    (0..count).find_map(|index| {
        let name = strings + number(header(index), 4)?;
        let found = elf.get(name..name + SECTION.len() + 1)?;
        if found.strip_suffix(&[0])? != SECTION.as_bytes() {
            return None;
        }
        let (at, len) = (
            number(header(index) + 24, 8)?,
            number(header(index) + 32, 8)?,
        );
        elf.get(at..at + len)
    })
}

/// Cuts a section into modules: each runs from its magic word over whole instructions to the next one's.
fn split(section: &[u8]) -> Vec<&[u8]> {
    let word = |at: usize| {
        section
            .get(at..at + 4)
            .and_then(|w| w.try_into().ok())
            .map(u32::from_le_bytes)
    };
    let mut all = Vec::new();
    let mut at = 0;
    while at + 20 <= section.len() {
        if section[at..at + 4] != MAGIC {
            at += 1;
            continue;
        }
        let start = at;
        at += 20;
        while let Some(first) = word(at) {
            let words = (first >> 16) as usize;
            // The next module, padding, or what is no instruction ends this one.
            if words == 0 || section[at..at + 4] == MAGIC || at + words * 4 > section.len() {
                break;
            }
            at += words * 4;
        }
        all.push(&section[start..at]);
    }
    all
}
