//! Image formats: the layout of texels in memory, and the planes of media formats.

use crate::check::{enumeration, error};
use crate::device::{ImageChannel, ImageNumeric, ImageSelect};
use level_zero_sys::*;
use ze_abi::ZeResult;

/// One plane of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaneFormat {
    /// Bytes of an element.
    pub(crate) bytes: u32,
    /// Pixels for each element, across and down.
    pub(crate) divisor: [u32; 2],
}

/// A format.
#[derive(Clone, Debug)]
pub(crate) struct Format {
    /// At least one.
    pub(crate) planes: &'static [PlaneFormat],
    /// The texel for kernels, or why they can only use views of the image.
    pub(crate) texel: Result<Texel, &'static str>,
}

/// A texel in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texel {
    pub(crate) numeric: ImageNumeric,
    pub(crate) channels: [ImageChannel; 4],
    pub(crate) select: [ImageSelect; 4],
    pub(crate) depth: bool,
}

const fn plane(bytes: u32, across: u32, down: u32) -> PlaneFormat {
    PlaneFormat {
        bytes,
        divisor: [across, down],
    }
}

const ONE: [&[PlaneFormat]; 17] = [
    &[],
    &[plane(1, 1, 1)],
    &[plane(2, 1, 1)],
    &[plane(3, 1, 1)],
    &[plane(4, 1, 1)],
    &[],
    &[plane(6, 1, 1)],
    &[],
    &[plane(8, 1, 1)],
    &[],
    &[],
    &[],
    &[plane(12, 1, 1)],
    &[],
    &[],
    &[],
    &[plane(16, 1, 1)],
];

/// (shift, bits) of R, G, B, A.
type Bits = [(u8, u8); 4];

/// Channels of `bits` each, R in the lowest.
const fn row(bits: [u8; 4]) -> Bits {
    let [r, g, b, a] = bits;
    [(0, r), (r, g), (r + g, b), (r + g + b, a)]
}

