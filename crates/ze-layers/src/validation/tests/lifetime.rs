//! Tests of handles from creation to destruction.

use super::*;

#[test]
fn handles_are_alive_from_creation_to_destruction() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x10_0040);
    let device = program.device(driver, 0x10_0080);
    let context = program.context(driver, 0x10_00c0);
    let queue = program.queue(context, device, 0x10_0100);
    let fence = program.fence(queue, 0x10_0140);
    assert_eq!(rules(), Vec::<String>::new());

    // Parents cannot be destroyed before their children.
    assert_eq!(
        one!(program, Context.pfnDestroy, context),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
    );
    let text = rules().join("\n");
    assert!(text.contains("1 objects created from it are still alive: ze_command_queue_handle_t 0x100100 created by zeCommandQueueCreate"), "{text}");
    assert!(text.contains("created by zeContextCreate (#"), "{text}");
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
    );

    // A destroy that fails leaves the object alive.
    fake::answer(ZE_RESULT_ERROR_UNKNOWN);
    assert_eq!(
        one!(program, Fence.pfnDestroy, fence),
        ZE_RESULT_ERROR_UNKNOWN
    );
    fake::answer(ZE_RESULT_SUCCESS);
    assert_eq!(one!(program, Fence.pfnReset, fence), ZE_RESULT_SUCCESS);

    assert_eq!(one!(program, Fence.pfnDestroy, fence), ZE_RESULT_SUCCESS);
    found();
    fake::calls();
    assert_eq!(
        one!(program, Fence.pfnReset, fence),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    assert!(fake::calls().is_empty(), "the driver saw a dead handle");
    let text = rules().join("\n");
    assert!(
        text.contains("hFence = 0x100140: this ze_fence_handle_t was destroyed by zeFenceDestroy"),
        "{text}"
    );
    assert!(text.contains("created by zeFenceCreate"), "{text}");

    // Another type, and an unknown handle.
    assert_eq!(
        one!(program, Fence.pfnReset, queue.cast()),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    let text = rules().join("\n");
    assert!(
        text.contains("a ze_fence_handle_t is required, this is a ze_command_queue_handle_t"),
        "{text}"
    );
    assert_eq!(
        one!(program, Fence.pfnReset, handle(0xdead_0000)),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    assert!(
        rules()
            .join("\n")
            .contains("this is not a live ze_fence_handle_t")
    );
    assert_eq!(
        one!(program, Fence.pfnReset, handle(usize::MAX)),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    assert_eq!(
        one!(program, Fence.pfnReset, null_mut()),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );

    // The address is reused.
    assert_eq!(program.fence(queue, 0x10_0140), fence);
    assert_eq!(one!(program, Fence.pfnReset, fence), ZE_RESULT_SUCCESS);

    // A fence of another queue.
    let other = program.queue(context, device, 0x10_0180);
    let list = program.list(context, device, 0x10_01c0, false);
    assert_eq!(one!(program, CommandList.pfnClose, list), ZE_RESULT_SUCCESS);
    found();
    assert_eq!(program.execute(queue, list, fence), ZE_RESULT_SUCCESS);
    assert_eq!(
        program.execute(other, list, fence),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    assert!(
        rules()
            .join("\n")
            .contains("the fence was created for another command queue")
    );
    assert_eq!(program.execute(other, list, null_mut()), ZE_RESULT_SUCCESS);

    for code in [
        one!(program, Fence.pfnDestroy, fence),
        one!(program, CommandList.pfnDestroy, list),
        one!(program, CommandQueue.pfnDestroy, queue),
        one!(program, CommandQueue.pfnDestroy, other),
        one!(program, Context.pfnDestroy, context),
    ] {
        assert_eq!(code, ZE_RESULT_SUCCESS, "{:?}", rules());
    }
    assert_eq!(
        one!(program, Context.pfnDestroy, context),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
}

#[test]
fn open_lists_accept_commands() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x20_0040);
    let device = program.device(driver, 0x20_0080);
    let context = program.context(driver, 0x20_00c0);
    let queue = program.queue(context, device, 0x20_0100);
    let list = program.list(context, device, 0x20_0140, false);
    let immediate = program.list(context, device, 0x20_0180, true);
    let refused = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    let barrier = |list| program.barrier(list, null_mut(), &[]);
    assert_eq!(barrier(list), ZE_RESULT_SUCCESS);
    assert_eq!(program.execute(queue, list, null_mut()), refused);
    assert!(
        rules()
            .join("\n")
            .contains("phCommandLists[0] = 0x200140: the command list is open")
    );
    assert_eq!(one!(program, CommandList.pfnClose, list), ZE_RESULT_SUCCESS);
    assert_eq!(barrier(list), refused);
    assert!(rules().join("\n").contains("the command list is closed"));
    assert_eq!(program.execute(queue, list, null_mut()), ZE_RESULT_SUCCESS);
    assert_eq!(one!(program, CommandList.pfnReset, list), ZE_RESULT_SUCCESS);
    assert_eq!(barrier(list), ZE_RESULT_SUCCESS);
    // The reference rejects every append to an immediate list here.
    assert_eq!(barrier(immediate), ZE_RESULT_SUCCESS);
    assert_eq!(program.execute(queue, immediate, null_mut()), refused);
    assert!(
        rules()
            .join("\n")
            .contains("an immediate command list cannot be executed on a queue")
    );
}

#[test]
fn a_module_that_fails_leaves_a_log() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x28_0040);
    let device = program.device(driver, 0x28_0080);
    let context = program.context(driver, 0x28_00c0);
    let desc = ze_module_desc_t::default();
    let create = |code, module: usize, log: usize| {
        let (mut module, mut log) = (handle(module), handle(log));
        fake::answer(code);
        // SAFETY: the fake leaves the handles as they are.
        unsafe {
            let create = tables.ze.Module.pfnCreate.unwrap();
            create(
                context,
                device,
                &raw const desc,
                &raw mut module,
                &raw mut log,
            );
        }
        fake::answer(ZE_RESULT_SUCCESS);
    };
    let modules = [0x28_0100, 0x28_0140, 0x28_0180];
    let codes = [
        ZE_RESULT_SUCCESS,
        ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
        ZE_RESULT_ERROR_DEVICE_LOST,
    ];
    let mut lives = Vec::new();
    for (module, code) in modules.into_iter().zip(codes) {
        create(code, module, module + 0x1000);
        let log = one!(program, ModuleBuildLog.pfnDestroy, handle(module + 0x1000));
        let module = one!(program, Module.pfnDestroy, handle(module));
        lives.push((module, log));
    }
    let (yes, no) = (ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    assert_eq!(lives, [(yes, yes), (no, yes), (no, no)]);
}

#[test]
fn arrays_and_contexts_are_checked() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x30_0040);
    let device = program.device(driver, 0x30_0080);
    let contexts = [
        program.context(driver, 0x30_00c0),
        program.context(driver, 0x30_0100),
    ];
    let list = program.list(contexts[0], device, 0x30_0140, true);
    let events = contexts.map(|context| {
        let pool = program.pool(context, 0x30_0200 + context.addr());
        program.event(pool, 0x30_0400 + context.addr())
    });
    found();
    assert_eq!(
        program.barrier(list, events[0], &[events[0]]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(rules(), Vec::<String>::new());
    assert_eq!(
        program.barrier(list, null_mut(), &[events[0], handle(0x5550)]),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    assert!(
        rules()
            .join("\n")
            .contains("phWaitEvents[1] = 0x5550: this is not a live ze_event_handle_t")
    );
    assert_eq!(
        program.barrier(list, events[1], &[]),
        ZE_RESULT_SUCCESS,
        "a warning"
    );
    let text = rules().join("\n");
    assert!(
        text.contains("warning: lifetime: zeCommandListAppendBarrier: hSignalEvent")
            && text.contains("another context than hCommandList"),
        "{text}"
    );
}

#[test]
fn random_programs_get_the_code_of_their_first_mistake() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x40_0040);
    let device = program.device(driver, 0x40_0080);
    let context = program.context(driver, 0x40_00c0);
    // Queue to its fences; there are few addresses, so that they are often reused.
    let mut queues: BTreeMap<usize, usize> = BTreeMap::new();
    let mut fences: BTreeMap<usize, usize> = BTreeMap::new();
    let mut state = 11u64;
    for step in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pick = |bits: u32| (state >> bits) as usize;
        let queue = 0x40_1000 + pick(40) % 8 * 64;
        let fence = 0x40_2000 + pick(44) % 16 * 64;
        let dead = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
        let (found, expected) = match pick(50) % 6 {
            0 if !queues.contains_key(&queue) => {
                program.queue(context, device, queue);
                queues.insert(queue, 0);
                continue;
            }
            1 if queues.contains_key(&queue) && !fences.contains_key(&fence) => {
                program.fence(handle(queue), fence);
                *queues.get_mut(&queue).unwrap() += 1;
                fences.insert(fence, queue);
                continue;
            }
            2 => {
                let expected = match queues.get(&queue) {
                    None => dead,
                    Some(0) => ZE_RESULT_SUCCESS,
                    Some(_) => ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
                };
                if expected == ZE_RESULT_SUCCESS {
                    queues.remove(&queue);
                }
                (
                    one!(program, CommandQueue.pfnDestroy, handle(queue)),
                    expected,
                )
            }
            3 => {
                let expected = if let Some(queue) = fences.remove(&fence) {
                    *queues.get_mut(&queue).unwrap() -= 1;
                    ZE_RESULT_SUCCESS
                } else {
                    dead
                };
                (one!(program, Fence.pfnDestroy, handle(fence)), expected)
            }
            4 => (
                one!(program, Fence.pfnReset, handle(fence)),
                if fences.contains_key(&fence) {
                    ZE_RESULT_SUCCESS
                } else {
                    dead
                },
            ),
            _ => (one!(program, Fence.pfnReset, handle(queue)), dead),
        };
        assert_eq!(found, expected, "step {step}");
        assert_eq!(
            rules().len(),
            usize::from(expected != ZE_RESULT_SUCCESS),
            "step {step}"
        );
    }
}

#[test]
fn threads_create_use_and_destroy_objects_at_once() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x50_0040);
    let device = program.device(driver, 0x50_0080);
    let context = program.context(driver, 0x50_00c0).addr();
    let device = device.addr();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            std::thread::spawn(move || {
                let program = Program { tables };
                for round in 0..2000 {
                    let queue = program.queue(
                        handle(context),
                        handle(device),
                        0x51_0000 + thread * 0x1_0000 + round % 7 * 64,
                    );
                    let fence =
                        program.fence(queue, 0x61_0000 + thread * 0x1_0000 + round % 5 * 64);
                    assert_eq!(one!(program, Fence.pfnReset, fence), ZE_RESULT_SUCCESS);
                    assert_eq!(one!(program, Fence.pfnDestroy, fence), ZE_RESULT_SUCCESS);
                    assert_eq!(
                        one!(program, Fence.pfnReset, fence),
                        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
                    );
                    assert_eq!(
                        one!(program, CommandQueue.pfnDestroy, queue),
                        ZE_RESULT_SUCCESS
                    );
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(
        one!(program, Context.pfnDestroy, handle(context)),
        ZE_RESULT_SUCCESS,
        "no child is left"
    );
}
