//! The content of graphs: commands, recorded while command lists are in graph capture mode.
//!
//! A capture has branches: the primary list's, and one for each list that joined by waiting for an event of the
//! capture. A branch is a row of steps: commands, with references to events whose signal differs from one execution
//! of the graph to the next (*uses*). [`crate::core::executable_graph`] makes commands of them.

use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::event::Event;
use crate::schedule::{Command, Op};
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use ze_abi::Object;

/// A command of a graph.
pub(crate) struct Step {
    /// Its work, and the waits and signal that all executions share.
    pub(crate) command: Command,
    /// It waits for these uses.
    pub(crate) uses: Vec<usize>,
    /// It waits for the signals that these events have when an execution is appended.
    pub(crate) events: Vec<Arc<Event>>,
    /// It signals this use.
    pub(crate) gives: Option<usize>,
    /// Steps (branch, position) that it waits for.
    pub(crate) after: Vec<(usize, usize)>,
}

impl Step {
    fn copy(&self) -> Self {
        Self {
            command: self.command.copy(),
            uses: self.uses.clone(),
            events: self.events.clone(),
            gives: self.gives,
            after: self.after.clone(),
        }
    }

    fn works(&self) -> bool {
        matches!(self.command.op, Op::Work(_))
    }
}

/// The commands of one list.
pub(crate) struct Branch {
    /// Where it runs.
    pub(crate) context: Arc<Context>,
    /// Index of the device.
    pub(crate) device: usize,
    /// Its commands in order.
    pub(crate) steps: Vec<Step>,
}

/// The content of a graph.
#[derive(Default)]
pub(crate) struct Content {
    /// The first is the primary list's.
    pub(crate) branches: Vec<Branch>,
    /// Counter-based events that steps signal; `None` for events that only the graph uses.
    pub(crate) uses: Vec<Option<Arc<Event>>>,
    /// Events that steps have signalled, by address.
    marks: BTreeMap<usize, Mark>,
    /// Appended executable graphs, and the use that marks the end of the last execution.
    executed: BTreeMap<usize, (usize, (usize, usize))>,
}

/// Which step signals an event last.
struct Mark {
    /// Keeps the address from being reused.
    event: Arc<Event>,
    at: (usize, usize),
    given: Option<usize>,
}

fn key(event: &Event) -> usize {
    event.handle().addr()
}

/// Whether only the graph may use a counter-based event while it is captured.
pub(super) fn is_internal(event: &Event) -> bool {
    event
        .counter()
        .is_some_and(|counter| counter.flags() & ZE_EVENT_COUNTER_BASED_FLAG_GRAPH_EXTERNAL == 0)
}

impl Content {
    fn push(&mut self, branch: usize, step: Step) {
        self.branches[branch].steps.push(step);
    }

    /// Adds a step that only waits for `uses`, each with the step that signals it.
    fn gate(&mut self, branch: usize, uses: &[(usize, (usize, usize))]) {
        let step = Step {
            command: Command::empty(Vec::new(), true),
            uses: uses.iter().map(|(number, _)| *number).collect(),
            events: Vec::new(),
            gives: None,
            after: uses.iter().map(|(_, at)| *at).collect(),
        };
        self.push(branch, step);
    }

    /// Adds waits for events to a step.
    fn waits(&self, events: &[&Event], step: &mut Step) {
        for event in events {
            match self.marks.get(&key(event)) {
                Some(mark) => {
                    step.after.push(mark.at);
                    match mark.given {
                        Some(number) => step.uses.push(number),
                        None => step.command.waits.push(event.waited()),
                    }
                }
                None if event.counter().is_some() && !is_internal(event) => {
                    step.events.push(event.shared());
                }
                None => step.command.waits.push(event.waited()),
            }
        }
    }

    /// Makes `step`, which goes to the end of `branch`, signal `event`.
    fn signals(&mut self, event: Option<&Event>, branch: usize, step: &mut Step) {
        let Some(event) = event else { return };
        let given = if event.counter().is_some() {
            self.uses
                .push((!is_internal(event)).then(|| event.shared()));
            step.gives = Some(self.uses.len() - 1);
            step.gives
        } else {
            (step.command.signal, step.command.counts) = (Some(event.signalled().0), false);
            None
        };
        let mark = Mark {
            event: event.shared(),
            at: (branch, self.branches[branch].steps.len()),
            given,
        };
        self.marks.insert(key(event), mark);
    }

