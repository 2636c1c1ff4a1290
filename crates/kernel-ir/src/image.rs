//! Images as kernels see them: a record in memory that describes the layout and format of the texels, and routines that
//! read, write and sample any image, written once in the IR (`image/routines.ir`).
//!
//! An image argument is the address of a record, a sampler argument is its word ([`sampler_word`]). The front end turns
//! image instructions into calls of the routines, which are inlined like any function, so back ends know nothing of
//! images.

use crate::ir::Module;
use std::sync::OnceLock;

/// Bytes of a record; its address is a multiple of 16.
pub const RECORD_SIZE: usize = 272;

/// Byte offsets in a record, for instructions that read a field directly.
pub(crate) mod record_offset {
    pub(crate) const WIDTH: i64 = 8;
    pub(crate) const HEIGHT: i64 = 12;
    pub(crate) const DEPTH: i64 = 16;
    pub(crate) const ORDER: i64 = 240;
    pub(crate) const DATA_TYPE: i64 = 244;
    pub(crate) const SAMPLER: i64 = 248;
}

/// The number format of a texel's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numeric {
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// 0 to 1 in even steps.
    Unorm,
    /// -1 to 1 in even steps.
    Snorm,
    /// Floats of 32, 16, or unsigned ones of 11 and 10 bits; a channel of 2 bits beside such is `Unorm`.
    Float,
}

/// The bits of one channel in a texel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// First bit, from the lowest of the first byte.
    pub shift: u8,
    /// At most 32, and within one aligned group of 32 bits; 0 for a missing channel.
    pub bits: u8,
}

/// The source of a component that a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// A channel of the texel, 0 to 3.
    Channel(u8),
    /// 0.
    Zero,
    /// 1.
    One,
}

/// The properties of an image that kernels need.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// Address of the first texel.
    pub base: u64,
    /// Width, height, and depth or layers, in texels; 1 where a dimension is not there.
    pub extent: [u32; 3],
    /// Bytes of a texel: 1, 2, 3, 4, 6, 8, 12 or 16.
    pub texel: u32,
    /// Bytes from a row to the next.
    pub row_pitch: u64,
    /// Bytes from a slice or layer to the next.
    pub slice_pitch: u64,
    /// Number format of the channels.
    pub numeric: Numeric,
    /// Channels in memory order.
    pub channels: [Channel; 4],
    /// Source of each component that a kernel reads. A channel is written from the first component that has it as its
    /// source.
    pub select: [Select; 4],
    /// Alpha of the border is 1: the image has no alpha of its own.
    pub opaque_border: bool,
    /// SPIR-V's Image Channel Order.
    pub order: u32,
    /// SPIR-V's Image Channel Data Type.
    pub data_type: u32,
    /// The sampler word of a combined image and sampler handle.
    pub sampler: u64,
}

impl Record {
    /// The record's number for the format. Common formats have their own, for code without shifts and masks. An odd number
    /// makes reads as integers sign-extend.
    fn code(&self) -> u32 {
        use Select::{Channel, One, Zero};
        let whole = [Channel(0), Channel(1), Channel(2), Channel(3)];
        let red = [Channel(0), Zero, Zero, One];
        // Number format, components, channels and their bits.
        let common = [
            (8, Numeric::Float, red, 1, 32),
            (10, Numeric::Float, whole, 4, 32),
            (12, Numeric::Float, whole, 4, 16),
            (14, Numeric::Unorm, whole, 4, 8),
        ];
        let is = |&(_, numeric, select, count, bits): &(u32, Numeric, [Select; 4], u8, u8)| {
            let in_order = |(at, c): (u8, &self::Channel)| (c.shift, c.bits) == (bits * at, bits);
            (self.numeric, self.select) == (numeric, select)
                && self.texel == u32::from(count * bits / 8)
                && (0..count).zip(&self.channels).all(in_order)
        };
        if let Some((code, ..)) = common.iter().find(|row| is(row)) {
            return *code;
        }
        let widths = self.channels.map(|channel| channel.bits);
        match self.numeric {
            Numeric::Uint => 0,
            Numeric::Sint => 1,
            Numeric::Unorm => 2,
            Numeric::Snorm => 3,
            Numeric::Float if widths.contains(&32) => 4,
            Numeric::Float if widths.contains(&16) => 5,
            Numeric::Float if widths.contains(&2) => 7,
            Numeric::Float => 6,
        }
    }

