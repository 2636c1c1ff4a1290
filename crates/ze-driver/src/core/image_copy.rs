//! Appends of image copies: between images, and between an image and memory, whole or a region.
//!
//! Bytes are copied, so both sides have elements of the same size. An image of several planes is copied plane by plane; in
//! memory the planes follow each other without gaps. Copies keep the images' memory alive, as launches do: a program that
//! destroys an image too early harms no other.

use crate::check::{error, not_null};
use crate::core::dependencies::Dependencies;
use crate::core::event::Event;
use crate::core::image::{Image, Plane};
use crate::core::list::CommandList;
use crate::device::{RegionCopy, Work};
use crate::schedule::Op;
use level_zero_sys::*;
use std::ffi::c_void;
use ze_abi::{Handle, Handles, OptHandle, OptIn, ZeResult};
use ze_abi_macros::ze_entry;

/// A box of pixels: origin and size, layers in the third dimension.
#[derive(Clone, Copy, Debug)]
struct Region {
    origin: [u32; 3],
    size: [u32; 3],
}

impl Region {
    /// The part of `image` that `region` names; the whole image without one.
    ///
    /// # Errors
    /// INVALID_SIZE when it is not inside.
    fn of(name: &str, image: &Image, region: Option<&ze_image_region_t>) -> ZeResult<Self> {
        let Some(plane) = image.planes().first() else {
            return error(ZE_RESULT_ERROR_UNKNOWN, "an image without planes");
        };
        // Pixels: the first plane's elements may hold several.
        let [across, down] = plane.format.divisor;
        let whole = [
            plane.extent[0].saturating_mul(across),
            plane.extent[1].saturating_mul(down),
            plane.extent[2],
        ];
        let Some(given) = region else {
            return Ok(Self {
                origin: [0; 3],
                size: whole,
            });
        };
        let mut origin = [given.originX, given.originY, given.originZ];
        let mut size = [given.width, given.height, given.depth];
        let dimensions = match image.kind() {
            ZE_IMAGE_TYPE_1D | ZE_IMAGE_TYPE_BUFFER => 1,
            ZE_IMAGE_TYPE_2D => 2,
            ZE_IMAGE_TYPE_1DARRAY => {
                // Layers of a 1D image may be named as its second dimension or its third.
                let named = if origin[2] != 0 || size[2] > 1 { 2 } else { 1 };
                (origin[2], size[2]) = (origin[named], size[named]);
                (origin[1], size[1]) = (0, 1);
                3
            }
            _ => 3,
        };
        // Values for dimensions that the image does not have are ignored.
        origin[dimensions..].fill(0);
        size[dimensions..].fill(1);
        // A size of 0 means a lower dimension.
        size[1..].iter_mut().for_each(|size| *size = (*size).max(1));
        let inside = (0..3).all(|i| {
            origin[i]
                .checked_add(size[i])
                .is_some_and(|end| end <= whole[i])
        });
        if !inside {
            return error(
                ZE_RESULT_ERROR_INVALID_SIZE,
                format!("{name} is {size:?} at {origin:?}, the image is {whole:?}"),
            );
        }
        Ok(Self { origin, size })
    }

    /// The region in elements of `plane`.
    fn in_plane(&self, plane: &Plane) -> ZeResult<Self> {
        let mut part = *self;
        for i in 0..2 {
            let divisor = plane.format.divisor[i];
            if !self.origin[i].is_multiple_of(divisor) {
                return error(
                    ZE_RESULT_ERROR_INVALID_SIZE,
                    format!(
                        "the region begins at {:?}, pixels {divisor} of which share chroma",
                        self.origin
                    ),
                );
            }
            part.origin[i] /= divisor;
            part.size[i] = part.size[i].div_ceil(divisor);
        }
        Ok(part)
    }

    fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|i| {
            let (a, b) = (u64::from(self.origin[i]), u64::from(other.origin[i]));
            a < b + u64::from(other.size[i]) && b < a + u64::from(self.size[i])
        })
    }
}

/// Address of a region's first element.
fn address(image: &Image, plane: &Plane, region: &Region) -> *mut u8 {
    let [x, y, z] = region.origin.map(u64::from);
    // Inside the image, and so in the address space.
    let offset = plane.offset
        + z * plane.slice_pitch
        + y * plane.row_pitch
        + x * u64::from(plane.format.bytes);
    image.base().wrapping_add(offset as usize)
}

