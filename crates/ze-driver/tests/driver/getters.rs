//! Properties that objects report about their creation, and other small calls that the conformance suite leaves out.

use crate::api::*;
use level_zero_sys::*;
use std::ptr::{null, null_mut};

/// The value that a getter overwrites.
macro_rules! got {
    ($table:ident.$slot:ident, $object:expr, $start:expr) => {{
        let mut value = $start;
        ok!($table.$slot($object, &raw mut value));
        value
    }};
}

const SYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
const HIGH: ze_command_queue_priority_t = ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH;

#[test]
fn queues_and_lists_report_their_descriptors() {
    let context = context();
    let in_order = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    let cases = [
        (0, 1, 0, ZE_COMMAND_QUEUE_MODE_DEFAULT, HIGH),
        (0, 3, in_order, SYNC, ZE_COMMAND_QUEUE_PRIORITY_NORMAL),
        (1, 0, ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY, SYNC, HIGH),
    ];
    for (ordinal, index, flags, mode, priority) in cases {
        let desc = ze_command_queue_desc_t {
            ordinal,
            index,
            flags,
            mode,
            priority,
            ..Default::default()
        };
        let (mut queue, mut list) = (null_mut(), null_mut());
        ok!(CommandQueue.pfnCreate(context, device(0), &raw const desc, &raw mut queue));
        ok!(CommandList.pfnCreateImmediate(context, device(0), &raw const desc, &raw mut list));
        assert_eq!(got!(CommandQueue.pfnGetOrdinal, queue, u32::MAX), ordinal);
        assert_eq!(got!(CommandQueue.pfnGetIndex, queue, u32::MAX), index);
        assert_eq!(got!(CommandQueue.pfnGetFlags, queue, u32::MAX), flags);
        assert_eq!(
            got!(CommandQueue.pfnGetMode, queue, ze_command_queue_mode_t(77)),
            mode
        );
        assert_eq!(
            got!(
                CommandQueue.pfnGetPriority,
                queue,
                ze_command_queue_priority_t(77)
            ),
            priority
        );
        assert_eq!(got!(CommandList.pfnGetOrdinal, list, u32::MAX), ordinal);
        assert_eq!(
            got!(CommandList.pfnImmediateGetIndex, list, u32::MAX),
            index
        );
        assert_eq!(
            got!(CommandList.pfnImmediateGetFlags, list, u32::MAX),
            flags
        );
        assert_eq!(
            got!(
                CommandList.pfnImmediateGetMode,
                list,
                ze_command_queue_mode_t(77)
            ),
            mode
        );
        assert_eq!(
            got!(
                CommandList.pfnImmediateGetPriority,
                list,
                ze_command_queue_priority_t(77)
            ),
            priority
        );
        assert_eq!(got!(CommandList.pfnIsImmediate, list, 9_u8), 1);
        let wanted = match flags {
            0 => 0,
            f if f == in_order => ZE_COMMAND_LIST_FLAG_IN_ORDER,
            _ => ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY,
        };
        assert_eq!(got!(CommandList.pfnGetFlags, list, u32::MAX), wanted);
    }
}

#[test]
fn regular_lists_report_no_queue() {
    let context = context();
    let flags = ZE_COMMAND_LIST_FLAG_IN_ORDER | ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT;
    let list = list(context, flags);
    let (mut on, mut of) = (null_mut(), null_mut());
    ok!(CommandList.pfnGetDeviceHandle(list, &raw mut on));
    ok!(CommandList.pfnGetContextHandle(list, &raw mut of));
    assert_eq!((on, of), (device(0), context));
    assert_eq!(got!(CommandList.pfnGetOrdinal, list, u32::MAX), 0);
    assert_eq!(got!(CommandList.pfnGetFlags, list, u32::MAX), flags);
    assert_eq!(got!(CommandList.pfnIsImmediate, list, 9_u8), 0);
    let bad = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    assert_eq!(ze!(CommandList.pfnImmediateGetIndex(list, &mut 0)), bad);
    assert_eq!(ze!(CommandList.pfnImmediateGetFlags(list, &mut 0)), bad);
    let mut mode = SYNC;
    assert_eq!(
        ze!(CommandList.pfnImmediateGetMode(list, &raw mut mode)),
        bad
    );
    let mut priority = HIGH;
    assert_eq!(
        ze!(CommandList.pfnImmediateGetPriority(list, &raw mut priority)),
        bad
    );
}

