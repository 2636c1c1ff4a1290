//! `solum check` over programs that only write what the driver's checker would write.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{installed, text};

/// Shell functions that write lines of a stream, as the driver does.
const DRIVER: &str = r#"
start() { stream="$SOLUM_CHECK_OUTPUT/$1-${2:-0}.jsonl"
  echo "{\"start\":{\"pid\":$1,\"program\":\"/bin/prog\",\"version\":\"0.1.0\",\"checks\":\"$SOLUM_CHECK\"}}" >> "$stream"; }
bounds() { echo "{\"finding\":{\"id\":$1,\"kind\":\"out-of-bounds\",\"kernel\":\"scale\",\"count\":1,\"message\":\"read of 4 bytes\",\"access\":{\"action\":\"read\",\"size\":4,\"frames\":[{\"function\":\"scale\",\"file\":\"scale.cl\",\"line\":${2:-2},\"column\":14}]}}}" >> "$stream"; }
leak() { echo "{\"finding\":{\"id\":$1,\"kind\":\"leak\",\"count\":1,\"message\":\"64 bytes\"}}" >> "$stream"; }
count() { echo "{\"count\":{\"id\":$1,\"count\":$2}}" >> "$stream"; }
dropped() { echo "{\"dropped\":{\"what\":\"race history\",\"count\":3}}" >> "$stream"; }
end() { echo "{\"end\":{}}" >> "$stream"; }
"#;

/// An installation, with a source file and a place for temporary folders.
fn stage(name: &str) -> PathBuf {
    let folder = installed(name);
    let source = "kernel void scale(global int *in) {\n    out[i] = in[i + 1];\n}\n";
    std::fs::write(folder.join("scale.cl"), source).unwrap();
    let _ = std::fs::remove_dir_all(folder.join("tmp"));
    std::fs::create_dir(folder.join("tmp")).unwrap();
    folder
}

fn command(folder: &Path, options: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(folder.join("solum"));
    command
        .arg("check")
        .args(options)
        .arg("--")
        .args(program)
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .env_remove("UR_L0_DISABLE_USM_ALLOCATOR")
        .env_remove("UR_L0_USE_IMMEDIATE_COMMANDLISTS");
    command
}

/// Runs a script under `solum check`; nothing may be left in the folder of temporary files.
fn check(folder: &Path, options: &[&str], script: &str) -> (i32, String, String) {
    let script = format!("{DRIVER}{script}");
    let output = command(folder, options, &["sh", "-c", &script]).output();
    let left = std::fs::read_dir(folder.join("tmp")).unwrap().count();
    assert_eq!(left, 0, "temporary files of {script}");
    text(&output.unwrap())
}

#[test]
fn findings_are_reported_and_change_the_exit_code() {
    let folder = stage("check-findings");
    for (script, code, said) in [
        ("start 1; end", 0, "solum check: no mistakes found\n"),
        ("start 1; end; exit 3", 3, "no mistakes found"),
        (
            "start 1; bounds 1; end",
            98,
            "1 mistake found: 1 out-of-bounds",
        ),
        ("start 1; bounds 1; end; exit 3", 98, "1 out-of-bounds"),
        (
            "start 1; bounds 1; bounds 2 3; leak 3; end",
            98,
            "3 mistakes found: 2 out-of-bounds, 1 leak",
        ),
        ("start 1; bounds 1; count 1 40; end", 98, "count: 40 times"),
        (
            "start 1; dropped; end",
            0,
            "note: not checked: race history, 3 times",
        ),
    ] {
        let (found, stdout, stderr) = check(&folder, &[], &format!("echo out; {script}"));
        assert_eq!(found, code, "{script}: {stderr}");
        assert_eq!(stdout, "out\n", "stdout is the program's");
        assert!(stderr.contains(said), "{script}: {stderr}");
        assert!(!stderr.contains("still runs"), "{stderr}");
    }
    let (_, _, stderr) = check(&folder, &[], "start 1; bounds 1; end");
    let expected = "\
error[out-of-bounds]: read of 4 bytes
  --> scale.cl:2:14
   |
 2 |     out[i] = in[i + 1];
   |              ^ read of 4 bytes
   |
   = kernel: scale
   = help: test the index against the length, or allocate more

solum check: 1 mistake found: 1 out-of-bounds
";
    assert_eq!(stderr, format!("\n{expected}"));
    let page = include_str!("../../../../docs/check.md");
    assert!(page.contains(expected), "the page shows this report");
}

