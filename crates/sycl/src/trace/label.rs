//! Names of commands, and reasons for deferring one.

use crate::arguments::Arguments;
use crate::device::Device;
use crate::operation::{Shape, UsedMemory};

/// A command's name and kernel.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "xpti"),
    expect(dead_code, reason = "only tools read it")
)]
pub(crate) struct Label<'a> {
    pub(crate) name: &'a str,
    /// A kernel of the program and its arguments.
    pub(crate) kernel: Option<(&'a Shape, &'a Arguments)>,
    /// Whether the command only moves memory.
    pub(crate) transfer: bool,
    /// USM that the command reads or writes.
    pub(crate) memory: Option<UsedMemory>,
}

/// A new queue, for tools; addresses stand for handles.
#[cfg_attr(
    not(feature = "xpti"),
    expect(dead_code, reason = "only tools read it")
)]
pub(crate) struct NewQueue<'a> {
    pub(crate) device: &'a Device,
    pub(crate) in_order: bool,
    pub(crate) context: usize,
    /// The queue's own handle.
    pub(crate) handle: &'a dyn Fn() -> usize,
}

/// Why a command is deferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    HostAccessor,
    HostTask,
    /// Work that the command's context cannot wait for.
    Elsewhere,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::HostAccessor => "a host accessor",
            Self::HostTask => "a host task",
            Self::Elsewhere => "work of another context",
        })
    }
}
