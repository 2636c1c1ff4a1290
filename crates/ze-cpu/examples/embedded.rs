//! A Rust program that contains all of Solum, driver and compiler. It compiles a kernel at run time, draws the
//! Mandelbrot set on the terminal with it, and opens no library of Solum.
//!
//! `cargo run --release -p solum-ze-cpu --features embedded --example embedded`

use std::error::Error;
use std::time::Instant;

use level_zero::{Loader, ModuleSource};

// Compiled from mandelbrot.cl by clang -target spirv64.
static SPIRV: &[u8] = include_bytes!("../../level-zero/kernels/mandelbrot.spv");
const WIDTH: u32 = 96;
const HEIGHT: u32 = 64;
const LIMIT: u32 = 500;
/// From few steps to many.
const SHADES: &[u8] = b" .:-=+*#%@";

#[expect(clippy::print_stdout, reason = "an example talks to people")]
fn main() -> Result<(), Box<dyn Error>> {
    // The only difference from a program on a loader, which calls `Loader::open()?`.
    let loader = Loader::from_entry(ze_cpu::entry())?;
    let driver = loader.drivers()?.into_iter().next().ok_or("no driver")?;
    let device = driver.devices()?.into_iter().next().ok_or("no device")?;
    println!("device: {}", device.properties()?.name);

    let context = driver.create_context()?;
    let began = Instant::now();
    let module = context.build_module(&device, ModuleSource::Spirv(SPIRV), "")?;
    let built = began.elapsed().as_secs_f64() * 1e3;

    let steps = context.allocate_shared::<u32>(&device, (WIDTH * HEIGHT) as usize)?;
    let mut kernel = module.create_kernel("mandelbrot")?;
    let group = kernel.suggest_group_size([WIDTH, HEIGHT, 1])?;
    kernel.set_group_size(group)?;
    kernel.set_memory(0, &steps)?;
    kernel.set_argument(1, -2.1f32)?;
    kernel.set_argument(2, -1.0f32)?;
    kernel.set_argument(3, 3.0f32 / WIDTH as f32)?;
    kernel.set_argument(4, LIMIT)?;

    let mut list = context.create_immediate_list(&device, Default::default())?;
    let began = Instant::now();
    // SAFETY: the kernel writes `steps` only, which lives until after the wait.
    unsafe { list.append_launch(&kernel, [WIDTH / group[0], HEIGHT / group[1], 1], None, &[])? };
    list.synchronize(u64::MAX)?;
    let ran = began.elapsed().as_secs_f64() * 1e3;

    // A character is twice as high as wide, so it stands for two points.
    for rows in steps.as_slice().chunks(2 * WIDTH as usize) {
        let (upper, lower) = rows.split_at(WIDTH as usize);
        let pairs = upper.iter().zip(lower);
        let line = pairs.map(|(above, below)| char::from(shade(above.midpoint(*below))));
        println!("{}", line.collect::<String>().trim_end());
    }
    println!("module: {built:.1} ms; kernel over {WIDTH} x {HEIGHT} points: {ran:.2} ms");
    Ok(())
}

/// Darker for points that take longer to leave; the set itself is darkest.
fn shade(steps: u32) -> u8 {
    let last = SHADES.len() - 1;
    // Half of all points leave within a few steps: the scale is logarithmic.
    let depth = (steps + 1).ilog2() as usize * last / (LIMIT + 1).ilog2() as usize;
    SHADES[depth.min(last)]
}
