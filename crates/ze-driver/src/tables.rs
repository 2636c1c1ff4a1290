//! The DDI tables: complete, static, tagged with the version they are made for.
//!
//! Every slot has a function: one of this driver, or a default that answers UNSUPPORTED_FEATURE. Handles point to
//! [`all`]; the getters copy from the same tables.

use crate::core::{
    append, attributes, context_entries, counter_entries, device_entries, device_more,
    driver_entries, event_entries, event_pool, fabric, fence, graph_entries, image, image_copy,
    ipc, kernel, launch, link, list_entries, mem, module, mutable, queue_entries, requirements,
    runtime, sampler, virtual_mem,
};
use crate::rtas;
use crate::sysman;
use crate::tools;
use crate::unsupported_entries as unsupported;
use level_zero_sys::*;
use std::cell::UnsafeCell;
use ze_abi::Tables;

/// A table of addresses of other tables.
#[repr(transparent)]
struct Fixed<T>(T);
// SAFETY: the addresses are of immutable statics, and nothing is written through them; where the table itself lies in a
// cell, it is written by atomics only.
unsafe impl<T> Sync for Fixed<T> {}

/// The core tables of handles; sub-tables are replaced while a tracer is enabled ([`crate::traced_tables`]).
pub(crate) fn core() -> *mut ze_dditable_driver_t {
    CORE.0.get()
}

/// The tables that handles point to.
pub(crate) fn all() -> Tables {
    Tables {
        core: core(),
        tools: &TOOLS.0,
        sysman: &SYSMAN.0,
        runtime: &RUNTIME.0,
    }
}

static CORE: Fixed<UnsafeCell<ze_dditable_driver_t>> =
    Fixed(UnsafeCell::new(ze_dditable_driver_t {
        version: ZE_API_VERSION_1_17,
        isValidFlag: 1,
        RTASBuilder: (&raw const ZE_RTAS_BUILDER).cast_mut(),
        RTASBuilderExp: (&raw const ZE_RTAS_BUILDER_EXP).cast_mut(),
        RTASParallelOperation: (&raw const ZE_RTAS_PARALLEL_OPERATION).cast_mut(),
        RTASParallelOperationExp: (&raw const ZE_RTAS_PARALLEL_OPERATION_EXP).cast_mut(),
        Global: (&raw const ZE_GLOBAL).cast_mut(),
        Driver: (&raw const ZE_DRIVER).cast_mut(),
        DriverExp: (&raw const ZE_DRIVER_EXP).cast_mut(),
        Device: (&raw const ZE_DEVICE).cast_mut(),
        DeviceExp: (&raw const ZE_DEVICE_EXP).cast_mut(),
        Context: (&raw const ZE_CONTEXT).cast_mut(),
        CommandQueue: (&raw const ZE_COMMAND_QUEUE).cast_mut(),
        CommandList: (&raw const ZE_COMMAND_LIST).cast_mut(),
        CommandListExp: (&raw const ZE_COMMAND_LIST_EXP).cast_mut(),
        Image: (&raw const ZE_IMAGE).cast_mut(),
        ImageExp: (&raw const ZE_IMAGE_EXP).cast_mut(),
        Mem: (&raw const ZE_MEM).cast_mut(),
        MemExp: (&raw const ZE_MEM_EXP).cast_mut(),
        Fence: (&raw const ZE_FENCE).cast_mut(),
        EventPool: (&raw const ZE_EVENT_POOL).cast_mut(),
        Event: (&raw const ZE_EVENT).cast_mut(),
        EventExp: (&raw const ZE_EVENT_EXP).cast_mut(),
        Module: (&raw const ZE_MODULE).cast_mut(),
        ModuleBuildLog: (&raw const ZE_MODULE_BUILD_LOG).cast_mut(),
        Kernel: (&raw const ZE_KERNEL).cast_mut(),
        KernelExp: (&raw const ZE_KERNEL_EXP).cast_mut(),
        Sampler: (&raw const ZE_SAMPLER).cast_mut(),
        PhysicalMem: (&raw const ZE_PHYSICAL_MEM).cast_mut(),
        VirtualMem: (&raw const ZE_VIRTUAL_MEM).cast_mut(),
        FabricVertexExp: (&raw const ZE_FABRIC_VERTEX_EXP).cast_mut(),
        FabricEdgeExp: (&raw const ZE_FABRIC_EDGE_EXP).cast_mut(),
        Graph: (&raw const ZE_GRAPH).cast_mut(),
        ExecutableGraph: (&raw const ZE_EXECUTABLE_GRAPH).cast_mut(),
    }));

static TOOLS: Fixed<zet_dditable_driver_t> = Fixed(zet_dditable_driver_t {
    version: ZE_API_VERSION_1_17,
    isValidFlag: 1,
    MetricProgrammableExp: (&raw const ZET_METRIC_PROGRAMMABLE_EXP).cast_mut(),
    MetricTracerExp: (&raw const ZET_METRIC_TRACER_EXP).cast_mut(),
    MetricDecoderExp: (&raw const ZET_METRIC_DECODER_EXP).cast_mut(),
    Device: (&raw const ZET_DEVICE).cast_mut(),
    DeviceExp: (&raw const ZET_DEVICE_EXP).cast_mut(),
    Context: (&raw const ZET_CONTEXT).cast_mut(),
    CommandList: (&raw const ZET_COMMAND_LIST).cast_mut(),
    CommandListExp: (&raw const ZET_COMMAND_LIST_EXP).cast_mut(),
    Module: (&raw const ZET_MODULE).cast_mut(),
    Kernel: (&raw const ZET_KERNEL).cast_mut(),
    Metric: (&raw const ZET_METRIC).cast_mut(),
    MetricExp: (&raw const ZET_METRIC_EXP).cast_mut(),
    MetricGroup: (&raw const ZET_METRIC_GROUP).cast_mut(),
    MetricGroupExp: (&raw const ZET_METRIC_GROUP_EXP).cast_mut(),
    MetricStreamer: (&raw const ZET_METRIC_STREAMER).cast_mut(),
    MetricQueryPool: (&raw const ZET_METRIC_QUERY_POOL).cast_mut(),
    MetricQuery: (&raw const ZET_METRIC_QUERY).cast_mut(),
    TracerExp: (&raw const ZET_TRACER_EXP).cast_mut(),
    Debug: (&raw const ZET_DEBUG).cast_mut(),
});

