//! Commands that wait for words of memory or write them: functions outside the tables.

use crate::api::*;
use level_zero_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const FOREVER: u64 = u64::MAX;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;

type List = ze_command_list_handle_t;
/// Descriptors are words: action and scope, or scope.
type Wait =
    unsafe extern "C" fn(List, *const u32, *mut c_void, u32, ze_event_handle_t) -> ze_result_t;
type Wait64 =
    unsafe extern "C" fn(List, *const u32, *mut c_void, u64, ze_event_handle_t) -> ze_result_t;
type Write = unsafe extern "C" fn(List, *const u32, *mut c_void, u64) -> ze_result_t;

fn named(name: &CStr) -> *mut c_void {
    let mut found = null_mut();
    ok!(Driver.pfnGetExtensionFunctionAddress(driver(), name.as_ptr(), &raw mut found));
    found
}

fn wait(
    list: List,
    action: u32,
    at: *mut c_void,
    data: u32,
    signal: ze_event_handle_t,
) -> ze_result_t {
    // SAFETY: the function of that name has that type.
    let call = unsafe {
        std::mem::transmute::<*mut c_void, Wait>(named(c"zexCommandListAppendWaitOnMemory"))
    };
    let desc = [action, 4];
    // SAFETY: live arguments, or such as the driver must refuse.
    unsafe { call(list, desc.as_ptr(), at, data, signal) }
}

fn wait64(list: List, action: u32, at: *mut c_void, data: u64) -> ze_result_t {
    // SAFETY: the function of that name has that type.
    let call = unsafe {
        std::mem::transmute::<*mut c_void, Wait64>(named(c"zexCommandListAppendWaitOnMemory64"))
    };
    let desc = [action, 4];
    // SAFETY: live arguments, or such as the driver must refuse.
    unsafe { call(list, desc.as_ptr(), at, data, null_mut()) }
}

fn write(list: List, scope: u32, at: *mut c_void, data: u64) -> ze_result_t {
    // SAFETY: the function of that name has that type.
    let call = unsafe {
        std::mem::transmute::<*mut c_void, Write>(named(c"zexCommandListAppendWriteToMemory"))
    };
    // SAFETY: live arguments, or such as the driver must refuse.
    unsafe { call(list, &raw const scope, at, data) }
}

fn fill(list: List, at: *mut u32, value: u32) {
    ok!(CommandList.pfnAppendMemoryFill(
        list,
        at.cast(),
        (&raw const value).cast(),
        4,
        4,
        null_mut(),
        0,
        null_mut()
    ));
}

#[test]
fn the_device_reports_the_size_of_a_waits_word() {
    /// `ze_intel_device_command_list_wait_on_memory_data_size_exp_desc_t`.
    #[repr(C)]
    struct DataSize {
        stype: ze_structure_type_t,
        next: *mut c_void,
        bytes: u32,
    }
    let mut size = DataSize {
        stype: ze_structure_type_t(0x0003_0017),
        next: null_mut(),
        bytes: 0,
    };
    // SAFETY: zero bytes are a valid struct of properties.
    let mut properties: ze_device_properties_t = unsafe { std::mem::zeroed() };
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    properties.pNext = (&raw mut size).cast();
    ok!(Device.pfnGetProperties(device(0), &raw mut properties));
    assert_eq!(size.bytes, 4);
    let mut count = 0;
    ok!(Driver.pfnGetExtensionProperties(driver(), &raw mut count, null_mut()));
    // SAFETY: as above.
    let mut all: Vec<ze_driver_extension_properties_t> =
        vec![unsafe { std::mem::zeroed() }; count as usize];
    ok!(Driver.pfnGetExtensionProperties(driver(), &raw mut count, all.as_mut_ptr()));
    let name = |at: &ze_driver_extension_properties_t| {
        // SAFETY: the driver writes zero-terminated names.
        unsafe { CStr::from_ptr(at.name.as_ptr()) }.to_owned()
    };
    let told = c"ZE_intel_experimental_command_list_memory_sync";
    assert!(all.iter().any(|at| name(at).as_c_str() == told));
}

