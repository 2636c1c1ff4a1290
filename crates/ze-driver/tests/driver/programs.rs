//! Modules, kernels, arguments, launches.

use crate::api::*;
use level_zero_sys::*;
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

fn build(
    context: ze_context_handle_t,
    desc: &ze_module_desc_t,
) -> (ze_result_t, ze_module_handle_t, String) {
    let (mut module, mut log) = (null_mut(), null_mut());
    let got = ze!(Module.pfnCreate(context, device(0), desc, &raw mut module, &raw mut log));
    if log.is_null() {
        return (got, module, String::new());
    }
    let mut size = 0;
    ok!(ModuleBuildLog.pfnGetString(log, &raw mut size, null_mut()));
    let mut text = vec![0_u8; size];
    ok!(ModuleBuildLog.pfnGetString(log, &raw mut size, text.as_mut_ptr().cast()));
    ok!(ModuleBuildLog.pfnDestroy(log));
    let text = CStr::from_bytes_with_nul(&text).expect("ended by a zero");
    (got, module, text.to_string_lossy().into_owned())
}

fn desc(format: ze_module_format_t, input: &[u8]) -> ze_module_desc_t {
    ze_module_desc_t {
        format,
        inputSize: input.len(),
        pInputModule: input.as_ptr(),
        ..Default::default()
    }
}

#[test]
fn builds_return_code_and_log() {
    let context = context();
    let (spirv, native) = (ZE_MODULE_FORMAT_IL_SPIRV, ZE_MODULE_FORMAT_NATIVE);
    let cases: [(_, &[u8], _, &str); 5] = [
        (spirv, b"good", ZE_RESULT_SUCCESS, "a warning"),
        (
            spirv,
            b"!bad",
            ZE_RESULT_ERROR_MODULE_BUILD_FAILURE,
            "word 0: not SPIR-V\nmore",
        ),
        (
            native,
            b"!bad",
            ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
            "word 0: not SPIR-V\nmore",
        ),
        (
            spirv,
            b"",
            ZE_RESULT_ERROR_INVALID_SIZE,
            "error: the size of desc->pInputModule is 0 bytes",
        ),
        (
            ze_module_format_t(2),
            b"good",
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            "error: desc->format is 0x2, at most 0x1 is allowed",
        ),
    ];
    for (format, input, want, text) in cases {
        let (got, _, log) = build(context, &desc(format, input));
        assert_eq!((got, log.as_str()), (want, text), "{input:?}");
    }
}

#[test]
fn the_input_of_a_descriptor_with_a_program_is_ignored() {
    let context = context();
    let modules: [&[u8]; 2] = [b"one", b"two"];
    let sizes = modules.map(<[u8]>::len);
    let mut inputs = modules.map(<[u8]>::as_ptr);
    let mut flags: [*const c_char; 2] = [c" -ze-opt-level=2".as_ptr(); 2];
    let program = ze_module_program_exp_desc_t {
        count: 2,
        inputSizes: sizes.as_ptr(),
        pInputModules: inputs.as_mut_ptr(),
        pBuildFlags: flags.as_mut_ptr(),
        ..Default::default()
    };
    let desc = ze_module_desc_t {
        pNext: (&raw const program).cast(),
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: 1,
        pInputModule: std::ptr::dangling(),
        ..Default::default()
    };
    let (got, module, _) = build(context, &desc);
    assert_eq!(got, ZE_RESULT_SUCCESS);
    let mut size = 0;
    ok!(Module.pfnGetNativeBinary(module, &raw mut size, null_mut()));
    let mut binary = vec![0; size];
    ok!(Module.pfnGetNativeBinary(module, &raw mut size, binary.as_mut_ptr()));
    assert_eq!(binary, b"2 modules, options -ze-opt-level=2");
}

