//! Streams as processes leave them: whole, cut, damaged, of several processes.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::finding::tests::{bounds, race};
use crate::{Checks, Finding, Kind};

/// A folder that is removed at the end.
struct Stage(PathBuf);

impl Stage {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("check-report-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn writer(&self) -> Writer {
        Writer::open(&self.0, "/bin/prog", "0.1.0", &Checks::all()).unwrap()
    }

    /// The streams, by file name.
    fn streams(&self) -> Vec<(String, Stream)> {
        let names = fs::read_dir(&self.0).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut streams: Vec<_> = names
            .map(|name| {
                assert!(is_stream(&name), "{name}");
                let stream = read_file(&self.0.join(&name));
                (name, stream)
            })
            .collect();
        streams.sort_by(|one, other| one.0.cmp(&other.0));
        streams
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read_file(path: &Path) -> Stream {
    read(fs::read(path).unwrap().as_slice()).unwrap()
}

fn counts(stream: &Stream) -> Vec<u64> {
    stream
        .findings
        .iter()
        .map(|(_, finding)| finding.count)
        .collect()
}

#[test]
fn what_is_written_is_read() {
    let stage = Stage::new("round");
    let writer = stage.writer();
    let first = writer.finding(&race());
    let second = writer.finding(&bounds());
    assert_eq!((first, second), (1, 2));
    for (id, count) in [
        (first, 12),
        (first, 13),
        (second, 1),
        (first, 40),
        (0, 5),
        (99, 5),
        (u64::MAX, 5),
    ] {
        writer.count(id, count);
    }
    writer.dropped("race history", 3);
    writer.dropped("race history", 4);
    writer.end();
    let streams = stage.streams();
    let [(name, stream)] = streams.as_slice() else {
        panic!("{streams:?}")
    };
    assert_eq!(*name, format!("{}-0.jsonl", std::process::id()));
    let start = stream.start.as_ref().unwrap();
    assert_eq!(
        (start.pid, start.program.as_str()),
        (std::process::id(), "/bin/prog")
    );
    assert_eq!(
        (start.version.as_str(), start.checks.as_str()),
        ("0.1.0", "all")
    );
    assert!(stream.is_complete && stream.damaged == 0);
    assert_eq!(
        stream.dropped,
        [Dropped {
            what: "race history".into(),
            count: 7
        }]
    );
    let found: Vec<Finding> = stream
        .findings
        .iter()
        .map(|(_, finding)| finding.clone())
        .collect();
    assert_eq!(
        found,
        [
            Finding {
                count: 40,
                ..race()
            },
            bounds()
        ]
    );
    assert!(start.at > 0 && stream.findings.iter().all(|(at, _)| *at >= start.at));
    // A count that was told already is not told again.
    let text = fs::read_to_string(stage.0.join(name)).unwrap();
    assert_eq!(text.lines().count(), 1 + 2 + 2 + 2 + 1, "{text}");
    // A second writer of the process, as after exec.
    let again = stage.writer();
    again.end();
    let names: Vec<_> = stage.streams().into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [0, 1].map(|number| format!("{}-{number}.jsonl", std::process::id()))
    );
}

#[test]
fn streams_are_read_as_far_as_they_can_be_understood() {
    let start = r#"{"start":{"pid":1,"program":"p","version":"0","checks":"all"}}"#;
    let finding = r#"{"finding":{"id":1,"kind":"leak","count":2,"message":"m"}}"#;
    for (case, text, expected) in [
        ("empty", String::new(), (false, vec![], false, 0)),
        ("start", format!("{start}\n"), (true, vec![], false, 0)),
        (
            "cut start",
            start[..20].to_owned(),
            (false, vec![], false, 0),
        ),
        (
            "whole but for its end",
            format!("{start}\n{finding}"),
            (true, vec![2], false, 0),
        ),
        (
            "cut",
            format!("{start}\n{finding}\n{}", &finding[..30]),
            (true, vec![2], false, 0),
        ),
        (
            "count",
            format!(
                "{finding}\n{}\n{}\n",
                r#"{"count":{"id":1,"count":9}}"#, r#"{"end":{}}"#
            ),
            (false, vec![9], true, 0),
        ),
        (
            "late count",
            format!("{finding}\n{}\n", r#"{"count":{"id":1,"count":1}}"#),
            (false, vec![2], false, 0),
        ),
        (
            "unknown id",
            r#"{"count":{"id":1,"count":9}}"#.to_owned() + "\n",
            (false, vec![], false, 1),
        ),
        (
            "id twice",
            format!("{finding}\n{finding}\n"),
            (false, vec![2], false, 1),
        ),
        (
            "noise",
            format!("\0\u{fffd}\n{finding}\n[]\n{{}}\n\n\n"),
            (false, vec![2], false, 3),
        ),
        (
            "of a later version",
            format!("{}\n{finding}\n", r#"{"new":{}}"#),
            (false, vec![2], false, 1),
        ),
        (
            "unknown kind",
            finding.replace("leak", "lake") + "\n",
            (false, vec![], false, 1),
        ),
        (
            "deep",
            "[".repeat(100_000) + "\n",
            (false, vec![], false, 1),
        ),
        (
            "long",
            format!("\"{}\"\n{finding}\n", "x".repeat(3 << 20)),
            (false, vec![2], false, 1),
        ),
    ] {
        let stream = read(text.as_bytes()).unwrap();
        let found = (
            stream.start.is_some(),
            counts(&stream),
            stream.is_complete,
            stream.damaged,
        );
        assert_eq!(found, expected, "{case}");
    }
    let invalid = [b"\xff\xfe\n".as_slice(), finding.as_bytes(), b"\n"].concat();
    let stream = read(invalid.as_slice()).unwrap();
    assert_eq!((counts(&stream), stream.damaged), (vec![2], 1));
}

#[test]
fn a_stream_cut_anywhere_gives_what_was_whole() {
    let stage = Stage::new("cut");
    let writer = stage.writer();
    for id in 1..=3 {
        assert_eq!(writer.finding(&race()), id);
        writer.count(id, 100 + id);
    }
    writer.end();
    let name = &stage.streams()[0].0;
    let whole = fs::read(stage.0.join(name)).unwrap();
    for cut in 0..whole.len() {
        let stream = read(&whole[..cut]).unwrap();
        assert_eq!(stream.damaged, 0, "cut at {cut}");
        let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        assert!(counts(&stream).len() >= lines / 2, "cut at {cut}");
    }
}

#[test]
fn memory_is_bounded() {
    let mut text = String::new();
    for id in 0..MOST_FINDINGS + 10 {
        text += &format!(
            "{{\"finding\":{{\"id\":{id},\"kind\":\"leak\",\"count\":1,\"message\":\"m\"}}}}\n"
        );
        text += &format!("{{\"count\":{{\"id\":{id},\"count\":2}}}}\n");
        text += &format!("{{\"dropped\":{{\"what\":\"{id}\",\"count\":1}}}}\n");
    }
    let stream = read(text.as_bytes()).unwrap();
    assert_eq!(stream.findings.len(), MOST_FINDINGS);
    assert_eq!((stream.dropped.len(), stream.damaged), (64, 0));
}

#[test]
fn a_child_has_its_own_file_and_count() {
    let stage = Stage::new("fork");
    let writer = stage.writer();
    let id = writer.finding(&Finding { count: 5, ..race() });
    writer.count(id, 10);
    let quiet = writer.finding(&bounds());
    // The child calls only what is safe after fork of a process with threads: glibc's malloc is, and the writer is made
    // for it.
    // SAFETY: the child calls the writer and ends without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        writer.count(id, 13);
        writer.count(quiet, 1);
        let own = writer.finding(&Finding::new(Kind::Leak, "of the child"));
        writer.count(own, 2);
        // SAFETY: ends the child at once; as if killed, it tells no end.
        unsafe { libc::_exit(if own == 3 { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: waits for the child; the status is valid for the write.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    writer.count(id, 11);
    writer.end();
    let mut streams = stage.streams();
    streams.sort_by_key(|(_, stream)| stream.start.as_ref().unwrap().pid != std::process::id());
    let [(_, parent), (name, child_stream)] = streams.as_slice() else {
        panic!("{streams:?}")
    };
    assert_eq!(*name, format!("{child}-0.jsonl"));
    assert_eq!((counts(parent), parent.is_complete), (vec![11, 1], true));
    // Without the ten of before.
    assert_eq!(
        (counts(child_stream), child_stream.is_complete),
        (vec![3, 2], false)
    );
    assert_eq!(child_stream.damaged + parent.damaged, 0);
    assert_eq!(child_stream.findings[0].1, Finding { count: 3, ..race() });
}

#[test]
fn threads_write_whole_lines() {
    let stage = Stage::new("threads");
    let writer = stage.writer();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for count in 1..=50 {
                    let id = writer.finding(&race());
                    writer.count(id, 100 + count);
                }
            });
        }
    });
    let (_, stream) = &stage.streams()[0];
    assert_eq!((stream.findings.len(), stream.damaged), (200, 0));
    assert!(counts(stream).iter().all(|count| *count > 100));
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_a_full_disk_is_none() {
    let missing = std::env::temp_dir().join("check-report-missing");
    assert!(Writer::open(&missing, "p", "0", &Checks::all()).is_err());
    // The rest in a process of its own, for its limit on file sizes.
    let stage = Stage::new("full");
    let writer = stage.writer();
    // SAFETY: the child calls the writer and system calls, and ends without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let limit = |most| {
            let limit = libc::rlimit {
                rlim_cur: most,
                rlim_max: libc::RLIM_INFINITY,
            };
            // SAFETY: a system call that reads the structure.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
        };
        // The start and a part of the first line.
        limit(300);
        writer.finding(&race());
        writer.finding(&race());
        limit(1 << 20);
        writer.finding(&bounds());
        writer.end();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child; the status is valid for the write.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "no signal ends the process");
    let stream = read_file(&stage.0.join(format!("{child}-0.jsonl")));
    assert_eq!((counts(&stream), stream.damaged), (vec![1], 1));
    assert!(stream.is_complete);
}

