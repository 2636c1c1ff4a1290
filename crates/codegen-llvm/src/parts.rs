//! Parts of a program that are compiled in parallel, on as many compiler threads as are free.
//!
//! The cuts depend on the program alone, so that it has the same object on every machine.

use std::ops::Range;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::{Compiled, Reply};
use kernel_ir::{
    AddressSpace, BuildError, ConstId, Constant, Function, FunctionId, Global, Kernel, Module, Op,
    Type, TypeId, ValueId,
};

use crate::archive::archive;
use crate::service;
use crate::settings::codegen_error;

/// Instructions of the smallest part that is worth an LLVM module and an object of its own. A program of 70 small
/// kernels took twice the time in one part; with any value from 20 to 800 it took the same, and its object grew by 1 to
/// 3 % (2026-11, AMD EPYC of Zen 4, two processors).
const WORTH: usize = 200;
/// Most parts of a program: each has copies of what they share. The same program took the same time with 8 and with
/// 1000; its object grew by 9 % with 1000.
const MOST: usize = 64;
/// Bytes of constants of which every part may have a copy: the copies of all parts take 4 MiB at most.
const TABLES: u64 = 64 << 10;

/// The kernels of each part; empty if kernels share more than constants: variables, and functions that are called or
/// have an address.
pub(crate) fn of(module: &Module) -> Vec<Range<usize>> {
    if !alone(module) {
        return Vec::new();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut begin, mut size) = (0, 0);
    let size_of =
        |kernel: &Kernel| instructions(&module.functions[kernel.function.index()]).count();
    for kernel in &module.kernels {
        kernel_ir::reach!(WORTH, size_of(kernel));
    }
    let worth = WORTH.max(module.kernels.iter().map(size_of).sum::<usize>() / MOST);
    for (i, kernel) in module.kernels.iter().enumerate() {
        size += size_of(kernel);
        if size >= worth {
            parts.push(begin..i + 1);
            (begin, size) = (i + 1, 0);
        }
    }
    kernel_ir::reach!(MOST, parts.len());
    match parts.last_mut() {
        // The rest is too little for a part of its own.
        Some(last) => last.end = module.kernels.len(),
        None => parts.push(0..module.kernels.len()),
    }
    parts
}

fn instructions(function: &Function) -> impl Iterator<Item = &Op> {
    let ids = function.blocks.iter().flat_map(|block| &block.insts);
    ids.map(|id| &function.insts[id.index()].op)
}

/// Whether a module consists of kernels and of data that each of them may have a copy of.
pub(crate) fn alone(module: &Module) -> bool {
    let constants = &module.constants;
    // No other module can observe the address of a constant that is not exported.
    let table = |global: &&Global| global.space == AddressSpace::Constant && !global.exported;
    let shared_variable = |global: &Global| global.space != AddressSpace::Local && !table(&global);
    let tables = module.globals.iter().filter(table);
    let told = tables.clone().next().is_some() && tells_addresses(module);
    let tables = tables.fold(0, |all: u64, table| all.saturating_add(table.size));
    let address = |id| {
        matches!(
            constants.get(ConstId(id as u32)),
            Constant::FunctionAddress(_)
        )
    };
    let calls = |op: &Op| matches!(op, Op::Call(..) | Op::CallIndirect(..));
    let mut is_kernel = vec![false; module.functions.len()];
    for kernel in &module.kernels {
        match is_kernel.get_mut(kernel.function.index()) {
            Some(kernel) => *kernel = true,
            None => return false,
        }
    }
    kernel_ir::reach!(TABLES, tables);
    tables <= TABLES
        && !told
        && !module.globals.iter().any(shared_variable)
        && !(0..constants.len()).any(address)
        && module
            .functions
            .iter()
            .zip(is_kernel)
            .all(|(f, kernel)| kernel && !f.exported && !instructions(f).any(calls))
}

