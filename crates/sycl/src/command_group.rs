//! A command group's accesses, dependencies and command, as its handler collects them.

use std::sync::Arc;

use smallvec::SmallVec;
use sycl_graph::Access;

use crate::arguments::Arguments;
use crate::bundle::SpecValues;
use crate::event::Event;
use crate::faults::LaunchRecords;
use crate::host_task::Task;
use crate::operation::{Operation, Region, Shape};
use crate::recorded_list::RecordedList;
use crate::staging::Staging;
use crate::storage::{BufferCore, TargetMemory};

/// One command group.
#[derive(Default)]
pub(crate) struct Group {
    pub(crate) records: SmallVec<[Record; 4]>,
    pub(crate) events: SmallVec<[Event; 2]>,
    /// Whether the command follows all work of the queue.
    pub(crate) follows_all: bool,
    pub(crate) constants: SpecValues,
    pub(crate) action: Option<Action>,
    /// The arguments of a launch, filled and used in place.
    pub(crate) arguments: Arguments,
    /// The records of kernels that report faults.
    pub(crate) faults: LaunchRecords,
}

/// One accessor.
pub(crate) struct Record {
    pub(crate) core: Arc<BufferCore>,
    pub(crate) accesses: SmallVec<[Access; 1]>,
    /// The byte in the core's memory where the accessor's buffer begins.
    pub(crate) first_byte: usize,
    pub(crate) target: TargetMemory,
    /// The byte range from the first to the last element, for host views.
    pub(crate) bytes: (usize, usize),
    pub(crate) writes: bool,
}

impl Record {
    /// Copies the record for another submission.
    pub(crate) fn again(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            accesses: self.accesses.clone(),
            first_byte: self.first_byte,
            target: self.target,
            bytes: self.bytes,
            writes: self.writes,
        }
    }
}

/// The group's command.
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for each group, in place"
)]
pub(crate) enum Action {
    /// With the group's arguments.
    Launch(Shape),
    /// Between two accessors; the region's pointers are offsets from their memories.
    Copy {
        source: u32,
        target: u32,
        region: Box<Region>,
    },
    /// Byte ranges of an accessor's memory.
    Fill {
        target: u32,
        pattern: SmallVec<[u8; 16]>,
        runs: Vec<(usize, usize)>,
    },
    /// As `Fill`, by copies of a repeated pattern.
    StagedFill {
        target: u32,
        staged: Staging,
        runs: Vec<(usize, usize)>,
    },
    /// Operations with their own pointers, and an owner of memory that lives as long as they run.
    Operations(
        SmallVec<[Operation; 1]>,
        Option<Box<dyn std::any::Any + Send>>,
    ),
    HostTask(Task),
    /// A recorded graph.
    Replay(Arc<RecordedList>),
}
