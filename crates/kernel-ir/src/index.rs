//! Index analysis: facts about the integers from which addresses are computed.
//!
//! ```text
//! %l: i32 = wi.LocalInvocationId 0       0 to 65535
//! %m: i32 = shl %l, i32 2                0 to 262140; its 2 low bits are zero
//! %n: i64 = to.sext %m                   %m does not wrap around: the same facts
//! %p: ptr<local> = offset %a [%n * 4]    base %a, index %n, which extends %m, stride 4
//! ```
//!
//! | question | answer |
//! |---|---|
//! | the bounds of a value | [`IndexFacts::range`] |
//! | low bits that are zero | [`IndexFacts::zero_bits`] |
//! | whether an extension keeps the value | [`IndexFacts::cannot_wrap`] |
//! | how many operations compute it from ids | [`IndexFacts::from_ids`] |
//! | its low bits where all ids are zero | [`IndexFacts::constant_term`] |
//! | how one operation changes the step from lane to lane | [`step`] |
//! | the parts of an address | [`terms`] |
//! | the narrower integer behind an index | [`extended`] |
//! | all of it as text | [`print()`] |
//!
//! [`passes::shape`](crate::passes::shape) finds the steps of a whole function: they depend on its divergent branches.

mod address;
mod facts;
mod print;
mod step;

pub use address::{Term, extended, terms};
pub use facts::{FromIds, IndexFacts, Range};
pub use print::print;
pub use step::{extension, step};
