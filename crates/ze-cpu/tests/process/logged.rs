//! The output of `SOLUM_LOG`.

use level_zero::{ListOptions, Loader, ModuleSource};

/// From the compiler's corpus: one kernel.
const ONE: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/async_copy.spv");
/// From the corpus: kernels that are compiled when they are created.
const MANY: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/arith_int.spv");

/// A program is compiled, found loaded, and read from the cache; a kernel of another one is created.
pub(crate) fn run() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let build = |words| {
        let source = ModuleSource::Spirv(words);
        context.build_module(&device, source, "").unwrap()
    };
    let first = build(ONE);
    drop(build(ONE));
    drop(first);
    drop(build(ONE));
    let many = build(MANY);
    let name = many.kernel_names().unwrap().remove(0);
    many.create_kernel(&name).unwrap();
}

/// Launches without work-groups and one that runs, then a call that fails.
pub(crate) fn run_calls() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let device = driver.devices().unwrap().remove(0);
    let context = driver.create_context().unwrap();
    let module = context
        .build_module(&device, ModuleSource::Spirv(ONE), "")
        .unwrap();
    let mut kernel = module.create_kernel("copies").unwrap();
    kernel.set_group_size([1, 1, 1]).unwrap();
    let memory = context.allocate_shared::<i32>(&device, 64).unwrap();
    for index in 0..3 {
        kernel.set_memory(index, &memory).unwrap();
    }
    for index in 3..5 {
        kernel.set_local(index, 4).unwrap();
    }
    kernel.set_argument(5, 1_i32).unwrap();
    let mut list = context
        .create_immediate_list(&device, ListOptions::default())
        .unwrap();
    for groups in [[0, 1, 1], [1, 1, 1], [2, 0, 3], [0; 3]] {
        // SAFETY: memory, kernel and list live until the work is done.
        unsafe { list.append_launch(&kernel, groups, None, &[]) }.unwrap();
    }
    list.synchronize(u64::MAX).unwrap();
    module.create_kernel("missing").unwrap_err();
}

/// The driver's lines of the log with each number as `N`, each program as `P`.
pub(crate) fn lines(stderr: &str) -> Vec<String> {
    let log = stderr
        .lines()
        .filter_map(|line| line.strip_prefix("solum: compile: "));
    let shape = |line: &str| {
        let mut shape = String::new();
        for (i, word) in line.split(' ').enumerate() {
            let before = shape.rsplit(' ').next() == Some("program");
            if i > 0 {
                shape.push(' ');
            }
            let is_number = |text: &str| text.parse::<f64>().is_ok();
            match word.trim_end_matches([',', ':']) {
                hash if before && hash.len() == 8 => shape.push_str(&word.replace(hash, "P")),
                number if is_number(number) => shape.push_str(&word.replace(number, "N")),
                _ => shape.push_str(word),
            }
        }
        shape
    };
    log.map(shape).collect()
}
