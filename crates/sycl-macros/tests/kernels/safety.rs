//! An index out of bounds, and a division without a result, end the work-item; nothing else is touched.

#![forbid(unsafe_code)]

use sycl::{Buffer, ReadWrite, Result, item};

use super::device::{queue, run};

#[sycl::kernel]
fn careless(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    output[i] = 1;
    let at = input[i] as usize;
    output[i] = 2;
    output[at] = 7;
    output[i] = 100 / (input[i] - 3) + 3;
}

#[test]
fn a_bad_index_ends_the_work_item() -> Result<()> {
    // Index 9 is outside of 8 elements; 3 divides by zero; the last work-items have no input.
    let got = run(careless, &[0, 9, 3, u32::MAX], &[0; 8])?;
    assert_eq!(got[0], 3, "it ran to its end");
    assert_eq!(got[1], 2, "the index ended it");
    assert_eq!(got[2], 2, "the division ended it");
    assert_eq!(&got[4..], [1, 1, 1, 1], "the input has four elements");
    Ok(())
}

#[test]
fn a_part_of_a_buffer_is_a_slice_of_its_own() -> Result<()> {
    #[sycl::kernel]
    fn fill(output: &mut [u32]) {
        let i = item::<1>().id();
        output[i] = output.len() as u32;
    }
    let queue = queue();
    let buffer = Buffer::from_slice(&[0u32; 10], [10])?;
    queue.submit(|cg| {
        let part = cg.access_ranged(&buffer, ReadWrite, [4], [3])?;
        cg.parallel_for(fill, [10], (&part,))
    })?;
    assert_eq!(buffer.into_vec()?, [0, 0, 0, 4, 4, 4, 4, 0, 0, 0]);
    Ok(())
}
