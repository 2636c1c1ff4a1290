//! Queues: command groups go in, work on lanes comes out.

use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::ThreadId;

use level_zero::sys::*;
use sycl_graph::{Dep, Deps};

use crate::context::Context;
use crate::device::{Device, name_of};
use crate::engine::completion::wait_for;
use crate::engine::deferred_release::{settle, sweep};
use crate::engine::failures::lost;
use crate::engine::lane::{Lane, NativeLane};
use crate::engine::list_backend::LaneOptions;
use crate::engine::native_context::Intact;
use crate::engine::native_context::NativeContext;
use crate::engine::pending;
use crate::engine::pending::{
    Promises, Ticket, drop_never_ends, is_in_a_host_task, would_wait_for_itself,
};
use crate::engine::user_event_lanes::{Chosen, SideLanes, Way};
use crate::environment::{self, Lists, MOST_LANES};
use crate::error::{AsyncHandler, Error, Result};
use crate::event::{Event, Followers};
use crate::group::Group;
use crate::handler::{Command, Handler};
use crate::log::{CHOICES, complain, say};
use crate::selector::{DefaultSelector, Selector};
use crate::submit::submit;
use crate::trace::NewQueue;

/// How urgent a queue's work is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// After others.
    Low,
    /// As others.
    Normal,
    /// Before others.
    High,
}

/// How commands reach the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Submission {
    /// As `UR_L0_USE_IMMEDIATE_COMMANDLISTS`, or its older name, says; immediate if neither is set.
    FromEnvironment,
    /// On immediate command lists.
    Immediate,
    /// By lists that are executed on a command queue.
    Batched,
}

/// What a queue is like.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QueueProps {
    /// Commands run in the order of submission.
    pub in_order: bool,
    /// Events know when their commands ran.
    pub enable_profiling: bool,
    /// The program does not look at events of commands.
    pub discard_events: bool,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// Which of the device's compute engines.
    pub compute_index: Option<u32>,
    /// How commands reach the device.
    pub submission: Option<Submission>,
}

/// Lanes of an out-of-order queue unless `SOLUM_SYCL_LANES` says otherwise.
const LANES: usize = 4;

/// A way to a device. Cheap to clone; usable from any thread.
///
/// The last handle's drop does not wait for the queue's work, unless its list or its context stays the program's
/// ([`crate::interop::Ownership::Keep`]): the program may destroy those then.
#[derive(Clone)]
pub struct Queue(pub(crate) Arc<QueueInner>, Option<Arc<End>>);

pub(crate) struct QueueInner {
    pub(crate) context: Context,
    pub(crate) device: Device,
    pub(crate) props: QueueProps,
    options: LaneOptions,
    /// Since it was made.
    intact: Intact,
    lanes: [OnceLock<&'static Lane>; MOST_LANES],
    making: Mutex<()>,
    width: usize,
    /// Lanes for work that waits for events of the program's; none where one list, or one order, is for all.
    sides: Option<SideLanes>,
    /// The threads that submitted, where each has a lane of its own, in the order of the lanes.
    threads: Option<Mutex<Vec<ThreadId>>>,
    /// The last command of an in-order queue.
    pub(crate) order: Mutex<Option<Dep>>,
    /// Tickets of commands that were not on a lane at once.
    tickets: Promises,
    /// Events of this queue that keep others.
    pub(crate) followers: Followers,
    pub(crate) reports: Arc<Reports>,
    pub(crate) trace: crate::trace::QueueTrace,
}

/// The end of the program's handles of a queue whose list or context stays the program's.
struct End(Option<Arc<QueueInner>>);

impl End {
    fn of(queue: &Arc<QueueInner>) -> Arc<Self> {
        let native = &queue.context.0.native;
        native.queues.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self(Some(Arc::clone(queue))))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let Some(queue) = self.0.take() else { return };
        let native = Arc::clone(&queue.context.0.native);
        native.queues.fetch_sub(1, Ordering::Relaxed);
        let open = queue.tickets.deps();
        if would_wait_for_itself(&open) {
            // What the task captured cannot wait for the task's end: that lets go of the rest.
            if is_in_a_host_task() {
                return;
            }
            return drop_never_ends(
                "the queue's work waits for a host accessor that the calling thread holds",
            );
        }
        // Failures have gone to who submitted the work.
        drop(wait_for(&open));
        drop(wait_for(&queue.tails()));
        drop(queue);
        settle(&native);
    }
}

