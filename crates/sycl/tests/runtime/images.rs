//! Images and samplers: when they are copied, and what kernels and the host read.

use sycl::{
    Addressing, Buffer, ChannelOrder, ChannelType, Context, Device, Errc, Filtering, Graph,
    ImageFormat, Kernel, KernelBundle, Queue, Read, ReadWrite, SampledImage, Sampler, Texel,
    UnsampledImage, Write,
};

use crate::groups::{RGBA8, Random, brighten, brightened, image_copies, kernels, pixels};
use crate::world::{
    Gate, Log, context, devices, has_peers, immediate, is_discrete, is_running, queue,
};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    ("image_moves_as_a_buffer", Where::Everywhere, moves),
    (
        "image_copies_between_devices",
        Where::Discrete,
        between_devices,
    ),
    ("image_copies_to_a_peer", Where::Peers, between_devices),
    ("image_formats", Where::Everywhere, formats),
    ("image_samplers", Where::Everywhere, samplers),
    ("image_dimensions", Where::Everywhere, dimensions),
    ("image_write_back", Where::Everywhere, write_back),
    ("image_host_tasks", Where::Everywhere, host_tasks),
    ("image_conflicts", Where::Everywhere, conflicts),
    ("image_graph", Where::Everywhere, graph),
    ("image_rejected", Where::Everywhere, refused),
    ("image_arguments_checked", Where::Everywhere, arguments),
    ("image_fails_at_every_call", Where::Everywhere, faults),
    (
        "image_in_another_context",
        Where::Everywhere,
        another_context,
    ),
    ("image_random_oracle", Where::Everywhere, random_oracle),
];

fn moves() {
    let (data, queue) = (pixels(15 * 7), queue(0));
    let log = Log::start();
    let from = UnsampledImage::from_slice(&data, RGBA8, [7, 15]).unwrap();
    assert_eq!(log.host_allocations(), [15 * 7 * 4]);
    let to = UnsampledImage::<2>::new(RGBA8, [7, 15]).unwrap();
    assert_eq!(log.count("zeImageCreate"), 0, "not before its first use");
    for _ in 0..3 {
        brighten(&queue, &from, &to).wait().unwrap();
    }
    let own = usize::from(is_discrete());
    assert_eq!(log.count("zeImageCreate"), 2);
    assert_eq!(
        image_copies(&log),
        [own, 0, 0],
        "overwritten images are not copied"
    );
    for _ in 0..2 {
        let access = to.host_access::<[f32; 4], _>(Read).unwrap();
        assert_eq!(
            access.bytes(),
            brightened(&data).as_flattened(),
            "the kernel's texels"
        );
        let first = access.read([0, 1]);
        assert!((first[0] - 52.0 / 255.0).abs() < 1e-6, "{first:?}");
    }
    assert_eq!(image_copies(&log), [own, own, 0], "once for both reads");
    // The host's change makes the device's image outdated.
    to.host_access::<[f32; 4], _>(ReadWrite)
        .unwrap()
        .write([6, 14], [0.0; 4]);
    brighten(&queue, &to, &from).wait().unwrap();
    assert_eq!(image_copies(&log), [2 * own, own, 0]);
    assert_eq!(log.copies(), [0u64; 0]);
    let got = from.clone().into_vec::<[u8; 4]>().unwrap();
    assert_eq!(got.last().unwrap(), &[51; 4]);
    assert_eq!(got[..104], brightened(&brightened(&data))[..104]);
    let made = [log.count("zeImageCreate"), log.count("zeMemAllocHost")];
    assert_eq!(made, [2, 2], "one image and one run of rows for each");
    drop((from, to));
    self::queue(0).wait().unwrap();
    // Earlier tests may have left more to free.
    assert!(log.count("zeImageDestroy") >= 2 && log.frees() >= 2);
    // Never written: nothing to copy for any reader.
    let empty = UnsampledImage::<2>::new(RGBA8, [4, 4]).unwrap();
    let log = Log::start();
    let other = UnsampledImage::<2>::new(RGBA8, [4, 4]).unwrap();
    brighten(&queue, &empty, &other).wait().unwrap();
    assert_eq!(image_copies(&log), [0; 3]);
}

