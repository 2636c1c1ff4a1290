//! Command lists: recorded ones, and immediate ones, which are lanes of their own.

use crate::check::{error, flags, lock, not_ready};
use crate::core::capture::{CAPTURES, Seat, unsupported};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::event::Event;
use crate::core::graph::Graph;
use crate::core::mutable::Mutable;
use crate::core::object;
use crate::core::queue::{QueueDesc, check_ordinal};
use crate::core::reservations::VIRTUAL_MEMORY;
use crate::device::MemoryKind;
use crate::dispatch;
use crate::schedule::{Command, Executable, Lane, Op, Signal};
use level_zero_sys::*;
use std::fmt::Display;
use std::sync::{Arc, Mutex, Weak};
use ze_abi::{Chain, Handle, Handles, Head, In, Object, OptHandle, Out, OutHandle, ZeResult};
use ze_entry::ze_entry;

/// Bits of `ze_command_list_flags_t`.
const LIST_FLAGS: u32 = 0x3f;

/// A list.
#[repr(C)]
pub(crate) struct CommandList {
    head: Head,
    context: Arc<Context>,
    device: Arc<Device>,
    in_order: bool,
    kind: Kind,
}
object!(
    CommandList,
    _ze_command_list_handle_t,
    b"ZeCl",
    "command list"
);

enum Kind {
    Recorded {
        ordinal: u32,
        flags: u32,
        state: Mutex<Recording>,
    },
    Immediate {
        desc: QueueDesc,
        lane: Arc<Lane>,
        capture: Mutex<Capture>,
    },
}

/// What an immediate list has to do with graphs.
#[derive(Default)]
struct Capture {
    seat: Option<Seat>,
    /// Graphs that it captured.
    graphs: Vec<Weak<Graph>>,
}

/// What a list holds.
#[derive(Clone, Default)]
pub(crate) struct Recording {
    /// In order.
    pub(crate) commands: Vec<Arc<Command>>,
    /// For lists whose commands may change.
    pub(crate) mutable: Option<Mutable>,
    closed: bool,
    /// `commands`, for executions; made by the first since the list was closed.
    executed: Option<Arc<Executable>>,
}

impl Recording {
    /// True between close and reset.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Commands were changed: the list must be closed again.
    pub(crate) fn reopen(&mut self) {
        self.closed = false;
        self.executed = None;
    }
}

/// What an append adds beside its work.
#[derive(Default)]
pub(crate) struct Sync<'a> {
    /// Signalled at the end.
    pub(crate) signal: Option<&'a Event>,
    /// Waited for at the start.
    pub(crate) waits: &'a [&'a Event],
    /// Everything before must be finished.
    pub(crate) drain: bool,
    /// Waited for too; not of lists that are captured.
    pub(crate) condition: Option<Arc<Signal>>,
}

impl<'a> Sync<'a> {
    /// From the last parameters of most appends.
    pub(crate) fn new(signal: &OptHandle<'a, Event>, waits: &'a Handles<'a, Event>) -> Self {
        Self {
            signal: signal.0.map(Handle::get),
            waits: waits.get(),
            ..Self::default()
        }
    }

    /// As a barrier over what came before.
    pub(crate) fn draining(self) -> Self {
        Self {
            drain: true,
            ..self
        }
    }
}

/// What the first of some commands waits for, and what the last signals, with whether that counts.
type Links = (Vec<Arc<Signal>>, Option<(Arc<Signal>, bool)>);

fn links(sync: &Sync<'_>) -> Links {
    // Waits first: a counter-based event may be both waited for and signalled anew.
    let mut waits: Vec<_> = sync.waits.iter().map(|event| event.waited()).collect();
    waits.extend(sync.condition.iter().map(Arc::clone));
    (waits, sync.signal.map(Event::signalled))
}

