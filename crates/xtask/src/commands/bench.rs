//! `bench`: builds what a benchmark needs, then becomes it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::install;
use super::record::{self, Recorded};
use crate::arguments::{Area, Bench, BenchDpnp};
use crate::artefacts::{self, RUN_TIME};
use crate::client_programs;
use crate::clients::Word as _;
use crate::packages;
use crate::program::Program;
use crate::python::{self, Environment};
use crate::session::{Capture, Session};

/// Files of an installation that is compared with this build.
const INSTALLED: [&str; 5] = [
    "bin/solum",
    "lib/libze_loader.so.1",
    "lib/libze_solum_cpu.so.1",
    "lib/libsolum_codegen.so.1",
    "lib/libxptifw.so.1",
];

/// This build's installation while it is compared.
const OURS: &str = "target/against";

/// Measures.
pub(super) fn run(session: &Session, options: &Bench) -> Result<()> {
    if let Some(dpnp) = &options.dpnp {
        return bench_dpnp(session, dpnp);
    }
    match (&options.against, options.area) {
        (Some(prefix), _) => against(session, &session.given(prefix), options),
        (None, Some(Area::Sycl)) => sycl(session, options),
        (None, Some(Area::Rtas)) => rtas(session, options),
        (None, _) => areas(session, options),
    }
}

/// Adds the user's words for the program that measures: its area, if it has some, then cases and options.
fn with_words(program: Program, options: &Bench, area: Option<Area>) -> Program {
    program
        .args(area.map(|area| area.word()))
        .args(&options.cases)
        .flag("--json", options.json || options.record)
        .flag("--alone", options.alone)
        .flag("--exact", options.exact)
        .args(options.rounds.map(|rounds| format!("--rounds={rounds}")))
}

/// Whether an area is measured: all but `check`, `rust` and `cubecl` are if none is named. Further areas stand among the cases.
fn is_measured(options: &Bench, area: Area) -> bool {
    options.area.is_none_or(|asked| asked == area)
        || options.cases.iter().any(|case| *case == area.word())
}

/// Loader, driver, kernels, compiling, XPTI.
fn areas(session: &Session, options: &Bench) -> Result<()> {
    let is_measured = |area| is_measured(options, area);
    if matches!(
        options.area,
        Some(Area::Kernels | Area::Compile | Area::Check | Area::Rust | Area::Cubecl)
    ) {
        artefacts::build_libraries(session, &RUN_TIME)?;
        artefacts::build_more(session, "-p conformance --bins -p solum")?;
    } else {
        artefacts::build(session)?;
        artefacts::build_more(session, "-p conformance --bins --lib -p libze_stub")?;
    }
    let mut bench = Program::new(session.release("bench"));
    bench = bench.env("SOLUM_ARTEFACTS", session.release_folder());
    if [Area::Driver, Area::Kernels, Area::Compile]
        .into_iter()
        .any(is_measured)
    {
        bench = bench.env("SOLUM_KERNELS", client_programs::kernels(session)?);
        bench = with_opencl_peers(session, bench)?;
    }
    let has_twins = matches!(options.area, Some(Area::Rust | Area::Cubecl));
    if has_twins || options.area == Some(Area::Check) {
        bench = bench.env("SOLUM_KERNELS", client_programs::kernels(session)?);
    }
    if has_twins {
        let folder = session.path("target/kernels/rust");
        artefacts::build_more(session, "-p conformance --example rust_kernels")?;
        session.run(&Program::new(session.release("examples/rust_kernels")).arg(folder))?;
    }
    if options.area == Some(Area::Cubecl) && !options.alone {
        match client_programs::cubecl(session) {
            Ok(program) => bench = bench.env("SOLUM_PEER_CUBECL", program),
            Err(error) => session.say(&format!(
                "no column for CubeCL, which could not be built: {error:#}"
            )),
        }
    }
    if is_measured(Area::Xpti) {
        let without = "no column for Intel's XPTI framework";
        if Environment::Wheels.install_optional(session, without) {
            let intels = Environment::Wheels.path(session, "lib/libxptifw.so.1");
            bench = bench.env("SOLUM_PEER_XPTI", intels);
        }
    }
    finish(session, &with_words(bench, options, options.area), options)
}

/// Records the run of a benchmark, or becomes it.
fn finish(session: &Session, bench: &Program, options: &Bench) -> Result<()> {
    match options.area {
        Some(area) if options.record => {
            let rounds = options.rounds.map(|rounds| format!("--rounds={rounds}"));
            let flags = [
                ("--exact", options.exact),
                ("--cpu", options.cpu),
                ("--record", true),
            ];
            let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
            let words = options.cases.iter().cloned().chain(rounds);
            let recorded = Recorded {
                area: area.word(),
                rows: None,
                words: words
                    .chain(flags.map(|(flag, _)| flag.to_owned()))
                    .collect(),
            };
            record::run(session, bench, &recorded)
        }
        _ => session.replace(bench),
    }
}

/// Installs the OpenCL runtimes that kernels are compared with.
fn with_opencl_peers(session: &Session, bench: Program) -> Result<Program> {
    packages::install(session, &["pocl-opencl-icd"])?;
    match python::install_intel_opencl(session) {
        Ok(libraries) => Ok(bench.env("SOLUM_PEER_INTEL", libraries)),
        Err(error) => {
            session.say(&format!("no column for Intel's runtime: {error:#}"));
            Ok(bench)
        }
    }
}

