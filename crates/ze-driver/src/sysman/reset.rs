//! `zesDeviceReset`: ends this process's work on a device; sysman/device.yml.
//!
//! A CPU has no state but its running work. So a reset ends running kernels, and contexts with work on the device are
//! lost. Other contexts keep everything, and new ones work. Other processes have their own workers, which a reset does
//! not touch.

use crate::check::error;
use crate::core::device::Device;
use crate::core::driver;
use crate::schedule;
use crate::sysman::events::Events;
use crate::sysman::telemetry;
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, InMut, ZeResult};
use ze_abi_macros::ze_entry;

/// How long a reset waits for the work that it ends; copies are not interrupted.
const PATIENCE_NS: u64 = 10_000_000_000;

fn reset(device: &Device, force: bool) -> ZeResult {
    let driver = driver::driver()?;
    let root = device.root_index();
    let busy = schedule::lanes(|lane| driver.is_part(lane.device(), root) && !lane.is_idle());
    if !busy.is_empty() && !force {
        return error(
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
            format!(
                "{} queues or immediate lists have unfinished work on the device; set force to end it",
                busy.len()
            ),
        );
    }
    let telemetry = telemetry()?;
    let mut contexts = Vec::new();
    for lane in &busy {
        let context = lane.context();
        if !contexts.iter().any(|known| Arc::ptr_eq(known, context)) {
            contexts.push(Arc::clone(context));
        }
    }
    for context in &contexts {
        context.lose("the device was reset while work was under way".to_owned());
    }
    telemetry.reset(root);
    // Commands of a lost context that have not started end at once.
    schedule::run(contexts.iter().flat_map(schedule::lanes_of).collect());
    let deadline = driver.platform().now_ns().saturating_add(PATIENCE_NS);
    for lane in &busy {
        let left = deadline.saturating_sub(driver.platform().now_ns());
        if !lane.wait(lane.pushed(), left) {
            return error(
                ZE_RESULT_ERROR_UNKNOWN,
                format!(
                    "work of a lost context still runs after {} s: host functions and copies are not interrupted",
                    PATIENCE_NS / 1_000_000_000
                ),
            );
        }
    }
    Events::of_process()?.raise(
        root,
        ZES_EVENT_TYPE_FLAG_DEVICE_DETACH | ZES_EVENT_TYPE_FLAG_DEVICE_ATTACH,
    );
    Ok(())
}

/// See the module; sysman/device.yml.
#[ze_entry(zes_pfnDeviceReset_t)]
pub(crate) fn zesDeviceReset(hDevice: Handle<'_, Device>, force: u8) -> ZeResult {
    reset(&hDevice, force != 0)
}

/// As [`zesDeviceReset`]; a CPU has one way to be reset; sysman/device.yml (1.7).
#[ze_entry(zes_pfnDeviceResetExt_t)]
pub(crate) fn zesDeviceResetExt(
    hDevice: Handle<'_, Device>,
    pProperties: InMut<'_, zes_reset_properties_t>,
) -> ZeResult {
    let kind = pProperties.resetType.0;
    crate::check::enumeration("pProperties->resetType", kind, ZES_RESET_TYPE_FLR.0)?;
    reset(&hDevice, pProperties.force != 0)
}
