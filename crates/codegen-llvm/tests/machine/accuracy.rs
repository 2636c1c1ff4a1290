//! The largest error of every function of mathematics, against the C library's binary128 functions (`quad`): edge
//! cases, everyday numbers, all magnitudes, the neighbourhoods of one, of zeros and of ends of ranges.
//!
//! `SOLUM_BLESS=1` writes what is measured to `docs/mathematics.md`; `SOLUM_ACCURACY_ITEMS` takes more numbers. What
//! fails a test is an error above the limit, not another figure than the table's: processors differ a little.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kernel_ir::MathFn;
use kernel_ir::interpret::Program;

use super::ingredients::Random;
use super::mathematics::{FUNCTIONS, REALS, Real, interpret, is_free, kernels, run};
use super::native::{Native, settings};
use super::quad::{Library, Quad};

/// Processors with and without mask registers, for which the code differs.
const PROCESSORS: [&str; 2] = ["x86-64-v3", "x86-64-v4"];

impl Real {
    fn bias(self) -> i32 {
        (self.one() >> self.fraction) as i32
    }
    fn to_f64(self, bits: u64) -> f64 {
        match self.bits {
            64 => f64::from_bits(bits),
            32 => f64::from(f32::from_bits(bits as u32)),
            _ => {
                let size = bits & (self.sign() - 1);
                let fraction = (size & 0x3ff) as f64;
                let v = match size >> 10 {
                    0 => fraction * f64::powi(2.0, -24),
                    0x1f if size == self.infinity() => f64::INFINITY,
                    0x1f => f64::NAN,
                    e => (1024.0 + fraction) * f64::powi(2.0, e as i32 - 25),
                };
                if bits & self.sign() != 0 { -v } else { v }
            }
        }
    }
    /// A number near `v`.
    fn near(self, v: f64) -> u64 {
        match self.bits {
            64 => v.to_bits(),
            32 => u64::from((v as f32).to_bits()),
            _ => {
                // Cut off: which neighbour it is does not matter.
                let sign = if v.is_sign_negative() { self.sign() } else { 0 };
                let v = v.abs();
                let e = (v.to_bits() >> 52) as i32 - 1023;
                let size = match e {
                    ..-14 => (v * f64::powi(2.0, 24)) as u64,
                    16.. => self.infinity(),
                    _ => (((e + 15) as u64) << 10) | (v.to_bits() >> 42 & 0x3ff),
                };
                sign | size
            }
        }
    }

    /// An argument of the sweep.
    fn argument(self, random: &mut Random) -> u64 {
        let unit = (random.next() & 0xffff_ffff) as f64 / f64::from(u32::MAX);
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let quarter = std::f64::consts::FRAC_PI_2;
        match random.below(8) {
            0 | 1 => self.value(random),
            2 => self.ordinary(random, false),
            3 => self.near(sign * unit * 4.0),
            4 => self.near(sign * unit * 40.0),
            // Ends of exponentials' and gamma's ranges.
            5 => self.near(sign * unit * 800.0),
            // One, and not quite.
            6 => {
                self.near(sign * (1.0 + (unit - 0.5) * f64::powi(2.0, -(random.below(30) as i32))))
            }
            // Whole quarter turns and their neighbours; halves.
            _ => {
                let n = random.below(if self.bits == 16 { 64 } else { 100_000 }) as f64;
                let near = [quarter * n, n * 0.5 + unit * 1e-3][random.below(2)];
                let bits = self.near(sign * near);
                if random.below(2) == 0 {
                    bits
                } else {
                    bits.wrapping_add(1)
                }
            }
        }
    }
}