/// Whether kernels may observe the address of a constant: it then has the same one in all of them.
fn tells_addresses(module: &Module) -> bool {
    // Parts of constants and types are interned before the whole.
    let mut addresses: Vec<bool> = Vec::with_capacity(module.constants.len());
    for id in 0..module.constants.len() {
        let of = |part: &ConstId| addresses.get(part.0 as usize).copied().unwrap_or(true);
        addresses.push(match module.constants.get(ConstId(id as u32)) {
            Constant::GlobalAddress(..) => true,
            Constant::Composite(parts) => parts.iter().any(of),
            _ => false,
        });
    }
    let mut inits = module.globals.iter().filter_map(|global| global.init);
    if inits.any(|init| addresses.get(init.0 as usize).copied().unwrap_or(true)) {
        return true;
    }
    let mut pointers: Vec<bool> = Vec::with_capacity(module.types.len());
    for id in 0..module.types.len() {
        let of = |part: &TypeId| pointers.get(part.0 as usize).copied().unwrap_or(true);
        pointers.push(match module.types.get(TypeId(id as u32)) {
            Type::Ptr(space) => *space == AddressSpace::Constant,
            Type::Vector(part, _) | Type::Array(part, _) => of(part),
            Type::Struct { fields, .. } => fields.iter().any(of),
            _ => false,
        });
    }
    module.functions.iter().any(|function| {
        let pointer = |v: &ValueId| pointers[function.ty(*v).0 as usize];
        instructions(function).any(|op| match op {
            // These keep an address to themselves, or read the memory there.
            Op::Load { .. }
            | Op::CopyMemory { .. }
            | Op::PtrOffset { .. }
            | Op::Phi(_)
            | Op::Select { .. }
            | Op::Copy(_)
            | Op::Compare(..) => false,
            Op::Store { value, .. } => pointer(value),
            Op::Atomic {
                value, comparator, ..
            } => value.iter().chain(comparator).any(pointer),
            op => {
                let mut any = false;
                op.operands(|v| any |= pointer(&v));
                any
            }
        })
    })
}

/// A program of some kernels of a module whose kernels can be compiled separately.
pub(crate) fn program(module: &Module, kernels: Range<usize>) -> Module {
    let mut functions = Vec::with_capacity(kernels.len());
    let own = module.kernels[kernels].iter().map(|kernel| {
        functions.push(module.functions[kernel.function.index()].clone());
        Kernel {
            function: FunctionId(functions.len() as u32 - 1),
            ..kernel.clone()
        }
    });
    let kernels = own.collect();
    Module {
        types: module.types.clone(),
        constants: module.constants.clone(),
        globals: module.globals.clone(),
        functions,
        kernels,
        printf_formats: module.printf_formats.clone(),
        non_uniform: module.non_uniform.clone(),
        lines: module.lines.clone(),
        transforms: module.transforms,
    }
}

/// A part that no thread has begun yet.
pub(crate) type Waiting<J> = Arc<Mutex<Option<J>>>;

