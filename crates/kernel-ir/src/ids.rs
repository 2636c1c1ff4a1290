//! Handles: indices into the tables of a module or function, one type for each table.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into the table that handed it out.
            #[must_use]
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids! {
    /// A function of a [`Module`](crate::ir::Module).
    FunctionId,
    /// A program-scope or work-group variable of a [`Module`](crate::ir::Module).
    GlobalId,
    /// A block of a [`Function`](crate::ir::Function).
    BlockId,
    /// An instruction of a [`Function`](crate::ir::Function).
    InstId,
    /// A value of a [`Function`](crate::ir::Function).
    ValueId,
}
