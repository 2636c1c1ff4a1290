//! Fronts: the work that an access to pages has to follow, that is the last writer of each page and the readers since.
//!
//! Work on a lane ends in the order of its numbers, so all readers on a lane are one number; pending commands (work
//! that is on no lane yet) end in any order and are kept one by one. The front's size depends on lanes and on how
//! finely pages were written, never on the number of live tasks.

use crate::{Cuboid, Grid, PageSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A piece of submitted work: a lane and its number there, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Dep(u64);

impl Dep {
    /// The lane of pending commands: submitted work that ends in any order.
    pub const PENDING: u16 = u16::MAX;
    const BITS: u32 = 48;

    /// Work number `sequence` (below 2^48; higher bits are cut) of `lane`.
    pub const fn new(lane: u16, sequence: u64) -> Self {
        Self((lane as u64) << Self::BITS | sequence & ((1 << Self::BITS) - 1))
    }

    /// The lane that runs it.
    pub const fn lane(self) -> u16 {
        (self.0 >> Self::BITS) as u16
    }

    /// Its number on the lane, or its pending command's number.
    pub const fn sequence(self) -> u64 {
        self.0 & ((1 << Self::BITS) - 1)
    }

    /// Whether it is a pending command.
    pub const fn is_pending(self) -> bool {
        self.lane() == Self::PENDING
    }
}

/// A set of work to wait for: per lane the latest only, pending commands one by one.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct Deps(SmallVec<[Dep; 4]>);

impl From<Dep> for Deps {
    fn from(dep: Dep) -> Self {
        Self(SmallVec::from_iter([dep]))
    }
}

impl Deps {
    /// Adds work; drops work that its lane orders before it.
    pub fn add(&mut self, dep: Dep) {
        let same = |known: &Dep| {
            if dep.is_pending() {
                *known == dep
            } else {
                known.lane() == dep.lane()
            }
        };
        match self.0.iter_mut().find(|known| same(known)) {
            Some(known) => *known = (*known).max(dep),
            None => self.0.push(dep),
        }
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|&dep| self.add(dep));
    }

    /// Drops finished work.
    pub fn retain(&mut self, mut unfinished: impl FnMut(Dep) -> bool) {
        self.0.retain(|dep| unfinished(*dep));
    }

    /// The work, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Dep> + '_ {
        self.0.iter().copied()
    }

    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of waits that it stands for.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn like(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|dep| other.0.contains(&dep))
    }
}

/// The last uses of some pages.
#[derive(Clone, Default, Debug)]
struct Last {
    writer: Option<Dep>,
    readers: Deps,
}

impl Last {
    fn collect(&self, writes: bool, deps: &mut Deps) {
        if let Some(writer) = self.writer {
            deps.add(writer);
        }
        if writes {
            deps.merge(&self.readers);
        }
    }

    fn is_empty(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }

    fn like(&self, other: &Self) -> bool {
        self.writer == other.writer && self.readers.like(&other.readers)
    }
}

/// The last accesses to every page of a grid.
#[derive(Clone, Debug)]
pub struct Front {
    shape: Shape,
}

/// As coarse as the accesses so far allow.
#[derive(Clone, Debug)]
enum Shape {
    /// All accesses covered all pages.
    Whole(Last),
    /// Intervals of page numbers, by first page; each ends where the next begins.
    Intervals(BTreeMap<usize, Last>),
    /// Disjoint boxes of pages that together are the grid.
    Boxes(Vec<(Cuboid, Last)>),
}

impl Default for Front {
    fn default() -> Self {
        Self {
            shape: Shape::Whole(Last::default()),
        }
    }
}

impl Front {
    /// Adds the work that a reader (`writes` false) or writer of these pages must follow.
    pub fn collect(&self, grid: &Grid, pages: &Cuboid, writes: bool, deps: &mut Deps) {
        if pages.is_empty() {
            return;
        }
        match &self.shape {
            Shape::Whole(last) => last.collect(writes, deps),
            Shape::Intervals(starts) => {
                let (first, end) = interval(grid, pages);
                // Backwards, so that the part that contains `first` needs no separate search.
                for (&start, last) in starts.range(..end).rev() {
                    last.collect(writes, deps);
                    if start <= first {
                        break;
                    }
                }
            }
            Shape::Boxes(boxes) => boxes
                .iter()
                .filter(|(place, _)| place.overlaps(pages))
                .for_each(|(_, last)| last.collect(writes, deps)),
        }
    }

    /// Records that `dep` reads these pages.
    pub fn read(&mut self, grid: &Grid, pages: &Cuboid, dep: Dep) {
        self.change(grid, pages, |last| last.readers.add(dep));
    }

