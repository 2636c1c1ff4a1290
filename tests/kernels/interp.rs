//! Byte-code machine: every work-item runs its own program, a 12-way switch per step.

#[sycl::kernel]
pub(crate) fn interp(code: &[u8], data: &[i32], output: &mut [i32], length: u32) {
    let i = sycl::item::<1>().id();
    let first = (i as u32 & 63) * length;
    let (mut a, mut b, mut c) = (data[i], i as i32, 1i32);
    let mut k = 0u32;
    while k < length {
        match code[(first + k) as usize] {
            0 => a = a.wrapping_add(b),
            1 => b ^= a,
            2 => c = c.wrapping_add(a >> 3),
            3 => a = a.wrapping_mul(5).wrapping_add(1),
            4 => b = b.wrapping_sub(c),
            5 => {
                (a, b) = (b, a);
            }
            6 => {
                c = if a > b {
                    c.wrapping_add(1)
                } else {
                    c.wrapping_sub(2)
                }
            }
            7 => a = data[((a ^ c) as u32 & 4095) as usize],
            8 => b = (b << 7) | (b as u32 >> 25) as i32,
            9 => {
                if a & 1 != 0 {
                    k += 1;
                }
            }
            10 => c ^= b & a,
            _ => a = a.wrapping_sub(c),
        }
        k += 1;
    }
    output[i] = a ^ b ^ c;
}
