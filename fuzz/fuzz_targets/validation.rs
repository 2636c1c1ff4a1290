//! Sequences of Level Zero calls under validation; see `validation` in `src`.
#![no_main]

#[path = "../src/validation.rs"]
mod sequences;

libfuzzer_sys::fuzz_target!(|data: &[u8]| sequences::validation(data));