/// The exact result, or nearly; `None` where there is none other than the interpreter's.
fn exact(library: &Library, math: MathFn, args: [f64; 3], n: i32) -> Option<Quad> {
    use MathFn as M;
    let [x, y, z] = args.map(Quad::from_f64);
    let one = |name: &str| library.call(name, &[x]);
    let two = |name: &str| library.call(name, &[x, y]);
    let whole = Quad::from_f64(f64::from(n));
    let of_pi = |v: Quad| library.times(v, Quad::FRAC_1_PI);
    let integral = y == library.call("floor", &[y]);
    Some(match math {
        M::Acos => one("acos"),
        M::Acosh => one("acosh"),
        M::Acospi => of_pi(one("acos")),
        M::Asin => one("asin"),
        M::Asinh => one("asinh"),
        M::Asinpi => of_pi(one("asin")),
        M::Atan => one("atan"),
        M::Atan2 => two("atan2"),
        M::Atan2pi => of_pi(two("atan2")),
        M::Atanh => one("atanh"),
        M::Atanpi => of_pi(one("atan")),
        M::Cbrt => one("cbrt"),
        M::Ceil => one("ceil"),
        M::Cos | M::NativeCos => one("cos"),
        M::Cosh => one("cosh"),
        M::Cospi | M::Sinpi | M::Tanpi => of_turn(library, math, args[0]),
        M::Erf => one("erf"),
        M::Erfc => one("erfc"),
        M::Exp | M::NativeExp => one("exp"),
        M::Exp2 | M::NativeExp2 => one("exp2"),
        M::Exp10 | M::NativeExp10 => one("exp10"),
        M::Expm1 => one("expm1"),
        M::Fdim => two("fdim"),
        M::Floor => one("floor"),
        M::Fma | M::Mad => library.call("fma", &[x, y, z]),
        M::Fmod => two("fmod"),
        M::Hypot => two("hypot"),
        M::Lgamma => one("lgamma"),
        M::Log | M::NativeLog => one("log"),
        M::Log10 | M::NativeLog10 => one("log10"),
        M::Log1p => one("log1p"),
        M::Log2 | M::NativeLog2 => one("log2"),
        M::NativeDivide if args[1] != 0.0 && y.abs() != Quad::INFINITY => {
            library.times(x, library.inverse(y))
        }
        M::NativeRecip => library.inverse(x),
        M::Pow => two("pow"),
        M::Pown => library.call("pow", &[x, whole]),
        M::Powr | M::NativePowr => {
            let endless = args[0] == 1.0 && y.abs().is_infinite();
            let edge = args[1] == 0.0 && (args[0] == 0.0 || x.abs().is_infinite());
            if args[0] < 0.0 || endless || edge || x.is_nan() || y.is_nan() {
                Quad::NAN
            } else {
                library.call("pow", &[x.abs(), y])
            }
        }
        M::Remainder => two("remainder"),
        M::Rint => one("rint"),
        M::Rootn => {
            if n == 0 || (args[0] < 0.0 && n % 2 == 0) || x.is_nan() {
                Quad::NAN
            } else {
                let root = library.call("pow", &[x.abs(), library.inverse(whole)]);
                if x.is_negative() && n % 2 != 0 {
                    root.negated()
                } else {
                    root
                }
            }
        }
        M::Round => one("round"),
        M::Rsqrt | M::NativeRsqrt => library.inverse(one("sqrt")),
        M::Sin | M::NativeSin => one("sin"),
        M::Sinh => one("sinh"),
        M::Sqrt | M::NativeSqrt => one("sqrt"),
        M::Tan | M::NativeTan => one("tan"),
        M::Tanh => one("tanh"),
        // No number at the poles, where C wants an infinity of it at zero alone.
        M::Tgamma if integral || args[0] != f64::NEG_INFINITY => one("tgamma"),
        M::Trunc => one("trunc"),
        _ => return None,
    })
}

/// Of pi times a number: quarter turns are taken off exactly.
fn of_turn(library: &Library, math: MathFn, x: f64) -> Quad {
    if !x.is_finite() {
        return Quad::NAN;
    }
    let angle = x - 2.0 * (x * 0.5).round_ties_even();
    let quarters = (angle * 2.0).round_ties_even();
    let r = library.times(Quad::from_f64(angle - quarters * 0.5), Quad::PI);
    let (sine, cosine) = (library.call("sin", &[r]), library.call("cos", &[r]));
    let turned = |v: Quad, negative: bool| if negative { v.negated() } else { v };
    let n = quarters as i32 & 3;
    match (math, n & 1) {
        (MathFn::Sinpi, 0) => turned(sine, n == 2),
        (MathFn::Sinpi, _) => turned(cosine, n == 3),
        (MathFn::Cospi, 0) => turned(cosine, n == 2),
        (MathFn::Cospi, _) => turned(sine, n == 1),
        (_, 0) => library.times(sine, library.inverse(cosine)),
        _ if r.abs() == Quad::ZERO => turned(Quad::INFINITY, n == 3),
        _ => library.times(cosine, library.inverse(sine)).negated(),
    }
}

/// What is allowed: half a place where results are to be rounded correctly. Halves get one place, where OpenCL allows
/// them two and more.
fn limit(real: Real, ulps: f64) -> f64 {
    match (real.bits, ulps) {
        (_, 0.0) => 0.5,
        (16, ulps) => ulps.min(1.0),
        _ => ulps,
    }
}

/// The largest error of each function and what it was measured at.
type Errors = BTreeMap<&'static str, (f64, String)>;

