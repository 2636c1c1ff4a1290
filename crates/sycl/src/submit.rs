//! The way of a command group from its handler to a lane.
//!
//! On the caller's thread: buffers are locked in the order of their numbers, memory is allocated, copies are planned
//! and appended, then the command, and only then anything is committed. A command that has to wait for something on the
//! host gets a ticket instead of a place and is appended by whoever ends that.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use sycl_graph::{Access, Dep, Deps, Domain};

use crate::arguments::Arguments;
use crate::device::name_of;
use crate::engine::completion::{Resolved, is_open_or_failed, resolve, wait_for};
use crate::engine::completion_waiter::{resolve_in, resolve_on_host};
use crate::engine::deferred_release::{bury, sweep_some};
use crate::engine::lane::{Lane, Profile, lane_of};
use crate::engine::losses::outlived;
use crate::engine::pending::{Ticket, when_closed};
use crate::engine::pins::Kept;
use crate::engine::target::Target;
use crate::engine::user_event_lanes::Way;
use crate::environment;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind, device_clock};
use crate::group::{Action, Group, Record};
use crate::host_task::{TaskContext, run};
use crate::log::{COMMANDS, say};
use crate::operation::{Launch, Operation, append_all};
use crate::queue_inner::QueueInner;
use crate::storage::TargetMemory;
use crate::storage::{BufferCore, BufferState};
use crate::trace::{Barrier, Label, Node, Reason, Site};
use crate::transfer::{self, Accesses, refuse_poisoned};

/// One buffer as a group uses it.
struct Use {
    core: Arc<BufferCore>,
    /// Accesses by the domain they are in: the device's, and the host's for host tasks.
    device: Option<(Domain, Accesses)>,
    host: Vec<Access>,
}

/// What is no longer used is freed once in so many submissions to a lane.
const SWEEP: u64 = 64;

type Uses = SmallVec<[Use; 4]>;
pub(crate) type Pointers = SmallVec<[*mut u8; 8]>;

impl Use {
    fn lists(&self) -> impl Iterator<Item = (Domain, &[Access])> {
        let device = self
            .device
            .iter()
            .map(|(domain, list)| (*domain, list.as_slice()));
        let host = Some((Domain::HOST, self.host.as_slice()));
        device.chain(host.filter(|(_, list)| !list.is_empty()))
    }
}

