//! Empty tracing, without the feature `xpti`.

use std::ffi::c_void;

use super::label::{Label, NewQueue, Reason};
use super::site::Site;
use crate::device::Device;
use crate::error::Error;
use crate::image::{ImageFormat, Sampler};

/// Empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node(());
/// Empty.
#[derive(Debug, Default)]
pub(crate) struct QueueTrace {}
/// Empty.
#[derive(Debug)]
pub(crate) struct Barrier;
impl QueueTrace {
    pub(crate) fn created(&self, _: &NewQueue<'_>) {}
    pub(crate) fn destroyed(&self) {}
}
impl Node {
    pub(crate) fn group<'a>(
        _: Site,
        _: (&QueueTrace, &Device),
        _: impl FnOnce() -> Label<'a>,
    ) -> Self {
        Self(())
    }
    #[inline]
    pub(crate) fn task<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
    pub(crate) fn signal(&self, _: impl FnOnce() -> Option<crate::engine::pins::Kept>) {}
    pub(crate) fn follows(&self, _: &Self) {}
    pub(crate) fn barrier(&self, _: Reason) -> Barrier {
        Barrier
    }
}
pub(crate) fn unlocked(_: u64, _: &Node) {}
pub(crate) fn start() {}
pub(crate) fn wait_for_event<R>(_: Site, _: &Node, _: usize, wait: impl FnOnce() -> R) -> R {
    wait()
}
pub(crate) fn wait_for_queue<R>(_: Site, _: (usize, &Device), wait: impl FnOnce() -> R) -> R {
    wait()
}
pub(crate) fn diagnostic(_: &Error) {}
pub(crate) fn freeing<R>(_: *const c_void, free: impl FnOnce() -> R) -> R {
    free()
}
pub(crate) fn usm_allocating<R>(
    _: Site,
    _: (bool, Option<&Device>),
    _: usize,
    allocate: impl FnOnce() -> R,
    _: impl Fn(&R) -> usize,
) -> R {
    allocate()
}
pub(crate) fn usm_freeing<R>(_: Option<Site>, _: *const c_void, free: impl FnOnce() -> R) -> R {
    free()
}
pub(crate) fn buffer_made(_: Site, _: u64, _: usize, _: &'static str, _: usize, _: &[usize]) {}
pub(crate) fn buffer_gone(_: u64, _: bool) {}
pub(crate) fn image_made(
    _: Site,
    _: u64,
    _: usize,
    _: &[usize],
    _: ImageFormat,
    _: Option<Sampler>,
) {
}
pub(crate) fn image_accessor(
    _: Site,
    _: u64,
    _: usize,
    _: Option<u32>,
    _: Option<sycl_graph::Mode>,
    _: (&str, usize),
) {
}
pub(crate) fn accessor(_: Site, _: u64, _: usize, _: u32, _: sycl_graph::Mode) {}
