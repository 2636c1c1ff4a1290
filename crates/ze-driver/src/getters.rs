//! The getters that fill a loader's tables; a shell exports them.
//!
//! [`for_each_getter`](crate::for_each_getter) hands the list to a macro of the shell: `(name, table type)`. A program that has the driver
//! linked in finds getters and functions by name instead, through [`lookup`].

use crate::tables;
use crate::traced_tables::served;
use level_zero_sys::*;
use std::ffi::CStr;

/// Calls `$with! { (getter, table type), … }` with every getter of a driver.
#[macro_export]
macro_rules! for_each_getter {
    ($with:ident) => {
        $with! {
            (zeGetRTASBuilderProcAddrTable, ze_rtas_builder_dditable_t),
            (zeGetRTASBuilderExpProcAddrTable, ze_rtas_builder_exp_dditable_t),
            (zeGetRTASParallelOperationProcAddrTable, ze_rtas_parallel_operation_dditable_t),
            (zeGetRTASParallelOperationExpProcAddrTable, ze_rtas_parallel_operation_exp_dditable_t),
            (zeGetGlobalProcAddrTable, ze_global_dditable_t),
            (zeGetDriverProcAddrTable, ze_driver_dditable_t),
            (zeGetDriverExpProcAddrTable, ze_driver_exp_dditable_t),
            (zeGetDeviceProcAddrTable, ze_device_dditable_t),
            (zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t),
            (zeGetContextProcAddrTable, ze_context_dditable_t),
            (zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t),
            (zeGetCommandListProcAddrTable, ze_command_list_dditable_t),
            (zeGetCommandListExpProcAddrTable, ze_command_list_exp_dditable_t),
            (zeGetImageProcAddrTable, ze_image_dditable_t),
            (zeGetImageExpProcAddrTable, ze_image_exp_dditable_t),
            (zeGetMemProcAddrTable, ze_mem_dditable_t),
            (zeGetMemExpProcAddrTable, ze_mem_exp_dditable_t),
            (zeGetFenceProcAddrTable, ze_fence_dditable_t),
            (zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t),
            (zeGetEventProcAddrTable, ze_event_dditable_t),
            (zeGetEventExpProcAddrTable, ze_event_exp_dditable_t),
            (zeGetModuleProcAddrTable, ze_module_dditable_t),
            (zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t),
            (zeGetKernelProcAddrTable, ze_kernel_dditable_t),
            (zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t),
            (zeGetSamplerProcAddrTable, ze_sampler_dditable_t),
            (zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t),
            (zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t),
            (zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t),
            (zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t),
            (zeGetGraphProcAddrTable, ze_graph_dditable_t),
            (zeGetExecutableGraphProcAddrTable, ze_executable_graph_dditable_t),
            (zetGetMetricProgrammableExpProcAddrTable, zet_metric_programmable_exp_dditable_t),
            (zetGetMetricTracerExpProcAddrTable, zet_metric_tracer_exp_dditable_t),
            (zetGetMetricDecoderExpProcAddrTable, zet_metric_decoder_exp_dditable_t),
            (zetGetDeviceProcAddrTable, zet_device_dditable_t),
            (zetGetDeviceExpProcAddrTable, zet_device_exp_dditable_t),
            (zetGetContextProcAddrTable, zet_context_dditable_t),
            (zetGetCommandListProcAddrTable, zet_command_list_dditable_t),
            (zetGetCommandListExpProcAddrTable, zet_command_list_exp_dditable_t),
            (zetGetModuleProcAddrTable, zet_module_dditable_t),
            (zetGetKernelProcAddrTable, zet_kernel_dditable_t),
            (zetGetMetricProcAddrTable, zet_metric_dditable_t),
            (zetGetMetricExpProcAddrTable, zet_metric_exp_dditable_t),
            (zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t),
            (zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t),
            (zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t),
            (zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t),
            (zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t),
            (zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t),
            (zetGetDebugProcAddrTable, zet_debug_dditable_t),
            (zesGetGlobalProcAddrTable, zes_global_dditable_t),
            (zesGetDeviceProcAddrTable, zes_device_dditable_t),
            (zesGetDeviceExpProcAddrTable, zes_device_exp_dditable_t),
            (zesGetDriverProcAddrTable, zes_driver_dditable_t),
            (zesGetDriverExpProcAddrTable, zes_driver_exp_dditable_t),
            (zesGetOverclockProcAddrTable, zes_overclock_dditable_t),
            (zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t),
            (zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t),
            (zesGetPowerProcAddrTable, zes_power_dditable_t),
            (zesGetFrequencyProcAddrTable, zes_frequency_dditable_t),
            (zesGetEngineProcAddrTable, zes_engine_dditable_t),
            (zesGetStandbyProcAddrTable, zes_standby_dditable_t),
            (zesGetFirmwareProcAddrTable, zes_firmware_dditable_t),
            (zesGetFirmwareExpProcAddrTable, zes_firmware_exp_dditable_t),
            (zesGetMemoryProcAddrTable, zes_memory_dditable_t),
            (zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t),
            (zesGetTemperatureProcAddrTable, zes_temperature_dditable_t),
            (zesGetPsuProcAddrTable, zes_psu_dditable_t),
            (zesGetFanProcAddrTable, zes_fan_dditable_t),
            (zesGetLedProcAddrTable, zes_led_dditable_t),
            (zesGetRasProcAddrTable, zes_ras_dditable_t),
            (zesGetRasExpProcAddrTable, zes_ras_exp_dditable_t),
            (zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t),
            (zesGetVFManagementExpProcAddrTable, zes_vf_management_exp_dditable_t),
            (zerGetGlobalProcAddrTable, zer_global_dditable_t),
        }
    };
}

