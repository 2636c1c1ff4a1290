//! The variables that this crate reads: the reference's names and meanings, and our own `SOLUM_SYCL_*`;
//! `environment.txt` lists them all. Each is read once. Text that is not a number counts as 0, as in
//! the reference. An invalid value in one of our own is reported before anything else
//! happens: see [`check`].

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use crate::error::{Error, Result};

fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn number(name: &str) -> Option<i64> {
    Some(text(name)?.trim().parse().unwrap_or(0))
}

/// Reads a variable once.
macro_rules! once {
    ($ty:ty, $value:expr) => {{
        static VALUE: OnceLock<$ty> = OnceLock::new();
        VALUE.get_or_init(|| $value)
    }};
}

/// How queues submit to the device unless their properties say otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lists {
    /// Regular lists on a queue.
    Batched,
    /// Immediate lists.
    Immediate,
    /// Immediate lists, one for each thread.
    OfThreads,
}

/// `UR_L0_USE_IMMEDIATE_COMMANDLISTS`.
pub(crate) fn lists() -> Lists {
    *once!(
        Lists,
        match number("UR_L0_USE_IMMEDIATE_COMMANDLISTS") {
            None | Some(1) => Lists::Immediate,
            Some(2) => Lists::OfThreads,
            Some(_) => Lists::Batched,
        }
    )
}

/// `UR_L0_BATCH_SIZE`: commands of one regular list; 0 adapts to the device's pace.
pub(crate) fn batch() -> u32 {
    *once!(
        u32,
        u32::try_from(number("UR_L0_BATCH_SIZE").unwrap_or(0)).unwrap_or(0)
    )
}

/// `UR_L0_SERIALIZE`: 1 lets one thread at a time submit, 2 waits for each submission, 3 does both.
pub(crate) fn serialize() -> i64 {
    *once!(i64, number("UR_L0_SERIALIZE").unwrap_or(0))
}

/// `UR_L0_EAGER_INIT`: a queue creates all its command lists at once.
pub(crate) fn eager() -> bool {
    *once!(bool, number("UR_L0_EAGER_INIT").unwrap_or(0) != 0)
}

/// `UR_L0_LEAKS_DEBUG`: created and destroyed objects are counted and reported at exit.
pub(crate) fn leaks() -> bool {
    *once!(bool, number("UR_L0_LEAKS_DEBUG").unwrap_or(0) != 0)
}

/// `UR_L0_USE_COPY_ENGINE`: the first and last of the device's copy engines that are used; `None` for `0`.
pub(crate) fn copy_engines() -> Option<RangeInclusive<u32>> {
    once!(
        Option<RangeInclusive<u32>>,
        engines(text("UR_L0_USE_COPY_ENGINE").as_deref())
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
            // -1 means the last engine.
            let high = u32::try_from(high).unwrap_or(u32::MAX);
            (low <= high).then_some(low..=high)
        }
        None => (text.trim() != "0").then_some(0..=u32::MAX),
    }
}

/// `UR_L0_USE_COMPUTE_ENGINE`: the default compute engine of queues.
pub(crate) fn compute_engine() -> Option<u32> {
    *once!(
        Option<u32>,
        number("UR_L0_USE_COMPUTE_ENGINE").and_then(|index| u32::try_from(index).ok())
    )
}

/// Reads another variable; the caller caches it.
pub(crate) fn wish(name: &str) -> Option<String> {
    text(name)
}

/// The most lanes of one queue.
pub(crate) const MOST_LANES: usize = 16;

/// `SOLUM_SYCL_LANES`: how many command lists an out-of-order queue may use at once.
pub(crate) fn lanes() -> Option<usize> {
    *once!(Option<usize>, own("SOLUM_SYCL_LANES", 1, MOST_LANES).ok()?)
}

/// `SOLUM_SYCL_PAGE`: bytes of a page of buffers whose page size the program does not choose.
pub(crate) fn page() -> Option<usize> {
    *once!(Option<usize>, own("SOLUM_SYCL_PAGE", 1, usize::MAX).ok()?)
}

/// The highest level of [`crate::log`].
const MOST_SAID: usize = 3;

/// `SOLUM_SYCL_TRACE`: the level of [`crate::log`].
#[inline]
pub(crate) fn trace() -> usize {
    let read = || own("SOLUM_SYCL_TRACE", 0, MOST_SAID).ok().flatten();
    *once!(usize, read().unwrap_or(0))
}

/// Checks the values of our own variables.
///
/// # Errors
/// [`crate::Errc::Invalid`] with the first invalid variable, its value and the allowed values.
pub(crate) fn check() -> Result<()> {
    own("SOLUM_SYCL_LANES", 1, MOST_LANES)?;
    own("SOLUM_SYCL_PAGE", 1, usize::MAX)?;
    own("SOLUM_SYCL_TRACE", 0, MOST_SAID)?;
    Ok(())
}

/// Reads one of our own variables as a number; `None` if it is unset or empty.
fn own(name: &str, least: usize, most: usize) -> Result<Option<usize>> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    within(&value.to_string_lossy(), least, most).map_err(|allowed| {
        let value = value.to_string_lossy();
        Error::invalid(format!("{name}: `{value}` is not {allowed}"))
    })
}

/// Parses a number in a range; the error says what is allowed.
fn within(text: &str, least: usize, most: usize) -> std::result::Result<Option<usize>, String> {
    let number = text.trim().parse().ok();
    match number.filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None if most == usize::MAX => Err(format!("a number from {least} on")),
        None => Err(format!("a number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_variables_are_numbers_in_a_range() {
        let to = |most: usize| format!("a number from 1 to {most}");
        for (text, most, expected) in [
            ("1", 16, Ok(Some(1))),
            (" 16 ", 16, Ok(Some(16))),
            ("17", 16, Err(to(16))),
            ("0", 16, Err(to(16))),
            ("-1", 16, Err(to(16))),
            ("four", 16, Err(to(16))),
            ("1000000", usize::MAX, Ok(Some(1_000_000))),
            ("0", usize::MAX, Err("a number from 1 on".to_owned())),
        ] {
            assert_eq!(within(text, 1, most), expected, "{text}");
        }
    }

    /// `solum env` lists exactly the variables that this crate reads.
    #[test]
    fn the_table_lists_all_variables() {
        let table = include_str!("../environment.txt").lines();
        let lines = table.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let fields = lines.map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
        let mut listed = Vec::new();
        for fields in fields {
            assert_eq!(fields.len(), 5, "{fields:?}");
            listed.push(fields[0]);
        }
        let source = concat!(
            include_str!("enumeration.rs"),
            include_str!("environment.rs"),
            include_str!("reduction.rs"),
        );
        // Text between two quotation marks that looks like a name.
        let is_name = |text: &&str| {
            let mut bytes = text.bytes();
            text.contains('_')
                && bytes.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        };
        let mut read: Vec<&str> = source.split('"').filter(is_name).collect();
        for all in [&mut listed, &mut read] {
            all.sort_unstable();
            all.dedup();
        }
        assert_eq!(listed, read);
    }

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
