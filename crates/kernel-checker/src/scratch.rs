//! Memory that runs use one after another.

use crate::history::History;

/// The facts of an instruction that accesses memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// Its place in the module, and how it accesses; 0: the entry is empty.
    pub(crate) key: (u32, u64),
    pub(crate) site: u16,
    /// Where its last allocation is.
    pub(crate) hint: usize,
}

/// Instructions that are remembered; those at the same place in this table replace each other.
pub(crate) const KNOWN: usize = 256;

/// Memory that runs use one after another.
pub struct Scratch {
    /// Of local memory.
    pub(crate) history: History,
    pub(crate) tag: u16,
    pub(crate) known: Box<[Known; KNOWN]>,
    /// The program that the known instructions are of.
    pub(crate) program: u64,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            history: History::default(),
            tag: 0,
            known: Box::new([Known::default(); KNOWN]),
            program: 0,
        }
    }
}
