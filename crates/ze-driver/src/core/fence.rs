//! Fences: one signal per submission of a queue.

use crate::check::{error, flags, not_ready};
use crate::command_order;
use crate::core::object;
use crate::core::queue::CommandQueue;
use crate::dispatch;
use crate::schedule::{Ready, Signal, signal_number};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, Head, In, Object, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// A fence.
#[repr(C)]
pub(crate) struct Fence {
    head: Head,
    queue: Arc<CommandQueue>,
    signal: Arc<Signal>,
}
object!(Fence, _ze_fence_handle_t, b"ZeFe", "fence");

impl Fence {
    /// Set when the lists of its submission are finished.
    pub(crate) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    /// INVALID_SYNCHRONIZATION_OBJECT for a submission to another queue.
    pub(crate) fn check_submission(&self, queue: &CommandQueue) -> ZeResult {
        if !std::ptr::eq(&raw const *self.queue, queue) {
            return error(
                ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                "hFence was created for another queue than hCommandQueue",
            );
        }
        Ok(())
    }
}

/// A fence of a queue, also in a lost context (`crate::leniency`); core/fence.yml.
#[ze_entry(ze_pfnFenceCreate_t)]
pub(crate) fn zeFenceCreate(
    hCommandQueue: Handle<'_, CommandQueue>,
    desc: In<'_, ze_fence_desc_t>,
    phFence: OutHandle<'_, _ze_fence_handle_t>,
) -> ZeResult {
    flags("desc->flags", desc.flags, ZE_FENCE_FLAG_SIGNALED)?;
    let signal = Signal::alone();
    if desc.flags & ZE_FENCE_FLAG_SIGNALED != 0 {
        signal.set(0, 0, &mut Ready::new());
    }
    let fence = Fence {
        head: Head::new::<Fence>(dispatch::tables()),
        queue: hCommandQueue.arc(),
        signal,
    };
    phFence.write(Object::give(Arc::new(fence)));
    Ok(())
}

/// Destroys the handle; core/fence.yml.
#[ze_entry(ze_pfnFenceDestroy_t)]
pub(crate) fn zeFenceDestroy(hFence: Handle<'_, Fence>) -> ZeResult {
    drop(hFence.take());
    Ok(())
}

/// Blocks until signalled or the timeout in ns; core/fence.yml.
#[ze_entry(ze_pfnFenceHostSynchronize_t)]
pub(crate) fn zeFenceHostSynchronize(hFence: Handle<'_, Fence>, timeout: u64) -> ZeResult {
    let context = hFence.queue.context();
    let met = hFence
        .signal
        .wait(&**context.platform(), timeout, &|| context.is_lost());
    context.check()?;
    if !met {
        return not_ready();
    }
    command_order::tell(|watcher| watcher.host_waited_for(signal_number(&hFence.signal)));
    Ok(())
}

/// SUCCESS or NOT_READY; core/fence.yml.
#[ze_entry(ze_pfnFenceQueryStatus_t)]
pub(crate) fn zeFenceQueryStatus(hFence: Handle<'_, Fence>) -> ZeResult {
    hFence.queue.context().check()?;
    if !hFence.signal.is_set() {
        return not_ready();
    }
    command_order::tell(|watcher| watcher.host_waited_for(signal_number(&hFence.signal)));
    Ok(())
}

/// Clears the signal; core/fence.yml.
#[ze_entry(ze_pfnFenceReset_t)]
pub(crate) fn zeFenceReset(hFence: Handle<'_, Fence>) -> ZeResult {
    hFence.queue.context().check()?;
    hFence.signal.reset();
    Ok(())
}
