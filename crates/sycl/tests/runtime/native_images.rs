//! Native images in and out: B21, B38 and B39, following DPC++'s tests of the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use level_zero::sys::*;
use sycl::interop::{ImageInput, Ownership, get_native, make_image};
use sycl::{
    Buffer, ChannelOrder, ChannelType, Context, Device, Errc, Event, Queue, Range, Read, ReadWrite,
    UnsampledImage, Write,
};

use crate::groups::{RGBA8, brightened, image_copies, kernels, pixels, single_queue};
use crate::world::{Gate, Log, argument, call, context, devices, is_running, queue};
use crate::{Test, Where};

pub(crate) const TESTS: &[Test] = &[
    (
        "make_image_ownership",
        Where::Everywhere,
        make_image_ownership,
    ),
    ("image_native_mem", Where::Everywhere, image_native_mem),
    (
        "make_image_available_event_gates",
        Where::Everywhere,
        available_event,
    ),
    (
        "make_image_on_its_device_only",
        Where::Everywhere,
        only_its_device,
    ),
    (
        "images_of_one_and_three_dimensions",
        Where::Everywhere,
        one_and_three_dimensions,
    ),
    (
        "make_image_fails_at_every_call",
        Where::Everywhere,
        make_image_faults,
    ),
];

/// Creates a native image of four by three texels.
fn native(context: &Context, device: &Device) -> ze_image_handle_t {
    native_of(context, device, ZE_IMAGE_TYPE_2D, [4, 3, 1])
}

/// Creates a native image of any size: width, height, depth.
fn native_of(
    context: &Context,
    device: &Device,
    kind: ze_image_type_t,
    [width, height, depth]: [u32; 3],
) -> ze_image_handle_t {
    let desc = ze_image_desc_t {
        flags: ZE_IMAGE_FLAG_KERNEL_WRITE,
        r#type: kind,
        format: ze_image_format_t {
            layout: ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8,
            r#type: ZE_IMAGE_FORMAT_TYPE_UNORM,
            x: ZE_IMAGE_FORMAT_SWIZZLE_R,
            y: ZE_IMAGE_FORMAT_SWIZZLE_G,
            z: ZE_IMAGE_FORMAT_SWIZZLE_B,
            w: ZE_IMAGE_FORMAT_SWIZZLE_A,
        },
        width: u64::from(width),
        height,
        depth,
        ..Default::default()
    };
    let mut image = std::ptr::null_mut();
    let (context, device) = (get_native(context), get_native(device));
    call!(image.pfnCreate(context, device, &raw const desc, &raw mut image));
    image
}

fn input(image: ze_image_handle_t, ownership: Ownership) -> ImageInput<2> {
    ImageInput {
        ze_image_handle: image,
        chan_order: ChannelOrder::Rgba,
        chan_type: ChannelType::UnormInt8,
        range: Range([4, 3]),
        ownership,
    }
}

fn fill(queue: &Queue, image: &UnsampledImage<'_, 2>, after: &[Event]) -> Event {
    let from = UnsampledImage::from_slice(&pixels(12), RGBA8, [3, 4]).unwrap();
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        let (a, b) = (cg.image(&from, Read)?, cg.image(image, Write.no_init())?);
        cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
    });
    submitted.unwrap()
}

/// The texels that a kernel reads from an image.
fn seen(queue: &Queue, image: &UnsampledImage<'_, 2>) -> Vec<[f32; 4]> {
    let seen = Buffer::<[f32; 4]>::new(12).unwrap();
    queue
        .submit(|cg| {
            let (image, seen) = (cg.image(image, Read)?, cg.access(&seen, Write)?);
            cg.parallel_for(kernels::floats, [3, 4], (&image, &seen))
        })
        .unwrap();
    seen.into_vec().unwrap()
}

fn floats(pixels: &[[u8; 4]]) -> Vec<[f32; 4]> {
    let one = |byte: u8| f32::from(byte) / 255.0;
    pixels.iter().map(|pixel| pixel.map(one)).collect()
}

