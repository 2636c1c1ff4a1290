//! Level Zero for Rust: safe where types can make it so, thin everywhere (as ash is for Vulkan).
//!
//! [`Loader::open`] finds `libze_loader.so.1` (Solum's or anyone's); [`Loader::from_entry`] takes a driver that is
//! linked into the program. From there: [`Driver`], [`Device`], [`Context`], memory, command queues and lists,
//! events, fences, modules and kernels, each an owned value that keeps its parents alive and is destroyed when
//! dropped.
//!
//! Invariants
//! - A handle lives as long as the value that wraps it; a parent is destroyed after its last child.
//! - An error carries the function, the code's name and the driver's last-error text.
//! - A function whose safety the types cannot ensure is `unsafe` and names its contract: memory that a recorded command uses
//!   must outlive the command.
//!
//! Modules, from the bottom up; each uses only those before it: `error`, `tables` (functions), `driver`, `loader`,
//! `context`, `event`, `memory`, `module`, `command`. Constructors of a context's children stand with the children.
//!
//! Non-goals: no scheduling, no buffers that move themselves (that is `sycl`), no copy of the driver's checks.
//!
//! ```no_run
//! use level_zero::{Allocation, Loader};
//! # fn main() -> level_zero::Result<()> {
//! let driver = Loader::open()?.drivers()?.remove(0);
//! let device = driver.devices()?.remove(0);
//! let context = driver.create_context()?;
//! let mut memory = context.allocate_shared::<u32>(&device, 1024)?;
//! let mut list = context.create_immediate_list(&device, Default::default())?;
//! // `memory` outlives the fill: it is waited for below.
//! unsafe { list.append_fill(memory.as_mut_ptr(), &7u32.to_le_bytes(), memory.size_bytes(), None, &[])? };
//! list.synchronize(u64::MAX)?;
//! assert!(memory.as_slice().iter().all(|&word| word == 7));
//! # Ok(()) }
//! ```

mod command;
mod context;
mod driver;
mod error;
mod event;
mod loader;
mod memory;
mod module;
mod tables;

pub use command::{CommandList, CommandQueue, Fence, ListOptions, QueueMode};
pub use context::Context;
pub use driver::{Device, DeviceKind, DeviceProperties, Driver};
pub use error::{Error, Result};
pub use event::{Event, EventPool, KernelTimestamps};
pub use level_zero_sys as sys;
pub use loader::{Entry, Loader};
pub use memory::{Allocation, DeviceMemory, HostMemory, MemoryType, Plain, SharedMemory};
pub use module::{Kernel, Module, ModuleSource};
pub use tables::Tables;

/// The samples of the page that a registry shows compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
