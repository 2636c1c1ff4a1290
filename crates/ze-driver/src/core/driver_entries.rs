//! Entry points of the driver object: initialisation, properties, extensions, the last error.

use crate::check::{error, fill_name, flags, text};
use crate::core::context::default_context;
use crate::core::driver::{self, Driver};
use crate::extensions::{EXTENSIONS, FUNCTIONS, INTEL_EXTENSIONS, TOOLS_EXTENSIONS};
use crate::tracing;
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use ze_abi::{ChainMut, Enumerate, Handle, Object, Out, Prop, ZeResult, last_error};
use ze_abi_macros::ze_entry;

/// Bits of `ze_init_flags_t` and `ze_init_driver_type_flags_t`.
const KINDS: u32 = ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY;

/// Initialises the driver; core/driver.yml.
#[ze_entry(ze_pfnInit_t, any_state)]
pub(crate) fn zeInit(flags: u32) -> ZeResult {
    crate::check::flags("flags", flags, KINDS)?;
    if flags == ZE_INIT_FLAG_VPU_ONLY {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "flags selects NPU drivers only, but this driver has CPU devices of types GPU and CPU",
        );
    }
    driver::initialise().map(drop)
}

/// Initialises and enumerates; core/driver.yml.
#[ze_entry(ze_pfnInitDrivers_t, any_state)]
pub(crate) fn zeInitDrivers(
    pCount: Enumerate<'_, ze_driver_handle_t>,
    desc: ze_abi::InMut<'_, ze_init_driver_type_desc_t>,
) -> ZeResult {
    if desc.flags != u32::MAX {
        flags("desc->flags", desc.flags, KINDS)?;
        if desc.flags == 0 {
            return error(
                ZE_RESULT_ERROR_INVALID_ENUMERATION,
                "desc->flags is 0, a set of 0x3 or UINT32_MAX is required",
            );
        }
    }
    let wanted = desc.flags & ZE_INIT_DRIVER_TYPE_FLAG_GPU != 0;
    let handle = driver::initialise()?.handle();
    pCount.fill(usize::from(wanted), |_, slot| *slot = handle);
    Ok(())
}

/// Enumerates; core/driver.yml.
#[ze_entry(ze_pfnDriverGet_t)]
pub(crate) fn zeDriverGet(pCount: Enumerate<'_, ze_driver_handle_t>) -> ZeResult {
    let handle = driver::driver()?.handle();
    pCount.fill(1, |_, slot| *slot = handle);
    Ok(())
}

/// The version of the API; core/driver.yml.
#[ze_entry(ze_pfnDriverGetApiVersion_t)]
pub(crate) fn zeDriverGetApiVersion(
    hDriver: Handle<'_, Driver>,
    version: Out<'_, ze_api_version_t>,
) -> ZeResult {
    version.write(ze_api_version_t(hDriver.platform().facts().api_version));
    Ok(())
}

/// Properties; chains: DDI handles, memory free policies; core/driver.yml.
#[ze_entry(ze_pfnDriverGetProperties_t)]
pub(crate) fn zeDriverGetProperties(
    hDriver: Handle<'_, Driver>,
    mut pDriverProperties: Prop<'_, ze_driver_properties_t>,
) -> ZeResult {
    let facts = hDriver.platform().facts();
    pDriverProperties.uuid.id = facts.uuid;
    pDriverProperties.driverVersion = facts.driver_version;
    let (found, next) = (pDriverProperties.stype, pDriverProperties.pNext);
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::behind(ze_driver_properties_t::STYPE, found, next) } {
        match link.stype {
            ZE_STRUCTURE_TYPE_DRIVER_DDI_HANDLES_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_driver_ddi_handles_ext_properties_t>() };
                out.flags = ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED;
            }
            ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES => {
                // SAFETY: the type says which struct it is.
                let out = unsafe { link.get::<ze_driver_memory_free_ext_properties_t>() };
                out.freePolicies = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE
                    | ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Memory and event pools can be shared where the platform has files; core/driver.yml.
#[ze_entry(ze_pfnDriverGetIpcProperties_t)]
pub(crate) fn zeDriverGetIpcProperties(
    hDriver: Handle<'_, Driver>,
    mut pIpcProperties: Prop<'_, ze_driver_ipc_properties_t>,
) -> ZeResult {
    pIpcProperties.flags = match hDriver.platform().address_space() {
        Some(_) => ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL,
        None => 0,
    };
    Ok(())
}

/// Supported extensions; core/driver.yml.
#[ze_entry(ze_pfnDriverGetExtensionProperties_t)]
pub(crate) fn zeDriverGetExtensionProperties(
    _hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, ze_driver_extension_properties_t>,
) -> ZeResult {
    let works = |(name, _): &&(&str, u32)| {
        *name != "ZET_experimental_api_tracing" || tracing::installed().is_some()
    };
    let all = EXTENSIONS.iter().chain(TOOLS_EXTENSIONS);
    let all: Vec<_> = all.chain(INTEL_EXTENSIONS).filter(works).collect();
    pCount.fill(all.len(), |i, slot| {
        let (name, version) = *all[i];
        fill_name(&mut slot.name, name);
        slot.version = version;
    });
    Ok(())
}

/// Entry points outside the tables; null and an error for unknown names; core/driver.yml.
#[ze_entry(ze_pfnDriverGetExtensionFunctionAddress_t)]
pub(crate) fn zeDriverGetExtensionFunctionAddress(
    _hDriver: Handle<'_, Driver>,
    name: *const c_char,
    ppFunctionAddress: Out<'_, *mut c_void>,
) -> ZeResult {
    // SAFETY: null or a C string, by the specification.
    let name = unsafe { text("name", name) };
    let found = name.as_ref().ok().and_then(|name| {
        FUNCTIONS
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, address)| address().cast_mut())
    });
    ppFunctionAddress.write(found.unwrap_or(std::ptr::null_mut()));
    match (name, found) {
        (Err(null), _) => Err(null),
        (Ok(_), Some(_)) => Ok(()),
        (Ok(name), None) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("name is \"{name}\", which this driver does not export"),
        ),
    }
}

/// This thread's last error; core/driver.yml.
#[ze_entry(ze_pfnDriverGetLastErrorDescription_t, any_state)]
pub(crate) fn zeDriverGetLastErrorDescription(
    _hDriver: *mut _ze_driver_handle_t,
    ppString: Out<'_, *const c_char>,
) -> ZeResult {
    ppString.write(last_error());
    Ok(())
}

/// One context with all devices, never destroyed; core/driver.yml.
#[ze_entry(ze_pfnDriverGetDefaultContext_t, or = std::ptr::null_mut())]
pub(crate) fn zeDriverGetDefaultContext(
    _hDriver: Handle<'_, Driver>,
) -> ZeResult<ze_context_handle_t> {
    Ok(default_context()?.handle())
}
