//! Values that nobody has written.
//!
//! They are told when the launch ends, and only if its kernel has no race, no access out of bounds and no divergent barrier: such
//! a mistake makes work-items read what others are still to write, and is what the program has to mend.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kernel_ir::abi::check::{ITEM_BITS, What};
use kernel_ir::{AddressSpace, CheckOp, Reliance, Touch};

use crate::allocations::Found;
use crate::checker::{Checker, MistakeKey, State, key};
use crate::launch::{Kernel, Launch};
use crate::mistake::{Mistake, MistakeKind, Place, Side};
use crate::run::Run;

#[derive(Default)]
pub(crate) struct Uninitialised {
    /// Mistakes of launches that run, and how often each happened; by the number of the launch.
    waiting: HashMap<u64, HashMap<MistakeKey, (Mistake, u64)>>,
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

    fn explains(&self, kernel: &Kernel) -> bool {
        self.explained
            .iter()
            .any(|(program, name)| *program == kernel.program && *name == kernel.name)
    }
}

impl State {
    /// A launch has ended: what it has found is told.
    pub(crate) fn tell_uninitialised(&mut self, launch: &Launch) {
        let Some(waiting) = self.uninitialised.waiting.remove(&launch.number) else {
            return;
        };
        if self.uninitialised.explains(&launch.kernel) {
            return;
        }
        let mut waiting: Vec<_> = waiting.into_iter().collect();
        waiting.sort_by_key(|(_, (mistake, _))| mistake.side.word);
        for (key, (mistake, count)) in waiting {
            match self.known.get(&key) {
                Some(&number) => self.counts[number] += count,
                None => self.tell_new(key, &mistake, count),
            }
        }
    }
}

impl Run<'_> {
    /// The mistake that a call of `solum_check` with [`CheckOp::Uninitialised`] tells; `None` for other calls. `address`: the
    /// call's operand.
    #[must_use]
    pub fn uninitialised(
        &self,
        who: u64,
        site: u64,
        what: u64,
        address: u64,
    ) -> Option<(Reliance, Mistake)> {
        let CheckOp::Uninitialised(how, size) = What::decode(what)?.op else {
            return None;
        };
        let side = |word: u32, touch: Option<Touch>| Side {
            launch: Arc::clone(&self.launch),
            word,
            group: who >> ITEM_BITS,
            item: (who & ((1 << ITEM_BITS) - 1)) as u32,
            touch,
        };
        let touch = match how {
            Reliance::Store | Reliance::Copy => Some(Touch::Write),
            _ => None,
        };
        let place = match self.checker.state().allocations.find(address) {
            Found::Live { start, size, id } => Some(Place {
                start,
                size,
                offset: address.wrapping_sub(start).cast_signed(),
                space: AddressSpace::Global,
                id: Some(id),
            }),
            _ => None,
        };
        let source = site as u32;
        let mistake = Mistake {
            kind: MistakeKind::Uninitialised(how),
            side: side((site >> 32) as u32, touch),
            other: (source != 0).then(|| side(source, Some(Touch::Read))),
            size,
            values: [None; 2],
            place,
        };
        Some((how, mistake))
    }

    /// Notes a mistake of this launch.
    pub fn relies(&self, mistake: Mistake) {
        let mut state = self.checker.state();
        let waiting = state
            .uninitialised
            .waiting
            .entry(self.launch.number)
            .or_default();
        let entry = waiting.entry(key(&mistake)).or_insert((mistake, 0));
        entry.1 += 1;
    }
}

impl Checker {
    /// Tells a mistake that a launch has made before, unless another explains it.
    pub fn left(&self, mistake: &Mistake) {
        let mut state = self.state();
        if !state.uninitialised.explains(&mistake.side.launch.kernel) {
            state.tell(mistake);
        }
    }
}
