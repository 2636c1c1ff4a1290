//! Three kernels in Rust beside the same in CubeCL, on its back end for processors; each run is a process of its own.
//!
//! `./x bench cubecl` builds what this needs: the harness and its kernels in Rust (`SOLUM_KERNELS`), and the program of
//! `tests/cubecl` (`SOLUM_PEER_CUBECL`). A ratio above 1 means that ours is faster.

use std::path::{Path, PathBuf};
use std::process::Command;

use level_zero::Result;

use crate::kernels::{Times, harness, measured, present};
use crate::rust::{Best, best};
use crate::{NO_PEER, Row};

/// The cases, and the widths of CubeCL's vectors that are measured.
const CASES: [(&str, &[u32]); 4] = [
    ("saxpy", &[1, 16]),
    ("saxpy_l2", &[1, 16]),
    ("gemm_naive", &[1, 16]),
    ("stencil2d", &[1]),
];

/// The units of a cube that are measured: one, and as many as CubeCL allows.
const UNITS: [u32; 2] = [1, 0];

/// Runs the area, `rounds` times; `only` names cases, all when empty; CubeCL is not measured if `alone`.
pub(crate) fn run(
    only: &[&str],
    rounds: usize,
    alone: bool,
    emit: &mut dyn FnMut(Row),
) -> Result<bool> {
    let names = CASES.map(|(case, _)| case);
    if let Some(unknown) = only.iter().find(|only| !names.contains(only)) {
        eprintln!("bench: cubecl: no case {unknown:?} ({})", names.join(", "));
        return Ok(false);
    }
    let Some((folder, _)) = harness() else {
        return Ok(false);
    };
    let Some(peers) = present(&folder, true) else {
        return Ok(false);
    };
    let Some(ours) = peers.first() else {
        return Ok(false);
    };
    let cubecl = std::env::var_os("SOLUM_PEER_CUBECL").filter(|_| !alone);
    let cubecl = cubecl.map(PathBuf::from);
    let rust = folder.join("rust").display().to_string();
    let mut good = true;
    for (case, widths) in CASES {
        if !only.is_empty() && !only.contains(&case) {
            continue;
        }
        let widths = widths.iter().filter(|_| cubecl.is_some());
        let shapes: Vec<(u32, u32)> = widths
            .flat_map(|width| UNITS.map(|units| (*width, units)))
            .collect();
        let theirs = |(width, units): (u32, u32)| {
            let mut command = Command::new(cubecl.as_deref().unwrap_or(Path::new("")));
            command.args([case.to_owned(), width.to_string(), units.to_string()]);
            command
        };
        let ours = || (ours.command)(&["--rust", "--dir", &rust, case]);
        match turns(&ours, &shapes, &theirs, rounds) {
            Ok(times) => rows(case, &times, rounds, emit),
            Err(text) => {
                eprintln!("bench: cubecl: {case}: {text}");
                good = false;
            }
        }
    }
    Ok(good)
}

/// The best times of ours and of CubeCL by the width of its vectors, each with its best number of units.
struct Sides {
    ours: Best,
    theirs: Vec<(u32, Best)>,
}

/// Measures all sides of a case in turns: ours, and CubeCL with each width of vectors and number of units.
fn turns(
    ours: &dyn Fn() -> Command,
    shapes: &[(u32, u32)],
    theirs: &dyn Fn((u32, u32)) -> Command,
    rounds: usize,
) -> std::result::Result<Sides, String> {
    let mut mine: Vec<Times> = Vec::new();
    let mut all: Vec<Vec<Times>> = shapes.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        mine.push(measured(ours())?);
        for (shape, times) in shapes.iter().zip(&mut all) {
            let found = measured(theirs(*shape));
            times.push(found.map_err(|text| format!("CubeCL, {shape:?}: {text}"))?);
        }
    }
    let mut sides = Sides {
        ours: best(&mine),
        theirs: Vec::new(),
    };
    for ((width, _), times) in shapes.iter().zip(&all) {
        let found = best(times);
        match sides.theirs.last_mut() {
            Some((last, fastest)) if last == width => {
                if found.wall < fastest.wall {
                    *fastest = found;
                }
            }
            _ => sides.theirs.push((*width, found)),
        }
    }
    Ok(sides)
}

/// Two rows for each width of CubeCL's vectors.
fn rows(case: &str, sides: &Sides, rounds: usize, emit: &mut dyn FnMut(Row)) {
    let mut row = |case: String, unit, (ours, median): (f64, f64), peer, peer_value: f64| {
        emit(Row {
            bench: "cubecl",
            case,
            unit,
            ours,
            peer,
            peer_value,
            ratio: peer_value / ours,
            min: ours,
            median,
            runs: rounds,
        });
    };
    let Best {
        wall,
        median,
        processor,
    } = sides.ours;
    let none = Best {
        wall: f64::NAN,
        median: f64::NAN,
        processor: f64::NAN,
    };
    if sides.theirs.is_empty() {
        row(case.to_owned(), "ms", (wall, median), NO_PEER, none.wall);
        row(
            case.to_owned(),
            "ms cpu",
            (processor, processor),
            NO_PEER,
            none.processor,
        );
    }
    for (width, theirs) in &sides.theirs {
        let case = match width {
            1 => case.to_owned(),
            _ => format!("{case} vectors of {width}"),
        };
        row(case.clone(), "ms", (wall, median), "CubeCL", theirs.wall);
        row(
            case,
            "ms cpu",
            (processor, processor),
            "CubeCL",
            theirs.processor,
        );
    }
}
