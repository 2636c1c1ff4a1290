//! Engine groups: how long the device was busy; sysman/engine.yml, engineActivity.yml.

use crate::core::device::Device;
use crate::sysman::{answer, fill, part, telemetry};
use crate::telemetry::EngineKind;
use level_zero_sys::*;
use ze_abi::{ChainMut, Enumerate, Handle, Out, Prop, ZeResult};
use ze_abi_macros::ze_entry;

part!(
    /// A group of engines.
    Engine(EngineKind), _zes_engine_handle_t, b"ZsEn", "engine group"
);

/// The whole device, kernels, copies, and each core; sysman/engine.yml.
#[ze_entry(zes_pfnDeviceEnumEngineGroups_t)]
pub(crate) fn zesDeviceEnumEngineGroups(
    hDevice: Handle<'_, Device>,
    pCount: Enumerate<'_, zes_engine_handle_t>,
) -> ZeResult {
    fill(
        pCount,
        Engine::all(&hDevice, |t, device| t.engines(device))?,
    );
    Ok(())
}

/// What the group counts; chain: no virtual functions; sysman/engine.yml.
#[ze_entry(zes_pfnEngineGetProperties_t)]
pub(crate) fn zesEngineGetProperties(
    hEngine: Handle<'_, Engine>,
    mut pProperties: Prop<'_, zes_engine_properties_t>,
) -> ZeResult {
    pProperties.r#type = match hEngine.value {
        EngineKind::All => ZES_ENGINE_GROUP_ALL,
        EngineKind::ComputeAll => ZES_ENGINE_GROUP_COMPUTE_ALL,
        EngineKind::CopyAll => ZES_ENGINE_GROUP_COPY_ALL,
        EngineKind::Core => ZES_ENGINE_GROUP_COMPUTE_SINGLE,
    };
    pProperties.onSubdevice = 0;
    pProperties.subdeviceId = 0;
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(pProperties.pNext) } {
        if zes_structure_type_t(link.stype.0) == ZES_STRUCTURE_TYPE_ENGINE_EXT_PROPERTIES {
            // SAFETY: the type says which struct it is.
            let ext = unsafe { link.get::<zes_engine_ext_properties_t>() };
            ext.countOfVirtualFunctionInstance = 0;
        }
    }
    Ok(())
}

fn activity(engine: &Engine) -> ZeResult<zes_engine_stats_t> {
    let stamped = answer(telemetry()?.engine_activity(engine.device, engine.index))?;
    Ok(zes_engine_stats_t {
        activeTime: stamped.value,
        timestamp: stamped.time_us,
    })
}

/// Microseconds of work, of all processes; sysman/engine.yml.
#[ze_entry(zes_pfnEngineGetActivity_t)]
pub(crate) fn zesEngineGetActivity(
    hEngine: Handle<'_, Engine>,
    pStats: Out<'_, zes_engine_stats_t>,
) -> ZeResult {
    pStats.write(activity(&hEngine)?);
    Ok(())
}

/// As [`zesEngineGetActivity`], of the physical function, the only one; sysman/engineActivity.yml.
#[ze_entry(zes_pfnEngineGetActivityExt_t)]
pub(crate) fn zesEngineGetActivityExt(
    hEngine: Handle<'_, Engine>,
    pCount: Enumerate<'_, zes_engine_stats_t>,
) -> ZeResult {
    let stats = activity(&hEngine)?;
    pCount.fill(1, |_, slot| *slot = stats);
    Ok(())
}
