//! Ray queries over a structure's bytes.

use crate::lanes::{self, Eight, Lanes, Twice};
use crate::layout::{self, BLOCK, LEAF, Lane, MAGIC, NODE, PACKET};
use crate::{Bounds, Vector};
use std::mem::MaybeUninit;

/// Nodes that wait during the descent: a node adds seven, and trees are less than 96 deep.
const STACK: usize = 704;
/// Structures inside of each other.
const DEEPEST: usize = 8;

/// A ray: the points `origin + t * direction` with `t` between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// The origin.
    pub origin: Vector,
    /// The direction, of any length above 0.
    pub direction: Vector,
    /// Least distance, in lengths of `direction`.
    pub nearest: f32,
    /// Greatest distance.
    pub farthest: f32,
    /// Hits geometries whose mask shares a bit.
    pub mask: u8,
}

/// An intersection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// In lengths of the ray's direction.
    pub distance: f32,
    /// Weight of the second corner (third of a quad's second half).
    pub u: f32,
    /// Weight of the third corner.
    pub v: f32,
    /// Number of the geometry in its structure.
    pub geometry: u32,
    /// Number of the primitive in the geometry.
    pub primitive: u32,
    /// The outermost instance's user id; `u32::MAX` outside of instances.
    pub instance: u32,
}

/// Nodes and leaves that wait, each with the distance at which the ray enters it; the nearest of each node on top.
struct Stack {
    // Not written before it is used: most rays need a small part.
    waiting: [MaybeUninit<(u32, f32)>; STACK],
    /// How many wait; those below have been written.
    top: usize,
}

impl Stack {
    fn new() -> Self {
        Self {
            waiting: [const { MaybeUninit::uninit() }; STACK],
            top: 0,
        }
    }

    /// Pushes a child below nearer ones that were pushed from `begin` on; damaged structures that need more room than
    /// valid ones lose it.
    #[inline(always)]
    fn push(&mut self, begin: usize, child: u32, near: f32) {
        if self.top >= STACK {
            return;
        }
        let mut at = self.top;
        // SAFETY: `at` is above 0 and at most `top`, so the one below it has been written.
        while at > begin && unsafe { self.waiting[at - 1].assume_init() }.1 < near {
            self.waiting[at] = self.waiting[at - 1];
            at -= 1;
        }
        self.waiting[at] = MaybeUninit::new((child, near));
        self.top += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<(u32, f32)> {
        self.top = self.top.checked_sub(1)?;
        // SAFETY: it was below the top, so it has been written.
        Some(unsafe { self.waiting[self.top].assume_init() })
    }
}

/// A structure's bytes, their head checked.
#[derive(Clone, Copy, Debug)]
pub struct Structure<'a> {
    bytes: &'a [u8],
    nodes: usize,
    packets: usize,
    geometries: usize,
    /// Whether rays are traced with AVX2.
    wide: bool,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u32::from_ne_bytes(*word))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    word.map_or(0, |word| u64::from_ne_bytes(*word))
}

fn float(bytes: &[u8], at: usize) -> f32 {
    f32::from_bits(word(bytes, at))
}

fn vector(bytes: &[u8], at: usize) -> Vector {
    [0, 4, 8].map(|offset| float(bytes, at + offset))
}

/// Asks the program where, if at all, a ray hits a procedural primitive: geometry, primitive, ray.
pub type Procedural<'p> = dyn FnMut(u32, u32, &Ray) -> Option<f32> + 'p;

