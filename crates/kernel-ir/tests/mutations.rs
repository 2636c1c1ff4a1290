//! Damaged modules: the fuzz targets on mutations of the corpus with fixed seeds.

#[expect(unreachable_pub, reason = "a crate's root, where it comes from")]
#[path = "../../../fuzz/src/lib.rs"]
mod targets;

#[path = "mutations/damage.rs"]
mod damage;

use damage::{Random, corpus, mutate};

fn each(rounds: usize, target: fn(&[u8])) {
    for (name, bytes) in corpus() {
        target(&bytes);
        let mut random = Random::new(0x1234_5678 ^ bytes.len() as u64);
        for round in 0..rounds {
            let damaged = mutate(&bytes, &mut random);
            let result = std::panic::catch_unwind(|| target(&damaged));
            assert!(result.is_ok(), "{name}, round {round}");
        }
    }
}

#[test]
fn the_reader_takes_any_bytes() {
    each(60, targets::reader);
}

#[test]
fn the_front_end_takes_any_module() {
    each(60, targets::front);
}

#[test]
fn lowering_and_running_take_any_module() {
    each(60, targets::lowering);
}
