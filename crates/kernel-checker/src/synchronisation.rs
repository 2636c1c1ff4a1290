//! What atomics and fences order inside a launch: release and acquire, by groups and barriers.
//!
//! ```text
//! group 3:   data = ...; atomic_store(flag, release)      flag's clock: this release
//! group 7:   atomic_load(flag, acquire); ... = data       knows that release, which covers the data
//! ```
//!
//! A clock holds releases. A release covers what its work-item did before it, and what barriers order before that. Where a
//! clock grows too large it covers everything: that hides races, and never invents one.

use std::collections::HashMap;
use std::sync::Arc;

use kernel_ir::Order;

use crate::cell::{Cell, MOST_BARRIERS, Reach};

/// Groups in a clock above which it counts as knowing everything: bounds the time of chains over many groups.
const MOST_GROUPS: usize = 4096;
/// Releases of one group between two barriers, above which the same holds.
const MOST_RELEASES: usize = 256;
/// Acquisitions of one group above which the oldest are joined into one.
const MOST_ACQUISITIONS: usize = 64;

/// What a release covers: for each group the releases since its last barrier that was seen.
#[derive(Clone, Debug, Default)]
struct Clock {
    groups: HashMap<u16, Vec<Release>>,
    knows_all: bool,
}

#[derive(Clone, Copy, Debug)]
struct Release {
    by: Cell,
    /// The only group that may acquire it: its scope was the work-group.
    only: Option<u16>,
}

impl Release {
    fn counts_in(&self, group: u16) -> bool {
        self.only.is_none_or(|only| only == group)
    }
}

impl Clock {
    fn join(&mut self, other: &Self) {
        self.knows_all |= other.knows_all;
        for &release in other.groups.values().flatten() {
            self.add(release);
        }
    }

    fn add(&mut self, release: Release) {
        let by = release.by;
        let known = self.groups.entry(by.group()).or_default();
        // A barrier later, all of the group's earlier accesses are covered, for those who may acquire that.
        let is_same = |old: &Release| old.by.barriers() == by.barriers() && old.by.is_same_item(by);
        let is_covered = |old: &Release| {
            old.only == release.only
                && (old.by.barriers() < by.barriers()
                    || (is_same(old) && old.by.phase() <= by.phase()))
        };
        // A fence may lie before an older release of its work-item.
        let is_later = |old: &Release| {
            old.only.is_none()
                && (old.by.barriers() > by.barriers()
                    || (is_same(old) && old.by.phase() > by.phase()))
        };
        if known.iter().any(is_later) {
            return;
        }
        known.retain(|old| !is_covered(old));
        known.push(release);
        if known.len() > MOST_RELEASES || self.groups.len() > MOST_GROUPS {
            self.groups.clear();
            self.knows_all = true;
        }
    }

    /// Whether a work-item of `group` that acquires it has seen the access.
    fn covers(&self, access: Cell, group: u16, sub_group_size: u32) -> bool {
        let covers = |release: &Release| {
            release.counts_in(group) && access.is_before_release(release.by, sub_group_size)
        };
        self.knows_all
            || self
                .groups
                .get(&access.group())
                .is_some_and(|releases| releases.iter().any(covers))
    }
}

/// Something that a work-item did, which counts for its group from the next barrier on.
#[derive(Clone, Debug)]
struct Event<T> {
    item: u32,
    barriers: u64,
    what: T,
}

/// Stands for all work-items of a group.
const ALL_ITEMS: u32 = u32::MAX;

impl<T> Event<T> {
    fn counts_for(&self, cell: Cell) -> bool {
        // Where the count of barriers has stopped, any number of them may lie between.
        let is_earlier = self.barriers < cell.barriers() || cell.barriers() == MOST_BARRIERS;
        self.item == ALL_ITEMS || self.item == cell.item() || is_earlier
    }
}

#[derive(Debug, Default)]
struct Group {
    acquired: Vec<Event<Arc<Clock>>>,
    /// Relaxed reads of released values, for fences behind them.
    read: Vec<Event<Arc<Clock>>>,
    /// Release fences, for relaxed writes behind them.
    fences: Fences,
    /// Releases since the barrier of that number.
    releases: (u64, u8),
}

/// The release fences of a group.
#[derive(Debug, Default)]
struct Fences {
    /// The least number of barriers before a fence that reaches the work-group, and the device.
    earliest: [Option<u64>; 2],
    /// By work-item: its last fences of both kinds, and the barriers before them.
    last: HashMap<u32, (u64, [Option<Cell>; 2])>,
}

impl Fences {
    /// A fence at `at`, as far as its reach goes.
    fn add(&mut self, at: Cell) {
        let kind = usize::from(at.reach() == Reach::Device);
        let earliest = self.earliest[kind].get_or_insert(at.barriers());
        *earliest = at.barriers().min(*earliest);
        let last = self.last.entry(at.item()).or_default();
        if last.0 != at.barriers() {
            *last = (at.barriers(), [None; 2]);
        }
        last.1[kind] = Some(at);
    }

    /// The fences that a write relies on, each with its reach. Those before the last barrier count up to here, whoever
    /// executed them.
    fn before(&self, by: Cell) -> Vec<(Cell, Reach)> {
        let reaches = [Reach::WorkGroup, Reach::Device];
        let own = self.last.get(&by.item());
        let own = own.filter(|(barriers, _)| *barriers == by.barriers());
        let mut all = Vec::new();
        for (kind, reach) in reaches.into_iter().enumerate() {
            // Where the count of barriers has stopped, any number of them may lie between.
            let is_earlier = self.earliest[kind]
                .is_some_and(|at| at < by.barriers() || by.barriers() == MOST_BARRIERS);
            match own.and_then(|(_, last)| last[kind]) {
                _ if is_earlier => all.push((by, reach)),
                Some(at) => all.push((at, reach)),
                None => {}
            }
        }
        all
    }
}

