//! SPIR-V reflection: the kind of each kernel parameter.

use std::collections::HashMap;

use spirv_reflection::{AddressSpace, ImageAccess, ImageDimension, Module, ParameterKind};

use crate::arguments::ArgumentKind;
use crate::device::Aspect;
use crate::error::{Errc, Error, Result};

/// A module's kernels by name, each with kinds and sizes of its arguments. Kernels with an unsupported argument are
/// left out.
#[derive(Debug, Default)]
pub(crate) struct Reflection {
    /// Names of all kernels, in the module's order.
    pub(crate) names: Vec<String>,
    /// Aspects that the code needs.
    pub(crate) aspects: Vec<Aspect>,
    /// Numbers of the specialization constants.
    pub(crate) constants: Vec<u32>,
    kernels: HashMap<String, Vec<(ArgumentKind, usize)>>,
}

impl Reflection {
    /// Reads a module.
    ///
    /// # Errors
    /// `Build` with the error and its position if it is not SPIR-V.
    pub(crate) fn read(words: &[u32]) -> Result<Self> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let module = Module::read(&bytes)
            .map_err(|error| Error::new(Errc::Build, format!("this is not SPIR-V: {error}")))?;
        let known = module.kernels.iter().filter_map(|kernel| {
            let kinds = kernel
                .parameters
                .iter()
                .map(|parameter| kind(&parameter.kind));
            Some((kernel.name.clone(), kinds.collect::<Option<Vec<_>>>()?))
        });
        Ok(Self {
            kernels: known.collect(),
            aspects: module
                .capabilities
                .iter()
                .filter_map(|capability| aspect(*capability))
                .collect(),
            names: module
                .kernels
                .iter()
                .map(|kernel| kernel.name.clone())
                .collect(),
            constants: module
                .specialization_constants
                .iter()
                .map(|constant| constant.id)
                .collect(),
        })
    }

    /// The kinds of a kernel's arguments, if all are supported.
    pub(crate) fn arguments(&self, kernel: &str) -> Option<&[(ArgumentKind, usize)]> {
        self.kernels.get(kernel).map(Vec::as_slice)
    }
}

/// The aspect that a capability needs; `None` if all devices have it, or SYCL defines no aspect for it.
fn aspect(capability: u32) -> Option<Aspect> {
    match capability {
        // Float16, Float64, Int64Atomics, ImageBasic.
        9 => Some(Aspect::Fp16),
        10 => Some(Aspect::Fp64),
        12 => Some(Aspect::Atomic64),
        13 => Some(Aspect::Image),
        _ => None,
    }
}

fn kind(kind: &ParameterKind) -> Option<(ArgumentKind, usize)> {
    match kind {
        ParameterKind::Value(ty) => Some((ArgumentKind::Value, usize::try_from(ty.size()).ok()?)),
        ParameterKind::Pointer {
            space: AddressSpace::Local,
            ..
        } => Some((ArgumentKind::Local, 0)),
        ParameterKind::Pointer { .. } => Some((ArgumentKind::Pointer, size_of::<usize>())),
        ParameterKind::Image {
            dimension,
            array: false,
            access,
        } => {
            let dimensions = match dimension {
                ImageDimension::D1 => 1,
                ImageDimension::D2 => 2,
                ImageDimension::D3 => 3,
                _ => return None,
            };
            let writes = *access != ImageAccess::Read;
            let kind = ArgumentKind::Image { dimensions, writes };
            Some((kind, size_of::<usize>()))
        }
        ParameterKind::Sampler => Some((ArgumentKind::Sampler, size_of::<usize>())),
        _ => None,
    }
}