/// What a queue's events need of it when they outlive it: asynchronous errors and who wants to know them, its context.
#[derive(Default)]
pub(crate) struct Reports {
    /// Not kept by events: one that stays the program's may be destroyed before they are dropped.
    pub(crate) context: Weak<NativeContext>,
    errors: Mutex<Vec<Error>>,
    /// Of an in-order queue's commands the last that failed on no lane, and why, until the program is told. A lane knows by
    /// itself what failed there.
    behind: Mutex<Option<(Dep, Error)>>,
    handler: Option<Box<AsyncHandler>>,
}

impl Reports {
    pub(crate) fn push(&self, error: Error) {
        lock(&self.errors).push(error);
    }

    /// A command of an in-order queue that was on no lane failed: before its ticket says so.
    pub(crate) fn fails_behind(&self, command: Dep, error: &Error) {
        *lock(&self.behind) = Some((command, error.clone()));
    }

    /// Refuses to follow the last command of an in-order queue if that failed.
    #[cold]
    pub(crate) fn refuse_behind(&self, last: Dep) -> Result<()> {
        match &*lock(&self.behind) {
            Some((failed, error)) if *failed == last => Err(Error::because(
                "an earlier command of the in-order queue failed",
                error,
            )),
            _ => Ok(()),
        }
    }

    /// The program has been told what failed of the tickets before number `end`: the next command goes on.
    pub(crate) fn told(&self, end: u64) {
        let mut behind = lock(&self.behind);
        if behind
            .as_ref()
            .is_some_and(|(failed, _)| failed.sequence() < end)
        {
            *behind = None;
        }
    }

    /// Hands everything to the handler; the oldest error, if there was one.
    pub(crate) fn throw(&self) -> Result<()> {
        self.told(pending::end());
        let errors = std::mem::take(&mut *lock(&self.errors));
        let Some(first) = errors.first() else {
            return Ok(());
        };
        errors.iter().for_each(crate::trace::diagnostic);
        if let Some(handler) = &self.handler {
            handler(&errors);
        }
        Err(first.clone())
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        let errors = std::mem::take(&mut *lock(&self.errors));
        if errors.is_empty() {
            return;
        }
        match &self.handler {
            Some(handler) => handler(&errors),
            None => {
                for error in &errors {
                    complain(&format!("unhandled asynchronous error: {error}"));
                }
                // SYCL's default handler ends the program.
                std::process::abort();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartialEq for Queue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Queue {}
impl Hash for Queue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Queue({:?}, {:?})", self.0.device, self.0.props)
    }
}

/// Builds a [`Queue`].
#[derive(Default)]
pub struct QueueBuilder {
    device: Option<Device>,
    context: Option<Context>,
    handler: Option<Box<AsyncHandler>>,
    props: QueueProps,
}

impl std::fmt::Debug for QueueBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueueBuilder")
            .field("device", &self.device)
            .field("props", &self.props)
            .finish_non_exhaustive()
    }
}

impl QueueBuilder {
    /// Its device; the default selector's if none is given.
    #[must_use]
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// The device that a selector chooses.
    ///
    /// # Errors
    /// As [`Device::select`].
    pub fn selector(self, selector: &dyn Selector) -> Result<Self> {
        let device = Device::select(selector)?;
        Ok(self.device(&device))
    }