fn between_devices() {
    let data = pixels(64);
    let from = UnsampledImage::from_slice(&data, RGBA8, [8, 8]).unwrap();
    let (middle, to) = (
        UnsampledImage::<2>::new(RGBA8, [8, 8]).unwrap(),
        UnsampledImage::<2>::new(RGBA8, [8, 8]).unwrap(),
    );
    let log = Log::start();
    brighten(&queue(0), &from, &middle);
    brighten(&queue(1), &middle, &to);
    assert_eq!(
        to.into_vec::<[u8; 4]>().unwrap(),
        brightened(&brightened(&data))
    );
    // Directly between devices, or through the rows on the host if the devices have no peer access.
    let expected = if has_peers() { [1, 1, 1] } else { [2, 2, 0] };
    assert_eq!(image_copies(&log), expected);
}

/// For every order and type kernels and the host read the same.
fn formats() {
    let queue = queue(0);
    let orders = [
        ChannelOrder::A,
        ChannelOrder::R,
        ChannelOrder::Rx,
        ChannelOrder::Rg,
        ChannelOrder::Rgx,
        ChannelOrder::Ra,
        ChannelOrder::Rgba,
        ChannelOrder::Argb,
        ChannelOrder::Bgra,
        ChannelOrder::Abgr,
        ChannelOrder::Intensity,
        ChannelOrder::Luminance,
    ];
    for order in orders {
        for ty in [
            ChannelType::UnormInt8,
            ChannelType::SnormInt8,
            ChannelType::UnormInt16,
            ChannelType::SnormInt16,
            ChannelType::Fp16,
            ChannelType::Fp32,
        ] {
            let format = ImageFormat::new(order, ty);
            let image = UnsampledImage::<2>::new(format, [1, 5]).unwrap();
            {
                let mut host = image.host_access::<[f32; 4], _>(Write.no_init()).unwrap();
                for x in 0..5 {
                    let value = |channel: usize| (x * 4 + channel) as f32 / 19.0;
                    host.write([0, x], [value(0), value(1), value(2), value(3)]);
                }
            }
            let seen = Buffer::<[f32; 4]>::new([5]).unwrap();
            queue
                .submit(|cg| {
                    let (image, seen) = (cg.image(&image, Read)?, cg.access(&seen, Write)?);
                    cg.parallel_for(kernels::floats, [1, 5], (&image, &seen))
                })
                .unwrap();
            let host = image.host_access::<[f32; 4], _>(Read).unwrap();
            let host: Vec<[f32; 4]> = (0..5).map(|x| host.read([0, x])).collect();
            assert_eq!(seen.into_vec().unwrap(), host, "{format:?}");
        }
    }
}

