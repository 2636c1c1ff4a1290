//! Building: joined threads share jobs, each for a part of the input, of the tree or of the output.
//!
//! Four rounds, each of which ends with its last job: reading boxes, halving large sets repeatedly, building the tree
//! (whose upper nodes come from the halves), writing the bytes.

use crate::layout::{self, BLOCK, Kind, LEAF_MOST, Lane, NODE, Node, PACKET, Packet, Record};
use crate::layout::{WIDTH, Writer};
use crate::run::Items;
use crate::split::{Item, Set, children, split};
use crate::{Bounds, Vector};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Primitives below which a part of the tree is one thread's.
const ALONE: usize = 4096;
/// Primitives of a piece of input or output.
const PIECE: usize = 16384;
/// Primitives that are requested at a time.
const BATCH: usize = 256;

/// The source of a geometry's primitives; primitives are numbered from 0 in it.
pub trait Shape: Send + Sync {
    /// How many primitives there are.
    fn count(&self) -> usize;
    /// Returns the corners of a triangle or quad, or the box of another primitive (lower, upper), for primitives from
    /// `first` on, one for each of `out`; `None` for one that cannot be hit. Called from any joined thread, once for
    /// each primitive, and once more for each triangle or quad that can be hit.
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]);
    /// A hint that a primitive will be requested: first with `near` false, well before, then again shortly before.
    fn expect(&self, _number: usize, _near: bool) {}
}

impl<T: Shape + ?Sized> Shape for &T {
    fn count(&self) -> usize {
        (**self).count()
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        (**self).corners(first, out);
    }
    fn expect(&self, number: usize, near: bool) {
        (**self).expect(number, near);
    }
}

/// A geometry to build over.
pub struct Geometry<'a> {
    /// The source of its primitives.
    pub kind: Kind,
    /// The stored record of it.
    pub record: Record,
    /// Its primitives.
    pub shape: Box<dyn Shape + 'a>,
}

/// Why there is no structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The buffer must have that many bytes.
    TooSmall(usize),
    /// More primitives than numbers.
    TooMany,
    /// Memory for this many primitives is short.
    NoMemory(usize),
}

/// A part of the tree: nodes, the first of which is the part's root, or none if the part is one leaf. Numbers of nodes
/// and packets in their words count within the part, except for [`Part::elsewhere`].
#[derive(Default)]
struct Part {
    nodes: Vec<Node>,
    /// The first node's children that are separate parts: slot and place.
    elsewhere: Vec<(usize, usize)>,
    /// Leaves in the order of their packets: first item and count.
    leaves: Vec<(u32, u32)>,
    packets: usize,
}

/// A set on its way into the tree, and the numbers of its halves when it has been split.
struct Half {
    set: Set,
    halves: Option<[usize; 2]>,
}

enum Job<'a> {
    /// Read `count` primitives of a geometry from `first` on to the items of `run`.
    Read {
        geometry: usize,
        first: usize,
        run: Range<usize>,
    },
    /// Split the half of that number in two.
    Halve {
        set: Set,
        number: usize,
        depth: usize,
    },
    /// Build the tree of a set for a place; the set is already split into parts.
    Grow {
        set: Set,
        parts: Vec<Set>,
        place: usize,
        depth: usize,
    },
    /// Write a part, whose first node and packet have those numbers.
    Write {
        part: Part,
        first: [usize; 2],
        nodes: &'a mut [u8],
        packets: &'a mut [u8],
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Reading,
    Halving,
    Growing,
    Writing,
}

struct State<'a> {
    round: Round,
    jobs: Vec<Job<'a>>,
    /// Jobs that run.
    running: usize,
    /// Pieces of input that held fewer items than there is room for: first item, items, room.
    short: Vec<(usize, usize, usize)>,
    /// All that has been read.
    whole: Set,
    /// Items that there are.
    items: usize,
    /// The sets that large sets were split into; the first contains everything.
    halves: Vec<Half>,
    /// The nodes above all parts.
    crown: Crown,
    /// Parts of the tree by place, once built; those below others come after them.
    places: Vec<Option<Part>>,
    bounds: Bounds,
    /// Bytes of the structure, once laid out.
    size: usize,
    out: &'a mut [u8],
    done: Option<Result<usize, Failure>>,
}

