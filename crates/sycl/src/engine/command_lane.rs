//! Command lanes: command lists that run in order. One number, a [`Dep`], stands for all work on a lane up to a
//! command.
//!
//! Each command signals an event of the lane's ring. An event is reused when its command and everything that waits for
//! it have ended, and no thread polls or keeps it. A kept event does not block the others. A lane's index and its
//! numbers outlive its list: a [`Dep`] on a closed lane, or on the lane's previous list, always means finished work.
//!
//! A lane on a command queue records several commands into a list. It executes the list when that is full, or when a
//! thread polls or waits for one of the commands; until then the device does not know them.
//!
//! Locks: a lane's lock may be taken while buffers are locked. A thread that holds a lane's lock never waits for a
//! second one, and nothing is called back under it. Losses of devices: see [`super::losses`].

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use level_zero::sys::*;
use smallvec::SmallVec;
use sycl_graph::{Dep, Deps, Progress, Ring};

use super::failures::{Failures, count_failure};
use super::list_backend::{Batches, Kind, LaneOptions, ListBackend};
use super::losses::{Moment, is_lost};
use super::native_context::NativeContext;
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::registry::own;
use crate::ze::{Api, ze};

/// The number of lane indices; the greatest stands for pending commands.
const LANES: usize = Dep::PENDING as usize;
/// Events in one pool.
const CHUNK: u32 = 256;
/// Events are reused once the ring has this length.
const RING: usize = 64;
/// One submission in this many polls whether an event is signaled.
const PROBE: u64 = 32;

/// A command list that runs in order.
pub(crate) struct CommandLane {
    pub(super) id: u16,
    pub(super) progress: Progress,
    /// The device knows all commands up to this one; later ones are in a list that is being recorded.
    pub(super) executed: AtomicU64,
    /// The address of the context's value, for comparison.
    pub(super) context: AtomicUsize,
    /// Whether the lane stands for an event of the program.
    pub(super) is_event: AtomicBool,
    /// Whether the lane's commands wait for user events, or did.
    pub(super) awaits_user_events: AtomicBool,
    /// The lane closes when no thread holds one of its events.
    pub(super) closing: AtomicBool,
    pub(super) failures: Failures,
    inner: Mutex<Inner>,
}

pub(super) struct Inner {
    pub(super) backend: Option<ListBackend>,
    pub(super) ring: Ring<Slot>,
    pub(super) pools: Vec<ze_event_pool_handle_t>,
    /// Events created from the last pool.
    pub(super) used: u32,
    pub(super) spare: Vec<ze_event_handle_t>,
    /// The last command before those that never begin because their list could not be executed. They count as ended
    /// once that command has.
    pub(super) unexecuted: Option<u64>,
    /// Events that other objects keep.
    pub(super) kept: usize,
    /// User events that the lane's commands wait for.
    pub(super) user_events: SmallVec<[AwaitedUserEvent; 1]>,
    /// The lane stands for an event that the program may have destroyed: the event is no longer polled.
    pub(super) let_go: bool,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            backend: None,
            ring: Ring::new(RING, PROBE),
            pools: Vec::new(),
            used: 0,
            spare: Vec::new(),
            unexecuted: None,
            kept: 0,
            user_events: SmallVec::new(),
            let_go: false,
        }
    }
}

// SAFETY: the lane's lock keeps these handles to one thread at a time.
unsafe impl Send for Inner {}

pub(super) struct Slot {
    pub(super) event: ze_event_handle_t,
    /// Work on other lanes that waits for this event.
    pub(super) waiters: SmallVec<[Dep; 1]>,
    pub(super) profile: Option<Arc<Profile>>,
    /// How many [`super::pins::Kept`] hold it.
    pub(super) kept: u32,
    /// Whether a [`super::pins::Kept`] was lent to the program: the event then counts as this runtime's only while it
    /// is kept.
    pub(super) borrowed: bool,
}

/// A user event that commands of a lane wait for.
#[derive(Clone, Copy)]
pub(super) struct AwaitedUserEvent {
    /// The first command that waits for it; the event's own number where work follows the event directly.
    pub(super) first: Dep,
    pub(super) event: Dep,
}

/// When a command ran, in device ticks.
#[derive(Debug, Default)]
pub(crate) struct Profile {
    pub(crate) submit: u64,
    pub(crate) run: OnceLock<(u64, u64)>,
}

