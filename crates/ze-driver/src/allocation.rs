//! Memory requests and their results; [`crate::device`] re-exports these types.

/// Kinds of USM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum MemoryKind {
    Host,
    Device,
    Shared,
}

/// A request for memory.
#[derive(Clone, Copy, Debug)]
pub struct AllocRequest {
    /// Kind.
    pub kind: MemoryKind,
    /// Bytes, at least 1.
    pub size: u64,
    /// A power of two.
    pub align: u64,
    /// Index of the device in [`Platform::devices`](crate::device::Platform::devices); none for host memory.
    pub device: Option<usize>,
    /// The context, opaque to the device and returned by [`Platform::find`](crate::device::Platform::find).
    pub context: usize,
}

/// Memory in use, and its limit.
#[derive(Clone, Copy, Debug)]
pub struct MemoryUse {
    /// Bytes in use.
    pub used: u64,
    /// Bytes that may be in use.
    pub limit: u64,
    /// The setting or system limit that it comes from, for error texts.
    pub set_by: &'static str,
}

/// Why an allocation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// No memory is free now.
    OutOfMemory,
    /// More than there can ever be.
    TooLarge,
    /// The memory needs a file, and the system could not create one.
    NoFile(NoFile),
}

/// Why the system could not create a memory file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFile {
    /// The system's error number (errno).
    pub errno: i32,
}

impl std::fmt::Display for NoFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.errno {
            libc::EMFILE | libc::ENFILE => f.write_str("too many files are open (ulimit -n)"),
            libc::ENOSYS | libc::EPERM | libc::EACCES => {
                f.write_str("memfd_create is not available here")
            }
            libc::ENOMEM => f.write_str("the system has no memory or address space for it"),
            errno => {
                let error = std::io::Error::from_raw_os_error(errno);
                signal_mask::name_file_size_limit(error).fmt(f)
            }
        }
    }
}

/// Why memory cannot be shared with other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// No allocation begins there, or the program itself allocated the memory.
    NotOurs,
    /// The system could not create a file.
    NoFile(NoFile),
}

impl From<NoFile> for ExportError {
    fn from(refused: NoFile) -> Self {
        Self::NoFile(refused)
    }
}

/// The mistake in a call that frees memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WrongFree {
    /// No allocation begins there; one may have.
    NoAllocation,
    /// The allocation belongs to another context.
    OtherContext,
}

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub struct AllocInfo {
    /// First byte.
    pub base: *mut u8,
    /// The requested bytes.
    pub size: u64,
    /// Kind.
    pub kind: MemoryKind,
    /// As in the request.
    pub device: Option<usize>,
    /// As in the request.
    pub context: usize,
    /// Unique in the process.
    pub id: u64,
    /// Page size in bytes.
    pub page_size: u64,
    /// Opened by an IPC handle: closed, not freed.
    pub imported: bool,
}
