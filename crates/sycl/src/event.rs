//! Events: handles of submitted work.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use level_zero::sys::*;
use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use crate::device::Device;
use crate::engine::command_lane::{CommandLane, Profile, lane_of, lose_if_lost};
use crate::engine::completion::is_unfinished;
use crate::engine::completion_waiter::pending_for;
use crate::engine::native_context::NativeContext;
use crate::engine::pending::{PendingCommand, Status, when_closed};
use crate::engine::pins::Kept;
use crate::error::{Error, Result};
use crate::faults::Watched;
use crate::registry;
use crate::reports::Reports;
use crate::trace::Node;
use crate::ze::ze;

/// Stands for the end of some work. Cheap to clone.
#[derive(Clone)]
pub struct Event(pub(crate) Arc<EventInner>);

pub(crate) struct EventInner {
    kind: EventKind,
    /// Receives asynchronous errors of its queue.
    reports: Option<Arc<Reports>>,
    /// The device whose clock gives the times.
    device: Option<Device>,
    profile: Option<Arc<Profile>>,
    /// The events that its submission followed. They are dropped when the work is known to have ended, so that a chain
    /// of events does not keep its past.
    waits: Mutex<SmallVec<[Event; 2]>>,
    /// Keeps the native handle valid once it was requested.
    native: OnceLock<Option<Native>>,
    /// The node in the tools' graph.
    node: Node,
    /// Its kernels report faults.
    faults: Option<Arc<Watched>>,
}

/// The source of a native handle.
enum Native {
    /// A lane's event, which is not reused meanwhile.
    Kept(Kept),
    /// A separate event, signaled when the work has ended.
    Own(Arc<OwnEvent>),
}

/// A Level Zero event with its own pool.
struct OwnEvent {
    context: Arc<NativeContext>,
    pool: ze_event_pool_handle_t,
    event: ze_event_handle_t,
}

// SAFETY: the specification allows event functions to be called from simultaneous threads (core, "Event").
unsafe impl Send for OwnEvent {}
// SAFETY: as for `Send`.
unsafe impl Sync for OwnEvent {}

impl OwnEvent {
    fn new(context: &Arc<NativeContext>) -> Result<Self> {
        let api = context.api;
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: 1,
            ..Default::default()
        };
        let event_desc = ze_event_desc_t {
            signal: ZE_EVENT_SCOPE_FLAG_HOST,
            wait: ZE_EVENT_SCOPE_FLAG_HOST,
            ..Default::default()
        };
        let mut own = Self {
            context: Arc::clone(context),
            pool: std::ptr::null_mut(),
            event: std::ptr::null_mut(),
        };
        let before = context.losses.moment();
        // SAFETY: a live context, valid inputs and outputs; no devices means all of them.
        let made = unsafe {
            ze!(
                api,
                zeEventPoolCreate = event_pool.pfnCreate(
                    context.handle,
                    &raw const desc,
                    0,
                    std::ptr::null_mut(),
                    &raw mut own.pool
                )
            )
            .and_then(|()| {
                ze!(
                    api,
                    zeEventCreate =
                        event.pfnCreate(own.pool, &raw const event_desc, &raw mut own.event)
                )
            })
        };
        lose_if_lost(context, None, before, made)?;
        registry::own(own.event);
        Ok(own)
    }

    fn signal(&self) {
        // SAFETY: a live event. A failure leaves it unsignalled, which is all that can be said of the device then.
        let _ = unsafe {
            ze!(
                self.context.api,
                zeEventHostSignal = event.pfnHostSignal(self.event)
            )
        };
    }
}

impl Drop for OwnEvent {
    fn drop(&mut self) {
        let api = self.context.api;
        // SAFETY: our handles, each created at most once; the program uses them only while the SYCL event lives.
        unsafe {
            if !self.event.is_null() {
                registry::disown(self.event);
                let _ = ze!(api, zeEventDestroy = event.pfnDestroy(self.event));
            }
            if !self.pool.is_null() {
                let _ = ze!(api, zeEventPoolDestroy = event_pool.pfnDestroy(self.pool));
            }
        }
    }
}

pub(crate) enum EventKind {
    /// No work.
    Complete,
    /// A command on a lane.
    Device(Dep),
    /// Work that is, or was, pending.
    PendingCommand(Arc<PendingCommand>),
    /// An event that the program signals, represented by a lane.
    Native(&'static CommandLane),
}

/// The state of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventStatus {
    /// Submitted, but not running yet.
    Submitted,
    /// Running, or may be running.
    Running,
    /// Ended successfully.
    Complete,
    /// Failed, or its dependency did.
    Failed,
}

/// When a command ran, in nanoseconds of the device's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profiling {
    /// When it was submitted.
    pub submit_ns: u64,
    /// When it began.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Event {}
