//! Random command groups on random page grids against a simple model: contents, transfers, and the order of every two
//! operations on the same memory; and the table of how many copies a plan makes.

mod minimum;

use proptest::prelude::*;
use std::collections::BTreeMap;
use sycl_graph::{
    Access, Buffer, Cuboid, Dep, Deps, Domain, Extent, Fate, Grid, Links, Mode, Transfer,
};

/// Domains that reach each other only as the bits say; the host is always reached.
struct Reaches(u8);

impl Links for Reaches {
    fn cost(&self, from: Domain, to: Domain) -> Option<u32> {
        let pair = (from.number() * 3 + to.number()) % 8;
        (from == Domain::HOST || to == Domain::HOST || self.0 >> pair & 1 == 1).then_some(1)
    }
}

fn domain(number: usize) -> Domain {
    Domain::new(number).expect("a domain")
}

/// The element numbers of a copy; elements are one byte in these tests.
fn bytes_of(extent: &Extent) -> Vec<usize> {
    match *extent {
        Extent::Run { offset, bytes } => (offset..offset + bytes).collect(),
        Extent::Region {
            origin,
            size,
            row_pitch,
            slice_pitch,
        } => (0..size[2])
            .flat_map(|z| (0..size[1]).map(move |y| (y, z)))
            .flat_map(|(y, z)| {
                let first = (origin[2] + z) * slice_pitch + (origin[1] + y) * row_pitch + origin[0];
                first..first + size[0]
            })
            .collect(),
    }
}

fn elements_of(grid: &Grid, elements: &Cuboid) -> Vec<usize> {
    let n = grid.extent();
    let mut found = Vec::new();
    for x in elements.lower[0]..elements.upper[0] {
        for y in elements.lower[1]..elements.upper[1] {
            found.extend((elements.lower[2]..elements.upper[2]).map(|z| (x * n[1] + y) * n[2] + z));
        }
    }
    found
}

/// Operations with everything that surely ended before each began.
#[derive(Default)]
struct Order {
    before: Vec<Vec<bool>>,
    place: BTreeMap<(u16, u64), usize>,
    writer: BTreeMap<(usize, usize), usize>,
    readers: BTreeMap<(usize, usize), Vec<usize>>,
    /// The operations that have ended, so that everything later follows them.
    ended: Vec<usize>,
}

impl Order {
    /// Everything on these lanes is over.
    fn end(&mut self, lanes: u8) {
        let over = self.place.iter();
        let over = over.filter(|((lane, _), _)| lanes >> lane & 1 == 1);
        self.ended.extend(over.map(|(_, op)| *op));
    }

    /// Adds an operation and checks that it follows all it must, by memory location.
    fn add(
        &mut self,
        dep: Dep,
        deps: &Deps,
        reads: &[(usize, usize)],
        writes: &[(usize, usize)],
    ) -> Result<(), String> {
        let me = self.before.len();
        let mut before = vec![false; me];
        for &op in &self.ended {
            before[op] = true;
            (0..op).for_each(|earlier| before[earlier] |= self.before[op][earlier]);
        }
        let lanes = deps.iter().chain([dep]);
        for known in lanes {
            for (_, &op) in self
                .place
                .range((known.lane(), 0)..=(known.lane(), known.sequence()))
            {
                before[op] = true;
                (0..op).for_each(|earlier| before[earlier] |= self.before[op][earlier]);
            }
        }
        for at in reads {
            if let Some(&writer) = self.writer.get(at).filter(|&&writer| !before[writer]) {
                return Err(format!(
                    "operation {me} reads {at:?} and does not follow its writer {writer}"
                ));
            }
        }
        for at in writes {
            let earlier = self
                .writer
                .get(at)
                .into_iter()
                .chain(self.readers.get(at).into_iter().flatten());
            for &op in earlier {
                if !before[op] {
                    return Err(format!(
                        "operation {me} writes {at:?} and does not follow {op}"
                    ));
                }
            }
        }
        for at in reads {
            self.readers.entry(*at).or_default().push(me);
        }
        for at in writes {
            self.writer.insert(*at, me);
            self.readers.remove(at);
        }
        self.place.insert((dep.lane(), dep.sequence()), me);
        self.before.push(before);
        Ok(())
    }
}

