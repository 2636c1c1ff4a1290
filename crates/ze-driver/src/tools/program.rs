//! Debug and profile facts of devices, modules and kernels; tools/debug.yml, module.yml, pin.yml.

use crate::check::enumeration;
use crate::core::device::Device;
use crate::core::kernel::Kernel;
use crate::core::module::Module;
use level_zero_sys::*;
use ze_abi::{Handle, Prop, Sized, ZeResult};
use ze_abi_macros::ze_entry;

/// No flags: debuggers cannot attach through Level Zero; tools/debug.yml.
#[ze_entry(zet_pfnDeviceGetDebugProperties_t)]
pub(crate) fn zetDeviceGetDebugProperties(
    _hDevice: Handle<'_, Device>,
    mut pDebugProperties: Prop<'_, zet_device_debug_properties_t>,
) -> ZeResult {
    pDebugProperties.flags = 0;
    Ok(())
}

/// Debug information of the module's code; there is none, so the size is 0; tools/module.yml.
#[ze_entry(zet_pfnModuleGetDebugInfo_t)]
pub(crate) fn zetModuleGetDebugInfo(
    _hModule: Handle<'_, Module>,
    format: zet_module_debug_info_format_t,
    pSize: Sized<'_>,
) -> ZeResult {
    enumeration("format", format.0, ZET_MODULE_DEBUG_INFO_FORMAT_ELF_DWARF.0)?;
    pSize.fill(&[]);
    Ok(())
}

/// Kernels are not instrumented: no flags, no tokens; tools/pin.yml.
#[ze_entry(zet_pfnKernelGetProfileInfo_t)]
pub(crate) fn zetKernelGetProfileInfo(
    _hKernel: Handle<'_, Kernel>,
    mut pProfileProperties: Prop<'_, zet_profile_properties_t>,
) -> ZeResult {
    pProfileProperties.flags = 0;
    pProfileProperties.numTokens = 0;
    Ok(())
}
