//! Images as parameters of kernels in Rust, and on the host the texels behind them.

use std::sync::{Arc, PoisonError, RwLock};

use kernel_builder::vectors::{f32x4, i32x4, u32x4};
use kernel_builder::{KernelType, Operand, Stage, Staged, Type};

use super::access::ImageAccessor;
use super::format::{ImageFormat, Texel};
use super::sampler::Sampler;
use crate::accessor::{Mode, Writes};
use crate::arguments::ArgSink;
use crate::kernel::{Argument, Value};
use crate::kernel_args::KernelArg;
use crate::range::{coordinates, extents};

/// The types that kernels read and write texels as: `f32x4`, `i32x4` or `u32x4`, red first.
#[diagnostic::on_unimplemented(
    message = "kernels have no texels of `{Self}`",
    note = "use f32x4, i32x4 or u32x4, as the image's format has floating-point numbers, integers, or integers without a sign"
)]
pub trait KernelTexel: KernelType + Copy {
    #[doc(hidden)]
    type Channels: Texel;
    #[doc(hidden)]
    fn of(channels: Self::Channels) -> Self;
    #[doc(hidden)]
    fn channels(self) -> Self::Channels;
}
macro_rules! texels {
    ($($vector:ident $number:ident)*) => { $(
        impl KernelTexel for $vector {
            type Channels = [$number; 4];
            fn of(channels: [$number; 4]) -> Self {
                Self::from_array(channels)
            }
            fn channels(self) -> [$number; 4] {
                self.to_array()
            }
        }
    )* };
}
texels!(f32x4 f32 i32x4 i32 u32x4 u32);

/// Texels on the host, for calls of kernels there. Clones are one image.
///
/// ```
/// use sycl::{HostImage, ImageFormat, f32x4};
/// let image = HostImage::new(ImageFormat::R32G32B32A32_SFLOAT, [2, 3]);
/// image.writer::<f32x4>().write([1, 2], f32x4::splat(0.5));
/// assert_eq!(image.reader::<f32x4>().read([1, 2]), f32x4::splat(0.5));
/// ```
#[derive(Clone, Debug)]
pub struct HostImage<const D: usize> {
    format: ImageFormat,
    range: [usize; D],
    rows: Arc<RwLock<Vec<u8>>>,
}

impl<const D: usize> HostImage<D> {
    /// Creates an image whose bytes are zero.
    #[must_use]
    pub fn new(format: ImageFormat, range: [usize; D]) -> Self {
        let texels: usize = range.iter().product();
        Self {
            format,
            range,
            rows: Arc::new(RwLock::new(vec![0; texels * format.texel_bytes()])),
        }
    }

    /// Returns the image for a kernel that reads it.
    #[must_use]
    pub fn reader<T: KernelTexel>(&self) -> ReadImage<T, D> {
        ReadImage {
            image: Some(self.clone()),
            texel: std::marker::PhantomData,
        }
    }

    /// Returns the image for a kernel that writes it.
    #[must_use]
    pub fn writer<T: KernelTexel>(&self) -> WriteImage<T, D> {
        WriteImage {
            image: Some(self.clone()),
            texel: std::marker::PhantomData,
        }
    }

    /// The bytes of a texel.
    ///
    /// # Panics
    /// If the position is outside of the image.
    fn place(&self, at: [usize; D]) -> std::ops::Range<usize> {
        let (place, range) = (coordinates(at), extents(self.range));
        assert!(
            (0..3).all(|axis| place[axis] < range[axis]),
            "position {at:?} is outside of the image's range {:?}",
            self.range
        );
        let size = self.format.texel_bytes();
        let first = ((place[0] * range[1] + place[1]) * range[2] + place[2]) * size;
        first..first + size
    }
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident $writes:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<T, const D: usize> {
            /// Nothing while a kernel is staged.
            image: Option<HostImage<D>>,
            texel: std::marker::PhantomData<fn() -> T>,
        }

        impl<T: KernelTexel, const D: usize> KernelType for $name<T, D> {
            type Plain = Self;
            fn describe() -> Type {
                Type::Image {
                    dimensions: D as u32,
                    writes: $writes,
                }
            }
            fn example() -> Self {
                Self {
                    image: None,
                    texel: std::marker::PhantomData,
                }
            }
        }

