//! Renders the Mandelbrot set with a kernel on the first device and writes it as a PNG.
//!
//! `solum run -- target/release/examples/mandelbrot [FILE]`

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Instant;

use level_zero::{Loader, ModuleSource};

// From kernels/mandelbrot.cl by clang -target spirv64.
static SPIRV: &[u8] = include_bytes!("../kernels/mandelbrot.spv");
const WIDTH: u32 = 1200;
const HEIGHT: u32 = 800;
const LIMIT: u32 = 500;

#[expect(clippy::print_stdout, reason = "an example talks to people")]
fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("mandelbrot.png"), PathBuf::from);
    let driver = Loader::open()?
        .drivers()?
        .into_iter()
        .next()
        .ok_or("no Level Zero driver")?;
    let device = driver
        .devices()?
        .into_iter()
        .next()
        .ok_or("the driver has no device")?;
    println!("device: {}", device.properties()?.name);

    let context = driver.create_context()?;
    let began = Instant::now();
    let module = context.build_module(&device, ModuleSource::Spirv(SPIRV), "")?;
    println!(
        "module: built in {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );

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
    println!(
        "kernel: {WIDTH} x {HEIGHT} pixels in {:.1} ms",
        began.elapsed().as_secs_f64() * 1e3
    );

    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut encoder = png::Encoder::new(File::create(&file)?, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    let pixels: Vec<u8> = steps.as_slice().iter().flat_map(|&n| colour(n)).collect();
    encoder.write_header()?.write_image_data(&pixels)?;
    println!("picture: {}", fs::canonicalize(&file)?.display());
    Ok(())
}

/// Black inside the set; outside from deep blue over white to amber.
fn colour(steps: u32) -> [u8; 3] {
    if steps == LIMIT {
        return [0, 0, 0];
    }
    let t = (f64::from(steps) / f64::from(LIMIT)).sqrt();
    let wave = |phase: f64| (127.5 - 127.5 * (std::f64::consts::TAU * (t + phase)).cos()) as u8;
    [wave(-0.10), wave(0.0), wave(0.15)]
}