#[test]
fn events_report_their_pool_and_context() {
    let context = context();
    let desc = ze_event_pool_desc_t {
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
        count: 1,
        ..Default::default()
    };
    let (mut pool, mut event) = (null_mut(), null_mut());
    ok!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool));
    let (signal, wait) = (ZE_EVENT_SCOPE_FLAG_HOST, ZE_EVENT_SCOPE_FLAG_DEVICE);
    let scopes = ze_event_desc_t {
        signal,
        wait,
        ..Default::default()
    };
    ok!(Event.pfnCreate(pool, &raw const scopes, &raw mut event));
    let (mut of, mut from) = (null_mut(), null_mut());
    ok!(EventPool.pfnGetContextHandle(pool, &raw mut of));
    ok!(Event.pfnGetEventPool(event, &raw mut from));
    assert_eq!((of, from), (context, pool));
    assert_eq!(got!(EventPool.pfnGetFlags, pool, u32::MAX), desc.flags);
    assert_eq!(got!(Event.pfnGetSignalScope, event, u32::MAX), signal);
    assert_eq!(got!(Event.pfnGetWaitScope, event, u32::MAX), wait);
    assert_eq!(got!(Event.pfnGetCounterBasedFlags, event, u32::MAX), 0);
    let flags =
        ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP;
    let desc = ze_event_counter_based_desc_t {
        flags,
        signal,
        wait,
        ..Default::default()
    };
    ok!(Event.pfnCounterBasedCreate(context, device(0), &raw const desc, &raw mut event));
    assert_eq!(got!(Event.pfnGetCounterBasedFlags, event, u32::MAX), flags);
    assert_eq!(got!(Event.pfnGetSignalScope, event, u32::MAX), signal);
    assert_eq!(got!(Event.pfnGetWaitScope, event, u32::MAX), wait);
    let none = ze!(Event.pfnGetEventPool(event, &raw mut from));
    assert_eq!(none, ZE_RESULT_ERROR_INVALID_ARGUMENT, "it has no pool");
}

#[test]
fn any_event_reports_the_number_of_timestamps() {
    let context = context();
    let unsupported = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    let timed = ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    for (flags, number, refusal) in [(0, 0, unsupported), (timed, 1, ZE_RESULT_NOT_READY)] {
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
            count: 1,
            ..Default::default()
        };
        let (mut pool, mut event) = (null_mut(), null_mut());
        ok!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool));
        let desc = ze_event_desc_t::default();
        ok!(Event.pfnCreate(pool, &raw const desc, &raw mut event));
        let mut count = 0;
        ok!(EventExp.pfnQueryTimestampsExp(event, device(0), &raw mut count, null_mut()));
        assert_eq!(count, number);
        count = 0;
        ok!(Event.pfnQueryKernelTimestampsExt(event, device(0), &raw mut count, null_mut()));
        assert_eq!(count, number);
        count = 1;
        let answer =
            ze!(Event.pfnQueryKernelTimestampsExt(event, device(0), &raw mut count, null_mut()));
        assert_eq!(answer, refusal, "not signalled");
        let mut times = ze_kernel_timestamp_result_t::default();
        count = 1;
        let answer =
            ze!(EventExp.pfnQueryTimestampsExp(event, device(0), &raw mut count, &raw mut times));
        assert_eq!(answer, refusal, "not signalled");
    }
}

/// The fake platform's two clocks drift, as adjusted and raw clocks of a machine do.
#[test]
fn synchronized_timestamps_of_one_signal_stay_the_same() {
    let context = context();
    let desc = ze_event_pool_desc_t {
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP,
        count: 1,
        ..Default::default()
    };
    let (mut pool, mut event) = (null_mut(), null_mut());
    ok!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool));
    let desc = ze_event_desc_t::default();
    ok!(Event.pfnCreate(pool, &raw const desc, &raw mut event));
    let synchronized = || {
        let (mut times, mut count) = (ze_synchronized_timestamp_result_ext_t::default(), 1);
        let mut results = ze_event_query_kernel_timestamps_results_ext_properties_t {
            pSynchronizedTimestampsBuffer: &raw mut times,
            ..Default::default()
        };
        ok!(Event.pfnQueryKernelTimestampsExt(event, device(0), &raw mut count, &raw mut results));
        (times.global.kernelStart, times.global.kernelEnd)
    };
    ok!(Event.pfnHostSignal(event));
    let first = synchronized();
    assert!(first.0 < first.1);
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_eq!(synchronized(), first);
    ok!(Event.pfnHostReset(event));
    ok!(Event.pfnHostSignal(event));
    let (mut host, mut on_device) = (0, 0);
    ok!(Device.pfnGetGlobalTimestamps(device(0), &raw mut host, &raw mut on_device));
    let second = synchronized();
    assert!(first.1 < second.0, "a later signal");
    assert!(second.0.abs_diff(host) < host / 2, "on the host's clock");
}

