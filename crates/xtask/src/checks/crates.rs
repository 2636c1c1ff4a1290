//! Checks of programs in Rust that depend on the crates, as docs/sycl.md promises them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::unpacked::{self, Dependent, LOADER_VARIABLES};
use crate::artefacts;
use crate::program::Program;
use crate::session::{Capture, Session};

const FRESH_BUILD: &str = r#"fn main() {
    let version = std::env::var("DEP_SOLUM_SYCL_LEVEL_ZERO_VERSION").expect("docs/sycl.md promises it");
    assert_eq!(version, "5", "the version of the Level Zero interoperability that this crate was written for");
}
"#;

const BARE_MAIN: &str = r#"fn main() {
    assert_eq!(sycl::Platform::all().expect("no platform is no error"), []);
    let error = sycl::Queue::new().expect_err("there is no device");
    assert_eq!(error.errc(), sycl::Errc::Runtime, "{error}");
}
"#;

/// Writes the crate that depends on `sycl` as docs/sycl.md says.
fn write_fresh(session: &Session) -> Result<Dependent> {
    let fresh = Dependent::write(session, "fresh", "")?;
    session.write(&fresh.path("build.rs"), FRESH_BUILD)?;
    let examples = unpacked::package(session, "sycl").join("examples");
    session.copy(&examples.join("vector_add.rs"), &fresh.path("src/main.rs"))?;
    session.make_folder(&fresh.path("src/bin/kernels"))?;
    for name in ["spirv_file.rs", "kernels/add.spvasm"] {
        session.copy(&examples.join(name), &fresh.path("src/bin").join(name))?;
    }
    Ok(fresh)
}

/// A crate that depends on the packages runs without a loader.
pub(super) fn fresh(session: &Session) -> Result<()> {
    let fresh = write_fresh(session)?;
    session.run(&fresh.build(session))?;
    fresh.is_built_from_packages(session)?;
    session.run(&Program::new(fresh.program(session)).without(&LOADER_VARIABLES))
}

/// Where LLVM 22 is missing, the crate of [`fresh`] opens an installed code generator; without one the build says how to
/// install it.
pub(super) fn opened_generator(session: &Session) -> Result<()> {
    let fresh = write_fresh(session)?;
    let libraries = session.path("target/opened/lib");
    session.make_folder(&libraries)?;
    // It is alone in its folder: a loader beside it would take precedence.
    let link = Program::new("ln")
        .arg("-sf")
        .arg(artefacts::library(session, "solum_codegen"))
        .arg(libraries.join("libsolum_codegen.so.1"));
    session.run(&link)?;
    let build = fresh.build(session).env("LLVM_CONFIG", "no-llvm-config");
    let program = Program::new(fresh.program(session))
        .without(&LOADER_VARIABLES)
        .env("SOLUM_CACHE", "0");
    let is_installed = has_installed_generator(session)?;
    if !is_installed {
        fails_with(session, &build, "apt install llvm-22-dev")
            .context("the build does not stop with the package to install")?;
    }
    session.run(&build.env("LD_LIBRARY_PATH", &libraries))?;
    session.run(&program.clone().env("LD_LIBRARY_PATH", &libraries))?;
    if !is_installed {
        fails_with(session, &program, "the code generator is not installed")
            .context("the program does not say that its code generator is missing")?;
    }
    Ok(())
}

/// Whether all programs of this machine find a code generator.
fn has_installed_generator(session: &Session) -> Result<bool> {
    let cache = session.capture(&Program::new("/sbin/ldconfig").arg("-p"), Capture::Output)?;
    Ok(cache.is_some_and(|cache| cache.text.contains("libsolum_codegen")))
}

/// Fails unless `program` fails and says `text`.
fn fails_with(session: &Session, program: &Program, text: &str) -> Result<()> {
    let Some(output) = session.capture(program, Capture::OutputAndErrors)? else {
        return Ok(());
    };
    if output.success || !output.text.contains(text) {
        bail!("{}\nof: {}", output.text, program.line());
    }
    Ok(())
}

