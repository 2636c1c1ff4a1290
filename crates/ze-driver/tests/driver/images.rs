//! Images, views and samplers: memory layouts, copies, rejected calls, and the words that kernels get.

use crate::api::*;
use crate::launches::launch;
use crate::platform::platform;
use level_zero_sys::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

fn desc(
    kind: ze_image_type_t,
    layout: ze_image_format_layout_t,
    size: [u32; 3],
) -> ze_image_desc_t {
    ze_image_desc_t {
        r#type: kind,
        format: ze_image_format_t {
            layout,
            r#type: ZE_IMAGE_FORMAT_TYPE_UINT,
            x: ZE_IMAGE_FORMAT_SWIZZLE_R,
            y: ZE_IMAGE_FORMAT_SWIZZLE_G,
            z: ZE_IMAGE_FORMAT_SWIZZLE_B,
            w: ZE_IMAGE_FORMAT_SWIZZLE_A,
        },
        width: u64::from(size[0]),
        height: size[1],
        depth: size[2],
        arraylevels: size[2],
        ..Default::default()
    }
}

fn create(
    context: ze_context_handle_t,
    desc: &ze_image_desc_t,
) -> (ze_result_t, ze_image_handle_t) {
    let mut image = null_mut();
    let got = ze!(Image.pfnCreate(context, device(0), desc, &raw mut image));
    (got, image)
}

/// Address of the first texel.
fn base_of(image: ze_image_handle_t) -> *const u8 {
    let mut offset = 0;
    ok!(ImageExp.pfnGetDeviceOffsetExp(image, &raw mut offset));
    // SAFETY: the test's platform puts it first into a record, which is the image's.
    unsafe { (offset as *const u128).read() as usize as *const u8 }
}

fn made(context: ze_context_handle_t, desc: &ze_image_desc_t) -> ze_image_handle_t {
    let (got, image) = create(context, desc);
    assert_eq!(got, ZE_RESULT_SUCCESS, "{}", last_error());
    image
}

fn memory_of(image: ze_image_handle_t) -> [u64; 3] {
    let mut found = ze_image_memory_properties_exp_t::default();
    ok!(ImageExp.pfnGetMemoryPropertiesExp(image, &raw mut found));
    [found.size, found.rowPitch, found.slicePitch]
}

fn finished(context: ze_context_handle_t, append: impl FnOnce(ze_command_list_handle_t)) {
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    append(list);
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
    ok!(CommandList.pfnDestroy(list));
}

fn region(origin: [u32; 3], size: [u32; 3]) -> ze_image_region_t {
    ze_image_region_t {
        originX: origin[0],
        originY: origin[1],
        originZ: origin[2],
        width: size[0],
        height: size[1],
        depth: size[2],
    }
}

/// Bytes 1, 2, 3, ... as an image's content.
fn fill(context: ze_context_handle_t, image: ze_image_handle_t, bytes: usize) -> Vec<u8> {
    let content: Vec<u8> = (0..bytes).map(|i| i as u8 + 1).collect();
    finished(context, |list| {
        ok!(CommandList.pfnAppendImageCopyFromMemory(
            list,
            image,
            content.as_ptr().cast(),
            null(),
            null_mut(),
            0,
            null_mut()
        ));
    });
    content
}

fn read(context: ze_context_handle_t, image: ze_image_handle_t, bytes: usize) -> Vec<u8> {
    let mut content = vec![0u8; bytes];
    finished(context, |list| {
        ok!(CommandList.pfnAppendImageCopyToMemory(
            list,
            content.as_mut_ptr().cast(),
            image,
            null(),
            null_mut(),
            0,
            null_mut()
        ));
    });
    content
}

/// A sampler of normalised coordinates.
fn sampler(
    context: ze_context_handle_t,
    address: ze_sampler_address_mode_t,
    filter: ze_sampler_filter_mode_t,
) -> ze_sampler_handle_t {
    let desc = ze_sampler_desc_t {
        addressMode: address,
        filterMode: filter,
        isNormalized: 1,
        ..Default::default()
    };
    let mut sampler = null_mut();
    ok!(Sampler.pfnCreate(context, device(0), &raw const desc, &raw mut sampler));
    sampler
}

/// One group of a kernel that reads `image` through `sampler`, after `gates`.
fn look(
    list: ze_command_list_handle_t,
    kernel: ze_kernel_handle_t,
    (image, sampler): (ze_image_handle_t, ze_sampler_handle_t),
    gates: &mut [ze_event_handle_t],
) {
    assert_eq!(arg(kernel, 0, image), ZE_RESULT_SUCCESS);
    assert_eq!(arg(kernel, 1, sampler), ZE_RESULT_SUCCESS);
    let launched = launch(list, kernel, null_mut(), gates);
    assert_eq!(launched, ZE_RESULT_SUCCESS);
}

