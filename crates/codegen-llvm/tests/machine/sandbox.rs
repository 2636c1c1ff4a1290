//! A memory of separate buffers; a kernel runs in it twice, interpreted and as machine code, and leaves
//! the same.

use super::native::{Native, settings};
use codegen_llvm::Settings;

use kernel_ir::abi::Launch;
use kernel_ir::interpret::{Fault, Memory, Program, Run, Stopped};

/// First buffer; the next ones follow at this distance.
const BASE: u64 = 0x7f00_0000_0000;
const APART: u64 = 1 << 32;

/// Device memory as a list of buffers.
#[derive(Default)]
pub(crate) struct Sandbox {
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) printed: Vec<(u32, Vec<u8>)>,
}

impl Sandbox {
    pub(crate) fn add(&mut self, bytes: Vec<u8>) -> u64 {
        self.buffers.push(bytes);
        BASE + (self.buffers.len() as u64 - 1) * APART
    }
    fn find(&mut self, address: u64, size: usize, write: bool) -> Result<&mut [u8], Fault> {
        let fault = Fault::Access {
            address,
            size: size as u64,
            write,
        };
        let offset = address.checked_sub(BASE).ok_or(fault.clone())?;
        let start = (offset % APART) as usize;
        let buffer = self.buffers.get_mut((offset / APART) as usize);
        buffer
            .and_then(|b| b.get_mut(start..start + size))
            .ok_or(fault)
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
        let cell = self.find(address, size, true)?;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(cell);
        let old = u64::from_le_bytes(bytes);
        if let Some(new) = f(old) {
            cell.copy_from_slice(&new.to_le_bytes()[..size]);
        }
        Ok(old)
    }
    fn printf(&mut self, format: u32, arguments: &[u8]) -> i32 {
        self.printed.push((format, arguments.to_vec()));
        0
    }
}

/// What the host passes to a parameter.
pub(crate) enum Arg {
    /// A buffer with this content.
    Buffer(Vec<u8>),
    /// By value.
    Value(Vec<u8>),
    /// Local memory of this many bytes.
    Local(u64),
}

/// Little-endian bytes of `values`.
pub(crate) fn bytes<T: Copy, const N: usize>(values: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&v| of(v)).collect()
}

pub(crate) fn ints(values: &[i32]) -> Arg {
    Arg::Buffer(bytes(values, i32::to_le_bytes))
}

pub(crate) fn floats(values: &[f32]) -> Arg {
    Arg::Buffer(bytes(values, f32::to_le_bytes))
}

pub(crate) fn as_ints(bytes: &[u8]) -> Vec<i32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

pub(crate) fn as_floats(bytes: &[u8]) -> Vec<f32> {
    let words = as_ints(bytes).into_iter();
    words.map(|v| f32::from_bits(v as u32)).collect()
}

/// A grid of work-items.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) groups: [u32; 3],
    pub(crate) size: [u32; 3],
    pub(crate) offset: [u64; 3],
    pub(crate) sub_group: u32,
    pub(crate) budget: Option<u64>,
}

/// `groups` groups of `size` work-items in one dimension, sub-groups of 8.
pub(crate) fn line(groups: u32, size: u32) -> Grid {
    Grid {
        groups: [groups, 1, 1],
        size: [size, 1, 1],
        offset: [0; 3],
        sub_group: 8,
        budget: Some(10_000_000),
    }
}

/// The module written in `text`, validated.
pub(crate) fn module(text: &str) -> kernel_ir::Module {
    let module = kernel_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Err(e) = kernel_ir::validate(&module) {
        panic!("{e:?}\n{text}");
    }
    module
}

/// Whether machine code can do it: no work-items of one group that wait for each other without a barrier.
fn for_machines(text: &str) -> bool {
    !text.contains("br_if %set, tell, wait")
}

