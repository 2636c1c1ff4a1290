//! The program as people use it: exit codes, messages, JSON. Needs no device but for the cases that say so.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "commands/doctor.rs"]
mod doctor;
#[path = "commands/info.rs"]
mod info;
#[path = "commands/trace.rs"]
mod trace;

use std::process::{Command, Output};

fn solum(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solum"));
    command.args(arguments);
    command
}

fn text(output: &Output) -> (i32, String, String) {
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Puts a file at another place too. A link where that goes: a copy that another thread's child still holds open for
/// writing cannot be started.
fn place(from: &std::path::Path, to: &std::path::Path) {
    let _ = std::fs::remove_file(to);
    if std::fs::hard_link(from, to).is_err() {
        std::fs::copy(from, to).unwrap();
    }
}

/// A copy of the program in a folder with an empty file in the loader's place: enough for `run` and `env --shell`.
fn installed(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    place(
        std::path::Path::new(env!("CARGO_BIN_EXE_solum")),
        &folder.join("solum"),
    );
    std::fs::write(folder.join("libze_loader.so.1"), b"").unwrap();
    folder
}

#[test]
fn run_passes_exit_codes_signals_and_output_through() {
    let folder = installed("run");
    for (script, code, stdout, stderr) in [
        ("echo out; echo err >&2; exit 7", 7, "out\n", "err\n"),
        ("kill -9 $$", 137, "", ""),
        (
            "printf '%s' \"$ONEAPI_DEVICE_SELECTOR\"",
            0,
            "level_zero:cpu",
            "",
        ),
    ] {
        let output = Command::new(folder.join("solum"))
            .args(["run", "--", "sh", "-c", script])
            .env_remove("ONEAPI_DEVICE_SELECTOR")
            .output()
            .unwrap();
        assert_eq!(
            text(&output),
            (code, stdout.into(), stderr.into()),
            "{script}"
        );
    }
}

#[test]
fn run_names_what_to_choose_when_no_device_was_found() {
    let folder = installed("choose");
    // Cut in two writes: the phrase is found across reads.
    let script =
        "printf 'No device of ' >&2; sleep 0.05; echo 'requested type available.' >&2; exit 1";
    let output = Command::new(folder.join("solum"))
        .args(["run", "--as", "gpu", "--", "sh", "-c", script])
        .output()
        .unwrap();
    let (code, _, stderr) = text(&output);
    assert_eq!(code, 1);
    assert!(
        stderr.contains("No device of requested type available."),
        "{stderr}"
    );
    assert!(
        stderr.contains("ONEAPI_DEVICE_SELECTOR=level_zero:gpu") && stderr.contains("--as cpu"),
        "{stderr}"
    );
}

#[test]
fn run_keeps_the_users_selector_and_require_kernels_needs_one() {
    let folder = installed("require");
    let run = |arguments: &[&str]| {
        let output = Command::new(folder.join("solum"))
            .arg("run")
            .args(arguments)
            .env("ONEAPI_DEVICE_SELECTOR", "level_zero:1")
            .output()
            .unwrap();
        text(&output)
    };
    assert_eq!(
        run(&["--", "sh", "-c", "printf $ONEAPI_DEVICE_SELECTOR"]).1,
        "level_zero:1"
    );
    let (code, _, stderr) = run(&["--require-kernels", "--", "true"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("no kernel ran on Solum"), "{stderr}");
    let (code, _, _) = run(&[
        "--require-kernels",
        "--",
        "sh",
        "-c",
        "echo kernel >> \"$SOLUM_WITNESS\"",
    ]);
    assert_eq!(code, 0);
    let (code, _, _) = run(&["--require-kernels", "--", "sh", "-c", "exit 3"]);
    assert_eq!(code, 3, "the program's own code wins");
}

#[test]
fn programs_that_cannot_be_run_give_a_shells_codes() {
    let folder = installed("codes");
    for (program, want) in [("./no-such-program", 127), ("/", 126)] {
        let output = Command::new(folder.join("solum"))
            .args(["run", "--", program])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(want), "{program}");
    }
}

#[test]
fn env_lists_each_variable_and_its_value() {
    let output = solum(&["env", "--json"])
        .env("SOLUM_COMPILER", "interpreter")
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "solum.env/1");
    let variables = document["variables"].as_array().unwrap();
    let compiler = variables
        .iter()
        .find(|v| v["name"] == "SOLUM_COMPILER")
        .unwrap();
    assert_eq!(compiler["value"], "interpreter");
    for name in ["SOLUM_SYCL_TRACE", "UR_L0_USE_DRIVER_INORDER_LISTS"] {
        assert!(variables.iter().any(|v| v["name"] == name), "{name}");
    }
    assert!(
        variables
            .iter()
            .all(|v| v["meaning"].as_str().is_some_and(|m| !m.is_empty()))
    );
}

#[test]
fn env_shell_can_be_evaluated() {
    let folder = installed("shell");
    let script = format!(
        "eval \"$({}/solum env --shell)\" && printf %s \"$LD_LIBRARY_PATH\"",
        folder.display()
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    assert_eq!(
        text(&output).1,
        folder.canonicalize().unwrap().display().to_string()
    );
}

#[test]
fn wrong_usage_is_two() {
    assert_eq!(
        solum(&["no-such-verb"]).output().unwrap().status.code(),
        Some(2)
    );
}
