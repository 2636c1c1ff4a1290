//! The validation layer over made tables.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero_sys::*;
use ze_spec::Kind;

use super::*;
use crate::generated::FUNCTIONS;
use crate::value::function;
use crate::{Tables, fake};

thread_local! {
    static FOUND: RefCell<Vec<Finding>> = const { RefCell::new(Vec::new()) };
}

/// What this thread's calls have led to since it last asked.
fn found() -> Vec<Finding> {
    FOUND.with(|found| std::mem::take(&mut *found.borrow_mut()))
}

fn rules() -> Vec<String> {
    found().iter().map(ToString::to_string).collect()
}

/// What is checked is the process's, so these tests run one after the other.
static ONE: Mutex<()> = Mutex::new(());

fn with(settings: Settings) -> (MutexGuard<'static, ()>, &'static Tables) {
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_sink(Some(|finding| {
        FOUND.with(|found| found.borrow_mut().push(finding.clone()))
    }));
    configure(&settings);
    fake::answer(ZE_RESULT_SUCCESS);
    fake::calls();
    found();
    (one, over(&fake::TABLE))
}

fn parameters_only() -> Settings {
    Settings {
        parameters: true,
        ..Settings::default()
    }
}

fn lifetime_only() -> Settings {
    Settings {
        lifetime: true,
        ..Settings::default()
    }
}

/// Memory for what pointers lead to: large enough for any struct, zero but for the structure type.
struct Behind(Vec<Box<[u64; 1024]>>);

impl Behind {
    fn address(&mut self, ty: &str) -> u64 {
        let mut room = Box::new([0u64; 1024]);
        let name = ty.trim_start_matches("const ").trim_end_matches([' ', '*']);
        let known = ze_spec::STRUCTS.iter().find(|s| s.name == name);
        room[0] = known
            .and_then(|s| s.stypes.first())
            .map_or(0, |stype| u64::from(*stype));
        // Fields that must not be zero.
        match name {
            "ze_module_desc_t" => (room[3], room[4]) = (8, 0x1000),
            "ze_kernel_desc_t" => room[3] = 0x1000,
            "ze_event_pool_desc_t" => room[2] = 1 << 32,
            "ze_physical_mem_desc_t" => room[3] = 4096,
            "ze_rtas_builder_exp_desc_t" | "ze_rtas_builder_ext_desc_t" => room[2] = 0x1_0000,
            "uint32_t" => room[0] = 1,
            _ => {}
        }
        self.0.push(room);
        self.0
            .last()
            .map_or(0, |room| room.as_ptr().expose_provenance() as u64)
    }
}

/// Arguments that no check refuses.
fn good(index: usize, behind: &mut Behind) -> Vec<u64> {
    let params = function(index).params.iter();
    params
        .map(|p| match p.kind {
            Kind::Handle => 0x7000,
            Kind::Pointer => behind.address(p.ty),
            Kind::Enum(e) => e.values.first().map_or(0, |(_, value)| u64::from(*value)),
            Kind::Flags(_) | Kind::Struct => 0,
            Kind::Number => 1,
        })
        .collect()
}

#[test]
fn with_nothing_turned_on_every_call_goes_on_unchanged() {
    let (_one, tables) = with(Settings::default());
    for index in 0..FUNCTIONS {
        let direct = fake::call_any(&fake::TABLE, index, 0x1000);
        let expected = fake::calls();
        let through = fake::call_any(tables, index, 0x1000);
        assert_eq!(
            (through, fake::calls()),
            (direct, expected),
            "{}",
            function(index).name
        );
    }
    assert_eq!(rules(), Vec::<String>::new());
}

