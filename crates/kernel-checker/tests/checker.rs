//! What the checker finds in scripted accesses: tables of scripts (`checker/script.rs` is their language) with the mistakes
//! in them.

#[path = "checker/script.rs"]
mod script;

#[path = "checker/attempt.rs"]
mod attempt;
#[path = "checker/host.rs"]
mod host;
#[path = "checker/limits.rs"]
mod limits;
#[path = "checker/memory.rs"]
mod memory;
#[path = "checker/order.rs"]
mod order;
#[path = "checker/random.rs"]
mod random;

use script::{STRICT, Setting, USUAL, found};

/// Scripts, each with its mistakes.
type Table = &'static [(&'static str, &'static [&'static str])];

fn check(setting: Setting, table: Table) {
    for (script, expected) in table {
        assert_eq!(found(setting, script), *expected, "{script}");
    }
}

const SUB_GROUPS: Setting = Setting {
    knows_sub_groups: true,
    ..USUAL
};
const STRICT_SUB_GROUPS: Setting = Setting {
    knows_sub_groups: true,
    ..STRICT
};

#[test]
fn work_items_of_a_group() {
    check(
        USUAL,
        &[
            ("0.0 write d0\n0.1 read d0", &["RaceOfWorkItems 2/1"]),
            ("0.0 read d0\n0.1 write d0", &["RaceOfWorkItems 2/1"]),
            (
                "0.0 write d0 = 1\n0.1 write d0 = 2",
                &["RaceOfWorkItems 2/1"],
            ),
            ("0.0 write l0\n0.1 read l0", &["RaceOfWorkItems 2/1"]),
            // Each mistake is told once.
            ("0.0 write d0\n0.1-7 read d0", &["RaceOfWorkItems 2/1"]),
            (
                "0.0 write d0\n0.1 read d0\n0.2 read d0",
                &["RaceOfWorkItems 2/1", "RaceOfWorkItems 3/1"],
            ),
            // Nobody writes, or one alone.
            ("0.0-7 read d0", &[]),
            ("0.0 write d0\n0.0 read d0\n0.0 write d0", &[]),
            // A barrier lies between.
            ("0.0 write d0\n0.1@1 read d0\n0.2@2 write d0", &[]),
            ("0.0-7 read l0\n0.3@1 write l0\n0.0-7@2 read l0", &[]),
            ("0.0@1 write d0\n0.1@1 read d0", &["RaceOfWorkItems 2/1"]),
            // The second of many reads.
            (
                "0.0 read d0\n0.1 read d0\n0.0 write d0",
                &["RaceOfWorkItems 3/2"],
            ),
            // Neighbours in one word, and accesses that overlap.
            ("0.0 write d0.1\n0.1 write d1.1\n0.2 read d2.2", &[]),
            ("0.0 write d0.2\n0.1 read d1.1", &["RaceOfWorkItems 2/1"]),
            ("0.0 write d0.16\n0.1 read d12", &["RaceOfWorkItems 2/1"]),
            ("0.0 write d0.16\n0.1 read d16", &[]),
            // Device and local memory are different places.
            ("0.0 write d0\n0.1 read l0", &[]),
        ],
    );
}

#[test]
fn groups_of_a_launch() {
    check(
        USUAL,
        &[
            ("0.0 write d0\n1.0 read d0", &["RaceOfGroups 2/1"]),
            ("0.3 read d0\n1.3 write d0", &["RaceOfGroups 2/1"]),
            // No barrier orders groups.
            ("0.0 write d0\n1.0@3 read d0", &["RaceOfGroups 2/1"]),
            // A later read of the writer's own group does not hide the other group's.
            (
                "0.0 read d0\n0.1 read d0\n1.0 read d0\n0.0 write d0",
                &["RaceOfGroups 4/3"],
            ),
            (
                "0.0 read d0\n1.0 read d0\n0.0 write d0",
                &["RaceOfGroups 3/2"],
            ),
            // Each group has its own local memory, though at one address.
            ("0.0 write l0\n1.1 read l0", &[]),
            (
                "0.0 write l0\n1.0 write l0\n1.1 read l0",
                &["RaceOfWorkItems 3/2"],
            ),
            // Launches of one list are ordered.
            ("0.0 write d0\nlaunch\n1.5 read d0", &[]),
            ("0.0 read d0\n1.0 read d0\nlaunch\n0.0 write d0", &[]),
        ],
    );
}

#[test]
fn sub_groups_in_lock_step() {
    // The kernel uses sub-groups: their work-items run in lock step, as on most devices.
    const READ_AFTER_WRITE: &str = "0.0 write l0\n0.1 read l0";
    check(
        SUB_GROUPS,
        &[
            (READ_AFTER_WRITE, &[]),
            ("0.1 read l0\n0.0 write l0", &[]),
            // Another sub-group.
            ("0.0 write l0\n0.4 read l0", &["RaceOfWorkItems 2/1"]),
            // One instruction writes twice: which value stays?
            (
                "0.0 write l0 = 1 #9\n0.1 write l0 = 2 #9",
                &["RaceOfWorkItems 9/9"],
            ),
            ("0.0 write l0 = 1\n0.1 write l0 = 2", &[]),
            ("0.0 write d0\n1.0 read d0", &["RaceOfGroups 2/1"]),
        ],
    );
    check(STRICT_SUB_GROUPS, &[(READ_AFTER_WRITE, &["LockStep 2/1"])]);
    check(USUAL, &[(READ_AFTER_WRITE, &["RaceOfWorkItems 2/1"])]);
}