/// For every sampler kernels and the host read the same.
fn samplers() {
    let queue = queue(0);
    let texels: Vec<f32> = (0..12).map(|i| (i * i) as f32).collect();
    let format = ImageFormat::new(ChannelOrder::R, ChannelType::Fp32);
    let places: Vec<[f32; 2]> = [
        [0.0, 0.0],
        [0.3, 0.9],
        [1.25, 2.5],
        [-0.3, 1.7],
        [3.9, 2.9],
        [4.3, -1.2],
        [2.0, 3.0],
    ]
    .to_vec();
    for addressing in [
        Addressing::MirroredRepeat,
        Addressing::Repeat,
        Addressing::ClampToEdge,
        Addressing::Clamp,
    ] {
        for filtering in [Filtering::Nearest, Filtering::Linear] {
            for normalized in [true, false] {
                let sampler = Sampler {
                    normalized,
                    addressing,
                    filtering,
                };
                let made = SampledImage::from_slice(&texels, format, sampler, [3, 4]);
                let repeats = matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat);
                if repeats && !normalized {
                    assert_eq!(made.unwrap_err().errc(), Errc::Invalid);
                    continue;
                }
                let image = made.unwrap();
                let at = Buffer::from_slice(&places, [places.len()]).unwrap();
                let seen = Buffer::<[f32; 4]>::new([places.len()]).unwrap();
                queue
                    .submit(|cg| {
                        let from = cg.sampled(&image)?;
                        let (at, seen) = (cg.access(&at, Read)?, cg.access(&seen, Write)?);
                        let arguments = (&from, image.sampler(), &at, &seen);
                        cg.parallel_for(kernels::look_up, [places.len()], arguments)
                    })
                    .unwrap();
                let seen = seen.into_vec().unwrap();
                let host = image.host_access::<[f32; 4]>().unwrap();
                for ([x, y], seen) in places.iter().zip(seen) {
                    let host = host.read([*y, *x]);
                    let near = |(a, b): (&f32, f32)| (a - b).abs() <= 1e-3;
                    assert!(
                        host.iter().zip(seen).all(near),
                        "{sampler:?} at {x}, {y}: the host sees {host:?}, the device {seen:?}"
                    );
                }
            }
        }
    }
}

fn dimensions() {
    let queue = queue(0);
    let row = UnsampledImage::<1>::new(ImageFormat::R16G16B16A16_UINT, 9).unwrap();
    let volume: Vec<i32> = (0..2 * 3 * 4 * 4).collect();
    let format = ImageFormat::R32B32G32A32_SINT;
    let from = UnsampledImage::from_slice(&volume, format, [2, 3, 4]).unwrap();
    let to = UnsampledImage::<3>::new(format, [2, 3, 4]).unwrap();
    queue
        .submit(|cg| {
            let row = cg.image(&row, Write.no_init())?;
            cg.parallel_for(kernels::number, 9, (&row,))
        })
        .unwrap();
    queue
        .submit(|cg| {
            let (a, b) = (cg.image(&from, Read)?, cg.image(&to, Write.no_init())?);
            cg.parallel_for(kernels::number_3d, [2, 3, 4], (&a, &b))
        })
        .unwrap();
    let row = row.host_access::<[u32; 4], _>(Read).unwrap();
    assert_eq!(row.read(7), [7, 8, 9, 10]);
    let to = to.host_access::<[i32; 4], _>(Read).unwrap();
    for z in 0..2 {
        for y in 0..3 {
            for x in 0..4 {
                let number = (z * 3 + y) * 4 + x;
                let first = i32::try_from(4 * number).unwrap();
                let step = [x, 10 * y, 100 * z, 1].map(|n| i32::try_from(n).unwrap());
                let want = [0, 1, 2, 3].map(|c| first + c + step[c as usize]);
                assert_eq!(to.read([z, y, x]), want);
            }
        }
    }
    let picture = UnsampledImage::from_slice(&pixels(6), RGBA8, [2, 3]).unwrap();
    queue
        .submit(|cg| {
            let picture = cg.image(&picture, ReadWrite)?;
            cg.parallel_for(kernels::invert, [2, 3], (&picture,))
        })
        .unwrap();
    let inverted: Vec<[u8; 4]> = pixels(6).iter().map(|p| p.map(|b| 255 - b)).collect();
    assert_eq!(picture.into_vec::<[u8; 4]>().unwrap(), inverted);
}

