//! Loads relocatable objects of the code generator: ELF64, x86-64.
//!
//! Invariants
//! - Any bytes give an image or an error: every offset, size and index is checked before use.
//! - Code is written through one view and run through another; no page is both.
//! - Only names that the caller resolves are reachable from an object; [`mathematics`] are those of C's library.
//!
//! Any thread may load, run and drop images.
//!
//! Non-goals: no dynamic linking, no thread-local data, no initialisers, no unwind tables.

mod archive;
#[cfg(test)]
mod c_compiler;
mod elf;
mod free;
mod load;
mod mathematics;
mod window;

pub use elf::Refusal;
pub use free::FreeList;
pub use load::{Image, Place, load};
pub use mathematics::resolve as mathematics;

#[cfg(test)]
mod tests;
