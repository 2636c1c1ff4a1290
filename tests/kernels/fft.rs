//! 256-point complex FFT per group of 64: four radix-4 passes through local memory.

use sycl::{barrier, item, local};

/// A complex number.
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
pub(crate) struct Complex {
    re: f32,
    im: f32,
}

impl Complex {
    #[sycl::device]
    fn plus(self, other: Complex) -> Complex {
        Complex {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
    #[sycl::device]
    fn minus(self, other: Complex) -> Complex {
        Complex {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
    #[sycl::device]
    fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re.mul_add(other.re, -(self.im * other.im)),
            im: self.re.mul_add(other.im, self.im * other.re),
        }
    }
}

#[sycl::kernel]
pub(crate) fn fft256(input: &[Complex], output: &mut [Complex], twiddles: &[Complex]) {
    let mut passed = local::<[Complex; 256]>();
    let l = item::<1>().local_id();
    let base = item::<1>().group_id() * 256;
    let (mut v0, mut v1) = (input[base + l], input[base + l + 64]);
    let (mut v2, mut v3) = (input[base + l + 128], input[base + l + 192]);
    let mut size = 1;
    while size < 256 {
        let k = (l & (size - 1)) * (64 / size);
        v1 = v1.times(twiddles[k]);
        v2 = v2.times(twiddles[2 * k]);
        v3 = v3.times(twiddles[3 * k]);
        let (a, b, c, d) = (v0.plus(v2), v0.minus(v2), v1.plus(v3), v1.minus(v3));
        let e = Complex {
            re: d.im,
            im: -d.re,
        };
        let at = (l / size) * size * 4 + (l & (size - 1));
        barrier();
        passed[at] = a.plus(c);
        passed[at + size] = b.plus(e);
        passed[at + 2 * size] = a.minus(c);
        passed[at + 3 * size] = b.minus(e);
        barrier();
        v0 = passed[l];
        v1 = passed[l + 64];
        v2 = passed[l + 128];
        v3 = passed[l + 192];
        size *= 4;
    }
    output[base + l] = v0;
    output[base + l + 64] = v1;
    output[base + l + 128] = v2;
    output[base + l + 192] = v3;
}
