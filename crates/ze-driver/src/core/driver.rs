//! The driver object, initialisation, extensions, the last error.

use crate::check::{error, fill_name, flags, lock, text};
use crate::core::attributes::Attributes;
use crate::core::capture::Captures;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::external_pointer::Imported;
use crate::core::fabric::Vertex;
use crate::core::hierarchy::{Hierarchy, Mode};
use crate::core::ipc::Exports;
use crate::core::object;
use crate::core::virtual_mem::VirtualMemory;
use crate::device::Platform;
use crate::extensions::{EXTENSIONS, FUNCTIONS, INTEL_EXTENSIONS, TOOLS_EXTENSIONS};
use crate::schedule::Lane;
use crate::sysman::Sysman;
use crate::tools::Tools;
use crate::tracing::tracing;
use crate::{state, tables};
use level_zero_sys::*;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use ze_abi::{ChainMut, Enumerate, Handle, Head, Object, Out, Prop, ZeResult, last_error};
use ze_entry::ze_entry;

/// One for the process; never freed.
#[repr(C)]
pub(crate) struct Driver {
    head: Head,
    platform: Arc<dyn Platform>,
    devices: Vec<Arc<Device>>,
    hierarchy: Hierarchy,
    vertices: Vec<Arc<Vertex>>,
    default_context: OnceLock<Arc<Context>>,
    lanes: Mutex<Vec<Weak<Lane>>>,
    ids: AtomicU64,
    virtual_memory: VirtualMemory,
    exports: Exports,
    imported: Imported,
    attributes: Attributes,
    captures: Captures,
    sysman: Sysman,
    tools: Tools,
}
object!(Driver, _ze_driver_handle_t, b"ZeDr", "driver");

impl Driver {
    /// The driver over `platform`.
    pub(crate) fn new(platform: Arc<dyn Platform>) -> Result<Arc<Self>, String> {
        let devices: Vec<_> = (0..platform.devices().len())
            .map(|index| Device::new(&platform, index))
            .collect();
        if devices.is_empty() {
            return Err("the platform has no device".to_owned());
        }
        let facts = platform.devices().iter().map(|device| device.facts());
        let sub_of: Vec<_> = facts.map(|facts| facts.sub_of).collect();
        let variable = |name| std::env::var(name).ok();
        let mode = Mode::parse(variable("ZE_FLAT_DEVICE_HIERARCHY").as_deref());
        let mask = variable("ZE_AFFINITY_MASK");
        Ok(Arc::new(Self {
            head: Head::new::<Self>(tables::all()),
            hierarchy: Hierarchy::arrange(&sub_of, mode, mask.as_deref()),
            vertices: (0..devices.len()).map(Vertex::new).collect(),
            platform,
            devices,
            default_context: OnceLock::new(),
            lanes: Mutex::new(Vec::new()),
            ids: AtomicU64::new(0),
            virtual_memory: VirtualMemory::default(),
            exports: Exports::default(),
            imported: Imported::default(),
            attributes: Attributes::default(),
            captures: Captures::default(),
            sysman: Sysman::new(sub_of.len()),
            tools: Tools::new(sub_of.len()),
        }))
    }

    /// A number that no other call gives.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Reservations and physical memory.
    pub(crate) fn virtual_memory(&self) -> &VirtualMemory {
        &self.virtual_memory
    }

    /// Parts and events of system management.
    pub(crate) fn sysman(&self) -> &Sysman {
        &self.sysman
    }

    /// Metric groups.
    pub(crate) fn tools(&self) -> &Tools {
        &self.tools
    }

    /// Atomic access attributes.
    pub(crate) fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// Graph captures under way.
    pub(crate) fn captures(&self) -> &Captures {
        &self.captures
    }

