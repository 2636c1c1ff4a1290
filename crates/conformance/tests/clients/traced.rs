//! `solum trace` over real programs: plain ones, one that tells XPTI of its tasks as a SYCL runtime does, and bad ends.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use timeline::file::{self, Recording};
use timeline::record::Event;

use super::{compile, run};
use conformance::artefacts;

/// Events of the long run; the figure.
const MANY: u64 = 10_000_000;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv")
}

/// `solum trace` with a folder of its own for the results.
fn tracing(test: &str, options: &[&str]) -> (Command, PathBuf) {
    let results = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("traced-{test}"));
    let _ = fs::remove_dir_all(&results);
    let mut command = Command::new(artefacts().join("solum"));
    command.arg("trace").arg("-o").arg(&results).args(options);
    command.arg("--");
    (command, results)
}

fn trace(test: &str, options: &[&str], program: &str, arguments: &[&str]) -> (Output, PathBuf) {
    let (mut command, results) = tracing(test, options);
    let output = command
        .arg(compile(program))
        .arg(kernels())
        .args(arguments)
        .output()
        .unwrap();
    (output, results)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(results: &Path, file: &str) -> Value {
    serde_json::from_slice(&fs::read(results.join(file)).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn traced_programs_run_alike_and_their_kernels_are_told() {
    for (name, expected) in [
        ("vector_add", &["add", "reverse"][..]),
        ("fork", &["add", "spin"]),
        ("exit_while_running", &[]),
    ] {
        let (output, results) = trace(name, &[], name, &[]);
        let said = said(&output);
        assert!(output.status.success(), "{name}: {said}");
        assert_eq!(output.stdout, b"ok\n", "{name}: {said}");
        let summary = read(&results, "summary.json");
        assert_eq!(summary["schema"], "solum.trace/1");
        assert_eq!(summary["complete"], true, "{name}: {said}");
        assert_eq!(summary["lost_records"], 0, "{name}");
        for kernel in expected {
            let row = list(&summary, "kernels").iter();
            let row = row.clone().find(|row| row["name"] == *kernel);
            let time = row.and_then(|row| row["total_ns"].as_u64()).unwrap_or(0);
            assert!(time > 0, "{name}: no time of {kernel} in {summary}");
        }
        let events = read(&results, "timeline.json");
        let calls = list(&events, "traceEvents").iter();
        assert!(
            calls.filter(|event| event["ph"] == "B").count() > 5,
            "{name}"
        );
        assert!(
            fs::metadata(results.join("timeline.pftrace"))
                .unwrap()
                .len()
                > 100
        );
    }
}

/// From the source line of a task to its calls, its device work, the graph and the summary; on each kind of device.
#[test]
fn a_task_leads_from_its_source_line_to_its_kernel() {
    for (device, typed) in [("cpu", "CPU-typed"), ("gpu", "GPU-typed")] {
        // `--as` chooses for SYCL's runtimes; this program takes the first device that it is shown.
        let (mut command, results) = tracing(device, &["--as", device, "--live"]);
        let command = command.arg(compile("tasks")).arg(kernels());
        let output = command.env("SOLUM_DEVICES", device).output().unwrap();
        let said = said(&output);
        assert!(
            output.status.success() && output.stdout == b"ok\n",
            "{device}: {said}"
        );
        // --live: a line for the kernel, with its place, before the summary.
        let live = said.split_once("device work").unwrap().0;
        let line = live.lines().find(|line| line.contains("] add "));
        assert!(
            line.is_some_and(|line| line.contains("tasks.cpp:42 (run)")),
            "{said}"
        );

        let summary = read(&results, "summary.json");
        assert_eq!(summary["complete"], true, "{said}");
        assert_eq!(
            list(&summary, "processes").len(),
            1,
            "trying the subscriber left no recording"
        );
        let named = |rows: &'static str, key: &'static str, name: &str| {
            let row = list(&summary, rows).iter().find(|row| row[key] == *name);
            row.unwrap_or_else(|| panic!("{device}: no {name} in {rows} of {summary}"))
                .clone()
        };
        let line = named("lines", "source", "tasks.cpp:42 (run)");
        assert_eq!(line["device_count"], 1);
        assert!(line["device_ns"].as_u64().unwrap() > 0 && line["host_ns"].as_u64().unwrap() > 0);
        assert_eq!(
            named("lines", "source", "tasks.cpp:20 (fill)")["device_count"],
            2
        );
        assert_eq!(named("kernels", "name", "add")["count"], 1);
        assert_eq!(
            named("calls", "name", "zeCommandListAppendLaunchKernel")["count"],
            1
        );
        let queue = &list(&summary, "queues")[0];
        assert!(queue["device"].as_str().unwrap().contains(typed), "{queue}");
        assert_eq!(queue["count"], 3);
        assert!(queue["idle_ns"].is_u64());
        let bytes = 4096 * 4;
        assert_eq!(list(&summary, "transfers")[0]["bytes"], 2 * bytes);
        let twice = &summary["duplicated_transfers"];
        assert_eq!(
            (&twice["count"], &twice["bytes"]),
            (&1.into(), &bytes.into())
        );
        assert_eq!(twice["by_source"][0]["source"], "tasks.cpp:20 (fill)");
        let alive = named("live_allocations", "layer", "sycl");
        assert_eq!(alive["bytes"], bytes);
        assert_eq!(alive["source"], "tasks.cpp:10 (allocate)");

        let events = read(&results, "timeline.json");
        let all = list(&events, "traceEvents");
        let find = |phase: &str, name: &str| {
            let found = all
                .iter()
                .find(|event| event["ph"] == phase && event["name"] == name);
            found
                .unwrap_or_else(|| panic!("{device}: no {phase} {name}"))
                .clone()
        };
        let (launch, slice) = (
            find("B", "zeCommandListAppendLaunchKernel"),
            find("X", "add"),
        );
        for event in [&launch, &slice] {
            assert_eq!(event["args"]["source"], "tasks.cpp:42 (run)", "{event}");
        }
        assert_eq!(launch["args"]["uid"], slice["args"]["uid"]);
        // The slice lies after the call that handed it over, on the device's own clock.
        assert!(slice["ts"].as_f64() > launch["ts"].as_f64());
        let ids = |phase: &str| -> HashSet<u64> {
            let flows = all
                .iter()
                .filter(|event| event["ph"] == phase && event["cat"] == "flow");
            flows.map(|event| event["id"].as_u64().unwrap()).collect()
        };
        assert_eq!(ids("s"), ids("f"));
        assert_eq!(ids("s").len(), 3);
        assert!(
            all.iter().any(|event| event["ph"] == "C"),
            "levels of memory"
        );

        let graph = read(&results, "graph.json");
        let commands = list(&graph, "commands");
        assert_eq!(commands.len(), 3);
        let kernel = commands
            .iter()
            .find(|command| command["name"] == "add")
            .unwrap();
        assert_eq!(kernel["source"], "tasks.cpp:42 (run)");
        assert_eq!(kernel["metadata"]["kernel_name"], "add");
        assert_eq!(kernel["critical"], true);
        assert!(!list(&graph, "edges").is_empty());
        let dot = fs::read_to_string(results.join("graph.dot")).unwrap();
        assert!(dot.contains("tasks.cpp:42") && dot.contains("red"), "{dot}");
        let svg = fs::read_to_string(results.join("graph.svg")).unwrap();
        assert!(svg.contains("add") && svg.contains("<svg"), "{svg}");
    }
}

#[test]
fn what_is_shown_is_chosen() {
    let (output, _) = trace(
        "json",
        &["--json", "--filter", "ze*,-*Kernel*"],
        "tasks",
        &[],
    );
    // One document: what the program prints goes beside it.
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(said(&output).contains("ok\n"), "{}", said(&output));
    assert_eq!(document["schema"], "solum.trace/1");
    assert!(document["graph"]["commands"].is_array());
    let calls: Vec<&str> = list(&document, "calls")
        .iter()
        .filter_map(|call| call["name"].as_str())
        .collect();
    assert!(calls.contains(&"zeContextCreate"), "{calls:?}");
    assert!(
        calls
            .iter()
            .all(|name| name.starts_with("ze") && !name.contains("Kernel")),
        "{calls:?}"
    );

    for (streams, tasks, allocations) in [
        ("sycl", 3, 0),
        ("sycl.experimental.mem_alloc", 0, 1),
        ("", 0, 0),
    ] {
        let (output, results) = trace("streams", &["--streams", streams], "tasks", &[]);
        assert!(output.status.success(), "{}", said(&output));
        let (summary, graph) = (read(&results, "summary.json"), read(&results, "graph.json"));
        let told = list(&summary, "calls");
        let sycl = told.iter().filter(|call| call["api"] == "sycl");
        let count: u64 = sycl.filter_map(|call| call["count"].as_u64()).sum();
        assert_eq!(count, tasks, "--streams '{streams}'");
        let alive = list(&summary, "live_allocations").iter();
        let alive = alive.filter(|row| row["layer"] == "sycl").count();
        assert_eq!(alive, allocations, "--streams '{streams}'");
        // Level Zero's calls do not hang on streams.
        assert!(told.iter().any(|call| call["api"] == "level-zero"));
        assert!(graph["commands"].is_array());
    }
}

/// The loader alone: `SOLUM_TRACE` in the environment, no XPTI, no `solum trace`.
#[test]
fn the_loader_attaches_the_tracer_of_solum_trace() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("attached");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    // Whatever the umask is: recordings do not go where others can write.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let program = compile("vector_add");
    let path = folder.to_string_lossy().into_owned();
    let output = run(&program, &[], &[("SOLUM_TRACE", &path)]);
    assert!(output.status.success(), "{}", said(&output));
    let files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "one process, one recording: {files:?}");
    let opened = Recording::open(BufReader::new(File::open(&files[0]).unwrap())).unwrap();
    assert!(opened.finished && opened.lost == 0);
    let mut calls: HashMap<String, u32> = HashMap::new();
    let mut slices = 0;
    file::merge::<_, file::Error>(&mut [opened], |recordings, _, record| {
        match record.event {
            Event::Begin { name, .. } => {
                *calls
                    .entry(recordings[0].text(name).to_owned())
                    .or_default() += 1;
            }
            Event::Slice { .. } => slices += 1,
            _ => {}
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(calls.get("zeModuleCreate"), Some(&1), "{calls:?}");
    assert_eq!(calls.get("zeFenceHostSynchronize"), Some(&3), "{calls:?}");
    assert!(slices >= 5, "{slices} pieces of device work");
}

#[test]
fn a_crash_and_ctrl_c_leave_what_happened() {
    let (output, results) = trace("crash", &[], "tasks", &["crash"]);
    assert_eq!(output.status.code(), Some(128 + 11), "{}", said(&output));
    let summary = read(&results, "summary.json");
    assert_eq!(summary["complete"], false);
    let unfinished = summary["unfinished_calls"].to_string();
    assert!(unfinished.contains("urEventWait"), "{unfinished}");
    assert!(
        list(&summary, "kernels")
            .iter()
            .any(|row| row["name"] == "add")
    );

    let (mut command, results) = tracing("interrupt", &[]);
    command
        .arg(compile("tasks"))
        .arg(kernels())
        .arg("wait")
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Shells start background work with Ctrl-C ignored, and children inherit that.
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    // As the terminal does: to the whole group.
    // SAFETY: a group of this test's.
    assert_eq!(unsafe { libc::kill(-(child.id() as i32), libc::SIGINT) }, 0);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 2), "{}", said(&output));
    let summary = read(&results, "summary.json");
    assert!(
        list(&summary, "kernels")
            .iter()
            .any(|row| row["name"] == "add")
    );
    assert!(
        fs::metadata(results.join("timeline.pftrace"))
            .unwrap()
            .len()
            > 100
    );
}

/// Reads a varint.
fn number(file: &mut impl Read) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        file.read_exact(&mut byte).ok()?;
        value |= u64::from(byte[0] & 0x7F) << shift;
        if byte[0] < 0x80 {
            return Some(value);
        }
    }
    None
}

