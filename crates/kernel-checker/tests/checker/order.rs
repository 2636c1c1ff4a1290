//! Release and acquire, through atomics and fences.

use super::script::{STRICT, USUAL};
use super::{Table, check};

/// Right in both modes, or wrong in both.
const TABLE: Table = &[
    // A flag.
    (
        "0.0 write d4\n0.0 store d0 device release\n1.0 load d0 device acquire\n1.0 read d4",
        &[],
    ),
    (
        "0.0 write d4\n0.0 store d0 device relaxed\n1.0 load d0 device acquire\n1.0 read d4",
        &["RaceOfGroups 4/1"],
    ),
    // What comes after the release is not covered.
    (
        "0.0 store d0 device release\n0.0 write d4\n1.0 load d0 device acquire\n1.0 read d4",
        &["RaceOfGroups 4/2"],
    ),
    // Nor what another work-item did without a barrier before it; with one it is.
    (
        "0.1 write d4\n0.0 store d0 device release\n1.0 load d0 device acquire\n1.0 read d4",
        &["RaceOfGroups 4/1"],
    ),
    (
        "0.1 write d4\n0.0@1 store d0 device release\n1.0 load d0 device acquire\n1.0 read d4",
        &[],
    ),
    // Another work-item of the acquiring group needs a barrier, too.
    (
        "0.0 write d4\n0.0 store d0 device release\n1.0 load d0 device acquire\n1.1 read d4",
        &["RaceOfGroups 4/1"],
    ),
    (
        "0.0 write d4\n0.0 store d0 device release\n1.0 load d0 device acquire\n1.1@1 read d4",
        &[],
    ),
    // Another flag.
    (
        "0.0 write d4\n0.0 store d0 device release\n1.0 load d8 device acquire\n1.0 read d4",
        &["RaceOfGroups 4/1"],
    ),
    // A read before the other group's write.
    (
        "0.0 read d4\n0.0 store d0 device release\n1.0 load d0 device acquire\n1.0 write d4",
        &[],
    ),
    // Look-back: group 2 knows of group 0 through group 1.
    (
        "0.0 write d16\n0.0 store d0 device release
         1.0 load d0 device acquire\n1.0 write d20\n1.0 store d4 device release
         2.0 load d4 device acquire\n2.0 read d16\n2.0 read d20",
        &[],
    ),
    (
        "0.0 write d16\n0.0 store d0 device release
         1.0 write d20\n1.0 store d4 device release
         2.0 load d4 device acquire\n2.0 read d16\n2.0 read d20",
        &["RaceOfGroups 6/1"],
    ),
    // A lock: taken and released by one group after another.
    (
        "0.0 update d0 device acquire\n0.0 read d4\n0.0 write d4\n0.0 store d0 device release
         1.3 update d0 device acquire\n1.3 read d4\n1.3 write d4\n1.3 store d0 device release
         2.0 update d0 device acquire\n2.0 read d4\n2.0 write d4\n2.0 store d0 device release",
        &[],
    ),
    // Work-items of one group take it, too.
    (
        "0.0 update d0 device acquire\n0.0 write d4\n0.0 store d0 device release
         0.1 update d0 device acquire\n0.1 write d4\n0.1 store d0 device release",
        &[],
    ),
    (
        "0.0 update d0 device acquire\n0.0 write d4 = 1\n0.0 store d0 device relaxed
         1.0 update d0 device acquire\n1.0 write d4 = 2\n1.0 store d0 device relaxed",
        &["RaceOfGroups 5/2"],
    ),
    // Tickets: each update reads what the one before released.
    (
        "0.0 write d4\n0.0 update d0 device acq-rel\n1.0 update d0 device acq-rel\n2.0 update d0 device acq-rel\n2.0 read d4",
        &[],
    ),
    // A relaxed update between keeps what was released.
    (
        "0.0 write d4\n0.0 store d0 device release\n1.0 update d0 device relaxed\n2.0 load d0 device acquire\n2.0 read d4",
        &[],
    ),
    // The last group: all write, fence, and count; who counts last reads.
    (
        "0.0 write d16\n0.5 write d20\n0.0-7 fence device acq-rel\n0.0@1 update d0 device relaxed
         1.0 write d24\n1.0-7 fence device acq-rel\n1.0@1 update d0 device relaxed\n1.0@1 fence device acq-rel
         1.0@1 read d16\n1.6@2 read d20",
        &[],
    ),
    // Without the fences.
    (
        "0.3 write d16\n0.0@1 update d0 device relaxed\n1.0@1 update d0 device relaxed\n1.0@2 read d16",
        &["RaceOfGroups 4/1"],
    ),
    // Fences around a relaxed flag.
    (
        "0.0 write d4\n0.0 fence device release\n0.0 store d0 device relaxed
         1.0 load d0 device relaxed\n1.0 fence device acquire\n1.0 read d4",
        &[],
    ),
    // Accesses between the fence and the store are not covered.
    (
        "0.0 fence device release\n0.0 write d4\n0.0 store d0 device relaxed
         1.0 load d0 device acquire\n1.0 read d4",
        &["RaceOfGroups 5/2"],
    ),
    (
        "0.0 write d4\n0.0 fence device release\n0.0 store d0 device relaxed\n0.0 write d8
         0.0 fence device release\n0.0 store d0 device relaxed
         1.0 load d0 device acquire\n1.0 read d4\n1.0 read d8",
        &[],
    ),
    // A release of the past covers more than a fence before it, and still does after another store.
    (
        "0.0 fence device release\n0.0 write d4\n0.0 store d0 device release\n0.0 store d0 device relaxed
         1.0 load d0 device acquire\n1.0 read d4",
        &[],
    ),
    // A fence of the work-group is none for another group.
    (
        "0.0 write d4\n0.0 fence work-group release\n0.0 store d0 device relaxed
         1.0 load d0 device relaxed\n1.0 fence device acquire\n1.0 read d4",
        &["RaceOfGroups 6/1"],
    ),
];

