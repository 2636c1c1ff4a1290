//! Random programs on random page grids against a sequential model: checks contents at every read, and after every step
//! exactly which elements were copied, and where.
//!
//! Each world has its own programs, 10000 in all. `SOLUM_TEST_PROGRAMS` sets their number, or a range: `700..900`.

use std::ops::Range as Span;

use sycl::{Buffer, BufferOptions, Device, Id, Kernel, Queue, Range, Read, ReadWrite, Val, Write};

use crate::groups::Random;
use crate::world::{devices, has_peers, is_discrete, kernel, queue};
use crate::{Test, WORLD, Where, copies};

pub(crate) const TESTS: &[Test] = &[
    ("random_oracle", Where::Everywhere, random_oracle),
    ("random_oracle_with_peers", Where::Peers, random_oracle),
];

/// The default number of programs of one world.
const PROGRAMS: u64 = 2500;
/// The worlds that have programs.
const WORLDS: [&str; 4] = ["discrete", "batched", "host", "peers"];
const STEPS: u32 = 14;
/// Devices that take part; there is one domain more, the host's.
const DEVICES: usize = 3;

/// A box of elements.
#[derive(Clone, Copy, Debug)]
struct Part {
    offset: [usize; 3],
    range: [usize; 3],
}

impl Part {
    fn elements(&self, extent: [usize; 3]) -> Vec<usize> {
        let mut all = Vec::new();
        for x in self.offset[0]..self.offset[0] + self.range[0] {
            for y in self.offset[1]..self.offset[1] + self.range[1] {
                let row = (x * extent[1] + y) * extent[2];
                all.extend((row + self.offset[2])..(row + self.offset[2] + self.range[2]));
            }
        }
        all
    }
}

/// A buffer's contents in sequential order, and the memories that hold them: bit 0 is the host's, bit n + 1 device n's.
struct Model {
    extent: [usize; 3],
    page: [usize; 3],
    /// `None` for unwritten elements.
    values: Vec<Option<u32>>,
    /// 0 in unwritten pages.
    at: Vec<u8>,
    /// The devices' domains in order of their first use; the host's is first.
    used: Vec<usize>,
}

/// A copied element: its buffer, the target domain, its index.
type Copied = (usize, usize, usize);

impl Model {
    /// The elements of each page that contains some of these.
    fn pages_with(&self, some: &[usize]) -> Vec<Vec<usize>> {
        let mut all = self.pages(&self.whole());
        all.retain(|page| page.iter().any(|element| some.contains(element)));
        all
    }

    /// The elements of each page that a part overlaps.
    fn pages(&self, part: &Part) -> Vec<Vec<usize>> {
        let span = |axis: usize| {
            let (first, count) = (part.offset[axis], part.range[axis]);
            first / self.page[axis]..(first + count).div_ceil(self.page[axis])
        };
        let mut pages = Vec::new();
        for x in span(0) {
            for y in span(1) {
                for z in span(2) {
                    let offset = [x * self.page[0], y * self.page[1], z * self.page[2]];
                    let mut range = self.page;
                    for axis in 0..3 {
                        range[axis] = range[axis].min(self.extent[axis] - offset[axis]);
                    }
                    pages.push(Part { offset, range }.elements(self.extent));
                }
            }
        }
        pages
    }

    fn whole(&self) -> Part {
        Part {
            offset: [0; 3],
            range: self.extent,
        }
    }

    fn uses(&mut self, domain: usize) {
        if domain != 0 && !self.used.contains(&domain) {
            self.used.push(domain);
        }
    }

    /// The domains that hold a whole page.
    fn holders(&self, page: &[usize]) -> u8 {
        page.iter()
            .fold(u8::MAX, |all, element| all & self.at[*element])
    }

    /// Returns the copies that are needed before a domain sees a part, through the host without peer access, and makes
    /// them in the model.
    fn bring(&mut self, buffer: usize, domain: usize, part: &Part, copied: &mut Vec<Copied>) {
        self.uses(domain);
        for page in self.pages(part) {
            self.bring_page(buffer, domain, &page, copied);
        }
    }

    fn bring_page(
        &mut self,
        buffer: usize,
        domain: usize,
        page: &[usize],
        copied: &mut Vec<Copied>,
    ) {
        let (here, holders) = (1u8 << domain, self.holders(page));
        if self.at[page[0]] == 0 || holders & here != 0 {
            return;
        }
        if holders != 0 {
            if domain != 0 && holders & 1 == 0 && !has_peers() {
                copied.extend(page.iter().map(|element| (buffer, 0, *element)));
                page.iter().for_each(|element| self.at[*element] |= 1);
            }
            copied.extend(page.iter().map(|element| (buffer, domain, *element)));
            page.iter().for_each(|element| self.at[*element] |= here);
            return;
        }
        // In pieces that each have one source.
        for element in page {
            let at = std::mem::replace(&mut self.at[*element], here);
            if at != here {
                let passes = domain != 0 && at != 1 && !has_peers();
                copied.extend(passes.then_some((buffer, 0, *element)));
                copied.push((buffer, domain, *element));
            }
        }
    }

