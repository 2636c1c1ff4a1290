//! Recordings of traced programs; start from the files that `solum trace --keep` leaves.
#![no_main]

#[path = "../src/recording.rs"]
mod recordings;

libfuzzer_sys::fuzz_target!(|data: &[u8]| recordings::recording(data));