fn measure(real: Real) -> Errors {
    let items = std::env::var("SOLUM_ACCURACY_ITEMS").ok();
    let items = items.and_then(|n| n.parse().ok()).unwrap_or(2048usize);
    let items = items.div_ceil(64) * 64;
    let library = Library::open();
    let text = kernels(real);
    let module = kernel_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(module.clone(), 8).expect("program");
    let natives: Vec<Native> = PROCESSORS
        .iter()
        .filter(|&&cpu| cpu != "x86-64-v4" || is_x86_feature_detected!("avx512vl"))
        .map(|&cpu| {
            let mut settings = settings(8);
            settings.cpu = cpu.into();
            settings.lanes = Some(8);
            Native::new(module.clone(), settings)
        })
        .collect();
    let mut random = Random::new(0x51 + u64::from(real.bits));
    let mut errors = Errors::new();
    for (index, (name, shape, math, _)) in FUNCTIONS.iter().enumerate() {
        if shape.ends_with(">i") {
            continue;
        }
        let mut input = vec![0u64; items * 3];
        for (i, word) in input.iter_mut().enumerate() {
            *word = match shape.as_bytes().get(i % 3) {
                Some(b'i') => {
                    let edges = [i32::MIN, i32::MAX, 0, 1, -1];
                    let (near, far) = (
                        random.below(40) as i32 - 20,
                        random.below(2400) as i32 - 1200,
                    );
                    [near, far, near, edges[random.below(5)]][random.below(4)] as u32 as u64
                }
                // Every other group has everyday numbers only: vectors of special ones may go another way.
                _ if i / 192 % 2 == 0 => real.ordinary(&mut random, i / 384 % 2 == 0),
                _ => real.argument(&mut random),
            };
        }
        let mut expected = vec![0u64; items];
        interpret(&program, index, &mut input, &mut expected);
        let found: Vec<Vec<u64>> = natives
            .iter()
            .map(|native| {
                let mut out = vec![0u64; items];
                run(native, index, &mut input, &mut out);
                out
            })
            .collect();
        let mut worst = (0.0, String::new());
        for i in 0..items {
            let bits = [input[i * 3], input[i * 3 + 1], input[i * 3 + 2]];
            if is_free(*math, real, bits) {
                continue;
            }
            let n = if shape.ends_with('i') {
                bits[1] as u32 as i32
            } else {
                0
            };
            let args = bits.map(|b| real.to_f64(b));
            let right = exact(&library, *math, args, n);
            let right = right.unwrap_or_else(|| Quad::from_f64(real.to_f64(expected[i])));
            for (found, cpu) in found.iter().zip(PROCESSORS) {
                let place = Quad::from_f64(real.to_f64(found[i]));
                let error = right.ulps(place, real.fraction as i32, real.bias());
                if error > worst.0 {
                    let what = format!("{bits:x?} gives {:#x} on {cpu}", found[i]);
                    worst = (error, what);
                }
            }
        }
        errors.insert(name, worst);
    }
    errors
}

fn hold(real: Real) -> Errors {
    let errors = measure(real);
    let wrong: Vec<String> = FUNCTIONS
        .iter()
        .filter_map(|(name, _, _, ulps)| {
            let (error, place) = errors.get(name)?;
            let limit = limit(real, *ulps);
            let what = real.name;
            (*error > limit).then(|| format!("{name} {what}: {error:.3} of {limit}: {place}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    errors
}

/// All three types, and the table when asked for.
#[test]
fn errors_stay_within_the_full_profile() {
    let [half, float, double] = REALS;
    let all = [float, double, half].map(|real| std::thread::spawn(move || hold(real)));
    let all = all.map(|run| run.join());
    let failures: Vec<String> = all
        .iter()
        .filter_map(|r| r.as_ref().err()?.downcast_ref::<String>().cloned())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let all = all.map(|r| r.unwrap_or_default());
    if std::env::var_os("SOLUM_BLESS").is_none() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mathematics.md");
    let page = std::fs::read_to_string(path).expect("docs/mathematics.md");
    let mark = "<!-- measured -->\n";
    let head = page.split(mark).next().unwrap_or_default();
    let mut table = format!(
        "{head}{mark}\n| function | limit | float | double | half |\n|---|---|---|---|---|\n"
    );
    for (name, _, _, ulps) in FUNCTIONS {
        if !all[0].contains_key(name) {
            continue;
        }
        let cell = |errors: &Errors| {
            let error = errors.get(name).map_or(0.0, |e| e.0);
            format!("{error:.2}")
        };
        let [float, double, half] = [&all[0], &all[1], &all[2]].map(cell);
        let limit = limit(REALS[1], *ulps);
        let _ = writeln!(table, "| {name} | {limit} | {float} | {double} | {half} |");
    }
    std::fs::write(path, table).expect("docs/mathematics.md");
}
