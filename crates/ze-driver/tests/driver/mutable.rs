//! Mutable command lists and clones: every change takes effect at the next execution, and nowhere else.

use crate::api::*;
use crate::launches::ONE;
use level_zero_sys::*;
use std::ptr::{null, null_mut};

const FOREVER: u64 = u64::MAX;

pub(crate) fn mutable_list(context: ze_context_handle_t) -> ze_command_list_handle_t {
    let chained = ze_mutable_command_list_exp_desc_t::default();
    let desc = ze_command_list_desc_t {
        pNext: (&raw const chained).cast(),
        ..Default::default()
    };
    let mut list = null_mut();
    ok!(CommandList.pfnCreate(context, device(0), &raw const desc, &raw mut list));
    list
}

pub(crate) fn next_id(list: ze_command_list_handle_t, flags: u32) -> u64 {
    let desc = ze_mutable_command_id_exp_desc_t {
        flags,
        ..Default::default()
    };
    let mut id = 0;
    ok!(CommandListExp.pfnGetNextCommandIdExp(list, &raw const desc, &raw mut id));
    id
}

pub(crate) fn update<T>(list: ze_command_list_handle_t, link: &T) -> ze_result_t {
    let desc = ze_mutable_commands_exp_desc_t {
        pNext: std::ptr::from_ref(link).cast(),
        ..Default::default()
    };
    ze!(CommandListExp.pfnUpdateMutableCommandsExp(list, &raw const desc))
}

pub(crate) fn execute(queue: ze_command_queue_handle_t, list: ze_command_list_handle_t) {
    let mut lists = [list];
    ok!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut()));
    ok!(CommandQueue.pfnSynchronize(queue, FOREVER));
}

/// A closed list that adds `value` to the first word of `at`, and the command's identifier.
fn adder(
    context: ze_context_handle_t,
    at: *mut u32,
    value: u32,
    flags: u32,
    events: [ze_event_handle_t; 2],
) -> (ze_command_list_handle_t, u64) {
    let kernel = kernel(context, c"add");
    assert_eq!(arg(kernel, 0, at), ZE_RESULT_SUCCESS);
    assert_eq!(arg(kernel, 1, value), ZE_RESULT_SUCCESS);
    ok!(Kernel.pfnSetGroupSize(kernel, 1, 1, 1));
    let list = mutable_list(context);
    let id = next_id(list, flags);
    let groups = ONE;
    let [signal, mut wait] = events;
    ok!(CommandList.pfnAppendLaunchKernel(
        list,
        kernel,
        &raw const groups,
        signal,
        u32::from(!wait.is_null()),
        &raw mut wait
    ));
    ok!(CommandList.pfnClose(list));
    (list, id)
}

const NO_EVENTS: [ze_event_handle_t; 2] = [null_mut(); 2];

#[test]
fn arguments_sizes_and_counts_change_for_the_next_execution_only() {
    let (context, memory) = (context(), words(context(), 64));
    let queue = queue(context);
    let at = memory.as_mut_ptr();
    let (list, id) = adder(context, at, 5, 0, NO_EVENTS);
    execute(queue, list);
    assert_eq!(memory[..2], [5, 0]);
    let value = 100_u32;
    let argument = ze_mutable_kernel_argument_exp_desc_t {
        commandId: id,
        argIndex: 1,
        argSize: 4,
        pArgValue: (&raw const value).cast(),
        ..Default::default()
    };
    assert_eq!(update(list, &argument), ZE_RESULT_SUCCESS);
    let mut lists = [list];
    let again = ze!(CommandQueue.pfnExecuteCommandLists(queue, 1, lists.as_mut_ptr(), null_mut()));
    assert_eq!(
        again, ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "closed again first"
    );
    let count = ze_group_count_t {
        groupCountX: 3,
        groupCountY: 1,
        groupCountZ: 1,
    };
    let groups = ze_mutable_group_count_exp_desc_t {
        commandId: id,
        pGroupCount: &raw const count,
        ..Default::default()
    };
    let size = ze_mutable_group_size_exp_desc_t {
        pNext: (&raw const groups).cast(),
        commandId: id,
        groupSizeX: 2,
        groupSizeY: 1,
        groupSizeZ: 1,
        ..Default::default()
    };
    assert_eq!(update(list, &size), ZE_RESULT_SUCCESS);
    ok!(CommandList.pfnClose(list));
    execute(queue, list);
    assert_eq!(memory[..7], [105, 100, 100, 100, 100, 100, 0]);
    // Nothing at all may run, and come back.
    for (n, wanted) in [(0, 105), (1, 205)] {
        let count = ze_group_count_t {
            groupCountX: n,
            groupCountY: 1,
            groupCountZ: 1,
        };
        let groups = ze_mutable_group_count_exp_desc_t {
            commandId: id,
            pGroupCount: &raw const count,
            ..Default::default()
        };
        assert_eq!(update(list, &groups), ZE_RESULT_SUCCESS);
        ok!(CommandList.pfnClose(list));
        execute(queue, list);
        assert_eq!(memory[0], wanted);
    }
}

