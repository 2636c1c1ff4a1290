//! Command queues, command lists, fences.

use std::sync::Arc;

use level_zero_sys::*;

use crate::context::Context;
use crate::driver::Device;
use crate::error::{Error, Result};
use crate::event::{Event, ready};
use crate::module::Kernel;

/// When a call that submits work returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueMode {
    /// The driver chooses.
    #[default]
    Default,
    /// When the work is done.
    Synchronous,
    /// At once.
    Asynchronous,
}

impl QueueMode {
    fn raw(self) -> ze_command_queue_mode_t {
        match self {
            QueueMode::Default => ZE_COMMAND_QUEUE_MODE_DEFAULT,
            QueueMode::Synchronous => ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
            QueueMode::Asynchronous => ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        }
    }
}

/// How a list behaves. The default is asynchronous and in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListOptions {
    /// Each command waits for the one before it.
    pub in_order: bool,
    /// Only for immediate lists.
    pub mode: QueueMode,
}

impl Default for ListOptions {
    fn default() -> Self {
        Self {
            in_order: true,
            mode: QueueMode::Asynchronous,
        }
    }
}

impl Context {
    /// A command queue on the first queue group of `device`.
    ///
    /// # Errors
    /// The call's.
    pub fn create_queue(&self, device: &Device, mode: QueueMode) -> Result<CommandQueue> {
        CommandQueue::new(self, device, mode)
    }

    /// A list that is recorded, closed and executed on a queue.
    ///
    /// # Errors
    /// The call's.
    pub fn create_list(&self, device: &Device, options: ListOptions) -> Result<CommandList> {
        CommandList::new(self, device, options)
    }

    /// A list whose commands start when they are appended.
    ///
    /// # Errors
    /// The call's.
    pub fn create_immediate_list(
        &self,
        device: &Device,
        options: ListOptions,
    ) -> Result<CommandList> {
        CommandList::new_immediate(self, device, options)
    }
}

struct QueueOwner {
    context: Context,
    handle: ze_command_queue_handle_t,
}

// SAFETY: execute and synchronize may be called from simultaneous threads (spec, core "Command Queue").
unsafe impl Send for QueueOwner {}
// SAFETY: as for `Send`.
unsafe impl Sync for QueueOwner {}

impl Drop for QueueOwner {
    fn drop(&mut self) {
        if let Some(destroy) = self.context.driver().api.command_queue.pfnDestroy {
            // SAFETY: our queue, destroyed once, after its fences.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// A command queue.
#[derive(Clone)]
pub struct CommandQueue {
    owner: Arc<QueueOwner>,
}

impl std::fmt::Debug for CommandQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CommandQueue({:p})", self.owner.handle)
    }
}

impl CommandQueue {
    pub(crate) fn new(context: &Context, device: &Device, mode: QueueMode) -> Result<Self> {
        let desc = ze_command_queue_desc_t {
            mode: mode.raw(),
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let create = context.driver().api.command_queue.pfnCreate;
        // SAFETY: live handles, valid input and output.
        let code = create.map(|f| unsafe {
            f(
                context.as_raw(),
                device.handle,
                &raw const desc,
                &raw mut handle,
            )
        });
        context.check("zeCommandQueueCreate", code)?;
        Ok(Self {
            owner: Arc::new(QueueOwner {
                context: context.clone(),
                handle,
            }),
        })
    }

    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_command_queue_handle_t {
        self.owner.handle
    }

    /// Submits a closed list; `fence` is signalled when it has ended.
    ///
    /// # Safety
    /// `list`, and all memory that its commands access, outlives the execution; the host does not access that memory
    /// until then.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn execute(&self, list: &CommandList, fence: Option<&Fence>) -> Result<()> {
        let context = &self.owner.context;
        let mut lists = [list.handle];
        let fence = fence.map_or(std::ptr::null_mut(), |fence| fence.handle);
        let execute = context.driver().api.command_queue.pfnExecuteCommandLists;
        // SAFETY: live handles and an array of one; the caller keeps the memory that the list accesses.
        let code = execute.map(|f| unsafe { f(self.owner.handle, 1, lists.as_mut_ptr(), fence) });
        context.check("zeCommandQueueExecuteCommandLists", code)
    }

    /// Waits up to `timeout_ns` for all submitted work; whether it is done.
    ///
    /// # Errors
    /// The call's, but for `NOT_READY`.
    pub fn synchronize(&self, timeout_ns: u64) -> Result<bool> {
        let context = &self.owner.context;
        let synchronize = context.driver().api.command_queue.pfnSynchronize;
        // SAFETY: a live handle.
        let code = synchronize.map(|f| unsafe { f(self.owner.handle, timeout_ns) });
        ready("zeCommandQueueSynchronize", context, code)
    }

