//! Records of faults, for kernels in the reporting form: memory that the device and the host access.
//!
//! A context keeps its records until it ends. A record in the pool is all zero, and no command uses it.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kernel_builder::FaultRecord;

use super::losses::Moment;
use crate::device::Device;

/// Records in one allocation: a page of 4 KiB.
pub(crate) const RECORDS: usize = 4096 / size_of::<FaultRecord>();

/// A record that a launch may use, of a device.
struct Free {
    device: Device,
    /// A loss of the device since then takes the memory with it.
    made: Moment,
    record: *mut FaultRecord,
}

#[derive(Default)]
struct Pool {
    free: Vec<Free>,
    allocations: Vec<*mut c_void>,
}

/// The records of a context.
#[derive(Default)]
pub(crate) struct FaultPool(Mutex<Pool>);

// SAFETY: the pool's lock keeps its addresses to one thread at a time, and memory of a context is not bound to a thread.
unsafe impl Send for FaultPool {}
// SAFETY: as for `Send`.
unsafe impl Sync for FaultPool {}

impl FaultPool {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a record of a device, and the moment when it was allocated.
    pub(crate) fn take(
        &self,
        device: &Device,
        is_lost: impl Fn(Moment) -> bool,
    ) -> Option<(*mut FaultRecord, Moment)> {
        let mut pool = self.pool();
        let of = |free: &Free| free.device == *device && !is_lost(free.made);
        let at = pool.free.iter().rposition(of)?;
        let free = pool.free.swap_remove(at);
        Some((free.record, free.made))
    }

    /// Adds an allocation of [`RECORDS`] records, which are all zero.
    pub(crate) fn add(&self, device: &Device, made: Moment, first: *mut c_void) {
        let mut pool = self.pool();
        pool.allocations.push(first);
        let first = first.cast::<FaultRecord>();
        let records = (0..RECORDS).map(|index| Free {
            device: device.clone(),
            made,
            record: first.wrapping_add(index),
        });
        pool.free.extend(records);
    }

    /// Gives a record back, which is all zero again.
    pub(crate) fn put(&self, device: &Device, made: Moment, record: *mut FaultRecord) {
        let device = device.clone();
        self.pool().free.push(Free {
            device,
            made,
            record,
        });
    }

    /// All allocations, at the end of the context.
    pub(crate) fn end(&mut self) -> Vec<*mut c_void> {
        let pool = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        pool.free.clear();
        std::mem::take(&mut pool.allocations)
    }
}
