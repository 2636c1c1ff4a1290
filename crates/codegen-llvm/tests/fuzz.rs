//! The fuzz target of machine code, on the modules of the corpus and on a few damaged ones.

#![cfg(llvm)]

#[expect(unreachable_pub, reason = "public where the fuzz target includes it")]
#[path = "../../../fuzz/src/machine.rs"]
mod target;

#[path = "../../kernel-ir/tests/mutations/damage.rs"]
mod damage;

use damage::{Random, corpus, mutate};

/// Damaged modules of each whole one. Most of them are refused or not determined, which is soon known.
const DAMAGED: u32 = 4;

#[test]
fn machine_code_of_any_module_computes_what_the_interpreter_does() {
    let mut compared = 0;
    for (name, bytes) in corpus() {
        let mut random = Random::new(0x5eed ^ bytes.len() as u64);
        for round in 0..=DAMAGED {
            let module = match round {
                0 => bytes.clone(),
                _ => mutate(&bytes, &mut random),
            };
            let result = std::panic::catch_unwind(|| target::machine(&module));
            compared += result.unwrap_or_else(|_| panic!("{name}, round {round}"));
        }
    }
    // Kernels that stay within their buffers and leave nothing open.
    assert!(compared > 40, "only {compared}");
}
