//! Plans against the fewest possible copies, found by exhaustive search.

use crate::{bytes_of, domain};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use sycl_graph::{Access, Buffer, Cuboid, Dep, Domain, Grid, Links, Mode, Transfer};

/// Every set of pages is one bit a page; grids here have 64 at most.
type Pages = u64;

/// Cases for which this many copies are known not to suffice, and how many more questions may be asked: unknown then
/// counts as not enough.
struct Failed {
    known: HashSet<(Pages, usize)>,
    steps: usize,
}

impl Failed {
    fn at_most(steps: usize) -> Self {
        Self {
            known: HashSet::new(),
            steps,
        }
    }

    fn nothing() -> Self {
        Self::at_most(usize::MAX)
    }
}

/// The sets of pages that one copy can move, by their lowest page: boxes, and runs of memory. Pages are single elements
/// here, or whole rows of them: successive numbers are a run.
struct Shapes {
    by_lowest: Vec<Vec<Pages>>,
    /// For two pages the smallest box that has both.
    around: Vec<Vec<Pages>>,
}

fn spans(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |lower| (lower + 1..=n).map(move |upper| (lower, upper)))
}

fn run_of(lower: usize, upper: usize) -> Pages {
    (u64::MAX >> (64 - (upper - lower))) << lower
}

impl Shapes {
    fn of(grid: &Grid) -> Self {
        let [a, b, c] = grid.pages();
        let count = grid.page_count();
        let runs = spans(count).map(|(lower, upper)| run_of(lower, upper));
        let planes = spans(a).flat_map(|x| spans(b).map(move |y| (x, y)));
        let boxes = planes.flat_map(|(x, y)| {
            spans(c).map(move |z| Cuboid::new([x.0, y.0, z.0], [x.1, y.1, z.1]))
        });
        let boxes = boxes.map(|pages| pages_in(grid, &pages));
        let mut by_lowest = vec![Vec::new(); count];
        for shape in runs.chain(boxes).collect::<BTreeSet<Pages>>() {
            by_lowest[shape.trailing_zeros() as usize].push(shape);
        }
        let around = |one: usize| {
            let with = |other: usize| {
                let (one, other) = (grid.page_box(one), grid.page_box(other));
                let lower = [0, 1, 2].map(|axis| one.lower[axis].min(other.lower[axis]));
                let upper = [0, 1, 2].map(|axis| one.upper[axis].max(other.upper[axis]));
                pages_in(grid, &Cuboid::new(lower, upper))
            };
            (0..count).map(with).collect()
        };
        Self {
            by_lowest,
            around: (0..count).map(around).collect(),
        }
    }

    /// A lower bound for copies that move these pages, each from one of `sources`: of this many pages no two can be in
    /// one copy.
    fn at_least(&self, pages: Pages, sources: &[Pages]) -> usize {
        let (mut left, mut count) = (pages, 0);
        while left != 0 {
            let one = left.trailing_zeros() as usize;
            for other in one..64.min(self.around.len()) {
                let (around, run) = (self.around[one][other], run_of(one, other + 1));
                let together = |source: &Pages| {
                    around & !(pages & source) == 0 || run & !(pages & source) == 0
                };
                left &= !(u64::from(sources.iter().any(together)) << other);
            }
            count += 1;
        }
        count
    }

    /// Whether this many copies can move exactly these pages, each once, each from one of `sources`. `failed` lists the
    /// cases that are known to be impossible.
    fn suffice(&self, pages: Pages, copies: usize, sources: &[Pages], failed: &mut Failed) -> bool {
        if pages == 0 {
            return true;
        }
        if failed.steps == 0
            || self.at_least(pages, sources) > copies
            || failed.known.contains(&(pages, copies))
        {
            return false;
        }
        failed.steps -= 1;
        let possible = |shape: &&Pages| {
            **shape & !pages == 0 && sources.iter().any(|source| **shape & !source == 0)
        };
        let shapes = &self.by_lowest[pages.trailing_zeros() as usize];
        let found = shapes.iter().filter(possible).any(|shape| {
            let rest = pages & !shape;
            (copies > 1 || rest == 0) && self.suffice(rest, copies - 1, sources, failed)
        });
        if !found {
            failed.known.insert((pages, copies));
        }
        found
    }

    fn fewest(&self, pages: Pages, sources: &[Pages]) -> usize {
        let enough = |copies: &usize| self.suffice(pages, *copies, sources, &mut Failed::nothing());
        (0..).find(enough).expect("a page a copy is enough")
    }
}