fn write_back() {
    let (queue, data) = (queue(0), pixels(12));
    let from = UnsampledImage::from_slice(&data, RGBA8, [3, 4]).unwrap();
    let mut back = vec![[9u8; 4]; 12];
    {
        let gate = Gate::new();
        let to = UnsampledImage::from_slice_mut(&mut back, RGBA8, [3, 4]).unwrap();
        let submitted = queue.submit(|cg| {
            cg.depends_on(std::slice::from_ref(&gate.event));
            let (a, b) = (cg.image(&from, Read)?, cg.image(&to, Write.no_init())?);
            cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
        });
        let event = submitted.unwrap();
        std::thread::scope(|scope| {
            let dropped = scope.spawn(move || drop(to));
            assert!(is_running(&event));
            gate.open();
            dropped.join().unwrap();
        });
    }
    assert_eq!(back, brightened(&data));
    {
        let to = UnsampledImage::from_slice_mut(&mut back, RGBA8, [3, 4]).unwrap();
        to.set_write_back(false);
        brighten(&queue, &to, &to.clone_of_shape());
    }
    assert_eq!(back, brightened(&data), "no write-back without a request");
    let mut received = Vec::new();
    {
        let to = UnsampledImage::<2>::new(RGBA8, [3, 4]).unwrap();
        let to_receive = UnsampledImage::clone(&to);
        to_receive.set_final_data(|_| panic!("replaced"));
        let (sender, receiver) = std::sync::mpsc::channel();
        to.set_final_data(move |bytes| drop(sender.send(bytes.to_vec())));
        brighten(&queue, &from, &to);
        drop((to, to_receive));
        received.extend(receiver.recv().unwrap());
    }
    assert_eq!(received, brightened(&data).as_flattened());
    // Rows of two texels with two bytes of padding, planes with a spare row.
    let gaps: Vec<u8> = (0..60).collect();
    let image = UnsampledImage::<3>::from_slice_pitched(&gaps, RGBA8, [2, 2, 2], [10, 30]).unwrap();
    let tight = image.into_vec::<u8>().unwrap();
    let rows = [0u8, 10, 30, 40];
    let want: Vec<u8> = rows.iter().flat_map(|first| *first..first + 8).collect();
    assert_eq!(tight, want);
    for pitch in [[7, 30], [10, 15], [20, 60], [usize::MAX, usize::MAX]] {
        let wrong = UnsampledImage::<3>::from_slice_pitched(&gaps, RGBA8, [2, 2, 2], pitch);
        assert_eq!(wrong.unwrap_err().errc(), Errc::Invalid, "{pitch:?}");
    }
}

trait OfShape {
    /// An empty image like this one.
    fn clone_of_shape(&self) -> UnsampledImage<'static, 2>;
}
impl OfShape for UnsampledImage<'_, 2> {
    fn clone_of_shape(&self) -> UnsampledImage<'static, 2> {
        UnsampledImage::new(self.format(), self.range()).unwrap()
    }
}

fn host_tasks() {
    let (queue, data) = (queue(0), pixels(12));
    let from = UnsampledImage::from_slice(&data, RGBA8, [3, 4]).unwrap();
    let to = from.clone_of_shape();
    brighten(&queue, &from, &to);
    let task = queue.submit(|cg| {
        let a = cg.host_task_image::<[f32; 4], _, _>(&from, Read)?;
        let b = cg.host_task_image::<[f32; 4], _, _>(&to, ReadWrite)?;
        cg.host_task((a, b), |_, (a, mut b)| {
            b.write([2, 3], a.read([0, 0]));
            Ok(())
        })
    });
    task.unwrap();
    let mut want = brightened(&data);
    want[11] = data[0];
    assert_eq!(to.into_vec::<[u8; 4]>().unwrap(), want);
}

fn conflicts() {
    let (queue, data) = (queue(0), pixels(12));
    let from = UnsampledImage::from_slice(&data, RGBA8, [3, 4]).unwrap();
    let (one, other) = (from.clone_of_shape(), from.clone_of_shape());
    let gate = Gate::new();
    let submitted = queue.submit(|cg| {
        cg.depends_on(std::slice::from_ref(&gate.event));
        let (a, b) = (cg.image(&from, Read)?, cg.image(&one, Write.no_init())?);
        cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
    });
    let writer = submitted.unwrap();
    let reader = brighten(&queue, &one, &from.clone_of_shape());
    // Two readers do not wait for each other.
    brighten(&queue, &from, &other).wait().unwrap();
    assert!(is_running(&writer) && is_running(&reader));
    gate.open();
    reader.wait().unwrap();
    assert!(!is_running(&writer));
    let held = one.host_access::<[f32; 4], _>(ReadWrite).unwrap();
    let waits = brighten(&queue, &one, &other);
    assert!(is_running(&waits));
    assert_eq!(waits.wait().unwrap_err().errc(), Errc::Invalid);
    drop(held);
    waits.wait().unwrap();
}

