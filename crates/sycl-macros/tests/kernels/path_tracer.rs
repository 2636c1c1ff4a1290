//! The path tracer among the examples: structures, methods, loops that end in their middle, and a picture.

#![forbid(unsafe_code)]

#[path = "../../../sycl/examples/path_tracer/tracer.rs"]
mod tracer;

use sycl::kernel::for_each;
use sycl::{Buffer, Read, ReadWrite, Result};
use tracer::{Vector, render, scene};

use super::device::queue;

const SIZE: [usize; 2] = [18, 24];
const PATHS: u32 = 3;

fn black() -> Vec<Vector> {
    let nothing = Vector {
        x: 0.0,
        y: 0.0,
        z: 0.0,
    };
    vec![nothing; SIZE[0] * SIZE[1]]
}

#[test]
fn host_and_device_render_the_same_picture() -> Result<()> {
    let (balls, mut host) = (scene(), black());
    for_each(SIZE, || render(&balls, &mut host, PATHS, 7));
    let queue = queue();
    let scene = Buffer::from_slice(&balls, [balls.len()])?;
    let picture = Buffer::from_vec(black(), [host.len()])?;
    queue.submit(|cg| {
        let (scene, picture) = (cg.access(&scene, Read)?, cg.access(&picture, ReadWrite)?);
        cg.parallel_for(render, SIZE, (&scene, &picture, PATHS, 7))
    })?;
    assert_eq!(picture.into_vec()?, host);
    Ok(())
}

/// The content of the picture: a sky that is bluer than red above, a floor that the light above makes brighter below, and a red
/// ball on the right.
#[test]
fn the_picture_shows_the_scene() {
    const MANY: u32 = 64;
    let (balls, mut picture) = (scene(), black());
    for_each(SIZE, || render(&balls, &mut picture, MANY, 1));
    let mean = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let pixels = rows.flat_map(|row| columns.clone().map(move |column| row * SIZE[1] + column));
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        for pixel in pixels {
            let light = picture[pixel];
            for (sum, light) in sum.iter_mut().zip([light.x, light.y, light.z]) {
                *sum += light / MANY as f32;
            }
            count += 1.0;
        }
        sum.map(|sum| sum / count)
    };
    let (sky, floor, ball) = (mean(0..3, 0..24), mean(16..18, 0..8), mean(7..10, 18..21));
    assert!(sky[2] > 1.3 * sky[0] && sky[2] < 0.6, "sky {sky:?}");
    assert!(floor[0] > 1.2 * sky[0] && floor[0] < 1.5, "floor {floor:?}");
    assert!(ball[0] > 1.8 * ball[2], "ball {ball:?}");
    assert!(picture.iter().all(|it| it.x.is_finite() && it.x >= 0.0));
}
