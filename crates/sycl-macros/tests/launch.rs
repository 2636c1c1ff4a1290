//! Embedded kernels run with the arguments that their signatures ask for, and others do not compile.

use std::sync::LazyLock;

use sycl::{Buffer, Queue, Read, ReadWrite, Result, Write};

sycl::kernels! {
    /// From the binary.
    unsafe mod binary = "modules/particles.spv";
}
sycl::kernels! {
    unsafe mod text = "modules/particles.spvasm" { saxpy as axpy, everything }
}

fn queue() -> Queue {
    static QUEUE: LazyLock<Queue> = LazyLock::new(|| {
        // SAFETY: before the driver reads it, and nothing of this program reads the environment but through std.
        unsafe { std::env::set_var("SOLUM_COMPILER", "interpreter") };
        sycl::use_entry(ze_cpu::entry()).expect("first of all");
        Queue::new().expect("a device")
    });
    QUEUE.clone()
}

fn saxpy<K>(kernel: K) -> Result<Vec<f32>>
where
    K: for<'a, 'cg> sycl::Launch<
            'cg,
            (
                f32,
                &'a sycl::Accessor<'cg, f32, 1, Read>,
                &'a sycl::Accessor<'cg, f32, 1, ReadWrite>,
            ),
        > + Copy,
{
    let queue = queue();
    let x = Buffer::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
    let y = Buffer::from_slice(&[10.0f32; 4], [4])?;
    for _ in 0..2 {
        queue.submit(|cg| {
            let x = cg.access(&x, Read)?;
            let y = cg.access(&y, ReadWrite)?;
            cg.parallel_for(kernel, [4], (2.0, &x, &y))
        })?;
    }
    y.into_vec()
}

#[test]
fn binaries_and_text_give_the_same_kernel() -> Result<()> {
    assert_eq!(saxpy(binary::saxpy)?, [14.0, 18.0, 22.0, 26.0]);
    assert_eq!(saxpy(text::axpy)?, [14.0, 18.0, 22.0, 26.0]);
    Ok(())
}

#[test]
fn structures_vectors_and_local_memory_are_passed_as_the_kernel_has_them() -> Result<()> {
    let queue = queue();
    let particle = text::Particle::new(1.0, 2.0, -3, b'p', 0.5);
    let out = Buffer::<text::Particle>::new([8])?;
    let vectors = Buffer::from_vec((0..8).map(|i| [i as f32, 0.0, 0.0, 0.0]).collect(), [8])?;
    let packed = Buffer::from_vec((0..8).map(|i| text::Packed::new(1, i * 100)).collect(), [8])?;
    queue.submit(|cg| {
        let out = cg.access(&out, Write)?;
        let vectors = cg.access(&vectors, Read)?;
        let packed = cg.access(&packed, Read)?;
        let scratch = cg.local::<i32, 1>([1]);
        let range = sycl::NdRange {
            global: [8].into(),
            local: [1].into(),
        };
        let third = [0.0, 0.0, 0.25];
        let arguments = (
            particle, &out, &vectors, &scratch, 8u64, 7u8, third, &packed,
        );
        cg.parallel_for_nd(text::everything, range, arguments)
    })?;
    for (i, got) in (0..).zip(out.into_vec()?) {
        let i = f32::from(i as u8);
        assert_eq!(
            got,
            text::Particle::new(1.0 + i + 0.25 + i * 100.0 + 7.0, 2.0, -3, b'p', 0.5)
        );
    }
    Ok(())
}
