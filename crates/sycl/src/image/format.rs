//! Image formats: channels in memory, and texels as numbers.

use level_zero::sys::*;

use crate::error::{Errc, Error, Result};

/// The channels of a texel, in memory order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ChannelOrder {
    /// Alpha alone.
    A,
    /// Red.
    R,
    /// Red; outside the image alpha is 0.
    Rx,
    /// Red and green.
    Rg,
    /// Red and green, as `Rx`.
    Rgx,
    /// Red and alpha.
    Ra,
    /// Red, green and blue: of packed types only.
    Rgb,
    /// Red, green and blue, as `Rx`: of packed types only.
    Rgbx,
    /// Red, green, blue and alpha.
    Rgba,
    /// Alpha, red, green and blue.
    Argb,
    /// Blue, green, red and alpha.
    Bgra,
    /// One channel that stands for all four.
    Intensity,
    /// One channel that stands for red, green and blue.
    Luminance,
    /// Alpha, blue, green and red.
    Abgr,
}

/// The representation of a channel in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ChannelType {
    /// -1.0 to 1.0 in 8 bits.
    SnormInt8,
    /// -1.0 to 1.0 in 16 bits.
    SnormInt16,
    /// 0.0 to 1.0 in 8 bits.
    UnormInt8,
    /// 0.0 to 1.0 in 16 bits.
    UnormInt16,
    /// A signed 8-bit integer.
    SignedInt8,
    /// A signed 16-bit integer.
    SignedInt16,
    /// A signed 32-bit integer.
    SignedInt32,
    /// An unsigned 8-bit integer.
    UnsignedInt8,
    /// An unsigned 16-bit integer.
    UnsignedInt16,
    /// An unsigned 32-bit integer.
    UnsignedInt32,
    /// Half precision.
    Fp16,
    /// Single precision.
    Fp32,
}

/// The type that a texel is read as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TexelKind {
    /// `[f32; 4]`.
    Float,
    /// `[i32; 4]`.
    Signed,
    /// `[u32; 4]`.
    Unsigned,
}

impl ChannelType {
    fn bytes(self) -> usize {
        match self {
            Self::SnormInt8 | Self::UnormInt8 | Self::SignedInt8 | Self::UnsignedInt8 => 1,
            Self::SnormInt16
            | Self::UnormInt16
            | Self::SignedInt16
            | Self::UnsignedInt16
            | Self::Fp16 => 2,
            Self::SignedInt32 | Self::UnsignedInt32 | Self::Fp32 => 4,
        }
    }

    /// Returns the type that texels are read as.
    #[must_use]
    pub fn kind(self) -> TexelKind {
        match self {
            Self::SignedInt8 | Self::SignedInt16 | Self::SignedInt32 => TexelKind::Signed,
            Self::UnsignedInt8 | Self::UnsignedInt16 | Self::UnsignedInt32 => TexelKind::Unsigned,
            _ => TexelKind::Float,
        }
    }

    fn native(self) -> ze_image_format_type_t {
        match self {
            Self::SnormInt8 | Self::SnormInt16 => ZE_IMAGE_FORMAT_TYPE_SNORM,
            Self::UnormInt8 | Self::UnormInt16 => ZE_IMAGE_FORMAT_TYPE_UNORM,
            Self::Fp16 | Self::Fp32 => ZE_IMAGE_FORMAT_TYPE_FLOAT,
            _ if self.kind() == TexelKind::Signed => ZE_IMAGE_FORMAT_TYPE_SINT,
            _ => ZE_IMAGE_FORMAT_TYPE_UINT,
        }
    }
}

/// The source of a texel's red, green, blue or alpha: a channel by its position in memory, or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Channel(u8),
    Zero,
    One,
}
use Source::{Channel as C, One, Zero};

impl ChannelOrder {
    /// The number of channels in memory; `None` for orders of packed types.
    fn count(self) -> Option<usize> {
        Some(match self {
            Self::A | Self::R | Self::Rx | Self::Intensity | Self::Luminance => 1,
            Self::Rg | Self::Rgx | Self::Ra => 2,
            Self::Rgb | Self::Rgbx => return None,
            Self::Rgba | Self::Argb | Self::Bgra | Self::Abgr => 4,
        })
    }

    fn sources(self) -> [Source; 4] {
        match self {
            Self::A => [Zero, Zero, Zero, C(0)],
            Self::R | Self::Rx => [C(0), Zero, Zero, One],
            Self::Rg | Self::Rgx => [C(0), C(1), Zero, One],
            Self::Ra => [C(0), Zero, Zero, C(1)],
            Self::Rgb | Self::Rgbx => [C(0), C(1), C(2), One],
            Self::Rgba => [C(0), C(1), C(2), C(3)],
            Self::Argb => [C(1), C(2), C(3), C(0)],
            Self::Bgra => [C(2), C(1), C(0), C(3)],
            Self::Abgr => [C(3), C(2), C(1), C(0)],
            Self::Intensity => [C(0); 4],
            Self::Luminance => [C(0), C(0), C(0), One],
        }
    }
}