#[test]
fn the_program_gets_the_variables() {
    let folder = stage("check-variables");
    let script = "start 1; end; echo \"$SOLUM_CHECK|$UR_L0_DISABLE_USM_ALLOCATOR|$SYCL_PI_LEVEL_ZERO_DISABLE_USM_ALLOCATOR|\
                  $UR_L0_USE_IMMEDIATE_COMMANDLISTS|$SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS\"; \
                  stat -c %a \"$SOLUM_CHECK_OUTPUT\"; printf %s \"$ONEAPI_DEVICE_SELECTOR\"";
    for (options, checks) in [
        (&[][..], "all"),
        (&["--strict"], "all,strict"),
        (&["--allow", "same-value"], "all,allow=same-value"),
        (&["--only", "memory,race"], "memory,race"),
        (
            &["--only", "lock-step", "--strict", "--as", "gpu"],
            "strict,lock-step",
        ),
    ] {
        let (code, stdout, stderr) = check(&folder, options, script);
        let device = if options.contains(&"--as") {
            "gpu"
        } else {
            "cpu"
        };
        let words: Vec<&str> = stdout.lines().collect();
        let [values, mode, selector] = words.as_slice() else {
            panic!("{stdout} {stderr}")
        };
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(
            (*mode, *selector),
            ("700", format!("level_zero:{device}").as_str())
        );
        let (found, others) = values.split_once('|').unwrap();
        assert_eq!(others, "1|1|1|1");
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split(',').map(str::to_owned).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(found), sorted(checks), "{options:?}");
    }
    let script = format!("{DRIVER}start 1; end; echo $UR_L0_DISABLE_USM_ALLOCATOR");
    let mut own = command(&folder, &[], &["sh", "-c", &script]);
    let output = own
        .env("UR_L0_DISABLE_USM_ALLOCATOR", "0")
        .output()
        .unwrap();
    assert_eq!(text(&output).1, "0\n", "the user's own value stays");
}