static SYSMAN: Fixed<zes_dditable_driver_t> = Fixed(zes_dditable_driver_t {
    version: ZE_API_VERSION_1_17,
    isValidFlag: 1,
    Global: (&raw const ZES_GLOBAL).cast_mut(),
    Device: (&raw const ZES_DEVICE).cast_mut(),
    DeviceExp: (&raw const ZES_DEVICE_EXP).cast_mut(),
    Driver: (&raw const ZES_DRIVER).cast_mut(),
    DriverExp: (&raw const ZES_DRIVER_EXP).cast_mut(),
    Overclock: (&raw const ZES_OVERCLOCK).cast_mut(),
    Scheduler: (&raw const ZES_SCHEDULER).cast_mut(),
    PerformanceFactor: (&raw const ZES_PERFORMANCE_FACTOR).cast_mut(),
    Power: (&raw const ZES_POWER).cast_mut(),
    Frequency: (&raw const ZES_FREQUENCY).cast_mut(),
    Engine: (&raw const ZES_ENGINE).cast_mut(),
    Standby: (&raw const ZES_STANDBY).cast_mut(),
    Firmware: (&raw const ZES_FIRMWARE).cast_mut(),
    FirmwareExp: (&raw const ZES_FIRMWARE_EXP).cast_mut(),
    Memory: (&raw const ZES_MEMORY).cast_mut(),
    FabricPort: (&raw const ZES_FABRIC_PORT).cast_mut(),
    Temperature: (&raw const ZES_TEMPERATURE).cast_mut(),
    Psu: (&raw const ZES_PSU).cast_mut(),
    Fan: (&raw const ZES_FAN).cast_mut(),
    Led: (&raw const ZES_LED).cast_mut(),
    Ras: (&raw const ZES_RAS).cast_mut(),
    RasExp: (&raw const ZES_RAS_EXP).cast_mut(),
    Diagnostics: (&raw const ZES_DIAGNOSTICS).cast_mut(),
    VFManagementExp: (&raw const ZES_VF_MANAGEMENT_EXP).cast_mut(),
});

static RUNTIME: Fixed<zer_dditable_driver_t> = Fixed(zer_dditable_driver_t {
    version: ZE_API_VERSION_1_17,
    isValidFlag: 1,
    Global: (&raw const ZER_GLOBAL).cast_mut(),
});

/// `ze_rtas_builder_dditable_t`.
pub(crate) static ZE_RTAS_BUILDER: ze_rtas_builder_dditable_t = ze_rtas_builder_dditable_t {
    pfnCreateExt: Some(rtas::entries::zeRTASBuilderCreateExt),
    pfnGetBuildPropertiesExt: Some(rtas::entries::zeRTASBuilderGetBuildPropertiesExt),
    pfnBuildExt: Some(rtas::entries::zeRTASBuilderBuildExt),
    pfnCommandListAppendCopyExt: Some(rtas::entries::zeRTASBuilderCommandListAppendCopyExt),
    pfnDestroyExt: Some(rtas::entries::zeRTASBuilderDestroyExt),
};

/// `ze_rtas_builder_exp_dditable_t`.
pub(crate) static ZE_RTAS_BUILDER_EXP: ze_rtas_builder_exp_dditable_t =
    ze_rtas_builder_exp_dditable_t {
        pfnCreateExp: Some(rtas::entries::zeRTASBuilderCreateExp),
        pfnGetBuildPropertiesExp: Some(rtas::entries::zeRTASBuilderGetBuildPropertiesExp),
        pfnBuildExp: Some(rtas::entries::zeRTASBuilderBuildExp),
        pfnDestroyExp: Some(rtas::entries::zeRTASBuilderDestroyExp),
    };

/// `ze_rtas_parallel_operation_dditable_t`.
pub(crate) static ZE_RTAS_PARALLEL_OPERATION: ze_rtas_parallel_operation_dditable_t =
    ze_rtas_parallel_operation_dditable_t {
        pfnCreateExt: Some(rtas::entries::zeRTASParallelOperationCreateExt),
        pfnGetPropertiesExt: Some(rtas::entries::zeRTASParallelOperationGetPropertiesExt),
        pfnJoinExt: Some(rtas::entries::zeRTASParallelOperationJoinExt),
        pfnDestroyExt: Some(rtas::entries::zeRTASParallelOperationDestroyExt),
    };

/// `ze_rtas_parallel_operation_exp_dditable_t`.
pub(crate) static ZE_RTAS_PARALLEL_OPERATION_EXP: ze_rtas_parallel_operation_exp_dditable_t =
    ze_rtas_parallel_operation_exp_dditable_t {
        pfnCreateExp: Some(rtas::entries::zeRTASParallelOperationCreateExp),
        pfnGetPropertiesExp: Some(rtas::entries::zeRTASParallelOperationGetPropertiesExp),
        pfnJoinExp: Some(rtas::entries::zeRTASParallelOperationJoinExp),
        pfnDestroyExp: Some(rtas::entries::zeRTASParallelOperationDestroyExp),
    };

/// `ze_global_dditable_t`.
pub(crate) static ZE_GLOBAL: ze_global_dditable_t = ze_global_dditable_t {
    pfnInit: Some(driver_entries::zeInit),
    pfnInitDrivers: Some(driver_entries::zeInitDrivers),
};

/// `ze_driver_dditable_t`.
pub(crate) static ZE_DRIVER: ze_driver_dditable_t = ze_driver_dditable_t {
    pfnRTASFormatCompatibilityCheckExt: Some(
        rtas::entries::zeDriverRTASFormatCompatibilityCheckExt,
    ),
    pfnGet: Some(driver_entries::zeDriverGet),
    pfnGetApiVersion: Some(driver_entries::zeDriverGetApiVersion),
    pfnGetProperties: Some(driver_entries::zeDriverGetProperties),
    pfnGetIpcProperties: Some(driver_entries::zeDriverGetIpcProperties),
    pfnGetExtensionProperties: Some(driver_entries::zeDriverGetExtensionProperties),
    pfnGetExtensionFunctionAddress: Some(driver_entries::zeDriverGetExtensionFunctionAddress),
    pfnGetLastErrorDescription: Some(driver_entries::zeDriverGetLastErrorDescription),
    pfnGetDefaultContext: Some(driver_entries::zeDriverGetDefaultContext),
};

/// `ze_driver_exp_dditable_t`.
pub(crate) static ZE_DRIVER_EXP: ze_driver_exp_dditable_t = ze_driver_exp_dditable_t {
    pfnRTASFormatCompatibilityCheckExp: Some(
        rtas::entries::zeDriverRTASFormatCompatibilityCheckExp,
    ),
};