#[test]
fn a_program_may_close_the_descriptor_and_use_its_number() {
    let stage = Stage::new("closed");
    let writer = stage.writer();
    let other = stage.0.join("other");
    // SAFETY: the child calls the writer and system calls, and ends without returning.
    let child = unsafe { libc::fork() };
    if child == 0 {
        writer.finding(&race());
        for descriptor in 3..1000 {
            // SAFETY: what a daemon does; this child uses none of them again but the writer's, which looks first.
            unsafe { libc::close(descriptor) };
        }
        let mut program = Vec::new();
        for _ in 0..8 {
            let mut options = fs::OpenOptions::new();
            program.push(options.create(true).append(true).open(&other).unwrap());
        }
        writer.count(1, 100);
        writer.finding(&bounds());
        writer.end();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: waits for the child; the status is valid for the write.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    let stream = read_file(&stage.0.join(format!("{child}-0.jsonl")));
    assert_eq!((counts(&stream), stream.damaged), (vec![100, 1], 0));
    assert!(stream.is_complete);
    assert_eq!(
        fs::read(&other).unwrap(),
        b"",
        "the program's file has its own content"
    );
}

#[test]
fn names_of_streams() {
    for (name, expected) in [
        ("12-0.jsonl", true),
        ("12-.jsonl", false),
        ("-1.jsonl", false),
        ("12.jsonl", false),
        ("12-0.json", false),
        ("a-0.jsonl", false),
        ("12-0.jsonl.bak", false),
    ] {
        assert_eq!(is_stream(name), expected, "{name}");
    }
}
