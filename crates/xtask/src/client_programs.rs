//! Programs in C, C++ and OpenCL C that checks and benchmarks run: each is compiled again when its sources are newer.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::packages;
use crate::program::Program;
use crate::python::Environment;
use crate::session::Session;

/// How clang makes SPIR-V of a kernel.
const OPENCL: &str = "-cl-std=CL3.0 --target=spirv64 -O2 -c";

/// The options that link Level Zero's loader of this checkout.
fn loader(session: &Session, program: Program) -> Program {
    program
        .arg(with_folder("-L", &session.release_folder()))
        .arg("-l:libze_loader.so.1")
}

/// An option of a compiler and its folder, in one word.
fn with_folder(option: &str, folder: &Path) -> String {
    format!("{option}{}", folder.display())
}

/// Compiles `tests/sycl/NAME.cpp` with plain g++ against the wheel's headers, and returns the program.
///
/// # Errors
/// The compiler fails.
pub(crate) fn sycl(session: &Session, name: &str) -> Result<PathBuf> {
    let folder = session.path("target/sycl");
    session.make_folder(&folder)?;
    let program = folder.join(name);
    // Traces name the source as it was given to the compiler.
    let source = format!("tests/sycl/{name}.cpp");
    let inputs = [source.as_str(), "tests/sycl/harness.hpp"].map(|file| session.path(file));
    if session.is_newer(&program, &inputs) {
        return Ok(program);
    }
    session.say(&format!("g++: {source}"));
    let libraries = Environment::Wheels.path(session, "lib");
    let compile = Program::new("g++")
        .words("-std=c++17 -O1 -w")
        .arg(with_folder(
            "-I",
            &Environment::Wheels.path(session, "include"),
        ))
        .arg(with_folder("-I", &session.path("include")))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(with_folder("-L", &libraries))
        .arg("-lsycl");
    let compile = loader(session, compile)
        .arg(with_folder("-Wl,-rpath,", &libraries))
        .arg("-Wl,--as-needed");
    session.run(&compile)?;
    Ok(program)
}

/// Compiles the programs of `tests/mpi` with plain gcc and g++ against the headers of the wheels.
///
/// # Errors
/// The compiler fails.
pub(crate) fn mpi(session: &Session) -> Result<()> {
    let programs = session.path("target/mpi/programs");
    session.make_folder(&programs)?;
    let intel = |name| Environment::IntelMpi.path(session, name);
    let transfers = Program::new("cc")
        .words("-std=gnu11 -O1 -w")
        .arg(with_folder("-I", &intel("include")))
        .arg(with_folder("-I", &session.path("include")))
        .arg(session.path("tests/mpi/transfers.c"))
        .arg("-o")
        .arg(programs.join("transfers"))
        .arg(with_folder("-L", &intel("lib")))
        .arg("-l:libmpi.so.12");
    session.run(&loader(session, transfers))?;
    let program = programs.join("collectives");
    let source = session.path("tests/mpi/collectives.cpp");
    if session.is_newer(&program, std::slice::from_ref(&source)) {
        return Ok(());
    }
    session.say("g++: tests/mpi/collectives.cpp");
    // oneCCL's headers leave SYCL out unless the compiler says that it is one of SYCL.
    let collectives = Program::new("g++")
        .words("-std=c++17 -O1 -w -DCCL_ENABLE_SYCL -DCCL_ENABLE_ZE")
        .arg(with_folder(
            "-I",
            &Environment::Wheels.path(session, "include"),
        ))
        .arg(with_folder("-I", &intel("include")))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(with_folder("-L", &intel("lib")))
        .words("-l:libccl.so.1 -l:libmpi.so.12")
        .arg(with_folder("-L", &Environment::Wheels.path(session, "lib")))
        .words("-lsycl -Wl,--allow-shlib-undefined");
    session.run(&collectives)
}

/// Compiles the benchmark of ray tracing, with Embree as its peer if asked and installed.
///
/// # Errors
/// The compiler fails.
pub(crate) fn rtas(session: &Session, with_peer: bool) -> Result<()> {
    let header = |major| format!("/usr/include/embree{major}/rtcore.h");
    let has_header = |major: &u32| session.exists(Path::new(&header(*major)));
    let embree = [4, 3].into_iter().find(has_header).filter(|_| with_peer);
    if with_peer && embree.is_none() {
        session.say("no Embree here (apt-get install libembree-dev): our own numbers alone");
    }
    session.make_folder(&session.path("target/rtas"))?;
    // It is small, and a peer may be new: it is compiled each time.
    let compile = Program::new("c++")
        .words("-std=c++17 -O2")
        .arg(session.path("tests/rtas/bench.cpp"))
        .arg("-o")
        .arg(session.path("target/rtas/bench"))
        .arg(with_folder("-I", &session.path("include")));
    let mut compile = loader(session, compile).words("-lpthread -ldl");
    if let Some(major) = embree {
        compile = compile.words(&format!("-DEMBREE={major} -lembree{major}"));
    }
    session.run(&compile)
}

