//! Samplers.

use crate::check::{enumeration, error};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::object;
use crate::device::{SamplerAddress, SamplerFacts};
use crate::dispatch;
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, Head, In, Object, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// A sampler.
#[repr(C)]
pub(crate) struct Sampler {
    head: Head,
    /// The word that kernels get.
    word: u64,
}
object!(Sampler, _ze_sampler_handle_t, b"ZeSa", "sampler");

impl Sampler {
    /// The word that kernels get.
    pub(crate) fn word(&self) -> u64 {
        self.word
    }
}

/// A checked descriptor.
pub(crate) fn facts(desc: &ze_sampler_desc_t) -> ZeResult<SamplerFacts> {
    enumeration(
        "desc->addressMode",
        desc.addressMode.0,
        ZE_SAMPLER_ADDRESS_MODE_MIRROR.0,
    )?;
    enumeration(
        "desc->filterMode",
        desc.filterMode.0,
        ZE_SAMPLER_FILTER_MODE_LINEAR.0,
    )?;
    Ok(SamplerFacts {
        address: match desc.addressMode {
            ZE_SAMPLER_ADDRESS_MODE_REPEAT => SamplerAddress::Repeat,
            ZE_SAMPLER_ADDRESS_MODE_CLAMP => SamplerAddress::Clamp,
            ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER => SamplerAddress::ClampToBorder,
            ZE_SAMPLER_ADDRESS_MODE_MIRROR => SamplerAddress::Mirror,
            _ => SamplerAddress::None,
        },
        linear: desc.filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR,
        normalised: desc.isNormalized != 0,
    })
}

/// A sampler; core/sampler.yml.
#[ze_entry(ze_pfnSamplerCreate_t)]
pub(crate) fn zeSamplerCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_sampler_desc_t>,
    phSampler: OutHandle<'_, _ze_sampler_handle_t>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    let word = hContext.platform().sampler_word(&facts(&desc)?);
    let Some(word) = word.filter(|_| hDevice.facts().images) else {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the device supports no images (zeDeviceGetImageProperties reports limits of 0)",
        );
    };
    let sampler = Sampler {
        head: Head::new::<Sampler>(dispatch::tables()),
        word,
    };
    phSampler.write(Object::give(Arc::new(sampler)));
    Ok(())
}

/// Destroys the handle; launches keep the sampler's word; core/sampler.yml.
#[ze_entry(ze_pfnSamplerDestroy_t)]
pub(crate) fn zeSamplerDestroy(hSampler: Handle<'_, Sampler>) -> ZeResult {
    drop(hSampler.take());
    Ok(())
}
