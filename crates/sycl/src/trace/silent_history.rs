//! Empty buffer history, without the feature `xpti`.

use sycl_graph::{Access, Grid, Transfer};

use super::silent::Node;
use super::site::Site;
use crate::device::Device;
use crate::error::Result;
use crate::memory::Memory;

/// Empty.
#[derive(Debug, Default)]
pub(crate) struct History {}
/// Empty.
#[derive(Debug)]
pub(crate) struct Ending;
/// Empty.
#[derive(Debug)]
pub(crate) struct Part;

impl Part {
    pub(crate) fn made(
        _: Site,
        _: u64,
        _: impl FnOnce() -> u64,
        _: &'static str,
        _: usize,
        _: &[usize],
    ) -> Self {
        Self
    }
}

impl History {
    pub(crate) fn of_image() -> Self {
        Self {}
    }
    pub(crate) fn used(&mut self, _: u64, _: &Grid, _: &[Access], _: &Node) {}
    pub(crate) fn sub_buffer(&mut self, _: u64, _: usize, _: usize, _: usize) {}
    pub(crate) fn locked(&mut self, _: u64, _: &Grid, _: &[Access], _: Site) -> Node {
        Node::default()
    }
    pub(crate) fn transfer(
        &mut self,
        _: u64,
        _: usize,
        _: &Transfer,
        _: Option<&Device>,
        _: Option<&Device>,
    ) -> Node {
        Node::default()
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
