//! Work stays on its device: lists, kernels and memory of other devices, and fences of other queues, are rejected by
//! name, and the state of one context does not affect others.

use crate::api::*;
use crate::launches::{ONE, launch};
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::null_mut;

const FOREVER: u64 = u64::MAX;
const ASYNC: ze_command_queue_mode_t = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
const REFUSED: ze_result_t = ZE_RESULT_ERROR_INVALID_ARGUMENT;

fn immediate_on(context: ze_context_handle_t, on: usize) -> ze_command_list_handle_t {
    let desc = ze_command_queue_desc_t {
        mode: ASYNC,
        ..Default::default()
    };
    let mut list = null_mut();
    ok!(CommandList.pfnCreateImmediate(context, device(on), &raw const desc, &raw mut list));
    list
}

/// Memory of a device's own.
fn memory_on(context: ze_context_handle_t, on: usize) -> *mut c_void {
    let (desc, mut at) = (ze_device_mem_alloc_desc_t::default(), null_mut());
    ok!(Mem.pfnAllocDevice(context, &raw const desc, 64, 0, device(on), &raw mut at));
    at
}

#[test]
fn lists_and_kernels_of_other_devices_are_rejected() {
    let contexts = [context(), context()];
    let (queue, direct) = (queue(contexts[0]), immediate_on(contexts[0], 0));
    // (context, device, result, text): contexts do not matter, because the conformance suite mixes them.
    for (which, on, wanted, text) in [
        (0, 0, ZE_RESULT_SUCCESS, ""),
        (1, 0, ZE_RESULT_SUCCESS, ""),
        (0, 1, REFUSED, "device 1"),
        (0, 2, REFUSED, "device 2"),
    ] {
        let (desc, mut list) = (ze_command_list_desc_t::default(), null_mut());
        let context = contexts[which];
        ok!(CommandList.pfnCreate(context, device(on), &raw const desc, &raw mut list));
        ok!(CommandList.pfnClose(list));
        let kernel = kernel_on(context, on, c"add");
        let memory: *mut u32 = words(context, 1).as_mut_ptr();
        assert_eq!(arg(kernel, 0, memory), ZE_RESULT_SUCCESS);
        let mut lists = [list];
        let executed = || {
            let mut lists = lists;
            ze!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut()))
        };
        let appended = || launch(direct, kernel, null_mut(), &mut []);
        for (what, run) in [
            ("executed", &executed as &dyn Fn() -> ze_result_t),
            ("launched", &appended),
        ] {
            assert_eq!(run(), wanted, "{what}: context {which} device {on}");
            assert!(
                wanted == ZE_RESULT_SUCCESS || last_error().contains(text),
                "{what}: {}",
                last_error()
            );
        }
        let got = ze!(CommandListExp.pfnImmediateAppendCommandListsExp(
            direct,
            1,
            lists.as_mut_ptr(),
            null_mut(),
            0,
            null_mut()
        ));
        assert_eq!(got, wanted, "appended: context {which} device {on}");
    }
    ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
    ok!(CommandList.pfnHostSynchronize(direct, FOREVER));
}

#[test]
fn a_fence_belongs_to_its_queue_and_follows_the_last_submission() {
    let context = context();
    let (mine, other) = (queue(context), queue(context));
    let list = list(context, 0);
    ok!(CommandList.pfnClose(list));
    let (desc, mut fence) = (ze_fence_desc_t::default(), null_mut());
    ok!(Fence.pfnCreate(mine, &raw const desc, &raw mut fence));
    let execute = |queue| {
        let mut lists = [list];
        ze!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), fence))
    };
    let refused = ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    assert_eq!(execute(other), refused);
    assert!(last_error().contains("another queue"), "{}", last_error());
    assert_eq!(ze!(Fence.pfnQueryStatus(fence)), ZE_RESULT_NOT_READY);
    assert_eq!(execute(mine), ZE_RESULT_SUCCESS);
    ok!(Fence.pfnHostSynchronize(fence, FOREVER));
    // Not reset: it waits for the next one all the same.
    let [mut gate] = events(context, false);
    let held = crate::api::list(context, 0);
    ok!(CommandList.pfnAppendWaitOnEvents(held, 1, &raw mut gate));
    ok!(CommandList.pfnClose(held));
    let mut lists = [held];
    ok!(CommandQueue.pfnExecuteCommandLists(mine, 1, lists.as_mut_ptr(), fence));
    assert_eq!(ze!(Fence.pfnQueryStatus(fence)), ZE_RESULT_NOT_READY);
    ok!(Event.pfnHostSignal(gate));
    ok!(Fence.pfnHostSynchronize(fence, FOREVER));
}

