//! The table of cases: module, kernel, input data and expected results.
//!
//! Expected values are computed here, in Rust, from the rules of OpenCL C and SPIR-V. Nothing in this folder depends on
//! how a kernel is run, so the tests of the interpreter and of the driver share it.

mod atomics;
mod control;
mod converts;
mod floats;
mod groups;
mod hand;
pub(crate) mod images;
mod intel;
mod ints;
mod maths;
mod meeting;
mod memory;
mod nulls;
mod opencl_c;
mod program;
mod sub_groups;
mod types;
mod vectors;

/// A program and the launches made with it, one after another.
pub(crate) struct Case {
    /// For messages.
    pub(crate) name: String,
    /// Files of the corpus, without `.spv`, to be linked.
    pub(crate) modules: Vec<&'static str>,
    /// Specialisation constants of the first module.
    pub(crate) constants: Vec<(u32, Vec<u8>)>,
    /// The launches.
    pub(crate) steps: Vec<Step>,
    /// The expected output of printf.
    pub(crate) printed: Option<Printed>,
}

/// Text of printf.
pub(crate) enum Printed {
    /// This text.
    Text(String),
    /// These lines, in any order.
    Lines(Vec<String>),
}

/// One launch.
pub(crate) struct Step {
    /// Entry point.
    pub(crate) kernel: String,
    /// Work-groups.
    pub(crate) groups: [u32; 3],
    /// Work-items of each.
    pub(crate) size: [u32; 3],
    /// Global offset.
    pub(crate) offset: [u64; 3],
    /// Arguments in order.
    pub(crate) args: Vec<Arg>,
}

/// An argument and its expected content after the launch.
pub(crate) enum Arg {
    /// A buffer that the kernel reads.
    In(Vec<u8>),
    /// A buffer with its content before and after the launch.
    Out(Vec<u8>, Expect),
    /// By value.
    Value(Vec<u8>),
    /// Local memory of this many bytes.
    Local(u32),
    /// An image, and its texels after.
    Image(Picture, Expect),
    /// A null pointer: reads through it give zero, writes are lost.
    Null,
    /// A sampler: addressing mode, normalised coordinates, linear filtering.
    Sampler(Wrap, bool, bool),
}

/// An image.
pub(crate) struct Picture {
    /// Dimensions.
    pub(crate) kind: PictureKind,
    /// Width, height, and depth or layers.
    pub(crate) size: [u32; 3],
    /// Bits of a texel.
    pub(crate) layout: images::Layout,
    /// Their number format.
    pub(crate) holds: images::Holds,
    /// Source of each component: 0 to 3 R, G, B, A, 4 zero, 5 one.
    pub(crate) swizzle: [u32; 4],
    /// Texels without gaps.
    pub(crate) bytes: Vec<u8>,
}

/// Dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureKind {
    One,
    OneArray,
    Two,
    TwoArray,
    Three,
    Buffer,
}

/// The addressing mode of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    None,
    Edge,
    Border,
    Repeat,
    Mirror,
}

/// The expected content of a buffer.
pub(crate) enum Expect {
    /// These bytes.
    Bytes(Vec<u8>),
    /// These bytes, where they are known; the rest is padding.
    Known(Vec<Option<u8>>),
    /// Floats of `size` bytes.
    Reals {
        /// 2, 4 or 8.
        size: usize,
        /// Value and tolerance.
        values: Vec<(f64, Near)>,
    },
    /// Not checked.
    Any,
}

/// The tolerance of a float.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Near {
    /// The same value and sign, or any NaN for NaN.
    Exact,
    /// The same value; zeros may differ in sign.
    Value,
    /// Within a number of units in the last place.
    Ulps(f64),
    /// Within an absolute error.
    Absolute(f64),
    /// Anything.
    Free,
}

/// Types with bytes.
pub(crate) trait Le: Copy {
    /// Little-endian bytes.
    fn le(self) -> Vec<u8>;
}
macro_rules! le {
    ($($t:ty)*) => {$(impl Le for $t {
        fn le(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
    })*};
}
le!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64);

/// The bytes of all.
pub(crate) fn bytes<T: Le>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(|v| v.le()).collect()
}
/// A buffer to read.
pub(crate) fn input<T: Le>(values: &[T]) -> Arg {
    Arg::In(bytes(values))
}
/// A buffer of junk, to be overwritten.
pub(crate) fn output<T: Le>(values: &[T]) -> Arg {
    let expected = bytes(values);
    Arg::Out(vec![0xa5; expected.len()], Expect::Bytes(expected))
}
/// A buffer with content that changes.
pub(crate) fn changed<T: Le>(before: &[T], after: &[T]) -> Arg {
    Arg::Out(bytes(before), Expect::Bytes(bytes(after)))
}
/// A buffer full of junk that gets floats of `size` bytes.
pub(crate) fn reals(size: usize, values: Vec<(f64, Near)>) -> Arg {
    Arg::Out(
        vec![0xa5; values.len() * size],
        Expect::Reals { size, values },
    )
}
/// A value.
pub(crate) fn value<T: Le>(v: T) -> Arg {
    Arg::Value(v.le())
}

