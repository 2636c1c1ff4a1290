//! Images: every format read and written, every way of sampling, against formulas in f64.

use super::{Arg, Case, Draw, Expect, Near, Picture, PictureKind, Step, To, Wrap};
use super::{bytes, half_bits, half_to_f64, input, output, to_half};

/// What the channels of a format hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Uint,
    Sint,
    Unorm,
    Snorm,
    Float,
}

/// A layout: its number in `ze_image_format_layout_t`, and (first bit, bits) of R, G, B, A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) number: u32,
    pub(crate) channels: [(u32, u32); 4],
}

impl Layout {
    /// Bytes of a texel.
    pub(crate) fn bytes(&self) -> usize {
        let last = self.channels.iter().map(|(first, bits)| first + bits).max();
        last.unwrap_or(0).div_ceil(8) as usize
    }
}

const NONE: (u32, u32) = (0, 0);
/// R8 G8 B8 A8.
pub(crate) const RGBA8: Layout = Layout {
    number: 4,
    channels: [(0, 8), (8, 8), (16, 8), (24, 8)],
};
const RGBA32: Layout = Layout {
    number: 8,
    channels: [(0, 32), (32, 32), (64, 32), (96, 32)],
};
const R32: Layout = Layout {
    number: 2,
    channels: [(0, 32), NONE, NONE, NONE],
};

/// All layouts that kernels read, and the numbers each can hold.
fn formats() -> Vec<(Layout, Vec<Holds>)> {
    use Holds::{Float, Sint, Snorm, Uint, Unorm};
    let layout = |number, channels| Layout { number, channels };
    let whole = vec![Uint, Sint, Unorm, Snorm];
    let with_float = vec![Uint, Sint, Unorm, Snorm, Float];
    let wide = vec![Uint, Sint, Float];
    vec![
        (layout(0, [(0, 8), NONE, NONE, NONE]), whole.clone()),
        (layout(1, [(0, 16), NONE, NONE, NONE]), with_float.clone()),
        (R32, wide.clone()),
        (layout(3, [(0, 8), (8, 8), NONE, NONE]), whole.clone()),
        (RGBA8, whole.clone()),
        (
            layout(5, [(0, 16), (16, 16), NONE, NONE]),
            with_float.clone(),
        ),
        (
            layout(6, [(0, 16), (16, 16), (32, 16), (48, 16)]),
            with_float.clone(),
        ),
        (layout(7, [(0, 32), (32, 32), NONE, NONE]), wide.clone()),
        (RGBA32, wide.clone()),
        (
            layout(9, [(0, 10), (10, 10), (20, 10), (30, 2)]),
            with_float.clone(),
        ),
        (
            layout(10, [(0, 11), (11, 11), (22, 10), NONE]),
            vec![Uint, Unorm, Float],
        ),
        (
            layout(11, [(11, 5), (5, 6), (0, 5), NONE]),
            vec![Uint, Unorm],
        ),
        (
            layout(12, [(10, 5), (5, 5), (0, 5), (15, 1)]),
            vec![Uint, Unorm],
        ),
        (
            layout(13, [(8, 4), (4, 4), (0, 4), (12, 4)]),
            vec![Uint, Unorm],
        ),
        (layout(43, [(0, 8), (8, 8), (16, 8), NONE]), whole),
        (layout(44, [(0, 16), (16, 16), (32, 16), NONE]), with_float),
        (layout(45, [(0, 32), (32, 32), (64, 32), NONE]), wide),
    ]
}

fn texel_bits(texel: &[u8], (first, bits): (u32, u32)) -> u64 {
    (0..bits)
        .filter(|i| texel[(first + i) as usize / 8] >> ((first + i) % 8) & 1 == 1)
        .fold(0, |all, i| all | 1 << i)
}

fn set_bits(texel: &mut [u8], (first, bits): (u32, u32), value: u64) {
    for i in 0..bits {
        let (byte, bit) = ((first + i) as usize / 8, (first + i) % 8);
        texel[byte] = texel[byte] & !(1 << bit) | ((value >> i & 1) as u8) << bit;
    }
}

