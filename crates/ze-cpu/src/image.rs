//! Encodes images as the compiler's records, and samplers as its words.

use kernel_ir::image::{self, Addressing, Channel, Numeric, Record, Select};
use ze_driver::device::{ImageNumeric, ImageSelect, ImageView, SamplerAddress, SamplerFacts};

/// SPIR-V's Image Channel Order.
mod order {
    pub(super) const R: u32 = 0;
    pub(super) const RG: u32 = 2;
    pub(super) const RGB: u32 = 4;
    pub(super) const RGBA: u32 = 5;
    pub(super) const BGRA: u32 = 6;
    pub(super) const DEPTH: u32 = 13;
    pub(super) const ABGR: u32 = 19;
}

/// The record of `view`.
pub(crate) fn record(view: &ImageView) -> Box<[u128]> {
    let encoded = Record {
        base: view.base.addr() as u64,
        extent: view.extent,
        texel: view.texel,
        row_pitch: view.row_pitch,
        slice_pitch: view.slice_pitch,
        numeric: match view.numeric {
            ImageNumeric::Uint => Numeric::Uint,
            ImageNumeric::Sint => Numeric::Sint,
            ImageNumeric::Unorm => Numeric::Unorm,
            ImageNumeric::Snorm => Numeric::Snorm,
            ImageNumeric::Float => Numeric::Float,
        },
        channels: view.channels.map(|channel| Channel {
            shift: channel.shift,
            bits: channel.bits,
        }),
        select: view.select.map(|select| match select {
            ImageSelect::Channel(channel) => Select::Channel(channel),
            ImageSelect::Zero => Select::Zero,
            ImageSelect::One => Select::One,
        }),
        // OpenCL C: without an alpha channel the border's alpha is 1.
        opaque_border: view.channels[3].bits == 0,
        order: channel_order(view),
        data_type: channel_data_type(view),
        sampler: view.sampler.as_ref().map_or(0, sampler_word),
    }
    .encode();
    encoded
        .as_chunks::<16>()
        .0
        .iter()
        .map(|chunk| u128::from_ne_bytes(*chunk))
        .collect()
}

/// The word of `sampler`.
pub(crate) fn sampler_word(sampler: &SamplerFacts) -> u64 {
    let addressing = match sampler.address {
        SamplerAddress::None => Addressing::None,
        SamplerAddress::Repeat => Addressing::Repeat,
        SamplerAddress::Clamp => Addressing::ClampToEdge,
        SamplerAddress::ClampToBorder => Addressing::Clamp,
        SamplerAddress::Mirror => Addressing::Mirror,
    };
    image::sampler_word(addressing, sampler.normalised, sampler.linear)
}

fn channel_order(view: &ImageView) -> u32 {
    use ImageSelect::Channel as C;
    if view.depth {
        return order::DEPTH;
    }
    match view
        .channels
        .iter()
        .filter(|channel| channel.bits > 0)
        .count()
    {
        0 | 1 => order::R,
        2 => order::RG,
        3 => order::RGB,
        _ => match view.select {
            [C(2), C(1), C(0), _] => order::BGRA,
            [C(3), C(2), C(1), C(0)] => order::ABGR,
            _ => order::RGBA,
        },
    }
}

/// SPIR-V's Image Channel Data Type, by the width of the first channel.
fn channel_data_type(view: &ImageView) -> u32 {
    use ImageNumeric as N;
    match (view.numeric, view.channels[0].bits) {
        (N::Snorm, 8) => 0,
        (N::Snorm, _) => 1,
        (N::Unorm, 8) => 2,
        (N::Unorm, 16) => 3,
        (N::Unorm, 5) if view.channels[3].bits == 0 => 4,
        (N::Unorm, 5) => 5,
        (N::Unorm, 10) if view.channels[3].bits == 2 => 16,
        (N::Unorm, _) => 2,
        (N::Sint, 8) => 7,
        (N::Sint, 16) => 8,
        (N::Sint, _) => 9,
        (N::Uint, 8) => 10,
        (N::Uint, 16) => 11,
        (N::Uint, _) => 12,
        (N::Float, 16) => 13,
        (N::Float, _) => 14,
    }
}
