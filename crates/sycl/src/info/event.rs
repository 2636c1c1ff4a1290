//! Descriptors of events.

use super::descriptor::{Info, descriptors};
use crate::error::Result;
use crate::event::{Event, EventStatus};

descriptors! { Event;
    /// The state of the work.
    CommandExecutionStatus: EventStatus = |it| Ok(it.status());
}
/// Descriptors of events of queues with profiling; each waits for the work.
pub mod profiling {
    use crate::event::Event;
    use crate::info::descriptor::descriptors;
    descriptors! { Event;
        /// When the command was submitted, in nanoseconds.
        CommandSubmit: u64 = |it| Ok(it.profiling()?.submit_ns);
        /// When it began.
        CommandStart: u64 = |it| Ok(it.profiling()?.start_ns);
        /// When it ended.
        CommandEnd: u64 = |it| Ok(it.profiling()?.end_ns);
    }
}

impl Event {
    /// Returns a property.
    ///
    /// # Errors
    /// See the descriptor.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }
}
