//! The same particle step over an array of 28-byte structures and over seven arrays.

use sycl::item;

/// A particle: place, velocity, mass.
#[derive(Clone, Copy, sycl::Device)]
#[repr(C)]
pub(crate) struct Particle {
    x: f32,
    y: f32,
    z: f32,
    vx: f32,
    vy: f32,
    vz: f32,
    mass: f32,
}

#[sycl::kernel]
pub(crate) fn step_aos(before: &[Particle], after: &mut [Particle], dt: f32) {
    let i = item::<1>().id();
    let mut p = before[i];
    let f = dt / p.mass;
    p.vx = (-f).mul_add(p.x, p.vx);
    p.vy = (-f).mul_add(p.y, p.vy);
    p.vz = (-f).mul_add(p.z, p.vz);
    p.x = dt.mul_add(p.vx, p.x);
    p.y = dt.mul_add(p.vy, p.y);
    p.z = dt.mul_add(p.vz, p.z);
    after[i] = p;
}

#[sycl::kernel]
#[expect(
    clippy::too_many_arguments,
    reason = "seven arrays in, six out: what is measured"
)]
pub(crate) fn step_soa(
    x: &[f32],
    y: &[f32],
    z: &[f32],
    vx: &[f32],
    vy: &[f32],
    vz: &[f32],
    mass: &[f32],
    ox: &mut [f32],
    oy: &mut [f32],
    oz: &mut [f32],
    ovx: &mut [f32],
    ovy: &mut [f32],
    ovz: &mut [f32],
    dt: f32,
) {
    let i = item::<1>().id();
    let f = -(dt / mass[i]);
    let (a, b, c) = (
        f.mul_add(x[i], vx[i]),
        f.mul_add(y[i], vy[i]),
        f.mul_add(z[i], vz[i]),
    );
    ovx[i] = a;
    ovy[i] = b;
    ovz[i] = c;
    ox[i] = dt.mul_add(a, x[i]);
    oy[i] = dt.mul_add(b, y[i]);
    oz[i] = dt.mul_add(c, z[i]);
}
