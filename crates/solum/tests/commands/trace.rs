//! `solum trace` where nothing can be traced: the program runs all the same.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use timeline::file::{self, header};

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
fn a_program_without_a_runtime_runs_with_a_note() {
    let folder = without_recorder("trace-nothing");
    let script = "printf %s \"$XPTI_SUBSCRIBERS\"; exit 3";
    let (code, stdout, stderr) = trace(&folder, &[], &["sh", "-c", script]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stdout.ends_with("libsolum_trace.so.1"), "{stdout}");
    assert!(
        stderr.contains("exited with 3 and recorded nothing"),
        "{stderr}"
    );
    assert!(stderr.contains("solum ls"), "the next step: {stderr}");
}

#[test]
fn errors_are_json_documents_too() {
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

/// An empty folder for results that only its owner can write to, whatever the umask is.
fn results_in(folder: &Path) -> PathBuf {
    let results = folder.join("results");
    if !results.exists() {
        std::fs::create_dir(&results).unwrap();
    }
    std::fs::set_permissions(&results, Permissions::from_mode(0o755)).unwrap();
    results
}

fn lie_before(folder: &Path) -> PathBuf {
    let results = results_in(folder);
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
    let results = results_in(&folder);
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

/// An installation, with a folder `victim` of its own and a recording without records that programs can copy.
fn with_recording(name: &str) -> PathBuf {
    let folder = without_recorder(name);
    let mut recording = vec![0; file::HEADER_BYTES];
    let chunk = (file::CHUNK_BYTES as u32).to_le_bytes();
    for (at, bytes) in [
        (0, &file::MAGIC[..]),
        (header::VERSION, &file::VERSION.to_le_bytes()),
        (header::CHUNK, &chunk),
    ] {
        recording[at..at + bytes.len()].copy_from_slice(bytes);
    }
    std::fs::write(folder.join("recording"), recording).unwrap();
    let victim = folder.join("victim");
    let _ = std::fs::remove_dir_all(&victim);
    std::fs::create_dir(&victim).unwrap();
    std::fs::write(victim.join("file"), "precious").unwrap();
    folder
}

#[test]
fn findings_of_a_check_inside_are_in_the_timeline() {
    let folder = with_recording("trace-of-check");
    // A program that records nothing, and whose driver finds a mistake.
    let script = "pid=$$
        cp recording \"$SOLUM_TRACE/0-0.events\"
        stream=\"$SOLUM_CHECK_OUTPUT/$pid-0.jsonl\"
        echo \"{\\\"start\\\":{\\\"pid\\\":0}}\" > \"$stream\"
        echo \"{\\\"finding\\\":{\\\"id\\\":1,\\\"at\\\":5,\\\"kind\\\":\\\"out-of-bounds\\\",\\\"kernel\\\":\\\"scale\\\",\\\"count\\\":1,\\\"message\\\":\\\"read\\\",\\\"access\\\":{\\\"action\\\":\\\"read\\\",\\\"frames\\\":[{\\\"function\\\":\\\"scale\\\",\\\"file\\\":\\\"scale.cl\\\",\\\"line\\\":2,\\\"column\\\":1}]}}}\" >> \"$stream\"";
    let solum = folder.join("solum");
    let solum = solum.to_str().unwrap();
    for run in 0..2 {
        let program = [solum, "check", "--", "sh", "-c", script];
        let (code, _, stderr) = trace(&folder, &[], &program);
        assert_eq!(code, 98, "{stderr}");
        assert!(stderr.contains("1 out-of-bounds"), "{stderr}");
        let timeline = std::fs::read_to_string(folder.join("results/timeline.json")).unwrap();
        let timeline: serde_json::Value = serde_json::from_str(&timeline).unwrap();
        let events = timeline["traceEvents"].as_array().unwrap();
        let found: Vec<_> = events
            .iter()
            .filter(|event| event["ph"] == "i" && event["name"] == "out-of-bounds")
            .collect();
        // The second trace has removed the findings of the first one.
        assert_eq!(found.len(), 1, "run {run}");
        assert_eq!(found[0]["args"]["source"], "scale.cl:2");
        assert_eq!(found[0]["args"]["kernel"], "scale");
    }
}

/// The names in `folder/victim`, whose file must be as it was.
fn victim_s_names(folder: &Path) -> Vec<String> {
    let victim = folder.join("victim");
    let content = std::fs::read_to_string(victim.join("file")).unwrap();
    assert_eq!(content, "precious");
    let entries = std::fs::read_dir(victim).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn results_are_not_written_through_links_that_came_during_the_run() {
    let folder = with_recording("trace-links");
    for name in [
        "timeline.json",
        "timeline.pftrace",
        "summary.json",
        "graph.json",
        "graph.dot",
    ] {
        for target in ["file", "new"] {
            // An older trace's results are removed while the program starts: the link might be, too.
            let _ = std::fs::remove_dir_all(folder.join("results"));
            let script = format!(
                "cp recording results/$$-0.events; ln -s ../victim/{target} results/{name}"
            );
            let (code, _, stderr) = trace(&folder, &[], &["sh", "-c", &script]);
            assert_eq!(code, 125, "{name}, {target}: {stderr}");
            assert!(
                stderr.contains(&format!("{name} appeared in "))
                    && stderr.contains("while the program ran"),
                "{stderr}"
            );
            assert!(stderr.contains("hint: "), "{stderr}");
            assert_eq!(victim_s_names(&folder), ["file"], "{name}");
        }
    }
    // The next trace removes the link, not its target.
    let script = "cp recording results/$$-0.events";
    let (code, _, stderr) = trace(&folder, &[], &["sh", "-c", script]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(victim_s_names(&folder), ["file"]);
    let dot = folder.join("results/graph.dot");
    assert!(dot.symlink_metadata().unwrap().is_file());
}

#[test]
fn results_do_not_go_to_a_folder_that_was_put_in_place_of_theirs() {
    let folder = with_recording("trace-replaced");
    for replace in [
        "mv results moved; ln -s victim results",
        "mv results moved; mkdir results",
        "mv results moved",
    ] {
        let _ = std::fs::remove_file(folder.join("results"));
        let _ = std::fs::remove_dir_all(folder.join("results"));
        let _ = std::fs::remove_dir_all(folder.join("moved"));
        let script = format!(
            "cp recording results/$$-0.events; {replace}; \
             if [ -d results ]; then cp recording results/$$-1.events; fi"
        );
        let (code, _, stderr) = trace(&folder, &[], &["sh", "-c", &script]);
        assert_eq!(code, 125, "{replace}: {stderr}");
        assert!(
            stderr.contains("results was moved, removed or replaced while the program ran"),
            "{replace}: {stderr}"
        );
        for name in victim_s_names(&folder) {
            assert!(name == "file" || name.ends_with("-1.events"), "{name}");
        }
        assert!(!folder.join("results/summary.json").exists(), "{replace}");
        assert!(!folder.join("moved/summary.json").exists(), "{replace}");
    }
}

/// A pipe would be waited for, and a link may lead to a file that is not meant to be read.
#[test]
fn recordings_are_regular_files() {
    let folder = with_recording("trace-pipes");
    let script = "cp recording results/$$-0.events; mkfifo results/$$-1.events; \
                  ln -s ../recording results/$$-2.events";
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60"]).arg(folder.join("solum"));
    command.args(["trace", "--live", "-o", "results", "--", "sh", "-c", script]);
    let (code, _, stderr) = text(&command.current_dir(&folder).output().unwrap());
    assert_eq!(code, 0, "{stderr}");
    let refused = stderr.matches("not a regular file").count();
    assert_eq!(refused, 2, "{stderr}");
    let summary = std::fs::read(folder.join("results/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&summary).unwrap();
    assert_eq!(summary["processes"].as_array().unwrap().len(), 1);
}

#[test]
fn folders_that_others_can_write_to_are_refused() {
    let folder = without_recorder("trace-shared");
    let results = results_in(&folder);
    for mode in [0o775, 0o757, 0o1777] {
        std::fs::set_permissions(&results, Permissions::from_mode(mode)).unwrap();
        let (code, _, stderr) = trace(&folder, &[], &["touch", "results/started"]);
        assert_eq!(code, 125, "{mode:o}: {stderr}");
        assert!(
            stderr.contains("can write to it") && stderr.contains("chmod go-w"),
            "{mode:o}: {stderr}"
        );
        assert!(!results.join("started").exists(), "{mode:o}: it ran");
    }
    std::fs::set_permissions(&results, Permissions::from_mode(0o755)).unwrap();
    let (code, _, stderr) = trace(&folder, &[], &["touch", "results/started"]);
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn folders_of_other_users_are_refused() {
    let folder = without_recorder("trace-foreign-owner");
    // Somebody else's folder: one that root gives away, or one of root's.
    let results = results_in(&folder);
    let other = match std::os::unix::fs::chown(&results, Some(54_321), None) {
        Ok(()) => results.clone(),
        Err(_) => PathBuf::from("/usr"),
    };
    let run = |output: &Path| {
        let mut command = Command::new(folder.join("solum"));
        command.arg("trace").arg("-o").arg(output);
        command
            .args(["--", "touch", "started"])
            .current_dir(&folder);
        text(&command.output().unwrap())
    };
    let _ = std::fs::remove_file(folder.join("started"));
    let (code, _, stderr) = run(&other);
    assert_eq!(code, 125, "{stderr}");
    assert!(
        stderr.contains("it belongs to user ") && stderr.contains("-o"),
        "{stderr}"
    );
    // So is a folder of one's own behind another user's link, wherever on the way that is.
    if other == results {
        let (shared, own) = (folder.join("shared"), folder.join("own"));
        let link = shared.join("link");
        let _ = std::fs::remove_dir_all(&shared);
        for path in [&shared, &own, &own.join("below")] {
            let _ = std::fs::create_dir(path);
        }
        std::fs::set_permissions(&shared, Permissions::from_mode(0o777)).unwrap();
        std::fs::set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert_eq!(run(&link).0, 0, "one's own link is followed");
        std::fs::remove_file(folder.join("started")).unwrap();
        std::os::unix::fs::lchown(&link, Some(54_321), None).unwrap();
        for path in [&link, &link.join("below"), &link.join("new/results")] {
            let (code, _, stderr) = run(path);
            assert_eq!(code, 125, "{stderr}");
            assert!(stderr.contains("a link of user 54321"), "{stderr}");
        }
        assert!(!own.join("new").exists());
    }
    assert!(!folder.join("started").exists(), "it ran");
}

#[test]
fn a_new_folder_can_be_written_to_by_its_owner_only() {
    let folder = without_recorder("trace-umask");
    let _ = std::fs::remove_dir_all(folder.join("parent"));
    let script = "umask 0; exec ./solum trace -o parent/middle/results -- true";
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(&folder);
    let (code, _, stderr) = text(&command.output().unwrap());
    assert_eq!(code, 0, "{stderr}");
    for made in ["parent", "parent/middle", "parent/middle/results"] {
        let mode = folder.join(made).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o755, "{made}");
    }
}
