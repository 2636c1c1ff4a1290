//! Counter-based events.
//!
//! Each time a command is appended that will signal the event, the event gets a fresh signal; a wait takes the signal
//! that the event has when the wait is appended. So it needs no reset, and re-use never confuses those who wait for an
//! earlier use. Events that other processes see keep their uses in a ring of slots in shared memory; those whose
//! counter lies in memory of the application have one signal for their life.

use crate::check::{error, flags, lock};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::event::{Event, SCOPES};
use crate::core::event_pool::no_shared_memory;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::AllocError;
use crate::extensions::COUNTER_MAX;
use crate::outside::Outside;
use crate::schedule::Ready;
use crate::signal::{Signal, Slots};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::{Chain, Handle, In, Object, Out, OutHandle, ZeResult};
use ze_entry::ze_entry;

/// Bits of `ze_event_counter_based_flags_t`.
const COUNTER_FLAGS: u32 = 0x7f;
/// Bits that ask for timestamps.
const STAMPS: u32 =
    ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
/// Slots of a shared event: the first counts uses, the others are uses in turn. So many uses may be under way at once.
const RING: usize = 1024;

/// What is behind a counter-based event.
pub(crate) struct Counter {
    flags: u32,
    opened: bool,
    state: State,
}

enum State {
    /// The signal of the latest use.
    Own(Mutex<Arc<Signal>>),
    /// In memory that other processes see.
    Shared(Arc<Slots>),
    /// In memory of the application.
    Outside(Arc<Signal>),
}

/// A signal as if a command had just given it: an event that no command has signalled yet counts as completed.
fn completed(signal: Arc<Signal>) -> Arc<Signal> {
    signal.set(0, 0, &mut Ready::new());
    signal
}

fn ring_index(number: u64) -> usize {
    1 + (number % (RING as u64 - 1)) as usize
}

impl Counter {
    /// One of this process alone.
    pub(crate) fn new(flags: u32) -> Self {
        Self {
            flags,
            opened: false,
            state: State::Own(Mutex::new(completed(Signal::counter()))),
        }
    }

    /// `ze_event_counter_based_flags_t` of creation.
    pub(crate) fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether timestamps were asked for.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.flags & STAMPS != 0
    }

    /// The signal that a wait appended now is for.
    pub(crate) fn waited(&self) -> Arc<Signal> {
        match &self.state {
            State::Own(now) => Arc::clone(&lock(now)),
            State::Shared(slots) => {
                let number = slots.get()[0].uses();
                Signal::shared_counter(Arc::clone(slots), ring_index(number))
            }
            State::Outside(signal) => Arc::clone(signal),
        }
    }

    /// The signal that a command appended now will give.
    pub(crate) fn signalled(&self) -> Arc<Signal> {
        match &self.state {
            State::Own(now) => {
                let fresh = Signal::counter();
                *lock(now) = Arc::clone(&fresh);
                fresh
            }
            State::Shared(slots) => {
                let number = slots.get()[0].next_use();
                let fresh = Signal::shared_counter(Arc::clone(slots), ring_index(number));
                fresh.begin_use();
                slots.get()[0].publish_use(number);
                fresh
            }
            State::Outside(signal) => Arc::clone(signal),
        }
    }
}

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

/// The application's counter, when the chain of a descriptor names one.
fn outside(context: &Arc<Context>, next: *const std::ffi::c_void) -> ZeResult<Option<Outside>> {
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
                found = Some(Outside::new(
                    Arc::clone(context),
                    desc.deviceAddress.expose_provenance(),
                    Some(desc.hostAddress.expose_provenance()),
                    desc.completionValue,
                    None,
                ));
            }
            ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC => {
                // SAFETY: the type says which struct it is.
                let desc = unsafe {
                    link.get::<ze_event_counter_based_external_aggregate_storage_desc_t>()
                };
                check_completion(desc.completionValue)?;
                check_address("deviceAddress", desc.deviceAddress)?;
                found = Some(Outside::new(
                    Arc::clone(context),
                    desc.deviceAddress.expose_provenance(),
                    None,
                    desc.completionValue,
                    Some(desc.incrementValue),
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
        Some(counter) => State::Outside(Signal::outside(counter)),
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
                "the event's file cannot be looked at: too many open files?",
            );
        }
    }
    Ok(())
}

/// The event of another process, or of this one anew; core/event.yml (1.15).
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
                "hIpc names {count} uses of an event in {} bytes, which cannot be",
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

/// Ends what was opened; core/event.yml (1.15).
#[ze_entry(ze_pfnEventCounterBasedCloseIpcHandle_t)]
pub(crate) fn zeEventCounterBasedCloseIpcHandle(hEvent: Handle<'_, Event>) -> ZeResult {
    match hEvent.counter() {
        None => not_counter(),
        Some(counter) if !counter.opened => error(
            ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
            "hEvent was created here: zeEventDestroy ends it",
        ),
        Some(_) => {
            drop(hEvent.take());
            Ok(())
        }
    }
}

/// Where the counter lies, and the value from which on the event is completed; core/event.yml (1.15).
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
    completionValue.write(signal.goal());
    deviceAddress.write(signal.address() as u64);
    Ok(())
}
