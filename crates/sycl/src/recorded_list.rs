//! A recorded command list that is submitted as often as the program likes. The graph that recorded it destroys it.

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
    /// Where the accessors' buffers were when the list was recorded.
    pub(crate) pointers: Vec<usize>,
}

// SAFETY: the list is closed; executing it is the lanes' affair, each under its lock.
unsafe impl Send for RecordedList {}
// SAFETY: as for `Send`.
unsafe impl Sync for RecordedList {}

impl RecordedList {
    /// Why its device was lost since it was made.
    pub(crate) fn loss(&self) -> Option<Error> {
        let losses = &self.native.losses;
        losses.since(Some(&self.device.hardware()), self.made)
    }

    /// Whether the buffers are still where they were when it was recorded.
    pub(crate) fn is_at(&self, pointers: &[*mut u8]) -> bool {
        let now = pointers.iter().map(|pointer| pointer.addr());
        now.eq(self.pointers.iter().copied())
    }
}