/// Submits a command group.
pub(crate) fn submit(inner: &Arc<QueueInner>, group: &mut Group, site: Site) -> Result<Event> {
    let _one = (environment::serialize() & 1 != 0).then(|| {
        static ONE: Mutex<()> = Mutex::new(());
        ONE.lock().unwrap_or_else(PoisonError::into_inner)
    });
    inner.refuse_lost()?;
    check_targets(&group.records)?;
    let node = Node::group(site, (&inner.trace, &inner.device), || {
        label(group.action.as_ref(), &group.arguments)
    });
    say(COMMANDS, || {
        let name = label(group.action.as_ref(), &group.arguments).name;
        format!("submits {name}{site} to {}", name_of(Some(&inner.device)))
    });
    let mut order = inner
        .props
        .in_order
        .then(|| inner.order.lock().unwrap_or_else(PoisonError::into_inner));
    let mut uses = Uses::new();
    let mut pointers = Pointers::new();
    let mut firsts: SmallVec<[(usize, TargetMemory, usize); 8]> = SmallVec::new();
    for record in group.records.drain(..) {
        let place = place_of(&mut uses, record, &mut firsts);
        debug_assert!(place < uses.len());
    }
    let mut deps = Deps::default();
    for event in &group.events {
        event.follow(&mut deps)?;
        node.follows(event.node());
    }
    if group.follows_all {
        inner.everything(&mut deps);
    }
    if let Some(last) = order.as_ref().and_then(|last| **last) {
        deps.add(last);
    }
    let mut locked = lock_all(&uses);
    for (entry, state) in uses.iter_mut().zip(&mut locked) {
        prepare(inner, entry, state)?;
    }
    for (number, target, first) in &firsts {
        let (entry, state) = (&uses[*number], &mut locked[*number]);
        let domain = match (target, &entry.device) {
            (TargetMemory::Device, Some((domain, _))) => *domain,
            _ => Domain::HOST,
        };
        let pointer = state.argument(*target, domain, &inner.context, &inner.device)?;
        pointers.push(pointer.wrapping_add(*first));
    }
    if let Some(Action::Replay(graph)) = &group.action
        && !graph.is_at(&pointers)
    {
        return Err(Error::invalid(
            "a buffer of the graph was released since it was recorded, or its device was lost: record it again",
        ));
    }
    for (entry, state) in uses.iter().zip(&mut locked) {
        entry.lists().try_for_each(|(domain, list)| {
            let plan = state.graph.plan(domain, list, &state.links());
            for transfer in plan {
                transfer::submit(&entry.core, state, transfer, Some(&inner.reports))?;
            }
            state.graph.dependencies(domain, list, &mut deps);
            let state = &mut **state;
            state
                .history
                .used(entry.core.number, state.graph.grid(), list, &node);
            Ok::<(), Error>(())
        })?;
    }
    let before = uses.iter().zip(&locked).find_map(|(entry, state)| {
        let mut lists = entry.lists();
        lists.find_map(|(domain, _)| state.outlived(domain))
    });
    let before = before.cloned();
    let on_host = matches!(group.action, Some(Action::HostTask(_)));
    let mut resolved = match on_host {
        true => resolve(&deps),
        false => resolve_in(&inner.context.0.native, &deps),
    };
    refuse_failed(&resolved)?;
    let last = order.as_ref().and_then(|last| **last);
    if let Some(last) = last.filter(|last| last.is_ticket())
        && let Err(error) = inner.reports.refuse_behind(last)
    {
        resolved.give_up();
        return Err(error);
    }
    let profile = inner.props.enable_profiling.then(|| {
        Arc::new(Profile {
            submit: device_clock(&inner.device),
            run: std::sync::OnceLock::new(),
        })
    });
    let events = std::mem::take(&mut group.events);
    let mut chosen = None;
    if resolved.open.is_empty() && !on_host {
        match inner.choose(&resolved.device)? {
            Way::On(lane) => chosen = Some(lane),
            Way::Behind(work) => {
                resolved.watch(&work);
                refuse_failed(&resolved)?;
            }
        }
    }
    if let Some(chosen) = chosen {
        let lane = chosen.lane;
        let mut keep = None;
        let dep = node.task(|| {
            let after = &resolved.device;
            let dep = match &group.action {
                // The common case, without moving anything.
                Some(Action::Launch(shape)) => {
                    let arguments = &mut group.arguments;
                    arguments.resolve(|access| pointers[access].addr());
                    let append = &mut |target: &mut Target<'_>| {
                        let appended = shape.append(arguments, target);
                        appended.map_err(|error| outlived(error, || before.clone()))
                    };
                    lane.append(after, profile.clone(), append)
                }
                _ => {
                    let arguments = std::mem::take(&mut group.arguments);
                    let mut work = Prepared::new(group.action.take(), arguments, &pointers);
                    work.before = before;
                    let dep = append_profiled(lane, after, &mut work, profile.clone());
                    keep = Some(work);
                    dep
                }
            }?;
            node.signal(|| native_of(dep));
            Ok::<Dep, Error>(dep)
        })?;
        drop(chosen);
        commit(&uses, &mut locked, dep);
        if let Some(order) = &mut order {
            **order = Some(dep);
        }
        drop(locked);
        if let Some(mut work) = keep {
            work.keep_until(dep, inner);
        }
        if dep.sequence() % SWEEP == 0 {
            sweep_some();
        }
        if environment::serialize() & 2 != 0 {
            drop(order);
            wait_for(&Deps::from(dep))?;
        }
        return Ok(Event::of(
            EventKind::Device(dep),
            (&inner.device, &inner.reports, &inner.followers),
            profile,
            events,
            node,
        ));
    }
    let arguments = std::mem::take(&mut group.arguments);
    let mut work = Prepared::new(group.action.take(), arguments, &pointers);
    work.before = before;
    let own = Ticket::open(None, resolved.open.clone());
    commit(&uses, &mut locked, own.dep());
    locked.iter_mut().for_each(|state| state.hold_back(&own));
    // Whoever waits until such a context is no longer used waits for this.
    let natives = locked.iter().flat_map(|state| state.natives());
    let kept = natives.filter(|native| !native.is_owned());
    kept.for_each(|native| native.pending.add(&own));
    if let Some(order) = &mut order {
        **order = Some(own.dep());
    }
    drop(locked);
    drop(order);
    inner.add_ticket(&own);
    let followed = events.clone();
    let event = Event::of(
        EventKind::Ticket(Arc::clone(&own)),
        (&inner.device, &inner.reports, &inner.followers),
        profile.clone(),
        events,
        node.clone(),
    );
    let barrier = (!resolved.open.is_empty()).then(|| {
        let reason = reason(&resolved);
        say(COMMANDS, || format!("which waits for {reason}"));
        node.barrier(reason)
    });
    let later = Later {
        queue: Arc::clone(inner),
        ticket: Arc::clone(&own),
        deps,
        events: followed,
        uses,
        work,
        profile,
        node,
        barrier,
    };
    when_closed(
        &resolved.open,
        &own,
        Box::new(move |failed| later.go(failed)),
    );
    Ok(event)
}

