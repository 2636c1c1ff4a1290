//! What the fuzz targets do with bytes. Nothing here may panic, hang or take memory without bound.
//!
//! `crates/kernel-ir/tests/mutations.rs` includes this file and calls the same functions on mutated
//! modules of the corpus, so that every test run fuzzes a little without the engine.
//!
//! The other targets run in plain tests as well, so that CI plays each target's inputs, whole and damaged: `machine` in
//! `codegen-llvm/tests/fuzz.rs`, on the same corpus, `object` in `object-loader/src/tests.rs`, `counters` in
//! `ze-cpu/src/telemetry/usage.rs`, `recording` in `timeline/tests/recordings.rs`, `findings` in
//! `check-report/tests/damaged.rs`, `validation` in `ze-layers/tests/libraries.rs`, `ipc` in `ze-cpu/tests/process`. An
//! input that broke one becomes a case there.
//!
//! With nightly: `cargo fuzz run front -- -max_len=65536`, starting from
//! `crates/kernel-ir/tests/corpus`. With stable Rust the engine links as well, given clang's runtime
//! interface through LLVM's own pass:
//! `RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
//! -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
//! cargo run --release --manifest-path fuzz/Cargo.toml --target x86_64-unknown-linux-gnu --bin front
//! -- crates/kernel-ir/tests/corpus`.

use kernel_ir::abi::Launch;
use kernel_ir::build::SpirvInput;
use kernel_ir::interpret::{Fault, Memory, Program, Run};
use kernel_ir::{Module, Request};

/// Instructions that a fuzzed kernel may run.
const BUDGET: u64 = 100_000;

/// Cuts the words into instructions and reads all their operands.
pub fn reader(data: &[u8]) {
    let Ok(words) = spirv_reader::Words::new(data) else {
        return;
    };
    for instruction in words.instructions() {
        let Ok(instruction) = instruction else {
            return;
        };
        assert!(!instruction.name().is_empty());
        let mut operands = instruction.cursor();
        while operands.maybe().is_some() {}
        let _ = instruction.cursor().text();
    }
}

/// Reads, links and validates; what is accepted is valid and prints.
pub fn front(data: &[u8]) {
    let Some(module) = build(data) else { return };
    if let Err(error) = kernel_ir::validate(&module) {
        panic!("the front end made an invalid module: {error}");
    }
    let text = kernel_ir::print(&module);
    assert_eq!(
        text.is_empty(),
        module.functions.is_empty() && module.globals.is_empty()
    );
}

/// The whole way to a back end, and a few work-items of every kernel under a budget.
pub fn lowering(data: &[u8]) {
    let Some(mut module) = build(data) else {
        return;
    };
    if kernel_ir::passes::prepare(&mut module).is_err() {
        return;
    }
    if let Err(error) = kernel_ir::validate(&module) {
        panic!("prepare() made an invalid module: {error}");
    }
    let Ok(program) = Program::new(module, 8) else {
        return;
    };
    let variables: Vec<u64> = program.variables().map(|_| Sandbox::BASE).collect();
    for kernel in 0..program.info().kernels.len() {
        run(&program, kernel, &variables);
    }
}

fn build(data: &[u8]) -> Option<Module> {
    let request = Request {
        modules: vec![SpirvInput {
            words: data.to_vec(),
            constants: Vec::new(),
        }],
        sub_group_size: 8,
        ..Request::default()
    };
    match kernel_ir::front::build(&request) {
        Ok(built) => Some(built.module),
        Err(error) => {
            assert!(!error.line().is_empty());
            None
        }
    }
}

fn run(program: &Program, kernel: usize, variables: &[u64]) {
    let info = &program.info().kernels[kernel];
    let size = match info.required_group_size {
        [x, y, z] if u64::from(x) * u64::from(y) * u64::from(z) == 0 => [3, 2, 1],
        [x, y, z] if u64::from(x) * u64::from(y) * u64::from(z) <= 64 => [x, y, z],
        _ => return,
    };
    let items = size.iter().product::<u32>();
    let mut block = vec![0u8; info.args_size as usize];
    for (i, arg) in info.args.iter().enumerate() {
        let at = arg.offset as usize;
        let value = match arg.kind {
            1 => Sandbox::BASE + 512 * i as u64,
            2 => info.local_size + info.local_per_item * u64::from(items),
            _ => continue,
        };
        block[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let launch = Launch {
        group_size: size,
        work_dim: 3,
        group_count: [1, 1, 1],
        items_per_group: items,
        scratch_offset: info.local_size,
        state_offset: (info.local_size + info.local_per_item * u64::from(items))
            .saturating_add(4096),
        ..Launch::default()
    };
    let run = Run {
        kernel,
        args: &block,
        launch: &launch,
        first_group: 0,
        group_count: 1,
        variables,
        budget: Some(BUDGET),
    };
    // Faults are fine, each has a text; only panics and hangs are not.
    if let Err(stopped) = program.run(&run, &mut Sandbox::new()) {
        assert!(!stopped.to_string().is_empty());
    }
}

/// One small buffer is all the memory there is.
struct Sandbox(Vec<u8>);

impl Sandbox {
    const BASE: u64 = 0x1_0000;
    fn new() -> Self {
        Self(vec![1; 1 << 16])
    }
    fn find(&mut self, address: u64, size: usize, write: bool) -> Result<&mut [u8], Fault> {
        let start = address.wrapping_sub(Self::BASE);
        let range = usize::try_from(start)
            .ok()
            .and_then(|start| Some(start..start.checked_add(size)?));
        range
            .and_then(|range| self.0.get_mut(range))
            .ok_or(Fault::Access {
                address,
                size: size as u64,
                write,
            })
    }
}

impl Memory for Sandbox {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        into.copy_from_slice(self.find(address, into.len(), false)?);
        Ok(())
    }
    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        self.find(address, from.len(), true)?.copy_from_slice(from);
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
    fn printf(&mut self, _format: u32, arguments: &[u8]) -> i32 {
        let text = kernel_ir::printf::format(b"%d %s %v4hlf %g\n", arguments, &mut |_| Vec::new());
        text.len() as i32
    }
}