/// Fills the slots that exist in `version`. Slots are in the order of the versions that added them.
///
/// # Safety
/// `to` is null or valid for writes of the slots of that version.
unsafe fn fill<T>(name: &str, version: ze_api_version_t, to: *mut T, ours: &T) -> ze_result_t {
    if to.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    // A newer minor version gets the slots that exist; another major version is an error.
    if version.0 >> 16 != ZE_API_VERSION_1_17.0 >> 16 {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    let slots = ze_spec::FUNCTIONS
        .iter()
        .filter(|f| f.slot.is_some_and(|slot| slot.table == name) && f.since.to_bits() <= version.0)
        .count();
    let words = slots.min(size_of::<T>() / size_of::<usize>());
    let from = std::ptr::from_ref(ours).cast::<usize>();
    // SAFETY: tables are rows of function pointers, one word each; both have at least `words` of them.
    unsafe { std::ptr::copy_nonoverlapping(from, to.cast::<usize>(), words) };
    ZE_RESULT_SUCCESS
}

macro_rules! getters {
    ($(($name:ident, $table:ident, $ours:ident)),* $(,)?) => {$(
        /// Fills the table of that name.
        ///
        /// # Safety
        /// `table` is null or valid for writes of the slots that `version` has.
        pub unsafe extern "C" fn $name(version: ze_api_version_t, table: *mut $table) -> ze_result_t {
            // SAFETY: forwarded.
            unsafe { fill(stringify!($table), version, table, served(&tables::$ours)) }
        }
    )*

        fn getter(name: &str) -> Option<*const ()> {
            match name {
                $(stringify!($name) => Some($name as *const ()),)*
                _ => None,
            }
        }

        /// The first word of a table, and the number of words: one for each slot.
        fn slots(table: &str) -> Option<(*const usize, usize)> {
            match table {
                $(stringify!($table) => Some((
                    std::ptr::from_ref(served(&tables::$ours)).cast(),
                    size_of::<$table>() / size_of::<usize>(),
                )),)*
                _ => None,
            }
        }
    };
}

/// The address of a getter, or of a function that has a slot in a driver's table; null for other names.
///
/// The address is of a C function with the signature in the specification, valid for the life of the process. Call [`crate::install`] first, or the driver has no devices to initialise.
#[must_use]
pub fn lookup(name: &CStr) -> *const () {
    let find = || {
        let name = name.to_str().ok()?;
        if let Some(getter) = getter(name) {
            return Some(getter);
        }
        let slot = ze_spec::function(name)?.slot?;
        let (first, count) = slots(slot.table)?;
        let index = usize::from(slot.index);
        // SAFETY: `index` lies inside the table, and a slot is one word: an address, as `Option<fn>` is.
        (index < count).then(|| unsafe { first.cast::<*const ()>().add(index).read() })
    };
    find().unwrap_or(std::ptr::null())
}

getters! {
    (zeGetRTASBuilderProcAddrTable, ze_rtas_builder_dditable_t, ZE_RTAS_BUILDER),
    (zeGetRTASBuilderExpProcAddrTable, ze_rtas_builder_exp_dditable_t, ZE_RTAS_BUILDER_EXP),
    (zeGetRTASParallelOperationProcAddrTable, ze_rtas_parallel_operation_dditable_t, ZE_RTAS_PARALLEL_OPERATION),
    (zeGetRTASParallelOperationExpProcAddrTable, ze_rtas_parallel_operation_exp_dditable_t, ZE_RTAS_PARALLEL_OPERATION_EXP),
    (zeGetGlobalProcAddrTable, ze_global_dditable_t, ZE_GLOBAL),
    (zeGetDriverProcAddrTable, ze_driver_dditable_t, ZE_DRIVER),
    (zeGetDriverExpProcAddrTable, ze_driver_exp_dditable_t, ZE_DRIVER_EXP),
    (zeGetDeviceProcAddrTable, ze_device_dditable_t, ZE_DEVICE),
    (zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t, ZE_DEVICE_EXP),
    (zeGetContextProcAddrTable, ze_context_dditable_t, ZE_CONTEXT),
    (zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, ZE_COMMAND_QUEUE),
    (zeGetCommandListProcAddrTable, ze_command_list_dditable_t, ZE_COMMAND_LIST),
    (zeGetCommandListExpProcAddrTable, ze_command_list_exp_dditable_t, ZE_COMMAND_LIST_EXP),
    (zeGetImageProcAddrTable, ze_image_dditable_t, ZE_IMAGE),
    (zeGetImageExpProcAddrTable, ze_image_exp_dditable_t, ZE_IMAGE_EXP),
    (zeGetMemProcAddrTable, ze_mem_dditable_t, ZE_MEM),
    (zeGetMemExpProcAddrTable, ze_mem_exp_dditable_t, ZE_MEM_EXP),
    (zeGetFenceProcAddrTable, ze_fence_dditable_t, ZE_FENCE),
    (zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t, ZE_EVENT_POOL),
    (zeGetEventProcAddrTable, ze_event_dditable_t, ZE_EVENT),
    (zeGetEventExpProcAddrTable, ze_event_exp_dditable_t, ZE_EVENT_EXP),
    (zeGetModuleProcAddrTable, ze_module_dditable_t, ZE_MODULE),
    (zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t, ZE_MODULE_BUILD_LOG),
    (zeGetKernelProcAddrTable, ze_kernel_dditable_t, ZE_KERNEL),
    (zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t, ZE_KERNEL_EXP),
    (zeGetSamplerProcAddrTable, ze_sampler_dditable_t, ZE_SAMPLER),
    (zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t, ZE_PHYSICAL_MEM),
    (zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t, ZE_VIRTUAL_MEM),
    (zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t, ZE_FABRIC_VERTEX_EXP),
    (zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t, ZE_FABRIC_EDGE_EXP),
    (zeGetGraphProcAddrTable, ze_graph_dditable_t, ZE_GRAPH),
    (zeGetExecutableGraphProcAddrTable, ze_executable_graph_dditable_t, ZE_EXECUTABLE_GRAPH),
    (zetGetMetricProgrammableExpProcAddrTable, zet_metric_programmable_exp_dditable_t, ZET_METRIC_PROGRAMMABLE_EXP),
    (zetGetMetricTracerExpProcAddrTable, zet_metric_tracer_exp_dditable_t, ZET_METRIC_TRACER_EXP),
    (zetGetMetricDecoderExpProcAddrTable, zet_metric_decoder_exp_dditable_t, ZET_METRIC_DECODER_EXP),
    (zetGetDeviceProcAddrTable, zet_device_dditable_t, ZET_DEVICE),
    (zetGetDeviceExpProcAddrTable, zet_device_exp_dditable_t, ZET_DEVICE_EXP),
    (zetGetContextProcAddrTable, zet_context_dditable_t, ZET_CONTEXT),
    (zetGetCommandListProcAddrTable, zet_command_list_dditable_t, ZET_COMMAND_LIST),
    (zetGetCommandListExpProcAddrTable, zet_command_list_exp_dditable_t, ZET_COMMAND_LIST_EXP),
    (zetGetModuleProcAddrTable, zet_module_dditable_t, ZET_MODULE),
    (zetGetKernelProcAddrTable, zet_kernel_dditable_t, ZET_KERNEL),
    (zetGetMetricProcAddrTable, zet_metric_dditable_t, ZET_METRIC),
    (zetGetMetricExpProcAddrTable, zet_metric_exp_dditable_t, ZET_METRIC_EXP),
    (zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t, ZET_METRIC_GROUP),
    (zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t, ZET_METRIC_GROUP_EXP),
    (zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t, ZET_METRIC_STREAMER),
    (zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t, ZET_METRIC_QUERY_POOL),
    (zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t, ZET_METRIC_QUERY),
    (zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t, ZET_TRACER_EXP),
    (zetGetDebugProcAddrTable, zet_debug_dditable_t, ZET_DEBUG),
    (zesGetGlobalProcAddrTable, zes_global_dditable_t, ZES_GLOBAL),
    (zesGetDeviceProcAddrTable, zes_device_dditable_t, ZES_DEVICE),
    (zesGetDeviceExpProcAddrTable, zes_device_exp_dditable_t, ZES_DEVICE_EXP),
    (zesGetDriverProcAddrTable, zes_driver_dditable_t, ZES_DRIVER),
    (zesGetDriverExpProcAddrTable, zes_driver_exp_dditable_t, ZES_DRIVER_EXP),
    (zesGetOverclockProcAddrTable, zes_overclock_dditable_t, ZES_OVERCLOCK),
    (zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t, ZES_SCHEDULER),
    (zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t, ZES_PERFORMANCE_FACTOR),
    (zesGetPowerProcAddrTable, zes_power_dditable_t, ZES_POWER),
    (zesGetFrequencyProcAddrTable, zes_frequency_dditable_t, ZES_FREQUENCY),
    (zesGetEngineProcAddrTable, zes_engine_dditable_t, ZES_ENGINE),
    (zesGetStandbyProcAddrTable, zes_standby_dditable_t, ZES_STANDBY),
    (zesGetFirmwareProcAddrTable, zes_firmware_dditable_t, ZES_FIRMWARE),
    (zesGetFirmwareExpProcAddrTable, zes_firmware_exp_dditable_t, ZES_FIRMWARE_EXP),
    (zesGetMemoryProcAddrTable, zes_memory_dditable_t, ZES_MEMORY),
    (zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t, ZES_FABRIC_PORT),
    (zesGetTemperatureProcAddrTable, zes_temperature_dditable_t, ZES_TEMPERATURE),
    (zesGetPsuProcAddrTable, zes_psu_dditable_t, ZES_PSU),
    (zesGetFanProcAddrTable, zes_fan_dditable_t, ZES_FAN),
    (zesGetLedProcAddrTable, zes_led_dditable_t, ZES_LED),
    (zesGetRasProcAddrTable, zes_ras_dditable_t, ZES_RAS),
    (zesGetRasExpProcAddrTable, zes_ras_exp_dditable_t, ZES_RAS_EXP),
    (zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t, ZES_DIAGNOSTICS),
    (zesGetVFManagementExpProcAddrTable, zes_vf_management_exp_dditable_t, ZES_VF_MANAGEMENT_EXP),
    (zerGetGlobalProcAddrTable, zer_global_dditable_t, ZER_GLOBAL),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_getter_fills_the_slots_of_the_requested_version() {
        // (version, result, slots filled in the device table)
        let cases = [
            (0x1_0000, ZE_RESULT_SUCCESS, 14),
            (0x1_0007, ZE_RESULT_SUCCESS, 19),
            (0x1_0011, ZE_RESULT_SUCCESS, 28),
            (0x1_0063, ZE_RESULT_SUCCESS, 28),
            (0x2_0000, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, 0),
        ];
        for (version, want, slots) in cases {
            let mut table = [0_usize; 28];
            const { assert!(size_of::<ze_device_dditable_t>() == size_of::<[usize; 28]>()) };
            // SAFETY: the array has the size of the table.
            let got = unsafe {
                zeGetDeviceProcAddrTable(ze_api_version_t(version), table.as_mut_ptr().cast())
            };
            assert_eq!(got, want, "{version:#x}");
            assert_eq!(
                table.iter().filter(|word| **word != 0).count(),
                slots,
                "{version:#x}"
            );
        }
        // SAFETY: null is answered.
        let null = unsafe { zeGetDeviceProcAddrTable(ZE_API_VERSION_1_17, std::ptr::null_mut()) };
        assert_eq!(null, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }

    #[test]
    fn a_lookup_finds_the_functions_of_the_tables() {
        let mut table = ze_kernel_dditable_t::default();
        // SAFETY: a writable table.
        let code = unsafe { zeGetKernelProcAddrTable(ZE_API_VERSION_1_17, &raw mut table) };
        assert_eq!(code, ZE_RESULT_SUCCESS);
        let word = |slot: ze_pfnKernelGetName_t| slot.map_or(std::ptr::null(), |f| f as *const ());
        assert_eq!(lookup(c"zeKernelGetName"), word(table.pfnGetName));
        assert_eq!(
            lookup(c"zeGetKernelProcAddrTable"),
            zeGetKernelProcAddrTable as *const ()
        );
        // The tables of `zel` are the loader's.
        for function in ze_spec::FUNCTIONS
            .iter()
            .filter(|f| f.slot.is_some() && f.namespace != ze_spec::Namespace::Zel)
        {
            let name = std::ffi::CString::new(function.name).unwrap_or_default();
            assert!(!lookup(&name).is_null(), "{}", function.name);
        }
        for none in [c"zeNothing", c"", c"zelTracerCreate", c"\xff"] {
            assert!(lookup(none).is_null(), "{none:?}");
        }
    }

    #[test]
    fn every_table_is_complete() {
        macro_rules! check {
            ($(($name:ident, $table:ident),)*) => {$({
                let words = size_of::<$table>() / size_of::<usize>();
                let mut table = vec![0_usize; words];
                // SAFETY: the vector has the size of the table.
                let got = unsafe { $name(ZE_API_VERSION_1_17, table.as_mut_ptr().cast::<$table>()) };
                assert_eq!(got, ZE_RESULT_SUCCESS, stringify!($name));
                assert!(table.iter().all(|word| *word != 0), stringify!($name));
            })*};
        }
        for_each_getter!(check);
    }
}
