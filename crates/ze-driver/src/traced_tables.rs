//! The core tables with and without tracing: which ones handles lead to, and which ones the getters give.
//!
//! - Handles lead to the driver's own tables while no tracer is enabled, and to the traced ones otherwise: an idle tracer
//!   costs calls through a handle nothing.
//! - Getters always give the traced tables, because a loader keeps its copies. A loader without DDI handles pays one look
//!   at a flag for each call.

use crate::tables;
use crate::tracing::{Installed, Tracing, install_with, installed};
use level_zero_sys::*;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Adds tracing to this process's driver; without it `zetTracerExp*` return UNSUPPORTED_FEATURE. Call it before any
/// getter; the first call counts.
pub fn install_tracing(tracing: Tracing) {
    install_with(|| Installed {
        tracing,
        traced: (tracing.over)(direct()),
        redirect: point,
    });
}

macro_rules! core_tables {
    ($(($table:ident, $ours:ident),)*) => {
        fn direct() -> ze_dditable_t {
            ze_dditable_t { $($table: tables::$ours,)* }
        }

        /// The table that a getter returns for one of ours.
        pub(crate) fn served<T>(ours: &'static T) -> &'static T {
            let Some(Installed { traced, .. }) = installed() else {
                return ours;
            };
            let own = std::ptr::from_ref(ours).addr();
            $(
                if own == (&raw const tables::$ours).addr() {
                    // SAFETY: `ours` is the static of that name, so `T` is the type of both.
                    return unsafe { &*(&raw const traced.$table).cast::<T>() };
                }
            )*
            ours
        }

        fn point(traced: Option<&'static ze_dditable_t>) {
            let core = tables::core();
            $(
                let own = &raw const tables::$ours;
                let now = traced.map_or(own, |traced| &raw const traced.$table);
                // SAFETY: the static's own word, written by atomics only; a loader reads it whole, and either table is
                // complete and lives as long as the process.
                unsafe { AtomicPtr::from_ptr(&raw mut (*core).$table) }.store(now.cast_mut(), Ordering::Release);
            )*
        }
    };
}

core_tables! {
    (RTASBuilder, ZE_RTAS_BUILDER),
    (RTASBuilderExp, ZE_RTAS_BUILDER_EXP),
    (RTASParallelOperation, ZE_RTAS_PARALLEL_OPERATION),
    (RTASParallelOperationExp, ZE_RTAS_PARALLEL_OPERATION_EXP),
    (Global, ZE_GLOBAL),
    (Driver, ZE_DRIVER),
    (DriverExp, ZE_DRIVER_EXP),
    (Device, ZE_DEVICE),
    (DeviceExp, ZE_DEVICE_EXP),
    (Context, ZE_CONTEXT),
    (CommandQueue, ZE_COMMAND_QUEUE),
    (CommandList, ZE_COMMAND_LIST),
    (CommandListExp, ZE_COMMAND_LIST_EXP),
    (Image, ZE_IMAGE),
    (ImageExp, ZE_IMAGE_EXP),
    (Mem, ZE_MEM),
    (MemExp, ZE_MEM_EXP),
    (Fence, ZE_FENCE),
    (EventPool, ZE_EVENT_POOL),
    (Event, ZE_EVENT),
    (EventExp, ZE_EVENT_EXP),
    (Module, ZE_MODULE),
    (ModuleBuildLog, ZE_MODULE_BUILD_LOG),
    (Kernel, ZE_KERNEL),
    (KernelExp, ZE_KERNEL_EXP),
    (Sampler, ZE_SAMPLER),
    (PhysicalMem, ZE_PHYSICAL_MEM),
    (VirtualMem, ZE_VIRTUAL_MEM),
    (FabricVertexExp, ZE_FABRIC_VERTEX_EXP),
    (FabricEdgeExp, ZE_FABRIC_EDGE_EXP),
    (Graph, ZE_GRAPH),
    (ExecutableGraph, ZE_EXECUTABLE_GRAPH),
}
