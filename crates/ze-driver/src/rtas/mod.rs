//! Ray tracing acceleration structures, both forms of the extension; core/RTAS.yml, RTASBuilder.yml.
//!
//! The two forms have the same layouts under two names, so one implementation serves both ([`entries`] makes the
//! entry points of each). Building is the crate `acceleration-structure`; here the client's descriptors become its
//! geometries. Ray queries are offered to hosts, as `zeSolumRTASIntersect` ([`intersect`]).
//!
//! Invariants
//! - A build with a parallel operation uses the client's memory until its last join ends, as the specification says.
//! - Indices and counts are the client's: a primitive with an index out of range is not there.

pub(crate) mod build;
pub(crate) mod entries;
pub(crate) mod geometry;
pub(crate) mod intersect;

use level_zero_sys::*;

/// What structures of ours are called: the format's name, and its version in the last byte.
pub(crate) const FORMAT: u32 = 0x501a_0002;
/// Bytes that a structure's address is a multiple of.
pub(crate) const ALIGNMENT: u32 = 128;

/// Codes that the two forms number differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) retry: ze_result_t,
    pub(crate) deferred: ze_result_t,
    pub(crate) incompatible: ze_result_t,
    /// Of the callback's parameters.
    pub(crate) callback: ze_structure_type_t,
}