fn signed(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

/// The float of 10 or 11 bits: five of exponent, no sign.
fn small_float(value: u64, bits: u32) -> f64 {
    half_to_f64((value << (15 - bits)) as u16)
}

/// A channel as a kernel that wants floats gets it.
fn as_float(value: u64, bits: u32, holds: Holds) -> f64 {
    let steps = |n: u32| ((1u64 << n) - 1) as f64;
    match (holds, bits) {
        (Holds::Uint, _) => value as f64,
        (Holds::Sint, _) => signed(value, bits) as f64,
        (Holds::Unorm, _) | (Holds::Float, 2) => value as f64 / steps(bits),
        (Holds::Snorm, _) => (signed(value, bits) as f64 / steps(bits - 1)).max(-1.0),
        (Holds::Float, 32) => f64::from(f32::from_bits(value as u32)),
        (Holds::Float, 16) => half_to_f64(value as u16),
        (Holds::Float, _) => small_float(value, bits),
    }
}

/// The bits that a written float leaves.
fn from_float(x: f64, bits: u32, holds: Holds) -> u64 {
    let steps = |n: u32| ((1u64 << n) - 1) as f64;
    let mask = u64::MAX >> (64 - bits);
    match (holds, bits) {
        (Holds::Uint, _) => x.clamp(0.0, steps(bits)) as u64,
        (Holds::Sint, _) => x.clamp(-steps(bits - 1) - 1.0, steps(bits - 1)) as i64 as u64 & mask,
        (Holds::Unorm, _) | (Holds::Float, 2) => {
            (x.clamp(0.0, 1.0) * steps(bits)).round_ties_even() as u64
        }
        (Holds::Snorm, _) => {
            (x.clamp(-1.0, 1.0) * steps(bits - 1)).round_ties_even() as i64 as u64 & mask
        }
        (Holds::Float, 32) => u64::from((x as f32).to_bits()),
        (Holds::Float, 16) => u64::from(half_bits(to_half(x, To::Even))),
        (Holds::Float, _) => {
            let least = to_half(x.max(0.0), To::Zero);
            u64::from(half_bits(least)) >> (15 - bits)
        }
    }
}

/// R, G, B, A as a swizzle selects them: 0 to 3 a channel, 4 zero, 5 one.
const PLAIN: [u32; 4] = [0, 1, 2, 3];

/// What a kernel reads, component by component: the bits and how many, or a constant.
fn component(picture: &Picture, texel: &[u8], i: usize) -> Result<(u64, u32), u32> {
    match picture.swizzle[i] {
        4 => Err(0),
        5 => Err(1),
        channel => match picture.layout.channels[channel as usize] {
            (_, 0) => Err(u32::from(i == 3)),
            place => Ok((texel_bits(texel, place), place.1)),
        },
    }
}

/// A texel as floats.
fn read_float(picture: &Picture, texel: &[u8]) -> [f64; 4] {
    std::array::from_fn(|i| match component(picture, texel, i) {
        Ok((value, bits)) => as_float(value, bits, picture.holds),
        Err(constant) => f64::from(constant),
    })
}

/// A texel as integers.
fn read_int(picture: &Picture, texel: &[u8]) -> [u32; 4] {
    std::array::from_fn(|i| match component(picture, texel, i) {
        Ok((value, bits)) if picture.holds == Holds::Sint => signed(value, bits) as u32,
        Ok((value, _)) => value as u32,
        Err(constant) => constant,
    })
}

/// The texel that `written` leaves.
fn write(picture: &Picture, bits_of: impl Fn(usize, u32) -> u64) -> Vec<u8> {
    let mut texel = vec![0; picture.layout.bytes()];
    for (channel, &place) in picture.layout.channels.iter().enumerate() {
        let from = picture.swizzle.iter().position(|s| *s == channel as u32);
        if let (Some(i), true) = (from, place.1 > 0) {
            set_bits(&mut texel, place, bits_of(i, place.1));
        }
    }
    texel
}

fn picture(
    kind: PictureKind,
    size: [u32; 3],
    layout: Layout,
    holds: Holds,
    content: Vec<u8>,
) -> Picture {
    Picture {
        kind,
        size,
        layout,
        holds,
        swizzle: PLAIN,
        bytes: content,
    }
}

/// Texels with all kinds of bits.
fn random_texels(layout: &Layout, count: u32, seed: u64) -> Vec<u8> {
    let mut draw = Draw::new(seed);
    let mut texels: Vec<u8> = (0..count as usize * layout.bytes())
        .map(|_| draw.next() as u8)
        .collect();
    // The greatest, the least, and the one pattern below the normalised least.
    let size = layout.bytes();
    texels[..size].fill(0xff);
    texels[size..2 * size].fill(0);
    for &place in layout.channels.iter().filter(|place| place.1 > 0) {
        set_bits(&mut texels[2 * size..3 * size], place, 1 << (place.1 - 1));
    }
    texels
}

fn launch(name: String, kernel: String, groups: [u32; 3], size: [u32; 3], args: Vec<Arg>) -> Case {
    Case {
        name,
        modules: vec!["images"],
        constants: Vec::new(),
        steps: vec![Step {
            kernel,
            groups,
            size,
            offset: [0; 3],
            args,
        }],
        printed: None,
    }
}

fn kernel_of(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::One => "1d",
        PictureKind::OneArray => "1da",
        PictureKind::Two => "2d",
        PictureKind::TwoArray => "2da",
        PictureKind::Three => "3d",
        PictureKind::Buffer => "buffer",
    }
}