        impl<T: KernelTexel, const D: usize> $name<T, D> {
            /// Returns the image's range in texels.
            #[must_use]
            pub fn range(&self) -> [usize; D] {
                self.image.as_ref().map_or([0; D], |image| image.range)
            }
            #[doc(hidden)]
            pub fn __stage_range(&self) -> impl Fn(&Stage, Operand) -> Staged<[usize; D]> + Copy + use<T, D> {
                |stage, image| stage.image_range(image)
            }
        }
    )* };
}
parameters! {
    /// An image that a kernel reads: a parameter, whose argument is `&accessor`.
    ReadImage false;
    /// An image that a kernel writes: a parameter, whose argument is `&accessor` of a mode that writes.
    WriteImage true;
}

/// Why there are no texels.
const STAGED: &str = "an image without texels: `HostImage` has some";

impl<T: KernelTexel, const D: usize> ReadImage<T, D> {
    /// Returns a texel; zeros outside of the image.
    ///
    /// # Panics
    /// On the host, outside of the image.
    #[must_use]
    pub fn read(&self, at: [usize; D]) -> T {
        let Some(image) = &self.image else {
            panic!("{STAGED}");
        };
        let rows = image.rows.read().unwrap_or_else(PoisonError::into_inner);
        T::of(image.format.decode(&rows[image.place(at)]))
    }

    /// Returns a sample at a coordinate, whose last component runs along a row.
    #[must_use]
    pub fn sample(&self, sampler: Sampler, at: [f32; D]) -> T {
        let Some(image) = &self.image else {
            panic!("{STAGED}");
        };
        let rows = image.rows.read().unwrap_or_else(PoisonError::into_inner);
        let mut to_x_first = [0.0; 3];
        for (to, from) in to_x_first.iter_mut().zip(at.iter().rev()) {
            *to = *from;
        }
        let [depth, height, width] = extents(image.range);
        let size = [width, height, depth];
        T::of(sampler.sample(image.format, &rows, size, D, to_x_first))
    }

    #[doc(hidden)]
    pub fn __stage_read(
        &self,
    ) -> impl Fn(&Stage, Operand, Staged<[usize; D]>) -> Staged<T> + Copy + use<T, D> {
        |stage, image, at| stage.image_read(image, at)
    }

    #[doc(hidden)]
    pub fn __stage_sample(
        &self,
    ) -> impl Fn(&Stage, Operand, Staged<Sampler>, Staged<[f32; D]>) -> Staged<T> + Copy + use<T, D>
    {
        |stage, image, sampler, at| stage.image_sample(image, sampler, at)
    }
}

impl<T: KernelTexel, const D: usize> WriteImage<T, D> {
    /// Sets a texel; outside of the image it does nothing.
    ///
    /// # Panics
    /// On the host, outside of the image.
    pub fn write(&self, at: [usize; D], texel: T) {
        let Some(image) = &self.image else {
            panic!("{STAGED}");
        };
        let mut rows = image.rows.write().unwrap_or_else(PoisonError::into_inner);
        image
            .format
            .encode(texel.channels(), &mut rows[image.place(at)]);
    }

    #[doc(hidden)]
    pub fn __stage_write(
        &self,
    ) -> impl Fn(&Stage, Operand, Staged<[usize; D]>, Staged<T>) -> Staged<()> + Copy + use<T, D>
    {
        |stage, image, at, texel| stage.image_write(image, at, texel)
    }
}

impl KernelType for Sampler {
    type Plain = Self;
    fn describe() -> Type {
        Type::Sampler
    }
    fn example() -> Self {
        Self::of_code(0)
    }
}
impl Argument for Sampler {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        to.sampler(self);
    }
}
impl Value<'_, Sampler> for Sampler {}

impl<const D: usize, M: Mode> Argument for &ImageAccessor<'_, D, M> {
    fn pass_to(self, to: &mut ArgSink<'_>) {
        self.push_one(to);
    }
}
impl<'cg, T: KernelTexel, M: Mode, const D: usize> Value<'cg, ReadImage<T, D>>
    for &ImageAccessor<'cg, D, M>
{
}
impl<'cg, T: KernelTexel, M: Writes, const D: usize> Value<'cg, WriteImage<T, D>>
    for &ImageAccessor<'cg, D, M>
{
}
