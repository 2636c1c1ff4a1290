//! Parts of a program that are compiled side by side, on as many compiler threads as are free.
//!
//! Where the cuts are depends on the program alone, so that a program has one object wherever it is compiled.

use std::ops::Range;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::{Compiled, Reply};
use kernel_ir::{AddressSpace, BuildError, Module};

use crate::archive::archive;
use crate::compile::codegen_error;
use crate::service;

/// Instructions from which on a part is worth a module of LLVM and an object of its own.
const WORTH: usize = 200;

/// Kernels of each part; none where kernels have more in common than the program: variables, functions that are
/// called.
pub(crate) fn of(module: &Module) -> Vec<Range<usize>> {
    let alone = module
        .globals
        .iter()
        .all(|global| global.space == AddressSpace::Local)
        && (0..module.functions.len())
            .all(|f| module.kernels.iter().any(|k| k.function.index() == f));
    if !alone {
        return Vec::new();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let (mut begin, mut size) = (0, 0);
    for (i, kernel) in module.kernels.iter().enumerate() {
        let blocks = &module.functions[kernel.function.index()].blocks;
        size += blocks.iter().map(|block| block.insts.len()).sum::<usize>();
        if size >= WORTH {
            parts.push(begin..i + 1);
            (begin, size) = (i + 1, 0);
        }
    }
    match parts.last_mut() {
        // What is left is too little for itself.
        Some(last) => last.end = module.kernels.len(),
        None => parts.push(0..module.kernels.len()),
    }
    parts
}

/// A part that nobody has begun yet.
type Waiting<J> = Arc<Mutex<Option<J>>>;

fn begin<J>(part: &Waiting<J>) -> Option<J> {
    part.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Runs all jobs. This thread, one of the compiler's, takes what no other one has begun, so it waits only for what
/// runs.
///
/// # Errors
/// The first that fails, in their order.
pub(crate) fn compile<J>(jobs: Vec<J>) -> Result<Vec<Compiled>, BuildError>
where
    J: FnOnce() -> Reply + Send + 'static,
{
    let parts: Vec<Waiting<J>> = jobs
        .into_iter()
        .map(|job| Arc::new(Mutex::new(Some(job))))
        .collect();
    // The others begin at the end, so that they and this thread meet once.
    let mut elsewhere: Vec<Receiver<Reply>> = parts[1..]
        .iter()
        .rev()
        .map(|part| {
            let part = Arc::clone(part);
            service::submit(move || match begin(&part) {
                Some(job) => job(),
                None => Err(codegen_error("nobody waits for this".to_owned())),
            })
        })
        .collect();
    let mut replies = Vec::with_capacity(parts.len());
    for part in &parts {
        replies.push(begin(part).map(|job| job()));
    }
    elsewhere.reverse();
    let elsewhere = [None].into_iter().chain(elsewhere.iter().map(Some));
    let all = replies.into_iter().zip(elsewhere);
    all.map(|(here, there)| match (here, there) {
        (Some(reply), _) => reply,
        (None, Some(there)) => service::wait(there),
        (None, None) => Err(codegen_error("a part of the program is lost".to_owned())),
    })
    .collect()
}

/// One program of its parts, in their order.
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