    /// Its context; the platform's if none is given.
    #[must_use]
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// Commands run in the order of submission. What comes after one that failed fails too, with the first cause, until the
    /// program has waited for the queue or for the failed command, or asked for asynchronous errors.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.props.in_order = true;
        self
    }

    /// Events know when their commands ran.
    #[must_use]
    pub fn enable_profiling(mut self) -> Self {
        self.props.enable_profiling = true;
        self
    }

    /// Its urgency.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.props.priority = Some(priority);
        self
    }

    /// How commands reach the device.
    #[must_use]
    pub fn submission(mut self, submission: Submission) -> Self {
        self.props.submission = Some(submission);
        self
    }

    /// Which of the device's compute engines.
    #[must_use]
    pub fn compute_index(mut self, index: u32) -> Self {
        self.props.compute_index = Some(index);
        self
    }

    /// All properties at once.
    #[must_use]
    pub fn props(mut self, props: QueueProps) -> Self {
        self.props = props;
        self
    }

    /// Who is told of asynchronous errors. Without one, an error that nobody asks for ends the program.
    #[must_use]
    pub fn async_handler(mut self, handler: impl Fn(&[Error]) + Send + Sync + 'static) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// The queue.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for a device outside the context or an engine it lacks; those of creating it.
    pub fn build(self) -> Result<Queue> {
        let device = match (&self.device, &self.context) {
            (Some(device), _) => device.clone(),
            (None, Some(context)) => context.0.devices[0].clone(),
            (None, None) => Device::select(&DefaultSelector)?,
        };
        let context = match self.context {
            Some(context) => context,
            None => device.platform().default_context()?,
        };
        if !context.contains(&device) {
            return Err(Error::invalid("the queue's device is not of its context"));
        }
        let options = options(&device, &self.props)?;
        let per_thread = !options.batched
            && self.props.submission.unwrap_or(Submission::FromEnvironment)
                == Submission::FromEnvironment
            && environment::lists() == Lists::OfThreads;
        let mut queue = Queue::of(context, device, self.props, options, self.handler);
        if let Some(inner) = Arc::get_mut(&mut queue.0).filter(|_| per_thread) {
            inner.threads = Some(Mutex::default());
        }
        let eager = environment::eager() && !per_thread;
        for number in 0..if eager { queue.0.width } else { 1 } {
            queue.0.lane(number)?;
        }
        if !queue.0.context.0.native.is_owned() {
            queue.1 = Some(End::of(&queue.0));
        }
        queue.0.tell_created();
        say(CHOICES, || {
            let (order, inner) = (["out of order", "in order"], &queue.0);
            let device = name_of(Some(&inner.device));
            let lists = match (per_thread, options.batched) {
                (true, _) => "an immediate list for each thread",
                (_, true) => "lists on command queues",
                _ => "immediate lists",
            };
            format!(
                "queue to {device}: {}, {lists}, at most {}",
                order[usize::from(inner.props.in_order)],
                inner.width
            )
        });
        Ok(queue)
    }
}

fn options(device: &Device, props: &QueueProps) -> Result<LaneOptions> {
    let batched = match props.submission.unwrap_or(Submission::FromEnvironment) {
        Submission::FromEnvironment => environment::lists() == Lists::Batched,
        Submission::Immediate => false,
        Submission::Batched => true,
    };
    let priority = match props.priority {
        Some(Priority::Low) => ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW,
        Some(Priority::High) => ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH,
        Some(Priority::Normal) | None => ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
    };
    let group = device.compute_group()?;
    // The environment's engine is a wish for all devices; one that lacks it does without.
    let wished = environment::compute_engine().filter(|index| *index < group.queues);
    let index = props.compute_index.or(wished).unwrap_or(0);
    if index >= group.queues {
        return Err(Error::invalid(format!(
            "compute index {index}: the device has {} engines",
            group.queues
        )));
    }
    Ok(LaneOptions {
        timestamps: props.enable_profiling,
        batched,
        batch: environment::batch(),
        priority,
        ordinal: group.ordinal,
        index,
        ..LaneOptions::default()
    })
}