    /// Records the commands of one append: the first waits, the last signals.
    pub(crate) fn record(
        &mut self,
        branch: usize,
        commands: impl ExactSizeIterator<Item = Command>,
        dependencies: &Dependencies<'_>,
    ) {
        let last = commands.len().saturating_sub(1);
        for (i, command) in commands.enumerate() {
            let mut step = Step {
                command,
                uses: Vec::new(),
                events: Vec::new(),
                gives: None,
                after: Vec::new(),
            };
            if i == 0 {
                self.waits(dependencies.waits, &mut step);
            }
            if i == last {
                self.signals(dependencies.signal, branch, &mut step);
            }
            self.push(branch, step);
        }
    }

    /// Records the execution of another graph: its branches become branches here.
    pub(crate) fn inline(
        &mut self,
        branch: usize,
        which: usize,
        other: &Self,
        dependencies: &Dependencies<'_>,
    ) {
        let first_use = self.uses.len();
        self.uses.extend(other.uses.iter().cloned());
        let fresh = |uses: &mut Vec<Option<Arc<Event>>>| {
            uses.push(None);
            uses.len() - 1
        };
        let mut begin = Step {
            command: Command::empty(Vec::new(), true),
            uses: Vec::new(),
            events: Vec::new(),
            gives: Some(fresh(&mut self.uses)),
            after: Vec::new(),
        };
        self.waits(dependencies.waits, &mut begin);
        if let Some((number, at)) = self.executed.get(&which) {
            begin.uses.push(*number);
            begin.after.push(*at);
        }
        let started = (
            begin.gives.unwrap_or_default(),
            (branch, self.branches[branch].steps.len()),
        );
        self.push(branch, begin);
        // The place of each branch of the other graph, and the number of steps before its own.
        let mut places = vec![(branch, self.branches[branch].steps.len())];
        for other in &other.branches[1..] {
            self.branches.push(Branch {
                context: Arc::clone(&other.context),
                device: other.device,
                steps: Vec::new(),
            });
            places.push((self.branches.len() - 1, 1));
            self.gate(self.branches.len() - 1, &[started]);
        }
        let mut ends = Vec::new();
        for (part, (place, offset)) in other.branches.iter().zip(&places) {
            for step in &part.steps {
                let mut step = step.copy();
                step.uses.iter_mut().for_each(|number| *number += first_use);
                step.gives = step.gives.map(|number| number + first_use);
                for (b, position) in &mut step.after {
                    let (place, offset) = places[*b];
                    (*b, *position) = (place, *position + offset);
                }
                self.push(*place, step);
            }
            if *offset == 1 && *place != branch {
                let number = fresh(&mut self.uses);
                let at = (*place, self.branches[*place].steps.len());
                self.gate(*place, &[]);
                self.branches[*place].steps[at.1].gives = Some(number);
                ends.push((number, at));
            }
        }
        for mark in other.marks.values() {
            let (place, offset) = places[mark.at.0];
            let mark = Mark {
                event: Arc::clone(&mark.event),
                at: (place, mark.at.1 + offset),
                given: mark.given.map(|number| number + first_use),
            };
            if !is_internal(&mark.event) {
                self.marks.insert(key(&mark.event), mark);
            }
        }
        self.gate(branch, &ends);
        let at = (branch, self.branches[branch].steps.len());
        let number = fresh(&mut self.uses);
        self.gate(branch, &[]);
        self.branches[branch].steps[at.1].gives = Some(number);
        self.executed.insert(which, (number, at));
        let end = Command::empty(Vec::new(), true);
        let signal = Dependencies {
            signal: dependencies.signal,
            ..Dependencies::default()
        };
        self.record(branch, std::iter::once(end), &signal);
    }

    /// Whether a step signals `event`.
    pub(super) fn marks(&self, event: &Event) -> bool {
        self.marks.contains_key(&key(event))
    }

    /// Whether there is nothing to execute.
    pub(crate) fn is_empty(&self) -> bool {
        self.branches.iter().all(|branch| branch.steps.is_empty())
    }

    /// A branch whose work the primary list does not wait for, if there is one.
    pub(crate) fn unjoined(&self) -> Option<usize> {
        // How many steps of each branch are known to end before the graph does.
        let mut covered = vec![0; self.branches.len()];
        let mut next = vec![0; self.branches.len()];
        if let Some(primary) = self.branches.first() {
            covered[0] = primary.steps.len();
        }
        while let Some(b) = (0..next.len()).find(|&b| next[b] < covered[b]) {
            for (other, position) in &self.branches[b].steps[next[b]].after {
                covered[*other] = covered[*other].max(position + 1);
            }
            next[b] += 1;
        }
        (1..self.branches.len()).find(|&b| {
            let rest = &self.branches[b].steps[covered[b]..];
            covered[b] == 0 || rest.iter().any(Step::works)
        })
    }

    /// Drops internal events, because the capture has ended.
    pub(crate) fn close(&mut self) {
        self.marks.retain(|_, mark| !is_internal(&mark.event));
    }
}