impl<'a> Structure<'a> {
    /// Checks the head; `None` if the bytes are not a structure of this format.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() < BLOCK || long(bytes, 0) != MAGIC {
            return None;
        }
        let size = usize::try_from(long(bytes, 8)).ok()?;
        let [nodes, packets, geometries] = [16, 20, 24].map(|at| word(bytes, at) as usize);
        let whole = nodes > 0 && size == layout::size(nodes, packets, geometries);
        Some(Self {
            bytes: bytes.get(..size).filter(|_| whole)?,
            nodes,
            packets,
            geometries,
            wide: lanes::is_wide(),
        })
    }

    /// The same without instructions that only some processors have; the results are equal.
    #[must_use]
    pub fn portable(self) -> Self {
        Self {
            wide: false,
            ..self
        }
    }

    /// Bytes that a structure has, by its first 16.
    #[must_use]
    pub fn size(head: &[u8; 16]) -> Option<usize> {
        (long(head, 0) == MAGIC).then_some(usize::try_from(long(head, 8)).ok()?)
    }

    /// The box around everything; empty when there is nothing.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        Bounds {
            lower: vector(self.bytes, 32),
            upper: vector(self.bytes, 44),
        }
    }

    /// The nearest hit of the ray. `find` returns the structure at an instance's address.
    pub fn nearest<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
    ) -> Option<Hit> {
        self.walk(ray, find, procedural, false, 0)
    }

    /// Whether the ray hits anything.
    pub fn meets<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
    ) -> bool {
        self.walk(ray, find, procedural, true, 0).is_some()
    }

    #[inline]
    fn walk<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        if self.wide {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: set where the processor has it.
            return unsafe { self.walk_wide(ray, find, procedural, any, depth) };
        }
        self.walk_by::<Twice>(ray, find, procedural, any, depth)
    }

    /// The walk compiled for AVX2.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn walk_wide<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        self.walk_by::<lanes::Once>(ray, find, procedural, any, depth)
    }

    #[inline(always)]
    fn walk_by<'s, E: Eight>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        let mut ray = *ray;
        let slopes = Slopes::<E>::of(&ray);
        let beam = Beam::of(&ray);
        let mut best = None;
        let mut stack = Stack::new();
        stack.push(0, 0, 0.0);
        while let Some((mut child, entry)) = stack.pop() {
            if entry > ray.farthest {
                continue;
            }
            // Descends to a leaf, or until no child is entered.
            while child & LEAF == 0 {
                let Some(node) = self.node(child) else {
                    break;
                };
                let (near, mut entered) = boxes(node, &ray, &slopes);
                let word = |slot: usize| word(node, 4 * (slot % layout::WIDTH));
                let parent = child;
                child = 0;
                if entered == 0 {
                    break;
                }
                let slot = entered.trailing_zeros() as usize;
                entered &= entered - 1;
                // Damaged words may form cycles, so a child must come after its parent in the bytes.
                if entered == 0 {
                    child = word(slot);
                    if child <= parent {
                        child = 0;
                        break;
                    }
                    continue;
                }
                let near = near.array();
                let begin = stack.top;
                let first = word(slot);
                if first > parent {
                    self.fetch(first);
                    stack.push(begin, first, near[slot % layout::WIDTH]);
                }
                while entered != 0 {
                    let slot = entered.trailing_zeros() as usize;
                    entered &= entered - 1;
                    let next = word(slot);
                    if next > parent {
                        self.fetch(next);
                        stack.push(begin, next, near[slot % layout::WIDTH]);
                    }
                }
                if stack.top == begin {
                    break;
                }
                if let Some((nearest, _)) = stack.pop() {
                    child = nearest;
                }
            }
            if child & LEAF == 0 {
                continue;
            }
            let first = (child & 0x0fff_ffff) as usize;
            let end = self.packets.min(first + (child >> 28 & 7) as usize + 1);
            for packet in (first..end).filter_map(|number| self.packet(number)) {
                let (products, mut met) = meet_triangles(&ray, &beam, packet);
                if met != 0 {
                    let [distances, us, vs] = products.weights();
                    while met != 0 {
                        let lane = (met.trailing_zeros() & 3) as usize;
                        met &= met - 1;
                        // Rounding may have let one through that is behind the origin, or beyond all bounds.
                        let range = ray.nearest..=ray.farthest.min(f32::MAX);
                        if !range.contains(&distances[lane]) {
                            continue;
                        }
                        let geometry = word(packet, layout::GEOMETRIES + 4 * lane);
                        if self.record(geometry, &ray).is_none() {
                            continue;
                        }
                        let (mut u, mut v) = (us[lane], vs[lane]);
                        if packet[layout::KINDS + lane] == Lane::Half as u8 {
                            (u, v) = (1.0 - u, 1.0 - v);
                        }
                        ray.farthest = distances[lane];
                        best = Some(Hit {
                            distance: distances[lane],
                            u,
                            v,
                            geometry,
                            primitive: word(packet, layout::NUMBERS + 4 * lane),
                            instance: u32::MAX,
                        });
                        if any {
                            return best;
                        }
                    }
                }
                if word(packet, layout::KINDS) & ASKED != 0 {
                    for lane in 0..layout::LANES {
                        let asked = self.ask(packet, lane, &ray, find, procedural, any, depth);
                        let Some(hit) = asked else {
                            continue;
                        };
                        ray.farthest = hit.distance;
                        best = Some(hit);
                        if any {
                            return best;
                        }
                    }
                }
            }
        }
        best
    }

    #[inline(always)]
    fn node(&self, number: u32) -> Option<&'a [u8; NODE]> {
        let at = BLOCK + NODE * number as usize;
        let is_there = (number as usize) < self.nodes;
        self.bytes.get(at..).filter(|_| is_there)?.first_chunk()
    }

    #[inline(always)]
    fn packet(&self, number: usize) -> Option<&'a [u8; PACKET]> {
        let at = BLOCK + NODE * self.nodes + PACKET * number;
        let is_there = number < self.packets;
        self.bytes.get(at..).filter(|_| is_there)?.first_chunk()
    }

    /// Prefetches the data of a child word.
    #[inline(always)]
    fn fetch(&self, child: u32) {
        let leaf = BLOCK + NODE * self.nodes + PACKET * (child & 0x0fff_ffff) as usize;
        let node = BLOCK + NODE * child as usize;
        let (at, lines) = if child & LEAF != 0 {
            (leaf, PACKET / 64)
        } else {
            (node, NODE / 64)
        };
        for line in 0..lines {
            lanes::fetch(self.bytes.as_ptr().wrapping_add(at + 64 * line));
        }
    }

    /// A geometry's record, if it exists and its mask lets the ray hit it.
    #[inline(always)]
    fn record(&self, geometry: u32, ray: &Ray) -> Option<&'a [u8; BLOCK]> {
        let is_there = (geometry as usize) < self.geometries;
        let records = BLOCK + NODE * self.nodes + PACKET * self.packets;
        let record = self.bytes.get(records + BLOCK * geometry as usize..);
        let record = record.filter(|_| is_there)?.first_chunk::<BLOCK>()?;
        (record[4] & ray.mask != 0).then_some(record)
    }

    /// The result of a lane that is not a triangle: its nearest hit no farther than the ray's.
    #[expect(
        clippy::too_many_arguments,
        reason = "the state of the traversal and its callbacks"
    )]
    #[cold]
    fn ask<'s>(
        &self,
        packet: &[u8; PACKET],
        lane: usize,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        let geometry = word(packet, layout::GEOMETRIES + 4 * lane);
        let primitive = word(packet, layout::NUMBERS + 4 * lane);
        let record = self.record(geometry, ray)?;
        match packet[layout::KINDS + lane] {
            k if k == Lane::Procedural as u8 => procedural(geometry, primitive, ray)
                .filter(|t| (ray.nearest..=ray.farthest).contains(t))
                .map(|t| Hit {
                    distance: t,
                    u: 0.0,
                    v: 0.0,
                    geometry,
                    primitive,
                    instance: u32::MAX,
                }),
            k if k == Lane::Instance as u8 => {
                if depth + 1 >= DEEPEST {
                    return None;
                }
                let inner = find(long(record, 8))?;
                let column = |number: usize| vector(record, 16 + 12 * number);
                let [x, y, z, p] = [0, 1, 2, 3].map(column);
                let turned = |v: Vector| {
                    [0, 1, 2].map(|axis| x[axis] * v[0] + y[axis] * v[1] + z[axis] * v[2])
                };
                let moved = turned(ray.origin);
                let local = Ray {
                    origin: [0, 1, 2].map(|axis| moved[axis] + p[axis]),
                    direction: turned(ray.direction),
                    ..*ray
                };
                let found = inner.walk(&local, find, procedural, any, depth + 1)?;
                Some(Hit {
                    instance: word(record, 0),
                    ..found
                })
            }
            _ => None,
        }
    }
}

