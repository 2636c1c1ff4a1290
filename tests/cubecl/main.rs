//! Kernels of `tests/kernels` in CubeCL, on its back end for processors: the sizes, data and tolerances of `bench.c` there,
//! and its line of results.
//!
//! `./x bench cubecl` builds this in a project of its own, whose only other dependency is libc. `main CASE WIDTH UNITS`
//! measures a kernel with vectors of WIDTH numbers and cubes of UNITS units; 0 units are as many as a cube may have.

use std::process::ExitCode;
use std::time::Instant;

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;

#[cube(launch_unchecked)]
fn saxpy<N: Size>(y: &mut [Vector<f32, N>], x: &[Vector<f32, N>], a: f32) {
    let i = ABSOLUTE_POS;
    if i < y.len() {
        y[i] = fma(Vector::new(a), x[i], y[i]);
    }
}

/// `row` is the number of vectors in a row.
#[cube(launch_unchecked)]
fn gemm_naive<N: Size>(
    a: &[f32],
    b: &[Vector<f32, N>],
    c: &mut [Vector<f32, N>],
    n: u32,
    row: u32,
) {
    let (j, i) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y);
    if j < row && i < n {
        let mut sum = Vector::<f32, N>::new(0.0);
        for k in 0..n {
            sum = fma(
                Vector::new(a[(i * n + k) as usize]),
                b[(k * row + j) as usize],
                sum,
            );
        }
        c[(i * row + j) as usize] = sum;
    }
}

#[cube(launch_unchecked)]
fn stencil2d(input: &[f32], output: &mut [f32], w: u32, h: u32, c0: f32, c1: f32) {
    let (x, y) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y);
    if x < w && y < h {
        let p = (y * w + x) as usize;
        if x == 0 || y == 0 || x == w - 1 || y == h - 1 {
            output[p] = input[p];
        } else {
            let w = w as usize;
            let around = input[p - 1] + input[p + 1] + input[p - w] + input[p + w];
            output[p] = fma(c0, input[p], c1 * around);
        }
    }
}

/// The random numbers of `bench.c`, from 0 to 1.
struct Random(u32);

impl Random {
    fn numbers(&mut self, count: usize) -> Vec<f32> {
        let next = |_| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 17;
            self.0 ^= self.0 << 5;
            (self.0 >> 8) as f32 * 5.960_464_5e-8
        };
        (0..count).map(next).collect()
    }
}

/// The output of a case, and the largest relative error.
struct Expected {
    numbers: Vec<f32>,
    tolerance: f64,
}

