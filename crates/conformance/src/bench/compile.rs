//! Compiling: the kernels of `tests/kernels` in fresh processes of its C harness, ours over Level Zero, then Intel's CPU
//! OpenCL runtime, round after round. Times are those of building a module and creating its kernels.
//!
//! `whole program`: all kernels as one module, opening of the libraries included. `kernel alone`: the mean over files
//! of one kernel, a process each, opening included. `further kernel`: the mean over those files behind the first of
//! one process. `cached kernel`: the same where ours finds every kernel in its cache; the peer, which has none, is as
//! before. Needs what [`kernels`] needs; `./x bench compile` builds it.

use std::path::Path;
use std::process::Command;

use level_zero::Result;

use crate::kernels::{self, Peer};
use crate::{NO_PEER, Row};

/// The output of one process.
struct Process {
    /// Milliseconds of opening the libraries.
    opening: f64,
    /// Milliseconds of each file.
    files: Vec<f64>,
}

impl Process {
    fn whole(&self) -> f64 {
        self.opening + self.files.iter().sum::<f64>()
    }

    /// The mean behind the first.
    fn further(&self) -> f64 {
        let further = self.files.get(1..).unwrap_or_default();
        further.iter().sum::<f64>() / further.len().max(1) as f64
    }
}

/// Runs the area `rounds` times; without Intel's runtime if `alone`.
pub(crate) fn run(rounds: usize, alone: bool, emit: &mut dyn FnMut(Row)) -> Result<bool> {
    let Some((folder, listed)) = kernels::harness() else {
        return Ok(false);
    };
    let Some(mut peers) = kernels::present(&folder, alone) else {
        return Ok(false);
    };
    peers.retain(|peer| ["ours", "intel"].contains(&peer.name));
    let (ours, intel) = match &peers[..] {
        [ours, intel] => (ours, Some(intel)),
        [ours] if alone => (ours, None),
        // Missing things have been reported.
        _ => return Ok(false),
    };
    let single = single(&listed);
    let cache = folder.join("cache");
    let mut samples = [const { (Vec::new(), Vec::new()) }; 4];
    for _ in 0..rounds {
        let one = |peer: &Peer, files: &[&str]| {
            process(peer, files, |command| {
                command.env("SOLUM_CACHE", "0");
            })
        };
        type Measured = std::result::Result<f64, String>;
        let each = |peer: &Peer| -> Measured {
            let mut sum = 0.0;
            for file in &single {
                sum += one(peer, &[file])?.whole();
            }
            Ok(sum / single.len().max(1) as f64)
        };
        let both = |measure: &dyn Fn(&Peer) -> Measured| {
            [measure(ours), intel.map_or(Ok(f64::NAN), measure)]
        };
        let round = || -> std::result::Result<_, String> {
            let whole = both(&|peer| Ok(one(peer, &["all"])?.whole()));
            let alone = both(&each);
            let [further, theirs] = both(&|peer| Ok(one(peer, &single)?.further()));
            let cached = cached(ours, &single, &cache);
            Ok([whole, alone, [further, theirs.clone()], [cached, theirs]])
        };
        let round = round().and_then(|rows| {
            let mut values = [[0.0; 2]; 4];
            for (values, row) in values.iter_mut().zip(rows) {
                for (value, found) in values.iter_mut().zip(row) {
                    *value = found?;
                }
            }
            Ok(values)
        });
        match round {
            Ok(values) => {
                for ((mine, theirs), [ours, intel]) in samples.iter_mut().zip(values) {
                    mine.push(ours);
                    theirs.push(intel);
                }
            }
            Err(text) => {
                eprintln!("bench: compile: {text}");
                return Ok(false);
            }
        }
    }
    let cases = [
        "whole program",
        "kernel alone",
        "further kernel",
        "cached kernel",
    ];
    for (case, (mut mine, mut theirs)) in cases.into_iter().zip(samples) {
        mine.sort_by(f64::total_cmp);
        theirs.sort_by(f64::total_cmp);
        let (Some(&ours), Some(&peer_value)) = (mine.first(), theirs.first()) else {
            continue;
        };
        emit(Row {
            bench: "compile",
            case: case.to_owned(),
            unit: "ms",
            ours,
            peer: if intel.is_some() { "intel" } else { NO_PEER },
            peer_value,
            ratio: peer_value / ours,
            min: ours,
            median: mine[mine.len() / 2],
            runs: mine.len(),
        });
    }
    Ok(true)
}

/// Files with one kernel in the list of cases.
fn single(listed: &str) -> Vec<&str> {
    let mut all: Vec<(&str, &str)> = listed
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            words.next().zip(words.next())
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    let alone = |file: &str| all.iter().filter(|(of, _)| *of == file).count() == 1;
    let files = all.iter().map(|(file, _)| *file);
    files.filter(|file| alone(file)).collect()
}

/// As [`Process::further`] of ours, with every kernel in the cache.
fn cached(ours: &Peer, files: &[&str], cache: &Path) -> std::result::Result<f64, String> {
    let with_cache = || {
        process(ours, files, |command| {
            command.env("SOLUM_CACHE_DIR", cache);
        })
    };
    // Fills it.
    with_cache()?;
    Ok(with_cache()?.further())
}

/// One process of the harness, with its times.
fn process(
    peer: &Peer,
    files: &[&str],
    change: impl FnOnce(&mut Command),
) -> std::result::Result<Process, String> {
    let arguments: Vec<&str> = ["--jit"].iter().chain(files).copied().collect();
    let mut command = (peer.command)(&arguments);
    change(&mut command);
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |line: &str, name: &str| {
        let words = line.split_whitespace();
        let mut values = words.filter_map(|word| word.strip_prefix(name)?.parse().ok());
        values.next()
    };
    let opening: Option<f64> = text.lines().find_map(|line| number(line, "opening_ms="));
    let times: Vec<f64> = text
        .lines()
        .filter_map(|line| number(line, "ms="))
        .collect();
    match opening {
        Some(opening) if output.status.success() && times.len() == files.len() => Ok(Process {
            opening,
            files: times,
        }),
        _ => Err(format!(
            "{}: {} {}",
            peer.name,
            text.trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