/// Bits of a word of kinds that only non-triangle lanes set.
const ASKED: u32 = u32::from_ne_bytes([2; 4]);
const _: () = assert!(
    Lane::Triangle as u8 & 2 == 0
        && Lane::Half as u8 & 2 == 0
        && Lane::Procedural as u8 & 2 != 0
        && Lane::Instance as u8 & 2 != 0
);

/// The part of a ray that tests of boxes need.
struct Slopes<E> {
    origin: [E; 3],
    inverse: [E; 3],
    nearest: E,
    /// The offsets in a node, by axis, of the planes that the ray reaches first, and of those that it reaches last.
    first: [usize; 3],
    last: [usize; 3],
}

impl<E: Eight> Slopes<E> {
    #[inline(always)]
    fn of(ray: &Ray) -> Self {
        let inverse = ray.direction.map(|d| 1.0 / d);
        let place = |axis: usize, upper: bool| axis + if upper { 3 } else { 0 };
        let falls = inverse.map(f32::is_sign_negative);
        let [x, y, z] = ray.origin;
        let [i, j, k] = inverse;
        Self {
            origin: [E::all(x), E::all(y), E::all(z)],
            inverse: [E::all(i), E::all(j), E::all(k)],
            nearest: E::all(ray.nearest),
            first: [0, 1, 2].map(|axis| place(axis, falls[axis])),
            last: [0, 1, 2].map(|axis| place(axis, !falls[axis])),
        }
    }
}