#[test]
fn a_device_can_be_waited_for_after_a_loss() {
    // The discrete device: few others use it.
    let (lost, fine) = (context(), context());
    let list = immediate_on(lost, 2);
    assert_eq!(
        launch(list, kernel_on(lost, 2, c"fault"), null_mut(), &mut []),
        ZE_RESULT_SUCCESS
    );
    let gone = ZE_RESULT_ERROR_DEVICE_LOST;
    assert_eq!(ze!(CommandList.pfnHostSynchronize(list, FOREVER)), gone);
    let [gate] = events(fine, false);
    let memory = words(fine, 2);
    memory[0] = 9;
    let (at, mut waits) = (memory.as_mut_ptr(), [gate]);
    let busy = immediate_on(fine, 2);
    ok!(CommandList.pfnAppendMemoryCopy(
        busy,
        at.wrapping_add(1).cast(),
        at.cast(),
        4,
        null_mut(),
        1,
        waits.as_mut_ptr()
    ));
    let gate = gate as usize;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..1000 {
                std::thread::yield_now();
            }
            ok!(Event.pfnHostSignal(gate as ze_event_handle_t));
        });
        ok!(Device.pfnSynchronize(device(2)));
    });
    // SAFETY: written by the copy, which the device was waited for.
    assert_eq!(unsafe { at.wrapping_add(1).read_volatile() }, 9);
    ok!(CommandList.pfnDestroy(list));
}

#[test]
fn nothing_reaches_the_memory_of_a_device_without_peer_access() {
    let context = context();
    let (others, mine) = (memory_on(context, 0), memory_on(context, 2));
    let shared: *mut u32 = words(context, 16).as_mut_ptr();
    let list = immediate_on(context, 2);
    let refused = |got: ze_result_t, name: &str| {
        assert_eq!(got, REFUSED, "{name}");
        let text = last_error();
        assert!(
            text.contains(name) && text.contains("memory of device 0"),
            "{text}"
        );
    };
    let add = kernel_on(context, 2, c"add");
    assert_eq!(arg(add, 0, others), ZE_RESULT_SUCCESS);
    refused(
        launch(list, add, null_mut(), &mut []),
        "argument 0 of kernel \"add\"",
    );
    assert_eq!(arg(add, 0, shared), ZE_RESULT_SUCCESS);
    let indirect = |at: *const c_void| {
        ze!(CommandList.pfnAppendLaunchKernelIndirect(
            list,
            add,
            at.cast(),
            null_mut(),
            0,
            null_mut()
        ))
    };
    refused(indirect(others), "pLaunchArgumentsBuffer");
    let several = |count: *const c_void, groups: *const c_void| {
        let mut kernels = [add];
        ze!(CommandList.pfnAppendLaunchMultipleKernelsIndirect(
            list,
            1,
            kernels.as_mut_ptr(),
            count.cast(),
            groups.cast(),
            null_mut(),
            0,
            null_mut()
        ))
    };
    refused(several(others, mine), "pCountBuffer");
    refused(several(mine, others), "pLaunchArgumentsBuffer");
    let stamp = ze!(CommandList.pfnAppendWriteGlobalTimestamp(
        list,
        others.cast(),
        null_mut(),
        0,
        null_mut()
    ));
    refused(stamp, "dstptr");
    let [mut event] = events(context, false);
    let times = ze!(CommandList.pfnAppendQueryKernelTimestamps(
        list,
        1,
        &raw mut event,
        others,
        std::ptr::null(),
        null_mut(),
        0,
        null_mut()
    ));
    refused(times, "dstptr");
    let desc = ze_image_desc_t {
        r#type: ZE_IMAGE_TYPE_1D,
        format: ze_image_format_t {
            layout: ZE_IMAGE_FORMAT_LAYOUT_32,
            r#type: ZE_IMAGE_FORMAT_TYPE_UINT,
            x: ZE_IMAGE_FORMAT_SWIZZLE_R,
            y: ZE_IMAGE_FORMAT_SWIZZLE_G,
            z: ZE_IMAGE_FORMAT_SWIZZLE_B,
            w: ZE_IMAGE_FORMAT_SWIZZLE_A,
        },
        width: 4,
        height: 1,
        depth: 1,
        ..Default::default()
    };
    let mut image = null_mut();
    ok!(Image.pfnCreate(context, device(0), &raw const desc, &raw mut image));
    let look = kernel_on(context, 2, c"look");
    assert_eq!(arg(look, 0, image), ZE_RESULT_SUCCESS);
    refused(
        launch(list, look, null_mut(), &mut []),
        "argument 0 of kernel \"look\"",
    );
    // A mutable list, whose argument changes after it was recorded.
    let chained = ze_mutable_command_list_exp_desc_t::default();
    let desc = ze_command_list_desc_t {
        pNext: (&raw const chained).cast(),
        ..Default::default()
    };
    let mut recorded = null_mut();
    ok!(CommandList.pfnCreate(context, device(2), &raw const desc, &raw mut recorded));
    let (desc, mut id) = (ze_mutable_command_id_exp_desc_t::default(), 0);
    ok!(CommandListExp.pfnGetNextCommandIdExp(recorded, &raw const desc, &raw mut id));
    assert_eq!(
        launch(recorded, add, null_mut(), &mut []),
        ZE_RESULT_SUCCESS
    );
    for (at, wanted) in [(mine, ZE_RESULT_SUCCESS), (others, REFUSED)] {
        let link = ze_mutable_kernel_argument_exp_desc_t {
            commandId: id,
            argIndex: 0,
            argSize: 8,
            pArgValue: (&raw const at).cast(),
            ..Default::default()
        };
        let desc = ze_mutable_commands_exp_desc_t {
            pNext: (&raw const link).cast(),
            ..Default::default()
        };
        let got = ze!(CommandListExp.pfnUpdateMutableCommandsExp(recorded, &raw const desc));
        assert_eq!(got, wanted);
    }
    ok!(CommandList.pfnHostSynchronize(list, FOREVER));
}