/// `ze_device_dditable_t`.
pub(crate) static ZE_DEVICE: ze_device_dditable_t = ze_device_dditable_t {
    pfnGet: Some(device_entries::zeDeviceGet),
    pfnGetSubDevices: Some(device_entries::zeDeviceGetSubDevices),
    pfnGetProperties: Some(device_entries::zeDeviceGetProperties),
    pfnGetComputeProperties: Some(device_entries::zeDeviceGetComputeProperties),
    pfnGetModuleProperties: Some(device_entries::zeDeviceGetModuleProperties),
    pfnGetCommandQueueGroupProperties: Some(device_entries::zeDeviceGetCommandQueueGroupProperties),
    pfnGetMemoryProperties: Some(device_entries::zeDeviceGetMemoryProperties),
    pfnGetMemoryAccessProperties: Some(device_entries::zeDeviceGetMemoryAccessProperties),
    pfnGetCacheProperties: Some(device_entries::zeDeviceGetCacheProperties),
    pfnGetImageProperties: Some(image::zeDeviceGetImageProperties),
    pfnGetExternalMemoryProperties: Some(device_more::zeDeviceGetExternalMemoryProperties),
    pfnGetP2PProperties: Some(device_more::zeDeviceGetP2PProperties),
    pfnCanAccessPeer: Some(device_more::zeDeviceCanAccessPeer),
    pfnGetStatus: Some(device_more::zeDeviceGetStatus),
    pfnGetGlobalTimestamps: Some(device_more::zeDeviceGetGlobalTimestamps),
    pfnReserveCacheExt: Some(device_more::zeDeviceReserveCacheExt),
    pfnSetCacheAdviceExt: Some(device_more::zeDeviceSetCacheAdviceExt),
    pfnPciGetPropertiesExt: Some(device_more::zeDevicePciGetPropertiesExt),
    pfnGetRootDevice: Some(device_entries::zeDeviceGetRootDevice),
    pfnGetVectorWidthPropertiesExt: Some(device_more::zeDeviceGetVectorWidthPropertiesExt),
    pfnSynchronize: Some(device_more::zeDeviceSynchronize),
    pfnGetAggregatedCopyOffloadIncrementValue: Some(
        device_more::zeDeviceGetAggregatedCopyOffloadIncrementValue,
    ),
    pfnGetRuntimeRequirements: Some(requirements::zeDeviceGetRuntimeRequirements),
    pfnGetRuntimeRequirementsKey: Some(requirements::zeDeviceGetRuntimeRequirementsKey),
    pfnValidateRuntimeRequirements: Some(requirements::zeDeviceValidateRuntimeRequirements),
    pfnGetCounterBasedEventMaxValue: Some(device_more::zeDeviceGetCounterBasedEventMaxValue),
    ..unsupported::ZE_DEVICE
};

/// `ze_device_exp_dditable_t`.
pub(crate) static ZE_DEVICE_EXP: ze_device_exp_dditable_t = ze_device_exp_dditable_t {
    pfnGetFabricVertexExp: Some(fabric::zeDeviceGetFabricVertexExp),
};

/// `ze_context_dditable_t`.
pub(crate) static ZE_CONTEXT: ze_context_dditable_t = ze_context_dditable_t {
    pfnCreate: Some(context_entries::zeContextCreate),
    pfnDestroy: Some(context_entries::zeContextDestroy),
    pfnGetStatus: Some(context_entries::zeContextGetStatus),
    pfnSystemBarrier: Some(context_entries::zeContextSystemBarrier),
    pfnMakeMemoryResident: Some(context_entries::zeContextMakeMemoryResident),
    pfnEvictMemory: Some(context_entries::zeContextEvictMemory),
    pfnMakeImageResident: Some(image::zeContextMakeImageResident),
    pfnEvictImage: Some(image::zeContextEvictImage),
    pfnCreateEx: Some(context_entries::zeContextCreateEx),
};

/// `ze_command_queue_dditable_t`.
pub(crate) static ZE_COMMAND_QUEUE: ze_command_queue_dditable_t = ze_command_queue_dditable_t {
    pfnCreate: Some(queue_entries::zeCommandQueueCreate),
    pfnDestroy: Some(queue_entries::zeCommandQueueDestroy),
    pfnExecuteCommandLists: Some(queue_entries::zeCommandQueueExecuteCommandLists),
    pfnSynchronize: Some(queue_entries::zeCommandQueueSynchronize),
    pfnGetOrdinal: Some(queue_entries::zeCommandQueueGetOrdinal),
    pfnGetIndex: Some(queue_entries::zeCommandQueueGetIndex),
    pfnGetFlags: Some(queue_entries::zeCommandQueueGetFlags),
    pfnGetMode: Some(queue_entries::zeCommandQueueGetMode),
    pfnGetPriority: Some(queue_entries::zeCommandQueueGetPriority),
};

/// `ze_command_list_dditable_t`.
pub(crate) static ZE_COMMAND_LIST: ze_command_list_dditable_t = ze_command_list_dditable_t {
    pfnCreate: Some(list_entries::zeCommandListCreate),
    pfnCreateImmediate: Some(list_entries::zeCommandListCreateImmediate),
    pfnDestroy: Some(list_entries::zeCommandListDestroy),
    pfnClose: Some(list_entries::zeCommandListClose),
    pfnReset: Some(list_entries::zeCommandListReset),
    pfnAppendWriteGlobalTimestamp: Some(append::zeCommandListAppendWriteGlobalTimestamp),
    pfnAppendBarrier: Some(append::zeCommandListAppendBarrier),
    pfnAppendMemoryRangesBarrier: Some(append::zeCommandListAppendMemoryRangesBarrier),
    pfnAppendMemoryCopy: Some(append::zeCommandListAppendMemoryCopy),
    pfnAppendMemoryFill: Some(append::zeCommandListAppendMemoryFill),
    pfnAppendMemoryCopyRegion: Some(append::zeCommandListAppendMemoryCopyRegion),
    pfnAppendMemoryCopyFromContext: Some(append::zeCommandListAppendMemoryCopyFromContext),
    pfnAppendImageCopy: Some(image_copy::zeCommandListAppendImageCopy),
    pfnAppendImageCopyRegion: Some(image_copy::zeCommandListAppendImageCopyRegion),
    pfnAppendImageCopyToMemory: Some(image_copy::zeCommandListAppendImageCopyToMemory),
    pfnAppendImageCopyFromMemory: Some(image_copy::zeCommandListAppendImageCopyFromMemory),
    pfnAppendImageCopyToMemoryExt: Some(image_copy::zeCommandListAppendImageCopyToMemoryExt),
    pfnAppendImageCopyFromMemoryExt: Some(image_copy::zeCommandListAppendImageCopyFromMemoryExt),
    pfnAppendMemoryPrefetch: Some(append::zeCommandListAppendMemoryPrefetch),
    pfnAppendMemAdvise: Some(append::zeCommandListAppendMemAdvise),
    pfnAppendSignalEvent: Some(append::zeCommandListAppendSignalEvent),
    pfnAppendWaitOnEvents: Some(append::zeCommandListAppendWaitOnEvents),
    pfnAppendEventReset: Some(append::zeCommandListAppendEventReset),
    pfnAppendQueryKernelTimestamps: Some(append::zeCommandListAppendQueryKernelTimestamps),
    pfnAppendLaunchKernel: Some(launch::zeCommandListAppendLaunchKernel),
    pfnAppendLaunchCooperativeKernel: Some(launch::zeCommandListAppendLaunchCooperativeKernel),
    pfnAppendLaunchKernelIndirect: Some(launch::zeCommandListAppendLaunchKernelIndirect),
    pfnAppendLaunchMultipleKernelsIndirect: Some(
        launch::zeCommandListAppendLaunchMultipleKernelsIndirect,
    ),
    pfnHostSynchronize: Some(list_entries::zeCommandListHostSynchronize),
    pfnGetDeviceHandle: Some(list_entries::zeCommandListGetDeviceHandle),
    pfnGetContextHandle: Some(list_entries::zeCommandListGetContextHandle),
    pfnGetOrdinal: Some(list_entries::zeCommandListGetOrdinal),
    pfnImmediateGetIndex: Some(list_entries::zeCommandListImmediateGetIndex),
    pfnIsImmediate: Some(list_entries::zeCommandListIsImmediate),
    pfnAppendLaunchKernelWithParameters: Some(
        launch::zeCommandListAppendLaunchKernelWithParameters,
    ),
    pfnAppendLaunchKernelWithArguments: Some(launch::zeCommandListAppendLaunchKernelWithArguments),
    pfnAppendMemoryCopyWithParameters: Some(append::zeCommandListAppendMemoryCopyWithParameters),
    pfnAppendMemoryFillWithParameters: Some(append::zeCommandListAppendMemoryFillWithParameters),
    pfnImmediateAppendCommandListsWithParameters: Some(
        list_entries::zeCommandListImmediateAppendCommandListsWithParameters,
    ),
    pfnGetFlags: Some(list_entries::zeCommandListGetFlags),
    pfnImmediateGetFlags: Some(list_entries::zeCommandListImmediateGetFlags),
    pfnImmediateGetMode: Some(list_entries::zeCommandListImmediateGetMode),
    pfnImmediateGetPriority: Some(list_entries::zeCommandListImmediateGetPriority),
    pfnBeginGraphCaptureExt: Some(graph_entries::zeCommandListBeginGraphCaptureExt),
    pfnBeginCaptureIntoGraphExt: Some(graph_entries::zeCommandListBeginCaptureIntoGraphExt),
    pfnIsGraphCaptureEnabledExt: Some(graph_entries::zeCommandListIsGraphCaptureEnabledExt),
    pfnEndGraphCaptureExt: Some(graph_entries::zeCommandListEndGraphCaptureExt),
    pfnGetGraphExt: Some(graph_entries::zeCommandListGetGraphExt),
    pfnAppendGraphExt: Some(graph_entries::zeCommandListAppendGraphExt),
    pfnAppendHostFunction: Some(append::zeCommandListAppendHostFunction),
    ..unsupported::ZE_COMMAND_LIST
};

