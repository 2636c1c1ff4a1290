//! The target of an append: a list, the event to signal and the events to wait for.

use level_zero::sys::*;

use crate::device::Device;
use crate::ze::Api;

/// The target of an append.
pub(crate) struct Target<'a> {
    pub(crate) api: Api,
    /// The list's device, if it is known.
    pub(crate) device: Option<&'a Device>,
    pub(crate) list: ze_command_list_handle_t,
    pub(crate) signal: ze_event_handle_t,
    pub(super) waits: &'a mut [ze_event_handle_t],
}

impl<'a> Target<'a> {
    /// A list that is recorded: its commands signal and wait for no events.
    pub(crate) fn recording(api: Api, device: &'a Device, list: ze_command_list_handle_t) -> Self {
        Self {
            api,
            device: Some(device),
            list,
            signal: std::ptr::null_mut(),
            waits: &mut [],
        }
    }

    pub(crate) fn wait_count(&self) -> u32 {
        u32::try_from(self.waits.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn waits(&mut self) -> *mut ze_event_handle_t {
        if self.waits.is_empty() {
            std::ptr::null_mut()
        } else {
            self.waits.as_mut_ptr()
        }
    }
}
