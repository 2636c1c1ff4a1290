//! Reports settings that work but are slow.

use level_zero_sys::*;

use crate::validation::finding::{Finding, Severity};
use crate::value::function;

fn warn(index: usize, param: usize, field: &str, value: String, rule: &str) {
    Finding::new(
        Severity::Warning,
        "performance",
        format!("[performance] {rule}"),
    )
    .of(index)
    .argument(index, param, Some(field))
    .value(value)
    .report();
}

/// Checks descriptors of command lists.
///
/// # Safety
/// `arguments` are those of a call of this function that is about to be made.
pub(super) unsafe fn before(index: usize, arguments: &[u64]) {
    const DESC: usize = 2;
    let at = arguments
        .get(DESC)
        .and_then(|bits| usize::try_from(*bits).ok())
        .unwrap_or(0);
    match function(index).name {
        "zeCommandListCreateImmediate" => {
            // SAFETY: by the caller's contract null or a descriptor.
            let Some(desc) = (unsafe {
                std::ptr::with_exposed_provenance::<ze_command_queue_desc_t>(at).as_ref()
            }) else {
                return;
            };
            let flags = format!("{:#x}", desc.flags);
            if desc.mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS {
                let rule = "a synchronous immediate list waits in every append; ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS does not";
                warn(index, DESC, "mode", format!("{:#x}", desc.mode.0), rule);
            }
            if desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER == 0 {
                let rule = "an immediate list without ZE_COMMAND_QUEUE_FLAG_IN_ORDER needs an event for each dependency";
                warn(index, DESC, "flags", flags, rule);
            } else if desc.flags & ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT == 0 {
                let rule = "an in-order list without ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT may leave copy engines idle";
                warn(index, DESC, "flags", flags, rule);
            }
        }
        "zeCommandListCreate" => {
            // SAFETY: by the caller's contract null or a descriptor.
            let Some(desc) = (unsafe {
                std::ptr::with_exposed_provenance::<ze_command_list_desc_t>(at).as_ref()
            }) else {
                return;
            };
            if desc.flags & ZE_COMMAND_LIST_FLAG_IN_ORDER != 0
                && desc.flags & ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT == 0
            {
                let rule = "an in-order list without ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT may leave copy engines idle";
                warn(index, DESC, "flags", format!("{:#x}", desc.flags), rule);
            }
        }
        _ => {}
    }
}
