//! Values that nobody has written, until their launch ends.
//!
//! They are told then, and only if the kernel has no race, no access out of bounds and no divergent barrier: such a mistake makes
//! work-items read what others are still to write, and is what the program has to mend.

use std::collections::{HashMap, HashSet};

use crate::launch::Kernel;
use crate::mistake::{Mistake, MistakeKind};

/// Mistakes with the same key are one.
pub(crate) type MistakeKey = (MistakeKind, u64, u32, u64, u32);

pub(crate) fn key(mistake: &Mistake) -> MistakeKey {
    let other = mistake.other.as_ref();
    (
        mistake.kind,
        mistake.side.launch.kernel.program,
        mistake.side.word,
        other.map_or(0, |other| other.launch.kernel.program),
        other.map_or(0, |other| other.word),
    )
}

#[derive(Default)]
pub(crate) struct Uninitialised {
    /// Mistakes of launches that run, and how often each happened; by the number of the launch.
    pub(crate) waiting: HashMap<u64, HashMap<MistakeKey, (Mistake, u64)>>,
    /// Programs and names of kernels with mistakes that explain them.
    explained: HashSet<(u64, String)>,
}

impl Uninitialised {
    /// A mistake is told.
    pub(crate) fn sees(&mut self, mistake: &Mistake) {
        if matches!(
            mistake.kind,
            MistakeKind::Value(_) | MistakeKind::Uninitialised(_) | MistakeKind::SameValueWrite
        ) {
            return;
        }
        for side in [Some(&mistake.side), mistake.other.as_ref()]
            .into_iter()
            .flatten()
        {
            let kernel = &side.launch.kernel;
            self.explained.insert((kernel.program, kernel.name.clone()));
        }
    }

    /// Whether another mistake of the kernel explains what it reads.
    pub(crate) fn explains(&self, kernel: &Kernel) -> bool {
        self.explained
            .iter()
            .any(|(program, name)| *program == kernel.program && *name == kernel.name)
    }
}