fn graph() {
    let (queue, data) = (immediate(), pixels(12));
    let from = UnsampledImage::from_slice(&data, RGBA8, [3, 4]).unwrap();
    let (middle, to) = (from.clone_of_shape(), from.clone_of_shape());
    let mut graph = Graph::new(&queue);
    for (a, b) in [(&from, &middle), (&middle, &to)] {
        graph
            .add(|cg| {
                let (a, b) = (cg.image(a, Read)?, cg.image(b, Write.no_init())?);
                cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
            })
            .unwrap();
    }
    let graph = graph.finalize().unwrap();
    queue.submit_graph(&graph, &[]).unwrap();
    from.host_access::<[f32; 4], _>(ReadWrite)
        .unwrap()
        .write([0, 0], [0.0; 4]);
    queue.submit_graph(&graph, &[]).unwrap();
    let mut changed = data;
    changed[0] = [0; 4];
    assert_eq!(
        to.into_vec::<[u8; 4]>().unwrap(),
        brightened(&brightened(&changed))
    );
}

fn refused() {
    let wrong: [(sycl::Result<UnsampledImage<'_, 2>>, Errc); 5] = [
        (UnsampledImage::new(RGBA8, [0, 3]), Errc::Invalid),
        (
            UnsampledImage::new(RGBA8, [usize::MAX, usize::MAX]),
            Errc::Invalid,
        ),
        (
            UnsampledImage::from_slice(&[0u8; 15], RGBA8, [2, 2]),
            Errc::Invalid,
        ),
        (
            UnsampledImage::new(
                ImageFormat::new(ChannelOrder::Rgb, ChannelType::UnormInt8),
                [2, 2],
            ),
            Errc::FeatureNotSupported,
        ),
        (
            UnsampledImage::new(
                ImageFormat::new(ChannelOrder::Rgbx, ChannelType::Fp32),
                [2, 2],
            ),
            Errc::FeatureNotSupported,
        ),
    ];
    for (number, (result, errc)) in wrong.into_iter().enumerate() {
        assert_eq!(result.unwrap_err().errc(), errc, "case {number}");
    }
    let numbers = UnsampledImage::<2>::new(ImageFormat::R8G8B8A8_UINT, [2, 2]).unwrap();
    let as_floats = numbers.host_access::<[f32; 4], _>(Read);
    assert_eq!(as_floats.unwrap_err().errc(), Errc::Invalid);
    assert_eq!(
        numbers.clone().into_vec::<[u8; 3]>().unwrap_err().errc(),
        Errc::Invalid
    );
    let linear = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Linear,
    };
    let integers =
        SampledImage::<2>::from_slice(&[0u8; 16], ImageFormat::R8G8B8A8_UINT, linear, [2, 2]);
    assert_eq!(integers.unwrap_err().errc(), Errc::Invalid);
    // Wider than any device supports.
    let queue = queue(0);
    let wide = UnsampledImage::<2>::new(RGBA8, [1, 1 << 20]).unwrap();
    let run = || {
        queue.submit(|cg| {
            let wide = cg.image(&wide, ReadWrite)?;
            cg.parallel_for(kernels::invert, [1, 1], (&wide,))
        })
    };
    assert_eq!(run().unwrap_err().errc(), Errc::FeatureNotSupported);
    // The host still has it.
    wide.host_access::<[f32; 4], _>(Write.no_init())
        .unwrap()
        .write([0, 9], [1.0; 4]);
    assert_eq!(run().unwrap_err().errc(), Errc::FeatureNotSupported);
    let host = wide.host_access::<[f32; 4], _>(Read).unwrap();
    assert_eq!(Texel::channels(host.read([0, 9])), [1.0; 4]);
}

