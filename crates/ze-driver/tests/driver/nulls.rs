//! Launches with null arguments: a device that ignores them runs a variant, if there is one.

use crate::api::*;
use crate::launches::launch;
use crate::mutable::{execute, mutable_list, next_id, update};
use crate::platform::VARIANTS;
use level_zero_sys::*;
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

const FOREVER: u64 = u64::MAX;
/// Held by tests that count variants.
static ONE: Mutex<()> = Mutex::new(());

fn list_on(context: ze_context_handle_t, index: usize) -> ze_command_list_handle_t {
    let desc = ze_command_queue_desc_t::default();
    let mut list = null_mut();
    ok!(CommandList.pfnCreateImmediate(context, device(index), &raw const desc, &raw mut list));
    list
}

/// A kernel for that device that writes 7 to `at`.
fn storing(
    context: ze_context_handle_t,
    index: usize,
    name: &CStr,
    at: *mut u32,
) -> ze_kernel_handle_t {
    let kernel = kernel_on(context, index, name);
    assert_eq!(arg(kernel, 0, at), ZE_RESULT_SUCCESS);
    assert_eq!(arg(kernel, 1, 7_u32), ZE_RESULT_SUCCESS);
    kernel
}

#[test]
fn null_arguments_are_ignored_on_such_devices_if_there_is_a_variant() {
    let _one = ONE.lock();
    let (lost, well) = (ZE_RESULT_ERROR_DEVICE_LOST, ZE_RESULT_SUCCESS);
    // Device, kernel, whether the argument is null; the result of a launch, and how many variants two launches request.
    for (index, name, null, ends, asked) in [
        (0, c"store", false, well, 0),
        (0, c"store", true, well, 1),
        (0, c"stays", false, well, 0),
        (0, c"stays", true, lost, 1),
        (1, c"store", false, well, 0),
        (1, c"store", true, lost, 0),
    ] {
        let context = context();
        let memory = words(context, 1);
        let at = if null {
            null_mut()
        } else {
            memory.as_mut_ptr()
        };
        let kernel = storing(context, index, name, at);
        let list = list_on(context, index);
        let before = VARIANTS.load(Ordering::Relaxed);
        assert_eq!(launch(list, kernel, null_mut(), &mut []), well);
        let case = format!("device {index}, {name:?}, null: {null}");
        let ended = ze!(CommandList.pfnHostSynchronize(list, FOREVER));
        assert_eq!(ended, ends, "{case}");
        let again = launch(list, kernel, null_mut(), &mut []);
        assert_eq!(again, ends, "{case}");
        assert_eq!(VARIANTS.load(Ordering::Relaxed) - before, asked, "{case}");
        if ends == well {
            ok!(CommandList.pfnHostSynchronize(list, FOREVER));
            assert_eq!(memory[0], if null { 0 } else { 7 }, "{case}");
        }
    }
}

#[test]
fn a_mutable_command_follows_its_arguments() {
    let _one = ONE.lock();
    let context = context();
    let (queue, memory) = (queue(context), words(context, 1));
    let kernel = storing(context, 0, c"store", null_mut());
    ok!(Kernel.pfnSetGroupSize(kernel, 1, 1, 1));
    let list = mutable_list(context);
    let id = next_id(list, 0);
    assert_eq!(launch(list, kernel, null_mut(), &mut []), ZE_RESULT_SUCCESS);
    ok!(CommandList.pfnClose(list));
    execute(queue, list);
    let at = memory.as_mut_ptr();
    for (to, wanted) in [(at, 7), (null_mut(), 0), (null_mut(), 0), (at, 7)] {
        memory[0] = 0;
        let argument = ze_mutable_kernel_argument_exp_desc_t {
            commandId: id,
            argIndex: 0,
            argSize: 8,
            pArgValue: (&raw const to).cast(),
            ..Default::default()
        };
        assert_eq!(update(list, &argument), ZE_RESULT_SUCCESS);
        ok!(CommandList.pfnClose(list));
        execute(queue, list);
        assert_eq!(memory[0], wanted);
    }
    ok!(Context.pfnGetStatus(context));
}
