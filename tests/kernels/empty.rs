//! Launch latency: no arguments, no work.

#[sycl::kernel]
pub fn empty() {}
