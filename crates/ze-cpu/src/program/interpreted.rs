//! Kernels that `kernel-ir`'s interpreter runs: the same program without a code generator.

use crate::fault::{Guard, copy_here};
use crate::location;
use crate::printf::{Formats, Stream};
use kernel_ir::abi::{self, ModuleInfo};
use kernel_ir::build::{BuildError, Request};
use kernel_ir::interpret::{Fault, Memory, Program, Run, Stopped};
use kernel_ir::{front, passes};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// A program for the interpreter, with its variables in memory.
pub(crate) struct Interpreted {
    program: Program,
    variables: Vec<Block>,
    addresses: Vec<u64>,
    pub(crate) info: ModuleInfo,
}

/// A variable's memory.
struct Block {
    name: String,
    at: *mut u8,
    layout: Layout,
    size: u64,
}
// SAFETY: plain memory; kernels and hosts order their accesses themselves, as with compiled code.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.at, self.layout) };
    }
}

impl Interpreted {
    /// Builds the request's program.
    pub(crate) fn build(request: &Request) -> Result<Self, BuildError> {
        let built = front::build(request)?;
        let mut module = built.module;
        if built.unresolved.is_empty() {
            passes::prepare_for(&mut module, request.nulls.as_ref(), request.checks)?;
        }
        let program = Program::new(module, request.sub_group_size)?;
        let mut info = program.info().clone();
        info.unresolved = built.unresolved;
        info.functions = built.exports;
        if request.nulls.is_some() {
            // A single kernel is not a library.
            info.functions.clear();
        }
        info.log = built.log;
        let mut variables = Vec::new();
        for variable in program.variables() {
            let align = variable.align.clamp(1, 4096).next_power_of_two();
            let layout = usize::try_from(variable.size.max(1))
                .ok()
                .and_then(|size| Layout::from_size_align(size, align as usize).ok());
            let block = layout.and_then(|layout| {
                // SAFETY: the layout's size is not zero.
                let at = unsafe { alloc_zeroed(layout) };
                (!at.is_null()).then_some((at, layout))
            });
            let Some((at, layout)) = block else {
                return Err(BuildError {
                    kind: kernel_ir::BuildErrorKind::Codegen,
                    module: 0,
                    word: None,
                    instruction: None,
                    message: format!("no memory for {} bytes of variables", variable.size),
                });
            };
            variables.push(Block {
                name: variable.name,
                at,
                layout,
                size: variable.size,
            });
        }
        let addresses: Vec<u64> = variables.iter().map(|block| block.at as u64).collect();
        for (index, block) in variables.iter().enumerate() {
            let content = program.initial_content(index, &addresses);
            let len = content.len().min(block.layout.size());
            // SAFETY: `len` bytes on both sides.
            unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), block.at, len) };
        }
        Ok(Self {
            program,
            variables,
            addresses,
            info,
        })
    }

    /// A variable by name: address and size.
    pub(crate) fn variable(&self, name: &str) -> Option<(usize, u64)> {
        let block = self.variables.iter().find(|block| block.name == name)?;
        Some((block.at as usize, block.size))
    }

    /// The value of a pointer to a function.
    pub(crate) fn function(&self, name: &str) -> Option<usize> {
        self.program.function_address(name).map(|at| at as usize)
    }
}

/// One kernel of it.
pub(crate) struct InterpretedKernel {
    pub(crate) program: Arc<Interpreted>,
    pub(crate) kernel: usize,
}

impl InterpretedKernel {
    /// Runs groups `first..first + count`. The error has the reason of a stop.
    pub(crate) fn run(
        &self,
        args: &[u8],
        launch: &abi::Launch,
        first: u64,
        count: u64,
    ) -> Result<(), Failure> {
        let run = Run {
            kernel: self.kernel,
            args,
            launch,
            first_group: first,
            group_count: count,
            variables: &self.program.addresses,
            budget: None,
        };
        let mut memory = Direct { launch };
        match self.program.program.run(&run, &mut memory) {
            Ok(()) => Ok(()),
            Err(stopped) if stopped.fault == Fault::Cancelled => Ok(()),
            Err(stopped) => Err(failure(&stopped, launch)),
        }
    }
}

/// The stop of a kernel.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The work-item in the launch, if known.
    pub(crate) item: Option<[u64; 3]>,
    pub(crate) text: String,
    /// Whether it accessed memory that is not there.
    pub(crate) accessed: bool,
}

