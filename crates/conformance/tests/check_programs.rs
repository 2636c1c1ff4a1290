//! `solum check` over programs that end in many ways: the mistakes that were found until then are told, and two runs tell the same.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use conformance::{artefacts, root};
use serde_json::Value;

/// `checked_ends`, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checked_ends");
        let output = Command::new("cc")
            .args(["-std=gnu11", "-O1", "-Wall", "-Werror", "-o"])
            .arg(&program)
            .arg(folder.join("checked_ends.c"))
            .arg("-I")
            .arg(root().join("include"))
            .arg("-L")
            .arg(artefacts())
            .args(["-l:libze_loader.so.1", "-lpthread"])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        program
    })
}

/// Runs the program, which ends in this way. Returns the exit code and the report.
fn check(way: &str) -> (i32, Value) {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv");
    let output = Command::new(artefacts().join("solum"))
        .args(["check", "--json", "--"])
        .arg(program())
        .arg(module)
        .arg(way)
        .env("SOLUM_CACHE", "0")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let document = serde_json::from_slice(&output.stdout);
    let document = document.unwrap_or_else(|error| panic!("{way}: {error}: {errors}"));
    (output.status.code().unwrap(), document)
}

/// Kind, kernel and word of each finding about memory.
fn found(document: &Value) -> BTreeSet<(String, String, u64)> {
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|one| {
            let word = one["access"]["word"].as_u64().unwrap_or_default();
            (text(&one["kind"]), text(&one["kernel"]), word)
        })
        .collect()
}

fn kernels(document: &Value) -> BTreeSet<String> {
    let out_of_bounds = found(document)
        .into_iter()
        .filter(|(kind, _, _)| kind == "out-of-bounds");
    out_of_bounds.map(|(_, kernel, _)| kernel).collect()
}

#[test]
fn what_was_found_is_told_however_a_program_ends() {
    // (way, exit code of the program, kernels, processes, whether all ended well)
    for (way, code, expected, processes, is_complete) in [
        ("return", 0, &["add"][..], 1, true),
        ("exit", 5, &["add"], 1, true),
        ("_exit", 5, &["add"], 1, false),
        ("crash", 139, &["add"], 1, false),
        ("abort", 134, &["add"], 1, false),
        ("kill", 137, &["add"], 1, false),
        ("fork", 0, &["add", "reverse"], 2, true),
        ("fork-only", 0, &["add"], 1, true),
        ("exec", 0, &["add", "reverse"], 1, true),
    ] {
        let (exit, document) = check(way);
        assert_eq!(exit, 98, "{way}: {document:#}");
        assert_eq!(document["program_exit_code"], code, "{way}");
        let told: Vec<String> = kernels(&document).into_iter().collect();
        assert_eq!(told, expected, "{way}: {document:#}");
        let all = document["processes"].as_array().unwrap();
        let pids: BTreeSet<u64> = all.iter().filter_map(|one| one["pid"].as_u64()).collect();
        assert_eq!(pids.len(), processes, "{way}: {document:#}");
        // What calls exec was as complete as it could be.
        if way != "exec" {
            let complete = all.iter().all(|one| one["complete"] == true);
            assert_eq!(complete, is_complete, "{way}: {document:#}");
        }
        assert!(all.iter().all(|one| one["damaged_lines"] == 0), "{way}");
        // Of each work-item, once: a child that was forked does not count again what its parent has found.
        if ["return", "fork", "fork-only"].contains(&way) {
            let findings = document["findings"].as_array().unwrap().iter();
            let mut memory = findings.filter(|one| one["kind"] == "out-of-bounds");
            assert!(memory.all(|one| one["count"] == 64), "{way}: {document:#}");
        }
    }
}

/// Several threads attempt the launch, which is undone and repeated in order when the last group is wrong.
#[test]
fn a_launch_with_mistakes_computes_what_it_computes_without_checks() {
    let (exit, document) = check("in-place");
    assert_eq!(exit, 98, "the program sees the right sums: {document:#}");
    let findings = document["findings"].as_array().unwrap().iter();
    let counts: Vec<u64> = findings.filter_map(|one| one["count"].as_u64()).collect();
    assert_eq!(counts, [64], "{document:#}");
}

#[test]
fn two_runs_tell_the_same() {
    let text = |way: &str| {
        let (_, mut document) = check(way);
        for process in document["processes"].as_array_mut().unwrap() {
            process["pid"] = Value::Null;
        }
        document.to_string()
    };
    for way in ["return", "fork", "exec"] {
        assert_eq!(text(way), text(way), "{way}");
    }
}

#[test]
fn threads_that_launch_at_once_tell_the_same_places() {
    let (_, first) = check("threads");
    let told: Vec<String> = kernels(&first).into_iter().collect();
    assert_eq!(told, ["add", "reverse"], "{first:#}");
    for _ in 0..2 {
        let (exit, again) = check("threads");
        assert_eq!(exit, 98);
        assert_eq!(found(&again), found(&first), "{again:#}");
    }
}
