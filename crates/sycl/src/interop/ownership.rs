//! Ownership of native handles.

/// The owner of a handle, which destroys it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ownership {
    /// The runtime destroys the handle when no SYCL object needs it. The program no longer uses it then.
    #[default]
    Transfer,
    /// The program keeps the handle, and may destroy it once the last copy of the SYCL object is dropped. That drop
    /// waits for work that needs the memory, image, queue or context; for a kernel it does not wait for launches.
    Keep,
}