/// The handle of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NativeLane {
    Queue(ze_command_queue_handle_t),
    List(ze_command_list_handle_t),
}

static TABLE: [AtomicPtr<CommandLane>; LANES] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; LANES];

/// Indices of closed lanes, and the first unused index.
pub(super) static FREE: Mutex<(Vec<u16>, u16)> = Mutex::new((Vec::new(), 0));

pub(super) fn of(id: u16) -> Option<&'static CommandLane> {
    let at = TABLE.get(usize::from(id))?.load(Ordering::Acquire);
    // SAFETY: null, or a lane that was leaked.
    unsafe { at.as_ref() }
}

/// A context's address, for comparison.
pub(super) fn address_of(context: &Arc<NativeContext>) -> usize {
    Arc::as_ptr(context).addr()
}

/// The address of a device's hardware, for comparison.
fn hardware_of(device: &Device) -> usize {
    device.hardware().handle().addr()
}

/// The lane of some work; `None` for pending commands.
pub(crate) fn lane_of(dep: Dep) -> Option<&'static CommandLane> {
    if dep.is_pending() {
        None
    } else {
        of(dep.lane())
    }
}

impl CommandLane {
    /// Creates a lane on a new list or queue of `device`.
    pub(crate) fn create(
        context: &Arc<NativeContext>,
        device: &Device,
        options: LaneOptions,
    ) -> Result<&'static Self> {
        let before = context.losses.moment();
        let native = Self::create_native(context, device, &options);
        let native = lose_if_lost(context, Some(device), before, native)?;
        match native {
            NativeLane::Queue(queue) => own(queue),
            NativeLane::List(list) => own(list),
        };
        let lane = Self::adopt(context, device, native, options)?;
        lane.lose_since(context, device, before);
        Ok(lane)
    }

    fn create_native(
        context: &NativeContext,
        device: &Device,
        options: &LaneOptions,
    ) -> Result<NativeLane> {
        let api = context.api;
        let flags = if options.in_order && !options.batched {
            ZE_COMMAND_QUEUE_FLAG_IN_ORDER
        } else {
            0
        };
        let desc = ze_command_queue_desc_t {
            ordinal: options.ordinal,
            index: options.index,
            flags,
            mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
            priority: options.priority,
            ..Default::default()
        };
        let (context_handle, handle) = (context.handle, device.handle());
        if options.batched {
            let mut queue = std::ptr::null_mut();
            // SAFETY: live handles, valid input and output.
            unsafe {
                ze!(
                    api,
                    zeCommandQueueCreate = command_queue.pfnCreate(
                        context_handle,
                        handle,
                        &raw const desc,
                        &raw mut queue
                    )
                )?;
            }
            Ok(NativeLane::Queue(queue))
        } else {
            let mut list = std::ptr::null_mut();
            // SAFETY: live handles, valid input and output.
            unsafe {
                ze!(
                    api,
                    zeCommandListCreateImmediate = command_list.pfnCreateImmediate(
                        context_handle,
                        handle,
                        &raw const desc,
                        &raw mut list
                    )
                )?;
            }
            Ok(NativeLane::List(list))
        }
    }

    /// Creates a lane on an existing handle.
    pub(crate) fn adopt(
        context: &Arc<NativeContext>,
        device: &Device,
        native: NativeLane,
        options: LaneOptions,
    ) -> Result<&'static Self> {
        let kind = match native {
            NativeLane::Queue(queue) => Kind::Queue(Batches::new(queue, options.batch)),
            NativeLane::List(list) => Kind::Immediate(list),
        };
        let lane = Self::place()?;
        let mut inner = lane.inner();
        inner.backend = Some(ListBackend {
            context: Arc::clone(context),
            device: Some(device.clone()),
            kind,
            options,
        });
        lane.failures
            .start(address_of(context), Some(hardware_of(device)));
        lane.context
            .store(Arc::as_ptr(context).addr(), Ordering::Release);
        lane.is_event.store(false, Ordering::Release);
        drop(inner.ring.restart(lane.progress.next()));
        let known = match native {
            NativeLane::Queue(_) => lane.progress.last(),
            NativeLane::List(_) => u64::MAX,
        };
        lane.executed.store(known, Ordering::Release);
        drop(inner);
        Ok(lane)
    }

    pub(super) fn place() -> Result<&'static Self> {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = free.0.pop().and_then(of) {
            return Ok(lane);
        }
        let id = free.1;
        let Some(place) = TABLE.get(usize::from(id)) else {
            return Err(Error::new(
                Errc::Runtime,
                format!("{LANES} command lists live: drop queues that are no longer used"),
            ));
        };
        free.1 += 1;
        let lane = Box::leak(Box::new(Self {
            id,
            progress: Progress::new(),
            executed: AtomicU64::new(u64::MAX),
            context: AtomicUsize::new(0),
            is_event: AtomicBool::new(false),
            awaits_user_events: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            failures: Failures::none(),
            inner: Mutex::default(),
        }));
        place.store(lane, Ordering::Release);
        Ok(lane)
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lane's last command.
    pub(crate) fn tail(&self) -> Dep {
        Dep::new(self.id, self.progress.last())
    }

    /// The number of commands that are not known to have ended.
    pub(crate) fn outstanding(&self) -> u64 {
        self.progress.outstanding()
    }

    /// Whether a command is known to have ended.
    pub(crate) fn is_done(&self, sequence: u64) -> bool {
        self.progress.is_done(sequence)
    }

    /// The last command up to this one that may have begun.
    pub(crate) fn begun(&self, sequence: u64) -> Dep {
        let begun = match self.failure(sequence) {
            Some(_) => self.inner().begun(sequence),
            None => sequence,
        };
        Dep::new(self.id, begun)
    }

    /// Polls whether the last command has ended, unless that is known.
    pub(crate) fn probe_tail(&self) {
        let last = self.progress.last();
        if !self.is_done(last) {
            self.probe(last);
        }
    }

    /// As [`Self::probe`], for a caller that waits: the command is submitted to the device first.
    pub(crate) fn poll(&self, sequence: u64) -> bool {
        self.flush(sequence);
        self.probe(sequence)
    }

    /// Submits the list being recorded, if it has the command. A failure is that of the whole list and is reported to
    /// waiters.
    pub(crate) fn flush(&self, sequence: u64) {
        if sequence <= self.executed.load(Ordering::Acquire) {
            return;
        }
        self.flush_locked(&mut self.inner());
    }

    fn flush_locked(&self, inner: &mut Inner) {
        if self.failures.is_device_lost() {
            return;
        }
        let flushed = inner.backend.as_mut().map_or(Ok(()), ListBackend::execute);
        self.executed(inner, &flushed);
    }

    /// Records whether the list could be executed.
    pub(super) fn executed(&self, inner: &mut Inner, result: &Result<()>) {
        let last = self.progress.last();
        let before = self.executed.swap(last, Ordering::AcqRel);
        if let Some(error) = result.as_ref().err().filter(|_| before < last) {
            inner.unexecuted = Some(before);
            self.failures.begin(before, error);
            self.lose_if_lost(inner, error);
        }
    }

    /// Submits all commands to the device.
    pub(crate) fn flush_all(&self) {
        self.flush(self.progress.last());
    }

    fn try_inner(&self) -> Option<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// As [`Self::probe`], unless another thread holds the lane's lock: for callers that hold another lane's.
    pub(super) fn try_probe(&self, sequence: u64) -> bool {
        self.is_done(sequence)
            || self
                .try_inner()
                .is_some_and(|inner| self.probe_locked(&inner, sequence))
    }

    /// As [`Self::poll`] of the last command, unless another thread holds the lane's lock.
    pub(super) fn try_poll_last(&self) -> bool {
        let last = self.progress.last();
        if self.is_done(last) {
            return true;
        }
        let Some(mut inner) = self.try_inner() else {
            return false;
        };
        if last > self.executed.load(Ordering::Acquire) {
            self.flush_locked(&mut inner);
        }
        self.probe_locked(&inner, last)
    }

    /// Polls whether a command has ended.
    pub(crate) fn probe(&self, sequence: u64) -> bool {
        if self.is_done(sequence) {
            return true;
        }
        let inner = self.inner();
        self.probe_locked(&inner, sequence)
    }

    pub(super) fn probe_locked(&self, inner: &Inner, sequence: u64) -> bool {
        if self.failures.is_device_lost() {
            // The command was appended during the loss.
            self.progress.end_all();
            return true;
        }
        let begun = inner.begun(sequence);
        if begun != sequence && self.is_done(begun) {
            self.progress.end(sequence);
        }
        let Some((slot, backend)) = inner.ring.get(begun).zip(inner.backend.as_ref()) else {
            return self.is_done(sequence);
        };
        let Some(query) = backend.context.api.tables.event.pfnQueryStatus else {
            return false;
        };
        // SAFETY: a live event of this lane, which the lock keeps from being used again.
        let answer = unsafe { query(slot.event) };
        if answer == ZE_RESULT_ERROR_DEVICE_LOST {
            let error = backend.context.api.error("zeEventQueryStatus", answer);
            self.lose_if_lost(inner, &error);
            return true;
        }
        let ended = answer == ZE_RESULT_SUCCESS;
        if ended {
            self.progress.end(sequence);
        }
        ended
    }

    /// Whether lists of a context can wait for work on this lane.
    pub(crate) fn is_in(&self, context: &Arc<NativeContext>) -> bool {
        self.context.load(Ordering::Acquire) == Arc::as_ptr(context).addr()
    }

    /// The lane's context; `None` when the lane is closed.
    pub(crate) fn native_context(&self) -> Option<Arc<NativeContext>> {
        self.inner()
            .backend
            .as_ref()
            .map(|backend| Arc::clone(&backend.context))
    }

    /// When a command ran, in ticks; `None` while it runs.
    pub(crate) fn times(&self, sequence: u64, profile: &Profile) -> Option<(u64, u64)> {
        let inner = self.inner();
        if let Some((slot, backend)) = inner.ring.get(sequence).zip(inner.backend.as_ref()) {
            slot.keep_times(backend.context.api);
        }
        profile.run.get().copied()
    }

    /// The work that must end before the list may be destroyed: the lane's commands and those that wait for them.
    pub(crate) fn users(&self) -> Deps {
        let mut users = self.waiters();
        users.add(self.tail());
        users
    }

    /// Commands of other lanes that wait for commands of this one.
    pub(super) fn waiters(&self) -> Deps {
        let mut waiters = Deps::default();
        let inner = self.inner();
        let slots = inner.ring.iter().flat_map(|slot| &slot.waiters);
        slots.for_each(|dep| waiters.add(*dep));
        waiters
    }

    /// The handle that commands are appended to. A list that is being recorded is executed first, because the owner of
    /// the handle may wait for all work on it.
    pub(crate) fn native(&self) -> Option<NativeLane> {
        self.flush_all();
        self.inner()
            .backend
            .as_ref()
            .map(|backend| match &backend.kind {
                Kind::Immediate(list) => NativeLane::List(*list),
                Kind::Queue(batches) => NativeLane::Queue(batches.queue()),
                Kind::Event => NativeLane::List(std::ptr::null_mut()),
            })
    }
}

