//! Which work-items of a group have reached which barrier.

use std::collections::{BTreeMap, HashMap};

/// Operations of a work-item between two barriers, at one place, whose values are compared. Not measured: a bound on memory.
const MOST_AGREEMENTS: usize = 1024;

/// A work-item at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) item: u32,
    /// The barrier's place in the module.
    pub(crate) word: u32,
    /// A value that all have to agree on.
    pub(crate) value: Option<u64>,
}

#[derive(Debug)]
struct Meeting {
    first: Arrival,
    count: u32,
}

/// Work-items of a sub-group at an operation.
#[derive(Debug)]
struct SubMeeting {
    first: Arrival,
    /// A bit for each lane.
    lanes: u64,
}

/// Values that work-items name at one place, between two barriers.
#[derive(Debug, Default)]
struct Agreement {
    /// The first value of each operation.
    values: Vec<Arrival>,
    /// How many operations each work-item has reached.
    reached: HashMap<u32, usize>,
}

/// Barriers of one group, by the number of barriers before them.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    meetings: BTreeMap<u32, Meeting>,
    /// The number of barriers of the meeting that the last work-item joined, and that meeting: most join one that is open.
    open: Option<(u32, Meeting)>,
    /// By sub-group and epoch.
    sub_groups: BTreeMap<(u32, u32), SubMeeting>,
    /// By barriers before them, and place.
    agreements: HashMap<(u32, u32), Agreement>,
    /// The first work-item that ended after so few barriers.
    ended: Option<(u32, u32)>,
}

/// What is wrong with a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Divergence {
    /// Two work-items are at different barriers.
    OtherBarrier(Arrival, Arrival),
    /// The first is at a barrier, and the second work-item has ended.
    Ended(Arrival, u32),
    /// They disagree on a value.
    OtherValue(Arrival, Arrival),
    /// The second work-item of a sub-group is not at the first one's operation, but at another or at none.
    SubGroup(Arrival, Arrival),
}

impl Arrivals {
    /// `count` work-items from one on reach a barrier after `barriers` others, in a group of `items`.
    pub(crate) fn arrive(
        &mut self,
        barriers: u32,
        arrival: Arrival,
        count: u32,
        items: u32,
    ) -> Option<Divergence> {
        let meeting = self.meeting(barriers, arrival);
        meeting.count += count;
        let first = meeting.first;
        if meeting.count == items {
            self.open = None;
        }
        if first.word != arrival.word {
            return Some(Divergence::OtherBarrier(first, arrival));
        }
        (first.value != arrival.value).then_some(Divergence::OtherValue(first, arrival))
    }

    /// The meeting at that barrier, which becomes the open one.
    fn meeting(&mut self, barriers: u32, arrival: Arrival) -> &mut Meeting {
        let (number, meeting) = match self.open.take() {
            Some((number, meeting)) if number == barriers => (number, meeting),
            other => {
                self.meetings.extend(other);
                let known = self.meetings.remove(&barriers);
                let new = Meeting {
                    first: arrival,
                    count: 0,
                };
                (barriers, known.unwrap_or(new))
            }
        };
        &mut self.open.insert((number, meeting)).1
    }

    /// Work-items of one sub-group, `lanes` of it, reach one of its operations, in a group of `items`.
    pub(crate) fn arrive_sub_group(
        &mut self,
        epoch: u32,
        arrival: Arrival,
        lanes: u64,
        (size, items): (u32, u32),
    ) -> Option<Divergence> {
        let size = size.clamp(1, 64);
        let sub_group = arrival.item / size;
        let key = (sub_group, epoch);
        // All at once, as it is in code for whole sub-groups.
        if lanes == all_lanes(sub_group, size, items) && self.sub_groups.is_empty() {
            return None;
        }
        let meeting = self.sub_groups.entry(key).or_insert(SubMeeting {
            first: arrival,
            lanes: 0,
        });
        meeting.lanes |= lanes;
        let (first, lanes) = (meeting.first, meeting.lanes);
        if lanes == all_lanes(sub_group, size, items) {
            self.sub_groups.remove(&key);
        }
        if first.word != arrival.word {
            return Some(Divergence::SubGroup(first, arrival));
        }
        (first.value != arrival.value).then_some(Divergence::OtherValue(first, arrival))
    }

    /// A work-item names a value that all have to agree on, and does not wait.
    pub(crate) fn agree(&mut self, barriers: u32, arrival: Arrival) -> Option<Divergence> {
        let key = (barriers, arrival.word);
        let agreement = self.agreements.entry(key).or_default();
        let reached = agreement.reached.entry(arrival.item).or_default();
        let at = *reached;
        *reached += 1;
        match agreement.values.get(at) {
            Some(first) if first.value != arrival.value => {
                Some(Divergence::OtherValue(*first, arrival))
            }
            None if at < MOST_AGREEMENTS => {
                agreement.values.push(arrival);
                None
            }
            _ => None,
        }
    }

