//! `solum trace` where nothing can be traced: the program runs all the same.

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

#[test]
fn a_program_that_meets_no_runtime_runs_and_is_told_so() {
    let folder = installed("trace-nothing");
    std::fs::write(folder.join("libsolum_trace.so.1"), b"").unwrap();
    let results = folder.join("results");
    let output = Command::new(folder.join("solum"))
        .arg("trace")
        .arg("-o")
        .arg(&results)
        .args(["--", "sh", "-c", "printf %s \"$XPTI_SUBSCRIBERS\"; exit 3"])
        .output()
        .unwrap();
    let (code, stdout, stderr) = text(&output);
    assert_eq!(code, 125);
    assert!(stdout.ends_with("libsolum_trace.so.1"), "{stdout}");
    assert!(
        stderr.contains("ended with 3 and recorded nothing"),
        "{stderr}"
    );
    assert!(stderr.contains("solum ls"), "the next step: {stderr}");
}
