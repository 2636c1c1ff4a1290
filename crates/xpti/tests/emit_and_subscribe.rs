//! An emitter and a subscriber in Rust, in one process with our framework between them.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// This profile's folder, with the framework, the emitter and the subscriber.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        test_artifacts::build(&["-p", "libxptifw"]);
        test_artifacts::build(&["-p", "xpti", "--examples"])
    })
}

/// Runs the emitter under the framework and the subscriber, with `variables` changed (`None` unsets).
fn emit(variables: &[(&str, Option<&str>)]) -> Output {
    let mut program = Command::new(built().join("examples/emit_graph"));
    program
        .env("XPTI_FRAMEWORK_DISPATCHER", built().join("libxptifw.so"))
        .env(
            "XPTI_SUBSCRIBERS",
            built().join("examples/libprint_events.so"),
        )
        .env("XPTI_TRACE_ENABLE", "1")
        .env_remove("SOLUM_XPTI_COMPAT")
        .env_remove("SOLUM_XPTI_USM_UD");
    for (name, value) in variables {
        match value {
            Some(value) => program.env(name, value),
            None => program.env_remove(name),
        };
    }
    program.output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn golden(name: &str, output: &Output) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name);
    let got = lines(output).join("\n") + "\n";
    if std::env::var_os("SOLUM_BLESS").is_some() {
        std::fs::write(&path, &got).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(want, got, "{}", path.display());
}

#[test]
fn every_notification_arrives_as_it_was_sent() {
    golden("seed.txt", &emit(&[]));
    golden("dpcpp.txt", &emit(&[("SOLUM_XPTI_COMPAT", Some("dpcpp"))]));
}

#[test]
fn invalid_values_are_reported_once_and_mean_the_default() {
    let listener = built().join("examples/libprint_events.so");
    let twice = format!("{0},{0}", listener.display());
    let output = emit(&[
        ("XPTI_SUBSCRIBERS", Some(twice.as_str())),
        ("SOLUM_XPTI_LOG", Some("loud")),
        ("SOLUM_XPTI_TRIAL", Some("yes")),
        ("SOLUM_XPTI_COMPAT", Some("DPCPP")),
    ]);
    golden("seed.txt", &output);
    let told = String::from_utf8_lossy(&output.stderr);
    let mut told: Vec<_> = told.lines().collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "libxptifw: SOLUM_XPTI_LOG=loud: allowed are 0, 1, 2 and 3",
            "libxptifw: SOLUM_XPTI_TRIAL=yes: allowed are 0 and 1",
            "xpti: SOLUM_XPTI_COMPAT=DPCPP: allowed are seed and dpcpp",
        ]
    );
}

#[test]
fn nothing_is_sent_without_a_framework_or_a_listener() {
    for variables in [
        &[("XPTI_FRAMEWORK_DISPATCHER", None)][..],
        &[("XPTI_FRAMEWORK_DISPATCHER", Some(""))],
        &[("XPTI_FRAMEWORK_DISPATCHER", Some("libc.so.6"))],
        &[("XPTI_FRAMEWORK_DISPATCHER", Some("/nonexistent.so"))],
        &[("XPTI_TRACE_ENABLE", Some("0"))],
        &[("XPTI_SUBSCRIBERS", None)],
        &[("XPTI_SUBSCRIBERS", Some("/nonexistent.so"))],
    ] {
        assert_eq!(lines(&emit(variables)), ["emitted: false"], "{variables:?}");
    }
}

#[test]
fn a_subscriber_gets_the_types_that_it_asked_for() {
    let output = lines(&emit(&[("PRINT_EVENTS_TYPES", Some("2,4,11"))]));
    let kinds: Vec<_> = output
        .iter()
        .filter_map(|line| line.strip_prefix("sycl ")?.split(' ').next())
        .collect();
    assert_eq!(
        kinds,
        [
            "graph_create",
            "node_create",
            "task_end",
            "task_end",
            "node_create"
        ]
    );
}

#[test]
fn a_panic_of_a_subscriber_does_not_reach_the_program() {
    let output = emit(&[("PRINT_EVENTS_PANIC", Some("1"))]);
    let lines = lines(&output);
    assert_eq!(lines.last().map(String::as_str), Some("emitted: true"));
    assert!(lines.iter().any(|line| line == "finish \"sycl\""));
    assert!(String::from_utf8_lossy(&output.stderr).contains("asked to panic"));
}
