//! Values that nobody has written: calls of kernels, and memory that leaves the device.

use super::process::Check;
use kernel_checker::{Mistake, Run};
use kernel_ir::abi::check::What;
use kernel_ir::{CheckOp, Reliance};

/// A call of `solum_check` that is about uninitialised values: its result. `None` for other calls.
pub(super) fn one(run: &Run<'_>, [who, site, what, a, b]: [u64; 5]) -> Option<u64> {
    let op = What::decode(what)?.op;
    let shadows = super::process::get()?.shadows.as_ref();
    match op {
        CheckOp::AllocationShadow => return Some(shadows.map_or(0, |shadows| shadows.of(a))),
        CheckOp::Unseen | CheckOp::Uninitialised(..) if run.fails_attempt() => return Some(0),
        CheckOp::Unseen => {
            if let Some(shadows) = shadows {
                shadows.forget();
            }
            return Some(0);
        }
        CheckOp::Uninitialised(..) => {}
        _ => return None,
    }
    let (how, mut mistake) = run.uninitialised(who, site, what, a)?;
    match (how, shadows) {
        (Reliance::Store | Reliance::Copy, Some(shadows)) => {
            let is_copy = how == Reliance::Copy;
            mistake.kind = kernel_checker::MistakeKind::Uninitialised(Reliance::Store);
            let left = shadows.stored(a, b, is_copy, mistake);
            // Other memory is the work-group's or the work-item's own.
            if let Some(left) = left.filter(|left| left.place.is_some()) {
                run.relies(left);
            }
        }
        (_, Some(shadows)) => {
            if let Some(earlier) = shadows.suspect(a) {
                mistake.other = Some(earlier.side);
            }
            run.relies(mistake);
        }
        _ => {}
    }
    Some(0)
}

impl Check {
    /// A command has copied memory: what is not initialised goes along, and is a mistake if it leaves the device.
    pub(super) fn copied(&self, to: u64, from: u64, bytes: u64) {
        let Some(shadows) = &self.shadows else { return };
        let left: Vec<Mistake> = shadows.copied(to, from, bytes);
        for mistake in left {
            self.checker.left(&mistake);
        }
    }
}
