//! The trait of information descriptors.

use crate::error::Result;

/// A question to an object of type `Of`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an information descriptor of `{Of}`",
    note = "descriptors of platforms are in `info::platform`, of devices in `info::device`, and so on"
)]
pub trait Info<Of> {
    /// The answer.
    type Value;
    /// Asks.
    ///
    /// # Errors
    /// `FeatureNotSupported` for what the driver does not answer; the call's.
    fn get(of: &Of) -> Result<Self::Value>;
}

/// Declares descriptors, each with the expression that answers it.
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