/// `ze_command_list_exp_dditable_t`.
pub(crate) static ZE_COMMAND_LIST_EXP: ze_command_list_exp_dditable_t =
    ze_command_list_exp_dditable_t {
        pfnImmediateAppendCommandListsExp: Some(
            list_entries::zeCommandListImmediateAppendCommandListsExp,
        ),
        pfnCreateCloneExp: Some(mutable::zeCommandListCreateCloneExp),
        pfnGetNextCommandIdExp: Some(mutable::zeCommandListGetNextCommandIdExp),
        pfnGetNextCommandIdWithKernelsExp: Some(
            mutable::zeCommandListGetNextCommandIdWithKernelsExp,
        ),
        pfnUpdateMutableCommandsExp: Some(mutable::zeCommandListUpdateMutableCommandsExp),
        pfnUpdateMutableCommandSignalEventExp: Some(
            mutable::zeCommandListUpdateMutableCommandSignalEventExp,
        ),
        pfnUpdateMutableCommandWaitEventsExp: Some(
            mutable::zeCommandListUpdateMutableCommandWaitEventsExp,
        ),
        pfnUpdateMutableCommandKernelsExp: Some(
            mutable::zeCommandListUpdateMutableCommandKernelsExp,
        ),
        pfnIsMutableExp: Some(mutable::zeCommandListIsMutableExp),
    };

/// `ze_image_dditable_t`.
pub(crate) static ZE_IMAGE: ze_image_dditable_t = ze_image_dditable_t {
    pfnGetProperties: Some(image::zeImageGetProperties),
    pfnCreate: Some(image::zeImageCreate),
    pfnDestroy: Some(image::zeImageDestroy),
    pfnGetAllocPropertiesExt: Some(image::zeImageGetAllocPropertiesExt),
    pfnViewCreateExt: Some(image::zeImageViewCreateExt),
};

/// `ze_image_exp_dditable_t`.
pub(crate) static ZE_IMAGE_EXP: ze_image_exp_dditable_t = ze_image_exp_dditable_t {
    pfnGetMemoryPropertiesExp: Some(image::zeImageGetMemoryPropertiesExp),
    pfnViewCreateExp: Some(image::zeImageViewCreateExp),
    pfnGetDeviceOffsetExp: Some(image::zeImageGetDeviceOffsetExp),
};

/// `ze_mem_dditable_t`.
pub(crate) static ZE_MEM: ze_mem_dditable_t = ze_mem_dditable_t {
    pfnAllocShared: Some(mem::zeMemAllocShared),
    pfnAllocDevice: Some(mem::zeMemAllocDevice),
    pfnAllocHost: Some(mem::zeMemAllocHost),
    pfnFree: Some(mem::zeMemFree),
    pfnGetAllocProperties: Some(mem::zeMemGetAllocProperties),
    pfnGetAddressRange: Some(mem::zeMemGetAddressRange),
    pfnFreeExt: Some(mem::zeMemFreeExt),
    pfnGetIpcHandle: Some(ipc::zeMemGetIpcHandle),
    pfnOpenIpcHandle: Some(ipc::zeMemOpenIpcHandle),
    pfnCloseIpcHandle: Some(ipc::zeMemCloseIpcHandle),
    pfnPutIpcHandle: Some(ipc::zeMemPutIpcHandle),
    pfnGetPitchFor2dImage: Some(image::zeMemGetPitchFor2dImage),
    pfnGetIpcHandleWithProperties: Some(ipc::zeMemGetIpcHandleWithProperties),
};

/// `ze_mem_exp_dditable_t`.
pub(crate) static ZE_MEM_EXP: ze_mem_exp_dditable_t = ze_mem_exp_dditable_t {
    pfnGetIpcHandleFromFileDescriptorExp: Some(ipc::zeMemGetIpcHandleFromFileDescriptorExp),
    pfnGetFileDescriptorFromIpcHandleExp: Some(ipc::zeMemGetFileDescriptorFromIpcHandleExp),
    pfnSetAtomicAccessAttributeExp: Some(attributes::zeMemSetAtomicAccessAttributeExp),
    pfnGetAtomicAccessAttributeExp: Some(attributes::zeMemGetAtomicAccessAttributeExp),
};

/// `ze_fence_dditable_t`.
pub(crate) static ZE_FENCE: ze_fence_dditable_t = ze_fence_dditable_t {
    pfnCreate: Some(fence::zeFenceCreate),
    pfnDestroy: Some(fence::zeFenceDestroy),
    pfnHostSynchronize: Some(fence::zeFenceHostSynchronize),
    pfnQueryStatus: Some(fence::zeFenceQueryStatus),
    pfnReset: Some(fence::zeFenceReset),
};

