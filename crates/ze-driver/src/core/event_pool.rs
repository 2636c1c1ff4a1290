//! Event pools: the memory of events.

use crate::check::{error, flags};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::object;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::AllocError;
use crate::dispatch;
use crate::signal::Slots;
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Chain, Handle, Handles, Head, In, Object, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Bits of `ze_event_pool_flags_t`.
const POOL_FLAGS: u32 = 0xf;
/// The most events of a pool (64 bytes each); a larger number is treated as a mistake.
const MAX_EVENTS: u32 = 1 << 24;

/// A pool.
#[repr(C)]
pub(crate) struct EventPool {
    head: Head,
    context: Arc<Context>,
    flags: u32,
    slots: Arc<Slots>,
    counter_based: Option<u32>,
    /// Opened from another process, so events keep their current state.
    opened: bool,
}
object!(EventPool, _ze_event_pool_handle_t, b"ZeEp", "event pool");

impl EventPool {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Memory of the events.
    pub(crate) fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// True for a pool of another process.
    pub(crate) fn is_opened(&self) -> bool {
        self.opened
    }

    /// Flags of counter-based events, for a pool of such.
    pub(crate) fn counter_based(&self) -> Option<u32> {
        self.counter_based
    }

    /// Whether its events carry timestamps.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.flags
            & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)
            != 0
    }
}

/// A pool; chain: counter-based events; core/event.yml, core/counterbasedeventpool.yml.
#[ze_entry(ze_pfnEventPoolCreate_t)]
pub(crate) fn zeEventPoolCreate(
    hContext: Handle<'_, Context>,
    desc: In<'_, ze_event_pool_desc_t>,
    phDevices: Handles<'_, Device>,
    phEventPool: OutHandle<'_, _ze_event_pool_handle_t>,
) -> ZeResult {
    hContext.check()?;
    flags("desc->flags", desc.flags, POOL_FLAGS)?;
    if desc.count == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            "desc->count is 0, at least 1 is required",
        );
    }
    if desc.count > MAX_EVENTS {
        return error(
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!(
                "desc->count is {}, at most {MAX_EVENTS} events are allowed",
                desc.count
            ),
        );
    }
    for device in phDevices.get() {
        hContext.check_device(device)?;
    }
    let mut counter_based = None;
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(desc.pNext) } {
        if link.stype == ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC {
            // SAFETY: the type says which struct it is.
            let counter = unsafe { link.get::<ze_event_pool_counter_based_exp_desc_t>() };
            flags("counter-based desc->flags", counter.flags, 0x3)?;
            counter_based = Some(counter.flags);
        }
    }
    let pool = EventPool {
        head: Head::new::<EventPool>(dispatch::tables()),
        context: hContext.arc(),
        flags: desc.flags,
        slots: if desc.flags & ZE_EVENT_POOL_FLAG_IPC != 0 {
            shared_slots(&hContext, desc.count as usize)?
        } else {
            Slots::own(desc.count as usize)?
        },
        counter_based,
        opened: false,
    };
    phEventPool.write(Object::give(Arc::new(pool)));
    Ok(())
}

fn shared_slots(context: &Context, count: usize) -> ZeResult<Arc<Slots>> {
    match Slots::shared(context.platform(), count) {
        Some(Ok(slots)) => Ok(slots),
        None => Slots::own(count),
        Some(Err(why)) => no_shared_memory(why, count),
    }
}

/// OUT_OF_HOST_MEMORY with the reason why `count` events cannot be shared.
pub(crate) fn no_shared_memory<T>(why: AllocError, count: usize) -> ZeResult<T> {
    let why = match why {
        AllocError::NoFile(why) => why.to_string(),
        AllocError::OutOfMemory | AllocError::TooLarge => "out of memory".into(),
    };
    error(
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
        format!("no shared memory for {count} events: {why}"),
    )
}

