//! An index out of bounds: a read gives zero, a write is left out. So does a division without a result give zero.

#![forbid(unsafe_code)]

use sycl::{Buffer, ReadWrite, Result, atomic, barrier, item, local};

use super::device::{grouped, queue, run};

#[sycl::kernel(faults = "mask")]
fn careless(input: &[u32], output: &mut [u32]) {
    let i = item::<1>().id();
    // Inside for half of the work-items.
    let value = input[i];
    output[i + 4] = value + 1;
    output[i] = 100 / value + 10 % value;
}

#[test]
fn outside_reads_give_zero_and_writes_are_left_out() -> Result<()> {
    let got = run(careless, &[1, 0, 7, 60], &[9; 8])?;
    // The upper half has no input, and nowhere to write the sum.
    assert_eq!(got, [100, 0, 17, 11, 0, 0, 0, 0]);
    Ok(())
}

/// A point, of more members than a vector has.
#[derive(Clone, Copy, Debug, PartialEq, sycl::Device)]
#[repr(C)]
struct Body {
    place: [f32; 3],
    mass: f32,
    index: u32,
}

impl Body {
    #[sycl::device]
    fn heavier(&mut self, by: f32) -> f32 {
        self.mass += by;
        self.mass
    }
}

#[sycl::kernel(faults = "mask")]
fn bodies(input: &[[i16; 4]], output: &mut [Body]) {
    let i = item::<1>().id();
    let pixel = input[i];
    let mut body = output[i + 2];
    body.index += pixel[3] as u32;
    body.place[1] += pixel[0] as f32;
    output[i] = body;
    let mass = output[i + 1].heavier(2.0);
    output[i].place[2] = mass;
}

#[test]
fn composites_outside_are_zeros() -> Result<()> {
    let body = |index: u32| Body {
        place: [index as f32, 0.0, 0.0],
        mass: 1.0,
        index,
    };
    let input = [[1i16, 2, 3, 4]];
    let before: Vec<Body> = (5..7).map(body).collect();
    // Work-item 0: element 2 is outside. Work-item 1 has no input, and ends at a reference to element 2.
    let got = run(bodies, &input, &before)?;
    let zero = Body {
        place: [0.0; 3],
        mass: 0.0,
        index: 0,
    };
    assert_eq!(got[0].index, 4);
    assert_eq!(got[0].place[1], 1.0);
    assert_eq!(got[0].mass, 0.0);
    assert_eq!(got[1].place, zero.place);
    Ok(())
}

#[sycl::kernel(faults = "mask")]
fn meet(input: &[u32], output: &mut [u32]) {
    let mut sums = local::<[u32; 4]>();
    let l = item::<1>().local_id();
    sums[l] = input[item::<1>().id()];
    barrier();
    let mut sum = 0;
    for other in sums.iter() {
        sum += *other;
    }
    atomic::add(&mut output[item::<1>().id()], sum);
}

/// Work-items with an index outside arrive at the barrier; a change in place is left out for them too.
#[test]
fn all_work_items_arrive_at_barriers() -> Result<()> {
    let got = grouped(meet, &[1, 2, 3, 4, 5, 6], &[0; 7], 8, Some(4))?;
    assert_eq!(got, [10, 10, 10, 10, 11, 11, 11]);
    Ok(())
}

#[test]
fn a_part_of_a_buffer_is_a_slice_of_its_own() -> Result<()> {
    #[sycl::kernel(faults = "mask")]
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

#[test]
fn parts_of_whole_rows_are_slices_in_more_dimensions() -> Result<()> {
    #[sycl::kernel]
    fn count(output: &mut [u32]) {
        let i = item::<1>().id();
        output[i] = (output.len() + i) as u32;
    }
    let queue = queue();
    let plane = Buffer::from_slice(&[0u32; 12], [3, 4])?;
    let cube = Buffer::from_slice(&[0u32; 24], [2, 3, 4])?;
    let fill = |offset: usize, rows: usize| {
        queue.submit(|cg| {
            let part = cg.access_ranged(&plane, ReadWrite, [rows, 4], [offset, 0])?;
            cg.parallel_for(count, [rows * 4], (&part,))
        })
    };
    fill(0, 3)?;
    fill(1, 2)?;
    assert_eq!(
        plane.into_vec()?,
        [12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15]
    );

    // Part of a row has no gaps either; a column, and a block of parts of rows, have.
    for (range, gaps) in [
        ([1, 1, 2], false),
        ([1, 2, 4], false),
        ([2, 3, 4], false),
        ([0, 3, 1], false),
        ([1, 2, 1], true),
        ([2, 1, 4], true),
        ([2, 2, 4], true),
    ] {
        let submitted = queue.submit(|cg| {
            let part = cg.access_ranged(&cube, ReadWrite, range, [0, 0, 0])?;
            cg.parallel_for(count, [1], (&part,))
        });
        let refused = submitted.err().map(|error| error.to_string());
        assert_eq!(refused.is_some(), gaps, "{range:?}: {refused:?}");
        if let Some(text) = refused {
            assert!(
                text.contains("kernel count") && text.contains("whole rows"),
                "{text}"
            );
        }
    }
    Ok(())
}
