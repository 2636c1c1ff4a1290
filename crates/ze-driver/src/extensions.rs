//! The supported extensions, as `zeDriverGetExtensionProperties` reports them.

use crate::core::{external_pointer, memory_sync};
use std::ffi::c_void;

const V1_0: u32 = 0x1_0000;
const V1_1: u32 = 0x1_0001;

/// Name and version of each extension.
pub const EXTENSIONS: &[(&str, u32)] = &[
    ("ZE_experimental_bindless_image", V1_0),
    ("ZE_experimental_command_list_clone", V1_0),
    ("ZE_experimental_event_pool_counter_based", V1_0),
    ("ZE_experimental_event_query_timestamps", V1_0),
    ("ZE_experimental_global_offset", V1_0),
    ("ZE_experimental_image_memory_properties", V1_0),
    ("ZE_experimental_image_view", V1_0),
    ("ZE_experimental_image_view_planar", V1_0),
    ("ZE_experimental_immediate_command_list_append", V1_0),
    ("ZE_experimental_kernel_allocation_properties", V1_0),
    ("ZE_experimental_module_program", V1_0),
    ("ZE_experimental_mutable_command_list", V1_1),
    ("ZE_experimental_relaxed_allocation_limits", V1_0),
    ("ZE_experimental_rtas_builder", V1_0),
    ("ZE_experimental_scheduling_hints", V1_0),
    ("ZE_extension_bfloat16_conversions", V1_0),
    ("ZE_extension_cache_reservation", V1_0),
    ("ZE_extension_device_cache_line_size", V1_0),
    ("ZE_extension_device_ip_version", V1_0),
    ("ZE_extension_device_memory_properties", V1_0),
    ("ZE_extension_device_usablemem_size_properties", V1_0),
    ("ZE_extension_device_vector_sizes", V1_0),
    ("ZE_extension_driver_ddi_handles", V1_1),
    ("ZE_extension_eu_count", V1_0),
    ("ZE_extension_event_query_kernel_timestamps", V1_0),
    ("ZE_extension_external_memmap_sysmem", V1_0),
    ("ZE_extension_float_atomics", V1_0),
    ("ZE_extension_image_copy", V1_0),
    ("ZE_extension_image_format_support", V1_0),
    ("ZE_extension_image_query_alloc_properties", V1_0),
    ("ZE_extension_image_view", V1_0),
    ("ZE_extension_image_view_planar", V1_0),
    ("ZE_extension_ipc_mem_handle_type", V1_0),
    ("ZE_extension_kernel_max_group_size_properties", V1_0),
    ("ZE_extension_linkage_inspection", V1_0),
    ("ZE_extension_linkonce_odr", V1_0),
    ("ZE_extension_memory_compression_hints", V1_0),
    ("ZE_extension_memory_free_policies", V1_0),
    ("ZE_extension_pci_properties", V1_0),
    ("ZE_extension_raytracing", V1_0),
    ("ZE_extension_record_replay_graph", V1_0),
    ("ZE_extension_relaxed_allocation_limits", V1_0),
    ("ZE_extension_rtas", V1_0),
    ("ZE_extension_subgroups", V1_0),
    ("ZE_extension_virtual_mem_readonly_properties", V1_0),
];

/// As [`EXTENSIONS`], of system management.
pub const SYSMAN_EXTENSIONS: &[(&str, u32)] = &[
    ("ZES_experimental_sysman_device_mapping", V1_0),
    ("ZES_extension_engine_activity", V1_0),
    ("ZES_extension_power_domain_properties", V1_0),
    ("ZES_extension_power_limits", V1_0),
    ("ZES_extension_ras_state", V1_0),
];

/// As [`EXTENSIONS`], of tools; `zeDriverGetExtensionProperties` lists them too.
pub const TOOLS_EXTENSIONS: &[(&str, u32)] = &[
    ("ZET_experimental_api_tracing", V1_0),
    ("ZET_experimental_calculate_multiple_metrics", V1_0),
    ("ZET_experimental_concurrent_metric_groups", V1_0),
    ("ZET_experimental_global_metric_timestamps", V1_0),
    ("ZET_experimental_metric_export_data", V1_0),
    ("ZET_experimental_metrics_runtime_enable_disable", V1_0),
];

/// Extensions of Intel's driver outside the specification; `zeDriverGetExtensionProperties` lists them too. `beyond.txt`
/// says which parts are supported.
pub const INTEL_EXTENSIONS: &[(&str, u32)] =
    &[("ZE_intel_experimental_command_list_memory_sync", V1_0)];

/// An entry point outside the tables: name and address.
pub(crate) type NamedFunction = (&'static str, fn() -> *const c_void);

/// Entry points of `zeDriverGetExtensionFunctionAddress`; `beyond.txt` describes them.
pub(crate) const FUNCTIONS: &[NamedFunction] = &[
    ("zeSolumRTASIntersect", crate::rtas::intersect::address),
    ("zexCommandListAppendWaitOnMemory", memory_sync::wait32),
    ("zexCommandListAppendWaitOnMemory64", memory_sync::wait64),
    ("zexCommandListAppendWriteToMemory", memory_sync::write),
    ("zexDriverGetHostPointerBaseAddress", external_pointer::base),
    ("zexDriverImportExternalPointer", external_pointer::import),
    ("zexDriverReleaseImportedPointer", external_pointer::release),
];

/// `zeDeviceGetCounterBasedEventMaxValue`.
pub(crate) const COUNTER_MAX: u64 = (1 << 62) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_is_the_specifications() {
        for (name, version) in EXTENSIONS
            .iter()
            .chain(SYSMAN_EXTENSIONS)
            .chain(TOOLS_EXTENSIONS)
        {
            let known = ze_spec::extension(name);
            let known = known.unwrap_or_else(|| panic!("{name} is not an extension of 1.17"));
            let versions = known.versions.iter().any(|v| v.to_bits() == *version);
            assert!(versions, "{name} has no version {version:#x}");
        }
    }
}
