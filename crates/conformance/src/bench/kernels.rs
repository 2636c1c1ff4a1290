//! Compute kernels: each case runs in a fresh process of the C harness in `tests/kernels`, ours over Level Zero,
//! then each peer, round after round.
//!
//! `./x bench kernels` builds what this needs and names it in the environment: `SOLUM_KERNELS` is the folder with
//! the harness and its modules; `SOLUM_PEER_INTEL` the folder of Intel's CPU OpenCL runtime, if there is one.
//! A ratio of a peer that is not there, that fails or that is another product, is no row.

use std::path::{Path, PathBuf};
use std::process::Command;

use level_zero::Result;

use crate::peers::{self, INTEL_OPENCL, POCL};
use crate::{NO_PEER, Row};

/// Rounds over all peers where none are asked for: the best of them counts.
pub(crate) const ROUNDS: usize = 5;

/// Makes a process of the harness with these arguments: a case, or what else it does.
type Start = dyn Fn(&[&str]) -> Command;

/// A runtime, by way of the harness.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) command: Box<Start>,
}

/// The measurements of one process.
pub(crate) struct Times {
    /// Milliseconds of the clock on the wall, for one launch.
    pub(crate) wall: f64,
    /// Milliseconds of processor time of all threads, waiting ones included where they spin.
    pub(crate) processor: f64,
}

/// Runs the area, `rounds` times; `only` names cases, all when empty; no other runtime is measured if `alone`.
pub(crate) fn run(
    only: &[&str],
    rounds: usize,
    alone: bool,
    emit: &mut dyn FnMut(Row),
) -> Result<bool> {
    let Some((folder, listed)) = harness() else {
        return Ok(false);
    };
    let all: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    if let Some(unknown) = only.iter().find(|case| !all.contains(case)) {
        eprintln!("bench: kernels: no case {unknown:?} ({})", all.join(", "));
        return Ok(false);
    }
    let Some(peers) = present(&folder, alone) else {
        return Ok(false);
    };
    let mut good = true;
    // Sums of logarithms and counts, of each peer, on the wall and of the processors.
    let mut logs = vec![[(0.0, 0u32); 2]; peers.len()];
    for case in all
        .into_iter()
        .filter(|c| only.is_empty() || only.contains(c))
    {
        let mut found: Vec<Vec<Times>> = peers.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (peer, found) in peers.iter().zip(&mut found) {
                match measured((peer.command)(&[case])) {
                    Ok(times) => found.push(times),
                    Err(text) if peer.name == "ours" => {
                        eprintln!("bench: kernels: {case}: {text}");
                        good = false;
                    }
                    // Peers lack features; what they lack is no news.
                    Err(_) => {}
                }
            }
        }
        type Of = fn(&Times) -> f64;
        let kinds: [(&str, Of); 2] = [("ms", |t| t.wall), ("ms cpu", |t| t.processor)];
        for (kind, (unit, of)) in kinds.into_iter().enumerate() {
            let sorted: Vec<Vec<f64>> = found
                .iter()
                .map(|times| {
                    let mut all: Vec<f64> = times.iter().map(of).collect();
                    all.sort_by(f64::total_cmp);
                    all
                })
                .collect();
            let Some(&ours) = sorted.first().and_then(|all| all.first()) else {
                continue;
            };
            let row = |peer, peer_value| Row {
                bench: "kernels",
                case: case.to_owned(),
                unit,
                ours,
                peer,
                peer_value,
                ratio: peer_value / ours,
                min: ours,
                median: sorted[0][sorted[0].len() / 2],
                runs: sorted[0].len(),
            };
            if alone {
                emit(row(NO_PEER, f64::NAN));
            }
            for ((peer, theirs), logs) in peers.iter().zip(&sorted).zip(&mut logs).skip(1) {
                // Plain C launches nothing: its empty kernel takes no time at all.
                let Some(&theirs) = theirs.first().filter(|&&time| time > 0.0) else {
                    continue;
                };
                let ratio = theirs / ours;
                if case != "empty" {
                    let log = &mut logs[kind];
                    *log = (log.0 + ratio.ln(), log.1 + 1);
                }
                emit(row(peer.name, theirs));
            }
        }
    }
    for (peer, logs) in peers.iter().zip(logs).skip(1) {
        for (unit, (sum, count)) in ["x", "x cpu"].into_iter().zip(logs) {
            if count <= 1 {
                continue;
            }
            let mean = (sum / f64::from(count)).exp();
            emit(Row {
                bench: "kernels",
                case: "geometric mean".into(),
                unit,
                ours: mean,
                peer: peer.name,
                peer_value: 1.0,
                ratio: mean,
                min: mean,
                median: mean,
                runs: count as usize,
            });
        }
    }
    Ok(good)
}

