//! Paints a scene, blurs it in two passes and writes both as PNG.
//!
//! `cargo run --release -p sycl --example blur [FOLDER]`

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};

use sycl::{Addressing, Filtering, ImageFormat, Queue, Read, Sampler, UnsampledImage, Write, info};

sycl::kernels! {
    unsafe mod kernels = "kernels/blur.spv";
}

const WIDTH: usize = 800;
const HEIGHT: usize = 600;

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
    let scene = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    let rows = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    let blurred = UnsampledImage::<2>::new(format, [HEIGHT, WIDTH])?;
    queue.submit(|cg| {
        let picture = cg.image(&scene, Write.no_init())?;
        cg.parallel_for(kernels::scene, [HEIGHT, WIDTH], (&picture,))
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
            let arguments = (&from, sampler, &to, step[0], step[1], 12);
            cg.parallel_for(kernels::blur, [HEIGHT, WIDTH], arguments)
        })
    };
    let first = pass(&scene, &rows, [1, 0])?.profiling()?;
    let second = pass(&rows, &blurred, [0, 1])?.profiling()?;
    let spent = |p: sycl::Profiling| (p.end_ns - p.start_ns) as f64 / 1e6;
    println!("blur: {:.1} ms and {:.1} ms", spent(first), spent(second));

    std::fs::create_dir_all(&folder)?;
    save(&folder.join("scene.png"), &scene.into_vec()?)?;
    save(&folder.join("blurred.png"), &blurred.into_vec()?)?;
    println!("{} and blurred.png", folder.join("scene.png").display());
    Ok(())
}