#[test]
fn impossible_images_are_rejected_by_name() {
    let context = context();
    let two = |size| desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, size);
    let mut bad_layout = two([4, 4, 1]);
    bad_layout.format.layout = ze_image_format_layout_t(99);
    let mut bad_swizzle = two([4, 4, 1]);
    bad_swizzle.format.w = ze_image_format_swizzle_t(77);
    let mut float8 = two([4, 4, 1]);
    float8.format.r#type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
    let mut levels = two([4, 4, 1]);
    levels.miplevels = 4;
    let planar = desc(
        ZE_IMAGE_TYPE_BUFFER,
        ZE_IMAGE_FORMAT_LAYOUT_NV12,
        [64, 1, 1],
    );
    let null_pitched = ze_image_pitched_exp_desc_t::default();
    let mut nowhere = two([4, 4, 1]);
    nowhere.pNext = (&raw const null_pitched).cast();
    let sampled = ze_image_bindless_exp_desc_t {
        flags: ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS | ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE,
        ..Default::default()
    };
    let mut without = two([4, 4, 1]);
    without.pNext = (&raw const sampled).cast();
    let cases = [
        (bad_layout, ZE_RESULT_ERROR_INVALID_ENUMERATION, "layout"),
        (bad_swizzle, ZE_RESULT_ERROR_INVALID_ENUMERATION, "swizzle"),
        (float8, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "widths"),
        (
            levels,
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "miplevels is 4",
        ),
        (planar, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, "buffers"),
        (two([0, 4, 1]), ZE_RESULT_ERROR_INVALID_SIZE, "[0, 4, 1]"),
        (two([4, 1 << 20, 1]), ZE_RESULT_ERROR_INVALID_SIZE, "16384"),
        (nowhere, ZE_RESULT_ERROR_INVALID_NULL_POINTER, "ptr is null"),
        (
            without,
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "ze_sampler_desc_t",
        ),
    ];
    for (desc, want, text) in cases {
        assert_eq!(create(context, &desc).0, want, "{text}");
        assert!(last_error().contains(text), "{}", last_error());
    }
    // The query returns its result in its chain instead, and agrees.
    let mut support = ze_image_format_support_ext_properties_t {
        supported: 1,
        ..Default::default()
    };
    let mut properties = ze_image_properties_t {
        pNext: (&raw mut support).cast(),
        ..Default::default()
    };
    ok!(Image.pfnGetProperties(device(0), &raw const float8, &raw mut properties));
    assert_eq!((support.supported, properties.samplerFilterFlags), (0, 0));
    let mut unorm = two([4, 4, 1]);
    unorm.format.r#type = ZE_IMAGE_FORMAT_TYPE_UNORM;
    ok!(Image.pfnGetProperties(device(0), &raw const unorm, &raw mut properties));
    let both = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT | ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    assert_eq!(
        (support.supported, properties.samplerFilterFlags),
        (1, both)
    );
}

#[test]
fn memory_of_each_kind() {
    let context = context();
    let cases = [
        (
            ZE_IMAGE_TYPE_1D,
            ZE_IMAGE_FORMAT_LAYOUT_16,
            [5, 9, 9],
            [10, 10, 10],
        ),
        (
            ZE_IMAGE_TYPE_1DARRAY,
            ZE_IMAGE_FORMAT_LAYOUT_16,
            [5, 9, 3],
            [30, 10, 10],
        ),
        (
            ZE_IMAGE_TYPE_2D,
            ZE_IMAGE_FORMAT_LAYOUT_32_32_32,
            [5, 4, 9],
            [240, 60, 240],
        ),
        (
            ZE_IMAGE_TYPE_2DARRAY,
            ZE_IMAGE_FORMAT_LAYOUT_8,
            [5, 4, 3],
            [60, 5, 20],
        ),
        (
            ZE_IMAGE_TYPE_3D,
            ZE_IMAGE_FORMAT_LAYOUT_8_8_8,
            [5, 4, 3],
            [180, 15, 60],
        ),
        // A buffer's width is in bytes.
        (
            ZE_IMAGE_TYPE_BUFFER,
            ZE_IMAGE_FORMAT_LAYOUT_32,
            [40, 9, 9],
            [40, 40, 40],
        ),
        // Luma, then half as many pairs of chroma each way, at a cache line.
        (
            ZE_IMAGE_TYPE_2D,
            ZE_IMAGE_FORMAT_LAYOUT_NV12,
            [6, 5, 1],
            [64 + 18, 6, 30],
        ),
        // Two pixels an element.
        (
            ZE_IMAGE_TYPE_2D,
            ZE_IMAGE_FORMAT_LAYOUT_YUYV,
            [7, 2, 1],
            [32, 16, 32],
        ),
    ];
    for (kind, layout, size, want) in cases {
        let image = made(context, &desc(kind, layout, size));
        assert_eq!(memory_of(image), want, "{kind:?} {layout:?}");
        let mut id = ze_image_allocation_ext_properties_t::default();
        ok!(Image.pfnGetAllocPropertiesExt(context, image, &raw mut id));
        assert_ne!(id.id, 0);
        ok!(Image.pfnDestroy(image));
    }
}

