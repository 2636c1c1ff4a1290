//! Loads relocatable objects of the code generator (ELF64, x86-64) into executable memory.
//!
//! ```no_run
//! # fn object() -> Vec<u8> { Vec::new() }
//! // Parse the object, place its sections, resolve undefined symbols, apply relocations.
//! let image = object_loader::load(&object(), &mut |name| object_loader::mathematics(name))?;
//! // Look up a kernel. Its memory is freed when the image is dropped.
//! let kernel = image.symbol("kernel.0").map(|place| place.address);
//! # Ok::<(), object_loader::Refusal>(())
//! ```
//!
//! Invariants
//! - Any bytes give an image or an error: every offset, size and index is checked before use.
//! - Code is written through one mapping and executed through another; no page is writable and executable.
//! - An object can only reach symbols that the caller resolves; [`mathematics`] resolves those of C's library.
//!
//! Any thread may load, run and drop images.
//!
//! Not here: dynamic linking, thread-local data, initialisers, unwind tables.

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
pub use load::{Image, LoadedSymbol, load};
pub use mathematics::resolve as mathematics;
pub use window::is_in_window;

#[cfg(test)]
mod tests;
