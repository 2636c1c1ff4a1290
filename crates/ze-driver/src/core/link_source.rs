//! The SPIR-V that a module keeps for linking.

use crate::device::{ProgramInput, SpirvModule};
use crate::spirv::{self, Linkage};
use std::collections::BTreeSet;

/// The SPIR-V of a module that imports or exports something.
pub(crate) struct LinkSource {
    pub(super) modules: Vec<SpirvModule>,
    pub(super) options: String,
    pub(super) imports: BTreeSet<String>,
    pub(super) exports: BTreeSet<String>,
}

impl LinkSource {
    /// The source for linking `input`; none when it neither imports nor exports.
    pub(crate) fn of(input: ProgramInput) -> Option<Self> {
        let ProgramInput::Spirv { modules, options } = input else {
            return None;
        };
        let (mut imports, mut exports) = (BTreeSet::new(), BTreeSet::new());
        for (bytes, _) in &modules {
            for (name, kind) in spirv::linkage(bytes) {
                match kind {
                    Linkage::Import => imports.insert(name),
                    Linkage::Export => exports.insert(name),
                };
            }
        }
        imports.retain(|name| !exports.contains(name));
        (!imports.is_empty() || !exports.is_empty()).then_some(Self {
            modules,
            options,
            imports,
            exports,
        })
    }

    /// Names of kernels, in order.
    pub(crate) fn kernels(&self) -> Vec<String> {
        let kernels = self.modules.iter();
        kernels
            .flat_map(|(bytes, _)| spirv::kernels(bytes))
            .collect()
    }
}
