//! Variables, types, inputs and random choices of random kernels, and comparison of their results.

/// A variable's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Ty {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F16 => "f16",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        }
    }
    pub(crate) fn bytes(self) -> usize {
        match self {
            Ty::I8 => 1,
            Ty::I16 | Ty::F16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
        }
    }
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }
}

/// The variables that every kernel computes and writes out, 8 bytes apart.
pub(crate) const VARIABLES: [Ty; 10] = [
    Ty::I32,
    Ty::I32,
    Ty::I32,
    Ty::I64,
    Ty::F32,
    Ty::F32,
    Ty::F64,
    Ty::F16,
    Ty::I16,
    Ty::I8,
];
/// 32-bit words of input, and of counters.
pub(crate) const INPUTS: usize = 256;
pub(crate) const COUNTERS: usize = 8;

/// A small generator of random numbers; the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// The words that every random kernel reads.
pub(crate) fn inputs(seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed ^ 0xabcd);
    let mut word = || match random.below(4) {
        0 => random.next() as i32,
        1 => random.below(16) as i32 - 8,
        _ => random.below(1000) as i32,
    };
    (0..INPUTS).map(|_| word()).collect()
}

/// Where `a` and `b` differ, when they do: item and variable.
pub(crate) fn difference(a: &[u8], b: &[u8]) -> Option<String> {
    let variables = VARIABLES.len();
    for (i, (x, y)) in a.chunks(8).zip(b.chunks(8)).enumerate() {
        let ty = VARIABLES[i % variables];
        let bits = |v: &[u8]| {
            let mut all = [0; 8];
            all[..ty.bytes()].copy_from_slice(&v[..ty.bytes()]);
            u64::from_le_bytes(all)
        };
        let (x, y) = (bits(x), bits(y));
        let nan = |v: u64| match ty {
            Ty::F16 => v & 0x7fff > 0x7c00,
            Ty::F32 => f32::from_bits(v as u32).is_nan(),
            Ty::F64 => f64::from_bits(v).is_nan(),
            _ => false,
        };
        if x != y && !(nan(x) && nan(y)) {
            return Some(format!(
                "work-item {}, variable {} ({ty:?}): {x:#x} and {y:#x}",
                i / variables,
                i % variables
            ));
        }
    }
    None
}
