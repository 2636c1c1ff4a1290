//! A memory of separate buffers with checked bounds, and running a kernel in it.

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
    fn clock(&mut self) -> u64 {
        7 << 32 | 12
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

/// Runs the first kernel of `text`; the memory afterwards, arguments' buffers first.
pub(crate) fn run(text: &str, grid: Grid, args: Vec<Arg>) -> Result<Sandbox, Stopped> {
    run_module(module(text), grid, args)
}

/// Runs the first kernel of `module`.
pub(crate) fn run_module(
    module: kernel_ir::Module,
    grid: Grid,
    args: Vec<Arg>,
) -> Result<Sandbox, Stopped> {
    let program = Program::new(module, grid.sub_group).expect("program");
    let mut sandbox = Sandbox::default();
    let info = &program.info().kernels[0];
    let mut block = vec![0; info.args_size as usize];
    let items: u32 = grid.size.iter().product();
    let scratch_offset = info.local_size;
    let mut local = scratch_offset + info.local_per_item * u64::from(items);
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
        state_offset: local,
        scratch_offset,
        ..Launch::default()
    };
    let run = Run {
        kernel: 0,
        args: &block,
        launch: &launch,
        first_group: 0,
        group_count: grid.groups.iter().map(|&n| u64::from(n)).product(),
        variables: &variables,
        budget: grid.budget,
    };
    program.run(&run, &mut sandbox)?;
    Ok(sandbox)
}

/// As [`run`], for kernels that must succeed.
pub(crate) fn done(text: &str, grid: Grid, args: Vec<Arg>) -> Sandbox {
    run(text, grid, args).unwrap_or_else(|e| panic!("{e}\n{text}"))
}