    /// Memory that handles were given out for.
    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }

    /// The program's own memory that it told of.
    pub(crate) fn imported(&self) -> &Imported {
        &self.imported
    }

    /// The platform.
    pub(crate) fn platform(&self) -> &Arc<dyn Platform> {
        &self.platform
    }

    /// Devices and sub-devices, in the platform's order; also those that the program does not see.
    pub(crate) fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Fabric vertices, one for each of [`Self::devices`].
    pub(crate) fn vertices(&self) -> &[Arc<Vertex>] {
        &self.vertices
    }

    /// What the program sees.
    pub(crate) fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// Devices that `zeDeviceGet` gives.
    pub(crate) fn listed(&self) -> Vec<Arc<Device>> {
        let listed = self.hierarchy.listed.iter();
        listed
            .map(|&index| Arc::clone(&self.devices[index]))
            .collect()
    }

    /// True when `device` is `root`, or its sub-device.
    pub(crate) fn is_part(&self, device: usize, root: usize) -> bool {
        device == root
            || self
                .devices
                .get(device)
                .is_some_and(|device| device.facts().sub_of == Some(root))
    }

    /// Learns of a lane, for waits that concern a whole context or device.
    pub(crate) fn register(&self, lane: &Arc<Lane>) {
        let mut lanes = lock(&self.lanes);
        if lanes.len() == lanes.capacity() {
            // At least as many more may come before the next look: each pays for a few, however many there are.
            lanes.retain(|lane| lane.strong_count() > 0);
            let alive = lanes.len();
            lanes.reserve(alive);
        }
        lanes.push(Arc::downgrade(lane));
    }

    /// All lanes alive that `wanted` takes.
    pub(crate) fn lanes(&self, wanted: impl Fn(&Lane) -> bool) -> Vec<Arc<Lane>> {
        let lanes = lock(&self.lanes);
        lanes
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|lane| wanted(lane))
            .collect()
    }

    /// True for the context that `zeDriverGetDefaultContext` gives.
    pub(crate) fn is_default(&self, context: &Context) -> bool {
        self.default_context
            .get()
            .is_some_and(|mine| std::ptr::eq(&raw const **mine, context))
    }

    pub(crate) fn default_context(&self) -> &Arc<Context> {
        self.default_context.get_or_init(|| {
            let context = Context::new(self.listed());
            // One reference belongs to C for ever: the handle is never destroyed.
            let _ = Object::give(Arc::clone(&context));
            context
        })
    }
}

/// Bits of `ze_init_flags_t` and `ze_init_driver_type_flags_t`.
const KINDS: u32 = ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY;

/// Initialises the driver; core/driver.yml.
#[ze_entry(ze_pfnInit_t, any_state)]
pub(crate) fn zeInit(flags: u32) -> ZeResult {
    crate::check::flags("flags", flags, KINDS)?;
    if flags == ZE_INIT_FLAG_VPU_ONLY {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "flags asks for NPU drivers only, this driver has CPU devices typed GPU and CPU",
        );
    }
    state::initialise().map(drop)
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
    let handle = state::initialise()?.handle();
    pCount.fill(usize::from(wanted), |_, slot| *slot = handle);
    Ok(())
}

/// Enumerates; core/driver.yml.
#[ze_entry(ze_pfnDriverGet_t)]
pub(crate) fn zeDriverGet(pCount: Enumerate<'_, ze_driver_handle_t>) -> ZeResult {
    let handle = state::driver()?.handle();
    pCount.fill(1, |_, slot| *slot = handle);
    Ok(())
}

/// The version of the API; core/driver.yml.
#[ze_entry(ze_pfnDriverGetApiVersion_t)]
pub(crate) fn zeDriverGetApiVersion(
    hDriver: Handle<'_, Driver>,
    version: Out<'_, ze_api_version_t>,
) -> ZeResult {
    version.write(ze_api_version_t(hDriver.platform.facts().api_version));
    Ok(())
}

/// Properties; chains: DDI handles, memory free policies; core/driver.yml.
#[ze_entry(ze_pfnDriverGetProperties_t)]
pub(crate) fn zeDriverGetProperties(
    hDriver: Handle<'_, Driver>,
    mut pDriverProperties: Prop<'_, ze_driver_properties_t>,
) -> ZeResult {
    let facts = hDriver.platform.facts();
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

/// Memory and event pools go to other processes, where the platform has files; core/driver.yml.
#[ze_entry(ze_pfnDriverGetIpcProperties_t)]
pub(crate) fn zeDriverGetIpcProperties(
    hDriver: Handle<'_, Driver>,
    mut pIpcProperties: Prop<'_, ze_driver_ipc_properties_t>,
) -> ZeResult {
    pIpcProperties.flags = match hDriver.platform.address_space() {
        Some(_) => ZE_IPC_PROPERTY_FLAG_MEMORY | ZE_IPC_PROPERTY_FLAG_EVENT_POOL,
        None => 0,
    };
    Ok(())
}

/// Extensions that work; core/driver.yml.
#[ze_entry(ze_pfnDriverGetExtensionProperties_t)]
pub(crate) fn zeDriverGetExtensionProperties(
    _hDriver: Handle<'_, Driver>,
    pCount: Enumerate<'_, ze_driver_extension_properties_t>,
) -> ZeResult {
    let works =
        |(name, _): &&(&str, u32)| *name != "ZET_experimental_api_tracing" || tracing().is_some();
    let all = EXTENSIONS.iter().chain(TOOLS_EXTENSIONS);
    let all: Vec<_> = all.chain(INTEL_EXTENSIONS).filter(works).collect();
    pCount.fill(all.len(), |i, slot| {
        let (name, version) = *all[i];
        fill_name(&mut slot.name, name);
        slot.version = version;
    });
    Ok(())
}

/// Entry points outside the tables; unknown names are an error and give null; core/driver.yml.
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
    hDriver: Handle<'_, Driver>,
) -> ZeResult<ze_context_handle_t> {
    Ok(hDriver.default_context().handle())
}