    /// From now on only this domain's copy of the part's pages is valid.
    fn write(&mut self, domain: usize, part: &Part) {
        for page in self.pages(part) {
            page.iter()
                .for_each(|element| self.at[*element] = 1 << domain);
        }
    }

    /// As `write`, with `no_init`: the rest of a page stays where it was.
    fn overwrite(&mut self, domain: usize, part: &Part) {
        self.uses(domain);
        let fresh = part.elements(self.extent);
        for page in self.pages(part) {
            let holders = self.holders(&page);
            // One of the domains keeps the rest: the first.
            let first = std::iter::once(&0).chain(&self.used);
            let keeper = first.copied().find(|holder| holders >> holder & 1 == 1);
            let is_fresh = |element: &usize| fresh.binary_search(element).is_ok();
            let unwritten = self.at[page[0]] == 0;
            let alone = unwritten || holders & 1 << domain != 0 || page.iter().all(is_fresh);
            for element in &page {
                let at = &mut self.at[*element];
                if alone || is_fresh(element) {
                    *at = 1 << domain;
                } else if let Some(keeper) = keeper {
                    *at = 1 << keeper;
                }
            }
        }
    }

    /// Releases a device's memory: contents that are only there are copied to the host.
    fn release(&mut self, buffer: usize, domain: usize, copied: &mut Vec<Copied>) {
        let here = 1u8 << domain;
        for page in self.pages(&self.whole()) {
            let holders = self.holders(&page);
            let in_pieces =
                holders == 0 && page.iter().any(|element| self.at[*element] & here != 0);
            if holders == here || in_pieces {
                self.bring_page(buffer, 0, &page, copied);
            }
            page.iter().for_each(|element| self.at[*element] &= !here);
        }
    }

    /// The part's values, if all were written.
    fn known(&self, part: &Part) -> bool {
        let elements = part.elements(self.extent);
        elements
            .iter()
            .all(|element| self.values[*element].is_some())
    }
}

/// A buffer and its model.
struct Pair {
    buffer: Buffer<'static, u32, 3>,
    model: Model,
}

impl Pair {
    fn new(random: &mut Random, extent: [usize; 3]) -> Self {
        let page = extent.map(|n| 1 + random.below(n));
        let options = BufferOptions {
            page_size: Some(Range(page)),
            ..BufferOptions::default()
        };
        let count: usize = extent.iter().product();
        let initial = random.below(4) > 0;
        let data: Vec<u32> = (0..count as u32).collect();
        let buffer = match initial {
            true => Buffer::from_slice_with(&data, extent, &options),
            false => Buffer::with_options(extent, &options),
        };
        let model = Model {
            extent,
            page,
            values: data
                .into_iter()
                .map(|value| initial.then_some(value))
                .collect(),
            at: vec![u8::from(initial); count],
            used: Vec::new(),
        };
        let buffer = buffer.unwrap();
        Self { buffer, model }
    }
}

/// The runtime's copies since recording began. Copies that the program submitted are between buffers and left out.
fn copied(places: &[(usize, usize, usize)], bytes: usize) -> Vec<Copied> {
    // Buffer, domain, and offset from its first byte; the host's memory is not in the list.
    let find = |address: usize| {
        let mut all = places.iter();
        all.find(|(.., first)| (*first..first + bytes).contains(&address))
            .map(|&(buffer, domain, first)| (buffer, domain, address - first))
    };
    let mut all = Vec::new();
    for run in copies::take().into_iter().flatten() {
        let (buffer, domain, offset) = match (find(run.from), find(run.to)) {
            (None, None) => continue,
            (Some(from), Some(to)) if from.0 != to.0 => continue,
            (Some((buffer, _, offset)), None) => (buffer, 0, offset),
            (_, Some(to)) => to,
        };
        assert_eq!((offset % 4, run.bytes % 4), (0, 0), "whole elements");
        all.extend((offset / 4..(offset + run.bytes) / 4).map(|element| (buffer, domain, element)));
    }
    all.sort_unstable();
    all
}

struct Kernels {
    stamp: Kernel,
    check: Kernel,
}