fn suffix(holds: Holds) -> &'static str {
    match holds {
        Holds::Uint => "u",
        Holds::Sint => "i",
        _ => "f",
    }
}

/// What reading every texel of `from` gives.
fn read_result(from: &Picture) -> Arg {
    let texels = from.bytes.chunks_exact(from.layout.bytes());
    if matches!(from.holds, Holds::Uint | Holds::Sint) {
        return output(&texels.flat_map(|t| read_int(from, t)).collect::<Vec<_>>());
    }
    // OpenCL C: normalised numbers within 1.5 ulp.
    let near = match from.holds {
        // Two bits of alpha beside floats are normalised.
        Holds::Float if from.layout.channels[3].1 != 2 => Near::Exact,
        _ => Near::Ulps(1.5),
    };
    let values: Vec<_> = texels
        .flat_map(|t| read_float(from, t))
        .map(|v| (v, near))
        .collect();
    super::reals(4, values)
}

/// Launch sizes that cover an image: (groups, group size), and the order of the items is the texels'.
fn grid(kind: PictureKind, size: [u32; 3]) -> ([u32; 3], [u32; 3]) {
    let [w, h, d] = size;
    match kind {
        PictureKind::OneArray => ([1, d, 1], [w, 1, 1]),
        _ => ([1, h, d], [w, 1, 1]),
    }
}

fn read_case(from: Picture) -> Case {
    let kernel = format!("read_{}_{}", kernel_of(from.kind), suffix(from.holds));
    let (groups, size) = grid(from.kind, from.size);
    let name = format!(
        "images: {kernel}, layout {} of {:?}, swizzle {:?}",
        from.layout.number, from.holds, from.swizzle
    );
    let result = read_result(&from);
    let same = Expect::Bytes(from.bytes.clone());
    launch(
        name,
        kernel,
        groups,
        size,
        vec![Arg::Image(from, same), result],
    )
}

/// Values that tell the conversions apart, none near the middle between two steps.
fn float_values(count: usize, holds: Holds, seed: u64) -> Vec<f32> {
    let mut draw = Draw::new(seed);
    let special = [0.0, 1.0, -1.0, 2.0, -3.5, 0.501, 1e-3, 70000.0, -1e9];
    (0..count)
        .map(|i| match (special.get(i), holds) {
            (Some(value), _) => *value,
            (None, Holds::Float) => draw.within(-(1 << 20), 1 << 20) as f32 / 256.0,
            // No step of 8, 10, 11 or 16 bits has its middle at such a multiple of an odd fraction.
            _ => draw.within(-1300, 1300) as f32 / 1021.0,
        })
        .collect()
}

