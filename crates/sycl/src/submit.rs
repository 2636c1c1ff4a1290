//! Submission: a command group's way from its handler to a lane.
//!
//! On the caller's thread: buffers are locked in the order of their numbers, memory is allocated, copies are planned
//! and appended, then the command; only then is anything committed. A command that has to wait for the host is pending;
//! the thread that ends the wait appends it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Access, Dep, Deps, Domain};

use crate::arguments::Arguments;
use crate::command_group::{Action, Group, Record};
use crate::device::name_of;
use crate::engine::command_lane::Profile;
use crate::engine::completion::{Resolved, is_open_or_failed, resolve, wait_for};
use crate::engine::completion_waiter::resolve_in;
use crate::engine::deferred_command::DeferredCommand;
use crate::engine::deferred_release::sweep_some;
use crate::engine::losses::outlived;
use crate::engine::pending::PendingCommand;
use crate::engine::target::Target;
use crate::engine::user_event_lanes::{Chosen, Placement};
use crate::environment;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind, device_clock};
use crate::faults::{LaunchRecords, Watched};
use crate::group_command::{Deferred, GroupCommand, Pointers, append_profiled, native_of};
use crate::log::{COMMANDS, say};
use crate::operation::{AppendError, Operation};
use crate::queue_inner::QueueInner;
use crate::storage::{BufferState, TargetMemory};
use crate::trace::{Label, Node, Reason, Site};
use crate::transfer::{self, refuse_poisoned};
use crate::uses::{Use, Uses};

/// Submissions to a lane between two sweeps of deferred releases.
const SWEEP: u64 = 64;

/// For each accessor: the index of its buffer among the uses, the kind of memory, and its first byte there.
type Firsts = SmallVec<[(usize, TargetMemory, usize); 8]>;

/// A buffer that is locked for a submission.
struct Locked<'a> {
    used: &'a Use,
    /// The domain of the device's accesses, set when the buffer is prepared.
    device: Domain,
    state: MutexGuard<'a, BufferState>,
}

impl<'a> Locked<'a> {
    /// The accesses by domain: the device's, and the host's for host tasks.
    fn lists(&self) -> impl Iterator<Item = (Domain, &'a [Access])> + use<'a> {
        let (used, device) = (self.used, self.device);
        let on_device = used.device.iter();
        let on_device = on_device.map(move |list| (device, list.as_slice()));
        let on_host = Some((Domain::HOST, used.host.as_slice()));
        on_device.chain(on_host.filter(|(_, list)| !list.is_empty()))
    }
}

type AllLocked<'a> = SmallVec<[Locked<'a>; 4]>;

/// A command group with its buffers prepared.
struct Submission<'a> {
    queue: &'a Arc<QueueInner>,
    group: &'a mut Group,
    node: Node,
    /// The last command of an in-order queue, locked until this one has taken its place.
    order: Option<MutexGuard<'a, Option<Dep>>>,
    pointers: &'a Pointers,
    /// Why a device was lost since memory that the command uses was allocated.
    before: Option<Error>,
    profile: Option<Arc<Profile>>,
}

