//! Building: jobs that joined threads share, each a part of the input, of the tree or of the output.
//!
//! Three rounds, each over when its last job is: reading boxes, making the tree, writing the bytes.

use crate::layout::{self, BLOCK, Kind, LEAF_MOST, Node, PRIMITIVE, Primitive, Record, Writer};
use crate::run::Items;
use crate::split::{Item, Set, children};
use crate::{Bounds, Vector};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Primitives below which a part of the tree is one thread's.
const ALONE: usize = 8192;
/// Primitives of a piece of input or output.
const PIECE: usize = 16384;
/// Primitives that are asked for at once.
const BATCH: usize = 256;

/// What a geometry is made of; numbers of primitives are numbers in it.
pub trait Shape: Send + Sync {
    /// How many primitives there are.
    fn count(&self) -> usize;
    /// The corners of a triangle or quad, or the box of another (lower, upper), of primitives `first` and on, one for
    /// each of `out`; `None` for one that cannot be hit. Called from any joined thread, once for each primitive, and
    /// once more for each triangle or quad that can be hit.
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]);
}

impl<T: Shape + ?Sized> Shape for &T {
    fn count(&self) -> usize {
        (**self).count()
    }
    fn corners(&self, first: usize, out: &mut [Option<[Vector; 4]>]) {
        (**self).corners(first, out);
    }
}

/// A geometry to build over.
pub struct Geometry<'a> {
    /// What its primitives are.
    pub kind: Kind,
    /// What is stored of it.
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
}

/// A part of the tree: nodes, the first of which is the part's own root. Numbers of nodes in their words are numbers in
/// the part, except for [`Part::elsewhere`].
struct Part {
    nodes: Vec<Node>,
    /// The one node's children that are parts of their own: slot and place.
    elsewhere: Vec<(usize, usize)>,
}

