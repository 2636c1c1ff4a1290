//! Whether a faulting address is the end of the stack.

/// How far below its stack an overflow reaches: compiled code touches each page.
const REACH: usize = 64 << 10;
/// The largest stack that is searched for.
const LARGEST: usize = 1 << 30;

/// Whether the faulting `address` is just below the caller's stack. Reads `/proc/self/maps` if possible.
#[cold]
pub(super) fn is_below_stack(address: usize) -> bool {
    let here = 0u8;
    let here = std::ptr::from_ref(&here) as usize;
    if address >= here || here - address > LARGEST {
        return false;
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let stack = maps.lines().find_map(|line| {
        let (from, rest) = line.split_once('-')?;
        let from = usize::from_str_radix(from, 16).ok()?;
        let to = usize::from_str_radix(rest.split(' ').next()?, 16).ok()?;
        (from..to).contains(&here).then_some(from)
    });
    stack.is_some_and(|from| (from.saturating_sub(REACH)..from).contains(&address))
}