impl CommandList {
    /// The context.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The device.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// INVALID_ARGUMENT for an address in device memory that the list's device cannot reach: only between devices
    /// with memories of their own.
    pub(crate) fn check_reach<T>(&self, name: impl Display, address: *const T) -> ZeResult {
        if self.device.facts().integrated {
            return Ok(());
        }
        let driver = self.context.driver();
        let known = match self.context.platform().find(address.cast()) {
            Some(info) => Some((info.kind, info.device)),
            None => VIRTUAL_MEMORY.mapped(address.addr()).map(|found| {
                let (kind, device, _) = found.properties();
                (kind, device)
            }),
        };
        let Some((MemoryKind::Device, Some(index))) = known else {
            return Ok(());
        };
        let mine = self.device.root_index();
        let other = driver
            .devices()
            .get(index)
            .map(|device| device.root_index());
        if other.is_none_or(|other| other == mine) {
            return Ok(());
        }
        error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "{name} is {address:p}, in memory of device {}, which device {mine} of the list has no peer access to",
                other.unwrap_or_default()
            ),
        )
    }

    /// Appends one command; immediate lists submit it, synchronous ones wait for it.
    pub(crate) fn append(&self, op: Op, sync: &Sync<'_>) -> ZeResult {
        self.context.check()?;
        if let Some(seat) = self.captured(sync)? {
            let command = Command {
                op,
                ..Command::gate(Vec::new(), self.in_order || sync.drain)
            };
            return seat.record(std::iter::once(command), sync);
        }
        if self.leaves_out() {
            return Ok(());
        }
        let (waits, signal) = links(sync);
        let (signal, counts) =
            signal.map_or((None, false), |(signal, counts)| (Some(signal), counts));
        // Made here: the lane has its lock while it takes them.
        let command = Arc::new(Command {
            op,
            waits,
            signal,
            drain: self.in_order || sync.drain,
            counts,
        });
        self.take(std::iter::once(command))
    }

    /// Appends commands: the first waits, the last signals.
    pub(crate) fn append_all(
        &self,
        ops: impl IntoIterator<Item = Op, IntoIter: ExactSizeIterator>,
        sync: &Sync<'_>,
    ) -> ZeResult {
        self.context.check()?;
        let ops = ops.into_iter();
        let last = ops.len().saturating_sub(1);
        if let Some(seat) = self.captured(sync)? {
            let commands = ops.enumerate().map(|(i, op)| Command {
                op,
                ..Command::gate(
                    Vec::new(),
                    self.in_order || (sync.drain && i == 0) || (i == last && i > 0),
                )
            });
            return seat.record(commands, sync);
        }
        if self.leaves_out() {
            return Ok(());
        }
        let (mut waits, signal) = links(sync);
        let commands = ops.enumerate().map(|(i, op)| {
            let (signal, counts) = match &signal {
                Some((signal, counts)) if i == last => (Some(Arc::clone(signal)), *counts),
                _ => (None, false),
            };
            // The signal of several must come after them all.
            let gather = i == last && i > 0 && signal.is_some();
            Arc::new(Command {
                op,
                waits: std::mem::take(&mut waits),
                signal,
                drain: self.in_order || (sync.drain && i == 0) || gather,
                counts,
            })
        });
        self.take(commands)
    }

    /// Whether the list is closed: the conformance suite wants appends to such to succeed, and to be left out.
    fn leaves_out(&self) -> bool {
        let is_closed = self.is_closed();
        if is_closed {
            ze_abi::record_error(
                "zeCommandListAppend*",
                "hCommandList is closed: the command is left out; reset the list before more is appended",
            );
        }
        is_closed
    }

    /// Records or submits commands.
    fn take(&self, commands: impl IntoIterator<Item = Arc<Command>>) -> ZeResult {
        match &self.kind {
            Kind::Recorded { state, .. } => {
                let state = &mut *lock(state);
                let before = state.commands.len();
                state.commands.extend(commands);
                if let Some(mutable) = &mut state.mutable {
                    mutable.appended(&state.commands, before);
                }
                Ok(())
            }
            Kind::Immediate { desc, lane, .. } => {
                let number = lane.push(commands, false);
                if desc.is_synchronous() {
                    lane.wait(number, u64::MAX);
                    self.context.check()?;
                }
                Ok(())
            }
        }
    }

    /// INVALID_ARGUMENT unless the device is the list's, or another part of it.
    pub(crate) fn check_device(&self, name: &str, root_device: usize) -> ZeResult {
        let mine = self.device.root_index();
        if root_device != mine {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "{name} is for device {root_device}, the command list for device {mine}: both must be for the same"
                ),
            );
        }
        Ok(())
    }

    /// The commands of a closed list, for execution in a lane of group `on`.
    pub(crate) fn recorded(&self, on: u32, lane: &Lane) -> ZeResult<Arc<Executable>> {
        match &self.kind {
            Kind::Recorded { ordinal, .. } if *ordinal != on => error(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                format!(
                    "phCommandLists holds a list for queue group {ordinal}, which group {on} does not execute"
                ),
            ),
            Kind::Recorded { state, .. } => {
                let devices = self.context.driver().devices();
                let root = devices[lane.device()].root_index();
                // Of another context it may be: the conformance suite executes such lists.
                self.check_device("what executes phCommandLists", root)?;
                let state = &mut *lock(state);
                if !state.closed {
                    return error(
                        ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "phCommandLists holds a list that is not closed",
                    );
                }
                let commands = &state.commands;
                let executed = state
                    .executed
                    .get_or_insert_with(|| Executable::new(commands));
                Ok(Arc::clone(executed))
            }
            Kind::Immediate { .. } => error(
                ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
                "phCommandLists contains an immediate list, which cannot be executed on a queue",
            ),
        }
    }

    /// Runs `change` on what a recorded list holds.
    pub(crate) fn record<T>(
        &self,
        change: impl FnOnce(&mut Recording) -> ZeResult<T>,
    ) -> ZeResult<T> {
        match &self.kind {
            Kind::Recorded { state, .. } => change(&mut lock(state)),
            Kind::Immediate { .. } => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is an immediate list, whose commands are gone",
            ),
        }
    }

    /// Whether commands may change after they were recorded.
    pub(crate) fn is_mutable(&self) -> bool {
        match &self.kind {
            Kind::Recorded { state, .. } => lock(state).mutable.is_some(),
            Kind::Immediate { .. } => false,
        }
    }

    /// A closed list with the same commands.
    pub(crate) fn duplicate(&self) -> ZeResult<Self> {
        let Kind::Recorded {
            ordinal,
            flags,
            state,
        } = &self.kind
        else {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is an immediate list, which cannot be cloned",
            );
        };
        let state = lock(state).clone();
        if !state.closed {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "hCommandList is not closed; only closed lists are cloned",
            );
        }
        Ok(Self {
            head: Head::new::<Self>(dispatch::tables()),
            context: Arc::clone(&self.context),
            device: Arc::clone(&self.device),
            in_order: self.in_order,
            kind: Kind::Recorded {
                ordinal: *ordinal,
                flags: *flags,
                state: Mutex::new(state),
            },
        })
    }

    /// The queue group.
    pub(crate) fn ordinal(&self) -> u32 {
        match &self.kind {
            Kind::Recorded { ordinal, .. } => *ordinal,
            Kind::Immediate { desc, .. } => desc.ordinal,
        }
    }

    fn is_closed(&self) -> bool {
        match &self.kind {
            Kind::Recorded { state, .. } => lock(state).closed,
            Kind::Immediate { .. } => false,
        }
    }

    /// Every command waits for the one before.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// The list's place in a graph capture, if it is in one.
    pub(crate) fn seat(&self) -> Option<Seat> {
        let Kind::Immediate { capture, .. } = &self.kind else {
            return None;
        };
        if CAPTURES.is_idle() {
            return None;
        }
        let seat = lock(capture).seat.clone()?;
        seat.graph.has(&seat).then_some(seat)
    }

    /// Where an append with those events is recorded; none when it is executed. A list that waits for an event of a
    /// capture joins it here.
    pub(crate) fn captured(&self, sync: &Sync<'_>) -> ZeResult<Option<Seat>> {
        let captures = &CAPTURES;
        if captures.is_idle() {
            return Ok(None);
        }
        let seat = self.seat();
        let immediate = matches!(&self.kind, Kind::Immediate { .. });
        let graph = captures.joined(seat.as_ref(), sync, immediate)?;
        let (None, Some(graph), Kind::Immediate { desc, capture, .. }) = (&seat, graph, &self.kind)
        else {
            return Ok(seat);
        };
        if desc.is_synchronous() {
            return Err(unsupported(
                "hCommandList is synchronous and waits for an event of a graph capture: asynchronous lists join captures",
            ));
        }
        let seat = graph.sit(self);
        lock(capture).seat.clone_from(&seat);
        Ok(seat)
    }

    /// Queue group and mode of a list that can be captured.
    pub(crate) fn capturable(&self) -> ZeResult<(u32, ze_command_queue_mode_t)> {
        let (desc, _) = self.immediate()?;
        if desc.is_synchronous() {
            return Err(unsupported(
                "hCommandList is synchronous, an asynchronous immediate list is required",
            ));
        }
        Ok((desc.ordinal, desc.mode))
    }

    /// The list is the primary one of `graph`'s capture.
    pub(crate) fn begin_capture(&self, graph: &Arc<Graph>) {
        if let Kind::Immediate { capture, .. } = &self.kind {
            let mut capture = lock(capture);
            capture.seat = graph.sit(self);
            capture.graphs.retain(|graph| graph.strong_count() > 0);
            capture.graphs.push(Arc::downgrade(graph));
        }
    }

    /// Out of capture mode.
    pub(crate) fn leave_capture(&self) {
        if let Kind::Immediate { capture, .. } = &self.kind {
            lock(capture).seat = None;
        }
    }

    /// The list is about to be destroyed: a capture that it began breaks off.
    fn forget(&self) {
        let Kind::Immediate { capture, .. } = &self.kind else {
            return;
        };
        let capture = std::mem::take(&mut *lock(capture));
        let captures = &CAPTURES;
        if let Some(seat) = capture
            .seat
            .filter(|seat| seat.branch == 0 && seat.graph.has(seat))
        {
            captures.remove(&seat.graph);
        }
        for graph in capture.graphs.iter().filter_map(Weak::upgrade) {
            graph.forget_primary(self.handle().addr());
        }
    }

    /// Queue and lane of an immediate list.
    pub(crate) fn immediate(&self) -> ZeResult<(&QueueDesc, &Arc<Lane>)> {
        match &self.kind {
            Kind::Immediate { desc, lane, .. } => Ok((desc, lane)),
            Kind::Recorded { .. } => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "the list is not an immediate command list",
            ),
        }
    }
}