    /// Records that `dep` writes these pages; earlier work precedes it. `None` drops earlier work.
    pub fn write(&mut self, grid: &Grid, pages: &Cuboid, dep: Option<Dep>) {
        if pages.is_empty() {
            return;
        }
        let now = Last {
            writer: dep,
            readers: Deps::default(),
        };
        if pages.contains(&grid.whole_pages()) {
            self.shape = Shape::Whole(now);
            return;
        }
        if dep.is_none()
            && let Shape::Whole(last) = &self.shape
            && last.is_empty()
        {
            return;
        }
        self.change(grid, pages, |last| last.clone_from(&now));
    }

    /// Drops finished work, so that its lanes are not polled again.
    pub fn retain(&mut self, mut unfinished: impl FnMut(Dep) -> bool) {
        let mut clean = |last: &mut Last| {
            last.writer = last.writer.filter(|&dep| unfinished(dep));
            last.readers.retain(&mut unfinished);
        };
        match &mut self.shape {
            Shape::Whole(last) => clean(last),
            Shape::Intervals(starts) => starts.values_mut().for_each(clean),
            Shape::Boxes(boxes) => boxes.iter_mut().for_each(|(_, last)| clean(last)),
        }
    }

    /// Adds the pages whose last writer is one of some.
    pub fn add_written(&self, grid: &Grid, mut by: impl FnMut(Dep) -> bool, pages: &mut PageSet) {
        let mut found = |last: &Last| last.writer.is_some_and(&mut by);
        match &self.shape {
            Shape::Whole(last) => {
                let all = grid.whole_pages();
                found(last).then(|| pages.insert_box(grid, &all));
            }
            Shape::Intervals(starts) => {
                let ends = starts.keys().skip(1).copied();
                let parts = starts.iter().zip(ends.chain([grid.page_count()]));
                parts
                    .filter(|((_, last), _)| found(last))
                    .flat_map(|((&start, _), end)| start..end)
                    .for_each(|page| pages.insert(page));
            }
            Shape::Boxes(boxes) => boxes
                .iter()
                .filter(|(_, last)| found(last))
                .for_each(|(place, _)| pages.insert_box(grid, place)),
        }
    }

    /// The number of pending commands, counted for each part.
    pub fn pending(&self) -> usize {
        let of = |last: &Last| {
            let all = last.readers.iter().chain(last.writer);
            all.filter(|dep| dep.is_pending()).count()
        };
        match &self.shape {
            Shape::Whole(last) => of(last),
            Shape::Intervals(starts) => starts.values().map(of).sum(),
            Shape::Boxes(boxes) => boxes.iter().map(|(_, last)| of(last)).sum(),
        }
    }

    /// The number of parts into which the grid is divided.
    pub fn parts(&self) -> usize {
        match &self.shape {
            Shape::Whole(_) => 1,
            Shape::Intervals(starts) => starts.len(),
            Shape::Boxes(boxes) => boxes.len(),
        }
    }

    fn change(&mut self, grid: &Grid, pages: &Cuboid, mut with: impl FnMut(&mut Last)) {
        if pages.is_empty() {
            return;
        }
        if let Shape::Whole(last) = &mut self.shape {
            if pages.contains(&grid.whole_pages()) {
                return with(last);
            }
            let last = std::mem::take(last);
            self.shape = if grid.is_slab() {
                Shape::Intervals(BTreeMap::from([(0, last)]))
            } else {
                Shape::Boxes(vec![(grid.whole_pages(), last)])
            };
        }
        match &mut self.shape {
            Shape::Whole(_) => {}
            Shape::Intervals(starts) => {
                change_interval(starts, grid.page_count(), interval(grid, pages), with)
            }
            Shape::Boxes(boxes) => change_boxes(boxes, pages, with),
        }
    }
}

/// A box of pages of a slab grid as first and end of page numbers.
fn interval(grid: &Grid, pages: &Cuboid) -> (usize, usize) {
    let first = grid.page_number(pages.lower);
    (first, first + pages.volume())
}

fn change_interval(
    starts: &mut BTreeMap<usize, Last>,
    total: usize,
    (first, end): (usize, usize),
    mut with: impl FnMut(&mut Last),
) {
    // The usual case, in one search: the part exists, and stays different from its neighbours.
    let mut parts = starts.range_mut(..=end).rev();
    let mut part = parts.next();
    let next = part.take_if(|(start, _)| **start == end);
    if next.is_some() {
        part = parts.next();
    }
    if let Some((_, last)) = part.filter(|(start, _)| **start == first)
        && (next.is_some() || end == total)
    {
        with(last);
        let unlike =
            |other: Option<(&usize, &mut Last)>| other.is_none_or(|(_, other)| !last.like(other));
        if unlike(next) && unlike(parts.next()) {
            return;
        }
        return join(starts, first, end);
    }
    for cut in [first, end] {
        if cut < total && !starts.contains_key(&cut) {
            let before = starts
                .range(..cut)
                .next_back()
                .map(|(_, last)| last.clone())
                .unwrap_or_default();
            starts.insert(cut, before);
        }
    }
    starts
        .range_mut(first..end)
        .for_each(|(_, last)| with(last));
    join(starts, first, end);
}