    /// Scale from a normalised number to the channel's integer.
    fn scale(&self, bits: u8) -> f32 {
        let unsigned = match self.numeric {
            Numeric::Unorm => true,
            Numeric::Snorm => false,
            Numeric::Float if bits == 2 => true,
            _ => return 1.0,
        };
        let steps = u32::from(bits) - u32::from(!unsigned && bits > 0);
        ((1u64 << steps) - 1).max(1) as f32
    }

    /// Least and greatest integer of a channel, as 32 bits.
    fn range(&self, bits: u8) -> (u32, u32) {
        let mask = low_mask(bits);
        match self.numeric {
            Numeric::Sint | Numeric::Snorm => (!(mask >> 1), mask >> 1),
            _ => (0, mask),
        }
    }

    /// The record's bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; RECORD_SIZE] {
        let mut out = [0; RECORD_SIZE];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(slot) = out.get_mut(at..at + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
        };
        put(0, &self.base.to_le_bytes());
        for (i, size) in self.extent.iter().enumerate() {
            put(8 + 4 * i, &size.to_le_bytes());
        }
        put(20, &self.texel.to_le_bytes());
        put(24, &self.row_pitch.to_le_bytes());
        put(32, &self.slice_pitch.to_le_bytes());
        put(40, &self.code().to_le_bytes());
        put(44, &u32::from(self.opaque_border).to_le_bytes());
        // A float of 10 or 11 bits has the upper bits of a half without the sign.
        let half = |bits: u8| match bits {
            10 | 11 if self.numeric == Numeric::Float => u32::from(15 - bits),
            _ => 0,
        };
        for i in 0..4 {
            let at = 4 * i;
            let mut channel = Channel::default();
            let mut constant = 0u32;
            match self.select[i] {
                Select::Channel(c) => {
                    channel = self
                        .channels
                        .get(usize::from(c))
                        .copied()
                        .unwrap_or_default();
                }
                Select::Zero => {}
                Select::One => constant = 1,
            }
            put(48 + at, &u32::from(channel.shift).to_le_bytes());
            put(64 + at, &low_mask(channel.bits).to_le_bytes());
            let spare = if channel.bits == 0 {
                0
            } else {
                32 - u32::from(channel.bits.min(32))
            };
            put(80 + at, &spare.to_le_bytes());
            put(96 + at, &constant.to_le_bytes());
            let (high, low) = reciprocal(self.scale(channel.bits));
            put(112 + at, &high.to_le_bytes());
            put(256 + at, &low.to_le_bytes());
            put(128 + at, &half(channel.bits).to_le_bytes());
            let first = self
                .select
                .iter()
                .position(|select| *select == self.select[i])
                == Some(i);
            let target = if first { channel } else { Channel::default() };
            let (low, high) = self.range(target.bits);
            put(144 + at, &u32::from(target.shift).to_le_bytes());
            put(160 + at, &low_mask(target.bits).to_le_bytes());
            put(176 + at, &low.to_le_bytes());
            put(192 + at, &high.to_le_bytes());
            put(208 + at, &self.scale(target.bits).to_le_bytes());
            put(224 + at, &half(target.bits).to_le_bytes());
        }
        put(240, &self.order.to_le_bytes());
        put(244, &self.data_type.to_le_bytes());
        put(248, &self.sampler.to_le_bytes());
        out
    }
}

