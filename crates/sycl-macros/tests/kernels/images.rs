//! Images and samplers: reads, writes and samples agree with the host; outside of an image reads give zeros and writes are left out.

#![forbid(unsafe_code)]
#![expect(
    clippy::unnecessary_operation,
    reason = "clippy takes a kernel's call with values for one without effect"
)]

use sycl::{
    Addressing, Filtering, HostImage, ImageFormat, Read, ReadImage, Result, SampledImage, Sampler,
    UnsampledImage, Write, WriteImage, f32x4, item, u32x4,
};

use super::device::queue;

#[sycl::kernel]
fn turn(from: ReadImage<u32x4, 2>, to: WriteImage<u32x4, 2>) {
    let (at, range) = (item::<2>().id(), from.range());
    let texel = from.read(at);
    // Outside of the image for the first row and column, for which nothing is written.
    to.write([range[1] - at[1], range[0] - at[0]], texel.wzyx() + 1);
}

#[test]
fn texels_are_read_and_written() -> Result<()> {
    let queue = queue();
    let bytes: Vec<[u8; 4]> = (0..15).map(|i| [i, 2 * i, 100 + i, 7]).collect();
    let format = ImageFormat::R8G8B8A8_UINT;
    let from = UnsampledImage::from_slice(&bytes, format, [3, 5])?;
    let to = UnsampledImage::from_slice(&[[9u8; 4]; 15], format, [5, 3])?;
    queue.submit(|cg| {
        let (from, to) = (cg.image(&from, Read)?, cg.image(&to, Write)?);
        cg.parallel_for(turn, [3, 5], (&from, &to))
    })?;
    let got: Vec<[u8; 4]> = to.into_vec()?;
    for (i, got) in got.iter().enumerate() {
        // Position (row, column) comes from (3 - column, 5 - row), if that is inside.
        let (row, column) = (i / 3, i % 3);
        let want = match (column, row) {
            (1.., 1..) => {
                let [r, g, b, a] = bytes[(3 - column) * 5 + 5 - row];
                [a + 1, b + 1, g + 1, r + 1]
            }
            _ => [9; 4],
        };
        assert_eq!(*got, want, "at {row}, {column}");
    }
    Ok(())
}

#[sycl::kernel]
fn next(from: ReadImage<u32x4, 1>, first: &mut [u32]) {
    let i = item::<1>().id();
    first[i] = from.read([i + 1]).x + 5;
}

#[test]
fn texels_outside_are_zeros() -> Result<()> {
    let queue = queue();
    let from =
        UnsampledImage::from_slice(&[[1u8; 4], [2; 4], [3; 4]], ImageFormat::R8G8B8A8_UINT, [3])?;
    let first = sycl::Buffer::from_slice(&[9u32; 3], [3])?;
    queue.submit(|cg| {
        let from = cg.image(&from, Read)?;
        let first = cg.access(&first, sycl::ReadWrite)?;
        cg.parallel_for(next, [3], (&from, &first))
    })?;
    assert_eq!(first.into_vec()?, [7, 8, 5]);
    Ok(())
}

#[sycl::kernel]
fn zoom(from: ReadImage<f32x4, 2>, smooth: Sampler, to: WriteImage<f32x4, 2>) {
    let (at, range) = (item::<2>().id(), to.range());
    let place = [
        (at[0] as f32 + 0.5) / range[0] as f32 * 1.25,
        (at[1] as f32 + 0.5) / range[1] as f32 - 0.125,
    ];
    to.write(at, from.sample(smooth, place));
}

#[test]
fn samples_agree_with_the_host() -> Result<()> {
    let queue = queue();
    let format = ImageFormat::R32G32B32A32_SFLOAT;
    let texels: Vec<[f32; 4]> = (0..12)
        .map(|i| [i as f32, (i * i % 7) as f32, 0.5, -(i as f32)])
        .collect();
    let smooth = Sampler {
        normalized: true,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Linear,
    };
    let from = SampledImage::from_slice(&texels, format, smooth, [3, 4])?;
    let to = UnsampledImage::from_slice(&[[0f32; 4]; 48], format, [6, 8])?;
    queue.submit(|cg| {
        let (source, to) = (cg.sampled(&from)?, cg.image(&to, Write)?);
        cg.parallel_for(zoom, [6, 8], (&source, from.sampler(), &to))
    })?;
    let (host_from, host_to) = (
        HostImage::new(format, [3, 4]),
        HostImage::new(format, [6, 8]),
    );
    for (i, texel) in texels.iter().enumerate() {
        let writer = host_from.writer::<f32x4>();
        writer.write([i / 4, i % 4], f32x4::from_array(*texel));
    }
    sycl::kernel::for_each([6, 8], || {
        zoom(host_from.reader(), smooth, host_to.writer());
    });
    let got: Vec<[f32; 4]> = to.into_vec()?;
    for (i, got) in got.iter().enumerate() {
        let want = host_to.reader::<f32x4>().read([i / 8, i % 8]).to_array();
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-4, "texel {i}: {got}, not {want}");
        }
    }
    assert_ne!(got[0], got[47]);
    Ok(())
}

/// Lines and boxes of texels.
#[test]
fn images_have_one_to_three_dimensions() -> Result<()> {
    #[sycl::kernel]
    fn spread(from: ReadImage<f32x4, 1>, to: WriteImage<f32x4, 3>) {
        let (at, depth) = (item::<3>().id(), to.range()[0]);
        let texel = from.read([at[2]]) * (at[1] + 10 * at[0]) as f32;
        to.write(at, texel + depth as f32);
    }
    let queue = queue();
    let format = ImageFormat::R32G32B32A32_SFLOAT;
    let line: Vec<[f32; 4]> = (0..4).map(|i| [i as f32; 4]).collect();
    let from = UnsampledImage::from_slice(&line, format, [4])?;
    let to = UnsampledImage::from_slice(&[[0f32; 4]; 24], format, [2, 3, 4])?;
    queue.submit(|cg| {
        let (from, to) = (cg.image(&from, Read)?, cg.image(&to, Write)?);
        cg.parallel_for(spread, [2, 3, 4], (&from, &to))
    })?;
    let got: Vec<[f32; 4]> = to.into_vec()?;
    for (i, got) in got.into_iter().enumerate() {
        let (z, y, x) = (i / 12, i / 4 % 3, i % 4);
        assert_eq!(got, [(x * (y + 10 * z) + 2) as f32; 4], "texel {i}");
    }
    Ok(())
}
