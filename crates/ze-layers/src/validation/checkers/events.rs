//! Event checks: events that wait for themselves, that two commands signal, or that no command signals. They are
//! reported when a command is appended or submitted, before the program hangs.
//!
//! Each command that waits for events or signals one is kept until its event is reset, until the program has seen it
//! complete (a successful wait or query), or until its list is reset or destroyed. A command follows those that signal
//! the events it waits for, and in an in-order list the previous one. These checks never change a result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use level_zero_sys::*;

use crate::generated::FUNCTIONS;
use crate::generated::kinds::EVENT;
use crate::validation::finding::{Finding, Severity};
use crate::validation::lifetime;
use crate::value::function;

/// How a function uses events, by parameter index.
#[derive(Clone, Copy, Default)]
struct Role {
    list: Option<usize>,
    signal: Option<usize>,
    /// Count, array.
    waits: Option<(usize, usize)>,
}

/// A command, or a signal from the host, that the checker keeps.
struct Action {
    function: &'static str,
    list: u64,
    waits: Vec<u64>,
    signal: Option<u64>,
    /// The previous command in an in-order list.
    before: Option<u64>,
}

#[derive(Default)]
struct Event {
    /// The action that signals it.
    by: Option<u64>,
    /// Signalled by the host.
    set: bool,
    /// May be signalled again without a reset, or by another process.
    shared: bool,
}

#[derive(Default)]
struct List {
    in_order: bool,
    immediate: bool,
    actions: Vec<u64>,
}

struct Graph {
    actions: BTreeMap<u64, Action>,
    events: BTreeMap<u64, Event>,
    lists: BTreeMap<u64, List>,
    last: u64,
    /// Reported outside the lock, because the sink may call Level Zero.
    pending: Vec<Finding>,
}

static GRAPH: Mutex<Graph> = Mutex::new(Graph {
    actions: BTreeMap::new(),
    events: BTreeMap::new(),
    lists: BTreeMap::new(),
    last: 0,
    pending: Vec::new(),
});

/// The most actions that are kept; the oldest are dropped.
const MOST: usize = 100_000;

fn graph() -> MutexGuard<'static, Graph> {
    GRAPH.lock().unwrap_or_else(PoisonError::into_inner)
}

fn role(index: usize) -> Role {
    static ROLES: OnceLock<Vec<Role>> = OnceLock::new();
    let roles = ROLES.get_or_init(|| {
        (0..FUNCTIONS)
            .map(|index| {
                let function = function(index);
                let place = |name: &str| function.params.iter().position(|p| p.name == name);
                let waits = ["phWaitEvents", "phEvents"].iter().find_map(|name| {
                    let array = place(name)?;
                    Some((place(function.params[array].count?)?, array))
                });
                let signal = place("hSignalEvent").or_else(|| {
                    (function.name == "zeCommandListAppendSignalEvent")
                        .then(|| place("hEvent"))
                        .flatten()
                });
                Role {
                    list: place("hCommandList").or_else(|| place("hCommandListImmediate")),
                    signal,
                    waits,
                }
            })
            .collect()
    });
    roles.get(index).copied().unwrap_or_default()
}

/// The handles of an array, up to the first null: a wrong count takes no memory for missing handles.
///
/// # Safety
/// `address` is null or leads to `count` handles.
unsafe fn handles(address: u64, count: u64) -> Vec<u64> {
    let (Ok(address), Ok(count)) = (usize::try_from(address), usize::try_from(count)) else {
        return Vec::new();
    };
    let mut handles = Vec::new();
    if address == 0 {
        return handles;
    }
    let first = std::ptr::with_exposed_provenance::<u64>(address);
    for place in 0..count {
        // SAFETY: guaranteed by the caller.
        let handle = unsafe { *first.add(place) };
        if handle == 0 || handles.try_reserve(1).is_err() {
            break;
        }
        handles.push(handle);
    }
    handles
}

fn event_name(event: u64) -> String {
    let origin = usize::try_from(event)
        .ok()
        .and_then(|address| lifetime::origin_of(EVENT, address));
    origin.map_or_else(
        || format!("event {event:#x}"),
        |origin| format!("event {event:#x} {origin}"),
    )
}

fn warning(index: usize, event: u64, rule: String) -> Finding {
    let created = usize::try_from(event)
        .ok()
        .and_then(|address| lifetime::origin_of(EVENT, address));
    Finding::new(Severity::Warning, "events", rule)
        .of(index)
        .named("event", format!("{event:#x}"))
        .created(created)
}

/// Runs on the graph, then reports the findings.
fn with_graph(work: impl FnOnce(&mut Graph)) {
    let mut graph = graph();
    work(&mut graph);
    let pending = std::mem::take(&mut graph.pending);
    drop(graph);
    for finding in pending {
        finding.report();
    }
}