fn append(
    list: &CommandList,
    copies: Vec<RegionCopy>,
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    let mut ops: Vec<Op> = copies
        .into_iter()
        .map(|copy| Op::Work(Work::CopyRegion(copy)))
        .collect();
    if ops.is_empty() {
        ops.push(Op::Nothing);
    }
    list.append_all(ops, dependencies)
}

fn between_images(
    list: &CommandList,
    (dst, dst_region): (&Image, Option<&ze_image_region_t>),
    (src, src_region): (&Image, Option<&ze_image_region_t>),
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    let to = Region::of("pDstRegion", dst, dst_region)?;
    let from = Region::of("pSrcRegion", src, src_region)?;
    if to.size != from.size {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "the destination is {:?}, the source {:?} pixels, equal sizes are required",
                to.size, from.size
            ),
        );
    }
    list.check_reach("hDstImage", dst.base())?;
    list.check_reach("hSrcImage", src.base())?;
    let alike = dst.planes().len() == src.planes().len()
        && dst
            .planes()
            .iter()
            .zip(src.planes())
            .all(|(a, b)| a.format == b.format);
    if !alike {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            "hDstImage and hSrcImage have elements of different sizes",
        );
    }
    let mut copies = Vec::with_capacity(dst.planes().len());
    for (to_plane, from_plane) in dst.planes().iter().zip(src.planes()) {
        let overlap =
            dst.shares_memory(src) && to_plane.offset == from_plane.offset && to.meets(&from);
        if overlap && !to.is_empty() {
            return error(
                ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
                format!("both regions are in one image, {to:?} and {from:?}"),
            );
        }
        let (to, from) = (to.in_plane(to_plane)?, from.in_plane(from_plane)?);
        if to.is_empty() {
            continue;
        }
        copies.push(RegionCopy {
            dst: address(dst, to_plane, &to),
            dst_pitch: to_plane.row_pitch,
            dst_slice_pitch: to_plane.slice_pitch,
            src: address(src, from_plane, &from),
            src_pitch: from_plane.row_pitch,
            src_slice_pitch: from_plane.slice_pitch,
            width: u64::from(to.size[0]) * u64::from(to_plane.format.bytes),
            rows: u64::from(to.size[1]),
            slices: u64::from(to.size[2]),
            keeps: [(0, dst.texels()), (1, src.texels())].into_iter().collect(),
        });
    }
    append(list, copies, dependencies)
}

/// The memory side of a copy: its address and layout.
#[derive(Clone, Copy)]
struct Linear {
    ptr: *mut c_void,
    row_pitch: u32,
    slice_pitch: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToMemory,
    FromMemory,
}

fn with_memory(
    list: &CommandList,
    (image, region): (&Image, Option<&ze_image_region_t>),
    memory: Linear,
    direction: Direction,
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    let names = match direction {
        Direction::ToMemory => ("dstptr", "pSrcRegion"),
        Direction::FromMemory => ("srcptr", "pDstRegion"),
    };
    not_null(names.0, memory.ptr)?;
    list.check_reach(names.0, memory.ptr)?;
    list.check_reach("the image", image.base())?;
    let region = Region::of(names.1, image, region)?;
    let mut at = 0u64;
    let mut copies = Vec::with_capacity(image.planes().len());
    for plane in image.planes() {
        let part = region.in_plane(plane)?;
        if part.is_empty() {
            continue;
        }
        let [width, rows, slices] = part.size.map(u64::from);
        let width = width * u64::from(plane.format.bytes);
        // Pitches are the first plane's; of images with one plane, which the specification requires here.
        let single = image.planes().len() == 1;
        let row_pitch = match memory.row_pitch {
            0 => width,
            given if single => u64::from(given),
            _ => width,
        };
        let slice_pitch = match memory.slice_pitch {
            0 => row_pitch.saturating_mul(rows),
            given if single => u64::from(given),
            _ => row_pitch.saturating_mul(rows),
        };
        // A pitch too small makes rows overlap in memory, which is the caller's own: the conformance tests do that.
        let texels = address(image, plane, &part);
        let linear = memory.ptr.cast::<u8>().wrapping_add(at as usize);
        at = at.saturating_add(slice_pitch.saturating_mul(slices));
        let keeps = [(0, image.texels())].into_iter().collect();
        copies.push(match direction {
            Direction::ToMemory => RegionCopy {
                dst: linear,
                dst_pitch: row_pitch,
                dst_slice_pitch: slice_pitch,
                src: texels,
                src_pitch: plane.row_pitch,
                src_slice_pitch: plane.slice_pitch,
                width,
                rows,
                slices,
                keeps,
            },
            Direction::FromMemory => RegionCopy {
                dst: texels,
                dst_pitch: plane.row_pitch,
                dst_slice_pitch: plane.slice_pitch,
                src: linear,
                src_pitch: row_pitch,
                src_slice_pitch: slice_pitch,
                width,
                rows,
                slices,
                keeps,
            },
        });
    }
    append(list, copies, dependencies)
}