impl Queue {
    /// A queue to the default selector's device.
    ///
    /// # Errors
    /// As [`QueueBuilder::build`].
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// For a queue with properties.
    #[must_use]
    pub fn builder() -> QueueBuilder {
        QueueBuilder::default()
    }

    fn of(
        context: Context,
        device: Device,
        props: QueueProps,
        options: LaneOptions,
        handler: Option<Box<AsyncHandler>>,
    ) -> Self {
        let width = if props.in_order {
            1
        } else {
            environment::lanes().unwrap_or(LANES)
        };
        let native = Arc::downgrade(&context.0.native);
        let sides = (!props.in_order).then(SideLanes::default);
        let inner = Arc::new(QueueInner {
            intact: Intact::new(&context.0.native, &device),
            context,
            device,
            props,
            options,
            lanes: [const { OnceLock::new() }; MOST_LANES],
            making: Mutex::new(()),
            width,
            sides,
            threads: None,
            order: Mutex::new(None),
            tickets: Promises::default(),
            followers: Followers::default(),
            reports: Arc::new(Reports {
                context: native,
                errors: Mutex::default(),
                behind: Mutex::default(),
                handler,
            }),
            trace: crate::trace::QueueTrace::default(),
        });
        Self(inner, None)
    }

    /// A queue around a handle that exists already; it has this one lane.
    pub(crate) fn adopt(
        context: &Context,
        device: &Device,
        props: QueueProps,
        native: NativeLane,
        owned: bool,
        in_order: bool,
        ordinal: u32,
    ) -> Result<Self> {
        let options = LaneOptions {
            ordinal,
            timestamps: props.enable_profiling,
            batched: matches!(native, NativeLane::Queue(_)),
            // The program may wait on its handle after any submission.
            batch: 1,
            in_order,
            owned,
            ..LaneOptions::default()
        };
        let lane = Lane::adopt(&context.0.native, device, native, options)?;
        let mut queue = Self::of(context.clone(), device.clone(), props, options, None);
        if let Some(inner) = Arc::get_mut(&mut queue.0) {
            inner.width = 1;
            inner.sides = None;
        }
        let _ = queue.0.lanes[0].set(lane);
        if !owned || !context.0.native.is_owned() {
            queue.1 = Some(End::of(&queue.0));
        }
        queue.0.tell_created();
        Ok(queue)
    }

