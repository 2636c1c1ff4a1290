//! Results of wrong arguments, and properties.

use crate::api::*;
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn null_handles_come_before_null_pointers() {
    let (context, device) = (context(), device(0));
    let (handle, pointer) = (
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    );
    let desc = ze_command_list_desc_t::default();
    let none = null_mut();
    let mut list = null_mut();
    let cases = [
        (
            ze!(CommandList.pfnCreate(none, null_mut(), null(), null_mut())),
            handle,
            "hContext is null",
        ),
        (
            ze!(CommandList.pfnCreate(context, null_mut(), null(), null_mut())),
            handle,
            "hDevice is null",
        ),
        (
            ze!(CommandList.pfnCreate(none, device, null(), null_mut())),
            handle,
            "hContext is null",
        ),
        (
            ze!(CommandList.pfnCreate(context, device, null(), &raw mut list)),
            pointer,
            "desc is null",
        ),
        (
            ze!(CommandList.pfnCreate(context, device, &raw const desc, null_mut())),
            pointer,
            "phCommandList is null",
        ),
        (
            ze!(Mem.pfnAllocDevice(context, null(), 1, 0, null_mut(), null_mut())),
            handle,
            "hDevice is null",
        ),
        (
            ze!(CommandList.pfnAppendMemoryCopy(
                crate::api::list(context, 0),
                null_mut(),
                null(),
                4,
                null_mut(),
                0,
                null_mut()
            )),
            pointer,
            "dstptr is null",
        ),
        (
            ze!(CommandList.pfnAppendBarrier(
                crate::api::list(context, 0),
                null_mut(),
                2,
                null_mut()
            )),
            ZE_RESULT_ERROR_INVALID_SIZE,
            "phWaitEvents is null, but its count is 2",
        ),
        (
            ze!(Event.pfnHostSignal(null_mut())),
            handle,
            "zeEventHostSignal: hEvent is null",
        ),
        (ze!(Image.pfnDestroy(null_mut())), handle, ""),
        (
            ze!(Context.pfnDestroy(device.cast())),
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "not a live context handle",
        ),
    ];
    // Only the last error can be queried, so each text is checked for the last case of its kind.
    for (i, (got, want, _)) in cases.iter().enumerate() {
        assert_eq!(got, want, "case {i}");
    }
    assert!(
        last_error().contains(cases[cases.len() - 1].2),
        "{}",
        last_error()
    );
    let _ = ze!(Event.pfnHostSignal(null_mut()));
    assert!(
        last_error().starts_with("zeEventHostSignal: hEvent is null"),
        "{}",
        last_error()
    );
}