/// A line that an example prints.
enum Line {
    /// This line.
    Is(&'static str),
    /// A line that begins and ends so, with a number between.
    Number(&'static str, &'static str),
    /// A line with two numbers: its beginning, the text between them, its end.
    Numbers(&'static str, &'static str, &'static str),
}

impl Line {
    fn matches(&self, line: &str) -> bool {
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|b| b"0123456789.e-".contains(&b));
        match self {
            Self::Is(text) => line == *text,
            Self::Number(start, end) => line
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(end))
                .is_some_and(is_number),
            Self::Numbers(start, middle, end) => line
                .strip_prefix(start)
                .and_then(|rest| rest.strip_suffix(end))
                .and_then(|rest| rest.split_once(middle))
                .is_some_and(|(one, other)| is_number(one) && is_number(other)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Is(text) => (*text).to_owned(),
            Self::Number(start, end) => format!("{start}NUMBER{end}"),
            Self::Numbers(start, middle, end) => format!("{start}NUMBER{middle}NUMBER{end}"),
        }
    }
}

/// The examples of docs/sycl.md and docs/rust-kernels.md: name, `SOLUM_DEVICES`, a line of the output. Each checks itself, too.
const EXAMPLES: [(&str, Option<&str>, Line); 12] = [
    (
        "vector_add",
        None,
        Line::Is("1048576 of 1048576 sums are right"),
    ),
    (
        "spirv_file",
        None,
        Line::Is("65536 of 65536 sums are right"),
    ),
    (
        "stencil",
        Some("cpu:2,discrete"),
        Line::Number(
            "50 steps of 512 x 512 on 2 devices; largest difference ",
            "",
        ),
    ),
    (
        "stencil",
        Some("cpu"),
        Line::Number(
            "50 steps of 512 x 512 on 1 devices; largest difference ",
            "",
        ),
    ),
    (
        "interop",
        None,
        Line::Is("SYCL doubled Level Zero's memory: 3"),
    ),
    (
        "interop",
        None,
        Line::Is("Level Zero filled SYCL's buffer: 7"),
    ),
    (
        "reduction",
        None,
        Line::Is("sum 500002500003, from 0 to 1000002"),
    ),
    ("reduction", None, Line::Is("1000 and all sums: 4072")),
    (
        "graph_replay",
        None,
        Line::Numbers(
            "200 times two steps: ",
            " ms submitted one by one, ",
            " ms replayed",
        ),
    ),
    (
        "blur",
        None,
        Line::Is("target/examples/scene.png and blurred.png"),
    ),
    (
        "path_tracer",
        None,
        Line::Is("32 x 24 pixels on the host and on the device: the same bits"),
    ),
    (
        "documentation",
        None,
        Line::Is("all samples of docs/sycl.md ran"),
    ),
];

/// The examples of docs/sycl.md, with the driver inside them.
pub(super) fn examples(session: &Session) -> Result<()> {
    artefacts::build_more(session, "-p sycl --examples")?;
    for (name, devices, line) in &EXAMPLES {
        let mut run = Program::new(session.release("examples").join(name))
            .without(&LOADER_VARIABLES)
            .arg("target/examples");
        if let Some(devices) = devices {
            run = run.env("SOLUM_DEVICES", devices);
        }
        let Some(output) = session.capture(&run, Capture::OutputAndErrors)? else {
            continue;
        };
        if !output.success || !output.text.lines().any(|found| line.matches(found)) {
            bail!("{name}: no line is {:?} in\n{}", line.text(), output.text);
        }
    }
    if session.is_dry {
        return Ok(());
    }
    check_pictures(&session.path("target/examples"))
}

/// Both pictures of the example `blur` are PNG files, and differ.
fn check_pictures(folder: &Path) -> Result<()> {
    let mut pictures = Vec::new();
    for name in ["scene.png", "blurred.png"] {
        let bytes = std::fs::read(folder.join(name)).with_context(|| format!("reading {name}"))?;
        if !bytes.starts_with(b"\x89PNG") {
            bail!("{name} is no PNG file");
        }
        pictures.push(bytes);
    }
    if pictures[0] == pictures[1] {
        bail!("scene.png and blurred.png are the same picture");
    }
    Ok(())
}

/// A crate without the driver inside: it has no devices, no errors, and needs no symbol of a device interface.
pub(super) fn bare(session: &Session) -> Result<()> {
    let bare = Dependent::write(session, "bare", ", default-features = false")?;
    session.write(&bare.path("src/main.rs"), BARE_MAIN)?;
    // A file that is no library comes before any that is.
    let broken = bare.path("broken");
    session.make_folder(&broken)?;
    session.write(&broken.join("libze_loader.so.1"), "none\n")?;
    artefacts::build_more(session, "-p libze_loader -p libze_stub")?;
    session.run(&bare.build(session))?;
    let program = bare.program(session);
    let without_loader = Program::new(&program)
        .without(&LOADER_VARIABLES)
        .env("LD_LIBRARY_PATH", &broken);
    session.run(&without_loader)?;
    session.run(&with_failing_driver(session, &program))?;
    check_symbols(session, &program)
}

/// The program with a loader whose only driver cannot be initialised.
fn with_failing_driver(session: &Session, program: &Path) -> Program {
    let library = |name: &str| -> PathBuf { artefacts::library(session, name) };
    Program::new(program)
        .env("SOLUM_ZE_LOADER", library("ze_loader"))
        .env("ZE_ENABLE_ALT_DRIVERS", library("ze_stub"))
        .env(
            "SOLUM_STUB_RESULT",
            "zeInitDrivers=0x78000001,zeInit=0x78000001",
        )
}

/// The program needs no symbol of a device interface.
fn check_symbols(session: &Session, program: &Path) -> Result<()> {
    let symbols = Program::new("nm")
        .args(["-D", "--undefined-only"].map(OsStr::new))
        .arg(program);
    let Some(output) = session.capture(&symbols, Capture::Output)? else {
        return Ok(());
    };
    let of_devices = |line: &&str| line.split_whitespace().any(is_device_symbol);
    let found: Vec<&str> = output.text.lines().filter(of_devices).collect();
    if !output.success || !found.is_empty() {
        bail!("symbols of device interfaces: {}", found.join(", "));
    }
    Ok(())
}

/// Whether a function belongs to Level Zero, OpenCL, CUDA, HIP, Unified Runtime or XPTI.
fn is_device_symbol(name: &str) -> bool {
    let prefixes = ["ze", "zes", "zet", "cl", "cu", "hip", "ur", "xpti"];
    let mut rests = prefixes.iter().filter_map(|p| name.strip_prefix(p));
    rests.any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_examples_have_numbers_where_they_vary() {
        let number = Line::Number("difference ", " ms");
        let numbers = Line::Numbers("a ", " ms, ", " ms replayed");
        for (line, text, expected) in [
            (&number, "difference 1.5e-7 ms", true),
            (&number, "difference  ms", false),
            (&number, "difference none ms", false),
            (&number, "a difference 1 ms", false),
            (&numbers, "a 1.5 ms, 2.25 ms replayed", true),
            (&numbers, "a 1.5 ms, x ms replayed", false),
            (&Line::Is("all ran"), "all ran", true),
            (&Line::Is("all ran"), "all ran twice", false),
        ] {
            assert_eq!(line.matches(text), expected, "{text} as {}", line.text());
        }
    }

    #[test]
    fn symbols_of_device_interfaces_are_known_by_their_case() {
        for (name, expected) in [
            ("zeInit", true),
            ("zesDeviceGet", true),
            ("clGetPlatformIDs", true),
            ("cuInit", true),
            ("urAdapterGet", true),
            ("xptiInitialize", true),
            ("close", false),
            ("clock_gettime", false),
            ("zero", false),
        ] {
            assert_eq!(is_device_symbol(name), expected, "{name}");
        }
    }
}