impl Hash for Event {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Event({:?})", self.status())
    }
}

impl Default for Event {
    /// A complete event without work.
    fn default() -> Self {
        Self::new(EventKind::Complete)
    }
}

impl Drop for EventInner {
    fn drop(&mut self) {
        if let EventKind::Native(lane) = self.kind {
            lane.let_go();
        }
        // A loop, because a recursion over a long chain of events overflows the stack.
        let mut waits = self.take_waits();
        while let Some(Event(last)) = waits.pop() {
            if let Some(last) = Arc::into_inner(last) {
                waits.extend(last.take_waits());
            }
        }
    }
}

impl EventInner {
    fn waits(&self) -> MutexGuard<'_, SmallVec<[Event; 2]>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_waits(&self) -> SmallVec<[Event; 2]> {
        std::mem::take(&mut *self.waits())
    }

    /// Whether the work is known to have ended. Polls no device.
    fn is_known_to_have_ended(&self) -> bool {
        match &self.kind {
            EventKind::Native(_) => false,
            _ => self.dep().is_none_or(|dep| !is_unfinished(dep)),
        }
    }

    /// The work on a lane, if it is on one.
    fn dep(&self) -> Option<Dep> {
        match &self.kind {
            EventKind::Complete => None,
            EventKind::Device(dep) => Some(*dep),
            EventKind::PendingCommand(pending) => match pending.status() {
                Status::Submitted(dep) => Some(dep),
                Status::Open => Some(pending.dep()),
                Status::Done | Status::Failed(_) => None,
            },
            EventKind::Native(lane) => Some(lane.tail()),
        }
    }
}

/// Events that keep the events they followed until their work has ended.
#[derive(Default)]
pub(crate) struct Followers(Mutex<VecDeque<Weak<EventInner>>>);

impl Followers {
    /// Adds an event and checks two others, so that the list stays about as long as the number of live events.
    fn add(&self, event: &Arc<EventInner>) {
        // Dropped outside the lock: the end of an event may drop many others.
        let mut looked: SmallVec<[Arc<EventInner>; 2]> = SmallVec::new();
        let mut followers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..2 {
            let Some(oldest) = followers.pop_front() else {
                break;
            };
            if let Some(known) = oldest.upgrade() {
                if !known.is_known_to_have_ended() {
                    followers.push_back(oldest);
                }
                looked.push(known);
            }
        }
        followers.push_back(Arc::downgrade(event));
        drop(followers);
        for event in looked {
            if event.is_known_to_have_ended() {
                drop(event.take_waits());
            }
        }
    }
}

impl Event {
    pub(crate) fn new(kind: EventKind) -> Self {
        Self(Arc::new(EventInner {
            kind,
            reports: None,
            device: None,
            profile: None,
            waits: Mutex::default(),
            native: OnceLock::new(),
            node: Node::default(),
            faults: None,
        }))
    }

    /// Wraps a handle; its timestamps, if any, are of the clock of `device`.
    pub(crate) fn native_of(lane: &'static CommandLane, device: Option<Device>) -> Self {
        let mut event = Self::new(EventKind::Native(lane));
        if let Some(inner) = Arc::get_mut(&mut event.0) {
            inner.device = device;
        }
        event
    }

    /// Creates the event of a submission.
    pub(crate) fn of(
        kind: EventKind,
        (device, reports, followers): (&Device, &Arc<Reports>, &Followers),
        profile: Option<Arc<Profile>>,
        waits: SmallVec<[Self; 2]>,
        node: Node,
        faults: Option<Arc<Watched>>,
    ) -> Self {
        let follows = !waits.is_empty();
        let event = Arc::new(EventInner {
            kind,
            reports: Some(Arc::clone(reports)),
            device: Some(device.clone()),
            profile,
            waits: Mutex::new(waits),
            native: OnceLock::new(),
            node,
            faults,
        });
        if follows {
            followers.add(&event);
        }
        Self(event)
    }

