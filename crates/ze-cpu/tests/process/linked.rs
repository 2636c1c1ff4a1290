//! A Rust program with the driver inside: the safe host API over [`ze_cpu::entry`], without opening a library of Solum.

use level_zero::{Context, Error, Loader, ModuleSource};
use level_zero_sys::*;

/// From the compiler's corpus: `reverse` turns the values of each group around, by way of local memory and a barrier.
const SPIRV: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/barrier_local.spv");
/// From the corpus: a module of functions and variables without a kernel; exports `twice`.
const LIBRARY: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/linking_b.spv");
/// From the corpus: `through` calls the function that its first argument is a pointer to; exports `add_int` of
/// its type and `add_float` of another.
const POINTERS: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/pointers.spv");
const GROUP: u32 = 64;
const GROUPS: u32 = 50;

/// A count that is not there, read when a command starts: the context is lost, not the process.
pub(crate) fn run_with_a_bad_count() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let module = context
        .build_module(&device, ModuleSource::Spirv(SPIRV), "")
        .unwrap();
    let memory = context
        .allocate_shared::<i32>(&device, GROUP as usize)
        .unwrap();
    let mut kernel = module.create_kernel("reverse").unwrap();
    kernel.set_group_size([GROUP, 1, 1]).unwrap();
    kernel.set_memory(0, &memory).unwrap();
    kernel.set_memory(1, &memory).unwrap();
    let list = context
        .create_immediate_list(&device, Default::default())
        .unwrap();
    let append = ze_driver::getters::lookup(c"zeCommandListAppendLaunchMultipleKernelsIndirect");
    let groups = ze_group_count_t {
        groupCountX: 1,
        groupCountY: 1,
        groupCountZ: 1,
    };
    let mut kernels = [kernel.as_raw()];
    // SAFETY: the function of that name, with live handles; the invalid address is the subject of the test.
    let appended = unsafe {
        let append = std::mem::transmute::<
            *const (),
            ze_pfnCommandListAppendLaunchMultipleKernelsIndirect_t,
        >(append);
        append.unwrap()(
            list.as_raw(),
            1,
            kernels.as_mut_ptr(),
            64 as *const u32,
            &raw const groups,
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        )
    };
    // It may have run already when the append returns.
    assert!([ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_DEVICE_LOST].contains(&appended));
    let Err(Error::Call { code, text, .. }) = list.synchronize(u64::MAX) else {
        panic!("the launch ran")
    };
    assert_eq!(code, ZE_RESULT_ERROR_DEVICE_LOST);
    assert!(text.contains("0x40"), "{text}");
}

/// The value of a pointer to function `name` of `module`.
fn function_pointer(module: &level_zero::Module, name: &std::ffi::CStr) -> u64 {
    let get = ze_driver::getters::lookup(c"zeModuleGetFunctionPointer");
    let mut at = std::ptr::null_mut();
    // SAFETY: the function of that name, a live handle, a C string, a place to write to.
    let code = unsafe {
        let get = std::mem::transmute::<*const (), ze_pfnModuleGetFunctionPointer_t>(get);
        get.unwrap()(module.as_raw(), name.as_ptr(), &raw mut at)
    };
    assert_eq!(code, ZE_RESULT_SUCCESS, "{name:?}");
    at as u64
}

