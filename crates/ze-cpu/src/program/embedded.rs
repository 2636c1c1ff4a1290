//! The code generator, linked in (feature `embedded`): nothing is opened.

use kernel_ir::build::Reply;
use kernel_ir::{BuildError, BuildErrorKind, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Compiles a request. LLVM's own deaths stay on the code generator's threads; a defect of ours ends the request.
pub(crate) fn compile(request: &Request) -> Reply {
    let compile = AssertUnwindSafe(|| codegen_llvm::compile(request));
    catch_unwind(compile).unwrap_or_else(|_| {
        Err(BuildError {
            kind: BuildErrorKind::Codegen,
            module: 0,
            word: None,
            instruction: None,
            message: "the code generator met a defect of its own".to_owned(),
        })
    })
}
