//! Recordings of traced programs; start from the `.events` files that `SOLUM_TRACE=FOLDER` has a program leave.
#![no_main]

#[path = "../src/recording.rs"]
mod recordings;

libfuzzer_sys::fuzz_target!(|data: &[u8]| recordings::recording(data));
