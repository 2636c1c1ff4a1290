//! Text for positions in a launch: work-items by their global ids, work-groups as the host counts them.

use kernel_ir::abi::Launch;

/// The global id of work-item `item` of group `group`, both linear, in the launch as it runs.
pub(crate) fn item(launch: &Launch, group: u64, item: u64) -> [u64; 3] {
    let size = launch.group_size.map(|n| u64::from(n).max(1));
    let group = split(group, launch.group_count);
    let local = split(item, launch.group_size);
    [0, 1, 2].map(|d| launch.global_offset[d] + group[d] * size[d] + local[d])
}

/// Converts a linear index to coordinates in a box of `sides`.
fn split(at: u64, sides: [u32; 3]) -> [u64; 3] {
    let [x, y, _] = sides.map(|n| u64::from(n).max(1));
    [at % x, at / x % y, at / x / y]
}

/// The size of the host's groups, `joined` of which run as one.
fn host_size(launch: &Launch, joined: u32) -> [u64; 3] {
    let [x, y, z] = launch.group_size;
    [x / joined.max(1), y, z].map(|n| u64::from(n).max(1))
}

/// A work-item by its global id.
pub(crate) fn of_item(launch: &Launch, joined: u32, item: [u64; 3]) -> String {
    let size = host_size(launch, joined);
    if size == [1; 3] {
        return format!("in work-item {item:?}");
    }
    let group = [0, 1, 2].map(|d| item[d].saturating_sub(launch.global_offset[d]) / size[d]);
    format!("in work-item {item:?} of work-group {group:?}")
}

/// One of the work-items of `count` groups from `first` on, as they run: the text is the box around all of them.
pub(crate) fn of_groups(launch: &Launch, joined: u32, first: u64, count: u64) -> String {
    let size = host_size(launch, joined);
    let run = u64::from(joined.max(1));
    let mut count_of = launch.group_count;
    count_of[0] = count_of[0].saturating_mul(joined.max(1));
    let from = split(first * run, count_of);
    let to = split((first + count.max(1)) * run - 1, count_of);
    if from == to && size == [1; 3] {
        return of_item(
            launch,
            joined,
            [0, 1, 2].map(|d| from[d] + launch.global_offset[d]),
        );
    }
    // Groups of different rows: all groups of both rows and of those between.
    let (mut low, mut high) = (from, to);
    for d in 0..2 {
        if (d + 1..3).any(|above| from[above] != to[above]) {
            low[d] = 0;
            high[d] = u64::from(count_of[d]).max(1) - 1;
        }
    }
    let low = [0, 1, 2].map(|d| launch.global_offset[d] + low[d] * size[d]);
    let high = [0, 1, 2].map(|d| launch.global_offset[d] + (high[d] + 1) * size[d] - 1);
    let groups = if from == to {
        format!("of work-group {from:?}")
    } else {
        format!("of work-groups {from:?} to {to:?}")
    };
    format!("in one of the work-items between {low:?} and {high:?} {groups}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_items_are_reported_as_exactly_as_known() {
        let launch = |size, count, offset| Launch {
            group_size: size,
            group_count: count,
            global_offset: offset,
            ..Launch::default()
        };
        let line = launch([64, 1, 1], [10, 1, 1], [0; 3]);
        let one = launch([1, 1, 1], [10, 2, 1], [5, 0, 0]);
        let plane = launch([8, 4, 1], [10, 10, 1], [100, 0, 0]);
        // Two of the host's groups of 32 run as one.
        let pairs = launch([64, 1, 1], [5, 1, 1], [0; 3]);
        let cube = launch([2, 2, 2], [3, 3, 3], [0; 3]);
        for (launch, joined, first, count, wanted) in [
            (
                &line,
                1,
                2,
                1,
                "in one of the work-items between [128, 0, 0] and [191, 0, 0] of work-group [2, 0, 0]",
            ),
            (
                &line,
                1,
                2,
                3,
                "in one of the work-items between [128, 0, 0] and [319, 0, 0] of work-groups [2, 0, 0] to [4, 0, 0]",
            ),
            (&one, 1, 13, 1, "in work-item [8, 1, 0]"),
            (
                &one,
                1,
                8,
                4,
                "in one of the work-items between [5, 0, 0] and [14, 1, 0] of work-groups [8, 0, 0] to [1, 1, 0]",
            ),
            (
                &plane,
                1,
                9,
                12,
                "in one of the work-items between [100, 0, 0] and [179, 11, 0] of work-groups [9, 0, 0] to [0, 2, 0]",
            ),
            (
                &pairs,
                2,
                1,
                1,
                "in one of the work-items between [64, 0, 0] and [127, 0, 0] of work-groups [2, 0, 0] to [3, 0, 0]",
            ),
            (
                &cube,
                1,
                4,
                9,
                "in one of the work-items between [0, 0, 0] and [5, 5, 3] of work-groups [1, 1, 0] to [0, 1, 1]",
            ),
        ] {
            assert_eq!(of_groups(launch, joined, first, count), wanted);
        }
        let within = of_item(&pairs, 2, [70, 0, 0]);
        assert_eq!(within, "in work-item [70, 0, 0] of work-group [2, 0, 0]");
        assert_eq!(item(&plane, 13, 9), [125, 5, 0]);
        assert_eq!(item(&cube, 26, 7), [5, 5, 5]);
    }
}
