//! The events that an append waits for, and the one that it signals.

use crate::core::event::Event;
use crate::schedule::{Command, Op, Signal};
use std::sync::Arc;
use ze_abi::{Handle, Handles, OptHandle};

/// The dependencies of an append.
#[derive(Default)]
pub(crate) struct Dependencies<'a> {
    /// Signalled at the end.
    pub(crate) signal: Option<&'a Event>,
    /// Waited for at the start.
    pub(crate) waits: &'a [&'a Event],
    /// All earlier commands must have finished.
    pub(crate) drain: bool,
    /// Waited for too; captured lists have none.
    pub(crate) condition: Option<Arc<Signal>>,
}

impl<'a> Dependencies<'a> {
    /// From the last parameters of most appends.
    pub(crate) fn new(signal: &OptHandle<'a, Event>, waits: &'a Handles<'a, Event>) -> Self {
        Self {
            signal: signal.0.map(Handle::get),
            waits: waits.get(),
            ..Self::default()
        }
    }

    /// The same, after all earlier commands.
    pub(crate) fn draining(self) -> Self {
        Self {
            drain: true,
            ..self
        }
    }

    /// The signals to wait for, and the signal to set with whether it counts.
    fn links(&self) -> Links {
        // Waits first: a counter-based event may be both waited for and signalled again.
        let mut waits: Vec<_> = self.waits.iter().map(|event| event.waited()).collect();
        waits.extend(self.condition.iter().map(Arc::clone));
        (waits, self.signal.map(Event::signalled))
    }

    /// One command with these dependencies.
    pub(super) fn command(&self, op: Op, drain: bool) -> Arc<Command> {
        let (waits, signal) = self.links();
        let (signal, counts) = signal.unzip();
        Arc::new(Command {
            op,
            waits,
            signal,
            drain,
            counts: counts.unwrap_or(false),
        })
    }

    /// Commands of which the first waits and the last signals.
    pub(super) fn commands(
        &self,
        ops: impl ExactSizeIterator<Item = Op>,
        in_order: bool,
    ) -> impl Iterator<Item = Arc<Command>> {
        let last = ops.len().saturating_sub(1);
        let drain_first = self.drain;
        let (mut waits, signal) = self.links();
        ops.enumerate().map(move |(i, op)| {
            let (signal, counts) = match &signal {
                Some((signal, counts)) if i == last => (Some(Arc::clone(signal)), *counts),
                _ => (None, false),
            };
            // The signal comes after all of them.
            let gather = i == last && i > 0 && signal.is_some();
            Arc::new(Command {
                op,
                waits: std::mem::take(&mut waits),
                signal,
                drain: in_order || (drain_first && i == 0) || gather,
                counts,
            })
        })
    }
}

type Links = (Vec<Arc<Signal>>, Option<(Arc<Signal>, bool)>);
