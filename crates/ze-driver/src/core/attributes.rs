//! Atomic access attributes of memory ranges. They are only stored for the getter: a CPU's atomics work everywhere.

use crate::check::{error, flags, lock, not_null};
use crate::core::context::Context;
use crate::core::device::Device;
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use ze_abi::{Handle, OptHandle, Out, ZeResult};
use ze_abi_macros::ze_entry;

/// Bits of `ze_memory_atomic_attr_exp_flags_t`.
const ATTRIBUTE_BITS: u32 = 0x7f;

/// Pairs of attributes that exclude each other.
const OPPOSITES: [(u32, u32); 4] = [
    (
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS,
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS
            | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS
            | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS,
    ),
    (
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS,
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS,
    ),
    (
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_DEVICE_ATOMICS,
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS,
    ),
    (
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_SYSTEM_ATOMICS,
        ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_SYSTEM_ATOMICS,
    ),
];

struct Range {
    start: usize,
    end: usize,
    /// Index of a device; none: all.
    device: Option<usize>,
    attribute: u32,
}

/// Attributes that programs set; the last range around an address counts.
#[derive(Default)]
pub(crate) struct Attributes {
    /// Number of ranges, so that a free needs no lock when there are none.
    count: AtomicUsize,
    all: Mutex<Vec<Range>>,
}

/// The attributes of this process.
pub(crate) static ATTRIBUTES: Attributes = Attributes {
    count: AtomicUsize::new(0),
    all: Mutex::new(Vec::new()),
};

impl Attributes {
    fn set(&self, range: Range) {
        let mut all = lock(&self.all);
        all.retain(|old| {
            let inside = range.start <= old.start && old.end <= range.end;
            !(inside && (range.device.is_none() || range.device == old.device))
        });
        if range.attribute != 0 {
            all.push(range);
        }
        self.count.store(all.len(), Ordering::Relaxed);
    }

    fn get(&self, address: usize, device: Option<usize>) -> u32 {
        let all = lock(&self.all);
        let holds = |range: &&Range| {
            (range.start..range.end).contains(&address)
                && (range.device.is_none() || device.is_none() || range.device == device)
        };
        all.iter()
            .rev()
            .find(holds)
            .map_or(0, |range| range.attribute)
    }

    /// Drops the attributes of memory that is freed.
    pub(crate) fn forget(&self, start: usize, size: u64) {
        if self.count.load(Ordering::Relaxed) != 0 {
            self.set(Range {
                start,
                end: start.saturating_add(size as usize),
                device: None,
                attribute: 0,
            });
        }
    }
}

/// Stores the attribute; core/memory.yml (1.7).
#[ze_entry(ze_pfnMemSetAtomicAccessAttributeExp_t)]
pub(crate) fn zeMemSetAtomicAccessAttributeExp(
    hContext: Handle<'_, Context>,
    hDevice: OptHandle<'_, Device>,
    ptr: *const c_void,
    size: usize,
    attr: ze_memory_atomic_attr_exp_flags_t,
) -> ZeResult {
    hContext.check()?;
    not_null("ptr", ptr)?;
    flags("attr", attr, ATTRIBUTE_BITS)?;
    if let Some((no, yes)) = OPPOSITES
        .iter()
        .find(|(no, yes)| attr & no != 0 && attr & yes != 0)
    {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "attr is {attr:#x}: {:#x} contradicts {:#x}, one of them is allowed",
                attr & no,
                attr & yes
            ),
        );
    }
    let start = ptr.addr();
    let Some(end) = start.checked_add(size).filter(|end| *end > start) else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "size is {size}, a range of at least 1 byte inside the address space is required"
            ),
        );
    };
    ATTRIBUTES.set(Range {
        start,
        end,
        device: hDevice.0.map(|device| device.index()),
        attribute: attr,
    });
    Ok(())
}

/// The last stored attribute, 0 if none; core/memory.yml (1.7).
#[ze_entry(ze_pfnMemGetAtomicAccessAttributeExp_t)]
pub(crate) fn zeMemGetAtomicAccessAttributeExp(
    hContext: Handle<'_, Context>,
    hDevice: OptHandle<'_, Device>,
    ptr: *const c_void,
    _size: usize,
    pAttr: Out<'_, ze_memory_atomic_attr_exp_flags_t>,
) -> ZeResult {
    hContext.check()?;
    not_null("ptr", ptr)?;
    let device = hDevice.0.map(|device| device.index());
    pAttr.write(ATTRIBUTES.get(ptr.addr(), device));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_attribute_of_an_address_and_device_counts() {
        let attributes = Attributes::default();
        let set = |start, end, device, attribute| {
            attributes.set(Range {
                start,
                end,
                device,
                attribute,
            });
        };
        set(100, 200, None, 1);
        set(150, 160, Some(1), 2);
        // (address, device, attribute)
        for (address, device, wanted) in [
            (100, Some(0), 1),
            (155, Some(0), 1),
            (155, Some(1), 2),
            (155, None, 2),
            (199, None, 1),
            (200, None, 0),
            (99, None, 0),
        ] {
            assert_eq!(
                attributes.get(address, device),
                wanted,
                "{address} {device:?}"
            );
        }
        set(150, 160, Some(1), 0);
        assert_eq!(attributes.get(155, Some(1)), 1);
        attributes.forget(100, 100);
        assert_eq!(attributes.get(150, None), 0);
        assert_eq!(attributes.count.load(Ordering::Relaxed), 0);
    }
}
