//! Kernels in Rust beside their twins in OpenCL C, by the same harness and driver, each run in a process of its own.
//!
//! `./x bench rust` builds what this needs: in the folder of the harness (`SOLUM_KERNELS`) is `rust`, with a module for
//! each kernel, and `rust/unchecked`, with the same without bounds checks. A ratio above 1 means that Rust is faster.

use std::process::Command;

use level_zero::Result;

use crate::Row;
use crate::kernels::{Peer, Times, harness, measured, present};

/// How a kernel is measured, and the options of the harness.
const SIDES: [(&str, &str, &[&str]); 3] = [
    ("OpenCL C", "", &[]),
    ("Rust", "rust", &["--rust"]),
    ("unchecked", "rust/unchecked", &["--rust"]),
];

/// Runs the area, `rounds` times; `only` names cases, all when empty.
pub(crate) fn run(only: &[&str], rounds: usize, emit: &mut dyn FnMut(Row)) -> Result<bool> {
    let Some((folder, listed)) = harness() else {
        return Ok(false);
    };
    let cases: Vec<(&str, &str)> = listed
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.nth(1)?))
        })
        .collect();
    if let Some(unknown) = only
        .iter()
        .find(|only| !cases.iter().any(|(case, _)| case == *only))
    {
        let all: Vec<&str> = cases.iter().map(|(case, _)| *case).collect();
        eprintln!("bench: rust: no case {unknown:?} ({})", all.join(", "));
        return Ok(false);
    }
    let Some(peers) = present(&folder, true) else {
        return Ok(false);
    };
    let Some(ours) = peers.first() else {
        return Ok(false);
    };
    let mut good = true;
    let mut means = [Mean::default(), Mean::default()];
    for (case, kernel) in cases {
        if !only.is_empty() && !only.contains(&case) {
            continue;
        }
        if !folder.join(format!("rust/{kernel}.spv")).is_file() {
            eprintln!("bench: rust: {case} is not in Rust");
            good = false;
            continue;
        }
        let Some(times) = sides(ours, case, rounds) else {
            good = false;
            continue;
        };
        let [theirs, rust, unchecked] = times;
        for (side, mine, mean) in [("", &rust, 0), (" unchecked", &unchecked, 1)] {
            if case != "empty" {
                means[mean].add(theirs.processor / mine.processor);
            }
            for (unit, value, peer_value, median) in [
                ("ms", mine.wall, theirs.wall, mine.median),
                ("ms cpu", mine.processor, theirs.processor, mine.processor),
            ] {
                emit(Row {
                    bench: "rust",
                    case: format!("{case}{side}"),
                    unit,
                    ours: value,
                    peer: "OpenCL C",
                    peer_value,
                    ratio: peer_value / value,
                    min: value,
                    median,
                    runs: rounds,
                });
            }
        }
    }
    for (case, mean) in ["geometric mean", "geometric mean unchecked"]
        .into_iter()
        .zip(means)
        .filter(|(_, mean)| mean.count > 1)
    {
        let value = (mean.logs / f64::from(mean.count)).exp();
        emit(Row {
            bench: "rust",
            case: case.into(),
            unit: "x cpu",
            ours: value,
            peer: "OpenCL C",
            peer_value: 1.0,
            ratio: value,
            min: value,
            median: value,
            runs: mean.count as usize,
        });
    }
    if only.is_empty() {
        match staging() {
            Some((lines, spent)) => emit(Row {
                bench: "rust",
                case: "staging 100 lines".into(),
                unit: "us",
                ours: spent * 100.0 / lines,
                peer: "goal",
                peer_value: GOAL,
                ratio: GOAL * lines / (spent * 100.0),
                min: spent * 100.0 / lines,
                median: spent * 100.0 / lines,
                runs: 1,
            }),
            None => {
                eprintln!("bench: rust: rust_kernels --staging does not say what staging costs");
                good = false;
            }
        }
    }
    Ok(good)
}

/// The microseconds that staging a kernel of 100 lines may take.
const GOAL: f64 = 1000.0;

/// The lines of all kernels in Rust, and the microseconds of staging them.
fn staging() -> Option<(f64, f64)> {
    let program = conformance::artefacts().join("examples/rust_kernels");
    let output = Command::new(program).arg("--staging").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut sum = (0.0, 0.0);
    for line in text.lines() {
        let mut words = line.split(' ').skip(1).map(str::parse::<f64>);
        let (lines, spent) = (words.next()?.ok()?, words.next()?.ok()?);
        sum = (sum.0 + lines, sum.1 + spent);
    }
    (sum.0 > 0.0).then_some(sum)
}

/// A geometric mean in the making.
#[derive(Clone, Copy, Default)]
struct Mean {
    logs: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, ratio: f64) {
        self.logs += ratio.ln();
        self.count += 1;
    }
}

/// The best times of one side.
#[derive(Clone, Copy)]
pub(crate) struct Best {
    /// Milliseconds of the clock on the wall.
    pub(crate) wall: f64,
    /// Their median.
    pub(crate) median: f64,
    /// Milliseconds of processor time.
    pub(crate) processor: f64,
}

/// The best times of each side, which take turns. What fails is told.
fn sides(ours: &Peer, case: &str, rounds: usize) -> Option<[Best; 3]> {
    let mut all: [Vec<Times>; 3] = Default::default();
    for _ in 0..rounds {
        for ((name, folder, options), all) in SIDES.iter().zip(&mut all) {
            // The folder of the harness is an option before these; the last one counts.
            let folder = match folder.is_empty() {
                true => Vec::new(),
                false => {
                    let root = std::env::var("SOLUM_KERNELS").unwrap_or_default();
                    vec!["--dir".to_owned(), format!("{root}/{folder}")]
                }
            };
            let folder = folder.iter().map(String::as_str);
            let words: Vec<&str> = options
                .iter()
                .copied()
                .chain(folder)
                .chain([case])
                .collect();
            match measured((ours.command)(&words)) {
                Ok(times) => all.push(times),
                Err(text) => {
                    eprintln!("bench: rust: {case} in {name}: {text}");
                    return None;
                }
            }
        }
    }
    Some(all.map(|times| best(&times)))
}

/// The best of several processes.
pub(crate) fn best(times: &[Times]) -> Best {
    let sorted = |of: fn(&Times) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let (wall, processor) = (sorted(|times| times.wall), sorted(|times| times.processor));
    let first = |values: &[f64]| values.first().copied().unwrap_or(f64::NAN);
    Best {
        wall: first(&wall),
        median: wall.get(wall.len() / 2).copied().unwrap_or(f64::NAN),
        processor: first(&processor),
    }
}
