//! Pages of counters that other processes wrote.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (age, page) = data.split_at(data.len().min(8));
    let age = age.iter().fold(0, |age, byte| age << 8 | u64::from(*byte));
    ze_cpu::read_counters(page, age);
});
