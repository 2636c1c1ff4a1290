//! Image accessors: for command groups, host tasks and the host.

use std::marker::PhantomData;
use std::sync::Arc;

use level_zero::sys::ze_image_handle_t;

use super::format::{ImageFormat, Texel};
use super::sampler::Sampler;
use crate::accessor::{Brand, Mode, Writes};
use crate::engine::pending::PendingCommand;
use crate::host_task::{HostViewArg, InteropHandle, PlannedView, TaskContext};
use crate::range::{Id, Range, coordinates, extents};
use crate::storage::BufferCore;

/// An image on the queue's device, for the command of one group.
#[derive(Debug)]
pub struct ImageAccessor<'cg, const D: usize, M: Mode> {
    pub(crate) index: u32,
    pub(crate) range: Range<D>,
    pub(crate) group: Brand<'cg>,
    pub(crate) mode: PhantomData<M>,
}

impl<const D: usize, M: Mode> ImageAccessor<'_, D, M> {
    /// Returns the image's range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }
}

/// An image's texels in host memory, for the host task of one group.
#[derive(Debug)]
pub struct HostTaskImageAccessor<'cg, P: Texel, const D: usize, M: Mode> {
    pub(crate) index: u32,
    pub(crate) format: ImageFormat,
    pub(crate) range: Range<D>,
    pub(crate) group: Brand<'cg>,
    pub(crate) types: PhantomData<(P, M)>,
}

/// The position of texels in host memory.
#[derive(Debug)]
struct Rows<const D: usize> {
    pointer: *mut u8,
    bytes: usize,
    format: ImageFormat,
    range: Range<D>,
}

impl<const D: usize> Rows<D> {
    /// The bytes of one texel.
    fn place(&self, id: Id<D>) -> std::ops::Range<usize> {
        let (at, range) = (coordinates(id.0), extents(self.range.0));
        assert!(
            (0..3).all(|axis| at[axis] < range[axis]),
            "index {:?} is outside the image's range {:?}",
            id.0,
            self.range.0
        );
        let size = self.format.texel_bytes();
        let first = ((at[0] * range[1] + at[1]) * range[2] + at[2]) * size;
        first..first + size
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the host's allocation has this many bytes, and the creator of this value excludes writers.
        unsafe { std::slice::from_raw_parts(self.pointer, self.bytes) }
    }

    /// For rows of a writing accessor.
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and readers are excluded as well.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }

    fn read<P: Texel>(&self, id: Id<D>) -> P {
        self.format.decode(&self.bytes()[self.place(id)])
    }

    fn write<P: Texel>(&mut self, id: Id<D>, texel: P) {
        let (place, format) = (self.place(id), self.format);
        format.encode(texel, &mut self.bytes_mut()[place]);
    }
}

/// An image's texels on the host. Conflicting work waits until it is dropped. It cannot be sent to another thread.
pub struct HostImageAccessor<'b, P: Texel, const D: usize, M: Mode> {
    rows: Rows<D>,
    pending: Arc<PendingCommand>,
    /// The tools' node.
    held: (Arc<BufferCore>, crate::trace::Node),
    types: PhantomData<(&'b [P], M, *mut u8)>,
}

impl<P: Texel, const D: usize, M: Mode> std::fmt::Debug for HostImageAccessor<'_, P, D, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostImageAccessor({:?})", self.rows.range.0)
    }
}

impl<P: Texel, const D: usize, M: Mode> HostImageAccessor<'_, P, D, M> {
    pub(super) fn new(
        pointer: *mut u8,
        bytes: usize,
        format: ImageFormat,
        range: Range<D>,
        pending: Arc<PendingCommand>,
        held: (Arc<BufferCore>, crate::trace::Node),
    ) -> Self {
        Self {
            rows: Rows {
                pointer,
                bytes,
                format,
                range,
            },
            pending,
            held,
            types: PhantomData,
        }
    }

    /// Returns the image's range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.rows.range
    }

    /// Returns one texel.
    ///
    /// # Panics
    /// If `id` is outside the image.
    #[must_use]
    pub fn read(&self, id: impl Into<Id<D>>) -> P {
        self.rows.read(id.into())
    }

    /// Returns the texels as they lie in memory.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.rows.bytes()
    }
}

impl<P: Texel, const D: usize, M: Writes> HostImageAccessor<'_, P, D, M> {
    /// Sets one texel.
    ///
    /// # Panics
    /// If `id` is outside the image.
    pub fn write(&mut self, id: impl Into<Id<D>>, texel: P) {
        self.rows.write(id.into(), texel);
    }

    /// Returns the texels as they lie in memory, for writing.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.rows.bytes_mut()
    }
}

impl<P: Texel, const D: usize, M: Mode> Drop for HostImageAccessor<'_, P, D, M> {
    fn drop(&mut self) {
        let (core, lock) = &self.held;
        crate::trace::unlocked(core.number, lock);
        self.pending.done();
    }
}

