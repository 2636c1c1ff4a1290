//! Images: texels of a format in one to three dimensions, read and written by kernels.
//!
//! An image follows the buffer model. It lies in rows on the host and as a native image on each device that uses it. It
//! is copied as a whole where it is outdated and needed, never when it is overwritten (`no_init`) or was never written.
//! On devices that use host memory the native image is created over the host's rows, if the driver supports that, and
//! nothing is copied. Ranges and ids are those of SYCL's buffers: the last dimension is the fastest.
//!
//! Not supported: image arrays, mipmaps, packed channel types.

use std::marker::PhantomData;
use std::sync::Arc;

use sycl_graph::{Access, Grid};

mod access;
mod format;
mod in_kernel;
pub(crate) mod native;
mod sampler;

pub use access::{
    HostImageAccessor, HostImageView, HostSampledImageAccessor, HostTaskImageAccessor,
    ImageAccessor, ImageView,
};
pub use format::{ChannelOrder, ChannelType, ImageFormat, Texel, TexelKind};
pub use in_kernel::{HostImage, KernelTexel, ReadImage, WriteImage};
pub use sampler::{Addressing, Filtering, Sampler};

pub(crate) use format::check_kind;

use crate::accessor::Mode;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::range::{DeviceData, Dim, Range, SupportedDim, extents};
use crate::storage::BufferCore;
use crate::transfer::bring_to_host;
use native::Shape;

/// An image that kernels read and write texel by texel. Cheap to clone; the clones are one image.
///
/// `'h` is the borrow of the final data's receiver, as a buffer's.
pub struct UnsampledImage<'h, const D: usize>
where
    Dim<D>: SupportedDim,
{
    handle: Arc<Handle>,
    format: ImageFormat,
    range: Range<D>,
    grid: Grid,
    borrow: PhantomData<&'h mut ()>,
}

/// An image that kernels only read, at coordinates that a sampler resolves. Cheap to clone.
pub struct SampledImage<const D: usize>
where
    Dim<D>: SupportedDim,
{
    image: UnsampledImage<'static, D>,
    sampler: Sampler,
}

impl<const D: usize> Clone for UnsampledImage<'_, D>
where
    Dim<D>: SupportedDim,
{
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
            ..*self
        }
    }
}
impl<const D: usize> Clone for SampledImage<D>
where
    Dim<D>: SupportedDim,
{
    fn clone(&self) -> Self {
        Self {
            image: self.image.clone(),
            sampler: self.sampler,
        }
    }
}

impl<const D: usize> std::fmt::Debug for UnsampledImage<'_, D>
where
    Dim<D>: SupportedDim,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "UnsampledImage(#{}, {:?}, {:?})",
            self.handle.core.number, self.format, self.range.0
        )
    }
}
impl<const D: usize> std::fmt::Debug for SampledImage<D>
where
    Dim<D>: SupportedDim,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "SampledImage(#{}, {:?}, {:?}, {:?})",
            self.image.handle.core.number, self.image.format, self.image.range.0, self.sampler
        )
    }
}

/// The origin and purpose of an image.
#[derive(Clone, Copy)]
struct Origin {
    /// Address of the program's data, or 0.
    host: usize,
    sampler: Option<Sampler>,
    bound: bool,
}

impl Origin {
    fn of(host: usize) -> Self {
        Self {
            host,
            sampler: None,
            bound: false,
        }
    }
}

