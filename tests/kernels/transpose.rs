//! 32x32 tile through local memory, 32x8 work-items.

use sycl::{barrier, item, local};

#[sycl::kernel]
pub(crate) fn transpose(input: &[f32], output: &mut [f32], n: u32) {
    let mut tile = local::<[[f32; 33]; 32]>();
    let local_id = item::<2>().local_id();
    let (ly, lx) = (local_id[0] as u32, local_id[1] as u32);
    let group = item::<2>().group_id();
    let (gy, gx) = (group[0] as u32, group[1] as u32);
    let (bx, by) = (gx * 32, gy * 32);
    for k in (0..32).step_by(8) {
        tile[(ly + k) as usize][lx as usize] = input[((by + ly + k) * n + bx + lx) as usize];
    }
    barrier();
    for k in (0..32).step_by(8) {
        output[((bx + ly + k) * n + by + lx) as usize] = tile[lx as usize][(ly + k) as usize];
    }
}
