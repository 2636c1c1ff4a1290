//! Tests of the text form, of validation, of the analyses and of the passes.

mod passes {
    mod analyses;
    mod array_values;
    mod checked_accesses;
    mod compare_chains;
    mod contract;
    mod counted_indices;
    mod facts;
    mod final_values;
    mod implicit_barriers;
    mod initialised;
    mod instrument;
    mod memory;
    mod null_arguments;
    mod peel;
    mod private_loops;
    mod random;
    mod random_indices;
    #[expect(dead_code, reason = "the interpreter's tests use the rest")]
    #[path = "../interpret/sandbox.rs"]
    mod sandbox;
    mod shapes;
    mod simplify;
    mod text;
    mod validity;
    mod whole;
}
