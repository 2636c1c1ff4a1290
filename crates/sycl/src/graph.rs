//! Command graphs: command groups that are recorded once and submitted any number of times, as one Level Zero command
//! list. Buffers keep one address on a device, so the list stays valid. The copies and dependencies of a submission are
//! determined each time, for all groups of the graph at once.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use level_zero::sys::*;
use smallvec::SmallVec;
use sycl_graph::{Access, Deps, Mode};

use crate::arguments::Arguments;
use crate::command_group::{Action, Group, Record};
use crate::context::Context;
use crate::device::Device;
use crate::engine::command_lane::lose_if_lost;
use crate::engine::completion::probe;
use crate::engine::deferred_release::release_after;
use crate::engine::target::Target;
use crate::error::{Errc, Error, Result};
use crate::event::Event;
use crate::faults::LaunchRecords;
use crate::group_command::{Pointers, operations_of};
use crate::handler::{Command, Handler};
use crate::operation::Operation;
use crate::queue::Queue;
use crate::recorded_list::RecordedList;
use crate::storage::TargetMemory;
use crate::submit::submit;
use crate::ze::ze;

/// Command groups in the order in which they run.
#[derive(Debug)]
pub struct Graph {
    queue: Queue,
    groups: Vec<Recorded>,
}

/// One group, without its handler.
struct Recorded {
    records: SmallVec<[Record; 4]>,
    action: Option<Action>,
    arguments: Arguments,
    faults: LaunchRecords,
}

// SAFETY: handles and pointers of commands that have not begun; like those of an `Operation` they are not bound to a
// thread.
unsafe impl Send for Recorded {}
// SAFETY: a shared reference gives no access to them.
unsafe impl Sync for Recorded {}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorded").finish_non_exhaustive()
    }
}

/// A graph that can be submitted to queues of its context and device. Cheap to clone.
#[derive(Clone)]
pub struct ExecutableGraph(Arc<GraphInner>);

impl std::fmt::Debug for ExecutableGraph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ExecutableGraph({} groups)", self.0.groups)
    }
}

pub(crate) struct GraphInner {
    context: Context,
    device: Device,
    list: Arc<RecordedList>,
    groups: usize,
    records: Vec<Record>,
    /// Kernels and fill patterns.
    operations: Mutex<Kept>,
    submissions: Mutex<Submissions>,
    /// The records of its kernels that report faults. Submissions that run keep them too.
    faults: LaunchRecords,
}

/// The submissions of a graph.
#[derive(Default)]
struct Submissions {
    /// The latest submission. The next one follows it, because a list runs once at a time.
    last: Event,
    /// All submissions that may still run. The latest alone is not enough: it fails at once if an event that it waits
    /// for fails, while an earlier one runs.
    unfinished: Deps,
}

type Kept = Vec<(
    SmallVec<[Operation; 1]>,
    Option<Box<dyn std::any::Any + Send>>,
)>;

impl Graph {
    /// Creates an empty graph for the queue's device and context.
    #[must_use]
    pub fn new(queue: &Queue) -> Self {
        Self {
            queue: queue.clone(),
            groups: Vec::new(),
        }
    }

    /// Records a command group. Groups run in the order of recording.
    ///
    /// # Errors
    /// Those of the closure; [`Errc::FeatureNotSupported`] for host tasks and host accessors; [`Errc::Invalid`] for a
    /// group that depends on events: pass them to the submission instead.
    #[track_caller]
    pub fn add<F>(&mut self, f: F) -> Result<()>
    where
        F: for<'cg> FnOnce(Handler<'cg>) -> Result<Command<'cg>>,
    {
        let group = RefCell::new(Group::default());
        let _ = f(Handler::new(&self.queue.0, &group))?;
        let group = group.into_inner();
        let on_host = group
            .records
            .iter()
            .any(|record| record.target == TargetMemory::Host);
        if on_host || matches!(group.action, Some(Action::HostTask(_))) {
            return Err(Error::new(
                Errc::FeatureNotSupported,
                "a graph runs on its device: host tasks cannot be recorded",
            ));
        }
        if !group.events.is_empty() || group.follows_all {
            return Err(Error::invalid(
                "a recorded group cannot depend on events; pass them to submit_graph",
            ));
        }
        self.groups.push(Recorded {
            records: group.records,
            action: group.action,
            arguments: group.arguments,
            faults: group.faults,
        });
        Ok(())
    }

    /// Creates the command list. Buffers get their memory on the device now.
    ///
    /// # Errors
    /// [`Errc::MemoryAllocation`]; errors of the driver.
    pub fn finalize(self) -> Result<ExecutableGraph> {
        let queue = &self.queue.0;
        let (context, device) = (queue.context.clone(), queue.device.clone());
        let api = context.api();
        let desc = ze_command_list_desc_t {
            commandQueueGroupOrdinal: device.compute_group()?.ordinal,
            flags: ZE_COMMAND_LIST_FLAG_IN_ORDER,
            ..Default::default()
        };
        let before = context.0.native.losses.moment();
        let told = |result| lose_if_lost(&context.0.native, Some(&device), before, result);
        let mut list = std::ptr::null_mut();
        // SAFETY: live handles, valid input and output.
        told(unsafe {
            ze!(
                api,
                zeCommandListCreate = command_list.pfnCreate(
                    context.handle(),
                    device.handle(),
                    &raw const desc,
                    &raw mut list
                )
            )
        })?;
        let mut graph = GraphInner {
            context: context.clone(),
            device: device.clone(),
            list: Arc::new(RecordedList {
                native: Arc::clone(&context.0.native),
                device: device.clone(),
                made: before,
                list,
                pointers: Vec::new(),
            }),
            groups: self.groups.len(),
            records: Vec::new(),
            operations: Mutex::default(),
            submissions: Mutex::default(),
            faults: LaunchRecords::new(),
        };
        let mut kept = Kept::new();
        let mut all_pointers = Vec::new();
        for group in self.groups {
            let mut pointers = Pointers::new();
            for record in &group.records {
                let mut state = record.core.lock();
                let domain = state.domain_of(&context, &device)?;
                let base = state.argument(record.target, domain, &context, &device)?;
                pointers.push(base.wrapping_add(record.first_byte));
            }
            all_pointers.extend(pointers.iter().map(|pointer| pointer.addr()));
            let (mut operations, keep) = operations_of(group.action, group.arguments, &pointers);
            for operation in &mut operations {
                told(operation.append(&mut Target::recording(api, &device, list)))?;
            }
            kept.push((operations, keep));
            graph.faults.extend(group.faults);
            // Excludes this group's own records, because it reads before it writes.
            let earlier = graph.records.len();
            for mut record in group.records {
                graph.without_own_contents(&mut record, earlier);
                graph.records.push(record);
            }
        }
        // SAFETY: a live list.
        told(unsafe { ze!(api, zeCommandListClose = command_list.pfnClose(list)) })?;
        graph.operations = Mutex::new(kept);
        if let Some(list) = Arc::get_mut(&mut graph.list) {
            list.pointers = all_pointers;
        }
        Ok(ExecutableGraph(Arc::new(graph)))
    }
}

