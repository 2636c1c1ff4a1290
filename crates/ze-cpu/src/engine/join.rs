//! Joins work-groups of a row into one, for kernels that cannot tell the difference ([`kernel_ir::abi::KernelInfo::row`]).
//! Groups with fewer work-items than run side by side would run one work-item after another.

/// Our compiler makes no longer rows.
const MOST_ROW: u32 = 64;
/// Rows of this many times the lanes leave few work-items over, which run one after another.
const LONG: u32 = 16;
/// Rows longer by this factor gain nothing.
const LONGEST: u32 = 2 * LONG;

/// How many groups to run as one, of a row of `groups` with `size` work-items each, if `row` work-items run side by
/// side: a divisor of `groups`, at most `most`. 1 if joining gains nothing, and if `row` is 0.
pub(super) fn joined(row: u32, size: u32, groups: u32, most: u32) -> u32 {
    let has_row = (1..=MOST_ROW).contains(&row);
    if !has_row || groups <= 1 || size > LONGEST * row || size.is_multiple_of(row) {
        return 1;
    }
    // The fewest that leave no work-item over.
    let least = row >> row.trailing_zeros().min(size.trailing_zeros());
    if least <= most && groups.is_multiple_of(least) {
        return least;
    }
    // Or rows that are long enough for few to be left over.
    let (shortest, longest) = match size >= 2 * row {
        true => (LONG * row, 4 * LONG * row),
        false => (row, 8 * row),
    };
    let fewest = shortest.div_ceil(size);
    let most = longest.div_ceil(size).min(most);
    (fewest..=most)
        .find(|&count| groups.is_multiple_of(count))
        .unwrap_or(1)
}

/// The most groups to join, so that of `total` groups each of the `threads` gets several.
pub(super) fn most(total: u64, threads: usize) -> u32 {
    let parts = match threads as u64 {
        0 | 1 => 1,
        threads => threads.saturating_mul(4),
    };
    u32::try_from(total / parts).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::{joined, most};

    #[test]
    fn groups_join_to_rows_that_run_side_by_side_and_none_is_left_over() {
        for (row, size, groups, expected) in [
            (0, 8, 100, 1),
            (16, 16, 100, 1),
            (16, 256, 100, 1),
            (16, 8, 1, 1),
            (16, 8, 8192, 2),
            (16, 1, 1 << 20, 16),
            (16, 24, 10, 2),
            // 16 does not divide 1000: rows of 20.
            (16, 1, 1000, 20),
            (16, 8, 3, 3),
            // A prime number has no other divisors.
            (16, 1, 1009, 1),
            (16, 1, 13, 1),
            (16, 1, 17, 17),
            // There are too few of them for a row of which few are left over.
            (16, 40, 3, 1),
            (16, 250, 1000, 8),
            (16, 250, 999, 3),
            (32, 400, 625, 5),
            (32, 400, 7, 1),
            (16, 1000, 1000, 1),
            (8, 3, 64, 8),
            (16, u32::MAX, u32::MAX, 1),
            (32, 1, u32::MAX, 51),
        ] {
            let count = joined(row, size, groups, groups);
            assert_eq!(count, expected, "{row} {size} {groups}");
            assert_eq!(groups % count, 0);
        }
    }

    #[test]
    fn threads_that_may_share_a_launch_get_several_groups_each() {
        // (groups in all, threads) -> most
        for (total, threads, expected) in [
            (16, 1, 16),
            (16, 2, 2),
            (0, 8, 1),
            (128, 64, 1),
            (1 << 20, 64, 4096),
            (u64::MAX, 2, u32::MAX),
            (9, usize::MAX, 1),
        ] {
            assert_eq!(most(total, threads), expected, "{total} {threads}");
        }
        // Work-groups of one work-item, as heavy as that may be, stay as many as threads can share.
        assert_eq!(joined(16, 1, 16, most(16, 2)), 1);
        assert_eq!(joined(16, 1, 100, most(100, 2)), 1);
        assert_eq!(joined(16, 8, 8192, most(8192, 2)), 2);
        assert_eq!(joined(16, 1, 1000, most(1000, 2)), 20);
        assert_eq!(joined(16, 1, 1000, most(1000, 64)), 1);
    }
}