fn destroyed(log: &Log, image: ze_image_handle_t) -> usize {
    let calls = log.calls("zeImageDestroy");
    let of = |call: &&ze_layers::recorder::Call| argument(call, "hImage") == image.addr() as u64;
    calls.iter().filter(of).count()
}

fn make_image_ownership() {
    let (context, device, queue) = single_queue();
    for ownership in [Ownership::Transfer, Ownership::Keep] {
        let handle = native(&context, &device);
        let log = Log::start();
        let gate = Gate::of(&context);
        // SAFETY: the image's alone until its end.
        let image = unsafe { make_image(input(handle, ownership), &context, None) }.unwrap();
        assert_eq!(image.range(), Range([3, 4]), "the fastest is the last");
        let event = fill(&queue, &image, std::slice::from_ref(&gate.event));
        let clone = image.clone();
        drop(image);
        assert_eq!(destroyed(&log, handle), 0);
        if ownership == Ownership::Transfer {
            drop(clone);
            assert!(is_running(&event), "the drop did not wait");
            assert_eq!(destroyed(&log, handle), 0);
            gate.open();
            event.wait().unwrap();
            queue.wait().unwrap();
            assert_eq!(destroyed(&log, handle), 1);
        } else {
            gate.holds_up(move || drop(clone));
            assert!(!is_running(&event), "the drop waited");
            queue.wait().unwrap();
            assert_eq!(destroyed(&log, handle), 0);
            assert_eq!(image_copies(&log)[1..], [0, 0]);
            call!(image.pfnDestroy(handle));
        }
    }
    let handle = native(&context, &device);
    // SAFETY: null and again are refused, the live one is given away.
    unsafe {
        let none = make_image(input(std::ptr::null_mut(), Ownership::Keep), &context, None);
        assert_eq!(none.unwrap_err().errc(), Errc::Invalid);
        let mut empty = input(handle, Ownership::Transfer);
        empty.range = Range([4, 0]);
        let none = make_image(empty, &context, None);
        assert_eq!(
            none.unwrap_err().errc(),
            Errc::Invalid,
            "and not transferred"
        );
        let transfer = || input(handle, Ownership::Transfer);
        let image = make_image(transfer(), &context, None).unwrap();
        let again = make_image(transfer(), &context, None);
        assert_eq!(again.unwrap_err().errc(), Errc::Invalid);
        drop(image);
        if devices().len() > 1 {
            let all = make_image(transfer(), &self::context(), None);
            assert_eq!(all.unwrap_err().errc(), Errc::Invalid);
        }
    }
}

