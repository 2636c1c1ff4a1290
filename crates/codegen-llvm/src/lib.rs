//! codegen-llvm
mod llvm;