fn is_mutable(next: *const std::ffi::c_void) -> bool {
    // SAFETY: the caller's chain of descriptors, valid for the call.
    unsafe { Chain::new(next) }
        .any(|link| link.stype == ZE_STRUCTURE_TYPE_MUTABLE_COMMAND_LIST_EXP_DESC)
}

/// A list to be recorded; chain: a mutable list; core/cmdlist.yml. In a lost context, too: DPC++'s adapter with command
/// queues crashes where it gets none, and reports what an append answers.
#[ze_entry(ze_pfnCommandListCreate_t)]
pub(crate) fn zeCommandListCreate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    desc: In<'_, ze_command_list_desc_t>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    flags("desc->flags", desc.flags, LIST_FLAGS)?;
    check_ordinal(
        "desc->commandQueueGroupOrdinal",
        desc.commandQueueGroupOrdinal,
    )?;
    let list = CommandList {
        head: Head::new::<CommandList>(dispatch::tables()),
        context: hContext.arc(),
        device: hDevice.arc(),
        in_order: desc.flags & ZE_COMMAND_LIST_FLAG_IN_ORDER != 0,
        kind: Kind::Recorded {
            ordinal: desc.commandQueueGroupOrdinal,
            flags: desc.flags,
            state: Mutex::new(Recording {
                mutable: is_mutable(desc.pNext).then(Mutable::default),
                ..Recording::default()
            }),
        },
    };
    phCommandList.write(Object::give(Arc::new(list)));
    Ok(())
}