#[test]
fn copies_and_fills_take_no_parameters() {
    let context = context();
    let memory = words(context, 8);
    let at = memory.as_mut_ptr();
    let list = immediate(context, SYNC, 0);
    let pattern = 7_u32;
    ok!(CommandList.pfnAppendMemoryFillWithParameters(
        list,
        at.cast(),
        (&raw const pattern).cast(),
        4,
        16,
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    ok!(CommandList.pfnAppendMemoryCopyWithParameters(
        list,
        at.wrapping_add(4).cast(),
        at.cast(),
        16,
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(memory, [7; 8]);
    let unknown = ze_context_desc_t::default();
    let refused = ze!(CommandList.pfnAppendMemoryCopyWithParameters(
        list,
        at.cast(),
        at.cast(),
        4,
        (&raw const unknown).cast(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(refused, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

#[test]
fn kernels_give_their_binary_and_their_arguments_allocations() {
    let context = context();
    let kernel = kernel(context, c"add");
    let mut size = 0;
    ok!(KernelExp.pfnGetBinaryExp(kernel, &raw mut size, null_mut()));
    let mut bytes = vec![0_u8; size];
    ok!(KernelExp.pfnGetBinaryExp(kernel, &raw mut size, bytes.as_mut_ptr()));
    assert!(bytes.starts_with(b"1 modules"), "{bytes:?}");
    let allocations = || {
        let mut count = 0;
        ok!(KernelExp.pfnGetAllocationPropertiesExp(kernel, &raw mut count, null_mut()));
        let mut all = vec![ze_kernel_allocation_exp_properties_t::default(); count as usize];
        ok!(KernelExp.pfnGetAllocationPropertiesExp(kernel, &raw mut count, all.as_mut_ptr()));
        all.iter()
            .map(|one| (one.base, one.size, one.r#type, one.argIndex))
            .collect::<Vec<_>>()
    };
    assert_eq!(allocations(), [], "nothing is set");
    let memory = words(context, 100);
    let base = memory.as_ptr().addr() as u64;
    let mut own = 0_u32;
    // (bytes of the argument, result)
    for (at, found) in [
        (base, true),
        (base + 399, true),
        (base + 400, false),
        ((&raw mut own).addr() as u64, false),
        (0, false),
    ] {
        ok!(Kernel.pfnSetArgumentValue(kernel, 0, 8, (&raw const at).cast()));
        let expected = if found {
            vec![(base, 400, ZE_MEMORY_TYPE_SHARED, 0)]
        } else {
            Vec::new()
        };
        assert_eq!(allocations(), expected, "{at:#x}");
    }
}

#[test]
fn caches_are_not_reserved_and_vectors_have_a_width() {
    assert_eq!(
        ze!(Device.pfnReserveCacheExt(device(0), 2, 0)),
        ZE_RESULT_SUCCESS
    );
    let some = ze!(Device.pfnReserveCacheExt(device(0), 2, 4096));
    assert_ne!(some, ZE_RESULT_SUCCESS, "no size above 0 can be reserved");
    let memory = words(context(), 4);
    let at = memory.as_mut_ptr().cast();
    ok!(Device.pfnSetCacheAdviceExt(device(0), at, 16, ZE_CACHE_EXT_REGION_NON_RESERVED));
    let mut count = 0;
    ok!(Device.pfnGetVectorWidthPropertiesExt(device(0), &raw mut count, null_mut()));
    let mut all = vec![ze_device_vector_width_properties_ext_t::default(); count as usize];
    ok!(Device.pfnGetVectorWidthPropertiesExt(device(0), &raw mut count, all.as_mut_ptr()));
    assert!(!all.is_empty());
    for widths in &all {
        assert!(widths.preferred_vector_width_float > 0 && widths.native_vector_width_int > 0);
    }
}
