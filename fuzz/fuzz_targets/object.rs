//! Objects and archives of them into memory, as from a damaged cache; start from objects of `solum compile --emit obj`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let _ = object_loader::load(data, &object_loader::mathematics);
});
