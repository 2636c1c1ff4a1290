//! The cost of `solum check`: each kernel of `tests/kernels` without checks, with `--only memory` and with everything, and
//! under Oclgrind where that is installed, in turns.
//!
//! The kernels are correct: a finding ends the run with an error. Images are left out, since they are not checked.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use level_zero::Result;

use crate::{Row, kernels};

/// Rounds where none are asked for. A checked run takes up to seconds, and varies less than a short one.
const ROUNDS: usize = 2;
/// Oclgrind interprets: it runs a part of the work-groups of a kernel that takes longer than this without checks, and so does
/// the checked run that it is compared with. All of gemm takes it two minutes (2 processors of 2026), a sixteenth 8 s.
const LONG: f64 = 0.1;
const PART: &str = "16";
/// Ends an Oclgrind that hangs.
const TIMEOUT: [&str; 3] = ["timeout", "--kill-after=5", "60"];
/// Exit code of `solum check` if it found something.
const FOUND: i32 = 98;

/// The ways to run a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Way {
    Unchecked,
    Memory,
    All,
    /// A part of the groups, for the comparison with Oclgrind.
    AllPart,
    Oclgrind,
}

/// The measurements of one process.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measured {
    /// Milliseconds of one launch.
    wall: f64,
    /// Milliseconds of processor time of all threads.
    processor: f64,
    /// The most memory of the process at any time, in MiB.
    memory: f64,
}

/// Runs the area; `only` names cases, all when empty; without Oclgrind if `alone`.
pub(crate) fn run(
    only: &[&str],
    rounds: Option<usize>,
    (alone, json): (bool, bool),
    emit: &mut dyn FnMut(Row),
) -> Result<bool> {
    let Some((folder, listed)) = kernels::harness() else {
        return Ok(false);
    };
    let names = listed.lines().filter_map(|line| line.split(' ').next());
    let all: Vec<&str> = names
        .filter(|name| !name.starts_with("img_") && *name != "empty")
        .collect();
    if let Some(unknown) = only.iter().find(|case| !all.contains(case)) {
        eprintln!("bench: check: no case {unknown:?} ({})", all.join(", "));
        return Ok(false);
    }
    let has_oclgrind = !alone && is_installed();
    if !alone && !has_oclgrind {
        eprintln!("bench: check: no column for Oclgrind: apt-get install oclgrind");
    }
    if !json {
        println!("{}", heading());
    }
    let mut good = true;
    let mut means = Means::default();
    for case in all
        .into_iter()
        .filter(|c| only.is_empty() || only.contains(c))
    {
        let mut best = BTreeMap::new();
        for _ in 0..rounds.unwrap_or(ROUNDS) {
            for way in [Way::Unchecked, Way::Memory, Way::All] {
                good &= take(&folder, way, case, &[], &mut best);
            }
        }
        // Once: it takes seconds.
        if let (true, Some(unchecked)) = (has_oclgrind, best.get(&Way::Unchecked)) {
            let part: &[&str] = match unchecked.wall > LONG {
                true => &["--part", PART],
                false => &[],
            };
            good &= take(&folder, Way::AllPart, case, part, &mut best);
            take(&folder, Way::Oclgrind, case, part, &mut best);
        }
        let found = rows(case, &best, rounds.unwrap_or(ROUNDS));
        means.add(&found);
        if json {
            found.into_iter().for_each(&mut *emit);
        } else {
            println!("{}", line(case, &best));
        }
    }
    if json {
        means.rows().into_iter().for_each(emit);
    } else {
        print!("{}", means.text());
    }
    Ok(good)
}

fn is_installed() -> bool {
    let asked = Command::new("oclgrind").arg("--version").output();
    asked.is_ok_and(|output| output.status.success())
}

/// Measures once and keeps the best. Returns false if a run of ours fails or finds something.
fn take(
    folder: &Path,
    way: Way,
    case: &str,
    part: &[&str],
    best: &mut BTreeMap<Way, Measured>,
) -> bool {
    match measured(command(folder, way, case, part)) {
        Ok(now) => {
            let all = best.entry(way).or_insert(now);
            all.wall = all.wall.min(now.wall);
            all.processor = all.processor.min(now.processor);
            all.memory = all.memory.min(now.memory);
            true
        }
        // It has no sub-groups, and no half precision.
        Err(_) if way == Way::Oclgrind => true,
        Err(text) => {
            eprintln!("bench: check: {case}, {way:?}: {text}");
            false
        }
    }
}

