//! The processor as far as plans depend on it.

use kernel_ir::passes::Registers;
use kernel_ir::{Type, TypeId, Types};

/// Vector registers of a processor, and which of its vector accesses are fast.
///
/// ```
/// use vectorise::TargetInfo;
/// let haswell = TargetInfo::x86_64("x86-64-v3", "");
/// assert_eq!((haswell.register_count, haswell.register_bytes), (16, 32));
/// assert!(!haswell.has_mask_registers);
/// // LLVM's feature string has the last word.
/// assert!(TargetInfo::x86_64("x86-64-v3", "+avx512vl").has_mask_registers);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TargetInfo {
    /// Vector registers.
    pub register_count: u64,
    /// Bytes of one of them.
    pub register_bytes: u64,
    /// Whether masks have registers of their own (AVX-512). Masked accesses of all scalar types are then single
    /// instructions, as fast as others.
    pub has_mask_registers: bool,
    /// Whether masked accesses of 4 and 8 bytes are single instructions (AVX2).
    pub has_masked_words: bool,
    /// Whether gathers and scatters are faster than one access for each lane.
    pub has_fast_gathers: bool,
}

impl TargetInfo {
    /// LLVM's processor `cpu` with LLVM's feature string `features`.
    ///
    /// A processor without AVX-512 counts as one with AVX2: for `x86-64-v2`, whose registers have 16 bytes, LLVM splits
    /// each vector into two.
    #[must_use]
    pub fn x86_64(cpu: &str, features: &str) -> Self {
        let by_name = cpu_target::has_avx512(cpu) && asked(features, "+avx512f") != Some(false);
        let is_wide = by_name || asked(features, "+avx512vl") == Some(true);
        let (register_count, register_bytes) = if is_wide { (32, 64) } else { (16, 32) };
        let is_fast = asked(features, cpu_target::FAST_GATHERS);
        Self {
            register_count,
            register_bytes,
            has_mask_registers: is_wide,
            has_masked_words: true,
            has_fast_gathers: is_wide
                && is_fast.unwrap_or_else(|| cpu_target::has_fast_gathers(cpu)),
        }
    }

    /// An AArch64 processor with NEON: 32 registers of 16 bytes, no masked accesses, no gathers. SVE is not described.
    #[must_use]
    pub const fn aarch64() -> Self {
        Self {
            register_count: 32,
            register_bytes: 16,
            has_mask_registers: false,
            has_masked_words: false,
            has_fast_gathers: false,
        }
    }

    /// The registers as loop fission counts them, for sub-groups of `lanes` lanes.
    #[must_use]
    pub fn registers(&self, lanes: u32) -> Registers {
        Registers {
            count: self.register_count,
            bytes: self.register_bytes,
            lanes: u64::from(lanes),
            // Chosen together with oneMKL's single-precision product of 1024 rows, which they made a fifth faster
            // (commit 4ac8bf7); the three numbers are not measured one by one.
            reserved: 8,
            spill_cost: 3,
            load_cost: 3,
        }
    }

    /// Bytes of all vector registers.
    #[must_use]
    pub fn vector_bytes(&self) -> u64 {
        self.register_count * self.register_bytes
    }

    /// Whether a masked load or store of scalars of type `ty` is one instruction.
    #[must_use]
    pub fn has_masked(&self, types: &Types, ty: TypeId) -> bool {
        let sizes: &[u64] = match types.get(ty) {
            Type::Int(_) if self.has_mask_registers => &[1, 2, 4, 8],
            Type::Int(_) | Type::Float(_) if self.has_masked_words => &[4, 8],
            _ => &[],
        };
        sizes.contains(&types.size_of(ty))
    }
}

/// Whether `features` turn `feature` (`+name`) on or off; `None` where they do not name it. As in LLVM, the last
/// mention counts.
#[must_use]
pub fn asked(features: &str, feature: &str) -> Option<bool> {
    let name = feature.trim_start_matches('+');
    let mut words = features.rsplit(',');
    words.find_map(|word| {
        let named = word.strip_prefix(['+', '-'])? == name;
        named.then_some(word.starts_with('+'))
    })
}
