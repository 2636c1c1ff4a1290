//! The code generator, linked in (feature `embedded`, built where LLVM 22 is): nothing is opened.

use compiler_build::COMPILER_BUILD;
use kernel_ir::build::{Compiled, Outline, Reply, Tier};
use kernel_ir::{BuildError, BuildErrorKind, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Names the build whose code is run, in keys and native binaries.
pub(crate) fn build() -> &'static str {
    COMPILER_BUILD
}

/// Compiles a request. A crash of LLVM stays on the code generator's threads; a panic of our code ends the request.
pub(crate) fn compile(request: &Request) -> Reply {
    guarded(|| codegen_llvm::compile(request))
}

/// A program under construction.
pub(crate) enum Opened {
    /// All of it.
    Whole(Compiled),
    /// The outline of the program, and the session that compiles its kernels.
    Outline(Outline, Session),
}

/// Begins to compile a request, likewise; compiles the kernels now if there are at most `few`.
pub(crate) fn open(request: &Request, few: u32, tier: Tier) -> Result<Opened, BuildError> {
    let opened = guarded(|| codegen_llvm::open(request, few as usize, tier))?;
    Ok(match opened {
        codegen_llvm::Opened::Whole(compiled) => Opened::Whole(compiled),
        codegen_llvm::Opened::Outline(outline, session) => {
            Opened::Outline(outline, Session(session))
        }
    })
}

/// A program whose kernels are compiled one by one.
pub(crate) struct Session(codegen_llvm::Session);

impl Session {
    /// Compiles a kernel.
    pub(crate) fn kernel(&self, kernel: usize, tier: Tier) -> Reply {
        guarded(|| self.0.kernel(kernel, tier))
    }
}

fn guarded<T>(work: impl FnOnce() -> Result<T, BuildError>) -> Result<T, BuildError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(BuildError {
            kind: BuildErrorKind::Codegen,
            module: 0,
            word: None,
            instruction: None,
            message: "internal error of the code generator".to_owned(),
        })
    })
}