    /// Waits for the work.
    ///
    /// # Errors
    /// The error of the work or of its dependency; [`crate::Errc::Invalid`] if the work waits for a host accessor that
    /// this thread holds (it would deadlock).
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let site = crate::trace::Site::here();
        let address = Arc::as_ptr(&self.0).addr();
        crate::trace::wait_for_event(site, self.node(), address, || self.wait_now())
    }

    fn wait_now(&self) -> Result<()> {
        let waited = self.wait_for_end();
        match self.watched() {
            Some((reports, watched)) => waited.and(reports.fault_of(watched)),
            None => waited,
        }
    }

    /// The command, if its kernels report faults.
    fn watched(&self) -> Option<(&Reports, &Arc<Watched>)> {
        self.0.reports.as_deref().zip(self.0.faults.as_ref())
    }

    fn wait_for_end(&self) -> Result<()> {
        match &self.0.kind {
            EventKind::Complete => Ok(()),
            EventKind::Device(dep) => {
                lane_of(*dep).map_or(Ok(()), |lane| lane.wait(dep.sequence()))
            }
            EventKind::PendingCommand(pending) => pending.wait().inspect_err(|_| {
                let reports = self.0.reports.as_ref();
                reports.inspect(|reports| reports.told(pending.dep().sequence() + 1));
            }),
            EventKind::Native(lane) => lane.wait(lane.tail().sequence()),
        }
    }

    /// Waits for all events, even if one fails.
    ///
    /// # Errors
    /// The first error.
    #[track_caller]
    pub fn wait_all(events: &[Self]) -> Result<()> {
        let mut result = Ok(());
        for event in events {
            result = result.and(event.wait());
        }
        result
    }

    /// Waits, then calls [`crate::Queue::throw_asynchronous`] of the event's queue.
    ///
    /// # Errors
    /// As [`Self::wait`]; the oldest asynchronous error.
    #[track_caller]
    pub fn wait_and_throw(&self) -> Result<()> {
        let waited = self.wait();
        let thrown = self
            .0
            .reports
            .as_ref()
            .map_or(Ok(()), |reports| reports.throw());
        waited.and(thrown)
    }

    /// Returns the state of the work.
    #[must_use]
    pub fn status(&self) -> EventStatus {
        let watched = self.0.faults.as_ref();
        match self.status_of_work() {
            EventStatus::Complete if watched.is_some_and(|of| of.has_failed()) => {
                EventStatus::Failed
            }
            status => status,
        }
    }

    fn status_of_work(&self) -> EventStatus {
        let on_lane = |dep: Dep| match lane_of(dep) {
            Some(lane) if !lane.poll(dep.sequence()) => EventStatus::Running,
            Some(lane) if lane.failure(dep.sequence()).is_some() => EventStatus::Failed,
            _ => EventStatus::Complete,
        };
        match &self.0.kind {
            EventKind::Complete => EventStatus::Complete,
            EventKind::Device(dep) => on_lane(*dep),
            EventKind::PendingCommand(pending) => match pending.status() {
                Status::Open => EventStatus::Submitted,
                Status::Submitted(dep) => on_lane(dep),
                Status::Done => EventStatus::Complete,
                Status::Failed(_) => EventStatus::Failed,
            },
            EventKind::Native(lane) => match lane.probe(lane.tail().sequence()) {
                true => EventStatus::Complete,
                false => EventStatus::Submitted,
            },
        }
    }

    /// Returns the events that the submission follows; some may be missing once its work has ended.
    #[must_use]
    pub fn wait_list(&self) -> Vec<Self> {
        self.0.waits().to_vec()
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0.node
    }

    /// Waits for the command and returns when it ran.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] if the queue was built without profiling, the pool of an event around a handle has no
    /// timestamps, or the context's devices have clocks of different resolutions; as [`Self::wait`].
    pub fn profiling(&self) -> Result<Profiling> {
        if let EventKind::Native(lane) = self.0.kind {
            return self.native_profiling(lane);
        }
        let (Some(profile), Some(device)) = (&self.0.profile, &self.0.device) else {
            return Err(Error::invalid(
                "no profiling information: build the queue with enable_profiling",
            ));
        };
        self.wait()?;
        let times = match (self.dep(), profile.run.get()) {
            (_, Some(times)) => Some(*times),
            (Some(dep), None) => lane_of(dep).and_then(|lane| lane.times(dep.sequence(), profile)),
            (None, None) => None,
        };
        let (start, end) = times.unwrap_or((profile.submit, profile.submit));
        let ns = |ticks| to_nanoseconds(device, ticks);
        Ok(Profiling {
            submit_ns: ns(profile.submit),
            // The two clocks may be read a tick apart.
            start_ns: ns(start.max(profile.submit)),
            end_ns: ns(end.max(profile.submit)),
        })
    }

    fn native_profiling(&self, lane: &'static CommandLane) -> Result<Profiling> {
        let Some(device) = &self.0.device else {
            return Err(Error::invalid(
                "no profiling information: the event's pool was created without timestamps, or the context's devices have clocks of different resolutions",
            ));
        };
        self.wait()?;
        let (start, end) = lane.first_times()?;
        let [start_ns, end_ns] = [start, end].map(|ticks| to_nanoseconds(device, ticks));
        Ok(Profiling {
            submit_ns: start_ns,
            start_ns,
            end_ns,
        })
    }

    /// The native handle, valid as long as this event; null if none could be created.
    pub(crate) fn native(&self) -> ze_event_handle_t {
        if let EventKind::Native(lane) = self.0.kind {
            return lane.first_event();
        }
        // The status of pending work is read once, because it may change meanwhile.
        let native = self.0.native.get_or_init(|| match &self.0.kind {
            EventKind::Device(dep) => self.native_at(*dep),
            EventKind::PendingCommand(pending) => match pending.status() {
                Status::Submitted(dep) => self.native_at(dep),
                Status::Open => self.native_after(pending),
                Status::Done | Status::Failed(_) => self.native_of_the_past(),
            },
            EventKind::Complete | EventKind::Native(_) => self.native_of_the_past(),
        });
        match native {
            Some(Native::Kept(kept)) => kept.event,
            Some(Native::Own(own)) => own.event,
            None => std::ptr::null_mut(),
        }
    }

    /// The event of a command on a lane.
    fn native_at(&self, dep: Dep) -> Option<Native> {
        match lane_of(dep).and_then(|lane| lane.keep(dep.sequence())) {
            Some(kept) => Some(Native::Kept(kept)),
            None => self.native_of_the_past(),
        }
    }

    /// A separate event that is already signaled.
    fn native_of_the_past(&self) -> Option<Native> {
        let own = OwnEvent::new(&self.native_context()?).ok()?;
        own.signal();
        Some(Native::Own(Arc::new(own)))
    }

    /// A separate event that is signaled when the work of an open pending command has ended.
    fn native_after(&self, pending: &Arc<PendingCommand>) -> Option<Native> {
        let context = self.native_context()?;
        let own = Arc::new(OwnEvent::new(&context).ok()?);
        // The context stays in use until then.
        let used = PendingCommand::open(None, vec![Arc::clone(pending)]);
        context.pending.add(&used);
        let (ended, after, signalled) = (Arc::clone(&used), Arc::clone(pending), Arc::clone(&own));
        let signal = move |ended: &PendingCommand| {
            signalled.signal();
            drop(signalled);
            ended.done();
        };
        let closed = Box::new(move |_| {
            if let Status::Submitted(dep) = after.status() {
                match pending_for(dep) {
                    Ok(Some(work)) => {
                        let own = Arc::clone(&ended);
                        return when_closed(&[work], &own, Box::new(move |_| signal(&ended)));
                    }
                    Ok(None) => {}
                    // No waiter thread could be started, so this thread waits.
                    Err(_) => drop(lane_of(dep).map(|lane| lane.wait(dep.sequence()))),
                }
            }
            signal(&ended);
        });
        when_closed(std::slice::from_ref(pending), &used, closed);
        Some(Native::Own(own))
    }

    /// The context for a separate native event: the queue's while the queue lives, which it does as long as work is
    /// unfinished.
    fn native_context(&self) -> Option<Arc<NativeContext>> {
        let of_queue = self.0.reports.as_ref();
        of_queue
            .and_then(|reports| reports.context.upgrade())
            .or_else(|| {
                let device = self.0.device.clone();
                let device =
                    device.or_else(|| Device::select(&crate::selector::DefaultSelector).ok())?;
                let context = device.platform().default_context().ok()?;
                Some(Arc::clone(&context.0.native))
            })
    }

    /// The work on a lane, if it is on one.
    pub(crate) fn dep(&self) -> Option<Dep> {
        self.0.dep()
    }

    /// Whether this is the last copy around a handle that the program owns and that is not known to be signaled.
    pub(crate) fn is_last_and_awaits_the_program(&self) -> bool {
        let awaits = |lane: &CommandLane| lane.awaits_the_program();
        let last = Arc::strong_count(&self.0) == 1;
        last && matches!(self.0.kind, EventKind::Native(lane) if awaits(lane))
    }

    /// Adds the work that a follower has to wait for, or returns why it cannot follow.
    pub(crate) fn follow(&self, deps: &mut Deps) -> Result<()> {
        if let EventKind::PendingCommand(pending) = &self.0.kind
            && let Status::Failed(error) = pending.status()
        {
            return Err(Error::because("a dependency of the command failed", &error));
        }
        if let Some(dep) = self.dep() {
            deps.add(dep);
        }
        Ok(())
    }
}

/// The device's global clock now, in ticks.
pub(crate) fn device_clock(device: &Device) -> u64 {
    let (mut host, mut ticks) = (0, 0);
    // SAFETY: a live device and two valid outputs. Without the function there is no clock, and times are only relative.
    let _ = unsafe {
        ze!(
            device.api(),
            zeDeviceGetGlobalTimestamps =
                device.pfnGetGlobalTimestamps(device.handle(), &raw mut host, &raw mut ticks)
        )
    };
    ticks
}

fn to_nanoseconds(device: &Device, ticks: u64) -> u64 {
    // With properties of version 1.0, as asked for, the resolution is nanoseconds per tick.
    ticks.wrapping_mul(device.0.properties.timerResolution.max(1))
}
