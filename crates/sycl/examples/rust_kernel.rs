//! Kernels in Rust: on the device and on the host, the same function. The samples of docs/rust-kernels.md.
//!
//! `cargo run -p sycl --example rust_kernel`

#![forbid(unsafe_code)]

use sycl::{Buffer, NdRange, Queue, Read, ReadWrite, Result};

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let n = 1 << 16;
    let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let x = Buffer::from_vec(values.clone(), [n])?;
    let y = Buffer::from_vec(vec![1.0f32; n], [n])?;

    #[sycl::kernel]
    fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
        let i = sycl::item::<1>().id();
        if i < y.len() {
            y[i] += a * x[i];
        }
    }

    queue.submit(|cg| {
        let (x, y) = (cg.access(&x, Read)?, cg.access(&y, ReadWrite)?);
        cg.parallel_for(saxpy, [n], (2.0, &x, &y))
    })?;

    let mut on_host = vec![1.0f32; n];
    sycl::kernel::for_each([n], || saxpy(2.0, &values, &mut on_host));
    let on_device = y.host_access(Read)?;
    assert!((0..n).all(|i| on_device[i] == on_host[i]));
    println!("{n} elements, equal on device and host");

    #[sycl::kernel(sub_group_size = 16)]
    fn sums(x: &[f32], totals: &mut [f32]) {
        let (i, lanes) = (sycl::item::<1>().id(), sycl::sub_group());
        let sum = lanes.reduce(x[i], sycl::Plus);
        if lanes.local_id() == 0 {
            sycl::atomic::add(&mut totals[0], sum);
        }
    }

    // Sums of these are exact in any order.
    let values: Vec<f32> = (0..1024u16).map(|i| f32::from(i % 8)).collect();
    let range = NdRange::new([1024], [64]);
    let x = Buffer::from_vec(values.clone(), [1024])?;
    let totals = Buffer::from_vec(vec![0.0f32], [1])?;
    queue.submit(|cg| {
        let (x, totals) = (cg.access(&x, Read)?, cg.access(&totals, ReadWrite)?);
        cg.parallel_for_nd(sums, range, (&x, &totals))
    })?;
    let mut on_host = [0.0];
    sycl::kernel::for_each_group(range, sums, (&values, &mut on_host))?;
    let on_device = totals.host_access(Read)?;
    assert!(on_device[0] == on_host[0]);
    println!("the sum {}, equal on device and host", on_host[0]);

    #[sycl::kernel]
    fn reverse(values: &mut [u32]) {
        let it = sycl::item::<1>();
        let mut tile = sycl::local::<[u32; 64]>();
        let last = it.local_range() - 1;
        tile[it.local_id()] = values[it.id()];
        sycl::barrier();
        values[it.id()] = tile[last - it.local_id()];
    }

    let values = Buffer::from_vec((0..64).collect(), [64])?;
    queue.submit(|cg| {
        let values = cg.access(&values, ReadWrite)?;
        cg.parallel_for_nd(reverse, NdRange::new([64], [64]), (&values,))
    })?;

    const SHIFT: sycl::SpecId<u32> = sycl::SpecId::new(0);

    #[sycl::kernel]
    fn shifted(values: &mut [u32]) {
        values[sycl::item::<1>().id()] <<= sycl::spec_constant(SHIFT, 1);
    }

    queue.submit(|cg| {
        let values = cg.access(&values, ReadWrite)?;
        cg.spec_const(SHIFT, 4)?;
        cg.parallel_for(shifted, [64], (&values,))
    })?;
    assert!((0..64).eq(values.into_vec()?.into_iter().rev().map(|x| x >> 4)));
    Ok(())
}
