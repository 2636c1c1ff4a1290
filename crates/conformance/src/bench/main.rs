//! `bench [AREA [CASE...]] [--json] [--rounds=N] [--alone]`: ours, the peer's, the ratio; both alternate in one run.
//!
//! Areas: `loader`, `driver`, `kernels`, `compile`, `xpti`, and if named `check`, `rust` and `cubecl` (`kernels`, `xpti`
//! and these three take cases).
//! Rounds are those of kernels and of compiling, 5 if not said, and of `check`. A ratio above 1 means that ours is better. Ratios are of minima; medians are printed too.
//! With `--alone` other products are not measured. Timing here is never a test.
//!
//! `--ours=PREFIX --against=PREFIX` compares two installations of ours instead (`against.rs`), in all areas.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks"
)]

mod against;
mod calls;
mod check;
mod compile;
mod cubecl;
mod driver;
mod kernels;
mod loader;
mod opencl;
mod peers;
mod rust;
mod xpti;

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;

/// One row: a line of JSON, or of the table.
#[derive(Serialize)]
pub(crate) struct Row {
    bench: &'static str,
    case: String,
    unit: &'static str,
    /// Minimum, or for bandwidth maximum.
    ours: f64,
    peer: &'static str,
    peer_value: f64,
    ratio: f64,
    min: f64,
    median: f64,
    runs: usize,
}

/// The peer's name in a row that has none; its value is no number.
pub(crate) const NO_PEER: &str = "none";

/// The meaning of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Lower,
    Higher,
}

/// Measures `ours` and `peer` in turns; each returns one value in `unit`.
pub(crate) fn measure(
    bench: &'static str,
    case: &str,
    (unit, better): (&'static str, Better),
    peer_name: &'static str,
    runs: usize,
    mut ours: impl FnMut() -> f64,
    mut peer: impl FnMut() -> f64,
) -> Row {
    let (mut mine, mut theirs) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for _ in 0..runs {
        mine.push(ours());
        theirs.push(peer());
    }
    mine.sort_by(f64::total_cmp);
    theirs.sort_by(f64::total_cmp);
    let best = |all: &[f64]| {
        if better == Better::Lower {
            all[0]
        } else {
            all[all.len() - 1]
        }
    };
    let (value, peer_value) = (best(&mine), best(&theirs));
    let ratio = if better == Better::Lower {
        peer_value / value
    } else {
        value / peer_value
    };
    Row {
        bench,
        case: case.to_owned(),
        unit,
        ours: value,
        peer: peer_name,
        peer_value,
        ratio,
        min: mine[0],
        median: mine[mine.len() / 2],
        runs,
    }
}

/// Nanoseconds of one call of `work`, as the mean over `count` calls.
pub(crate) fn nanoseconds(count: u32, mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..count {
        work();
    }
    began.elapsed().as_nanos() as f64 / f64::from(count)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, areas): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|word| word.starts_with("--"));
    let value = |name: &str| {
        let mut values = options.iter().filter_map(|option| option.split_once('='));
        values.find_map(|(option, value)| (option == name).then_some(value))
    };
    let known = ["--json", "--alone", "--rounds", "--ours", "--against"];
    let name = |option: &str| option.split('=').next().map(str::to_owned);
    if let Some(unknown) = options
        .iter()
        .find(|option| !name(option).is_some_and(|name| known.contains(&name.as_str())))
    {
        eprintln!("bench: no option {unknown} ({})", known.join(", "));
        return ExitCode::from(2);
    }
    let (json, alone) = (options.contains(&"--json"), options.contains(&"--alone"));
    let asked = match value("--rounds").map(str::parse) {
        None => None,
        Some(Ok(rounds @ 1..=1000)) => Some(rounds),
        Some(_) => {
            eprintln!("bench: --rounds: allowed are 1 to 1000");
            return ExitCode::from(2);
        }
    };
    let rounds = asked.unwrap_or(kernels::ROUNDS);
    match (value("--ours"), value("--against")) {
        (Some(ours), Some(against)) => {
            let good = against::run(&against::Options {
                ours: Path::new(ours),
                against: Path::new(against),
                words: &areas,
                rounds: asked,
                json,
            });
            return ExitCode::from(u8::from(!good));
        }
        (None, None) => {}
        _ => {
            eprintln!("bench: --ours=PREFIX and --against=PREFIX go together");
            return ExitCode::from(2);
        }
    }
    // A measurement that needs an environment of its own runs in a child: see driver.rs.
    if areas[..] == ["child", "opencl"] {
        opencl::serve();
        return ExitCode::SUCCESS;
    }
    if let ["child", what] = areas[..] {
        let value = match what.strip_prefix("loader-") {
            Some(what) => loader::child(what),
            None => driver::child(what).map(|value| value.to_string()),
        };
        return match value {
            Ok(value) => {
                println!("{value}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("bench: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let takes_cases = |area: &&str| ["kernels", "xpti", "check", "rust", "cubecl"].contains(area);
    let (areas, cases) = match areas.iter().position(takes_cases) {
        Some(at) => areas.split_at(at + 1),
        None => (&areas[..], &[][..]),
    };
    const AREAS: [&str; 8] = [
        "loader", "driver", "kernels", "compile", "xpti", "check", "rust", "cubecl",
    ];
    if let Some(unknown) = areas.iter().find(|area| !AREAS.contains(area)) {
        eprintln!("bench: no area {unknown:?} ({})", AREAS.join(", "));
        return ExitCode::from(2);
    }
    let wanted = |area: &str| areas.is_empty() || areas.contains(&area);
    let mut emit = |row: Row| {
        if json {
            println!("{}", serde_json::to_string(&row).unwrap_or_default());
        } else {
            println!(
                "{:<8} {:<28} {:>12.3} {:<6} {:>10} {:>12.3}  ratio {:>7.2}   median {:>12.3}  {} runs",
                row.bench,
                row.case,
                row.ours,
                row.unit,
                row.peer,
                row.peer_value,
                row.ratio,
                row.median,
                row.runs
            );
        }
    };
    type Bench<'a> = &'a dyn Fn(&mut dyn FnMut(Row)) -> level_zero::Result<()>;
    let mut run = |area: &str, bench: Bench<'_>| {
        // Checks slow everything down, twins compare us with ourselves, CubeCL takes minutes to build: only if asked for.
        let is_extra = ["check", "rust", "cubecl"].contains(&area);
        if !wanted(area) || areas.is_empty() && is_extra {
            return true;
        }
        bench(&mut emit)
            .map_err(|error| eprintln!("bench: {area}: {error}"))
            .is_ok()
    };
    let complete = std::cell::Cell::new(true);
    let good = run("loader", &|emit| loader::run(alone, emit))
        & run("driver", &driver::run)
        & run("kernels", &|emit| {
            complete.set(complete.get() & kernels::run(cases, rounds, alone, emit)?);
            Ok(())
        })
        & run("compile", &|emit| {
            complete.set(complete.get() & compile::run(rounds, alone, emit)?);
            Ok(())
        })
        & run("xpti", &|emit| xpti::run(cases, alone, emit))
        & run("check", &|emit| {
            complete.set(complete.get() & check::run(cases, asked, (alone, json), emit)?);
            Ok(())
        })
        & run("rust", &|emit| {
            complete.set(complete.get() & rust::run(cases, rounds, emit)?);
            Ok(())
        })
        & run("cubecl", &|emit| {
            complete.set(complete.get() & cubecl::run(cases, rounds, alone, emit)?);
            Ok(())
        });
    if good && complete.get() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
