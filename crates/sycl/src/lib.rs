//! SYCL 2020 for Rust over Level Zero, with the hipSYCL buffer model.
//!
//! Queues take command groups; what a group needs of a [`Buffer`] it says with accessors, and the runtime copies what is
//! outdated, orders what conflicts and runs the rest side by side. Kernels are SPIR-V. The only backend is Level Zero:
//! an installed loader, or the CPU driver inside the program (feature `embedded`).
//!
//! Rooms: [`platform`](Platform), [`device`](Device), [`context`](Context) and [`info`] say what there is;
//! [`queue`](Queue), `handler`, `group`, `submit` are a command group's way; `lane` is a command list in order with its
//! events, `pending command` what waits for the host, `deferred release` what is freed later; `buffer`, `image`, `storage`, `transfer`,
//! `memory` hold data; `module` is device code that is built; `trace` tells XPTI, `leaks` counts what is made and
//! destroyed, `log` says what happens, `exit` lets work end that nobody waited for; [`usm`], [`kernel`](KernelBundle), [`host_task`](HostView) and [`event`](Event)
//! are SYCL's own.
//!
//! Invariants
//! - Work is submitted on the caller's thread, and a device only ever waits for work that was submitted before.
//! - Nothing of a submission is committed before it has succeeded; a buffer has one allocation in each memory, of the
//!   full size, from its first use there to its end.
//! - No lock is held while anybody else's code runs, and there is no lock that all submissions take.
//! - Whatever is dropped lives on until the work that uses it has ended.
//!
//! Not here: closures as device code, streams, other backends.

// What `kernels!` expands to names this crate, also inside it.
extern crate self as sycl;

mod accessor;
mod arguments;
mod buffer;
mod context;
mod device;
pub mod embedded;
mod engine;
mod enumeration;
mod environment;
mod error;
mod event;
mod graph;
mod group;
mod group_command;
mod handle;
mod handler;
mod host_accessor;
mod host_task;
mod image;
pub mod info;
pub mod interop;
mod kernel;
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
    Addressing, ChannelOrder, ChannelType, Filtering, HostImageAccessor, HostImageView,
    HostSampledImageAccessor, HostTaskImageAccessor, ImageAccessor, ImageFormat, ImageView,
    SampledImage, Sampler, Texel, TexelKind, UnsampledImage,
};
pub use kernel::{
    BundleState, Executable, Input, Kernel, KernelBundle, KernelId, Object, SpecId, SpecValue,
};
pub use kernel_args::{AtOffset, KernelArg, KernelArgs, Launch, Val};
pub use platform::{Backend, Platform};
pub use queue::{Priority, Queue, QueueBuilder, QueueProps, Submission};
pub use range::{DeviceData, Dim, Id, NdRange, Range, SupportedDim};
pub use reduction::{
    BitAnd, BitOr, BitXor, Maximum, Minimum, Multiplies, Number, Operation, Plus, Reduction,
};
pub use scope::QueueScope;
pub use selector::{
    AcceleratorSelector, AspectSelector, CpuSelector, DefaultSelector, FilterSelector, GpuSelector,
    Selector,
};
pub use sycl_macros::kernels;