fn command(folder: &Path, way: Way, case: &str, part: &[&str]) -> Command {
    let solum = conformance::artefacts().join("solum");
    let harness: PathBuf = folder.join("bench");
    let start = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).arg(&harness).arg("--dir").arg(folder);
        command
    };
    const GPU: [&str; 3] = ["--as", "gpu", "--"];
    let mut command = match way {
        Way::Unchecked => start(&solum, &[&["run"][..], &GPU].concat()),
        Way::Memory => start(&solum, &[&["check", "--only", "memory"][..], &GPU].concat()),
        Way::All | Way::AllPart => start(&solum, &[&["check"][..], &GPU].concat()),
        Way::Oclgrind => {
            let words = ["oclgrind", "--data-races", "--uninitialized"];
            start(Path::new(TIMEOUT[0]), &[&TIMEOUT[1..], &words[..]].concat())
        }
    };
    match way {
        Way::Unchecked => command.args(["--api", "ze", "--ms", "10", "--reps", "3"]),
        Way::Memory | Way::All => command.args(["--api", "ze", "--ms", "0", "--reps", "2"]),
        Way::AllPart => command.args(["--api", "ze", "--once"]),
        Way::Oclgrind => command.args(["--src", "--once"]),
    };
    command.args(part).arg(case);
    command
}

/// The times that one process prints, and its memory; or what it said instead.
fn measured(mut command: Command) -> std::result::Result<Measured, String> {
    let error = |error: std::io::Error| error.to_string();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(error)?;
    let mut errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(errors) = &mut errors {
            // What could be read is shown.
            let _ = errors.read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        output.read_to_string(&mut text).map_err(error)?;
    }
    let (code, memory) = wait(child.id()).map_err(error)?;
    let said = reader.join().unwrap_or_default();
    let number = |name: &str| {
        let value = |word: &str| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
        text.split_whitespace().find_map(value)
    };
    let is_right = text.contains(" ok=yes ") && code != FOUND;
    match (number("min_ms"), number("cpu_ms")) {
        (Some(wall), Some(processor)) if is_right => Ok(Measured {
            wall,
            processor,
            memory,
        }),
        _ => Err(format!("exit code {code}: {} {}", text.trim(), said.trim())),
    }
}

/// The exit code of a child, and the most memory of it and of those that it waited for, in MiB.
fn wait(pid: u32) -> std::io::Result<(i32, f64)> {
    let mut status = 0;
    // SAFETY: numbers without invalid values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a system call that writes to the two variables; the process is our child, and only this function waits for it.
    let waited = unsafe { libc::wait4(pid.cast_signed(), &mut status, 0, &mut usage) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error());
    }
    let code = match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => -libc::WTERMSIG(status),
    };
    Ok((code, usage.ru_maxrss as f64 / 1024.0))
}

/// The rows of a case. A ratio above 1 means that the checked run takes less than the peer.
fn rows(case: &str, best: &BTreeMap<Way, Measured>, runs: usize) -> Vec<Row> {
    type Of = fn(&Measured) -> f64;
    const KINDS: [(&str, Of); 3] = [
        ("ms", |m| m.wall),
        ("ms cpu", |m| m.processor),
        ("MiB", |m| m.memory),
    ];
    let pairs = [
        ("check memory", Way::Memory, "unchecked", Way::Unchecked),
        ("check all", Way::All, "unchecked", Way::Unchecked),
        ("check all", Way::AllPart, "oclgrind", Way::Oclgrind),
    ];
    let mut rows = Vec::new();
    for (bench, ours, peer, theirs) in pairs {
        let (Some(ours), Some(theirs)) = (best.get(&ours), best.get(&theirs)) else {
            continue;
        };
        for (unit, of) in KINDS {
            let (ours, peer_value) = (of(ours), of(theirs));
            rows.push(Row {
                bench,
                case: case.to_owned(),
                unit,
                ours,
                peer,
                peer_value,
                ratio: peer_value / ours,
                min: ours,
                median: ours,
                runs: if peer == "oclgrind" { 1 } else { runs },
            });
        }
    }
    rows
}

/// Geometric means over the cases, by bench, peer and unit.
#[derive(Default)]
struct Means {
    of: BTreeMap<(&'static str, &'static str, &'static str), (f64, u32)>,
}

impl Means {
    fn add(&mut self, rows: &[Row]) {
        for row in rows {
            let sum = self.of.entry((row.bench, row.peer, row.unit)).or_default();
            *sum = (sum.0 + row.ratio.ln(), sum.1 + 1);
        }
    }

