//! Random scripts: a word has a race in the checker's eyes exactly if two of all accesses to it race.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::script::{self, DEVICE, LOCAL, SUB_GROUP, Setting, USUAL};

#[derive(Clone, Copy)]
struct Access {
    group: u32,
    item: u32,
    barriers: u32,
    sub_group_barriers: u32,
    is_local: bool,
    word: u32,
    writes: bool,
}

impl Access {
    /// Whether nothing orders two accesses of one word, by the definition.
    fn races(self, other: Self) -> bool {
        let same_place = self.is_local == other.is_local && self.word == other.word;
        if !same_place || !(self.writes || other.writes) {
            return false;
        }
        if self.group != other.group {
            return !self.is_local;
        }
        let same_sub_group = self.item / SUB_GROUP == other.item / SUB_GROUP;
        self.item != other.item
            && self.barriers == other.barriers
            && !(same_sub_group && self.sub_group_barriers != other.sub_group_barriers)
    }
}

/// Groups one after another; in each the work-items one after another up to each barrier, of the group or the sub-group.
fn accesses(random: &mut impl FnMut(u32) -> u32) -> Vec<Access> {
    let mut all = Vec::new();
    let words = 1 + random(6);
    let most = 1 + random(3);
    for group in 0..1 + random(3) {
        for barriers in 0..1 + random(3) {
            for sub_group in 0..2 {
                for sub_group_barriers in 0..1 + random(3) {
                    for item in 0..SUB_GROUP {
                        for _ in 0..random(most + 1) {
                            all.push(Access {
                                group,
                                item: sub_group * SUB_GROUP + item,
                                barriers,
                                sub_group_barriers,
                                is_local: random(2) == 0,
                                word: random(words),
                                writes: random(3) == 0,
                            });
                        }
                    }
                }
            }
        }
    }
    all
}

#[test]
fn a_race_is_found_exactly_where_there_is_one() {
    let mut state = 7u64;
    let mut random = |below: u32| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as u32 % below
    };
    let mut with_races = 0;
    for _ in 0..3000 {
        let all = accesses(&mut random);
        let mut script = String::new();
        for one in &all {
            let action = if one.writes { "write" } else { "read" };
            let memory = if one.is_local { "l" } else { "d" };
            let _ = writeln!(
                script,
                "{}.{}@{}+{} {action} {memory}{}",
                one.group,
                one.item,
                one.barriers,
                one.sub_group_barriers,
                one.word * 4
            );
        }
        if all.is_empty() {
            continue;
        }
        let mut expected = BTreeSet::new();
        for (index, one) in all.iter().enumerate() {
            let races = all[..index].iter().any(|other| one.races(*other));
            if races {
                expected.insert((one.is_local, one.word));
            }
        }
        let found = found_words(USUAL, &script);
        assert_eq!(found, expected, "{script}");
        with_races += usize::from(!expected.is_empty());
    }
    assert!(with_races > 500, "{with_races}");
}

/// The words with a race.
fn found_words(setting: Setting, script: &str) -> BTreeSet<(bool, u32)> {
    let world = script::played(setting, script);
    let mistakes = script::lock(&world.mistakes);
    let places = mistakes.iter().map(|mistake| {
        let place = mistake.place.expect("of a race");
        let is_local = place.start == LOCAL;
        assert!(is_local || place.start == DEVICE);
        (is_local, place.offset as u32 / 4)
    });
    places.collect()
}
