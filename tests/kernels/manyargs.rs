//! Twenty-four arguments: eight buffers and sixteen values of mixed size.

#[sycl::kernel]
#[expect(clippy::too_many_arguments, reason = "what is measured")]
pub(crate) fn manyargs(
    o: &mut [i32],
    a: &[i32],
    b: &[i32],
    c: &[i32],
    d: &[i32],
    e: &[i32],
    f: &[i32],
    g: &[i32],
    s0: i32,
    s1: u32,
    s2: i64,
    s3: u64,
    s4: i16,
    s5: u16,
    s6: i8,
    s7: u8,
    s8: f32,
    s9: f64,
    s10: [i32; 2],
    s11: [i32; 4],
    s12: u32,
    s13: u32,
    s14: u32,
    s15: u32,
) {
    let i = sycl::item::<1>().id();
    let mut v = a[i];
    v = v
        .wrapping_add(b[i].wrapping_mul(2))
        .wrapping_add(c[i].wrapping_mul(3));
    v = v
        .wrapping_add(d[i].wrapping_mul(4))
        .wrapping_add(e[i].wrapping_mul(5));
    v = v
        .wrapping_add(f[i].wrapping_mul(6))
        .wrapping_add(g[i].wrapping_mul(7));
    v = v.wrapping_add(s0 + s1 as i32 + s2 as i32 + s3 as i32);
    v = v.wrapping_add(s4 as i32 + s5 as i32 + s6 as i32 + s7 as i32 + s8 as i32 + s9 as i32);
    v = v.wrapping_add(s10[0] + s10[1] + s11[0] + s11[1] + s11[2] + s11[3]);
    o[i] = v.wrapping_add((s12 ^ s13 ^ s14 ^ s15) as i32);
}