#[derive(Clone, Debug)]
struct Group {
    domain: usize,
    lane: u16,
    accesses: Vec<(Mode, [(usize, usize); 3])>,
    releases: bool,
    /// Before it, its domain's memory loses its contents.
    loses: bool,
    /// This one of its copies and its command fails.
    fails: Option<usize>,
    /// The lanes that are known to have failed before it.
    known: u8,
}

/// Lanes that failed and from which number on, until that is known; and the known failures.
///
/// Work on a failed lane after the failure does not run, nor does work that follows it.
#[derive(Default)]
struct Failures {
    unknown: BTreeMap<u16, u64>,
    known: Vec<(u16, u64, u64)>,
    /// The number up to which each lane was polled.
    asked: BTreeMap<u16, u64>,
}

impl Failures {
    fn is_unknown(&self, dep: Dep) -> bool {
        let first = self.unknown.get(&dep.lane());
        first.is_some_and(|first| dep.sequence() >= *first)
    }

    /// The result of work that follows `deps` and fails itself, or does not.
    fn run(&mut self, dep: Dep, deps: &Deps, fails: bool) -> Run {
        let never = self.is_unknown(dep) || deps.iter().any(|dep| self.is_unknown(dep));
        if never || fails {
            self.unknown.entry(dep.lane()).or_insert(dep.sequence());
        }
        match (never, fails) {
            (true, _) => Run::Never,
            (_, true) => Run::Torn,
            _ => Run::Whole,
        }
    }

    /// The failures of these lanes are known now; later work on them is on new lanes of the same number.
    fn tell(&mut self, lanes: u8, buffer: &mut Buffer, last: u64) {
        let told = |lane: u16| lanes >> lane & 1 == 1;
        for (lane, first) in self.unknown.extract_if(.., |lane, _| told(*lane)) {
            // Ended work may not be known to have ended.
            let asked = self.asked.get(&lane).map_or(1, |asked| asked + 1);
            let doubted = if told(DOUBTS) { asked } else { first };
            self.known.push((lane, doubted, last));
        }
        let lanes = (0..2 * COPIES).filter(|lane| told(*lane));
        self.asked.extend(lanes.map(|lane| (lane, last)));
        let fate = |dep: Dep| {
            let numbers = |(lane, first, last): &(u16, u64, u64)| {
                dep.lane() == *lane && (*first..=*last).contains(&dep.sequence())
            };
            match (self.known.iter().any(numbers), told(dep.lane())) {
                (true, _) => Fate::Failed,
                (_, true) => Fate::Ended,
                (_, false) => Fate::Open,
            }
        };
        buffer.roll_back(fate, Deps::clone);
    }
}

/// How work runs.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Whole,
    /// It leaves arbitrary data where it writes.
    Torn,
    Never,
}

/// Copies are on lanes from here on.
const COPIES: u16 = 4;
/// A lane without work, which stands for all failures that others have not reported.
const DOUBTS: u16 = 3;

/// The data that failed work leaves.
const JUNK: u64 = u64::MAX - 1;
/// Data that must not be seen: the result that failed work should have written.
const LOST: u64 = u64::MAX - 2;

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![
        Just(Mode::Read),
        Just(Mode::Write),
        Just(Mode::ReadWrite),
        Just(Mode::NoInitWrite),
        Just(Mode::NoInitReadWrite)
    ]
}

