//! Without the feature: nothing.

use std::ffi::c_void;

use sycl_graph::{Access, Grid, Transfer};

use super::{Label, Reason, Site};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::image::{ImageFormat, Sampler};
use crate::memory::Memory;
use crate::queue::QueueInner;
use crate::usm::PointerType;

/// Nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node(());
/// Nothing.
#[derive(Debug, Default)]
pub(crate) struct History {}
/// Nothing.
#[derive(Debug, Default)]
pub(crate) struct QueueTrace {}
/// Nothing.
#[derive(Debug)]
pub(crate) struct Barrier;
/// Nothing.
#[derive(Debug)]
pub(crate) struct Ending;
/// Nothing.
#[derive(Debug)]
pub(crate) struct Part;

impl Part {
    pub(crate) fn made(_: Site, _: u64, _: &'static str, _: usize, _: &[usize]) -> Self {
        Self
    }
}

impl QueueTrace {
    pub(crate) fn created(&self, _: &QueueInner) {}
    pub(crate) fn destroyed(&self) {}
}
impl Node {
    pub(crate) fn group<'a>(_: Site, _: &QueueInner, _: impl FnOnce() -> Label<'a>) -> Self {
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
impl History {
    pub(crate) fn of_image() -> Self {
        Self {}
    }
    pub(crate) fn used(&mut self, _: u64, _: &Grid, _: &[Access], _: &Node) {}
    pub(crate) fn sub_buffer(&mut self, _: u64, _: usize, _: usize, _: usize) {}
    pub(crate) fn locked(&mut self, _: u64, _: &Grid, _: &[Access], _: Site) -> Node {
        Node(())
    }
    pub(crate) fn transfer(
        &mut self,
        _: u64,
        _: usize,
        _: &Transfer,
        _: Option<&Device>,
        _: Option<&Device>,
    ) -> Node {
        Node(())
    }
    pub(crate) fn allocate<R>(
        &mut self,
        _: u64,
        _: usize,
        _: &'static str,
        allocate: impl FnOnce() -> Result<R>,
        _: impl Fn(&R) -> usize,
    ) -> Result<R> {
        allocate()
    }
    pub(crate) fn adopted(&mut self, _: u64, _: &'static str, _: usize) {}
    pub(crate) fn ending(&mut self) -> Ending {
        Ending
    }
}
impl Ending {
    pub(crate) fn end(&self, _: u64, memory: Memory) {
        drop(memory);
    }
}
pub(crate) fn unlocked(_: u64, _: &Node) {}
pub(crate) fn start() {}
pub(crate) fn wait_for_event<R>(_: Site, _: &Node, _: usize, wait: impl FnOnce() -> R) -> R {
    wait()
}
pub(crate) fn wait_for_queue<R>(_: Site, _: &QueueInner, wait: impl FnOnce() -> R) -> R {
    wait()
}
pub(crate) fn diagnostic(_: &Error) {}
pub(crate) fn freeing<R>(_: *const c_void, free: impl FnOnce() -> R) -> R {
    free()
}
pub(crate) fn usm_allocating<R>(
    _: Site,
    _: (PointerType, Option<&Device>),
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
