//! The variables that this crate reads: the reference's names and meanings, and our own `SOLUM_SYCL_*`. Each is read
//! once. Of two names for one thing the newer wins; text that is no number counts as 0, as there.

use std::ops::RangeInclusive;
use std::sync::OnceLock;

fn text(names: &[&str]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| std::env::var(name).ok());
    values.find(|text| !text.is_empty())
}

fn number(names: &[&str]) -> Option<i64> {
    Some(text(names)?.trim().parse().unwrap_or(0))
}

/// Reads a variable once.
macro_rules! once {
    ($ty:ty, $value:expr) => {{
        static VALUE: OnceLock<$ty> = OnceLock::new();
        VALUE.get_or_init(|| $value)
    }};
}

/// How queues reach the device unless their properties say otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lists {
    /// Regular lists on a queue.
    Batched,
    /// Immediate lists.
    Immediate,
    /// Immediate lists, of which each thread has its own.
    OfThreads,
}

/// `UR_L0_USE_IMMEDIATE_COMMANDLISTS`.
pub(crate) fn lists() -> Lists {
    let names = [
        "UR_L0_USE_IMMEDIATE_COMMANDLISTS",
        "SYCL_PI_LEVEL_ZERO_USE_IMMEDIATE_COMMANDLISTS",
    ];
    *once!(
        Lists,
        match number(&names) {
            None | Some(1) => Lists::Immediate,
            Some(2) => Lists::OfThreads,
            Some(_) => Lists::Batched,
        }
    )
}

/// `UR_L0_BATCH_SIZE`: commands of one regular list; 0 leaves it to the device's pace.
pub(crate) fn batch() -> u32 {
    let names = ["UR_L0_BATCH_SIZE", "SYCL_PI_LEVEL_ZERO_BATCH_SIZE"];
    *once!(u32, u32::try_from(number(&names).unwrap_or(0)).unwrap_or(0))
}

/// `UR_L0_SERIALIZE`: 1 lets one thread at a time submit, 2 waits for each submission, 3 does both.
pub(crate) fn serialize() -> i64 {
    let names = ["UR_L0_SERIALIZE", "SYCL_PI_LEVEL_ZERO_SERIALIZE"];
    *once!(i64, number(&names).unwrap_or(0))
}

/// `UR_L0_EAGER_INIT`: a queue makes all its command lists when it is made.
pub(crate) fn eager() -> bool {
    let names = ["UR_L0_EAGER_INIT", "SYCL_EAGER_INIT"];
    *once!(bool, number(&names).unwrap_or(0) != 0)
}

/// `UR_L0_USE_COPY_ENGINE`: which of the device's copy engines are used, the first and the last; none for `0`.
pub(crate) fn copy_engines() -> Option<RangeInclusive<u32>> {
    let names = [
        "UR_L0_USE_COPY_ENGINE",
        "SYCL_PI_LEVEL_ZERO_USE_COPY_ENGINE",
    ];
    once!(
        Option<RangeInclusive<u32>>,
        engines(text(&names).as_deref())
    )
    .clone()
}

fn engines(text: Option<&str>) -> Option<RangeInclusive<u32>> {
    let Some(text) = text else {
        return Some(0..=u32::MAX);
    };
    match text.split_once(':') {
        Some((low, high)) => {
            let low = low.trim().parse().unwrap_or(0);
            let high = high.trim().parse::<i64>().unwrap_or(-1);
            // -1 is the last there is.
            let high = u32::try_from(high).unwrap_or(u32::MAX);
            (low <= high).then_some(low..=high)
        }
        None => (text.trim() != "0").then_some(0..=u32::MAX),
    }
}

/// `UR_L0_USE_COMPUTE_ENGINE`: the compute engine of queues that do not ask for one.
pub(crate) fn compute_engine() -> Option<u32> {
    let names = [
        "UR_L0_USE_COMPUTE_ENGINE",
        "SYCL_PI_LEVEL_ZERO_USE_COMPUTE_ENGINE",
    ];
    *once!(
        Option<u32>,
        number(&names).and_then(|index| u32::try_from(index).ok())
    )
}

/// `SOLUM_SYCL_LANES`: how many command lists an out-of-order queue may use at once.
pub(crate) fn lanes() -> Option<usize> {
    *once!(Option<usize>, positive("SOLUM_SYCL_LANES"))
}

/// `SOLUM_SYCL_PAGE`: bytes of a page of buffers whose page size the program does not choose.
pub(crate) fn page() -> Option<usize> {
    *once!(Option<usize>, positive("SOLUM_SYCL_PAGE"))
}

fn positive(name: &str) -> Option<usize> {
    let value = number(&[name])?;
    usize::try_from(value).ok().filter(|value| *value > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_engines_are_a_range() {
        for (text, expected) in [
            (None, Some(0..=u32::MAX)),
            (Some("0"), None),
            (Some("1"), Some(0..=u32::MAX)),
            (Some("1:3"), Some(1..=3)),
            (Some("2:-1"), Some(2..=u32::MAX)),
            (Some("3:1"), None),
        ] {
            assert_eq!(engines(text), expected, "{text:?}");
        }
    }
}
