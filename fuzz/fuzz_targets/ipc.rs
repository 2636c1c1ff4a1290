//! IPC handles of memory, event pools and counter-based events; see `ipc` in `src`.
#![no_main]

#[path = "../src/ipc.rs"]
mod handles;

libfuzzer_sys::fuzz_target!(|data: &[u8]| handles::handles(data));