enum Job<'a> {
    /// Read `count` primitives of a geometry from `first` on to the items of `run`.
    Read {
        geometry: usize,
        first: usize,
        run: Range<usize>,
    },
    /// Make the tree of a set for a place.
    Split {
        set: Set,
        place: usize,
        depth: usize,
    },
    /// Write a part's nodes, whose first has that number.
    Nodes {
        part: Part,
        base: usize,
        bases: Arc<[usize]>,
        to: &'a mut [u8],
    },
    /// Write the primitives of a run of items.
    Primitives { run: Range<usize>, to: &'a mut [u8] },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Reading,
    Splitting,
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
    /// Parts of the tree by place; the first has the root.
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
        let nodes = primitives.max(1);
        (
            layout::size(nodes / 2 + 8, primitives, geometries),
            layout::size(nodes, primitives, geometries),
        )
    }

    /// A build of `geometries` into `out`; nothing happens until somebody joins.
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
        Self {
            geometries,
            items: Items::new(if fits { total } else { 0 }),
            state: Mutex::new(State {
                round: Round::Reading,
                jobs,
                running: 0,
                short: Vec::new(),
                whole: Set::empty(0),
                items: total,
                places: Vec::new(),
                bounds: Bounds::EMPTY,
                size: 0,
                out,
                done: (!fits).then_some(Err(Failure::TooMany)),
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
                state.round = Round::Splitting;
                self.close_gaps(state);
                let set = state.whole;
                state.bounds = set.extent.bounds();
                state.places.push(None);
                state.jobs.push(Job::Split {
                    set,
                    place: 0,
                    depth: 0,
                });
            }
            Round::Splitting => {
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

    /// Moves items together where pieces held fewer than they have room for.
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
            Job::Split { set, place, depth } => {
                // SAFETY: the sets of jobs under way share no item.
                let items = unsafe { self.items.run(set.first..set.first + set.count) };
                let part = if set.count <= ALONE {
                    let mut nodes = Vec::with_capacity(set.count / 4 + 1);
                    grow(items, &set, depth, &mut nodes);
                    Part {
                        nodes,
                        elsewhere: Vec::new(),
                    }
                } else {
                    self.fork(items, &set, depth)
                };
                if let Some(slot) = lock(&self.state).places.get_mut(place) {
                    *slot = Some(part);
                }
            }
            Job::Nodes {
                mut part,
                base,
                bases,
                to,
            } => {
                for (slot, place) in part.elsewhere {
                    if let Some(node) = part.nodes.first_mut() {
                        node.words[slot] = bases[place].wrapping_sub(base) as u32;
                    }
                }
                for (node, to) in part.nodes.iter_mut().zip(to.chunks_exact_mut(BLOCK)) {
                    for word in &mut node.words {
                        if *word & layout::LEAF == 0 {
                            *word += base as u32;
                        }
                    }
                    Writer { to }.node(0, node);
                }
            }
            Job::Primitives { run, to } => {
                // SAFETY: the run is this job's alone in this round.
                let items = unsafe { self.items.run(run) };
                for (item, to) in items.iter().zip(to.chunks_exact_mut(PRIMITIVE)) {
                    Writer { to }.primitive(0, &self.primitive(item));
                }
            }
        }
    }

    /// One node of a large set; its children are other jobs'.
    fn fork(&self, items: &mut [Item], set: &Set, depth: usize) -> Part {
        let (sets, count) = children(items, set, depth);
        let (mut node, mut elsewhere) = (Node::EMPTY, Vec::new());
        let mut state = lock(&self.state);
        for (slot, set) in sets.into_iter().take(count).enumerate() {
            let mut word = 0;
            if set.count <= LEAF_MOST {
                word = layout::leaf(set.first, set.count);
            } else {
                // Behind its parent's place, so that its nodes are behind its parent's.
                let place = state.places.len();
                state.places.push(None);
                elsewhere.push((slot, place));
                state.jobs.push(Job::Split {
                    set,
                    place,
                    depth: depth + 1,
                });
            }
            node.set(slot, &set.extent.bounds(), word);
        }
        drop(state);
        self.changed.notify_all();
        Part {
            nodes: vec![node],
            elsewhere,
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

    fn primitive(&self, item: &Item) -> Primitive {
        let geometry = &self.geometries[item.geometry() as usize];
        let number = item.number();
        let corners = match geometry.kind {
            Kind::Triangle | Kind::Quad => {
                let mut corners = [None];
                geometry.shape.corners(number as usize, &mut corners);
                // Gone since it was read: a point, which nothing meets.
                corners[0].unwrap_or_default()
            }
            Kind::Procedural | Kind::Instance => {
                let Bounds { lower, upper } = item.bounds();
                [lower, upper, [0.0; 3], [0.0; 3]]
            }
        };
        Primitive {
            kind: geometry.kind,
            geometry: item.geometry(),
            number,
            corners,
        }
    }

    /// Gives each part its place in the output, and makes the jobs of writing.
    fn lay_out(&self, state: &mut State<'a>) -> Result<(), Failure> {
        let mut parts = std::mem::take(&mut state.places)
            .into_iter()
            .flatten()
            .collect::<Vec<_>>();
        if parts.is_empty() {
            parts.push(Part {
                nodes: vec![Node::EMPTY],
                elsewhere: Vec::new(),
            });
        }
        let mut nodes = 0;
        let bases: Arc<[usize]> = parts
            .iter()
            .map(|part| {
                nodes += part.nodes.len();
                nodes - part.nodes.len()
            })
            .collect();
        let counts = [nodes, state.items, self.geometries.len()];
        let size = layout::size(nodes, state.items, self.geometries.len());
        let out = std::mem::take(&mut state.out);
        if out.len() < size {
            return Err(Failure::TooSmall(size));
        }
        let (head, mut rest) = out.split_at_mut(BLOCK);
        Writer { to: head }.head(counts, size, &state.bounds);
        let mut cut = |bytes: usize| {
            let (first, others) = std::mem::take(&mut rest).split_at_mut(bytes);
            rest = others;
            first
        };
        for (part, base) in parts.into_iter().zip(bases.iter().copied()) {
            let to = cut(part.nodes.len() * BLOCK);
            let bases = bases.clone();
            state.jobs.push(Job::Nodes {
                part,
                base,
                bases,
                to,
            });
        }
        for first in (0..state.items).step_by(PIECE) {
            let run = first..state.items.min(first + PIECE);
            let to = cut(run.len() * PRIMITIVE);
            state.jobs.push(Job::Primitives { run, to });
        }
        for geometry in &self.geometries {
            Writer { to: cut(BLOCK) }.record(0, &geometry.record);
        }
        state.size = size;
        Ok(())
    }
}

/// The box of a primitive; none of one that cannot be hit.
fn around(kind: Kind, corners: &[Vector; 4]) -> Option<Bounds> {
    let used = match kind {
        Kind::Triangle => &corners[..3],
        Kind::Quad => &corners[..],
        Kind::Procedural | Kind::Instance => &corners[..2],
    };
    // A number that is none would be lost in least and greatest.
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

/// The nodes of a set's tree, its root first; at most as many as items, so the recursion is as deep as the tree.
fn grow(items: &mut [Item], set: &Set, depth: usize, nodes: &mut Vec<Node>) {
    let at = nodes.len();
    nodes.push(Node::EMPTY);
    if set.count == 0 {
        return;
    }
    let (sets, count) = if set.count <= LEAF_MOST {
        ([*set; crate::split::WIDTH], 1)
    } else {
        children(items, set, depth)
    };
    for (slot, child) in sets.iter().take(count).enumerate() {
        let word = if child.count <= LEAF_MOST {
            layout::leaf(child.first, child.count)
        } else {
            let word = nodes.len() as u32;
            let begin = child.first - set.first;
            grow(
                &mut items[begin..begin + child.count],
                child,
                depth + 1,
                nodes,
            );
            word
        };
        nodes[at].set(slot, &child.extent.bounds(), word);
    }
}