/// Neighbours that say the same become one, also across the two cuts.
fn join(starts: &mut BTreeMap<usize, Last>, first: usize, end: usize) {
    let at = starts
        .range(..first)
        .next_back()
        .map_or(first, |(&start, _)| start);
    let mut known: Option<&Last> = None;
    let mut same: SmallVec<[usize; 8]> = SmallVec::new();
    for (&start, last) in starts.range(at..=end) {
        match known {
            Some(known) if known.like(last) => same.push(start),
            _ => known = Some(last),
        }
    }
    for start in same {
        starts.remove(&start);
    }
}

fn change_boxes(boxes: &mut Vec<(Cuboid, Last)>, pages: &Cuboid, mut with: impl FnMut(&mut Last)) {
    let mut touched = Vec::new();
    let mut index = 0;
    while index < boxes.len() {
        if boxes[index].0.overlaps(pages) {
            let (place, mut last) = boxes.swap_remove(index);
            boxes.extend(place.without(pages).map(|rest| (rest, last.clone())));
            with(&mut last);
            touched.push((place.intersection(pages), last));
            // An entry just inserted after the end is outside `pages`, and the test above skips it.
        } else {
            index += 1;
        }
    }
    for (mut place, last) in touched {
        while let Some((other, both)) =
            boxes
                .iter()
                .enumerate()
                .find_map(|(index, (other, known))| {
                    Some(index)
                        .zip(place.merged(other))
                        .filter(|_| known.like(&last))
                })
        {
            boxes.swap_remove(other);
            place = both;
        }
        boxes.push((place, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_lane_is_one_number_and_pending_commands_are_many() {
        let mut deps = Deps::default();
        for (lane, sequence) in [
            (1, 5),
            (2, 3),
            (1, 7),
            (1, 6),
            (Dep::PENDING, 1),
            (Dep::PENDING, 2),
            (Dep::PENDING, 1),
        ] {
            deps.add(Dep::new(lane, sequence));
        }
        let mut found: Vec<_> = deps
            .iter()
            .map(|dep| (dep.lane(), dep.sequence()))
            .collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [(1, 7), (2, 3), (Dep::PENDING, 1), (Dep::PENDING, 2)]
        );
    }

    #[test]
    fn a_hundred_thousand_readers_are_as_many_as_there_are_lanes() {
        let grid = Grid::new([1, 1, 1024], 4, Some([1, 1, 1])).expect("a valid grid");
        let mut front = Front::default();
        for task in 0..100_000u64 {
            front.read(
                &grid,
                &grid.whole_pages(),
                Dep::new((task % 4) as u16, task),
            );
        }
        let mut deps = Deps::default();
        front.collect(&grid, &grid.whole_pages(), true, &mut deps);
        assert_eq!((front.parts(), deps.len()), (1, 4));
    }

    #[test]
    fn parts_that_say_the_same_become_one_again() {
        for extent in [[1, 1, 64], [1, 8, 8]] {
            let grid = Grid::new(extent, 4, Some([1, 1, 1])).expect("a valid grid");
            let mut front = Front::default();
            for number in 0..grid.page_count() {
                front.write(&grid, &grid.page_box(number), Some(Dep::new(0, 9)));
            }
            assert_eq!(front.parts(), 1, "{extent:?}");
        }
    }

    proptest! {
        /// Against the plain rule, page by page: a reader follows the last writer, a writer all readers since as well.
        #[test]
        fn dependencies_are_tracked_for_each_page(
            extent in prop_oneof![Just([1usize, 1, 24]), Just([1, 5, 5]), Just([3, 3, 3])],
            tasks in proptest::collection::vec((any::<bool>(), 0u16..3, proptest::array::uniform3((0usize..24, 1usize..8))), 1..24),
        ) {
            let grid = Grid::new(extent, 1, Some([1; 3])).expect("a valid grid");
            let mut front = Front::default();
            let mut model = vec![Last::default(); grid.page_count()];
            for (sequence, (writes, lane, axes)) in tasks.into_iter().enumerate() {
                let dep = Dep::new(lane, sequence as u64);
                let mut pages = grid.whole_pages();
                for axis in 0..3 {
                    pages.lower[axis] = axes[axis].0 % extent[axis];
                    pages.upper[axis] = (pages.lower[axis] + axes[axis].1).min(extent[axis]);
                }
                let (mut found, mut expected) = (Deps::default(), Deps::default());
                front.collect(&grid, &pages, writes, &mut found);
                if writes { front.write(&grid, &pages, Some(dep)) } else { front.read(&grid, &pages, dep) }
                for number in (0..grid.page_count()).filter(|&n| pages.contains(&grid.page_box(n))) {
                    model[number].collect(writes, &mut expected);
                    if writes {
                        model[number] = Last { writer: Some(dep), readers: Deps::default() };
                    } else {
                        model[number].readers.add(dep);
                    }
                }
                prop_assert!(found.like(&expected), "{found:?} against {expected:?}");
                prop_assert!(front.parts() <= grid.page_count());
            }
        }
    }
}
