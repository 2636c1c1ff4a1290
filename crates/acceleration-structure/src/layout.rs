//! The format: a head, nodes, packets, geometries; words in native byte order.
//!
//! | part | bytes | holds |
//! |---|---|---|
//! | head | 128 | magic `SOLUMRT2`, bytes in all, counts of nodes, packets and geometries, bounds |
//! | node | 256 | eight child words; eight boxes by coordinate (lower x, y, z, upper x, y, z of eight children each); pad |
//! | packet | 192 | four triangles by coordinate (corner x, y, z, the two edges from it x, y, z of four triangles each), their four geometries, four numbers, four kinds (a byte each); pad |
//! | geometry | 128 | user id, mask and flags, address of the instanced structure, world-to-object and object-to-world transforms |
//!
//! A child word is [`NONE`]; or a node's number; or, with the top bit set, a leaf: three bits of count of packets less
//! one, then the first packet's number. Node 0 is the root; nodes are behind their parents. A quad is two lanes of a
//! packet. A lane whose coordinates are no numbers is met by nothing as a triangle: an empty one, or one whose kind says
//! who has to be asked. The only address is an instance's, of another structure.

use crate::{Bounds, Vector};

/// Bytes of head and geometry.
pub const BLOCK: usize = 128;
/// Bytes of a node.
pub const NODE: usize = 256;
/// The offset of the boxes in a node, after its words.
pub const BOXES: usize = 32;
/// Bytes of a packet.
pub const PACKET: usize = 192;
/// The offset of geometries, numbers and kinds in a packet, after its nine rows of coordinates.
pub const GEOMETRIES: usize = 144;
#[expect(missing_docs, reason = "documented above")]
pub const NUMBERS: usize = 160;
#[expect(missing_docs, reason = "documented above")]
pub const KINDS: usize = 176;
/// Children of a node at most.
pub const WIDTH: usize = 8;
/// Lanes of a packet.
pub const LANES: usize = 4;
/// A child that is not there.
pub const NONE: u32 = u32::MAX;
/// Marks a leaf.
pub const LEAF: u32 = 1 << 31;
/// Primitives of a leaf at most.
pub const LEAF_MOST: usize = 4;
/// Most primitives: the numbers of their packets have 28 bits.
pub const MOST_PRIMITIVES: usize = 1 << 28;
/// The number by which Level Zero knows the format, with its version in the last byte.
pub const FORMAT: u32 = 0x501a_0002;
/// Alignment of structures in bytes.
pub const ALIGNMENT: u32 = 128;
/// First word of the head.
pub const MAGIC: u64 = u64::from_le_bytes(*b"SOLUMRT2");

/// Kinds of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "names say it")]
pub enum Kind {
    Triangle,
    Quad,
    Procedural,
    Instance,
}

/// The content of a packet's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// A triangle, a quad's first half, or nothing.
    Triangle,
    /// A quad's second half, whose weights are counted from the far corner.
    Half,
    /// The program's function decides.
    Procedural,
    /// The instanced structure decides.
    Instance,
}

/// A geometry as stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// The instance's id.
    pub user_id: u32,
    /// Rays whose mask shares no bit with it pass.
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
    /// Children.
    pub words: [u32; WIDTH],
    /// By coordinate: lower x, y, z, upper x, y, z; each of eight children.
    pub planes: [[f32; WIDTH]; 6],
}

impl Node {
    /// Without children.
    pub const EMPTY: Self = Self {
        words: [NONE; WIDTH],
        planes: [
            [f32::INFINITY; WIDTH],
            [f32::INFINITY; WIDTH],
            [f32::INFINITY; WIDTH],
            [f32::NEG_INFINITY; WIDTH],
            [f32::NEG_INFINITY; WIDTH],
            [f32::NEG_INFINITY; WIDTH],
        ],
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

/// Four lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    rows: [[f32; LANES]; 9],
    geometries: [u32; LANES],
    numbers: [u32; LANES],
    kinds: [u8; LANES],
}

impl Packet {
    /// A packet whose lanes no ray hits.
    pub(crate) const EMPTY: Self = Self {
        rows: [[f32::NAN; LANES]; 9],
        geometries: [0; LANES],
        numbers: [0; LANES],
        kinds: [Lane::Triangle as u8; LANES],
    };

    /// Sets the owner of a lane.
    pub(crate) fn name(&mut self, at: usize, kind: Lane, geometry: u32, number: u32) {
        self.kinds[at] = kind as u8;
        self.geometries[at] = geometry;
        self.numbers[at] = number;
    }

    /// Puts in the corners of a triangle.
    pub(crate) fn triangle(&mut self, at: usize, [a, b, c]: [Vector; 3]) {
        for axis in 0..3 {
            self.rows[axis][at] = a[axis];
            self.rows[axis + 3][at] = b[axis] - a[axis];
            self.rows[axis + 6][at] = c[axis] - a[axis];
        }
    }
}

/// The word of a leaf of `count` packets from `first` on.
#[must_use]
pub fn leaf(first: usize, count: usize) -> u32 {
    LEAF | ((count as u32 - 1) << 28) | first as u32
}

/// Bytes of a structure.
#[must_use]
pub fn size(nodes: usize, packets: usize, geometries: usize) -> usize {
    BLOCK
        .saturating_add(nodes.saturating_mul(NODE))
        .saturating_add(packets.saturating_mul(PACKET))
        .saturating_add(geometries.saturating_mul(BLOCK))
}

/// Writes words and floats at offsets of a buffer whose size was checked before.
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

    pub(crate) fn record(&mut self, at: usize, record: &Record) {
        self.put(at, &record.user_id.to_ne_bytes());
        self.put(at + 4, &[record.mask, record.flags]);
        self.put(at + 8, &record.instance.to_ne_bytes());
        for (i, float) in record.inverse.iter().enumerate() {
            self.put(at + 16 + 4 * i, &float.to_ne_bytes());
        }
    }
}

/// Writes adjacent words.
fn row<const N: usize>(to: &mut [u8], words: [[u8; 4]; N]) {
    for (to, word) in to.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *to = word;
    }
}

pub(crate) fn write_node(to: &mut [u8; NODE], node: &Node) {
    row(&mut to[..BOXES], node.words.map(u32::to_ne_bytes));
    let (rows, _) = to[BOXES..].as_chunks_mut::<{ 4 * WIDTH }>();
    for (to, planes) in rows.iter_mut().zip(&node.planes) {
        row(to, planes.map(f32::to_ne_bytes));
    }
    to[BOXES + 24 * WIDTH..].fill(0);
}

pub(crate) fn write_packet(to: &mut [u8; PACKET], packet: &Packet) {
    let (rows, _) = to.as_chunks_mut::<{ 4 * LANES }>();
    for (to, floats) in rows.iter_mut().zip(&packet.rows) {
        row(to, floats.map(f32::to_ne_bytes));
    }
    row(
        &mut to[GEOMETRIES..],
        packet.geometries.map(u32::to_ne_bytes),
    );
    row(&mut to[NUMBERS..], packet.numbers.map(u32::to_ne_bytes));
    to[KINDS..].fill(0);
    to[KINDS..KINDS + LANES].copy_from_slice(&packet.kinds);
}