/// What tools call a group.
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

/// The native event of a command, for tools, which may ask it as long as they know the command.
fn native_of(dep: Dep) -> Option<Kept> {
    lane_of(dep)?.keep(dep.sequence())
}

fn refuse_failed(resolved: &Resolved) -> Result<()> {
    let failed = resolved.failed.as_ref();
    failed.map_or(Ok(()), |error| {
        Err(Error::because("a dependency of the group failed", error))
    })
}

/// Why a group is held back.
fn reason(resolved: &Resolved) -> Reason {
    if resolved.open.iter().any(|ticket| ticket.is_held()) {
        return Reason::HostAccessor;
    }
    match resolved.open.len() == resolved.watched {
        true => Reason::Elsewhere,
        false => Reason::HostTask,
    }
}

/// Adds an accessor to its buffer's entry; uses stay sorted by number, so that all threads lock in one order.
fn place_of(
    uses: &mut Uses,
    record: Record,
    firsts: &mut SmallVec<[(usize, TargetMemory, usize); 8]>,
) -> usize {
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
        (TargetMemory::Device, Some((_, list))) => list.extend_from_slice(accesses),
        (TargetMemory::Device, none) => {
            *none = Some((Domain::HOST, Accesses::from_slice(accesses)));
        }
        (TargetMemory::Host, _) => entry.host.extend_from_slice(accesses),
    }
    found
}

/// Accessors of one buffer for device and host with a writer, and host views of which one writes what another sees,
/// have no meaning.
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

/// Whether two accessors of one buffer share elements. Neither bytes from first to last say it alone, nor the buffer's own
/// elements, of which a view may have parts.
fn overlap(one: &Record, other: &Record) -> bool {
    let mut pairs = one.accesses.iter().flat_map(|access| {
        let others = other.accesses.iter();
        others.map(move |other| (access.elements, other.elements))
    });
    one.bytes.0 < other.bytes.1
        && other.bytes.0 < one.bytes.1
        && pairs.any(|(elements, others)| elements.overlaps(&others))
}

fn lock_all(uses: &Uses) -> SmallVec<[MutexGuard<'static, BufferState>; 4]> {
    let mut locked = SmallVec::new();
    for entry in uses {
        let guard = entry.core.lock();
        // SAFETY: only the lifetime changes: the group's own `Arc`, which outlives the guards, keeps the buffer; the guards
        // are dropped before the list of uses is moved on or dropped, being declared after it.
        locked.push(unsafe {
            std::mem::transmute::<MutexGuard<'_, BufferState>, MutexGuard<'static, BufferState>>(
                guard,
            )
        });
    }
    locked
}

fn prepare(queue: &QueueInner, entry: &mut Use, state: &mut BufferState) -> Result<()> {
    state.settle();
    if let Some((domain, list)) = &mut entry.device {
        *domain = state.domain_of(&queue.context, &queue.device)?;
        refuse_poisoned(state, list)?;
    }
    refuse_poisoned(state, &entry.host)
}