    /// Its device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device.clone()
    }

    /// Its context.
    #[must_use]
    pub fn context(&self) -> Context {
        self.0.context.clone()
    }

    /// Whether commands run in the order of submission.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.0.props.in_order
    }

    /// Its properties.
    #[must_use]
    pub fn props(&self) -> &QueueProps {
        &self.0.props
    }

    /// Submits one command group. The closure turns its handler into the group's one command; accessors stay inside.
    ///
    /// # Errors
    /// The closure's, and nothing was submitted; [`crate::Errc::MemoryAllocation`] with every buffer as it was; failures
    /// of appending; the first cause for buffers that failed work should have written.
    #[track_caller]
    pub fn submit<F>(&self, f: F) -> Result<Event>
    where
        F: for<'cg> FnOnce(Handler<'cg>) -> Result<Command<'cg>>,
    {
        let site = crate::trace::Site::of::<F>();
        let mut group = std::cell::RefCell::new(Group::default());
        f(Handler::new(self, &group))
            .map(|_| ())
            .and_then(|()| submit(self, group.get_mut(), site))
            .inspect_err(crate::trace::diagnostic)
    }

    /// Waits for everything that was submitted.
    ///
    /// # Errors
    /// The first failure; [`crate::Errc::Invalid`] when something waits for a host accessor that this thread holds.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let site = crate::trace::Site::here();
        let queue = (Arc::as_ptr(&self.0).addr(), &self.0.device);
        crate::trace::wait_for_queue(site, queue, || self.wait_now())
    }

    fn wait_now(&self) -> Result<()> {
        let end = pending::end();
        let result = self.0.tickets.wait();
        let result = result.and(wait_for(&self.0.tails()));
        self.0.reports.told(end);
        sweep();
        result
    }

    /// Waits, hands asynchronous errors to the handler, and answers the oldest of them.
    ///
    /// # Errors
    /// As [`Self::wait`]; the oldest asynchronous error.
    #[track_caller]
    pub fn wait_and_throw(&self) -> Result<()> {
        let waited = self.wait();
        self.throw_asynchronous()?;
        waited
    }

    /// Hands asynchronous errors to the handler and answers the oldest.
    ///
    /// # Errors
    /// The oldest.
    pub fn throw_asynchronous(&self) -> Result<()> {
        self.0.reports.throw()
    }

    /// A command that ends when `events` have ended; later commands of an in-order queue follow it.
    ///
    /// # Errors
    /// As [`Self::submit`].
    #[track_caller]
    pub fn submit_barrier(&self, events: &[Event]) -> Result<Event> {
        self.submit(|cg| {
            if events.is_empty() {
                cg.depends_on_everything();
            }
            cg.depends_on(events);
            cg.barrier()
        })
    }
}

impl QueueInner {
    /// Tells tools that the queue is there.
    fn tell_created(&self) {
        let handle = || {
            let first = self.lanes().next().and_then(|lane| lane.native());
            first.map_or(0, |native| match native {
                NativeLane::Queue(queue) => queue.addr(),
                NativeLane::List(list) => list.addr(),
            })
        };
        self.trace.created(&NewQueue {
            device: &self.device,
            in_order: self.props.in_order,
            context: self.context.handle().addr(),
            handle: &handle,
        });
    }

