//! The tag of an entry of the map: kind of memory and device.

use ze_driver::device::MemoryKind;

/// Bits for the device in a tag, from bit 8 on.
const DEVICE: u64 = (1 << 40) - 1;

pub(super) fn pack(kind: MemoryKind, device: Option<usize>) -> u64 {
    let kind = match kind {
        MemoryKind::Host => 0,
        MemoryKind::Device => 1,
        MemoryKind::Shared => 2,
    };
    kind | (device.map_or(0, |device| device as u64 + 1) & DEVICE) << 8
}

pub(super) fn unpack(tag: u64) -> (MemoryKind, Option<usize>) {
    let kind = match tag & 0xf {
        0 => MemoryKind::Host,
        1 => MemoryKind::Device,
        _ => MemoryKind::Shared,
    };
    (
        kind,
        (tag >> 8 & DEVICE)
            .checked_sub(1)
            .map(|device| device as usize),
    )
}
