//! The use of a buffer by a command group: a mode and a box of elements.

use crate::Cuboid;

/// An accessor's mode, with the `no_init` (formerly `discard`) variants as separate modes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Only reads.
    Read,
    /// Writes some elements and keeps the others, so it transfers like a reader.
    Write,
    /// Reads and writes.
    ReadWrite,
    /// Overwrites: earlier contents are not needed.
    NoInitWrite,
    /// Overwrites, then reads its own values.
    NoInitReadWrite,
}

impl Mode {
    /// Whether it changes elements, so that copies elsewhere become outdated.
    pub fn writes(self) -> bool {
        self != Self::Read
    }

    /// Whether earlier contents are needed.
    pub fn needs_content(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::ReadWrite)
    }
}

/// One accessor of a command group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The mode.
    pub mode: Mode,
    /// To which elements; see [`crate::Grid::region`].
    pub elements: Cuboid,
}