fn write_case(
    kind: PictureKind,
    size: [u32; 3],
    layout: Layout,
    holds: Holds,
    swizzle: [u32; 4],
) -> Case {
    let count: u32 = size.iter().product();
    let mut to = picture(
        kind,
        size,
        layout,
        holds,
        vec![0xa5; count as usize * layout.bytes()],
    );
    to.swizzle = swizzle;
    let kernel = format!("write_{}_{}", kernel_of(kind), suffix(holds));
    let seed = u64::from(layout.number) * 8 + holds as u64;
    let (given, texels): (Arg, Vec<Vec<u8>>) = match holds {
        Holds::Uint | Holds::Sint => {
            let mut draw = Draw::new(seed);
            let values: Vec<i32> = (0..count * 4)
                .map(|_| (draw.next() as i32) >> draw.within(0, 31))
                .collect();
            let texel = |v: &[i32]| {
                write(&to, |i, bits| {
                    let mask = u64::MAX >> (64 - bits);
                    let high = (1i64 << (bits - 1)) - 1;
                    match holds {
                        Holds::Uint => u64::from(v[i] as u32).min(mask),
                        _ => i64::from(v[i]).clamp(-high - 1, high) as u64 & mask,
                    }
                })
            };
            let texels = values.chunks_exact(4).map(texel).collect();
            (input(&values), texels)
        }
        _ => {
            let values = float_values(count as usize * 4, holds, seed);
            let texel = |v: &[f32]| write(&to, |i, bits| from_float(f64::from(v[i]), bits, holds));
            let texels = values.chunks_exact(4).map(texel).collect();
            (input(&values), texels)
        }
    };
    let (groups, group) = grid(kind, size);
    let name = format!(
        "images: {kernel}, layout {} of {holds:?}, swizzle {swizzle:?}",
        layout.number
    );
    let after = Expect::Bytes(texels.concat());
    launch(
        name,
        kernel,
        groups,
        group,
        vec![Arg::Image(to, after), given],
    )
}

/// Index of the texel at a whole coordinate; none outside.
fn wrap(i: i64, size: u32, mode: Wrap) -> Option<u32> {
    let size = i64::from(size);
    let at = match mode {
        Wrap::Edge => i.clamp(0, size - 1),
        Wrap::Repeat => i.rem_euclid(size),
        Wrap::Mirror => {
            let at = i.rem_euclid(2 * size);
            at.min(2 * size - 1 - at)
        }
        Wrap::None | Wrap::Border => i,
    };
    u32::try_from(at).ok().filter(|_| at < size)
}

/// The value of `picture` at coordinates in texels, by the formulas of OpenCL C for samplers.
fn sampled(picture: &Picture, at: [f64; 3], mode: Wrap, linear: bool) -> [f64; 4] {
    let layered = matches!(picture.kind, PictureKind::OneArray | PictureKind::TwoArray);
    let flat = match picture.kind {
        PictureKind::One | PictureKind::OneArray | PictureKind::Buffer => 1,
        PictureKind::Two | PictureKind::TwoArray => 2,
        PictureKind::Three => 3,
    };
    let layer = if layered {
        (at[flat].round_ties_even() as i64).clamp(0, i64::from(picture.size[2]) - 1)
    } else {
        0
    };
    let texel = |index: [i64; 3]| -> [f64; 4] {
        let mut place = [0u32; 3];
        for axis in 0..flat {
            match wrap(index[axis], picture.size[axis], mode) {
                Some(i) => place[axis] = i,
                None => {
                    let opaque = picture.layout.channels[3].1 == 0;
                    return [0.0, 0.0, 0.0, f64::from(u8::from(opaque))];
                }
            }
        }
        if layered {
            place[2] = layer as u32;
        }
        let [w, h, _] = picture.size;
        let number = (place[2] * h + place[1]) * w + place[0];
        let size = picture.layout.bytes();
        read_float(picture, &picture.bytes[number as usize * size..][..size])
    };
    if !linear {
        return texel(at.map(|c| c.floor() as i64));
    }
    let mut sum = [0.0; 4];
    for corner in 0..1usize << flat {
        let (mut index, mut weight) = ([0i64; 3], 1.0);
        for axis in 0..flat {
            let low = (at[axis] - 0.5).floor();
            let part = at[axis] - 0.5 - low;
            let up = corner >> axis & 1;
            index[axis] = low as i64 + up as i64;
            weight *= if up == 1 { part } else { 1.0 - part };
        }
        for (sum, value) in sum.iter_mut().zip(texel(index)) {
            *sum += weight * value;
        }
    }
    sum
}