fn groups() -> impl Strategy<Value = Vec<Group>> {
    let access = (modes(), proptest::array::uniform3((0usize..9, 0usize..9)));
    let accesses = proptest::collection::vec(access, 1..4);
    let releases = proptest::bool::weighted(0.1);
    let loses = proptest::bool::weighted(0.1);
    let fails = proptest::option::weighted(0.15, 0usize..4);
    let known = prop_oneof![4 => Just(0), 2 => any::<u8>(), 1 => Just(u8::MAX)];
    let group = (0usize..4, 0u16..3, accesses, releases, loses, fails, known).prop_map(
        |(domain, lane, accesses, releases, loses, fails, known)| Group {
            domain,
            lane,
            accesses,
            releases,
            loses,
            fails,
            known,
        },
    );
    proptest::collection::vec(group, 1..16)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contents_transfers_and_order_are_right(
        extent in prop_oneof![Just([1usize, 1, 13]), Just([1, 7, 6]), Just([4, 4, 4]), Just([3, 1, 5])],
        page in proptest::array::uniform3(1usize..4),
        links in any::<u8>(), initial in any::<bool>(), groups in groups(),
    ) {
        let grid = Grid::new(extent, 1, Some(page)).expect("a valid grid");
        let size = grid.bytes();
        let mut buffer = Buffer::new(grid);
        // Which task wrote each element: by the sequential meaning, and in each domain's memory.
        let mut truth = vec![None; size];
        let mut memory = vec![vec![None; size]; 4];
        let mut order = Order::default();
        let mut sequence = 0u64;
        let mut failures = Failures::default();
        if initial {
            buffer.adopt(Domain::HOST);
            truth.fill(Some(u64::MAX));
            memory[0].fill(Some(u64::MAX));
        }
        for group in groups {
            let links = Reaches(links);
            let on = domain(group.domain);
            failures.tell(group.known, &mut buffer, sequence);
            order.end(group.known);
            if group.loses && on != Domain::HOST {
                buffer.lose(on);
                // Unfinished work there has ended.
                order.writer.retain(|at, _| at.0 != group.domain);
                order.readers.retain(|at, _| at.0 != group.domain);
                let written = memory[group.domain].iter_mut().flatten();
                written.for_each(|content| *content = JUNK);
            }
            let accesses: Vec<Access> = group.accesses.iter().map(|&(mode, axes)| {
                let mut elements = grid.whole();
                for axis in 0..3 {
                    let (a, b) = axes[axis];
                    let (a, b) = (a % (extent[axis] + 1), b % (extent[axis] + 1));
                    (elements.lower[axis], elements.upper[axis]) = (a.min(b), a.max(b));
                }
                Access { mode, elements }
            }).collect();
            if !group.releases && accesses.iter().any(|access| buffer.is_poisoned(access)) {
                continue;
            }
            let (plan, target) = if group.releases {
                (buffer.plan_release(on, &links), None)
            } else {
                (buffer.plan(on, &accesses, &links), Some(&accesses))
            };
            // Exactly the pages that are needed, written, not valid, and not in pieces are copied whole, once.
            if let Some(accesses) = target {
                let needed = |number: usize| accesses.iter().any(|access| {
                    access.mode.needs_content() && grid.page_range(&access.elements).contains(&grid.page_box(number))
                });
                for number in 0..grid.page_count() {
                    let moved: usize = plan.iter().filter(|transfer| transfer.to == on)
                        .flat_map(|transfer| bytes_of(&transfer.extent))
                        .filter(|byte| elements_of(&grid, &grid.elements(&grid.page_box(number))).contains(byte)).count();
                    let must = needed(number) && buffer.is_written(number) && !buffer.is_valid(on, number);
                    if !must {
                        prop_assert_eq!(moved, 0, "page {} is copied without need", number);
                    } else if (0..4).any(|other| buffer.is_valid(domain(other), number)) {
                        prop_assert_eq!(moved, grid.elements(&grid.page_box(number)).volume());
                    }
                }
            }
            let failing = group.fails.map(|fails| fails % (plan.len() + 1));
            for (number, transfer) in plan.into_iter().enumerate() {
                sequence += 1;
                let dep = Dep::new(COPIES + group.lane, sequence);
                let mut deps = Deps::default();
                buffer.transfer_dependencies(&transfer, &mut deps);
                let bytes = bytes_of(&transfer.extent);
                let at = |domain: Domain| bytes.iter().map(|&byte| (domain.number(), byte)).collect::<Vec<_>>();
                let run = failures.run(dep, &deps, failing == Some(number));
                let ends = if run == Run::Never { [Vec::new(), Vec::new()] } else { [at(transfer.from), at(transfer.to)] };
                order.add(dep, &deps, &ends[0], &ends[1]).map_err(TestCaseError::fail)?;
                for &byte in bytes.iter().filter(|_| run != Run::Never) {
                    let content = if run == Run::Whole { memory[transfer.from.number()][byte] } else { Some(JUNK) };
                    memory[transfer.to.number()][byte] = content;
                }
                buffer.commit_transfer(transfer, dep);
            }
            if group.releases {
                if on != Domain::HOST {
                    buffer.release(on);
                    // The next allocation is other memory.
                    order.writer.retain(|at, _| at.0 != group.domain);
                    order.readers.retain(|at, _| at.0 != group.domain);
                    memory[group.domain].fill(None);
                }
                continue;
            }
            sequence += 1;
            let dep = Dep::new(group.lane, sequence);
            let mut deps = Deps::default();
            buffer.dependencies(on, &accesses, &mut deps);
            let mut touched = (Vec::new(), Vec::new());
            let run = failures.run(dep, &deps, failing.is_some());
            for access in &accesses {
                for element in elements_of(&grid, &access.elements) {
                    if run == Run::Whole && access.mode.needs_content() {
                        prop_assert_eq!(memory[group.domain][element], truth[element], "element {} of {:?}", element, access);
                    }
                    let list = if access.mode.writes() { &mut touched.1 } else { &mut touched.0 };
                    list.push((group.domain, element));
                }
            }
            if run == Run::Never {
                touched.0.clear();
            }
            let written = if run == Run::Never { &[][..] } else { &touched.1 };
            order.add(dep, &deps, &touched.0, written).map_err(TestCaseError::fail)?;
            for (_, element) in touched.1 {
                truth[element] = Some(if run == Run::Whole { sequence } else { LOST });
                if run != Run::Never {
                    memory[group.domain][element] = Some(if run == Run::Whole { sequence } else { JUNK });
                }
            }
            buffer.commit_accesses(on, &accesses, dep);
        }
        failures.tell(u8::MAX, &mut buffer, sequence);
        // Reading everything back on the host returns the sequential program's result.
        for transfer in &buffer.plan(Domain::HOST, &[Access::whole(&grid, Mode::Read)], &Reaches(links)) {
            for byte in bytes_of(&transfer.extent) {
                memory[transfer.to.number()][byte] = memory[transfer.from.number()][byte];
            }
        }
        for number in 0..grid.page_count() {
            let elements = grid.elements(&grid.page_box(number));
            let page = Access { mode: Mode::Read, elements };
            for element in elements_of(&grid, &elements).into_iter().filter(|_| !buffer.is_poisoned(&page)) {
                prop_assert_eq!(memory[0][element], truth[element], "element {}", element);
            }
        }
    }
}

