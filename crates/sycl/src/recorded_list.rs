//! A recorded command list that can be submitted any number of times. The graph that recorded it destroys it.

use std::sync::Arc;

use level_zero::sys::ze_command_list_handle_t;

use crate::device::Device;
use crate::engine::losses::Moment;
use crate::engine::native_context::NativeContext;
use crate::error::Error;

pub(crate) struct RecordedList {
    pub(crate) native: Arc<NativeContext>,
    pub(crate) device: Device,
    pub(crate) made: Moment,
    pub(crate) list: ze_command_list_handle_t,
    /// The addresses of the accessors' buffers at the time of recording.
    pub(crate) pointers: Vec<usize>,
}

// SAFETY: the list is closed; lanes execute it under their locks.
unsafe impl Send for RecordedList {}
// SAFETY: as for `Send`.
unsafe impl Sync for RecordedList {}

impl RecordedList {
    /// Why the device was lost since the list was recorded.
    pub(crate) fn loss(&self) -> Option<Error> {
        let losses = &self.native.losses;
        losses.since(Some(&self.device.hardware()), self.made)
    }

    /// Whether the buffers still have the addresses of the recording.
    pub(crate) fn is_at(&self, pointers: &[*mut u8]) -> bool {
        let now = pointers.iter().map(|pointer| pointer.addr());
        now.eq(self.pointers.iter().copied())
    }
}