/// Coordinates all over an image and, unless `inside`, around it, exact in every step of the formulas.
fn places(
    picture: &Picture,
    normalised: bool,
    inside: bool,
    count: usize,
) -> (Vec<f32>, Vec<[f64; 3]>) {
    let mut draw = Draw::new(count as u64 + u64::from(normalised));
    let (mut given, mut texels) = (Vec::new(), Vec::new());
    let layer = match picture.kind {
        PictureKind::OneArray => 1,
        PictureKind::TwoArray => 2,
        _ => 3,
    };
    for _ in 0..count {
        let mut at = [0.0; 3];
        for axis in 0..3 {
            let size = f64::from(picture.size[axis]);
            // In eighths of the image, beside which the steps below are small.
            let (low, high) = if inside { (2, 6) } else { (-20, 28) };
            let (place, texel) = if axis == layer {
                let layers = i64::from(picture.size[2]);
                let at = draw.within(-8, 8 * layers + 8) as f64 / 8.0 + 1.0 / 16.0;
                (at, at)
            } else if normalised {
                let part = draw.within(low * 8, high * 8) as f64 / 64.0 + 1.0 / 128.0;
                (part, part * size)
            } else {
                let at = draw.within(low * 4 * size as i64, high * 4 * size as i64);
                let at = at as f64 / 32.0 + 1.0 / 64.0;
                (at, at)
            };
            given.push(place as f32);
            at[axis] = texel;
        }
        given.push(0.0);
        texels.push(at);
    }
    (given, texels)
}

fn near(values: impl Iterator<Item = [f64; 4]>) -> Arg {
    super::reals(
        4,
        values
            .flatten()
            .map(|v| (v, Near::Absolute(1e-4)))
            .collect(),
    )
}

/// Sizes that are no powers of two.
const SIZES: [(PictureKind, [u32; 3]); 6] = [
    (PictureKind::One, [19, 1, 1]),
    (PictureKind::OneArray, [7, 1, 3]),
    (PictureKind::Two, [9, 5, 1]),
    (PictureKind::TwoArray, [5, 3, 3]),
    (PictureKind::Three, [5, 4, 3]),
    (PictureKind::Buffer, [23, 1, 1]),
];

fn small_floats(count: u32, seed: u64) -> Vec<u8> {
    let mut draw = Draw::new(seed);
    let values: Vec<f32> = (0..count)
        .map(|_| draw.within(-64, 64) as f32 / 8.0)
        .collect();
    bytes(&values)
}

