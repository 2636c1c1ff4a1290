//! The extended instruction set "OpenCL.std": numbers and names.

macro_rules! instructions {
    ($($name:ident $text:literal = $number:literal,)*) => {
        /// An instruction of the set, under its name in the specification.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the specification's names")]
        pub enum OpenClStd { $($name = $number,)* }

        impl OpenClStd {
            /// The instruction with this number.
            #[must_use]
            pub fn from_u32(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
            /// Its name, `native_sin`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

instructions! {
    Acos "acos" = 0,
    Acosh "acosh" = 1,
    Acospi "acospi" = 2,
    Asin "asin" = 3,
    Asinh "asinh" = 4,
    Asinpi "asinpi" = 5,
    Atan "atan" = 6,
    Atan2 "atan2" = 7,
    Atanh "atanh" = 8,
    Atanpi "atanpi" = 9,
    Atan2pi "atan2pi" = 10,
    Cbrt "cbrt" = 11,
    Ceil "ceil" = 12,
    Copysign "copysign" = 13,
    Cos "cos" = 14,
    Cosh "cosh" = 15,
    Cospi "cospi" = 16,
    Erfc "erfc" = 17,
    Erf "erf" = 18,
    Exp "exp" = 19,
    Exp2 "exp2" = 20,
    Exp10 "exp10" = 21,
    Expm1 "expm1" = 22,
    Fabs "fabs" = 23,
    Fdim "fdim" = 24,
    Floor "floor" = 25,
    Fma "fma" = 26,
    Fmax "fmax" = 27,
    Fmin "fmin" = 28,
    Fmod "fmod" = 29,
    Fract "fract" = 30,
    Frexp "frexp" = 31,
    Hypot "hypot" = 32,
    Ilogb "ilogb" = 33,
    Ldexp "ldexp" = 34,
    Lgamma "lgamma" = 35,
    LgammaR "lgamma_r" = 36,
    Log "log" = 37,
    Log2 "log2" = 38,
    Log10 "log10" = 39,
    Log1p "log1p" = 40,
    Logb "logb" = 41,
    Mad "mad" = 42,
    Maxmag "maxmag" = 43,
    Minmag "minmag" = 44,
    Modf "modf" = 45,
    Nan "nan" = 46,
    Nextafter "nextafter" = 47,
    Pow "pow" = 48,
    Pown "pown" = 49,
    Powr "powr" = 50,
    Remainder "remainder" = 51,
    Remquo "remquo" = 52,
    Rint "rint" = 53,
    Rootn "rootn" = 54,
    Round "round" = 55,
    Rsqrt "rsqrt" = 56,
    Sin "sin" = 57,
    Sincos "sincos" = 58,
    Sinh "sinh" = 59,
    Sinpi "sinpi" = 60,
    Sqrt "sqrt" = 61,
    Tan "tan" = 62,
    Tanh "tanh" = 63,
    Tanpi "tanpi" = 64,
    Tgamma "tgamma" = 65,
    Trunc "trunc" = 66,
    HalfCos "half_cos" = 67,
    HalfDivide "half_divide" = 68,
    HalfExp "half_exp" = 69,
    HalfExp2 "half_exp2" = 70,
    HalfExp10 "half_exp10" = 71,
    HalfLog "half_log" = 72,
    HalfLog2 "half_log2" = 73,
    HalfLog10 "half_log10" = 74,
    HalfPowr "half_powr" = 75,
    HalfRecip "half_recip" = 76,
    HalfRsqrt "half_rsqrt" = 77,
    HalfSin "half_sin" = 78,
    HalfSqrt "half_sqrt" = 79,
    HalfTan "half_tan" = 80,
    NativeCos "native_cos" = 81,
    NativeDivide "native_divide" = 82,
    NativeExp "native_exp" = 83,
    NativeExp2 "native_exp2" = 84,
    NativeExp10 "native_exp10" = 85,
    NativeLog "native_log" = 86,
    NativeLog2 "native_log2" = 87,
    NativeLog10 "native_log10" = 88,
    NativePowr "native_powr" = 89,
    NativeRecip "native_recip" = 90,
    NativeRsqrt "native_rsqrt" = 91,
    NativeSin "native_sin" = 92,
    NativeSqrt "native_sqrt" = 93,
    NativeTan "native_tan" = 94,
    Fclamp "fclamp" = 95,
    Degrees "degrees" = 96,
    FmaxCommon "fmax_common" = 97,
    FminCommon "fmin_common" = 98,
    Mix "mix" = 99,
    Radians "radians" = 100,
    Step "step" = 101,
    Smoothstep "smoothstep" = 102,
    Sign "sign" = 103,
    Cross "cross" = 104,
    Distance "distance" = 105,
    Length "length" = 106,
    Normalize "normalize" = 107,
    FastDistance "fast_distance" = 108,
    FastLength "fast_length" = 109,
    FastNormalize "fast_normalize" = 110,
    SAbs "s_abs" = 141,
    SAbsDiff "s_abs_diff" = 142,
    SAddSat "s_add_sat" = 143,
    UAddSat "u_add_sat" = 144,
    SHadd "s_hadd" = 145,
    UHadd "u_hadd" = 146,
    SRhadd "s_rhadd" = 147,
    URhadd "u_rhadd" = 148,
    SClamp "s_clamp" = 149,
    UClamp "u_clamp" = 150,
    Clz "clz" = 151,
    Ctz "ctz" = 152,
    SMadHi "s_mad_hi" = 153,
    UMadSat "u_mad_sat" = 154,
    SMadSat "s_mad_sat" = 155,
    SMax "s_max" = 156,
    UMax "u_max" = 157,
    SMin "s_min" = 158,
    UMin "u_min" = 159,
    SMulHi "s_mul_hi" = 160,
    Rotate "rotate" = 161,
    SSubSat "s_sub_sat" = 162,
    USubSat "u_sub_sat" = 163,
    UUpsample "u_upsample" = 164,
    SUpsample "s_upsample" = 165,
    Popcount "popcount" = 166,
    SMad24 "s_mad24" = 167,
    UMad24 "u_mad24" = 168,
    SMul24 "s_mul24" = 169,
    UMul24 "u_mul24" = 170,
    Vloadn "vloadn" = 171,
    Vstoren "vstoren" = 172,
    VloadHalf "vload_half" = 173,
    VloadHalfn "vload_halfn" = 174,
    VstoreHalf "vstore_half" = 175,
    VstoreHalfR "vstore_half_r" = 176,
    VstoreHalfn "vstore_halfn" = 177,
    VstoreHalfnR "vstore_halfn_r" = 178,
    VloadaHalfn "vloada_halfn" = 179,
    VstoreaHalfn "vstorea_halfn" = 180,
    VstoreaHalfnR "vstorea_halfn_r" = 181,
    Shuffle "shuffle" = 182,
    Shuffle2 "shuffle2" = 183,
    Printf "printf" = 184,
    Prefetch "prefetch" = 185,
    Bitselect "bitselect" = 186,
    Select "select" = 187,
    UAbs "u_abs" = 201,
    UAbsDiff "u_abs_diff" = 202,
    UMulHi "u_mul_hi" = 203,
    UMadHi "u_mad_hi" = 204,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_specification_s() {
        let known: Vec<OpenClStd> = (0..1000).filter_map(OpenClStd::from_u32).collect();
        assert_eq!(known.len(), 162);
        let name = |n| OpenClStd::from_u32(n).map(OpenClStd::name);
        assert_eq!(name(26), Some("fma"));
        assert_eq!(name(149), Some("s_clamp"));
        assert_eq!(name(187), Some("select"));
        assert_eq!(name(111), None);
    }
}