fn random_oracle() {
    let text = std::env::var("SOLUM_TEST_PROGRAMS").unwrap_or_default();
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    let programs: Span<u64> = match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None if text.is_empty() => {
            let world = std::env::var(WORLD).unwrap();
            let number = WORLDS.iter().position(|name| *name == world).unwrap() as u64;
            number * PROGRAMS..(number + 1) * PROGRAMS
        }
        None => 0..number(&text),
    };
    let devices: Vec<Device> = devices().into_iter().take(DEVICES).collect();
    let queues: Vec<Queue> = (0..devices.len()).map(queue).collect();
    let kernels = Kernels {
        stamp: kernel("stamp"),
        check: kernel("check"),
    };
    for program in programs {
        run(program, &devices, &queues, &kernels);
    }
}

fn run(program: u64, devices: &[Device], queues: &[Queue], kernels: &Kernels) {
    let mut random = Random::of(program);
    let extent: [usize; 3] = match program % 3 {
        0 => [1, 1, 1 + random.below(40)],
        1 => [1, 1 + random.below(8), 1 + random.below(8)],
        _ => [1, 2, 3].map(|_| 1 + random.below(5)),
    };
    let mut pairs = [0, 1].map(|_| Pair::new(&mut random, extent));
    let bytes = 4 * extent.iter().product::<usize>();
    let places = |pairs: &[Pair; 2]| {
        let mut all = Vec::new();
        for (buffer, pair) in pairs.iter().enumerate() {
            for (number, device) in devices.iter().enumerate() {
                let memory = pair.buffer.device_ptr(device);
                // Nothing is ever copied from or to devices that use host memory.
                let domain = if is_discrete() { number + 1 } else { 0 };
                all.extend(memory.map(|memory| (buffer, domain, memory.addr())));
            }
        }
        all
    };
    let mut steps = Vec::new();
    for step in 0..STEPS {
        let before = places(&pairs);
        let mut expected = Vec::new();
        copies::watch();
        let what = take_step(
            &mut pairs,
            &mut random,
            step,
            (devices, queues, kernels),
            &mut expected,
        );
        let mut known = places(&pairs);
        // This step used memory that it then released.
        for place in before {
            if !known.contains(&place) {
                known.push(place);
            }
        }
        expected.sort_unstable();
        steps.push(what);
        assert_eq!(
            copied(&known, bytes),
            expected,
            "program {program}: (buffer, domain, element) after {steps:#?}"
        );
    }
    for (number, Pair { buffer, model }) in pairs.into_iter().enumerate() {
        let got = buffer.into_vec().unwrap();
        for (element, value) in model.values.iter().enumerate() {
            assert!(
                value.is_none_or(|value| got[element] == value),
                "program {program}, buffer {number}, element {element}: {} instead of {value:?}",
                got[element]
            );
        }
    }
}

/// A random box, and sometimes the whole buffer, which random boxes seldom are.
fn random_part(random: &mut Random, extent: [usize; 3]) -> Part {
    let offset = extent.map(|n| random.below(n));
    let mut range = [0; 3];
    for axis in 0..3 {
        range[axis] = 1 + random.below(extent[axis] - offset[axis]);
    }
    match random.below(4) {
        0 => Part {
            offset: [0; 3],
            range: extent,
        },
        _ => Part { offset, range },
    }
}

/// The indices in a box, in element order.
fn boxes(range: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    let [planes, rows, columns] = range;
    let place = move |at: usize| [at / (rows * columns), at / columns % rows, at % columns];
    (0..planes * rows * columns).map(place)
}