#[test]
fn copies_of_regions() {
    let context = context();
    let shape = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, [4, 3, 1]);
    let (a, b) = (made(context, &shape), made(context, &shape));
    let content = fill(context, a, 12);
    fill(context, b, 12);
    assert_eq!(read(context, a, 12), content);
    // Two columns of `a`'s last two rows to the middle of `b`; the third dimension means nothing.
    let (to, from) = (region([1, 0, 7], [2, 2, 1]), region([2, 1, 1], [2, 2, 1]));
    finished(context, |list| {
        ok!(CommandList.pfnAppendImageCopyRegion(
            list,
            b,
            a,
            &raw const to,
            &raw const from,
            null_mut(),
            0,
            null_mut()
        ));
    });
    assert_eq!(
        read(context, b, 12),
        [1, 7, 8, 4, 5, 11, 12, 8, 9, 10, 11, 12]
    );
    // To memory with pitches: rows of four bytes, two of them the region's.
    let mut memory = [0u8; 8];
    finished(context, |list| {
        ok!(CommandList.pfnAppendImageCopyToMemoryExt(
            list,
            memory.as_mut_ptr().cast(),
            a,
            &raw const from,
            4,
            0,
            null_mut(),
            0,
            null_mut()
        ));
    });
    assert_eq!(memory, [7, 8, 0, 0, 11, 12, 0, 0]);
    finished(context, |list| {
        ok!(CommandList.pfnAppendImageCopyFromMemoryExt(
            list,
            a,
            [90u8, 91, 0, 92, 93].as_ptr().cast(),
            &raw const from,
            3,
            0,
            null_mut(),
            0,
            null_mut()
        ));
    });
    assert_eq!(
        read(context, a, 12),
        [1, 2, 3, 4, 5, 6, 90, 91, 9, 10, 92, 93]
    );
    // Refusals.
    let list = list(context, 0);
    let outside = region([3, 0, 0], [2, 1, 1]);
    let got = ze!(CommandList.pfnAppendImageCopyRegion(
        list,
        b,
        a,
        &raw const outside,
        &raw const outside,
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(got, ZE_RESULT_ERROR_INVALID_SIZE);
    let got = ze!(CommandList.pfnAppendImageCopyRegion(
        list,
        a,
        a,
        &raw const to,
        &raw const from,
        null_mut(),
        0,
        null_mut()
    ));
    assert_eq!(got, ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    let wide = made(
        context,
        &desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_16, [4, 3, 1]),
    );
    let got = ze!(CommandList.pfnAppendImageCopy(list, a, wide, null_mut(), 0, null_mut()));
    assert_eq!(got, ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
}

#[test]
fn layers_of_a_1d_array_are_rows_or_slices() {
    let context = context();
    let image = made(
        context,
        &desc(ZE_IMAGE_TYPE_1DARRAY, ZE_IMAGE_FORMAT_LAYOUT_8, [3, 1, 4]),
    );
    fill(context, image, 12);
    for part in [region([1, 2, 0], [2, 2, 1]), region([1, 0, 2], [2, 1, 2])] {
        let mut memory = [0u8; 4];
        finished(context, |list| {
            ok!(CommandList.pfnAppendImageCopyToMemory(
                list,
                memory.as_mut_ptr().cast(),
                image,
                &raw const part,
                null_mut(),
                0,
                null_mut()
            ));
        });
        assert_eq!(memory, [8, 9, 11, 12]);
    }
}

#[test]
fn views_share_memory_and_outlive_the_image() {
    let context = context();
    let whole = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_NV12, [4, 2, 1]);
    let image = made(context, &whole);
    // Luma and chroma one after another in memory.
    let content = fill(context, image, 12);
    assert_eq!(read(context, image, 12), content);
    let plane = ze_image_view_planar_ext_desc_t {
        planeIndex: 1,
        ..Default::default()
    };
    let mut chroma = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8_8, [2, 1, 1]);
    chroma.pNext = (&raw const plane).cast();
    let mut view = null_mut();
    ok!(Image.pfnViewCreateExt(context, device(0), &raw const chroma, image, &raw mut view));
    assert_eq!(read(context, view, 4), content[8..]);
    // Too large for the plane, or a plane that is not there.
    chroma.width = 3;
    let mut none = null_mut();
    let got =
        ze!(Image.pfnViewCreateExt(context, device(0), &raw const chroma, image, &raw mut none));
    assert_eq!(got, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let third = ze_image_view_planar_exp_desc_t {
        planeIndex: 2,
        ..Default::default()
    };
    chroma.width = 2;
    chroma.pNext = (&raw const third).cast();
    let got =
        ze!(ImageExp.pfnViewCreateExp(context, device(0), &raw const chroma, image, &raw mut none));
    assert_eq!(got, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    assert!(last_error().contains("planeIndex is 2"), "{}", last_error());
    // Kernels get the view, not the image.
    let kernel = kernel(context, c"look");
    assert_eq!(
        arg(kernel, 0, image),
        ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT
    );
    assert!(last_error().contains("share chroma"), "{}", last_error());
    assert_eq!(arg(kernel, 0, view), ZE_RESULT_SUCCESS);
    ok!(Image.pfnDestroy(image));
    assert_eq!(read(context, view, 4), content[8..]);
    ok!(Image.pfnDestroy(view));
}

#[test]
fn a_launch_keeps_its_image() {
    let context = context();
    let [gate] = events(context, false);
    let size = [4, 1, 1];
    let image = made(
        context,
        &desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, size),
    );
    let view_desc = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, size);
    let mut view = null_mut();
    ok!(Image.pfnViewCreateExt(
        context,
        device(0),
        &raw const view_desc,
        image,
        &raw mut view
    ));
    let sampler = sampler(
        context,
        ZE_SAMPLER_ADDRESS_MODE_NONE,
        ZE_SAMPLER_FILTER_MODE_NEAREST,
    );
    let kernel = kernel(context, c"look");
    let list = immediate(context, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    look(list, kernel, (view, sampler), &mut [gate]);
    // The last element is written through the view's record, which is the handle's no longer.
    ok!(Image.pfnDestroy(view));
    ok!(Kernel.pfnDestroy(kernel));
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
    assert_eq!(read(context, image, 16)[12..], [1, 0, 0, 0]);
    ok!(Image.pfnDestroy(image));
}

#[test]
fn images_over_the_callers_memory() {
    let context = context();
    let mut pitch = 0;
    ok!(Mem.pfnGetPitchFor2dImage(context, device(0), 5, 3, 4, (&raw mut pitch).cast()));
    assert_eq!(pitch, 64);
    let memory = words(context, pitch / 4 * 3);
    let pitched = ze_image_pitched_exp_desc_t {
        ptr: memory.as_mut_ptr().cast::<c_void>(),
        ..Default::default()
    };
    let mut shape = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, [5, 3, 1]);
    shape.pNext = (&raw const pitched).cast();
    let image = made(context, &shape);
    assert_eq!(memory_of(image), [2 * 64 + 20, 64, 192]);
    fill(context, image, 60);
    assert_eq!(memory[16], u32::from_le_bytes([21, 22, 23, 24]));
    ok!(Image.pfnDestroy(image));
    assert_eq!(memory[0], u32::from_le_bytes([1, 2, 3, 4]));
    // Pitches of one's own, and more than the memory has.
    let custom = ze_custom_pitch_exp_desc_t {
        rowPitch: 24,
        slicePitch: 0,
        pNext: (&raw const pitched).cast(),
        ..Default::default()
    };
    shape.pNext = (&raw const custom).cast();
    let image = made(context, &shape);
    assert_eq!(memory_of(image), [68, 24, 72]);
    ok!(Image.pfnDestroy(image));
    shape.height = 100;
    assert_eq!(create(context, &shape).0, ZE_RESULT_ERROR_INVALID_SIZE);
}