fn sampling() -> Vec<Case> {
    const COUNT: usize = 48;
    let mut all = Vec::new();
    for (kind, size) in SIZES.into_iter().filter(|s| s.0 != PictureKind::Buffer) {
        let texels: u32 = size.iter().product();
        let (layout, content) = if kind == PictureKind::One {
            // One channel: the border is opaque.
            (R32, small_floats(texels, 5))
        } else {
            (RGBA32, small_floats(4 * texels, 7))
        };
        for mode in [
            Wrap::None,
            Wrap::Edge,
            Wrap::Border,
            Wrap::Repeat,
            Wrap::Mirror,
        ] {
            for (normalised, linear) in [(false, false), (false, true), (true, false), (true, true)]
            {
                // OpenCL C leaves these open.
                if !normalised && matches!(mode, Wrap::Repeat | Wrap::Mirror) {
                    continue;
                }
                let from = picture(kind, size, layout, Holds::Float, content.clone());
                let (given, at) = places(&from, normalised, mode == Wrap::None, COUNT);
                let results = at.iter().map(|&at| sampled(&from, at, mode, linear));
                let result = near(results.collect::<Vec<_>>().into_iter());
                let kernel = format!("sample_{}", kernel_of(kind));
                let name =
                    format!("images: {kernel}, {mode:?}, normalised {normalised}, linear {linear}");
                let same = Expect::Bytes(from.bytes.clone());
                let args = vec![
                    Arg::Image(from, same),
                    Arg::Sampler(mode, normalised, linear),
                    input(&given),
                    result,
                ];
                all.push(launch(name, kernel, [3, 1, 1], [16, 1, 1], args));
            }
        }
    }
    all
}

fn sampling_otherwise() -> Vec<Case> {
    let floats = || {
        picture(
            PictureKind::Two,
            [9, 5, 1],
            RGBA32,
            Holds::Float,
            small_floats(180, 9),
        )
    };
    let same = |p: &Picture| Expect::Bytes(p.bytes.clone());
    let mut all = Vec::new();
    // The two samplers of `sample_literal`.
    let from = floats();
    let (given, at) = places(&from, true, false, 32);
    let mut values = Vec::new();
    for (i, at) in at.iter().enumerate() {
        values.push(sampled(&from, *at, Wrap::Mirror, true));
        let raw = std::array::from_fn(|axis| f64::from(given[4 * i + axis]));
        values.push(sampled(&from, raw, Wrap::Edge, false));
    }
    let expected = same(&from);
    all.push(launch(
        "images: samplers spelled out".into(),
        "sample_literal".into(),
        [2, 1, 1],
        [16, 1, 1],
        vec![
            Arg::Image(from, expected),
            input(&given),
            near(values.into_iter()),
        ],
    ));
    let from = floats();
    let (given, at) = places(&from, true, false, 32);
    let values: Vec<_> = at
        .iter()
        .map(|at| sampled(&from, *at, Wrap::Repeat, true).map(|v| v * 2.0))
        .collect();
    let expected = same(&from);
    all.push(launch(
        "images: through a function".into(),
        "through_function".into(),
        [2, 1, 1],
        [16, 1, 1],
        vec![
            Arg::Image(from, expected),
            Arg::Sampler(Wrap::Repeat, true, true),
            input(&given),
            near(values.into_iter()),
        ],
    ));
    // Integers are never mixed, whatever the filter.
    let from = picture(
        PictureKind::Two,
        [9, 5, 1],
        RGBA8,
        Holds::Sint,
        random_texels(&RGBA8, 45, 3),
    );
    let (given, at) = places(&from, true, false, 32);
    let values: Vec<i32> = at
        .iter()
        .flat_map(|at| sampled(&from, *at, Wrap::Repeat, false))
        .map(|v| v as i32)
        .collect();
    let expected = same(&from);
    all.push(launch(
        "images: sampled integers".into(),
        "sample_2d_i".into(),
        [2, 1, 1],
        [16, 1, 1],
        vec![
            Arg::Image(from, expected),
            Arg::Sampler(Wrap::Repeat, true, true),
            input(&given),
            output(&values),
        ],
    ));
    all.extend(whole_coordinates());
    all
}

