//! Random command groups on random page grids against a plain model: contents, transfers, and the order of every two
//! operations that touch the same memory; and the table of how many copies a plan makes.

mod minimum;

use proptest::prelude::*;
use std::collections::BTreeMap;
use sycl_graph::{Access, Buffer, Cuboid, Dep, Deps, Domain, Extent, Grid, Links, Mode, Transfer};

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
}

impl Order {
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
    /// From this copy on those that it needs fail, and so does it.
    fails: Option<usize>,
}

/// What a copy that failed leaves behind.
const JUNK: u64 = u64::MAX - 1;

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
    let fails = proptest::option::weighted(0.15, 0usize..4);
    let group = (0usize..4, 0u16..3, accesses, releases, fails).prop_map(
        |(domain, lane, accesses, releases, fails)| Group {
            domain,
            lane,
            accesses,
            releases,
            fails,
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
        if initial {
            buffer.adopt(Domain::HOST);
            truth.fill(Some(u64::MAX));
            memory[0].fill(Some(u64::MAX));
        }
        for group in groups {
            let links = Reaches(links);
            let on = domain(group.domain);
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
                        prop_assert_eq!(moved, 0, "page {} is copied for nothing", number);
                    } else if (0..4).any(|other| buffer.is_valid(domain(other), number)) {
                        prop_assert_eq!(moved, grid.elements(&grid.page_box(number)).volume());
                    }
                }
            }
            let failing = group.fails.filter(|_| !plan.is_empty()).map(|fails| fails % plan.len());
            for (number, transfer) in plan.iter().enumerate() {
                sequence += 1;
                let dep = Dep::new(10 + group.lane, sequence);
                let mut deps = Deps::default();
                buffer.transfer_dependencies(transfer, &mut deps);
                let bytes = bytes_of(&transfer.extent);
                let at = |domain: Domain| bytes.iter().map(|&byte| (domain.number(), byte)).collect::<Vec<_>>();
                let came = failing.is_none_or(|first| number < first);
                let ends = if came { [at(transfer.from), at(transfer.to)] } else { [Vec::new(), Vec::new()] };
                order.add(dep, &deps, &ends[0], &ends[1]).map_err(TestCaseError::fail)?;
                for &byte in &bytes {
                    let content = if came { memory[transfer.from.number()][byte] } else { Some(JUNK) };
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
                if let Some(first) = failing {
                    plan[first..].iter().for_each(|transfer| _ = buffer.revoke_transfer(transfer));
                }
                continue;
            }
            if let Some(first) = failing {
                sequence += 1;
                let dep = Dep::new(group.lane, sequence);
                let mut deps = Deps::default();
                buffer.dependencies(on, &accesses, &mut deps);
                order.add(dep, &deps, &[], &[]).map_err(TestCaseError::fail)?;
                buffer.commit_accesses(on, &accesses, dep);
                buffer.poison(&accesses);
                let mut lost = false;
                plan[first..].iter().for_each(|transfer| lost |= buffer.revoke_transfer(transfer));
                let writes = accesses.iter().any(|access| access.mode.writes());
                prop_assert!(writes || !lost, "who only reads loses nothing");
                continue;
            }
            sequence += 1;
            let dep = Dep::new(group.lane, sequence);
            let mut deps = Deps::default();
            buffer.dependencies(on, &accesses, &mut deps);
            let mut touched = (Vec::new(), Vec::new());
            for access in &accesses {
                for element in elements_of(&grid, &access.elements) {
                    if access.mode.needs_content() {
                        prop_assert_eq!(memory[group.domain][element], truth[element], "element {} of {:?}", element, access);
                    }
                    let list = if access.mode.writes() { &mut touched.1 } else { &mut touched.0 };
                    list.push((group.domain, element));
                }
            }
            order.add(dep, &deps, &touched.0, &touched.1).map_err(TestCaseError::fail)?;
            for (_, element) in touched.1 {
                truth[element] = Some(sequence);
                memory[group.domain][element] = Some(sequence);
            }
            buffer.commit_accesses(on, &accesses, dep);
        }
        // Reading everything back on the host gives what the sequential program gives.
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
        .for_each(|transfer| buffer.commit_transfer(transfer, Dep::new(9, 1)));
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
fn nothing_is_copied_that_nobody_wrote() {
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
fn lost_pages_are_refused_until_they_are_overwritten() {
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

/// Tickets end in any order and are kept one by one; who only reads may come for ever.
#[test]
fn readers_whose_work_has_ended_are_forgotten() {
    let grid = Grid::new([1, 1, 64], 1, Some([1, 1, 1])).expect("a valid grid");
    let mut buffer = Buffer::new(grid);
    let read = [Access::whole(&grid, Mode::Read)];
    for ticket in 0..10_000 {
        buffer.commit_accesses(Domain::HOST, &read, Dep::new(Dep::TICKETS, ticket));
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