/// The part, for the first thread that asks.
pub(crate) fn begin<J>(part: &Waiting<J>) -> Option<J> {
    part.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The parts of a program. Dropping them gives up those that no thread has begun.
struct Parts<J>(Vec<Waiting<J>>);

impl<J> Drop for Parts<J> {
    fn drop(&mut self) {
        give_up(&self.0);
        service::forget_duty();
    }
}

fn give_up<J>(parts: &[Waiting<J>]) {
    for part in parts {
        drop(begin(part));
    }
}

/// Runs all jobs. This thread, a compiler thread, takes every job that no other thread has begun, so that it waits only
/// for running ones. No job runs any more when this returns: a program that exits because of an error must not destroy
/// LLVM under another thread.
///
/// # Errors
/// The first error, in the order of the jobs. After an error, a panic or a fatal error of LLVM no later job begins.
pub(crate) fn compile<J>(jobs: Vec<J>) -> Result<Vec<Compiled>, BuildError>
where
    J: FnOnce() -> Reply + Send + 'static,
{
    let waiting = jobs
        .into_iter()
        .map(|job| Arc::new(Mutex::new(Some(job))))
        .collect();
    let parts = Parts(waiting);
    // Other threads begin at the end of the list, so that they and this thread meet once.
    let mut elsewhere: Vec<Receiver<Reply>> = parts
        .0
        .iter()
        .skip(1)
        .rev()
        .map(|part| {
            let part = Arc::clone(part);
            service::submit_part(move || match begin(&part) {
                Some(job) => job(),
                None => Err(codegen_error("nobody waits for this".to_owned())),
            })
        })
        .collect();
    elsewhere.reverse();
    let later = parts.0.clone();
    service::at_death(move || give_up(&later));
    let mut here = Vec::with_capacity(parts.0.len());
    let mut failed = false;
    for part in &parts.0 {
        let reply = begin(part).map(|job| match failed {
            false => job(),
            true => Err(codegen_error("a part before this one failed".to_owned())),
        });
        failed |= matches!(reply, Some(Err(_)));
        here.push(reply);
    }
    let elsewhere = [None].into_iter().chain(elsewhere.iter().map(Some));
    let replies: Vec<Reply> = here
        .into_iter()
        .zip(elsewhere)
        .map(|(here, there)| match (here, there) {
            (Some(reply), _) => reply,
            (None, Some(there)) => service::wait(there),
            (None, None) => Err(codegen_error("a part of the program is lost".to_owned())),
        })
        .collect();
    replies.into_iter().collect()
}

/// Joins the parts, in their order, into one program.
pub(crate) fn join(parts: Vec<Compiled>) -> Compiled {
    let mut info = ModuleInfo::default();
    let mut objects = Vec::with_capacity(parts.len());
    for (i, part) in parts.into_iter().enumerate() {
        objects.push(part.object);
        if i == 0 {
            info = part.info;
        } else {
            info.kernels.extend(part.info.kernels);
        }
    }
    Compiled {
        object: archive(objects),
        info,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn nothing_runs_any_more_when_the_first_part_has_failed() {
        let alone = std::thread::available_parallelism().map_or(1, usize::from) == 1;
        let (begun, running) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let jobs: Vec<_> = (0..100)
            .map(|part| {
                let (begun, running) = (Arc::clone(&begun), Arc::clone(&running));
                move || -> Reply {
                    if part == 0 {
                        // It fails while another job runs, where there are threads for that.
                        while !alone && begun.load(Ordering::SeqCst) == 0 {
                            std::thread::yield_now();
                        }
                        return Err(codegen_error("the first".to_owned()));
                    }
                    running.fetch_add(1, Ordering::SeqCst);
                    begun.fetch_add(1, Ordering::SeqCst);
                    (0..1000).for_each(|_| std::thread::yield_now());
                    running.fetch_sub(1, Ordering::SeqCst);
                    Err(codegen_error("a later one".to_owned()))
                }
            })
            .collect();
        let error = service::run(move || {
            compile(jobs)?;
            Err(codegen_error("nothing failed".to_owned()))
        });
        assert_eq!(error.unwrap_err().message, "the first");
        assert_eq!(running.load(Ordering::SeqCst), 0);
        let before = begun.load(Ordering::SeqCst);
        // A thread that comes late to a part that was given up does nothing.
        drop(service::wait(&service::submit_part(|| {
            Err(codegen_error(String::new()))
        })));
        assert_eq!(begun.load(Ordering::SeqCst), before);
    }

    #[test]
    fn parts_that_nobody_has_begun_are_given_up_when_llvm_ends_on_the_programs_thread() {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let (begun, told) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let jobs: Vec<_> = (0..threads + 100)
            .map(|part| {
                let (begun, told) = (Arc::clone(&begun), Arc::clone(&told));
                move || -> Reply {
                    if part == 0 {
                        return Err(crate::machine::die());
                    }
                    begun.fetch_add(1, Ordering::SeqCst);
                    while !told.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                    Err(codegen_error("a later one".to_owned()))
                }
            })
            .collect();
        let error = service::run(move || {
            compile(jobs)?;
            Err(codegen_error("nothing failed".to_owned()))
        });
        assert!(error.unwrap_err().message.starts_with("LLVM gave up:"));
        told.store(true, Ordering::SeqCst);
        drop(service::wait(&service::submit_part(|| {
            Err(codegen_error(String::new()))
        })));
        assert!(begun.load(Ordering::SeqCst) <= threads);
    }
}