impl Expected {
    /// How many numbers are wrong, as `bench.c` decides.
    fn wrong(&self, got: &[f32]) -> usize {
        let squares = self.numbers.iter().map(|&number| f64::from(number).powi(2));
        let scale = (squares.sum::<f64>() / self.numbers.len() as f64).sqrt();
        let is_right = |(&got, &wanted): (&f32, &f32)| {
            let (got, wanted) = (f64::from(got), f64::from(wanted));
            (got - wanted).abs() <= self.tolerance * (wanted.abs() + scale)
        };
        let right = got.iter().zip(&self.numbers).filter(|&pair| is_right(pair));
        self.numbers.len().max(got.len()) - right.count()
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at)?.parse::<usize>().ok();
    let (Some(case), Some(width), Some(units)) = (words.first(), number(1), number(2)) else {
        eprintln!("main CASE WIDTH UNITS");
        return ExitCode::from(2);
    };
    let client = cubecl::Device::Cpu(Default::default()).client();
    let most = client.properties().hardware.max_units_per_cube;
    let units = if units == 0 { most } else { units as u32 };
    let on_device = |numbers: &[f32]| client.create_from_slice(f32::as_bytes(numbers));
    let mut random = Random(1);
    let good = match case.as_str() {
        "saxpy" | "saxpy_l2" => {
            let n: usize = if case == "saxpy" { 8 << 20 } else { 96 << 10 };
            let (first, more) = (random.numbers(n), random.numbers(n));
            let (y, x) = (on_device(&first), on_device(&more));
            let sums = first.iter().zip(&more).map(|(y, x)| 1e-6f32 * x + y);
            let expected = Expected {
                numbers: sums.collect(),
                tolerance: 1e-6,
            };
            let cubes = CubeCount::Static((n / width) as u32 / units, 1, 1);
            // SAFETY: the lengths are those of the buffers.
            run(&client, case, &y, &expected, || unsafe {
                saxpy::launch_unchecked(
                    &client,
                    cubes.clone(),
                    CubeDim::new_1d(units),
                    width,
                    BufferArg::from_raw_parts(y.clone(), n),
                    BufferArg::from_raw_parts(x.clone(), n),
                    1e-6,
                );
            })
        }
        "gemm_naive" => {
            let n = 384usize;
            let (left, right) = (random.numbers(n * n), random.numbers(n * n));
            let (a, b) = (on_device(&left), on_device(&right));
            let c = client.empty(n * n * size_of::<f32>());
            let mut numbers = vec![0.0f32; n * n];
            for (left, sums) in left.chunks(n).zip(numbers.chunks_mut(n)) {
                for (left, right) in left.iter().zip(right.chunks(n)) {
                    sums.iter_mut().zip(right).for_each(|(sum, right)| *sum += left * right);
                }
            }
            let expected = Expected {
                numbers,
                tolerance: 1e-5,
            };
            let row = (n / width) as u32;
            let cubes = CubeCount::Static(row / units, n as u32, 1);
            // SAFETY: the lengths are those of the buffers.
            run(&client, case, &c, &expected, || unsafe {
                gemm_naive::launch_unchecked(
                    &client,
                    cubes.clone(),
                    CubeDim::new_1d(units),
                    width,
                    BufferArg::from_raw_parts(a.clone(), n * n),
                    BufferArg::from_raw_parts(b.clone(), n * n),
                    BufferArg::from_raw_parts(c.clone(), n * n),
                    n as u32,
                    row,
                );
            })
        }
        "stencil2d" => {
            let (w, h) = (1024usize, 512usize);
            let numbers = random.numbers(w * h);
            let (input, output) = (on_device(&numbers), client.empty(w * h * size_of::<f32>()));
            let mut expected = numbers.clone();
            for p in (1..h - 1).flat_map(|y| y * w + 1..y * w + w - 1) {
                let around = numbers[p - 1] + numbers[p + 1] + numbers[p - w] + numbers[p + w];
                expected[p] = 0.5 * numbers[p] + 0.125 * around;
            }
            let expected = Expected {
                numbers: expected,
                tolerance: 1e-5,
            };
            let cubes = CubeCount::Static(w as u32 / units, h as u32, 1);
            // SAFETY: the lengths are those of the buffers.
            run(&client, case, &output, &expected, || unsafe {
                stencil2d::launch_unchecked(
                    &client,
                    cubes.clone(),
                    CubeDim::new_1d(units),
                    BufferArg::from_raw_parts(input.clone(), w * h),
                    BufferArg::from_raw_parts(output.clone(), w * h),
                    w as u32,
                    h as u32,
                    0.5,
                    0.125,
                );
            })
        }
        _ => {
            eprintln!("no case {case} (saxpy, saxpy_l2, gemm_naive, stencil2d)");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(!good))
}

/// Milliseconds of all threads of this process.
fn processor_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is that of a local.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
}

/// Checks the output of the first launch, then times launches as `bench.c` does: batches of 50 ms, the best of five.
fn run(client: &Client, case: &str, out: &Handle, expected: &Expected, launch: impl Fn()) -> bool {
    let batch_of = |count: usize| {
        let (began, before) = (Instant::now(), processor_time());
        (0..count).for_each(|_| launch());
        let end = cubecl::future::block_on(client.sync());
        let wall = began.elapsed().as_secs_f64() * 1e3;
        (end.is_ok(), wall, processor_time() - before)
    };
    let (mut good, first, _) = batch_of(1);
    let wrong = expected.wrong(f32::from_bytes(&client.read_one_unchecked(out.clone())));
    good &= wrong == 0;
    let mut batch = 1usize;
    loop {
        let (_, wall, _) = batch_of(batch);
        if wall >= 50.0 {
            break;
        }
        batch = match wall < 2.5 {
            true => batch * 10,
            false => (batch as f64 * 57.5 / wall) as usize + 1,
        };
    }
    let (mut wall, mut processor) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        let (ended, batch_wall, batch_processor) = batch_of(batch);
        good &= ended;
        wall = wall.min(batch_wall / batch as f64);
        processor = processor.min(batch_processor / batch as f64);
    }
    println!(
        "case={case} ok={} min_ms={wall:.5} cpu_ms={processor:.5} first_ms={first:.2} wrong={wrong} batch={batch}",
        if good { "yes" } else { "NO" },
    );
    good
}