/// Integers as coordinates, some outside: scattered ones, and neighbours of each work-item's own texel.
fn whole_coordinates() -> Vec<Case> {
    let mut all = Vec::new();
    for (mode, layout, holds) in [
        (Wrap::Border, RGBA32, Holds::Float),
        (Wrap::Edge, RGBA8, Holds::Unorm),
        (Wrap::None, RGBA8, Holds::Snorm),
    ] {
        let size = [43, 5, 1];
        let from = || {
            let texels = match holds {
                Holds::Float => small_floats(4 * 215, 9),
                _ => random_texels(&layout, 215, 9),
            };
            picture(PictureKind::Two, size, layout, holds, texels)
        };
        let value = |x: i32, y: i32, mode| {
            let at = [f64::from(x), f64::from(y), 0.0];
            sampled(&from(), at, mode, false)
        };
        let case = |kernel: &str, groups, group, rest: Vec<Arg>| {
            let same = Expect::Bytes(from().bytes);
            let mut args = vec![Arg::Image(from(), same), Arg::Sampler(mode, false, false)];
            args.extend(rest);
            let name = format!("images: {kernel}, {mode:?}, {holds:?}");
            launch(name, kernel.into(), groups, group, args)
        };
        let mut draw = Draw::new(11);
        let given: Vec<i32> = (0..64).map(|_| draw.within(-3, 46) as i32).collect();
        let values = given
            .chunks_exact(2)
            .map(|at| value(at[0], at[1] / 4, mode));
        let values: Vec<_> = values.collect();
        let given: Vec<i32> = given
            .chunks_exact(2)
            .flat_map(|at| [at[0], at[1] / 4])
            .collect();
        let args = vec![input(&given), near(values.into_iter())];
        all.push(case("sample_2d_whole", [2, 1, 1], [16, 1, 1], args));
        let (groups, group) = grid(PictureKind::Two, size);
        let values: Vec<_> = (0..size[1] as i32)
            .flat_map(|y| (0..size[0] as i32).map(move |x| (x, y)))
            .flat_map(|(x, y)| [value(x - 2, y + 1, Wrap::Edge), value(x + 1, y - 1, mode)])
            .collect();
        let args = vec![near(values.into_iter())];
        all.push(case("sample_shifted", groups, group, args));
    }
    all
}

