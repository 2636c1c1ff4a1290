//! Modules as machine code and interpreted; see `machine` in `src`. Start from `crates/kernel-ir/tests/corpus`.
#![no_main]

#[path = "../src/machine.rs"]
mod compared;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    compared::machine(data);
});