/// Checks a call before it is made.
///
/// # Safety
/// `arguments` are those of a call of this function that is about to be made.
pub(super) unsafe fn before(index: usize, arguments: &[u64]) {
    let argument = |place: usize| arguments.get(place).copied().unwrap_or(0);
    let role = role(index);
    let name = function(index).name;
    match name {
        "zeEventHostSignal" => {
            return with_graph(|graph| graph.append(index, 0, Vec::new(), Some(argument(0))));
        }
        "zeEventHostReset" => return with_graph(|graph| graph.reset(argument(0))),
        "zeCommandListAppendEventReset" => return with_graph(|graph| graph.reset(argument(1))),
        "zeEventHostSynchronize" if argument(1) == u64::MAX => {
            return with_graph(|graph| {
                if graph.is_never_signalled(argument(0)) {
                    let rule = "the wait has no timeout, and no command signals the event";
                    graph.pending.push(warning(index, argument(0), rule.into()));
                }
            });
        }
        "zeCommandQueueExecuteCommandLists" => {
            // SAFETY: guaranteed by the caller.
            let lists = unsafe { handles(argument(2), argument(1)) };
            return submit(index, &lists);
        }
        _ => {}
    }
    let list = role.list.map_or(0, argument);
    let signal = role.signal.map(argument).filter(|event| *event != 0);
    let waits = role.waits.map_or_else(Vec::new, |(count, array)| {
        // SAFETY: guaranteed by the caller.
        unsafe { handles(argument(array), argument(count) & u64::from(u32::MAX)) }
    });
    if list == 0 || (signal.is_none() && waits.is_empty()) {
        return;
    }
    with_graph(|graph| {
        let immediate = graph.lists.get(&list).is_some_and(|list| list.immediate);
        let never: Vec<u64> = waits
            .iter()
            .copied()
            .filter(|event| graph.is_never_signalled(*event))
            .collect();
        graph.append(index, list, waits, signal);
        // An immediate list is submitted with the append.
        for event in never.into_iter().filter(|_| immediate) {
            graph.pending.push(warning(index, event, never_text()));
        }
    });
}

fn never_text() -> String {
    "the command waits for an event that no command signals; only zeEventHostSignal can end the wait".into()
}

fn submit(index: usize, lists: &[u64]) {
    with_graph(|graph| {
        let lists = lists.iter().filter_map(|list| graph.lists.get(list));
        let actions = lists
            .flat_map(|list| &list.actions)
            .filter_map(|action| graph.actions.get(action));
        let never: BTreeSet<u64> = actions
            .flat_map(|action| &action.waits)
            .copied()
            .filter(|event| graph.is_never_signalled(*event))
            .collect();
        for event in never {
            graph.pending.push(warning(index, event, never_text()));
        }
    });
}

/// Records objects that a call has created, destroyed, or found complete.
///
/// # Safety
/// `arguments` are those of a call of this function that has succeeded.
pub(super) unsafe fn after(index: usize, arguments: &[u64]) {
    let argument = |place: usize| arguments.get(place).copied().unwrap_or(0);
    let written = |place: usize| {
        // SAFETY: by the caller's contract the call wrote a handle to this argument.
        unsafe { handles(argument(place), 1) }
            .first()
            .copied()
            .unwrap_or(0)
    };
    let mut graph = graph();
    match function(index).name {
        "zeEventCreate" => graph.born(written(2), false),
        "zeEventCounterBasedCreate" => graph.born(written(3), true),
        "zeEventCounterBasedOpenIpcHandle" => graph.born(written(2), true),
        "zeEventDestroy" | "zeEventCounterBasedCloseIpcHandle" => {
            graph.reset(argument(0));
            graph.events.remove(&argument(0));
        }
        "zeEventHostSynchronize" | "zeEventQueryStatus" => {
            if let Some(action) = graph.events.get(&argument(0)).and_then(|event| event.by) {
                graph.done(action);
            }
        }
        "zeCommandListCreate" | "zeCommandListCreateImmediate" => {
            let immediate = function(index).name.ends_with("Immediate");
            let desc = usize::try_from(argument(2)).unwrap_or(0);
            // SAFETY: by the caller's contract the call read a descriptor of this type there.
            let in_order = unsafe {
                if immediate {
                    let desc =
                        std::ptr::with_exposed_provenance::<ze_command_queue_desc_t>(desc).as_ref();
                    desc.is_some_and(|desc| desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER != 0)
                } else {
                    let desc =
                        std::ptr::with_exposed_provenance::<ze_command_list_desc_t>(desc).as_ref();
                    desc.is_some_and(|desc| desc.flags & ZE_COMMAND_LIST_FLAG_IN_ORDER != 0)
                }
            };
            let list = List {
                in_order,
                immediate,
                actions: Vec::new(),
            };
            graph.lists.insert(written(3), list);
        }
        "zeCommandListReset" | "zeCommandListHostSynchronize" => graph.empty(argument(0)),
        "zeCommandListDestroy" => {
            graph.empty(argument(0));
            graph.lists.remove(&argument(0));
        }
        _ => {}
    }
}

