//! Copies and fills, in blocks that workers can share.

use crate::fault::{Fault, Guard};
use ze_driver::device::{RegionCopy, Work};

/// Below this many bytes one thread is faster than two.
const SHARED_FROM: u64 = 4 << 20;
/// Bytes of a block.
const BLOCK: u64 = 1 << 20;
/// Bytes of the pattern's repetition that fills are copied from; stays in the first cache.
const TILE: usize = 4096;

/// The number of blocks of `work`; 1 if one thread does it all.
pub(super) fn blocks(work: &Work) -> u64 {
    match work {
        &Work::Copy { dst, src, len } => {
            let apart = (dst as usize).abs_diff(src as usize) as u64 >= len;
            // Overlapping ranges have an order.
            if len < SHARED_FROM || !apart {
                1
            } else {
                len.div_ceil(BLOCK)
            }
        }
        Work::Fill { len, pattern, .. } => {
            if *len < SHARED_FROM {
                1
            } else {
                len.div_ceil(fill_block(pattern.len()))
            }
        }
        Work::CopyRegion(region) => {
            let rows = rows(region);
            let bytes = rows.saturating_mul(region.width);
            if bytes < SHARED_FROM {
                1
            } else {
                rows.div_ceil(rows_per_block(region))
            }
        }
        _ => 1,
    }
}

/// Bytes of `count` blocks of `work` from block `first` on.
pub(super) fn bytes(work: &Work, first: u64, count: u64) -> u64 {
    let of = |unit: u64, len: u64| {
        let (from, to) = span(unit, first, count, len);
        to - from
    };
    match work {
        &Work::Copy { len, .. } if blocks(work) == 1 => len,
        &Work::Copy { len, .. } => of(BLOCK, len),
        Work::Fill { len, .. } if blocks(work) == 1 => *len,
        Work::Fill { len, pattern, .. } => of(fill_block(pattern.len()), *len),
        Work::CopyRegion(region) => {
            let all = rows(region);
            let here = if blocks(work) == 1 {
                all
            } else {
                of(rows_per_block(region), all)
            };
            here.saturating_mul(row_bytes(region))
        }
        _ => 0,
    }
}

/// Does `count` blocks of `work` from block `first` on.
pub(super) fn run(guard: &Guard, work: &Work, first: u64, count: u64) -> Result<(), String> {
    match work {
        &Work::Copy { dst, src, len } => {
            let (at, end) = if blocks(work) == 1 {
                (0, len)
            } else {
                span(BLOCK, first, count, len)
            };
            let (to, from) = (dst.wrapping_add(at as usize), src.wrapping_add(at as usize));
            guard
                .move_bytes(to, from, (end - at) as usize)
                .map_err(|fault| named("copy", dst, src, len, &fault))?;
            crate::check::copied(to, from, end - at);
            Ok(())
        }
        Work::Fill { dst, pattern, len } => {
            let (at, end) = if blocks(work) == 1 {
                (0, *len)
            } else {
                span(fill_block(pattern.len()), first, count, *len)
            };
            let to = dst.wrapping_add(at as usize);
            fill(guard, to, pattern, end - at)
                .map_err(|fault| format!("fill of {len} bytes at {dst:?}: {fault}"))?;
            crate::check::written(to, end - at);
            Ok(())
        }
        Work::CopyRegion(region) => {
            let rows = rows(region);
            let (at, end) = if blocks(work) == 1 {
                (0, rows)
            } else {
                span(rows_per_block(region), first, count, rows)
            };
            for row in at..end {
                copy_row(guard, region, row).map_err(|fault| {
                    let bytes = rows.saturating_mul(region.width);
                    named("region copy", region.dst, region.src, bytes, &fault)
                })?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn named(what: &str, dst: *mut u8, src: *const u8, len: u64, fault: &Fault) -> String {
    format!("{what} of {len} bytes from {src:?} to {dst:?}: {fault}")
}

/// The bounds of blocks `first..first + count` of `unit`.
fn span(unit: u64, first: u64, count: u64, len: u64) -> (u64, u64) {
    let begin = first.saturating_mul(unit).min(len);
    let end = first.saturating_add(count).saturating_mul(unit).min(len);
    (begin, end)
}

fn fill_block(pattern: usize) -> u64 {
    // A multiple of the pattern, so that each block begins with its first byte.
    let pattern = pattern.max(1) as u64;
    BLOCK.div_ceil(pattern).saturating_mul(pattern)
}

fn fill(guard: &Guard, dst: *mut u8, pattern: &[u8], len: u64) -> Result<(), Fault> {
    let Ok(len) = usize::try_from(len) else {
        return guard.set_bytes(dst, 0, usize::MAX);
    };
    let uniform = pattern.windows(2).all(|pair| pair[0] == pair[1]);
    match pattern {
        [] => Ok(()),
        [value, ..] if uniform => guard.set_bytes(dst, *value, len),
        _ => {
            let mut tile = [0u8; TILE];
            let source: &[u8] = if pattern.len() > TILE / 2 {
                pattern
            } else {
                let whole = TILE / pattern.len() * pattern.len();
                for part in tile[..whole].chunks_exact_mut(pattern.len()) {
                    part.copy_from_slice(pattern);
                }
                &tile[..whole]
            };
            let mut at = 0;
            while at < len {
                let part = source.len().min(len - at);
                guard.move_bytes(dst.wrapping_add(at), source.as_ptr(), part)?;
                at += part;
            }
            Ok(())
        }
    }
}

fn rows(region: &RegionCopy) -> u64 {
    if contiguous(region) {
        region.slices
    } else {
        region.rows.saturating_mul(region.slices)
    }
}

/// Rows of a slice are contiguous on both sides, so a slice is one row.
fn contiguous(region: &RegionCopy) -> bool {
    region.rows <= 1 || (region.dst_pitch == region.width && region.src_pitch == region.width)
}

fn row_bytes(region: &RegionCopy) -> u64 {
    if contiguous(region) {
        region.width.saturating_mul(region.rows)
    } else {
        region.width
    }
}

fn rows_per_block(region: &RegionCopy) -> u64 {
    (BLOCK / row_bytes(region).max(1)).max(1)
}

fn copy_row(guard: &Guard, region: &RegionCopy, row: u64) -> Result<(), Fault> {
    let (slice, row) = if contiguous(region) {
        (row, 0)
    } else {
        (row / region.rows, row % region.rows)
    };
    let offset = |slice_pitch: u64, pitch: u64| {
        slice
            .wrapping_mul(slice_pitch)
            .wrapping_add(row.wrapping_mul(pitch)) as usize
    };
    let to = region
        .dst
        .wrapping_add(offset(region.dst_slice_pitch, region.dst_pitch));
    let from = region
        .src
        .wrapping_add(offset(region.src_slice_pitch, region.src_pitch));
    guard.move_bytes(to, from, row_bytes(region) as usize)?;
    crate::check::copied(to, from, row_bytes(region));
    Ok(())
}
