//! Tests of argument checks.

use super::*;

/// Memory for pointers: large enough for any struct, and zero except for the structure type.
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
            "ze_init_driver_type_desc_t" => room[2] = 1,
            "uint32_t" => room[0] = 1,
            _ => {}
        }
        self.0.push(room);
        self.0
            .last()
            .map_or(0, |room| room.as_ptr().expose_provenance() as u64)
    }
}

/// Arguments that pass every check.
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
fn without_checks_every_call_is_forwarded_unchanged() {
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
fn valid_arguments_of_every_function_reach_the_driver() {
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
fn each_null_argument_that_is_required_is_reported() {
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
fn each_invalid_enumerator_and_bit_is_reported() {
    let (_one, tables) = with(parameters_only());
    let mut checked = 0;
    for index in 0..FUNCTIONS {
        for (place, p) in function(index).params.iter().enumerate() {
            let (Kind::Enum(of) | Kind::Flags(of)) = p.kind else {
                continue;
            };
            // For some formats of acceleration structures every number is a value.
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

#[test]
fn structs_and_their_chains_are_checked() {
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

    // Types of later specifications are ignored; a known type in the wrong chain is a warning.
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
    assert!(text.contains("a cycle"), "{text}");
}

#[test]
fn invalid_sizes_and_alignments_have_their_codes() {
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
        (0, ZE_RESULT_ERROR_INVALID_ENUMERATION),
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
