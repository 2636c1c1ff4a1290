//! Counter-based events: recorded ones, counters of the application; runtime requirements.

use crate::api::*;
use crate::launches::ONE;
use level_zero_sys::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

const FOREVER: u64 = u64::MAX;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;

fn create(
    context: ze_context_handle_t,
    flags: u32,
    next: *const std::ffi::c_void,
) -> (ze_result_t, ze_event_handle_t) {
    let desc = ze_event_counter_based_desc_t {
        pNext: next,
        flags,
        ..Default::default()
    };
    let mut event = null_mut();
    let result =
        ze!(Event.pfnCounterBasedCreate(context, device(0), &raw const desc, &raw mut event));
    (result, event)
}

fn barrier(
    list: ze_command_list_handle_t,
    signal: ze_event_handle_t,
    waits: &mut [ze_event_handle_t],
) {
    ok!(CommandList.pfnAppendBarrier(list, signal, waits.len() as u32, waits.as_mut_ptr()));
}

#[test]
fn a_list_that_signals_and_waits_is_executed_again_and_again() {
    let context = context();
    let (_, event) = create(context, ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE, null());
    let memory = words(context, 4);
    let at = memory.as_mut_ptr();
    let (queue, mut list) = (queue(context), list(context, 0));
    let kernel = kernel(context, c"add");
    assert_eq!(arg(kernel, 0, at), ZE_RESULT_SUCCESS);
    assert_eq!(arg(kernel, 1, 1u32), ZE_RESULT_SUCCESS);
    let one = ONE;
    ok!(CommandList.pfnAppendLaunchKernel(list, kernel, &raw const one, event, 0, null_mut()));
    ok!(CommandList.pfnAppendMemoryCopy(
        list,
        at.wrapping_add(1).cast(),
        at.cast(),
        4,
        null_mut(),
        1,
        [event].as_mut_ptr()
    ));
    ok!(CommandList.pfnClose(list));
    for round in 1..=200 {
        ok!(CommandQueue.pfnExecuteCommandLists(queue, 1, &raw mut list, null_mut()));
        if round % 7 == 0 {
            ok!(Event.pfnHostSynchronize(event, FOREVER));
            assert!(memory[0] >= round, "the event is for the latest execution");
        }
    }
    ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
    assert_eq!((memory[0], memory[1]), (200, 200));
}

