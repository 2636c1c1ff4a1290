//! Links LLVM 22: statically, exactly the components in use; in builds of this checkout for development the distribution's
//! shared library, for short edit-test cycles. `SOLUM_LLVM=static` or `shared` decides otherwise.
//! `LLVM_CONFIG` names llvm-config, `OBJCOPY` objcopy.
//!
//! Without LLVM 22 but with an installed `libsolum_codegen.so.1` the crate is empty, and whoever depends on it opens that
//! library at run time: `DEP_SOLUM_CODEGEN_LINKED` is set in their build scripts exactly where LLVM is linked.

use source::{LIBRARY, Source, choose};
use std::ffi::{CStr, CString};
use std::process::{Command, exit};

#[path = "build/source.rs"]
mod source;

/// What the code generator uses; llvm-config adds what these need.
const COMPONENTS: [&str; 4] = ["x86codegen", "x86desc", "x86info", "passes"];

fn main() {
    println!("cargo:rerun-if-env-changed=LLVM_CONFIG");
    println!("cargo:rerun-if-env-changed=SOLUM_LLVM");
    println!("cargo:rerun-if-env-changed=OBJCOPY");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(llvm, shared_llvm)");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if std::env::var_os("DOCS_RS").is_some() {
        // docs.rs has neither, and documentation needs neither.
        return;
    }
    let config = std::env::var("LLVM_CONFIG").unwrap_or_else(|_| "llvm-config-22".into());
    match choose(&config, answer(&config, &["--version"]), opens) {
        Ok(Source::Linked(version)) => link(&config, &version),
        Ok(Source::Opened(why)) => {
            println!("cargo:rerun-if-env-changed=LD_LIBRARY_PATH");
            // Written anew when anything is installed: LLVM, or another library.
            if std::path::Path::new("/etc/ld.so.cache").exists() {
                println!("cargo:rerun-if-changed=/etc/ld.so.cache");
            }
            println!("cargo::warning={why}: programs open the installed {LIBRARY}");
        }
        Err(message) => fail(&message),
    }
}

/// Whether the system's linker finds the library: what a program will ask it.
fn opens() -> Result<(), String> {
    let name = CString::new(LIBRARY).map_err(|error| error.to_string())?;
    // SAFETY: a library of ours, whose initialisers do nothing; an error's text is valid until the next call.
    unsafe {
        if !libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL).is_null() {
            return Ok(());
        }
        let error = libc::dlerror();
        if error.is_null() {
            return Err(format!("{LIBRARY} cannot be opened"));
        }
        Err(CStr::from_ptr(error).to_string_lossy().into_owned())
    }
}

fn link(config: &str, version: &str) {
    println!("cargo::rustc-cfg=llvm");
    println!("cargo::metadata=linked={version}");
    println!("cargo:rustc-env=SOLUM_LLVM_VERSION={version}");
    let folder = ask(config, &["--libdir"]);
    let is_development =
        std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") && is_of_this_checkout();
    let has_shared = std::path::Path::new(&folder).join("libLLVM-22.so").exists();
    let shared = match std::env::var("SOLUM_LLVM").as_deref() {
        Ok("shared") => true,
        Ok("static") => false,
        Ok("") | Err(_) => is_development && has_shared,
        Ok(other) => fail(&format!("SOLUM_LLVM is {other:?}; allowed: static, shared")),
    };
    match shared {
        true => {
            println!("cargo::rustc-cfg=shared_llvm");
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:rustc-link-lib=dylib=LLVM-22");
        }
        false => link_statically(config, &folder),
    }
}

/// Whether the build lies in this checkout. Programs elsewhere that depend on the crate must not crash when they end, as
/// they may with the shared library.
fn is_of_this_checkout() -> bool {
    let path = |name| std::path::PathBuf::from(std::env::var_os(name).unwrap_or_default());
    let target = path("CARGO_MANIFEST_DIR").join("../../target");
    match (target.canonicalize(), path("OUT_DIR").canonicalize()) {
        (Ok(target), Ok(build)) => build.starts_with(target),
        _ => false,
    }
}

fn link_statically(config: &str, folder: &str) {
    let own = std::env::var("OUT_DIR").unwrap_or_else(|error| fail(&format!("OUT_DIR: {error}")));
    println!("cargo:rustc-link-search=native={own}");
    let mut arguments = vec!["--link-static", "--libnames"];
    arguments.extend(COMPONENTS);
    for file in ask(config, &arguments).split_whitespace() {
        let name = file
            .strip_prefix("lib")
            .and_then(|name| name.strip_suffix(".a"))
            .unwrap_or_else(|| {
                fail(&format!(
                    "{config} names {file}, which is no static archive"
                ))
            });
        println!("cargo:rerun-if-changed={folder}/{file}");
        without_destructors(&format!("{folder}/{file}"), &format!("{own}/{file}"));
        // Not bundled: 50 archives would be copied into our rlib.
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    for (name, package) in [("zstd", "libzstd-dev"), ("z", "zlib1g-dev")] {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
        let path = ask(&compiler, &[&format!("-print-file-name=lib{name}.a")]);
        let Some((folder, _)) = path.rsplit_once('/') else {
            fail(&format!("lib{name}.a is missing: apt install {package}"));
        };
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=static:-bundle={name}");
    }
    // Inside too: a library that is built here then runs with the older C++ libraries of other systems.
    let path = ask("c++", &["-print-file-name=libstdc++.a"]);
    if !path.contains('/') {
        fail("libstdc++.a is missing: apt install g++");
    }
    without_destructors(&path, &format!("{own}/libstdc++.a"));
    println!("cargo:rustc-link-lib=static:-bundle=stdc++");
}

/// Copies an archive of LLVM's or of the C++ library, so that its static variables are never destroyed.
///
/// `exit` would destroy them while other threads compile, which crashes. To wait for those threads is not enough: more than
/// a hundred of the variables are made when they are first used, so their destructors run before any exit handler that was
/// registered earlier. C++ code registers destructors with `__cxa_atexit` and ignores what that returns; here it calls an
/// empty function of LLVM's C interface instead.
fn without_destructors(from: &str, to: &str) {
    let program = std::env::var("OBJCOPY").unwrap_or_else(|_| "objcopy".into());
    let renamed = "__cxa_atexit=LLVMStopMultithreaded";
    if let Err(error) = answer(&program, &["--redefine-sym", renamed, from, to]) {
        fail(&format!("{error}: apt install binutils, or set OBJCOPY"));
    }
}

fn ask(program: &str, arguments: &[&str]) -> String {
    answer(program, arguments).unwrap_or_else(|error| fail(&error))
}

fn answer(program: &str, arguments: &[&str]) -> Result<String, String> {
    match Command::new(program).args(arguments).output() {
        Ok(out) if out.status.success() => {
            Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned())
        }
        Ok(out) => Err(format!(
            "{program} {} failed: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&out.stderr).trim()
        )),
        Err(error) => Err(format!("{program} cannot be run ({error})")),
    }
}

fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}