/// A list that executes what is appended; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListCreateImmediate_t)]
pub(crate) fn zeCommandListCreateImmediate(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    altdesc: In<'_, ze_command_queue_desc_t>,
    phCommandList: OutHandle<'_, _ze_command_list_handle_t>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    let desc = QueueDesc::check(&altdesc, "altdesc", &hDevice)?;
    let context = hContext.arc();
    let list = CommandList {
        head: Head::new::<CommandList>(dispatch::tables()),
        device: hDevice.arc(),
        in_order: desc.flags & ZE_COMMAND_QUEUE_FLAG_IN_ORDER != 0,
        kind: Kind::Immediate {
            lane: Lane::new(&context, hDevice.index(), desc.lane_priority()),
            desc,
            capture: Mutex::default(),
        },
        context,
    };
    phCommandList.write(Object::give(Arc::new(list)));
    Ok(())
}

/// Ends the handle; what was submitted runs on; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListDestroy_t)]
pub(crate) fn zeCommandListDestroy(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    hCommandList.forget();
    drop(hCommandList.take());
    Ok(())
}

/// Ends recording; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListClose_t)]
pub(crate) fn zeCommandListClose(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    hCommandList.context.check()?;
    if let Kind::Recorded { state, .. } = &hCommandList.kind {
        lock(state).closed = true;
    }
    Ok(())
}

