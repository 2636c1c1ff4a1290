//! Launch latency: no arguments, no work.

#[sycl::kernel]
pub(crate) fn empty() {}
