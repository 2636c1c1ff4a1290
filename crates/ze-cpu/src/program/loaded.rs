//! Programs that are loaded: code and metadata.

use super::code::{Code, load};
use super::failure::log;
use super::interpreted::{self, Interpreted, InterpretedKernel};
use super::kernel::{Entry, Kernel};
use super::lazy::LazyProgram;
use super::stages;
use crate::cache::Key;
use crate::printf::Formats;
use kernel_ir::BuildError;
use kernel_ir::abi::ModuleInfo;
use kernel_ir::build::{Compiled, Outline, Request};
use std::sync::{Arc, OnceLock};
use ze_driver::device::BuildFailure;

/// Code and metadata, loaded; shared by all programs of one key.
pub(super) struct Loaded {
    pub(super) names: Vec<String>,
    /// By index; each is set by the first request for it.
    pub(super) kernels: Vec<OnceLock<Kernel>>,
    /// The metadata without the kernels'.
    pub(super) info: ModuleInfo,
    /// Its origin, if variants of its kernels may be needed.
    pub(super) request: Option<Arc<Request>>,
    pub(super) formats: Option<Formats>,
    pub(super) identity: Identity,
    /// Set by the first request for it.
    pub(super) binary: OnceLock<Arc<[u8]>>,
    pub(super) body: Body,
}

/// The identity of a program towards the driver.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) uuid: [u8; 16],
    /// Its line of requirements.
    pub(super) needs: String,
}

pub(super) enum Body {
    Native(Code),
    Lazy(LazyProgram),
    Interpreted(Arc<Interpreted>),
}

impl Identity {
    pub(super) fn new(key: &Key, needs: String) -> Self {
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&key[..16]);
        Self { uuid, needs }
    }
}

impl Loaded {
    /// A program whose kernels are all there.
    pub(super) fn whole(
        kernels: Vec<Kernel>,
        info: ModuleInfo,
        binary: Arc<[u8]>,
        identity: Identity,
        body: Body,
    ) -> Self {
        Self {
            names: kernels
                .iter()
                .map(|kernel| kernel.info.name.clone())
                .collect(),
            kernels: kernels.into_iter().map(OnceLock::from).collect(),
            formats: interpreted::formats(&info),
            info,
            request: None,
            identity,
            binary: OnceLock::from(binary),
            body,
        }
    }

    /// A program whose kernels have no code yet.
    pub(super) fn of(outline: Outline, identity: Identity, lazy: LazyProgram) -> Self {
        Self {
            kernels: outline.names.iter().map(|_| OnceLock::new()).collect(),
            names: outline.names,
            formats: interpreted::formats(&outline.info),
            info: outline.info,
            request: Some(Arc::clone(&lazy.request)),
            identity,
            binary: OnceLock::new(),
            body: Body::Lazy(lazy),
        }
    }

    /// A kernel by index, compiled now if need be.
    pub(super) fn kernel(&self, index: usize) -> Result<&Kernel, BuildFailure> {
        let absent = || log(format!("error: the program has no kernel {index}"));
        let slot = self.kernels.get(index).ok_or_else(absent)?;
        if slot.get().is_none()
            && let Body::Lazy(lazy) = &self.body
        {
            let named = |why| log(format!("error: kernel {:?}: {why}", self.names[index]));
            lazy.make(index, &self.kernels, &self.names)
                .map_err(named)?;
        }
        slot.get().ok_or_else(absent)
    }

    /// Replaces a kernel's baseline code by full code; if that fails, the kernel keeps its code.
    pub(super) fn improve(&self, index: usize) {
        if let Body::Lazy(lazy) = &self.body
            && let Err(why) = lazy.improve(index, &self.kernels, &self.names)
            && let Some(name) = self.names.get(index)
        {
            stages::remark(&format!("kernel {name:?} stays baseline code: {why}"));
        }
    }

    pub(super) fn binary(&self) -> Result<&[u8], BuildFailure> {
        match (self.binary.get(), &self.body) {
            (Some(binary), _) => Ok(binary),
            (None, Body::Lazy(lazy)) => Ok(lazy.binary(&self.binary)?),
            (None, _) => Err(log("error: the program has no binary".to_owned())),
        }
    }
}

/// Loads code; `request` is its origin, if known.
pub(super) fn native_program(
    compiled: Compiled,
    binary: Arc<[u8]>,
    identity: Identity,
    request: Option<&Arc<Request>>,
) -> Result<Loaded, String> {
    let (kernels, code) = load(&compiled, request)?;
    Ok(Loaded::whole(
        kernels,
        compiled.info,
        binary,
        identity,
        Body::Native(code),
    ))
}

pub(super) fn interpreted_program(
    request: &Request,
    binary: Arc<[u8]>,
    identity: Identity,
) -> Result<Loaded, BuildError> {
    let program = Arc::new(Interpreted::build(request)?);
    let kernels = program.info.kernels.iter().enumerate();
    let kernels = kernels
        .map(|(kernel, info)| {
            let program = Arc::clone(&program);
            let entry = Entry::Interpreted(InterpretedKernel { program, kernel });
            Kernel::new(info.clone(), entry, false)
        })
        .collect();
    let info = program.info.clone();
    Ok(Loaded::whole(
        kernels,
        info,
        binary,
        identity,
        Body::Interpreted(program),
    ))
}
