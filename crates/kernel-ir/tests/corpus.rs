//! The corpus: kernels of our own that cover what the clients' modules use, read, validated, refused
//! by name or run against expected results.

mod corpus {
    pub(crate) mod cases;
    mod checks;
    mod coverage;
    pub(crate) mod files;
    mod further;
    mod run;
}
#[path = "interpret/sandbox.rs"]
#[expect(dead_code, reason = "half of it is for kernels in the text form")]
mod sandbox;
