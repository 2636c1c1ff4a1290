//! The interpreter over the process's own memory.

use kernel_ir::interpret::{Fault, Memory};

/// The process's own memory, for kernels whose addresses are known to be good.
pub(crate) struct Raw;

impl Memory for Raw {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        // SAFETY: the tests' kernels stay within their buffers.
        unsafe {
            std::ptr::copy_nonoverlapping(address as *const u8, into.as_mut_ptr(), into.len());
        }
        Ok(())
    }
    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        // SAFETY: as for `load`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len()) };
        Ok(())
    }
    fn update(
        &mut self,
        address: u64,
        size: usize,
        f: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        self.load(address, &mut bytes[..size])?;
        let old = u64::from_le_bytes(bytes);
        if let Some(new) = f(old) {
            self.store(address, &new.to_le_bytes()[..size])?;
        }
        Ok(old)
    }
    fn printf(&mut self, _: u32, _: &[u8]) -> i32 {
        0
    }
}