/// Submits a command group.
pub(crate) fn submit(queue: &Arc<QueueInner>, group: &mut Group, site: Site) -> Result<Event> {
    let _one = lock_submissions();
    queue.refuse_lost()?;
    check_targets(&group.records)?;
    let node = announce(queue, group, site);
    let order = queue
        .props
        .in_order
        .then(|| queue.order.lock().unwrap_or_else(PoisonError::into_inner));
    let mut uses = Uses::new();
    let firsts = collect_uses(group, &mut uses);
    // Filled in place: returned by value, these structures cost 40 of 790 ns of a task (AMD EPYC, Zen 4, 2026-11).
    let mut after = Deps::default();
    follow(queue, group, &node, order.as_deref(), &mut after)?;
    let mut locked = AllLocked::new();
    lock_all(&uses, &mut locked);
    let mut pointers = Pointers::new();
    prepare(queue, &mut locked, &firsts, &mut pointers)?;
    refuse_moved(group.action.as_ref(), &pointers)?;
    copy_and_follow(queue, &mut locked, &node, &mut after)?;
    let on_host = matches!(group.action, Some(Action::HostTask(_)));
    let mut resolved = match on_host {
        true => resolve(&after),
        false => resolve_in(&queue.context.0.native, &after),
    };
    refuse_failed(&resolved)?;
    refuse_behind(queue, order.as_deref(), &resolved)?;
    let profile = queue.props.enable_profiling.then(|| {
        Arc::new(Profile {
            submit: device_clock(&queue.device),
            run: std::sync::OnceLock::new(),
        })
    });
    let submission = Submission {
        queue,
        group,
        node,
        order,
        pointers: &pointers,
        before: first_outlived(&locked),
        profile,
    };
    match choose(queue, on_host, &mut resolved)? {
        Some(chosen) => submission.append(&resolved, chosen, &mut locked),
        None => {
            let own = PendingCommand::open(None, resolved.open.clone());
            hold_back(&mut locked, &own);
            let faults = &mut submission.group.faults;
            let watched = watch(queue, faults, own.dep(), &mut locked);
            drop(locked);
            Ok(submission.defer(own, after, &resolved, uses, watched))
        }
    }
}

/// With `UR_L0_SERIALIZE` 1 or 3, allows one submission at a time.
fn lock_submissions() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    let one_at_a_time = environment::serialize() & 1 != 0;
    one_at_a_time.then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Reports the group to tools and the log.
fn announce(queue: &QueueInner, group: &Group, site: Site) -> Node {
    let label = || label(group.action.as_ref(), &group.arguments);
    let node = Node::group(site, (&queue.trace, &queue.device), label);
    say(COMMANDS, || {
        let (name, device) = (label().name, name_of(Some(&queue.device)));
        format!("submits {name}{site} to {device}")
    });
    node
}

/// Sorts the group's accessors by buffer.
fn collect_uses(group: &mut Group, uses: &mut Uses) -> Firsts {
    let mut firsts = Firsts::new();
    for record in group.records.drain(..) {
        add_use(uses, record, &mut firsts);
    }
    firsts
}

/// Adds the work that the group follows in any case: its events, and the commands of its queue before it.
fn follow(
    queue: &QueueInner,
    group: &Group,
    node: &Node,
    last: Option<&Option<Dep>>,
    after: &mut Deps,
) -> Result<()> {
    for event in &group.events {
        event.follow(after)?;
        node.follows(event.node());
    }
    if group.follows_all {
        queue.everything(after);
    }
    if let Some(last) = last.copied().flatten() {
        after.add(last);
    }
    Ok(())
}

fn lock_all<'a>(uses: &'a Uses, locked: &mut AllLocked<'a>) {
    let lock = |used| Locked {
        used,
        device: Domain::HOST,
        state: used.core.lock(),
    };
    locked.extend(uses.iter().map(lock));
}

