//! The order of commands: what each knows to have finished when it starts.
//!
//! A clock holds, for each lane, the commands that are known to have finished: all up to a number, and some behind it. The
//! host has a clock, too; a command begins with the host's at its submission, and adds what its lane and its waits order.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// A command: the number of its lane and its number in the lane, from 1. Work outside of lanes has number 0, and is ordered
/// with everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The lane; never used again.
    pub lane: u64,
    /// The command.
    pub number: u64,
}

/// Commands behind a gap that a clock remembers for a lane; beyond, the gap counts as finished. Not measured: a bound on
/// memory, which lanes in order never reach.
const MOST_BEHIND_GAP: usize = 4096;

/// Signals whose clocks are remembered. Not measured: a bound on memory, some 100 bytes for each lane that a clock knows.
const MOST_SIGNALS: usize = 1 << 16;

#[derive(Clone, Debug, Default)]
struct Known {
    /// All up to this number.
    all: u64,
    some: BTreeSet<u64>,
}

impl Known {
    fn add_all(&mut self, number: u64) {
        self.all = self.all.max(number);
        self.close();
    }

    fn add(&mut self, number: u64) {
        if number > self.all {
            self.some.insert(number);
            self.close();
        }
    }

    fn close(&mut self) {
        let all = &mut self.all;
        while let Some(&first) = self.some.first() {
            if first > *all + 1 {
                break;
            }
            *all = first.max(*all);
            self.some.pop_first();
        }
        if self.some.len() > MOST_BEHIND_GAP {
            *all = self.some.pop_last().unwrap_or(*all);
            self.some.clear();
        }
    }
}

/// The commands that are known to have finished.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    lanes: HashMap<u64, Known>,
    knows_all: bool,
}

impl Clock {
    fn join(&mut self, other: &Self) {
        self.knows_all |= other.knows_all;
        for (&lane, known) in &other.lanes {
            let own = self.lanes.entry(lane).or_default();
            own.add_all(known.all);
            known.some.iter().for_each(|&number| own.add(number));
        }
    }

    /// Whether all commands of a lane up to one are known.
    pub(crate) fn knows_all_up_to(&self, position: Position) -> bool {
        self.knows_all
            || self
                .lanes
                .get(&position.lane)
                .is_some_and(|known| position.number <= known.all)
    }

    fn add(&mut self, position: Position) {
        let known = self.lanes.entry(position.lane).or_default();
        known.add(position.number);
    }

    fn add_all(&mut self, position: Position) {
        let known = self.lanes.entry(position.lane).or_default();
        known.add_all(position.number);
    }

    pub(crate) fn knows(&self, position: Position) -> bool {
        self.knows_all
            || position.number == 0
            || self.lanes.get(&position.lane).is_some_and(|known| {
                position.number <= known.all || known.some.contains(&position.number)
            })
    }
}

#[derive(Debug, Default)]
struct Lane {
    /// The host's clock when the commands up to a number were submitted.
    submitted: VecDeque<(u64, Arc<Clock>)>,
    /// Known to all commands that start from now on.
    delayed: Clock,
    /// All commands that have started, and what these knew.
    started: Clock,
}

/// The order of all commands of the process.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    host: Arc<Clock>,
    lanes: HashMap<u64, Lane>,
    signals: HashMap<usize, Arc<Clock>>,
    running: HashMap<Position, Arc<Clock>>,
}

/// How a command starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// All earlier commands of its lane have finished.
    pub drained: bool,
    /// Later commands of its lane do not start before what it waits for.
    pub delays_later: bool,
    /// The signals that it has waited for.
    pub waits: &'a [usize],
}

impl Commands {
    pub(crate) fn pushed(&mut self, last: Position) {
        let lane = self.lanes.entry(last.lane).or_default();
        match lane.submitted.back_mut() {
            Some((number, clock)) if Arc::ptr_eq(clock, &self.host) => *number = last.number,
            _ => lane
                .submitted
                .push_back((last.number, Arc::clone(&self.host))),
        }
    }

    pub(crate) fn started(&mut self, first: Position, count: u64, how: Start<'_>) {
        let lane = self.lanes.entry(first.lane).or_default();
        while let Some((last, _)) = lane.submitted.front()
            && *last < first.number
        {
            lane.submitted.pop_front();
        }
        let mut clock = match lane.submitted.front() {
            Some((_, clock)) => Clock::clone(clock),
            None => Clock::clone(&self.host),
        };
        clock.join(&lane.delayed);
        if how.drained {
            clock.join(&lane.started);
            clock.add_all(Position {
                number: first.number - 1,
                ..first
            });
        }
        for signal in how.waits {
            match self.signals.get(signal) {
                Some(known) => clock.join(known),
                // Another process or the application has set it: nothing is known of what it orders.
                None => clock.knows_all = true,
            }
        }
        if how.drained || how.delays_later {
            lane.delayed.join(&clock);
        }
        lane.started.join(&clock);
        let clock = Arc::new(clock);
        for number in first.number..first.number + count {
            let position = Position { number, ..first };
            lane.started.add(position);
            self.running.insert(position, Arc::clone(&clock));
        }
    }