fn others() -> Vec<Case> {
    let mut all = Vec::new();
    // One texel too far on each side: nothing happens there.
    let before = random_texels(&RGBA8, 16, 21);
    let after: Vec<u8> = before
        .iter()
        .enumerate()
        .map(|(i, v)| v.saturating_add([1, 2, 3, 4][i % 4]))
        .collect();
    let both = picture(PictureKind::Two, [4, 4, 1], RGBA8, Holds::Uint, before);
    all.push(launch(
        "images: read and written in place".into(),
        "add_in_place".into(),
        [1, 6, 1],
        [6, 1, 1],
        vec![Arg::Image(both, Expect::Bytes(after))],
    ));
    let of = |kind, size: [u32; 3]| {
        let count = size.iter().product();
        let made = picture(
            kind,
            size,
            RGBA8,
            Holds::Unorm,
            random_texels(&RGBA8, count, 1),
        );
        let same = Expect::Bytes(made.bytes.clone());
        Arg::Image(made, same)
    };
    let sizes: [i32; 14] = [19, 7, 3, 9, 5, 5, 3, 3, 5, 4, 3, 2, 3, 3];
    let mut args: Vec<Arg> = SIZES[..5]
        .iter()
        .map(|&(kind, size)| of(kind, size))
        .collect();
    args.push(output(&sizes));
    all.push(launch(
        "images: queries".into(),
        "queries".into(),
        [1; 3],
        [1; 3],
        args,
    ));
    // Reads and writes under conditions that differ from item to item.
    let from = picture(
        PictureKind::Two,
        [16, 6, 1],
        RGBA8,
        Holds::Unorm,
        random_texels(&RGBA8, 96, 31),
    );
    let before = vec![7u8; 96 * 4];
    let mut after = before.clone();
    for y in 0..6usize {
        for x in (0..16usize).step_by(2) {
            let at = 4 * (16 * y + x);
            let texel = match (x + y) % 3 {
                // A quarter of 255 is 63.75.
                0 => [64; 4],
                _ => std::array::from_fn(|i| from.bytes[at + i]),
            };
            after[at..at + 4].copy_from_slice(&texel);
        }
    }
    let same = Expect::Bytes(from.bytes.clone());
    let to = picture(PictureKind::Two, [16, 6, 1], RGBA8, Holds::Unorm, before);
    all.push(launch(
        "images: divergent".into(),
        "divergent".into(),
        [1, 6, 1],
        [16, 1, 1],
        vec![
            Arg::Image(from, same),
            Arg::Image(to, Expect::Bytes(after)),
            Arg::Sampler(Wrap::Edge, false, true),
        ],
    ));
    all
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (layout, holds) in formats() {
        for holds in holds {
            let seed = u64::from(layout.number);
            let size = [9, 5, 1];
            let from = picture(
                PictureKind::Two,
                size,
                layout,
                holds,
                random_texels(&layout, 45, seed),
            );
            all.push(read_case(from));
            all.push(write_case(PictureKind::Two, size, layout, holds, PLAIN));
        }
    }
    for (kind, size) in SIZES {
        for (layout, holds) in [
            (RGBA8, Holds::Unorm),
            (RGBA8, Holds::Sint),
            (R32, Holds::Uint),
        ] {
            let count = size.iter().product();
            let content = random_texels(&layout, count, u64::from(count));
            all.push(read_case(picture(kind, size, layout, holds, content)));
            all.push(write_case(kind, size, layout, holds, PLAIN));
        }
    }
    for swizzle in [
        [2, 1, 0, 3],
        [3, 2, 1, 0],
        [1, 2, 3, 0],
        [0, 4, 4, 5],
        [0, 0, 0, 5],
    ] {
        for holds in [Holds::Uint, Holds::Unorm] {
            let mut from = picture(
                PictureKind::Two,
                [9, 5, 1],
                RGBA8,
                holds,
                random_texels(&RGBA8, 45, 77),
            );
            from.swizzle = swizzle;
            all.push(read_case(from));
            all.push(write_case(
                PictureKind::Two,
                [9, 5, 1],
                RGBA8,
                holds,
                swizzle,
            ));
        }
    }
    all.extend(sampling());
    all.extend(sampling_otherwise());
    all.extend(others());
    all.extend(by_hand());
    all
}

/// Instructions that no compiler of OpenCL C emits today.
fn by_hand() -> Vec<Case> {
    let mut all = Vec::new();
    let half = Layout {
        number: 6,
        channels: [(0, 16), (16, 16), (32, 16), (48, 16)],
    };
    let from = picture(
        PictureKind::Two,
        [9, 5, 1],
        half,
        Holds::Float,
        random_texels(&half, 45, 23),
    );
    let values = from
        .bytes
        .chunks_exact(8)
        .flat_map(|t| read_float(&from, t))
        .map(|v| (v, Near::Exact))
        .collect();
    let same = Expect::Bytes(from.bytes.clone());
    let mut case = launch(
        "images: halves".into(),
        "read_2d_h".into(),
        [1, 5, 1],
        [9, 1, 1],
        vec![Arg::Image(from, same), super::reals(2, values)],
    );
    case.modules = vec!["images_more"];
    all.push(case);
    for (swizzle, order) in [(PLAIN, 5u32), ([2, 1, 0, 3], 6)] {
        let mut of = picture(
            PictureKind::Two,
            [9, 5, 1],
            RGBA8,
            Holds::Unorm,
            random_texels(&RGBA8, 45, 1),
        );
        of.swizzle = swizzle;
        let same = Expect::Bytes(of.bytes.clone());
        let mut case = launch(
            format!("images: order of {swizzle:?}"),
            "order".into(),
            [1; 3],
            [1; 3],
            // Order, data type, levels; SPIR-V's numbers.
            vec![Arg::Image(of, same), output(&[order, 2, 1])],
        );
        case.modules = vec!["images_more"];
        all.push(case);
    }
    all
}

/// The cases for unoptimised code.
pub(crate) fn few() -> Vec<Case> {
    let mut all = sampling_otherwise();
    all.extend(others());
    all
}
