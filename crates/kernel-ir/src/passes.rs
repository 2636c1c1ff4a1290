//! Transformations and analyses between the front end and a back end.

pub mod cfg;
mod facts;

pub use cfg::loop_contiguous_order;
pub use facts::{KernelFacts, addressed_functions, facts};
