//! Entry points of events.

use crate::check::{error, flags, not_ready};
use crate::command_order;
use crate::core::capture::CAPTURES;
use crate::core::counter::Counter;
use crate::core::device::Device;
use crate::core::event::{Event, Kind, Owner, SCOPES};
use crate::core::event_pool::EventPool;
use crate::dispatch;
use crate::schedule::{Ready, Signal, run};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Enumerate, Handle, Head, In, Object, Out, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// An event in a pool; core/event.yml.
#[ze_entry(ze_pfnEventCreate_t)]
pub(crate) fn zeEventCreate(
    hEventPool: Handle<'_, EventPool>,
    desc: In<'_, ze_event_desc_t>,
    phEvent: OutHandle<'_, _ze_event_handle_t>,
) -> ZeResult {
    hEventPool.context().check()?;
    flags("desc->signal", desc.signal, SCOPES)?;
    flags("desc->wait", desc.wait, SCOPES)?;
    let (index, count) = (desc.index as usize, hEventPool.slots().get().len());
    if index >= count {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("desc->index is {index}, the pool has {count} events: less is required"),
        );
    }
    let kind = match hEventPool.counter_based() {
        Some(flags) => Kind::Counter(Counter::new(flags)),
        None if hEventPool.is_opened() => {
            Kind::Regular(Signal::attach(Arc::clone(hEventPool.slots()), index))
        }
        None => Kind::Regular(Signal::new(Arc::clone(hEventPool.slots()), index)),
    };
    let event = Event {
        head: Head::new::<Event>(dispatch::tables()),
        owner: Owner::Pool(hEventPool.arc()),
        kind,
        signal_scope: desc.signal,
        wait_scope: desc.wait,
        has_timestamps: hEventPool.has_timestamps(),
    };
    phEvent.write(Object::give(Arc::new(event)));
    Ok(())
}

/// Destroys the handle; unfinished commands keep the signal; core/event.yml.
#[ze_entry(ze_pfnEventDestroy_t)]
pub(crate) fn zeEventDestroy(hEvent: Handle<'_, Event>) -> ZeResult {
    drop(hEvent.take());
    Ok(())
}

/// Signals from the host; work that waited is submitted to the device; core/event.yml.
#[ze_entry(ze_pfnEventHostSignal_t)]
pub(crate) fn zeEventHostSignal(hEvent: Handle<'_, Event>) -> ZeResult {
    hEvent.context().check()?;
    let signal = hEvent.resettable("hEvent")?;
    let now = if hEvent.has_timestamps {
        hEvent.context().platform().now_ns()
    } else {
        0
    };
    command_order::tell(|watcher| watcher.host_signals(signal.number()));
    let mut ready = Ready::new();
    signal.set(now, now, &mut ready);
    run(ready);
    command_order::tell(|watcher| watcher.submitted());
    Ok(())
}

/// Blocks until signalled or the timeout in ns; core/event.yml.
#[ze_entry(ze_pfnEventHostSynchronize_t)]
pub(crate) fn zeEventHostSynchronize(hEvent: Handle<'_, Event>, timeout: u64) -> ZeResult {
    let context = hEvent.context();
    CAPTURES.check_wait(&hEvent)?;
    let signal = hEvent.waited();
    let met = signal.wait(&**context.platform(), timeout, &|| context.is_lost());
    context.check()?;
    if !met {
        return not_ready();
    }
    command_order::tell(|watcher| watcher.host_waited_for(signal.number()));
    Ok(())
}

/// SUCCESS or NOT_READY; core/event.yml.
#[ze_entry(ze_pfnEventQueryStatus_t)]
pub(crate) fn zeEventQueryStatus(hEvent: Handle<'_, Event>) -> ZeResult {
    hEvent.context().check()?;
    CAPTURES.check_query(&hEvent)?;
    hEvent.with_waited(|signal| {
        if !signal.is_set() {
            return not_ready();
        }
        command_order::tell(|watcher| watcher.host_waited_for(signal.number()));
        Ok(())
    })
}

/// Clears signal and timestamps; core/event.yml.
#[ze_entry(ze_pfnEventHostReset_t)]
pub(crate) fn zeEventHostReset(hEvent: Handle<'_, Event>) -> ZeResult {
    hEvent.context().check()?;
    hEvent.resettable("hEvent")?.reset();
    Ok(())
}

/// Timestamps of the signalling command; core/event.yml.
#[ze_entry(ze_pfnEventQueryKernelTimestamp_t)]
pub(crate) fn zeEventQueryKernelTimestamp(
    hEvent: Handle<'_, Event>,
    dstptr: Out<'_, ze_kernel_timestamp_result_t>,
) -> ZeResult {
    hEvent.context().check()?;
    hEvent.check_timestamps("hEvent")?;
    dstptr.write(hEvent.kernel_times(None)?);
    Ok(())
}

