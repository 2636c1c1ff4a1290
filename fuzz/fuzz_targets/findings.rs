//! Streams of checked processes and suppressions; start from `tests/golden/stream.jsonl` of `check-report`.
#![no_main]

#[path = "../src/findings.rs"]
mod reports;

libfuzzer_sys::fuzz_target!(|data: &[u8]| reports::findings(data));
