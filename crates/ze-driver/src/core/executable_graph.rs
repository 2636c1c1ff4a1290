//! The executable graph object: a graph's commands, which can be executed any number of times.
//!
//! An executable graph has its own signals for the counter-based events inside, and its own lanes for all branches
//! except the primary one, which goes to the list that the graph is appended to.

use crate::check::lock;
use crate::core::dependencies::Dependencies;
use crate::core::graph::Graph;
use crate::core::graph_content::{Content, Step};
use crate::core::object;
use crate::device::Priority;
use crate::dispatch;
use crate::schedule::{Command, CommandLane, Signal};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::Head;

/// A graph ready for execution.
#[repr(C)]
pub(crate) struct ExecutableGraph {
    head: Head,
    pub(super) source: Arc<Graph>,
    pub(super) content: Arc<Content>,
    pub(super) like: (u32, ze_command_queue_mode_t),
    /// A lane for each branch but the first.
    lanes: Vec<Arc<CommandLane>>,
    /// Signals of the uses that only the graph has.
    own: Vec<Option<Arc<Signal>>>,
    /// Commands by branch; empty for branches that each execution creates again.
    pub(super) commands: Vec<Vec<Option<Arc<Command>>>>,
    begin: Arc<Signal>,
    ends: Vec<Arc<Signal>>,
    /// Set when the last appended execution is over.
    last: Mutex<Option<Arc<Signal>>>,
}
object!(
    ExecutableGraph,
    _ze_executable_graph_handle_t,
    b"ZeEg",
    "executable graph"
);

/// The command of a step, with the signals of its uses.
fn command(step: &Step, uses: &[Option<Arc<Signal>>]) -> Command {
    let mut command = step.command.copy();
    let signal = |number: usize| uses.get(number).cloned().flatten();
    command
        .waits
        .extend(step.uses.iter().filter_map(|number| signal(*number)));
    command
        .waits
        .extend(step.events.iter().map(|event| event.waited()));
    if let Some(signal) = step.gives.and_then(signal) {
        (command.signal, command.counts) = (Some(signal), true);
    }
    command
}

impl ExecutableGraph {
    pub(super) fn new(source: Arc<Graph>, content: Arc<Content>) -> Self {
        let own: Vec<_> = content
            .uses
            .iter()
            .map(|event| event.is_none().then(Signal::counter))
            .collect();
        let is_fixed = |step: &Step| {
            let mut uses = step.uses.iter().chain(&step.gives);
            step.events.is_empty() && uses.all(|number| own[*number].is_some())
        };
        let commands = content
            .branches
            .iter()
            .map(|branch| {
                let steps = branch.steps.iter();
                steps
                    .map(|step| is_fixed(step).then(|| Arc::new(command(step, &own))))
                    .collect()
            })
            .collect();
        let forks = content.branches.get(1..).unwrap_or_default();
        let lanes: Vec<_> = forks
            .iter()
            .map(|branch| CommandLane::new(&branch.context, branch.device, Priority::Normal))
            .collect();
        let like = lock(&source.state).like;
        Self {
            head: Head::new::<Self>(dispatch::tables()),
            like,
            ends: lanes.iter().map(|_| Signal::counter()).collect(),
            lanes,
            own,
            commands,
            begin: Signal::counter(),
            last: Mutex::new(None),
            source,
            content,
        }
    }

    /// The commands of one more execution, by branch.
    fn execution(&self) -> Vec<Vec<Arc<Command>>> {
        let mut uses = self.own.clone();
        for (slot, event) in uses.iter_mut().zip(&self.content.uses) {
            if let Some(event) = event {
                *slot = Some(event.signalled().0);
            }
        }
        let branches = self.commands.iter().zip(&self.content.branches);
        branches
            .map(|(fixed, branch)| {
                let steps = fixed.iter().zip(&branch.steps);
                steps
                    .map(|(fixed, step)| match fixed {
                        Some(command) => Arc::clone(command),
                        None => Arc::new(command(step, &uses)),
                    })
                    .collect()
            })
            .collect()
    }

    pub(super) fn append(
        &self,
        lane: &Arc<CommandLane>,
        in_order: bool,
        dependencies: &Dependencies<'_>,
    ) -> u64 {
        let mut last = lock(&self.last);
        let mut waits: Vec<_> = dependencies
            .waits
            .iter()
            .map(|event| event.waited())
            .collect();
        waits.extend(last.iter().cloned());
        let mut branches = self.execution().into_iter();
        let over = Signal::counter();
        let mut primary = vec![Arc::new(
            Command::empty(waits, in_order).signalling(Some((Arc::clone(&self.begin), true))),
        )];
        primary.extend(branches.next().unwrap_or_default());
        let end = Command::empty(self.ends.clone(), true);
        primary.push(Arc::new(end.signalling(Some((Arc::clone(&over), true)))));
        if let Some(event) = dependencies.signal {
            let end = Command::empty(Vec::new(), true);
            primary.push(Arc::new(end.signalling(Some(event.signalled()))));
        }
        let forks: Vec<Vec<_>> = branches
            .zip(&self.ends)
            .map(|(commands, end)| {
                let begin = Command::empty(vec![Arc::clone(&self.begin)], true);
                let end =
                    Command::empty(Vec::new(), true).signalling(Some((Arc::clone(end), true)));
                std::iter::once(Arc::new(begin))
                    .chain(commands)
                    .chain([Arc::new(end)])
                    .collect()
            })
            .collect();
        let mut parts: Vec<(&Arc<CommandLane>, &[Arc<Command>])> = vec![(lane, &primary)];
        parts.extend(
            self.lanes
                .iter()
                .zip(&forks)
                .map(|(lane, commands)| (lane, commands.as_slice())),
        );
        let number = CommandLane::push_together(&parts);
        *last = Some(over);
        number
    }
}
