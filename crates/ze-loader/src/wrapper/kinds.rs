//! Types of handles, and structs with handles or argument values: the types of the generated tables.

/// The type of a handle: one number for all aliases of one opaque type; 0 for none.
pub(crate) type Kind = u8;

/// A struct with a handle: its type, the offset and type of the handle.
pub(crate) struct HandleIn {
    pub(crate) stype: u32,
    pub(crate) offset: usize,
    pub(crate) kind: Kind,
}

/// A struct with the value of a kernel argument: its type, the offsets of the pointer to it and of its size, if it has
/// one.
pub(crate) struct ValueIn {
    pub(crate) stype: u32,
    pub(crate) value: usize,
    pub(crate) size: Option<usize>,
}
