//! The boundary for pages: address space without memory, memory without an address, and files shared with others.
//!
//! A platform that has it serves virtual reservations, physical memory, and memory and events that other processes
//! see. Reservations and what is shown in them are whole pages of [`AddressSpace::page_size`] bytes; callers have checked
//! alignment. Allocations have pages of their own, but may begin in the midst of the first.

use crate::allocation::{AllocError, AllocRequest, ExportError};
use std::ffi::CString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The name of a memory file that handles may lead to. `token` is random and new for each file: a handle tells it, and a
/// process that was never given the handle cannot guess it.
pub fn file_name(token: u64) -> CString {
    CString::new(format!("solum-{token:016x}")).unwrap_or_default()
}

/// The token of a memory file, from the path that `/proc/self/fd` shows for its descriptor.
pub(crate) fn token_of(path: &str) -> Option<u64> {
    let rest = path.strip_prefix("/memfd:solum-")?;
    let token = rest.strip_suffix(" (deleted)")?;
    u64::from_str_radix(token, 16)
        .ok()
        .filter(|_| token.len() == 16)
}

/// What may be done with pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum Access {
    None,
    ReadWrite,
    ReadOnly,
}

/// Memory without an address, in a file of its own; given back when the last holder and the last mapping are gone.
pub trait Pages: Send + Sync {
    /// The file; its first byte is the memory's.
    fn file(&self) -> BorrowedFd<'_>;
    /// Bytes, whole pages.
    fn size(&self) -> u64;
}

/// Address space of the process, and files behind it.
pub trait AddressSpace: Send + Sync {
    /// Bytes of a page.
    fn page_size(&self) -> u64;
    /// Whether memory and events that belong to other users of the machine are opened.
    fn trusts_all_users(&self) -> bool;
    /// Whether a descriptor that came alone is opened as memory: other processes of the same parallel program send such.
    fn opens_descriptors(&self) -> bool;
    /// Takes `size` bytes of address space that nothing may touch: at `hint` if that is free, else anywhere.
    fn reserve(&self, hint: usize, size: u64) -> Option<usize>;
    /// Gives a whole reservation back, mappings included.
    fn release(&self, base: usize, size: u64);
    /// Memory without an address.
    ///
    /// # Errors
    /// [`AllocError`].
    fn pages(&self, size: u64) -> Result<Arc<dyn Pages>, AllocError>;
    /// Shows `size` bytes of a file from `offset` on inside a reservation; `false` when the system refuses.
    fn map(&self, at: usize, size: u64, file: BorrowedFd<'_>, offset: u64, access: Access) -> bool;
    /// Makes a part of a reservation as empty as it was.
    fn unmap(&self, at: usize, size: u64) -> bool;
    /// Changes what may be done with a mapped part of a reservation.
    fn protect(&self, at: usize, size: u64, access: Access) -> bool;
    /// As [`Platform::allocate`](crate::device::Platform::allocate), in a file of its own from its first byte on.
    ///
    /// # Errors
    /// [`AllocError`].
    fn allocate_in_file(&self, request: &AllocRequest) -> Result<*mut u8, AllocError>;
    /// The file behind the allocation that begins at `base`, as a descriptor of the caller's own, and where in it the
    /// allocation begins: in the first page. The file has nothing else in it.
    ///
    /// # Errors
    /// [`ExportError`].
    fn export(&self, base: usize) -> Result<(OwnedFd, u64), ExportError>;
    /// An allocation over `request.size` bytes of a file from `offset` on; never at the address of another one. It begins
    /// as far into its first page as `offset` lies in one of the file's.
    /// `opened`: [`AllocInfo::imported`](crate::device::AllocInfo::imported) will say so.
    ///
    /// # Errors
    /// [`AllocError`].
    fn import(
        &self,
        request: &AllocRequest,
        file: OwnedFd,
        offset: u64,
        opened: bool,
    ) -> Result<*mut u8, AllocError>;
    /// Makes memory of the program's own, from `base` on, an allocation; freeing it leaves the memory alone. `false`
    /// when an allocation is there already.
    fn adopt(&self, request: &AllocRequest, base: *mut u8) -> bool;
    /// Gives the pages of a range that are not there yet, as far as the range is memory; contents stay as they are.
    fn populate(&self, base: usize, size: u64) {
        let _ = (base, size);
    }
}
