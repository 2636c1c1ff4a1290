//! See [`solum_fuzz::front`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| solum_fuzz::front(data));
