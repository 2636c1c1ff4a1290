//! Random kernels as machine code and interpreted; together they reach every transform of the compiler.
//!
//! A binary of its own, because coverage marks are counted for the whole process: what a test of one transform reaches
//! says nothing about the random kernels.

#![cfg(llvm)]

mod random {
    mod differential;
    #[path = "../../../kernel-ir/tests/interpret/generator.rs"]
    mod generator;
    #[path = "../../../kernel-ir/tests/interpret/graph.rs"]
    mod graph;
    #[path = "../../../kernel-ir/tests/interpret/ingredients.rs"]
    mod ingredients;
    #[path = "../machine/native.rs"]
    mod native;
    #[path = "../machine/raw.rs"]
    mod raw;
    mod reached;
    mod shapes;
}
