//! A buffer's nodes (allocations, copies, uses, its end) and the edges between them.

use std::collections::VecDeque;

use sycl_graph::{Access, Cuboid, Extent, Grid, Mode, Transfer};
use xpti::{NodeKind, Value, Visit};

use super::memory::allocating;
use super::node::{Node, describe_site, device_number, edge, site_location, wants_edges};
use super::objects::{associated, buffer_gone, buffer_made, mode_number, released};
use super::site::Site;
use super::streams::{graph_listeners, named};
use crate::device::Device;
use crate::error::Result;
use crate::memory::{End, Memory};

/// Uses of a buffer since it was last overwritten; kept while a subscriber listens to edges.
#[derive(Debug, Default)]
pub(crate) struct History {
    uses: Uses,
    /// Allocations and copies for the next use.
    before: Vec<Node>,
    allocations: Vec<(&'static str, usize)>,
    /// Whether it belongs to an image.
    image: bool,
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "read",
        Mode::Write => "write",
        Mode::ReadWrite => "read_write",
        Mode::NoInitWrite => "discard_write",
        Mode::NoInitReadWrite => "discard_read_write",
    }
}

/// The beginning of a part in bytes, and its first and end elements, counted from the buffer's beginning.
fn describe_range(visit: &mut Visit, offset: usize, bytes: usize, element: usize) {
    let number = |bytes: usize| Value::Unsigned((bytes / element.max(1)) as u64);
    visit.set(c"offset", Value::Unsigned(offset as u64));
    visit.set(c"access_range_start", number(offset));
    visit.set(c"access_range_end", number(offset + bytes));
}

type Uses = VecDeque<(Cuboid, Mode, Node)>;

/// The most uses that are kept: a buffer may be read any number of times, and each use keeps an event.
const MOST_USES: usize = 1024;

/// Adds a use and removes those that it overwrites, and the oldest if there are too many.
fn remember(uses: &mut Uses, pages: Cuboid, mode: Mode, node: Node) {
    if mode.writes() {
        uses.retain(|(of, ..)| !pages.contains(of));
    }
    if uses.len() >= MOST_USES {
        uses.pop_front();
    }
    uses.push_back((pages, mode, node));
}

impl History {
    /// Creates the history of an image, which has its own stream.
    pub(crate) fn of_image() -> Self {
        Self {
            image: true,
            ..Self::default()
        }
    }

    /// Reports a command that uses the buffer, after all work that its accesses conflict with.
    pub(crate) fn used(&mut self, number: u64, grid: &Grid, accesses: &[Access], node: &Node) {
        if !node.is_some() || !wants_edges() {
            if !self.uses.is_empty() || !self.before.is_empty() {
                (self.uses, self.before) = Default::default();
            }
            return;
        }
        let Some(first) = accesses.first() else {
            return;
        };
        let connect = |from: &Node, mode: Mode| {
            edge(
                from,
                node,
                &format!("{}[{number:x}]", mode_name(mode)),
                |visit| {
                    visit.set(c"access_mode", Value::Signed(i64::from(mode_number(mode))));
                    visit.set(c"memory_object", Value::Unsigned(number));
                },
            );
        };
        for earlier in self.before.drain(..) {
            connect(&earlier, first.mode);
        }
        for access in accesses {
            let pages = grid.page_range(&access.elements);
            for (of, mode, earlier) in &self.uses {
                if of.overlaps(&pages) && (mode.writes() || access.mode.writes()) {
                    connect(earlier, access.mode);
                }
            }
        }
        for access in accesses {
            let pages = grid.page_range(&access.elements);
            remember(&mut self.uses, pages, access.mode, node.clone());
        }
    }

