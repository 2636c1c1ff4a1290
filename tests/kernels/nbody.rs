//! All-pairs forces, bodies staged through local memory in tiles of one group.

use sycl::{barrier, item, local, math};

#[sycl::kernel]
pub(crate) fn nbody(bodies: &[[f32; 4]], forces: &mut [[f32; 4]], n: u32, softening: f32) {
    let mut tile = local::<[[f32; 4]; 128]>();
    let (l, size) = (item::<1>().local_id(), item::<1>().local_range());
    let body = bodies[item::<1>().id()];
    let (px, py, pz) = (body[0], body[1], body[2]);
    let (mut ax, mut ay, mut az) = (0.0, 0.0, 0.0);
    for first in (0..n as usize).step_by(size) {
        tile[l] = bodies[first + l];
        barrier();
        for j in 0..size {
            let other = tile[j];
            let (dx, dy, dz) = (other[0] - px, other[1] - py, other[2] - pz);
            let square = dx.mul_add(dx, dy.mul_add(dy, dz.mul_add(dz, softening)));
            let inverse = math::rsqrt(square);
            let force = other[3] * inverse * inverse * inverse;
            ax = force.mul_add(dx, ax);
            ay = force.mul_add(dy, ay);
            az = force.mul_add(dz, az);
        }
        barrier();
    }
    forces[item::<1>().id()] = [ax, ay, az, 0.0];
}
