//! Copies between a buffer's memories: the buffer plans them, this module appends them.

use std::sync::Arc;

use smallvec::SmallVec;
use sycl_graph::{Access, Dep, Deps, Domain, Extent, Transfer};

use crate::context::Context;
use crate::device::{Device, name_of};
use crate::engine::completion::{Resolved, is_open_or_failed, resolve, wait_for};
use crate::engine::completion_waiter::resolve_in;
use crate::engine::deferred_command::{Deferrable, DeferredCommand};
use crate::engine::deferred_release::sweep;
use crate::engine::native_context::Intact;
use crate::engine::pending::{PendingCommand, would_wait_for_itself};
use crate::engine::user_event_lanes::{Chosen, Placement};
use crate::error::{Errc, Error, Result};
use crate::log::{MEMORY, say};
use crate::operation::{Operation, append_all};
use crate::reports::Reports;
use crate::storage::{BufferCore, BufferState};
use crate::trace::Node;

/// A copy that waits for pending commands.
struct Copy {
    /// Keeps the memory alive.
    _core: Arc<BufferCore>,
    context: Context,
    device: Device,
    operation: Operation,
    /// The memories that it copies between.
    ends: SmallVec<[Intact; 2]>,
    /// Why a device was lost since one of these memories was allocated.
    before: Option<Error>,
    reports: Option<Arc<Reports>>,
    node: Node,
}

impl Copy {
    /// Appends the copy, unless other work has to end first.
    fn append(&mut self, resolved: &mut Resolved) -> Option<Result<Dep>> {
        let way = self
            .context
            .choose_for_transfer(&self.device, &resolved.device);
        let lane = match way {
            Ok(Placement::On(lane)) => lane,
            Ok(Placement::Deferred(work)) => {
                resolved.await_completion(&work);
                return None;
            }
            Err(error) => return Some(Err(error)),
        };
        // After the choice, because the lane may be a new one of a device that was lost meanwhile.
        if let Some(error) = self.ends.iter().find_map(Intact::loss) {
            return Some(Err(error));
        }
        let copy = std::slice::from_mut(&mut self.operation);
        let (after, before) = (&resolved.device, self.before.as_ref());
        Some(append(&lane, after, before, copy, &self.node))
    }
}

impl Deferrable for Copy {
    fn resolve(&mut self, after: &Deps) -> Resolved {
        resolve_in(&self.context.0.native, after)
    }

    fn lost(&self) -> Option<Error> {
        self.ends.iter().find_map(Intact::loss)
    }

    fn start(
        mut this: DeferredCommand<Self>,
        resolved: &mut Resolved,
    ) -> Option<DeferredCommand<Self>> {
        match this.command.append(resolved) {
            Some(appended) => {
                this.command.end(&this.own, appended);
                None
            }
            None => Some(this),
        }
    }

    fn end(self, own: &Arc<PendingCommand>, appended: Result<Dep>) {
        if let (Err(error), Some(reports)) = (&appended, &self.reports) {
            reports.push(error.clone());
        }
        // First, because a thread that waits for the end and then drops the buffer must be its last owner.
        drop(self);
        match appended {
            Ok(dep) => own.submitted(dep),
            Err(error) => own.fail(&error),
        }
    }

    fn fail_behind(self, own: &Arc<PendingCommand>, cause: &Error) {
        drop(self);
        own.fail(cause);
    }
}

/// Appends a copy and reports it to tools.
fn append(
    chosen: &Chosen<'_>,
    after: &Deps,
    before: Option<&Error>,
    copy: &mut [Operation],
    node: &Node,
) -> Result<Dep> {
    node.task(|| {
        let dep = append_all(chosen.lane, after, before, copy)?;
        node.signal(|| chosen.lane.keep(dep.sequence()));
        Ok(dep)
    })
}