    /// Reports a view of a part.
    pub(crate) fn sub_buffer(&mut self, number: u64, offset: usize, bytes: usize, element: usize) {
        if graph_listeners().is_none() {
            return;
        }
        let name = named(&format!("Sub Buffer Creation[{number:x}]"));
        let node = Node::create(NodeKind::SubBufferCreation, &name, 0, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            describe_range(visit, offset, bytes, element);
        });
        node.task(|| ());
    }

    /// Reports a host accessor, which excludes other accesses until [`Self::unlocked`].
    pub(crate) fn locked(
        &mut self,
        number: u64,
        grid: &Grid,
        accesses: &[Access],
        site: Site,
    ) -> Node {
        if graph_listeners().is_none() {
            return Node::default();
        }
        let location = site_location(
            site,
            &format!("Host Accessor Creation/Buffer Lock[{number:x}]"),
        );
        let node = Node::create(NodeKind::HostAccessorCreation, &location, 0, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            if let Some(access) = accesses.first() {
                visit.set(
                    c"access_mode",
                    Value::Signed(i64::from(mode_number(access.mode))),
                );
            }
            describe_site(site, visit);
        });
        self.used(number, grid, accesses, &node);
        node
    }

    /// Reports a copy between two memories, before the next use.
    pub(crate) fn transfer(
        &mut self,
        number: u64,
        element: usize,
        transfer: &Transfer,
        from: Option<&Device>,
        to: Option<&Device>,
    ) -> Node {
        if graph_listeners().is_none() {
            return Node::default();
        }
        let name = named(&format!("Memory Transfer (Copy)[{number:x}]"));
        let (offset, bytes) = match transfer.extent {
            Extent::Run { offset, bytes } => (offset, bytes),
            Extent::Region {
                origin,
                size,
                row_pitch,
                slice_pitch,
            } => {
                let first = origin[0] + origin[1] * row_pitch + origin[2] * slice_pitch;
                let last = size[0]
                    + size[1].saturating_sub(1) * row_pitch
                    + size[2].saturating_sub(1) * slice_pitch;
                (first, last)
            }
        };
        let node = Node::create(NodeKind::MemoryTransfer, &name, 0, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            describe_range(visit, offset, bytes, element);
            visit.set(c"copy_from", device_number(from));
            visit.set(c"copy_to", device_number(to));
        });
        if wants_edges() {
            for (_, mode, writer) in self.uses.iter().filter(|(_, mode, _)| mode.writes()) {
                let _ = mode;
                edge(writer, &node, &format!("read[{number:x}]"), |visit| {
                    visit.set(c"access_mode", Value::Signed(1024));
                    visit.set(c"memory_object", Value::Unsigned(number));
                });
            }
            for allocation in &self.before {
                edge(allocation, &node, &format!("write[{number:x}]"), |visit| {
                    visit.set(c"access_mode", Value::Signed(1025));
                    visit.set(c"memory_object", Value::Unsigned(number));
                });
            }
            self.before.push(node.clone());
        }
        node
    }

    /// Reports an allocation; `kind` is "device", "host" or "shared".
    pub(crate) fn allocate<R>(
        &mut self,
        number: u64,
        bytes: usize,
        kind: &'static str,
        allocate: impl FnOnce() -> Result<R>,
        pointer: impl Fn(&R) -> usize,
    ) -> Result<R> {
        let name = named(&format!("Memory Allocation[{number:x}]"));
        let node = match graph_listeners() {
            Some(_) => Node::create(NodeKind::MemoryAllocation, &name, 0, |visit| {
                visit.set(c"memory_object", Value::Unsigned(number));
                visit.set(c"allocation_type", kind);
            }),
            None => Node::default(),
        };
        let result = node.task(|| {
            let of = |result: &Result<R>| result.as_ref().map_or(0, &pointer);
            let result = allocating(number as usize, bytes, allocate, of);
            if let Ok(memory) = &result {
                associated(number, pointer(memory), self.image);
            }
            result
        })?;
        self.allocations.push((kind, pointer(&result)));
        if node.is_some() && wants_edges() {
            self.before.push(node);
        }
        Ok(result)
    }

    /// Reports memory of the program that the buffer adopts.
    pub(crate) fn adopted(&mut self, number: u64, kind: &'static str, pointer: usize) {
        self.allocations.push((kind, pointer));
        associated(number, pointer, self.image);
    }

    /// The uses that the release of its memory follows.
    pub(crate) fn ending(&mut self) -> Ending {
        Ending {
            uses: self.uses.iter().map(|(.., node)| node.clone()).collect(),
            allocations: self.allocations.clone(),
            image: self.image,
        }
    }
}

/// A part of a buffer that the program holds: tools see it as a buffer with its own number.
#[derive(Debug)]
pub(crate) struct Part(u64);

impl Part {
    /// Reports a new part of the buffer `of`, with a number from `next_number`.
    pub(crate) fn made(
        site: Site,
        of: u64,
        next_number: impl FnOnce() -> u64,
        element: &'static str,
        element_size: usize,
        extents: &[usize],
    ) -> Self {
        let number = next_number();
        buffer_made(site, number, of as usize, element, element_size, extents);
        Self(number)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        buffer_gone(self.0, false);
    }
}

/// The last uses of a buffer, for the end of its memories.
#[derive(Debug)]
pub(crate) struct Ending {
    uses: Vec<Node>,
    allocations: Vec<(&'static str, usize)>,
    image: bool,
}

impl Ending {
    /// Reports the release of a memory; memory that the program keeps is not reported.
    pub(crate) fn end(&self, number: u64, memory: Memory) {
        match memory.end {
            End::Keep => drop(memory),
            End::Free => self.free(number, memory),
        }
    }

    fn free(&self, number: u64, memory: Memory) {
        let pointer = memory.pointer.addr();
        let known = self.allocations.iter().find(|(_, of)| *of == pointer);
        let kind = known.map_or("device", |(kind, _)| kind);
        let mut node = Node::default();
        if graph_listeners().is_some() {
            let name = named(&format!("Memory Deallocation[{number:x}]"));
            node = Node::create(NodeKind::MemoryDeallocation, &name, 0, |visit| {
                visit.set(c"memory_object", Value::Unsigned(number));
                visit.set(c"allocation_type", kind);
            });
            for earlier in &self.uses {
                edge(
                    earlier,
                    &node,
                    &format!("Edge:Memory Deallocation[{number:x}]"),
                    |visit| {
                        visit.set(c"memory_object", Value::Unsigned(number));
                    },
                );
            }
        }
        node.task(|| {
            drop(memory);
            released(number, pointer, self.image);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_kept_reads_is_bounded() {
        let (mut uses, pages) = (Uses::new(), Cuboid::new([0; 3], [1; 3]));
        for _ in 0..10_000 {
            remember(&mut uses, pages, Mode::Read, Node::default());
            assert!(uses.len() <= MOST_USES);
        }
        remember(&mut uses, pages, Mode::ReadWrite, Node::default());
        assert_eq!(uses.len(), 1);
    }
}
