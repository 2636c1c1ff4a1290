//! Level Zero's images and samplers: how they are described, made and destroyed.

use std::ffi::c_void;

use level_zero::sys::*;

use super::format::ImageFormat;
use super::sampler::{Addressing, Filtering, Sampler};
use crate::context::NativeContext;
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::registry::{disown, own};
use crate::ze::ze;

/// What native images of an image are made as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) format: ImageFormat,
    pub(crate) dimensions: usize,
    /// Depth, height and width in texels; 1 where there is none.
    pub(crate) extents: [usize; 3],
    /// Kernels may write it.
    pub(crate) writable: bool,
    /// It was made from the program's handle: it is on that device only, and never copied.
    pub(crate) bound: bool,
}

/// A native image on a device; `over` the rows in memory of its, or in its own.
///
/// # Errors
/// [`Errc::FeatureNotSupported`] for a format or size that the device does not have; [`Errc::MemoryAllocation`].
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
    match made {
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

/// Destroys an image of this runtime's.
pub(crate) fn destroy(context: &NativeContext, image: ze_image_handle_t) {
    disown(image);
    let _ = crate::trace::freeing(image.cast(), || {
        // SAFETY: a live image that no command uses any more.
        unsafe { ze!(context.api, zeImageDestroy = image.pfnDestroy(image)) }
    });
}

/// A sampler of a device.
pub(crate) fn create_sampler(
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
    match made {
        Ok(()) => Ok(handle),
        Err(error) if error.errc() == Errc::Runtime => {
            Err(Error::because("the device has no such sampler", &error))
        }
        Err(error) => Err(error),
    }
}