struct All;

impl Links for All {
    fn cost(&self, _: Domain, _: Domain) -> Option<u32> {
        Some(1)
    }
}

/// Commits a whole plan and the accesses after it.
fn run(buffer: &mut Buffer, on: usize, accesses: &[Access]) -> Vec<Transfer> {
    let plan = buffer.plan(domain(on), accesses, &All);
    plan.iter()
        .for_each(|transfer| buffer.commit_transfer(transfer.clone(), Dep::new(9, 1)));
    buffer.commit_accesses(domain(on), accesses, Dep::new(0, 1));
    plan
}

fn write(buffer: &mut Buffer, on: usize, lower: [usize; 3], upper: [usize; 3]) {
    run(
        buffer,
        on,
        &[Access {
            mode: Mode::Write,
            elements: Cuboid::new(lower, upper),
        }],
    );
}

#[test]
fn plans_make_as_many_copies_as_the_table_says() {
    let line =
        |pages: usize| Grid::new([1, 1, pages * 4], 4, Some([1, 1, 4])).expect("a valid grid");
    let plane = || Grid::new([1, 16, 16], 4, Some([1, 4, 4])).expect("a valid grid");
    let adopted = |grid: Grid| {
        let mut buffer = Buffer::new(grid);
        buffer.adopt(Domain::HOST);
        buffer
    };
    let read = |buffer: &mut Buffer, on: usize| {
        let all = [Access::whole(buffer.grid(), Mode::Read)];
        let copies = run(buffer, on, &all).len();
        assert!(
            run(buffer, on, &all).is_empty(),
            "a second read copies nothing"
        );
        copies
    };

    let mut buffer = adopted(line(16));
    assert_eq!(read(&mut buffer, 1), 1, "all outdated, one source");

    let mut buffer = adopted(line(16));
    read(&mut buffer, 1);
    (0..16)
        .step_by(2)
        .for_each(|page| write(&mut buffer, 0, [0, 0, page * 4], [1, 1, page * 4 + 1]));
    assert_eq!(read(&mut buffer, 1), 8, "every other page");

    let mut buffer = adopted(line(16));
    (0..4).for_each(|part| {
        write(
            &mut buffer,
            part + 1,
            [0, 0, part * 16],
            [1, 1, part * 16 + 16],
        )
    });
    assert_eq!(read(&mut buffer, 5), 4, "four sources");

    let mut buffer = adopted(plane());
    assert_eq!(read(&mut buffer, 1), 1, "a whole plane is one run");
    write(&mut buffer, 0, [0, 5, 5], [1, 11, 11]);
    let plan = run(&mut buffer, 1, &[Access::whole(&plane(), Mode::Read)]);
    assert_eq!(plan.len(), 1, "a tile is one region");
    assert_eq!(
        plan[0].extent,
        Extent::Region {
            origin: [16, 4, 0],
            size: [32, 8, 1],
            row_pitch: 64,
            slice_pitch: 1024
        }
    );

    let mut buffer = adopted(plane());
    read(&mut buffer, 1);
    write(&mut buffer, 0, [0, 0, 0], [1, 16, 4]);
    write(&mut buffer, 0, [0, 12, 4], [1, 16, 16]);
    assert_eq!(read(&mut buffer, 1), 2, "an L");

    // A rectangle inside one page, written without reading: 2 boxes remain per dimension, and the rectangle itself.
    for (extent, lower, upper, rest) in [
        ([1, 1, 8], [0, 0, 2], [1, 1, 6], 2),
        ([1, 8, 8], [0, 2, 2], [1, 6, 6], 4),
        ([8, 8, 8], [2, 2, 2], [6, 6, 6], 6),
    ] {
        let grid = Grid::new(extent, 4, Some(extent)).expect("a valid grid");
        let fresh = Access {
            mode: Mode::NoInitWrite,
            elements: Cuboid::new(lower, upper),
        };
        let mut buffer = adopted(grid);
        assert!(
            run(&mut buffer, 1, &[fresh]).is_empty(),
            "no_init never transfers"
        );
        assert_eq!(
            read(&mut buffer.clone(), 1),
            rest,
            "{extent:?}: the rest to the writer"
        );
        assert_eq!(
            read(&mut buffer.clone(), 0),
            1,
            "{extent:?}: the rectangle to the old holder"
        );
        assert_eq!(read(&mut buffer, 2), rest + 1, "{extent:?}: all to a third");
    }
}

