//! Memory modules; sysman/memory.yml, memPageOfflineState.yml.

use crate::check::error;
use crate::core::device::Device;
use crate::sysman::{answer, fill, part, place, telemetry};
use crate::telemetry::MemoryModule;
use level_zero_sys::*;
use ze_abi::{Enumerate, Handle, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// The machine's memory, or a node's.
    Memory(MemoryModule), _zes_mem_handle_t, b"ZsMe", "memory module"
);

/// The machine's memory, or each node's; sysman/memory.yml.
#[ze_entry(zes_pfnDeviceEnumMemoryModules_t)]
pub(crate) fn zesDeviceEnumMemoryModules(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_mem_handle_t>,
) -> ZeResult {
    fill(
        pCount,
        Memory::all(&hDevice, |t, device| t.memories(device))?,
    );
    Ok(())
}

/// Size and place; width and channels are not known; sysman/memory.yml.
#[ze_entry(zes_pfnMemoryGetProperties_t)]
pub(crate) fn zesMemoryGetProperties(
    hMemory: Handle<'_, Memory>,
    mut pProperties: Prop<'_, zes_mem_properties_t>,
) -> ZeResult {
    let out = &mut *pProperties;
    out.r#type = ZES_MEM_TYPE_DDR;
    (out.onSubdevice, out.subdeviceId) = place(hMemory.value.sub_device);
    out.location = ZES_MEM_LOC_SYSTEM;
    out.physicalSize = hMemory.value.size;
    out.busWidth = -1;
    out.numChannels = -1;
    Ok(())
}

/// Free and whole size; health from the error counters, where they exist; sysman/memory.yml.
#[ze_entry(zes_pfnMemoryGetState_t)]
pub(crate) fn zesMemoryGetState(
    hMemory: Handle<'_, Memory>,
    mut pState: Prop<'_, zes_mem_state_t>,
) -> ZeResult {
    let state = answer(telemetry()?.memory_state(hMemory.device, hMemory.index))?;
    pState.health = match state.healthy {
        None => ZES_MEM_HEALTH_UNKNOWN,
        Some(true) => ZES_MEM_HEALTH_OK,
        Some(false) => ZES_MEM_HEALTH_DEGRADED,
    };
    pState.free = state.free.min(state.size);
    pState.size = state.size;
    Ok(())
}

/// Unsupported: programs cannot read memory bandwidth counters; sysman/memory.yml.
#[ze_entry(zes_pfnMemoryGetBandwidth_t)]
pub(crate) fn zesMemoryGetBandwidth(
    _hMemory: Handle<'_, Memory>,
    _pBandwidth: Prop<'_, zes_mem_bandwidth_t>,
) -> ZeResult {
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
        "memory traffic is counted by the processor's memory controllers, which this driver does not read",
    )
}
