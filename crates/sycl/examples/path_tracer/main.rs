//! A path tracer in Rust alone: scene, kernel and host program. Writes a picture, and renders a small one on the host too:
//! both are the same, bit for bit.
//!
//! `cargo run --release -p sycl --example path_tracer [FOLDER [WIDTH [PATHS]]]`

#![forbid(unsafe_code)]

mod tracer;

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sycl::{Buffer, Queue, Read, ReadWrite, info};
use tracer::{Ball, Vector, render, scene};

/// Paths of each pixel in one launch.
const AT_ONCE: u32 = 8;

const BLACK: Vector = Vector {
    x: 0.0,
    y: 0.0,
    z: 0.0,
};

/// Renders on the device.
fn on_device(
    queue: &Queue,
    scene: &[Ball],
    size: [usize; 2],
    paths: u32,
) -> sycl::Result<Vec<Vector>> {
    let scene = Buffer::from_slice(scene, [scene.len()])?;
    let pixels = size[0] * size[1];
    let picture = Buffer::from_vec(vec![BLACK; pixels], [pixels])?;
    for launch in 0..paths.div_ceil(AT_ONCE) {
        queue.submit(|cg| {
            let (scene, picture) = (cg.access(&scene, Read)?, cg.access(&picture, ReadWrite)?);
            let paths = AT_ONCE.min(paths - launch * AT_ONCE);
            cg.parallel_for(render, size, (&scene, &picture, paths, launch))
        })?;
    }
    picture.into_vec()
}

/// Renders on the host, with the same function.
fn on_host(scene: &[Ball], size: [usize; 2], paths: u32) -> Vec<Vector> {
    let mut picture = vec![BLACK; size[0] * size[1]];
    for launch in 0..paths.div_ceil(AT_ONCE) {
        let paths = AT_ONCE.min(paths - launch * AT_ONCE);
        sycl::kernel::for_each(size, || render(scene, &mut picture, paths, launch));
    }
    picture
}

fn save(
    file: &Path,
    picture: &[Vector],
    [height, width]: [usize; 2],
    paths: u32,
) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(File::create(file)?, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    let byte = |light: f32| ((light / paths as f32).min(1.0).powf(1.0 / 2.2) * 255.0) as u8;
    let bytes = picture
        .iter()
        .flat_map(|it| [byte(it.x), byte(it.y), byte(it.z)]);
    encoder
        .write_header()?
        .write_image_data(&bytes.collect::<Vec<u8>>())?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = arguments
        .next()
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    let mut number = |default: u32| -> Result<u32, Box<dyn Error>> {
        match arguments.next() {
            None => Ok(default),
            Some(text) => Ok(text.to_string_lossy().parse()?),
        }
    };
    let (width, paths) = (number(640)?.max(4) as usize, number(64)?.max(1));
    let size = [width * 3 / 4, width];
    let queue = Queue::new()?;
    println!("device: {}", queue.device().info::<info::device::Name>()?);
    let began = Instant::now();
    let words = sycl::kernel::spirv(&render)?.len();
    let staged = began.elapsed().as_secs_f64() * 1e3;
    println!("kernel: {words} words of SPIR-V, staged in {staged:.2} ms");
    let scene = scene();

    let small = [24, 32];
    let same = on_device(&queue, &scene, small, 4)? == on_host(&scene, small, 4);
    if !same {
        return Err("the device and the host render different pictures".into());
    }
    println!("32 x 24 pixels on the host and on the device: the same bits");

    let began = Instant::now();
    let picture = on_device(&queue, &scene, size, paths)?;
    let seconds = began.elapsed().as_secs_f64();
    let rays = picture.len() as f64 * f64::from(paths) / 1e6;
    println!(
        "{width} x {} pixels, {paths} paths each: {:.2} s, {:.1} million paths a second",
        size[0],
        seconds,
        rays / seconds
    );
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("path_tracer.png");
    save(&file, &picture, size, paths)?;
    println!("picture: {}", file.display());
    Ok(())
}