    /// The ratio of peer to ours.
    fn rows(&self) -> Vec<Row> {
        let row = |(&(bench, peer, unit), &(sum, count)): (&(_, _, &str), &(f64, u32))| {
            let mean = (sum / f64::from(count)).exp();
            Row {
                bench,
                case: format!("geometric mean, {unit}"),
                unit: "x",
                ours: mean,
                peer,
                peer_value: 1.0,
                ratio: mean,
                min: mean,
                median: mean,
                runs: count as usize,
            }
        };
        self.of.iter().map(row).collect()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for ((bench, peer, unit), (sum, count)) in &self.of {
            let mean = (sum / f64::from(*count)).exp();
            let (factor, word) = match *peer {
                "unchecked" => (1.0 / mean, "times as much as unchecked"),
                _ => (mean, "times less than Oclgrind"),
            };
            text += &format!("{bench}: {factor:.2} {word} ({unit}, geometric mean of {count})\n");
        }
        text
    }
}

fn heading() -> String {
    format!(
        "{:16}{:>12}{:>10}{:>10}{:>10}{:>10}{:>14}",
        "ms and factors", "unchecked", "memory", "all", "MiB mem.", "MiB all", "Oclgrind/all"
    )
}

/// Unchecked milliseconds, factors of both ways in time and memory, and how many times longer Oclgrind takes.
fn line(case: &str, best: &BTreeMap<Way, Measured>) -> String {
    let ratio = |a: Way, b: Way, of: fn(&Measured) -> f64| match (best.get(&a), best.get(&b)) {
        (Some(a), Some(b)) => format!("{:.2}", of(a) / of(b)),
        _ => "-".to_owned(),
    };
    let unchecked = best.get(&Way::Unchecked).map(|m| format!("{:.4}", m.wall));
    format!(
        "{case:16}{:>12}{:>10}{:>10}{:>10}{:>10}{:>14}",
        unchecked.unwrap_or_else(|| "-".to_owned()),
        ratio(Way::Memory, Way::Unchecked, |m| m.wall),
        ratio(Way::All, Way::Unchecked, |m| m.wall),
        ratio(Way::Memory, Way::Unchecked, |m| m.memory),
        ratio(Way::All, Way::Unchecked, |m| m.memory),
        ratio(Way::Oclgrind, Way::AllPart, |m| m.wall),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> std::result::Result<Measured, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        measured(command)
    }

    #[test]
    fn times_and_memory_are_read_and_findings_are_errors() {
        let line = "case=x ok=yes min_ms=2.5 cpu_ms=4 batch=1";
        let found = shell(&format!("echo {line}")).expect("measured");
        assert_eq!((found.wall, found.processor), (2.5, 4.0));
        assert!(found.memory > 0.1, "{found:?}");
        for (script, said) in [
            (format!("echo {line}; echo race >&2; exit 98"), "race"),
            (
                "echo case=x ok=NO min_ms=1 cpu_ms=1 wrong".to_owned(),
                "wrong",
            ),
            ("exit 3".to_owned(), "exit code 3"),
            ("kill -9 $$".to_owned(), "exit code -9"),
        ] {
            let told = shell(&script).expect_err(&script);
            assert!(told.contains(said), "{script}: {told}");
        }
    }

    #[test]
    fn ratios_are_of_the_peer_and_means_of_the_ratios() {
        let of = |wall| Measured {
            wall,
            processor: 2.0 * wall,
            memory: 100.0,
        };
        let one = BTreeMap::from([(Way::Unchecked, of(1.0)), (Way::All, of(20.0))]);
        let two = BTreeMap::from([
            (Way::Unchecked, of(1.0)),
            (Way::All, of(80.0)),
            (Way::AllPart, of(5.0)),
            (Way::Oclgrind, of(500.0)),
        ]);
        let mut means = Means::default();
        means.add(&rows("one", &one, 2));
        let found = rows("two", &two, 2);
        assert_eq!(found.len(), 6);
        assert_eq!((found[3].peer, found[3].ratio), ("oclgrind", 100.0));
        means.add(&found);
        let text = means.text();
        assert!(
            text.contains("40.00 times as much as unchecked (ms, geometric mean of 2)"),
            "{text}"
        );
        assert!(
            text.contains("100.00 times less than Oclgrind (ms, geometric mean of 1)"),
            "{text}"
        );
        assert!(line("two", &two).ends_with("100.00"));
    }
}