/// An empty launch removes none of the launches that would be one task with it.
#[test]
fn an_empty_launch_does_not_affect_its_neighbours() {
    let (context, memory) = (context(), words(context(), 64));
    let queue = queue(context);
    let kernel = kernel(context, c"add");
    assert_eq!(arg(kernel, 1, 1_u32), ZE_RESULT_SUCCESS);
    ok!(Kernel.pfnSetGroupSize(kernel, 1, 1, 1));
    let groups = |x| ze_group_count_t {
        groupCountX: x,
        groupCountY: 1,
        groupCountZ: 1,
    };
    const LAUNCHES: usize = 5;
    let list = mutable_list(context);
    for none in 0..LAUNCHES {
        ok!(CommandList.pfnReset(list));
        memory.fill(0);
        let mut id = 0;
        for launch in 0..LAUNCHES {
            let at = memory[launch..].as_mut_ptr();
            assert_eq!(arg(kernel, 0, at), ZE_RESULT_SUCCESS);
            if launch == none {
                id = next_id(list, 0);
            }
            let one = groups(1);
            ok!(CommandList.pfnAppendLaunchKernel(
                list,
                kernel,
                &raw const one,
                null_mut(),
                0,
                null_mut()
            ));
        }
        ok!(CommandList.pfnClose(list));
        execute(queue, list);
        assert_eq!(memory[..=LAUNCHES], [1, 1, 1, 1, 1, 0]);
        let count = groups(0);
        let nothing = ze_mutable_group_count_exp_desc_t {
            commandId: id,
            pGroupCount: &raw const count,
            ..Default::default()
        };
        assert_eq!(update(list, &nothing), ZE_RESULT_SUCCESS);
        ok!(CommandList.pfnClose(list));
        execute(queue, list);
        let mut wanted = [2, 2, 2, 2, 2, 0];
        wanted[none] = 1;
        assert_eq!(memory[..=LAUNCHES], wanted, "launch {none} has no groups");
    }
}