#[test]
fn what_was_found_before_the_end_is_told() {
    let folder = stage("check-ends");
    for (script, code, said) in [
        (
            "start $$; bounds 1; kill -9 $$",
            98,
            "was killed, crashed or still runs",
        ),
        (
            "start $$; bounds 1; kill -SEGV $$",
            98,
            "was killed, crashed or still runs",
        ),
        (
            "start $$; kill -9 $$",
            137,
            "was killed, crashed or still runs",
        ),
        // A line that was being written, and one that never was a line.
        (
            "start 1; bounds 1; printf '{\"count\":{\"id\"' >> \"$stream\"",
            98,
            "1 out-of-bounds",
        ),
        (
            "start 1; echo noise >> \"$stream\"; bounds 1; end",
            98,
            "1 damaged line of its findings is left out",
        ),
        // Two processes: the same mistake once, another one once.
        (
            "start 1; bounds 1; end; start 2; bounds 1; leak 2; end",
            98,
            "count: 2 times",
        ),
        (
            "start 1; bounds 1; (start 2; leak 1; kill -9 $$); end",
            98,
            "2 mistakes found",
        ),
        // exec: one process, two streams.
        (
            "start 5; bounds 1; start 5 1; leak 1; end",
            98,
            "2 mistakes found",
        ),
    ] {
        let (found, _, stderr) = check(&folder, &[], script);
        assert_eq!(found, code, "{script}: {stderr}");
        assert!(stderr.contains(said), "{script}: {stderr}");
        let is_left_open = script.contains("kill") || script.contains("printf");
        assert_eq!(
            stderr.contains("still runs"),
            is_left_open,
            "{script}: {stderr}"
        );
    }
    // Really forked and executed programs.
    let script = "start $$; bounds 1; sh -c \"$DRIVER\"'start $$; bounds 1; bounds 2 3; end' & wait; exec sh -c \"$DRIVER\"'start $$ 1; leak 1; end'";
    let script = format!(
        "DRIVER='{}'; export DRIVER; {script}",
        DRIVER.replace('\'', "'\\''")
    );
    let (code, _, stderr) = check(&folder, &[], &script);
    assert_eq!(code, 98, "{stderr}");
    assert!(
        stderr.contains("3 mistakes found") && stderr.contains("count: 2 times"),
        "{stderr}"
    );
    assert!(!stderr.contains("still runs"), "{stderr}");
    // A child that outlives the program, and holds its stderr.
    let begun = Instant::now();
    let script = "start 1; bounds 1; sleep 20 > /dev/null & end";
    assert_eq!(check(&folder, &[], script).0, 98);
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn signals_reach_the_program() {
    let folder = stage("check-signals");
    let script = format!(
        "{DRIVER}start 1; bounds 1; trap 'end; exit 5' TERM; : > ready; while :; do sleep 0.05; done"
    );
    let _ = std::fs::remove_file(folder.join("ready"));
    let mut command = command(&folder, &["--json"], &["sh", "-c", &script]);
    let output = folder.join("output");
    command.stdout(std::fs::File::create(&output).unwrap());
    let mut running = command.process_group(0).spawn().unwrap();
    while !folder.join("ready").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    // SAFETY: a system call; the process is our child, which is not reaped yet.
    unsafe { libc::kill(running.id().cast_signed(), libc::SIGTERM) };
    assert_eq!(running.wait().unwrap().code(), Some(98));
    let document: Value = serde_json::from_slice(&std::fs::read(&output).unwrap()).unwrap();
    assert_eq!(document["program_exit_code"], 5);
    assert_eq!(document["processes"][0]["complete"], true);
}

#[test]
fn a_program_that_never_opens_the_driver_is_told() {
    let folder = stage("check-nothing");
    for (script, code) in [
        ("echo out", 0),
        ("echo out; exit 3", 3),
        ("echo out; kill -9 $$", 137),
    ] {
        let (found, stdout, stderr) = check(&folder, &[], script);
        assert_eq!((found, stdout.as_str()), (code, "out\n"), "{stderr}");
        assert!(stderr.contains("no kernel was checked"), "{stderr}");
        assert!(
            stderr.contains("solum doctor -- PROGRAM"),
            "the next step: {stderr}"
        );
        let (found, stdout, _) = check(&folder, &["--json", "--sarif", "out.sarif"], script);
        let document: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(
            (found, &document["schema"]),
            (code, &"solum.check/1".into())
        );
        let said = document["error"].as_str().unwrap();
        assert!(said.contains("never opened Solum's driver"), "{said}");
        let log = std::fs::read(folder.join("out.sarif")).unwrap();
        let log: Value = serde_json::from_slice(&log).unwrap();
        assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 0);
        let remarks = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
        assert!(remarks.contains("no kernel was checked"), "{remarks}");
    }
}

