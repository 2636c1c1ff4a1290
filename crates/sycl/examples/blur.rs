//! Paints a scene, blurs it in two passes and writes both as PNG.
//!
//! `cargo run --release -p sycl --example blur [FOLDER]`

#![forbid(unsafe_code)]

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use sycl::{
    Addressing, Filtering, ImageFormat, Queue, Read, ReadImage, Sampler, UnsampledImage, Write,
    WriteImage, f32x4, info,
};

const WIDTH: usize = 800;
const HEIGHT: usize = 600;

/// A scene of discs.
#[sycl::kernel]
fn scene(picture: WriteImage<f32x4, 2>) {
    let at = sycl::item::<2>().id();
    let (y, x) = (at[0], at[1]);
    let (width, height) = (WIDTH as f32, HEIGHT as f32);
    let (u, v) = (x as f32 / width, y as f32 / height);
    let mut colour = f32x4::new(250.0 - 90.0 * v, 240.0 - 60.0 * u, 255.0, 255.0);
    for i in 0..9u32 {
        let (column, row) = ((i % 3) as f32, (i / 3) as f32);
        let dx = (u - (0.15 + 0.35 * column)) * width / height;
        let dy = v - (0.2 + 0.3 * row);
        if dx * dx + dy * dy < 0.011 {
            let number = i as f32;
            let blue = (i * 83 % 256) as f32;
            colour = f32x4::new(40.0 + 25.0 * number, 220.0 - 20.0 * number, blue, 255.0);
        }
    }
    picture.write([y, x], colour / 255.0);
}

/// A pass of the blur in the direction `step`, rows and columns; the sampler decides what is outside of the picture.
#[sycl::kernel]
fn blur(
    from: ReadImage<f32x4, 2>,
    sampler: Sampler,
    to: WriteImage<f32x4, 2>,
    step: [i32; 2],
    radius: i32,
) {
    let at = sycl::item::<2>().id();
    let (y, x) = (at[0], at[1]);
    let mut sum = f32x4::splat(0.0);
    let mut weights = 0.0;
    for i in -radius..=radius {
        let weight = (radius + 1 - i.abs()) as f32;
        let (row, column) = (y as i32 + i * step[0], x as i32 + i * step[1]);
        sum += weight * from.sample(sampler, [row as f32 + 0.5, column as f32 + 0.5]);
        weights += weight;
    }
    to.write([y, x], sum / weights);
}

fn save(file: &Path, pixels: &[[u8; 4]]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(File::create(file)?, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()?
        .write_image_data(pixels.as_flattened())?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    let queue = Queue::builder().enable_profiling().build()?;
    println!("device: {}", queue.device().info::<info::device::Name>()?);

    let format = ImageFormat::R8G8B8A8_UNORM;
    let sharp = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    let rows = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    let blurred = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    queue.submit(|cg| {
        let picture = cg.image(&sharp, Write.no_init())?;
        cg.parallel_for(scene, [HEIGHT, WIDTH], (&picture,))
    })?;
    // Coordinates outside the image read the pixel at the edge.
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Nearest,
    };
    // The runtime orders the passes because they share images.
    let pass = |from: &UnsampledImage<'_, 2>, to: &UnsampledImage<'_, 2>, step: [i32; 2]| {
        queue.submit(|cg| {
            let from = cg.image(from, Read)?;
            let to = cg.image(to, Write.no_init())?;
            let arguments = (&from, sampler, &to, step, 12);
            cg.parallel_for(blur, [HEIGHT, WIDTH], arguments)
        })
    };
    let first = pass(&sharp, &rows, [0, 1])?.profiling()?;
    let second = pass(&rows, &blurred, [1, 0])?.profiling()?;
    let spent = |p: sycl::Profiling| (p.end_ns - p.start_ns) as f64 / 1e6;
    println!("blur: {:.1} ms and {:.1} ms", spent(first), spent(second));

    std::fs::create_dir_all(&folder)?;
    save(&folder.join("scene.png"), &sharp.into_vec()?)?;
    save(&folder.join("blurred.png"), &blurred.into_vec()?)?;
    println!("{} and blurred.png", folder.join("scene.png").display());
    Ok(())
}
