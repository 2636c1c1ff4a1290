//! Ray queries over a structure's bytes.

use crate::lanes::{self, Lanes};
use crate::layout::{self, BLOCK, Kind, LEAF, MAGIC, PRIMITIVE};
use crate::{Bounds, Vector};
use std::mem::MaybeUninit;

/// Nodes that wait on the way down: a node adds three, and trees are less than 96 deep.
const STACK: usize = 320;
/// Structures inside of each other.
const DEEPEST: usize = 8;

/// A ray: the points `origin + t * direction` with `t` between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it begins.
    pub origin: Vector,
    /// Where it goes; of any length above 0.
    pub direction: Vector,
    /// Least distance, in lengths of `direction`.
    pub nearest: f32,
    /// Greatest distance.
    pub farthest: f32,
    /// Meets geometries whose mask shares a bit.
    pub mask: u8,
}

/// What a ray met.
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
            waiting: [MaybeUninit::uninit(); STACK],
            top: 0,
        }
    }

    /// Puts a child on, below those from `begin` on that are nearer; damaged structures that need more room than whole
    /// ones lose it.
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
    primitives: usize,
    geometries: usize,
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

fn sub(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|axis| a[axis] - b[axis])
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Distance and weights where the ray meets a triangle, from either side.
pub(crate) fn triangle(ray: &Ray, [a, b, c]: [Vector; 3]) -> Option<(f32, f32, f32)> {
    let (e1, e2) = (sub(b, a), sub(c, a));
    let p = cross(ray.direction, e2);
    let determinant = dot(e1, p);
    if determinant == 0.0 {
        return None;
    }
    let inverse = 1.0 / determinant;
    let s = sub(ray.origin, a);
    let u = dot(s, p) * inverse;
    let q = cross(s, e1);
    let v = dot(ray.direction, q) * inverse;
    let t = dot(e2, q) * inverse;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= ray.nearest && t <= ray.farthest)
        .then_some((t, u, v))
}

/// Asks the program where, if anywhere, a ray meets a procedural primitive: geometry, primitive, ray.
pub type Procedural<'p> = dyn FnMut(u32, u32, &Ray) -> Option<f32> + 'p;