#[test]
fn unwritten_pages_are_never_copied() {
    let grid = Grid::new([1, 1, 64], 4, Some([1, 1, 8])).expect("a valid grid");
    let mut buffer = Buffer::new(grid);
    assert!(run(&mut buffer, 1, &[Access::whole(&grid, Mode::ReadWrite)]).is_empty());
    let mut buffer = Buffer::new(grid);
    write(&mut buffer, 1, [0, 0, 8], [1, 1, 17]);
    let plan = run(&mut buffer, 2, &[Access::whole(&grid, Mode::Read)]);
    assert_eq!(
        plan.iter()
            .map(|transfer| transfer.extent.bytes())
            .sum::<usize>(),
        2 * 8 * 4
    );
}

#[test]
fn lost_pages_are_rejected_until_they_are_overwritten() {
    let grid = Grid::new([1, 1, 64], 4, Some([1, 1, 8])).expect("a valid grid");
    let mut buffer = Buffer::new(grid);
    let at = |mode, lower, upper| Access {
        mode,
        elements: Cuboid::new([0, 0, lower], [1, 1, upper]),
    };
    buffer.poison(&[at(Mode::Write, 8, 20), at(Mode::Read, 40, 50)]);
    for (access, poisoned) in [
        (at(Mode::Read, 0, 8), false),
        (at(Mode::Read, 0, 9), true),
        (at(Mode::ReadWrite, 23, 24), true),
        (at(Mode::Read, 24, 64), false),
        (at(Mode::NoInitWrite, 8, 24), false),
    ] {
        assert_eq!(buffer.is_poisoned(&access), poisoned, "{access:?}");
    }
    run(&mut buffer, 0, &[at(Mode::NoInitWrite, 8, 16)]);
    assert!(
        !buffer.is_poisoned(&at(Mode::Read, 8, 16)) && buffer.is_poisoned(&at(Mode::Read, 16, 24))
    );
    buffer.clear_poison();
    assert!(!buffer.is_poisoned(&Access::whole(&grid, Mode::Read)));
}

