//! A process that records: its threads, its fork, and the resulting file.

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
/// Concurrent threads, and rounds of them: later threads reuse the lanes of earlier ones.
const THREADS: usize = 4;
const ROUNDS: usize = 3;

/// Set in the child that records.
const PART: &str = "TRACE_RECORDER_PART";

/// For the part "limited": the limit of file sizes in KiB, and the exit code.
const LIMIT: &str = "TRACE_RECORDER_LIMIT";
const LIMITED_CODE: i32 = 7;

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

/// The work of the child.
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
            // SAFETY: the child calls only functions that record, which must do nothing, and _exit.
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
        "limited" => {
            let kibibytes: u64 = std::env::var(LIMIT).unwrap().parse().unwrap();
            let limit = libc::rlimit {
                rlim_cur: kibibytes << 10,
                rlim_max: kibibytes << 10,
            };
            // SAFETY: the structure is readable.
            assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
            if sink().is_some() {
                std::thread::scope(|scope| {
                    for number in 0..THREADS {
                        scope.spawn(move || record(number));
                    }
                });
            }
            // The program's own exit code.
            std::process::exit(LIMITED_CODE);
        }
        other => panic!("{other}"),
    }
}

fn run(part: &str, folder: &Path) -> Vec<PathBuf> {
    run_and_hear(part, folder).0
}

/// The recordings, and the output on stderr.
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
        make(&folder, 0o755);
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
    // An unusable folder costs the recording, not the program: a missing one, a link in its place, one that others can
    // write to.
    let (missing, link, shared) = (top.join("missing"), top.join("link"), top.join("shared"));
    let behind = top.join("behind");
    for path in [&behind, &shared] {
        let _ = std::fs::remove_dir_all(path);
    }
    let _ = std::fs::remove_file(&link);
    make(&behind, 0o755);
    make(&shared, 0o777);
    std::os::unix::fs::symlink(&behind, &link).unwrap();
    for folder in [missing, link, shared] {
        let (files, said) = run_and_hear("no folder", &folder);
        assert!(files.is_empty(), "{}: {files:?}", folder.display());
        let line = format!("solum trace: SOLUM_TRACE={}: ", folder.display());
        let told: Vec<_> = said
            .lines()
            .filter(|said| said.starts_with(&line))
            .collect();
        assert!(told.len() == 1 && told[0].contains("a directory"), "{said}");
    }
}

/// Creates a folder with this mode, regardless of the umask.
fn make(folder: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(folder).unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Limits on file sizes from less than the header to more than the recording: the program ends with its own exit code,
/// one line names the limit, and the recording can be read to its last whole record.
#[test]
fn a_limit_on_file_sizes_ends_only_the_recording() {
    let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorder-limits");
    let mut kept = Vec::new();
    for kibibytes in [1, 3, 4, 16, 132, 140, 1000, 1500, 300_000] {
        let folder = top.join(kibibytes.to_string());
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["a_process_records", "--exact", "--nocapture"])
            .env(PART, "limited")
            .env(LIMIT, kibibytes.to_string())
            .env("SOLUM_TRACE", &folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let status = output.status;
        assert_eq!(status.code(), Some(LIMITED_CODE), "{kibibytes} KiB: {said}");
        let lines: Vec<_> = said
            .lines()
            .filter(|line| line.starts_with("solum trace: "))
            .collect();
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
        if kibibytes < 4 {
            assert!(files.is_empty(), "{kibibytes} KiB: no room for the header");
        } else {
            let path = files[0].as_ref().unwrap().path();
            assert!(path.metadata().unwrap().len() <= kibibytes << 10);
            let mut recordings = [open(&path)];
            let (mut begins, mut ends) = (0, 0);
            file::merge::<_, file::Error>(&mut recordings, |_, _, record| {
                match record.event {
                    Event::Begin { .. } => begins += 1,
                    Event::End { .. } => ends += 1,
                    _ => {}
                }
                Ok(())
            })
            .unwrap();
            let [recording] = recordings;
            assert!(recording.finished, "{kibibytes} KiB");
            assert!(begins >= ends && begins <= CALLS * THREADS);
            assert_eq!(
                recording.lost == 0,
                begins + ends == 2 * CALLS * THREADS,
                "{kibibytes} KiB: {begins}, {ends}"
            );
            kept.push(begins);
        }
        if kibibytes == 300_000 {
            assert_eq!((lines.len(), kept.last()), (0, Some(&(CALLS * THREADS))));
        } else {
            let limit = (kibibytes << 10).to_string();
            let names = |line: &&str| line.contains("RLIMIT_FSIZE") && line.contains(&limit);
            assert!(lines.len() == 1 && names(&lines[0]), "{kibibytes}: {said}");
        }
    }
    assert!(
        kept.is_sorted() && kept[0] == 0 && kept[4] > 0,
        "more room holds more records: {kept:?}"
    );
}