/// One result: no command is split; core/eventquerytimestamps.yml.
#[ze_entry(ze_pfnEventQueryTimestampsExp_t)]
pub(crate) fn zeEventQueryTimestampsExp(
    hEvent: Handle<'_, Event>,
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, ze_kernel_timestamp_result_t>,
) -> ZeResult {
    hEvent.context().check()?;
    if pCount.asks_how_many() {
        // The count is known before the command ends.
        pCount.fill(usize::from(hEvent.has_timestamps), |_, _| {});
        return Ok(());
    }
    hEvent.check_timestamps("hEvent")?;
    let times = hEvent.kernel_times(Some(hDevice.get()))?;
    pCount.fill(1, |_, slot| *slot = times);
    Ok(())
}

/// One result, and the same on the host's clock; core/eventQueryKernelTimestamps.yml.
#[ze_entry(ze_pfnEventQueryKernelTimestampsExt_t)]
pub(crate) fn zeEventQueryKernelTimestampsExt(
    hEvent: Handle<'_, Event>,
    hDevice: Handle<'_, Device>,
    pCount: *mut u32,
    pResults: *mut ze_event_query_kernel_timestamps_results_ext_properties_t,
) -> ZeResult {
    crate::check::not_null("pCount", pCount)?;
    hEvent.context().check()?;
    // SAFETY: not null, so the caller's count.
    let count = unsafe { &mut *pCount };
    if *count == 0 {
        // The count is known before the command ends.
        *count = u32::from(hEvent.has_timestamps);
        return Ok(());
    }
    hEvent.check_timestamps("hEvent")?;
    let times = hEvent.kernel_times(Some(hDevice.get()))?;
    *count = 1;
    // SAFETY: null is handled by `as_ref`; else the caller's struct of buffers for `count` results.
    let Some(results) = (unsafe { pResults.as_ref() }) else {
        return Ok(());
    };
    // SAFETY: null is handled by `as_mut`; else room for one result.
    if let Some(kernel) = unsafe { results.pKernelTimestampsBuffer.as_mut() } {
        *kernel = times;
    }
    // SAFETY: null is handled by `as_mut`; else room for one result.
    if let Some(synchronized) = unsafe { results.pSynchronizedTimestampsBuffer.as_mut() } {
        let to_host = hEvent.waited().to_host(|| {
            let (host, device) = hDevice.platform().clocks();
            host.wrapping_sub(device)
        });
        let on_host = |time: u64| time.wrapping_add(to_host);
        let data = ze_synchronized_timestamp_data_ext_t {
            kernelStart: on_host(times.global.kernelStart),
            kernelEnd: on_host(times.global.kernelEnd),
        };
        synchronized.global = data;
        synchronized.context = data;
    }
    Ok(())
}

/// The pool; core/event.yml.
#[ze_entry(ze_pfnEventGetEventPool_t)]
pub(crate) fn zeEventGetEventPool(
    hEvent: Handle<'_, Event>,
    phEventPool: OutHandle<'_, _ze_event_pool_handle_t>,
) -> ZeResult {
    let Owner::Pool(pool) = &hEvent.owner else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "hEvent was created without a pool",
        );
    };
    phEventPool.write(pool.handle());
    Ok(())
}

/// As created; core/event.yml.
#[ze_entry(ze_pfnEventGetSignalScope_t)]
pub(crate) fn zeEventGetSignalScope(
    hEvent: Handle<'_, Event>,
    pSignalScope: Out<'_, ze_event_scope_flags_t>,
) -> ZeResult {
    pSignalScope.write(hEvent.signal_scope);
    Ok(())
}

/// As created; core/event.yml.
#[ze_entry(ze_pfnEventGetWaitScope_t)]
pub(crate) fn zeEventGetWaitScope(
    hEvent: Handle<'_, Event>,
    pWaitScope: Out<'_, ze_event_scope_flags_t>,
) -> ZeResult {
    pWaitScope.write(hEvent.wait_scope);
    Ok(())
}

/// As created; 0 for regular events; core/event.yml (1.17).
#[ze_entry(ze_pfnEventGetCounterBasedFlags_t)]
pub(crate) fn zeEventGetCounterBasedFlags(
    hEvent: Handle<'_, Event>,
    pFlags: Out<'_, ze_event_counter_based_flags_t>,
) -> ZeResult {
    pFlags.write(match &hEvent.kind {
        Kind::Regular(_) => 0,
        Kind::Counter(counter) => counter.flags(),
    });
    Ok(())
}