#[test]
fn ten_million_events_take_no_memory() {
    let (mut command, results) = tracing("many", &[]);
    #[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
    let mut child = command
        .arg(compile("tasks"))
        .arg(kernels())
        .args(["many", &MANY.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let told = child.stdout.take().unwrap().read_to_string(&mut text);
    told.unwrap();
    // The peak of `solum` with its conversion, or the program's: of this test's children only.
    // SAFETY: zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let (pid, mut status) = (child.id().cast_signed(), 0);
    // SAFETY: a child that nobody has waited for, and two places for the answer.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!((waited, status), (pid, 0), "{text}");
    let grown: i64 = text.lines().next().unwrap().parse().unwrap();
    assert!(grown < 16 * 1024, "the program grew by {grown} KiB");
    let peak = usage.ru_maxrss;
    assert!(peak < 400 * 1024, "a child's peak was {peak} KiB");

    // Packet by packet to the last byte: field 1 of a trace, with its length. What is in them, and that Perfetto's own types
    // read it, `timeline` tests at the same length.
    let mut file = BufReader::new(File::open(results.join("timeline.pftrace")).unwrap());
    let mut packets = 0;
    while let Some(tag) = number(&mut file) {
        assert_eq!(tag, 1 << 3 | 2);
        let length = number(&mut file).unwrap();
        let read = std::io::copy(&mut file.by_ref().take(length), &mut std::io::sink());
        assert_eq!(read.unwrap(), length);
        packets += 1;
    }
    assert!(packets >= MANY, "{packets} packets");
    let summary = read(&results, "summary.json");
    let calls = list(&summary, "calls").iter();
    let waits: u64 = calls
        .filter(|call| call["name"] == "urEventWait")
        .filter_map(|call| call["count"].as_u64())
        .sum();
    assert_eq!((waits, &summary["lost_records"]), (MANY / 2, &0.into()));
    fs::remove_dir_all(&results).unwrap();
}
