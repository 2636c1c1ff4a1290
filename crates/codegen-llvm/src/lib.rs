//! codegen-llvm