#[test]
fn json_is_one_document() {
    let folder = stage("check-json");
    std::fs::write(folder.join("known"), "leak # on purpose\nrace kernel=x\n").unwrap();
    let script = "echo out; start 7; bounds 1; leak 2; dropped; count 1 5; echo noise >> \"$stream\"; end; exit 4";
    let (code, stdout, stderr) = check(&folder, &["--json", "--suppress", "known"], script);
    assert_eq!(
        (code, stderr.as_str()),
        (98, "out\n"),
        "the program's output"
    );
    assert!(
        stdout.starts_with("{\n  \"schema\": \"solum.check/1\""),
        "{stdout}"
    );
    let document: Value = serde_json::from_str(&stdout).unwrap();
    let expected = serde_json::json!({
        "schema": "solum.check/1",
        "checks": "all",
        "program_exit_code": 4,
        "findings": [{
            "kind": "out-of-bounds", "kernel": "scale", "count": 5, "message": "read of 4 bytes",
            "access": {"action": "read", "size": 4, "frames": [
                {"function": "scale", "file": "scale.cl", "line": 2, "column": 14},
            ]},
        }],
        "suppressed": [{
            "rule": "known:1: leak", "reason": "on purpose",
            "kind": "leak", "count": 1, "message": "64 bytes",
        }],
        "unused_suppressions": ["known:2: race kernel=x"],
        "not_checked": [{"what": "race history", "count": 3}],
        "processes": [
            {"pid": 7, "program": "/bin/prog", "version": "0.1.0", "complete": true, "damaged_lines": 1},
        ],
    });
    assert_eq!(document, expected);
}

#[test]
fn suppressions_accept_what_they_name() {
    let folder = stage("check-suppress");
    for (name, rules) in [
        ("bounds", "out-of-bounds file=scale.cl line=2 # known\n"),
        ("leaks", "leak\n"),
        ("other", "# nothing\nrace kernel=reduce\n"),
        ("wrong", "leak\nlaek\nrace karnel=x\n"),
    ] {
        std::fs::write(folder.join(name), rules).unwrap();
    }
    let script = "start 1; bounds 1; leak 2; end; exit 3";
    for (files, code, said) in [
        (
            &["bounds"][..],
            98,
            "1 mistake found: 1 leak (1 suppressed)",
        ),
        (&["bounds", "leaks"], 3, "no mistakes found (2 suppressed)"),
        (
            &["other"],
            98,
            "note: a suppression was not used: other:2: race kernel=reduce",
        ),
    ] {
        let options: Vec<&str> = files.iter().flat_map(|file| ["--suppress", file]).collect();
        let (found, _, stderr) = check(&folder, &options, script);
        assert_eq!(found, code, "{files:?}: {stderr}");
        assert!(stderr.contains(said), "{files:?}: {stderr}");
    }
    let (_, _, stderr) = check(&folder, &["--suppress", "wrong"], "echo started >&2");
    assert!(
        stderr.contains("wrong:2: no kind of finding is called laek; did you mean leak?"),
        "{stderr}"
    );
    assert!(
        stderr.contains("wrong:3: karnel=x is no condition; did you mean kernel?"),
        "{stderr}"
    );
}

#[test]
fn sarif_is_written_beside_the_report() {
    let folder = stage("check-sarif");
    std::fs::write(
        folder.join("out.sarif"),
        "an older one, which is longer".repeat(1000),
    )
    .unwrap();
    std::fs::write(folder.join("known"), "leak # on purpose\n").unwrap();
    let options = ["--sarif", "out.sarif", "--suppress", "known"];
    let (code, _, stderr) = check(&folder, &options, "start 1; bounds 1; leak 2; end");
    assert_eq!(code, 98, "{stderr}");
    assert!(stderr.contains("1 mistake found"), "{stderr}");
    let log = std::fs::read(folder.join("out.sarif")).unwrap();
    let log: Value = serde_json::from_slice(&log).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let ids: Vec<&Value> = results.iter().map(|result| &result["ruleId"]).collect();
    assert_eq!(ids, ["out-of-bounds", "leak"]);
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "scale.cl");
    assert_eq!(place["region"]["startLine"], 2);
    // A finding without a line is at the program: code hosts refuse logs with results that have no file.
    let place = &results[1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "sh");
    assert_eq!(results[1]["suppressions"][0]["justification"], "on purpose");
}

