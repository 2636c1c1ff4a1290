//! Images and samplers: refused with the codes that tell clients to do without.

use crate::check::error;
use crate::core::context::Context;
use crate::core::device::Device;
use level_zero_sys::*;
use ze_abi::{Handle, In, Out, Prop, ZeResult};
use ze_entry::ze_entry;

const NONE: &str = "the device supports no images (zeDeviceGetImageProperties reports limits of 0)";

/// No format is supported; core/image.yml.
#[ze_entry(ze_pfnImageGetProperties_t)]
pub(crate) fn zeImageGetProperties(
    _hDevice: Handle<'_, Device>,
    _desc: In<'_, ze_image_desc_t>,
    _pImageProperties: Prop<'_, ze_image_properties_t>,
) -> ZeResult {
    error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, NONE)
}

/// No format is supported; core/image.yml.
#[ze_entry(ze_pfnImageCreate_t)]
pub(crate) fn zeImageCreate(
    _hContext: Handle<'_, Context>,
    _hDevice: Handle<'_, Device>,
    _desc: In<'_, ze_image_desc_t>,
    _phImage: Out<'_, ze_image_handle_t>,
) -> ZeResult {
    error(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, NONE)
}

/// Samplers need images; core/sampler.yml.
#[ze_entry(ze_pfnSamplerCreate_t)]
pub(crate) fn zeSamplerCreate(
    _hContext: Handle<'_, Context>,
    _hDevice: Handle<'_, Device>,
    _desc: In<'_, ze_sampler_desc_t>,
    _phSampler: Out<'_, ze_sampler_handle_t>,
) -> ZeResult {
    error(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, NONE)
}
