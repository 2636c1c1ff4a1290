//! The allocation nearest to a bad address, for the texts of faults.

use super::map::{Map, PAGE};
use super::tag::unpack;
use std::sync::atomic::{AtomicPtr, Ordering};
use ze_driver::device::MemoryKind;

/// The farthest distance of an allocation that a text names.
const REACH: u64 = 1 << 30;

/// The map of the platform's memory. Maps are never freed.
static MAP: AtomicPtr<Map> = AtomicPtr::new(std::ptr::null_mut());

/// Texts name allocations of `map` from now on.
pub(super) fn describe_with(map: &'static Map) {
    MAP.store(std::ptr::from_ref(map).cast_mut(), Ordering::Release);
}

/// Whether an allocation, mapped memory or what lies right beside it is at `address`.
pub(crate) fn is_near(address: usize) -> bool {
    // SAFETY: null, or a map that lives forever.
    let map = unsafe { MAP.load(Ordering::Acquire).as_ref() };
    map.is_none_or(|map| map.nearest(address, 1).is_some())
}

/// The position of `address` relative to the nearest allocation.
pub(crate) fn near(address: usize) -> String {
    // SAFETY: null, or a map that lives forever.
    let map = unsafe { MAP.load(Ordering::Acquire).as_ref() };
    let Some(entry) = map.and_then(|map| map.nearest(address, REACH / PAGE)) else {
        return "no allocation is near".to_owned();
    };
    let kind = match unpack(entry.tag).0 {
        MemoryKind::Host => "host",
        MemoryKind::Device => "device",
        MemoryKind::Shared => "shared",
    };
    let end = entry.base + entry.size as usize;
    let place = if address < entry.base {
        format!("{} bytes before", entry.base - address)
    } else if address >= end {
        format!("{} bytes after the end of", address - end)
    } else {
        format!("{} bytes into", address - entry.base)
    };
    format!(
        "{place} the {kind} allocation of {} bytes at {:#x}",
        entry.size, entry.base
    )
}
