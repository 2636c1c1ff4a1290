//! List backends: a lane appends to an immediate list, or to regular lists that are executed on a queue. A user event
//! takes no commands.

use std::collections::VecDeque;
use std::sync::Arc;

use level_zero::sys::*;
use sycl_graph::Progress;

use super::native_context::NativeContext;
use super::target::Target;
use crate::device::Device;
use crate::error::{Errc, Error, Result};
use crate::ze::{Api, ze};

/// The most commands of one list whose length adapts to the device's pace.
const LONGEST: u32 = 16;

/// How a lane is created and used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneOptions {
    /// Events carry timestamps.
    pub(crate) timestamps: bool,
    /// Regular lists on a queue instead of an immediate list.
    pub(crate) batched: bool,
    /// Commands of one list; 0 adapts to the device's pace.
    pub(crate) batch: u32,
    pub(crate) priority: ze_command_queue_priority_t,
    pub(crate) ordinal: u32,
    pub(crate) index: u32,
    /// The list is in-order; otherwise each command waits for the one before.
    pub(crate) in_order: bool,
    /// The handle is destroyed with the lane.
    pub(crate) owned: bool,
}

impl Default for LaneOptions {
    fn default() -> Self {
        Self {
            timestamps: false,
            batched: false,
            batch: 0,
            priority: ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
            ordinal: 0,
            index: 0,
            in_order: true,
            owned: true,
        }
    }
}

pub(super) struct ListBackend {
    pub(super) context: Arc<NativeContext>,
    /// `None` for a user event.
    pub(super) device: Option<Device>,
    pub(super) kind: Kind,
    pub(super) options: LaneOptions,
}

pub(super) enum Kind {
    Immediate(ze_command_list_handle_t),
    /// A user event: it takes no commands.
    Event,
    Queue(Batches),
}

/// A queue and the lists executed on it.
pub(super) struct Batches {
    queue: ze_command_queue_handle_t,
    /// Each with the number of its last command.
    lists: VecDeque<(u64, ze_command_list_handle_t)>,
    /// The list being recorded, its number of commands, and the number of the last one.
    open: Option<(ze_command_list_handle_t, u32, u64)>,
    /// Commands of one list; 0 adapts to the device's pace.
    limit: u32,
}

impl Batches {
    pub(super) fn new(queue: ze_command_queue_handle_t, limit: u32) -> Self {
        Self {
            queue,
            lists: VecDeque::new(),
            open: None,
            limit,
        }
    }

    pub(super) fn queue(&self) -> ze_command_queue_handle_t {
        self.queue
    }

    /// Destroys all lists, whose commands have ended.
    pub(super) fn destroy_lists(self, api: Api) {
        let open = self.open.map(|(list, ..)| list);
        let lists = self.lists.into_iter().map(|(_, list)| list);
        lists.chain(open).for_each(|list| destroy_list(api, list));
    }
}

pub(super) fn destroy_list(api: Api, list: ze_command_list_handle_t) {
    // SAFETY: our list, and no work is left on it.
    let _ = unsafe { ze!(api, zeCommandListDestroy = command_list.pfnDestroy(list)) };
}

impl ListBackend {
    pub(super) fn device_handle(&self) -> ze_device_handle_t {
        let device = self.device.as_ref();
        device.map_or(std::ptr::null_mut(), Device::handle)
    }

    pub(super) fn append(
        &mut self,
        progress: &Progress,
        sequence: u64,
        signal: ze_event_handle_t,
        waits: &mut [ze_event_handle_t],
        append: &mut dyn FnMut(&mut Target<'_>) -> Result<()>,
    ) -> Result<()> {
        let api = self.context.api;
        let list = match &mut self.kind {
            Kind::Event => return Err(Error::new(Errc::Runtime, "an event takes no commands")),
            Kind::Immediate(list) => *list,
            Kind::Queue(_) => self.open(progress)?,
        };
        append(&mut Target {
            api,
            device: self.device.as_ref(),
            list,
            signal,
            waits,
        })?;
        if let Kind::Queue(Batches {
            open: Some((_, commands, last)),
            ..
        }) = &mut self.kind
        {
            *commands += 1;
            *last = sequence;
        }
        Ok(())
    }

    /// Returns the list being recorded, or begins one.
    fn open(&mut self, progress: &Progress) -> Result<ze_command_list_handle_t> {
        let (api, device) = (self.context.api, self.device_handle());
        let Kind::Queue(batches) = &mut self.kind else {
            return Err(Error::new(
                Errc::Runtime,
                "an immediate list cannot be recorded",
            ));
        };
        if let Some((list, ..)) = batches.open {
            return Ok(list);
        }
        let oldest = batches.lists.front();
        let list = match oldest.filter(|(last, _)| progress.is_done(*last)) {
            Some(&(_, list)) => {
                // SAFETY: a live list whose commands have ended.
                unsafe { ze!(api, zeCommandListReset = command_list.pfnReset(list))? };
                batches.lists.pop_front();
                list
            }
            None => {
                let desc = ze_command_list_desc_t {
                    commandQueueGroupOrdinal: self.options.ordinal,
                    ..Default::default()
                };
                let mut list = std::ptr::null_mut();
                // SAFETY: live handles, valid input and output.
                unsafe {
                    ze!(
                        api,
                        zeCommandListCreate = command_list.pfnCreate(
                            self.context.handle,
                            device,
                            &raw const desc,
                            &raw mut list
                        )
                    )?;
                }
                list
            }
        };
        batches.open = Some((list, 0, 0));
        Ok(list)
    }

    /// Whether the list being recorded should be executed; `executed` is the last executed number.
    pub(super) fn is_full(&self, progress: &Progress, executed: u64) -> bool {
        let Kind::Queue(batches) = &self.kind else {
            return false;
        };
        let Some((_, commands, _)) = batches.open else {
            return false;
        };
        match batches.limit {
            0 => commands >= LONGEST || progress.is_done(executed),
            limit => commands >= limit,
        }
    }

    /// Executes the list being recorded.
    pub(super) fn execute(&mut self) -> Result<()> {
        let api = self.context.api;
        let Kind::Queue(batches) = &mut self.kind else {
            return Ok(());
        };
        let Some((mut list, _, last)) = batches.open.take() else {
            return Ok(());
        };
        let queue = batches.queue;
        // SAFETY: a live list and queue; the commands' memory is kept by the code that appended them.
        let executed = unsafe {
            ze!(api, zeCommandListClose = command_list.pfnClose(list)).and_then(|()| {
                ze!(
                    api,
                    zeCommandQueueExecuteCommandLists = command_queue.pfnExecuteCommandLists(
                        queue,
                        1,
                        &raw mut list,
                        std::ptr::null_mut()
                    )
                )
            })
        };
        match executed {
            Ok(()) => batches.lists.push_back((last, list)),
            // Its commands never began, so the list can be reused at once.
            Err(_) => batches.lists.push_front((0, list)),
        }
        executed
    }
}