/// The harness's folder and its list of cases: a line of name, file and kernel each. What is missing is told.
pub(crate) fn harness() -> Option<(PathBuf, String)> {
    let Some(folder) = std::env::var_os("SOLUM_KERNELS").map(PathBuf::from) else {
        eprintln!("bench: kernels: no harness; ./x bench kernels builds it");
        return None;
    };
    let harness = folder.join("bench");
    match Command::new(&harness).arg("--list").output() {
        Ok(output) => {
            let listed = String::from_utf8_lossy(&output.stdout).into_owned();
            Some((folder, listed))
        }
        Err(error) => {
            eprintln!("bench: kernels: {}: {error}", harness.display());
            None
        }
    }
}

/// Ours, and those others that are what their names say and can run the empty kernel. What is wrong with the others is
/// told once; without ours there is nothing to compare.
pub(crate) fn present(folder: &Path, alone: bool) -> Option<Vec<Peer>> {
    let mut all = peers(folder, alone);
    if alone {
        return Some(all);
    }
    let ours = all.first()?;
    let folder = conformance::artefacts();
    if let Err(text) = peers::check_our_harness(&mut (ours.command)(&["--who"]), folder) {
        eprintln!("bench: kernels: ours: {text}");
        return None;
    }
    all.retain(|peer| {
        // Plain C has no launches.
        let runtime = match peer.name {
            "intel" => &INTEL_OPENCL,
            "pocl" => &POCL,
            _ => return true,
        };
        if let Err(text) = runtime.check_harness(&mut (peer.command)(&["--who"])) {
            eprintln!("bench: kernels: no column for {}: {text}", peer.name);
            return false;
        }
        let found = measured((peer.command)(&["empty"]));
        if let Err(text) = &found {
            eprintln!(
                "bench: kernels: no column for {}: it cannot run the empty kernel: {text}; {}",
                peer.name,
                if peer.name == "pocl" {
                    "Debian's package is pocl-opencl-icd"
                } else {
                    "./x bench kernels installs it with pip where there is a network"
                }
            );
        }
        found.is_ok()
    });
    Some(all)
}

/// Ours, and, if not `alone`, those that are named in the environment.
fn peers(folder: &Path, alone: bool) -> Vec<Peer> {
    let solum = conformance::artefacts().join("solum");
    let harness = {
        let folder = folder.to_owned();
        move |through: Option<&Path>, options: &[&str], what: &[&str]| {
            let mut command = match through {
                Some(solum) => {
                    let mut command = Command::new(solum);
                    command
                        .args(["run", "--as", "gpu", "--"])
                        .arg(folder.join("bench"));
                    command
                }
                None => Command::new(folder.join("bench")),
            };
            command.args(options).arg("--dir").arg(&folder).args(what);
            command
        }
    };
    let mut all = vec![Peer {
        name: "ours",
        command: {
            let harness = harness.clone();
            Box::new(move |what| harness(Some(&solum), &["--api", "ze"], what))
        },
    }];
    if alone {
        return all;
    }
    match std::env::var_os("SOLUM_PEER_INTEL").map(PathBuf::from) {
        None => eprintln!(
            "bench: kernels: no column for intel: SOLUM_PEER_INTEL names no folder of its OpenCL runtime"
        ),
        Some(intel) => {
            let (harness, vendors) = (harness.clone(), folder.join("intel"));
            all.push(Peer {
                name: "intel",
                command: Box::new(move |what| {
                    let mut command = harness(None, &[], what);
                    // The runtime finds its vector mathematics beside itself only with this path.
                    command.env("LD_LIBRARY_PATH", &intel);
                    command.env("OCL_ICD_VENDORS", &vendors);
                    command
                }),
            });
        }
    }
    {
        let harness = harness.clone();
        all.push(Peer {
            name: "pocl",
            command: Box::new(move |what| {
                let mut command = harness(None, &["--src"], what);
                command.env("POCL_KERNEL_CACHE", "0");
                command.env("BENCH_PLATFORM", "Portable Computing Language");
                command
            }),
        });
    }
    all.push(Peer {
        name: "native",
        command: Box::new(move |what| harness(None, &["--api", "native"], what)),
    });
    all
}

/// The best times of one process, or what it said instead.
pub(crate) fn measured(mut command: Command) -> std::result::Result<Times, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| {
        text.split_whitespace()
            .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    };
    let number = |name: &str| field(name)?.parse().ok();
    match (field("ok"), number("min_ms"), number("cpu_ms")) {
        (Some("yes"), Some(wall), Some(processor)) => Ok(Times { wall, processor }),
        _ => Err(format!(
            "{} {}",
            text.trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