#[test]
fn impossible_launches_are_rejected_when_appended_or_changed() {
    let context = context();
    let count = kernel(context, c"count");
    let memory: *mut u32 = words(context, 1).as_mut_ptr();
    assert_eq!(arg(count, 0, memory), ZE_RESULT_SUCCESS);
    ok!(Kernel.pfnSetArgumentValue(count, 1, 64, std::ptr::null()));
    let chained = ze_mutable_command_list_exp_desc_t::default();
    let desc = ze_command_list_desc_t {
        pNext: (&raw const chained).cast(),
        ..Default::default()
    };
    let mut list = null_mut();
    ok!(CommandList.pfnCreate(context, device(0), &raw const desc, &raw mut list));
    let groups_of = |n| ze_group_count_t {
        groupCountX: n,
        ..ONE
    };
    let cooperative = |n| {
        let groups = groups_of(n);
        ze!(CommandList.pfnAppendLaunchCooperativeKernel(
            list,
            count,
            &raw const groups,
            null_mut(),
            0,
            null_mut()
        ))
    };
    let (desc, mut id) = (ze_mutable_command_id_exp_desc_t::default(), 0);
    assert_eq!(cooperative(65), REFUSED);
    let text = last_error();
    assert!(
        text.contains("65 work-groups") && text.contains("at most 64"),
        "{text}"
    );
    ok!(CommandListExp.pfnGetNextCommandIdExp(list, &raw const desc, &raw mut id));
    assert_eq!(cooperative(64), ZE_RESULT_SUCCESS);
    let update = |link: *const c_void| {
        let desc = ze_mutable_commands_exp_desc_t {
            pNext: link,
            ..Default::default()
        };
        ze!(CommandListExp.pfnUpdateMutableCommandsExp(list, &raw const desc))
    };
    for (n, wanted) in [(65, REFUSED), (3, ZE_RESULT_SUCCESS)] {
        let groups = groups_of(n);
        let link = ze_mutable_group_count_exp_desc_t {
            commandId: id,
            pGroupCount: &raw const groups,
            ..Default::default()
        };
        assert_eq!(update((&raw const link).cast()), wanted, "{n} groups");
    }
    let beyond = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    for (bytes, wanted) in [(65537, beyond), (65536, ZE_RESULT_SUCCESS)] {
        let link = ze_mutable_kernel_argument_exp_desc_t {
            commandId: id,
            argIndex: 1,
            argSize: bytes,
            ..Default::default()
        };
        assert_eq!(update((&raw const link).cast()), wanted, "{bytes} bytes");
    }
    // Rejected calls have changed nothing.
    ok!(CommandList.pfnClose(list));
    let (queue, mut lists) = (queue(context), [list]);
    ok!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut()));
    ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
    // SAFETY: a live word, which the kernel has written.
    assert_eq!(unsafe { memory.read() }, 3 + 65536);
}

