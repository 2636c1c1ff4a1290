//! The trait of information descriptors.

use crate::error::Result;

/// A property of objects of type `Of`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an information descriptor of `{Of}`",
    note = "descriptors of platforms are in `info::platform`, of devices in `info::device`, and so on"
)]
pub trait Info<Of> {
    /// The property's type.
    type Value;
    /// Queries the property.
    ///
    /// # Errors
    /// `FeatureNotSupported` if the driver does not report it; errors of the driver.
    fn get(of: &Of) -> Result<Self::Value>;
}

/// Declares descriptors, each with the expression of its value.
macro_rules! descriptors {
    ($of:ty; $($(#[$doc:meta])* $name:ident: $value:ty = |$it:ident| $answer:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl $crate::info::descriptor::Info<$of> for $name {
            type Value = $value;
            fn get($it: &$of) -> $crate::error::Result<$value> {
                $answer
            }
        }
    )* };
}
pub(crate) use descriptors;
