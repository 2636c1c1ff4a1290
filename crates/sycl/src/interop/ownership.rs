//! Ownership of native handles.

/// The owner of a handle, who destroys it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ownership {
    /// The runtime, when the last SYCL object that needs it is gone. The program no longer uses it then.
    #[default]
    Transfer,
    /// The program, when the last copy of the SYCL object has been dropped. Where work still needs memory, an image, a
    /// queue or a context, that drop waits; launches of a kernel it does not wait for.
    Keep,
}
