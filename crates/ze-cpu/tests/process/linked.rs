//! A Rust program that has the driver inside: the safe host API over [`ze_cpu::entry`], and no library of ours opened.

use level_zero::{Error, Loader, ModuleSource};

/// From the compiler's corpus: `reverse` turns the values of each group around, by way of local memory and a barrier.
const SPIRV: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/barrier_local.spv");
const GROUP: u32 = 64;
const GROUPS: u32 = 50;

/// Everything on each device: allocation, module, kernel, launch, wait, and an error with the driver's own words.
pub(crate) fn run() {
    // Two loaders of one driver: it is initialised once.
    let _other = Loader::from_entry(ze_cpu::entry()).unwrap();
    let mut drivers = Loader::from_entry(ze_cpu::entry())
        .unwrap()
        .drivers()
        .unwrap();
    assert_eq!(drivers.len(), 1);
    let driver = drivers.remove(0);
    let devices = driver.devices().unwrap();
    assert_eq!(devices.len(), 2);
    let context = driver.create_context().unwrap();
    for device in devices {
        let len = GROUP * GROUPS;
        let mut from = context
            .allocate_shared::<i32>(&device, len as usize)
            .unwrap();
        for (value, number) in from.as_mut_slice().iter_mut().zip(0..) {
            *value = number;
        }
        let to = context
            .allocate_shared::<i32>(&device, len as usize)
            .unwrap();
        let module = context
            .build_module(&device, ModuleSource::Spirv(SPIRV), "")
            .unwrap();
        let mut kernel = module.create_kernel("reverse").unwrap();
        kernel.set_group_size([GROUP, 1, 1]).unwrap();
        kernel.set_memory(0, &from).unwrap();
        kernel.set_memory(1, &to).unwrap();
        let mut list = context
            .create_immediate_list(&device, Default::default())
            .unwrap();
        // SAFETY: the kernel touches `from` and `to` only, which live until after the wait.
        unsafe { list.append_launch(&kernel, [GROUPS, 1, 1], None, &[]) }.unwrap();
        assert!(list.synchronize(u64::MAX).unwrap());
        for (&value, at) in to.as_slice().iter().zip(0u32..) {
            let expected = at / GROUP * GROUP + (GROUP - 1 - at % GROUP);
            assert_eq!(value, expected as i32, "item {at}");
        }
        let Err(Error::Call { function, text, .. }) = module.create_kernel("absent") else {
            panic!("a kernel that the module lacks was made")
        };
        assert!(
            function == "zeKernelCreate" && text.contains("absent"),
            "{text}"
        );
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for library in ["libze_loader", "libze_solum", "libsolum_codegen", "libLLVM"] {
        assert!(!maps.contains(library), "{library} is open");
    }
}
