//! A process that records: its threads, its fork, and what the file holds afterwards.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use timeline::file::{self, Recording};
use timeline::record::{Attribute, Domain, Event, Value};
use trace_recorder::sink::sink;

/// Calls of each thread: several chunks full.
const CALLS: usize = 6_000;
/// Threads at a time, and rounds of them: later threads take over the lanes of earlier ones.
const THREADS: usize = 4;
const ROUNDS: usize = 3;

/// Set in the child that records.
const PART: &str = "TRACE_RECORDER_PART";

fn record(number: usize) {
    let sink = sink().unwrap();
    let name = sink.text(format!("call {number}").as_bytes());
    let key = sink.text(b"step");
    for step in 0..CALLS {
        let begin = Event::Begin {
            domain: Domain::LevelZero,
            name,
            uid: 0,
            instance: 0,
        };
        let end = Event::End {
            domain: Domain::LevelZero,
            result: 0,
        };
        let value = Value::Unsigned(step as u64);
        sink.emit(&begin, &[]);
        sink.emit(&end, &[Attribute { key, value }]);
    }
}

/// What the child does.
fn play_part(part: &str) {
    match part {
        "threads" => {
            for round in 0..ROUNDS {
                std::thread::scope(|scope| {
                    for thread in 0..THREADS {
                        scope.spawn(move || record(round * THREADS + thread));
                    }
                });
            }
        }
        "killed" => {
            record(0);
            // SAFETY: ends this process at once.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        "fork" => {
            record(0);
            // SAFETY: the child calls nothing but what records, which must do nothing, and _exit.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    libc::_exit(i32::from(sink().is_some()));
                }
                let mut status = 0;
                libc::waitpid(child, &raw mut status, 0);
                assert_eq!(status, 0, "a forked child records nothing");
            }
        }
        "no folder" => assert!(sink().is_none()),
        other => panic!("{other}"),
    }
}

fn run(part: &str, folder: &Path) -> Vec<PathBuf> {
    run_and_hear(part, folder).0
}

/// The recordings, and what is said on stderr.
fn run_and_hear(part: &str, folder: &Path) -> (Vec<PathBuf>, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["a_process_records", "--exact", "--nocapture"])
        .env(PART, part)
        .env("SOLUM_TRACE", folder)
        .output()
        .unwrap();
    let status = output.status;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(status.success(), part != "killed", "{part}: {status}");
    let Ok(files) = std::fs::read_dir(folder) else {
        return (Vec::new(), said);
    };
    (files.map(|file| file.unwrap().path()).collect(), said)
}

fn open(file: &Path) -> Recording<BufReader<File>> {
    Recording::open(BufReader::new(File::open(file).unwrap())).unwrap()
}

#[test]
fn a_process_records() {
    if let Ok(part) = std::env::var(PART) {
        return play_part(&part);
    }
    let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorder");
    for (part, calls, threads) in [
        ("threads", CALLS * THREADS * ROUNDS, THREADS * ROUNDS),
        ("killed", CALLS, 1),
        ("fork", CALLS, 1),
    ] {
        let folder = top.join(part);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let files = run(part, &folder);
        assert_eq!(files.len(), 1, "{part}: one process, one recording");
        let mut recordings = [open(&files[0])];
        assert_eq!(recordings[0].finished, part != "killed", "{part}");
        assert_eq!(recordings[0].lost, 0, "{part}");
        let (mut begins, mut ends, mut last) = (0, 0, 0);
        let (mut names, mut seen) = (BTreeSet::new(), BTreeSet::new());
        file::merge::<_, file::Error>(&mut recordings, |recordings, origin, record| {
            assert!(record.time >= last, "{part}: in the order of time");
            last = record.time;
            match record.event {
                Event::Begin { name, .. } => {
                    begins += 1;
                    seen.insert(origin.thread);
                    names.insert(recordings[0].text(name).to_owned());
                }
                Event::End { .. } => ends += 1,
                _ => {}
            }
            Ok(())
        })
        .unwrap();
        assert_eq!((begins, ends), (calls, calls), "{part}");
        assert_eq!(names.len(), threads, "{part}");
        assert_eq!(seen.len(), threads, "{part}");
    }
    // A folder that is not there costs the recording, not the program.
    let missing = top.join("missing");
    let (files, said) = run_and_hear("no folder", &missing);
    assert!(files.is_empty());
    let line = format!("solum trace: SOLUM_TRACE={}: ", missing.display());
    let told: Vec<_> = said
        .lines()
        .filter(|said| said.starts_with(&line))
        .collect();
    assert!(told.len() == 1 && told[0].contains("a directory"), "{said}");
}