    /// A work-item has ended after `barriers` barriers.
    pub(crate) fn leave(&mut self, barriers: u32, item: u32) {
        let is_earlier = self.ended.is_none_or(|(least, _)| barriers < least);
        if is_earlier {
            self.ended = Some((barriers, item));
        }
    }

    /// The group has ended: barriers that some work-items never reached.
    pub(crate) fn end(&mut self, (size, items): (u32, u32)) -> [Option<Divergence>; 2] {
        let size = size.clamp(1, 64);
        let sub_group = self
            .sub_groups
            .pop_first()
            .map(|((sub_group, _), meeting)| {
                let absent = all_lanes(sub_group, size, items) & !meeting.lanes;
                let item = sub_group * size + absent.trailing_zeros().min(size - 1);
                let absent = Arrival {
                    item,
                    word: 0,
                    value: None,
                };
                Divergence::SubGroup(meeting.first, absent)
            });
        self.sub_groups.clear();
        self.agreements.clear();
        [self.end_of_group(), sub_group]
    }

    fn end_of_group(&mut self) -> Option<Divergence> {
        let ended = self.ended.take();
        self.meetings.extend(self.open.take());
        let meeting = self.meetings.pop_first();
        self.meetings.clear();
        let (_, meeting) = meeting?;
        let (_, item) = ended?;
        Some(Divergence::Ended(meeting.first, item))
    }
}

/// The lanes of a sub-group; the last one of a group may have fewer.
fn all_lanes(sub_group: u32, size: u32, items: u32) -> u64 {
    let count = items.saturating_sub(sub_group * size).clamp(1, size);
    u64::MAX >> (64 - count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(item: u32, word: u32) -> Arrival {
        Arrival {
            item,
            word,
            value: None,
        }
    }

    #[test]
    fn a_barrier_that_all_reach_is_right() {
        let mut arrivals = Arrivals::default();
        for barriers in 0..3 {
            for item in 0..4 {
                assert_eq!(arrivals.arrive(barriers, at(item, 7), 1, 4), None);
            }
        }
        (0..4).for_each(|item| arrivals.leave(3, item));
        assert_eq!(arrivals.end((16, 4)), [None; 2]);
    }

    #[test]
    fn both_sides_are_named() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.arrive(0, at(0, 7), 1, 2), None);
        let found = arrivals.arrive(0, at(1, 9), 1, 2);
        assert_eq!(found, Some(Divergence::OtherBarrier(at(0, 7), at(1, 9))));

        assert_eq!(arrivals.arrive(1, at(0, 7), 1, 2), None);
        arrivals.leave(1, 1);
        arrivals.leave(2, 0);
        assert_eq!(
            arrivals.end((16, 2)),
            [Some(Divergence::Ended(at(0, 7), 1)), None]
        );

        let value = |item, value| Arrival {
            value: Some(value),
            ..at(item, 7)
        };
        assert_eq!(arrivals.arrive(0, value(0, 3), 1, 2), None);
        let found = arrivals.arrive(0, value(1, 4), 1, 2);
        assert_eq!(
            found,
            Some(Divergence::OtherValue(value(0, 3), value(1, 4)))
        );
    }

    #[test]
    fn values_are_compared_operation_by_operation() {
        let mut arrivals = Arrivals::default();
        let value = |item, value| Arrival {
            value: Some(value),
            ..at(item, 7)
        };
        // A loop in which work-item 0 runs ahead, without a barrier.
        for step in 0..3 {
            assert_eq!(arrivals.agree(1, value(0, step)), None);
        }
        for step in 0..3 {
            assert_eq!(arrivals.agree(1, value(1, step)), None);
        }
        let found = arrivals.agree(2, value(0, 4));
        assert_eq!(found, None);
        let found = arrivals.agree(2, value(1, 5));
        assert_eq!(
            found,
            Some(Divergence::OtherValue(value(0, 4), value(1, 5)))
        );
        // Another group starts anew.
        assert_eq!(arrivals.end((16, 2)), [None; 2]);
        assert_eq!(arrivals.agree(2, value(0, 6)), None);

        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.arrive_sub_group(0, value(0, 1), 1, (16, 16)), None);
        let found = arrivals.arrive_sub_group(0, value(1, 2), 2, (16, 16));
        assert_eq!(
            found,
            Some(Divergence::OtherValue(value(0, 1), value(1, 2)))
        );
    }

    #[test]
    fn sub_groups_meet_among_themselves() {
        let mut arrivals = Arrivals::default();
        // 20 work-items in sub-groups of 16: the second has four.
        for item in 0..20 {
            assert_eq!(
                arrivals.arrive_sub_group(0, at(item, 7), 1 << (item % 16), (16, 20)),
                None
            );
        }
        assert_eq!(arrivals.end((16, 20)), [None; 2]);
        for item in 16..19 {
            assert_eq!(
                arrivals.arrive_sub_group(0, at(item, 7), 1 << (item % 16), (16, 20)),
                None
            );
        }
        let absent = Divergence::SubGroup(at(16, 7), at(19, 0));
        assert_eq!(arrivals.end((16, 20)), [None, Some(absent)]);
    }
}