/// Layouts of N components.
fn components(layout: ze_image_format_layout_t) -> Option<Bits> {
    Some(match layout {
        ZE_IMAGE_FORMAT_LAYOUT_8 => row([8, 0, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_16 => row([16, 0, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_32 => row([32, 0, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_8_8 => row([8, 8, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_8_8_8 => row([8, 8, 8, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8 => row([8; 4]),
        ZE_IMAGE_FORMAT_LAYOUT_16_16 => row([16, 16, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_16_16_16 => row([16, 16, 16, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16 => row([16; 4]),
        ZE_IMAGE_FORMAT_LAYOUT_32_32 => row([32, 32, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_32_32_32 => row([32, 32, 32, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32 => row([32; 4]),
        ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2 => row([10, 10, 10, 2]),
        ZE_IMAGE_FORMAT_LAYOUT_11_11_10 => row([11, 11, 10, 0]),
        // These three have red in the upper bits, like OpenCL's packed formats.
        ZE_IMAGE_FORMAT_LAYOUT_5_6_5 => [(11, 5), (5, 6), (0, 5), (16, 0)],
        ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1 => [(10, 5), (5, 5), (0, 5), (15, 1)],
        ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4 => [(8, 4), (4, 4), (0, 4), (12, 4)],
        _ => return None,
    })
}

/// Media layouts with a texel for each pixel: components V, Y, U, A in colour.
fn media_texel(layout: ze_image_format_layout_t) -> Option<Bits> {
    Some(match layout {
        ZE_IMAGE_FORMAT_LAYOUT_Y8 | ZE_IMAGE_FORMAT_LAYOUT_P8 | ZE_IMAGE_FORMAT_LAYOUT_400P => {
            row([8, 0, 0, 0])
        }
        ZE_IMAGE_FORMAT_LAYOUT_Y16 => row([16, 0, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_A8P8 => row([8, 8, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_IA44 | ZE_IMAGE_FORMAT_LAYOUT_AI44 => row([4, 4, 0, 0]),
        ZE_IMAGE_FORMAT_LAYOUT_AYUV => row([8; 4]),
        ZE_IMAGE_FORMAT_LAYOUT_Y410 => row([10, 10, 10, 2]),
        ZE_IMAGE_FORMAT_LAYOUT_Y416 => row([16; 4]),
        _ => return None,
    })
}

/// Media layouts whose pixels share chroma: in elements of two pixels, or in planes.
fn media_planes(layout: ze_image_format_layout_t) -> Option<&'static [PlaneFormat]> {
    Some(match layout {
        ZE_IMAGE_FORMAT_LAYOUT_YUYV
        | ZE_IMAGE_FORMAT_LAYOUT_YUY2
        | ZE_IMAGE_FORMAT_LAYOUT_VYUY
        | ZE_IMAGE_FORMAT_LAYOUT_YVYU
        | ZE_IMAGE_FORMAT_LAYOUT_UYVY => const { &[plane(4, 2, 1)] },
        ZE_IMAGE_FORMAT_LAYOUT_Y210 | ZE_IMAGE_FORMAT_LAYOUT_Y216 => const { &[plane(8, 2, 1)] },
        ZE_IMAGE_FORMAT_LAYOUT_NV12 => const { &[plane(1, 1, 1), plane(2, 2, 2)] },
        ZE_IMAGE_FORMAT_LAYOUT_P010 | ZE_IMAGE_FORMAT_LAYOUT_P012 | ZE_IMAGE_FORMAT_LAYOUT_P016 => {
            const { &[plane(2, 1, 1), plane(4, 2, 2)] }
        }
        ZE_IMAGE_FORMAT_LAYOUT_P216 => const { &[plane(2, 1, 1), plane(4, 2, 1)] },
        ZE_IMAGE_FORMAT_LAYOUT_I420 | ZE_IMAGE_FORMAT_LAYOUT_YV12 => {
            const { &[plane(1, 1, 1), plane(1, 2, 2), plane(1, 2, 2)] }
        }
        ZE_IMAGE_FORMAT_LAYOUT_422H => const { &[plane(1, 1, 1), plane(1, 2, 1), plane(1, 2, 1)] },
        ZE_IMAGE_FORMAT_LAYOUT_422V => const { &[plane(1, 1, 1), plane(1, 1, 2), plane(1, 1, 2)] },
        ZE_IMAGE_FORMAT_LAYOUT_444P | ZE_IMAGE_FORMAT_LAYOUT_RGBP | ZE_IMAGE_FORMAT_LAYOUT_BRGP => {
            const { &[plane(1, 1, 1), plane(1, 1, 1), plane(1, 1, 1)] }
        }
        _ => return None,
    })
}

/// Whether channels of these widths can hold the type.
fn holds(numeric: ImageNumeric, bits: &Bits) -> bool {
    let widest = bits.iter().map(|(_, bits)| *bits).max().unwrap_or(0);
    let packed16 = bits.iter().any(|(_, bits)| matches!(bits, 1 | 4 | 5 | 6));
    match numeric {
        ImageNumeric::Uint => true,
        ImageNumeric::Sint => !packed16,
        ImageNumeric::Unorm => true,
        ImageNumeric::Snorm => !packed16,
        ImageNumeric::Float => widest >= 10,
    }
}

/// The format that `format` describes, for images of type `of`.
///
/// # Errors
/// INVALID_ENUMERATION for values the specification does not have, UNSUPPORTED_IMAGE_FORMAT for combinations that a
/// texel cannot have.
pub(crate) fn format(format: &ze_image_format_t, of: ze_image_type_t) -> ZeResult<Format> {
    let layout = format.layout;
    enumeration(
        "desc->format.layout",
        layout.0,
        ZE_IMAGE_FORMAT_LAYOUT_32_32_32.0,
    )?;
    enumeration(
        "desc->format.type",
        format.r#type.0,
        ZE_IMAGE_FORMAT_TYPE_FLOAT.0,
    )?;
    let swizzles = [format.x, format.y, format.z, format.w];
    for swizzle in swizzles {
        enumeration(
            "a swizzle of desc->format",
            swizzle.0,
            ZE_IMAGE_FORMAT_SWIZZLE_D.0,
        )?;
    }
    let unsupported = |why: &str| {
        error(
            ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            format!(
                "desc->format is layout {:?} of type {:?}: {why}",
                layout, format.r#type
            ),
        )
    };
    if let Some(bits) = components(layout) {
        let numeric = match format.r#type {
            ZE_IMAGE_FORMAT_TYPE_UINT => ImageNumeric::Uint,
            ZE_IMAGE_FORMAT_TYPE_SINT => ImageNumeric::Sint,
            ZE_IMAGE_FORMAT_TYPE_UNORM => ImageNumeric::Unorm,
            ZE_IMAGE_FORMAT_TYPE_SNORM => ImageNumeric::Snorm,
            _ => ImageNumeric::Float,
        };
        if !holds(numeric, &bits) {
            return unsupported("channels of these widths do not hold numbers of this type");
        }
        let normalised = matches!(numeric, ImageNumeric::Unorm | ImageNumeric::Snorm);
        if normalised && bits.iter().any(|(_, bits)| *bits == 32) {
            return Ok(Format {
                planes: single(&bits),
                texel: Err(
                    "has normalised numbers of 32 bits, more than a float holds; give it a view as integers",
                ),
            });
        }
        return Ok(Format {
            planes: single(&bits),
            texel: Ok(Texel {
                numeric,
                channels: channels(&bits),
                select: select(&bits, swizzles),
                depth: swizzles.contains(&ZE_IMAGE_FORMAT_SWIZZLE_D),
            }),
        });
    }
    if of == ZE_IMAGE_TYPE_BUFFER {
        return unsupported("media formats are not for buffers");
    }
    if let Some(bits) = media_texel(layout) {
        return Ok(Format {
            planes: single(&bits),
            texel: Ok(Texel {
                numeric: ImageNumeric::Unorm,
                channels: channels(&bits),
                select: select(&bits, [ZE_IMAGE_FORMAT_SWIZZLE_X; 4]),
                depth: false,
            }),
        });
    }
    match media_planes(layout) {
        Some(planes) => Ok(Format {
            planes,
            texel: Err("has pixels that share chroma; give it views of its planes"),
        }),
        None => unsupported("the image layout is not supported"),
    }
}

fn single(bits: &Bits) -> &'static [PlaneFormat] {
    let total: u32 = bits.iter().map(|(_, bits)| u32::from(*bits)).sum();
    ONE[(total.div_ceil(8) as usize).min(16)]
}

fn channels(bits: &Bits) -> [ImageChannel; 4] {
    bits.map(|(shift, bits)| match bits {
        0 => ImageChannel::default(),
        _ => ImageChannel { shift, bits },
    })
}

/// The source of a component. One with any source, or with an absent channel, reads the channel at its own position if
/// the texel has it and no other component names it; else 0, or 1 for alpha.
fn select(bits: &Bits, swizzles: [ze_image_format_swizzle_t; 4]) -> [ImageSelect; 4] {
    let named = |swizzle: ze_image_format_swizzle_t| match swizzle {
        ZE_IMAGE_FORMAT_SWIZZLE_R | ZE_IMAGE_FORMAT_SWIZZLE_D => Some(0u8),
        ZE_IMAGE_FORMAT_SWIZZLE_G => Some(1),
        ZE_IMAGE_FORMAT_SWIZZLE_B => Some(2),
        ZE_IMAGE_FORMAT_SWIZZLE_A => Some(3),
        _ => None,
    };
    let there = |channel: u8| bits[usize::from(channel)].1 > 0;
    let mut out = [ImageSelect::Zero; 4];
    for (i, slot) in out.iter_mut().enumerate() {
        let otherwise = if i == 3 {
            ImageSelect::One
        } else {
            ImageSelect::Zero
        };
        let own = u8::try_from(i).unwrap_or(0);
        *slot = match swizzles[i] {
            ZE_IMAGE_FORMAT_SWIZZLE_0 => ImageSelect::Zero,
            ZE_IMAGE_FORMAT_SWIZZLE_1 => ImageSelect::One,
            swizzle => match named(swizzle) {
                Some(channel) if there(channel) => ImageSelect::Channel(channel),
                Some(_) => otherwise,
                None if there(own) && !swizzles.iter().any(|other| named(*other) == Some(own)) => {
                    ImageSelect::Channel(own)
                }
                None => otherwise,
            },
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ImageSelect::{Channel as C, One, Zero};

    const R: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_R;
    const G: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_G;
    const B: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_B;
    const A: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_A;
    const X: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_X;
    const ZERO: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_0;
    const ONE_: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_1;
    const D: ze_image_format_swizzle_t = ZE_IMAGE_FORMAT_SWIZZLE_D;

    #[test]
    fn every_layout_has_elements_and_its_channels_fit_them() {
        for layout in 0..=ZE_IMAGE_FORMAT_LAYOUT_32_32_32.0 {
            let descriptor = ze_image_format_t {
                layout: ze_image_format_layout_t(layout),
                r#type: ZE_IMAGE_FORMAT_TYPE_UINT,
                x: R,
                y: G,
                z: B,
                w: A,
            };
            let format = format(&descriptor, ZE_IMAGE_TYPE_2D).unwrap();
            assert!(!format.planes.is_empty(), "{layout}");
            assert!(
                format.planes.iter().all(|plane| plane.bytes > 0),
                "{layout}"
            );
            let Ok(texel) = format.texel else { continue };
            let mut used = 0u128;
            for ImageChannel { shift, bits } in texel.channels {
                let mask = ((1u128 << bits) - 1) << shift;
                assert_eq!(used & mask, 0, "{layout}: channels overlap");
                used |= mask;
                assert!(
                    bits == 0 || shift / 32 == (shift + bits - 1) / 32,
                    "{layout}"
                );
            }
            let total = 8 * format.planes[0].bytes;
            assert_eq!(
                128 - used.leading_zeros(),
                total,
                "{layout}: bits left over"
            );
        }
    }

    #[test]
    fn types_that_do_not_fit_a_texel_are_rejected() {
        let cases = [
            (ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_UNORM, true),
            (ZE_IMAGE_FORMAT_LAYOUT_32, ZE_IMAGE_FORMAT_TYPE_FLOAT, true),
            (ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_FLOAT, false),
            (ZE_IMAGE_FORMAT_LAYOUT_16, ZE_IMAGE_FORMAT_TYPE_SNORM, true),
            (
                ZE_IMAGE_FORMAT_LAYOUT_5_6_5,
                ZE_IMAGE_FORMAT_TYPE_SNORM,
                false,
            ),
            (
                ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1,
                ZE_IMAGE_FORMAT_TYPE_UNORM,
                true,
            ),
            (
                ZE_IMAGE_FORMAT_LAYOUT_11_11_10,
                ZE_IMAGE_FORMAT_TYPE_FLOAT,
                true,
            ),
        ];
        for (layout, kind, want) in cases {
            let descriptor = ze_image_format_t {
                layout,
                r#type: kind,
                ..Default::default()
            };
            let got = format(&descriptor, ZE_IMAGE_TYPE_2D);
            assert_eq!(got.is_ok(), want, "{layout:?} {kind:?}");
            if let Err(refused) = got {
                assert_eq!(refused.code(), ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
            }
        }
        let planar = ze_image_format_t {
            layout: ZE_IMAGE_FORMAT_LAYOUT_NV12,
            ..Default::default()
        };
        assert!(format(&planar, ZE_IMAGE_TYPE_BUFFER).is_err());
    }

    #[test]
    fn swizzles() {
        let (one, two, four) = (row([8, 0, 0, 0]), row([8, 8, 0, 0]), row([8; 4]));
        let cases = [
            (four, [R, G, B, A], [C(0), C(1), C(2), C(3)]),
            (four, [B, G, R, A], [C(2), C(1), C(0), C(3)]),
            (four, [X, X, X, X], [C(0), C(1), C(2), C(3)]),
            (four, [R, ZERO, ONE_, X], [C(0), Zero, One, C(3)]),
            (two, [R, G, X, X], [C(0), C(1), Zero, One]),
            (two, [R, G, B, A], [C(0), C(1), Zero, One]),
            (one, [R, ZERO, ZERO, ONE_], [C(0), Zero, Zero, One]),
            (one, [D, ZERO, ZERO, ZERO], [C(0), Zero, Zero, Zero]),
            (two, [G, X, X, R], [C(1), Zero, Zero, C(0)]),
        ];
        for (bits, swizzles, want) in cases {
            assert_eq!(select(&bits, swizzles), want, "{swizzles:?}");
        }
    }
}