    fn lane(&self, number: usize) -> Result<&'static Lane> {
        if let Some(lane) = self.lanes[number].get() {
            return Ok(lane);
        }
        let _one = lock(&self.making);
        if let Some(lane) = self.lanes[number].get() {
            return Ok(lane);
        }
        let lane = self.create_lane()?;
        Ok(self.lanes[number].get_or_init(|| lane))
    }

    /// One more, unless the device was lost since the queue was made: what is there then is not what the program put there.
    fn create_lane(&self) -> Result<&'static Lane> {
        let lane = Lane::create(&self.context.0.native, &self.device, self.options)?;
        // Once it is known: from here on a loss is the lane's too.
        match self.intact.loss() {
            None => Ok(lane),
            Some(error) => {
                lane.close();
                Err(lost(&error))
            }
        }
    }

    /// The last commands on its lanes.
    fn tails(&self) -> Deps {
        let mut tails = Deps::default();
        self.usual_lanes().for_each(|lane| tails.add(lane.tail()));
        let sides = self.sides.as_ref().map(SideLanes::tails);
        sides.iter().for_each(|sides| tails.merge(sides));
        tails
    }

    /// Its lanes so far.
    pub(crate) fn lanes(&self) -> impl Iterator<Item = &'static Lane> + '_ {
        let sides = self.sides.iter().flat_map(SideLanes::each);
        self.usual_lanes().chain(sides)
    }

    fn usual_lanes(&self) -> impl Iterator<Item = &'static Lane> + '_ {
        self.lanes.iter().map_while(|lane| lane.get().copied())
    }

    /// Refuses work where the device was lost since the queue was made.
    pub(crate) fn refuse_lost(&self) -> Result<()> {
        let first = self.lanes[0].get();
        first.map_or(Ok(()), |lane| lane.refuse_lost_device())
    }

    /// Where work goes that follows `deps`.
    pub(crate) fn choose(&self, deps: &Deps) -> Result<Way<'_>> {
        self.refuse_lost()?;
        if let Some(sides) = &self.sides {
            let gates = Lane::gates_of(deps);
            if !gates.is_empty() {
                return sides.choose(&self.device, deps, &gates, self.width, || {
                    self.create_lane()
                });
            }
        }
        let lane = self.usual(deps)?;
        Ok(Way::On(Chosen::usual(lane)))
    }

    /// A lane for work that follows `deps`: the one that ends with them, an idle one, a new one, the least busy.
    fn usual(&self, deps: &Deps) -> Result<&'static Lane> {
        if let Some(threads) = &self.threads {
            return self.lane_of_thread(threads);
        }
        if self.width == 1 {
            return self.lane(0);
        }
        let mut best: Option<&'static Lane> = None;
        let mut count = 0;
        for lane in self.usual_lanes() {
            count += 1;
            if deps.iter().any(|dep| dep == lane.tail()) {
                return Ok(lane);
            }
            if best.is_none_or(|best| lane.outstanding() < best.outstanding()) {
                best = Some(lane);
            }
        }
        if let Some(best) = best.filter(|best| best.outstanding() == 0) {
            return Ok(best);
        }
        if count < self.width {
            // What is not known to have ended may have.
            for lane in self.usual_lanes() {
                lane.probe_tail();
                if lane.outstanding() == 0 {
                    return Ok(lane);
                }
            }
            return self.lane(count);
        }
        best.map_or_else(|| self.lane(0), Ok)
    }

    /// The calling thread's own lane; threads that come when all lanes are given share them.
    fn lane_of_thread(&self, threads: &Mutex<Vec<ThreadId>>) -> Result<&'static Lane> {
        let mine = std::thread::current().id();
        // Held while a lane is made, so that those before it are there.
        let mut threads = lock(threads);
        let (place, is_new) = place_of(&threads, mine);
        let lane = self.lane(place)?;
        if is_new {
            threads.push(mine);
        }
        Ok(lane)
    }

    /// Remembers a ticket until the queue is waited for, and for what is freed meanwhile.
    pub(crate) fn add_ticket(&self, ticket: &Arc<Ticket>) {
        self.tickets.add(ticket);
        self.context.0.native.pending.add(ticket);
    }

    /// Everything submitted so far.
    pub(crate) fn everything(&self, deps: &mut Deps) {
        deps.merge(&self.tails());
        let tickets = self.tickets.get();
        tickets.iter().for_each(|ticket| deps.add(ticket.dep()));
    }
}

/// The number of a thread's lane, and whether the thread is one more of those with a lane of their own.
fn place_of(threads: &[ThreadId], thread: ThreadId) -> (usize, bool) {
    match threads.iter().position(|known| *known == thread) {
        Some(place) => (place, false),
        None if threads.len() < MOST_LANES => (threads.len(), true),
        // Not remembered: a program may have any number of threads, one after another.
        None => {
            let mut hasher = std::hash::DefaultHasher::new();
            thread.hash(&mut hasher);
            (hasher.finish() as usize % MOST_LANES, false)
        }
    }
}

impl Drop for QueueInner {
    fn drop(&mut self) {
        self.trace.destroyed();
        for lane in self.lanes() {
            lane.flush_all();
            lane.close_later();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_come_and_go_are_not_remembered() {
        let mut threads = Vec::new();
        for number in 0..100 {
            let thread = std::thread::spawn(|| std::thread::current().id());
            let Ok(thread) = thread.join() else { return };
            let (place, is_new) = place_of(&threads, thread);
            assert_eq!(is_new, number < MOST_LANES);
            assert!(place < MOST_LANES && (!is_new || place == number));
            if is_new {
                threads.push(thread);
            }
            let again = place_of(&threads, thread);
            assert_eq!(again, (place, false), "a thread keeps its lane");
        }
    }
}