/// Empties a list for new recording; executions under way keep their commands; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListReset_t)]
pub(crate) fn zeCommandListReset(hCommandList: Handle<'_, CommandList>) -> ZeResult {
    hCommandList.context.check()?;
    if let Kind::Recorded { state, .. } = &hCommandList.kind {
        let mut state = lock(state);
        state.reopen();
        state.commands = Vec::new();
        if let Some(mutable) = &mut state.mutable {
            mutable.clear();
        }
    }
    Ok(())
}

/// Blocks until an immediate list's commands are done or the timeout in ns; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListHostSynchronize_t)]
pub(crate) fn zeCommandListHostSynchronize(
    hCommandList: Handle<'_, CommandList>,
    timeout: u64,
) -> ZeResult {
    let (_, lane) = hCommandList.immediate()?;
    if hCommandList.seat().is_some() {
        return Err(unsupported(
            "hCommandList is in graph capture mode: its commands are recorded, there is nothing to wait for",
        ));
    }
    let met = lane.wait(lane.pushed(), timeout);
    hCommandList.context.check()?;
    if met { Ok(()) } else { not_ready() }
}

/// Executes closed lists on an immediate one; core/immediateCommandListAppend.yml.
#[ze_entry(ze_pfnCommandListImmediateAppendCommandListsExp_t)]
pub(crate) fn zeCommandListImmediateAppendCommandListsExp(
    hCommandListImmediate: Handle<'_, CommandList>,
    phCommandLists: Handles<'_, CommandList>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    append_lists(
        &hCommandListImmediate,
        phCommandLists.get(),
        &Sync::new(&hSignalEvent, &phWaitEvents),
    )
}

/// As the experimental one; no parameter is known; core/immediateCommandListAppend.yml (1.16).
#[ze_entry(ze_pfnCommandListImmediateAppendCommandListsWithParameters_t)]
pub(crate) fn zeCommandListImmediateAppendCommandListsWithParameters(
    hCommandListImmediate: Handle<'_, CommandList>,
    phCommandLists: Handles<'_, CommandList>,
    pNext: *const std::ffi::c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    crate::core::append::refuse_parameters(pNext)?;
    append_lists(
        &hCommandListImmediate,
        phCommandLists.get(),
        &Sync::new(&hSignalEvent, &phWaitEvents),
    )
}

fn append_lists(list: &CommandList, lists: &[&CommandList], sync: &Sync<'_>) -> ZeResult {
    let (desc, lane) = list.immediate()?;
    if lists.is_empty() {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            "numCommandLists is 0, at least 1 is required",
        );
    }
    list.context.check()?;
    let recorded = lists
        .iter()
        .map(|list| list.recorded(desc.ordinal, lane))
        .collect::<ZeResult<Vec<_>>>()?;
    if let Some(seat) = list.captured(sync)? {
        let mut all = vec![Command::gate(Vec::new(), true)];
        for list in recorded {
            all.extend(list.commands.iter().map(|command| command.copy()));
            all.push(Command::gate(Vec::new(), true));
        }
        return seat.record(all.into_iter(), sync);
    }
    let waits = sync.waits.iter().map(|event| event.waited()).collect();
    let mut all = vec![Arc::new(Command::gate(waits, true))];
    for list in recorded {
        all.extend(list.commands.iter().cloned());
        all.push(Arc::new(Command::gate(Vec::new(), true)));
    }
    let end = Command::gate(Vec::new(), true).signalling(sync.signal.map(Event::signalled));
    all.push(Arc::new(end));
    let number = lane.push(all, false);
    if desc.is_synchronous() {
        lane.wait(number, u64::MAX);
    }
    list.context.check()
}

