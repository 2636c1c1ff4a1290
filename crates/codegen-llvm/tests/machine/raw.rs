//! The interpreter over the process's own memory, and launches that both it and machine code take.

use kernel_ir::abi::{KernelInfo, Launch};
use kernel_ir::interpret::{Fault, Memory, Program, Run};

/// So many groups of that size.
pub(crate) fn launch(info: &KernelInfo, group_size: [u32; 3], groups: u32) -> Launch {
    let items: u32 = group_size.iter().product();
    Launch {
        group_size,
        work_dim: 3,
        group_count: [groups, 1, 1],
        items_per_group: items,
        scratch_offset: info.local_size,
        state_offset: (info.local_size + info.local_per_item * u64::from(items))
            .next_multiple_of(64),
        ..Launch::default()
    }
}

/// The block of arguments of these values: addresses, and integers of up to eight bytes.
pub(crate) fn block(info: &KernelInfo, values: &[u64]) -> Vec<u8> {
    let mut block = vec![0u8; info.args_size as usize];
    for (arg, value) in info.args.iter().zip(values) {
        let (at, size) = (arg.offset as usize, (arg.size as usize).min(8));
        block[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    block
}

/// Interprets all groups of the program's first kernel; what it says when it stops early.
pub(crate) fn interpret(program: &Program, args: &[u8], launch: &Launch) -> Result<(), String> {
    let run = Run {
        kernel: 0,
        args,
        launch,
        first_group: 0,
        group_count: u64::from(launch.group_count[0]),
        variables: &[],
        budget: Some(100_000_000),
    };
    let ran = program.run(&run, &mut Raw);
    ran.map(|_| ()).map_err(|stopped| stopped.to_string())
}

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