    /// A fence of this queue.
    ///
    /// # Errors
    /// The call's.
    pub fn create_fence(&self) -> Result<Fence> {
        let desc = ze_fence_desc_t::default();
        let mut handle = std::ptr::null_mut();
        let context = &self.owner.context;
        let create = context.driver().api.fence.pfnCreate;
        // SAFETY: a live handle, valid input and output.
        let code =
            create.map(|f| unsafe { f(self.owner.handle, &raw const desc, &raw mut handle) });
        context.check("zeFenceCreate", code)?;
        Ok(Fence {
            queue: self.owner.clone(),
            handle,
        })
    }
}

/// Signalled by a queue when an execution is done.
pub struct Fence {
    queue: Arc<QueueOwner>,
    handle: ze_fence_handle_t,
}

// SAFETY: fence functions may be called from simultaneous threads (spec, core "Fence").
unsafe impl Send for Fence {}
// SAFETY: as for `Send`.
unsafe impl Sync for Fence {}

impl std::fmt::Debug for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fence({:p})", self.handle)
    }
}

impl Fence {
    /// Waits up to `timeout_ns`; whether it is signalled.
    ///
    /// # Errors
    /// The call's, but for `NOT_READY`.
    pub fn synchronize(&self, timeout_ns: u64) -> Result<bool> {
        let context = &self.queue.context;
        // SAFETY: a live handle.
        let code = context
            .driver()
            .api
            .fence
            .pfnHostSynchronize
            .map(|f| unsafe { f(self.handle, timeout_ns) });
        ready("zeFenceHostSynchronize", context, code)
    }

    /// Resets the fence.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn reset(&self) -> Result<()> {
        let context = &self.queue.context;
        // SAFETY: a live handle.
        context.check(
            "zeFenceReset",
            context
                .driver()
                .api
                .fence
                .pfnReset
                .map(|f| unsafe { f(self.handle) }),
        )
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        if let Some(destroy) = self.queue.context.driver().api.fence.pfnDestroy {
            // SAFETY: our fence, destroyed once, before its queue.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}

/// A command list, regular or immediate. Only one thread at a time can use it: appends take `&mut self`.
pub struct CommandList {
    context: Context,
    pub(crate) handle: ze_command_list_handle_t,
}

// SAFETY: a list belongs to no thread; `&mut self` keeps its functions apart.
unsafe impl Send for CommandList {}

impl std::fmt::Debug for CommandList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CommandList({:p})", self.handle)
    }
}

/// The signal event and the wait events of an append, in C's form.
struct Dependencies {
    signal: ze_event_handle_t,
    waits: Vec<ze_event_handle_t>,
}

impl Dependencies {
    fn new(signal: Option<&Event>, waits: &[&Event]) -> Self {
        Self {
            signal: signal.map_or(std::ptr::null_mut(), |event| event.handle),
            waits: waits.iter().map(|event| event.handle).collect(),
        }
    }
    fn count(&self) -> u32 {
        u32::try_from(self.waits.len()).unwrap_or(u32::MAX)
    }
    fn array(&mut self) -> *mut ze_event_handle_t {
        if self.waits.is_empty() {
            std::ptr::null_mut()
        } else {
            self.waits.as_mut_ptr()
        }
    }
}

impl CommandList {
    pub(crate) fn new(context: &Context, device: &Device, options: ListOptions) -> Result<Self> {
        let flags = if options.in_order {
            ZE_COMMAND_LIST_FLAG_IN_ORDER
        } else {
            0
        };
        let desc = ze_command_list_desc_t {
            flags,
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let create = context.driver().api.command_list.pfnCreate;
        // SAFETY: live handles, valid input and output.
        let code = create.map(|f| unsafe {
            f(
                context.as_raw(),
                device.handle,
                &raw const desc,
                &raw mut handle,
            )
        });
        context.check("zeCommandListCreate", code)?;
        Ok(Self {
            context: context.clone(),
            handle,
        })
    }

    pub(crate) fn new_immediate(
        context: &Context,
        device: &Device,
        options: ListOptions,
    ) -> Result<Self> {
        let flags = if options.in_order {
            ZE_COMMAND_QUEUE_FLAG_IN_ORDER
        } else {
            0
        };
        let desc = ze_command_queue_desc_t {
            flags,
            mode: options.mode.raw(),
            ..Default::default()
        };
        let mut handle = std::ptr::null_mut();
        let create = context.driver().api.command_list.pfnCreateImmediate;
        // SAFETY: live handles, valid input and output.
        let code = create.map(|f| unsafe {
            f(
                context.as_raw(),
                device.handle,
                &raw const desc,
                &raw mut handle,
            )
        });
        context.check("zeCommandListCreateImmediate", code)?;
        Ok(Self {
            context: context.clone(),
            handle,
        })
    }

    /// The C handle.
    #[must_use]
    pub fn as_raw(&self) -> ze_command_list_handle_t {
        self.handle
    }

    fn table(&self) -> &ze_command_list_dditable_t {
        &self.context.driver().api.command_list
    }

    /// Launches `groups` work-groups of `kernel` with its current arguments.
    ///
    /// # Safety
    /// The kernel's pointer arguments point to memory that outlives the command and that the host does not access until
    /// the command has ended; the kernel stays inside it; the events outlive the command.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn append_launch(
        &mut self,
        kernel: &Kernel,
        groups: [u32; 3],
        signal: Option<&Event>,
        waits: &[&Event],
    ) -> Result<()> {
        let count = ze_group_count_t {
            groupCountX: groups[0],
            groupCountY: groups[1],
            groupCountZ: groups[2],
        };
        let mut sync = Dependencies::new(signal, waits);
        let launch = self.table().pfnAppendLaunchKernel;
        let (signal, number, array) = (sync.signal, sync.count(), sync.array());
        // SAFETY: live handles, valid inputs; the caller keeps the memory that the kernel accesses.
        let code = launch.map(|f| unsafe {
            f(
                self.handle,
                kernel.handle,
                &raw const count,
                signal,
                number,
                array,
            )
        });
        self.context.check("zeCommandListAppendLaunchKernel", code)
    }

