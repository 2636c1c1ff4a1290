//! Every function of mathematics as machine code against the interpreter, which rounds a double result
//! once: within OpenCL's limits (or better), at special values and over all magnitudes.

use super::ingredients::Random;
use super::native::{Native, settings};
use super::raw::Raw;
use kernel_ir::MathFn;
use kernel_ir::abi::Launch;
use kernel_ir::interpret::{Program, Run};

/// What a function takes and gives: `f` float, `i` Int(32).
pub(super) const FUNCTIONS: &[(&str, &str, MathFn, f64)] = {
    use MathFn as M;
    // Error in units in the last place that OpenCL's full profile allows a float; doubles are held
    // to the same, which is stricter than the specification only where that says so in a comment.
    &[
        ("acos", "f", M::Acos, 4.0),
        ("acosh", "f", M::Acosh, 4.0),
        ("acospi", "f", M::Acospi, 5.0),
        ("asin", "f", M::Asin, 4.0),
        ("asinh", "f", M::Asinh, 4.0),
        ("asinpi", "f", M::Asinpi, 5.0),
        ("atan", "f", M::Atan, 5.0),
        ("atan2", "ff", M::Atan2, 6.0),
        ("atanh", "f", M::Atanh, 5.0),
        ("atanpi", "f", M::Atanpi, 5.0),
        ("atan2pi", "ff", M::Atan2pi, 6.0),
        ("cbrt", "f", M::Cbrt, 2.0),
        ("ceil", "f", M::Ceil, 0.0),
        ("copysign", "ff", M::Copysign, 0.0),
        ("cos", "f", M::Cos, 4.0),
        ("cosh", "f", M::Cosh, 4.0),
        ("cospi", "f", M::Cospi, 4.0),
        ("erf", "f", M::Erf, 16.0),
        ("erfc", "f", M::Erfc, 16.0),
        ("exp", "f", M::Exp, 3.0),
        ("exp2", "f", M::Exp2, 3.0),
        ("exp10", "f", M::Exp10, 3.0),
        ("expm1", "f", M::Expm1, 3.0),
        ("fabs", "f", M::Fabs, 0.0),
        ("fdim", "ff", M::Fdim, 0.0),
        ("floor", "f", M::Floor, 0.0),
        ("fmax", "ff", M::Fmax, 0.0),
        ("fmin", "ff", M::Fmin, 0.0),
        ("fmod", "ff", M::Fmod, 0.0),
        ("hypot", "ff", M::Hypot, 4.0),
        ("log", "f", M::Log, 3.0),
        ("log2", "f", M::Log2, 3.0),
        ("log10", "f", M::Log10, 3.0),
        ("log1p", "f", M::Log1p, 2.0),
        ("logb", "f", M::Logb, 0.0),
        ("maxmag", "ff", M::Maxmag, 0.0),
        ("minmag", "ff", M::Minmag, 0.0),
        ("nextafter", "ff", M::Nextafter, 0.0),
        ("pow", "ff", M::Pow, 16.0),
        ("powr", "ff", M::Powr, 16.0),
        ("remainder", "ff", M::Remainder, 0.0),
        ("rint", "f", M::Rint, 0.0),
        ("round", "f", M::Round, 0.0),
        ("rsqrt", "f", M::Rsqrt, 2.0),
        ("sin", "f", M::Sin, 4.0),
        ("sinh", "f", M::Sinh, 4.0),
        ("sinpi", "f", M::Sinpi, 4.0),
        ("sqrt", "f", M::Sqrt, 0.0),
        ("tan", "f", M::Tan, 5.0),
        ("tanh", "f", M::Tanh, 5.0),
        ("tanpi", "f", M::Tanpi, 6.0),
        ("tgamma", "f", M::Tgamma, 16.0),
        ("lgamma", "f", M::Lgamma, 256.0),
        ("trunc", "f", M::Trunc, 0.0),
        ("nativecos", "f", M::NativeCos, 4.0),
        ("nativedivide", "ff", M::NativeDivide, 2.0),
        ("nativeexp", "f", M::NativeExp, 4.0),
        ("nativeexp2", "f", M::NativeExp2, 4.0),
        ("nativeexp10", "f", M::NativeExp10, 4.0),
        ("nativelog", "f", M::NativeLog, 4.0),
        ("nativelog2", "f", M::NativeLog2, 4.0),
        ("nativelog10", "f", M::NativeLog10, 4.0),
        // A product of 128 with half a place of error in the exponent, and as much again of the logarithm.
        ("nativepowr", "ff", M::NativePowr, 8192.0),
        ("nativerecip", "f", M::NativeRecip, 2.0),
        ("nativersqrt", "f", M::NativeRsqrt, 16.0),
        ("nativesin", "f", M::NativeSin, 4.0),
        ("nativesqrt", "f", M::NativeSqrt, 2.0),
        ("nativetan", "f", M::NativeTan, 5.0),
        ("fma", "fff", M::Fma, 0.0),
        ("mad", "fff", M::Mad, 0.0),
        ("ldexp", "fi", M::Ldexp, 0.0),
        ("pown", "fi", M::Pown, 16.0),
        ("rootn", "fi", M::Rootn, 16.0),
        ("ilogb", "f>i", M::Ilogb, 0.0),
        ("frexpmantissa", "f", M::FrexpMantissa, 0.0),
        ("frexpexponent", "f>i", M::FrexpExponent, 0.0),
        ("modffraction", "f", M::ModfFraction, 0.0),
        ("modfinteger", "f", M::ModfInteger, 0.0),
        ("fract", "f", M::Fract, 0.0),
        ("lgammasign", "f>i", M::LgammaSign, 0.0),
        ("remquoquotient", "ff>i", M::RemquoQuotient, 0.0),
    ]
};