fn pages_in(grid: &Grid, pages: &Cuboid) -> Pages {
    let inside = |&number: &usize| pages.contains(&grid.page_box(number));
    (0..grid.page_count())
        .filter(inside)
        .map(|number| 1 << number)
        .sum()
}

/// A buffer with the given contents in each domain.
fn held(grid: Grid, holdings: &[(usize, Pages)]) -> Buffer {
    let mut buffer = Buffer::new(grid);
    for page in 0..grid.page_count() {
        let holders = holdings.iter().filter(|(_, pages)| pages >> page & 1 == 1);
        let elements = grid.elements(&grid.page_box(page));
        for (turn, (holder, _)) in holders.enumerate() {
            let mode = if turn == 0 {
                Mode::NoInitWrite
            } else {
                Mode::Read
            };
            let access = [Access { mode, elements }];
            for transfer in buffer.plan(domain(*holder), &access, &Reach(true)) {
                buffer.commit_transfer(transfer, Dep::new(9, 1));
            }
            buffer.commit_accesses(domain(*holder), &access, Dep::new(0, 1));
        }
    }
    for page in 0..grid.page_count() {
        for (holder, pages) in holdings {
            assert_eq!(
                buffer.is_valid(domain(*holder), page),
                pages >> page & 1 == 1
            );
        }
    }
    buffer
}

/// Whether devices reach each other.
struct Reach(bool);

impl Links for Reach {
    fn cost(&self, from: Domain, to: Domain) -> Option<u32> {
        assert!(from != Domain::HOST && to != Domain::HOST && from != to);
        self.0.then_some(1)
    }
}

/// The pages that copies into a domain bring; each once.
fn brought(grid: &Grid, plan: &[Transfer], to: Domain) -> Pages {
    let mut all = 0;
    for transfer in plan.iter().filter(|transfer| transfer.to == to) {
        for byte in bytes_of(&transfer.extent) {
            let n = grid.extent();
            let place = [byte / (n[1] * n[2]), byte / n[2] % n[1], byte % n[2]];
            let page = grid.page_number([0, 1, 2].map(|axis| place[axis] / grid.page()[axis]));
            all |= 1 << page;
        }
    }
    let volume = |page: usize| grid.elements(&grid.page_box(page)).volume();
    let bytes: usize = (0..grid.page_count())
        .filter(|page| all >> page & 1 == 1)
        .map(volume)
        .sum();
    let moved: usize = plan
        .iter()
        .filter(|transfer| transfer.to == to)
        .map(|transfer| transfer.extent.bytes())
        .sum();
    assert_eq!(moved, bytes, "each page once: {plan:?}");
    all
}

fn everything(grid: &Grid) -> [Access; 1] {
    [Access::whole(grid, Mode::Read)]
}

/// One source: the plan for these pages is at most half as long again as the shortest.
fn check_one(grid: &Grid, shapes: &Shapes, pages: Pages) {
    let plan = held(*grid, &[(0, pages)]).plan(domain(1), &everything(grid), &Reach(true));
    assert_eq!(brought(grid, &plan, domain(1)), pages);
    let least = (plan.len() * 2).div_ceil(3);
    assert!(
        pages == 0 || !shapes.suffice(pages, least - 1, &[pages], &mut Failed::nothing()),
        "{} copies for {pages:#b} on {:?}: {plan:?}",
        plan.len(),
        grid.pages(),
    );
}

fn grid(extent: [usize; 3]) -> Grid {
    Grid::new(extent, 1, Some([1; 3])).expect("a valid grid")
}

#[test]
fn every_set_of_pages_of_small_grids() {
    for extent in [[1, 1, 12], [1, 3, 4], [2, 2, 3]] {
        let grid = grid(extent);
        let shapes = Shapes::of(&grid);
        (0..1 << grid.page_count()).for_each(|pages| check_one(&grid, &shapes, pages));
    }
}

/// The same ones on every machine: how good the plans are is found out, not proven.
fn the_same() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases: 1000,
        rng_seed: proptest::test_runner::RngSeed::Fixed(8),
        ..ProptestConfig::default()
    }
}

