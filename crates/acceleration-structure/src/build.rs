//! Building: jobs that joined threads share, each a part of the input or of the tree.

use crate::layout::{self, Kind, LEAF_MOST, Node, Primitive, Record, Writer};
use crate::{Bounds, Vector};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bins of a split.
const BINS: usize = 16;
/// Primitives below which a part of the tree is one thread's.
const ALONE: usize = 8192;
/// Primitives of a piece of input.
const PIECE: usize = 32768;
/// Depth below which sets are halved without looking: no input makes the tree deeper than this and 28 more.
const DEEPEST: usize = 64;

/// What a geometry is made of; numbers of primitives are numbers in it.
pub trait Shape: Send + Sync {
    /// How many primitives there are.
    fn count(&self) -> usize;
    /// The corners of a triangle or quad, or the box of another (lower, upper), of primitives `first` and on, one for
    /// each of `out`; `None` for one that cannot be hit. Called once for each primitive, from any joined thread.
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

/// A primitive on its way.
#[derive(Clone, Copy)]
struct Item {
    bounds: Bounds,
    primitive: Primitive,
}

/// A part of the tree.
enum Tree {
    Leaf(Vec<Item>),
    Node(Vec<(Bounds, Tree)>),
    /// Another job's, by the number of its place.
    Elsewhere(usize),
}

enum Job {
    /// Read `count` primitives of a geometry from `first` on.
    Read {
        geometry: usize,
        first: usize,
        count: usize,
    },
    /// Make the tree of `items` for a place.
    Split { items: Vec<Item>, place: usize },
}

#[derive(Default)]
struct State {
    jobs: Vec<Job>,
    /// Jobs that run.
    running: usize,
    read: Vec<Item>,
    /// Trees by place; the first is the root.
    places: Vec<Option<Tree>>,
    is_reading: bool,
    done: Option<Result<usize, Failure>>,
}

/// A build under way.
pub struct Build<'a> {
    geometries: Vec<Geometry<'a>>,
    state: Mutex<State>,
    changed: Condvar,
    /// Where the structure goes.
    out: Mutex<&'a mut [u8]>,
    bounds: Mutex<Bounds>,
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
        let total = geometries.iter().fold(0_usize, |n, geometry| {
            n.saturating_add(geometry.shape.count())
        });
        let mut state = State {
            is_reading: true,
            ..State::default()
        };
        if total >= layout::MOST_PRIMITIVES {
            state.done = Some(Err(Failure::TooMany));
        } else {
            for (number, geometry) in geometries.iter().enumerate() {
                let count = geometry.shape.count();
                state
                    .jobs
                    .extend((0..count).step_by(PIECE).map(|first| Job::Read {
                        geometry: number,
                        first,
                        count: PIECE.min(count - first),
                    }));
            }
        }
        Self {
            geometries,
            state: Mutex::new(state),
            changed: Condvar::new(),
            out: Mutex::new(out),
            bounds: Mutex::new(Bounds::EMPTY),
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
        *lock(&self.bounds)
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
            } else if state.running == 0 {
                if state.is_reading {
                    state.is_reading = false;
                    let items = std::mem::take(&mut state.read);
                    state.places.push(None);
                    state.jobs.push(Job::Split { items, place: 0 });
                } else {
                    let done = self.finish(std::mem::take(&mut state.places));
                    state.done = Some(done);
                }
                self.changed.notify_all();
                continue;
            } else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if state.running == 0 || !state.jobs.is_empty() {
                self.changed.notify_all();
            }
        }
    }

    fn run(&self, job: Job) {
        match job {
            Job::Read {
                geometry,
                first,
                count,
            } => {
                let items = self.read(geometry, first, count);
                lock(&self.state).read.extend(items);
            }
            Job::Split { items, place } => {
                let tree = if items.len() <= ALONE {
                    tree_of(items, 0)
                } else {
                    let parts = children(items, 0);
                    let mut state = lock(&self.state);
                    let mut nodes = Vec::with_capacity(parts.len());
                    for (bounds, items) in parts {
                        let place = state.places.len();
                        state.places.push(None);
                        state.jobs.push(Job::Split { items, place });
                        nodes.push((bounds, Tree::Elsewhere(place)));
                    }
                    drop(state);
                    self.changed.notify_all();
                    Tree::Node(nodes)
                };
                if let Some(slot) = lock(&self.state).places.get_mut(place) {
                    *slot = Some(tree);
                }
            }
        }
    }

    fn read(&self, number: usize, first: usize, count: usize) -> Vec<Item> {
        let geometry = &self.geometries[number];
        let mut corners = vec![None; count];
        geometry.shape.corners(first, &mut corners);
        let item = |(i, corners): (usize, Option<[Vector; 4]>)| {
            let corners = corners?;
            let used = match geometry.kind {
                Kind::Triangle => &corners[..3],
                Kind::Quad => &corners[..],
                Kind::Procedural | Kind::Instance => &corners[..2],
            };
            // A number that is none would be lost in least and greatest.
            if used.iter().flatten().any(|number| !number.is_finite()) {
                return None;
            }
            let bounds = match geometry.kind {
                Kind::Procedural | Kind::Instance => Bounds {
                    lower: corners[0],
                    upper: corners[1],
                },
                _ => Bounds::around(used),
            };
            bounds.is_sound().then_some(Item {
                bounds,
                primitive: Primitive {
                    kind: geometry.kind,
                    geometry: number as u32,
                    number: (first + i) as u32,
                    corners,
                },
            })
        };
        corners.into_iter().enumerate().filter_map(item).collect()
    }

    /// Lays out the trees.
    fn finish(&self, mut places: Vec<Option<Tree>>) -> Result<usize, Failure> {
        let (mut nodes, mut primitives) = (vec![Node::EMPTY], Vec::new());
        let root = places.first_mut().and_then(Option::take);
        let mut bounds = Bounds::EMPTY;
        if let Some(root) = root {
            let children = match root {
                Tree::Node(children) => children,
                Tree::Leaf(items) if items.is_empty() => Vec::new(),
                leaf => vec![(bounds_of_tree(&leaf), leaf)],
            };
            // Depth first, with a list of nodes that are to be filled.
            let mut todo = vec![(0, children)];
            while let Some((at, children)) = todo.pop() {
                for (slot, (child_bounds, child)) in children.into_iter().enumerate() {
                    if at == 0 {
                        bounds = bounds.join(&child_bounds);
                    }
                    let child = match child {
                        Tree::Elsewhere(place) => places
                            .get_mut(place)
                            .and_then(Option::take)
                            .unwrap_or(Tree::Leaf(Vec::new())),
                        here => here,
                    };
                    let word = match child {
                        Tree::Leaf(items) if items.is_empty() => continue,
                        Tree::Leaf(items) => {
                            let word = layout::leaf(primitives.len(), items.len());
                            primitives.extend(items.iter().map(|item| item.primitive));
                            word
                        }
                        Tree::Node(children) => {
                            nodes.push(Node::EMPTY);
                            todo.push((nodes.len() - 1, children));
                            nodes.len() as u32 - 1
                        }
                        Tree::Elsewhere(_) => continue,
                    };
                    nodes[at].set(slot, &child_bounds, word);
                }
            }
        }
        let size = layout::size(nodes.len(), primitives.len(), self.geometries.len());
        let mut out = lock(&self.out);
        if out.len() < size {
            return Err(Failure::TooSmall(size));
        }
        let mut writer = Writer { to: &mut out };
        let counts = [nodes.len(), primitives.len(), self.geometries.len()];
        writer.head(counts, size, &bounds);
        let mut at = layout::BLOCK;
        for node in &nodes {
            writer.node(at, node);
            at += layout::BLOCK;
        }
        for primitive in &primitives {
            writer.primitive(at, primitive);
            at += layout::PRIMITIVE;
        }
        for geometry in &self.geometries {
            writer.record(at, &geometry.record);
            at += layout::BLOCK;
        }
        *lock(&self.bounds) = bounds;
        Ok(size)
    }
}

