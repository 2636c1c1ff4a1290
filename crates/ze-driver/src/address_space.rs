//! The boundary for pages: address space without memory, memory without an address, and files shared with other
//! processes.
//!
//! A platform with an [`AddressSpace`] supports virtual reservations, physical memory, and memory and events that other
//! processes see. Reservations and mappings in them are whole pages of [`AddressSpace::page_size`] bytes; callers have
//! checked alignment. Allocations do not share pages, but may begin inside their first page.

use crate::allocation::{AllocError, AllocRequest, ExportError};
use std::ffi::CString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// The name of a memory file for IPC handles. `token` is random and new for each file. A handle contains it, and a process
/// without the handle cannot guess it.
pub fn file_name(token: u64) -> CString {
    CString::new(format!("solum-{token:016x}")).unwrap_or_default()
}

/// The token of a memory file, from the path of its descriptor in `/proc/self/fd`.
pub(crate) fn token_of(path: &str) -> Option<u64> {
    let rest = path.strip_prefix("/memfd:solum-")?;
    let token = rest.strip_suffix(" (deleted)")?;
    u64::from_str_radix(token, 16)
        .ok()
        .filter(|_| token.len() == 16)
}

/// Access rights of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum Access {
    None,
    ReadWrite,
    ReadOnly,
}

/// Memory without an address, in a separate file. It is freed when the last holder and the last mapping are gone.
pub trait Pages: Send + Sync {
    /// The file; it begins with the memory's first byte.
    fn file(&self) -> BorrowedFd<'_>;
    /// Size in bytes, whole pages.
    fn size(&self) -> u64;
}

/// Address space of the process, and files behind it.
pub trait AddressSpace: Send + Sync {
    /// Bytes of a page.
    fn page_size(&self) -> u64;
    /// Whether to open memory and events of other users of the machine.
    fn trusts_all_users(&self) -> bool;
    /// Whether to open a bare descriptor as memory, as processes of one parallel program send it.
    fn opens_descriptors(&self) -> bool;
    /// Reserves `size` bytes of inaccessible address space: at `hint` if that is free, else anywhere.
    fn reserve(&self, hint: usize, size: u64) -> Option<usize>;
    /// Releases a whole reservation with its mappings.
    fn release(&self, base: usize, size: u64);
    /// Allocates memory without an address.
    ///
    /// # Errors
    /// [`AllocError`].
    fn pages(&self, size: u64) -> Result<Arc<dyn Pages>, AllocError>;
    /// Maps `size` bytes of a file from `offset` into a reservation; `false` if the system fails.
    fn map(&self, at: usize, size: u64, file: BorrowedFd<'_>, offset: u64, access: Access) -> bool;
    /// Unmaps a part of a reservation.
    fn unmap(&self, at: usize, size: u64) -> bool;
    /// Changes the access rights of a mapped part of a reservation.
    fn protect(&self, at: usize, size: u64, access: Access) -> bool;
    /// As [`Platform::allocate`](crate::device::Platform::allocate), at the beginning of a separate file.
    ///
    /// # Errors
    /// [`AllocError`].
    fn allocate_in_file(&self, request: &AllocRequest) -> Result<*mut u8, AllocError>;
    /// The file of the allocation at `base`, as a descriptor that the caller owns, and the allocation's offset in it, inside
    /// the first page. The file holds nothing else.
    ///
    /// # Errors
    /// [`ExportError`].
    fn export(&self, base: usize) -> Result<(OwnedFd, u64), ExportError>;
    /// Maps `request.size` bytes of a file from `offset` on as a new allocation. It begins as far into its first page as
    /// `offset` lies in a page of the file. `opened` becomes
    /// [`AllocInfo::imported`](crate::device::AllocInfo::imported).
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
    /// Turns the program's own memory at `base` into an allocation; freeing it leaves the memory unchanged. `false` if
    /// an allocation is already there.
    fn adopt(&self, request: &AllocRequest, base: *mut u8) -> bool;
    /// Populates the missing pages of a range, where it is memory; contents are kept.
    fn populate(&self, base: usize, size: u64) {
        let _ = (base, size);
    }
}