fn by_name(context: &Context, devices: &[Device], name: &std::ffi::CStr) -> Kernel {
    let embedded = kernels::module();
    let bundle: KernelBundle<sycl::Input> = embedded.bundle(context, devices).unwrap();
    bundle.build(c"").unwrap().kernel(name).unwrap()
}

fn arguments() {
    let (queue, image) = (queue(0), UnsampledImage::<2>::new(RGBA8, [2, 2]).unwrap());
    let flat = UnsampledImage::<1>::new(RGBA8, 4).unwrap();
    let (brighten, look_up) = (
        by_name(&context(), &devices(), c"brighten"),
        by_name(&context(), &devices(), c"look_up"),
    );
    let nearest = Sampler {
        normalized: false,
        addressing: Addressing::None,
        filtering: Filtering::Nearest,
    };
    let places = Buffer::from_slice(&[[1.0f32, 1.0]], 1).unwrap();
    let seen = Buffer::<[f32; 4]>::new(1).unwrap();
    let log = Log::start();
    let wrong = [
        queue.submit(|cg| {
            let (a, b) = (cg.image(&image, Read)?, cg.image(&image, Read)?);
            cg.parallel_for(&brighten, [2, 2], (&a, &b))
        }),
        queue.submit(|cg| {
            let (a, b) = (cg.image(&flat, Read)?, cg.image(&image, Write)?);
            cg.parallel_for(&brighten, [2, 2], (&a, &b))
        }),
        queue.submit(|cg| {
            let (a, b) = (cg.image(&image, Read)?, cg.access(&seen, Write)?);
            cg.parallel_for(&brighten, [2, 2], (&a, &b))
        }),
        queue.submit(|cg| {
            let (a, at, b) = (
                cg.image(&image, Read)?,
                cg.access(&places, Read)?,
                cg.access(&seen, Write)?,
            );
            cg.parallel_for(&look_up, 1, (&a, &a, &at, &b))
        }),
    ];
    for error in wrong.map(Result::unwrap_err) {
        assert_eq!(error.errc(), Errc::KernelArgument, "{error}");
    }
    let appended = |call: &ze_layers::recorder::Call| call.function.contains("Append");
    assert!(!log.0.calls().iter().any(appended));
    drop(log);
    image
        .host_access::<[f32; 4], _>(Write.no_init())
        .unwrap()
        .write([1, 1], [1.0, 0.0, 1.0, 0.0]);
    let log = Log::start();
    for _ in 0..3 {
        queue
            .submit(|cg| {
                let (a, at, b) = (
                    cg.image(&image, Read)?,
                    cg.access(&places, Read)?,
                    cg.access(&seen, Write)?,
                );
                cg.parallel_for(&look_up, 1, (&a, nearest, &at, &b))
            })
            .unwrap();
    }
    assert_eq!(seen.clone().into_vec().unwrap(), [[1.0, 0.0, 1.0, 0.0]]);
    assert_eq!(log.count("zeSamplerCreate"), 1, "one for each kind");
    drop(log);
    // The binary's parameters are not known, so they are passed to the driver one by one.
    let (of, device) = (look_up.bundle(), queue.device());
    let binary = of.native_binary(&device).unwrap();
    // SAFETY: the tests' kernels.
    let made = unsafe { KernelBundle::from_native_binary(&context(), &device, &binary) };
    let look_up = made.unwrap().kernel(c"look_up").unwrap();
    image
        .host_access::<[f32; 4], _>(ReadWrite)
        .unwrap()
        .write([1, 1], [0.0, 1.0, 0.0, 1.0]);
    queue
        .submit(|cg| {
            let (a, at, b) = (
                cg.image(&image, Read)?,
                cg.access(&places, Read)?,
                cg.access(&seen, Write)?,
            );
            cg.parallel_for(&look_up, 1, (&a, nearest, &at, &b))
        })
        .unwrap();
    assert_eq!(seen.into_vec().unwrap(), [[0.0, 1.0, 0.0, 1.0]]);
}

