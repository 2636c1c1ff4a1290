//! Functions of C that compiled kernels may call.

// The C library's `hypot` is another function from version 2.35 on: the driver would not start with 2.34, and results
// would depend on the system.
extern "C" fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

extern "C" fn hypotf(x: f32, y: f32) -> f32 {
    libm::hypotf(x, y)
}

/// Declares C functions without types, for their addresses, and finds them by name.
macro_rules! functions {
    ($($name:ident)*; ours: $($ours:ident)*) => {
        #[link(name = "m")]
        unsafe extern "C" {
            $(fn $name();)*
        }

        /// The address of a function of C's mathematics, of its memory moves or of the compiler's runtime.
        pub fn resolve(name: &str) -> Option<usize> {
            match name {
                $(stringify!($name) => Some($name as *const () as usize),)*
                $(stringify!($ours) => Some($ours as *const () as usize),)*
                _ => None,
            }
        }

        /// All names.
        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)* $(stringify!($ours)),*];
    };
}

functions! {
    memcpy memmove memset memcmp
    acos acosf acosh acoshf asin asinf asinh asinhf atan atanf atan2 atan2f atanh atanhf
    cbrt cbrtf ceil ceilf copysign copysignf cos cosf cosh coshf erf erff erfc erfcf
    exp expf exp2 exp2f exp10 exp10f expm1 expm1f fabs fabsf fdim fdimf floor floorf
    fma fmaf fmax fmaxf fmin fminf fmod fmodf frexp frexpf ilogb ilogbf
    ldexp ldexpf lgamma lgammaf lgamma_r lgammaf_r llrint llrintf llround llroundf
    log logf log10 log10f log1p log1pf log2 log2f logb logbf lrint lrintf lround lroundf
    modf modff nan nanf nearbyint nearbyintf nextafter nextafterf pow powf
    remainder remainderf remquo remquof rint rintf round roundf roundeven roundevenf
    scalbln scalblnf scalbn scalbnf sin sinf sincos sincosf sinh sinhf sqrt sqrtf
    tan tanf tanh tanhf tgamma tgammaf trunc truncf
    __divti3 __modti3 __udivti3 __umodti3 __multi3 __ashlti3 __ashrti3 __lshrti3
    __fixdfti __fixsfti __fixunsdfti __fixunssfti __floattidf __floattisf __floatuntidf
    __floatuntisf
    __extendhfsf2 __truncsfhf2 __truncdfhf2;
    ours: hypot hypotf
}
