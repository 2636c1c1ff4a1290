//! Launches with null arguments, or with more local memory than the device has: their results and error texts.

use level_zero::{Error, Loader, ModuleSource};
use level_zero_sys::*;

/// From the compiler's corpus.
const NULLS: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/nulls.spv");
const GROUP: u32 = 16;
const ITEMS: u32 = 4 * GROUP;

#[expect(clippy::print_stdout, reason = "the test reads it")]
/// Prints the results of two launches of a kernel that writes through a null argument, on each device.
pub(crate) fn run() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    for (number, device) in driver.devices().unwrap().iter().enumerate() {
        let context = driver.create_context().unwrap();
        let module = context
            .build_module(device, ModuleSource::Spirv(NULLS), "")
            .unwrap();
        let mut memory = context
            .allocate_shared::<i32>(device, ITEMS as usize)
            .unwrap();
        memory.as_mut_slice().fill(-1);
        let mut kernel = module.create_kernel("writes").unwrap();
        kernel.set_group_size([GROUP, 1, 1]).unwrap();
        kernel.set_memory(0, &memory).unwrap();
        kernel.set_argument(1, 0_u64).unwrap();
        let mut list = context
            .create_immediate_list(device, Default::default())
            .unwrap();
        let mut launch = || {
            // SAFETY: the memory lives until after the wait; the null is the subject of the test.
            unsafe { list.append_launch(&kernel, [ITEMS / GROUP, 1, 1], None, &[]) }?;
            list.synchronize(u64::MAX)
        };
        let ended = launch().and_then(|_| launch());
        let expected: Vec<i32> = (0..ITEMS as i32).collect();
        match ended {
            Ok(_) => {
                assert_eq!(memory.as_slice(), expected);
                println!("\ndevice {number}: well");
            }
            Err(Error::Call { code, text, .. }) => {
                assert_eq!(code, ZE_RESULT_ERROR_DEVICE_LOST);
                println!("\ndevice {number}: {text}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
/// Requests one byte more of local memory than the device has, and exactly as much.
pub(crate) fn ask_for_local_memory() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let limit = 128 << 10;
    let context = driver.create_context().unwrap();
    let module = context
        .build_module(&device, ModuleSource::Spirv(NULLS), "")
        .unwrap();
    let memory = context
        .allocate_shared::<i32>(&device, ITEMS as usize)
        .unwrap();
    let mut kernel = module.create_kernel("sums").unwrap();
    kernel.set_group_size([GROUP, 1, 1]).unwrap();
    for argument in 0..3 {
        kernel.set_memory(argument, &memory).unwrap();
    }
    let mut list = context
        .create_immediate_list(&device, Default::default())
        .unwrap();
    for (local, fits) in [(limit, true), (limit + 1, false)] {
        kernel.set_local(3, local).unwrap();
        // SAFETY: the memory lives until after the wait.
        let launched = unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) };
        match launched {
            Ok(()) => assert!(fits, "{local}"),
            Err(Error::Call { code, text, .. }) => {
                assert_eq!(code, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
                println!("\n{text}");
                assert!(!fits, "{local}");
            }
            Err(error) => panic!("{error}"),
        }
        // Nothing is lost.
        list.synchronize(u64::MAX).unwrap();
    }
}
