//! A library of ours in the place of another product is refused before anything is compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIBRARIES: [&str; 8] = [
    "libze_loader",
    "libze_solum_cpu",
    "libsolum_codegen",
    "libxptifw",
    "libsolum_trace",
    "libze_validation_layer",
    "libze_tracing_layer",
    "libze_null",
];

fn library(name: &str) -> PathBuf {
    conformance::artefacts().join(format!("{name}.so.1"))
}

/// A fresh folder of that name.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

/// Exit code and stderr.
fn run(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// `./x install` strips them.
#[test]
fn our_libraries_are_marked_and_stay_so() {
    let stripped = folder("stripped").join("library.so");
    for name in LIBRARIES {
        let library = library(name);
        let bytes = fs::read(&library).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(library_mark::is_marked(&bytes), "{name}");
        let mut strip = Command::new("strip");
        strip.arg("-s").arg(&library).arg("-o").arg(&stripped);
        assert_eq!(run(&mut strip), (Some(0), String::new()), "{name}");
        let bytes = fs::read(&stripped).expect("strip has written it");
        assert!(library_mark::is_marked(&bytes), "{name}, stripped");
    }
}

#[test]
fn benchmarks_refuse_ours_as_a_peer() {
    for (area, variable, ours, product) in [
        (
            "xpti",
            "SOLUM_PEER_XPTI",
            "libxptifw",
            "Intel's XPTI framework",
        ),
        (
            "loader",
            "SOLUM_PEER_LOADER",
            "libze_loader",
            "the reference loader",
        ),
    ] {
        let ours = library(ours);
        let mut bench = Command::new(env!("CARGO_BIN_EXE_bench"));
        bench.args([area, "--json"]).env(variable, &ours);
        let (code, said) = run(&mut bench);
        let shown = ours.display();
        let refusal = format!(
            "bench: {area}: {shown} is a library of Solum, not {product}: nothing is compared\n"
        );
        assert!(said.ends_with(&refusal), "{said}");
        assert_eq!(code, Some(1), "{said}");
    }
}

#[test]
fn the_comparison_of_traces_refuses_other_frameworks() {
    let folder = folder("traces");
    fs::create_dir_all(folder.join("venv/lib")).expect("a temporary folder");
    let theirs = folder.join("venv/lib/libxptifw.so.1");
    let (ours, stranger) = (library("libxptifw"), folder.join("stranger.so"));
    fs::write(&stranger, "another").expect("a temporary file");
    // (what lies in the environment, what is taken for ours, words of the refusal)
    for (peer, mine, refusal) in [
        (Some(&ours), &ours, "is a library of Solum, not Intel's"),
        (Some(&stranger), &ours, "holds no Intel framework"),
        (None, &ours, "is missing"),
        (Some(&stranger), &stranger, "is not a library of Solum"),
    ] {
        let _ = fs::remove_file(&theirs);
        if let Some(peer) = peer {
            fs::copy(peer, &theirs).expect("a temporary file");
        }
        let mut compare = Command::new("python3");
        compare
            .arg(conformance::root().join("tests/xpti/compare.py"))
            .arg("--solum")
            .arg(conformance::artefacts().join("solum"))
            .arg("--ours")
            .arg(mine)
            .arg("--venv")
            .arg(folder.join("venv"))
            .arg("--out")
            .arg(folder.join("out"));
        let (code, said) = run(&mut compare);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.contains(refusal) && said.contains("nothing is compared"),
            "{said}"
        );
    }
}