/// Submits one planned copy and commits it. The caller holds the buffer's lock. A deferred append that fails is
/// reported to `reports`.
pub(crate) fn submit(
    core: &Arc<BufferCore>,
    state: &mut BufferState,
    transfer: Transfer,
    reports: Option<&Arc<Reports>>,
) -> Result<Dep> {
    let (context, device) = end_of(state, &transfer)?;
    let target = state.memory(transfer.to, &context)?;
    let source = state.memory(transfer.from, &context)?;
    let (from, to) = (
        state.device_of(transfer.from).cloned(),
        state.device_of(transfer.to).cloned(),
    );
    let (from, to) = (from.map(|end| end.1), to.map(|end| end.1));
    say(MEMORY, || {
        let (extent, number) = (&transfer.extent, core.number);
        let (from, to) = (name_of(from.as_ref()), name_of(to.as_ref()));
        match extent {
            Extent::Run { offset, bytes } => {
                format!("buffer {number}: copies {bytes} bytes at {offset} from {from} to {to}")
            }
            Extent::Region { origin, size, .. } => format!(
                "buffer {number}: copies {size:?} (bytes, rows, planes) at {origin:?} from {from} to {to}"
            ),
        }
    });
    let element = state.graph.grid().element_size();
    let node = state
        .history
        .transfer(core.number, element, &transfer, from.as_ref(), to.as_ref());
    let mut operation = state.copy(&transfer, target, source);
    let mut ends = [transfer.from, transfer.to].into_iter();
    let before = ends.find_map(|end| state.outlived(end)).cloned();
    let mut deps = Deps::default();
    state.graph.transfer_dependencies(&transfer, &mut deps);
    let mut resolved = resolve_in(&context.0.native, &deps);
    refuse_lost(&resolved)?;
    if resolved.open.is_empty() {
        match context.choose_for_transfer(&device, &resolved.device)? {
            Placement::On(lane) => {
                // After the choice, because the lane may be a new one of a device that was lost meanwhile.
                let ends = [transfer.from, transfer.to].into_iter();
                let mut ends = ends.filter_map(|end| state.intact(end));
                if let Some(error) = ends.find_map(Intact::loss) {
                    return Err(Error::because("memory of a copy was lost", &error));
                }
                let operation = std::slice::from_mut(&mut operation);
                let before = before.as_ref();
                let dep = append(&lane, &resolved.device, before, operation, &node)?;
                state.graph.commit_transfer(transfer, dep);
                return Ok(dep);
            }
            Placement::Deferred(work) => {
                resolved.await_completion(&work);
                refuse_lost(&resolved)?;
            }
        }
    }
    let own = PendingCommand::open_kept(resolved.open.clone());
    let ends = [transfer.from, transfer.to];
    let ends = ends.iter().filter_map(|end| state.intact(*end)).cloned();
    let ends = ends.collect();
    state.graph.commit_transfer(transfer, own.dep());
    state.hold_back(&own);
    let copy = DeferredCommand {
        own: Arc::clone(&own),
        after: deps,
        command: Copy {
            _core: Arc::clone(core),
            context,
            device,
            operation,
            ends,
            before,
            reports: reports.cloned(),
            node,
        },
    };
    copy.wait_for(&resolved.open);
    Ok(own.dep())
}

fn refuse_lost(resolved: &Resolved) -> Result<()> {
    let failed = resolved.failed.as_ref();
    failed.map_or(Ok(()), |error| {
        Err(Error::because("the source of a copy was lost", error))
    })
}

/// The device that copies: the target, or for a copy to the host the source.
fn end_of(state: &BufferState, transfer: &Transfer) -> Result<(Context, Device)> {
    let end = state
        .device_of(transfer.to)
        .or_else(|| state.device_of(transfer.from));
    end.cloned()
        .ok_or_else(|| Error::new(Errc::Runtime, "a copy from the host to itself was planned"))
}

/// Makes a buffer's elements available on the host and defers conflicting work until the pending command ends. Returns
/// the first byte of the whole buffer.
pub(crate) fn bring_to_host(
    core: &Arc<BufferCore>,
    accesses: &[Access],
) -> Result<(*mut u8, Arc<PendingCommand>)> {
    let (pointer, pending, deps, may_fault) = {
        let mut state = core.lock();
        state.roll_back_failures();
        let mut deps = Deps::default();
        state.graph.dependencies(Domain::HOST, accesses, &mut deps);
        if would_wait_for_itself(&deps) {
            return Err(Error::invalid(
                "deadlock: this access waits for a host accessor that the calling thread holds; drop it first",
            ));
        }
        refuse_poisoned(&state, accesses)?;
        let pointer = state.host_memory()?;
        let plan = state.graph.plan(Domain::HOST, accesses, &state.links());
        for transfer in plan {
            submit(core, &mut state, transfer, None)?;
        }
        let mut deps = Deps::default();
        state.graph.dependencies(Domain::HOST, accesses, &mut deps);
        let me = std::thread::current().id();
        let pending = PendingCommand::open(Some(me), resolve(&deps).open);
        state
            .graph
            .commit_accesses(Domain::HOST, accesses, pending.dep());
        state.graph.tidy(is_open_or_failed);
        (pointer, pending, deps, !state.writers.is_empty())
    };
    if let Err(error) = wait_for(&deps) {
        let mut state = core.lock();
        state.roll_back_failures();
        // The contents will not be written, and older contents are outdated.
        state.lose(accesses, &error);
        drop(state);
        match accesses.iter().any(|access| access.mode.writes()) {
            true => pending.fail(&error),
            false => pending.done(),
        }
        return Err(error);
    }
    sweep();
    let fault = may_fault
        .then(|| core.lock().writers.take_fault())
        .flatten();
    if let Some(fault) = fault {
        pending.done();
        return Err(fault);
    }
    Ok((pointer, pending))
}

/// Returns an error for accesses to contents that failed work should have written.
pub(crate) fn refuse_poisoned(state: &BufferState, accesses: &[Access]) -> Result<()> {
    if accesses
        .iter()
        .any(|access| state.graph.is_poisoned(access))
    {
        return Err(match &state.poison {
            Some(cause) => Error::because(
                "the buffer is poisoned: work that should have written it failed",
                cause,
            ),
            None => Error::new(Errc::Runtime, "the buffer is poisoned"),
        });
    }
    Ok(())
}