/// The pages from one corner to another.
fn box_between(grid: &Grid, axes: &[(usize, usize); 3]) -> Pages {
    let (one, other) = (axes.map(|ends| ends.0), axes.map(|ends| ends.1));
    let at = |corner: [usize; 3], axis: usize| corner[axis] % grid.pages()[axis];
    let lower = [0, 1, 2].map(|axis| at(one, axis).min(at(other, axis)));
    let upper = [0, 1, 2].map(|axis| at(one, axis).max(at(other, axis)) + 1);
    pages_in(grid, &Cuboid::new(lower, upper))
}

proptest! {
    #![proptest_config(the_same())]

    /// Typical larger sets: a few boxes added, and one removed.
    #[test]
    fn boxes_of_larger_grids(
        extent in prop_oneof![Just([1usize, 4, 4]), Just([4, 4, 4])],
        boxes in proptest::collection::vec(proptest::array::uniform3((0usize..4, 0usize..4)), 1..5),
        hole in proptest::option::weighted(0.3, proptest::array::uniform3((0usize..4, 0usize..4))),
    ) {
        let grid = grid(extent);
        let of = |axes: &[(usize, usize); 3]| box_between(&grid, axes);
        let pages = boxes.iter().fold(0, |all, axes| all | of(axes));
        check_one(&grid, &Shapes::of(&grid), pages & !hole.as_ref().map_or(0, of));
    }

    /// Three sources, each with boxes, or with pages anywhere.
    #[test]
    fn larger_grids_with_several_sources(
        extent in prop_oneof![Just([1usize, 4, 4]), Just([2, 3, 4]), Just([3, 3, 3]), Just([4, 4, 4])],
        sources in proptest::array::uniform3(prop_oneof![
            3 => proptest::collection::vec(proptest::array::uniform3((0usize..4, 0usize..4)), 1..4)
                .prop_map(Ok),
            1 => any::<Pages>().prop_map(Err),
        ]),
        hole in proptest::array::uniform3((0usize..4, 0usize..4)),
    ) {
        let grid = grid(extent);
        let of = |axes: &[(usize, usize); 3]| box_between(&grid, axes);
        let all = u64::MAX >> (64 - grid.page_count());
        let mut held_by = sources.map(|source| match source {
            Ok(boxes) => boxes.iter().fold(0, |pages, axes| pages | of(axes)),
            Err(pages) => pages & all,
        });
        held_by[2] &= !of(&hole);
        check_several(&grid, &Shapes::of(&grid), held_by);
    }
}

/// Several sources: the plan is at most one and a half times the shortest. Searches are bounded, so that the minimum of
/// some of the largest scattered sets is not known; returns whether it was.
fn check_several(grid: &Grid, shapes: &Shapes, held_by: [Pages; 3]) -> bool {
    let buffer = held(*grid, &[(0, held_by[0]), (1, held_by[1]), (2, held_by[2])]);
    let plan = buffer.plan(domain(3), &everything(grid), &Reach(true));
    let all = held_by.iter().fold(0, |all, pages| all | pages);
    assert_eq!(brought(grid, &plan, domain(3)), all);
    let least = (plan.len() * 2).div_ceil(3);
    let mut failed = Failed::at_most(20_000);
    assert!(
        all == 0 || !shapes.suffice(all, least - 1, &held_by, &mut failed),
        "{} copies for {held_by:?} on {:?}: {plan:?}",
        plan.len(),
        grid.pages(),
    );
    failed.steps > 0
}

/// All distributions of the pages of small grids over three sources, and the first ones of larger grids.
#[test]
fn grids_with_several_sources() {
    for (extent, step) in [
        ([1, 2, 2], 1),
        ([1, 2, 3], 7),
        ([2, 2, 2], 661),
        ([1, 3, 3], 5119),
    ] {
        let grid = grid(extent);
        let shapes = Shapes::of(&grid);
        let count = grid.page_count();
        for number in (0..8u64.pow(count as u32)).step_by(step) {
            let of = |holder: usize| -> Pages {
                let holds = |page: &usize| number >> (3 * page + holder) & 1 == 1;
                (0..count).filter(holds).map(|page| 1 << page).sum()
            };
            assert!(check_several(&grid, &shapes, [of(0), of(1), of(2)]));
        }
    }
}