impl Graph {
    fn born(&mut self, event: u64, shared: bool) {
        self.reset(event);
        self.events.insert(
            event,
            Event {
                shared,
                ..Event::default()
            },
        );
    }

    /// Whether the event was created here and is not used by the host or a command yet.
    fn is_never_signalled(&self, event: u64) -> bool {
        self.events
            .get(&event)
            .is_some_and(|event| event.by.is_none() && !event.set && !event.shared)
    }

    /// The event is no longer signalled: it is detached from the actions that signalled it or waited for it.
    fn reset(&mut self, event: u64) {
        let by = self.events.get_mut(&event).and_then(|event| {
            event.set = false;
            event.by.take()
        });
        if let Some(action) = by {
            self.forget(action);
        }
        for action in self.actions.values_mut() {
            action.waits.retain(|wait| *wait != event);
        }
    }

    fn forget(&mut self, number: u64) {
        let list = self.actions.remove(&number).map(|action| action.list);
        if let Some(list) = list.and_then(|list| self.lists.get_mut(&list)) {
            list.actions.retain(|other| *other != number);
        }
    }

    /// The action is complete, and so are all that it follows.
    fn done(&mut self, number: u64) {
        let mut open = vec![number];
        while let Some(number) = open.pop() {
            if let Some(action) = self.actions.get(&number) {
                open.extend(self.after(action));
                self.forget(number);
            }
        }
    }

    fn empty(&mut self, list: u64) {
        let actions = self
            .lists
            .get_mut(&list)
            .map(|list| std::mem::take(&mut list.actions));
        for number in actions.unwrap_or_default() {
            self.actions.remove(&number);
        }
    }

    /// The actions that an action follows.
    fn after<'g>(&'g self, action: &'g Action) -> impl Iterator<Item = u64> + 'g {
        let signals = action
            .waits
            .iter()
            .filter_map(|event| self.events.get(event)?.by);
        signals.chain(action.before)
    }

    fn append(&mut self, index: usize, list: u64, waits: Vec<u64>, signal: Option<u64>) {
        self.last += 1;
        let number = self.last;
        for event in waits.iter().chain(&signal) {
            if !self.events.contains_key(event) {
                self.pending.push(warning(
                    index,
                    *event,
                    "the event's creation was not seen; it might be an invalid event".into(),
                ));
            }
        }
        let before = self
            .lists
            .get(&list)
            .filter(|list| list.in_order)
            .and_then(|list| list.actions.last().copied());
        if let Some(signal) = signal {
            let event = self.events.entry(signal).or_default();
            let former = event.by.replace(number);
            let twice = (former.is_some() || event.set) && !event.shared;
            event.set |= list == 0;
            if twice {
                let former = former
                    .and_then(|former| self.actions.get(&former))
                    .map_or("the host", |action| action.function);
                self.pending.push(warning(
                    index,
                    signal,
                    format!("the event is signalled again without a reset since {former}"),
                ));
            }
        }
        self.actions.insert(
            number,
            Action {
                function: function(index).name,
                list,
                waits,
                signal,
                before,
            },
        );
        if list != 0 {
            self.lists.entry(list).or_default().actions.push(number);
        }
        if let Some(path) = self.path(number) {
            self.deadlock(index, &path);
        }
        while self.actions.len() > MOST {
            let Some(oldest) = self.actions.keys().next().copied() else {
                break;
            };
            self.forget(oldest);
        }
    }

    /// The path from an action along its predecessors back to itself.
    fn path(&self, start: u64) -> Option<Vec<u64>> {
        let mut seen = BTreeSet::new();
        // Each with the index in `from` of its successor.
        let mut from: Vec<(u64, Option<usize>)> = vec![(start, None)];
        let mut next = 0;
        while let Some((number, _)) = from.get(next).copied() {
            let after: Vec<u64> = self
                .actions
                .get(&number)
                .map_or_else(Vec::new, |action| self.after(action).collect());
            for other in after {
                if other == start {
                    let mut path = Vec::new();
                    let mut at = Some(next);
                    while let Some(place) = at {
                        path.push(from[place].0);
                        at = from[place].1;
                    }
                    return Some(path);
                }
                if seen.insert(other) {
                    from.push((other, Some(next)));
                }
            }
            next += 1;
        }
        None
    }

    fn deadlock(&mut self, index: usize, path: &[u64]) {
        let mut rule = String::from(
            "Warning: There may be a potential event deadlock! The command waits for itself: ",
        );
        for (place, action) in path
            .iter()
            .filter_map(|number| self.actions.get(number))
            .enumerate()
        {
            let between = if place == 0 { "" } else { ", then " };
            write!(rule, "{between}{}", action.function).ok();
            if let Some(event) = action.signal {
                write!(rule, " signals {}", event_name(event)).ok();
            }
        }
        self.pending
            .push(Finding::new(Severity::Warning, "events", rule).of(index));
    }
}