/// CubeCL's version, the newest that the kernels of `tests/cubecl` were measured with.
pub(crate) const CUBECL: &str = "cubecl 0.11.3";

/// The project that builds the program of `tests/cubecl`. It is no member of the workspace, whose lock file would then
/// have all dependencies of CubeCL.
const CUBECL_MANIFEST: &str = r#"[package]
name = "cubecl-peer"
version = "0.0.0"
edition = "2024"
publish = false

[[bin]]
name = "cubecl-peer"
path = "../../tests/cubecl/main.rs"

[dependencies]
cubecl = { version = "=VERSION", default-features = false, features = ["cpu", "std"] }
libc = "0.2"

[workspace]
"#;

/// Builds the program of `tests/cubecl` with CubeCL and its back end for processors, and returns the program.
///
/// # Errors
/// Cargo fails: CubeCL's own build downloads an LLVM, which needs a network.
pub(crate) fn cubecl(session: &Session) -> Result<PathBuf> {
    let folder = session.path("target/cubecl");
    session.make_folder(&folder)?;
    let (name, version) = CUBECL.split_once(' ').unwrap_or_default();
    let manifest = folder.join("Cargo.toml");
    session.write(&manifest, &CUBECL_MANIFEST.replace("VERSION", version))?;
    session.say(&format!(
        "building {name} {version} with its back end for processors (minutes)"
    ));
    // Warnings of others are no news; errors are.
    let build = Program::cargo("build --release --quiet --manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&folder);
    session.run(&build)?;
    Ok(folder.join("release/cubecl-peer"))
}

/// Compiles the kernels of `tests/kernels` and their harness into a folder, and returns the folder.
///
/// # Errors
/// A package is missing, or clang fails.
pub(crate) fn kernels(session: &Session) -> Result<PathBuf> {
    let clang = ["clang-22", "libomp-22-dev"];
    packages::install(session, &clang)?;
    packages::install(session, &["opencl-headers", "ocl-icd-opencl-dev"])?;
    let folder = session.path("target/kernels");
    session.make_folder(&folder.join("intel"))?;
    let sources = kernel_sources(session)?;
    for source in &sources {
        kernel(session, source, &folder)?;
    }
    // One program of all kernels: compiling is measured with it.
    let all = folder.join("all.spv");
    if !session.is_newer(&all, &sources) {
        let text = folder.join("all.cl");
        join_files(session, &sources, &text)?;
        session.run(&clang_kernel(&text, &all))?;
    }
    let harness = folder.join("bench");
    let source = session.path("tests/kernels/bench.c");
    if !session.is_newer(&harness, std::slice::from_ref(&source)) {
        session.say("clang: tests/kernels/bench.c");
        let compile = Program::new("clang-22")
            .words("-O3 -march=native -fopenmp")
            .arg(source)
            .words("-lOpenCL -ldl -lm -o")
            .arg(&harness);
        session.run(&compile)?;
    }
    Ok(folder)
}

/// The files of OpenCL C, sorted.
fn kernel_sources(session: &Session) -> Result<Vec<PathBuf>> {
    let folder = session.path("tests/kernels");
    if session.is_dry {
        return Ok(vec![folder.join("KERNEL.cl")]);
    }
    let entries = std::fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cl"));
    files.sort();
    Ok(files)
}

/// Compiles one kernel, whose source is copied beside it: the harness reads both.
fn kernel(session: &Session, source: &Path, folder: &Path) -> Result<()> {
    let name = source.file_stem().unwrap_or_default();
    let module = folder.join(name).with_extension("spv");
    if session.is_newer(&module, &[source.to_owned()]) {
        return Ok(());
    }
    session.copy(source, &folder.join(name).with_extension("cl"))?;
    session.run(&clang_kernel(source, &module))
}

fn clang_kernel(source: &Path, module: &Path) -> Program {
    let clang = Program::new("clang-22").words(OPENCL);
    clang.arg(source).arg("-o").arg(module)
}

fn join_files(session: &Session, sources: &[PathBuf], into: &Path) -> Result<()> {
    let mut text = String::new();
    if !session.is_dry {
        for source in sources {
            let read = std::fs::read_to_string(source);
            text += &read.with_context(|| format!("reading {}", source.display()))?;
        }
    }
    session.write(into, &text)
}

/// Compiles the program of the soak test that cancels threads, and returns it.
///
/// # Errors
/// The compiler fails.
pub(crate) fn cancel(session: &Session) -> Result<PathBuf> {
    session.make_folder(&session.path("target/soak"))?;
    let program = session.path("target/soak/cancel");
    let compile = Program::new("cc")
        .words("-std=gnu11 -O1 -o")
        .arg(&program)
        .arg(session.path("crates/conformance/c/cancel.c"))
        .arg(with_folder("-I", &session.path("include")));
    session.run(&loader(session, compile).words("-lpthread -ldl -lm"))?;
    Ok(program)
}