/// Each call of a program fails once: the caller gets the error, or the program's result is correct.
fn faults() {
    let data = pixels(12);
    let sampler = Sampler {
        normalized: false,
        addressing: Addressing::ClampToEdge,
        filtering: Filtering::Linear,
    };
    type Outcome = sycl::Result<(Vec<[u8; 4]>, Vec<[f32; 4]>)>;
    let program = || -> Outcome {
        let queue = Queue::builder()
            .device(&devices()[0])
            .async_handler(|_| ())
            .build()?;
        let from = UnsampledImage::<2>::from_slice(&data, RGBA8, [3, 4])?;
        let to = UnsampledImage::<2>::new(RGBA8, [3, 4])?;
        let sampled = SampledImage::<2>::from_slice(&data, RGBA8, sampler, [3, 4])?;
        let at = Buffer::from_slice(&[[0.5f32, 0.5]], 1)?;
        let seen = Buffer::<[f32; 4]>::new(1)?;
        queue.submit(|cg| {
            let (a, b) = (cg.image(&from, Read)?, cg.image(&to, Write.no_init())?);
            cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
        })?;
        queue.submit(|cg| {
            let a = cg.sampled(&sampled)?;
            let (at, seen) = (cg.access(&at, Read)?, cg.access(&seen, Write.no_init())?);
            cg.parallel_for(kernels::look_up, 1, (&a, sampler, &at, &seen))
        })?;
        queue.wait()?;
        Ok((to.into_vec()?, seen.into_vec()?))
    };
    let want = program().unwrap();
    assert_eq!(want.0, brightened(&data));
    queue(0).wait().unwrap();
    let mut failed = 0;
    for call in 1.. {
        let log = Log::with(&format!("fail ze* OUT_OF_HOST_MEMORY at {call}"));
        let result = program();
        let reached = log.0.calls().iter().any(|call| call.injected);
        // Work that was still running when the error came is freed when it has ended.
        let balance = |create: &str, destroy: &str| {
            let done = |function: &str| {
                let calls = log.calls(function).into_iter();
                calls.filter(|call| !call.injected).count()
            };
            let refused = log.count(destroy) - done(destroy);
            done(create).saturating_sub(done(destroy) + refused)
        };
        let pairs = [
            ("zeImageCreate", "zeImageDestroy"),
            ("zeMemAllocHost", "zeMemFree"),
        ];
        let left = || pairs.map(|(create, destroy)| balance(create, destroy));
        for _ in 0..100_000 {
            if left() == [0, 0] {
                break;
            }
            queue(0).wait().unwrap();
            std::thread::yield_now();
        }
        assert_eq!(left(), [0, 0], "call {call}: leaked images and rows");
        drop(log);
        match result {
            Ok(data) => assert_eq!(data, want, "call {call}"),
            Err(error) => {
                failed += 1;
                assert_eq!(error.errc(), Errc::MemoryAllocation, "call {call}: {error}");
            }
        }
        if !reached {
            break;
        }
    }
    assert!(failed > 5, "{failed}");
    assert_eq!(program().unwrap(), want);
}

/// A context around another handle has its own images; contents come through the rows on the host.
fn another_context() {
    let data = pixels(12);
    let (foreign, native_context) = crate::native::foreign();
    {
        let device = devices()[0].clone();
        let builder = Queue::builder().context(&foreign).device(&device);
        let other = builder.build().unwrap();
        let from = UnsampledImage::from_slice(&data, RGBA8, [3, 4]).unwrap();
        let (middle, to) = (from.clone_of_shape(), from.clone_of_shape());
        brighten(&queue(0), &from, &middle).wait().unwrap();
        brighten(&other, &middle, &to).wait().unwrap();
        brighten(&queue(0), &to, &middle).wait().unwrap();
        let mut want = data;
        for _ in 0..3 {
            want = brightened(&want);
        }
        assert_eq!(middle.into_vec::<[u8; 4]>().unwrap(), want);
    }
    drop(foreign);
    let _ = native_context;
}

