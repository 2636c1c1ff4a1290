//! `solum trace` where nothing can be traced: the program runs all the same.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{installed, text};

#[test]
fn trace_says_what_is_missing() {
    let folder = installed("trace-missing");
    let _ = std::fs::remove_file(folder.join("libsolum_trace.so.1"));
    let output = Command::new(folder.join("solum"))
        .args(["trace", "--", "true"])
        .output()
        .unwrap();
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 125);
    assert!(
        stderr.contains("libsolum_trace.so.1 is missing"),
        "{stderr}"
    );
}

/// An installation whose recorder is an empty file: programs start, and record nothing by themselves.
fn without_recorder(name: &str) -> PathBuf {
    let folder = installed(name);
    std::fs::write(folder.join("libsolum_trace.so.1"), b"").unwrap();
    let _ = std::fs::remove_dir_all(folder.join("results"));
    folder
}

fn trace(folder: &Path, options: &[&str], program: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(folder.join("solum"));
    command
        .args(["trace", "-o", "results"])
        .args(options)
        .arg("--")
        .args(program)
        .current_dir(folder);
    text(&command.output().unwrap())
}

#[test]
fn a_program_that_meets_no_runtime_runs_and_is_told_so() {
    let folder = without_recorder("trace-nothing");
    let script = "printf %s \"$XPTI_SUBSCRIBERS\"; exit 3";
    let (code, stdout, stderr) = trace(&folder, &[], &["sh", "-c", script]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stdout.ends_with("libsolum_trace.so.1"), "{stdout}");
    assert!(
        stderr.contains("ended with 3 and recorded nothing"),
        "{stderr}"
    );
    assert!(stderr.contains("solum ls"), "the next step: {stderr}");
}

#[test]
fn one_document_whatever_happens() {
    let folder = without_recorder("trace-json");
    for (program, code, error, err) in [
        (
            &["sh", "-c", "echo of the program; exit 3"][..],
            3,
            "recorded nothing",
            "of the program\n",
        ),
        (
            &["no-such-program"],
            127,
            "no program no-such-program on PATH",
            "",
        ),
        (&["."], 126, "no program . on PATH", ""),
        (&["./"], 126, "is a directory", ""),
    ] {
        let (found, stdout, stderr) = trace(&folder, &["--json"], program);
        let document: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(document["schema"], "solum.trace/1", "{program:?}");
        assert!(stdout.starts_with("{\"schema\""), "{stdout}");
        let said = document["error"].as_str().unwrap();
        assert!(said.contains(error), "{program:?}: {said}");
        assert!(document["hint"].is_string(), "{program:?}");
        assert_eq!(found, code, "{program:?}: {stdout}{stderr}");
        assert_eq!(stderr, err, "{program:?}");
    }
}

/// What lies in the folder of the results beforehand, and whether it is an earlier trace's.
const BEFORE: &[(&str, &[u8], bool)] = &[
    ("71-0.events", b"SOLUMTRC and more", true),
    ("summary.json", b"{}", true),
    ("graph.svg", b"<svg/>", true),
    ("timeline.pftrace", b"", true),
    ("72-0.events", b"somebody else's", false),
    ("lectures.events", b"SOLUMTRC", false),
    ("71-0.events.bak", b"SOLUMTRC", false),
    ("a-1.events", b"SOLUMTRC", false),
    ("paper.json", b"{}", false),
];

fn lie_before(folder: &Path) -> PathBuf {
    let results = folder.join("results");
    std::fs::create_dir_all(&results).unwrap();
    for (name, content, _) in BEFORE {
        std::fs::write(results.join(name), content).unwrap();
    }
    results
}

#[test]
fn a_new_trace_replaces_an_older_one_and_nothing_else() {
    let folder = without_recorder("trace-older");
    let results = lie_before(&folder);
    let (code, _, stderr) = trace(&folder, &[], &["true"]);
    assert_eq!(code, 0, "{stderr}");
    for (name, content, is_older) in BEFORE {
        let found = std::fs::read(results.join(name)).ok();
        let stays = found.as_deref() == Some(content);
        assert_eq!(stays, !is_older, "{name}: {found:?}");
    }
}

#[test]
fn results_without_recordings_may_be_anybodys() {
    let folder = without_recorder("trace-foreign");
    let results = folder.join("results");
    std::fs::create_dir_all(&results).unwrap();
    for name in ["summary.json", "graph.svg", "timeline.json"] {
        let file = results.join(name);
        std::fs::write(&file, "mine").unwrap();
        let (code, _, stderr) = trace(&folder, &[], &["touch", "results/started"]);
        assert_eq!(code, 125, "{stderr}");
        assert!(
            stderr.contains(name) && stderr.contains("-o"),
            "what is in the way, and what to do: {stderr}"
        );
        assert!(!results.join("started").exists(), "the program ran");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        std::fs::remove_file(&file).unwrap();
    }
    // An earlier trace whose recordings the user has removed.
    let summary = "{\"schema\":\"solum.trace/1\"}";
    std::fs::write(results.join("summary.json"), summary).unwrap();
    let (code, _, stderr) = trace(&folder, &[], &["touch", "results/started"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(results.join("started").exists());
    assert!(!results.join("summary.json").exists(), "it is an older one");
}

#[test]
fn a_program_that_does_not_start_costs_nothing() {
    let folder = without_recorder("trace-unstarted");
    let program = ["./no-such-program"];
    assert_eq!(trace(&folder, &[], &program).0, 127);
    assert!(!folder.join("results").exists(), "made for nothing");
    let results = lie_before(&folder);
    assert_eq!(trace(&folder, &[], &program).0, 127);
    for (name, content, _) in BEFORE {
        let found = std::fs::read(results.join(name)).unwrap();
        assert_eq!(found, *content, "{name}");
    }
}