/// Where the ray enters each child's box, and a bit for each box that it enters.
#[inline(always)]
fn boxes<E: Eight>(node: &[u8; NODE], ray: &Ray, slopes: &Slopes<E>) -> (E, u32) {
    // Row 0 has words, the last one padding; masked so that no bounds check remains.
    let (rows, _) = node.as_chunks::<{ layout::BOXES }>();
    let mut near = slopes.nearest;
    let mut far = E::all(ray.farthest);
    for axis in 0..3 {
        let (origin, inverse) = (slopes.origin[axis], slopes.inverse[axis]);
        // The new number comes first: it is ignored if it is NaN, as for a ray in a plane of the box.
        let first = E::from_bytes(&rows[(1 + slopes.first[axis]) & 7]);
        near = first.minus(origin).times(inverse).greatest(near);
        let last = E::from_bytes(&rows[(1 + slopes.last[axis]) & 7]);
        far = last.minus(origin).times(inverse).least(far);
    }
    // A small margin for rounding errors.
    let far = far.times(E::all(1.000_001)).plus(E::all(f32::MIN_POSITIVE));
    (near, near.at_most(far))
}

/// Three coordinates of four points.
type Points = [Lanes; 3];

/// The part of a ray that tests of packets need.
struct Beam {
    origin: Points,
    direction: Points,
}

impl Beam {
    #[inline(always)]
    fn of(ray: &Ray) -> Self {
        Self {
            origin: ray.origin.map(Lanes::all),
            direction: ray.direction.map(Lanes::all),
        }
    }
}

#[inline(always)]
fn minus(a: &Points, b: &Points) -> Points {
    [a[0].minus(b[0]), a[1].minus(b[1]), a[2].minus(b[2])]
}

#[inline(always)]
fn across(a: &Points, b: &Points) -> Points {
    [
        a[1].times(b[2]).minus(a[2].times(b[1])),
        a[2].times(b[0]).minus(a[0].times(b[2])),
        a[0].times(b[1]).minus(a[1].times(b[0])),
    ]
}

#[inline(always)]
fn along(a: &Points, b: &Points) -> Lanes {
    let (x, y, z) = (a[0].times(b[0]), a[1].times(b[1]), a[2].times(b[2]));
    x.plus(y).plus(z)
}

/// Distance and weights of a packet's triangles, each times its determinant.
struct Products {
    determinant: Lanes,
    t: Lanes,
    u: Lanes,
    v: Lanes,
}

impl Products {
    #[inline(always)]
    fn weights(&self) -> [[f32; 4]; 3] {
        let inverse = Lanes::all(1.0).over(self.determinant);
        [
            self.t.times(inverse).array(),
            self.u.times(inverse).array(),
            self.v.times(inverse).array(),
        ]
    }
}

/// Where the ray hits the triangles of a packet, from either side, and a bit for each that it hits.
#[inline(always)]
fn meet_triangles(ray: &Ray, beam: &Beam, packet: &[u8; PACKET]) -> (Products, u32) {
    let (rows, _) = packet.as_chunks::<16>();
    let points = |first: usize| -> Points {
        [
            Lanes::from_bytes(&rows[first]),
            Lanes::from_bytes(&rows[first + 1]),
            Lanes::from_bytes(&rows[first + 2]),
        ]
    };
    let (a, e1, e2) = (points(0), points(3), points(6));
    let p = across(&beam.direction, &e2);
    let determinant = along(&e1, &p);
    let s = minus(&beam.origin, &a);
    let q = across(&s, &e1);
    let (u, v) = (along(&s, &p), along(&beam.direction, &q));
    let t = along(&e2, &q);
    // From behind, all signs are reversed. Comparisons with NaN are false.
    let sign = determinant.sign();
    let size = determinant.turned(sign);
    let (pu, pv, pt) = (u.turned(sign), v.turned(sign), t.turned(sign));
    let zero = Lanes::all(0.0);
    let inside = zero.at_most(pu) & zero.at_most(pv) & pu.plus(pv).at_most(size);
    // Along the triangle everything may be 0, which is inside of nothing.
    let is_met = Lanes::all(f32::MIN_POSITIVE).at_most(size) & size.at_most(Lanes::all(f32::MAX));
    let between = Lanes::all(ray.nearest).times(size).at_most(pt)
        & pt.at_most(Lanes::all(ray.farthest).times(size));
    (
        Products {
            determinant,
            t,
            u,
            v,
        },
        inside & is_met & between,
    )
}