#[test]
fn a_destroyed_handle_is_detected_while_it_is_in_use() {
    let context = context();
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    // The list keeps the context alive, so the second destroy reads a live object.
    ok!(Context.pfnDestroy(context));
    assert_eq!(
        ze!(Context.pfnDestroy(context)),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    ok!(CommandList.pfnHostSynchronize(list, 0));
}

#[test]
fn flags_and_enumerations_have_bounds() {
    let (context, device) = (context(), device(0));
    let mut queue = null_mut();
    let good = ze_command_queue_desc_t::default();
    let bad = ZE_RESULT_ERROR_INVALID_ENUMERATION;
    let cases = [
        (good, ZE_RESULT_SUCCESS),
        (ze_command_queue_desc_t { flags: 8, ..good }, bad),
        (
            ze_command_queue_desc_t {
                mode: ze_command_queue_mode_t(3),
                ..good
            },
            bad,
        ),
        (
            ze_command_queue_desc_t {
                priority: ze_command_queue_priority_t(3),
                ..good
            },
            bad,
        ),
        (
            ze_command_queue_desc_t { ordinal: 2, ..good },
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
        ),
        (
            ze_command_queue_desc_t { index: 4, ..good },
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
        ),
    ];
    for (i, (desc, want)) in cases.iter().enumerate() {
        let got = ze!(CommandQueue.pfnCreate(context, device, desc, &raw mut queue));
        assert_eq!(got, *want, "case {i}: {}", last_error());
    }
    let pool = |count, flags| {
        let desc = ze_event_pool_desc_t {
            count,
            flags,
            ..Default::default()
        };
        let mut pool = null_mut();
        ze!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool))
    };
    assert_eq!(pool(0, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_eq!(pool(1, 16), bad);
    assert_eq!(pool(u32::MAX, 0), ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
}

#[test]
fn lists_are_executed_closed_and_appended_open() {
    let context = context();
    let (queue, mut open) = (queue(context), list(context, 0));
    let run = |list: &mut ze_command_list_handle_t, n| {
        ze!(CommandQueue.pfnExecuteCommandLists(queue, n, list, null_mut()))
    };
    assert_eq!(run(&mut open, 0), ZE_RESULT_ERROR_INVALID_SIZE);
    assert_eq!(run(&mut open, 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    ok!(CommandList.pfnClose(open));
    assert_eq!(run(&mut open, 1), ZE_RESULT_SUCCESS);
    // Left out, as the conformance suite expects; the last error says so.
    let [event] = events(context, false);
    ok!(CommandList.pfnAppendBarrier(open, event, 0, null_mut()));
    assert!(last_error().contains("is closed"), "{}", last_error());
    assert_eq!(run(&mut open, 1), ZE_RESULT_SUCCESS);
    ok!(CommandQueue.pfnSynchronize(queue, u64::MAX));
    assert_eq!(ze!(Event.pfnQueryStatus(event)), ZE_RESULT_NOT_READY);
    ok!(CommandList.pfnReset(open));
    ok!(CommandList.pfnAppendBarrier(open, null_mut(), 0, null_mut()));
    let mut live = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    assert_eq!(run(&mut live, 1), ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    assert_eq!(
        ze!(CommandList.pfnHostSynchronize(open, 0)),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
}

#[test]
fn driver_answers_extensions_and_unknown_names() {
    let driver = driver();
    let mut count = 0;
    ok!(Driver.pfnGetExtensionProperties(driver, &raw mut count, null_mut()));
    let mut all = vec![ze_driver_extension_properties_t::default(); count as usize];
    ok!(Driver.pfnGetExtensionProperties(driver, &raw mut count, all.as_mut_ptr()));
    let has = |name: &str, version| {
        all.iter().any(|e| {
            let known: Vec<u8> = e
                .name
                .iter()
                .map(|c| *c as u8)
                .take_while(|c| *c != 0)
                .collect();
            known == name.as_bytes() && e.version == version
        })
    };
    assert!(has("ZE_experimental_module_program", 0x1_0000));
    assert!(has("ZE_extension_driver_ddi_handles", 0x1_0001));
    let mut address = std::ptr::dangling_mut::<c_void>();
    let got = ze!(Driver.pfnGetExtensionFunctionAddress(
        driver,
        c"zexNothing".as_ptr(),
        &raw mut address
    ));
    assert_eq!(
        (got, address),
        (ZE_RESULT_ERROR_INVALID_ARGUMENT, null_mut())
    );
    assert!(last_error().contains("zexNothing"));
    memory_is_imported_at_any_address(driver);
    let mut properties = ze_driver_properties_t::default();
    ok!(Driver.pfnGetProperties(driver, &raw mut properties));
    assert_eq!(properties.driverVersion, 7);
    let default = ze!(Driver.pfnGetDefaultContext(driver));
    assert_eq!(default, ze!(Driver.pfnGetDefaultContext(driver)));
    assert_eq!(
        ze!(Context.pfnDestroy(default)),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
}

/// The three functions for the program's own memory, found by name.
fn memory_is_imported_at_any_address(driver: ze_driver_handle_t) {
    type Import = unsafe extern "C" fn(ze_driver_handle_t, *mut c_void, usize) -> ze_result_t;
    type Release = unsafe extern "C" fn(ze_driver_handle_t, *mut c_void) -> ze_result_t;
    type Base =
        unsafe extern "C" fn(ze_driver_handle_t, *mut c_void, *mut *mut c_void) -> ze_result_t;
    let named = |name: &std::ffi::CStr| {
        let mut address = null_mut();
        ok!(Driver.pfnGetExtensionFunctionAddress(driver, name.as_ptr(), &raw mut address));
        assert!(!address.is_null());
        address
    };
    // SAFETY: the functions behind these names have these types.
    let (import, release, base_of) = unsafe {
        (
            std::mem::transmute::<*mut c_void, Import>(named(c"zexDriverImportExternalPointer")),
            std::mem::transmute::<*mut c_void, Release>(named(c"zexDriverReleaseImportedPointer")),
            std::mem::transmute::<*mut c_void, Base>(named(c"zexDriverGetHostPointerBaseAddress")),
        )
    };
    let mut own = vec![0u8; 10_000];
    let at = |offset: usize| {
        own.as_ptr()
            .wrapping_add(offset)
            .cast_mut()
            .cast::<c_void>()
    };
    let usm = words(context(), 16).as_mut_ptr().cast::<c_void>();
    // (address, bytes, result)
    for (ptr, size, answer) in [
        (null_mut(), 1, ZE_RESULT_ERROR_INVALID_NULL_POINTER),
        (at(7), 0, ZE_RESULT_ERROR_INVALID_SIZE),
        (at(7), usize::MAX, ZE_RESULT_ERROR_INVALID_SIZE),
        (usm, 4, ZE_RESULT_ERROR_OVERLAPPING_REGIONS),
        (at(7), 4097, ZE_RESULT_SUCCESS),
        (at(7), 100, ZE_RESULT_SUCCESS),
        (at(4103), 1, ZE_RESULT_ERROR_OVERLAPPING_REGIONS),
        (at(4104), 1, ZE_RESULT_SUCCESS),
    ] {
        // SAFETY: a function of the driver's; the memory is the test's.
        let got = unsafe { import(driver, ptr, size) };
        assert_eq!(got, answer, "{ptr:p} {size}");
    }
    let mut base = null_mut();
    // SAFETY: as above; `base` is alive.
    unsafe {
        assert_eq!(base_of(driver, at(4000), &raw mut base), ZE_RESULT_SUCCESS);
        assert_eq!(base, at(7));
        assert_eq!(base_of(driver, at(4000), null_mut()), ZE_RESULT_SUCCESS);
        assert_eq!(release(driver, at(8)), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_eq!(release(driver, at(7)), ZE_RESULT_SUCCESS);
        assert_eq!(release(driver, at(7)), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert_eq!(
            base_of(driver, at(4000), &raw mut base),
            ZE_RESULT_ERROR_INVALID_ARGUMENT
        );
        assert_eq!(
            import(null_mut(), at(0), 1),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE
        );
    }
    own.clear();
}

#[test]
fn runtime_entries_name_devices_by_number() {
    let default = ze!(Driver.pfnGetDefaultContext(driver()));
    let mut table = zer_global_dditable_t::default();
    // SAFETY: a live table; the functions take a handle or a number.
    unsafe {
        let got =
            ze_driver::getters::zerGetGlobalProcAddrTable(ZE_API_VERSION_1_17, &raw mut table);
        assert_eq!(got, ZE_RESULT_SUCCESS);
        let (to, from) = (
            table
                .pfnTranslateDeviceHandleToIdentifier
                .expect("complete"),
            table
                .pfnTranslateIdentifierToDeviceHandle
                .expect("complete"),
        );
        assert_eq!((to(device(1)), from(1)), (1, device(1)));
        assert_eq!((to(null_mut()), from(3)), (u32::MAX, null_mut()));
        assert!(last_error().contains("identifier is 3"), "{}", last_error());
        let context = (table.pfnGetDefaultContext.expect("complete"))();
        assert_eq!(context, default);
    }
}

#[test]
fn device_properties_fill_known_structs_of_the_chain() {
    let device = device(1);
    let unknown = ze_base_properties_t {
        stype: ze_structure_type_t(0x0003_0001),
        pNext: null_mut(),
    };
    let mut version = ze_device_ip_version_ext_t {
        pNext: (&raw const unknown).cast_mut().cast(),
        ..Default::default()
    };
    let mut properties = ze_device_properties_t {
        pNext: (&raw mut version).cast(),
        ..Default::default()
    };
    for (stype, resolution) in [
        (ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES, 1),
        (ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2, 1_000_000_000),
    ] {
        properties.stype = stype;
        ok!(Device.pfnGetProperties(device, &raw mut properties));
        assert_eq!(properties.timerResolution, resolution);
        assert_eq!(properties.stype, stype);
    }
    assert_eq!(
        (properties.r#type, version.ipVersion),
        (ZE_DEVICE_TYPE_CPU, 0x0300_0000)
    );
    assert_eq!(properties.kernelTimestampValidBits, 63);
    let mut count = 1;
    let mut root = device;
    ok!(Device.pfnGetRootDevice(device, &raw mut root));
    ok!(Device.pfnGetSubDevices(device, &raw mut count, &raw mut root));
    assert_eq!((root, count), (null_mut(), 0));
    let mut atomics = ze_float_atomic_ext_properties_t::default();
    let mut module = ze_device_module_properties_t {
        pNext: (&raw mut atomics).cast(),
        ..Default::default()
    };
    ok!(Device.pfnGetModuleProperties(device, &raw mut module));
    assert_eq!(
        [atomics.fp16Flags, atomics.fp32Flags, atomics.fp64Flags],
        [1, 2, 4]
    );
    let mut ext = ze_device_memory_ext_properties_t::default();
    let mut memory = ze_device_memory_properties_t {
        pNext: (&raw mut ext).cast(),
        ..Default::default()
    };
    let mut count = 1;
    ok!(Device.pfnGetMemoryProperties(device, &raw mut count, &raw mut memory));
    assert_eq!((memory.totalSize, ext.physicalSize), (1 << 30, 1 << 31));
    let mut groups = [ze_command_queue_group_properties_t::default(); 2];
    let mut count = 2;
    ok!(Device.pfnGetCommandQueueGroupProperties(device, &raw mut count, groups.as_mut_ptr()));
    assert_eq!((count, groups[0].numQueues), (2, 4));
    let mut value = 0;
    ok!(Device.pfnCanAccessPeer(device, crate::api::device(0), &raw mut value));
    assert_eq!(value, 1);
    ok!(Device.pfnCanAccessPeer(device, crate::api::device(2), &raw mut value));
    assert_eq!(value, 0);
}

#[test]
fn missing_features_are_reported() {
    let context = context();
    let mut at = null_mut();
    let got = ze!(VirtualMem.pfnReserve(context, null(), 4096, &raw mut at));
    assert_eq!(got, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    assert!(
        last_error().starts_with("zeVirtualMemReserve: "),
        "{}",
        last_error()
    );
    // System management is there, but this platform has no sensors.
    let mut table = zes_global_dditable_t::default();
    let mut devices = zes_device_dditable_t::default();
    let (mut count, mut handles) = (0, [null_mut(); 4]);
    // SAFETY: live tables, counts and arrays.
    unsafe {
        let version = ZE_API_VERSION_1_17;
        let got = ze_driver::getters::zesGetGlobalProcAddrTable(version, &raw mut table);
        assert_eq!(got, ZE_RESULT_SUCCESS);
        let got = ze_driver::getters::zesGetDeviceProcAddrTable(version, &raw mut devices);
        assert_eq!(got, ZE_RESULT_SUCCESS);
        assert_eq!((table.pfnInit.expect("complete"))(0), ZE_RESULT_SUCCESS);
        assert_eq!(
            (table.pfnInit.expect("complete"))(2),
            ZE_RESULT_ERROR_INVALID_ENUMERATION
        );
        let get = devices.pfnGet.expect("complete");
        assert_eq!(
            get(crate::api::driver(), &raw mut count, null_mut()),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(count, 3);
        let got = get(crate::api::driver(), &raw mut count, handles.as_mut_ptr());
        assert_eq!(
            (got, handles[0]),
            (ZE_RESULT_SUCCESS, crate::api::device(0))
        );
        let engines = devices.pfnEnumEngineGroups.expect("complete");
        count = 9;
        assert_eq!(
            engines(handles[0], &raw mut count, null_mut()),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(count, 0);
        let processes = devices.pfnProcessesGetState.expect("complete");
        assert_eq!(
            processes(handles[0], &raw mut count, null_mut()),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
        );
    }
    assert!(
        last_error().contains("does not have this sensor"),
        "{}",
        last_error()
    );
}

/// A failed call would leave the previous value.
const CANARY: usize = 0xdead_beef_dead_beef;

/// From the table of the specification: a caller that ignores the result finds null, even for optional handles, and
/// when the driver has nothing to return.
#[test]
fn new_handles_are_null_after_a_failure() {
    /// Words that are passed in registers.
    const REGISTERS: usize = 6;
    /// Arguments on the stack: further words, or structs by value.
    #[repr(C)]
    struct Stack([usize; 16]);
    driver();
    let (mut optional, mut seen) = (Vec::new(), 0);
    for function in &ze_spec::FUNCTIONS {
        // A driver has no functions of the tracing layer.
        if function.namespace == ze_spec::Namespace::Zel || function.slot.is_none() {
            continue;
        }
        let is_new = |param: &&ze_spec::Param| {
            let handle = param.ty.strip_suffix(" *").unwrap_or_default();
            // These are structs.
            let is_handle = handle.ends_with("_handle_t") && !handle.starts_with("ze_ipc_");
            param.direction == ze_spec::Direction::Out && param.count.is_none() && is_handle
        };
        let new: Vec<&str> = function
            .params
            .iter()
            .filter(is_new)
            .map(|p| p.name)
            .collect();
        if new.is_empty() {
            continue;
        }
        let name = std::ffi::CString::new(function.name).expect("a C name");
        let entry = ze_driver::getters::lookup(&name);
        assert!(!entry.is_null(), "{}", function.name);
        let (mut places, mut words) = ([CANARY; 2], [0_usize; REGISTERS + 1]);
        let mut next = places.iter_mut();
        let mut at = 0;
        for param in function.params {
            if is_new(&param) {
                let place = next.next().expect("two at most");
                words[at] = std::ptr::from_mut(place).expose_provenance();
            } else if param.ty == "uint32_t" {
                // Numbers that count something.
                words[at] = 1;
            }
            // Structs of two words are passed in registers, larger ones on the stack.
            let structure = match param.kind {
                ze_spec::Kind::Struct => ze_spec::layout(param.ty),
                _ => None,
            };
            at += match structure.map(|s| s.size) {
                None => 1,
                Some(bytes @ 0..=16) => bytes.div_ceil(8) as usize,
                Some(_) => 0,
            };
        }
        assert!(at <= words.len(), "{}", function.name);
        let mut stack = Stack([0; 16]);
        stack.0[0] = words[REGISTERS];
        // SAFETY: pointers and integers are passed as words; the function looks at its own. All pointers are null, which it
        // must answer, but for places to write to.
        let result = unsafe {
            let entry: unsafe extern "C" fn(
                usize,
                usize,
                usize,
                usize,
                usize,
                usize,
                Stack,
            ) -> u32 = std::mem::transmute(entry);
            let [a, b, c, d, e, f, _] = words;
            entry(a, b, c, d, e, f, stack)
        };
        assert_ne!(result, 0, "{}", function.name);
        for (name, place) in new.iter().zip(places) {
            assert_eq!(place, 0, "{name} of {}", function.name);
        }
        seen += new.len();
        if function.params.iter().any(|p| is_new(&p) && p.optional) {
            optional.push(function.name);
        }
    }
    assert_eq!(
        optional,
        [
            "zeMemGetAllocProperties",
            "zeModuleCreate",
            "zeModuleDynamicLink"
        ]
    );
    assert_eq!(seen, 50, "as many as the specification has");
}

#[test]
fn every_failed_build_has_a_log() {
    let (context, device) = (context(), device(0));
    // The test's platform builds everything else.
    let input = b"!bad";
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: input.len(),
        pInputModule: input.as_ptr(),
        ..Default::default()
    };
    // (descriptor, text in the log)
    for (desc, told) in [
        (
            ze_module_desc_t {
                format: ze_module_format_t(77),
                ..desc
            },
            "desc->format",
        ),
        (
            ze_module_desc_t {
                inputSize: 0,
                ..desc
            },
            "0 bytes",
        ),
        (
            ze_module_desc_t {
                pInputModule: null(),
                ..desc
            },
            "desc->pInputModule",
        ),
        (desc, "not SPIR-V"),
    ] {
        let (mut module, mut log) = (null_mut(), CANARY as ze_module_build_log_handle_t);
        let result = ze!(Module.pfnCreate(
            context,
            device,
            &raw const desc,
            &raw mut module,
            &raw mut log
        ));
        assert_ne!(result, ZE_RESULT_SUCCESS);
        let (mut size, mut text) = (1000, [0_u8; 1000]);
        ok!(ModuleBuildLog.pfnGetString(log, &raw mut size, text.as_mut_ptr().cast()));
        let text = String::from_utf8_lossy(&text[..size]);
        assert!(text.contains(told), "{told}: {text}");
        ok!(ModuleBuildLog.pfnDestroy(log));
    }
}