/// `ze_event_pool_dditable_t`.
pub(crate) static ZE_EVENT_POOL: ze_event_pool_dditable_t = ze_event_pool_dditable_t {
    pfnCreate: Some(event_pool::zeEventPoolCreate),
    pfnDestroy: Some(event_pool::zeEventPoolDestroy),
    pfnGetContextHandle: Some(event_pool::zeEventPoolGetContextHandle),
    pfnGetFlags: Some(event_pool::zeEventPoolGetFlags),
    pfnGetIpcHandle: Some(event_pool::zeEventPoolGetIpcHandle),
    pfnOpenIpcHandle: Some(event_pool::zeEventPoolOpenIpcHandle),
    pfnCloseIpcHandle: Some(event_pool::zeEventPoolCloseIpcHandle),
    pfnPutIpcHandle: Some(event_pool::zeEventPoolPutIpcHandle),
};

/// `ze_event_dditable_t`.
pub(crate) static ZE_EVENT: ze_event_dditable_t = ze_event_dditable_t {
    pfnCreate: Some(event_entries::zeEventCreate),
    pfnDestroy: Some(event_entries::zeEventDestroy),
    pfnHostSignal: Some(event_entries::zeEventHostSignal),
    pfnHostSynchronize: Some(event_entries::zeEventHostSynchronize),
    pfnQueryStatus: Some(event_entries::zeEventQueryStatus),
    pfnHostReset: Some(event_entries::zeEventHostReset),
    pfnQueryKernelTimestamp: Some(event_entries::zeEventQueryKernelTimestamp),
    pfnQueryKernelTimestampsExt: Some(event_entries::zeEventQueryKernelTimestampsExt),
    pfnGetEventPool: Some(event_entries::zeEventGetEventPool),
    pfnGetSignalScope: Some(event_entries::zeEventGetSignalScope),
    pfnGetWaitScope: Some(event_entries::zeEventGetWaitScope),
    pfnCounterBasedCreate: Some(counter_entries::zeEventCounterBasedCreate),
    pfnCounterBasedGetIpcHandle: Some(counter_entries::zeEventCounterBasedGetIpcHandle),
    pfnCounterBasedOpenIpcHandle: Some(counter_entries::zeEventCounterBasedOpenIpcHandle),
    pfnCounterBasedCloseIpcHandle: Some(counter_entries::zeEventCounterBasedCloseIpcHandle),
    pfnCounterBasedGetDeviceAddress: Some(counter_entries::zeEventCounterBasedGetDeviceAddress),
    pfnGetCounterBasedFlags: Some(event_entries::zeEventGetCounterBasedFlags),
};

/// `ze_event_exp_dditable_t`.
pub(crate) static ZE_EVENT_EXP: ze_event_exp_dditable_t = ze_event_exp_dditable_t {
    pfnQueryTimestampsExp: Some(event_entries::zeEventQueryTimestampsExp),
};

/// `ze_module_dditable_t`.
pub(crate) static ZE_MODULE: ze_module_dditable_t = ze_module_dditable_t {
    pfnCreate: Some(module::zeModuleCreate),
    pfnDestroy: Some(module::zeModuleDestroy),
    pfnDynamicLink: Some(link::zeModuleDynamicLink),
    pfnGetNativeBinary: Some(module::zeModuleGetNativeBinary),
    pfnGetGlobalPointer: Some(module::zeModuleGetGlobalPointer),
    pfnGetKernelNames: Some(module::zeModuleGetKernelNames),
    pfnGetProperties: Some(module::zeModuleGetProperties),
    pfnGetFunctionPointer: Some(module::zeModuleGetFunctionPointer),
    pfnInspectLinkageExt: Some(link::zeModuleInspectLinkageExt),
};

/// `ze_module_build_log_dditable_t`.
pub(crate) static ZE_MODULE_BUILD_LOG: ze_module_build_log_dditable_t =
    ze_module_build_log_dditable_t {
        pfnDestroy: Some(module::zeModuleBuildLogDestroy),
        pfnGetString: Some(module::zeModuleBuildLogGetString),
    };

/// `ze_kernel_dditable_t`.
pub(crate) static ZE_KERNEL: ze_kernel_dditable_t = ze_kernel_dditable_t {
    pfnCreate: Some(kernel::zeKernelCreate),
    pfnDestroy: Some(kernel::zeKernelDestroy),
    pfnSetCacheConfig: Some(kernel::zeKernelSetCacheConfig),
    pfnSetGroupSize: Some(kernel::zeKernelSetGroupSize),
    pfnSuggestGroupSize: Some(kernel::zeKernelSuggestGroupSize),
    pfnSuggestMaxCooperativeGroupCount: Some(kernel::zeKernelSuggestMaxCooperativeGroupCount),
    pfnSetArgumentValue: Some(kernel::zeKernelSetArgumentValue),
    pfnSetIndirectAccess: Some(kernel::zeKernelSetIndirectAccess),
    pfnGetIndirectAccess: Some(kernel::zeKernelGetIndirectAccess),
    pfnGetSourceAttributes: Some(kernel::zeKernelGetSourceAttributes),
    pfnGetProperties: Some(kernel::zeKernelGetProperties),
    pfnGetName: Some(kernel::zeKernelGetName),
};

/// `ze_kernel_exp_dditable_t`.
pub(crate) static ZE_KERNEL_EXP: ze_kernel_exp_dditable_t = ze_kernel_exp_dditable_t {
    pfnSetGlobalOffsetExp: Some(kernel::zeKernelSetGlobalOffsetExp),
    pfnSchedulingHintExp: Some(kernel::zeKernelSchedulingHintExp),
    pfnGetBinaryExp: Some(kernel::zeKernelGetBinaryExp),
    pfnGetAllocationPropertiesExp: Some(kernel::zeKernelGetAllocationPropertiesExp),
};

/// `ze_sampler_dditable_t`.
pub(crate) static ZE_SAMPLER: ze_sampler_dditable_t = ze_sampler_dditable_t {
    pfnCreate: Some(sampler::zeSamplerCreate),
    pfnDestroy: Some(sampler::zeSamplerDestroy),
};

/// `ze_physical_mem_dditable_t`.
pub(crate) static ZE_PHYSICAL_MEM: ze_physical_mem_dditable_t = ze_physical_mem_dditable_t {
    pfnCreate: Some(virtual_mem::zePhysicalMemCreate),
    pfnDestroy: Some(virtual_mem::zePhysicalMemDestroy),
    pfnGetProperties: Some(virtual_mem::zePhysicalMemGetProperties),
};

/// `ze_virtual_mem_dditable_t`.
pub(crate) static ZE_VIRTUAL_MEM: ze_virtual_mem_dditable_t = ze_virtual_mem_dditable_t {
    pfnReserve: Some(virtual_mem::zeVirtualMemReserve),
    pfnFree: Some(virtual_mem::zeVirtualMemFree),
    pfnQueryPageSize: Some(virtual_mem::zeVirtualMemQueryPageSize),
    pfnMap: Some(virtual_mem::zeVirtualMemMap),
    pfnUnmap: Some(virtual_mem::zeVirtualMemUnmap),
    pfnSetAccessAttribute: Some(virtual_mem::zeVirtualMemSetAccessAttribute),
    pfnGetAccessAttribute: Some(virtual_mem::zeVirtualMemGetAccessAttribute),
};

