//! Ray tracing acceleration structures, both forms of the extension; core/RTAS.yml, RTASBuilder.yml.
//!
//! The two forms of the extension have the same layouts under two names. One implementation serves both; [`entries`] makes
//! the entry points of each. The crate `acceleration-structure` builds; [`build`] and [`geometry`] convert the client's
//! descriptors to its geometries. Hosts trace rays with `zeSolumRTASIntersect` ([`intersect`]).
//!
//! Invariants
//! - A build with a parallel operation uses the client's memory until its last join ends, as the specification says.
//! - Indices and counts are the client's: a primitive with an index out of range is left out.

pub(crate) mod build;
pub(crate) mod entries;
pub(crate) mod geometry;
pub(crate) mod intersect;

use level_zero_sys::*;

/// Numbers that differ between the two forms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) retry: ze_result_t,
    pub(crate) deferred: ze_result_t,
    pub(crate) incompatible: ze_result_t,
    /// Type of the callback's parameters.
    pub(crate) callback: ze_structure_type_t,
}