fn commit(uses: &Uses, locked: &mut [MutexGuard<'static, BufferState>], dep: Dep) {
    for (entry, state) in uses.iter().zip(locked) {
        entry.lists().for_each(|(domain, list)| {
            state.graph.commit_accesses(domain, list, dep);
        });
        state.graph.tidy(is_open_or_failed);
    }
}

/// The device operations of a command, and what has to live as long as they run.
pub(crate) fn operations_of(
    action: Option<Action>,
    arguments: Arguments,
    pointers: &Pointers,
) -> (
    SmallVec<[Operation; 1]>,
    Option<Box<dyn std::any::Any + Send>>,
) {
    let prepared = Prepared::new(action, arguments, pointers);
    (prepared.operations, prepared.keep)
}

/// A command with its pointers.
struct Prepared {
    operations: SmallVec<[Operation; 1]>,
    task: Option<crate::host_task::Task>,
    keep: Option<Box<dyn std::any::Any + Send>>,
    pointers: SendPointers,
    /// Why a device was lost since memory was made that it uses.
    before: Option<Error>,
}

struct SendPointers(Pointers);
// SAFETY: addresses of buffers' memories, which those who use them keep.
unsafe impl Send for SendPointers {}

impl Prepared {
    fn new(action: Option<Action>, mut arguments: Arguments, pointers: &Pointers) -> Self {
        let mut prepared = Self {
            operations: SmallVec::new(),
            task: None,
            keep: None,
            pointers: SendPointers(Pointers::new()),
            before: None,
        };
        let of = |index: u32| pointers[index as usize];
        match action {
            None => prepared.operations.push(Operation::Barrier),
            Some(Action::Launch(shape)) => {
                arguments.resolve(|access| pointers[access].addr());
                let launch = Launch { shape, arguments };
                prepared.operations.push(Operation::Launch(launch));
            }
            Some(Action::Copy {
                source,
                target,
                mut region,
            }) => {
                region.source = of(source).wrapping_add(region.source.addr());
                region.target = of(target).wrapping_add(region.target.addr());
                prepared.operations.push(region.simplest());
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
                prepared.operations.extend(fills);
                if prepared.operations.is_empty() {
                    prepared.operations.push(Operation::Barrier);
                }
            }
            Some(Action::StagedFill {
                target,
                staged,
                runs,
            }) => {
                let base = of(target);
                for (offset, bytes) in runs {
                    staged.copies(base.wrapping_add(offset), bytes, &mut prepared.operations);
                }
                prepared.keep = Some(Box::new(staged));
            }
            Some(Action::Operations(operations, keep)) => {
                prepared.operations = operations;
                prepared.keep = keep;
            }
            Some(Action::Replay(graph)) => {
                prepared.operations.push(Operation::Replay(graph));
            }
            Some(Action::HostTask(task)) => {
                prepared.pointers = SendPointers(pointers.clone());
                prepared.task = Some(task);
            }
        }
        prepared
    }

    fn is_host_task(&self) -> bool {
        self.task.is_some()
    }

    /// What a command needs besides its buffers goes when it has ended.
    fn keep_until(&mut self, dep: Dep, queue: &QueueInner) {
        if let Some(keep) = self.keep.take() {
            let mut after = Deps::default();
            after.add(dep);
            let kept = queue.context.0.native.kept();
            bury(after, kept, move || drop(keep));
        }
    }
}

fn append_profiled(
    lane: &'static Lane,
    after: &Deps,
    work: &mut Prepared,
    profile: Option<Arc<Profile>>,
) -> Result<Dep> {
    let before = work.before.as_ref();
    match work.operations.as_mut_slice() {
        // The common case without a second list of dependencies.
        [operation] => lane.append(after, profile, &mut |target| {
            operation.append_to(before, target)
        }),
        [first @ .., last] => {
            append_all(lane, after, before, first)?;
            let append = &mut |target: &mut Target<'_>| last.append_to(before, target);
            lane.append(&Deps::default(), profile, append)
        }
        [] => append_all(lane, after, None, &mut [Operation::Barrier]),
    }
}

/// A command that waits for tickets.
struct Later {
    queue: Arc<QueueInner>,
    ticket: Arc<Ticket>,
    deps: Deps,
    /// What it was told to follow: an event around a handle lives until then.
    events: SmallVec<[Event; 2]>,
    uses: Uses,
    work: Prepared,
    profile: Option<Arc<Profile>>,
    node: Node,
    /// Since when it is held back.
    barrier: Option<Barrier>,
}

impl Later {
    fn go(mut self, failed: Option<Error>) {
        if let Some(error) = failed.or_else(|| resolve(&self.deps).failed) {
            return self.fail_behind(&error);
        }
        let on_host = self.work.is_host_task();
        let mut resolved = match on_host {
            true => resolve_on_host(&self.deps),
            false => resolve_in(&self.queue.context.0.native, &self.deps),
        };
        if on_host {
            self.barrier = None;
            if resolved.failed.is_none() && resolved.open.is_empty() {
                return run(Box::new(move || self.run_task()));
            }
        }
        let appended = match resolved.failed {
            None if !on_host => self.append(&mut resolved),
            _ => None,
        };
        let Some(appended) = appended else {
            if let Some(error) = resolved.failed {
                return self.fail_behind(&error);
            }
            // What it waited for is on a device now, but behind too many events, or for the host or another context.
            let ticket = Arc::clone(&self.ticket);
            let again = Box::new(|failed| self.go(failed));
            return when_closed(&resolved.open, &ticket, again);
        };
        match appended {
            Ok(dep) => {
                self.work.keep_until(dep, &self.queue);
                self.tell(|ticket| ticket.submitted(dep));
            }
            Err(error) => {
                self.queue.reports.push(error.clone());
                self.fail(&error);
            }
        }
    }

    /// Its place, unless it has to wait for what is open then.
    fn append(&mut self, resolved: &mut Resolved) -> Option<Result<Dep>> {
        if !resolved.open.is_empty() {
            return None;
        }
        let chosen = match self.queue.choose(&resolved.device) {
            Ok(Way::On(lane)) => lane,
            Ok(Way::Behind(work)) => {
                resolved.watch(&work);
                return None;
            }
            Err(error) => return Some(Err(error)),
        };
        self.barrier = None;
        let (after, work) = (&resolved.device, &mut self.work);
        Some(self.node.task(|| {
            let dep = append_profiled(chosen.lane, after, work, self.profile.clone())?;
            self.node.signal(|| native_of(dep));
            Ok(dep)
        }))
    }

    fn fail_behind(mut self, cause: &Error) {
        self.barrier = None;
        let error = Error::because("what the command depends on failed", cause);
        self.fail(&error);
    }

    fn run_task(mut self) {
        let waited = wait_for(&self.deps);
        let Some(task) = self.work.task.take() else {
            return;
        };
        let first = self.queue.lanes().next().and_then(|lane| lane.native());
        let context = TaskContext::new(
            &self.queue.context,
            &self.queue.device,
            first,
            std::mem::take(&mut self.work.pointers.0),
        );
        let node = &self.node;
        let run = || waited.and_then(|()| node.task(|| task.run(&context)));
        let ended = self.ticket.run(run);
        drop(context);
        match ended {
            Ok(()) => self.tell(Ticket::done),
            Err(error) => {
                self.queue.reports.push(error.clone());
                self.fail(&error);
            }
        }
    }

    /// Lets go of all before the end is told: who has waited for that and drops a queue or a buffer then is its last
    /// owner.
    fn tell(self, end: impl FnOnce(&Ticket)) {
        let Self {
            queue,
            ticket,
            uses,
            work,
            events,
            ..
        } = self;
        // What a task that did not run had captured may be a last handle: like one that runs, it must not wait for this
        // ticket, and its panic is no panic of who happens to be here.
        let let_go = AssertUnwindSafe(|| drop((uses, work, queue, events)));
        drop(ticket.run(|| catch_unwind(let_go)));
        end(&ticket);
    }

    /// What it should have written is lost.
    fn fail(self, error: &Error) {
        for entry in &self.uses {
            let mut state = entry.core.lock();
            for (_, list) in entry.lists() {
                state.lose(list, error);
            }
        }
        if self.queue.props.in_order {
            self.queue.reports.fails_behind(self.ticket.dep(), error);
        }
        self.tell(|ticket| ticket.fail(error));
    }
}
