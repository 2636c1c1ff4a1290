//! A queue on the driver in this process, which interprets kernels unless the environment says otherwise.

use std::sync::LazyLock;

use sycl::{Accessor, Buffer, DeviceData, Launch, NdRange, Queue, Read, ReadWrite, Result};

pub(crate) fn queue() -> Queue {
    static QUEUE: LazyLock<Queue> = LazyLock::new(|| {
        if std::env::var_os("SOLUM_COMPILER").is_none() {
            // SAFETY: before the driver reads it, and nothing of this program reads the environment but through std.
            unsafe { std::env::set_var("SOLUM_COMPILER", "interpreter") };
        }
        sycl::use_entry(ze_cpu::entry()).expect("first of all");
        Queue::new().expect("a device")
    });
    QUEUE.clone()
}

/// Runs a kernel `(input, output)` with one work-item for each element of the output, which begins as given.
pub(crate) fn run<A, B, K>(kernel: K, input: &[A], output: &[B]) -> Result<Vec<B>>
where
    A: DeviceData,
    B: DeviceData,
    K: for<'a, 'cg> Launch<
            'cg,
            (
                &'a Accessor<'cg, A, 1, Read>,
                &'a Accessor<'cg, B, 1, ReadWrite>,
            ),
        > + Copy,
{
    let count = output.len();
    grouped(kernel, input, output, count, None)
}

/// The same with work-groups of a size, over `count` work-items.
pub(crate) fn grouped<A, B, K>(
    kernel: K,
    input: &[A],
    output: &[B],
    count: usize,
    group: Option<usize>,
) -> Result<Vec<B>>
where
    A: DeviceData,
    B: DeviceData,
    K: for<'a, 'cg> Launch<
            'cg,
            (
                &'a Accessor<'cg, A, 1, Read>,
                &'a Accessor<'cg, B, 1, ReadWrite>,
            ),
        > + Copy,
{
    // Before the first buffer, which would look for other drivers.
    let queue = queue();
    let input = Buffer::from_slice(input, [input.len()])?;
    let buffer = Buffer::from_slice(output, [output.len()])?;
    queue.submit(|cg| {
        let input = cg.access(&input, Read)?;
        let output = cg.access(&buffer, ReadWrite)?;
        match group {
            None => cg.parallel_for(kernel, [count], (&input, &output)),
            Some(group) => {
                cg.parallel_for_nd(kernel, NdRange::new([count], [group]), (&input, &output))
            }
        }
    })?;
    buffer.into_vec()
}
