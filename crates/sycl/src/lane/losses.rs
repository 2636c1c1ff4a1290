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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use level_zero::sys::*;

use super::{FREE, Inner, Lane, count_failure, of};
use crate::context::NativeContext;
use crate::device::Device;
use crate::error::{Error, Result};

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
    fn add(&self, hardware: Option<&Device>, all: bool, error: &Error) {
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

/// A device in a context, as long as it is not lost.
#[derive(Clone)]
pub(crate) struct Intact {
    context: Arc<NativeContext>,
    hardware: Device,
    since: Moment,
}

impl Intact {
    pub(crate) fn new(context: &Arc<NativeContext>, device: &Device) -> Self {
        Self {
            context: Arc::clone(context),
            since: context.losses.moment(),
            hardware: device.hardware(),
        }
    }

    /// Why it was lost since it was made, or since the last call of this.
    pub(crate) fn renew(&mut self) -> Option<Error> {
        let error = self.loss()?;
        // What is lost between the two is seen to with it.
        self.since = self.context.losses.moment();
        Some(error)
    }

    /// Why it was lost since then.
    pub(crate) fn loss(&self) -> Option<Error> {
        self.context.losses.since(Some(&self.hardware), self.since)
    }
}

/// Whether a call answered that its device is lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    error.backend_code() == Some(ZE_RESULT_ERROR_DEVICE_LOST) && error.cause().is_none()
}

/// What a call for a device answered; if the device is lost, that is seen to first. `before` is when the call began, or
/// when what it is for was made.
pub(crate) fn lose_if_lost<T>(
    context: &NativeContext,
    device: Option<&Device>,
    before: Moment,
    result: Result<T>,
) -> Result<T> {
    if let Err(error) = result.as_ref()
        && is_lost(error)
    {
        lose(context, device, &Asked::Since(before), error);
    }
    result
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

/// Who was told that a device is lost.
enum Asked<'a> {
    /// It knows by itself whether its device was lost since it was made.
    Lane(&'a Lane),
    /// Another, whose answer counts from a moment on.
    Since(Moment),
}

/// One loss after another.
static LOSING: Mutex<()> = Mutex::new(());

/// Why nothing more is done where something was lost.
pub(crate) fn lost(cause: &Error) -> Error {
    Error::because("nothing runs here any more", cause).with_code(cause.errc())
}

fn lose(context: &NativeContext, device: Option<&Device>, asked: &Asked<'_>, error: &Error) {
    let _one = LOSING.lock().unwrap_or_else(PoisonError::into_inner);
    let hardware = device.map(Device::hardware);
    // Others may have been told as well, and what they lost made anew since.
    let (own, told) = match asked {
        Asked::Lane(lane) => (Some(*lane), lane.failures.is_device_lost()),
        Asked::Since(before) => {
            let lost = context.losses.since(hardware.as_ref(), *before);
            (None, lost.is_some())
        }
    };
    if told || context.losses.all() {
        own.inspect(|lane| lane.failures.lose(&lane.progress, |_, _| true, error));
        return;
    }
    let all = context.is_lost();
    // Before any failure is seen, so that whoever sees one finds out what was lost.
    context.losses.add(hardware.as_ref(), all, error);
    let (context, hardware) = (
        std::ptr::from_ref(context).addr(),
        hardware.map(|hardware| hardware.handle().addr()),
    );
    let used = FREE.lock().unwrap_or_else(PoisonError::into_inner).1;
    for lane in (0..used).filter_map(of) {
        let is_own = own.is_some_and(|own| std::ptr::eq(own, lane));
        let is_lost = |known: usize, of: Option<usize>| {
            is_own || known == context && (all || of.is_some() && of == hardware)
        };
        lane.failures.lose(&lane.progress, is_lost, error);
    }
    count_failure();
}

impl Lane {
    /// If the device is lost by a call's answer for this lane, sees to that; whether it is.
    pub(super) fn lose_if_lost(&self, inner: &Inner, error: &Error) -> bool {
        let home = inner.home.as_ref().filter(|_| is_lost(error));
        let lost = home.map(|home| {
            lose(
                &home.context,
                home.device.as_ref(),
                &Asked::Lane(self),
                error,
            )
        });
        lost.is_some()
    }

    /// It is lost with what was lost of its context since a moment, before which its list may have been made. From here on
    /// it is told of losses.
    pub(super) fn lose_since(&self, context: &NativeContext, device: &Device, before: Moment) {
        if let Some(error) = context.losses.since(Some(&device.hardware()), before) {
            self.failures.lose(&self.progress, |_, _| true, &error);
        }
    }
}
