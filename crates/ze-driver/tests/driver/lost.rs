//! The result of every entry after a fault has lost the context: DEVICE_LOST with the fault's text if it submits work
//! to the device or waits for some, success if it frees something. Memory, lists, queues and fences can be created,
//! because DPC++ hides failed allocations, and crashes without the others; the next calls that use them report the
//! loss.

use crate::api::*;
use crate::launches::{ONE, launch};
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const FOREVER: u64 = u64::MAX;

#[test]
fn every_entry_reports_the_lost_device_and_objects_can_be_freed() {
    let context = context();
    let memory = words(context, 16);
    let at: *mut c_void = memory.as_mut_ptr().cast();
    let (queue, open, closed) = (queue(context), list(context, 0), list(context, 0));
    ok!(CommandList.pfnClose(closed));
    let [event, other] = events(context, false);
    let [counting] = events(context, true);
    let add = kernel(context, c"add");
    assert_eq!(arg(add, 0, at), ZE_RESULT_SUCCESS);
    let fence_desc = ze_fence_desc_t::default();
    let mut fence = null_mut();
    ok!(Fence.pfnCreate(queue, &raw const fence_desc, &raw mut fence));
    let mut module = null_mut();
    let input = b"SPIR-V";
    let module_desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: input.len(),
        pInputModule: input.as_ptr(),
        ..Default::default()
    };
    let on = device(0);
    ok!(Module.pfnCreate(
        context,
        on,
        &raw const module_desc,
        &raw mut module,
        null_mut()
    ));
    let immediate = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);

    let fault = kernel(context, c"fault");
    let launched = launch(immediate, fault, null_mut(), &mut []);
    assert_eq!(launched, ZE_RESULT_SUCCESS);
    let lost = ZE_RESULT_ERROR_DEVICE_LOST;
    assert_eq!(
        ze!(CommandList.pfnHostSynchronize(immediate, FOREVER)),
        lost
    );

    let mut made = null_mut();
    let (queue_desc, list_desc) = (
        ze_command_queue_desc_t::default(),
        ze_command_list_desc_t::default(),
    );
    let (pool_desc, event_desc) = (
        ze_event_pool_desc_t {
            count: 1,
            ..Default::default()
        },
        ze_event_counter_based_desc_t {
            flags: ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE,
            ..Default::default()
        },
    );
    let kernel_desc = ze_kernel_desc_t {
        pKernelName: c"add".as_ptr(),
        ..Default::default()
    };
    let sampler_desc = ze_sampler_desc_t::default();
    let groups = ONE;
    let mut lists = [closed];
    let mut waits = [other];
    let mut handle = ze_ipc_mem_handle_t::default();
    let mut pool = null_mut();
    let mut counter = null_mut();
    let mut a_module = null_mut();
    let mut a_kernel = null_mut();
    let mut a_fence = null_mut();
    let mut a_sampler = null_mut();
    let (mut a_list, mut an_immediate) = (null_mut(), null_mut());
    macro_rules! all {
        ($($table:ident.$slot:ident($($arg:expr),* $(,)?);)*) => {
            [$((stringify!($slot), ze!($table.$slot($($arg),*)), last_error())),*]
        };
    }
    let answers = all! {
        Context.pfnGetStatus(context);
        Context.pfnSystemBarrier(context, on);
        CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut());
        CommandQueue.pfnSynchronize(queue, FOREVER);
        CommandList.pfnCreateImmediate(context, on, &raw const queue_desc, &raw mut an_immediate);
        CommandList.pfnClose(open);
        CommandList.pfnReset(closed);
        CommandList.pfnHostSynchronize(immediate, FOREVER);
        CommandList.pfnAppendLaunchKernel(immediate, add, &raw const groups, null_mut(), 0, null_mut());
        CommandList.pfnAppendLaunchKernel(open, add, &raw const groups, null_mut(), 0, null_mut());
        CommandList.pfnAppendMemoryCopy(immediate, at, at.cast_const(), 4, null_mut(), 0, null_mut());
        CommandList.pfnAppendMemoryFill(immediate, at, at.cast_const(), 4, 4, null_mut(), 0, null_mut());
        CommandList.pfnAppendMemoryPrefetch(immediate, at, 4);
        CommandList.pfnAppendMemAdvise(immediate, on, at, 4, ZE_MEMORY_ADVICE_SET_READ_MOSTLY);
        CommandList.pfnAppendBarrier(immediate, null_mut(), 0, null_mut());
        CommandList.pfnAppendSignalEvent(immediate, event);
        CommandList.pfnAppendWaitOnEvents(immediate, 1, waits.as_mut_ptr());
        CommandList.pfnAppendEventReset(immediate, event);
        CommandList.pfnAppendWriteGlobalTimestamp(immediate, at.cast(), null_mut(), 0, null_mut());
        EventPool.pfnCreate(context, &raw const pool_desc, 0, null_mut(), &raw mut pool);
        Event.pfnCounterBasedCreate(context, on, &raw const event_desc, &raw mut counter);
        Event.pfnHostSignal(event);
        Event.pfnHostReset(event);
        Event.pfnHostSynchronize(event, FOREVER);
        Event.pfnQueryStatus(event);
        Event.pfnQueryStatus(counting);
        Fence.pfnHostSynchronize(fence, FOREVER);
        Fence.pfnQueryStatus(fence);
        Fence.pfnReset(fence);
        Module.pfnCreate(context, on, &raw const module_desc, &raw mut a_module, null_mut());
        Kernel.pfnCreate(module, &raw const kernel_desc, &raw mut a_kernel);
        Sampler.pfnCreate(context, on, &raw const sampler_desc, &raw mut a_sampler);
        Mem.pfnGetIpcHandle(context, at, &raw mut handle);
    };
    for (name, answer, text) in answers {
        assert_eq!(answer, lost, "{name}: {text}");
        let why = "the context is lost by an earlier fault: kernel \"fault\" read address 0";
        assert!(text.ends_with(why), "{name}: {text}");
    }

    ok!(Context.pfnMakeMemoryResident(context, on, at, 4));
    ok!(Context.pfnEvictMemory(context, on, at, 4));
    ok!(CommandQueue.pfnCreate(context, on, &raw const queue_desc, &raw mut made));
    ok!(CommandList.pfnCreate(context, on, &raw const list_desc, &raw mut a_list));
    ok!(Fence.pfnCreate(made, &raw const fence_desc, &raw mut a_fence));
    let appended = launch(a_list, add, null_mut(), &mut []);
    assert_eq!(appended, lost);
    ok!(Fence.pfnDestroy(a_fence));
    ok!(CommandList.pfnDestroy(a_list));
    ok!(CommandQueue.pfnDestroy(made));
    let (on_device, on_host) = (
        ze_device_mem_alloc_desc_t::default(),
        ze_host_mem_alloc_desc_t::default(),
    );
    let mut new: [*mut c_void; 3] = [null_mut(); 3];
    let [shared, of_device, of_host] = &mut new;
    ok!(Mem.pfnAllocShared(
        context,
        &raw const on_device,
        &raw const on_host,
        64,
        0,
        on,
        shared
    ));
    ok!(Mem.pfnAllocDevice(context, &raw const on_device, 64, 0, on, of_device));
    ok!(Mem.pfnAllocHost(context, &raw const on_host, 64, 0, of_host));
    for at in new {
        let copied = ze!(CommandList.pfnAppendMemoryCopy(
            immediate,
            at,
            at.cast_const(),
            4,
            null_mut(),
            0,
            null_mut()
        ));
        assert_eq!(copied, lost);
        let mut properties = ze_memory_allocation_properties_t::default();
        ok!(Mem.pfnGetAllocProperties(context, at, &raw mut properties, null_mut()));
        ok!(Mem.pfnFree(context, at));
    }
    ok!(Mem.pfnFree(context, at));
    ok!(Fence.pfnDestroy(fence));
    ok!(Event.pfnDestroy(event));
    ok!(Event.pfnDestroy(counting));
    for kernel in [add, fault] {
        ok!(Kernel.pfnDestroy(kernel));
    }
    ok!(Module.pfnDestroy(module));
    for list in [open, closed, immediate] {
        ok!(CommandList.pfnDestroy(list));
    }
    ok!(CommandQueue.pfnDestroy(queue));
    ok!(Context.pfnDestroy(context));
}
