//! SYCL 2020 for Rust over Level Zero, with the hipSYCL buffer model.
//!
//! A [`Queue`] takes command groups. Accessors declare the parts of a [`Buffer`] that a group uses; the runtime copies
//! outdated data, orders groups that conflict and runs the others side by side. Kernels are SPIR-V, or Rust
//! ([`kernel`](mod@kernel)). The only backend is Level Zero: an installed loader, or the CPU driver inside the program
//! (feature `embedded`).
//!
//! ```no_run
//! use sycl::{Buffer, Queue, Read, WriteNoInit};
//! # fn main() -> sycl::Result<()> {
//! let queue = Queue::new()?;
//! let numbers: Buffer<i32, 1> = Buffer::from_slice(&[1, 2, 3], [3])?;
//! queue.submit(|cg| {
//!     let view = cg.access(&numbers, WriteNoInit)?;
//!     cg.fill(&view, 7)
//! })?;
//! let host = numbers.host_access(Read)?;
//! assert_eq!(host[2], 7);
//! # Ok(()) }
//! ```
//!
//! # Features
//!
//! | feature | on by default | effect |
//! |---|---|---|
//! | `embedded` | yes | The CPU driver and its compiler are in the program. Building needs LLVM 22's development package, or an installed `libsolum_codegen.so.1` of the same version of Solum, which the program then opens. |
//! | `driver` | with `embedded` | The CPU driver alone is in the program, and building needs no LLVM. It opens an installed `libsolum_codegen.so.1`. |
//! | `interop` | yes | Nothing: Level Zero's handles in and out are always there. The name is for crates that ask for it. |
//! | `xpti` | yes | Tools are told through XPTI about the program's work. Where none listens this costs a load and a branch. |
//! | `source-locations` | yes | Tools are told file, line and column of the submissions. |
//!
//! With `default-features = false` there is no driver inside: without an installed loader the list of platforms is empty.
//!
//! # Inside
//!
//! Modules, from the bottom up. There are no cycles; a few modules use single ones of a later line, such as USM's
//! pointers.
//! - Facts: `error`, `range`, `accessor`, `environment`, `log` (`SOLUM_SYCL_TRACE`), `process`, `registry` (handles
//!   that this runtime destroys), `leaks` (counts of objects), `trace::calls`, `ze` (all Level Zero calls).
//! - Devices: `platform`, [`info`]'s descriptors, `device`.
//! - `engine`: command lanes, pending commands, deferred release, user events, lost devices, transfer lanes.
//! - Contexts: `context`, `enumeration` (drivers and devices of the process), `selector`.
//! - Commands: `arguments`, `kernel_args`, `module`, `reflect`, `bundle`, `recorded_list`, `operation` (one append),
//!   `staging`.
//! - Data: `memory`, `image::native`, `reports`, `event`, `storage` (memories of a buffer or image), `transfer` (copies
//!   between them), `handle` (a user's handle of one), [`usm`].
//! - Command groups: `uses`, `host_task`, `group`, `queue_inner`, `group_command`, `submit`; `trace` reports them to
//!   tools.
//! - User objects: `buffer`, `image`, `host_accessor`, `handler`, `queue`, `graph`, `reduction`, `scope`, [`embedded`],
//!   [`kernel`](mod@kernel) (kernels in Rust), [`interop`].
//!
//! Invariants
//! - Work is submitted on the caller's thread, and a device waits only for work that was submitted before.
//! - Nothing of a submission is committed that no lane has taken; contents that a failed part may have written count as
//!   lost. Copies that were made for it stay.
//! - A buffer has one allocation in each memory, of the full size, from its first use there to its end.
//! - The program's code runs without locks. Tools are notified under the locks of their submission. No lock is common
//!   to all submissions.
//! - A dropped object lives on until the work that uses it has ended.
//!
//! Not here: streams, other backends.

// `kernels!` expands to names of this crate, also inside it.
extern crate self as sycl;

mod accessor;
mod arguments;
mod buffer;
mod bundle;
mod command_group;
mod context;
mod device;
pub mod embedded;
mod engine;
mod enumeration;
mod environment;
mod error;
mod event;
mod faults;
mod graph;
mod group_command;
mod handle;
mod handler;
mod host_accessor;
mod host_task;
mod image;
pub mod info;
pub mod interop;
pub mod kernel;
mod kernel_args;
mod leaks;
mod log;
mod memory;
mod module;
mod operation;
mod platform;
mod process;
mod queue;
mod queue_inner;
mod range;
mod recorded_list;
mod reduction;
mod reflect;
mod registry;
mod reports;
mod scope;
mod selector;
mod specialised;
mod staging;
mod storage;
mod submit;
mod trace;
mod transfer;
mod uses;
pub mod usm;
mod ze;

pub use accessor::{
    Accessor, HostTaskAccessor, LocalAccessor, Mode, Read, ReadWrite, ReadWriteNoInit, Write,
    WriteNoInit, Writes,
};
pub use arguments::{ArgSink, ArgumentKind};
pub use buffer::{Buffer, BufferOptions, UsmView};
pub use bundle::{
    BundleState, Executable, Input, Kernel, KernelBundle, KernelId, Object, SpecId, SpecValue,
};
pub use context::Context;
pub use device::{Aspect, Device, DeviceType, Partition};
pub use enumeration::use_entry;
pub use error::{AsyncHandler, Errc, Error, Result};
pub use event::{Event, EventStatus, Profiling};
pub use graph::{ExecutableGraph, Graph};
pub use handler::{Command, Handler};
pub use host_accessor::HostAccessor;
pub use host_task::{
    HostView, HostViewArg, HostViews, InteropHandle, NativeView, PlannedView, PlannedViews,
};
pub use image::{
    Addressing, ChannelOrder, ChannelType, Filtering, HostImage, HostImageAccessor, HostImageView,
    HostSampledImageAccessor, HostTaskImageAccessor, ImageAccessor, ImageFormat, ImageView,
    KernelTexel, ReadImage, SampledImage, Sampler, Texel, TexelKind, UnsampledImage, WriteImage,
};
pub use kernel_args::{AtOffset, KernelArg, KernelArgs, Launch, Val};
pub use kernel_builder::f16;
pub use kernel_builder::vectors::*;
pub use kernel_builder::{BitAnd, BitOr, BitXor, Maximum, Minimum, Multiplies, Plus};
pub use kernel_builder::{
    Group, Item, Local, SubGroup, Vector, atomic, barrier, group, item, local, math, sub_group,
};
pub use platform::{Backend, Platform};
pub use queue::{Priority, Queue, QueueBuilder, QueueProps, Submission};
pub use range::{DeviceData, Dim, Id, NdRange, Range, SupportedDim};
pub use reduction::{Number, Operation, Reduction};
pub use scope::QueueScope;
pub use selector::{
    AcceleratorSelector, AspectSelector, CpuSelector, DefaultSelector, FilterSelector, GpuSelector,
    Selector,
};
pub use specialised::spec_constant;
pub use sycl_macros::{Device, device, kernel, kernels};

/// Prints from a kernel, with Rust's formats: `sycl::print!("{i}: {:.3}\n", x[i])`.
///
/// Numbers, characters, `bool` and vectors can be printed, with a width, a side, a sign, zeros, digits after the point, in
/// hexadecimal, or with an exponent. On a device floating-point numbers without digits are printed with six, as C's `%g`, and
/// exponents as C's `%e`; the lines appear when the driver writes them.
#[macro_export]
macro_rules! print {
    ($($arguments:tt)*) => { ::std::print!($($arguments)*) };
}

/// The samples of the page that a registry shows compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
