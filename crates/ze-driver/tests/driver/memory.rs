//! Memory: allocation, freeing, questions about pointers, copies of regions.

use crate::api::*;
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn allocation_checks_size_and_alignment() {
    let context = context();
    let cases = [
        (0, 0, ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0"),
        (
            16,
            3,
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            "alignment is 3",
        ),
        (
            (1 << 20) + 1,
            0,
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            "at most 1048576",
        ),
        (16, 0, ZE_RESULT_SUCCESS, ""),
        (1, 1 << 16, ZE_RESULT_SUCCESS, ""),
    ];
    let desc = ze_host_mem_alloc_desc_t::default();
    for (size, alignment, want, text) in cases {
        let mut at: *mut c_void = null_mut();
        let got = ze!(Mem.pfnAllocHost(context, &raw const desc, size, alignment, &raw mut at));
        assert_eq!(got, want, "size {size} alignment {alignment}");
        if want == ZE_RESULT_SUCCESS {
            assert!((at as usize).is_multiple_of(alignment.max(1)));
            ok!(Mem.pfnFree(context, at));
            assert_eq!(
                ze!(Mem.pfnFree(context, at)),
                ZE_RESULT_ERROR_INVALID_ARGUMENT
            );
        } else {
            assert!(last_error().contains(text), "{}", last_error());
        }
    }
    let relaxed = ze_relaxed_allocation_limits_exp_desc_t {
        flags: ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE,
        ..Default::default()
    };
    let desc = ze_host_mem_alloc_desc_t {
        pNext: (&raw const relaxed).cast(),
        ..Default::default()
    };
    let mut at: *mut c_void = null_mut();
    ok!(Mem.pfnAllocHost(context, &raw const desc, (1 << 20) + 1, 0, &raw mut at));
}

#[test]
fn any_pointer_can_be_queried() {
    let context = context();
    let shared = words(context, 100).as_mut_ptr();
    let local = 0_u32;
    let cases: [(*const u32, ze_memory_type_t, bool); 3] = [
        (shared, ZE_MEMORY_TYPE_SHARED, true),
        (shared.wrapping_add(99), ZE_MEMORY_TYPE_SHARED, true),
        (&raw const local, ZE_MEMORY_TYPE_UNKNOWN, false),
    ];
    for (pointer, want, has_device) in cases {
        let mut properties = ze_memory_allocation_properties_t::default();
        let mut device = null_mut();
        let got = ze!(Mem.pfnGetAllocProperties(
            context,
            pointer.cast(),
            &raw mut properties,
            &raw mut device
        ));
        assert_eq!((got, properties.r#type), (ZE_RESULT_SUCCESS, want));
        assert_eq!(!device.is_null(), has_device);
        let (mut base, mut size) = (null_mut(), 0);
        let range =
            ze!(Mem.pfnGetAddressRange(context, pointer.cast(), &raw mut base, &raw mut size));
        if has_device {
            assert_eq!((range, base, size), (ZE_RESULT_SUCCESS, shared.cast(), 400));
        } else {
            assert_eq!(range, ZE_RESULT_ERROR_ADDRESS_NOT_FOUND);
        }
    }
    let inside = ze!(Mem.pfnFree(context, shared.wrapping_add(1).cast()));
    assert_eq!(inside, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok!(Mem.pfnGetAddressRange(context, shared.cast(), null_mut(), null_mut()));
}

#[test]
fn deferred_frees_come_after_commands_in_flight() {
    let context = context();
    let [gate, done] = events(context, false);
    let (from, to) = (words(context, 1).as_mut_ptr(), words(context, 1));
    // SAFETY: a live word.
    unsafe { from.write(6) };
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    let mut waits = [gate];
    ok!(CommandList.pfnAppendMemoryCopy(
        list,
        to.as_mut_ptr().cast(),
        from.cast(),
        4,
        done,
        1,
        waits.as_mut_ptr()
    ));
    let desc = ze_memory_free_ext_desc_t {
        freePolicy: ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE,
        ..Default::default()
    };
    ok!(Mem.pfnFreeExt(context, &raw const desc, from.cast()));
    let mut properties = ze_memory_allocation_properties_t::default();
    let ask = |properties: &mut ze_memory_allocation_properties_t| {
        ok!(Mem.pfnGetAllocProperties(context, from.cast(), properties, null_mut()));
        properties.r#type
    };
    assert_eq!(ask(&mut properties), ZE_MEMORY_TYPE_SHARED);
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
    assert_eq!(to[0], 6);
    assert_eq!(ask(&mut properties), ZE_MEMORY_TYPE_UNKNOWN);
}

#[test]
fn regions_are_copied_row_by_row() {
    let context = context();
    let source = words(context, 64);
    for (i, word) in source.iter_mut().enumerate() {
        *word = i as u32;
    }
    let target = words(context, 64);
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    // A 2 x 3 block of words out of rows of 8, copied into rows of 4.
    let region = |x, y| ze_copy_region_t {
        originX: x,
        originY: y,
        originZ: 0,
        width: 8,
        height: 3,
        depth: 1,
    };
    let (to, from) = (region(4, 1), region(8, 2));
    ok!(CommandList.pfnAppendMemoryCopyRegion(
        list,
        target.as_mut_ptr().cast(),
        &raw const to,
        16,
        0,
        source.as_ptr().cast(),
        &raw const from,
        32,
        0,
        null_mut(),
        0,
        null_mut()
    ));
    let rows: Vec<_> = (1..4)
        .map(|y| [target[y * 4 + 1], target[y * 4 + 2]])
        .collect();
    assert_eq!(rows, [[18, 19], [26, 27], [34, 35]]);
    assert_eq!(target.iter().filter(|word| **word != 0).count(), 6);
}

#[test]
fn fills_repeat_their_pattern() {
    let context = context();
    let memory = words(context, 4);
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    let pattern = [1_u32, 2];
    let fill = |size, pattern_size| {
        ze!(CommandList.pfnAppendMemoryFill(
            list,
            memory.as_ptr().cast_mut().cast(),
            pattern.as_ptr().cast(),
            pattern_size,
            size,
            null_mut(),
            0,
            null_mut()
        ))
    };
    assert_eq!(fill(16, 8), ZE_RESULT_SUCCESS);
    assert_eq!(fill(0, 8), ZE_RESULT_SUCCESS);
    assert_eq!(fill(12, 8), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_eq!(fill(12, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_eq!(memory, [1, 2, 1, 2]);
    assert_eq!(
        ze!(Mem.pfnGetAllocProperties(context, null(), null_mut(), null_mut())),
        ZE_RESULT_ERROR_INVALID_NULL_POINTER
    );
}

#[test]
fn a_device_without_peer_access_rejects_anothers_memory_by_name() {
    let context = context();
    let desc = ze_command_queue_desc_t::default();
    let mut list = null_mut();
    ok!(CommandList.pfnCreateImmediate(context, device(2), &raw const desc, &raw mut list));
    let on = ze_device_mem_alloc_desc_t::default();
    let memory = |index| {
        let mut at: *mut c_void = null_mut();
        ok!(Mem.pfnAllocDevice(context, &raw const on, 64, 0, device(index), &raw mut at));
        at
    };
    let (mine, others) = (memory(2), memory(0));
    let shared = words(context, 16).as_mut_ptr().cast();
    let copy = |to, from: *mut c_void| {
        ze!(CommandList.pfnAppendMemoryCopy(list, to, from, 4, null_mut(), 0, null_mut()))
    };
    let refused = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (to, from, want) in [
        (mine, shared, ZE_RESULT_SUCCESS),
        (mine, others, refused),
        (others, mine, refused),
    ] {
        assert_eq!(copy(to, from), want);
    }
    assert!(last_error().contains("dstptr is 0x"), "{}", last_error());
    assert!(
        last_error().contains("memory of device 0"),
        "{}",
        last_error()
    );
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
}