impl<const D: usize> UnsampledImage<'static, D>
where
    Dim<D>: SupportedDim,
{
    /// Creates an image without contents. Allocates and copies nothing before the first use.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for an empty range or one beyond the address space;
    /// [`crate::Errc::FeatureNotSupported`] for packed channel types.
    #[track_caller]
    pub fn new(format: ImageFormat, range: impl Into<Range<D>>) -> Result<Self> {
        Self::create(format, range.into(), Origin::of(0))
    }

    /// Creates an image with a copy of the given contents, made now in host memory: contiguous texels, as elements of
    /// any type.
    ///
    /// # Errors
    /// As [`Self::new`]; [`crate::Errc::Invalid`] if the size in bytes does not match;
    /// [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn from_slice<T: DeviceData>(
        data: &[T],
        format: ImageFormat,
        range: impl Into<Range<D>>,
    ) -> Result<Self> {
        let image = Self::create(format, range.into(), Origin::of(data.as_ptr().addr()))?;
        image.fill_from(bytes_of(data))?;
        Ok(image)
    }

    /// As [`Self::from_slice`], with rows `pitch[0]` and planes `pitch[1]` bytes apart.
    ///
    /// # Errors
    /// As [`Self::from_slice`]; [`crate::Errc::Invalid`] also for pitches smaller than a row or plane.
    #[track_caller]
    pub fn from_slice_pitched<T: DeviceData>(
        data: &[T],
        format: ImageFormat,
        range: impl Into<Range<D>>,
        pitch: [usize; 2],
    ) -> Result<Self> {
        let image = Self::create(format, range.into(), Origin::of(data.as_ptr().addr()))?;
        let tight = image.tighten(bytes_of(data), pitch)?;
        image.fill_from(&tight)?;
        Ok(image)
    }

    /// Wraps the program's native image with its contents.
    #[track_caller]
    pub(crate) fn bound(format: ImageFormat, range: Range<D>) -> Result<Self> {
        let origin = Origin {
            bound: true,
            ..Origin::of(0)
        };
        Self::create(format, range, origin)
    }
}