#[test]
fn release_and_acquire() {
    check(USUAL, TABLE);
    check(STRICT, TABLE);
}

#[test]
fn relaxed_reads_acquire_unless_strict() {
    const RELAXED: &str =
        "0.0 write d4\n0.0 store d0 device release\n1.0 load d0 device relaxed\n1.0 read d4";
    check(USUAL, &[(RELAXED, &[])]);
    check(STRICT, &[(RELAXED, &["RaceOfGroups 4/1"])]);
}

/// As the last group of the table, but all of it fence behind the barrier.
const ALL_FENCE: Table = &[(
    "0.0 write d16\n0.0 fence device acq-rel\n0.0@1 update d0 device relaxed
     1.0@1 update d0 device relaxed\n1.0-7@2 fence device acq-rel\n1.0@2 read d16\n1.6@2 read d16",
    &[],
)];

#[test]
fn fences_of_all_work_items() {
    check(USUAL, ALL_FENCE);
}

#[test]
fn fences_of_all_work_items_strictly() {
    check(STRICT, ALL_FENCE);
}

/// A flag between work-items of one group.
const IN_A_GROUP: Table = &[
    (
        "0.0 write l4\n0.0 store l0 work-group release\n0.1 load l0 work-group acquire\n0.1 read l4",
        &[],
    ),
    (
        "0.0 write d4\n0.0 store d0 work-group release\n0.1 load d0 work-group acquire\n0.1 read d4",
        &[],
    ),
];

#[test]
fn a_flag_of_the_work_group() {
    check(USUAL, IN_A_GROUP);
}

#[test]
fn a_flag_of_the_work_group_strictly() {
    check(STRICT, IN_A_GROUP);
}

/// The same flag, relaxed, between fences of the group.
const FENCES_IN_A_GROUP: Table = &[(
    "0.0 write l4\n0.0 fence work-group release\n0.0 store l0 work-group relaxed
     0.1 load l0 work-group relaxed\n0.1 fence work-group acquire\n0.1 read l4",
    &[],
)];

#[test]
fn fences_of_the_work_group() {
    check(USUAL, FENCES_IN_A_GROUP);
    check(STRICT, FENCES_IN_A_GROUP);
}