#[test]
fn errors_come_before_the_program_starts() {
    let folder = stage("check-errors");
    std::fs::write(folder.join("wrong"), "laek\n").unwrap();
    for (options, code, said) in [
        (&["--only", "memry"][..], 2, "did you mean memory?"),
        (&["--only", ""], 2, "an empty word"),
        (&["--allow", "all"], 2, "same-value"),
        (
            &["--suppress", "missing"],
            125,
            "cannot read suppressions from missing",
        ),
        (&["--suppress", "tmp"], 125, "not a regular file"),
        (&["--suppress", "wrong"], 125, "wrong:1: "),
        (
            &["--sarif", "missing/out.sarif"],
            125,
            "cannot write missing/out.sarif",
        ),
        (&["--sarif", "tmp"], 125, "cannot write tmp"),
    ] {
        let (found, _, stderr) = check(&folder, options, "echo started");
        assert_eq!(found, code, "{options:?}: {stderr}");
        assert!(stderr.contains(said), "{options:?}: {stderr}");
        let json = [&["--json"], options].concat();
        let (found, stdout, _) = check(&folder, &json, "echo started");
        assert_eq!(found, code, "{options:?}");
        assert!(!stdout.contains("started"), "{options:?}");
        if code == 125 {
            let document: Value = serde_json::from_str(&stdout).unwrap();
            assert!(
                document["error"].as_str().unwrap().contains(said),
                "{stdout}"
            );
        }
    }
    // No file stays behind for a program that did not start.
    for (program, code) in [("./no-such-program", 127), ("./scale.cl", 126)] {
        let options = ["--sarif", "new.sarif"];
        let output = command(&folder, &options, &[program]).output().unwrap();
        assert_eq!(text(&output).0, code);
        assert!(!folder.join("new.sarif").exists(), "{program}");
    }
    let mut nowhere = command(&folder, &[], &["true"]);
    let (code, _, stderr) = text(&nowhere.env("TMPDIR", "/no/such/folder").output().unwrap());
    assert_eq!(code, 125, "{stderr}");
    assert!(stderr.contains("set TMPDIR"), "{stderr}");
}

#[test]
fn a_report_that_cannot_be_written_is_an_error() {
    let folder = stage("check-full");
    for (options, script, code) in [
        (&["--json"][..], "start 1; end", 125),
        (&["--json"], "start 1; end; exit 3", 3),
        (&["--json"], "start 1; bounds 1; end", 98),
        (&["--json"], "true", 125),
        (&["--sarif", "/dev/full"], "start 1; end", 125),
        (&["--sarif", "/dev/full"], "start 1; bounds 1; end", 98),
    ] {
        let script = format!("{DRIVER}{script}");
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut command = command(&folder, options, &["sh", "-c", &script]);
        let (found, _, stderr) = text(&command.stdout(full).output().unwrap());
        assert_eq!(found, code, "{options:?} {script}: {stderr}");
        assert!(stderr.contains("No space left"), "{options:?}: {stderr}");
    }
}

#[test]
fn names_from_kernels_are_no_commands_for_a_terminal() {
    let folder = stage("check-hostile");
    let hostile = r"\u001b]0;T\u0007\u202e";
    let line = format!(
        "{{\"finding\":{{\"id\":1,\"kind\":\"leak\",\"count\":1,\"kernel\":\"{hostile}\",\"message\":\"{hostile}\",\"advice\":\"{hostile}\",\
         \"access\":{{\"action\":\"{hostile}\",\"frames\":[{{\"function\":\"{hostile}\",\"file\":\"{hostile}\",\"line\":1}}]}}}}}}"
    );
    std::fs::write(folder.join("lines"), line + "\n").unwrap();
    for options in [&[][..], &["--json"]] {
        let script = format!("{DRIVER}start 1; cat lines >> \"$stream\"; dropped");
        let mut command = command(&folder, options, &["sh", "-c", &script]);
        let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        let (code, stdout, stderr) = text(&output);
        assert_eq!(code, 98, "{stderr}");
        let mut all = stdout + &stderr;
        for ours in ["0", "1", "2", "31", "32", "33"] {
            all = all.replace(&format!("\u{1b}[{ours}m"), "");
        }
        let acts = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
        assert!(!all.contains(acts), "{all:?}");
        assert!(all.contains("202e"), "{all:?}");
    }
}
