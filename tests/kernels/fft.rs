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
    let l = item::<1>().local_id() as u32;
    let base = item::<1>().group_id() * 256;
    let of = |part: u32| base + (l + 64 * part) as usize;
    let (mut v0, mut v1) = (input[of(0)], input[of(1)]);
    let (mut v2, mut v3) = (input[of(2)], input[of(3)]);
    let mut size = 1u32;
    while size < 256 {
        let k = (l & (size - 1)) * (64 / size);
        v1 = v1.times(twiddles[k as usize]);
        v2 = v2.times(twiddles[(2 * k) as usize]);
        v3 = v3.times(twiddles[(3 * k) as usize]);
        let (a, b, c, d) = (v0.plus(v2), v0.minus(v2), v1.plus(v3), v1.minus(v3));
        let e = Complex {
            re: d.im,
            im: -d.re,
        };
        let at = (l / size) * size * 4 + (l & (size - 1));
        barrier();
        passed[at as usize] = a.plus(c);
        passed[(at + size) as usize] = b.plus(e);
        passed[(at + 2 * size) as usize] = a.minus(c);
        passed[(at + 3 * size) as usize] = b.minus(e);
        barrier();
        v0 = passed[l as usize];
        v1 = passed[(l + 64) as usize];
        v2 = passed[(l + 128) as usize];
        v3 = passed[(l + 192) as usize];
        size *= 4;
    }
    output[of(0)] = v0;
    output[of(1)] = v1;
    output[of(2)] = v2;
    output[of(3)] = v3;
}