/// Finds or allocates the memories that the group uses. Adds the addresses of the accessors' buffers to `pointers`.
fn prepare(
    queue: &QueueInner,
    locked: &mut [Locked<'_>],
    firsts: &Firsts,
    pointers: &mut Pointers,
) -> Result<()> {
    for Locked {
        used,
        device,
        state,
    } in &mut *locked
    {
        state.roll_back_failures();
        if let Some(list) = &used.device {
            *device = state.domain_of(&queue.context, &queue.device)?;
            refuse_poisoned(state, list)?;
        }
        refuse_poisoned(state, &used.host)?;
    }
    for (number, target, first) in firsts {
        let entry = &mut locked[*number];
        let domain = match target {
            TargetMemory::Device => entry.device,
            TargetMemory::Host => Domain::HOST,
        };
        let state = &mut entry.state;
        let pointer = state.argument(*target, domain, &queue.context, &queue.device)?;
        pointers.push(pointer.wrapping_add(*first));
    }
    Ok(())
}

/// Returns an error for a recorded graph whose buffers have moved.
fn refuse_moved(action: Option<&Action>, pointers: &[*mut u8]) -> Result<()> {
    match action {
        Some(Action::Replay(graph)) if !graph.is_at(pointers) => Err(Error::invalid(
            "a buffer of the graph was released since it was recorded, or its device was lost: record it again",
        )),
        _ => Ok(()),
    }
}

/// Appends the copies that the accesses need, and adds the work that they have to follow.
fn copy_and_follow(
    queue: &QueueInner,
    locked: &mut [Locked<'_>],
    node: &Node,
    after: &mut Deps,
) -> Result<()> {
    for entry in locked {
        let core = &entry.used.core;
        for (domain, list) in entry.lists() {
            let state = &mut *entry.state;
            let plan = state.graph.plan(domain, list, &state.links());
            for transfer in plan {
                transfer::submit(core, state, transfer, Some(&queue.reports))?;
            }
            state.graph.dependencies(domain, list, after);
            let grid = state.graph.grid();
            state.history.used(core.number, grid, list, node);
        }
    }
    Ok(())
}

/// Why a device was lost since memory that the group uses was allocated.
fn first_outlived(locked: &[Locked<'_>]) -> Option<Error> {
    let found = locked.iter().find_map(|entry| {
        let mut lists = entry.lists();
        lists.find_map(|(domain, _)| entry.state.outlived(domain))
    });
    found.cloned()
}

/// Returns an error if the last command of an in-order queue failed while it was pending.
fn refuse_behind(
    queue: &QueueInner,
    last: Option<&Option<Dep>>,
    resolved: &Resolved,
) -> Result<()> {
    let last = last.copied().flatten();
    let Some(last) = last.filter(|last| last.is_pending()) else {
        return Ok(());
    };
    let refused = queue.reports.refuse_behind(last);
    refused.inspect_err(|_| resolved.give_up())
}

/// Chooses the lane of a command that need not be deferred.
fn choose<'a>(
    queue: &'a QueueInner,
    on_host: bool,
    resolved: &mut Resolved,
) -> Result<Option<Chosen<'a>>> {
    if on_host || !resolved.open.is_empty() {
        return Ok(None);
    }
    match queue.choose(&resolved.device)? {
        Placement::On(lane) => Ok(Some(lane)),
        Placement::Deferred(work) => {
            resolved.await_completion(&work);
            refuse_failed(resolved)?;
            Ok(None)
        }
    }
}

/// Commits a command that is not on a lane yet.
fn hold_back(locked: &mut [Locked<'_>], own: &Arc<PendingCommand>) {
    commit(locked, own.dep());
    for entry in &mut *locked {
        entry.state.hold_back(own);
    }
    // The program waits for this command before it may destroy such a context.
    let natives = locked.iter().flat_map(|entry| entry.state.natives());
    let kept = natives.filter(|native| !native.is_owned());
    kept.for_each(|native| native.pending.add(own));
}

fn commit(locked: &mut [Locked<'_>], dep: Dep) {
    for entry in locked {
        for (domain, list) in entry.lists() {
            entry.state.graph.commit_accesses(domain, list, dep);
        }
        entry.state.graph.tidy(is_open_or_failed);
    }
}

/// Looks for faults of the command's kernels when it has ended.
fn watch(
    queue: &QueueInner,
    records: &mut LaunchRecords,
    dep: Dep,
    locked: &mut [Locked<'_>],
) -> Option<Arc<Watched>> {
    if records.is_empty() {
        return None;
    }
    let (native, records) = (&queue.context.0.native, std::mem::take(records));
    let watched = queue.reports.watch(native, dep, records);
    for entry in locked {
        let mut accesses = entry.lists().flat_map(|(_, list)| list);
        if accesses.any(|access| access.mode.writes()) {
            entry.state.writers.add(&watched);
        }
    }
    Some(watched)
}

impl Submission<'_> {
    /// Appends the command to a lane, and unlocks the buffers.
    fn append(
        self,
        resolved: &Resolved,
        chosen: Chosen<'_>,
        locked: &mut AllLocked<'_>,
    ) -> Result<Event> {
        let Self {
            queue,
            group,
            node,
            mut order,
            pointers,
            before,
            profile,
        } = self;
        let (lane, after) = (chosen.lane, &resolved.device);
        let mut rest = None;
        let appended = node.task(|| {
            let dep = match &group.action {
                // The common case moves nothing.
                Some(Action::Launch(shape)) => {
                    let arguments = &mut group.arguments;
                    arguments.resolve(|access| pointers[access].addr());
                    let append = &mut |target: &mut Target<'_>| {
                        let appended = shape.append(arguments, target);
                        appended.map_err(|error| outlived(error, || before.clone()))
                    };
                    lane.append(after, profile.clone(), append)
                        .map_err(AppendError::from)
                }
                _ => {
                    let arguments = std::mem::take(&mut group.arguments);
                    let mut command = GroupCommand::new(group.action.take(), arguments, pointers);
                    command.before = before;
                    let dep = append_profiled(lane, after, &mut command, profile.clone());
                    rest = Some(command);
                    dep
                }
            }?;
            node.signal(|| native_of(dep));
            Ok::<Dep, AppendError>(dep)
        });
        drop(chosen);
        let running = match &appended {
            Ok(dep) => Some(*dep),
            Err(failed) => failed.running,
        };
        if let Some(dep) = running {
            commit(locked, dep);
            if let Some(order) = &mut order {
                **order = Some(dep);
            }
        }
        // A part of the command runs: the contents of its buffers are unknown.
        if let Err(AppendError {
            error,
            running: Some(_),
        }) = &appended
        {
            for entry in locked.iter_mut() {
                for (_, list) in entry.lists() {
                    entry.state.lose(list, error);
                }
            }
        }
        let watched = match &appended {
            Ok(dep) => watch(queue, &mut group.faults, *dep, locked),
            Err(_) => None,
        };
        locked.clear();
        if let (Some(mut command), Some(dep)) = (rest, running) {
            command.keep_until(dep, &queue.context.0.native);
        }
        let dep = appended?;
        if dep.sequence() % SWEEP == 0 {
            sweep_some();
        }
        if environment::serialize() & 2 != 0 {
            drop(order);
            wait_for(&Deps::from(dep))?;
        }
        let events = std::mem::take(&mut group.events);
        Ok(event_of(
            queue,
            EventKind::Device(dep),
            profile,
            events,
            node,
            watched,
        ))
    }

    /// Defers the command until the work that it follows has ended. Its buffers are no longer locked.
    fn defer(
        self,
        own: Arc<PendingCommand>,
        after: Deps,
        resolved: &Resolved,
        uses: Uses,
        watched: Option<Arc<Watched>>,
    ) -> Event {
        let Self {
            queue,
            group,
            node,
            mut order,
            pointers,
            before,
            profile,
        } = self;
        let arguments = std::mem::take(&mut group.arguments);
        let mut command = GroupCommand::new(group.action.take(), arguments, pointers);
        command.before = before;
        if let Some(order) = &mut order {
            **order = Some(own.dep());
        }
        drop(order);
        queue.add_pending(&own);
        let events = std::mem::take(&mut group.events);
        let followed = events.clone();
        let kind = EventKind::PendingCommand(Arc::clone(&own));
        let event = event_of(queue, kind, profile.clone(), events, node.clone(), watched);
        let barrier = (!resolved.open.is_empty()).then(|| {
            let reason = reason(resolved);
            say(COMMANDS, || format!("which waits for {reason}"));
            node.barrier(reason)
        });
        let deferred = DeferredCommand {
            own,
            after,
            command: Deferred {
                queue: Arc::clone(queue),
                events: followed,
                uses,
                command,
                profile,
                node,
                barrier,
            },
        };
        deferred.wait_for(&resolved.open);
        event
    }
}

fn event_of(
    queue: &QueueInner,
    kind: EventKind,
    profile: Option<Arc<Profile>>,
    events: SmallVec<[Event; 2]>,
    node: Node,
    watched: Option<Arc<Watched>>,
) -> Event {
    let of = (&queue.device, &queue.reports, &queue.followers);
    Event::of(kind, of, profile, events, node, watched)
}

/// A group's name and kind for tools.
fn label<'a>(action: Option<&'a Action>, arguments: &'a Arguments) -> Label<'a> {
    let (name, transfer) = match action {
        None => ("barrier", false),
        Some(Action::Launch(shape)) => (shape.kernel.name.as_str(), false),
        Some(Action::Copy { .. }) => ("copy acc to acc", false),
        Some(Action::Fill { .. } | Action::StagedFill { .. }) => ("fill", false),
        Some(Action::Operations(operations, _)) => match operations.first() {
            Some(Operation::Fill { .. }) => ("fill usm", true),
            Some(Operation::Prefetch { .. }) => ("prefetch usm", false),
            Some(Operation::Advise { .. }) => ("advise usm", false),
            _ => ("memcpy", true),
        },
        Some(Action::HostTask(_)) => ("host task", false),
        Some(Action::Replay(_)) => ("command graph", false),
    };
    let kernel = match action {
        Some(Action::Launch(shape)) => Some((shape, arguments)),
        _ => None,
    };
    let memory = match action {
        Some(Action::Operations(operations, _)) => operations.first().and_then(Operation::memory),
        _ => None,
    };
    Label {
        name,
        kernel,
        transfer,
        memory,
    }
}

fn refuse_failed(resolved: &Resolved) -> Result<()> {
    let failed = resolved.failed.as_ref();
    failed.map_or(Ok(()), |error| {
        Err(Error::because("a dependency of the group failed", error))
    })
}

/// Why a group is deferred.
fn reason(resolved: &Resolved) -> Reason {
    if resolved.open.iter().any(|pending| pending.is_held()) {
        return Reason::HostAccessor;
    }
    match resolved.open.len() == resolved.awaited {
        true => Reason::Elsewhere,
        false => Reason::HostTask,
    }
}

/// Adds an accessor to its buffer's entry. Uses stay sorted by number, so that all threads lock in the same order.
fn add_use(uses: &mut Uses, record: Record, firsts: &mut Firsts) {
    let found = uses
        .iter()
        .position(|entry| entry.core.number >= record.core.number)
        .unwrap_or(uses.len());
    let known = uses
        .get(found)
        .is_some_and(|entry| Arc::ptr_eq(&entry.core, &record.core));
    if !known {
        uses.insert(
            found,
            Use {
                core: record.core,
                device: None,
                host: Vec::new(),
            },
        );
        for (number, ..) in firsts.iter_mut() {
            *number += usize::from(*number >= found);
        }
    }
    firsts.push((found, record.target, record.first_byte));
    let entry = &mut uses[found];
    let accesses = &record.accesses;
    match (record.target, &mut entry.device) {
        (TargetMemory::Device, Some(list)) => list.extend_from_slice(accesses),
        (TargetMemory::Device, none) => *none = Some(SmallVec::from_slice(accesses)),
        (TargetMemory::Host, _) => entry.host.extend_from_slice(accesses),
    }
}

/// Rejects accessors of one buffer for device and host with a writer, and overlapping host views with a writer: their
/// contents would be undefined.
fn check_targets(records: &[Record]) -> Result<()> {
    for (number, one) in records.iter().enumerate() {
        for other in &records[..number] {
            if !Arc::ptr_eq(&one.core, &other.core) || !(one.writes || other.writes) {
                continue;
            }
            if one.target != other.target {
                return Err(Error::invalid(
                    "a group has accessors of one buffer for the device and for the host, and one of them writes",
                ));
            }
            if one.target == TargetMemory::Host && overlap(one, other) {
                return Err(Error::invalid(
                    "a host task has two views of the same elements, and one of them writes",
                ));
            }
        }
    }
    Ok(())
}

/// Whether two accessors of one buffer share elements. Byte ranges alone do not decide it, and neither do the buffer's
/// own elements, of which a view may have parts.
fn overlap(one: &Record, other: &Record) -> bool {
    let mut pairs = one.accesses.iter().flat_map(|access| {
        let others = other.accesses.iter();
        others.map(move |other| (access.elements, other.elements))
    });
    one.bytes.0 < other.bytes.1
        && other.bytes.0 < one.bytes.1
        && pairs.any(|(elements, others)| elements.overlaps(&others))
}
