//! The settings that decide the code beside the module, and errors of the code generator.

use kernel_ir::{BuildError, BuildErrorKind, Options, Request};

use crate::machine::Target;

/// Processor, options and form of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// LLVM's name of the processor.
    pub cpu: String,
    /// LLVM's feature string.
    pub features: String,
    /// Sub-group size for kernels that require none: 8, 16 or 32.
    pub sub_group_size: u32,
    /// Build flags.
    pub options: Options,
    /// Whether work-items run as lanes of vectors where they can; otherwise one after another.
    pub wide: bool,
    /// Work-items of a chunk in kernels without sub-group operations: 4, 8, 16 or 32; by speed when `None`. Only with
    /// `wide`.
    pub lanes: Option<u32>,
    /// Whether compile time matters more than the code. Has no effect where optimisation is off.
    pub baseline: bool,
}

impl Settings {
    /// The settings of a request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self {
            cpu: request.cpu.clone(),
            features: request.features.clone(),
            sub_group_size: request.sub_group_size,
            options: Options::parse(&request.options).0,
            wide: request.lanes != 1,
            lanes: [4, 8, 16, 32].into_iter().find(|n| *n == request.lanes),
            baseline: false,
        }
    }
}

pub(crate) fn codegen_error(message: String) -> BuildError {
    BuildError {
        kind: BuildErrorKind::Codegen,
        module: 0,
        word: None,
        instruction: None,
        message,
    }
}

pub(crate) fn target(settings: &Settings) -> Target {
    Target {
        cpu: settings.cpu.clone(),
        features: settings.features.clone(),
        opt_level: settings.options.opt_level,
        baseline: settings.baseline && settings.options.opt_level > 0,
    }
}