/// Level Zero reads the runtime's own image, and a SYCL image is created around it.
fn image_native_mem() {
    let (context, _, queue) = single_queue();
    let own = UnsampledImage::<2>::new(RGBA8, [3, 4]).unwrap();
    fill(&queue, &own, &[]);
    let (sender, receiver) = std::sync::mpsc::channel();
    let inner = context.clone();
    let shared = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
    let seen_at = Arc::clone(&shared);
    let log = Log::start();
    let task = queue.submit(|cg| {
        let a = cg.image(&own, Read)?;
        cg.host_task((a,), move |handle, (view,)| {
            let image = handle.native_image(&view)?;
            seen_at.store(image, Ordering::Relaxed);
            // SAFETY: the runtime's image, which lives as long as the program keeps `own`.
            let again = unsafe { make_image(input(image, Ownership::Keep), &inner, None) }?;
            let _ = sender.send(again);
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    let again = receiver.recv().unwrap();
    assert_eq!(seen(&queue, &again), floats(&brightened(&pixels(12))));
    assert_eq!(image_copies(&log), [0; 3], "nothing was outdated");
    drop(again);
    let kept = log.calls("zeImageCreate").is_empty();
    assert!(kept, "it is the same image");
    assert_eq!(destroyed(&log, shared.load(Ordering::Relaxed)), 0);
    // A host task gets the handle that the image was made from.
    let handle = native(&context, &devices()[0]);
    // SAFETY: the image's alone from here on.
    let made = unsafe { make_image(input(handle, Ownership::Transfer), &context, None) }.unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = queue.submit(|cg| {
        let a = cg.image(&made, Read)?;
        cg.host_task((a,), move |handle, (view,)| {
            let _ = sender.send(handle.native_image(&view)?.addr());
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    assert_eq!(receiver.recv().unwrap(), handle.addr());
}

fn available_event() {
    let (context, device, queue) = single_queue();
    let handle = native(&context, &device);
    let gate = Gate::of(&context);
    let transfer = input(handle, Ownership::Transfer);
    // SAFETY: the image's alone from here on.
    let image = unsafe { make_image(transfer, &context, Some(&gate.event)) }.unwrap();
    let event = fill(&queue, &image, &[]);
    assert!(is_running(&event));
    gate.open();
    event.wait().unwrap();
    // An unused image is also destroyed only after its event.
    let (handle, gate) = (native(&context, &device), Gate::of(&context));
    let log = Log::start();
    let transfer = input(handle, Ownership::Transfer);
    // SAFETY: as above.
    let image = unsafe { make_image(transfer, &context, Some(&gate.event)) }.unwrap();
    drop(image);
    queue.wait().unwrap();
    assert_eq!(destroyed(&log, handle), 0);
    gate.open();
    queue.wait().unwrap();
    assert_eq!(destroyed(&log, handle), 1);
}

fn only_its_device() {
    let (context, device, queue) = single_queue();
    let handle = native(&context, &device);
    // SAFETY: the image's alone from here on.
    let image = unsafe { make_image(input(handle, Ownership::Transfer), &context, None) }.unwrap();
    fill(&queue, &image, &[]).wait().unwrap();
    let refused = |queue: &Queue| {
        let submitted = queue.submit(|cg| {
            let image = cg.image(&image, ReadWrite)?;
            cg.parallel_for(kernels::invert, [3, 4], (&image,))
        });
        assert_eq!(submitted.unwrap_err().errc(), Errc::Invalid);
    };
    let log = Log::start();
    if devices().len() > 1 {
        refused(&self::queue(1));
    }
    let (foreign, native_context) = crate::native::foreign();
    let builder = Queue::builder().context(&foreign).device(&device);
    refused(&builder.build().unwrap());
    let on_host = image.host_access::<[f32; 4], _>(Read);
    assert_eq!(on_host.unwrap_err().errc(), Errc::Invalid);
    assert_eq!(image_copies(&log), [0; 3]);
    assert!(log.host_allocations().is_empty());
    drop((log, foreign));
    assert_eq!(
        seen(&queue, &image),
        floats(&brightened(&pixels(12))),
        "as before"
    );
    drop(image);
    queue.wait().unwrap();
    let _ = native_context;
}

/// Each call of a program around a native image fails once: its owner destroys the image exactly once all the same.
fn make_image_faults() {
    let (context, device, queue) = single_queue();
    let want = floats(&brightened(&pixels(12)));
    let mut failed = 0;
    for call in 1.. {
        let handle = native(&context, &device);
        let log = Log::with(&format!("fail ze* OUT_OF_DEVICE_MEMORY at {call}"));
        let program = || -> sycl::Result<Vec<[f32; 4]>> {
            let input = input(handle, Ownership::Transfer);
            // SAFETY: the image's alone from here on, if it is taken.
            let image = unsafe { make_image(input, &context, None) }?;
            let from = UnsampledImage::from_slice(&pixels(12), RGBA8, [3, 4])?;
            let seen = Buffer::<[f32; 4]>::new(12)?;
            queue.submit(|cg| {
                let (a, b) = (cg.image(&from, Read)?, cg.image(&image, Write.no_init())?);
                cg.parallel_for(kernels::brighten, [3, 4], (&a, &b))
            })?;
            queue.submit(|cg| {
                let (a, seen) = (cg.image(&image, Read)?, cg.access(&seen, Write.no_init())?);
                cg.parallel_for(kernels::floats, [3, 4], (&a, &seen))
            })?;
            queue.wait()?;
            seen.into_vec()
        };
        let result = program();
        let reached = log.0.calls().iter().any(|call| call.injected);
        for _ in 0..100_000 {
            if destroyed(&log, handle) > 0 {
                break;
            }
            // A list that could not be executed fails its commands.
            drop(queue.wait());
            std::thread::yield_now();
        }
        assert_eq!(destroyed(&log, handle), 1, "call {call}");
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
    assert!(failed > 3, "{failed}");
}

/// The texels of a SYCL image around a native one, as a host task reads them with Level Zero.
fn texels<const D: usize>(
    queue: &Queue,
    image: &UnsampledImage<'static, D>,
    count: usize,
) -> Vec<[u8; 4]>
where
    sycl::Dim<D>: sycl::SupportedDim,
{
    let (context, device) = (queue.context(), queue.device());
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = queue.submit(|cg| {
        let a = cg.image(image, Read)?;
        cg.host_task((a,), move |handle, (view,)| {
            let native = handle.native_image(&view)?;
            let mut seen = vec![[0u8; 4]; count];
            let list = crate::native::new_list(&context, &device, 0);
            let (none, no_region, waits) =
                (std::ptr::null_mut(), std::ptr::null(), std::ptr::null_mut());
            let to = seen.as_mut_ptr().cast();
            call!(
                command_list
                    .pfnAppendImageCopyToMemory(list, to, native, no_region, none, 0, waits)
            );
            call!(command_list.pfnHostSynchronize(list, u64::MAX));
            call!(command_list.pfnDestroy(list));
            let _ = sender.send(seen);
            Ok(())
        })
    });
    task.unwrap().wait().unwrap();
    receiver.recv().unwrap()
}

/// The interop input has width, height, depth; from then on ranges are ordered as buffers'.
fn one_and_three_dimensions() {
    let (context, device, queue) = single_queue();
    let transfer = Ownership::Transfer;
    let write = |image: ze_image_handle_t, from: &[[u8; 4]]| {
        let list = crate::native::new_list(&context, &device, 0);
        let (none, no_region, waits) =
            (std::ptr::null_mut(), std::ptr::null(), std::ptr::null_mut());
        let from = from.as_ptr().cast();
        call!(
            command_list.pfnAppendImageCopyFromMemory(list, image, from, no_region, none, 0, waits)
        );
        call!(command_list.pfnHostSynchronize(list, u64::MAX));
        call!(command_list.pfnDestroy(list));
    };
    let line = native_of(&context, &device, ZE_IMAGE_TYPE_1D, [5, 1, 1]);
    let cube = native_of(&context, &device, ZE_IMAGE_TYPE_3D, [4, 3, 2]);
    write(line, &pixels(5));
    write(cube, &pixels(24));
    let log = Log::start();
    {
        let made = |range| ImageInput::<1> {
            ze_image_handle: line,
            chan_order: ChannelOrder::Rgba,
            chan_type: ChannelType::UnormInt8,
            range,
            ownership: transfer,
        };
        // SAFETY: the image's alone from here on.
        let image = unsafe { make_image(made(Range([5])), &context, None) }.unwrap();
        assert_eq!(image.range(), Range([5]));
        assert_eq!(texels(&queue, &image, 5), pixels(5));
        let input = ImageInput::<3> {
            ze_image_handle: cube,
            chan_order: ChannelOrder::Rgba,
            chan_type: ChannelType::UnormInt8,
            range: Range([4, 3, 2]),
            ownership: transfer,
        };
        // SAFETY: as above.
        let image = unsafe { make_image(input, &context, None) }.unwrap();
        assert_eq!(image.range(), Range([2, 3, 4]));
        assert_eq!(texels(&queue, &image, 24), pixels(24));
    }
    queue.wait().unwrap();
    assert_eq!((destroyed(&log, line), destroyed(&log, cube)), (1, 1));
}
