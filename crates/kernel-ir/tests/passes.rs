//! Tests of the text form, of validation, of the analyses and of the passes.

mod passes {
    mod analyses;
    mod contract;
    mod meet;
    mod memory;
    mod nulls;
    mod private_loops;
    mod random;
    #[expect(dead_code, reason = "the interpreter's tests use the rest")]
    #[path = "../interpret/sandbox.rs"]
    mod sandbox;
    mod shapes;
    mod simplify;
    mod text;
    mod unroll;
    mod validity;
    mod whole;
}
