//! Calls of kernels about values that nobody has written.

use std::sync::Arc;

use kernel_ir::abi::check::{ITEM_BITS, What};
use kernel_ir::{AddressSpace, CheckOp, Reliance, Touch};

use crate::allocations::Found;
use crate::checker::Checker;
use crate::mistake::{AllocationOffset, Mistake, MistakeKind, Side};
use crate::run::Run;
use crate::waiting::key;

impl Run<'_> {
    /// The mistake that a call of `solum_check` with [`CheckOp::Uninitialised`] tells; `None` for other calls, and
    /// where the launch is attempted. `address`: the call's operand.
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
        if self.fails_attempt() {
            return None;
        }
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
        let found = self.with_state(|state| state.allocations.find(address))?;
        let place = match found {
            Found::Live { start, size, id } => Some(AllocationOffset {
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
        self.with_state(|state| {
            let waiting = &mut state.uninitialised.waiting;
            let waiting = waiting.entry(self.launch.number).or_default();
            let entry = waiting.entry(key(&mistake)).or_insert((mistake, 0));
            entry.1 += 1;
        });
        self.release();
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