/// Pending commands end in any order and are kept one by one; there may be any number of readers.
#[test]
fn ended_readers_are_dropped() {
    let grid = Grid::new([1, 1, 64], 1, Some([1, 1, 1])).expect("a valid grid");
    let mut buffer = Buffer::new(grid);
    let read = [Access::whole(&grid, Mode::Read)];
    for ticket in 0..10_000 {
        buffer.commit_accesses(Domain::HOST, &read, Dep::new(Dep::PENDING, ticket));
        buffer.tidy(|dep| dep.sequence() + 10 > ticket);
        let mut deps = Deps::default();
        buffer.last_use(&mut deps);
        assert!(
            (ticket.min(9) as usize..=80).contains(&deps.len()),
            "{}",
            deps.len()
        );
    }
}

/// Commits a group's transfers and accesses, all under one number of lane 0.
fn commit(buffer: &mut Buffer, number: u64, on: usize, mode: Mode, lower: usize, upper: usize) {
    let elements = Cuboid::new([0, 0, lower], [1, 1, upper]);
    let (access, dep) = ([Access { mode, elements }], Dep::new(0, number));
    for transfer in buffer.plan(domain(on), &access, &All) {
        buffer.commit_transfer(transfer, dep);
    }
    buffer.commit_accesses(domain(on), &access, dep);
}

/// A page of eight of which the first two elements are on domain 1 and the rest is on the host, and another page.
fn in_pieces() -> Buffer {
    let grid = Grid::new([1, 1, 16], 1, Some([1, 1, 8])).expect("a valid grid");
    let mut buffer = Buffer::new(grid);
    buffer.adopt(Domain::HOST);
    commit(&mut buffer, 1, 1, Mode::NoInitWrite, 0, 2);
    buffer
}

/// All up to this number ended well, all others failed.
fn fails_behind(buffer: &mut Buffer, last: u64) -> bool {
    let fate = |dep: Dep| match dep.sequence() <= last {
        true => Fate::Ended,
        false => Fate::Failed,
    };
    buffer.roll_back(fate, |_| Deps::default())
}

/// The sources of the bytes for a read on a domain.
fn sources(buffer: &Buffer, on: usize) -> Vec<(usize, usize)> {
    let whole = [Access::whole(buffer.grid(), Mode::Read)];
    let plan = buffer.plan(domain(on), &whole, &All);
    let bytes = plan.iter().flat_map(|transfer| {
        let from = transfer.from.number();
        bytes_of(&transfer.extent)
            .into_iter()
            .map(move |byte| (from, byte))
    });
    let mut bytes: Vec<_> = bytes.collect();
    bytes.sort_unstable();
    bytes
}

#[test]
fn two_dependent_plans_are_rolled_back() {
    // The first puts a page together; the second copies it on.
    for second_writes in [false, true] {
        let mut buffer = in_pieces();
        let before = sources(&buffer, 3);
        commit(&mut buffer, 2, 2, Mode::Read, 0, 8);
        let mode = [Mode::Read, Mode::ReadWrite][usize::from(second_writes)];
        commit(&mut buffer, 3, 3, mode, 0, 8);
        let mut second_only = buffer.clone();
        // The second alone: the page stays where the first one brought it, unless it was to be changed.
        assert_eq!(fails_behind(&mut second_only, 2), second_writes);
        assert_eq!(second_only.is_valid(domain(2), 0), !second_writes);
        // Both: everything is unchanged, except that the writer's contents are lost.
        assert_eq!(fails_behind(&mut buffer, 1), second_writes);
        let first = Access {
            mode: Mode::Read,
            elements: Cuboid::new([0; 3], [1, 1, 8]),
        };
        assert_eq!(buffer.is_poisoned(&first), second_writes);
        if !second_writes {
            assert!(!(0..4).any(|on| buffer.is_valid(domain(on), 0)));
            assert_eq!(sources(&buffer, 3), before);
        }
        let rest = Access {
            mode: Mode::Read,
            elements: Cuboid::new([0, 0, 8], [1, 1, 16]),
        };
        assert!(!buffer.is_poisoned(&rest));
    }
}

