//! Lanes: command lists that run in order, so that all work on one up to some point is one number.
//!
//! Each command signals an event of the lane's ring; the event is used again when the command has ended, nobody looks
//! at it or keeps it and everything that waits for it has ended too. One that is needed for long keeps no other. A lane's
//! place in the table and its numbers outlive its list: a [`Dep`] on a lane that is gone, or on its successor, always
//! means finished work.
//!
//! A lane on a command queue records a list for several commands and executes it when it is full, or when somebody wants
//! to know or wait for one of them; until then the device does not know of them.
//!
//! Locks: a lane's lock is taken with buffers locked, never two lanes' at once but by trying, and nothing is called back
//! under it.

mod failures;
mod foreign;
mod gates;
mod home;
mod losses;
mod pins;
mod target;

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use level_zero::sys::*;
use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};
use work_progress::{Progress, Ring};

use crate::context::NativeContext;
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::graveyard::bury;
use crate::registry::{disown, own};
use crate::ze::{Api, ze};
use failures::Failures;
pub(crate) use failures::{count_failure, failures};
pub(crate) use gates::{Chosen, SideLanes, Way};
use gates::{Gated, Gates};
use home::{Batches, Home, Kind, destroy_list};
pub(crate) use losses::{Intact, Losses, Moment, is_lost, lose_if_lost, lost, outlived};
pub(crate) use pins::{Kept, Pinned};
pub(crate) use target::Target;

/// Numbers that a lane may have; the greatest means tickets.
const LANES: usize = Dep::TICKETS as usize;
/// Events of one pool.
const CHUNK: u32 = 256;
/// A ring is at least so long before its events are used again.
const RING: usize = 64;
/// An event is asked whether it has ended once in so many submissions.
const PROBE: u64 = 32;

/// A list that runs commands in order.
pub(crate) struct Lane {
    id: u16,
    progress: Progress,
    /// The device knows of everything up to here; later commands are in a list that is still recorded.
    executed: AtomicU64,
    /// The address of its context's value.
    context: AtomicUsize,
    /// It is somebody's event.
    is_event: AtomicBool,
    /// Commands of its wait for gates, or did.
    gated: AtomicBool,
    /// It is closed when nobody has an event of its any more.
    closing: AtomicBool,
    failures: Failures,
    inner: Mutex<Inner>,
}

struct Inner {
    home: Option<Home>,
    ring: Ring<Slot>,
    pools: Vec<ze_event_pool_handle_t>,
    /// Events made of the last pool.
    used: u32,
    spare: Vec<ze_event_handle_t>,
    /// The last command before those that will never begin, because the list they were recorded in could not be executed.
    /// Nobody knows of them as ended before that one has.
    unexecuted: Option<u64>,
    /// Events that are kept for others.
    kept: usize,
    /// Events of the program's that its commands wait for.
    gates: SmallVec<[Gated; 1]>,
    /// It is an event of the program's that may be destroyed: it is not asked any more.
    let_go: bool,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            home: None,
            ring: Ring::new(RING, PROBE),
            pools: Vec::new(),
            used: 0,
            spare: Vec::new(),
            unexecuted: None,
            kept: 0,
            gates: SmallVec::new(),
            let_go: false,
        }
    }
}

// SAFETY: handles that the lane's lock keeps to one thread at a time.
unsafe impl Send for Inner {}

struct Slot {
    event: ze_event_handle_t,
    /// Work on other lanes that waits for this event.
    waiters: SmallVec<[Dep; 1]>,
    profile: Option<Arc<Profile>>,
    /// How often it is kept: see [`Kept`].
    kept: u32,
    /// It counts as this runtime's only as long as it is kept.
    borrowed: bool,
}

/// When a command ran, in the device's ticks.
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

/// How a lane is made and what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneOptions {
    /// Events carry timestamps.
    pub(crate) timestamps: bool,
    /// Regular lists on a queue instead of an immediate list.
    pub(crate) batched: bool,
    /// Commands of one such list; 0 for as many as come while the device is busy.
    pub(crate) batch: u32,
    pub(crate) priority: ze_command_queue_priority_t,
    pub(crate) ordinal: u32,
    pub(crate) index: u32,
    /// The list keeps order by itself; otherwise each command waits for the one before.
    pub(crate) in_order: bool,
    /// The handle is destroyed with the lane.
    pub(crate) owned: bool,
}

