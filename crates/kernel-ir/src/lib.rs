//! The middle of the kernel compiler: a typed SSA form for OpenCL-style kernels, the front end that makes it from SPIR-V,
//! the passes that prepare it for a back end, and an interpreter that defines its meaning.
//!
//! # One kernel through the IR
//! A module in text form. Each kernel describes one work-item; [`Op::WorkItem`] asks which one:
//!
//! ```
//! let text = "\
//! kernel @scale(%x: ptr<global>, %a: f32) {
//! entry:
//!   %i: i64 = wi.GlobalInvocationId 0
//!   %p: ptr<global> = offset %x [%i * 4 + 0]
//!   %zero: f32 = fmul %a, f32 0.0
//!   %old: f32 = load %p align 4
//!   %new: f32 = fmul %old, %a
//!   store %p, %new align 4
//!   ret
//! }
//! ";
//! let mut module = kernel_ir::parse(text)?;
//! kernel_ir::validate(&module)?;
//!
//! // The passes inline calls, simplify, and promote private memory: %zero has no use and is removed.
//! kernel_ir::passes::prepare(&mut module)?;
//! assert_eq!(kernel_ir::print(&module), "\
//! kernel @scale(%0: ptr<global>, %1: f32) {
//! b0:
//!   %2: i64 = wi.GlobalInvocationId 0
//!   %3: ptr<global> = offset %0 [%2 * 4 + 0]
//!   %4: f32 = load %3 align 4
//!   %5: f32 = fmul %4, %1
//!   store %3, %5 align 4
//!   ret
//! }
//! ");
//!
//! // Facts for a back end: neighbouring work-items access neighbouring elements.
//! use kernel_ir::passes::shape::{LaneScope, Shape, shapes};
//! let function = &module.functions[0];
//! let shapes = shapes(&module, function, LaneScope::Row);
//! let results: Vec<Shape> = function.blocks[0]
//!     .insts
//!     .iter()
//!     .filter_map(|inst| function.insts[inst.index()].result)
//!     .map(|value| shapes.of(value))
//!     .collect();
//! assert_eq!(results, [Shape::Contiguous, Shape::Strided(4), Shape::Varying, Shape::Varying]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules, each above the ones that it uses
//! | module | content |
//! |---|---|
//! | [`build`] | a compile request, its options and errors |
//! | [`front`] | SPIR-V modules to one [`Module`]: reads, links, specialises, lowers |
//! | [`interpret`] | runs a module without a back end |
//! | [`passes`] | transforms and analyses: [`passes::prepare`] is the pipeline, [`passes::shape`] the divergence analysis |
//! | [`index`] | facts about the integers from which addresses are computed: ranges, low bits, steps |
//! | [`validate()`] | the rules of the IR |
//! | [`parse()`], [`print()`] | the text form |
//! | [`cfg`](mod@cfg) | dominators, loops and block orders of a function |
//! | [`abi`], [`report`], [`image`], [`printf`] | what the driver, the kernel and the command line agree on |
//! | `checks` | which checks a kernel gets: [`passes::instrument()`] |
//! | `ir`, `op`, `types`, `ids` | modules, functions, blocks; operations; types and constants; handles |
//! | [`wire`] | the byte form of requests and replies |
//! | [`marks`] | coverage marks for the random tests |
//!
//! # Invariants
//! - Pure: no files, no environment, no clock, no FFI types, no threads, no panic on any input.
//! - A module that [`front::build`] returns has passed [`validate()`]: later stages index without checks.
//! - An error names the module, the word offset, the instruction and the rule.
//! - Modules have no dependency cycles (`cargo xtask tidy`).
//!
//! Not here: knowledge of a machine. A pass that weighs registers gets their number from the back end
//! ([`passes::Registers`]).
#![forbid(unsafe_code)]

pub mod abi;
pub mod build;
pub mod cfg;
mod checks;
pub mod front;
mod ids;
pub mod image;
pub mod index;
pub mod interpret;
pub mod ir;
pub mod marks;
mod op;
pub mod parse;
pub mod passes;
pub mod print;
pub mod printf;
pub mod report;
pub mod transforms;
pub mod types;
pub mod validate;
pub mod wire;

pub use build::{BuildError, BuildErrorKind, Options, Request};
pub use checks::Checks;
pub use ir::*;
pub use parse::parse;
pub use print::print;
pub use transforms::{Transform, Transforms};
pub use types::*;
pub use validate::validate;
