//! The hook of a function: its effect on the state that is kept.

use timeline::record::Work as Kind;
use ze_spec::Function;

/// Indices of the parameters of a function that appends a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Append {
    pub(super) work: Kind,
    pub(super) list: usize,
    pub(super) signal: usize,
    pub(super) kernel: Option<usize>,
    pub(super) groups: Option<usize>,
    pub(super) source: Option<usize>,
    pub(super) destination: Option<usize>,
    pub(super) size: Option<usize>,
    pub(super) wait_count: Option<usize>,
    pub(super) waits: Option<usize>,
}

/// The effect of a function on the state that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hook {
    None,
    Append(Append),
    EventReset,
    PoolCreate,
    PoolFlags,
    PoolDestroy,
    EventCreate,
    CounterEventCreate,
    EventEnd,
    EventDone,
    ListCreate,
    ImmediateCreate,
    ListReset,
    ListDestroy,
    ListDone,
    QueueCreate,
    QueueDone,
    Execute,
    FenceDone,
    KernelCreate,
    KernelDestroy,
    GroupSize,
    Allocate(&'static str),
    Free,
}

impl Hook {
    /// The hook of a function, by its name and parameters.
    pub(crate) fn of(function: &Function) -> Self {
        match function.name {
            "zeCommandListAppendEventReset" => Self::EventReset,
            "zeEventPoolCreate" => Self::PoolCreate,
            "zeEventPoolGetFlags" => Self::PoolFlags,
            "zeEventPoolDestroy" => Self::PoolDestroy,
            "zeEventCreate" => Self::EventCreate,
            "zeEventCounterBasedCreate" => Self::CounterEventCreate,
            "zeEventDestroy" | "zeEventHostReset" => Self::EventEnd,
            "zeEventHostSynchronize" | "zeEventQueryStatus" => Self::EventDone,
            "zeCommandListCreate" => Self::ListCreate,
            "zeCommandListCreateImmediate" => Self::ImmediateCreate,
            "zeCommandListReset" => Self::ListReset,
            "zeCommandListDestroy" => Self::ListDestroy,
            "zeCommandListHostSynchronize" => Self::ListDone,
            "zeCommandQueueCreate" => Self::QueueCreate,
            "zeCommandQueueSynchronize" => Self::QueueDone,
            "zeCommandQueueExecuteCommandLists" => Self::Execute,
            "zeFenceHostSynchronize" | "zeFenceQueryStatus" => Self::FenceDone,
            "zeKernelCreate" => Self::KernelCreate,
            "zeKernelDestroy" => Self::KernelDestroy,
            "zeKernelSetGroupSize" => Self::GroupSize,
            "zeMemAllocDevice" => Self::Allocate("device"),
            "zeMemAllocShared" => Self::Allocate("shared"),
            "zeMemAllocHost" => Self::Allocate("host"),
            "zeMemFree" | "zeMemFreeExt" => Self::Free,
            name if name.starts_with("zeCommandListAppend") => Self::append(function),
            _ => Self::None,
        }
    }

    fn append(function: &Function) -> Self {
        let place = |names: &[&str]| {
            let mut params = function.params.iter();
            params.position(|param| names.contains(&param.name))
        };
        let (Some(list), Some(signal)) = (place(&["hCommandList"]), place(&["hSignalEvent"]))
        else {
            return Self::None;
        };
        let name = function.name;
        let work = if name.contains("LaunchKernel") || name.contains("Cooperative") {
            Kind::Kernel
        } else if name.contains("Fill") {
            Kind::Fill
        } else if name.contains("Copy") {
            Kind::Copy
        } else if name.contains("Barrier") {
            Kind::Barrier
        } else {
            Kind::Other
        };
        Self::Append(Append {
            work,
            list,
            signal,
            kernel: place(&["hKernel"]),
            // By address, but for the newer forms, which pass the struct itself.
            groups: place(&["pLaunchFuncArgs", "pGroupCounts"]),
            source: place(&["srcptr"]),
            destination: place(&["dstptr", "ptr"]),
            size: place(&["size"]),
            wait_count: place(&["numWaitEvents"]),
            waits: place(&["phWaitEvents"]),
        })
    }
}
