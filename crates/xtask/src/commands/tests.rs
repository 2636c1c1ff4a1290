//! Which programs each verb runs: `tests/golden/VERB.txt` has the dry runs of its command lines.

use std::fmt::Write as _;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};

use crate::arguments::{CommandLine, HELP};
use crate::session::Session;

/// The command lines of the golden files, by verb.
const LINES: [(&str, &[&str]); 14] = [
    ("demo", &["demo", "demo rust", "demo check", "demo sycl"]),
    ("build", &["build"]),
    ("install", &["install out"]),
    ("wheel", &["wheel"]),
    (
        "test",
        &[
            "test",
            "test fast",
            "test rust",
            "test clients",
            "test wheels",
        ],
    ),
    (
        "check",
        &[
            "check sycl-ways awkward gpu --rounds 6",
            "check memcheck",
            "check kernels --json planted/memory",
            "check sycl-kernels planted/races",
            "check sycl-correct idioms cpu --rounds 2",
            "check reproducible",
            "check semver",
        ],
    ),
    (
        "wheels",
        &[
            "wheels --device cpu",
            "wheels dpnp --device gpu --files sort,sum --record",
            "wheels dpctl --device gpu --check",
            "wheels sklearnex --files all --timeout 60",
            "wheels mpi",
            "wheels mpi --bench --ranks 2 4 --rounds 3",
            "wheels compile-all",
            "wheels sycl --device gpu",
        ],
    ),
    ("cts", &["cts built test_copy --minutes 5 --verbose"]),
    (
        "random",
        &[
            "random",
            "random --count unlimited --first 7 --peer pocl --peer intel",
            "random --rust",
            "random --rust --count 20 --first 5000",
        ],
    ),
    (
        "bench",
        &[
            "bench",
            "bench --json kernels saxpy",
            "bench driver --alone",
            "bench kernels saxpy --record",
            "bench xpti --rounds 3",
            "bench check saxpy --json",
            "bench sycl chain --json",
            "bench rtas --json",
            "bench rust saxpy --json",
            "bench cubecl saxpy --json",
            "bench dpnp sum sort --turns 3 --device gpu --json out.json",
            "bench dpnp sum --turns 3 --record",
            "bench --against before",
            "bench kernels saxpy --against before --rounds 9 --json",
            "bench sycl --against=before",
        ],
    ),
    ("release", &["release 0.1.0", "release 0.2.0 --prepare"]),
    ("nightly", &["nightly"]),
    ("soak", &["soak", "soak 0.5 --seed 3"]),
    ("lint", &["lint", "doc", "doc book"]),
];

fn parse(line: &str) -> Result<CommandLine, clap::Error> {
    CommandLine::try_parse_from(["x"].into_iter().chain(line.split_whitespace()))
}

fn dry_run(line: &str) -> String {
    let verb = parse(line).unwrap().verb.unwrap();
    let mut session = Session::for_test();
    super::run(&mut session, &verb).unwrap();
    session.shown()
}

#[test]
fn every_verb_runs_the_programs_of_its_golden_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("SOLUM_BLESS").is_some();
    let mut differ = Vec::new();
    for (name, lines) in LINES {
        let mut text = String::new();
        for line in lines {
            write!(text, "$ ./x {line}\n{}\n", dry_run(line)).unwrap();
        }
        let file = folder.join(name).with_extension("txt");
        if bless {
            std::fs::write(&file, &text).unwrap();
        }
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        let mut pairs = text.lines().zip(golden.lines());
        if let Some((found, expected)) = pairs.find(|(found, expected)| found != expected) {
            differ.push(format!("{name}: {found}\n  instead of: {expected}"));
        } else if text != golden {
            differ.push(format!("{name}: it has another number of lines"));
        }
    }
    let differ = differ.join("\n");
    assert!(
        differ.is_empty(),
        "{differ}\nSOLUM_BLESS=1 writes the golden files"
    );
}

