//! The contents of lines before an attempt to run a launch wrote them.

use std::collections::BTreeMap;

use super::line::LINE;
use crate::mistake::ProgramMemory;

/// The contents of an allocation.
pub(crate) struct Contents<'a> {
    pub(crate) program: &'a dyn ProgramMemory,
    /// Address.
    pub(crate) memory: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Address of its shadow; 0: it has none.
    pub(crate) shadow: u64,
}

/// Contents of the lines of a chunk.
pub(super) struct Before {
    /// The launch that they were saved for.
    tag: u16,
    /// By line, the bytes that the launch has written; 0: the line is not saved.
    masks: Box<[u64]>,
    contents: Box<[Bytes]>,
    /// Those that are not zero, by line: most memory is initialised.
    shadows: BTreeMap<usize, Bytes>,
}

type Bytes = [u8; LINE as usize];

impl Before {
    #[cold]
    pub(super) fn new(lines: usize) -> Box<Self> {
        let zeros = vec![[0; LINE as usize]; lines];
        Box::new(Self {
            tag: 0,
            masks: vec![0; lines].into_boxed_slice(),
            contents: zeros.into_boxed_slice(),
            shadows: BTreeMap::new(),
        })
    }

    /// A launch is about to write the bytes of `mask` of line `at`, which begins at `offset` in the allocation.
    #[inline(always)]
    pub(super) fn save(
        &mut self,
        tag: u16,
        at: usize,
        mask: u64,
        from: &Contents<'_>,
        offset: u64,
    ) {
        if self.tag != tag {
            self.tag = tag;
            self.masks.fill(0);
            self.shadows.clear();
        }
        if self.masks[at] == 0 {
            let len = LINE.min(from.size.saturating_sub(offset)) as usize;
            let program = from.program;
            program.save(from.memory + offset, &mut self.contents[at][..len]);
            if from.shadow != 0 {
                let mut shadow = [0; LINE as usize];
                program.save(from.shadow + offset, &mut shadow[..len]);
                if shadow != [0; LINE as usize] {
                    self.shadows.insert(at, shadow);
                }
            }
        }
        self.masks[at] |= mask;
    }

    /// Writes the saved bytes back; the chunk begins at `offset` in the allocation.
    pub(super) fn restore(&self, tag: u16, to: &Contents<'_>, offset: u64) {
        if self.tag != tag {
            return;
        }
        for (at, &mask) in self.masks.iter().enumerate() {
            let mut rest = mask;
            while rest != 0 {
                let first = rest.trailing_zeros();
                let count = (rest >> first).trailing_ones();
                rest &= !(u64::MAX >> (u64::BITS - count) << first);
                let bytes = first as usize..(first + count) as usize;
                let start = offset + at as u64 * LINE + u64::from(first);
                let program = to.program;
                program.restore(to.memory + start, &self.contents[at][bytes.clone()]);
                if to.shadow != 0 {
                    let shadow = self.shadows.get(&at).unwrap_or(&[0; LINE as usize]);
                    program.restore(to.shadow + start, &shadow[bytes]);
                }
            }
        }
    }
}