/// A case of one launch in one dimension.
pub(crate) fn case(
    module: &'static str,
    kernel: &str,
    groups: u32,
    size: u32,
    args: Vec<Arg>,
) -> Case {
    Case {
        name: format!("{module}: {kernel}"),
        modules: vec![module],
        constants: Vec::new(),
        steps: vec![step(kernel, groups, size, args)],
        printed: None,
    }
}
/// A launch in one dimension.
pub(crate) fn step(kernel: &str, groups: u32, size: u32, args: Vec<Arg>) -> Step {
    Step {
        kernel: kernel.into(),
        groups: [groups, 1, 1],
        size: [size, 1, 1],
        offset: [0; 3],
        args,
    }
}
/// The same case with another module, compiled from the same source by other means.
pub(crate) fn also(module: &'static str, mut cases: Vec<Case>) -> Vec<Case> {
    for case in &mut cases {
        case.name = format!("{module}: {}", case.steps[0].kernel);
        case.modules[0] = module;
    }
    cases
}

/// All cases, by theme.
pub(crate) fn all() -> Vec<(&'static str, Vec<Case>)> {
    vec![
        ("whole numbers", ints::cases()),
        ("floats", floats::cases()),
        ("conversions", converts::cases()),
        ("vectors", vectors::cases()),
        ("memory", memory::cases()),
        ("control flow", control::cases()),
        ("atomics", atomics::cases()),
        ("null pointers", nulls::cases()),
        ("work-groups", groups::cases()),
        ("sub-groups", sub_groups::cases()),
        ("Intel's built-in functions", intel::cases()),
        ("OpenCL C by name", opencl_c::cases()),
        ("mathematics", maths::cases()),
        ("programs", program::cases()),
        ("hand-written", hand::cases()),
        ("types", types::cases()),
        ("parting and meeting", meeting::cases()),
        ("images", images::cases()),
        (
            "images without optimisation",
            also("images.O0", images::few()),
        ),
    ]
}

/// Compares what was printed.
pub(crate) fn printed(text: &str, expected: &Printed) -> Result<(), String> {
    let same = match expected {
        Printed::Text(expected) => text == expected,
        Printed::Lines(expected) => {
            let mut found: Vec<&str> = text.lines().collect();
            let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            found.sort_unstable();
            expected.sort_unstable();
            found == expected
        }
    };
    if same {
        Ok(())
    } else {
        Err(format!("printed:\n{text}"))
    }
}

/// Compares a buffer with what it must hold; the first difference in words.
pub(crate) fn compare(found: &[u8], expected: &Expect) -> Result<(), String> {
    match expected {
        Expect::Any => Ok(()),
        Expect::Bytes(bytes) => {
            if found == bytes {
                return Ok(());
            }
            let at = found.iter().zip(bytes).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(bytes.len()));
            let start = at / 8 * 8;
            let show = |b: &[u8]| {
                let part: Vec<String> = b
                    .iter()
                    .skip(start)
                    .take(8)
                    .map(|v| format!("{v:02x}"))
                    .collect();
                part.join(" ")
            };
            let count = found.iter().zip(bytes).filter(|(a, b)| a != b).count();
            Err(format!(
                "{count} bytes differ, the first is byte {at}: from byte {start} found [{}], expected [{}]",
                show(found),
                show(bytes)
            ))
        }
        Expect::Known(known) => {
            let filled: Vec<u8> = known
                .iter()
                .zip(found)
                .map(|(k, f)| k.unwrap_or(*f))
                .collect();
            compare(found, &Expect::Bytes(filled))
        }
        Expect::Reals { size, values } => {
            let mut first = None;
            let mut count = 0;
            for (i, (chunk, &(expected, near))) in found.chunks_exact(*size).zip(values).enumerate()
            {
                let found = read_real(chunk);
                if !is_near(found, expected, near, *size) {
                    count += 1;
                    first.get_or_insert((i, found, expected, near));
                }
            }
            match first {
                None if found.len() == values.len() * size => Ok(()),
                None => Err(format!(
                    "{} bytes, {} floats expected",
                    found.len(),
                    values.len()
                )),
                Some((i, found, expected, near)) => Err(format!(
                    "{count} floats differ, the first is number {i}: found {found:e} ({:#x}), expected {expected:e} ({:#x}) {near:?}",
                    found.to_bits(),
                    expected.to_bits()
                )),
            }
        }
    }
}