/// The device; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetDeviceHandle_t)]
pub(crate) fn zeCommandListGetDeviceHandle(
    hCommandList: Handle<'_, CommandList>,
    phDevice: OutHandle<'_, _ze_device_handle_t>,
) -> ZeResult {
    phDevice.write(hCommandList.device.handle());
    Ok(())
}

/// The context; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetContextHandle_t)]
pub(crate) fn zeCommandListGetContextHandle(
    hCommandList: Handle<'_, CommandList>,
    phContext: OutHandle<'_, _ze_context_handle_t>,
) -> ZeResult {
    phContext.write(hCommandList.context.handle());
    Ok(())
}

/// The queue group; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListGetOrdinal_t)]
pub(crate) fn zeCommandListGetOrdinal(
    hCommandList: Handle<'_, CommandList>,
    pOrdinal: Out<'_, u32>,
) -> ZeResult {
    pOrdinal.write(hCommandList.ordinal());
    Ok(())
}

/// As created; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListImmediateGetIndex_t)]
pub(crate) fn zeCommandListImmediateGetIndex(
    hCommandListImmediate: Handle<'_, CommandList>,
    pIndex: Out<'_, u32>,
) -> ZeResult {
    pIndex.write(hCommandListImmediate.immediate()?.0.index);
    Ok(())
}

/// Recorded or immediate; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListIsImmediate_t)]
pub(crate) fn zeCommandListIsImmediate(
    hCommandList: Handle<'_, CommandList>,
    pIsImmediate: Out<'_, ze_bool_t>,
) -> ZeResult {
    pIsImmediate.write(u8::from(hCommandList.immediate().is_ok()));
    Ok(())
}

/// As created; of an immediate list the in-order and copy-offload bits; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListGetFlags_t)]
pub(crate) fn zeCommandListGetFlags(
    hCommandList: Handle<'_, CommandList>,
    pFlags: Out<'_, ze_command_list_flags_t>,
) -> ZeResult {
    pFlags.write(match &hCommandList.kind {
        Kind::Recorded { flags, .. } => *flags,
        Kind::Immediate { desc, .. } => [
            (
                ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY,
                ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY,
            ),
            (
                ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
                ZE_COMMAND_LIST_FLAG_IN_ORDER,
            ),
            (
                ZE_COMMAND_QUEUE_FLAG_COPY_OFFLOAD_HINT,
                ZE_COMMAND_LIST_FLAG_COPY_OFFLOAD_HINT,
            ),
        ]
        .iter()
        .filter(|(queue, _)| desc.flags & queue != 0)
        .fold(0, |all, (_, list)| all | list),
    });
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetFlags_t)]
pub(crate) fn zeCommandListImmediateGetFlags(
    hCommandList: Handle<'_, CommandList>,
    pFlags: Out<'_, ze_command_queue_flags_t>,
) -> ZeResult {
    pFlags.write(hCommandList.immediate()?.0.flags);
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetMode_t)]
pub(crate) fn zeCommandListImmediateGetMode(
    hCommandList: Handle<'_, CommandList>,
    pMode: Out<'_, ze_command_queue_mode_t>,
) -> ZeResult {
    pMode.write(hCommandList.immediate()?.0.mode);
    Ok(())
}

/// As created; core/cmdlist.yml (1.17).
#[ze_entry(ze_pfnCommandListImmediateGetPriority_t)]
pub(crate) fn zeCommandListImmediateGetPriority(
    hCommandList: Handle<'_, CommandList>,
    pPriority: Out<'_, ze_command_queue_priority_t>,
) -> ZeResult {
    pPriority.write(hCommandList.immediate()?.0.priority);
    Ok(())
}