impl Default for LaneOptions {
    fn default() -> Self {
        Self {
            timestamps: false,
            batched: false,
            batch: 0,
            priority: ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
            ordinal: 0,
            index: 0,
            in_order: true,
            owned: true,
        }
    }
}

static TABLE: [AtomicPtr<Lane>; LANES] = [const { AtomicPtr::new(std::ptr::null_mut()) }; LANES];

/// Numbers of lanes that are gone, and the first that was never used.
static FREE: Mutex<(Vec<u16>, u16)> = Mutex::new((Vec::new(), 0));

fn of(id: u16) -> Option<&'static Lane> {
    let at = TABLE.get(usize::from(id))?.load(Ordering::Acquire);
    // SAFETY: null, or a lane that was leaked.
    unsafe { at.as_ref() }
}

/// The lane that work is on; none for tickets.
pub(crate) fn lane_of(dep: Dep) -> Option<&'static Lane> {
    if dep.is_ticket() {
        None
    } else {
        of(dep.lane())
    }
}

impl Lane {
    /// A lane on a new list or queue of `device`.
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

    /// A lane on a handle that exists already.
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
        inner.home = Some(Home {
            context: Arc::clone(context),
            device: Some(device.clone()),
            kind,
            options,
        });
        lane.failures.start(context, Some(device));
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

