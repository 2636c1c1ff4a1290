//! Devices that were lost.
//!
//! A device hung, was reset or faulted: calls for it answer DEVICE_LOST, nothing on it will end, and what only its memory
//! had is gone. Whoever gets that answer has all lanes of the hardware in the context end with that error; where the
//! driver says so of the context as a whole (Level Zero, "Contexts": it is no longer valid then), all of its lanes. What is
//! made anew later goes on working if the driver lets it: lists in the same context, or everything in a new one.
//!
//! Only what waits on the host to be appended fails with what it follows. A command that was on another device by then
//! follows lost work by that device's own means, and is not doubted, though a copy that it read is: which commands of an
//! ordered list need what others of it brought is not known, and all of them failing would end what has nothing to do with
//! the loss.
//!
//! What was made before a loss may say so late: an allocation that was under way, a module, a lane that nobody asked
//! meanwhile. Whoever asks knows the [`Moment`] from which its answer counts, and what was lost since is not lost again.
//!
//! Locks: `LOSING`, then a context's `known` losses, then the numbers of lanes (`FREE`), then each lane's failures, one at a
//! time. Nothing here takes a lane's own lock, so that its holder may come here.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero::sys::*;

use crate::device::Device;
use crate::error::Error;

/// What was lost of a context.
#[derive(Default)]
pub(crate) struct Losses {
    /// How often something was.
    count: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// When and why all of it was: nothing works in it any more.
    all: Option<(Moment, Error)>,
    /// Each device's last.
    devices: Vec<Loss>,
}

struct Loss {
    hardware: Device,
    at: Moment,
    error: Error,
}

/// A place in the order of a context's losses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(u64);

impl Losses {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing works in the context any more, as far as is known.
    pub(crate) fn all(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.known().all.is_some()
    }

    /// After all losses that are known by now.
    pub(crate) fn moment(&self) -> Moment {
        Moment(self.count.load(Ordering::Acquire))
    }

    /// Why a device, or all, was lost since then.
    pub(crate) fn since(&self, hardware: Option<&Device>, moment: Moment) -> Option<Error> {
        if self.moment() <= moment {
            return None;
        }
        let known = self.known();
        if let Some((_, error)) = known.all.as_ref().filter(|(at, _)| *at > moment) {
            return Some(error.clone());
        }
        let mut devices = known.devices.iter();
        let device = devices.find(|loss| Some(&loss.hardware) == hardware && loss.at > moment);
        device.map(|loss| loss.error.clone())
    }

    /// One more. The caller has `LOSING`.
    pub(super) fn add(&self, hardware: Option<&Device>, all: bool, error: &Error) {
        let mut known = self.known();
        let at = Moment(self.moment().0 + 1);
        if all {
            known.all = Some((at, error.clone()));
        }
        if let Some(hardware) = hardware {
            known.devices.retain(|loss| loss.hardware != *hardware);
            known.devices.push(Loss {
                hardware: hardware.clone(),
                at,
                error: error.clone(),
            });
        }
        self.count.store(at.0, Ordering::Release);
    }
}

/// Whether a call answered that its device is lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    error.backend_code() == Some(ZE_RESULT_ERROR_DEVICE_LOST) && error.cause().is_none()
}

/// What a call with something made earlier answered: where that was lost since, the answer says nothing of what was made
/// after it.
#[cold]
pub(crate) fn outlived(error: Error, loss: impl FnOnce() -> Option<Error>) -> Error {
    match is_lost(&error) && loss().is_some() {
        true => {
            Error::because("it was made before its device was lost", &error).with_code(error.errc())
        }
        false => error,
    }
}
