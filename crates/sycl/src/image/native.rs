//! Native images and samplers: Level Zero's descriptions, creation and destruction.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use level_zero::sys::*;
use sycl_graph::Deps;

use super::format::ImageFormat;
use super::sampler::{Addressing, Filtering, Sampler};
use crate::context::Context;
use crate::device::Device;
use crate::engine::allocation::{allocate_host, destroy_image, free};
use crate::engine::command_lane::lose_if_lost;
use crate::engine::losses::is_lost;
use crate::engine::native_context::NativeContext;
use crate::error::{Errc, Error, Result};
use crate::info::platform::Extensions;
use crate::operation::{ImageCopy, Operation, append_all};
use crate::platform::Platform;
use crate::registry::own;
use crate::ze::ze;

/// The shape of an image's native images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) format: ImageFormat,
    pub(crate) dimensions: usize,
    /// Depth, height and width in texels; 1 for missing dimensions.
    pub(crate) extents: [usize; 3],
    /// Kernels may write the image.
    pub(crate) writable: bool,
    /// Created from the program's handle: the image is on that device only and never copied.
    pub(crate) bound: bool,
}

/// Creates a native image on a device, over the rows in host memory if `over`, else in its own memory.
///
/// # Errors
/// [`Errc::FeatureNotSupported`] for a format or size that the device does not support; [`Errc::MemoryAllocation`].
pub(crate) fn create(
    context: &NativeContext,
    device: &Device,
    shape: &Shape,
    over: Option<*mut u8>,
) -> Result<ze_image_handle_t> {
    let [depth, height, width] = shape.extents;
    let texel = shape.format.texel_bytes();
    let pitches = ze_custom_pitch_exp_desc_t {
        rowPitch: width * texel,
        slicePitch: width * height * texel,
        ..Default::default()
    };
    let memory = ze_image_pitched_exp_desc_t {
        pNext: (&raw const pitches).cast(),
        ptr: over.unwrap_or(std::ptr::null_mut()).cast(),
        ..Default::default()
    };
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let desc = ze_image_desc_t {
        pNext: match over {
            Some(_) => (&raw const memory).cast::<c_void>(),
            None => std::ptr::null(),
        },
        flags: match shape.writable {
            true => ZE_IMAGE_FLAG_KERNEL_WRITE,
            false => 0,
        },
        r#type: match shape.dimensions {
            1 => ZE_IMAGE_TYPE_1D,
            2 => ZE_IMAGE_TYPE_2D,
            _ => ZE_IMAGE_TYPE_3D,
        },
        format: shape.format.native()?,
        width: width as u64,
        height: narrow(height),
        depth: narrow(depth),
        ..Default::default()
    };
    let mut image = std::ptr::null_mut();
    let before = context.losses.moment();
    // SAFETY: live handles; the description and what it points to live for the call; a valid output.
    let made = unsafe {
        ze!(
            context.api,
            zeImageCreate = image.pfnCreate(
                context.handle,
                device.handle(),
                &raw const desc,
                &raw mut image
            )
        )
    };
    match lose_if_lost(context, Some(device), before, made) {
        Ok(()) => {
            own(image);
            Ok(image)
        }
        Err(error) if error.backend_code() == Some(ZE_RESULT_ERROR_INVALID_SIZE) => {
            Err(error.with_code(Errc::FeatureNotSupported))
        }
        Err(error) => Err(error),
    }
}

/// Devices whose support of images over host memory is known.
static OVER_MEMORY: Mutex<Vec<(Device, bool)>> = Mutex::new(Vec::new());

/// Whether a device supports images over contiguous rows in host memory. The extension promises that for device memory
/// only, and with gaps between rows, so it is tried once for each device.
///
/// # Errors
/// [`Errc::MemoryAllocation`], or another error that prevents a try now; a refusal is `Ok(false)`.
pub(crate) fn lies_over_memory(context: &Context, device: &Device) -> Result<bool> {
    if !has_images_over_memory(device.platform()) {
        return Ok(false);
    }
    let known = || OVER_MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, answer)) = known().iter().find(|(of, _)| of == device) {
        return Ok(*answer);
    }
    let answer = try_over_memory(context, device)?;
    known().push((device.clone(), answer));
    Ok(answer)
}