impl<'a> Structure<'a> {
    /// Looks at the head; `None` when the bytes are no structure of this format.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.len() < BLOCK || long(bytes, 0) != MAGIC {
            return None;
        }
        let size = usize::try_from(long(bytes, 8)).ok()?;
        let [nodes, primitives, geometries] = [16, 20, 24].map(|at| word(bytes, at) as usize);
        let whole = nodes > 0 && size == layout::size(nodes, primitives, geometries);
        Some(Self {
            bytes: bytes.get(..size).filter(|_| whole)?,
            nodes,
            primitives,
            geometries,
        })
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

    /// The nearest thing that the ray meets. `find` gives the structure at an instance's address.
    pub fn nearest<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
    ) -> Option<Hit> {
        self.walk(ray, find, procedural, false, 0)
    }

    /// Whether the ray meets anything.
    pub fn meets<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
    ) -> bool {
        self.walk(ray, find, procedural, true, 0).is_some()
    }

    fn walk<'s>(
        &self,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        let mut ray = *ray;
        let slopes = Slopes::of(&ray);
        let mut best = None;
        let mut stack = Stack::new();
        stack.push(0, 0, 0.0);
        while let Some((mut child, entry)) = stack.pop() {
            if entry > ray.farthest {
                continue;
            }
            // Down to a leaf, or to where nothing is entered.
            while child & LEAF == 0 {
                let Some(node) = self.node(child) else {
                    break;
                };
                let (near, mut entered, words) = boxes(node, &ray, &slopes);
                let (begin, parent) = (stack.top, child);
                child = 0;
                while entered != 0 {
                    let slot = (entered.trailing_zeros() & 3) as usize;
                    entered &= entered - 1;
                    // Damaged words may lead round in circles: a child is always behind its parent in the bytes.
                    if words[slot] > parent {
                        stack.push(begin, words[slot], near[slot]);
                        self.fetch(words[slot]);
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
            let end = self.primitives.min(first + (child >> 28 & 7) as usize + 1);
            if let Some(triangles) = self.triangles(first, end) {
                let (numbers, mut met) = meet_triangles(&ray, &slopes, triangles);
                if met == 0 {
                    continue;
                }
                let [distances, us, vs] = numbers.map(Lanes::array);
                while met != 0 {
                    let lane = (met.trailing_zeros() & 3) as usize;
                    met &= met - 1;
                    // Lanes behind the last triangle are that triangle again.
                    if lane >= end - first || distances[lane] > ray.farthest {
                        continue;
                    }
                    let bytes = &triangles[lane];
                    let (geometry, primitive) = (word(*bytes, 4), word(*bytes, 8));
                    if self.record(geometry, &ray).is_none() {
                        continue;
                    }
                    ray.farthest = distances[lane];
                    best = Some(Hit {
                        distance: distances[lane],
                        u: us[lane],
                        v: vs[lane],
                        geometry,
                        primitive,
                        instance: u32::MAX,
                    });
                    if any {
                        return best;
                    }
                }
                continue;
            }
            for at in first..end {
                let Some(hit) = self.meet(at, &ray, find, procedural, any, depth) else {
                    continue;
                };
                ray.farthest = hit.distance;
                best = Some(hit);
                if any {
                    return best;
                }
            }
        }
        best
    }

    #[inline(always)]
    fn node(&self, number: u32) -> Option<&'a [u8; BLOCK]> {
        let at = BLOCK * (1 + number as usize);
        let is_there = (number as usize) < self.nodes;
        self.bytes.get(at..).filter(|_| is_there)?.first_chunk()
    }

    /// Asks for what lies behind a child word before it is needed.
    #[inline(always)]
    fn fetch(&self, child: u32) {
        let leaf = BLOCK * (1 + self.nodes) + PRIMITIVE * (child & 0x0fff_ffff) as usize;
        let node = BLOCK * (1 + child as usize);
        let at = if child & LEAF != 0 { leaf } else { node };
        for line in 0..2 {
            lanes::fetch(self.bytes.as_ptr().wrapping_add(at + 64 * line));
        }
    }

    /// A leaf of one to four triangles; where there are fewer, the last one again.
    #[inline(always)]
    fn triangles(&self, first: usize, end: usize) -> Option<[&'a [u8; PRIMITIVE]; 4]> {
        let base = BLOCK * (1 + self.nodes);
        let bytes = self
            .bytes
            .get(base + PRIMITIVE * first..base + PRIMITIVE * end)?;
        let (all, _) = bytes.as_chunks::<PRIMITIVE>();
        let last = all.last()?;
        let are_triangles =
            all.len() <= 4 && all.iter().all(|p| word(p, 0) == Kind::Triangle as u32);
        are_triangles.then(|| std::array::from_fn(|lane| all.get(lane).unwrap_or(last)))
    }

    /// A geometry's record, when it is there and its mask lets the ray meet it.
    #[inline(always)]
    fn record(&self, geometry: u32, ray: &Ray) -> Option<&'a [u8; BLOCK]> {
        let is_there = (geometry as usize) < self.geometries;
        let records = BLOCK * (1 + self.nodes) + PRIMITIVE * self.primitives;
        let record = self.bytes.get(records + BLOCK * geometry as usize..);
        let record = record.filter(|_| is_there)?.first_chunk::<BLOCK>()?;
        (record[4] & ray.mask != 0).then_some(record)
    }

    fn meet<'s>(
        &self,
        at: usize,
        ray: &Ray,
        find: &dyn Fn(u64) -> Option<Structure<'s>>,
        procedural: &mut Procedural<'_>,
        any: bool,
        depth: usize,
    ) -> Option<Hit> {
        let base = BLOCK * (1 + self.nodes) + PRIMITIVE * at;
        let bytes = self.bytes.get(base..base + PRIMITIVE)?;
        let (kind, geometry, primitive) = (word(bytes, 0), word(bytes, 4), word(bytes, 8));
        let record = self.record(geometry, ray)?;
        let hit = |(distance, u, v)| Hit {
            distance,
            u,
            v,
            geometry,
            primitive,
            instance: u32::MAX,
        };
        let corner = |number: usize| vector(bytes, 16 + 12 * number);
        match kind {
            k if k == Kind::Triangle as u32 => {
                triangle(ray, [corner(0), corner(1), corner(2)]).map(hit)
            }
            k if k == Kind::Quad as u32 => {
                // Two triangles, as the specification cuts a quad: (0, 1, 3) and (2, 3, 1).
                let first = triangle(ray, [corner(0), corner(1), corner(3)]);
                let second = triangle(ray, [corner(2), corner(3), corner(1)])
                    .map(|(t, u, v)| (t, 1.0 - u, 1.0 - v));
                match (first, second) {
                    (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
                    (a, b) => a.or(b),
                }
                .map(hit)
            }
            k if k == Kind::Procedural as u32 => procedural(geometry, primitive, ray)
                .filter(|t| (ray.nearest..=ray.farthest).contains(t))
                .map(|t| hit((t, 0.0, 0.0))),
            _ => {
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
        }
    }
}

/// What of a ray the boxes of all nodes need.
struct Slopes {
    origin: [Lanes; 3],
    inverse: [Lanes; 3],
    /// Where in a node, by axis, the planes lie that the ray comes to first, and those that it comes to last.
    first: [usize; 3],
    last: [usize; 3],
}

impl Slopes {
    fn of(ray: &Ray) -> Self {
        let inverse = ray.direction.map(|d| 1.0 / d);
        let place = |axis: usize, upper: bool| 16 * (axis + if upper { 3 } else { 0 });
        let falls = inverse.map(f32::is_sign_negative);
        Self {
            origin: ray.origin.map(Lanes::all),
            inverse: inverse.map(Lanes::all),
            first: [0, 1, 2].map(|axis| place(axis, falls[axis])),
            last: [0, 1, 2].map(|axis| place(axis, !falls[axis])),
        }
    }
}

/// Four floats at a place of a node.
#[inline(always)]
fn four(node: &[u8; BLOCK], at: usize) -> Lanes {
    let (rows, _) = node.as_chunks::<16>();
    // The places are those of `Slopes` and of the words, below 128; masked so that no check is left.
    Lanes::from_bytes(&rows[(at / 16) & 7])
}

/// Where the ray enters each child's box, a bit for each that it does enter, and the children.
#[inline(always)]
fn boxes(node: &[u8; BLOCK], ray: &Ray, slopes: &Slopes) -> ([f32; 4], u32, [u32; 4]) {
    let mut near = Lanes::all(ray.nearest);
    let mut far = Lanes::all(ray.farthest);
    for axis in 0..3 {
        let (origin, inverse) = (slopes.origin[axis], slopes.inverse[axis]);
        let at = |place: usize| four(node, place).minus(origin).times(inverse);
        // The new number is first: it does not count when it is none, as with a ray in a plane of the box.
        near = at(slopes.first[axis]).greatest(near);
        far = at(slopes.last[axis]).least(far);
    }
    // A little more room for what rounding took.
    let far = far
        .times(Lanes::all(1.000_001))
        .plus(Lanes::all(f32::MIN_POSITIVE));
    let words = four(node, 96).array().map(f32::to_bits);
    (near.array(), near.at_most(far), words)
}

/// Three coordinates of four points.
type Points = [Lanes; 3];

fn minus(a: &Points, b: &Points) -> Points {
    [0, 1, 2].map(|axis| a[axis].minus(b[axis]))
}

fn across(a: &Points, b: &Points) -> Points {
    [(1, 2), (2, 0), (0, 1)].map(|(m, n)| a[m].times(b[n]).minus(a[n].times(b[m])))
}

fn along(a: &Points, b: &Points) -> Lanes {
    let [x, y, z] = [0, 1, 2].map(|axis| a[axis].times(b[axis]));
    x.plus(y).plus(z)
}

/// Distances and weights where the ray meets four triangles, from either side, and a bit for each that it does meet.
#[inline(always)]
fn meet_triangles(
    ray: &Ray,
    slopes: &Slopes,
    triangles: [&[u8; PRIMITIVE]; 4],
) -> ([Lanes; 3], u32) {
    // Rows of four floats: kind and numbers; x, y, z of the first corner and x of the second; and so on.
    let row = |number: usize| {
        Lanes::transpose(
            triangles.map(|bytes| Lanes::from_bytes(&bytes.as_chunks::<16>().0[number])),
        )
    };
    let ([ax, ay, az, bx], [by, bz, cx, cy], [cz, ..]) = (row(1), row(2), row(3));
    // The same sums in the same order as `triangle`, so that both tell the same.
    let a = [ax, ay, az];
    let (e1, e2) = (minus(&[bx, by, bz], &a), minus(&[cx, cy, cz], &a));
    let direction = ray.direction.map(Lanes::all);
    let p = across(&direction, &e2);
    let determinant = along(&e1, &p);
    let inverse = Lanes::all(1.0).over(determinant);
    let s = minus(&slopes.origin, &a);
    let u = along(&s, &p).times(inverse);
    let q = across(&s, &e1);
    let v = along(&direction, &q).times(inverse);
    let t = along(&e2, &q).times(inverse);
    let zero = Lanes::all(0.0);
    // A determinant of 0 makes numbers that are none, or beyond all bounds.
    let inside = zero.at_most(u) & zero.at_most(v) & u.plus(v).at_most(Lanes::all(1.0));
    let between = Lanes::all(ray.nearest).at_most(t) & t.at_most(Lanes::all(ray.farthest));
    let finite = t.at_most(Lanes::all(f32::MAX));
    ([t, u, v], inside & between & finite)
}
