//! See [`solum_fuzz::lowering`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solum_fuzz::lowering(data));