fn bounds_of(items: &[Item]) -> Bounds {
    items
        .iter()
        .fold(Bounds::EMPTY, |b, item| b.join(&item.bounds))
}

fn bounds_of_tree(tree: &Tree) -> Bounds {
    match tree {
        Tree::Leaf(items) => bounds_of(items),
        Tree::Node(children) => children.iter().fold(Bounds::EMPTY, |b, (c, _)| b.join(c)),
        Tree::Elsewhere(_) => Bounds::EMPTY,
    }
}

fn tree_of(items: Vec<Item>, depth: usize) -> Tree {
    if items.len() <= LEAF_MOST {
        return Tree::Leaf(items);
    }
    let parts = children(items, depth);
    Tree::Node(
        parts
            .into_iter()
            .map(|(bounds, items)| (bounds, tree_of(items, depth + 1)))
            .collect(),
    )
}

/// Splits a set into up to four: always the largest by area that can be split.
fn children(items: Vec<Item>, depth: usize) -> Vec<(Bounds, Vec<Item>)> {
    let mut parts = vec![(bounds_of(&items), items)];
    while parts.len() < 4 {
        let splittable = parts
            .iter()
            .enumerate()
            .filter(|(_, (_, items))| items.len() > LEAF_MOST);
        let largest = splittable.max_by(|(_, (a, _)), (_, (b, _))| a.area().total_cmp(&b.area()));
        let Some(at) = largest.map(|(at, _)| at) else {
            break;
        };
        let (_, items) = parts.swap_remove(at);
        let (left, right) = split(items, depth);
        parts.push((bounds_of(&left), left));
        parts.push((bounds_of(&right), right));
    }
    parts
}

