//! A command group's command with its pointers: appended at once, or after it was deferred.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use sycl_graph::{Dep, Deps};

use crate::arguments::Arguments;
use crate::command_group::Action;
use crate::engine::command_lane::{CommandLane, Profile, lane_of};
use crate::engine::completion::{Resolved, wait_for};
use crate::engine::completion_waiter::{resolve_in, resolve_on_host};
use crate::engine::deferred_command::{Deferrable, DeferredCommand};
use crate::engine::deferred_release::release_after;
use crate::engine::native_context::NativeContext;
use crate::engine::pending::PendingCommand;
use crate::engine::pins::Kept;
use crate::engine::target::Target;
use crate::engine::user_event_lanes::Placement;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::host_task::{Task, TaskContext, run};
use crate::operation::{AppendError, Launch, Operation, append_all};
use crate::queue_inner::QueueInner;
use crate::trace::{Barrier, Node};
use crate::uses::Uses;

/// The addresses of accessors' buffers, in the accessors' order.
pub(crate) type Pointers = SmallVec<[*mut u8; 8]>;

/// The device operations of a command, and an owner of memory that lives as long as they run.
pub(crate) fn operations_of(
    action: Option<Action>,
    arguments: Arguments,
    pointers: &Pointers,
) -> (
    SmallVec<[Operation; 1]>,
    Option<Box<dyn std::any::Any + Send>>,
) {
    let prepared = GroupCommand::new(action, arguments, pointers);
    (prepared.operations, prepared.keep)
}

/// A command with its pointers.
pub(crate) struct GroupCommand {
    operations: SmallVec<[Operation; 1]>,
    task: Option<Task>,
    keep: Option<Box<dyn std::any::Any + Send>>,
    pointers: SendPointers,
    /// Why a device was lost since memory that it uses was allocated.
    pub(crate) before: Option<Error>,
}

struct SendPointers(Pointers);
// SAFETY: addresses of buffers' memories; the command that uses them keeps the buffers.
unsafe impl Send for SendPointers {}

impl GroupCommand {
    pub(crate) fn new(
        action: Option<Action>,
        mut arguments: Arguments,
        pointers: &Pointers,
    ) -> Self {
        let mut command = Self {
            operations: SmallVec::new(),
            task: None,
            keep: None,
            pointers: SendPointers(Pointers::new()),
            before: None,
        };
        let of = |index: u32| pointers[index as usize];
        match action {
            None => command.operations.push(Operation::Barrier),
            Some(Action::Launch(shape)) => {
                arguments.resolve(|access| pointers[access].addr());
                let launch = Launch { shape, arguments };
                command.operations.push(Operation::Launch(launch));
            }
            Some(Action::Copy {
                source,
                target,
                mut region,
            }) => {
                region.source = of(source).wrapping_add(region.source.addr());
                region.target = of(target).wrapping_add(region.target.addr());
                command.operations.push(region.simplest());
            }
            Some(Action::Fill {
                target,
                pattern,
                runs,
            }) => {
                let base = of(target);
                let fills = runs.into_iter().map(|(offset, bytes)| Operation::Fill {
                    target: base.wrapping_add(offset),
                    pattern: pattern.clone(),
                    bytes,
                });
                command.operations.extend(fills);
                if command.operations.is_empty() {
                    command.operations.push(Operation::Barrier);
                }
            }
            Some(Action::StagedFill {
                target,
                staged,
                runs,
            }) => {
                let base = of(target);
                for (offset, bytes) in runs {
                    staged.copies(base.wrapping_add(offset), bytes, &mut command.operations);
                }
                command.keep = Some(Box::new(staged));
            }
            Some(Action::Operations(operations, keep)) => {
                command.operations = operations;
                command.keep = keep;
            }
            Some(Action::Replay(graph)) => {
                command.operations.push(Operation::Replay(graph));
            }
            Some(Action::HostTask(task)) => {
                command.pointers = SendPointers(pointers.clone());
                command.task = Some(task);
            }
        }
        command
    }

    fn is_host_task(&self) -> bool {
        self.task.is_some()
    }

    /// Keeps memory that the command needs besides its buffers until the command has ended.
    pub(crate) fn keep_until(&mut self, dep: Dep, native: &NativeContext) {
        if let Some(keep) = self.keep.take() {
            let mut after = Deps::default();
            after.add(dep);
            release_after(after, native.kept(), move || drop(keep));
        }
    }
}

/// Appends all operations of a command to a lane; the last one's times go to `profile`.
pub(crate) fn append_profiled(
    lane: &'static CommandLane,
    after: &Deps,
    command: &mut GroupCommand,
    profile: Option<Arc<Profile>>,
) -> Result<Dep, AppendError> {
    let before = command.before.as_ref();
    match command.operations.as_mut_slice() {
        // The common case avoids a second list of dependencies.
        [operation] => {
            let append = &mut |target: &mut Target<'_>| operation.append_to(before, target);
            Ok(lane.append(after, profile, append)?)
        }
        [first @ .., last] => {
            let running = append_all(lane, after, before, first)?;
            let append = &mut |target: &mut Target<'_>| last.append_to(before, target);
            let appended = lane.append(&Deps::default(), profile, append);
            appended.map_err(|error| AppendError {
                error,
                running: Some(running),
            })
        }
        [] => append_all(lane, after, None, &mut [Operation::Barrier]),
    }
}