    fn place() -> Result<&'static Self> {
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
            gated: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            failures: Failures::none(),
            inner: Mutex::default(),
        }));
        place.store(lane, Ordering::Release);
        Ok(lane)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its last command.
    pub(crate) fn tail(&self) -> Dep {
        Dep::new(self.id, self.progress.last())
    }

    /// Commands that are not known to have ended.
    pub(crate) fn outstanding(&self) -> u64 {
        self.progress.outstanding()
    }

    /// Whether a command is known to have ended.
    pub(crate) fn is_done(&self, sequence: u64) -> bool {
        self.progress.is_done(sequence)
    }

    /// The last command up to this one that is not known never to begin.
    pub(crate) fn begun(&self, sequence: u64) -> Dep {
        let begun = match self.failure(sequence) {
            Some(_) => self.inner().begun(sequence),
            None => sequence,
        };
        Dep::new(self.id, begun)
    }

    /// Asks the device whether the last command has ended, when that is not known.
    pub(crate) fn probe_tail(&self) {
        let last = self.progress.last();
        if !self.is_done(last) {
            self.probe(last);
        }
    }

    /// As [`Self::probe`], for somebody who waits for it: the device gets to know of the command.
    pub(crate) fn poll(&self, sequence: u64) -> bool {
        self.flush(sequence);
        self.probe(sequence)
    }

    /// Has the device begin a command that is still in a list being recorded. A failure is that of all that is in it,
    /// and comes to whoever waits.
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
        let flushed = inner.home.as_mut().map_or(Ok(()), Home::execute);
        self.executed(inner, &flushed);
    }

    /// The list that was being recorded has been executed, or could not be.
    fn executed(&self, inner: &mut Inner, result: &Result<()>) {
        let last = self.progress.last();
        let before = self.executed.swap(last, Ordering::AcqRel);
        if let Some(error) = result.as_ref().err().filter(|_| before < last) {
            inner.unexecuted = Some(before);
            self.failures.begin(before, error);
            self.lose_if_lost(inner, error);
        }
    }

    /// Has the device begin everything.
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

    /// As [`Self::probe`], unless another thread has the lane's lock: for who has another lane's.
    fn try_probe(&self, sequence: u64) -> bool {
        self.is_done(sequence)
            || self
                .try_inner()
                .is_some_and(|inner| self.probe_locked(&inner, sequence))
    }

    /// As [`Self::poll`] of the last command, unless somebody has the lane's lock.
    fn try_poll_last(&self) -> bool {
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

    /// Asks the device whether a command has ended.
    pub(crate) fn probe(&self, sequence: u64) -> bool {
        if self.is_done(sequence) {
            return true;
        }
        let inner = self.inner();
        self.probe_locked(&inner, sequence)
    }

    fn probe_locked(&self, inner: &Inner, sequence: u64) -> bool {
        if self.failures.is_device_lost() {
            // Appended while it was lost.
            self.progress.end_all();
            return true;
        }
        let begun = inner.begun(sequence);
        if begun != sequence && self.is_done(begun) {
            self.progress.end(sequence);
        }
        let Some((slot, home)) = inner.ring.get(begun).zip(inner.home.as_ref()) else {
            return self.is_done(sequence);
        };
        let Some(query) = home.context.api.tables.event.pfnQueryStatus else {
            return false;
        };
        // SAFETY: a live event of this lane, which the lock keeps from being used again.
        let answer = unsafe { query(slot.event) };
        if answer == ZE_RESULT_ERROR_DEVICE_LOST {
            let error = home.context.api.error("zeEventQueryStatus", answer);
            self.lose_if_lost(inner, &error);
            return true;
        }
        let ended = answer == ZE_RESULT_SUCCESS;
        if ended {
            self.progress.end(sequence);
        }
        ended
    }

    /// Waits on the calling thread until a command has ended.
    ///
    /// # Errors
    /// The device's, when it was lost; why the command did not happen.
    pub(crate) fn wait(&'static self, sequence: u64) -> Result<()> {
        loop {
            if let Some(waited) = self.wait_up_to(sequence, u64::MAX) {
                return waited;
            }
        }
    }

    /// As [`Self::wait`], for so many nanoseconds; none when it has not ended by then.
    pub(crate) fn wait_up_to(&'static self, sequence: u64, nanoseconds: u64) -> Option<Result<()>> {
        if let Some(pinned) = self.pin(sequence) {
            let api = pinned.api;
            // SAFETY: a live event, pinned.
            let waited = unsafe {
                ze!(
                    api,
                    zeEventHostSynchronize = event.pfnHostSynchronize(pinned.event, nanoseconds)
                )
            };
            match waited {
                Ok(()) => self.progress.end(sequence),
                Err(error) if error.backend_code() == Some(ZE_RESULT_NOT_READY) => return None,
                Err(error) if !self.lose_if_lost(&self.inner(), &error) => return Some(Err(error)),
                Err(_) => {}
            }
        }
        Some(self.failure(sequence).map_or(Ok(()), Err))
    }

    /// Whether work on this lane can be waited for by lists of a context.
    pub(crate) fn is_in(&self, context: &Arc<NativeContext>) -> bool {
        self.context.load(Ordering::Acquire) == Arc::as_ptr(context).addr()
    }

    /// The context it is in; none when it is closed.
    pub(crate) fn native_context(&self) -> Option<Arc<NativeContext>> {
        self.inner()
            .home
            .as_ref()
            .map(|home| Arc::clone(&home.context))
    }

    /// Appends a command that follows `after`, all of it in this lane's context. `append` gets the list, the event to
    /// signal and those to wait for, and is called once.
    ///
    /// # Errors
    /// What `append` answers; the lane is then as before.
    pub(crate) fn append(
        &'static self,
        after: &Deps,
        profile: Option<Arc<Profile>>,
        append: &mut dyn FnMut(&mut Target<'_>) -> Result<()>,
    ) -> Result<Dep> {
        let gates = Self::known_gates(after);
        let mut pinned: SmallVec<[Pinned; 4]> = SmallVec::new();
        for dep in after.iter().filter(|dep| dep.lane() != self.id) {
            let Some(lane) = lane_of(dep) else { continue };
            // Asking costs less than a wait for what has ended.
            if let Some(event) = lane.pin_if(dep.sequence(), true) {
                pinned.push(event);
            }
            if let Some(error) = lane.failure(dep.sequence()) {
                return Err(Error::because("what this would follow failed", &error));
            }
        }
        let mut inner = self.inner();
        let appended = self.append_locked(&mut inner, &pinned, &gates, profile, append);
        let dep = appended.inspect_err(|error| {
            self.lose_if_lost(&inner, error);
        })?;
        drop(inner);
        pinned.iter().for_each(|pinned| pinned.waited_by(dep));
        Ok(dep)
    }

    fn append_locked(
        &self,
        inner: &mut Inner,
        pinned: &[Pinned],
        gates: &Gates,
        profile: Option<Arc<Profile>>,
        append: &mut dyn FnMut(&mut Target<'_>) -> Result<()>,
    ) -> Result<Dep> {
        self.failures.refuse()?;
        let sequence = self.progress.next();
        let event = self.take_event(inner)?;
        let mut waits: SmallVec<[ze_event_handle_t; 4]> =
            pinned.iter().map(|pinned| pinned.event).collect();
        let before = inner.ring.get(inner.begun(sequence - 1));
        let before = before.map(|slot| slot.event);
        let Some(home) = inner.home.as_mut() else {
            return Err(Error::new(Errc::Runtime, "the queue is gone"));
        };
        if !home.options.in_order || matches!(home.kind, Kind::Queue(_)) {
            // The slot before is only used again after this one has ended: see `take_event`.
            waits.extend(before.filter(|_| !self.is_done(sequence - 1)));
        }
        let appended = home.append(&self.progress, sequence, event, &mut waits, append);
        if let Err(error) = appended {
            inner.spare.push(event);
            return Err(error);
        }
        inner.ring.push(Slot {
            event,
            waiters: SmallVec::new(),
            profile,
            kept: 0,
            borrowed: false,
        });
        let dep = Dep::new(self.id, sequence);
        if !gates.is_empty() {
            // Before anybody knows of it, by whatever way.
            gates::register(&mut inner.gates, dep, gates);
            self.gated.store(true, Ordering::Release);
        }
        self.progress.submitted(sequence);
        if home.is_full(&self.progress, self.executed.load(Ordering::Relaxed)) {
            let executed = home.execute();
            self.executed(inner, &executed);
            executed?;
        }
        Ok(dep)
    }

    /// An event that is not signalled and that nobody uses.
    fn take_event(&self, inner: &mut Inner) -> Result<ze_event_handle_t> {
        if let Some([middle, first]) = inner.ring.ask(&self.progress)
            && !self.probe_locked(inner, middle)
        {
            self.probe_locked(inner, first);
        }
        let is_unused = |slot: &Slot, is_done: fn(&Self, u64) -> bool| {
            let mut waiters = slot.waiters.iter();
            slot.kept == 0
                && waiters
                    .all(|dep| of(dep.lane()).is_none_or(|lane| is_done(lane, dep.sequence())))
        };
        // One more than is needed, so that the ring becomes short again after it had to be long.
        for _ in 0..2 {
            let next = inner
                .ring
                .recycle(&self.progress, |slot| is_unused(slot, Self::is_done));
            // Nobody else may ever ask whether what waits for those aside has ended.
            let next = next.or_else(|| {
                let ring = &mut inner.ring;
                ring.reclaim(&self.progress, |slot| is_unused(slot, Self::try_probe))
            });
            let Some(slot) = next else {
                break;
            };
            if let Some(home) = &inner.home {
                let api = home.context.api;
                slot.keep_times(api);
                // SAFETY: a live event that no command and no thread uses.
                unsafe { ze!(api, zeEventHostReset = event.pfnHostReset(slot.event))? };
            }
            inner.spare.push(slot.event);
        }
        if let Some(event) = inner.spare.pop() {
            return Ok(event);
        }
        inner.new_event()
    }

    /// When a command ran, in ticks; none while it runs.
    pub(crate) fn times(&self, sequence: u64, profile: &Profile) -> Option<(u64, u64)> {
        let inner = self.inner();
        if let Some((slot, home)) = inner.ring.get(sequence).zip(inner.home.as_ref()) {
            slot.keep_times(home.context.api);
        }
        profile.run.get().copied()
    }

    /// What has to end before the lane's list may be destroyed: its commands and those that wait for them.
    pub(crate) fn users(&self) -> Deps {
        let mut users = self.waiters();
        users.add(self.tail());
        users
    }

    /// Commands of other lanes that wait for one of this.
    fn waiters(&self) -> Deps {
        let mut waiters = Deps::default();
        let inner = self.inner();
        let slots = inner.ring.iter().flat_map(|slot| &slot.waiters);
        slots.for_each(|dep| waiters.add(*dep));
        waiters
    }

    /// The handle that it appends to. What is in a list being recorded is executed: whoever has the handle may wait
    /// for all of it.
    pub(crate) fn native(&self) -> Option<NativeLane> {
        self.flush_all();
        self.inner().home.as_ref().map(|home| match &home.kind {
            Kind::Immediate(list) => NativeLane::List(*list),
            Kind::Queue(batches) => NativeLane::Queue(batches.queue()),
            Kind::Event => NativeLane::List(std::ptr::null_mut()),
        })
    }

    /// Destroys its list and events and gives its number back, as soon as nobody keeps one of them or is about to return
    /// from a wait for it. All that [`Self::users`] named has ended.
    pub(crate) fn close(&'static self) {
        let inner = self.inner();
        // Before the look, which puts the two in order: who lets go of an event only then closes it.
        self.closing.store(true, Ordering::Relaxed);
        self.close_unless_used(inner);
    }

    /// Closes it as soon as what it runs, and what waits for that, has ended. Nobody chooses it any more.
    pub(crate) fn close_later(&'static self) {
        let context = self.native_context();
        let kept = context.map(|context| context.kept());
        bury(self.users(), kept.unwrap_or_default(), || self.close());
    }

    /// As [`Self::close`], for who has let go of an event.
    fn close_if_due(&'static self) {
        if self.closing.load(Ordering::Relaxed) {
            self.close_unless_used(self.inner());
        }
    }

    fn close_unless_used(&'static self, mut inner: MutexGuard<'_, Inner>) {
        let due = self.closing.load(Ordering::Relaxed);
        if !due || inner.kept > 0 || self.progress.has_pins() {
            return;
        }
        self.closing.store(false, Ordering::Relaxed);
        let Some(home) = inner.home.take() else {
            return;
        };
        inner.gates.clear();
        self.gated.store(false, Ordering::Release);
        let api = home.context.api;
        let next = self.progress.next();
        for slot in inner.ring.restart(next) {
            slot.keep_times(api);
            inner.spare.push(slot.event);
        }
        let foreign = matches!(home.kind, Kind::Event) && !home.options.owned;
        for event in std::mem::take(&mut inner.spare) {
            if foreign {
                continue;
            }
            if matches!(home.kind, Kind::Event) {
                disown(event);
            }
            // SAFETY: ours, and no command uses it.
            let _ = unsafe { ze!(api, zeEventDestroy = event.pfnDestroy(event)) };
        }
        for pool in std::mem::take(&mut inner.pools) {
            // SAFETY: ours, after its events.
            let _ = unsafe { ze!(api, zeEventPoolDestroy = event_pool.pfnDestroy(pool)) };
        }
        inner.used = 0;
        inner.unexecuted = None;
        match home.kind {
            Kind::Event => {}
            Kind::Immediate(list) => {
                if home.options.owned {
                    disown(list);
                    destroy_list(api, list);
                }
            }
            Kind::Queue(batches) => {
                let queue = batches.queue();
                batches.destroy_lists(api);
                if home.options.owned {
                    disown(queue);
                    // SAFETY: ours, with nothing left on it.
                    let _ = unsafe {
                        ze!(api, zeCommandQueueDestroy = command_queue.pfnDestroy(queue))
                    };
                }
            }
        }
        if self.failures.end(self.progress.last()) {
            // The next list's last number, before it has a command, is none of those that failed.
            self.progress.submitted(self.progress.next());
        }
        self.progress.end_all();
        drop(inner);
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        free.0.push(self.id);
    }
}

impl Slot {
    /// Reads the times before the event is used again.
    fn keep_times(&self, api: Api) {
        let Some(profile) = self.profile.as_ref().filter(|p| p.run.get().is_none()) else {
            return;
        };
        if let Ok(times) = self.times(api) {
            let _ = profile.run.set(times);
        }
    }

    /// The times that its event has.
    fn times(&self, api: Api) -> Result<(u64, u64)> {
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
    /// The command whose end is a command's: itself, or, if it will never begin, the last before it that did.
    fn begun(&self, sequence: u64) -> u64 {
        self.unexecuted
            .map_or(sequence, |before| sequence.min(before))
    }

    fn new_event(&mut self) -> Result<ze_event_handle_t> {
        let Some(home) = self.home.as_ref() else {
            return Err(Error::new(Errc::Runtime, "the queue is gone"));
        };
        let api = home.context.api;
        if self.pools.is_empty() || self.used == CHUNK {
            let timestamps = if home.options.timestamps {
                ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
            } else {
                0
            };
            let desc = ze_event_pool_desc_t {
                flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | timestamps,
                count: CHUNK,
                ..Default::default()
            };
            let mut device = home.device_handle();
            let mut pool = std::ptr::null_mut();
            // SAFETY: live handles, valid inputs and output.
            unsafe {
                ze!(
                    api,
                    zeEventPoolCreate = event_pool.pfnCreate(
                        home.context.handle,
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

/// The last commands of all lanes of a context that may run: when they have ended, nothing that was submitted by now
/// does. What somebody else signals is not such.
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

/// Has devices begin everything and asks whether all of it has ended; no lock is waited for. What somebody else signals is
/// not such.
pub(crate) fn try_all() -> bool {
    let lanes = (0..Dep::TICKETS).map_while(of);
    let ours = lanes.filter(|lane| !lane.is_event.load(Ordering::Acquire));
    // Not only up to the first that runs: each has to begin.
    ours.filter(|lane| !lane.try_poll_last()).count() == 0
}