/// The reciprocal of `scale` as a sum of two floats. The first has 8 significant bits, so its product with an integer of
/// 16 bits is exact.
fn reciprocal(scale: f32) -> (f32, f32) {
    let whole = f64::from(scale).recip();
    let high = f64::from_bits(whole.to_bits() & !(u64::MAX >> (12 + 7)));
    (high as f32, (whole - high) as f32)
}

fn low_mask(bits: u8) -> u32 {
    match bits {
        0 => 0,
        1..=31 => (1 << bits) - 1,
        _ => u32::MAX,
    }
}

/// The addressing mode, for coordinates outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    /// There are none, by promise of the kernel; they read the border.
    None,
    /// The nearest texel at the edge.
    ClampToEdge,
    /// The border.
    Clamp,
    /// The image repeats.
    Repeat,
    /// The image repeats, every second time mirrored.
    Mirror,
}

/// The word of a sampler: SPIR-V's addressing mode in bits 0 to 2, normalised coordinates in bit 3, linear filtering in
/// bit 4.
#[must_use]
pub fn sampler_word(addressing: Addressing, normalised: bool, linear: bool) -> u64 {
    addressing as u64 | u64::from(normalised) << 3 | u64::from(linear) << 4
}

/// The routines, by the names of their functions.
pub(crate) fn routines() -> Option<&'static Module> {
    static ROUTINES: OnceLock<Option<Module>> = OnceLock::new();
    ROUTINES
        .get_or_init(|| crate::parse(include_str!("image/routines.ir")).ok())
        .as_ref()
}

#[cfg(test)]
mod tests {
    #[test]
    fn products_with_the_reciprocal_are_quotients() {
        for signed in [0, 1] {
            for bits in 1 + signed..=16 {
                let steps: u32 = bits - signed;
                let scale = ((1u32 << steps) - 1) as f32;
                let (high, low) = super::reciprocal(scale);
                for integer in -((signed << steps) as i32)..1 << steps {
                    let v = integer as f32;
                    let want = (v / scale).to_bits();
                    let found = [
                        v * high + v * low,
                        v.mul_add(high, v * low),
                        v.mul_add(low, v * high),
                    ];
                    let found = found.map(f32::to_bits);
                    assert_eq!(found, [want; 3], "{integer} of {bits} bits");
                }
            }
        }
    }

    /// As before such formats had a number of their own: a normalised byte read as an integer is 0 to 255.
    #[test]
    fn common_formats_read_as_integers_are_unsigned() {
        use super::{Channel, Numeric, Record, Select};
        let record = |numeric, bits: u8, count: u8| Record {
            base: 0,
            extent: [1; 3],
            texel: u32::from(bits * count / 8),
            row_pitch: 0,
            slice_pitch: 0,
            numeric,
            channels: std::array::from_fn(|at| match at < usize::from(count) {
                true => Channel {
                    shift: bits * at as u8,
                    bits,
                },
                false => Channel::default(),
            }),
            select: match count {
                1 => [Select::Channel(0), Select::Zero, Select::Zero, Select::One],
                _ => [0, 1, 2, 3].map(Select::Channel),
            },
            opaque_border: false,
            order: 0,
            data_type: 0,
            sampler: 0,
        };
        for (numeric, bits, count, code) in [
            (Numeric::Float, 32, 1, 8),
            (Numeric::Float, 32, 4, 10),
            (Numeric::Float, 16, 4, 12),
            (Numeric::Unorm, 8, 4, 14),
            // Without code of their own.
            (Numeric::Unorm, 8, 1, 2),
            (Numeric::Float, 32, 2, 4),
        ] {
            let found = record(numeric, bits, count).code();
            assert_eq!(
                (found, found % 2),
                (code, 0),
                "{numeric:?} {count} x {bits}"
            );
        }
    }

    #[test]
    fn the_routines_are_valid() {
        let module = crate::parse(include_str!("image/routines.ir")).unwrap();
        crate::validate(&module).unwrap();
    }
}