fn read_real(bytes: &[u8]) -> f64 {
    match bytes {
        [a, b] => half_to_f64(u16::from_le_bytes([*a, *b])),
        [a, b, c, d] => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
        _ => f64::from_le_bytes(std::array::from_fn(|i| bytes[i])),
    }
}

fn is_near(found: f64, expected: f64, near: Near, size: usize) -> bool {
    let bound = match near {
        Near::Free => return true,
        Near::Exact => {
            let same = found.to_bits() == expected.to_bits();
            return same || found.is_nan() && expected.is_nan();
        }
        Near::Value => return found == expected || found.is_nan() && expected.is_nan(),
        Near::Absolute(bound) => bound,
        Near::Ulps(n) => n * ulp(expected, size),
    };
    if found == expected || found.is_nan() && expected.is_nan() {
        return true;
    }
    let (largest, _) = limits(size);
    if found.is_infinite() && expected.is_finite() {
        // Rounded over the largest number.
        return found.signum() == expected.signum() && expected.abs() + bound > largest;
    }
    (found - expected).abs() <= bound
}

/// Largest finite number and smallest normal exponent of floats of `size` bytes.
fn limits(size: usize) -> (f64, i32) {
    match size {
        2 => (65504.0, -14),
        4 => (f64::from(f32::MAX), -126),
        _ => (f64::MAX, -1022),
    }
}

/// One unit in the last place of `x` as a float of `size` bytes.
fn ulp(x: f64, size: usize) -> f64 {
    let (largest, least) = limits(size);
    let digits = match size {
        2 => 10,
        4 => 23,
        _ => 52,
    };
    let x = x.abs().min(largest);
    let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(least);
    let exponent = exponent - digits;
    // powi does not reach the numbers below the normal ones.
    f64::from_bits(if exponent >= -1022 {
        ((exponent + 1023) as u64) << 52
    } else {
        1 << (exponent + 1074)
    })
}

/// The value of a half.
pub(crate) fn half_to_f64(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (
        bits >> 15,
        i32::from(bits >> 10 & 31),
        f64::from(bits & 0x3ff),
    );
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// Direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum To {
    Even,
    Zero,
    Up,
    Down,
}

/// A whole number or the nearest in a direction, of the format `digits` (with the leading one) and
/// least exponent `least` of the last digit.
fn round_digits(x: f64, digits: i32, least: i32, to: To) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
    let unit = (exponent - digits + 1).max(least);
    // Two steps, so that neither factor leaves the range of f64.
    let scaled = x * 2f64.powi(-unit / 2) * 2f64.powi(-unit - -unit / 2);
    let whole = match to {
        To::Even => scaled.round_ties_even(),
        To::Zero => scaled.trunc(),
        To::Up => scaled.ceil(),
        To::Down => scaled.floor(),
    };
    let rounded = whole * 2f64.powi(unit / 2) * 2f64.powi(unit - unit / 2);
    if rounded == 0.0 {
        0f64.copysign(x)
    } else {
        rounded
    }
}

/// `x` rounded to a half, as its value.
pub(crate) fn to_half(x: f64, to: To) -> f64 {
    overflow(round_digits(x, 11, -24, to), 65504.0, to)
}
/// `x` rounded to a float, as its value.
pub(crate) fn to_float(x: f64, to: To) -> f64 {
    overflow(round_digits(x, 24, -149, to), f64::from(f32::MAX), to)
}
fn overflow(x: f64, largest: f64, to: To) -> f64 {
    if x.abs() <= largest || !x.is_finite() {
        return x;
    }
    match (to, x > 0.0) {
        (To::Even, _) | (To::Up, true) | (To::Down, false) => f64::INFINITY.copysign(x),
        _ => largest.copysign(x),
    }
}
/// The bits of a half with this value, which is one.
pub(crate) fn half_bits(x: f64) -> u16 {
    let x = to_half(x, To::Even);
    let sign = u16::from(x.is_sign_negative()) << 15;
    let a = x.abs();
    let magnitude = if a.is_nan() {
        0x7e00
    } else if a.is_infinite() {
        0x7c00
    } else if a < 2f64.powi(-14) {
        (a * 2f64.powi(24)) as u16
    } else {
        let exponent = (a.to_bits() >> 52) as i32 - 1023;
        let fraction = (a * 2f64.powi(10 - exponent)) as u16 - 1024;
        ((exponent + 15) as u16) << 10 | fraction
    };
    sign | magnitude
}

/// A pseudo-random generator with a fixed seed.
pub(crate) struct Draw(u64);
impl Draw {
    /// Starts at `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// A number in `low..high`.
    pub(crate) fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() >> 1) as i64 % (high - low)
    }
    /// `n` numbers in `low..high`.
    pub(crate) fn ints(&mut self, n: usize, low: i64, high: i64) -> Vec<i32> {
        (0..n).map(|_| self.within(low, high) as i32).collect()
    }
}
