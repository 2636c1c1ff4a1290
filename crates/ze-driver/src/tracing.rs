//! Callbacks around core functions: where the tables of handles point, and what the getters give away.
//!
//! Who runs callbacks is a part of its own (`ze-layers`), which a product brings along through [`install_tracing`]: a
//! second set of core tables, whose functions run the callbacks of enabled tracers around this driver's.
//!
//! - Handles lead to the driver's own tables while no tracer is enabled, and to the second set otherwise: calls through
//!   a handle cost nothing more while nobody listens.
//! - Getters give the second set away always, since what they gave cannot be taken back; a loader without DDI handles
//!   pays one look at a flag for each call.
//!
//! Not here: tools' and system management's functions, which tracers do not see; tools/tracing.yml.

use crate::check::lock;
use crate::tables;
use level_zero_sys::*;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, OnceLock};

/// What runs callbacks. Functions take and answer what those of the same name in `zel_tracing_api.h` do; all are
/// callable from any thread.
#[derive(Clone, Copy, Debug)]
pub struct Tracing {
    /// Given the driver's own functions, those that run callbacks around them. Called once.
    pub over: fn(ze_dditable_t) -> &'static ze_dditable_t,
    /// A tracer, disabled and without callbacks.
    pub create: unsafe fn(*const zel_tracer_desc_t, *mut zel_tracer_handle_t) -> ze_result_t,
    /// Waits for callbacks under way.
    pub destroy: fn(zel_tracer_handle_t) -> ze_result_t,
    /// Callbacks before the call.
    pub set_prologues: unsafe fn(zel_tracer_handle_t, *const zel_core_callbacks_t) -> ze_result_t,
    /// Callbacks after the call.
    pub set_epilogues: unsafe fn(zel_tracer_handle_t, *const zel_core_callbacks_t) -> ze_result_t,
    /// Enables or disables.
    pub set_enabled: fn(zel_tracer_handle_t, ze_bool_t) -> ze_result_t,
    /// True while no tracer is enabled.
    pub is_idle: fn() -> bool,
}

struct Installed {
    tracing: Tracing,
    traced: &'static ze_dditable_t,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// Brings tracing into this process's driver; without it `zetTracerExp*` answer UNSUPPORTED_FEATURE. The first call
/// counts, and comes before the first getter is asked.
pub fn install_tracing(tracing: Tracing) {
    INSTALLED.get_or_init(|| Installed {
        tracing,
        traced: (tracing.over)(direct()),
    });
}

/// What runs callbacks, where a product has brought it.
pub(crate) fn tracing() -> Option<&'static Tracing> {
    INSTALLED.get().map(|installed| &installed.tracing)
}

/// Points the tables of handles where calls must go now: to be called after any tracer was enabled or disabled.
pub(crate) fn follow() {
    // Whoever comes last sees all changes, so what it writes stays.
    static TURN: Mutex<()> = Mutex::new(());
    let Some(Installed { tracing, traced }) = INSTALLED.get() else {
        return;
    };
    let _turn = lock(&TURN);
    point((!(tracing.is_idle)()).then_some(*traced));
}

macro_rules! core_tables {
    ($(($table:ident, $ours:ident),)*) => {
        fn direct() -> ze_dditable_t {
            ze_dditable_t { $($table: tables::$ours,)* }
        }

        /// The table that a getter gives for one of ours.
        pub(crate) fn served<T>(ours: &'static T) -> &'static T {
            let Some(Installed { traced, .. }) = INSTALLED.get() else {
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
                // SAFETY: the static's own word, written by atomics only; a loader reads it whole, and whichever table
                // it finds is complete and there for the process's life.
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