/// Two rows of three texels.
const TRIED: Shape = Shape {
    format: ImageFormat::R8G8B8A8_UNORM,
    dimensions: 2,
    extents: [1, 2, 3],
    writable: true,
    bound: false,
};
const TRIED_BYTES: usize = 24;

/// Whether a platform's driver supports images over existing memory.
fn has_images_over_memory(platform: Platform) -> bool {
    *platform.0.images_over_memory.get_or_init(|| {
        let all = platform.info::<Extensions>();
        let name = ZE_BINDLESS_IMAGE_EXP_NAME.to_str();
        all.is_ok_and(|all| all.iter().any(|known| Ok(known.as_str()) == name))
    })
}

fn try_over_memory(context: &Context, device: &Device) -> Result<bool> {
    let native = &context.0.native;
    let chosen = context.transfer_lane(device)?;
    let lane = chosen.lane;
    let rows: *mut u8 = allocate_host(native, 2 * TRIED_BYTES, 64)?.cast();
    // A copy that is not known to have ended may still run, so nothing is freed then.
    let mut ended = true;
    let tried = (|| {
        let image = match create(native, device, &TRIED, Some(rows)) {
            Ok(image) => image,
            Err(error) if error.errc() == Errc::MemoryAllocation || is_lost(&error) => {
                return Err(error);
            }
            Err(_) => return Ok(false),
        };
        let (first, second) = (rows, rows.wrapping_add(TRIED_BYTES));
        for number in 0..TRIED_BYTES {
            // SAFETY: the allocation has twice as many bytes, and nothing else uses it yet.
            unsafe {
                first.wrapping_add(number).write(number as u8 + 1);
                second.wrapping_add(number).write(0);
            }
        }
        let mut copy = [Operation::Image {
            target: second,
            source: image.cast(),
            direction: ImageCopy::ToMemory,
        }];
        let copied = append_all(lane, &Deps::default(), None, &mut copy)
            .map_err(Error::from)
            .and_then(|dep| lane.wait(dep.sequence()));
        if let Err(error) = copied {
            ended = false;
            return Err(error);
        }
        // SAFETY: both halves are written, and the copy has ended.
        let same = unsafe {
            std::slice::from_raw_parts(first, TRIED_BYTES)
                == std::slice::from_raw_parts(second, TRIED_BYTES)
        };
        destroy_image(native, image);
        Ok(same)
    })();
    if ended {
        free(native, rows.cast());
    }
    tried
}

/// The sampler of a device with these properties, created when a kernel first uses it.
pub(crate) fn sampler(
    context: &NativeContext,
    device: &Device,
    sampler: Sampler,
) -> Result<ze_sampler_handle_t> {
    let create = || create_sampler(context, device, sampler);
    context.sampler(device, sampler.code(), create)
}

fn create_sampler(
    context: &NativeContext,
    device: &Device,
    sampler: Sampler,
) -> Result<ze_sampler_handle_t> {
    let desc = ze_sampler_desc_t {
        addressMode: match sampler.addressing {
            Addressing::None => ZE_SAMPLER_ADDRESS_MODE_NONE,
            Addressing::ClampToEdge => ZE_SAMPLER_ADDRESS_MODE_CLAMP,
            Addressing::Clamp => ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
            Addressing::Repeat => ZE_SAMPLER_ADDRESS_MODE_REPEAT,
            Addressing::MirroredRepeat => ZE_SAMPLER_ADDRESS_MODE_MIRROR,
        },
        filterMode: match sampler.filtering {
            Filtering::Nearest => ZE_SAMPLER_FILTER_MODE_NEAREST,
            Filtering::Linear => ZE_SAMPLER_FILTER_MODE_LINEAR,
        },
        isNormalized: sampler.normalized.into(),
        ..Default::default()
    };
    let mut handle = std::ptr::null_mut();
    let before = context.losses.moment();
    // SAFETY: live handles, valid input and output.
    let made = unsafe {
        ze!(
            context.api,
            zeSamplerCreate = sampler.pfnCreate(
                context.handle,
                device.handle(),
                &raw const desc,
                &raw mut handle
            )
        )
    };
    match lose_if_lost(context, Some(device), before, made) {
        Ok(()) => Ok(handle),
        Err(error) if error.errc() == Errc::Runtime && !is_lost(&error) => Err(Error::because(
            "the device does not support this sampler",
            &error,
        )),
        Err(error) => Err(error),
    }
}