/// The native event of a command, for tools, which may query it as long as they know the command.
pub(crate) fn native_of(dep: Dep) -> Option<Kept> {
    lane_of(dep)?.keep(dep.sequence())
}

/// A group's command while it waits for pending commands.
pub(crate) struct Deferred {
    pub(crate) queue: Arc<QueueInner>,
    /// The events that it follows; an event around a handle lives until then.
    pub(crate) events: SmallVec<[Event; 2]>,
    pub(crate) uses: Uses,
    pub(crate) command: GroupCommand,
    pub(crate) profile: Option<Arc<Profile>>,
    pub(crate) node: Node,
    /// Reports to tools how long the command is deferred.
    pub(crate) barrier: Option<Barrier>,
}

impl Deferrable for Deferred {
    fn resolve(&mut self, after: &Deps) -> Resolved {
        if self.command.is_host_task() {
            self.barrier = None;
            return resolve_on_host(after);
        }
        resolve_in(&self.queue.context.0.native, after)
    }

    fn start(
        mut this: DeferredCommand<Self>,
        resolved: &mut Resolved,
    ) -> Option<DeferredCommand<Self>> {
        if this.command.command.is_host_task() {
            run(Box::new(move || run_task(this)));
            return None;
        }
        match this.command.append(resolved) {
            Some(appended) => {
                this.command.end(&this.own, appended);
                None
            }
            None => Some(this),
        }
    }

    fn end(mut self, own: &Arc<PendingCommand>, appended: Result<Dep>) {
        match appended {
            Ok(dep) => {
                let native = &self.queue.context.0.native;
                self.command.keep_until(dep, native);
                self.tell(own, |own| own.submitted(dep));
            }
            Err(error) => {
                self.queue.reports.push(error.clone());
                self.fail(own, &error);
            }
        }
    }

    fn fail_behind(mut self, own: &Arc<PendingCommand>, cause: &Error) {
        self.barrier = None;
        let error = Error::because("a dependency of the command failed", cause);
        self.fail(own, &error);
    }
}

impl Deferred {
    /// Appends the command, unless work that it has to wait for is open.
    fn append(&mut self, resolved: &mut Resolved) -> Option<Result<Dep>> {
        let chosen = match self.queue.choose(&resolved.device) {
            Ok(Placement::On(lane)) => lane,
            Ok(Placement::Deferred(work)) => {
                resolved.await_completion(&work);
                return None;
            }
            Err(error) => return Some(Err(error)),
        };
        self.barrier = None;
        let (after, command) = (&resolved.device, &mut self.command);
        let appended = self.node.task(|| {
            let dep = append_profiled(chosen.lane, after, command, self.profile.clone())?;
            self.node.signal(|| native_of(dep));
            Ok::<Dep, AppendError>(dep)
        });
        drop(chosen);
        Some(appended.map_err(|failed| {
            if let Some(running) = failed.running {
                self.outlive(running);
            }
            failed.error
        }))
    }

    /// Makes the memory of the command outlive its operations up to `running`: the lane took those before one failed.
    fn outlive(&mut self, running: Dep) {
        let queue = &self.queue;
        for entry in &self.uses {
            let mut state = entry.core.lock();
            // Its memory is there: the command was given its address.
            if let Some(list) = &entry.device
                && let Ok(domain) = state.domain_of(&queue.context, &queue.device)
            {
                state.graph.commit_accesses(domain, list, running);
            }
        }
        self.command.keep_until(running, &queue.context.0.native);
    }

    /// Drops everything before it reports the end: a thread that waits for the end and then drops the queue or a buffer
    /// must be its last owner.
    fn tell(self, own: &PendingCommand, end: impl FnOnce(&PendingCommand)) {
        let Self {
            queue,
            uses,
            command,
            events,
            ..
        } = self;
        // A task that did not run may have captured a last handle. Dropping it must not wait for this pending command,
        // and its panic must not reach the calling thread.
        let let_go = AssertUnwindSafe(|| drop((uses, command, queue, events)));
        drop(own.run(|| catch_unwind(let_go)));
        end(own);
    }

    /// The contents that it should have written are lost.
    fn fail(self, own: &PendingCommand, error: &Error) {
        for entry in &self.uses {
            let mut state = entry.core.lock();
            for list in entry.lists() {
                state.lose(list, error);
            }
        }
        if self.queue.props.in_order {
            self.queue.reports.fails_behind(own.dep(), error);
        }
        self.tell(own, |own| own.fail(error));
    }
}

/// Runs a host task on the calling thread, which belongs to the host tasks' pool.
fn run_task(this: DeferredCommand<Deferred>) {
    let DeferredCommand {
        own,
        after,
        command: mut deferred,
    } = this;
    let waited = wait_for(&after);
    let Some(task) = deferred.command.task.take() else {
        return;
    };
    let queue = &deferred.queue;
    let first = queue.lanes().next().and_then(|lane| lane.native());
    let pointers = std::mem::take(&mut deferred.command.pointers.0);
    let context = TaskContext::new(&queue.context, &queue.device, first, pointers);
    let node = &deferred.node;
    let run = || waited.and_then(|()| node.task(|| task.run(&context)));
    let ended = own.run(run);
    drop(context);
    match ended {
        Ok(()) => deferred.tell(&own, PendingCommand::done),
        Err(error) => {
            deferred.queue.reports.push(error.clone());
            deferred.fail(&own, &error);
        }
    }
}
