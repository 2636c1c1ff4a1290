//! The variables that this crate reads: the reference's names and meanings, and our own `SOLUM_SYCL_*`.

use std::sync::OnceLock;

fn number(names: [&str; 2]) -> Option<u64> {
    let text = names
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()))?;
    Some(text.trim().parse().unwrap_or(0))
}

/// Whether queues use immediate command lists unless their properties say otherwise.
pub(crate) fn immediate() -> bool {
    static VALUE: OnceLock<bool> = OnceLock::new();
    *VALUE.get_or_init(|| {
        let names = [
            "UR_L0_USE_IMMEDIATE_COMMANDLISTS",
            "SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS",
        ];
        number(names).is_none_or(|value| value == 1 || value == 2)
    })
}

/// How many command lists an out-of-order queue may use at once.
pub(crate) fn lanes() -> Option<usize> {
    static VALUE: OnceLock<Option<usize>> = OnceLock::new();
    *VALUE.get_or_init(|| {
        let value = number(["SOLUM_SYCL_LANES", "SOLUM_SYCL_LANES"])?;
        usize::try_from(value).ok().filter(|lanes| *lanes > 0)
    })
}
