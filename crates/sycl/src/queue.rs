//! Queues take command groups and submit them to lanes.

use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use level_zero::sys::*;

use crate::command_group::Group;
use crate::context::Context;
use crate::device::{Device, name_of};
use crate::engine::command_lane::{CommandLane, NativeLane};
use crate::engine::completion::wait_for;
use crate::engine::deferred_release::{drain_context, sweep};
use crate::engine::list_backend::LaneOptions;
use crate::engine::pending::{self, drop_never_ends, is_in_a_host_task, would_wait_for_itself};
use crate::environment::{self, Lists};
use crate::error::{AsyncHandler, Error, Result};
use crate::event::Event;
use crate::handler::{Command, Handler};
use crate::log::{CHOICES, say};
use crate::queue_inner::QueueInner;
use crate::selector::{DefaultSelector, Selector};
use crate::submit::submit;

pub use crate::queue_inner::{Priority, QueueProps, Submission};

/// A queue of a device. Cheap to clone; can be used from any thread.
///
/// Dropping the last handle does not wait for the queue's work, unless the program keeps its list or context
/// ([`crate::interop::Ownership::Keep`]): the program may destroy those after the drop.
#[derive(Clone)]
pub struct Queue(pub(crate) Arc<QueueInner>, Option<Arc<End>>);

/// The program's handles of a queue whose list or context it keeps; dropping the last one waits.
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
        let open = queue.pending_commands.deps();
        if would_wait_for_itself(&open) {
            // The running task captured the queue, so it cannot wait for its own end; the end of the task releases the
            // rest.
            if is_in_a_host_task() {
                return;
            }
            return drop_never_ends(
                "the queue's work waits for a host accessor that the calling thread holds",
            );
        }
        // The submitter of the work got the failures.
        drop(wait_for(&open));
        drop(wait_for(&queue.tails()));
        drop(queue);
        drain_context(&native);
    }
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
    /// Sets the device; by default the default selector's.
    #[must_use]
    pub fn device(mut self, device: &Device) -> Self {
        self.device = Some(device.clone());
        self
    }

    /// Sets the device by a selector.
    ///
    /// # Errors
    /// As [`Device::select`].
    pub fn selector(self, selector: &dyn Selector) -> Result<Self> {
        let device = Device::select(selector)?;
        Ok(self.device(&device))
    }

    /// Sets the context; by default the platform's.
    #[must_use]
    pub fn context(mut self, context: &Context) -> Self {
        self.context = Some(context.clone());
        self
    }

    /// Makes the queue in-order: commands run in submission order. Commands after a failed one fail too, with the first
    /// cause, until the program has waited for the queue or for the failed command, or asked for asynchronous errors.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        self.props.in_order = true;
        self
    }

    /// Enables profiling: events record when their commands ran.
    #[must_use]
    pub fn enable_profiling(mut self) -> Self {
        self.props.enable_profiling = true;
        self
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.props.priority = Some(priority);
        self
    }

    /// Sets how commands are submitted to the device.
    #[must_use]
    pub fn submission(mut self, submission: Submission) -> Self {
        self.props.submission = Some(submission);
        self
    }

    /// Sets the index of the device's compute engine.
    #[must_use]
    pub fn compute_index(mut self, index: u32) -> Self {
        self.props.compute_index = Some(index);
        self
    }

    /// Sets all properties at once.
    #[must_use]
    pub fn props(mut self, props: QueueProps) -> Self {
        self.props = props;
        self
    }

    /// Sets the handler of asynchronous errors. Without one, an error that the program does not fetch ends the process.
    #[must_use]
    pub fn async_handler(mut self, handler: impl Fn(&[Error]) + Send + Sync + 'static) -> Self {
        self.handler = Some(Box::new(handler));
        self
    }

    /// Creates the queue.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for a device outside the context or an engine that the device lacks; errors of the
    /// driver.
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
            return Err(Error::invalid(
                "the queue's context does not contain its device",
            ));
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
    // The environment's engine applies to all devices; one that lacks it ignores the variable.
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
    /// Creates a queue on the default selector's device.
    ///
    /// # Errors
    /// As [`QueueBuilder::build`].
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder for a queue with properties.
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
        let inner = QueueInner::new(context, device, props, options, handler);
        Self(Arc::new(inner), None)
    }

    /// Creates a queue around an existing handle; the handle is its only lane.
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
            // The program may wait on its handle after each submission.
            batch: 1,
            in_order,
            owned,
            ..LaneOptions::default()
        };
        let lane = CommandLane::adopt(&context.0.native, device, native, options)?;
        let mut queue = Self::of(context.clone(), device.clone(), props, options, None);
        if let Some(inner) = Arc::get_mut(&mut queue.0) {
            inner.width = 1;
            inner.user_event_lanes = None;
        }
        let _ = queue.0.lanes[0].set(lane);
        if !owned || !context.0.native.is_owned() {
            queue.1 = Some(End::of(&queue.0));
        }
        queue.0.tell_created();
        Ok(queue)
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device.clone()
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> Context {
        self.0.context.clone()
    }

    /// Returns whether the queue is in-order.
    #[must_use]
    pub fn is_in_order(&self) -> bool {
        self.0.props.in_order
    }

    /// Returns the properties.
    #[must_use]
    pub fn props(&self) -> &QueueProps {
        &self.0.props
    }

    /// Submits a command group. The closure turns its handler into the group's one command; accessors cannot leave it.
    ///
    /// # Errors
    /// Those of the closure (nothing was submitted then); [`crate::Errc::MemoryAllocation`] with unchanged buffers;
    /// failures of appending; the first cause if failed work should have written a buffer.
    #[track_caller]
    pub fn submit<F>(&self, f: F) -> Result<Event>
    where
        F: for<'cg> FnOnce(Handler<'cg>) -> Result<Command<'cg>>,
    {
        let site = crate::trace::Site::of::<F>();
        let mut group = std::cell::RefCell::new(Group::default());
        f(Handler::new(&self.0, &group))
            .map(|_| ())
            .and_then(|()| submit(&self.0, group.get_mut(), site))
            .inspect_err(crate::trace::diagnostic)
    }

    /// Waits for all submitted work.
    ///
    /// # Errors
    /// The first failure; [`crate::Errc::Invalid`] if work waits for a host accessor that this thread holds (it would
    /// deadlock).
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let site = crate::trace::Site::here();
        let queue = (Arc::as_ptr(&self.0).addr(), &self.0.device);
        crate::trace::wait_for_queue(site, queue, || self.wait_now())
    }

    fn wait_now(&self) -> Result<()> {
        let end = pending::end();
        let result = self.0.pending_commands.wait();
        let result = result.and(wait_for(&self.0.tails()));
        self.0.reports.told(end);
        sweep();
        result.and(self.0.reports.first_fault())
    }

    /// Waits, passes asynchronous errors to the handler, and returns the oldest of them.
    ///
    /// # Errors
    /// As [`Self::wait`]; the oldest asynchronous error.
    #[track_caller]
    pub fn wait_and_throw(&self) -> Result<()> {
        let waited = self.wait();
        self.throw_asynchronous()?;
        waited
    }

    /// Passes asynchronous errors to the handler and returns the oldest.
    ///
    /// # Errors
    /// The oldest error.
    pub fn throw_asynchronous(&self) -> Result<()> {
        self.0.reports.throw()
    }

    /// Submits a command that ends when `events` have ended; later commands of an in-order queue follow it.
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
