//! The driver as a loader sees it: the tables behind a handle, and short functions for common calls.

use level_zero_sys::*;
use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

/// Calls a slot of the driver's own tables.
macro_rules! ze {
    ($table:ident.$slot:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: the driver's tables are complete; the test passes valid arguments, or nulls that the driver must
        // reject.
        unsafe { ((*(*crate::api::core()).$table).$slot.expect("tables are complete"))($($arg),*) }
    }};
}
pub(crate) use ze;

/// Asserts success and shows the driver's text otherwise.
macro_rules! ok {
    ($table:ident.$slot:ident($($arg:expr),* $(,)?)) => {{
        let result = crate::api::ze!($table.$slot($($arg),*));
        assert_eq!(result, ZE_RESULT_SUCCESS, "{}: {}", stringify!($slot), crate::api::last_error());
    }};
}
pub(crate) use ok;

/// The driver, initialised once.
pub(crate) fn driver() -> ze_driver_handle_t {
    ze_driver::install(crate::platform::platform);
    let mut table = ze_global_dditable_t::default();
    // SAFETY: a live table.
    let got = unsafe {
        ze_driver::getters::zeGetGlobalProcAddrTable(ZE_API_VERSION_1_17, &raw mut table)
    };
    assert_eq!(got, ZE_RESULT_SUCCESS);
    let mut desc = ze_init_driver_type_desc_t {
        flags: u32::MAX,
        ..Default::default()
    };
    let (mut count, mut driver) = (1, null_mut());
    let init = table.pfnInitDrivers.expect("tables are complete");
    // SAFETY: live locals.
    let got = unsafe { init(&raw mut count, &raw mut driver, &raw mut desc) };
    assert_eq!((got, count), (ZE_RESULT_SUCCESS, 1));
    driver
}

/// The core tables behind the driver's handle.
pub(crate) fn core() -> *mut ze_dditable_driver_t {
    // SAFETY: every handle begins with the header.
    unsafe { (*driver().cast::<ze_handle_t>()).pCore }
}

/// This thread's last error.
pub(crate) fn last_error() -> String {
    let mut text = null();
    let _ = ze!(Driver.pfnGetLastErrorDescription(driver(), &raw mut text));
    // SAFETY: never null, ended by a zero.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

/// Device 0, 1 or 2.
pub(crate) fn device(index: usize) -> ze_device_handle_t {
    let (mut count, mut devices) = (3, [null_mut(); 3]);
    ok!(Device.pfnGet(driver(), &raw mut count, devices.as_mut_ptr()));
    devices[index]
}

/// A new context of all devices.
pub(crate) fn context() -> ze_context_handle_t {
    let (desc, mut context) = (ze_context_desc_t::default(), null_mut());
    ok!(Context.pfnCreate(driver(), &raw const desc, &raw mut context));
    context
}

/// Zeroed shared memory as a slice of `n` words, alive as long as the process.
pub(crate) fn words(context: ze_context_handle_t, n: usize) -> &'static mut [u32] {
    let (on, host) = (
        ze_device_mem_alloc_desc_t::default(),
        ze_host_mem_alloc_desc_t::default(),
    );
    let mut at: *mut c_void = null_mut();
    ok!(Mem.pfnAllocShared(
        context,
        &raw const on,
        &raw const host,
        n * 4,
        0,
        device(0),
        &raw mut at
    ));
    // SAFETY: `n` zeroed words, aligned to a page.
    unsafe { std::slice::from_raw_parts_mut(at.cast(), n) }
}

/// A new asynchronous queue.
pub(crate) fn queue(context: ze_context_handle_t) -> ze_command_queue_handle_t {
    let desc = ze_command_queue_desc_t {
        mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ..Default::default()
    };
    let mut queue = null_mut();
    ok!(CommandQueue.pfnCreate(context, device(0), &raw const desc, &raw mut queue));
    queue
}

/// A new list with those flags.
pub(crate) fn list(context: ze_context_handle_t, flags: u32) -> ze_command_list_handle_t {
    let desc = ze_command_list_desc_t {
        flags,
        ..Default::default()
    };
    let mut list = null_mut();
    ok!(CommandList.pfnCreate(context, device(0), &raw const desc, &raw mut list));
    list
}

/// A new immediate list with that mode and those flags.
pub(crate) fn immediate(
    context: ze_context_handle_t,
    mode: ze_command_queue_mode_t,
    flags: u32,
) -> ze_command_list_handle_t {
    let desc = ze_command_queue_desc_t {
        mode,
        flags,
        ..Default::default()
    };
    let mut list = null_mut();
    ok!(CommandList.pfnCreateImmediate(context, device(0), &raw const desc, &raw mut list));
    list
}

/// `N` new events with timestamps; counter-based ones when asked.
pub(crate) fn events<const N: usize>(
    context: ze_context_handle_t,
    counter: bool,
) -> [ze_event_handle_t; N] {
    let chained = ze_event_pool_counter_based_exp_desc_t {
        flags: 1,
        ..Default::default()
    };
    let desc = ze_event_pool_desc_t {
        pNext: if counter {
            (&raw const chained).cast()
        } else {
            null()
        },
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
        count: N as u32,
        ..Default::default()
    };
    let mut pool = null_mut();
    ok!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool));
    std::array::from_fn(|index| {
        let desc = ze_event_desc_t {
            index: index as u32,
            signal: ZE_EVENT_SCOPE_FLAG_HOST,
            ..Default::default()
        };
        let mut event = null_mut();
        ok!(Event.pfnCreate(pool, &raw const desc, &raw mut event));
        event
    })
}

/// A kernel of a module for device 0.
pub(crate) fn kernel(context: ze_context_handle_t, name: &CStr) -> ze_kernel_handle_t {
    kernel_on(context, 0, name)
}

/// A kernel of a module for that device.
pub(crate) fn kernel_on(
    context: ze_context_handle_t,
    on: usize,
    name: &CStr,
) -> ze_kernel_handle_t {
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
        device(on),
        &raw const desc,
        &raw mut module,
        null_mut()
    ));
    let desc = ze_kernel_desc_t {
        pKernelName: name.as_ptr(),
        ..Default::default()
    };
    let mut kernel = null_mut();
    ok!(Kernel.pfnCreate(module, &raw const desc, &raw mut kernel));
    kernel
}

/// Sets argument `index` from a value.
pub(crate) fn arg<T>(kernel: ze_kernel_handle_t, index: u32, value: T) -> ze_result_t {
    ze!(Kernel.pfnSetArgumentValue(kernel, index, size_of::<T>(), (&raw const value).cast()))
}