/// Random programs against a sequential model: contents, and each copy.
fn random_oracle() {
    struct Model {
        image: UnsampledImage<'static, 2>,
        texels: Vec<[u8; 4]>,
        /// The places of valid contents: the host, then the devices.
        valid: Vec<bool>,
    }
    let places = devices().len().min(3) + 1;
    let queues: Vec<Queue> = (0..places - 1).map(queue).collect();
    for seed in 0..40 {
        let mut random = Random::of(seed);
        let mut models: Vec<Model> = (0..3)
            .map(|_| {
                let texels = pixels(12 + random.below(8))[..12].to_vec();
                let mut valid = vec![false; places];
                valid[0] = true;
                Model {
                    image: UnsampledImage::from_slice(&texels, RGBA8, [3, 4]).unwrap(),
                    texels,
                    valid,
                }
            })
            .collect();
        // Copies from rows and to rows that are necessary.
        let need = |model: &mut Model, place: usize, copies: &mut [usize; 2]| {
            if !is_discrete() || model.valid[place] {
                return;
            }
            if !model.valid[0] {
                copies[1] += 1;
                model.valid[0] = true;
            }
            if place > 0 {
                copies[0] += 1;
                model.valid[place] = true;
            }
        };
        let wrote = |model: &mut Model, place: usize| {
            model.valid.fill(false);
            model.valid[place] = true;
        };
        for step in 0..25 {
            let (from, to) = (random.below(3), random.below(3));
            let place = random.below(places);
            let mut copies = [0; 2];
            let log = Log::start();
            match (place, random.below(3)) {
                (0, 0) => {
                    need(&mut models[to], 0, &mut copies);
                    let host = models[to].image.host_access::<[f32; 4], _>(Read).unwrap();
                    let want = models[to].texels.as_flattened();
                    assert_eq!(host.bytes(), want, "seed {seed}, step {step}");
                }
                (0, 1) => {
                    let model = &mut models[to];
                    need(model, 0, &mut copies);
                    let access = model.image.host_access::<[f32; 4], _>(ReadWrite);
                    access.unwrap().write([2, 1], [1.0; 4]);
                    model.texels[9] = [255; 4];
                    wrote(model, 0);
                }
                (0, _) => {
                    let model = &mut models[to];
                    let fresh = pixels(12 + step)[step..].to_vec();
                    let access = model.image.host_access::<[f32; 4], _>(Write.no_init());
                    let bytes = fresh.as_flattened();
                    access.unwrap().bytes_mut().copy_from_slice(bytes);
                    model.texels = fresh;
                    wrote(model, 0);
                }
                (place, 0) if from != to => {
                    need(&mut models[from], place, &mut copies);
                    brighten(&queues[place - 1], &models[from].image, &models[to].image);
                    models[to].texels = brightened(&models[from].texels);
                    wrote(&mut models[to], place);
                }
                (place, _) => {
                    let model = &mut models[to];
                    need(model, place, &mut copies);
                    let submitted = queues[place - 1].submit(|cg| {
                        let picture = cg.image(&model.image, ReadWrite)?;
                        cg.parallel_for(kernels::invert, [3, 4], (&picture,))
                    });
                    submitted.unwrap();
                    for texel in &mut model.texels {
                        *texel = texel.map(|byte| 255 - byte);
                    }
                    wrote(model, place);
                }
            }
            expect_copies(&log, &copies, seed, step);
        }
        for model in models {
            let got = model.image.into_vec::<[u8; 4]>().unwrap();
            assert_eq!(got, model.texels, "seed {seed}");
        }
    }
}

/// The copies of a step match the model.
fn expect_copies(log: &Log, copies: &[usize; 2], seed: u64, step: usize) {
    let [from_rows, to_rows, between] = image_copies(log);
    assert_eq!(
        ([from_rows, to_rows], between),
        (*copies, 0),
        "seed {seed}, step {step}"
    );
}
