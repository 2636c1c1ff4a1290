//! Records two steps of heat flow once and replays them. Each replay is one Level Zero call.
//!
//! `cargo run --release -p sycl --example graph_replay`

#![forbid(unsafe_code)]

use std::time::Instant;

use sycl::{Buffer, Graph, Queue, Read, Result, Write};

const SIZE: usize = 64;
const REPLAYS: usize = 200;

#[sycl::kernel]
fn heat(before: &[f32], after: &mut [f32]) {
    let at = sycl::item::<2>().id();
    let (y, x) = (at[0], at[1]);
    let i = y * SIZE + x;
    let here = before[i];
    after[i] = if x == 0 || y == 0 || x + 1 == SIZE || y + 1 == SIZE {
        // The border keeps its temperature.
        here
    } else {
        let around = before[i - 1] + before[i + 1] + before[i - SIZE] + before[i + SIZE];
        here + 0.24 * (around - 4.0 * here)
    };
}

fn step<'cg>(
    cg: sycl::Handler<'cg>,
    from: &Buffer<'_, f32, 2>,
    to: &Buffer<'_, f32, 2>,
) -> Result<sycl::Command<'cg>> {
    let before = cg.access(from, Read)?;
    let after = cg.access(to, Write.no_init())?;
    cg.parallel_for(heat, [SIZE, SIZE], (&before, &after))
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<()> {
    let queue = Queue::new()?;
    let mut plate = vec![0.0f32; SIZE * SIZE];
    plate[SIZE * SIZE / 2 + SIZE / 2] = 1000.0;
    let buffers = || -> Result<_> {
        let a = Buffer::<f32, 2>::from_slice(&plate, [SIZE, SIZE])?;
        Ok((a, Buffer::<f32, 2>::new([SIZE, SIZE])?))
    };

    let (a, b) = buffers()?;
    let began = Instant::now();
    for _ in 0..REPLAYS {
        queue.submit(|cg| step(cg, &a, &b))?;
        queue.submit(|cg| step(cg, &b, &a))?;
    }
    queue.wait()?;
    let submitted = began.elapsed();
    let want = a.into_vec()?;

    let (a, b) = buffers()?;
    let mut graph = Graph::new(&queue);
    graph.add(|cg| step(cg, &a, &b))?;
    graph.add(|cg| step(cg, &b, &a))?;
    let graph = graph.finalize()?;
    let began = Instant::now();
    for _ in 0..REPLAYS {
        queue.submit_graph(&graph, &[])?;
    }
    queue.wait()?;
    println!(
        "{REPLAYS} times two steps: {:.1} ms submitted one by one, {:.1} ms replayed",
        submitted.as_secs_f64() * 1e3,
        began.elapsed().as_secs_f64() * 1e3
    );
    assert!(a.into_vec()? == want, "both ways compute the same");
    Ok(())
}