/// An image format: channel order and channel type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageFormat {
    /// The channels and their order.
    pub order: ChannelOrder,
    /// The representation of each channel.
    pub channel_type: ChannelType,
}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident $order:ident $ty:ident)*) => {
        /// The formats that SYCL 2020 names, in its order.
        impl ImageFormat {
            $($(#[$doc])* pub const $name: Self = Self { order: ChannelOrder::$order, channel_type: ChannelType::$ty };)*
            #[cfg(feature = "xpti")]
            const NAMED: &[Self] = &[$(Self::$name),*];
        }
    };
}
formats! {
    /// Four channels from 0.0 to 1.0, 8 bits each.
    R8G8B8A8_UNORM Rgba UnormInt8
    /// Four channels from 0.0 to 1.0, 16 bits each.
    R16G16B16A16_UNORM Rgba UnormInt16
    /// Four signed 8-bit integers.
    R8G8B8A8_SINT Rgba SignedInt8
    /// Four signed 16-bit integers.
    R16G16B16A16_SINT Rgba SignedInt16
    /// Four signed 32-bit integers.
    R32B32G32A32_SINT Rgba SignedInt32
    /// Four unsigned 8-bit integers.
    R8G8B8A8_UINT Rgba UnsignedInt8
    /// Four unsigned 16-bit integers.
    R16G16B16A16_UINT Rgba UnsignedInt16
    /// Four unsigned 32-bit integers.
    R32B32G32A32_UINT Rgba UnsignedInt32
    /// Four halves.
    R16G16B16A16_SFLOAT Rgba Fp16
    /// Four floats.
    R32G32B32A32_SFLOAT Rgba Fp32
    /// Four channels from 0.0 to 1.0, 8 bits each, blue first.
    B8G8R8A8_UNORM Bgra UnormInt8
}

impl ImageFormat {
    /// Creates a format.
    #[must_use]
    pub const fn new(order: ChannelOrder, channel_type: ChannelType) -> Self {
        Self {
            order,
            channel_type,
        }
    }

    /// Returns the bytes of a texel.
    #[must_use]
    pub fn texel_bytes(self) -> usize {
        self.order.count().unwrap_or(0) * self.channel_type.bytes()
    }

    /// The index in SYCL 2020's list; `None` for other formats.
    #[cfg(feature = "xpti")]
    pub(crate) fn number(self) -> u32 {
        let known = Self::NAMED.iter().position(|named| *named == self);
        known.map_or(u32::MAX, |at| at as u32)
    }

    /// The type that texels are read as: its name and size.
    pub(crate) fn element(self) -> (&'static str, usize) {
        let name = match self.channel_type.kind() {
            TexelKind::Float => "[f32; 4]",
            TexelKind::Signed => "[i32; 4]",
            TexelKind::Unsigned => "[u32; 4]",
        };
        (name, 16)
    }

    /// # Errors
    /// [`Errc::FeatureNotSupported`] for an order of packed types.
    pub(crate) fn check(self) -> Result<()> {
        if self.order.count().is_none() {
            return Err(Error::new(
                Errc::FeatureNotSupported,
                format!(
                    "channel order {:?} requires a packed channel type, but {:?} is not packed",
                    self.order, self.channel_type
                ),
            ));
        }
        Ok(())
    }

    /// Converts to Level Zero's description.
    pub(crate) fn native(self) -> Result<ze_image_format_t> {
        self.check()?;
        let channels = self.order.count().unwrap_or(1);
        let layout = match (self.channel_type.bytes(), channels) {
            (1, 1) => ZE_IMAGE_FORMAT_LAYOUT_8,
            (1, 2) => ZE_IMAGE_FORMAT_LAYOUT_8_8,
            (1, _) => ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
            (2, 1) => ZE_IMAGE_FORMAT_LAYOUT_16,
            (2, 2) => ZE_IMAGE_FORMAT_LAYOUT_16_16,
            (2, _) => ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16,
            (_, 1) => ZE_IMAGE_FORMAT_LAYOUT_32,
            (_, 2) => ZE_IMAGE_FORMAT_LAYOUT_32_32,
            _ => ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32,
        };
        let [x, y, z, w] = self.order.sources().map(|from| match from {
            C(0) => ZE_IMAGE_FORMAT_SWIZZLE_R,
            C(1) => ZE_IMAGE_FORMAT_SWIZZLE_G,
            C(2) => ZE_IMAGE_FORMAT_SWIZZLE_B,
            C(_) => ZE_IMAGE_FORMAT_SWIZZLE_A,
            Zero => ZE_IMAGE_FORMAT_SWIZZLE_0,
            One => ZE_IMAGE_FORMAT_SWIZZLE_1,
        });
        Ok(ze_image_format_t {
            layout,
            r#type: self.channel_type.native(),
            x,
            y,
            z,
            w,
        })
    }

    /// Reads a texel's red, green, blue and alpha.
    pub(crate) fn decode<P: Texel>(self, bytes: &[u8]) -> P {
        let size = self.channel_type.bytes();
        let channel = |number: u8| {
            let first = usize::from(number) * size;
            self.channel_type.get(&bytes[first..first + size])
        };
        P::of(self.order.sources().map(|from| match from {
            C(number) => channel(number),
            Zero => 0.0,
            One => 1.0,
        }))
    }

    /// The border colour of [`crate::Addressing::Clamp`].
    pub(crate) fn border<P: Texel>(self) -> P {
        // As in OpenCL: transparent if the order has alpha or an x, else opaque.
        let opaque = matches!(
            self.order,
            ChannelOrder::R | ChannelOrder::Rg | ChannelOrder::Luminance
        );
        P::of([0.0, 0.0, 0.0, if opaque { 1.0 } else { 0.0 }])
    }

    pub(crate) fn encode<P: Texel>(self, texel: P, bytes: &mut [u8]) {
        let size = self.channel_type.bytes();
        let values = texel.channels();
        let sources = self.order.sources();
        // If an order has a channel more than once, the first counts.
        for (from, value) in sources.into_iter().zip(values).rev() {
            if let C(number) = from {
                let first = usize::from(number) * size;
                self.channel_type
                    .put(value, &mut bytes[first..first + size]);
            }
        }
    }
}

impl ChannelType {
    /// Reads a channel. All values are exact in a double.
    fn get(self, bytes: &[u8]) -> f64 {
        let mut all = [0u8; 4];
        all[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u32::from_ne_bytes(all);
        let signed = match self.bytes() {
            1 => i32::from(unsigned as u8 as i8),
            2 => i32::from(unsigned as u16 as i16),
            _ => unsigned.cast_signed(),
        };
        let norm = |most: f64| f64::from((f64::from(signed) / most).max(-1.0) as f32);
        match self {
            Self::SnormInt8 => norm(127.0),
            Self::SnormInt16 => norm(32767.0),
            Self::UnormInt8 => f64::from((f64::from(unsigned) / 255.0) as f32),
            Self::UnormInt16 => f64::from((f64::from(unsigned) / 65535.0) as f32),
            Self::SignedInt8 | Self::SignedInt16 | Self::SignedInt32 => f64::from(signed),
            Self::UnsignedInt8 | Self::UnsignedInt16 | Self::UnsignedInt32 => f64::from(unsigned),
            Self::Fp16 => half_to_double(unsigned as u16),
            Self::Fp32 => f64::from(f32::from_bits(unsigned)),
        }
    }

    /// Writes a value, saturated to the channel's range and rounded to nearest even.
    fn put(self, value: f64, bytes: &mut [u8]) {
        let fixed = |least: f64, most: f64, scale: f64| -> u32 {
            let scaled = (value * scale).clamp(least, most);
            // NaN becomes 0.
            scaled.round_ties_even() as i64 as u32
        };
        let bits = match self {
            Self::SnormInt8 => fixed(-127.0, 127.0, 127.0),
            Self::SnormInt16 => fixed(-32767.0, 32767.0, 32767.0),
            Self::UnormInt8 => fixed(0.0, 255.0, 255.0),
            Self::UnormInt16 => fixed(0.0, 65535.0, 65535.0),
            Self::SignedInt8 => fixed(-128.0, 127.0, 1.0),
            Self::SignedInt16 => fixed(-32768.0, 32767.0, 1.0),
            Self::SignedInt32 => fixed(f64::from(i32::MIN), f64::from(i32::MAX), 1.0),
            Self::UnsignedInt8 => fixed(0.0, 255.0, 1.0),
            Self::UnsignedInt16 => fixed(0.0, 65535.0, 1.0),
            Self::UnsignedInt32 => fixed(0.0, f64::from(u32::MAX), 1.0),
            Self::Fp16 => u32::from(double_to_half(value)),
            Self::Fp32 => (value as f32).to_bits(),
        };
        let all = bits.to_ne_bytes();
        bytes.copy_from_slice(&all[..bytes.len()]);
    }
}

fn half_to_double(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// Rounds to nearest even.
fn double_to_half(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    // Halfway between the largest half and the next power of two.
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let exponent = exponent.max(-14);
    // In units of the last place; 1024 of them carry into the exponent, which is correct.
    let units = (size * 2f64.powi(10 - exponent)).round_ties_even() as u16;
    let biased = (exponent + 15) as u16;
    sign | match units {
        0..1024 => units,
        _ => (biased << 10) + (units - 1024),
    }
}

/// The types that texels are read and written as: `[f32; 4]`, `[i32; 4]` or `[u32; 4]`, red first.
pub trait Texel: Copy + Send + sealed::Sealed + 'static {
    /// The kind of texel.
    const KIND: TexelKind;
    /// For the runtime.
    #[doc(hidden)]
    fn of(channels: [f64; 4]) -> Self;
    /// For the runtime.
    #[doc(hidden)]
    fn channels(self) -> [f64; 4];
}
mod sealed {
    pub trait Sealed {}
}
macro_rules! texels {
    ($($number:ty as $kind:ident)*) => { $(
        impl sealed::Sealed for [$number; 4] {}
        impl Texel for [$number; 4] {
            const KIND: TexelKind = TexelKind::$kind;
            fn of(channels: [f64; 4]) -> Self {
                channels.map(|channel| channel as $number)
            }
            fn channels(self) -> [f64; 4] {
                self.map(f64::from)
            }
        }
    )* };
}
texels!(f32 as Float i32 as Signed u32 as Unsigned);

/// # Errors
/// [`Errc::Invalid`] if texels of the format are read as another type.
pub(crate) fn check_kind<P: Texel>(format: ImageFormat) -> Result<()> {
    if P::KIND != format.channel_type.kind() {
        return Err(Error::invalid(format!(
            "texels of type {:?} are read and written as {:?}, not as {:?}",
            format.channel_type,
            format.channel_type.kind(),
            P::KIND
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_round_trip_and_other_values_round_to_nearest() {
        for bits in 0..=u16::MAX {
            let value = half_to_double(bits);
            if !value.is_nan() {
                assert_eq!(double_to_half(value), bits, "{value}");
            }
        }
        for (value, bits) in [
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (2f64.powi(-25), 0),
            (1.5 * 2f64.powi(-24), 2),
            (-0.0, 0x8000),
        ] {
            assert_eq!(double_to_half(value), bits, "{value}");
        }
    }

    #[test]
    fn channel_order_decides_the_memory_layout() {
        let texel = [0.0f32, 0.2, 0.4, 0.6];
        for (order, bytes) in [
            (ChannelOrder::Rgba, &[0u8, 51, 102, 153][..]),
            (ChannelOrder::Bgra, &[102, 51, 0, 153]),
            (ChannelOrder::Argb, &[153, 0, 51, 102]),
            (ChannelOrder::Abgr, &[153, 102, 51, 0]),
            (ChannelOrder::Rg, &[0, 51]),
            (ChannelOrder::Ra, &[0, 153]),
            (ChannelOrder::A, &[153]),
            (ChannelOrder::Luminance, &[0]),
        ] {
            let format = ImageFormat::new(order, ChannelType::UnormInt8);
            let mut got = vec![0; format.texel_bytes()];
            format.encode(texel, &mut got);
            assert_eq!(got, bytes, "{order:?}");
            let back: [f32; 4] = format.decode(&got);
            for (from, (value, was)) in order.sources().into_iter().zip(back.iter().zip(texel)) {
                let want = match from {
                    C(_) if order == ChannelOrder::Luminance => 0.0,
                    C(_) => was,
                    Zero => 0.0,
                    One => 1.0,
                };
                assert_eq!(*value, want, "{order:?}");
            }
        }
    }

    #[test]
    fn numbers_are_saturated_and_rounded() {
        let round = |ty: ChannelType, value: f64| {
            let mut bytes = vec![0; ty.bytes()];
            ty.put(value, &mut bytes);
            ty.get(&bytes)
        };
        for (ty, value, want) in [
            (ChannelType::UnormInt8, 2.0, 1.0),
            (ChannelType::UnormInt8, f64::NAN, 0.0),
            (ChannelType::SnormInt8, -3.0, -1.0),
            (ChannelType::SignedInt8, 200.0, 127.0),
            (ChannelType::SignedInt16, -40000.0, -32768.0),
            (ChannelType::UnsignedInt16, -1.0, 0.0),
            (
                ChannelType::UnsignedInt32,
                4294967295.0,
                f64::from(u32::MAX),
            ),
            (ChannelType::SignedInt32, -2147483648.0, -2147483648.0),
            (ChannelType::Fp16, 0.1, 0.0999755859375),
            (ChannelType::Fp32, 0.1, 0.10000000149011612),
        ] {
            assert_eq!(round(ty, value), want, "{ty:?} of {value}");
        }
        let lowest = ChannelType::SnormInt8.get(&[0x80]);
        assert_eq!(lowest, -1.0, "the lowest integer is -1.0 too");
    }
}
