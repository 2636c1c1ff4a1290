//! What `SOLUM_LOG=compile` writes.

use level_zero::{Loader, ModuleSource};

/// From the compiler's corpus: one kernel.
const ONE: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/async_copy.spv");
/// From the corpus: kernels that are compiled when they are created.
const MANY: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/arith_int.spv");

/// A program is compiled, found loaded, and taken from the cache; of another one a kernel is created.
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
