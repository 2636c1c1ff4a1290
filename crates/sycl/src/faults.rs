//! Faults of kernels in Rust: the record of a launch, and the error that it becomes.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use kernel_builder::{FaultRecord, FaultSite};
use smallvec::SmallVec;
use sycl_graph::Dep;

use crate::device::Device;
use crate::engine::allocation::{allocate_host, allocate_shared, with_room};
use crate::engine::completion::probe;
use crate::engine::fault_pool::RECORDS;
use crate::engine::losses::Moment;
use crate::engine::native_context::NativeContext;
use crate::error::{Errc, Error, Result};

/// A kernel's name, and the places where it may fault.
#[derive(Debug)]
pub struct FaultSites {
    pub(crate) kernel: &'static str,
    pub(crate) sites: Vec<FaultSite>,
}

impl FaultSites {
    /// The error of a fault at an index of a range of so many dimensions.
    fn error(&self, fault: &FaultRecord, dimensions: usize) -> Error {
        let mut text = format!("kernel {}, work-item [", self.kernel);
        for axis in (0..dimensions.clamp(1, 3)).rev() {
            let separator = if axis == 0 { "" } else { ", " };
            // A string takes any text.
            let _ = write!(text, "{}{separator}", fault.item[axis]);
        }
        let site = usize::try_from(fault.site).ok();
        let _ = match site.and_then(|site| self.sites.get(site)) {
            Some(site) => {
                let (line, column) = site.line;
                let what = site.text(&fault.values);
                write!(text, "]: {}:{line}:{column}: {what}", site.file)
            }
            None => write!(text, "]: a fault at an unknown place"),
        };
        Error::new(Errc::Kernel, text)
    }
}

/// The record of a launch, which goes back to its pool when no command uses it.
pub(crate) struct LaunchRecord {
    native: Arc<NativeContext>,
    device: Device,
    made: Moment,
    record: *mut FaultRecord,
    sites: &'static FaultSites,
    dimensions: usize,
}

/// The records of a command: one, or those of a graph's launches.
pub(crate) type LaunchRecords = SmallVec<[Arc<LaunchRecord>; 1]>;

// SAFETY: the record is memory of the context, which any thread may access; its state is atomic.
unsafe impl Send for LaunchRecord {}
// SAFETY: as for `Send`.
unsafe impl Sync for LaunchRecord {}

impl LaunchRecord {
    /// Takes a record for a launch over so many dimensions.
    pub(crate) fn new(
        native: &Arc<NativeContext>,
        device: &Device,
        sites: &'static FaultSites,
        dimensions: usize,
    ) -> Result<Arc<Self>> {
        let pool = &native.fault_records;
        let hardware = device.hardware();
        let is_lost = |made| native.losses.since(Some(&hardware), made).is_some();
        let (record, made) = loop {
            if let Some(found) = pool.take(device, is_lost) {
                break found;
            }
            let bytes = RECORDS * size_of::<FaultRecord>();
            let made = native.losses.moment();
            let alignment = align_of::<FaultRecord>();
            // Shared memory has atomic operations where host memory may have none, but not every device has it.
            let first = with_room(|| {
                let shared = allocate_shared(native, Some(device), bytes, alignment);
                shared.or_else(|_| allocate_host(native, bytes, alignment))
            })?;
            // SAFETY: the new allocation has so many bytes.
            unsafe { std::ptr::write_bytes(first.cast::<u8>(), 0, bytes) };
            pool.add(device, made, first);
        };
        Ok(Arc::new(Self {
            native: Arc::clone(native),
            device: device.clone(),
            made,
            record,
            sites,
            dimensions,
        }))
    }

    /// The address, for the kernel.
    pub(crate) fn address(&self) -> *const std::ffi::c_void {
        self.record.cast_const().cast()
    }

    /// Takes the fault, if there is one. Another launch of a graph may use the record at the same time.
    fn take(&self) -> Option<Error> {
        // SAFETY: the record lives as long as its context, and devices access its state atomically too.
        let state = unsafe { AtomicU32::from_ptr(&raw mut (*self.record).state) };
        let (order, busy) = (Ordering::Acquire, FaultRecord::WRITTEN + 1);
        state
            .compare_exchange(FaultRecord::WRITTEN, busy, order, Ordering::Relaxed)
            .ok()?;
        // SAFETY: kernels write a record only while its state is 0, and this call alone has made it `busy`.
        let fault = unsafe { self.record.read() };
        state.store(0, Ordering::Release);
        Some(self.sites.error(&fault, self.dimensions))
    }
}

impl Drop for LaunchRecord {
    fn drop(&mut self) {
        // SAFETY: no command uses the record any more: its owner is a launch that did not begin or has ended.
        unsafe { self.record.write(FaultRecord::default()) };
        let pool = &self.native.fault_records;
        pool.put(&self.device, self.made, self.record);
    }
}

/// A command whose kernels report faults.
pub(crate) struct Watched {
    dep: Dep,
    state: Mutex<State>,
    /// The program knows the fault.
    told: AtomicBool,
}

enum State {
    /// It is not known to have ended.
    Open(LaunchRecords),
    Ended(Option<Error>),
}

impl Watched {
    pub(crate) fn new(dep: Dep, records: LaunchRecords) -> Self {
        Self {
            dep,
            state: Mutex::new(State::Open(records)),
            told: AtomicBool::new(false),
        }
    }

    /// Returns whether the command has ended; its fault is known then.
    pub(crate) fn has_ended(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(records) = &*state {
            if !probe(self.dep) {
                return false;
            }
            let mut first = None;
            for fault in records.iter().filter_map(|record| record.take()) {
                first.get_or_insert(fault);
            }
            *state = State::Ended(first);
        }
        true
    }

    /// The fault, if one is known.
    pub(crate) fn fault(&self) -> Option<Error> {
        match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Open(_) => None,
            State::Ended(fault) => fault.clone(),
        }
    }

    /// Whether the command has ended with a fault.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_ended() && self.fault().is_some()
    }

    /// The program knows the fault from now on. Returns whether it did before.
    pub(crate) fn tell(&self) -> bool {
        self.told.swap(true, Ordering::Relaxed)
    }

    /// Whether the program knows the fault.
    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }
}

/// Commands that write a buffer and whose kernels report faults, for the buffer's next access on the host.
#[derive(Default)]
pub(crate) struct Writers(Vec<Arc<Watched>>);

/// The number of writers from which those that have ended well are forgotten.
const MANY_WRITERS: usize = 16;

impl Writers {
    pub(crate) fn add(&mut self, writer: &Arc<Watched>) {
        if self.0.len() >= MANY_WRITERS {
            self.0
                .retain(|known| !known.has_ended() || known.fault().is_some());
        }
        self.0.push(Arc::clone(writer));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the first fault that the program does not know.
    pub(crate) fn take_fault(&mut self) -> Option<Error> {
        let mut first = None;
        self.0.retain(|writer| {
            if first.is_none() && writer.has_failed() && !writer.tell() {
                first = writer.fault();
            }
            !writer.has_ended() || (writer.fault().is_some() && !writer.is_told())
        });
        first
    }
}