/// The elements' bytes.
fn bytes_of<T: DeviceData>(data: &[T]) -> &[u8] {
    // SAFETY: every byte of a `DeviceData` value is initialised.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

impl<'h, const D: usize> UnsampledImage<'h, D>
where
    Dim<D>: SupportedDim,
{
    #[track_caller]
    fn create(format: ImageFormat, range: Range<D>, origin: Origin) -> Result<Self> {
        format.check()?;
        let extents = extents(range.0);
        if extents.contains(&0) {
            return Err(Error::invalid(format!(
                "an image of {:?} has no texels",
                range.0
            )));
        }
        let texel = format.texel_bytes();
        // One page, because native images are copied as a whole.
        let grid = Grid::new(extents, texel, Some(extents))?;
        let shape = Shape {
            format,
            dimensions: D,
            extents,
            writable: origin.sampler.is_none(),
            bound: origin.bound,
        };
        let core = BufferCore::new(grid, 64, Some(shape));
        let site = crate::trace::Site::here();
        crate::trace::image_made(
            site,
            core.number,
            origin.host,
            &range.0,
            format,
            origin.sampler,
        );
        Ok(Self {
            handle: Handle::new(core),
            format,
            range,
            grid,
            borrow: PhantomData,
        })
    }

    fn fill_from(&self, data: &[u8]) -> Result<()> {
        if data.len() != self.byte_count() {
            return Err(Error::invalid(format!(
                "got {} bytes for an image of {:?} texels of {} bytes",
                data.len(),
                self.range.0,
                self.format.texel_bytes()
            )));
        }
        let mut state = self.handle.core.lock();
        let pointer = state.host_memory()?;
        // SAFETY: the allocation has room for all texels, and no other thread knows it yet.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), pointer, data.len()) };
        state.graph.adopt(sycl_graph::Domain::HOST);
        Ok(())
    }

    /// Copies rows with gaps to contiguous texels.
    fn tighten(&self, data: &[u8], [row_pitch, plane_pitch]: [usize; 2]) -> Result<Vec<u8>> {
        let [depth, height, width] = extents(self.range.0);
        let row = width * self.format.texel_bytes();
        let plane_least = row_pitch.checked_mul(height);
        if row_pitch < row || depth > 1 && plane_least.is_none_or(|least| plane_pitch < least) {
            return Err(Error::invalid(format!(
                "pitches of {row_pitch} and {plane_pitch} bytes are smaller than a row of {row} bytes or a plane of {height} rows"
            )));
        }
        let mut tight = Vec::with_capacity(self.byte_count());
        for plane in 0..depth {
            for line in 0..height {
                let first = plane
                    .checked_mul(plane_pitch)
                    .and_then(|at| at.checked_add(line * row_pitch));
                let bytes = first.and_then(|first| data.get(first..first.checked_add(row)?));
                let Some(bytes) = bytes else {
                    return Err(Error::invalid(format!(
                        "the data of {} bytes ends before row {line} of plane {plane}",
                        data.len()
                    )));
                };
                tight.extend_from_slice(bytes);
            }
        }
        Ok(tight)
    }

    /// Creates an image with a copy of the given contents. Dropping the last handle waits for all work on the image and
    /// copies the contents back.
    ///
    /// # Errors
    /// As [`UnsampledImage::from_slice`].
    #[track_caller]
    pub fn from_slice_mut<T: DeviceData>(
        data: &'h mut [T],
        format: ImageFormat,
        range: impl Into<Range<D>>,
    ) -> Result<Self> {
        let image = Self::create(format, range.into(), Origin::of(data.as_ptr().addr()))?;
        image.fill_from(bytes_of(data))?;
        image.set_final_data(move |contents| {
            let count = size_of_val(data);
            // SAFETY: `create` has checked that both sides have the same number of bytes, and any bits are a `T`.
            unsafe {
                std::ptr::copy_nonoverlapping(contents.as_ptr(), data.as_mut_ptr().cast(), count);
            }
        });
        Ok(image)
    }

    /// Sets the receiver of the final contents in bytes, replacing an earlier one. Dropping the last handle then waits
    /// for all work on the image.
    pub fn set_final_data(&self, receive: impl FnOnce(&[u8]) + Send + 'h) {
        let count = self.byte_count();
        let receive = move |contents: *const u8| {
            // SAFETY: the handle's end passes the host's whole allocation, after the last write.
            receive(unsafe { std::slice::from_raw_parts(contents, count) });
        };
        // SAFETY: `'h` outlives the type of every handle.
        unsafe { self.handle.set_final_data(Box::new(receive)) };
    }

    /// Sets whether the contents are copied back at the end. The default is `true`.
    pub fn set_write_back(&self, on: bool) {
        self.handle.set_write_back(on);
    }

    /// Returns the range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.range
    }

    /// Returns the texels' format.
    #[must_use]
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Returns the bytes of all texels.
    #[must_use]
    pub fn byte_count(&self) -> usize {
        self.grid.bytes()
    }

    /// Accesses the texels on the host, as `[f32; 4]`, `[i32; 4]` or `[u32; 4]` by the format. Waits for conflicting
    /// work; later conflicting work waits until the accessor is dropped.
    ///
    /// # Errors
    /// [`crate::Errc::Invalid`] for another texel type, an image made from a handle, or if this thread holds a
    /// conflicting host accessor (it would deadlock); failures of the work it waits for;
    /// [`crate::Errc::MemoryAllocation`].
    #[track_caller]
    pub fn host_access<P: Texel, M: Mode>(
        &self,
        _mode: M,
    ) -> Result<HostImageAccessor<'_, P, D, M>> {
        check_kind::<P>(self.format)?;
        let core = &self.handle.core;
        let accesses = [self.whole(M::MODE)];
        let site = crate::trace::Site::here();
        let element = (std::any::type_name::<P>(), size_of::<P>());
        crate::trace::image_accessor(site, core.number, 0, None, Some(M::MODE), element);
        let lock = {
            let mut state = core.lock();
            let state = &mut *state;
            let grid = state.graph.grid();
            state.history.locked(core.number, grid, &accesses, site)
        };
        let (pointer, pending) = lock.task(|| bring_to_host(core, &accesses))?;
        Ok(HostImageAccessor::new(
            pointer,
            self.byte_count(),
            self.format,
            self.range,
            pending,
            (Arc::clone(core), lock),
        ))
    }

    /// Returns a copy of the contiguous texels, after waiting for the work that writes them.
    ///
    /// # Errors
    /// As [`Self::host_access`]; [`crate::Errc::Invalid`] also if they are not a whole number of elements.
    #[track_caller]
    pub fn into_vec<T: DeviceData>(self) -> Result<Vec<T>> {
        let bytes = self.byte_count();
        if !bytes.is_multiple_of(size_of::<T>().max(1)) || size_of::<T>() == 0 {
            return Err(Error::invalid(format!(
                "the image's {bytes} bytes are not a multiple of the element size, {}",
                size_of::<T>()
            )));
        }
        let accesses = [self.whole(sycl_graph::Mode::Read)];
        let (pointer, pending) = bring_to_host(&self.handle.core, &accesses)?;
        let mut elements = Vec::<T>::with_capacity(bytes / size_of::<T>());
        // SAFETY: the host's allocation has this many bytes, the vector room for them, and any bits are a `T`.
        unsafe {
            std::ptr::copy_nonoverlapping(pointer, elements.as_mut_ptr().cast(), bytes);
            elements.set_len(bytes / size_of::<T>());
        }
        pending.done();
        Ok(elements)
    }

    pub(crate) fn whole(&self, mode: sycl_graph::Mode) -> Access {
        Access::whole(&self.grid, mode)
    }

    pub(crate) fn core(&self) -> &Arc<BufferCore> {
        &self.handle.core
    }
}

