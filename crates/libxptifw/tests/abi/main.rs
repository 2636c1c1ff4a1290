//! The library as C++ clients use it: its ELF header, the behaviour of Intel's library, concurrency, faults.
//!
//! `cpp/probe.cpp` prints facts, one a line. `probe_expected.txt` has the output with Intel's library, and ours beside
//! it where it differs on purpose. `cpp/stress.cpp` tests concurrency, `cpp/faults.cpp` invalid input.

#![expect(clippy::unwrap_used, reason = "a test")]

#[path = "../../../ze-loader/tests/loader/elf.rs"]
mod elf;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Once, OnceLock};

/// The library built in this profile.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| test_artifacts::build(&["-p", "libxptifw"]).join("libxptifw.so"))
}

/// Builds `cpp/NAME` as `OUT` in this test's folder.
fn compile(source: &str, out: &str, options: &[&str]) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(out);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cpp")
        .join(source);
    let status = Command::new("g++")
        .args(["-std=c++17", "-O1", "-g", "-pthread"])
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(&out)
        .arg("-ldl")
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "g++ is installed and builds the client"
    );
    out
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn the_library_exports_exactly_the_fifty_functions() {
    let library = elf::read(library());
    let got: BTreeSet<_> = library.exports.iter().map(|e| e.name.as_str()).collect();
    let want: BTreeSet<_> = xpti_sys::Functions::NAMES.iter().copied().collect();
    assert_eq!(got, want);
    assert!(library.exports.iter().all(|e| e.binding == 1), "STB_GLOBAL");
    assert_eq!(library.soname, "libxptifw.so.1");
}

#[test]
fn the_behaviour_is_that_of_intels_library() {
    let subscriber = compile(
        "probe.cpp",
        "libprobe_sub.so",
        &["-fPIC", "-shared", "-DPROBE_SUBSCRIBER"],
    );
    let probe = compile("probe.cpp", "probe", &[]);
    let run = || {
        Command::new(&probe)
            .arg(library())
            .arg(&subscriber)
            .output()
            .unwrap()
    };
    let first = run();
    let expected = include_str!("../cpp/probe_expected.txt");
    let facts = expected
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| match line.split_once("# OURS: ") {
            Some((_, "(absent)")) => None,
            Some((theirs, ours)) => Some(format!("{}={ours}", theirs.split('=').next()?)),
            None => Some(line.to_owned()),
        });
    let got = String::from_utf8(first.stdout.clone()).unwrap();
    let different: Vec<_> = facts
        .clone()
        .zip(got.lines())
        .filter(|(want, got)| want != got)
        .collect();
    assert_eq!(different, [], "wanted, found");
    assert_eq!(facts.count(), got.lines().count());
    assert_eq!(run().stdout, first.stdout, "two runs print the same");
}

#[test]
fn nothing_is_lost_or_broken_under_concurrency() {
    let stress = compile("stress.cpp", "stress", &["-O2"]);
    for threads in ["2", "8"] {
        let run = Command::new(&stress)
            .arg(library())
            .args([threads, "1"])
            .output()
            .unwrap();
        assert!(run.status.success(), "{threads} threads: {}", text(&run));
    }
}

/// A folder with the subscribers of `cpp/faulty_subscriber.cpp`; one needs a library that no longer exists.
fn faulty_subscribers() -> &'static Path {
    static MADE: Once = Once::new();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    MADE.call_once(|| {
        for mode in [
            "good",
            "no_init",
            "no_finish",
            "constructor",
            "constructor_waits",
            "streams",
            "recursive",
            "throwing",
            "throwing_later",
            "throwing_constructor",
            "crashing",
            "crashing_init",
            "aborting",
            "exiting",
            "hanging",
            "unregisters",
            "emitter",
        ] {
            let define = format!("-DMODE_{mode}");
            compile(
                "faulty_subscriber.cpp",
                &format!("libfaulty_{mode}.so"),
                &["-fPIC", "-shared", &define],
            );
        }
        let gone = folder.join("libgone.so");
        std::fs::write(folder.join("gone.c"), "int gone(void) { return 0; }").unwrap();
        let built = Command::new("g++")
            .args(["-x", "c", "-fPIC", "-shared"])
            .arg(folder.join("gone.c"))
            .arg("-o")
            .arg(&gone)
            .status();
        assert!(built.is_ok_and(|status| status.success()));
        let needs = format!("-L{}", folder.display());
        let options = [
            "-fPIC",
            "-shared",
            "-DMODE_missing_library",
            "-Wl,--no-as-needed",
            &needs,
            "-lgone",
        ];
        compile(
            "faulty_subscriber.cpp",
            "libfaulty_missing_library.so",
            &options,
        );
        std::fs::remove_file(gone).unwrap();
    });
    folder
}

#[test]
fn invalid_input_and_faulty_subscribers_do_no_harm() {
    let faults = compile("faults.cpp", "faults", &[]);
    let run = Command::new(&faults)
        .arg(library())
        .arg(faulty_subscribers())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", text(&run));
    for reason in [
        "libfaulty_crashing.so: it ends the process with signal 11",
        "libfaulty_crashing_init.so: it ends the process with signal 11",
        "libfaulty_aborting.so: it ends the process with signal 6",
        "libfaulty_throwing.so: it ends the process with signal 6",
        "libfaulty_throwing_constructor.so: it ends the process with signal 6",
        "libfaulty_exiting.so: it ends the process when",
        "libfaulty_hanging.so: it does not return within 10 s",
    ] {
        assert!(text(&run).contains(reason), "{reason}: {}", text(&run));
    }
    // Four of the five ends run destructors, which end the emitter's stream once.
    assert_eq!(text(&run).matches("finished emitted").count(), 4);
    let stable = |output: &Output| {
        text(output)
            .split_once('[')
            .map(|(_, uid)| uid[..16].to_owned())
    };
    let again = Command::new(&faults)
        .arg(library())
        .arg("")
        .arg("locations")
        .output()
        .unwrap();
    assert!(stable(&run).is_some());
    assert_eq!(
        stable(&run),
        stable(&again),
        "ids of locations are the same in every run"
    );
}

/// Registering, deleting, forking, loading and ending: no invalid read, and no use of uninitialised memory.
#[test]
fn valgrind_finds_nothing_on_the_registration_paths() {
    let faults = compile("faults.cpp", "faults_valgrind", &[]);
    let folder = faulty_subscribers();
    for case in [
        "nulls",
        "deletes",
        "any_bytes",
        "many_streams",
        "callbacks_that_change",
        "fork_inside",
        "threads_that_die",
        "half_subscribers",
        "crashes_at_load",
        "init_recurses",
        "unregisters_stream_in_finish",
        "end_by_exit",
    ] {
        let run = Command::new("valgrind")
            .args(["--quiet", "--error-exitcode=9", "--trace-children=yes"])
            .arg(&faults)
            .arg(library())
            .arg(folder)
            .arg(case)
            .output()
            .expect("valgrind is installed");
        assert!(
            run.status.success() && !text(&run).contains("=="),
            "{case}: {}",
            text(&run)
        );
    }
}