/// A case in which each source giving all it has, the largest first, was worse: scattered pages of one source split the
/// halves of two others.
#[test]
fn scattered_pages_of_one_source_spoil_no_others() {
    let grid = grid([1, 4, 4]);
    let columns = |wanted: &dyn Fn(usize) -> bool| -> Pages {
        (0..16)
            .filter(|page| wanted(page % 4))
            .map(|page| 1 << page)
            .sum()
    };
    let (left, right) = (
        columns(&|column| column < 2),
        columns(&|column| column >= 2),
    );
    let scattered = 0b1010_0101_1010_0101 | 1 << 1;
    let buffer = held(grid, &[(0, scattered), (1, left), (2, right)]);
    let plan = buffer.plan(domain(3), &everything(&grid), &Reach(true));
    assert_eq!(plan.len(), 2, "{plan:?}");
}

/// Several sources on a line: as few copies as there can be, whether devices reach each other or not. Pages that are not
/// on the host and that no source brings directly are collected there first.
#[test]
fn lines_with_several_sources() {
    const COUNT: usize = 6;
    for (grid, step) in [
        (grid([1, 1, COUNT]), 5),
        (
            Grid::new([1, 2 * COUNT, 3], 1, Some([1, 2, 3])).expect("a valid grid"),
            53,
        ),
    ] {
        let shapes = Shapes::of(&grid);
        let mut worst = 0;
        // Each page: nowhere, or with any of the host and two devices.
        for number in (0..8usize.pow(COUNT as u32)).step_by(step) {
            let of = |holder: usize| -> Pages {
                let holds = |page: &usize| number >> (3 * page + holder) & 1 == 1;
                (0..COUNT).filter(holds).map(|page| 1 << page).sum()
            };
            let [host, one, two] = [of(0), of(1), of(2)];
            let buffer = held(grid, &[(0, host), (1, one), (2, two)]);
            let all = host | one | two;
            for direct in [true, false] {
                let plan = buffer.plan(domain(3), &everything(&grid), &Reach(direct));
                assert_eq!(brought(&grid, &plan, domain(3)), all);
                let staged = if direct { 0 } else { (one | two) & !host };
                assert_eq!(brought(&grid, &plan, Domain::HOST), staged);
                let sources = if direct {
                    vec![host, one, two]
                } else {
                    vec![all]
                };
                let least = shapes.fewest(staged, &[one, two]) + shapes.fewest(all, &sources);
                assert_eq!(
                    plan.len(),
                    least,
                    "host {host:b}, devices {one:b} and {two:b}, direct {direct}: {plan:?}"
                );
                worst = worst.max(least);
            }
        }
        assert!(worst >= COUNT, "{worst}: the cases are too easy");
    }
}

/// A part of a line that was written without reading is copied with the pages beside it, in both directions.
#[test]
fn parts_of_pages_come_with_their_neighbours() {
    let line = Grid::new([1, 1, 64], 1, Some([1, 1, 16])).expect("a valid grid");
    let plane = Grid::new([1, 16, 16], 1, Some([1, 4, 4])).expect("a valid grid");
    // A device writes parts of a buffer that is on the host; how many copies bring everything to the host, to the
    // device, to a third domain with links to all others, and through the host.
    for (grid, lower, upper, copies) in [
        (line, [0, 0, 12], [1, 1, 52], [1, 2, 3, 2]),
        (line, [0, 0, 16], [1, 1, 52], [1, 2, 3, 2]),
        (line, [0, 0, 20], [1, 1, 30], [1, 2, 3, 2]),
        (line, [0, 0, 0], [1, 1, 1], [1, 1, 2, 2]),
        (plane, [0, 2, 2], [1, 14, 14], [1, 4, 5, 2]),
        (plane, [0, 0, 2], [1, 16, 16], [1, 1, 2, 2]),
        (plane, [0, 3, 0], [1, 9, 16], [1, 2, 3, 2]),
    ] {
        let fresh = [Access {
            mode: Mode::NoInitWrite,
            elements: Cuboid::new(lower, upper),
        }];
        let mut buffer = Buffer::new(grid);
        buffer.adopt(Domain::HOST);
        assert!(buffer.plan(domain(1), &fresh, &Reach(false)).is_empty());
        buffer.commit_accesses(domain(1), &fresh, Dep::new(0, 1));
        let count = |to: usize, direct: bool| {
            buffer
                .plan(domain(to), &everything(&grid), &Reach(direct))
                .len()
        };
        let found = [
            count(0, true),
            count(1, true),
            count(2, true),
            count(2, false),
        ];
        assert_eq!(
            found,
            copies,
            "{lower:?} to {upper:?} of {:?}",
            grid.extent()
        );
    }
}