/// A float type: name, bits of the fraction, bits of all, bytes.
#[derive(Clone, Copy)]
pub(super) struct Real {
    pub(super) name: &'static str,
    pub(super) fraction: u32,
    pub(super) bits: u32,
}

pub(super) const REALS: [Real; 3] = [
    Real {
        name: "f16",
        fraction: 10,
        bits: 16,
    },
    Real {
        name: "f32",
        fraction: 23,
        bits: 32,
    },
    Real {
        name: "f64",
        fraction: 52,
        bits: 64,
    },
];

impl Real {
    pub(super) fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }
    pub(super) fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }
    pub(super) fn one(self) -> u64 {
        (self.infinity() >> 1) & self.infinity()
    }
    fn is_nan(self, v: u64) -> bool {
        v & (self.sign() - 1) > self.infinity()
    }
    /// Places on the line of all values, zeros in one.
    fn line(self, v: u64) -> i128 {
        let magnitude = i128::from(v & (self.sign() - 1));
        if v & self.sign() != 0 {
            -magnitude
        } else {
            magnitude
        }
    }
    /// From 2^-6 to 2^6, or that and negative.
    pub(super) fn ordinary(self, random: &mut Random, positive: bool) -> u64 {
        let fraction = (random.next() << 16 ^ random.next()) & ((1 << self.fraction) - 1);
        let exponent = (self.one() >> self.fraction) + random.below(12) as u64 - 6;
        let sign = if positive || random.below(2) == 0 {
            0
        } else {
            self.sign()
        };
        sign | exponent << self.fraction | fraction
    }
    pub(super) fn value(self, random: &mut Random) -> u64 {
        let all = u64::MAX >> (64 - self.bits);
        let fraction = random.next() << 16 ^ random.next();
        let small = (1u64 << self.fraction) - 1;
        match random.below(8) {
            0 => [
                0,
                self.sign(),
                self.infinity(),
                self.sign() | self.infinity(),
                self.infinity() + 1 + (self.sign() >> self.bits.min(2)) % small,
                1,
                self.sign() | small,
                self.infinity() - 1,
                self.one(),
                self.sign() | self.one(),
            ][random.below(10)],
            1 | 2 => fraction.wrapping_mul(0x9e37_79b9_7f4a_7c15) & all,
            // Small integers and halves of them.
            3 => {
                let whole = 1 + random.below(16) as u64;
                let top = 63 - whole.leading_zeros();
                let rest = (whole - (1 << top)) << (self.fraction - top);
                let exponent = (self.one() >> self.fraction) + u64::from(top) - random.next() % 2;
                (random.next() & self.sign()) | exponent << self.fraction | rest
            }
            // Around one, where most work is.
            _ => {
                let exponent = (self.one() >> self.fraction) - 4 + random.next() % 9;
                (random.next() % 2 * self.sign()) | exponent << self.fraction | fraction & small
            }
        }
    }
}