impl Slot {
    /// Reads the times before the event is reused.
    pub(super) fn keep_times(&self, api: Api) {
        let Some(profile) = self.profile.as_ref().filter(|p| p.run.get().is_none()) else {
            return;
        };
        if let Ok(times) = self.times(api) {
            let _ = profile.run.set(times);
        }
    }

    /// The times that the event recorded.
    pub(super) fn times(&self, api: Api) -> Result<(u64, u64)> {
        let mut result = ze_kernel_timestamp_result_t::default();
        // SAFETY: a live event and a valid output.
        unsafe {
            ze!(
                api,
                zeEventQueryKernelTimestamp =
                    event.pfnQueryKernelTimestamp(self.event, &raw mut result)
            )?;
        }
        Ok((result.global.kernelStart, result.global.kernelEnd))
    }
}

impl Inner {
    /// The command whose end is this one's: itself, or, for one that never begins, the last one before it that did.
    pub(super) fn begun(&self, sequence: u64) -> u64 {
        self.unexecuted
            .map_or(sequence, |before| sequence.min(before))
    }

    pub(super) fn new_event(&mut self) -> Result<ze_event_handle_t> {
        let Some(backend) = self.backend.as_ref() else {
            return Err(Error::new(Errc::Runtime, "the queue has been destroyed"));
        };
        let api = backend.context.api;
        if self.pools.is_empty() || self.used == CHUNK {
            let timestamps = if backend.options.timestamps {
                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
            } else {
                0
            };
            let desc = ze_event_pool_desc_t {
                flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | timestamps,
                count: CHUNK,
                ..Default::default()
            };
            let mut device = backend.device_handle();
            let mut pool = std::ptr::null_mut();
            // SAFETY: live handles, valid inputs and output.
            unsafe {
                ze!(
                    api,
                    zeEventPoolCreate = event_pool.pfnCreate(
                        backend.context.handle,
                        &raw const desc,
                        1,
                        &raw mut device,
                        &raw mut pool
                    )
                )?;
            }
            self.pools.push(pool);
            self.used = 0;
        }
        let pool = self.pools.last().copied().unwrap_or(std::ptr::null_mut());
        let desc = ze_event_desc_t {
            index: self.used,
            signal: ZE_EVENT_SCOPE_FLAG_HOST,
            wait: ZE_EVENT_SCOPE_FLAG_HOST,
            ..Default::default()
        };
        let mut event = std::ptr::null_mut();
        // SAFETY: a live pool, an index that no other event of it has, valid input and output.
        unsafe {
            ze!(
                api,
                zeEventCreate = event.pfnCreate(pool, &raw const desc, &raw mut event)
            )?;
        }
        self.used += 1;
        Ok(event)
    }
}