fn failure(stopped: &Stopped, launch: &abi::Launch) -> Failure {
    let Stopped { fault, word, .. } = stopped;
    let own = matches!(
        fault,
        Fault::Access { .. }
            | Fault::Misaligned { .. }
            | Fault::Call(_)
            | Fault::Trap
            | Fault::Assertion(_)
    );
    let near = match fault {
        Fault::Access { address, .. } => format!(", {}", crate::memory::near(*address as usize)),
        _ => String::new(),
    };
    if let Fault::Assertion(assertion) = fault {
        crate::fault::tell(assertion);
    }
    let place = match word {
        0 => String::new(),
        word => format!(" (word {word} of the SPIR-V module)"),
    };
    Failure {
        item: own.then(|| location::item(launch, stopped.group, u64::from(stopped.item))),
        text: format!("{fault}{near}{place}"),
        accessed: matches!(fault, Fault::Access { .. }),
    }
}

/// The process's own memory, each access guarded.
struct Direct<'a> {
    launch: &'a abi::Launch,
}

impl Memory for Direct<'_> {
    fn load(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        if copy_here(into.as_mut_ptr(), address as *const u8, into.len()) {
            return Ok(());
        }
        Err(Fault::Access {
            address,
            size: into.len() as u64,
            write: false,
        })
    }

    fn store(&mut self, address: u64, from: &[u8]) -> Result<(), Fault> {
        if copy_here(address as *mut u8, from.as_ptr(), from.len()) {
            return Ok(());
        }
        Err(Fault::Access {
            address,
            size: from.len() as u64,
            write: true,
        })
    }

    fn update(
        &mut self,
        address: u64,
        size: usize,
        f: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Result<u64, Fault> {
        let refused = Fault::Access {
            address,
            size: size as u64,
            write: true,
        };
        loop {
            let mut bytes = [0; 8];
            let Some(part) = bytes.get_mut(..size) else {
                return Err(refused);
            };
            self.load(address, part)?;
            let old = u64::from_le_bytes(bytes);
            let Some(new) = f(old) else {
                return Ok(old);
            };
            let mut swap = Swap {
                address,
                size: size as u64,
                old,
                new,
                done: 0,
            };
            let arguments = [std::ptr::from_mut(&mut swap) as usize, 0, 0, 0, 0];
            // SAFETY: `exchange` drops nothing and takes the address of a `Swap`.
            if !unsafe { Guard::call_here(exchange as *const () as usize, arguments) } {
                return Err(refused);
            }
            if swap.done == 1 {
                return Ok(old);
            }
        }
    }

    fn fence(&mut self) {
        fence(Ordering::SeqCst);
    }

    fn printf(&mut self, format: u32, arguments: &[u8]) -> i32 {
        if self.launch.printf == 0 {
            return -1;
        }
        // SAFETY: the launch record holds the address of the stream of this launch, which lives until
        // the launch has ended.
        unsafe { &*(self.launch.printf as *const Stream) }.print(format, arguments)
    }

    fn clock(&mut self) -> u64 {
        crate::clock::now_ns()
    }

    fn cancelled(&mut self) -> bool {
        // SAFETY: 0, or the address of the launch's byte, which lives until the launch has ended.
        let cancel = unsafe { (self.launch.cancel as *const AtomicU8).as_ref() };
        cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed) != 0)
    }
}

/// A compare-and-exchange at an address that may not be there.
#[repr(C)]
struct Swap {
    address: u64,
    size: u64,
    old: u64,
    new: u64,
    done: u64,
}

unsafe extern "C" fn exchange(swap: *mut Swap) {
    // SAFETY: called by `update` with its `Swap`; the address in it is guarded, and aligned as the
    // interpreter promises.
    unsafe {
        let swap = &mut *swap;
        let (old, new) = (swap.old, swap.new);
        let (sc, relaxed) = (Ordering::SeqCst, Ordering::Relaxed);
        let done = match swap.size {
            1 => (*(swap.address as *const AtomicU8))
                .compare_exchange(old as u8, new as u8, sc, relaxed)
                .is_ok(),
            2 => (*(swap.address as *const AtomicU16))
                .compare_exchange(old as u16, new as u16, sc, relaxed)
                .is_ok(),
            4 => (*(swap.address as *const AtomicU32))
                .compare_exchange(old as u32, new as u32, sc, relaxed)
                .is_ok(),
            _ => (*(swap.address as *const AtomicU64))
                .compare_exchange(old, new, sc, relaxed)
                .is_ok(),
        };
        swap.done = u64::from(done);
    }
}

/// The formats of a module, when it prints at all.
pub(crate) fn formats(info: &ModuleInfo) -> Option<Formats> {
    (!info.printf_formats.is_empty()).then(|| info.printf_formats.clone().into())
}