/// The released memory had the piece; the domain's next memory does not.
#[test]
fn a_piece_does_not_return_to_new_memory() {
    let mut buffer = in_pieces();
    let plan = buffer.plan_release(domain(1), &All);
    for transfer in plan {
        buffer.commit_transfer(transfer, Dep::new(0, 2));
    }
    buffer.release(domain(1));
    commit(&mut buffer, 3, 1, Mode::Read, 8, 16);
    let fate = |dep: Dep| match dep.sequence() {
        2 => Fate::Failed,
        _ => Fate::Ended,
    };
    assert!(buffer.roll_back(fate, |_| Deps::default()));
    assert!(buffer.is_poisoned(&Access::whole(buffer.grid(), Mode::Read)));
    let rest = Access {
        mode: Mode::Read,
        elements: Cuboid::new([0, 0, 8], [1, 1, 16]),
    };
    assert!(!buffer.is_poisoned(&rest) && buffer.is_valid(domain(1), 1));
}

/// Contents that were only in lost memory are poisoned; a piece that was being copied there is still at its source.
#[test]
fn contents_only_in_lost_memory_are_poisoned() {
    let page = |number: usize| Access {
        mode: Mode::Read,
        elements: Cuboid::new([0, 0, 8 * number], [1, 1, 8 * number + 8]),
    };
    let poisoned = |buffer: &Buffer| [0, 1].map(|number| buffer.is_poisoned(&page(number)));
    // The first page is in pieces on the host and on domain 1, the other one on the host.
    for (lost, expected) in [(1, [true, false]), (2, [false, false])] {
        let mut buffer = in_pieces();
        assert_eq!(buffer.lose(domain(lost)), expected[0]);
        assert_eq!(poisoned(&buffer), expected, "domain {lost}");
    }
    // Both are read, or the second one is written, on domain 2, and then that is lost.
    for (mode, lower, expected) in [
        (Mode::Read, 0, [false, false]),
        (Mode::ReadWrite, 8, [false, true]),
        (Mode::ReadWrite, 0, [true, true]),
    ] {
        let mut buffer = in_pieces();
        let before = sources(&buffer, 3);
        commit(&mut buffer, 2, 2, mode, lower, 16);
        assert_eq!(buffer.lose(domain(2)), expected[1]);
        assert_eq!(poisoned(&buffer), expected, "{mode:?} from {lower}");
        if !expected[1] {
            assert_eq!(sources(&buffer, 3), before);
        }
        assert!(
            !buffer.lose(domain(2)) && poisoned(&buffer) == expected,
            "once"
        );
    }
}

/// Contents of ended copies are valid; those of copies that may not have ended are not.
#[test]
fn contents_copied_before_a_loss_stay() {
    for settled in [true, false] {
        let mut buffer = in_pieces();
        commit(&mut buffer, 2, 1, Mode::Read, 0, 16);
        commit(&mut buffer, 3, 0, Mode::Read, 0, 16);
        if settled {
            assert!(!buffer.roll_back(|_| Fate::Ended, |_| Deps::default()));
        }
        assert_eq!(buffer.lose(domain(1)), !settled);
    }
}

/// Domains with links to their neighbours only, besides the host; those from 5 on have links to the host only.
struct Chain;

impl Links for Chain {
    fn cost(&self, from: Domain, to: Domain) -> Option<u32> {
        let (from, to) = (from.number(), to.number());
        (from.abs_diff(to) == 1 && from.max(to) < 5).then_some(1)
    }
}

