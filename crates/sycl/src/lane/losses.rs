//! Devices that were lost.
//!
//! A device hung, was reset or faulted: calls for it answer DEVICE_LOST, nothing on it will end, and what only its memory
//! had is gone. Whoever gets that answer has all lanes of the hardware in the context end with that error; where the
//! driver says so of the context as a whole (Level Zero, "Contexts": it is no longer valid then), all of its lanes. What is
//! made anew later goes on working if the driver lets it: lists in the same context, or everything in a new one.
//!
//! Nothing here takes a lane's lock, so that its holder may come here.

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
    /// How often something was: see [`Intact`].
    count: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Why nothing works in it any more.
    all: Option<Error>,
    devices: Vec<Loss>,
}

struct Loss {
    hardware: Device,
    count: u64,
    error: Error,
}

impl Losses {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing works in the context any more, as far as is known.
    pub(crate) fn all(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0 && self.known().all.is_some()
    }

    /// How often a device was lost, and why at last.
    fn of(&self, hardware: &Device) -> (u64, Option<Error>) {
        if self.count.load(Ordering::Acquire) == 0 {
            return (0, None);
        }
        let known = self.known();
        let mut devices = known.devices.iter();
        let device = devices.find(|loss| loss.hardware == *hardware);
        let (count, error) = device.map_or((0, None), |loss| (loss.count, Some(&loss.error)));
        let all = u64::from(known.all.is_some());
        (count + all, known.all.as_ref().or(error).cloned())
    }

    fn add(&self, hardware: Option<&Device>, all: bool, error: &Error) {
        let mut known = self.known();
        if all {
            known.all = Some(error.clone());
        }
        if let Some(hardware) = hardware {
            let mut devices = known.devices.iter_mut();
            match devices.find(|loss| loss.hardware == *hardware) {
                Some(loss) => (loss.count, loss.error) = (loss.count + 1, error.clone()),
                None => known.devices.push(Loss {
                    hardware: hardware.clone(),
                    count: 1,
                    error: error.clone(),
                }),
            }
        }
        self.count.fetch_add(1, Ordering::Release);
    }
}

/// A device in a context, as long as it is not lost.
#[derive(Clone)]
pub(crate) struct Intact {
    context: Arc<NativeContext>,
    hardware: Device,
    losses: u64,
}

impl Intact {
    pub(crate) fn new(context: &Arc<NativeContext>, device: &Device) -> Self {
        let hardware = device.hardware();
        Self {
            context: Arc::clone(context),
            losses: context.losses.of(&hardware).0,
            hardware,
        }
    }

    /// Why it was lost since it was made, or since the last call of this.
    pub(crate) fn renew(&mut self) -> Option<Error> {
        let error = self.loss()?;
        self.losses = self.context.losses.of(&self.hardware).0;
        Some(error)
    }

    /// Why it was lost since then.
    pub(crate) fn loss(&self) -> Option<Error> {
        let (losses, error) = self.context.losses.of(&self.hardware);
        error.filter(|_| losses != self.losses)
    }
}

/// Whether a call answered that its device is lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    error.backend_code() == Some(ZE_RESULT_ERROR_DEVICE_LOST) && error.cause().is_none()
}

/// What a call for a device answered; if the device is lost, that is seen to first.
pub(crate) fn lose_if_lost<T>(
    context: &NativeContext,
    device: Option<&Device>,
    result: Result<T>,
) -> Result<T> {
    if let Err(error) = result.as_ref()
        && is_lost(error)
    {
        lose(context, device, None, error);
    }
    result
}

/// One loss after another.
static LOSING: Mutex<()> = Mutex::new(());

/// Why nothing more is done where something was lost.
pub(crate) fn lost(cause: &Error) -> Error {
    Error::because("nothing runs here any more", cause).with_code(cause.errc())
}

fn lose(context: &NativeContext, device: Option<&Device>, own: Option<&Lane>, error: &Error) {
    let _one = LOSING.lock().unwrap_or_else(PoisonError::into_inner);
    // Others on the lane may have been told as well, later than that.
    let told = own.is_some_and(|lane| lane.failures.is_device_lost());
    if told || context.losses.all() {
        own.inspect(|lane| lane.failures.lose(&lane.progress, |_, _| true, error));
        return;
    }
    let all = context.is_lost();
    let hardware = device.map(Device::hardware);
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
        let lost = home.map(|home| lose(&home.context, home.device.as_ref(), Some(self), error));
        lost.is_some()
    }
}