#[test]
fn names_of_a_module_are_looked_up() {
    let context = context();
    let (_, module, _) = build(context, &desc(ZE_MODULE_FORMAT_IL_SPIRV, b"good"));
    let mut count = 0;
    ok!(Module.pfnGetKernelNames(module, &raw mut count, null_mut()));
    let mut names = vec![null(); count as usize];
    ok!(Module.pfnGetKernelNames(module, &raw mut count, names.as_mut_ptr()));
    // SAFETY: alive as long as the module.
    let names: Vec<_> = names
        .iter()
        .map(|name| unsafe { CStr::from_ptr(*name) })
        .collect();
    let wanted = [
        c"add", c"count", c"fault", c"look", c"late", c"store", c"stays", c"vast", c"vectors",
    ];
    assert_eq!(names, wanted);
    let (mut at, mut size) = (null_mut(), 0);
    ok!(Module.pfnGetGlobalPointer(module, c"table".as_ptr(), &raw mut size, &raw mut at));
    assert_eq!((at as usize, size), (0x1000, 16));
    let no = ze!(Module.pfnGetGlobalPointer(module, c"none".as_ptr(), null_mut(), null_mut()));
    assert_eq!(no, ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    for (name, want) in [
        (c"called", ZE_RESULT_SUCCESS),
        (c"inlined", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE),
        (c"none", ZE_RESULT_ERROR_INVALID_FUNCTION_NAME),
    ] {
        let got = ze!(Module.pfnGetFunctionPointer(module, name.as_ptr(), &raw mut at));
        assert_eq!((got, at as usize), (want, 0x2000), "{name:?}");
    }
    for (name, want) in [
        (c"add", ZE_RESULT_SUCCESS),
        (c"none", ZE_RESULT_ERROR_INVALID_KERNEL_NAME),
        // More work-items than the device has in a group.
        (c"vast", ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION),
        (c"late", ZE_RESULT_ERROR_MODULE_BUILD_FAILURE),
    ] {
        let desc = ze_kernel_desc_t {
            pKernelName: name.as_ptr(),
            ..Default::default()
        };
        let mut kernel = null_mut();
        assert_eq!(
            ze!(Kernel.pfnCreate(module, &raw const desc, &raw mut kernel)),
            want,
            "{name:?}"
        );
    }
    assert_eq!(
        last_error(),
        "zeKernelCreate: error: kernel \"late\": more than the code generator can do"
    );
    let mut properties = ze_module_properties_t::default();
    for (input, flags, link) in [
        (b"good", 0, ZE_RESULT_SUCCESS),
        (
            b"?imp",
            ZE_MODULE_PROPERTY_FLAG_IMPORTS,
            ZE_RESULT_ERROR_MODULE_LINK_FAILURE,
        ),
    ] {
        let (_, mut module, _) = build(context, &desc(ZE_MODULE_FORMAT_IL_SPIRV, input));
        ok!(Module.pfnGetProperties(module, &raw mut properties));
        assert_eq!(properties.flags, flags);
        assert_eq!(
            ze!(Module.pfnDynamicLink(1, &raw mut module, null_mut())),
            link
        );
    }
}

#[test]
fn arguments_are_checked_and_snapshotted() {
    let context = context();
    let kernel = kernel(context, c"add");
    let memory = words(context, 8);
    let cases = [
        (
            arg(kernel, 2, 1_u32),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX,
        ),
        (
            arg(kernel, 1, 1_u16),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        ),
        (arg(kernel, 1, 1_u64), ZE_RESULT_SUCCESS),
        (
            arg(kernel, 0, 1_u128),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        ),
        (
            arg(kernel, 0, 1_u32),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        ),
        (
            ze!(Kernel.pfnSetArgumentValue(kernel, 0, 8, null())),
            ZE_RESULT_SUCCESS,
        ),
        (arg(kernel, 0, memory.as_mut_ptr()), ZE_RESULT_SUCCESS),
        (arg(kernel, 1, 5_u32), ZE_RESULT_SUCCESS),
    ];
    for (i, (got, want)) in cases.into_iter().enumerate() {
        assert_eq!(got, want, "case {i}");
    }
    ok!(Kernel.pfnSetGroupSize(kernel, 2, 1, 1));
    let [gate] = events(context, false);
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    let groups = ze_group_count_t {
        groupCountX: 4,
        groupCountY: 1,
        groupCountZ: 1,
    };
    let mut waits = [gate];
    ok!(CommandList.pfnAppendLaunchKernel(
        list,
        kernel,
        &raw const groups,
        null_mut(),
        1,
        waits.as_mut_ptr()
    ));
    // Values set after the append belong to the next launch.
    assert_eq!(arg(kernel, 1, 100_u32), ZE_RESULT_SUCCESS);
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
    assert_eq!(memory, [5; 8]);
}

/// A `float3`, a `char3` and a `float4`: only the first two have padding that may be missing.
#[test]
fn vectors_of_three_components_come_without_padding_as_well() {
    let context = context();
    let kernel = kernel(context, c"vectors");
    let value = [1_u32; 8];
    let wrong = ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    for (index, size, want) in [
        (0, 12, ZE_RESULT_SUCCESS),
        (0, 16, ZE_RESULT_SUCCESS),
        (0, 8, wrong),
        (0, 15, wrong),
        (1, 3, ZE_RESULT_SUCCESS),
        (1, 4, ZE_RESULT_SUCCESS),
        (1, 2, wrong),
        (2, 12, wrong),
        (2, 16, ZE_RESULT_SUCCESS),
    ] {
        let got = ze!(Kernel.pfnSetArgumentValue(kernel, index, size, value.as_ptr().cast()));
        assert_eq!(got, want, "{size} bytes for argument {index}");
    }
}

#[test]
fn group_sizes_have_limits() {
    let context = context();
    let kernel = kernel(context, c"add");
    let bad = ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    for (size, want) in [
        ([0, 1, 1], bad),
        ([1, 1, 65], bad),
        ([1024, 2, 1], bad),
        ([16, 16, 4], ZE_RESULT_SUCCESS),
    ] {
        let [x, y, z] = size;
        assert_eq!(
            ze!(Kernel.pfnSetGroupSize(kernel, x, y, z)),
            want,
            "{size:?}"
        );
    }
    for global in [[1024, 1, 1], [7, 5, 3], [1000, 1000, 10], [u32::MAX, 1, 1]] {
        let mut size = [0; 3];
        let [a, b, c] = &mut size;
        ok!(Kernel.pfnSuggestGroupSize(kernel, global[0], global[1], global[2], a, b, c));
        assert!(
            (0..3).all(|i| size[i] > 0 && global[i] % size[i] == 0),
            "{global:?} {size:?}"
        );
        ok!(Kernel.pfnSetGroupSize(kernel, size[0], size[1], size[2]));
    }
}

#[test]
fn every_way_to_launch_arrives() {
    let context = context();
    let (add, count) = (kernel(context, c"add"), kernel(context, c"count"));
    let memory = words(context, 16);
    let at = memory.as_mut_ptr();
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    let one = ze_group_count_t {
        groupCountX: 1,
        groupCountY: 1,
        groupCountZ: 1,
    };
    assert_eq!(arg(add, 0, at), ZE_RESULT_SUCCESS);
    assert_eq!(arg(add, 1, 1_u32), ZE_RESULT_SUCCESS);
    ok!(CommandList.pfnAppendLaunchCooperativeKernel(
        list,
        add,
        &raw const one,
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(memory[0], 1);
    ok!(CommandList.pfnAppendLaunchKernelWithParameters(
        list,
        add,
        &raw const one,
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(memory[0], 2);
    ok!(CommandList.pfnAppendLaunchKernelIndirect(
        list,
        add,
        &raw const one,
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(memory[0], 3);
    // With arguments: a pointer and the size of local memory.
    let (place, local) = (at, 40_usize);
    let mut values = [
        (&raw const place).cast_mut().cast(),
        (&raw const local).cast_mut().cast(),
    ];
    let groups = ze_group_count_t {
        groupCountX: 2,
        ..one
    };
    let size = ze_group_size_t {
        groupSizeX: 4,
        groupSizeY: 1,
        groupSizeZ: 1,
    };
    ok!(CommandList.pfnAppendLaunchKernelWithArguments(
        list,
        count,
        groups,
        size,
        values.as_mut_ptr(),
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(memory[0], 42);
    let too_much = 1_usize << 20;
    values[1] = (&raw const too_much).cast_mut().cast();
    let got = ze!(CommandList.pfnAppendLaunchKernelWithArguments(
        list,
        count,
        groups,
        size,
        values.as_mut_ptr(),
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(got, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    // Several, of which the count lets two run; the event comes after them.
    let [done] = events(context, false);
    memory[0] = 0;
    let (number, mut kernels, all) = (2_u32, [add; 3], [one; 3]);
    ok!(CommandList.pfnAppendLaunchMultipleKernelsIndirect(
        list,
        3,
        kernels.as_mut_ptr(),
        &raw const number,
        all.as_ptr(),
        done,
        0,
        null_mut()
    ));
    ok!(Event.pfnQueryStatus(done));
    assert_eq!(memory[0], 2);
    let unknown = ze_base_desc_t {
        stype: ZE_STRUCTURE_TYPE_CONTEXT_DESC,
        pNext: null(),
    };
    let got = ze!(CommandList.pfnAppendLaunchKernelWithParameters(
        list,
        add,
        &raw const one,
        (&raw const unknown).cast(),
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(got, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    let none = ze_group_count_t {
        groupCountX: 0,
        ..one
    };
    ok!(CommandList.pfnAppendLaunchKernel(list, add, &raw const none, null_mut(), 0, null_mut()));
    assert_eq!(memory[0], 2);
}

#[test]
fn kernel_properties_and_texts() {
    let context = context();
    let kernel = kernel(context, c"add");
    let mut most = ze_kernel_max_group_size_properties_ext_t::default();
    let mut properties = ze_kernel_properties_t {
        pNext: (&raw mut most).cast(),
        ..Default::default()
    };
    ok!(Kernel.pfnGetProperties(kernel, &raw mut properties));
    assert_eq!(
        (
            properties.numKernelArgs,
            properties.maxSubgroupSize,
            properties.maxNumSubgroups,
            most.maxGroupSize
        ),
        (2, 16, 64, 1024)
    );
    let mut size = 0;
    ok!(Kernel.pfnGetName(kernel, &raw mut size, null_mut()));
    let mut name = vec![0_u8; size];
    ok!(Kernel.pfnGetName(kernel, &raw mut size, name.as_mut_ptr().cast()));
    assert_eq!(name, b"add\0");
    let mut size = 0;
    ok!(Kernel.pfnGetSourceAttributes(kernel, &raw mut size, null_mut()));
    let mut text = vec![0_u8; size as usize];
    let mut at: *mut c_char = text.as_mut_ptr().cast();
    ok!(Kernel.pfnGetSourceAttributes(kernel, &raw mut size, &raw mut at));
    assert_eq!(text, b"vec_type_hint(int)\0");
}