/// Whether the machine's result is right where the interpreter's is `expected`.
fn near(real: Real, found: u64, expected: u64, ulps: f64) -> bool {
    if real.is_nan(expected) || real.is_nan(found) {
        return real.is_nan(expected) && real.is_nan(found);
    }
    let apart = (real.line(found) - real.line(expected)).unsigned_abs();
    // One more: the interpreter's own rounding.
    apart as f64 <= if ulps == 0.0 { 0.0 } else { ulps + 1.0 }
}

/// OpenCL leaves these to the implementation.
pub(super) fn is_free(function: MathFn, real: Real, args: [u64; 3]) -> bool {
    let size = args.map(|v| v & (real.sign() - 1));
    let quiet = real.infinity() | 1 << (real.fraction - 1);
    if size.iter().any(|&v| v > real.infinity() && v < quiet) {
        // Signalling NaNs.
        return true;
    }
    match function {
        // The quotient of what has none.
        MathFn::RemquoQuotient => {
            size[0] >= real.infinity() || size[1] == 0 || size[1] > real.infinity()
        }
        // The sign of gamma at its poles.
        MathFn::LgammaSign => true,
        // native_ functions promise nothing far out.
        MathFn::NativeCos | MathFn::NativeSin | MathFn::NativeTan => {
            size[0] > real.one() + (4 << real.fraction)
        }
        _ => false,
    }
}

/// A kernel for each function: item after item, three words of arguments in, a word out.
pub(super) fn kernels(real: Real) -> String {
    let mut text = String::new();
    let bytes = real.bits / 8;
    for (name, shape, ..) in FUNCTIONS {
        let (takes, gives) = shape.split_once('>').unwrap_or((shape, "f"));
        let mut operands = Vec::new();
        text += &format!(
            "kernel @{name}(%in: ptr<global>, %out: ptr<global>) {{\nb0:\n  %g: i64 = wi.GlobalInvocationId 0\n  %po: ptr<global> = offset %out [%g * 8 + 0]\n"
        );
        for (i, kind) in takes.bytes().enumerate() {
            let (ty, align) = match kind {
                b'i' => ("i32", 4),
                _ => (real.name, bytes),
            };
            text += &format!(
                "  %p{i}: ptr<global> = offset %in [%g * 24 + {}]\n  %a{i}: {ty} = load %p{i} align {align}\n",
                i * 8
            );
            operands.push(format!("%a{i}"));
        }
        let (ty, align) = match gives {
            "i" => ("i32", 4),
            _ => (real.name, bytes),
        };
        text += &format!(
            "  %r: {ty} = math.{name} {}\n  store %po, %r align {align}\n  ret\n}}\n",
            operands.join(", ")
        );
    }
    text
}

/// A launch over as many items as there are results; a multiple of 64.
fn launch(results: &[u64]) -> Launch {
    Launch {
        group_size: [64, 1, 1],
        work_dim: 1,
        group_count: [results.len() as u32 / 64, 1, 1],
        items_per_group: 64,
        ..Launch::default()
    }
}

