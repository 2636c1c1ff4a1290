//! SPIR-V modules of any bytes, as machine code and interpreted: kernels whose results are defined leave the same
//! memory. `crates/codegen-llvm/tests/fuzz.rs` includes this file and feeds it the corpus, whole and damaged.
//!
//! Machine code runs in this process, so only kernels run that the interpreter has brought to their end within their
//! buffers, and whose instructions leave nothing open: no undefined values, no flags that promise what need not hold, no
//! memory that was not written before, no work-items that read what others write.

use codegen_llvm::Settings;
use kernel_ir::abi::{KernelInfo, Launch};
use kernel_ir::build::SpirvInput;
use kernel_ir::interpret::{Fault, Memory, Program, Run};
use kernel_ir::{
    AddressSpace, BuildErrorKind, ConstId, Constant, ConvertOp, Flags, Function, MathFn, Module,
    Op, Request, Type, ValueDef,
};

/// Instructions that a kernel may run, and have.
const BUDGET: u64 = 200_000;
const INSTRUCTIONS: usize = 1500;
/// Bytes of all buffers together, and of each.
const BYTES: usize = 1 << 16;
const BUFFER: usize = 1 << 12;
const SUB_GROUP: u32 = 8;

/// Builds, and compares kernels: so many.
pub fn machine(data: &[u8]) -> usize {
    if !std::is_x86_feature_detected!("avx2") || !std::is_x86_feature_detected!("fma") {
        return 0;
    }
    let request = Request {
        modules: vec![SpirvInput {
            words: data.to_vec(),
            constants: Vec::new(),
        }],
        sub_group_size: SUB_GROUP,
        ..Request::default()
    };
    let Ok(built) = kernel_ir::front::build(&request) else {
        return 0;
    };
    let mut module = built.module;
    if !built.unresolved.is_empty() || kernel_ir::passes::prepare(&mut module).is_err() {
        return 0;
    }
    let mut compared = 0;
    // Kernels one by one: of most modules some are determined.
    for kernel in 0..module.kernels.len() {
        let mut one = module.clone();
        one.kernels = vec![module.kernels[kernel].clone()];
        one.kernels[0].contract = false;
        if is_determined(&one) {
            compared += usize::from(compare(one));
        }
    }
    compared
}

/// Whether nothing that the kernel computes is left open.
fn is_determined(module: &Module) -> bool {
    let f = &module.functions[module.kernels[0].function.index()];
    let insts = f.blocks.iter().flat_map(|block| &block.insts);
    let constants = f.values.iter().filter_map(|value| match value.def {
        ValueDef::Const(id) => Some(id),
        _ => None,
    });
    !constants.into_iter().any(|id| is_undefined(module, id))
        && module.globals.is_empty()
        && insts.clone().count() <= INSTRUCTIONS
        && insts
            .clone()
            .all(|inst| is_defined(module, f, &f.insts[inst.index()].op))
}

fn is_undefined(module: &Module, id: ConstId) -> bool {
    match module.constants.get(id) {
        Constant::Undef => true,
        Constant::Composite(parts) => parts.iter().any(|&part| is_undefined(module, part)),
        _ => false,
    }
}

fn is_defined(module: &Module, f: &Function, op: &Op) -> bool {
    let plain = |flags: &Flags| !flags.nsw && !flags.nuw && flags.fast & !Flags::ROUNDED == 0;
    let is_global = |ptr| {
        let ty = module.types.get(f.ty(ptr));
        matches!(ty, Type::Ptr(AddressSpace::Global | AddressSpace::Constant))
    };
    match op {
        Op::Binary(_, _, _, flags) | Op::Unary(_, _, flags) => plain(flags),
        Op::Math(math, _, flags) => {
            let exact = [
                MathFn::Fma,
                MathFn::Fabs,
                MathFn::Floor,
                MathFn::Ceil,
                MathFn::Trunc,
                MathFn::Rint,
                MathFn::Sqrt,
            ];
            exact.contains(math) && plain(flags)
        }
        Op::Convert(op, ..) => !matches!(op, ConvertOp::FToU | ConvertOp::FToS),
        Op::Load { ptr, volatile, .. } | Op::Store { ptr, volatile, .. } => {
            is_global(*ptr) && !volatile
        }
        Op::Phi(_)
        | Op::Compare(..)
        | Op::Select { .. }
        | Op::Construct(_)
        | Op::Extract(..)
        | Op::Insert(..)
        | Op::Shuffle(..)
        | Op::PtrOffset { .. }
        | Op::Copy(_)
        | Op::WorkItem(..)
        | Op::Barrier(_) => true,
        _ => false,
    }
}