#[test]
fn wrong_words_are_answered_with_the_allowed_ones() {
    let cases: [(&str, &[&str]); 20] = [
        ("nonsense", &["'nonsense'", "--help"]),
        ("buidl", &["'buidl'", "similar", "'build'"]),
        (
            "demo nonsense",
            &["'nonsense'", "rust, check, dpnp, sycl, trace"],
        ),
        (
            "test nonsense",
            &["'nonsense'", "fast, rust, clients, wheels"],
        ),
        (
            "wheels nonsense",
            &[
                "'nonsense'",
                "smoke, dpctl, dpnp, sycl, compile-all, mpi, sklearnex",
            ],
        ),
        (
            "wheels dpnp --device tpu",
            &["'tpu'", "--device", "cpu, gpu, both"],
        ),
        ("wheels dpnp --filse a", &["'--filse'", "--files"]),
        ("wheels dpnp --ranks 2", &["--bench"]),
        ("cts", &["<DIRECTORY>"]),
        ("install", &["<PREFIX>"]),
        ("install a b", &["'b'"]),
        (
            "bench nonsense",
            &[
                "'nonsense'",
                "loader, driver, kernels, compile, xpti, check, sycl, rtas, rust, cubecl",
            ],
        ),
        ("bench --rounds 0", &["'0'", "1..=1000"]),
        ("bench --record", &["<AREA>"]),
        ("bench --against", &["--against <PREFIX>", "value"]),
        ("bench dpnp --device both", &["'both'", "cpu, gpu"]),
        ("release --prepare", &["<VERSION>"]),
        ("random --rust --peer pocl", &["--peer <PEER>", "--rust"]),
        ("random --peer amd", &["'amd'", "pocl, intel"]),
        ("soak long", &["'long'", "[MINUTES]"]),
    ];
    for (line, words) in cases {
        let error = parse(line).err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{line} is accepted"));
        for word in words {
            assert!(error.contains(word), "{line}: no {word:?} in {error}");
        }
    }
}

#[test]
fn wrong_combinations_are_found_before_anything_is_built() {
    let mut session = Session::for_test();
    session.is_dry = false;
    for (line, words) in [
        ("cts nowhere", "and nowhere is none"),
        ("bench --against nowhere", "no bin/solum in /solum/nowhere"),
        ("wheels dpnp --bench", "./x wheels mpi --bench"),
        ("release v1", "v1 is no version"),
    ] {
        let verb = parse(line).unwrap().verb.unwrap();
        let error = super::wrong_usage(&session, &verb).unwrap_or_default();
        assert!(error.contains(words), "{line}: {error}");
    }
    for line in ["bench", "wheels mpi --bench", "build"] {
        let verb = parse(line).unwrap().verb.unwrap();
        assert_eq!(super::wrong_usage(&session, &verb), None, "{line}");
    }
}

#[test]
fn the_command_line_is_consistent_and_help_names_every_verb() {
    let command = CommandLine::command();
    command.clone().debug_assert();
    for verb in command.get_subcommands() {
        let start = format!("\n  {}", verb.get_name());
        let mut ends = HELP.match_indices(&start).map(|(at, _)| at + start.len());
        let is_word = |end: usize| HELP[end..].starts_with([' ', '\n']);
        assert!(ends.any(is_word), "no {} in help.txt", verb.get_name());
    }
}

#[test]
fn contributing_names_every_verb_and_no_other() {
    let text = include_str!("../../../../CONTRIBUTING.md");
    // Every other part is between backquotes; blocks of code have none of these lines.
    let codes = text.split('`').skip(1).step_by(2);
    let lines = codes.filter_map(|code| code.strip_prefix("./x "));
    let mut named: Vec<&str> = Vec::new();
    for line in lines.filter(|line| !line.contains("COMMAND")) {
        let verb = line.split(' ').next().unwrap();
        named.push(verb);
        // `./x help` is answered before the command line is typed.
        let line = line.replace("AREA", "driver");
        if verb != "help" {
            assert!(parse(&line).is_ok(), "./x {line}");
        }
    }
    for verb in CommandLine::command().get_subcommands() {
        let name = verb.get_name();
        assert!(named.contains(&name), "no ./x {name} in CONTRIBUTING.md");
    }
}

#[test]
fn checks_are_repeated_by_the_line_that_they_print() {
    for line in [
        "check loom",
        "check sycl-features",
        "check aarch64",
        "check memcheck",
        "check semver v0.1.0",
        "check fresh-crate",
        "check opened-generator",
        "check rust-examples",
        "check bare-crate",
        "check kernels",
        "check kernels --json planted/memory values",
        "check wheel",
        "check wheel-dpnp",
        "check files",
        "check reproducible",
        "check sycl-run lost cpu",
        "check sycl-ways idioms gpu",
        "check sycl-ways idioms gpu --rounds 6",
        "check trace-pipeline gpu",
        "check mpi-dpnp openmpi",
    ] {
        let verb = parse(line).unwrap().verb;
        let Some(crate::arguments::Verb::Check { check }) = verb else {
            panic!("{line}: {verb:?}");
        };
        assert_eq!(check.line(), format!("./x {line}"));
    }
}

#[test]
fn a_dry_run_runs_no_program() {
    // Nothing of this could run: there is no such folder.
    assert!(dry_run("demo").contains("/solum/target/release/solum ls"));
}