#[test]
fn a_list_continues_when_the_comparison_holds() {
    let context = context();
    let memory = words(context, 2).as_mut_ptr();
    // SAFETY: live words of the test, shared as atomics from here on.
    let word = unsafe { AtomicU32::from_ptr(memory) };
    // (action, value before, value after, data)
    for (action, before, after, data) in [
        (0x1, 4, 5, 5),
        (0x2, 5, 4, 5),
        (0x4, 5, 6, 5),
        (0x8, 4, 5, 5),
        (0x10, 5, 4, 5),
        (0x20, 6, 5, 5),
        // Without a sign.
        (0x4, 7, u32::MAX, 0x7fff_ffff),
    ] {
        word.store(before, Ordering::SeqCst);
        let (list, [done]) = (immediate(context, ASYNC, 0), events(context, false));
        assert_eq!(
            wait(list, action, memory.cast(), data, done),
            ZE_RESULT_SUCCESS
        );
        fill(list, memory.wrapping_add(1), 100 + action);
        assert_eq!(ze!(Event.pfnQueryStatus(done)), ZE_RESULT_NOT_READY);
        assert_eq!(
            ze!(CommandList.pfnHostSynchronize(list, 0)),
            ZE_RESULT_NOT_READY
        );
        word.store(after, Ordering::SeqCst);
        ok!(Event.pfnHostSynchronize(done, FOREVER));
        ok!(CommandList.pfnHostSynchronize(list, FOREVER));
        // SAFETY: written by the list that has ended.
        assert_eq!(unsafe { memory.wrapping_add(1).read() }, 100 + action);
        ok!(CommandList.pfnDestroy(list));
    }
}

#[test]
fn lists_wake_each_other_by_words() {
    let context = context();
    let memory = words(context, 6).as_mut_ptr();
    // SAFETY: as above, of 8 bytes: allocations are aligned.
    let word = unsafe { AtomicU64::from_ptr(memory.cast()) };
    let high = 5_u64 << 32;
    // Recorded and executed twice: the condition is evaluated each time.
    let (queue, recorded) = (queue(context), list(context, 0));
    assert_eq!(
        wait64(recorded, 0x8, memory.cast(), high),
        ZE_RESULT_SUCCESS
    );
    fill(recorded, memory.wrapping_add(4), 7);
    ok!(CommandList.pfnClose(recorded));
    for _ in 0..2 {
        word.store(high - 1, Ordering::SeqCst);
        let mut lists = [recorded];
        ok!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut()));
        assert_eq!(
            ze!(CommandQueue.pfnSynchronize(queue, 0)),
            ZE_RESULT_NOT_READY
        );
        let other = immediate(context, ASYNC, 0);
        // The write follows the commands before it.
        fill(other, memory.wrapping_add(5), 8);
        assert_eq!(write(other, 4, memory.cast(), high), ZE_RESULT_SUCCESS);
        ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
        // SAFETY: written by lists that have ended, or before their wake-up.
        let seen = unsafe { [memory.wrapping_add(4).read(), memory.wrapping_add(5).read()] };
        assert_eq!(seen, [7, 8]);
        // SAFETY: nothing writes these now.
        unsafe { memory.wrapping_add(4).write_bytes(0, 2) };
    }
}

#[test]
fn impossible_waits_are_rejected() {
    let context = context();
    let memory: *mut c_void = words(context, 4).as_mut_ptr().cast();
    let list = immediate(context, ASYNC, 0);
    let odd = ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    let bad = ZE_RESULT_ERROR_INVALID_ENUMERATION;
    let at = |bytes| memory.wrapping_byte_add(bytes);
    for (got, wanted) in [
        (wait(list, 0, memory, 0, null_mut()), bad),
        (wait(list, 3, memory, 0, null_mut()), bad),
        (wait(list, 0x40, memory, 0, null_mut()), bad),
        (wait(list, 1, at(2), 0, null_mut()), odd),
        (wait64(list, 1, at(4), 0), odd),
        (write(list, 4, at(4), 0), odd),
        (write(list, 8, memory, 0), bad),
        (
            wait(list, 1, null_mut(), 0, null_mut()),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER,
        ),
    ] {
        assert_eq!(got, wanted, "{}", last_error());
    }
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
}

#[test]
fn a_word_that_is_freed_loses_the_context() {
    let context = context();
    let memory = words(context, 1).as_mut_ptr();
    let list = immediate(context, ASYNC, 0);
    assert_eq!(
        wait(list, 2, memory.cast(), 0, null_mut()),
        ZE_RESULT_SUCCESS
    );
    ok!(Mem.pfnFree(context, memory.cast()));
    let lost = ZE_RESULT_ERROR_DEVICE_LOST;
    assert_eq!(ze!(CommandList.pfnHostSynchronize(list, FOREVER)), lost);
    assert!(last_error().contains("was freed"), "{}", last_error());
}
