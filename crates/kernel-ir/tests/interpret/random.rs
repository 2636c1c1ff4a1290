//! Random kernels mean the same before and after [`kernel_ir::passes::prepare`].

use super::generator::{COUNTERS, Features, INPUTS, Random, Ty, VARIABLES, kernel};
use super::sandbox::{Arg, Grid, ints, line, run_module};
use kernel_ir::Options;

/// The words that every random kernel reads.
pub(crate) fn inputs(seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed ^ 0xabcd);
    let mut word = || match random.below(4) {
        0 => random.next() as i32,
        1 => random.below(16) as i32 - 8,
        _ => random.below(1000) as i32,
    };
    (0..INPUTS).map(|_| word()).collect()
}

/// Where `a` and `b` differ, when they do: item and variable.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> Option<String> {
    let variables = VARIABLES.len();
    for (i, (x, y)) in a.chunks(8).zip(b.chunks(8)).enumerate() {
        let ty = VARIABLES[i % variables];
        let bits = |v: &[u8]| {
            let mut all = [0; 8];
            all[..ty.bytes()].copy_from_slice(&v[..ty.bytes()]);
            u64::from_le_bytes(all)
        };
        let (x, y) = (bits(x), bits(y));
        let nan = |v: u64| match ty {
            Ty::F16 => v & 0x7fff > 0x7c00,
            Ty::F32 => f32::from_bits(v as u32).is_nan(),
            Ty::F64 => f64::from_bits(v).is_nan(),
            _ => false,
        };
        if x != y && !(nan(x) && nan(y)) {
            return Some(format!(
                "work-item {}, variable {} ({ty:?}): {x:#x} and {y:#x}",
                i / variables,
                i % variables
            ));
        }
    }
    None
}

/// Arguments of a random kernel for `items` work-items.
pub(crate) fn arguments(seed: u64, items: usize) -> Vec<Arg> {
    vec![
        ints(&inputs(seed)),
        Arg::Buffer(vec![0; items * VARIABLES.len() * 8]),
        ints(&[7; COUNTERS]),
        Arg::Value((seed as i32 & 15).to_le_bytes().to_vec()),
    ]
}

#[test]
fn prepared_kernels_mean_the_same() {
    for seed in 0..150 {
        let features = Features {
            barriers: seed % 3 == 0,
            sub_groups: seed % 2 == 0,
            statements: 6 + (seed % 30) as u32,
        };
        let text = kernel(seed, features);
        let grid = Grid {
            budget: Some(50_000_000),
            ..line(2, [20, 8, 13][seed as usize % 3])
        };
        let items = 2 * grid.size[0] as usize;
        let module = super::sandbox::module(&text);
        let mut prepared = module.clone();
        if let Err(e) = kernel_ir::passes::prepare(&mut prepared, &Options::default()) {
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
}
