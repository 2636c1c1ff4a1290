//! Heat flows over a plate; two devices compute one half each. Each device writes its own rows and reads one row of the
//! other half: after each step the runtime copies only that row.
//!
//! `SOLUM_DEVICES=cpu:2,discrete cargo run --release -p sycl --example stencil` has two devices with their own memories.

use sycl::{Buffer, BufferOptions, Device, Queue, Range, Read, Result, Write, info};

const WIDTH: usize = 512;
const HEIGHT: usize = 512;
const STEPS: usize = 50;

/// Computes the rows of `after`. Row 0 of `after` is row `first` of the plate. The same row is row `skip` of `before`.
#[sycl::kernel]
fn heat(before: &[f32], after: &mut [f32], first: usize, skip: usize) {
    let at = sycl::item::<2>().id();
    let (row, x) = (at[0], at[1]);
    let y = first + row;
    let i = (skip + row) * WIDTH + x;
    let here = before[i];
    after[row * WIDTH + x] = if x == 0 || y == 0 || x + 1 == WIDTH || y + 1 == HEIGHT {
        // The border keeps its temperature.
        here
    } else {
        let around = before[i - 1] + before[i + 1] + before[i - WIDTH] + before[i + WIDTH];
        here + 0.24 * (around - 4.0 * here)
    };
}

fn plate() -> Vec<f32> {
    let hot = |x: usize, y: usize| (x / 64 + y / 64).is_multiple_of(3);
    let place = |i: usize| (i % WIDTH, i / WIDTH);
    (0..WIDTH * HEIGHT)
        .map(|i| {
            if hot(place(i).0, place(i).1) {
                100.0
            } else {
                0.0
            }
        })
        .collect()
}

/// The same on one thread, for comparison.
fn by_hand(mut now: Vec<f32>) -> Vec<f32> {
    let mut next = now.clone();
    for _ in 0..STEPS {
        for y in 1..HEIGHT - 1 {
            for x in 1..WIDTH - 1 {
                let i = y * WIDTH + x;
                let around = now[i - 1] + now[i + 1] + now[i - WIDTH] + now[i + WIDTH];
                next[i] = now[i] + 0.24 * (around - 4.0 * now[i]);
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    now
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let mut devices = Device::all(None)?;
    devices.truncate(2);
    let queues: Vec<Queue> = devices
        .iter()
        .map(|device| Queue::builder().device(device).build())
        .collect::<Result<_>>()?;
    for queue in &queues {
        println!("device: {}", queue.device().info::<info::device::Name>()?);
    }

    // A page is one row, so copies and conflicts are determined by row.
    let options = BufferOptions {
        page_size: Some(Range([1, WIDTH])),
        ..BufferOptions::default()
    };
    let mut now = Buffer::from_slice_with(&plate(), [HEIGHT, WIDTH], &options)?;
    let mut next = Buffer::<f32, 2>::with_options([HEIGHT, WIDTH], &options)?;
    let share = HEIGHT / queues.len();
    for _ in 0..STEPS {
        for (number, queue) in queues.iter().enumerate() {
            let first = number * share;
            let end = if number + 1 == queues.len() {
                HEIGHT
            } else {
                first + share
            };
            let (above, below) = (first.saturating_sub(1), (end + 1).min(HEIGHT));
            queue.submit(|cg| {
                let before = cg.access_ranged(&now, Read, [below - above, WIDTH], [above, 0])?;
                let after =
                    cg.access_ranged(&next, Write.no_init(), [end - first, WIDTH], [first, 0])?;
                // A slice begins with the first element of the accessor's part.
                let arguments = (&before, &after, first, first - above);
                cg.parallel_for(heat, [end - first, WIDTH], arguments)
            })?;
        }
        std::mem::swap(&mut now, &mut next);
    }

    let got = now.into_vec()?;
    let want = by_hand(plate());
    let worst = got
        .iter()
        .zip(&want)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    println!(
        "{STEPS} steps of {WIDTH} x {HEIGHT} on {} devices; largest difference {worst:e}",
        queues.len()
    );
    assert!(worst < 1e-2, "{worst}");
    Ok(())
}
