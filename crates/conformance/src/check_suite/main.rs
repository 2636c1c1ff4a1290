//! `check-kernels SUITE OUT|PROGRAM [--json] [NAME...]`: runs the kernels of a folder SUITE with checks, and compares what is
//! found with their marks.
//!
//! Each kernel of `tests/check` is compiled into the folder OUT where it changed, and launched by `launch_kernels` in a process
//! of its own. Those of `tests/sycl/check` are compiled and launched by PROGRAM, `tests/sycl/checked.cpp`. A NAME is a part of
//! `planted/CLASS/NAME`. Exit code 0: as SUITE/misses.txt says; 1: otherwise; 2: it could not be run.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks"
)]

mod compile;
mod launch;
mod misses;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use conformance::check_kernels::{Found, KernelFile};

use misses::Misses;

/// A kernel of the suite.
struct Case {
    /// `memory/NAME`.
    name: String,
    /// With a mistake, or correct.
    is_planted: bool,
    path: PathBuf,
    file: KernelFile,
}

impl Case {
    /// `planted/memory/NAME`.
    fn full_name(&self) -> String {
        let kind = if self.is_planted {
            "planted"
        } else {
            "correct"
        };
        format!("{kind}/{}", self.name)
    }

    fn class(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// What came out of one kernel.
struct Outcome {
    found: Vec<Found>,
    /// What is not as the marks say.
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let is_json = words.iter().any(|word| word == "--json");
    words.retain(|word| word != "--json");
    let [suite, out, names @ ..] = &words[..] else {
        eprintln!("usage: check-kernels SUITE OUT|PROGRAM [--json] [NAME...]");
        return ExitCode::from(2);
    };
    match run(Path::new(suite), Path::new(out), names, is_json) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("check-kernels: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(suite: &Path, out: &Path, names: &[String], is_json: bool) -> Result<bool, String> {
    let cases = cases(suite)?;
    let all: BTreeSet<&str> = cases
        .iter()
        .filter(|case| case.is_planted)
        .map(|case| case.name.as_str())
        .collect();
    let misses = Misses::read(&suite.join("misses.txt"), &all)?;
    let is_chosen =
        |case: &&Case| names.is_empty() || names.iter().any(|name| case.full_name().contains(name));
    let chosen: Vec<&Case> = cases.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(format!("no kernel's name has {} in it", names.join(" or ")));
    }
    // A program compiles by itself.
    let program = out.is_file().then_some(out);
    let tools = launch::Tools::find(program)?;
    if program.is_none() {
        compile::prepare(out)?;
    }
    let outcomes = in_parallel(&chosen, |case| outcome(case, out, &tools));
    let results: Vec<_> = chosen.iter().copied().zip(outcomes).collect();
    let report = report::Report::new(&results, &misses);
    if is_json {
        println!("{}", report.json());
    } else {
        print!("{}", report.text());
    }
    Ok(report.is_good())
}

/// All kernels, in the order of their names.
fn cases(suite: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (kind, is_planted) in [("planted", true), ("correct", false)] {
        let folder = suite.join(kind);
        for class in entries(&folder)? {
            for path in entries(&class)? {
                let part = |path: &Path| path.file_stem().map(|stem| stem.display().to_string());
                let (Some(class), Some(stem)) = (part(&class), part(&path)) else {
                    continue;
                };
                let text = std::fs::read_to_string(&path).map_err(|error| told(&path, &error))?;
                let file = text.parse().map_err(|wrong| told(&path, &wrong))?;
                cases.push(Case {
                    name: format!("{class}/{stem}"),
                    is_planted,
                    path,
                    file,
                });
            }
        }
    }
    Ok(cases)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| told(folder, &error))?;
    // Absolute: a compiler writes into the module what it was given.
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.and_then(|entry| entry.path().canonicalize()))
        .collect::<Result<_, _>>()
        .map_err(|error| told(folder, &error))?;
    paths.sort();
    Ok(paths)
}

/// An error of a file.
fn told(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

fn outcome(case: &Case, out: &Path, tools: &launch::Tools) -> Outcome {
    let launched = if case.file.case.is_some() {
        tools.launch(case, None)
    } else {
        match compile::module(case, out) {
            Ok(module) => tools.launch(case, Some(&module)),
            Err(error) => Err(format!("not compiled: {error}")),
        }
    };
    let (found, wrong) = match launched {
        Ok(launched) => {
            let mut wrong = match compile::has_lines(case) {
                true => case.file.judge(&launched.found),
                false => case.file.judge_kinds(&launched.found),
            };
            // A mistake may end the process: what was found until then counts.
            if !case.is_planted || !wrong.is_empty() {
                wrong.extend(launched.failure);
            }
            (launched.found, wrong)
        }
        Err(error) => (Vec::new(), vec![error]),
    };
    Outcome { found, wrong }
}

/// `work` of each, by as many threads as there are processors, in the order of `all`.
fn in_parallel<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = all.get(index) else { break };
                    let result = work(one);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
