//! Launches with the parameters that most tests use.

use crate::api::*;
use level_zero_sys::*;

/// One group.
pub(crate) const ONE: ze_group_count_t = ze_group_count_t {
    groupCountX: 1,
    groupCountY: 1,
    groupCountZ: 1,
};

/// Appends a launch of one group.
pub(crate) fn launch(
    list: ze_command_list_handle_t,
    kernel: ze_kernel_handle_t,
    signal: ze_event_handle_t,
    waits: &mut [ze_event_handle_t],
) -> ze_result_t {
    let groups = ONE;
    ze!(CommandList.pfnAppendLaunchKernel(
        list,
        kernel,
        &raw const groups,
        signal,
        waits.len() as u32,
        waits.as_mut_ptr()
    ))
}