#[test]
fn events_and_kernels_change_and_clones_stay_as_they_are() {
    let (context, memory) = (context(), words(context(), 64));
    let (queue, at) = (queue(context), memory.as_mut_ptr());
    let [first, second, gate, other_gate] = events(context, false);
    let (list, id) = adder(context, at, 1, 0x7f, [first, gate]);
    let mut clone = null_mut();
    ok!(CommandListExp.pfnCreateCloneExp(list, &raw mut clone));
    ok!(CommandListExp.pfnUpdateMutableCommandSignalEventExp(list, id, second));
    let mut gates = [other_gate];
    ok!(CommandListExp.pfnUpdateMutableCommandWaitEventsExp(list, id, 1, gates.as_mut_ptr()));
    ok!(CommandList.pfnClose(list));
    ok!(Event.pfnHostSignal(other_gate));
    execute(queue, list);
    assert_eq!(memory[0], 1);
    ok!(Event.pfnQueryStatus(second));
    assert_eq!(ze!(Event.pfnQueryStatus(first)), ZE_RESULT_NOT_READY);
    ok!(Event.pfnHostSignal(gate));
    execute(queue, clone);
    ok!(Event.pfnQueryStatus(first));
    assert_eq!(memory[0], 2);
    ok!(CommandListExp.pfnUpdateMutableCommandWaitEventsExp(list, id, 0, null_mut()));
    ok!(CommandListExp.pfnUpdateMutableCommandSignalEventExp(list, id, null_mut()));
    let count = kernel(context, c"count");
    assert_eq!(arg(count, 0, at), ZE_RESULT_SUCCESS);
    ok!(Kernel.pfnSetArgumentValue(count, 1, 64, null()));
    let (mut ids, mut kernels) = ([id], [count]);
    ok!(CommandListExp.pfnUpdateMutableCommandKernelsExp(
        list,
        1,
        ids.as_mut_ptr(),
        kernels.as_mut_ptr()
    ));
    ok!(CommandList.pfnClose(list));
    ok!(Event.pfnHostReset(other_gate));
    execute(queue, list);
    assert_eq!(memory[0], 65, "one group and 64 bytes of local memory");
    ok!(CommandList.pfnDestroy(clone));
}

#[test]
fn a_rejected_update_changes_nothing() {
    let (context, memory) = (context(), words(context(), 64));
    let at = memory.as_mut_ptr();
    let (list, id) = adder(context, at, 1, 0, NO_EVENTS);
    let queue = queue(context);
    let more = 100_u32;
    let bad = ze_mutable_global_offset_exp_desc_t {
        commandId: 77,
        ..Default::default()
    };
    let good = ze_mutable_kernel_argument_exp_desc_t {
        pNext: (&raw const bad).cast(),
        commandId: id,
        argIndex: 1,
        argSize: size_of::<u32>(),
        pArgValue: (&raw const more).cast(),
        ..Default::default()
    };
    assert_eq!(update(list, &good), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let before = memory[0];
    execute(queue, list);
    assert_eq!(memory[0], before + 1);
}

#[test]
fn forbidden_changes_are_rejected() {
    let (context, memory) = (context(), words(context(), 64));
    let [event, wait, _] = events(context, false);
    let at = memory.as_mut_ptr();
    let (list, id) = adder(
        context,
        at,
        1,
        ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS,
        [null_mut(), wait],
    );
    let offset = |id| ze_mutable_global_offset_exp_desc_t {
        commandId: id,
        ..Default::default()
    };
    for id in [id, 77] {
        assert_eq!(
            update(list, &offset(id)),
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "{}",
            last_error()
        );
    }
    let signal = ze!(CommandListExp.pfnUpdateMutableCommandSignalEventExp(list, id, event));
    assert_eq!(signal, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let mut waits = [event, event];
    let waits =
        ze!(CommandListExp.pfnUpdateMutableCommandWaitEventsExp(list, id, 2, waits.as_mut_ptr()));
    assert_eq!(waits, ZE_RESULT_ERROR_INVALID_SIZE);
    let unknown = ze_mutable_graph_argument_exp_desc_t::default();
    assert_eq!(update(list, &unknown), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let plain = crate::api::list(context, 0);
    let (mut id, desc) = (0, ze_mutable_command_id_exp_desc_t::default());
    let result = ze!(CommandListExp.pfnGetNextCommandIdExp(plain, &raw const desc, &raw mut id));
    assert_eq!(result, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (list, wanted) in [(plain, 0), (list, 1)] {
        let mut is_mutable = 9;
        ok!(CommandListExp.pfnIsMutableExp(list, &raw mut is_mutable));
        assert_eq!(is_mutable, wanted);
    }
    let mut clone = null_mut();
    let result = ze!(CommandListExp.pfnCreateCloneExp(plain, &raw mut clone));
    assert_eq!(result, ZE_RESULT_ERROR_INVALID_ARGUMENT, "not closed");
}