/// A build under way.
pub struct Build<'a> {
    geometries: Vec<Geometry<'a>>,
    items: Items,
    has_quads: bool,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Build<'a> {
    /// Bytes that are usually enough, and bytes that always are, for that many primitives and geometries.
    #[must_use]
    pub fn sizes(primitives: usize, geometries: usize) -> (usize, usize) {
        // A node has eight children, or only leaves with five primitives or more in total; so there are at most a
        // fourth as many nodes as primitives, besides the root. A leaf has no more packets than primitives.
        let nodes = primitives / 4 + 1;
        (
            layout::size(primitives / 12 + 8, primitives / 8 * 5 + 8, geometries)
                .min(layout::size(nodes, primitives, geometries)),
            layout::size(nodes, primitives, geometries),
        )
    }

    /// A build of `geometries` into `out`; it starts when a thread joins.
    #[must_use]
    pub fn new(geometries: Vec<Geometry<'a>>, out: &'a mut [u8]) -> Self {
        let counts = geometries.iter().map(|geometry| geometry.shape.count());
        let total = counts.fold(0_usize, usize::saturating_add);
        let fits = total < layout::MOST_PRIMITIVES;
        let mut jobs = Vec::new();
        if fits {
            let mut at = 0;
            for (number, geometry) in geometries.iter().enumerate() {
                let count = geometry.shape.count();
                for first in (0..count).step_by(PIECE) {
                    let some = PIECE.min(count - first);
                    jobs.push(Job::Read {
                        geometry: number,
                        first,
                        run: at..at + some,
                    });
                    at += some;
                }
            }
        }
        let items = if fits { Items::new(total) } else { None };
        let done = match &items {
            _ if !fits => Some(Err(Failure::TooMany)),
            None => Some(Err(Failure::NoMemory(total))),
            Some(_) => None,
        };
        Self {
            has_quads: geometries.iter().any(|g| g.kind == Kind::Quad),
            geometries,
            items: items.unwrap_or_default(),
            state: Mutex::new(State {
                round: Round::Reading,
                jobs,
                running: 0,
                short: Vec::new(),
                whole: Set::empty(0),
                items: total,
                halves: Vec::new(),
                crown: Crown::default(),
                places: Vec::new(),
                bounds: Bounds::EMPTY,
                size: 0,
                out,
                done,
            }),
            changed: Condvar::new(),
        }
    }

    /// Threads that have something to do at most.
    #[must_use]
    pub fn concurrency(&self) -> usize {
        let total: usize = self.geometries.iter().map(|g| g.shape.count()).sum();
        total.div_ceil(ALONE).max(1)
    }

    /// The box around everything, once built.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        lock(&self.state).bounds
    }

    /// Works until the structure is done; bytes that it has. All that join get the same.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn join(&self) -> Result<usize, Failure> {
        let mut state = lock(&self.state);
        loop {
            if let Some(done) = state.done {
                return done;
            }
            if let Some(job) = state.jobs.pop() {
                state.running += 1;
                drop(state);
                self.run(job);
                state = lock(&self.state);
                state.running -= 1;
                if state.running == 0 || !state.jobs.is_empty() {
                    self.changed.notify_all();
                }
            } else if state.running == 0 {
                self.advance(&mut state);
                self.changed.notify_all();
            } else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// The next round, the last one's jobs all done.
    fn advance(&self, state: &mut State<'a>) {
        match state.round {
            Round::Reading => {
                state.round = Round::Halving;
                self.close_gaps(state);
                let set = state.whole;
                state.bounds = set.extent.bounds();
                state.halves.push(Half { set, halves: None });
                if set.count > ALONE {
                    state.jobs.push(Job::Halve {
                        set,
                        number: 0,
                        depth: 0,
                    });
                }
            }
            Round::Halving => {
                state.round = Round::Growing;
                let halves = std::mem::take(&mut state.halves);
                let mut crown = Crown::default();
                // The root is its first node or its only part.
                let _ = crown.top(&halves, 0, 0);
                for (place, (set, parts, depth)) in crown.parts.drain(..).enumerate() {
                    state.places.push(None);
                    state.jobs.push(Job::Grow {
                        set,
                        parts,
                        place,
                        depth,
                    });
                }
                // The largest are taken first.
                state.jobs.sort_by_key(|job| match job {
                    Job::Grow { set, .. } => set.count,
                    _ => 0,
                });
                state.crown = crown;
            }
            Round::Growing => {
                state.round = Round::Writing;
                if let Err(failure) = self.lay_out(state) {
                    state.done = Some(Err(failure));
                }
            }
            Round::Writing => {
                state.done = Some(Ok(state.size));
            }
        }
    }

    /// Moves items together where pieces have fewer than they have room for.
    fn close_gaps(&self, state: &mut State<'a>) {
        state.short.sort_unstable();
        let short = std::mem::take(&mut state.short);
        let Some(&(mut to, ..)) = short.first() else {
            return;
        };
        // SAFETY: no job runs.
        let items = unsafe { self.items.run(0..state.items) };
        for (at, (first, count, room)) in short.iter().enumerate() {
            let next = short.get(at + 1).map_or(items.len(), |next| next.0);
            items.copy_within(*first..first + count, to);
            to += count;
            // Full pieces up to the next short one.
            items.copy_within(first + room..next, to);
            to += next - (first + room);
        }
        state.items = to;
    }

    fn run(&self, job: Job<'a>) {
        match job {
            Job::Read {
                geometry,
                first,
                run,
            } => {
                let (begin, room) = (run.start, run.len());
                // SAFETY: the piece is this job's alone in this round.
                let items = unsafe { self.items.run(run) };
                let count = self.read(geometry, first, items);
                let set = Set::of(&items[..count], 0);
                let mut state = lock(&self.state);
                state.whole = state.whole.join(&set);
                if count < room {
                    state.short.push((begin, count, room));
                }
            }
            Job::Halve { set, number, depth } => {
                // SAFETY: the sets of jobs under way share no item.
                let items = unsafe { self.items.run(set.first..set.first + set.count) };
                let (left, right) = split(items, &set, depth);
                let mut state = lock(&self.state);
                let first = state.halves.len();
                state.halves[number].halves = Some([first, first + 1]);
                for (number, set) in [(first, left), (first + 1, right)] {
                    state.halves.push(Half { set, halves: None });
                    if set.count > ALONE {
                        state.jobs.push(Job::Halve {
                            set,
                            number,
                            depth: depth + 1,
                        });
                    }
                }
            }
            Job::Grow {
                set,
                parts,
                place,
                depth,
            } => {
                // SAFETY: the sets of jobs under way share no item.
                let items = unsafe { self.items.run(set.first..set.first + set.count) };
                let mut part = Part::default();
                if set.count > ALONE {
                    self.fork(items, &set, &parts, depth, &mut part);
                } else if set.count > LEAF_MOST {
                    part.nodes.reserve(set.count / 16 + 1);
                    part.leaves.reserve(set.count / 2 + 1);
                    self.grow(items, &set, &parts, depth, &mut part);
                } else if set.count > 0 {
                    self.leaf(items, &set, &mut part);
                }
                lock(&self.state).places[place] = Some(part);
            }
            Job::Write {
                mut part,
                first: [node, packet],
                nodes,
                packets,
            } => {
                let (nodes, _) = nodes.as_chunks_mut::<NODE>();
                for (from, to) in part.nodes.iter_mut().zip(nodes) {
                    for word in &mut from.words {
                        *word = moved(*word, node, packet);
                    }
                    layout::write_node(to, from);
                }
                self.write_packets(&part.leaves, packets);
            }
        }
    }

    /// One node of a large set, which is in parts already; its children are other jobs'.
    fn fork(&self, items: &mut [Item], set: &Set, parts: &[Set], depth: usize, part: &mut Part) {
        let (sets, count) = children(items, set, parts, depth);
        let mut node = Node::EMPTY;
        for (slot, child) in sets.iter().enumerate().take(count) {
            let mut word = layout::NONE;
            if child.count <= LEAF_MOST {
                let begin = child.first - set.first;
                word = self.leaf(&items[begin..begin + child.count], child, part);
            }
            node.set(slot, &child.extent.bounds(), word);
        }
        part.nodes.push(node);
        let mut state = lock(&self.state);
        for (slot, child) in sets.into_iter().enumerate().take(count) {
            if child.count > LEAF_MOST {
                // After its parent's place, so that its nodes come after its parent's.
                let place = state.places.len();
                state.places.push(None);
                part.elsewhere.push((slot, place));
                state.jobs.push(Job::Grow {
                    set: child,
                    parts: vec![child],
                    place,
                    depth: depth + 1,
                });
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The nodes of a set's tree, its root first; the set is in parts already. A node has eight children, or nothing but
    /// leaves.
    fn grow(&self, items: &mut [Item], set: &Set, parts: &[Set], depth: usize, part: &mut Part) {
        let at = part.nodes.len();
        part.nodes.push(Node::EMPTY);
        let (sets, count) = children(items, set, parts, depth);
        let sets = &sets[..count];
        let run = |child: &Set| child.first - set.first..child.first - set.first + child.count;
        // Leaves first, so that their packets are adjacent.
        for (slot, child) in sets.iter().enumerate() {
            if child.count <= LEAF_MOST {
                let word = self.leaf(&items[run(child)], child, part);
                part.nodes[at].set(slot, &child.extent.bounds(), word);
            }
        }
        for (slot, child) in sets.iter().enumerate() {
            if child.count > LEAF_MOST {
                let word = part.nodes.len() as u32;
                part.nodes[at].set(slot, &child.extent.bounds(), word);
                let items = &mut items[run(child)];
                self.grow(items, child, std::slice::from_ref(child), depth + 1, part);
            }
        }
    }

    /// A leaf of all items of a set; its word.
    fn leaf(&self, items: &[Item], set: &Set, part: &mut Part) -> u32 {
        let lanes = if self.has_quads {
            let is_quad =
                |item: &&Item| self.geometries[item.geometry() as usize].kind == Kind::Quad;
            items.len() + items.iter().filter(is_quad).count()
        } else {
            items.len()
        };
        let packets = lanes.div_ceil(layout::LANES);
        let word = layout::leaf(part.packets, packets);
        part.leaves.push((set.first as u32, set.count as u32));
        part.packets += packets;
        word
    }

    /// Writes the packets of leaves one after the other.
    fn write_packets(&self, leaves: &[(u32, u32)], to: &mut [u8]) {
        // How many leaves in advance a leaf's primitives are requested.
        const FAR: usize = 12;
        const NEAR: usize = 6;
        let items = |leaf: &(u32, u32)| {
            let first = leaf.0 as usize;
            // SAFETY: this round writes no items.
            unsafe { self.items.read(first..first + leaf.1 as usize) }
        };
        let expect = |leaf: Option<&(u32, u32)>, near: bool| {
            for item in leaf.into_iter().flat_map(items) {
                let geometry = &self.geometries[item.geometry() as usize];
                geometry.shape.expect(item.number() as usize, near);
            }
        };
        for at in 0..FAR.min(leaves.len()) {
            expect(leaves.get(at), false);
        }
        for at in 0..NEAR.min(leaves.len()) {
            expect(leaves.get(at), true);
        }
        let (packets, _) = to.as_chunks_mut::<PACKET>();
        let mut packets = packets.iter_mut();
        for (at, leaf) in leaves.iter().enumerate() {
            expect(leaves.get(at + FAR), false);
            expect(leaves.get(at + NEAR), true);
            let (mut packet, mut lane) = (Packet::EMPTY, 0);
            let mut next = |kind, item: &Item, corners: Option<[Vector; 3]>| {
                if lane == layout::LANES {
                    if let Some(to) = packets.next() {
                        layout::write_packet(to, &packet);
                    }
                    (packet, lane) = (Packet::EMPTY, 0);
                }
                packet.name(lane, kind, item.geometry(), item.number());
                if let Some(corners) = corners {
                    packet.triangle(lane, corners);
                }
                lane += 1;
            };
            for item in items(leaf) {
                let geometry = &self.geometries[item.geometry() as usize];
                match geometry.kind {
                    Kind::Procedural => next(Lane::Procedural, item, None),
                    Kind::Instance => next(Lane::Instance, item, None),
                    Kind::Triangle | Kind::Quad => {
                        let mut corners = [None];
                        geometry.shape.corners(item.number() as usize, &mut corners);
                        // Removed since it was read: no ray hits it.
                        let [a, b, c, d] = corners[0].unwrap_or([[f32::NAN; 3]; 4]);
                        if geometry.kind == Kind::Triangle {
                            next(Lane::Triangle, item, Some([a, b, c]));
                        } else {
                            // Two triangles, as the specification cuts a quad.
                            next(Lane::Triangle, item, Some([a, b, d]));
                            next(Lane::Half, item, Some([c, d, b]));
                        }
                    }
                }
            }
            if let Some(to) = packets.next() {
                layout::write_packet(to, &packet);
            }
        }
    }

    /// Items of the primitives that can be hit, packed to the front; how many.
    fn read(&self, number: usize, first: usize, items: &mut [Item]) -> usize {
        let geometry = &self.geometries[number];
        let mut corners = [None; BATCH];
        let mut count = 0;
        for begin in (0..items.len()).step_by(BATCH) {
            let corners = &mut corners[..BATCH.min(items.len() - begin)];
            geometry.shape.corners(first + begin, corners);
            for (i, corners) in corners.iter().enumerate() {
                let Some(bounds) = corners.as_ref().and_then(|c| around(geometry.kind, c)) else {
                    continue;
                };
                let primitive = (first + begin + i) as u32;
                items[count] = Item::new(&bounds, number as u32, primitive);
                count += 1;
            }
        }
        count
    }

    /// Assigns each part its offset in the output, and creates the jobs of writing.
    fn lay_out(&self, state: &mut State<'a>) -> Result<(), Failure> {
        let mut crown = std::mem::take(&mut state.crown);
        let mut parts: Vec<Part> = std::mem::take(&mut state.places)
            .into_iter()
            .flatten()
            .collect();
        // The root is a node in any case.
        if let ([], Some(part)) = (&crown.nodes[..], parts.first_mut())
            && part.nodes.is_empty()
        {
            let mut node = Node::EMPTY;
            if part.packets > 0 {
                node.set(0, &state.bounds, layout::leaf(0, part.packets));
            }
            part.nodes.push(node);
        }
        // Numbers of each part's first node and packet; the crown's nodes are before all others.
        let (mut nodes, mut packets) = (crown.nodes.len(), 0);
        let mut firsts = Vec::with_capacity(parts.len());
        for part in &parts {
            firsts.push([nodes, packets]);
            nodes += part.nodes.len();
            packets += part.packets;
        }
        for (node, slots) in crown.nodes.iter_mut().zip(&crown.places) {
            for (word, place) in node.words.iter_mut().zip(slots) {
                let Some(place) = *place else { continue };
                let [node, packet] = firsts[place];
                *word = if parts[place].nodes.is_empty() {
                    layout::leaf(packet, parts[place].packets)
                } else {
                    node as u32
                };
            }
        }
        for (part, [first, _]) in parts.iter_mut().zip(&firsts) {
            for (slot, place) in std::mem::take(&mut part.elsewhere) {
                if let Some(node) = part.nodes.first_mut() {
                    node.words[slot] = (firsts[place][0] - first) as u32;
                }
            }
        }
        let counts = [nodes, packets, self.geometries.len()];
        let size = layout::size(nodes, packets, self.geometries.len());
        let out = std::mem::take(&mut state.out);
        if out.len() < size {
            return Err(Failure::TooSmall(size));
        }
        let (head, rest) = out.split_at_mut(BLOCK);
        Writer { to: head }.head(counts, size, &state.bounds);
        let (mut nodes, rest) = rest.split_at_mut(nodes * NODE);
        let (mut packets, mut rest) = rest.split_at_mut(packets * PACKET);
        fn cut<'b>(from: &mut &'b mut [u8], bytes: usize) -> &'b mut [u8] {
            let (first, others) = std::mem::take(from).split_at_mut(bytes);
            *from = others;
            first
        }
        let (to, _) = cut(&mut nodes, crown.nodes.len() * NODE).as_chunks_mut();
        for (node, to) in crown.nodes.iter().zip(to) {
            layout::write_node(to, node);
        }
        for (part, first) in parts.into_iter().zip(firsts) {
            let nodes = cut(&mut nodes, part.nodes.len() * NODE);
            let packets = cut(&mut packets, part.packets * PACKET);
            state.jobs.push(Job::Write {
                part,
                first,
                nodes,
                packets,
            });
        }
        for geometry in &self.geometries {
            let to = cut(&mut rest, BLOCK);
            Writer { to }.record(0, &geometry.record);
        }
        state.size = size;
        Ok(())
    }
}

/// A word of a part, with node and packet numbers relative to the whole.
fn moved(word: u32, node: usize, packet: usize) -> u32 {
    match word {
        layout::NONE => word,
        _ if word & layout::LEAF != 0 => word + packet as u32,
        _ => word + node as u32,
    }
}

/// The nodes above all parts, from the halves that large sets were split into.
#[derive(Default)]
struct Crown {
    nodes: Vec<Node>,
    /// For each node the places of its children that are parts.
    places: Vec<[Option<usize>; WIDTH]>,
    /// The work for each place: a set, its parts so far, its depth.
    parts: Vec<(Set, Vec<Set>, usize)>,
}

impl Crown {
    /// Builds the nodes of a half and those below it. Returns its node's number, or its place if it is built later.
    fn top(&mut self, halves: &[Half], number: usize, depth: usize) -> Result<u32, usize> {
        // Always opens the largest by area that can be opened.
        let mut open = vec![number];
        let fork = |at: usize| halves[at].halves;
        while open.len() < WIDTH {
            let forks = open.iter().enumerate().filter_map(|(at, half)| {
                let area = halves[*half].set.extent.area();
                fork(*half).map(|below| (at, area, below))
            });
            let Some((at, _, [left, right])) = forks.max_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            open[at] = left;
            open.push(right);
        }
        if open.iter().all(|half| fork(*half).is_none()) {
            let parts = open.iter().map(|half| halves[*half].set).collect();
            self.parts.push((halves[number].set, parts, depth));
            return Err(self.parts.len() - 1);
        }
        let at = self.nodes.len();
        self.nodes.push(Node::EMPTY);
        self.places.push([None; WIDTH]);
        for (slot, half) in open.into_iter().enumerate() {
            let bounds = halves[half].set.extent.bounds();
            let mut word = layout::NONE;
            match self.top(halves, half, depth + 1) {
                Ok(number) => word = number,
                Err(place) => self.places[at][slot] = Some(place),
            }
            self.nodes[at].set(slot, &bounds, word);
        }
        Ok(at as u32)
    }
}

/// The box of a primitive; `None` for one that cannot be hit.
fn around(kind: Kind, corners: &[Vector; 4]) -> Option<Bounds> {
    let used = match kind {
        Kind::Triangle => &corners[..3],
        Kind::Quad => &corners[..],
        Kind::Procedural | Kind::Instance => &corners[..2],
    };
    // A NaN would be lost in minimum and maximum.
    if used.iter().flatten().any(|number| !number.is_finite()) {
        return None;
    }
    let bounds = match kind {
        Kind::Procedural | Kind::Instance => Bounds {
            lower: corners[0],
            upper: corners[1],
        },
        _ => Bounds::around(used),
    };
    bounds.is_sound().then_some(bounds)
}