/// `ze_fabric_vertex_exp_dditable_t`.
pub(crate) static ZE_FABRIC_VERTEX_EXP: ze_fabric_vertex_exp_dditable_t =
    ze_fabric_vertex_exp_dditable_t {
        pfnGetExp: Some(fabric::zeFabricVertexGetExp),
        pfnGetSubVerticesExp: Some(fabric::zeFabricVertexGetSubVerticesExp),
        pfnGetPropertiesExp: Some(fabric::zeFabricVertexGetPropertiesExp),
        pfnGetDeviceExp: Some(fabric::zeFabricVertexGetDeviceExp),
    };

/// `ze_fabric_edge_exp_dditable_t`.
pub(crate) static ZE_FABRIC_EDGE_EXP: ze_fabric_edge_exp_dditable_t =
    ze_fabric_edge_exp_dditable_t {
        pfnGetExp: Some(fabric::zeFabricEdgeGetExp),
        ..unsupported::ZE_FABRIC_EDGE_EXP
    };

/// `ze_graph_dditable_t`.
pub(crate) static ZE_GRAPH: ze_graph_dditable_t = ze_graph_dditable_t {
    pfnCreateExt: Some(graph_entries::zeGraphCreateExt),
    pfnGetPrimaryCommandListExt: Some(graph_entries::zeGraphGetPrimaryCommandListExt),
    pfnSetDestructionCallbackExt: Some(graph_entries::zeGraphSetDestructionCallbackExt),
    pfnInstantiateExt: Some(graph_entries::zeGraphInstantiateExt),
    pfnIsEmptyExt: Some(graph_entries::zeGraphIsEmptyExt),
    pfnDumpContentsExt: Some(graph_entries::zeGraphDumpContentsExt),
    pfnDestroyExt: Some(graph_entries::zeGraphDestroyExt),
};
/// `ze_executable_graph_dditable_t`.
pub(crate) static ZE_EXECUTABLE_GRAPH: ze_executable_graph_dditable_t =
    ze_executable_graph_dditable_t {
        pfnGetSourceGraphExt: Some(graph_entries::zeExecutableGraphGetSourceGraphExt),
        pfnDestroyExt: Some(graph_entries::zeExecutableGraphDestroyExt),
    };

/// `zet_metric_programmable_exp_dditable_t`.
pub(crate) static ZET_METRIC_PROGRAMMABLE_EXP: zet_metric_programmable_exp_dditable_t =
    unsupported::ZET_METRIC_PROGRAMMABLE_EXP;

/// `zet_metric_tracer_exp_dditable_t`.
pub(crate) static ZET_METRIC_TRACER_EXP: zet_metric_tracer_exp_dditable_t =
    unsupported::ZET_METRIC_TRACER_EXP;

/// `zet_metric_decoder_exp_dditable_t`.
pub(crate) static ZET_METRIC_DECODER_EXP: zet_metric_decoder_exp_dditable_t =
    unsupported::ZET_METRIC_DECODER_EXP;

/// `zet_device_dditable_t`.
pub(crate) static ZET_DEVICE: zet_device_dditable_t = zet_device_dditable_t {
    pfnGetDebugProperties: Some(tools::program::zetDeviceGetDebugProperties),
};

/// `zet_device_exp_dditable_t`.
pub(crate) static ZET_DEVICE_EXP: zet_device_exp_dditable_t = zet_device_exp_dditable_t {
    pfnGetConcurrentMetricGroupsExp: Some(tools::metric::zetDeviceGetConcurrentMetricGroupsExp),
    pfnEnableMetricsExp: Some(tools::metric::zetDeviceEnableMetricsExp),
    pfnDisableMetricsExp: Some(tools::metric::zetDeviceDisableMetricsExp),
    ..unsupported::ZET_DEVICE_EXP
};

/// `zet_context_dditable_t`.
pub(crate) static ZET_CONTEXT: zet_context_dditable_t = zet_context_dditable_t {
    pfnActivateMetricGroups: Some(tools::metric::zetContextActivateMetricGroups),
};

/// `zet_command_list_dditable_t`.
pub(crate) static ZET_COMMAND_LIST: zet_command_list_dditable_t = zet_command_list_dditable_t {
    pfnAppendMetricStreamerMarker: Some(tools::streamer::zetCommandListAppendMetricStreamerMarker),
    pfnAppendMetricQueryBegin: Some(tools::query::zetCommandListAppendMetricQueryBegin),
    pfnAppendMetricQueryEnd: Some(tools::query::zetCommandListAppendMetricQueryEnd),
    pfnAppendMetricMemoryBarrier: Some(tools::query::zetCommandListAppendMetricMemoryBarrier),
};

/// `zet_command_list_exp_dditable_t`.
pub(crate) static ZET_COMMAND_LIST_EXP: zet_command_list_exp_dditable_t =
    unsupported::ZET_COMMAND_LIST_EXP;

/// `zet_module_dditable_t`.
pub(crate) static ZET_MODULE: zet_module_dditable_t = zet_module_dditable_t {
    pfnGetDebugInfo: Some(tools::program::zetModuleGetDebugInfo),
};

/// `zet_kernel_dditable_t`.
pub(crate) static ZET_KERNEL: zet_kernel_dditable_t = zet_kernel_dditable_t {
    pfnGetProfileInfo: Some(tools::program::zetKernelGetProfileInfo),
};

/// `zet_metric_dditable_t`.
pub(crate) static ZET_METRIC: zet_metric_dditable_t = zet_metric_dditable_t {
    pfnGet: Some(tools::metric::zetMetricGet),
    pfnGetProperties: Some(tools::metric::zetMetricGetProperties),
};

/// `zet_metric_exp_dditable_t`.
pub(crate) static ZET_METRIC_EXP: zet_metric_exp_dditable_t = unsupported::ZET_METRIC_EXP;

/// `zet_metric_group_dditable_t`.
pub(crate) static ZET_METRIC_GROUP: zet_metric_group_dditable_t = zet_metric_group_dditable_t {
    pfnGet: Some(tools::metric::zetMetricGroupGet),
    pfnGetProperties: Some(tools::metric::zetMetricGroupGetProperties),
    pfnCalculateMetricValues: Some(tools::metric::zetMetricGroupCalculateMetricValues),
};

/// `zet_metric_group_exp_dditable_t`.
pub(crate) static ZET_METRIC_GROUP_EXP: zet_metric_group_exp_dditable_t =
    zet_metric_group_exp_dditable_t {
        pfnCalculateMultipleMetricValuesExp: Some(
            tools::metric::zetMetricGroupCalculateMultipleMetricValuesExp,
        ),
        pfnGetGlobalTimestampsExp: Some(tools::metric::zetMetricGroupGetGlobalTimestampsExp),
        pfnGetExportDataExp: Some(tools::metric::zetMetricGroupGetExportDataExp),
        pfnCalculateMetricExportDataExp: Some(
            tools::metric::zetMetricGroupCalculateMetricExportDataExp,
        ),
        ..unsupported::ZET_METRIC_GROUP_EXP
    };