#[test]
fn the_counter_is_at_the_events_address() {
    let context = context();
    let (_, event) = create(context, 1, null());
    let [gate] = events(context, false);
    let list = immediate(context, ASYNC, 0);
    let look = || {
        let (mut value, mut address) = (0, 0);
        ok!(Event.pfnCounterBasedGetDeviceAddress(event, &raw mut value, &raw mut address));
        // SAFETY: the driver says that the counter is there while the event has this use.
        let count = unsafe { &*std::ptr::with_exposed_provenance::<AtomicU64>(address as usize) };
        count.load(Ordering::Acquire) >= value
    };
    assert!(look(), "a new event counts as completed");
    barrier(list, event, &mut [gate]);
    assert!(!look());
    ok!(Event.pfnHostSignal(gate));
    ok!(Event.pfnHostSynchronize(event, FOREVER));
    assert!(look());
    let refused = ze!(Event.pfnCounterBasedGetDeviceAddress(gate, &mut 0, &mut 0));
    assert_eq!(refused, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert_eq!(
        ze!(Event.pfnHostSignal(event)),
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT
    );
    assert_eq!(
        ze!(Event.pfnHostReset(event)),
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT
    );
}

/// An event that the program's counter completes with 7, a list, and another event.
fn counted_by(
    counter: &'static AtomicU64,
) -> (
    ze_event_handle_t,
    ze_command_list_handle_t,
    ze_event_handle_t,
) {
    let context = context();
    let place = counter.as_ptr();
    let chained = ze_event_counter_based_external_sync_allocation_desc_t {
        deviceAddress: place,
        hostAddress: place,
        completionValue: 7,
        ..Default::default()
    };
    let (result, event) = create(context, 1, (&raw const chained).cast());
    assert_eq!(result, ZE_RESULT_SUCCESS, "{}", last_error());
    let [done] = events(context, false);
    (event, immediate(context, ASYNC, 0), done)
}

#[test]
fn an_external_allocation_holds_work_until_somebody_writes() {
    static VALUE: AtomicU64 = AtomicU64::new(0);
    let (event, list, done) = counted_by(&VALUE);
    for round in 0..3 {
        assert_eq!(ze!(Event.pfnQueryStatus(event)), ZE_RESULT_NOT_READY);
        assert_eq!(
            ze!(Event.pfnHostSynchronize(event, 300_000)),
            ZE_RESULT_NOT_READY
        );
        barrier(list, done, &mut [event]);
        VALUE.store(6, Ordering::SeqCst);
        assert_eq!(
            ze!(Event.pfnHostSynchronize(done, 3_000_000)),
            ZE_RESULT_NOT_READY
        );
        VALUE.store(7 + round, Ordering::SeqCst);
        ok!(Event.pfnHostSynchronize(done, FOREVER));
        ok!(Event.pfnHostSynchronize(event, FOREVER));
        ok!(Event.pfnHostReset(done));
        VALUE.store(0, Ordering::SeqCst);
    }
    // A command's signal writes the value.
    barrier(list, event, &mut []);
    ok!(Event.pfnHostSynchronize(event, FOREVER));
    assert_eq!(VALUE.load(Ordering::SeqCst), 7);
}

/// A reader of the application's counter never sees the same value between two signals.
#[test]
fn an_external_allocation_may_be_written_the_same_again() {
    static VALUE: AtomicU64 = AtomicU64::new(0);
    let (event, list, done) = counted_by(&VALUE);
    for _ in 0..50 {
        barrier(list, done, &mut [event]);
        VALUE.store(7, Ordering::SeqCst);
        ok!(Event.pfnHostSynchronize(done, FOREVER));
        ok!(Event.pfnHostReset(done));
        VALUE.store(0, Ordering::SeqCst);
    }
}

#[test]
fn an_aggregate_is_completed_by_several_signals() {
    let context = context();
    let memory = words(context, 2);
    let chained = ze_event_counter_based_external_aggregate_storage_desc_t {
        deviceAddress: memory.as_mut_ptr().cast(),
        incrementValue: 5,
        completionValue: 15,
        ..Default::default()
    };
    let (result, event) = create(context, 1, (&raw const chained).cast());
    assert_eq!(result, ZE_RESULT_SUCCESS, "{}", last_error());
    let (list, [done]) = (immediate(context, ASYNC, 0), events(context, false));
    let other = immediate(context, ASYNC, 0);
    barrier(other, done, &mut [event]);
    for signals in 1..=3 {
        assert_eq!(
            ze!(Event.pfnQueryStatus(event)),
            ZE_RESULT_NOT_READY,
            "{signals}"
        );
        barrier(list, event, &mut []);
        ok!(CommandList.pfnHostSynchronize(list, FOREVER));
    }
    ok!(Event.pfnQueryStatus(event));
    ok!(Event.pfnHostSynchronize(done, FOREVER));
    assert_eq!(memory[0], 15);
    let mut step = 0;
    ok!(Device.pfnGetAggregatedCopyOffloadIncrementValue(device(0), &raw mut step));
    assert_eq!(step, 1);
}

#[test]
fn freeing_a_counters_memory_loses_the_context_and_ends_waits() {
    // The counter alone, or where the host looks.
    for freed in 0..2 {
        let context = context();
        let places = [(); 2].map(|()| words(context, 2).as_mut_ptr().cast::<u64>());
        let chained = ze_event_counter_based_external_sync_allocation_desc_t {
            deviceAddress: places[0],
            hostAddress: places[1],
            completionValue: 7,
            ..Default::default()
        };
        let (_, event) = create(context, 1, (&raw const chained).cast());
        assert_eq!(ze!(Event.pfnQueryStatus(event)), ZE_RESULT_NOT_READY);
        let ([done, never], list) = (events(context, false), immediate(context, ASYNC, 0));
        barrier(list, done, &mut [event]);
        // Of another list that waits for an event that is never signalled.
        let other = immediate(context, ASYNC, 0);
        barrier(other, null_mut(), &mut [never]);
        ok!(Mem.pfnFree(context, places[freed].cast()));
        let lost = ZE_RESULT_ERROR_DEVICE_LOST;
        assert_eq!(ze!(CommandList.pfnHostSynchronize(list, FOREVER)), lost);
        assert!(last_error().contains("was freed"), "{}", last_error());
        assert_eq!(ze!(CommandList.pfnHostSynchronize(other, FOREVER)), lost);
        assert_eq!(ze!(Event.pfnHostSynchronize(done, FOREVER)), lost);
        assert_eq!(ze!(Event.pfnQueryStatus(event)), lost);
    }
}

#[test]
fn descriptors_of_counters_are_checked() {
    let context = context();
    let mut most = 0;
    ok!(Device.pfnGetCounterBasedEventMaxValue(device(0), &raw mut most));
    let mut place = [0u64; 2];
    let at = place.as_mut_ptr();
    let allocation = |address, host, value| {
        let chained = ze_event_counter_based_external_sync_allocation_desc_t {
            deviceAddress: address,
            hostAddress: host,
            completionValue: value,
            ..Default::default()
        };
        create(context, 1, (&raw const chained).cast()).0
    };
    assert_eq!(allocation(at, at, most), ZE_RESULT_SUCCESS);
    assert_eq!(
        allocation(at, at, most + 1),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    assert_eq!(
        allocation(null_mut(), at, 1),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER
    );
    assert_eq!(
        allocation(at.wrapping_byte_add(4), at, 1),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    let both =
        ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    assert_eq!(
        create(context, both, null()).0,
        ZE_RESULT_ERROR_INVALID_ENUMERATION
    );
    assert_eq!(
        create(context, 0x80, null()).0,
        ZE_RESULT_ERROR_INVALID_ENUMERATION
    );
    let (_, plain) = create(context, 1, null());
    let mut handle = ze_ipc_event_counter_based_handle_t::default();
    let get = |event, handle: *mut _| ze!(Event.pfnCounterBasedGetIpcHandle(event, handle));
    assert_eq!(
        get(plain, &raw mut handle),
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "no IPC flag"
    );
    let [regular] = events(context, false);
    assert_eq!(
        get(regular, &raw mut handle),
        ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT
    );
    let close = |event| ze!(Event.pfnCounterBasedCloseIpcHandle(event));
    assert_eq!(close(plain), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    let mut event = null_mut();
    let open = ze!(Event.pfnCounterBasedOpenIpcHandle(context, handle, &raw mut event));
    assert_eq!(
        open, ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "bytes that are not a handle"
    );
}

#[test]
fn requirements_are_text_that_the_device_judges() {
    let context = context();
    let input = b"SPIR-V";
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: input.len(),
        pInputModule: input.as_ptr(),
        ..Default::default()
    };
    let mut module = null_mut();
    ok!(Module.pfnCreate(
        context,
        device(0),
        &raw const desc,
        &raw mut module,
        null_mut()
    ));
    let object = ze_runtime_requirements_module_desc_t {
        requirementsSrc: module,
        ..Default::default()
    };
    let object = (&raw const object).cast();
    let mut size = 0;
    ok!(Device.pfnGetRuntimeRequirements(device(0), object, &raw mut size, null_mut()));
    let mut text = vec![1; size];
    let get =
        |size: *mut usize, to| ze!(Device.pfnGetRuntimeRequirements(device(0), object, size, to));
    assert_eq!(
        get(&mut (size - 1), text.as_mut_ptr()),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER
    );
    assert_eq!(
        get(null_mut(), text.as_mut_ptr()),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER
    );
    assert_eq!(get(&raw mut size, text.as_mut_ptr()), ZE_RESULT_SUCCESS);
    assert_eq!(text.last(), Some(&0));
    let judge = |text: *const std::ffi::c_char| {
        let mut out = ze_validate_runtime_requirements_output_t::default();
        ok!(Device.pfnValidateRuntimeRequirements(device(0), text, &raw mut out));
        out.result
    };
    assert_eq!(
        judge(text.as_ptr()),
        ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_REQUIREMENTS_MET
    );
    assert_eq!(
        judge(c"someone else's".as_ptr()),
        ZE_VALIDATE_RUNTIME_REQUIREMENTS_RESULT_NOT_APPLICABLE
    );
    let mut key = null();
    ok!(Device.pfnGetRuntimeRequirementsKey(device(0), &raw mut key));
    // SAFETY: a C string of the driver's.
    assert!(!unsafe { CStr::from_ptr(key) }.is_empty());
    let mut out = ze_validate_runtime_requirements_output_t::default();
    let none = ze!(Device.pfnValidateRuntimeRequirements(device(0), null(), &raw mut out));
    assert_eq!(none, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    let wrong = ze_module_desc_t::default();
    let wrong = ze!(Device.pfnGetRuntimeRequirements(
        device(0),
        (&raw const wrong).cast(),
        &raw mut size,
        null_mut()
    ));
    assert_eq!(wrong, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}
