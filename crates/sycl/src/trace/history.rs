//! A buffer's nodes (allocations, copies, uses, its end) and the edges between them.

use std::collections::VecDeque;
use std::sync::OnceLock;

use sycl_graph::{Access, Cuboid, Extent, Grid, Mode, Transfer};
use xpti::{Framework, NodeKind, Object, Value, Visit};

use super::memory::allocating;
use super::node::{Node, device_number, edge, wants_edges};
use super::objects::{MODES, associated, buffer_gone, buffer_made, mode_number, released};
use super::site::Site;
use super::streams::{ShortText, graph_listeners};
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
    edges: Edges,
    /// Whether it belongs to an image.
    image: bool,
}

/// The edges of a buffer, by access mode: the next edge of a mode has the same name and metadata.
#[derive(Debug, Default)]
struct Edges([OnceLock<Box<EdgeMode>>; 5]);

#[derive(Debug)]
struct EdgeMode {
    name: ShortText,
    mode: Option<Object>,
    buffer: Option<Object>,
}

impl Edges {
    /// Reports an edge between two uses of the buffer `number`.
    fn connect(&self, number: u64, mode: Mode, from: &Node, to: &Node) {
        let Some(framework) = Framework::get() else {
            return;
        };
        let code = mode_number(mode);
        let Some(slot) = self.0.get((code - MODES) as usize) else {
            return;
        };
        let known = slot.get_or_init(|| {
            Box::new(EdgeMode {
                name: ShortText::format(format_args!("{}[{number:x}]", mode_name(mode))),
                mode: Value::Signed(i64::from(code)).intern(framework),
                buffer: Value::Unsigned(number).intern(framework),
            })
        });
        edge(from, to, &known.name, |visit| {
            visit.set_object(c"access_mode", known.mode);
            visit.set_object(c"memory_object", known.buffer);
        });
    }
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
        for earlier in self.before.drain(..) {
            self.edges.connect(number, first.mode, &earlier, node);
        }
        for access in accesses {
            let pages = grid.page_range(&access.elements);
            for (of, mode, earlier) in &self.uses {
                if of.overlaps(&pages) && (mode.writes() || access.mode.writes()) {
                    self.edges.connect(number, access.mode, earlier, node);
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
        let name = format_args!("Sub Buffer Creation[{number:x}]");
        let node = Node::named(NodeKind::SubBufferCreation, name, |visit| {
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
        let name = ShortText::format(format_args!(
            "Host Accessor Creation/Buffer Lock[{number:x}]"
        ));
        let location = site.location(&name);
        let node = Node::create(NodeKind::HostAccessorCreation, &location, 0, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            if let Some(access) = accesses.first() {
                visit.set(
                    c"access_mode",
                    Value::Signed(i64::from(mode_number(access.mode))),
                );
            }
            site.describe(visit);
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
        let name = format_args!("Memory Transfer (Copy)[{number:x}]");
        let node = Node::named(NodeKind::MemoryTransfer, name, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            describe_range(visit, offset, bytes, element);
            visit.set(c"copy_from", device_number(from));
            visit.set(c"copy_to", device_number(to));
        });
        if wants_edges() {
            for (.., writer) in self.uses.iter().filter(|(_, mode, _)| mode.writes()) {
                self.edges.connect(number, Mode::Read, writer, &node);
            }
            for allocation in &self.before {
                self.edges.connect(number, Mode::Write, allocation, &node);
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
        let name = format_args!("Memory Allocation[{number:x}]");
        let node = Node::named(NodeKind::MemoryAllocation, name, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            visit.set(c"allocation_type", kind);
        });
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
        let name = format_args!("Memory Deallocation[{number:x}]");
        let node = Node::named(NodeKind::MemoryDeallocation, name, |visit| {
            visit.set(c"memory_object", Value::Unsigned(number));
            visit.set(c"allocation_type", kind);
        });
        if node.is_some() {
            let name = ShortText::format(format_args!("Edge:Memory Deallocation[{number:x}]"));
            for earlier in &self.uses {
                edge(earlier, &node, &name, |visit| {
                    visit.set(c"memory_object", Value::Unsigned(number));
                });
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