/// A handle for other processes; core/event.yml.
#[ze_entry(ze_pfnEventPoolGetIpcHandle_t)]
pub(crate) fn zeEventPoolGetIpcHandle(
    hEventPool: Handle<'_, EventPool>,
    phIpc: Out<'_, ze_ipc_event_pool_handle_t>,
) -> ZeResult {
    hEventPool.context.check()?;
    let Some((file, size)) = hEventPool.slots.file() else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hEventPool was created without ZE_EVENT_POOL_FLAG_IPC",
        );
    };
    let part = Part {
        offset: 0,
        size,
        words: [hEventPool.slots.get().len() as u32, hEventPool.flags],
    };
    match shared_file::encode(Purpose::EventPool, file, part) {
        Some(data) => phIpc.write(ze_ipc_event_pool_handle_t { data }),
        None => {
            return error(
                ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                "the pool's file cannot be inspected: too many open files (ulimit -n)?",
            );
        }
    }
    Ok(())
}

/// Frees nothing: the pool keeps its file; core/event.yml (1.6).
#[ze_entry(ze_pfnEventPoolPutIpcHandle_t)]
pub(crate) fn zeEventPoolPutIpcHandle(
    hContext: Handle<'_, Context>,
    hIpc: ze_ipc_event_pool_handle_t,
) -> ZeResult {
    hContext.check()?;
    shared_file::decode(Purpose::EventPool, &hIpc.data).map(drop)
}

/// Opens a pool of another process, or of this one; core/event.yml.
#[ze_entry(ze_pfnEventPoolOpenIpcHandle_t)]
pub(crate) fn zeEventPoolOpenIpcHandle(
    hContext: Handle<'_, Context>,
    hIpc: ze_ipc_event_pool_handle_t,
    phEventPool: OutHandle<'_, _ze_event_pool_handle_t>,
) -> ZeResult {
    hContext.check()?;
    let (part, file) =
        shared_file::open(Purpose::EventPool, &hIpc.data, hContext.trusts_all_users())?;
    let [count, flags] = part.words;
    let context = hContext.arc();
    let slots = (count <= MAX_EVENTS)
        .then(|| Slots::over(context.platform(), file, part.size, count as usize, None));
    let Some(slots) = slots.flatten() else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "hIpc names {count} events in {} bytes, more than fit: pass the handle unchanged",
                part.size
            ),
        );
    };
    let pool = EventPool {
        head: Head::new::<EventPool>(dispatch::tables()),
        context,
        flags: flags & POOL_FLAGS,
        slots,
        counter_based: None,
        opened: true,
    };
    phEventPool.write(Object::give(Arc::new(pool)));
    Ok(())
}

/// Destroys the handle of an opened pool; core/event.yml.
#[ze_entry(ze_pfnEventPoolCloseIpcHandle_t)]
pub(crate) fn zeEventPoolCloseIpcHandle(hEventPool: Handle<'_, EventPool>) -> ZeResult {
    if !hEventPool.opened {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hEventPool was created in this process: destroy it with zeEventPoolDestroy",
        );
    }
    drop(hEventPool.take());
    Ok(())
}

/// Destroys the handle; events and commands keep the memory; core/event.yml.
#[ze_entry(ze_pfnEventPoolDestroy_t)]
pub(crate) fn zeEventPoolDestroy(hEventPool: Handle<'_, EventPool>) -> ZeResult {
    drop(hEventPool.take());
    Ok(())
}

/// The context; core/event.yml.
#[ze_entry(ze_pfnEventPoolGetContextHandle_t)]
pub(crate) fn zeEventPoolGetContextHandle(
    hEventPool: Handle<'_, EventPool>,
    phContext: OutHandle<'_, _ze_context_handle_t>,
) -> ZeResult {
    phContext.write(hEventPool.context.handle());
    Ok(())
}

/// The flags of creation; core/event.yml.
#[ze_entry(ze_pfnEventPoolGetFlags_t)]
pub(crate) fn zeEventPoolGetFlags(
    hEventPool: Handle<'_, EventPool>,
    pFlags: Out<'_, ze_event_pool_flags_t>,
) -> ZeResult {
    pFlags.write(hEventPool.flags);
    Ok(())
}