#[test]
fn barriers_of_sub_groups() {
    const TABLE: Table = &[
        ("0.0 write l0\n0.1@0+1 read l0", &[]),
        ("0.0 write l0\n0.4@0+1 read l0", &["RaceOfWorkItems 2/1"]),
        // After a barrier of the group the count begins anew.
        ("0.0@0+1 write l0\n0.4@1 read l0", &[]),
    ];
    for (setting, kind) in [
        (STRICT, "RaceOfWorkItems 2/1"),
        (STRICT_SUB_GROUPS, "LockStep 2/1"),
        (USUAL, "RaceOfWorkItems 2/1"),
    ] {
        check(setting, TABLE);
        let no_barrier = "0.0@1+2 write l0\n0.1@1+2 read l0";
        assert_eq!(found(setting, no_barrier), [kind]);
    }
}

#[test]
fn atomics() {
    const TABLE: Table = &[
        (
            "0.0 update d0 device relaxed\n1.0 update d0 device relaxed",
            &[],
        ),
        (
            "0.0 update l0 work-group relaxed\n0.1 load l0 work-group relaxed",
            &[],
        ),
        // A scope that is too small.
        (
            "0.0 update d0 work-group relaxed\n1.0 update d0 work-group relaxed",
            &["AtomicScope 2/1"],
        ),
        (
            "0.0 update d0 device relaxed\n1.0 load d0 work-group relaxed",
            &["AtomicScope 2/1"],
        ),
        // Atomic and plain.
        (
            "0.0 write d0\n0.1 update d0 device relaxed",
            &["MixedAtomic 2/1"],
        ),
        (
            "0.0 update d0 device relaxed\n0.1 read d0",
            &["MixedAtomic 2/1"],
        ),
        ("0.0 load d0 device relaxed\n0.1 read d0", &[]),
        ("0.0 write d0\n0.1@1 update d0 device relaxed", &[]),
    ];
    check(USUAL, TABLE);
    check(STRICT, TABLE);
    // OpenCL C 1 has no scopes; compilers write the smallest.
    const OLD: &str = "0.0 update d0 work-group relaxed\n1.0 update d0 work-group relaxed";
    let old = |setting| Setting {
        has_old_atomics: true,
        ..setting
    };
    check(old(USUAL), &[(OLD, &[])]);
    check(old(STRICT), &[(OLD, &["AtomicScope 2/1"])]);
}

#[test]
fn writes_of_the_same_value() {
    const SAME: &str = "0.0 write d0 = 7\n0.1 write d0 = 7";
    const GROUPS: &str = "0.0 write d0 = 7\n1.0 write d0 = 7";
    check(
        USUAL,
        &[
            (SAME, &["SameValueWrite 2/1"]),
            (GROUPS, &["SameValueWrite 2/1"]),
            (
                "0.0 write d0.1 = 7\n0.1 write d0.1 = 7",
                &["SameValueWrite 2/1"],
            ),
            // Who reads may still read too early.
            ("0.0 write d0 = 7\n0.1 read d0", &["RaceOfWorkItems 2/1"]),
            (
                "0.0 write d0 = 7\n0.1 write d0 = 8",
                &["RaceOfWorkItems 2/1"],
            ),
            // A part of the word is another value.
            (
                "0.0 write d0 = 7\n0.1 write d2.2 = 7",
                &["RaceOfWorkItems 2/1"],
            ),
        ],
    );
    let mut allowed = USUAL;
    allowed.rules.allow_same_value = true;
    check(
        allowed,
        &[
            (SAME, &[]),
            (GROUPS, &[]),
            (
                "0.0 write d0 = 7\n0.1 write d0 = 8",
                &["RaceOfWorkItems 2/1"],
            ),
        ],
    );
}

#[test]
fn barriers_that_not_all_reach() {
    check(
        USUAL,
        &[
            ("0.0-7 arrive\n0.0-7@1 arrive\n0.0-7@2 leave", &[]),
            // Different barriers.
            ("0.0-3 arrive\n0.4-7 arrive", &["BarrierDivergence 1/2"]),
            // Some have ended.
            (
                "0.0-3 leave\n0.4-7 arrive\n0.4-7@1 leave",
                &["BarrierDivergence 2/0"],
            ),
            (
                "0.0-6 arrive\n0.7 leave\n0.0-6@1 leave",
                &["BarrierDivergence 1/0"],
            ),
            // Each group for itself.
            ("0.0-7 arrive\n0.0-7@1 leave\n1.0-7 leave", &[]),
            (
                "0.0-3 leave\n0.4-7 arrive\n0.4-7@1 leave\n1.0-7 leave",
                &["BarrierDivergence 2/0"],
            ),
            // They do not agree.
            ("0.0-7 arrive = 3", &[]),
            (
                "0.0-3 arrive = 3 #9\n0.4-7 arrive = 4 #9",
                &["NonUniformArgument 9/9"],
            ),
        ],
    );
}