impl CommandLane {
    /// Whether the lane's list takes no more work.
    pub(crate) fn is_lost(&self) -> bool {
        self.failures.is_lost()
    }

    /// Returns an error if the lane's device was lost.
    pub(crate) fn refuse_lost_device(&self) -> Result<()> {
        match self.failures.is_device_lost() {
            true => self.failures.refuse(),
            false => Ok(()),
        }
    }

    /// Why a command did not run, or may not have run.
    #[inline]
    pub(crate) fn failure(&self, sequence: u64) -> Option<Error> {
        self.failures.of(sequence)
    }
}

/// Passes on the result of a call. If it is DEVICE_LOST, the loss is recorded first. `before` is the moment when the
/// call began, or when its object was made.
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

/// The object whose call returned DEVICE_LOST.
enum Asked<'a> {
    /// A lane, which knows whether its device was lost since the lane was made.
    CommandLane(&'a CommandLane),
    /// Another object, whose results count from a moment on.
    Since(Moment),
}

/// Serialises the recording of losses.
static LOSING: Mutex<()> = Mutex::new(());

fn lose(context: &NativeContext, device: Option<&Device>, asked: &Asked<'_>, error: &Error) {
    let _one = LOSING.lock().unwrap_or_else(PoisonError::into_inner);
    let hardware = device.map(Device::hardware);
    // Other threads may have recorded the same loss and made new objects since.
    let (own, told) = match asked {
        Asked::CommandLane(lane) => (Some(*lane), lane.failures.is_device_lost()),
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
    // Before a failure is visible, so that a thread that sees one finds the loss.
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

impl CommandLane {
    /// If a call's result for this lane is DEVICE_LOST, records the loss. Returns whether it was.
    pub(super) fn lose_if_lost(&self, inner: &Inner, error: &Error) -> bool {
        let backend = inner.backend.as_ref().filter(|_| is_lost(error));
        let lost = backend.map(|backend| {
            lose(
                &backend.context,
                backend.device.as_ref(),
                &Asked::CommandLane(self),
                error,
            )
        });
        lost.is_some()
    }

    /// Applies losses of the context since a moment before which the list may have been made. Later losses are recorded
    /// on the lane directly.
    pub(super) fn lose_since(&self, context: &NativeContext, device: &Device, before: Moment) {
        if let Some(error) = context.losses.since(Some(&device.hardware()), before) {
            self.failures.lose(&self.progress, |_, _| true, &error);
        }
    }
}

/// The last commands of all lanes of a context that may run: all work submitted so far has ended when they have. Events
/// that the program signals do not count.
pub(crate) fn all_tails(context: &Arc<NativeContext>) -> Deps {
    let used = FREE.lock().unwrap_or_else(PoisonError::into_inner).1;
    let mut tails = Deps::default();
    (0..used)
        .filter_map(of)
        .filter(|lane| lane.is_in(context) && lane.outstanding() > 0)
        .filter(|lane| !lane.is_event.load(Ordering::Acquire))
        .for_each(|lane| tails.add(lane.begun(lane.tail().sequence())));
    tails
}

/// Submits all commands to their devices and polls whether all have ended. Waits for no lock; events that the program
/// signals do not count.
pub(crate) fn try_all() -> bool {
    let lanes = (0..Dep::PENDING).map_while(of);
    let ours = lanes.filter(|lane| !lane.is_event.load(Ordering::Acquire));
    // Visits all lanes even after the first that runs, because each one has to be submitted.
    ours.filter(|lane| !lane.try_poll_last()).count() == 0
}
