//! Tests of the front end: the corpus, linking, specialisation, and what hostile modules are told.

mod front {
    mod assembler;
    mod corpus;
    mod errors;
    mod hostile;
    mod linking;
}