/// The host reads (0), changes (1) or overwrites (2) a part of a buffer and its model.
fn host_access(
    number: usize,
    (buffer, model): (&Buffer<'static, u32, 3>, &mut Model),
    part: &Part,
    mode: usize,
    value: u32,
    expected: &mut Vec<Copied>,
) -> String {
    let Part { offset, range } = *part;
    let elements = part.elements(model.extent);
    let all = boxes(range).zip(elements);
    let right = |known: Option<u32>, element: u32| {
        assert!(
            known.is_none_or(|known| element == known),
            "host reads {part:?}"
        );
    };
    if mode == 2 {
        model.overwrite(0, part);
        let fresh = Write.no_init();
        let mut access = buffer.host_access_ranged(fresh, range, offset).unwrap();
        for (id, at) in all {
            access[Id(id)] = value;
            model.values[at] = Some(value);
        }
        return format!("host overwrites {number} {part:?}");
    }
    model.bring(number, 0, part, expected);
    if mode == 0 {
        let access = buffer.host_access_ranged(Read, range, offset).unwrap();
        for (id, at) in all {
            right(model.values[at], access[Id(id)]);
        }
        return format!("host reads {number} {part:?}");
    }
    model.write(0, part);
    let mut access = buffer.host_access_ranged(ReadWrite, range, offset).unwrap();
    for (id, at) in all {
        let (known, element) = (&mut model.values[at], &mut access[Id(id)]);
        right(*known, *element);
        *element ^= value;
        *known = known.map(|known| known ^ value);
    }
    format!("host changes {number} {part:?}")
}

/// Reads or fills successive elements through a view of another shape, of the whole buffer or only those elements; or
/// the host changes them. The pages with such elements are accessed.
fn through_a_view(
    number: usize,
    (buffer, model): (&Buffer<'static, u32, 3>, &mut Model),
    random: &mut Random,
    (queue, domain, value): (&Queue, usize, u32),
    expected: &mut Vec<Copied>,
) -> String {
    let count = model.values.len();
    let first = random.below(count);
    let length = 1 + random.below(count - first);
    let (kind, is_part) = (random.below(3), random.below(2) == 0);
    let domain = if kind == 2 { 0 } else { domain };
    let elements: Vec<usize> = (first..first + length).collect();
    let pages = model.pages_with(&elements);
    model.uses(domain);
    for page in &pages {
        model.bring_page(number, domain, page, expected);
    }
    let line = buffer.reinterpret::<i32, 1>(count).unwrap();
    let (view, at) = match is_part {
        true => (line.sub(first, length).unwrap(), 0),
        false => (line, first),
    };
    let value = i32::from_ne_bytes(value.to_ne_bytes());
    let known = u32::from_ne_bytes(value.to_ne_bytes());
    if kind == 2 {
        let mut access = view.host_access_ranged(ReadWrite, length, at).unwrap();
        for (element, known) in access.iter_mut().zip(&model.values[first..]) {
            let seen = u32::from_ne_bytes(element.to_ne_bytes());
            assert!(known.is_none_or(|known| known == seen), "host by a view");
            *element = value;
        }
    } else {
        let submitted = queue.submit(|cg| {
            if kind == 0 {
                cg.access_ranged(&view, Read, length, at)?;
                return cg.barrier();
            }
            let a = cg.access_ranged(&view, Write, length, at)?;
            cg.fill(&a, value)
        });
        submitted.unwrap();
    }
    if kind != 0 {
        for page in pages {
            page.iter()
                .for_each(|element| model.at[*element] = 1 << domain);
        }
        model.values[first..first + length].fill(Some(known));
    }
    format!("{kind} of {number} by a view, part {is_part}, {first} and {length} on {domain}")
}

/// Applies a random operation to a buffer and its model; returns its description.
fn take_step(
    pairs: &mut [Pair; 2],
    random: &mut Random,
    step: u32,
    (devices, queues, kernels): (&[Device], &[Queue], &Kernels),
    expected: &mut Vec<Copied>,
) -> String {
    let number = random.below(2);
    let device = random.below(devices.len());
    let domain = if is_discrete() { device + 1 } else { 0 };
    let queue = &queues[device];
    let extent = pairs[0].model.extent;
    let part = random_part(random, extent);
    let Part { offset, range } = part;
    let elements = part.elements(extent);
    let [x, y, z] = offset.map(|first| Val(first as u64));
    let (row, plane) = (Val(extent[2] as u64), Val((extent[1] * extent[2]) as u64));
    let value = step + 1 + 100 * random.below(1_000_000) as u32;
    let [one, other] = pairs;
    let (pair, source) = if number == 0 {
        (one, &mut *other)
    } else {
        (other, &mut *one)
    };
    let (buffer, model) = (&pair.buffer, &mut pair.model);
    match random.below(11) {
        10 => through_a_view(
            number,
            (buffer, model),
            random,
            (queue, domain, value),
            expected,
        ),
        kind @ 0..=2 => {
            let (fresh, reads) = (kind == 0, random.below(2) == 0);
            let stamp = &kernels.stamp;
            // Another accessor of the same group; together they need the contents that either needs.
            let also = (!fresh && random.below(2) == 0).then(|| random_part(random, extent));
            if !fresh {
                model.bring(number, domain, &part, expected);
            }
            if let Some(also) = &also {
                model.bring(number, domain, also, expected);
            }
            macro_rules! stamped {
                ($cg:expr, $mode:expr) => {{
                    let a = $cg.access_ranged(buffer, $mode, range, offset)?;
                    $cg.parallel_for(stamp, range, (&a, x, y, z, row, plane, value))
                }};
            }
            let submitted = queue.submit(|cg| {
                if let Some(also) = &also {
                    cg.access_ranged(buffer, Read, also.range, also.offset)?;
                }
                match (fresh, reads) {
                    (true, false) => stamped!(cg, Write.no_init()),
                    (true, true) => stamped!(cg, ReadWrite.no_init()),
                    (false, false) => stamped!(cg, Write),
                    (false, true) => stamped!(cg, ReadWrite),
                }
            });
            submitted.unwrap();
            match fresh {
                true => model.overwrite(domain, &part),
                false => model.write(domain, &part),
            }
            for at in elements {
                let stamped = value.wrapping_mul(2_654_435_761).wrapping_add(at as u32);
                model.values[at] = Some(stamped);
            }
            format!(
                "kernel writes {number} {part:?}, fresh {fresh}, reads {reads} and {also:?}, on {domain}"
            )
        }
        3 | 4 => {
            model.bring(number, domain, &part, expected);
            let data: Vec<u32> = model
                .values
                .iter()
                .map(|value| value.unwrap_or(0))
                .collect();
            let wanted = Buffer::<u32>::from_slice(&data, data.len()).unwrap();
            let wrong = Buffer::<u32>::from_slice(&[0], 1).unwrap();
            let known = model.known(&part);
            let submitted = queue.submit(|cg| {
                let a = cg.access_ranged(buffer, Read, range, offset)?;
                if !known {
                    return cg.barrier();
                }
                let (e, w) = (cg.access(&wanted, Read)?, cg.access(&wrong, ReadWrite)?);
                cg.parallel_for(&kernels.check, range, (&a, &e, &w, x, y, z, row, plane))
            });
            submitted.unwrap();
            let what = format!("kernel reads {number} {part:?} on {domain}");
            assert_eq!(wrong.into_vec().unwrap(), [0], "{what}");
            what
        }
        5 => {
            model.bring(number, domain, &part, expected);
            let filled = queue.submit(|cg| {
                let a = cg.access_ranged(buffer, Write, range, offset)?;
                cg.fill(&a, value)
            });
            filled.unwrap();
            model.write(domain, &part);
            elements
                .iter()
                .for_each(|at| model.values[*at] = Some(value));
            format!("fill of {number} {part:?} on {domain}")
        }
        6 => host_access(
            number,
            (buffer, model),
            &part,
            random.below(3),
            value,
            expected,
        ),
        7 => {
            let mode = random.below(3);
            if mode != 2 {
                model.bring(number, 0, &part, expected);
            }
            let submitted = queue.submit(|cg| match mode {
                0 => {
                    let view = cg.host_task_access_ranged(buffer, Read, range, offset)?;
                    cg.host_task((view,), |_, _| Ok(()))
                }
                1 => {
                    let view = cg.host_task_access_ranged(buffer, ReadWrite, range, offset)?;
                    cg.host_task((view,), move |_, (mut view,)| {
                        view.set(Id([0; 3]), value);
                        Ok(())
                    })
                }
                _ => {
                    let view =
                        cg.host_task_access_ranged(buffer, Write.no_init(), range, offset)?;
                    cg.host_task((view,), move |_, (mut view,)| {
                        boxes(range).for_each(|id| view.set(Id(id), value));
                        Ok(())
                    })
                }
            });
            submitted.unwrap().wait().unwrap();
            match mode {
                0 => {}
                1 => {
                    model.write(0, &part);
                    model.values[elements[0]] = Some(value);
                }
                _ => {
                    model.overwrite(0, &part);
                    let all = elements.iter();
                    all.for_each(|at| model.values[*at] = Some(value));
                }
            }
            format!("host task, mode {mode}, of {number} {part:?}")
        }
        8 => {
            source.model.bring(1 - number, domain, &part, expected);
            model.bring(number, domain, &part, expected);
            let copied = queue.submit(|cg| {
                let from = cg.access_ranged(&source.buffer, Read, range, offset)?;
                let to = cg.access_ranged(buffer, Write, range, offset)?;
                cg.copy(&from, &to)
            });
            copied.unwrap();
            model.write(domain, &part);
            for at in elements {
                model.values[at] = source.model.values[at];
            }
            format!("copy to {number} of {part:?} on {domain}")
        }
        _ if random.below(2) == 0 => {
            model.bring(number, 0, &part, expected);
            let updated = queue.submit(|cg| {
                let a = cg.access_ranged(buffer, Read, range, offset)?;
                cg.update_host(&a)
            });
            updated.unwrap();
            format!("update_host of {number} {part:?}")
        }
        _ => {
            if domain > 0 {
                model.release(number, domain, expected);
            }
            buffer.release(&devices[device]).unwrap();
            format!("release of {number} on {domain}")
        }
    }
}