#[test]
fn kernels_get_records_and_words() {
    let context = context();
    let image = made(
        context,
        &desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, [4, 2, 1]),
    );
    fill(context, image, 32);
    let sampler = sampler(
        context,
        ZE_SAMPLER_ADDRESS_MODE_MIRROR,
        ZE_SAMPLER_FILTER_MODE_LINEAR,
    );
    let kernel = kernel(context, c"look");
    finished(context, |list| {
        look(list, kernel, (image, sampler), &mut []);
        // The launch has the sampler's word, so the handle can be destroyed.
        ok!(Sampler.pfnDestroy(sampler));
    });
    // The test's platform writes the sampler's word to the last texel.
    let content = read(context, image, 32);
    assert_eq!(content[28..], [0x73, 0, 0, 0], "mirror, linear, normalised");
    // Wrong handles and sizes.
    let null: ze_image_handle_t = null_mut();
    let cases = [
        (arg(kernel, 0, null), ZE_RESULT_ERROR_INVALID_NULL_HANDLE),
        (arg(kernel, 0, context), ZE_RESULT_ERROR_INVALID_ARGUMENT),
        (arg(kernel, 1, image), ZE_RESULT_ERROR_INVALID_ARGUMENT),
        (
            arg(kernel, 0, 1u32),
            ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
        ),
        (
            ze!(Kernel.pfnSetArgumentValue(kernel, 0, 8, std::ptr::null())),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER,
        ),
    ];
    for (got, want) in cases {
        assert_eq!(got, want);
    }
    // A bindless handle is the same address.
    // SAFETY: the image's first texel.
    assert_eq!(unsafe { base_of(image).read() }, 1);
}