impl Group {
    fn releases_since(&mut self, barriers: u64) -> &mut u8 {
        if self.releases.0 != barriers {
            self.releases = (barriers, 0);
        }
        &mut self.releases.1
    }
}

/// The order that atomics of one launch make.
#[derive(Debug, Default)]
pub(crate) struct Synchronisation {
    /// By address.
    clocks: HashMap<u64, Arc<Clock>>,
    groups: HashMap<u16, Group>,
}

/// Whether an atomic operation of this order releases.
pub(crate) fn releases(order: Order) -> bool {
    matches!(
        order,
        Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent
    )
}

fn acquires(order: Order) -> bool {
    matches!(
        order,
        Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent
    )
}

impl Synchronisation {
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// An atomic access at `address`. Relaxed reads acquire, too, unless `strict`: programs rely on it, and processors do it.
    pub(crate) fn atomic(
        &mut self,
        by: Cell,
        address: u64,
        writes: bool,
        order: Order,
        strict: bool,
    ) {
        if let Some(clock) = self.clocks.get(&address).cloned() {
            let group = self.groups.entry(by.group()).or_default();
            let event = Event {
                item: by.item(),
                barriers: by.barriers(),
                what: clock,
            };
            match acquires(order) || !strict {
                true => remember(&mut group.acquired, event),
                false => remember(&mut group.read, event),
            }
        }
        if !writes {
            return;
        }
        let count = self.releases(by);
        let here = by.after_releases(count);
        let group = self.groups.get(&by.group());
        let mut all = group.map_or_else(Vec::new, |group| group.fences.before(here));
        if releases(order) {
            all.push((here, by.reach()));
        }
        let only = |reach: Reach| {
            let is_narrow = reach.min(by.reach()) == Reach::WorkGroup;
            is_narrow.then_some(by.group())
        };
        if let Some(widest) = all.iter().map(|&(_, reach)| reach).max() {
            let mut own = self.known(by);
            for release in own.groups.values_mut().flatten() {
                release.only = only(widest);
            }
            let clock = Arc::make_mut(self.clocks.entry(address).or_default());
            clock.join(&own);
            for (at, reach) in all {
                clock.add(Release {
                    by: at,
                    only: only(reach),
                });
            }
            let group = self.groups.entry(by.group()).or_default();
            let releases = group.releases_since(by.barriers());
            *releases = releases.saturating_add(1);
        }
    }

    /// A fence, whose reach is that of `by`.
    pub(crate) fn fence(&mut self, by: Cell, order: Order) {
        let group = self.groups.entry(by.group()).or_default();
        let (item, barriers) = (by.item(), by.barriers());
        if releases(order) {
            // What follows is not before it.
            let releases = group.releases_since(barriers);
            let at = by.after_releases(*releases);
            *releases = releases.saturating_add(1);
            group.fences.add(at);
        }
        if acquires(order) {
            // Fences of other work-items count as well.
            for read in group.read.iter().filter(|read| read.counts_for(by)) {
                let event = Event {
                    item,
                    barriers,
                    what: Arc::clone(&read.what),
                };
                remember(&mut group.acquired, event);
            }
        }
    }

    /// Whether `later` has seen `earlier`, of another group or of its own.
    pub(crate) fn orders(&self, earlier: Cell, later: Cell, sub_group_size: u32) -> bool {
        let Some(group) = self.groups.get(&later.group()) else {
            return false;
        };
        group.acquired.iter().any(|acquired| {
            acquired.counts_for(later)
                && acquired.what.covers(earlier, later.group(), sub_group_size)
        })
    }

    /// Releases of the group since its last barrier.
    pub(crate) fn releases(&self, by: Cell) -> u8 {
        match self.groups.get(&by.group()) {
            Some(group) if group.releases.0 == by.barriers() => group.releases.1,
            _ => 0,
        }
    }

    /// All that a work-item has acquired.
    fn known(&self, by: Cell) -> Clock {
        let mut all = Clock::default();
        if let Some(group) = self.groups.get(&by.group()) {
            for acquired in group.acquired.iter().filter(|event| event.counts_for(by)) {
                let clock = &acquired.what;
                all.knows_all |= clock.knows_all;
                let releases = clock.groups.values().flatten();
                for release in releases.filter(|release| release.counts_in(by.group())) {
                    all.add(Release {
                        only: None,
                        ..*release
                    });
                }
            }
        }
        all
    }
}

fn remember(list: &mut Vec<Event<Arc<Clock>>>, event: Event<Arc<Clock>>) {
    let same = |old: &Event<Arc<Clock>>| {
        old.item == event.item
            && old.barriers == event.barriers
            && Arc::ptr_eq(&old.what, &event.what)
    };
    if list.iter().any(same) {
        return;
    }
    list.push(event);
    if list.len() > MOST_ACQUISITIONS {
        // The join counts for all work-items: coarser, which hides and does not invent.
        let mut all = Clock::default();
        for old in list.drain(..) {
            all.join(&old.what);
        }
        list.push(Event {
            item: ALL_ITEMS,
            barriers: 0,
            what: Arc::new(all),
        });
    }
}
