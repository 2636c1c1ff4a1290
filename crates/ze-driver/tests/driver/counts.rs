//! Counts and sizes beyond any memory: an error with a text, rather than a failed allocation that ends the process.

use crate::api::*;
use level_zero_sys::*;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr::null_mut;

/// Set in the process that makes the calls.
const CHILD: &str = "SOLUM_TEST_COUNTS";
/// The address space of that process, so that the machine's memory does not matter: enough for the test, but not for
/// any of the counts.
const ADDRESS_SPACE: u64 = 768 << 20;

#[test]
fn counts_that_no_memory_holds_are_errors() {
    if std::env::var_os(CHILD).is_some() {
        return calls();
    }
    let mut child = Command::new(std::env::current_exe().expect("a test has a path"));
    let own = "counts::counts_that_no_memory_holds_are_errors";
    child.args(["--exact", own, "--nocapture"]).env(CHILD, "1");
    let limit = libc::rlimit {
        rlim_cur: ADDRESS_SPACE,
        rlim_max: ADDRESS_SPACE,
    };
    // SAFETY: the closure makes one system call.
    unsafe {
        child.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_AS, &raw const limit);
            Ok(())
        });
    }
    let output = child.output().expect("the test starts again");
    assert!(
        output.status.success(),
        "{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[track_caller]
fn is(found: ze_result_t, wanted: ze_result_t, text: &str) {
    assert_eq!(found, wanted, "{}", last_error());
    assert!(last_error().contains(text), "{}", last_error());
}

fn calls() {
    let context = context();
    let none = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;

    // Elements are checked before memory is allocated for all of them.
    let mut waits = [events::<1>(context, false)[0], null_mut()];
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    is(
        ze!(CommandList.pfnAppendBarrier(list, null_mut(), u32::MAX, waits.as_mut_ptr())),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        "phWaitEvents[1] is null",
    );

    // More than are checked in one step.
    let mut many = vec![waits[0]; 3000];
    let append = |many: &mut [ze_event_handle_t]| {
        let count = many.len() as u32;
        ze!(CommandList.pfnAppendBarrier(list, null_mut(), count, many.as_mut_ptr()))
    };
    assert_eq!(append(&mut many), ZE_RESULT_SUCCESS);
    many[2500] = null_mut();
    is(
        append(&mut many),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        "phWaitEvents[2500] is null",
    );

    for size in [1 << 40, usize::MAX] {
        let words = [0_u32; 16];
        let desc = ze_module_desc_t {
            format: ZE_MODULE_FORMAT_IL_SPIRV,
            inputSize: size,
            pInputModule: words.as_ptr().cast(),
            ..Default::default()
        };
        let mut module = null_mut();
        is(
            ze!(Module.pfnCreate(
                context,
                device(0),
                &raw const desc,
                &raw mut module,
                null_mut()
            )),
            none,
            "desc->pInputModule: no memory",
        );

        let memory = crate::api::words(context, 1);
        let pattern = 0_u32;
        is(
            ze!(CommandList.pfnAppendMemoryFill(
                list,
                memory.as_mut_ptr().cast(),
                (&raw const pattern).cast(),
                size,
                size,
                null_mut(),
                0,
                null_mut()
            )),
            none,
            "pattern: no memory",
        );
    }

    // Each event has 64 bytes.
    let desc = ze_event_pool_desc_t {
        count: 1 << 24,
        ..Default::default()
    };
    let mut pool = null_mut();
    is(
        ze!(EventPool.pfnCreate(context, &raw const desc, 0, null_mut(), &raw mut pool)),
        none,
        "no memory for 16777216 elements",
    );

    structures();
}

/// Builds of ray tracing structures with too many geometries, and with too many primitives in one.
fn structures() {
    let (mut desc, mut builder) = (ze_rtas_builder_ext_desc_t::default(), null_mut());
    desc.builderVersion = ZE_RTAS_BUILDER_EXT_VERSION_CURRENT;
    ok!(RTASBuilder.pfnCreateExt(driver(), &raw const desc, &raw mut builder));
    let mut scratch = vec![0_u8; 1 << 20];
    let mut buffer = vec![0_u8; 1 << 16];
    let mut build = |op: &ze_rtas_builder_build_op_ext_desc_t| {
        ze!(RTASBuilder.pfnBuildExt(
            builder,
            op,
            scratch.as_mut_ptr().cast(),
            scratch.len(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut()
        ))
    };
    let mesh = ze_rtas_builder_triangles_geometry_info_ext_t {
        geometryType: ZE_RTAS_BUILDER_GEOMETRY_TYPE_EXT_TRIANGLES.0 as u8,
        triangleFormat: ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_TRIANGLE_INDICES_UINT32.0 as u8,
        vertexFormat: ZE_RTAS_BUILDER_INPUT_DATA_FORMAT_EXT_FLOAT3.0 as u8,
        triangleCount: (1 << 28) - 1,
        vertexCount: 3,
        triangleStride: 12,
        vertexStride: 12,
        pTriangleBuffer: [0_u32, 1, 2].as_mut_ptr().cast(),
        pVertexBuffer: [0_f32; 9].as_mut_ptr().cast(),
        ..Default::default()
    };
    let mut list = [(&raw const mesh).cast::<ze_rtas_builder_geometry_info_ext_t>()];
    let mut op = ze_rtas_builder_build_op_ext_desc_t {
        rtasFormat: ze_rtas_format_ext_t(0),
        ppGeometries: list.as_mut_ptr().cast(),
        numGeometries: 1,
        ..Default::default()
    };
    let mut properties = ze_rtas_device_ext_properties_t::default();
    let mut all = ze_device_properties_t {
        pNext: (&raw mut properties).cast(),
        ..Default::default()
    };
    ok!(Device.pfnGetProperties(device(0), &raw mut all));
    op.rtasFormat = properties.rtasFormat;
    is(
        build(&op),
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
        "268435455 primitives",
    );
    op.numGeometries = u32::MAX;
    is(
        build(&op),
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
        "ppGeometries: no memory",
    );
}