impl<const D: usize> SampledImage<D>
where
    Dim<D>: SupportedDim,
{
    /// Creates an image with a copy of the given contents, read with `sampler`.
    ///
    /// # Errors
    /// As [`UnsampledImage::from_slice`]; [`crate::Errc::Invalid`] also for a sampler that repeats unnormalised
    /// coordinates or filters integers.
    #[track_caller]
    pub fn from_slice<T: DeviceData>(
        data: &[T],
        format: ImageFormat,
        sampler: Sampler,
        range: impl Into<Range<D>>,
    ) -> Result<Self> {
        let image = Self::create(data, format, sampler, range.into())?;
        image.image.fill_from(bytes_of(data))?;
        Ok(image)
    }

    /// As [`Self::from_slice`], with rows `pitch[0]` and planes `pitch[1]` bytes apart.
    ///
    /// # Errors
    /// As [`Self::from_slice`] and [`UnsampledImage::from_slice_pitched`].
    #[track_caller]
    pub fn from_slice_pitched<T: DeviceData>(
        data: &[T],
        format: ImageFormat,
        sampler: Sampler,
        range: impl Into<Range<D>>,
        pitch: [usize; 2],
    ) -> Result<Self> {
        let image = Self::create(data, format, sampler, range.into())?;
        let tight = image.image.tighten(bytes_of(data), pitch)?;
        image.image.fill_from(&tight)?;
        Ok(image)
    }

    #[track_caller]
    fn create<T>(
        data: &[T],
        format: ImageFormat,
        sampler: Sampler,
        range: Range<D>,
    ) -> Result<Self> {
        sampler.check_for(format)?;
        let origin = Origin {
            sampler: Some(sampler),
            ..Origin::of(data.as_ptr().addr())
        };
        Ok(Self {
            image: UnsampledImage::create(format, range, origin)?,
            sampler,
        })
    }

    /// Returns the range in texels.
    #[must_use]
    pub fn range(&self) -> Range<D> {
        self.image.range
    }

    /// Returns the texels' format.
    #[must_use]
    pub fn format(&self) -> ImageFormat {
        self.image.format
    }

    /// Returns the sampler; also an argument of kernels.
    #[must_use]
    pub fn sampler(&self) -> Sampler {
        self.sampler
    }

    /// Accesses the texels on the host, sampled as on a device. Conflicts as for [`UnsampledImage::host_access`].
    ///
    /// # Errors
    /// As [`UnsampledImage::host_access`].
    #[track_caller]
    pub fn host_access<P: Texel>(&self) -> Result<HostSampledImageAccessor<'_, P, D>> {
        let access = self.image.host_access::<P, _>(crate::accessor::Read)?;
        Ok(HostSampledImageAccessor::new(access, self.sampler))
    }

    pub(crate) fn unsampled(&self) -> &UnsampledImage<'static, D> {
        &self.image
    }
}
