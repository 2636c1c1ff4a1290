//! The program's memory, for launches that are undone.

use kernel_checker::ProgramMemory;

/// The memory of allocations and their shadows.
pub(super) struct DeviceMemory;

impl ProgramMemory for DeviceMemory {
    #[inline(always)]
    fn save(&self, address: u64, to: &mut [u8]) {
        // SAFETY: the checker asks for bytes of live allocations and their shadows only. Other threads of the kernel may write
        // them, as they may write anything that a kernel reads.
        unsafe { std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len()) };
    }

    fn restore(&self, address: u64, from: &[u8]) {
        // SAFETY: as above; no thread runs the kernel any more.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) };
    }
}