fn block(input: &mut [u64], out: &mut [u64]) -> Vec<u8> {
    assert_eq!(input.len(), out.len() * 3, "three arguments to each result");
    let words = [input.as_mut_ptr() as u64, out.as_mut_ptr() as u64];
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Function number `kernel` by the interpreter.
pub(super) fn interpret(program: &Program, kernel: usize, input: &mut [u64], out: &mut [u64]) {
    let launch = launch(out);
    let run = Run {
        kernel,
        args: &block(input, out),
        launch: &launch,
        first_group: 0,
        group_count: u64::from(launch.group_count[0]),
        variables: &[],
        budget: None,
    };
    let (name, ..) = FUNCTIONS[kernel];
    program
        .run(&run, &mut Raw)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
}

/// The same as machine code.
pub(super) fn run(native: &Native, kernel: usize, input: &mut [u64], out: &mut [u64]) {
    let launch = launch(out);
    let block = block(input, out);
    let mut args = [0u128; 1];
    let mut memory = [0u128; 64];
    // SAFETY: the block is two pointers to buffers as long as the grid; no local memory is used.
    unsafe {
        args.as_mut_ptr()
            .cast::<u8>()
            .copy_from_nonoverlapping(block.as_ptr(), 16);
        let args = std::slice::from_raw_parts(args.as_ptr().cast::<u8>(), 16);
        let groups = 0..u64::from(launch.group_count[0]);
        let memory = memory.as_mut_ptr().cast::<u8>();
        let memory = memory.add(memory.align_offset(64));
        native.run(kernel, args, &launch, groups, memory);
    }
}

fn compare(real: Real) {
    const ITEMS: usize = 4096;
    let mut random = Random::new(u64::from(real.bits));
    let text = kernels(real);
    let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    kernel_ir::validate(&module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let program = Program::new(module.clone(), 8).expect("program");
    let mut settings = settings(8);
    settings.lanes = Some(8);
    let native = Native::new(module, settings);
    let mut wrong = Vec::new();
    for (index, (name, shape, function, ulps)) in FUNCTIONS.iter().enumerate() {
        let mut input = vec![0u64; ITEMS * 3];
        for (i, word) in input.iter_mut().enumerate() {
            let kind = shape.as_bytes().get(i % 3);
            *word = match kind {
                Some(b'i') => {
                    let edges = [i32::MIN, i32::MAX, 0, 1, -1];
                    let far = random.below(600) as i32 - 300;
                    let near = random.below(20) as i32 - 10;
                    let edge = edges[random.below(5)];
                    u64::from([near, far, near, edge][random.below(4)] as u32)
                }
                // Every other group has numbers of everyday size only: vectors of special and huge ones
                // may go another way.
                _ if i / 3 / 64 % 2 == 0 => real.ordinary(&mut random, i / 3 / 128 % 2 == 0),
                _ => real.value(&mut random),
            };
        }
        let mut results = [vec![0u64; ITEMS], vec![0u64; ITEMS]];
        let [interpreted, compiled] = &mut results;
        interpret(&program, index, &mut input, interpreted);
        run(&native, index, &mut input, compiled);
        // The interpreter's own gamma loses so much far below zero.
        let ulps = match function {
            MathFn::Tgamma => 256.0,
            _ => *ulps,
        };
        let mut shown = 0;
        for i in 0..ITEMS {
            let args = [input[i * 3], input[i * 3 + 1], input[i * 3 + 2]];
            let (expected, found) = (results[0][i], results[1][i]);
            let good = if shape.ends_with(">i") {
                expected == found
            } else {
                near(real, found, expected, ulps)
            };
            if !good && !is_free(*function, real, args) && shown < 3 {
                shown += 1;
                wrong.push(format!(
                    "{name} {}: {args:x?} gives {found:#x} as machine code, {expected:#x} interpreted",
                    real.name
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn half_mathematics() {
    compare(REALS[0]);
}

#[test]
fn float_mathematics() {
    compare(REALS[1]);
}

#[test]
fn double_mathematics() {
    compare(REALS[2]);
}