/// The module as a back end gets it.
fn prepared(text: &str) -> kernel_ir::Module {
    let mut module = module(text);
    if for_machines(text) {
        kernel_ir::passes::prepare(&mut module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
    module
}

/// Runs the first kernel of `text`; the memory afterwards, arguments' buffers first.
pub(crate) fn run(text: &str, grid: Grid, args: Vec<Arg>) -> Result<Sandbox, Stopped> {
    let program = Program::new(module(text), grid.sub_group).expect("program");
    let mut sandbox = Sandbox::default();
    let info = &program.info().kernels[0];
    let mut block = vec![0; info.args_size as usize];
    let items: u32 = grid.size.iter().product();
    // Expanded work-group operations want more.
    let expanded = Program::new(prepared(text), grid.sub_group).expect("program");
    let wants = &expanded.info().kernels[0];
    let scratch_offset = info.local_size.max(wants.local_size);
    let per_item = info.local_per_item.max(wants.local_per_item);
    let mut local = scratch_offset + per_item * u64::from(items);
    assert_eq!(info.args.len(), args.len(), "arguments");
    for (info, arg) in info.args.iter().zip(args) {
        let value = match arg {
            Arg::Buffer(bytes) => sandbox.add(bytes).to_le_bytes().to_vec(),
            Arg::Value(bytes) => bytes,
            Arg::Local(size) => {
                let at = local.next_multiple_of(128);
                local = at + size;
                at.to_le_bytes().to_vec()
            }
        };
        assert_eq!(value.len(), info.size as usize, "argument {}", info.name);
        let start = info.offset as usize;
        block[start..start + value.len()].copy_from_slice(&value);
    }
    let variables: Vec<u64> = program
        .variables()
        .map(|v| sandbox.add(vec![0; v.size as usize]))
        .collect();
    for (i, &address) in variables.iter().enumerate() {
        let content = program.initial_content(i, &variables);
        sandbox.store(address, &content).expect("variable");
    }
    let launch = Launch {
        group_size: grid.size,
        work_dim: 3,
        group_count: grid.groups,
        items_per_group: items,
        global_offset: grid.offset,
        state_offset: local.next_multiple_of(64),
        scratch_offset,
        ..Launch::default()
    };
    let groups = 0..grid.groups.iter().map(|&n| u64::from(n)).product();
    let run = Run {
        kernel: 0,
        args: &block,
        launch: &launch,
        first_group: 0,
        group_count: groups.end,
        variables: &variables,
        budget: grid.budget,
    };
    let before = sandbox.buffers.clone();
    program.run(&run, &mut sandbox)?;
    run_natively(text, grid, &block, &launch, groups, before, &sandbox);
    Ok(sandbox)
}

/// Runs the same as machine code and compares what it leaves.
fn run_natively(
    text: &str,
    grid: Grid,
    block: &[u8],
    launch: &Launch,
    groups: std::ops::Range<u64>,
    buffers: Vec<Vec<u8>>,
    expected: &Sandbox,
) {
    if !for_machines(text) {
        return;
    }
    // Kernels with sub-group operations have two forms.
    for wide in [true, false] {
        let native = Native::new(
            prepared(text),
            Settings {
                wide,
                ..settings(grid.sub_group)
            },
        );
        run_form(
            text,
            &native,
            block,
            launch,
            groups.clone(),
            &buffers,
            expected,
        );
        if wide && native.info.kernels[0].width == 1 {
            break;
        }
    }
}

/// Runs one form of the machine code.
fn run_form(
    text: &str,
    native: &Native,
    block: &[u8],
    launch: &Launch,
    groups: std::ops::Range<u64>,
    buffers: &[Vec<u8>],
    expected: &Sandbox,
) {
    let info = &native.info.kernels[0];
    // Buffers with room to be aligned by; addresses in the block become real ones.
    let mut real: Vec<Vec<u128>> = Vec::new();
    for buffer in buffers {
        let mut aligned = vec![0u128; buffer.len() / 16 + 1];
        // SAFETY: as large as the buffer, and any bytes are u128s.
        unsafe {
            std::ptr::copy_nonoverlapping(
                buffer.as_ptr(),
                aligned.as_mut_ptr().cast::<u8>(),
                buffer.len(),
            );
        }
        real.push(aligned);
    }
    let mut args = vec![0u128; block.len() / 16 + 1];
    // SAFETY: the same bytes as another type.
    let args =
        unsafe { std::slice::from_raw_parts_mut(args.as_mut_ptr().cast::<u8>(), block.len()) };
    args.copy_from_slice(block);
    let mut next = 0;
    for arg in info.args.iter().filter(|arg| arg.kind == 1) {
        let at = arg.offset as usize;
        let address = real[next].as_mut_ptr() as u64;
        args[at..at + 8].copy_from_slice(&address.to_le_bytes());
        next += 1;
    }
    let blocks = launch.items_per_group.div_ceil(info.width);
    let state = info.state_per_block * u64::from(blocks);
    let size = (launch.state_offset + state + 128) as usize;
    // What is not zeroed by contract is not zero here.
    let mut memory = vec![0xaa_u8; size];
    let at = memory.as_mut_ptr().align_offset(64);
    // SAFETY: block, launch and memory are as the kernel's information says.
    let printed = unsafe { native.run(0, args, launch, groups, memory.as_mut_ptr().add(at)) };
    for (i, (found, expected)) in real.iter().zip(&expected.buffers).enumerate().take(next) {
        // SAFETY: as large as the buffer.
        let found =
            unsafe { std::slice::from_raw_parts(found.as_ptr().cast::<u8>(), expected.len()) };
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b);
            panic!(
                "buffer {i}, byte {at:?}: machine code left {found:x?}, the interpreter {expected:x?}\n{text}\n{}",
                native.text()
            );
        }
    }
    assert_eq!(
        printed.len(),
        expected.printed.len(),
        "printf calls\n{text}"
    );
}

/// As [`run`], for kernels that must succeed.
pub(crate) fn done(text: &str, grid: Grid, args: Vec<Arg>) -> Sandbox {
    run(text, grid, args).unwrap_or_else(|e| panic!("{e}\n{text}"))
}