#[test]
fn copies_keep_their_images() {
    let context = context();
    let [gate] = events(context, false);
    let size = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_8, [16, 15, 1]);
    let bytes = 16 * 15;
    let (first, second) = (made(context, &size), made(context, &size));
    let content: Vec<u8> = (0..bytes).map(|i| i as u8 ^ 0x55).collect();
    let mut out = vec![0u8; bytes];
    let list = immediate(
        context,
        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
    );
    ok!(CommandList.pfnAppendImageCopyFromMemory(
        list,
        first,
        content.as_ptr().cast(),
        null(),
        null_mut(),
        1,
        &raw const gate as *mut _
    ));
    ok!(CommandList.pfnAppendImageCopy(list, second, first, null_mut(), 0, null_mut()));
    ok!(CommandList.pfnAppendImageCopyToMemory(
        list,
        out.as_mut_ptr().cast(),
        second,
        null(),
        null_mut(),
        0,
        null_mut()
    ));
    ok!(Image.pfnDestroy(first));
    ok!(Image.pfnDestroy(second));
    // Would be at the same addresses, had those been freed with their handles.
    let others = [made(context, &size), made(context, &size)];
    let theirs = others.map(|other| fill(context, other, bytes));
    ok!(Event.pfnHostSignal(gate));
    ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
    assert!(out == content);
    for (other, content) in others.into_iter().zip(theirs) {
        assert!(read(context, other, bytes) == content);
        ok!(Image.pfnDestroy(other));
    }
    ok!(CommandList.pfnDestroy(list));
}

#[test]
fn memory_of_images_is_freed_when_its_users_have_been_waited_for() {
    let context = context();
    let sampler = sampler(
        context,
        ZE_SAMPLER_ADDRESS_MODE_NONE,
        ZE_SAMPLER_FILTER_MODE_NEAREST,
    );
    let size = desc(ZE_IMAGE_TYPE_2D, ZE_IMAGE_FORMAT_LAYOUT_32, [4, 1, 1]);
    let list = immediate(
        context,
        ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
    );
    let mut out = [0u8; 16];
    type Use<'a> = &'a mut dyn FnMut(ze_image_handle_t);
    let uses: [(&str, Use<'_>); 2] = [
        ("copy", &mut |image| {
            ok!(CommandList.pfnAppendImageCopyToMemory(
                list,
                out.as_mut_ptr().cast(),
                image,
                null(),
                null_mut(),
                0,
                null_mut()
            ));
        }),
        ("launch", &mut |image| {
            let kernel = kernel(context, c"look");
            look(list, kernel, (image, sampler), &mut []);
            ok!(Kernel.pfnDestroy(kernel));
        }),
    ];
    for (name, work) in uses {
        let image = made(context, &size);
        let base = base_of(image);
        let allocation = || {
            let found = platform().expect("it is there").find(base);
            found.map(|found| found.id)
        };
        let before = allocation();
        assert!(before.is_some(), "{name}");
        work(image);
        ok!(Image.pfnDestroy(image));
        ok!(CommandList.pfnHostSynchronize(list, u64::MAX));
        assert_ne!(allocation(), before, "{name}");
    }
    ok!(CommandList.pfnDestroy(list));
}