/// Two sets, neither empty.
fn split(mut items: Vec<Item>, depth: usize) -> (Vec<Item>, Vec<Item>) {
    // Both ends of the middles, by axis.
    let mut ends = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for item in &items {
        for axis in 0..3 {
            let middle = item.bounds.middle(axis);
            ends.0[axis] = ends.0[axis].min(middle);
            ends.1[axis] = ends.1[axis].max(middle);
        }
    }
    let bin_of = |item: &Item, axis: usize| {
        let scale = BINS as f32 / (ends.1[axis] - ends.0[axis]);
        // Clamped: the greatest middle falls into the last bin, and what is no number into the first.
        (((item.bounds.middle(axis) - ends.0[axis]) * scale) as usize).min(BINS - 1)
    };
    let mut best: Option<(f32, usize, usize)> = None;
    for axis in (0..3).filter(|axis| depth < DEEPEST && ends.1[*axis] > ends.0[*axis]) {
        let mut bins = [(Bounds::EMPTY, 0_usize); BINS];
        for item in &items {
            let (bounds, count) = &mut bins[bin_of(item, axis)];
            *bounds = bounds.join(&item.bounds);
            *count += 1;
        }
        // Cost of everything from each bin on.
        let mut right = [0.0_f32; BINS];
        let (mut bounds, mut count) = (Bounds::EMPTY, 0);
        for at in (1..BINS).rev() {
            bounds = bounds.join(&bins[at].0);
            count += bins[at].1;
            right[at] = if count == 0 {
                f32::INFINITY
            } else {
                bounds.area() * count as f32
            };
        }
        let (mut bounds, mut count) = (Bounds::EMPTY, 0);
        for at in 1..BINS {
            bounds = bounds.join(&bins[at - 1].0);
            count += bins[at - 1].1;
            if count == 0 {
                continue;
            }
            let cost = bounds.area() * count as f32 + right[at];
            if cost.is_finite() && best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, axis, at));
            }
        }
    }
    if let Some((_, axis, at)) = best {
        let (left, right): (Vec<_>, Vec<_>) =
            items.iter().partition(|item| bin_of(item, axis) < at);
        if !left.is_empty() && !right.is_empty() {
            return (left, right);
        }
    }
    // All in one place, or too deep: halves are as good as anything.
    let right = items.split_off(items.len() / 2);
    (items, right)
}