#[test]
fn good_arguments_of_every_function_reach_the_driver() {
    let (_one, tables) = with(parameters_only());
    for index in 0..FUNCTIONS {
        let mut behind = Behind(Vec::new());
        let arguments = good(index, &mut behind);
        // SAFETY: every pointer leads to enough memory.
        let code = unsafe { fake::call_with(tables, index, &arguments) };
        let name = function(index).name;
        assert!(
            code.is_none_or(|code| code == ZE_RESULT_SUCCESS),
            "{name}: {:?}",
            rules()
        );
        assert_eq!(fake::calls().len(), 1, "{name}: {:?}", rules());
        assert_eq!(rules(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn each_required_argument_that_is_null_is_named() {
    let (_one, tables) = with(parameters_only());
    let mut checked = 0;
    for index in 0..FUNCTIONS {
        let function = function(index);
        for (place, p) in function.params.iter().enumerate() {
            let expected = match p.kind {
                _ if p.optional => continue,
                Kind::Handle => ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                Kind::Pointer => ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                _ => continue,
            };
            let mut behind = Behind(Vec::new());
            let mut arguments = good(index, &mut behind);
            arguments[place] = 0;
            // SAFETY: every pointer that is not null leads to enough memory.
            let code = unsafe { fake::call_with(tables, index, &arguments) };
            assert!(
                code.is_none_or(|code| code == expected),
                "{} {}: {code:?}",
                function.name,
                p.name
            );
            let found = found();
            assert_eq!(found.len(), 1, "{} {}", function.name, p.name);
            assert_eq!(
                found[0].argument.as_deref(),
                Some(p.name),
                "{}",
                function.name
            );
            assert_eq!(
                (found[0].function, found[0].code),
                (Some(function.name), Some(expected))
            );
            assert!(
                fake::calls().is_empty(),
                "{}: the driver was called",
                function.name
            );
            checked += 1;
        }
    }
    assert!(checked > 900, "{checked}");
}

#[test]
fn each_enumerator_and_set_beyond_its_values_is_named() {
    let (_one, tables) = with(parameters_only());
    let mut checked = 0;
    for index in 0..FUNCTIONS {
        for (place, p) in function(index).params.iter().enumerate() {
            let (Kind::Enum(of) | Kind::Flags(of)) = p.kind else {
                continue;
            };
            // Some formats of acceleration structures are all numbers that there are.
            if p.optional || p.direction == ze_spec::Direction::Out || of.max() > 0x4000_0000 {
                continue;
            }
            let mut behind = Behind(Vec::new());
            let mut arguments = good(index, &mut behind);
            arguments[place] = 0x4000_0000;
            // SAFETY: every pointer leads to enough memory.
            let code = unsafe { fake::call_with(tables, index, &arguments) };
            let name = function(index).name;
            assert_eq!(
                code,
                Some(ZE_RESULT_ERROR_INVALID_ENUMERATION),
                "{name} {}",
                p.name
            );
            let found = found();
            assert_eq!(found[0].argument.as_deref(), Some(p.name), "{name}");
            checked += 1;
        }
    }
    assert!(checked > 30, "{checked}");
}

fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

#[test]
fn structs_and_their_chains_are_looked_into() {
    let (_one, tables) = with(parameters_only());
    let create = tables.ze.Context.pfnCreate.unwrap();
    let mut context = null_mut();
    let mut call = |desc: &ze_context_desc_t| {
        // SAFETY: the fake looks behind nothing, the layer behind the descriptor.
        let code = unsafe { create(handle(0x40), std::ptr::from_ref(desc), &raw mut context) };
        (code, rules().join("\n"))
    };
    let good = ze_context_desc_t::default();
    assert_eq!(call(&good), (ZE_RESULT_SUCCESS, String::new()));

    let wrong = ze_context_desc_t {
        stype: ZE_STRUCTURE_TYPE_FENCE_DESC,
        ..good
    };
    let (code, text) = call(&wrong);
    assert_eq!(code, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert!(
        text.contains("desc->stype = 0x12: the structure type of ze_context_desc_t is 0xd"),
        "{text}"
    );

    let flags = ze_context_desc_t {
        flags: 0x80,
        ..good
    };
    let (code, text) = call(&flags);
    assert_eq!(code, ZE_RESULT_ERROR_INVALID_ENUMERATION);
    assert!(
        text.contains("zeContextCreate: desc->flags = 0x80: only bits of ze_context_flag_t"),
        "{text}"
    );
    assert!(
        text.contains("Level Zero 1.17, Core API, Context: zeContextCreate"),
        "{text}"
    );

    let beyond = ze_base_desc_t {
        stype: ze_structure_type_t(0x0010_0001),
        pNext: null(),
    };
    let (code, _) = call(&ze_context_desc_t {
        pNext: (&raw const beyond).cast(),
        ..good
    });
    assert_eq!(code, ZE_RESULT_ERROR_INVALID_ARGUMENT);

    // News of later specifications are ignored; what is known and belongs elsewhere is a warning.
    let news = ze_base_desc_t {
        stype: ze_structure_type_t(0x000f_0001),
        pNext: null(),
    };
    assert_eq!(
        call(&ze_context_desc_t {
            pNext: (&raw const news).cast(),
            ..good
        }),
        (ZE_RESULT_SUCCESS, String::new())
    );
    let elsewhere = ze_relaxed_allocation_limits_exp_desc_t::default();
    let (code, text) = call(&ze_context_desc_t {
        pNext: (&raw const elsewhere).cast(),
        ..good
    });
    assert_eq!(code, ZE_RESULT_SUCCESS);
    assert!(
        text.starts_with("warning: parameters: zeContextCreate: desc->pNext"),
        "{text}"
    );

    let mut ring = ze_base_desc_t {
        stype: ze_structure_type_t(0x000f_0001),
        pNext: null(),
    };
    ring.pNext = (&raw const ring).cast();
    let (code, text) = call(&ze_context_desc_t {
        pNext: (&raw const ring).cast(),
        ..good
    });
    assert_eq!(code, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert!(text.contains("a ring"), "{text}");
}

#[test]
fn sizes_and_alignments_have_their_codes() {
    let (_one, tables) = with(parameters_only());
    let desc = ze_host_mem_alloc_desc_t::default();
    let mut memory = null_mut();
    let mut allocate = |size, alignment| {
        // SAFETY: the fake looks behind nothing.
        unsafe {
            tables.ze.Mem.pfnAllocHost.unwrap()(
                handle(0x40),
                &raw const desc,
                size,
                alignment,
                &raw mut memory,
            )
        }
    };
    assert_eq!(allocate(16, 0), ZE_RESULT_SUCCESS);
    assert_eq!(allocate(16, 64), ZE_RESULT_SUCCESS);
    assert_eq!(allocate(0, 64), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    assert_eq!(allocate(16, 3), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    // SAFETY: as above.
    unsafe {
        let barrier = tables.ze.CommandList.pfnAppendBarrier.unwrap();
        assert_eq!(
            barrier(handle(0x40), null_mut(), 1, null_mut()),
            ZE_RESULT_ERROR_INVALID_SIZE
        );
        assert_eq!(
            barrier(handle(0x40), null_mut(), 0, null_mut()),
            ZE_RESULT_SUCCESS
        );
        let fill = tables.ze.CommandList.pfnAppendMemoryFill.unwrap();
        let pattern = 0u32;
        let at = (&raw const pattern).cast();
        assert_eq!(
            fill(
                handle(0x40),
                handle(0x80),
                at,
                4,
                10,
                null_mut(),
                0,
                null_mut()
            ),
            ZE_RESULT_ERROR_INVALID_SIZE
        );
        assert_eq!(
            fill(
                handle(0x40),
                handle(0x80),
                at,
                0,
                10,
                null_mut(),
                0,
                null_mut()
            ),
            ZE_RESULT_SUCCESS
        );
    }
}

#[test]
fn a_module_may_have_its_programs_in_the_chain() {
    let (_one, tables) = with(parameters_only());
    let mut module = null_mut();
    let mut create = |desc: &ze_module_desc_t| {
        // SAFETY: the fake looks behind nothing.
        unsafe {
            tables.ze.Module.pfnCreate.unwrap()(
                handle(0x40),
                handle(0x80),
                desc,
                &raw mut module,
                null_mut(),
            )
        }
    };
    let several = ze_module_program_exp_desc_t::default();
    let byte = 0u8;
    let chain = (&raw const several).cast();
    let desc = ze_module_desc_t::default();
    let cases = [
        (desc, ZE_RESULT_ERROR_INVALID_NULL_POINTER),
        (
            ze_module_desc_t {
                pInputModule: &raw const byte,
                ..desc
            },
            ZE_RESULT_ERROR_INVALID_SIZE,
        ),
        (
            ze_module_desc_t {
                pInputModule: &raw const byte,
                inputSize: 1,
                ..desc
            },
            ZE_RESULT_SUCCESS,
        ),
        (
            ze_module_desc_t {
                pNext: chain,
                ..desc
            },
            ZE_RESULT_SUCCESS,
        ),
        (
            ze_module_desc_t {
                pNext: chain,
                format: ZE_MODULE_FORMAT_NATIVE,
                ..desc
            },
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
        ),
        (
            ze_module_desc_t {
                format: ze_module_format_t(7),
                ..desc
            },
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
        ),
    ];
    for (number, (desc, expected)) in cases.iter().enumerate() {
        assert_eq!(create(desc), *expected, "case {number}");
    }
}

#[test]
fn all_driver_types_at_once_are_allowed() {
    let (_one, tables) = with(parameters_only());
    let mut count = 5u32;
    let mut desc = ze_init_driver_type_desc_t::default();
    for (flags, expected) in [
        (u32::MAX, ZE_RESULT_SUCCESS),
        (1, ZE_RESULT_SUCCESS),
        (0x80, ZE_RESULT_ERROR_INVALID_ENUMERATION),
    ] {
        desc.flags = flags;
        // SAFETY: the fake looks behind nothing.
        let code = unsafe {
            tables.ze.Global.pfnInitDrivers.unwrap()(&raw mut count, null_mut(), &raw mut desc)
        };
        assert_eq!(code, expected, "{flags:#x}");
    }
}

/// The calls of a program, with the handles that the fake driver "makes": what the out-parameter held before.
struct Program {
    tables: &'static Tables,
}

impl Program {
    fn driver(&self, number: usize) -> ze_driver_handle_t {
        let mut handle = handle(number);
        let mut count = 1;
        // SAFETY: the fake leaves both as they are.
        unsafe { self.tables.ze.Driver.pfnGet.unwrap()(&raw mut count, &raw mut handle) };
        handle
    }

    fn device(&self, driver: ze_driver_handle_t, number: usize) -> ze_device_handle_t {
        let mut handle = handle(number);
        let mut count = 1;
        // SAFETY: the fake leaves both as they are.
        unsafe { self.tables.ze.Device.pfnGet.unwrap()(driver, &raw mut count, &raw mut handle) };
        handle
    }

    fn context(&self, driver: ze_driver_handle_t, number: usize) -> ze_context_handle_t {
        let mut handle = handle(number);
        let desc = ze_context_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.Context.pfnCreate.unwrap()(driver, &raw const desc, &raw mut handle)
        };
        handle
    }

    fn queue(
        &self,
        context: ze_context_handle_t,
        device: ze_device_handle_t,
        number: usize,
    ) -> ze_command_queue_handle_t {
        let mut handle = handle(number);
        let desc = ze_command_queue_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.CommandQueue.pfnCreate.unwrap()(
                context,
                device,
                &raw const desc,
                &raw mut handle,
            )
        };
        handle
    }

    fn fence(&self, queue: ze_command_queue_handle_t, number: usize) -> ze_fence_handle_t {
        let mut handle = handle(number);
        let desc = ze_fence_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe { self.tables.ze.Fence.pfnCreate.unwrap()(queue, &raw const desc, &raw mut handle) };
        handle
    }

    fn list(
        &self,
        context: ze_context_handle_t,
        device: ze_device_handle_t,
        number: usize,
        immediate: bool,
    ) -> ze_command_list_handle_t {
        let mut handle = handle(number);
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            if immediate {
                let desc = ze_command_queue_desc_t::default();
                self.tables.ze.CommandList.pfnCreateImmediate.unwrap()(
                    context,
                    device,
                    &raw const desc,
                    &raw mut handle,
                );
            } else {
                let desc = ze_command_list_desc_t::default();
                self.tables.ze.CommandList.pfnCreate.unwrap()(
                    context,
                    device,
                    &raw const desc,
                    &raw mut handle,
                );
            }
        }
        handle
    }

    fn pool(&self, context: ze_context_handle_t, number: usize) -> ze_event_pool_handle_t {
        let mut handle = handle(number);
        let desc = ze_event_pool_desc_t {
            count: 8,
            ..Default::default()
        };
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.EventPool.pfnCreate.unwrap()(
                context,
                &raw const desc,
                0,
                null_mut(),
                &raw mut handle,
            )
        };
        handle
    }

    fn event(&self, pool: ze_event_pool_handle_t, number: usize) -> ze_event_handle_t {
        let mut handle = handle(number);
        let desc = ze_event_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe { self.tables.ze.Event.pfnCreate.unwrap()(pool, &raw const desc, &raw mut handle) };
        handle
    }

    fn barrier(
        &self,
        list: ze_command_list_handle_t,
        signal: ze_event_handle_t,
        waits: &[ze_event_handle_t],
    ) -> ze_result_t {
        let mut waits = waits.to_vec();
        // SAFETY: the array is there for the call.
        unsafe {
            self.tables.ze.CommandList.pfnAppendBarrier.unwrap()(
                list,
                signal,
                waits.len() as u32,
                waits.as_mut_ptr(),
            )
        }
    }

    fn execute(
        &self,
        queue: ze_command_queue_handle_t,
        list: ze_command_list_handle_t,
        fence: ze_fence_handle_t,
    ) -> ze_result_t {
        let mut list = list;
        // SAFETY: the array is there for the call.
        unsafe {
            self.tables.ze.CommandQueue.pfnExecuteCommandLists.unwrap()(
                queue,
                1,
                &raw mut list,
                fence,
            )
        }
    }
}

/// Calls a function of one handle.
macro_rules! one {
    ($program:expr, $table:ident.$slot:ident, $handle:expr) => {
        // SAFETY: the fake looks behind no handle.
        unsafe { $program.tables.ze.$table.$slot.unwrap()($handle) }
    };
}

#[test]
fn handles_live_from_their_making_to_their_end() {
    let (_one, tables) = with(lifetime_only());
    let program = Program { tables };
    let driver = program.driver(0x10_0040);
    let device = program.device(driver, 0x10_0080);
    let context = program.context(driver, 0x10_00c0);
    let queue = program.queue(context, device, 0x10_0100);
    let fence = program.fence(queue, 0x10_0140);
    assert_eq!(rules(), Vec::<String>::new());

    // Parents wait for their children.
    assert_eq!(
        one!(program, Context.pfnDestroy, context),
        ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
    );
    let text = rules().join("\n");
    assert!(text.contains("1 objects that were made from it live: ze_command_queue_handle_t 0x100100 created by zeCommandQueueCreate"), "{text}");
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

    // Another type, and nobody's.
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
            .contains("no live ze_fence_handle_t has this handle")
    );
    assert_eq!(
        one!(program, Fence.pfnReset, handle(usize::MAX)),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    assert_eq!(
        one!(program, Fence.pfnReset, null_mut()),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );

    // The address is used again.
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
            .contains("the fence was made for another command queue")
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
fn lists_take_commands_while_they_are_open() {
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
    // The reference refuses every append to an immediate list here.
    assert_eq!(barrier(immediate), ZE_RESULT_SUCCESS);
    assert_eq!(program.execute(queue, immediate, null_mut()), refused);
    assert!(
        rules()
            .join("\n")
            .contains("an immediate command list executes by itself")
    );
}

#[test]
fn arrays_and_contexts_are_looked_at() {
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
            .contains("phWaitEvents[1] = 0x5550: no live ze_event_handle_t")
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
    // Queue to its fences; addresses are few, so they are used again and again.
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
fn threads_make_use_and_end_objects_at_once() {
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

#[test]
fn events_that_wait_for_themselves_are_named_before_submission() {
    let (_one, tables) = with(Settings {
        events: true,
        lifetime: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let driver = program.driver(0x70_0040);
    let device = program.device(driver, 0x70_0080);
    let context = program.context(driver, 0x70_00c0);
    let list = program.list(context, device, 0x70_0100, false);
    let queue = program.queue(context, device, 0x70_0140);
    let pool = program.pool(context, 0x70_0180);
    let events: Vec<_> = (0..4)
        .map(|n| program.event(pool, 0x70_0200 + n * 64))
        .collect();
    found();

    // A chain is no ring.
    program.barrier(list, events[0], &[]);
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());
    // Its end signalling its beginning is one, and a second signal.
    program.barrier(list, events[0], &[events[1]]);
    let text = rules().join("\n");
    assert!(
        text.contains("Warning: There may be a potential event deadlock!"),
        "{text}"
    );
    assert!(
        text.contains("signalled again without a reset since zeCommandListAppendBarrier"),
        "{text}"
    );

    // After a reset of all, again without a word.
    for event in &events {
        assert_eq!(one!(program, Event.pfnHostReset, *event), ZE_RESULT_SUCCESS);
    }
    assert_eq!(one!(program, CommandList.pfnReset, list), ZE_RESULT_SUCCESS);
    program.barrier(list, events[0], &[]);
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());

    // Nobody signals 2: said at submission, not while it is recorded.
    program.barrier(list, events[3], &[events[2]]);
    assert_eq!(rules(), Vec::<String>::new());
    assert_eq!(one!(program, CommandList.pfnClose, list), ZE_RESULT_SUCCESS);
    assert_eq!(program.execute(queue, list, null_mut()), ZE_RESULT_SUCCESS);
    let text = rules().join("\n");
    assert!(
        text.contains(
            "event = 0x700280: the command waits for an event that no command was told to signal"
        ),
        "{text}"
    );
    assert!(text.contains("created by zeEventCreate"), "{text}");
    assert_eq!(
        one!(program, Event.pfnHostSignal, events[2]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(program.execute(queue, list, null_mut()), ZE_RESULT_SUCCESS);
    assert_eq!(rules(), Vec::<String>::new());

    // The host waits without limit for nobody.
    let lonely = program.event(pool, 0x70_0400);
    // SAFETY: the fake looks behind no handle.
    unsafe {
        let wait = tables.ze.Event.pfnHostSynchronize.unwrap();
        wait(lonely, 10);
        assert_eq!(rules(), Vec::<String>::new());
        wait(lonely, u64::MAX);
    }
    assert!(
        rules()
            .join("\n")
            .contains("nobody was told to signal the event")
    );
}

#[test]
fn the_host_closes_a_ring_too() {
    let (_one, tables) = with(Settings {
        events: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let list = program.list(handle(0x40), handle(0x80), 0x71_0100, true);
    let events: Vec<_> = (0..2)
        .map(|n| program.event(handle(0x40), 0x71_0200 + n * 64))
        .collect();
    found();
    assert_eq!(
        one!(program, Event.pfnHostSignal, events[0]),
        ZE_RESULT_SUCCESS
    );
    program.barrier(list, events[1], &[events[0]]);
    assert_eq!(rules(), Vec::<String>::new());
    program.barrier(list, events[0], &[events[1]]);
    assert!(rules().join("\n").contains("potential event deadlock"));
    // What was waited for is done and forgotten.
    for event in &events {
        assert_eq!(one!(program, Event.pfnHostReset, *event), ZE_RESULT_SUCCESS);
    }
    for _ in 0..3 {
        program.barrier(list, events[0], &[]);
        // SAFETY: the fake looks behind no handle.
        unsafe { tables.ze.Event.pfnHostSynchronize.unwrap()(events[0], u64::MAX) };
        assert_eq!(
            one!(program, Event.pfnHostReset, events[0]),
            ZE_RESULT_SUCCESS
        );
    }
    assert_eq!(rules(), Vec::<String>::new());
    program.barrier(list, handle(0x9990), &[]);
    assert!(rules().join("\n").contains("might be an invalid event"));
}

#[test]
fn functions_beyond_the_certified_version_are_refused() {
    let version = Version { major: 1, minor: 6 };
    let settings = Settings {
        certification: true,
        certified: Some(version),
        ..Settings::default()
    };
    let (_one, tables) = with(settings.clone());
    // The one whose answer is looked at, where there is none here.
    let listened = fake::index("zeDriverGetApiVersion");
    for index in (0..FUNCTIONS).filter(|index| *index != listened) {
        let code = fake::call_any(tables, index, 0x1000);
        let beyond = function(index).since > version;
        let name = function(index).name;
        assert_eq!(rules().len(), usize::from(beyond), "{name}");
        assert!(
            code.is_none_or(|code| (code == ZE_RESULT_ERROR_UNSUPPORTED_VERSION) == beyond),
            "{name}"
        );
    }
    // Without one, the driver's word counts once it is known.
    configure(&Settings {
        certified: None,
        ..settings
    });
    let newest = fake::index("zeDriverGetDefaultContext");
    fake::call_any(tables, newest, 0x1000);
    assert_eq!(rules(), Vec::<String>::new());
    let mut version = ze_api_version_t(0x1_0006);
    // SAFETY: the fake looks behind nothing, the layer at the version.
    unsafe { tables.ze.Driver.pfnGetApiVersion.unwrap()(handle(0x40), &raw mut version) };
    fake::call_any(tables, newest, 0x1000);
    assert!(
        rules()
            .join("\n")
            .contains("the function came with 1.14, the version to keep to is 1.6")
    );
}

#[test]
fn leaks_are_counted_at_the_end() {
    let (_one, tables) = with(Settings {
        leaks: true,
        json: true,
        ..Settings::default()
    });
    let program = Program { tables };
    let queue = program.queue(handle(0x40), handle(0x80), 0x80_0040);
    program.fence(queue, 0x80_0080);
    let fence = program.fence(queue, 0x80_00c0);
    let mut event = handle(0x80_0100);
    let desc = ze_event_counter_based_desc_t::default();
    // SAFETY: the fake looks behind nothing.
    unsafe {
        tables.ze.Event.pfnCounterBasedCreate.unwrap()(
            handle(0x40),
            handle(0x80),
            &raw const desc,
            &raw mut event,
        )
    };
    assert_eq!(one!(program, Fence.pfnDestroy, fence), ZE_RESULT_SUCCESS);
    fake::answer(ZE_RESULT_ERROR_UNKNOWN);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_ERROR_UNKNOWN,
        "only successes count"
    );
    fake::answer(ZE_RESULT_SUCCESS);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_SUCCESS
    );
    finish();
    let found = rules();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("zeEventCreate + zeEventCounterBasedCreate was called 1 times, zeEventDestroy 0 times: LEAK = 1"), "{found:?}");
    assert!(
        found[1].contains("zeFenceCreate was called 2 times, zeFenceDestroy 1 times: LEAK = 1"),
        "{found:?}"
    );
}

#[test]
fn slow_settings_are_warned_of() {
    let (_one, tables) = with(Settings {
        performance: true,
        ..Settings::default()
    });
    let mut list = null_mut();
    let mut create = |mode, flags| {
        let desc = ze_command_queue_desc_t {
            mode,
            flags,
            ..Default::default()
        };
        // SAFETY: the fake looks behind nothing.
        unsafe {
            tables.ze.CommandList.pfnCreateImmediate.unwrap()(
                handle(0x40),
                handle(0x80),
                &raw const desc,
                &raw mut list,
            )
        };
        rules().len()
    };
    let (ordered, hinted) = (
        ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
        ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
    );
    let (waiting, running) = (
        ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
    );
    let found = [
        create(running, ordered | hinted),
        create(running, ordered),
        create(running, 0),
        create(waiting, 0),
    ];
    assert_eq!(found, [0, 1, 1, 2]);
}

#[test]
fn resources_are_written_a_line_a_call() {
    let folder = std::env::temp_dir();
    let name = format!("ze-layers-resources-{}", std::process::id());
    let csv = folder.join(format!("{name}.csv"));
    let (_one, tables) = with(Settings {
        resources: true,
        resources_csv: Some(csv),
        ..Settings::default()
    });
    let program = Program { tables };
    let queue = program.queue(handle(0x40), handle(0x80), 0x90_0040);
    program.fence(queue, 0x90_0080);
    assert_eq!(
        one!(program, CommandQueue.pfnDestroy, queue),
        ZE_RESULT_SUCCESS
    );
    configure(&Settings::default());
    let written = folder.join(format!("{name}_pid{}.csv", std::process::id()));
    let text = std::fs::read_to_string(&written).unwrap();
    std::fs::remove_file(&written).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.len() == 22), "{text}");
    let queues: Vec<&str> = lines.iter().map(|line| line[4]).collect();
    assert_eq!(queues, ["CommandQueues", "1", "1", "0"]);
}

#[test]
fn findings_are_one_json_object_each() {
    let mut finding = Finding::new(Severity::Error, "parameters", "say \"why\"\n".into());
    finding.argument = Some("desc->flags".into());
    finding.code = Some(ZE_RESULT_ERROR_INVALID_ENUMERATION);
    let expected = r#"{"severity":"error","checker":"parameters","argument":"desc->flags","rule":"say \"why\"\u000a","code":"ZE_RESULT_ERROR_INVALID_ENUMERATION"}"#;
    assert_eq!(finding.json(), expected);
}

#[test]
fn settings_come_from_variables() {
    let read = |pairs: &[(&str, &str)]| {
        let map: BTreeMap<&str, &str> = pairs.iter().copied().collect();
        Settings::read(|name| map.get(name).map(ToString::to_string))
    };
    assert_eq!(read(&[]), Ok(Settings::default()));
    let on = read(&[
        ("ZE_ENABLE_PARAMETER_VALIDATION", "1"),
        ("ZE_ENABLE_HANDLE_LIFETIME", "0"),
        ("ZEL_ENABLE_EVENTS_CHECKER", "yes"),
    ])
    .unwrap();
    assert_eq!((on.parameters, on.lifetime, on.events), (true, false, true));
    let version = read(&[("ZEL_CERTIFICATION_CHECKER_VERSION", "1.9")]).unwrap();
    assert_eq!(version.certified, Some(Version { major: 1, minor: 9 }));
    assert!(read(&[("SOLUM_VALIDATION_FORMAT", "json")]).unwrap().json);
    let error = read(&[("SOLUM_VALIDATION_FORMAT", "xml")]).unwrap_err();
    assert!(
        error.contains("'xml'") && error.contains("text and json"),
        "{error}"
    );
}