/// The launch, and the block of arguments whose buffers begin at `base`.
fn launch(info: &KernelInfo, base: u64) -> Option<(Launch, Vec<u8>)> {
    let size = match info.required_group_size {
        [x, y, z] if u64::from(x) * u64::from(y) * u64::from(z) == 0 => [40, 1, 1],
        [x, y, z] if u64::from(x) * u64::from(y) * u64::from(z) <= 64 => [x, y, z],
        _ => return None,
    };
    let items = size.iter().product::<u32>();
    let mut block = vec![0u8; info.args_size as usize];
    for (i, arg) in info.args.iter().enumerate() {
        let at = arg.offset as usize;
        match arg.kind {
            1 if (i + 1) * BUFFER <= BYTES => {
                let address = base + (i * BUFFER) as u64;
                block[at..at + 8].copy_from_slice(&address.to_le_bytes());
            }
            0 => block[at..at + arg.size as usize].fill(3),
            _ => return None,
        }
    }
    let launch = Launch {
        group_size: size,
        work_dim: 3,
        group_count: [1, 1, 1],
        items_per_group: items,
        state_offset: info.local_size.next_multiple_of(64),
        scratch_offset: info.local_size,
        ..Launch::default()
    };
    Some((launch, block))
}

/// Whether the kernel could be compared.
fn compare(module: Module) -> bool {
    let input: Vec<u64> = (0..BYTES as u64 / 8)
        .map(|i| (i * 0x9e37 + 5) & 0x0000_0fff_0000_0fff)
        .collect();
    let mut real = input.clone();
    let base = real.as_mut_ptr() as u64;
    let Ok(program) = Program::new(module.clone(), SUB_GROUP) else {
        return false;
    };
    if program.variables().count() > 0 {
        return false;
    }
    let Some((run_with, block)) = launch(&program.info().kernels[0], base) else {
        return false;
    };
    let mut expected = Sandbox::new(base, &input);
    let run = Run {
        kernel: 0,
        args: &block,
        launch: &run_with,
        first_group: 0,
        group_count: 1,
        variables: &[],
        budget: Some(BUDGET),
    };
    if program.run(&run, &mut expected).is_err() || !expected.is_determined() {
        return false;
    }
    for lanes in [None, Some(16)] {
        let settings = Settings {
            cpu: "x86-64-v3".into(),
            features: String::new(),
            sub_group_size: SUB_GROUP,
            options: kernel_ir::Options::default(),
            wide: true,
            lanes,
            baseline: lanes.is_some(),
        };
        let compiled = match codegen_llvm::compile_module(module.clone(), settings) {
            Ok(compiled) => compiled,
            Err(error) if error.kind == BuildErrorKind::Codegen => {
                panic!("{error}\n{}", kernel_ir::print(&module))
            }
            Err(_) => return false,
        };
        let Ok(image) = object_loader::load(&compiled.object, &object_loader::mathematics) else {
            return false;
        };
        let info = &compiled.info.kernels[0];
        let Some((launch, block)) = launch(info, base) else {
            return false;
        };
        real.copy_from_slice(&input);
        execute(&image, info, &launch, &block);
        let found: Vec<u8> = real.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Some(at) = expected.differs(&found) {
            panic!(
                "{lanes:?} lanes, byte {at}: machine code and interpreter differ\n{}",
                kernel_ir::print(&module)
            );
        }
    }
    true
}

