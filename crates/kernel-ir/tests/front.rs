//! Tests of the front end: the corpus, linking, specialisation, and what hostile modules are told.

mod front {
    mod assembler;
    mod corpus;
    mod errors;
    mod frames;
    mod hostile;
    mod images;
    mod linking;
    mod meaning;
    mod modes;
    #[path = "../interpret/sandbox.rs"]
    #[expect(
        dead_code,
        reason = "shared with the interpreter's tests, which use more of it"
    )]
    mod sandbox;
}