/// A sampled image's texels on the host, read with its sampler.
#[derive(Debug)]
pub struct HostSampledImageAccessor<'b, P: Texel, const D: usize> {
    access: HostImageAccessor<'b, P, D, crate::accessor::Read>,
    sampler: Sampler,
}

impl<'b, P: Texel, const D: usize> HostSampledImageAccessor<'b, P, D> {
    pub(super) fn new(
        access: HostImageAccessor<'b, P, D, crate::accessor::Read>,
        sampler: Sampler,
    ) -> Self {
        Self { access, sampler }
    }

    /// Returns the sample at a coordinate, whose last component runs along a row.
    #[must_use]
    pub fn read(&self, at: [f32; D]) -> P {
        let mut to_x_first = [0.0; 3];
        for (to, from) in to_x_first.iter_mut().zip(at.iter().rev()) {
            *to = *from;
        }
        let rows = &self.access.rows;
        let [depth, height, width] = extents(rows.range.0);
        self.sampler.sample(
            rows.format,
            rows.bytes(),
            [width, height, depth],
            D,
            to_x_first,
        )
    }

    /// Returns the image's range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.access.range()
    }
}

/// A device accessor of an image in a host task: a native image for Level Zero.
#[derive(Debug)]
pub struct ImageView<'t, const D: usize, M: Mode> {
    image: ze_image_handle_t,
    task: PhantomData<(&'t (), M)>,
}

/// A host-task accessor of an image in its task: texels in host memory.
#[derive(Debug)]
pub struct HostImageView<'t, P: Texel, const D: usize, M: Mode> {
    rows: Rows<D>,
    task: PhantomData<(&'t mut [P], M)>,
}

impl<P: Texel, const D: usize, M: Mode> HostImageView<'_, P, D, M> {
    /// Returns the image's range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.rows.range
    }

    /// Returns one texel.
    ///
    /// # Panics
    /// If `id` is outside the image.
    #[must_use]
    pub fn read(&self, id: impl Into<Id<D>>) -> P {
        self.rows.read(id.into())
    }

    /// Returns the texels as they lie in memory.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.rows.bytes()
    }
}

impl<P: Texel, const D: usize, M: Writes> HostImageView<'_, P, D, M> {
    /// Sets one texel.
    ///
    /// # Panics
    /// If `id` is outside the image.
    pub fn write(&mut self, id: impl Into<Id<D>>, texel: P) {
        self.rows.write(id.into(), texel);
    }
}

impl<'t> InteropHandle<'t> {
    /// Returns the native image on the queue's device: the runtime's or that of `make_image`.
    ///
    /// # Errors
    /// None today.
    pub fn native_image<const D: usize, M: Mode>(
        &self,
        view: &ImageView<'t, D, M>,
    ) -> crate::error::Result<ze_image_handle_t> {
        Ok(view.image)
    }
}

/// Becomes an [`ImageView`].
#[derive(Debug)]
pub struct PlannedImage<const D: usize, M> {
    index: u32,
    mode: PhantomData<fn() -> M>,
}

/// Becomes a [`HostImageView`].
#[derive(Debug)]
pub struct PlannedHostImage<P, const D: usize, M> {
    index: u32,
    format: ImageFormat,
    range: Range<D>,
    types: PhantomData<fn() -> (P, M)>,
}

impl<const D: usize, M: Mode> PlannedView for PlannedImage<D, M> {
    type At<'t> = ImageView<'t, D, M>;
    fn view(self, context: &TaskContext) -> ImageView<'_, D, M> {
        ImageView {
            image: context.pointer(self.index).cast(),
            task: PhantomData,
        }
    }
}

impl<P: Texel, const D: usize, M: Mode> PlannedView for PlannedHostImage<P, D, M> {
    type At<'t> = HostImageView<'t, P, D, M>;
    fn view(self, context: &TaskContext) -> HostImageView<'_, P, D, M> {
        let texels = extents(self.range.0).iter().product::<usize>();
        HostImageView {
            rows: Rows {
                pointer: context.pointer(self.index),
                bytes: texels * self.format.texel_bytes(),
                format: self.format,
                range: self.range,
            },
            task: PhantomData,
        }
    }
}

impl<'cg, const D: usize, M: Mode> HostViewArg<'cg> for ImageAccessor<'cg, D, M> {
    type Planned = PlannedImage<D, M>;
    fn plan_one(self) -> PlannedImage<D, M> {
        PlannedImage {
            index: self.index,
            mode: PhantomData,
        }
    }
}

impl<'cg, P: Texel, const D: usize, M: Mode> HostViewArg<'cg>
    for HostTaskImageAccessor<'cg, P, D, M>
{
    type Planned = PlannedHostImage<P, D, M>;
    fn plan_one(self) -> PlannedHostImage<P, D, M> {
        PlannedHostImage {
            index: self.index,
            format: self.format,
            range: self.range,
            types: PhantomData,
        }
    }
}
