//! Entry points of counter-based events.

use crate::check::{error, flags};
use crate::core::context::Context;
use crate::core::counter::{Counter, RING, STAMPS, State, completed, ring_index};
use crate::core::device::Device;
use crate::core::event::{Event, SCOPES};
use crate::core::event_pool::no_shared_memory;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::AllocError;
use crate::extensions::COUNTER_MAX;
use crate::schedule::{Signal, start_lost};
use crate::signal::Slots;
use crate::user_memory::UserCounter;
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Chain, Handle, In, Object, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Bits of `ze_event_counter_based_flags_t`.
const COUNTER_FLAGS: u32 = 0x7f;

fn check_address(name: &str, address: *mut u64) -> ZeResult {
    crate::check::not_null(name, address)?;
    if !address.is_aligned() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("{name} is {address:p}, a multiple of 8 is required"),
        );
    }
    Ok(())
}

fn check_completion(value: u64) -> ZeResult {
    if value > COUNTER_MAX {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("completionValue is {value}, at most {COUNTER_MAX} is allowed"),
        );
    }
    Ok(())
}

/// The application's counter, when a descriptor's chain contains one.
fn outside(context: &Arc<Context>, next: *const std::ffi::c_void) -> ZeResult<Option<UserCounter>> {
    let mut found = None;
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(next) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC => {
                // SAFETY: the type says which struct it is.
                let desc =
                    unsafe { link.get::<ze_event_counter_based_external_sync_allocation_desc_t>() };
                check_completion(desc.completionValue)?;
                check_address("deviceAddress", desc.deviceAddress)?;
                check_address("hostAddress", desc.hostAddress)?;
                found = Some(UserCounter::new(
                    Arc::clone(context),
                    desc.deviceAddress.expose_provenance(),
                    Some(desc.hostAddress.expose_provenance()),
                    desc.completionValue,
                    None,
                    start_lost,
                ));
            }
            ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe {
                    link.get::<ze_event_counter_based_external_aggregate_storage_desc_t>()
                };
                check_completion(desc.completionValue)?;
                check_address("deviceAddress", desc.deviceAddress)?;
                found = Some(UserCounter::new(
                    Arc::clone(context),
                    desc.deviceAddress.expose_provenance(),
                    None,
                    desc.completionValue,
                    Some(desc.incrementValue),
                    start_lost,
                ));
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A counter-based event without a pool; chain: a counter of the application's; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedCreate_t)]
pub(crate) fn zeEventCounterBasedCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_event_counter_based_desc_t>,
    phEvent: OutHandle<'_, _ze_event_handle_t>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    flags("desc->flags", desc.flags, COUNTER_FLAGS)?;
    flags("desc->signal", desc.signal, SCOPES)?;
    flags("desc->wait", desc.wait, SCOPES)?;
    if desc.flags & STAMPS == STAMPS {
        return error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            "desc->flags has both DEVICE_TIMESTAMP and HOST_TIMESTAMP, one is allowed",
        );
    }
    let state = match outside(&hContext.arc(), desc.pNext)? {
        Some(counter) => State::UserCounter(Signal::outside(counter)),
        None if desc.flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC != 0 => {
            let slots = match Slots::shared(hContext.platform(), RING) {
                Some(Ok(slots)) => slots,
                Some(Err(why)) => return no_shared_memory(why, RING),
                None => return no_shared_memory(AllocError::OutOfMemory, RING),
            };
            completed(Signal::shared_counter(Arc::clone(&slots), ring_index(0)));
            State::Shared(slots)
        }
        None => Counter::new(0).state,
    };
    let counter = Counter {
        flags: desc.flags,
        opened: false,
        state,
    };
    let event = Event::of_counter(hContext.arc(), counter, [desc.signal, desc.wait]);
    phEvent.write(Object::give(Arc::new(event)));
    Ok(())
}

fn not_counter<T>() -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
        "hEvent is of an event pool, one of zeEventCounterBasedCreate is required",
    )
}

/// A handle for other processes; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedGetIpcHandle_t)]
pub(crate) fn zeEventCounterBasedGetIpcHandle(
    hEvent: Handle<'_, Event>,
    phIpc: Out<'_, ze_ipc_event_counter_based_handle_t>,
) -> ZeResult {
    hEvent.context().check()?;
    let Some(counter) = hEvent.counter() else {
        return not_counter();
    };
    let State::Shared(slots) = &counter.state else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hEvent was created without ZE_EVENT_COUNTER_BASED_FLAG_IPC, or its counter is the application's",
        );
    };
    let handle = slots.file().and_then(|(file, size)| {
        let part = Part {
            offset: 0,
            size,
            words: [RING as u32, counter.flags],
        };
        shared_file::encode(Purpose::CounterEvent, file, part)
    });
    match handle {
        Some(data) => phIpc.write(ze_ipc_event_counter_based_handle_t { data }),
        None => {
            return error(
                ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                "the event's file cannot be inspected: too many open files (ulimit -n)?",
            );
        }
    }
    Ok(())
}

/// Opens an event of another process, or of this one; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedOpenIpcHandle_t)]
pub(crate) fn zeEventCounterBasedOpenIpcHandle(
    hContext: Handle<'_, Context>,
    hIpc: ze_ipc_event_counter_based_handle_t,
    phEvent: OutHandle<'_, _ze_event_handle_t>,
) -> ZeResult {
    hContext.check()?;
    let (part, file) = shared_file::open(
        Purpose::CounterEvent,
        &hIpc.data,
        hContext.trusts_all_users(),
    )?;
    let [count, flags] = part.words;
    let context = hContext.arc();
    let slots = Slots::over(context.platform(), file, part.size, RING, None);
    let Some(slots) = slots.filter(|_| count as usize == RING) else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "hIpc names {count} uses of an event in {} bytes, more than fit: pass the handle unchanged",
                part.size
            ),
        );
    };
    let counter = Counter {
        flags: flags & COUNTER_FLAGS,
        opened: true,
        state: State::Shared(slots),
    };
    let event = Event::of_counter(context, counter, [0; 2]);
    phEvent.write(Object::give(Arc::new(event)));
    Ok(())
}

/// Closes an opened event; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedCloseIpcHandle_t)]
pub(crate) fn zeEventCounterBasedCloseIpcHandle(hEvent: Handle<'_, Event>) -> ZeResult {
    match hEvent.counter() {
        None => not_counter(),
        Some(counter) if !counter.opened => error(
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            "hEvent was created in this process: destroy it with zeEventDestroy",
        ),
        Some(_) => {
            drop(hEvent.take());
            Ok(())
        }
    }
}

/// The counter's address, and the value from which on the event is completed; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedGetDeviceAddress_t)]
pub(crate) fn zeEventCounterBasedGetDeviceAddress(
    hEvent: Handle<'_, Event>,
    completionValue: Out<'_, u64>,
    deviceAddress: Out<'_, u64>,
) -> ZeResult {
    if hEvent.counter().is_none() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hEvent is of an event pool, one of zeEventCounterBasedCreate is required",
        );
    }
    let signal = hEvent.waited();
    completionValue.write(signal.wait_value());
    deviceAddress.write(signal.address() as u64);
    Ok(())
}
