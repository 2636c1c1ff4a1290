//! Kernels that the system stops.

use kernel_ir::{CheckOp, Touch};

use super::{Call, Run};
use crate::checker::NULL;
use crate::mistake::MistakeKind;

impl Run<'_> {
    /// The kernel has stopped, because the memory at `address` is not there.
    pub fn faulted(&self, address: u64) {
        self.release();
        if self.fails_attempt() {
            return;
        }
        if address < NULL {
            // A null pointer, which its bounds have told.
            return;
        }
        let unknown = match self.groups.try_borrow() {
            Ok(groups) => groups.unknown.clone(),
            Err(_) => None,
        };
        let Some((call, lanes)) = unknown else {
            return;
        };
        let CheckOp::Access(touch, size) = call.what.op else {
            return;
        };
        let mut lanes = lanes.into_iter();
        let holds = |&(_, at): &(u32, u64)| address.wrapping_sub(at) < u64::from(size);
        let Some((lane, at)) = lanes.find(holds) else {
            return;
        };
        let item = call.item + lane;
        // Memory that cannot be written may still be read.
        let may_be_read = matches!(touch, Touch::Write | Touch::Atomic { writes: true, .. })
            && self.with_state(|state| state.reporter.read(address, &mut [0])) == Some(true);
        let kind = match may_be_read {
            true => MistakeKind::ReadOnlyWrite,
            false => MistakeKind::InvalidPointer,
        };
        self.tell(&Call { item, ..call }, kind, |mistake| {
            mistake.side.touch = Some(touch);
            mistake.size = size;
            mistake.values = [None, Some(at)];
        });
    }
}