/// Functions called through pointers of the host; an invalid one loses the context, not the process.
pub(crate) fn run_with_function_pointers() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let is_interpreted = matches!(
        std::env::var("SOLUM_COMPILER").as_deref(),
        Ok("interpreter")
    );
    let good = |bad: Option<u64>| {
        let context = driver.create_context().unwrap();
        let build = |words, options| {
            let source = ModuleSource::Spirv(words);
            context.build_module(&device, source, options).unwrap()
        };
        let (module, other) = (build(POINTERS, ""), build(POINTERS, ""));
        let memory = context
            .allocate_shared::<u32>(&device, GROUP as usize)
            .unwrap();
        // A function of another module with the same type is as good.
        let add = function_pointer(&other, c"add_int");
        assert_ne!(add, function_pointer(&other, c"add_float"));
        let mut kernel = module.create_kernel("through").unwrap();
        kernel.set_group_size([GROUP, 1, 1]).unwrap();
        let none = function_pointer(&module, c"add_float");
        let pointer = bad.map_or(add, |bad| if bad == 1 { none } else { bad });
        kernel.set_argument(0, pointer).unwrap();
        kernel.set_memory(1, &memory).unwrap();
        let mut list = context
            .create_immediate_list(&device, Default::default())
            .unwrap();
        // SAFETY: the kernel touches `memory` only, which lives until after the wait.
        let appended = unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) };
        let waited = appended.and_then(|_| list.synchronize(u64::MAX).map(drop));
        if bad.is_none() {
            waited.unwrap();
            let expected: Vec<u32> = (1..=GROUP).collect();
            assert_eq!(memory.as_slice(), expected);
            // A function of a library, which itself calls nothing through pointers.
            let library = build(LIBRARY, "-ze-library-compilation");
            let twice = function_pointer(&library, c"twice");
            assert_ne!(twice, 0);
            // The interpreter's pointers are of one program.
            if !is_interpreted {
                kernel.set_argument(0, twice).unwrap();
                // SAFETY: as above; the library lives until after the wait.
                unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) }.unwrap();
                assert!(list.synchronize(u64::MAX).unwrap());
                let expected: Vec<u32> = (0..GROUP).map(|i| 2 * i).collect();
                assert_eq!(memory.as_slice(), expected);
            }
            return;
        }
        let Err(Error::Call { code, text, .. }) = waited else {
            panic!("{pointer:#x} was called")
        };
        assert_eq!(code, ZE_RESULT_ERROR_DEVICE_LOST);
        assert!(text.contains("through") && text.contains("call"), "{text}");
        if !is_interpreted {
            assert!(text.contains(&format!("{pointer:#x}")), "{text}");
        }
    };
    let data = [0u64; 8];
    good(None);
    // Nothing, no memory, no address at all, memory that holds none, a function of another type.
    for bad in [0, 4096, u64::MAX - 7, data.as_ptr() as u64 & !15, 1] {
        good(Some(bad));
        good(None);
    }
}

/// Everything on each device: allocation, module, kernel, launch, wait, and an error with the driver's text.
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
            panic!("a kernel that the module lacks was created")
        };
        assert!(
            function == "zeKernelCreate" && text.contains("absent"),
            "{text}"
        );
    }
    function_names(&context);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    for library in ["libze_loader", "libze_solum", "libsolum_codegen", "libLLVM"] {
        assert!(!maps.contains(library), "{library} is open");
    }
}

/// An exported function is distinguished from one that the module does not have.
fn function_names(context: &Context) {
    let device = context.driver().devices().unwrap().remove(0);
    let module = context
        .build_module(&device, ModuleSource::Spirv(LIBRARY), "")
        .unwrap();
    assert_eq!(module.kernel_names().unwrap(), [""; 0]);
    let get = ze_driver::getters::lookup(c"zeModuleGetFunctionPointer");
    for (name, exported) in [(c"twice", true), (c"thrice", false), (c"", false)] {
        let mut at = std::ptr::null_mut();
        // SAFETY: the function of that name, a live handle, a C string, a place to write to.
        let code = unsafe {
            let get = std::mem::transmute::<*const (), ze_pfnModuleGetFunctionPointer_t>(get);
            get.unwrap()(module.as_raw(), name.as_ptr(), &raw mut at)
        };
        let missing = code == ZE_RESULT_ERROR_INVALID_FUNCTION_NAME;
        assert_eq!(missing, !exported, "{name:?}: {code:?}");
        assert_eq!(
            at.is_null(),
            code != ZE_RESULT_SUCCESS,
            "{name:?}: {code:?}"
        );
    }
}