#[test]
fn timestamps_of_events_without_them_cannot_be_copied() {
    let context = context();
    let desc = ze_event_pool_desc_t {
        count: 1,
        ..Default::default()
    };
    let (mut pool, mut event) = (null_mut(), null_mut());
    ok!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool));
    let desc = ze_event_desc_t::default();
    ok!(Event.pfnCreate(pool, &raw const desc, &raw mut event));
    let list = immediate_on(context, 0);
    let to = words(context, 16).as_mut_ptr().cast();
    let got = ze!(CommandList.pfnAppendQueryKernelTimestamps(
        list,
        1,
        &raw mut event,
        to,
        std::ptr::null(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(got, ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    assert!(last_error().contains("phEvents[i]"), "{}", last_error());
}

#[test]
fn contradicting_atomic_attributes_are_rejected() {
    let context = context();
    let memory: *mut u32 = words(context, 1).as_mut_ptr();
    let no = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS;
    let host = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_HOST_ATOMICS;
    let no_host = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS;
    let on_device = ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_DEVICE_ATOMICS;
    for (attribute, wanted) in [
        (no, ZE_RESULT_SUCCESS),
        (no_host | on_device, ZE_RESULT_SUCCESS),
        (no | on_device, REFUSED),
        (host | no_host, REFUSED),
    ] {
        let got = ze!(MemExp.pfnSetAtomicAccessAttributeExp(
            context,
            device(0),
            memory.cast(),
            4,
            attribute
        ));
        assert_eq!(got, wanted, "{attribute:#x}");
    }
}

#[test]
fn each_device_is_a_vertex_without_edges() {
    let (mut count, mut vertices) = (0, [null_mut(); 4]);
    ok!(FabricVertexExp.pfnGetExp(driver(), &raw mut count, null_mut()));
    assert_eq!(count, 3);
    ok!(FabricVertexExp.pfnGetExp(driver(), &raw mut count, vertices.as_mut_ptr()));
    for (index, vertex) in vertices.into_iter().take(3).enumerate() {
        let (mut on, mut again) = (null_mut(), null_mut());
        ok!(FabricVertexExp.pfnGetDeviceExp(vertex, &raw mut on));
        assert_eq!(on, device(index));
        ok!(DeviceExp.pfnGetFabricVertexExp(on, &raw mut again));
        assert_eq!(again, vertex);
        let mut told = ze_fabric_vertex_exp_properties_t::default();
        let mut properties = ze_device_properties_t::default();
        ok!(FabricVertexExp.pfnGetPropertiesExp(vertex, &raw mut told));
        ok!(Device.pfnGetProperties(on, &raw mut properties));
        assert_eq!(told.uuid.id, properties.uuid.id);
        assert_eq!(
            (told.r#type, told.remote),
            (ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE, 0)
        );
        // (sub-devices, vertices of them)
        let (mut subs, mut below) = (0, 7);
        ok!(Device.pfnGetSubDevices(on, &raw mut subs, null_mut()));
        ok!(FabricVertexExp.pfnGetSubVerticesExp(vertex, &raw mut below, null_mut()));
        assert_eq!(below, subs);
        for other in vertices.into_iter().take(3) {
            let mut edges = 7;
            ok!(FabricEdgeExp.pfnGetExp(vertex, other, &raw mut edges, null_mut()));
            assert_eq!(edges, 0);
        }
    }
    let mut nothing = null_mut();
    for result in [
        ze!(FabricVertexExp.pfnGetDeviceExp(null_mut(), &raw mut nothing)),
        ze!(FabricEdgeExp.pfnGetExp(vertices[0], null_mut(), &raw mut count, null_mut())),
    ] {
        assert_eq!(result, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    }
}