    pub(crate) fn finished(&mut self, first: Position, count: u64, signal: Option<usize>) {
        let mut clock = None;
        for number in first.number..first.number + count {
            let position = Position { number, ..first };
            clock = clock.or(self.running.remove(&position));
        }
        if let Some(signal) = signal {
            let mut clock = clock.map_or_else(Clock::default, |clock| Clock::clone(&clock));
            clock.add(first);
            if self.signals.len() >= MOST_SIGNALS {
                // Signals without a clock order everything.
                self.signals.clear();
            }
            self.signals.insert(signal, Arc::new(clock));
        }
    }

    pub(crate) fn host_waited(&mut self, last: Position) {
        let mut host = Clock::clone(&self.host);
        if let Some(lane) = self.lanes.get(&last.lane) {
            host.join(&lane.started);
        }
        host.add_all(last);
        self.host = Arc::new(host);
    }

    pub(crate) fn host_waited_for(&mut self, signal: usize) {
        let mut host = Clock::clone(&self.host);
        match self.signals.get(&signal) {
            Some(known) => host.join(known),
            None => host.knows_all = true,
        }
        self.host = Arc::new(host);
    }

    pub(crate) fn host_signals(&mut self, signal: usize) {
        self.signals.insert(signal, Arc::clone(&self.host));
    }

    pub(crate) fn host_knows(&self, position: Position) -> bool {
        self.host.knows(position)
    }

    /// Whether the host has waited for nothing of a lane to which it has submitted commands.
    pub(crate) fn is_unwaited(&self, lane: u64) -> bool {
        let is_used = self.lanes.contains_key(&lane);
        is_used && !self.host.knows_all && !self.host.lanes.contains_key(&lane)
    }

    pub(crate) fn host_runs(&mut self, position: Position) {
        if let Some(clock) = self.running.get(&position) {
            let mut host = Clock::clone(&self.host);
            host.join(clock);
            self.host = Arc::new(host);
        }
    }

    /// The host has seen something that the command has written with an atomic operation.
    pub(crate) fn host_acquires(&mut self, position: Position, clock: Option<&Clock>) {
        let mut host = Clock::clone(&self.host);
        if let Some(clock) = clock {
            host.join(clock);
        }
        host.add(position);
        self.host = Arc::new(host);
    }

    /// What a running command knows.
    pub(crate) fn clock(&self, position: Position) -> Option<Arc<Clock>> {
        self.running.get(&position).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Start<'_> = Start {
        drained: false,
        delays_later: false,
        waits: &[],
    };

    fn at(lane: u64, number: u64) -> Position {
        Position { lane, number }
    }

    fn knows(commands: &Commands, later: Position, earlier: Position) -> bool {
        commands
            .clock(later)
            .is_some_and(|clock| clock.knows(earlier))
    }

    #[test]
    fn a_lane_in_order_orders_its_commands() {
        let mut commands = Commands::default();
        commands.pushed(at(1, 3));
        for number in 1..4 {
            let drained = number != 2;
            commands.started(at(1, number), 1, Start { drained, ..NOTHING });
        }
        // The second does not wait for the first.
        assert!(!knows(&commands, at(1, 2), at(1, 1)));
        assert!(knows(&commands, at(1, 3), at(1, 1)));
        assert!(knows(&commands, at(1, 3), at(1, 2)));
    }

    #[test]
    fn events_and_the_host_order_lanes() {
        let mut commands = Commands::default();
        commands.pushed(at(1, 1));
        commands.pushed(at(2, 1));
        commands.started(at(1, 1), 1, NOTHING);
        commands.started(at(2, 1), 1, NOTHING);
        assert!(!knows(&commands, at(2, 1), at(1, 1)));
        commands.finished(at(1, 1), 1, Some(7));
        commands.pushed(at(2, 2));
        commands.started(
            at(2, 2),
            1,
            Start {
                waits: &[7],
                ..NOTHING
            },
        );
        assert!(knows(&commands, at(2, 2), at(1, 1)));
        assert!(!knows(&commands, at(2, 2), at(2, 1)));
        // Submitted before the host has waited.
        commands.pushed(at(3, 1));
        commands.host_waited_for(7);
        commands.pushed(at(3, 2));
        commands.started(at(3, 1), 1, NOTHING);
        commands.started(at(3, 2), 1, NOTHING);
        assert!(!knows(&commands, at(3, 1), at(1, 1)));
        assert!(knows(&commands, at(3, 2), at(1, 1)));
    }

    #[test]
    fn a_barrier_orders_all_later_commands() {
        let mut commands = Commands::default();
        commands.pushed(at(1, 3));
        commands.started(at(1, 1), 1, NOTHING);
        let barrier = Start {
            drained: true,
            delays_later: true,
            waits: &[],
        };
        commands.started(at(1, 2), 1, barrier);
        commands.started(at(1, 3), 1, NOTHING);
        assert!(knows(&commands, at(1, 3), at(1, 1)));
        // A signal that nobody is known to have set orders everything.
        commands.pushed(at(2, 1));
        commands.started(
            at(2, 1),
            1,
            Start {
                waits: &[9],
                ..NOTHING
            },
        );
        assert!(knows(&commands, at(2, 1), at(1, 3)));
    }

    #[test]
    fn gaps_close() {
        let mut known = Known::default();
        known.add(3);
        known.add(2);
        assert_eq!((known.all, known.some.len()), (0, 2));
        known.add(1);
        assert_eq!((known.all, known.some.len()), (3, 0));
        known.add(5);
        known.add_all(4);
        assert_eq!((known.all, known.some.len()), (5, 0));
    }
}
