//! Ray queries over a structure's bytes.

use crate::layout::{self, BLOCK, Kind, LEAF, MAGIC, NONE, PRIMITIVE};
use crate::{Bounds, Vector};

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
        let inverse = ray.direction.map(|d| 1.0 / d);
        let mut best = None;
        let mut stack = [(0_u32, 0.0_f32); STACK];
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (child, entry) = stack[top];
            if entry > ray.farthest {
                continue;
            }
            if child & LEAF != 0 {
                let first = (child & 0x0fff_ffff) as usize;
                let count = (child >> 28 & 7) as usize + 1;
                for at in first..(first + count).min(self.primitives) {
                    let Some(hit) = self.meet(at, &ray, find, procedural, any, depth) else {
                        continue;
                    };
                    ray.farthest = hit.distance;
                    best = Some(hit);
                    if any {
                        return best;
                    }
                }
                continue;
            }
            if child as usize >= self.nodes {
                continue;
            }
            let node = &self.bytes[BLOCK * (1 + child as usize)..][..BLOCK];
            let begin = top;
            let (near, words) = boxes(node, &ray, inverse);
            for slot in 0..4 {
                // Damaged words may lead round in circles; the room is bounded.
                if words[slot] == NONE || near[slot] == f32::INFINITY || top == STACK {
                    continue;
                }
                // A child is always behind its parent in the bytes.
                if words[slot] & LEAF == 0 && words[slot] <= child {
                    continue;
                }
                let mut at = top;
                // Farthest first, so that the nearest is taken first.
                while at > begin && stack[at - 1].1 < near[slot] {
                    stack[at] = stack[at - 1];
                    at -= 1;
                }
                stack[at] = (words[slot], near[slot]);
                top += 1;
            }
        }
        best
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
        if geometry as usize >= self.geometries {
            return None;
        }
        let record = BLOCK * (1 + self.nodes) + PRIMITIVE * self.primitives;
        let record = self.bytes.get(record + BLOCK * geometry as usize..)?;
        if record.get(4)? & ray.mask == 0 {
            return None;
        }
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

/// Where the ray enters each child's box (infinity: not at all), and the children.
fn boxes(node: &[u8], ray: &Ray, inverse: Vector) -> ([f32; 4], [u32; 4]) {
    let mut near = [ray.nearest; 4];
    let mut far = [ray.farthest; 4];
    for (axis, inverse) in inverse.into_iter().enumerate() {
        let (low, high) = (16 * axis, 16 * (axis + 3));
        for slot in 0..4 {
            let a = (float(node, low + 4 * slot) - ray.origin[axis]) * inverse;
            let b = (float(node, high + 4 * slot) - ray.origin[axis]) * inverse;
            // Least and greatest that take the other number when one is none: a ray in a plane of the box.
            near[slot] = near[slot].max(a.min(b));
            far[slot] = far[slot].min(a.max(b));
        }
    }
    for slot in 0..4 {
        // A little more room for what rounding took.
        if near[slot] > far[slot] * 1.000_001 + f32::MIN_POSITIVE {
            near[slot] = f32::INFINITY;
        }
    }
    (near, [96, 100, 104, 108].map(|at| word(node, at)))
}
