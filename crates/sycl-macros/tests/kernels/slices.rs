//! Parts of slices, references in structures, functions that return references, and indices that are not checked.

use sycl::kernel::for_each;
use sycl::{Result, item};

use super::device::run;

#[derive(Clone, Copy, sycl::Device)]
struct Grid<'a> {
    cells: &'a [i32],
    width: usize,
    wraps: bool,
}

#[sycl::device]
impl<'a> Grid<'a> {
    fn row(&self, y: usize) -> &'a [i32] {
        &self.cells[y * self.width..(y + 1) * self.width]
    }

    fn at(&self, x: usize, y: usize) -> i32 {
        if self.wraps {
            self.row(y)[x % self.width]
        } else {
            self.row(y).get(x).copied().unwrap_or(-5)
        }
    }
}

#[sycl::device]
fn largest(values: &[i32]) -> i32 {
    let mut most = values[0];
    for value in &values[1..] {
        if *value > most {
            most = *value;
        }
    }
    most
}

#[sycl::device]
fn first_of<'a>(a: &'a mut [i32], b: &'a mut [i32], left: bool) -> &'a mut i32 {
    if left { &mut a[0] } else { &mut b[0] }
}

#[sycl::kernel]
fn parts(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    let grid = Grid {
        cells: &input[..20],
        width: 5,
        wraps: i & 1 == 0,
    };
    let mut sum = grid.at(i % 7, 2) * 1000 + largest(grid.row(i % 4));
    let mut own = [3, 1, 4, 1, 5, 9, 2, 6];
    sum += largest(&own) + largest(&own[2..=4]) + largest(own.as_slice());
    let (left, right) = own.split_at_mut(4);
    *first_of(left, right, i > 3) += i as i32;
    right[1] += left[0];
    left.swap(0, 3);
    right[2..].fill(7);
    for (n, value) in own.iter().enumerate() {
        sum = sum * 3 + *value * n as i32;
    }
    let (head, tail) = input.split_at(i);
    sum += head.len() as i32 * 10 + tail.len() as i32;
    sum += tail.first().copied().unwrap_or(0) + head.last().copied().unwrap_or(-9);
    if let Some(value) = own.get_mut(i) {
        *value = 50;
    }
    output[i] = sum + own[2] + own[own.len() - 1];
}

#[test]
fn parts_of_slices_are_those_of_rust() -> Result<()> {
    let input: Vec<i32> = (0..30).map(|i| i * 37 % 29).collect();
    let mut host = vec![0; 16];
    for_each([16], || parts(&input, &mut host));
    assert_eq!(run(parts, &input, &[0; 16])?, host);
    Ok(())
}

#[sycl::kernel(faults = "mask")]
fn outside(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    output[i] = 1;
    let (a, b) = (input[0] as usize, input[i] as usize);
    let part = &input[a..b];
    output[i] = part.len() as i32 + 10;
    output[i] = part[2];
}

#[test]
fn a_part_outside_ends_the_work_item() -> Result<()> {
    // The part begins at 1. An end of 0 or 9 ends the work-item; in a part of under 3 elements the third is read as 0.
    let got = run(outside, &[1, 0, 2, 3, 4, 9], &[0; 6])?;
    assert_eq!(got, [0, 1, 0, 0, 3, 1]);
    Ok(())
}

#[sycl::kernel]
fn fast(input: &[i32], output: &mut [i32]) {
    let i = item::<1>().id();
    if i < output.len() {
        // SAFETY: both slices have an element for each work-item.
        unsafe {
            *output.get_unchecked_mut(i) = *input.get_unchecked(i) * 2;
        }
    }
}

#[test]
fn an_unchecked_index_has_no_check() -> Result<()> {
    let input: Vec<i32> = (0..30).collect();
    let mut host = vec![0; 30];
    for_each([30], || fast(&input, &mut host));
    assert_eq!(run(fast, &input, &[0; 30])?, host);
    let module = rspirv::dr::load_words(sycl::kernel::spirv(&fast)?).expect("valid words");
    use rspirv::binary::Disassemble;
    let text = module.disassemble();
    // The comparison of the `if` alone.
    assert_eq!(text.matches("OpULessThan").count(), 1, "{text}");
    Ok(())
}
