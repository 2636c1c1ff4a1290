//! Rows: accesses by neighbouring work-items at regular distances. Most accesses of most kernels are of this form.

use super::access::Access;
use super::line::{LINE, Pattern};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Of lane 0.
    pub(crate) offset: u64,
    /// Bytes from lane to lane: a power of two up to a line.
    pub(crate) step: u64,
    /// Bytes that each accesses.
    pub(crate) size: u32,
    /// A bit for each lane that takes part.
    pub(crate) active: u64,
    /// By lane 0.
    pub(crate) first: Access,
    pub(crate) writes: bool,
}

impl Row {
    /// Its parts: numbers of lines, patterns and bytes; `None` if an access crosses the places of lanes.
    #[inline(always)]
    pub(super) fn parts(&self) -> Option<impl Iterator<Item = (u64, Pattern, u64)>> {
        let Self { step, active, .. } = *self;
        // The step is a power of two.
        let within = self.offset & step.wrapping_sub(1);
        if active == 0 || within + u64::from(self.size) > step {
            return None;
        }
        let shift = step.trailing_zeros();
        let ones = u64::MAX >> (u64::BITS - self.size.clamp(1, 64));
        let bytes = ones << within;
        let start = self.offset - within;
        let last = start + (u64::from(63 - active.leading_zeros()) << shift);
        let item = self.first.cell.item().cast_signed();
        let pattern = Pattern {
            cell: self.first.cell.without_item(),
            item,
            site: self.first.site,
            shift: shift as u8,
            writes: self.writes,
        };
        let most = u64::MAX >> (64 - (LINE >> shift));
        // All lanes up to one: the bytes are known without looking at the lanes.
        let end = start + (u64::from(active.trailing_ones()) << shift);
        let is_dense = active & active.wrapping_add(1) == 0;
        let of_all = STARTS[(shift & 7) as usize].wrapping_mul(bytes);
        let parts = (start / LINE..last / LINE + 1).map(move |line| {
            let first = line * LINE;
            let (lanes, skipped) = match first.checked_sub(start) {
                Some(skipped) => (active >> (skipped >> shift), (skipped >> shift) as i32),
                None => {
                    let before = (start - first) >> shift;
                    (active << before, -(before as i32))
                }
            };
            let mask = if is_dense {
                let from = start.saturating_sub(first);
                let behind = (first + LINE).saturating_sub(end);
                of_all & u64::MAX << from & u64::MAX >> behind
            } else {
                spread(lanes & most, shift).wrapping_mul(bytes)
            };
            let item = item + skipped;
            (line, Pattern { item, ..pattern }, mask)
        });
        Some(parts)
    }
}

/// A bit for the first byte of each lane, by the logarithm of the step.
const STARTS: [u64; 8] = [
    u64::MAX,
    u64::MAX / 0x3,
    u64::MAX / 0xf,
    u64::MAX / 0xff,
    u64::MAX / 0xffff,
    u64::MAX / 0xffff_ffff,
    1,
    0,
];

/// Moves each bit to two to the `shift` times its place.
#[inline(always)]
fn spread(mut bits: u64, shift: u32) -> u64 {
    for _ in 0..shift {
        bits &= 0xffff_ffff;
        bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
        bits = (bits | bits << 8) & 0x00ff_00ff_00ff_00ff;
        bits = (bits | bits << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333;
        bits = (bits | bits << 1) & 0x5555_5555_5555_5555;
    }
    bits
}