impl GraphInner {
    /// Contents that an earlier group of the graph overwrites are not needed at the start; `earlier` records belong to
    /// such groups.
    fn without_own_contents(&self, record: &mut Record, earlier: usize) {
        let fresh: Vec<Access> = self.records[..earlier]
            .iter()
            .filter(|earlier| Arc::ptr_eq(&earlier.core, &record.core))
            .flat_map(|earlier| earlier.accesses.iter().copied())
            .filter(|access| !access.mode.needs_content())
            .collect();
        let covered = |access: &Access| {
            fresh
                .iter()
                .any(|made| made.elements.contains(&access.elements))
        };
        for access in record.accesses.iter_mut().filter(|access| covered(access)) {
            // The group that made the contents writes these pages for the whole graph.
            access.mode = Mode::NoInitReadWrite;
        }
    }
}

impl Drop for GraphInner {
    fn drop(&mut self) {
        let submissions = self.submissions.get_mut();
        let submissions = submissions.unwrap_or_else(PoisonError::into_inner);
        let after = std::mem::take(&mut submissions.unfinished);
        let (context, list) = (self.context.clone(), self.list.list.expose_provenance());
        let kept = std::mem::take(
            self.operations
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        release_after(after, self.context.0.native.kept(), move || {
            let list = std::ptr::with_exposed_provenance_mut(list);
            // SAFETY: our list, and all its executions have ended.
            let _ = unsafe {
                ze!(
                    context.api(),
                    zeCommandListDestroy = command_list.pfnDestroy(list)
                )
            };
            drop(kept);
        });
    }
}

impl Queue {
    /// Submits a graph after `after` and after the graph's previous submission.
    ///
    /// # Errors
    /// [`Errc::Invalid`] for a graph of another device or context, or of a buffer that was released since;
    /// [`Errc::FeatureNotSupported`] on a queue without immediate lists; as [`Queue::submit`].
    #[track_caller]
    pub fn submit_graph(&self, graph: &ExecutableGraph, after: &[Event]) -> Result<Event> {
        let inner = &graph.0;
        if inner.device != self.0.device || inner.context.handle() != self.0.context.handle() {
            return Err(Error::invalid(
                "the graph belongs to another device or context",
            ));
        }
        if !matches!(
            crate::interop::get_native(self),
            crate::interop::NativeQueue::ImmediateList(_)
        ) {
            return Err(Error::new(
                Errc::FeatureNotSupported,
                "graphs run only on queues with immediate command lists",
            ));
        }
        let site = crate::trace::Site::here();
        let submissions = inner.submissions.lock();
        let mut submissions = submissions.unwrap_or_else(PoisonError::into_inner);
        let mut group = Group {
            action: Some(Action::Replay(Arc::clone(&inner.list))),
            ..Group::default()
        };
        group
            .records
            .extend(inner.records.iter().map(Record::again));
        group.events.extend(after.iter().cloned());
        group.events.push(submissions.last.clone());
        group.faults = inner.faults.clone();
        let event = submit(&self.0, &mut group, site)?;
        submissions.unfinished.retain(|dep| !probe(dep));
        if let Some(dep) = event.dep() {
            submissions.unfinished.add(dep);
        }
        submissions.last = event.clone();
        Ok(event)
    }
}
