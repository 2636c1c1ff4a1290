//! Four floats side by side: one instruction each on x86-64, loops elsewhere.
//!
//! Least and greatest are the second number when one is none, as the instructions have it.

#[cfg(target_arch = "x86_64")]
mod machine {
    use std::arch::x86_64::*;

    /// Four floats.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Lanes(__m128);

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

        /// Towards zero; the lanes are in the range of the result.
        #[inline(always)]
        pub(crate) fn whole(self) -> [i32; 4] {
            // SAFETY: every x86-64 has SSE2; both are sixteen bytes, any of which make integers.
            unsafe { std::mem::transmute(_mm_cvttps_epi32(self.0)) }
        }

        /// Rows become columns.
        #[inline(always)]
        pub(crate) fn transpose([a, b, c, d]: [Self; 4]) -> [Self; 4] {
            // SAFETY: every x86-64 has SSE2.
            unsafe {
                let (ab, ab_high) = (_mm_unpacklo_ps(a.0, b.0), _mm_unpackhi_ps(a.0, b.0));
                let (cd, cd_high) = (_mm_unpacklo_ps(c.0, d.0), _mm_unpackhi_ps(c.0, d.0));
                [
                    Self(_mm_movelh_ps(ab, cd)),
                    Self(_mm_movehl_ps(cd, ab)),
                    Self(_mm_movelh_ps(ab_high, cd_high)),
                    Self(_mm_movehl_ps(cd_high, ab_high)),
                ]
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    /// Four floats.
    #[derive(Clone, Copy)]
    #[repr(C, align(16))]
    pub(crate) struct Lanes([f32; 4]);

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

        /// Towards zero; the lanes are in the range of the result.
        pub(crate) fn whole(self) -> [i32; 4] {
            self.0.map(|float| float as i32)
        }

        /// Rows become columns.
        pub(crate) fn transpose(rows: [Self; 4]) -> [Self; 4] {
            std::array::from_fn(|i| Self(std::array::from_fn(|j| rows[j].0[i])))
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

/// Asks for the cache line at an address, which may be any.
#[inline(always)]
pub(crate) fn fetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE; a prefetch of any address does nothing that can be seen.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