/// `zet_metric_streamer_dditable_t`.
pub(crate) static ZET_METRIC_STREAMER: zet_metric_streamer_dditable_t =
    zet_metric_streamer_dditable_t {
        pfnOpen: Some(tools::streamer::zetMetricStreamerOpen),
        pfnClose: Some(tools::streamer::zetMetricStreamerClose),
        pfnReadData: Some(tools::streamer::zetMetricStreamerReadData),
    };

/// `zet_metric_query_pool_dditable_t`.
pub(crate) static ZET_METRIC_QUERY_POOL: zet_metric_query_pool_dditable_t =
    zet_metric_query_pool_dditable_t {
        pfnCreate: Some(tools::query::zetMetricQueryPoolCreate),
        pfnDestroy: Some(tools::query::zetMetricQueryPoolDestroy),
    };

/// `zet_metric_query_dditable_t`.
pub(crate) static ZET_METRIC_QUERY: zet_metric_query_dditable_t = zet_metric_query_dditable_t {
    pfnCreate: Some(tools::query::zetMetricQueryCreate),
    pfnDestroy: Some(tools::query::zetMetricQueryDestroy),
    pfnReset: Some(tools::query::zetMetricQueryReset),
    pfnGetData: Some(tools::query::zetMetricQueryGetData),
};

/// `zet_tracer_exp_dditable_t`.
pub(crate) static ZET_TRACER_EXP: zet_tracer_exp_dditable_t = zet_tracer_exp_dditable_t {
    pfnCreate: Some(tools::tracer::zetTracerExpCreate),
    pfnDestroy: Some(tools::tracer::zetTracerExpDestroy),
    pfnSetPrologues: Some(tools::tracer::zetTracerExpSetPrologues),
    pfnSetEpilogues: Some(tools::tracer::zetTracerExpSetEpilogues),
    pfnSetEnabled: Some(tools::tracer::zetTracerExpSetEnabled),
};

/// `zet_debug_dditable_t`.
pub(crate) static ZET_DEBUG: zet_debug_dditable_t = unsupported::ZET_DEBUG;

/// `zes_global_dditable_t`.
pub(crate) static ZES_GLOBAL: zes_global_dditable_t = zes_global_dditable_t {
    pfnInit: Some(sysman::device::zesInit),
};

/// `zes_device_dditable_t`.
pub(crate) static ZES_DEVICE: zes_device_dditable_t = zes_device_dditable_t {
    pfnGetProperties: Some(sysman::device::zesDeviceGetProperties),
    pfnGetState: Some(sysman::device::zesDeviceGetState),
    pfnReset: Some(sysman::reset::zesDeviceReset),
    pfnProcessesGetState: Some(sysman::device::zesDeviceProcessesGetState),
    pfnPciGetProperties: Some(sysman::device::zesDevicePciGetProperties),
    pfnPciGetState: Some(sysman::device::zesDevicePciGetState),
    pfnPciGetBars: Some(sysman::device::zesDevicePciGetBars),
    pfnPciGetStats: Some(sysman::device::zesDevicePciGetStats),
    pfnEnumDiagnosticTestSuites: Some(sysman::absent::zesDeviceEnumDiagnosticTestSuites),
    pfnEnumEngineGroups: Some(sysman::engine::zesDeviceEnumEngineGroups),
    pfnEventRegister: Some(sysman::events::zesDeviceEventRegister),
    pfnEnumFabricPorts: Some(sysman::absent::zesDeviceEnumFabricPorts),
    pfnEnumFans: Some(sysman::absent::zesDeviceEnumFans),
    pfnEnumFirmwares: Some(sysman::reliability::zesDeviceEnumFirmwares),
    pfnEnumFrequencyDomains: Some(sysman::frequency::zesDeviceEnumFrequencyDomains),
    pfnEnumLeds: Some(sysman::absent::zesDeviceEnumLeds),
    pfnEnumMemoryModules: Some(sysman::memory::zesDeviceEnumMemoryModules),
    pfnEnumPerformanceFactorDomains: Some(sysman::absent::zesDeviceEnumPerformanceFactorDomains),
    pfnEnumPowerDomains: Some(sysman::power::zesDeviceEnumPowerDomains),
    pfnGetCardPowerDomain: Some(sysman::power::zesDeviceGetCardPowerDomain),
    pfnEnumPsus: Some(sysman::absent::zesDeviceEnumPsus),
    pfnEnumRasErrorSets: Some(sysman::reliability::zesDeviceEnumRasErrorSets),
    pfnEnumSchedulers: Some(sysman::absent::zesDeviceEnumSchedulers),
    pfnEnumStandbyDomains: Some(sysman::absent::zesDeviceEnumStandbyDomains),
    pfnEnumTemperatureSensors: Some(sysman::temperature::zesDeviceEnumTemperatureSensors),
    pfnEccAvailable: Some(sysman::reliability::zesDeviceEccAvailable),
    pfnEccConfigurable: Some(sysman::reliability::zesDeviceEccConfigurable),
    pfnGetEccState: Some(sysman::reliability::zesDeviceGetEccState),
    pfnGet: Some(sysman::device::zesDeviceGet),
    pfnGetOverclockDomains: Some(sysman::absent::zesDeviceGetOverclockDomains),
    pfnEnumOverclockDomains: Some(sysman::absent::zesDeviceEnumOverclockDomains),
    pfnResetExt: Some(sysman::reset::zesDeviceResetExt),
    ..unsupported::ZES_DEVICE
};

/// `zes_device_exp_dditable_t`.
pub(crate) static ZES_DEVICE_EXP: zes_device_exp_dditable_t = zes_device_exp_dditable_t {
    pfnGetSubDevicePropertiesExp: Some(sysman::device::zesDeviceGetSubDevicePropertiesExp),
    pfnEnumActiveVFExp: Some(sysman::absent::zesDeviceEnumActiveVFExp),
    pfnEnumEnabledVFExp: Some(sysman::absent::zesDeviceEnumEnabledVFExp),
};

/// `zes_driver_dditable_t`.
pub(crate) static ZES_DRIVER: zes_driver_dditable_t = zes_driver_dditable_t {
    pfnEventListen: Some(sysman::events::zesDriverEventListen),
    pfnEventListenEx: Some(sysman::events::zesDriverEventListenEx),
    pfnGet: Some(sysman::device::zesDriverGet),
    pfnGetExtensionProperties: Some(sysman::device::zesDriverGetExtensionProperties),
    pfnGetExtensionFunctionAddress: Some(sysman::device::zesDriverGetExtensionFunctionAddress),
};

/// `zes_driver_exp_dditable_t`.
pub(crate) static ZES_DRIVER_EXP: zes_driver_exp_dditable_t = zes_driver_exp_dditable_t {
    pfnGetDeviceByUuidExp: Some(sysman::device::zesDriverGetDeviceByUuidExp),
};

