//! Loads relocatable objects of the code generator: ELF64, x86-64.
//!
//! Invariants
//! - Any bytes give an image or an error: every offset, size and index is checked before use.
//! - Code is written through one view and run through another; no page is both.
//! - Only names of [`externals`] are reachable from an object.
//!
//! Non-goals: no dynamic linking, no thread-local data, no initialisers, no unwind tables.

mod elf;
pub(crate) mod externals;
mod load;
mod window;

pub(crate) use load::{Image, load};
#[cfg(test)]
pub(crate) use tests::{compile, elf_symbols};

#[cfg(test)]
mod tests;
