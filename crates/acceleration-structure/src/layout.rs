//! The format: a head, nodes, primitives, geometries; words in native byte order.
//!
//! | part | bytes | holds |
//! |---|---|---|
//! | head | 128 | magic `SOLUMRT1`, bytes in all, counts of nodes, primitives and geometries, bounds |
//! | node | 128 | four boxes by coordinate (lower x, y, z, upper x, y, z of four children each), four child words, pad |
//! | primitive | 64 | kind and geometry, number, twelve floats |
//! | geometry | 128 | user id, mask and flags, address of the instanced structure, world-to-object and object-to-world transforms |
//!
//! A child word is [`NONE`]; or a node's number; or, with the top bit set, a leaf: three bits of count less one, then
//! the first primitive's number. Node 0 is the root. The only address is an instance's, of another structure.

use crate::{Bounds, Vector};

/// Bytes of head, node and geometry.
pub const BLOCK: usize = 128;
/// Bytes of a primitive.
pub const PRIMITIVE: usize = 64;
/// A child that is not there.
pub const NONE: u32 = u32::MAX;
/// Marks a leaf.
pub const LEAF: u32 = 1 << 31;
/// Primitives of a leaf at most.
pub const LEAF_MOST: usize = 4;
/// Most primitives: their numbers have 28 bits.
pub const MOST_PRIMITIVES: usize = 1 << 28;
/// First word of the head.
pub const MAGIC: u64 = u64::from_le_bytes(*b"SOLUMRT1");

/// Kinds of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names say it")]
pub enum Kind {
    Triangle,
    Quad,
    Procedural,
    Instance,
}

/// A primitive as stored.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    /// What it is.
    pub kind: Kind,
    /// Number of its geometry.
    pub geometry: u32,
    /// Number in its geometry.
    pub number: u32,
    /// Corners of a triangle or quad; the box of others.
    pub corners: [Vector; 4],
}

/// A geometry as stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// The instance's id.
    pub user_id: u32,
    /// Rays whose mask has none of its bits pass.
    pub mask: u8,
    /// The specification's flags.
    pub flags: u8,
    /// Address of the instanced structure, 0 for others.
    pub instance: u64,
    /// World to object: columns x, y, z, translation.
    pub inverse: [f32; 12],
}

/// A node: boxes and words of its children.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// By coordinate: lower x, y, z, upper x, y, z; each of four children.
    pub planes: [[f32; 4]; 6],
    /// Children.
    pub words: [u32; 4],
}

impl Node {
    /// Without children.
    pub const EMPTY: Self = Self {
        planes: [
            [f32::INFINITY; 4],
            [f32::INFINITY; 4],
            [f32::INFINITY; 4],
            [f32::NEG_INFINITY; 4],
            [f32::NEG_INFINITY; 4],
            [f32::NEG_INFINITY; 4],
        ],
        words: [NONE; 4],
    };

    /// Puts in a child.
    pub fn set(&mut self, at: usize, bounds: &Bounds, word: u32) {
        for axis in 0..3 {
            self.planes[axis][at] = bounds.lower[axis];
            self.planes[axis + 3][at] = bounds.upper[axis];
        }
        self.words[at] = word;
    }
}

/// The word of a leaf of `count` primitives from `first` on.
#[must_use]
pub fn leaf(first: usize, count: usize) -> u32 {
    LEAF | ((count as u32 - 1) << 28) | first as u32
}

/// Bytes of a structure.
#[must_use]
pub fn size(nodes: usize, primitives: usize, geometries: usize) -> usize {
    BLOCK
        .saturating_add(nodes.saturating_mul(BLOCK))
        .saturating_add(primitives.saturating_mul(PRIMITIVE))
        .saturating_add(geometries.saturating_mul(BLOCK))
}

/// Writes words and floats at places of a buffer that was measured before.
pub(crate) struct Writer<'a> {
    pub(crate) to: &'a mut [u8],
}

impl Writer<'_> {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(slot) = self.to.get_mut(at..at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    }

    pub(crate) fn head(&mut self, counts: [usize; 3], bytes: usize, bounds: &Bounds) {
        self.put(0, &MAGIC.to_ne_bytes());
        self.put(8, &(bytes as u64).to_ne_bytes());
        for (i, count) in counts.into_iter().enumerate() {
            self.put(16 + 4 * i, &(count as u32).to_ne_bytes());
        }
        let floats = bounds.lower.iter().chain(&bounds.upper);
        for (i, float) in floats.enumerate() {
            self.put(32 + 4 * i, &float.to_ne_bytes());
        }
    }

    pub(crate) fn node(&mut self, at: usize, node: &Node) {
        for (i, float) in node.planes.iter().flatten().enumerate() {
            self.put(at + 4 * i, &float.to_ne_bytes());
        }
        for (i, word) in node.words.iter().enumerate() {
            self.put(at + 96 + 4 * i, &word.to_ne_bytes());
        }
    }

    pub(crate) fn primitive(&mut self, at: usize, primitive: &Primitive) {
        self.put(at, &(primitive.kind as u32).to_ne_bytes());
        self.put(at + 4, &primitive.geometry.to_ne_bytes());
        self.put(at + 8, &primitive.number.to_ne_bytes());
        for (i, float) in primitive.corners.iter().flatten().enumerate() {
            self.put(at + 16 + 4 * i, &float.to_ne_bytes());
        }
    }

    pub(crate) fn record(&mut self, at: usize, record: &Record) {
        self.put(at, &record.user_id.to_ne_bytes());
        self.put(at + 4, &[record.mask, record.flags]);
        self.put(at + 8, &record.instance.to_ne_bytes());
        for (i, float) in record.inverse.iter().enumerate() {
            self.put(at + 16 + 4 * i, &float.to_ne_bytes());
        }
    }
}