    /// Copies `bytes` from `source` to `target`, USM or host memory.
    ///
    /// # Safety
    /// Both ranges are valid until the command has ended, and the host does not access them until then; the events
    /// outlive the command.
    ///
    /// # Errors
    /// Errors of the driver.
    pub unsafe fn append_copy<T>(
        &mut self,
        target: *mut T,
        source: *const T,
        bytes: usize,
        signal: Option<&Event>,
        waits: &[&Event],
    ) -> Result<()> {
        let mut sync = Dependencies::new(signal, waits);
        let copy = self.table().pfnAppendMemoryCopy;
        let (signal, number, array) = (sync.signal, sync.count(), sync.array());
        // SAFETY: a live handle; the caller keeps both ranges.
        let code = copy.map(|f| unsafe {
            f(
                self.handle,
                target.cast(),
                source.cast(),
                bytes,
                signal,
                number,
                array,
            )
        });
        self.context.check("zeCommandListAppendMemoryCopy", code)
    }

    /// Repeats `pattern` over `bytes` bytes at `target`.
    ///
    /// # Safety
    /// As for [`Self::append_copy`].
    ///
    /// # Errors
    /// The call's; [`Error::Argument`] for an empty pattern.
    pub unsafe fn append_fill<T>(
        &mut self,
        target: *mut T,
        pattern: &[u8],
        bytes: usize,
        signal: Option<&Event>,
        waits: &[&Event],
    ) -> Result<()> {
        if pattern.is_empty() {
            return Err(Error::Argument(
                "a fill pattern needs at least one byte".to_owned(),
            ));
        }
        let mut sync = Dependencies::new(signal, waits);
        let fill = self.table().pfnAppendMemoryFill;
        let (signal, number, array) = (sync.signal, sync.count(), sync.array());
        // SAFETY: a live handle; the pattern is read during the call; the caller keeps the range.
        let code = fill.map(|f| unsafe {
            f(
                self.handle,
                target.cast(),
                pattern.as_ptr().cast(),
                pattern.len(),
                bytes,
                signal,
                number,
                array,
            )
        });
        self.context.check("zeCommandListAppendMemoryFill", code)
    }

    /// Waits for `waits`, or for everything before when empty; later commands start after it.
    ///
    /// # Safety
    /// The events outlive the command.
    ///
    /// # Errors
    /// The call's.
    pub unsafe fn append_barrier(
        &mut self,
        signal: Option<&Event>,
        waits: &[&Event],
    ) -> Result<()> {
        let mut sync = Dependencies::new(signal, waits);
        let barrier = self.table().pfnAppendBarrier;
        let (signal, number, array) = (sync.signal, sync.count(), sync.array());
        // SAFETY: a live handle; the caller keeps the events.
        let code = barrier.map(|f| unsafe { f(self.handle, signal, number, array) });
        self.context.check("zeCommandListAppendBarrier", code)
    }

    /// Closes a regular list.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn close(&mut self) -> Result<()> {
        // SAFETY: a live handle.
        self.context.check(
            "zeCommandListClose",
            self.table().pfnClose.map(|f| unsafe { f(self.handle) }),
        )
    }

    /// Empties a regular list.
    ///
    /// # Safety
    /// No execution of it is under way.
    ///
    /// # Errors
    /// The call's.
    pub unsafe fn reset(&mut self) -> Result<()> {
        // SAFETY: a live handle that is not executing, as the caller promises.
        self.context.check(
            "zeCommandListReset",
            self.table().pfnReset.map(|f| unsafe { f(self.handle) }),
        )
    }

    /// Waits up to `timeout_ns` for an immediate list's work; whether it is done.
    ///
    /// # Errors
    /// The call's, but for `NOT_READY`.
    pub fn synchronize(&self, timeout_ns: u64) -> Result<bool> {
        // SAFETY: a live handle.
        let code = self
            .table()
            .pfnHostSynchronize
            .map(|f| unsafe { f(self.handle, timeout_ns) });
        ready("zeCommandListHostSynchronize", &self.context, code)
    }
}

impl Drop for CommandList {
    fn drop(&mut self) {
        if let Some(destroy) = self.table().pfnDestroy {
            // SAFETY: our list, destroyed once; the caller of each execution promised to wait.
            let _ = unsafe { destroy(self.handle) };
        }
    }
}
