//! See [`solum_fuzz::reader`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solum_fuzz::reader(data));
