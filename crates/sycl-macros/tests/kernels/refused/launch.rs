//! Launches whose arguments are not the kernel's.
use sycl::{Buffer, Queue, Read, ReadWrite, Result, item, kernel};

#[kernel]
fn scale(by: f32, x: &[f32], y: &mut [f32]) {}

fn launches(q: &Queue, f: &Buffer<'_, f32>, i: &Buffer<'_, i32>, host: &[f32]) -> Result<()> {
    q.submit(|cg| {
        let (x, y) = (cg.access(f, Read)?, cg.access(f, ReadWrite)?);
        cg.parallel_for(scale, [1], (1.0, &x))
    })?;
    q.submit(|cg| {
        let (x, y) = (cg.access(f, Read)?, cg.access(f, Read)?);
        cg.parallel_for(scale, [1], (1.0, &x, &y))
    })?;
    q.submit(|cg| {
        let (x, y) = (cg.access(i, Read)?, cg.access(f, ReadWrite)?);
        cg.parallel_for(scale, [1], (1.0, &x, &y))
    })?;
    q.submit(|cg| {
        let (x, y) = (cg.local::<f32, 1>([1]), cg.access(f, ReadWrite)?);
        cg.parallel_for(scale, [1], (1.0, &x, &y))
    })?;
    q.submit(|cg| {
        let (x, y) = (cg.access(f, Read)?, cg.access(f, ReadWrite)?);
        cg.parallel_for(scale, [1], (1u32, &x, &y))
    })?;
    q.submit(|cg| {
        let y = cg.access(f, ReadWrite)?;
        cg.parallel_for(scale, [1], (1.0, host, &y))
    })?;
    Ok(())
}