/// For any number of copies in between, also through the host, and if memory in between was released meanwhile.
#[test]
fn contents_passed_on_before_a_loss_are_known_by_the_first_copy() {
    // The order of reads, how many copies have ended, and whether the first memory is released, and lost.
    for (readers, ended, given_up, lost) in [
        (&[2, 3, 4][..], 0, false, true),
        (&[2, 3, 4], 1, false, false),
        (&[2, 3, 4], 3, false, false),
        (&[2, 3, 4], 0, true, true),
        (&[2, 3, 4], 2, true, false),
        (&[0, 6], 0, false, true),
        (&[6], 0, false, true),
        (&[6], 1, false, false),
    ] {
        let grid = Grid::new([1, 1, 16], 1, Some([1, 1, 8])).expect("a valid grid");
        let mut buffer = Buffer::new(grid);
        buffer.adopt(Domain::HOST);
        commit(&mut buffer, 1, 1, Mode::ReadWrite, 0, 8);
        assert!(!buffer.roll_back(|_| Fate::Ended, |_| Deps::default()));
        let page = |number: usize| Access {
            mode: Mode::Read,
            elements: Cuboid::new([0, 0, 8 * number], [1, 1, 8 * number + 8]),
        };
        let mut copies = 0;
        for &reader in readers {
            for transfer in buffer.plan(domain(reader), &[page(0)], &Chain) {
                copies += 1;
                buffer.commit_transfer(transfer, Dep::new(1, copies));
            }
        }
        assert_eq!(copies, if readers.contains(&4) { 3 } else { 2 });
        // Another page, copied by another path to the source of one of the copies.
        commit(&mut buffer, 2, 3, Mode::Read, 8, 16);
        if given_up {
            buffer.release(domain(readers[0]));
        }
        let fate = |dep: Dep| match dep.lane() == 1 && dep.sequence() <= ended {
            true => Fate::Ended,
            false => Fate::Open,
        };
        assert!(!buffer.roll_back(fate, |_| Deps::default()));
        let what = format!("{readers:?} {ended} {given_up}");
        assert_eq!(buffer.lose(domain(1)), lost, "{what}");
        assert_eq!(buffer.is_poisoned(&page(0)), lost, "{what}");
        let held = (0..7).any(|on| buffer.is_valid(domain(on), 0));
        assert_eq!(held, !lost, "{what}");
        assert!(!buffer.is_poisoned(&page(1)), "{what}");
        let both = [0, 3].map(|on| buffer.is_valid(domain(on), 1));
        assert_eq!(both, [true; 2], "{what}");
    }
}

/// However a piece was lost, and whichever access takes the rest.
#[test]
fn a_lost_piece_comes_from_nowhere() {
    let lose: [fn(&mut Buffer); 3] = [
        // Its memory was lost, before or while it was copied.
        |buffer| assert!(buffer.lose(domain(1))),
        |buffer| {
            commit(buffer, 2, 2, Mode::Read, 0, 8);
            assert!(buffer.lose(domain(1)));
        },
        // It was copied away before its memory was released, and that copy failed.
        |buffer| {
            for transfer in buffer.plan_release(domain(1), &All) {
                buffer.commit_transfer(transfer, Dep::new(0, 2));
            }
            buffer.release(domain(1));
            assert!(fails_behind(buffer, 1));
        },
    ];
    for (number, lose) in lose.into_iter().enumerate() {
        let mut buffer = in_pieces();
        lose(&mut buffer);
        buffer.clear_poison();
        let mut found = sources(&buffer, 3);
        assert!(found.iter().all(|(from, _)| *from != 1), "{number}");
        found.sort_unstable_by_key(|(_, byte)| *byte);
        let rest = found.into_iter().map(|(_, byte)| byte);
        assert!(rest.eq(2..16), "{number}");
    }
}

#[test]
fn contents_in_no_memory_have_no_source() {
    let mut buffer = in_pieces();
    commit(&mut buffer, 2, 2, Mode::ReadWrite, 8, 16);
    assert!(buffer.lose(domain(2)));
    buffer.clear_poison();
    let lost = Access {
        mode: Mode::Read,
        elements: Cuboid::new([0, 0, 8], [1, 1, 16]),
    };
    for to in [Domain::HOST, domain(1), domain(2), domain(3)] {
        assert!(buffer.plan(to, &[lost], &All).is_empty());
    }
}

/// The work that a failed writer had followed may still run.
#[test]
fn dependencies_of_later_writers_after_a_failure() {
    let mut buffer = in_pieces();
    commit(&mut buffer, 2, 2, Mode::ReadWrite, 0, 16);
    let running = Deps::from(Dep::new(7, 1));
    let mut known = Deps::default();
    let settled = buffer.roll_back(
        |_| Fate::Failed,
        |past| {
            known.clone_from(past);
            running.clone()
        },
    );
    assert!(settled && known == Deps::from(Dep::new(0, 2)));
    let whole = |mode| [Access::whole(in_pieces().grid(), mode)];
    for (mode, follows) in [(Mode::Read, Deps::default()), (Mode::NoInitWrite, running)] {
        let mut deps = Deps::default();
        buffer.dependencies(domain(2), &whole(mode), &mut deps);
        assert_eq!(deps, follows, "{mode:?}");
    }
}