/// `zes_overclock_dditable_t`.
pub(crate) static ZES_OVERCLOCK: zes_overclock_dditable_t = unsupported::ZES_OVERCLOCK;

/// `zes_scheduler_dditable_t`.
pub(crate) static ZES_SCHEDULER: zes_scheduler_dditable_t = unsupported::ZES_SCHEDULER;

/// `zes_performance_factor_dditable_t`.
pub(crate) static ZES_PERFORMANCE_FACTOR: zes_performance_factor_dditable_t =
    unsupported::ZES_PERFORMANCE_FACTOR;

/// `zes_power_dditable_t`.
pub(crate) static ZES_POWER: zes_power_dditable_t = zes_power_dditable_t {
    pfnGetProperties: Some(sysman::power::zesPowerGetProperties),
    pfnGetEnergyCounter: Some(sysman::power::zesPowerGetEnergyCounter),
    pfnGetLimits: Some(sysman::power::zesPowerGetLimits),
    pfnSetLimits: Some(sysman::power::zesPowerSetLimits),
    pfnGetLimitsExt: Some(sysman::power::zesPowerGetLimitsExt),
    pfnSetLimitsExt: Some(sysman::power::zesPowerSetLimitsExt),
    pfnGetUsage: Some(sysman::power::zesPowerGetUsage),
    pfnGetLimitsExt2: Some(sysman::power::zesPowerGetLimitsExt2),
    pfnSetLimitsExt2: Some(sysman::power::zesPowerSetLimitsExt2),
    ..unsupported::ZES_POWER
};

/// `zes_frequency_dditable_t`.
pub(crate) static ZES_FREQUENCY: zes_frequency_dditable_t = zes_frequency_dditable_t {
    pfnGetProperties: Some(sysman::frequency::zesFrequencyGetProperties),
    pfnGetAvailableClocks: Some(sysman::frequency::zesFrequencyGetAvailableClocks),
    pfnGetRange: Some(sysman::frequency::zesFrequencyGetRange),
    pfnSetRange: Some(sysman::frequency::zesFrequencySetRange),
    pfnGetState: Some(sysman::frequency::zesFrequencyGetState),
    pfnGetThrottleTime: Some(sysman::frequency::zesFrequencyGetThrottleTime),
    ..unsupported::ZES_FREQUENCY
};

/// `zes_engine_dditable_t`.
pub(crate) static ZES_ENGINE: zes_engine_dditable_t = zes_engine_dditable_t {
    pfnGetProperties: Some(sysman::engine::zesEngineGetProperties),
    pfnGetActivity: Some(sysman::engine::zesEngineGetActivity),
    pfnGetActivityExt: Some(sysman::engine::zesEngineGetActivityExt),
};

/// `zes_standby_dditable_t`.
pub(crate) static ZES_STANDBY: zes_standby_dditable_t = unsupported::ZES_STANDBY;

/// `zes_firmware_dditable_t`.
pub(crate) static ZES_FIRMWARE: zes_firmware_dditable_t = zes_firmware_dditable_t {
    pfnGetProperties: Some(sysman::reliability::zesFirmwareGetProperties),
    pfnFlash: Some(sysman::reliability::zesFirmwareFlash),
    ..unsupported::ZES_FIRMWARE
};

/// `zes_firmware_exp_dditable_t`.
pub(crate) static ZES_FIRMWARE_EXP: zes_firmware_exp_dditable_t = unsupported::ZES_FIRMWARE_EXP;

/// `zes_memory_dditable_t`.
pub(crate) static ZES_MEMORY: zes_memory_dditable_t = zes_memory_dditable_t {
    pfnGetProperties: Some(sysman::memory::zesMemoryGetProperties),
    pfnGetState: Some(sysman::memory::zesMemoryGetState),
    pfnGetBandwidth: Some(sysman::memory::zesMemoryGetBandwidth),
};

/// `zes_fabric_port_dditable_t`.
pub(crate) static ZES_FABRIC_PORT: zes_fabric_port_dditable_t = unsupported::ZES_FABRIC_PORT;

/// `zes_temperature_dditable_t`.
pub(crate) static ZES_TEMPERATURE: zes_temperature_dditable_t = zes_temperature_dditable_t {
    pfnGetProperties: Some(sysman::temperature::zesTemperatureGetProperties),
    pfnGetConfig: Some(sysman::temperature::zesTemperatureGetConfig),
    pfnSetConfig: Some(sysman::temperature::zesTemperatureSetConfig),
    pfnGetState: Some(sysman::temperature::zesTemperatureGetState),
};

/// `zes_psu_dditable_t`.
pub(crate) static ZES_PSU: zes_psu_dditable_t = unsupported::ZES_PSU;

/// `zes_fan_dditable_t`.
pub(crate) static ZES_FAN: zes_fan_dditable_t = unsupported::ZES_FAN;

/// `zes_led_dditable_t`.
pub(crate) static ZES_LED: zes_led_dditable_t = unsupported::ZES_LED;

/// `zes_ras_dditable_t`.
pub(crate) static ZES_RAS: zes_ras_dditable_t = zes_ras_dditable_t {
    pfnGetProperties: Some(sysman::reliability::zesRasGetProperties),
    pfnGetConfig: Some(sysman::reliability::zesRasGetConfig),
    pfnSetConfig: Some(sysman::reliability::zesRasSetConfig),
    pfnGetState: Some(sysman::reliability::zesRasGetState),
};

/// `zes_ras_exp_dditable_t`.
pub(crate) static ZES_RAS_EXP: zes_ras_exp_dditable_t = zes_ras_exp_dditable_t {
    pfnGetStateExp: Some(sysman::reliability::zesRasGetStateExp),
    pfnClearStateExp: Some(sysman::reliability::zesRasClearStateExp),
    pfnGetSupportedCategoriesExp: Some(sysman::reliability::zesRasGetSupportedCategoriesExp),
    ..unsupported::ZES_RAS_EXP
};

/// `zes_diagnostics_dditable_t`.
pub(crate) static ZES_DIAGNOSTICS: zes_diagnostics_dditable_t = unsupported::ZES_DIAGNOSTICS;

/// `zes_vf_management_exp_dditable_t`.
pub(crate) static ZES_VF_MANAGEMENT_EXP: zes_vf_management_exp_dditable_t =
    unsupported::ZES_VF_MANAGEMENT_EXP;

/// `zer_global_dditable_t`.
pub(crate) static ZER_GLOBAL: zer_global_dditable_t = zer_global_dditable_t {
    pfnGetLastErrorDescription: Some(runtime::zerGetLastErrorDescription),
    pfnTranslateDeviceHandleToIdentifier: Some(runtime::zerTranslateDeviceHandleToIdentifier),
    pfnTranslateIdentifierToDeviceHandle: Some(runtime::zerTranslateIdentifierToDeviceHandle),
    pfnGetDefaultContext: Some(runtime::zerGetDefaultContext),
};
