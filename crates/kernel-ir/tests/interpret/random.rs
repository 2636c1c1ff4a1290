//! Random kernels mean the same before and after [`kernel_ir::passes::prepare`].

use super::generator::{features, group_size, kernel};
use super::graph::graph;
use super::ingredients::{COUNTERS, VARIABLES, difference, inputs};
use super::sandbox::{Arg, Grid, ints, line, run_module};

/// Arguments of a random kernel for `items` work-items.
fn arguments(seed: u64, items: usize) -> Vec<Arg> {
    vec![
        ints(&inputs(seed)),
        Arg::Buffer(vec![0; items * VARIABLES.len() * 8]),
        ints(&[7; COUNTERS]),
        Arg::Value((seed as i32 & 15).to_le_bytes().to_vec()),
    ]
}

/// Runs `text` as it is and prepared, and compares.
fn same_when_prepared(seed: u64, text: &str, size: u32) {
    let grid = Grid {
        budget: Some(50_000_000),
        ..line(2, size)
    };
    let items = 2 * size as usize;
    let module = super::sandbox::module(text);
    let mut prepared = module.clone();
    if let Err(e) = kernel_ir::passes::prepare(&mut prepared) {
        panic!("seed {seed}: {e}\n{text}");
    }
    if let Err(e) = kernel_ir::validate(&prepared) {
        panic!("seed {seed}: {e:?}\n{}", kernel_ir::print(&prepared));
    }
    let plain = run_module(module, grid, arguments(seed, items));
    let other = run_module(prepared.clone(), grid, arguments(seed, items));
    let (plain, other) = match (plain, other) {
        (Ok(plain), Ok(other)) => (plain, other),
        (plain, other) => panic!("seed {seed}: {:?} {:?}\n{text}", plain.err(), other.err()),
    };
    let differs = difference(&plain.buffers[1], &other.buffers[1]);
    assert_eq!(
        differs,
        None,
        "seed {seed}\n{text}\n{}",
        kernel_ir::print(&prepared)
    );
    assert_eq!(
        plain.buffers[2], other.buffers[2],
        "seed {seed}: counters\n{text}"
    );
}

#[test]
fn prepared_kernels_compute_the_same() {
    for seed in 0..150 {
        let text = kernel(seed, features(seed));
        same_when_prepared(seed, &text, group_size(seed));
    }
}

#[test]
fn prepared_graphs_compute_the_same() {
    for seed in 0..150 {
        let text = graph(seed, seed % 2 == 0);
        same_when_prepared(seed, &text, [20, 8, 13][seed as usize % 3]);
    }
}
