//! Compute kernels: each case runs in a fresh process of the C harness in `tests/kernels`, ours over Level Zero,
//! then each peer, round after round.
//!
//! `./x bench kernels` builds what this needs and names it in the environment: `SOLUM_KERNELS` is the folder with
//! the harness and its modules; `SOLUM_PEER_INTEL` the folder of Intel's CPU OpenCL runtime, if there is one.
//! A ratio of a peer that is not there, or that fails, is no row.

use std::path::{Path, PathBuf};
use std::process::Command;

use level_zero::Result;

use crate::Row;

/// Rounds over all peers: the best of them counts.
const ROUNDS: usize = 5;

struct Peer {
    name: &'static str,
    command: Box<dyn Fn(&str) -> Command>,
}

/// Runs the area; `only` names cases, all when empty.
pub(crate) fn run(only: &[&str], emit: &mut dyn FnMut(Row)) -> Result<()> {
    let Some(folder) = std::env::var_os("SOLUM_KERNELS").map(PathBuf::from) else {
        eprintln!("bench: kernels: no harness; ./x bench kernels builds it");
        return Ok(());
    };
    let harness = folder.join("bench");
    let peers = peers(&folder);
    let mut logs: Vec<(f64, u32)> = vec![(0.0, 0); peers.len()];
    let listed = Command::new(&harness).arg("--list").output();
    let listed = listed.map(|o| o.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed);
    for case in listed.lines().filter_map(|line| line.split(' ').next()) {
        if !only.is_empty() && !only.contains(&case) {
            continue;
        }
        let mut found: Vec<Vec<f64>> = vec![Vec::new(); peers.len()];
        for _ in 0..ROUNDS {
            for (peer, found) in peers.iter().zip(&mut found) {
                match milliseconds((peer.command)(case)) {
                    Ok(ms) => found.push(ms),
                    Err(text) if peer.name == "ours" => {
                        eprintln!("bench: kernels: {case}: {text}");
                    }
                    // Peers lack features; what they lack is no news.
                    Err(_) => {}
                }
            }
        }
        for all in &mut found {
            all.sort_by(f64::total_cmp);
        }
        let Some(&ours) = found[0].first() else {
            continue;
        };
        for ((peer, theirs), log) in peers.iter().zip(&found).zip(&mut logs).skip(1) {
            let Some(&theirs) = theirs.first() else {
                continue;
            };
            let ratio = theirs / ours;
            if case != "empty" {
                *log = (log.0 + ratio.ln(), log.1 + 1);
            }
            emit(Row {
                bench: "kernels",
                case: case.to_owned(),
                unit: "ms",
                ours,
                peer: peer.name,
                peer_value: theirs,
                ratio,
                min: ours,
                median: found[0][found[0].len() / 2],
                runs: found[0].len(),
            });
        }
    }
    for (peer, (sum, count)) in peers.iter().zip(logs).skip(1) {
        if count > 1 {
            let mean = (sum / f64::from(count)).exp();
            emit(Row {
                bench: "kernels",
                case: "geometric mean".into(),
                unit: "x",
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
    Ok(())
}

fn peers(folder: &Path) -> Vec<Peer> {
    let solum = conformance::artefacts().join("solum");
    let harness = {
        let folder = folder.to_owned();
        move |through: Option<&Path>, options: &[&str], case: &str| {
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
            command.args(options).arg("--dir").arg(&folder).arg(case);
            command
        }
    };
    let mut all = vec![Peer {
        name: "ours",
        command: {
            let harness = harness.clone();
            Box::new(move |case| harness(Some(&solum), &["--api", "ze"], case))
        },
    }];
    if let Some(intel) = std::env::var_os("SOLUM_PEER_INTEL").map(PathBuf::from) {
        let (harness, vendors) = (harness.clone(), folder.join("intel"));
        all.push(Peer {
            name: "intel",
            command: Box::new(move |case| {
                let mut command = harness(None, &[], case);
                // The runtime finds its vector mathematics beside itself only with this path.
                command.env("LD_LIBRARY_PATH", &intel);
                command.env("OCL_ICD_VENDORS", &vendors);
                command
            }),
        });
    }
    {
        let harness = harness.clone();
        all.push(Peer {
            name: "pocl",
            command: Box::new(move |case| {
                let mut command = harness(None, &["--src"], case);
                command.env("POCL_KERNEL_CACHE", "0");
                command.env("BENCH_PLATFORM", "Portable Computing Language");
                command
            }),
        });
    }
    all.push(Peer {
        name: "native",
        command: Box::new(move |case| harness(None, &["--api", "native"], case)),
    });
    all
}

/// The best time of one process, or what it said instead.
fn milliseconds(mut command: Command) -> std::result::Result<f64, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| {
        text.split_whitespace().find_map(|word| {
            word.strip_prefix(name)?
                .strip_prefix('=')
                .map(str::to_owned)
        })
    };
    match (field("ok").as_deref(), field("min_ms").map(|ms| ms.parse())) {
        (Some("yes"), Some(Ok(ms))) => Ok(ms),
        _ => Err(format!(
            "{} {}",
            text.trim(),
            String::from_utf8_lossy(&output.stderr).trim()
        )),
    }
}
