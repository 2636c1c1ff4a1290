//! `#[kernel]`, `#[device]` and `#[derive(Device)]`: a function as itself, and as calls that stage its body.
//!
//! Each operation of the body becomes a call of `kernel_builder::Stage`, with the user's own expression as a closure
//! that gives the result its type. The compiler so checks the staged body as it checks the function, with positions and
//! types of the user. Variables keep their names; names of the expansion are hygienic.

mod assertion;
mod call;
mod closure;
mod condition;
mod derive;
mod expression;
mod function;
mod group_form;
mod implementation;
mod loops;
mod operator;
mod options;
mod part;
mod pattern;
mod print;
mod refusal;
mod scope;
mod statement;

pub(crate) use derive::derive_device;
pub(crate) use function::kernel;
pub(crate) use implementation::device;
pub(crate) use options::Options;
