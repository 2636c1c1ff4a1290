//! Tests of the text form, of validation, of the analyses and of the passes.

mod passes {
    mod analyses;
    mod memory;
    mod shapes;
    mod simplify;
    mod text;
    mod validity;
    mod whole;
}
