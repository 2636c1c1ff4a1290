//! Floats side by side: four ([`Lanes`], one instruction each on x86-64, loops elsewhere) and eight ([`Eight`], two times
//! four, or one instruction each where the processor has AVX2). Whichever are used, numbers come out the same.
//!
//! Minimum and maximum return the second number if one is NaN, as the instructions do.

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::arch::x86_64::*;

    /// Four floats.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Lanes(__m128);

    /// All bits or no bits of each lane.
    #[derive(Clone, Copy)]
    pub(crate) struct Mask(__m128);

    impl Mask {
        /// A bit for each lane.
        #[inline(always)]
        pub(crate) fn bits(self) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_movemask_ps(self.0) }.cast_unsigned()
        }
    }

    macro_rules! two {
        ($($name:ident $instruction:ident,)*) => { $(
            #[inline(always)]
            pub(crate) fn $name(self, other: Self) -> Self {
                // SAFETY: every x86-64 has SSE2.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        )* };
    }

    impl Lanes {
        pub(crate) const fn new(floats: [f32; 4]) -> Self {
            // SAFETY: both are sixteen bytes, any of which make floats.
            Self(unsafe { std::mem::transmute::<[f32; 4], __m128>(floats) })
        }

        #[inline(always)]
        pub(crate) fn array(self) -> [f32; 4] {
            // SAFETY: as above.
            unsafe { std::mem::transmute(self.0) }
        }

        two! {
            plus _mm_add_ps,
            minus _mm_sub_ps,
            times _mm_mul_ps,
            over _mm_div_ps,
            least _mm_min_ps,
            greatest _mm_max_ps,
        }

        /// A bit for each lane: at most the other's.
        #[inline(always)]
        pub(crate) fn at_most(self, other: Self) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_movemask_ps(_mm_cmple_ps(self.0, other.0)) }.cast_unsigned()
        }

        /// All bits of each lane that is at most the other's.
        #[inline(always)]
        pub(crate) fn is_at_most(self, other: Self) -> Mask {
            // SAFETY: every x86-64 has SSE2.
            Mask(unsafe { _mm_cmple_ps(self.0, other.0) })
        }

        /// No number in the mask's lanes.
        #[inline(always)]
        pub(crate) fn where_not(self, mask: Mask) -> Self {
            // SAFETY: every x86-64 has SSE2.
            Self(unsafe { _mm_or_ps(self.0, mask.0) })
        }

        /// No number but in the mask's lanes.
        #[inline(always)]
        pub(crate) fn only_where(self, mask: Mask) -> Self {
            // SAFETY: every x86-64 has SSE2.
            Self(unsafe {
                let all = _mm_castsi128_ps(_mm_set1_epi32(-1));
                _mm_or_ps(self.0, _mm_xor_ps(mask.0, all))
            })
        }

        /// The sign bits.
        #[inline(always)]
        pub(crate) fn sign(self) -> Self {
            // SAFETY: every x86-64 has SSE2.
            Self(unsafe { _mm_and_ps(self.0, _mm_set1_ps(-0.0)) })
        }

        /// Flips the signs where the others are negative.
        #[inline(always)]
        pub(crate) fn turned(self, signs: Self) -> Self {
            // SAFETY: every x86-64 has SSE2.
            Self(unsafe { _mm_xor_ps(self.0, signs.0) })
        }

        /// Towards zero; the lanes are in the range of the result.
        #[inline(always)]
        pub(crate) fn whole(self) -> [i32; 4] {
            // SAFETY: every x86-64 has SSE2; both are sixteen bytes, any of which make integers.
            unsafe { std::mem::transmute(_mm_cvttps_epi32(self.0)) }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    /// Four floats.
    #[derive(Clone, Copy)]
    #[repr(C, align(16))]
    pub(crate) struct Lanes([f32; 4]);

    /// All bits or no bits of each lane.
    #[derive(Clone, Copy)]
    pub(crate) struct Mask([bool; 4]);

    impl Mask {
        /// A bit for each lane.
        pub(crate) fn bits(self) -> u32 {
            (0..4).fold(0, |bits, i| bits | u32::from(self.0[i]) << i)
        }
    }

    macro_rules! two {
        ($($name:ident $how:expr,)*) => { $(
            #[inline(always)]
            pub(crate) fn $name(self, other: Self) -> Self {
                let how: fn(f32, f32) -> f32 = $how;
                Self(std::array::from_fn(|i| how(self.0[i], other.0[i])))
            }
        )* };
    }

    impl Lanes {
        pub(crate) const fn new(floats: [f32; 4]) -> Self {
            Self(floats)
        }

        pub(crate) fn array(self) -> [f32; 4] {
            self.0
        }

        two! {
            plus |a, b| a + b,
            minus |a, b| a - b,
            times |a, b| a * b,
            over |a, b| a / b,
            least |a, b| if a < b { a } else { b },
            greatest |a, b| if a > b { a } else { b },
        }

        /// A bit for each lane: at most the other's.
        pub(crate) fn at_most(self, other: Self) -> u32 {
            (0..4).fold(0, |bits, i| bits | u32::from(self.0[i] <= other.0[i]) << i)
        }

        /// Whether each lane is at most the other's.
        pub(crate) fn is_at_most(self, other: Self) -> Mask {
            Mask(std::array::from_fn(|i| self.0[i] <= other.0[i]))
        }

        /// No number in the mask's lanes.
        pub(crate) fn where_not(self, mask: Mask) -> Self {
            let float = |i: usize| if mask.0[i] { f32::NAN } else { self.0[i] };
            Self(std::array::from_fn(float))
        }

        /// No number but in the mask's lanes.
        pub(crate) fn only_where(self, mask: Mask) -> Self {
            self.where_not(Mask(mask.0.map(|is_set| !is_set)))
        }

        /// The sign bits.
        pub(crate) fn sign(self) -> Self {
            Self(self.0.map(|float| 0.0_f32.copysign(float)))
        }

        /// Flips the signs where the others are negative.
        pub(crate) fn turned(self, signs: Self) -> Self {
            let turn = |i: usize| f32::from_bits(self.0[i].to_bits() ^ signs.0[i].to_bits());
            Self(std::array::from_fn(turn))
        }

        /// Towards zero; the lanes are in the range of the result.
        pub(crate) fn whole(self) -> [i32; 4] {
            self.0.map(|float| float as i32)
        }
    }
}

pub(crate) use machine::Lanes;

impl Lanes {
    /// The same four times.
    #[inline(always)]
    pub(crate) fn all(float: f32) -> Self {
        Self::new([float; 4])
    }

    /// From four words in native byte order.
    #[inline(always)]
    pub(crate) fn from_bytes(bytes: &[u8; 16]) -> Self {
        let (words, _) = bytes.as_chunks::<4>();
        Self::new(std::array::from_fn(|i| f32::from_ne_bytes(words[i])))
    }
}

/// Eight floats.
pub(crate) trait Eight: Copy {
    fn all(float: f32) -> Self;
    /// From eight words in native byte order.
    fn from_bytes(bytes: &[u8; 32]) -> Self;
    fn array(self) -> [f32; 8];
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    /// A bit for each lane: at most the other's.
    fn at_most(self, other: Self) -> u32;
}

/// Two times four.
#[derive(Clone, Copy)]
pub(crate) struct Twice(Lanes, Lanes);

impl Eight for Twice {
    #[inline(always)]
    fn all(float: f32) -> Self {
        Self(Lanes::all(float), Lanes::all(float))
    }
    #[inline(always)]
    fn from_bytes(bytes: &[u8; 32]) -> Self {
        let (halves, _) = bytes.as_chunks::<16>();
        Self(Lanes::from_bytes(&halves[0]), Lanes::from_bytes(&halves[1]))
    }
    #[inline(always)]
    fn array(self) -> [f32; 8] {
        let (low, high) = (self.0.array(), self.1.array());
        std::array::from_fn(|i| if i < 4 { low[i] } else { high[i - 4] })
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0.minus(other.0), self.1.minus(other.1))
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Self(self.0.times(other.0), self.1.times(other.1))
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0), self.1.plus(other.1))
    }
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Self(self.0.least(other.0), self.1.least(other.1))
    }
    #[inline(always)]
    fn greatest(self, other: Self) -> Self {
        Self(self.0.greatest(other.0), self.1.greatest(other.1))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u32 {
        self.0.at_most(other.0) | self.1.at_most(other.1) << 4
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::Eight;
    use std::arch::x86_64::*;

    /// One AVX register; used only if the processor has AVX2, inside functions that are compiled for it.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Once(__m256);

    macro_rules! two {
        ($($name:ident $instruction:ident,)*) => { $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: created only if there is AVX2.
                Self(unsafe { $instruction(self.0, other.0) })
            }
        )* };
    }

    impl Eight for Once {
        #[inline(always)]
        fn all(float: f32) -> Self {
            // SAFETY: only called where there is AVX2.
            Self(unsafe { _mm256_set1_ps(float) })
        }
        #[inline(always)]
        fn from_bytes(bytes: &[u8; 32]) -> Self {
            // SAFETY: as above; 32 bytes, of any alignment.
            Self(unsafe { _mm256_loadu_ps(bytes.as_ptr().cast()) })
        }
        #[inline(always)]
        fn array(self) -> [f32; 8] {
            // SAFETY: both are 32 bytes, any of which make floats.
            unsafe { std::mem::transmute(self.0) }
        }
        two! {
            minus _mm256_sub_ps,
            times _mm256_mul_ps,
            plus _mm256_add_ps,
            least _mm256_min_ps,
            greatest _mm256_max_ps,
        }
        #[inline(always)]
        fn at_most(self, other: Self) -> u32 {
            // SAFETY: created only if there is AVX2.
            let mask = unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) };
            mask.cast_unsigned()
        }
    }
}
#[cfg(target_arch = "x86_64")]
pub(crate) use wide::Once;

/// Whether the processor has the instructions of functions that are compiled for AVX2.
pub(crate) fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Prefetches the cache line at an address, which may be invalid.
#[inline(always)]
pub fn fetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE; a prefetch of any address does nothing that can be seen.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