/// Runs the kernel's one group.
fn execute(image: &object_loader::Image, info: &KernelInfo, launch: &Launch, block: &[u8]) {
    type Kernel = unsafe extern "C" fn(*const u8, *const Launch, u64, u64, *mut u8);
    let Some(place) = image.symbol(&info.symbol) else {
        panic!("the object lacks its kernel");
    };
    let mut args = vec![0u128; block.len().div_ceil(16)];
    let blocks = u64::from(launch.items_per_group.div_ceil(info.width.max(1)));
    let room = launch.state_offset + info.state_per_block * blocks;
    let mut memory = vec![0u8; room as usize + 128];
    let at = memory.as_mut_ptr().align_offset(64);
    // SAFETY: the arguments have the block's size, and memory what the information asks for. The kernel stays within
    // its buffers, as the interpreter has shown.
    unsafe {
        std::ptr::copy_nonoverlapping(block.as_ptr(), args.as_mut_ptr().cast(), block.len());
        let kernel = std::mem::transmute::<usize, Kernel>(place.address);
        kernel(
            args.as_ptr().cast(),
            launch,
            0,
            1,
            memory.as_mut_ptr().add(at),
        );
    }
}

/// A copy of the buffers at the addresses that they really have, and what was done to it.
struct Sandbox {
    base: u64,
    bytes: Vec<u8>,
    loaded: Vec<bool>,
    /// How often each byte was written.
    stored: Vec<u32>,
    /// Whether something happened that is not compared.
    open: bool,
}

impl Sandbox {
    fn new(base: u64, words: &[u64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self {
            base,
            loaded: vec![false; bytes.len()],
            stored: vec![0; bytes.len()],
            bytes,
            open: false,
        }
    }

    fn range(
        &mut self,
        address: u64,
        size: usize,
        write: bool,
    ) -> Result<std::ops::Range<usize>, Fault> {
        let start = usize::try_from(address.wrapping_sub(self.base)).ok();
        let range = start.and_then(|start| Some(start..start.checked_add(size)?));
        let range = range.filter(|range| range.end <= self.bytes.len());
        // What is not aligned is undefined.
        let align = 1u64 << size.trailing_zeros().min(4);
        self.open |= !address.is_multiple_of(align);
        range.ok_or(Fault::Access {
            address,
            size: size as u64,
            write,
        })
    }

    /// Whether no byte was both read and written.
    fn is_determined(&self) -> bool {
        let mut all = self.loaded.iter().zip(&self.stored);
        !self.open && !all.any(|(loaded, stored)| *loaded && *stored > 0)
    }

    /// Where memory differs, but for what was written more than once, and the bits of NaNs.
    fn differs(&self, found: &[u8]) -> Option<usize> {
        let nan = |bytes: &[u8]| match *bytes {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).is_nan(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]).is_nan(),
            [a, b] => u16::from_le_bytes([a, b]) & 0x7fff > 0x7c00,
            _ => false,
        };
        (0..found.len()).find(|&at| {
            let both_nan = [2, 4, 8].into_iter().any(|size| {
                let from = at / size * size;
                nan(&found[from..from + size]) && nan(&self.bytes[from..from + size])
            });
            found[at] != self.bytes[at] && self.stored[at] < 2 && !both_nan
        })
    }
}

impl Memory for Sandbox {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        let range = self.range(address, into.len(), false)?;
        self.loaded[range.clone()].fill(true);
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }
    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        let range = self.range(address, from.len(), true)?;
        self.stored[range.clone()]
            .iter_mut()
            .for_each(|count| *count += 1);
        self.bytes[range].copy_from_slice(from);
        Ok(())
    }
    fn update(
        &mut self,
        _: u64,
        _: usize,
        f: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        self.open = true;
        let _ = f(0);
        Ok(0)
    }
    fn printf(&mut self, _: u32, _: &[u8]) -> i32 {
        self.open = true;
        0
    }
}