/// The SYCL runtime, which has the driver inside; its peer is DPC++'s runtime over the same driver's libraries.
fn sycl(session: &Session, options: &Bench) -> Result<()> {
    // The cost of tools is measured without a subscriber and with one that does nothing.
    artefacts::build_libraries(session, &["xptifw"])?;
    artefacts::build_more(session, "-p xpti --example listen")?;
    let mut bench = Program::cargo("bench --quiet -p sycl --bench runtime --manifest-path")
        .arg(session.path("Cargo.toml"))
        .env("SOLUM_ARTEFACTS", session.release_folder());
    artefacts::build_libraries(session, &RUN_TIME)?;
    artefacts::build_more(session, "-p solum")?;
    match sycl_peer(session) {
        Ok(program) => bench = bench.env("SOLUM_PEER_SYCL", program),
        Err(error) => session.say(&format!("no column for DPC++'s runtime: {error:#}")),
    }
    finish(
        session,
        &with_words(bench.arg("--"), options, None),
        options,
    )
}

fn sycl_peer(session: &Session) -> Result<PathBuf> {
    Environment::Wheels.install(session)?;
    client_programs::sycl(session, "queues")
}

/// Ray tracing, beside Embree where it is installed.
fn rtas(session: &Session, options: &Bench) -> Result<()> {
    artefacts::build_libraries(session, &RUN_TIME[..2])?;
    client_programs::rtas(session, true)?;
    let bench = Program::new(session.path("target/rtas/bench"))
        .env("LD_LIBRARY_PATH", session.release_folder())
        .args(&options.cases)
        .flag("--json", options.json || options.record)
        .flag("--exact", options.exact)
        .flag("--cpu", options.cpu)
        .args(options.rounds.map(|rounds| format!("--runs={rounds}")));
    finish(session, &bench, options)
}

/// The first file that the compared installation lacks, in words.
pub(super) fn incomplete(session: &Session, options: &Bench) -> Option<String> {
    let prefix = session.given(options.against.as_ref()?);
    let file = INSTALLED.iter().find(|file| !prefix.join(file).is_file())?;
    let prefix = prefix.display();
    Some(format!(
        "bench: there is no {file} in {prefix}: in the other checkout, ./x install {prefix}"
    ))
}

/// This build and the installation in `prefix`, in turns.
fn against(session: &Session, prefix: &Path, options: &Bench) -> Result<()> {
    // Both sides are made in the same way.
    let ours = session.path(OURS);
    install::run(session, &ours)?;
    artefacts::build_more(session, "-p conformance --bins --lib -p libze_stub")?;
    artefacts::build_more(session, "-p xpti --example listen")?;
    let is_measured = |area| is_measured(options, area);
    let mut bench = Program::new(session.release("bench"));
    bench = bench.env("SOLUM_BENCH_RTAS", session.path("target/rtas/bench"));
    if [Area::Kernels, Area::Compile].into_iter().any(is_measured) {
        bench = bench.env("SOLUM_KERNELS", client_programs::kernels(session)?);
    }
    if is_measured(Area::Rtas) {
        client_programs::rtas(session, false)?;
    }
    if is_measured(Area::Sycl) {
        bench = bench.env("SOLUM_BENCH_SYCL", sycl_benchmark(session)?);
    }
    let bench = bench
        .arg(format!("--ours={}", ours.display()))
        .arg(format!("--against={}", prefix.display()));
    session.replace(&with_words(bench, options, options.area))
}

/// Builds the benchmark of crate `sycl`, and returns its program.
fn sycl_benchmark(session: &Session) -> Result<String> {
    let build =
        Program::cargo("bench --quiet --no-run --message-format=json-render-diagnostics -p sycl")
            .words("--bench runtime");
    let Some(messages) = session.capture(&build, Capture::Output)? else {
        return Ok("RUNTIME".to_owned());
    };
    executable(&messages.text, "runtime")
        .context("cargo names no program of the benchmark `runtime` of crate sycl")
}

/// The last program that cargo's messages report for the target `name`.
fn executable(messages: &str, name: &str) -> Option<String> {
    let mut programs = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_ours = message["target"]["name"] == name;
        let program = message["executable"].as_str()?;
        is_ours.then(|| program.to_owned())
    });
    programs.next_back()
}

/// dpnp's functions on Solum and on Intel's runtime.
fn bench_dpnp(session: &Session, options: &BenchDpnp) -> Result<()> {
    let BenchDpnp::Dpnp {
        functions,
        turns,
        device,
        json,
        record,
    } = options;
    artefacts::build_libraries(session, &RUN_TIME)?;
    artefacts::build_more(session, "-p solum")?;
    let no_packages = "bench dpnp: the packages could not be installed (no network?)";
    Environment::Wheels.install(session).context(no_packages)?;
    let intel = python::install_intel_opencl(session).context(no_packages)?;
    let bench = Program::new(Environment::Wheels.python(session))
        .arg(session.path("tests/wheels/bench_dpnp.py"))
        .arg("--solum")
        .arg(session.release("solum"))
        .arg("--intel")
        .arg(intel)
        .option("--turns", turns.map(|turns| turns.to_string()))
        .option("--device", device.map(|device| device.word()))
        .args(functions);
    if !record {
        return session.replace(&bench.option("--json", json.as_ref()));
    }
    let rows = session.path("target/bench-dpnp.json");
    let turns = turns.map(|turns| format!("--turns={turns}"));
    let device = device.map(|device| format!("--device={}", device.word()));
    let words = functions.iter().cloned().chain(turns).chain(device);
    let recorded = Recorded {
        area: "dpnp".to_owned(),
        words: words.chain(["--record".to_owned()]).collect(),
        rows: Some(rows.clone()),
    };
    record::run(session, &bench.arg("--json").arg(rows), &recorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_target_is_in_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"sycl"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"runtime"},"executable":"/t/runtime-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(
            executable(messages, "runtime").as_deref(),
            Some("/t/runtime-1")
        );
        assert_eq!(executable(messages, "sycl"), None);
        assert_eq!(executable("no JSON", "runtime"), None);
    }
}