/// Copies an image; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopy_t)]
pub(crate) fn zeCommandListAppendImageCopy(
    hCommandList: Handle<'_, CommandList>,
    hDstImage: Handle<'_, Image>,
    hSrcImage: Handle<'_, Image>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    between_images(
        &hCommandList,
        (&hDstImage, None),
        (&hSrcImage, None),
        &dependencies,
    )
}

/// Copies a region of an image; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopyRegion_t)]
pub(crate) fn zeCommandListAppendImageCopyRegion(
    hCommandList: Handle<'_, CommandList>,
    hDstImage: Handle<'_, Image>,
    hSrcImage: Handle<'_, Image>,
    pDstRegion: OptIn<'_, ze_image_region_t>,
    pSrcRegion: OptIn<'_, ze_image_region_t>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    between_images(
        &hCommandList,
        (&hDstImage, pDstRegion.0),
        (&hSrcImage, pSrcRegion.0),
        &Dependencies::new(&hSignalEvent, &phWaitEvents),
    )
}

/// Copies an image or a region of it to memory, without gaps; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopyToMemory_t)]
pub(crate) fn zeCommandListAppendImageCopyToMemory(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    hSrcImage: Handle<'_, Image>,
    pSrcRegion: OptIn<'_, ze_image_region_t>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let memory = Linear {
        ptr: dstptr,
        row_pitch: 0,
        slice_pitch: 0,
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    let image = (hSrcImage.get(), pSrcRegion.0);
    with_memory(
        &hCommandList,
        image,
        memory,
        Direction::ToMemory,
        &dependencies,
    )
}

/// Copies memory without gaps to an image or a region of it; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopyFromMemory_t)]
pub(crate) fn zeCommandListAppendImageCopyFromMemory(
    hCommandList: Handle<'_, CommandList>,
    hDstImage: Handle<'_, Image>,
    srcptr: *const c_void,
    pDstRegion: OptIn<'_, ze_image_region_t>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let memory = Linear {
        ptr: srcptr.cast_mut(),
        row_pitch: 0,
        slice_pitch: 0,
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    let image = (hDstImage.get(), pDstRegion.0);
    with_memory(
        &hCommandList,
        image,
        memory,
        Direction::FromMemory,
        &dependencies,
    )
}

/// Copies to memory with pitches; core/imageCopy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopyToMemoryExt_t)]
pub(crate) fn zeCommandListAppendImageCopyToMemoryExt(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    hSrcImage: Handle<'_, Image>,
    pSrcRegion: OptIn<'_, ze_image_region_t>,
    destRowPitch: u32,
    destSlicePitch: u32,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let memory = Linear {
        ptr: dstptr,
        row_pitch: destRowPitch,
        slice_pitch: destSlicePitch,
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    let image = (hSrcImage.get(), pSrcRegion.0);
    with_memory(
        &hCommandList,
        image,
        memory,
        Direction::ToMemory,
        &dependencies,
    )
}

/// Copies from memory with pitches; core/imageCopy.yml.
#[ze_entry(ze_pfnCommandListAppendImageCopyFromMemoryExt_t)]
pub(crate) fn zeCommandListAppendImageCopyFromMemoryExt(
    hCommandList: Handle<'_, CommandList>,
    hDstImage: Handle<'_, Image>,
    srcptr: *const c_void,
    pDstRegion: OptIn<'_, ze_image_region_t>,
    srcRowPitch: u32,
    srcSlicePitch: u32,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let memory = Linear {
        ptr: srcptr.cast_mut(),
        row_pitch: srcRowPitch,
        slice_pitch: srcSlicePitch,
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    let image = (hDstImage.get(), pDstRegion.0);
    with_memory(
        &hCommandList,
        image,
        memory,
        Direction::FromMemory,
        &dependencies,
    )
}
