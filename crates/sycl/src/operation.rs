//! Device operations: each is one append to a list.

use std::ffi::c_void;
use std::sync::Arc;

use level_zero::sys::*;
use smallvec::SmallVec;
use sycl_graph::{Dep, Deps, Extent};

use crate::arguments::Arguments;
use crate::bundle::KernelInner;
use crate::engine::command_lane::CommandLane;
use crate::engine::losses::outlived;
use crate::engine::target::Target;
use crate::error::{Error, Result};
use crate::recorded_list::RecordedList;
use crate::ze::{Api, ze};

/// One append.
#[expect(
    clippy::large_enum_variant,
    reason = "most operations are launches, and a box would cost each an allocation"
)]
pub(crate) enum Operation {
    Copy {
        target: *mut u8,
        source: *const u8,
        bytes: usize,
    },
    Region(Box<Region>),
    /// A whole image and its rows in memory, or two images; images are given by handle.
    Image {
        target: *mut u8,
        source: *mut u8,
        direction: ImageCopy,
    },
    Fill {
        target: *mut u8,
        pattern: SmallVec<[u8; 16]>,
        bytes: usize,
    },
    Launch(Launch),
    Prefetch {
        pointer: *const c_void,
        bytes: usize,
    },
    Advise {
        device: ze_device_handle_t,
        pointer: *const c_void,
        bytes: usize,
        advice: ze_memory_advice_t,
    },
    /// A closed list, run by an immediate list.
    Replay(Arc<RecordedList>),
    Barrier,
}

// SAFETY: the creator of an operation guarantees that the memory outlives the command.
unsafe impl Send for Operation {}

/// The sides of a copy that are images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImageCopy {
    FromMemory,
    ToMemory,
    Between,
}

/// Rows in planes, with pitches in bytes.
pub(crate) struct Region {
    pub(crate) target: *mut u8,
    pub(crate) source: *const u8,
    pub(crate) target_origin: [usize; 3],
    pub(crate) source_origin: [usize; 3],
    pub(crate) size: [usize; 3],
    pub(crate) target_pitches: [usize; 2],
    pub(crate) source_pitches: [usize; 2],
}

/// A kernel with all its arguments.
pub(crate) struct Launch {
    pub(crate) shape: Shape,
    pub(crate) arguments: Arguments,
}

/// A kernel and its numbers of work-items.
pub(crate) struct Shape {
    pub(crate) kernel: Arc<KernelInner>,
    pub(crate) handle: ze_kernel_handle_t,
    /// The dimensions of the program's range; the others are 1.
    #[cfg_attr(
        not(feature = "xpti"),
        expect(dead_code, reason = "only tools read it")
    )]
    pub(crate) dimensions: usize,
    pub(crate) groups: [u32; 3],
    pub(crate) size: [u32; 3],
    pub(crate) offset: [u32; 3],
}

/// USM that a command gets by pointer, except buffers.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "xpti"),
    expect(dead_code, reason = "only tools read it")
)]
pub(crate) enum UsedMemory {
    /// The memory is copied.
    Copied {
        target: usize,
        source: usize,
        bytes: usize,
    },
    /// The memory is used in place; `value` is the value of each byte after a fill with equal bytes.
    InPlace {
        pointer: usize,
        bytes: usize,
        value: Option<u8>,
    },
}

impl Operation {
    /// The memory that the command gets by pointer.
    pub(crate) fn memory(&self) -> Option<UsedMemory> {
        let in_place = |pointer: usize, bytes, value| UsedMemory::InPlace {
            pointer,
            bytes,
            value,
        };
        let copied = |target: *mut u8, source: *const u8, bytes| UsedMemory::Copied {
            target: target.addr(),
            source: source.addr(),
            bytes,
        };
        match self {
            Self::Copy {
                target,
                source,
                bytes,
            } => Some(copied(*target, *source, *bytes)),
            Self::Region(region) => {
                let bytes = region.size.iter().product();
                Some(copied(region.target, region.source, bytes))
            }
            Self::Fill {
                target,
                pattern,
                bytes,
            } => {
                let value = pattern.first().filter(|_| pattern.len() == 1);
                Some(in_place(target.addr(), *bytes, value.copied()))
            }
            Self::Prefetch { pointer, bytes } | Self::Advise { pointer, bytes, .. } => {
                Some(in_place(pointer.addr(), *bytes, None))
            }
            Self::Image { .. } | Self::Launch(_) | Self::Replay(_) | Self::Barrier => None,
        }
    }

    /// Copies a part between two allocations of the same shape.
    pub(crate) fn transfer(target: *mut u8, source: *const u8, extent: &Extent) -> Self {
        match *extent {
            Extent::Run { offset, bytes } => Self::Copy {
                target: target.wrapping_add(offset),
                source: source.wrapping_add(offset),
                bytes,
            },
            Extent::Region {
                origin,
                size,
                row_pitch,
                slice_pitch,
            } => Self::Region(Box::new(Region {
                target,
                source,
                target_origin: origin,
                source_origin: origin,
                size,
                target_pitches: [row_pitch, slice_pitch],
                source_pitches: [row_pitch, slice_pitch],
            })),
        }
    }

    /// As [`Self::append`]; `before` is why a device was lost since the memory was allocated, if it was.
    pub(crate) fn append_to(&mut self, before: Option<&Error>, to: &mut Target<'_>) -> Result<()> {
        let appended = self.append(to);
        appended.map_err(|error| outlived(error, || before.cloned()))
    }

    pub(crate) fn append(&mut self, to: &mut Target<'_>) -> Result<()> {
        let (api, list, signal, count) = (to.api, to.list, to.signal, to.wait_count());
        let waits = to.waits();
        match self {
            Self::Copy {
                target,
                source,
                bytes,
            } => {
                // SAFETY: live handles; the memory outlives the command by the contract of the operation's maker.
                unsafe {
                    ze!(
                        api,
                        zeCommandListAppendMemoryCopy = command_list.pfnAppendMemoryCopy(
                            list,
                            target.cast(),
                            source.cast(),
                            *bytes,
                            signal,
                            count,
                            waits
                        )
                    )
                }
            }
            Self::Region(region) => region.append(to),
            Self::Image {
                target,
                source,
                direction,
            } => direction.append(*target, *source, to),
            Self::Fill {
                target,
                pattern,
                bytes,
            } => {
                // SAFETY: as above; the pattern is read before the call returns.
                unsafe {
                    ze!(
                        api,
                        zeCommandListAppendMemoryFill = command_list.pfnAppendMemoryFill(
                            list,
                            target.cast(),
                            pattern.as_ptr().cast(),
                            pattern.len(),
                            *bytes,
                            signal,
                            count,
                            waits
                        )
                    )
                }
            }
            Self::Launch(launch) => launch.shape.append(&mut launch.arguments, to),
            Self::Prefetch { pointer, bytes } => {
                // SAFETY: as above. The call takes no events: a barrier before it and a signal after it order it.
                unsafe {
                    wait_before(api, list, count, waits)?;
                    ze!(
                        api,
                        zeCommandListAppendMemoryPrefetch =
                            command_list.pfnAppendMemoryPrefetch(list, *pointer, *bytes)
                    )?;
                    signal_after(api, list, signal)
                }
            }
            Self::Advise {
                device,
                pointer,
                bytes,
                advice,
            } => {
                // SAFETY: as for prefetches.
                unsafe {
                    wait_before(api, list, count, waits)?;
                    ze!(
                        api,
                        zeCommandListAppendMemAdvise = command_list
                            .pfnAppendMemAdvise(list, *device, *pointer, *bytes, *advice)
                    )?;
                    signal_after(api, list, signal)
                }
            }
            Self::Replay(graph) => {
                let mut recorded = graph.list;
                // SAFETY: live handles: the graph destroys its list, and drops the list's kernels and patterns, after all its
                // submissions have ended.
                let appended = unsafe {
                    ze!(
                        api,
                        zeCommandListImmediateAppendCommandListsExp = command_list_exp
                            .pfnImmediateAppendCommandListsExp(
                                list,
                                1,
                                &raw mut recorded,
                                signal,
                                count,
                                waits
                            )
                    )
                };
                appended.map_err(|error| outlived(error, || graph.loss()))
            }
            Self::Barrier => {
                // SAFETY: live handles.
                unsafe {
                    ze!(
                        api,
                        zeCommandListAppendBarrier =
                            command_list.pfnAppendBarrier(list, signal, count, waits)
                    )
                }
            }
        }
    }
}

/// Makes later commands of a list wait for events.
///
/// # Safety
/// The handles are live.
unsafe fn wait_before(
    api: Api,
    list: ze_command_list_handle_t,
    count: u32,
    waits: *mut ze_event_handle_t,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        ze!(
            api,
            zeCommandListAppendWaitOnEvents =
                command_list.pfnAppendWaitOnEvents(list, count, waits)
        )
    }
}

/// Signals an event after all earlier commands; a recorded list signals none.
///
/// # Safety
/// The handles are live; the event may be null.
unsafe fn signal_after(
    api: Api,
    list: ze_command_list_handle_t,
    signal: ze_event_handle_t,
) -> Result<()> {
    if signal.is_null() {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        ze!(
            api,
            zeCommandListAppendSignalEvent = command_list.pfnAppendSignalEvent(list, signal)
        )
    }
}

impl ImageCopy {
    /// Copies a whole image from or to rows in memory, or between two images, given by handle.
    fn append(self, target: *mut u8, source: *mut u8, to: &mut Target<'_>) -> Result<()> {
        let (api, list, signal, count) = (to.api, to.list, to.signal, to.wait_count());
        let waits = to.waits();
        let whole = std::ptr::null();
        // SAFETY: live handles, which outlive the command by the contract of the operation's maker; the direction says
        // which side is an image, and which is memory for its rows.
        unsafe {
            match self {
                Self::FromMemory => ze!(
                    api,
                    zeCommandListAppendImageCopyFromMemory = command_list
                        .pfnAppendImageCopyFromMemory(
                            list,
                            target.cast(),
                            source.cast_const().cast(),
                            whole,
                            signal,
                            count,
                            waits
                        )
                ),
                Self::ToMemory => ze!(
                    api,
                    zeCommandListAppendImageCopyToMemory = command_list.pfnAppendImageCopyToMemory(
                        list,
                        target.cast(),
                        source.cast(),
                        whole,
                        signal,
                        count,
                        waits
                    )
                ),
                Self::Between => ze!(
                    api,
                    zeCommandListAppendImageCopy = command_list.pfnAppendImageCopy(
                        list,
                        target.cast(),
                        source.cast(),
                        signal,
                        count,
                        waits
                    )
                ),
            }
        }
    }
}

impl Region {
    fn append(&self, to: &mut Target<'_>) -> Result<()> {
        let (api, list, signal, count) = (to.api, to.list, to.signal, to.wait_count());
        let waits = to.waits();
        let target_region = region_of(self.target_origin, self.size);
        let source_region = region_of(self.source_origin, self.size);
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        // SAFETY: live handles and two valid regions; the memory outlives the command by the contract of the operation's maker.
        unsafe {
            ze!(
                api,
                zeCommandListAppendMemoryCopyRegion = command_list.pfnAppendMemoryCopyRegion(
                    list,
                    self.target.cast(),
                    &raw const target_region,
                    narrow(self.target_pitches[0]),
                    narrow(self.target_pitches[1]),
                    self.source.cast(),
                    &raw const source_region,
                    narrow(self.source_pitches[0]),
                    narrow(self.source_pitches[1]),
                    signal,
                    count,
                    waits
                )
            )
        }
    }

    /// A plain copy if the part is contiguous on both sides.
    pub(crate) fn simplest(self: Box<Self>) -> Operation {
        let [width, height, depth] = self.size;
        let runs = |pitches: [usize; 2]| {
            (height <= 1 || pitches[0] == width)
                && (depth <= 1 || pitches[1] == width.saturating_mul(height))
        };
        if !runs(self.target_pitches) || !runs(self.source_pitches) {
            return Operation::Region(self);
        }
        let first = |origin: [usize; 3], pitches: [usize; 2]| {
            origin[0] + origin[1] * pitches[0] + origin[2] * pitches[1]
        };
        let target = first(self.target_origin, self.target_pitches);
        let source = first(self.source_origin, self.source_pitches);
        Operation::Copy {
            target: self.target.wrapping_add(target),
            source: self.source.wrapping_add(source),
            bytes: width * height * depth,
        }
    }
}

fn region_of(origin: [usize; 3], size: [usize; 3]) -> ze_copy_region_t {
    let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    ze_copy_region_t {
        originX: narrow(origin[0]),
        originY: narrow(origin[1]),
        originZ: narrow(origin[2]),
        width: narrow(size[0]),
        height: narrow(size[1]),
        depth: narrow(size[2]),
    }
}

impl Shape {
    /// All work-items, those of a work-group, and the first one's id, in the order of the program's dimensions.
    #[cfg(feature = "xpti")]
    pub(crate) fn items(&self) -> [[usize; 3]; 3] {
        let in_order = |mut xyz: [u32; 3]| {
            xyz[..self.dimensions.clamp(1, 3)].reverse();
            xyz.map(|n| n as usize)
        };
        let all = [0, 1, 2].map(|axis| self.groups[axis] * self.size[axis]);
        [all, self.size, self.offset].map(in_order)
    }

    pub(crate) fn append(&self, arguments: &mut Arguments, to: &mut Target<'_>) -> Result<()> {
        let appended = self.append_to(arguments, to);
        appended.map_err(|error| outlived(error, || self.kernel.loss(self.handle, to.device)))
    }

    fn append_to(&self, arguments: &mut Arguments, to: &mut Target<'_>) -> Result<()> {
        let (api, list, signal, count) = (to.api, to.list, to.signal, to.wait_count());
        let waits = to.waits();
        let groups = ze_group_count_t {
            groupCountX: self.groups[0],
            groupCountY: self.groups[1],
            groupCountZ: self.groups[2],
        };
        // A kernel's arguments are set by one thread at a time.
        let mut state = self.kernel.launching();
        if self.offset != state.offset {
            let [x, y, z] = self.offset;
            // SAFETY: a live kernel, kept by its lock.
            unsafe {
                ze!(
                    api,
                    zeKernelSetGlobalOffsetExp =
                        kernel_exp.pfnSetGlobalOffsetExp(self.handle, x, y, z)
                )?;
            }
            state.offset = self.offset;
        }
        let at_once = api
            .tables
            .command_list
            .pfnAppendLaunchKernelWithArguments
            .is_some();
        if at_once && self.kernel.knows_arguments() {
            let size = ze_group_size_t {
                groupSizeX: self.size[0],
                groupSizeY: self.size[1],
                groupSizeZ: self.size[2],
            };
            let mut pointers = arguments.pointers();
            // SAFETY: live handles; count, sizes and kinds of the arguments were checked against the kernel's.
            return unsafe {
                ze!(
                    api,
                    zeCommandListAppendLaunchKernelWithArguments = command_list
                        .pfnAppendLaunchKernelWithArguments(
                            list,
                            self.handle,
                            groups,
                            size,
                            pointers.as_mut_ptr(),
                            std::ptr::null(),
                            signal,
                            count,
                            waits
                        )
                )
            };
        }
        let [x, y, z] = self.size;
        // SAFETY: a live kernel, kept by its lock; each value is as long as it says, which the driver checks.
        unsafe {
            ze!(
                api,
                zeKernelSetGroupSize = kernel.pfnSetGroupSize(self.handle, x, y, z)
            )?;
            for (index, (size, value)) in (0..).zip(arguments.values()) {
                ze!(
                    api,
                    zeKernelSetArgumentValue =
                        kernel.pfnSetArgumentValue(self.handle, index, size, value)
                )?;
            }
            ze!(
                api,
                zeCommandListAppendLaunchKernel = command_list.pfnAppendLaunchKernel(
                    list,
                    self.handle,
                    &raw const groups,
                    signal,
                    count,
                    waits
                )
            )
        }
    }
}

/// Why a lane did not take all operations of a command.
pub(crate) struct AppendError {
    pub(crate) error: Error,
    /// The last operation that the lane did take. It and the ones before it run: memory that they use has to outlive them.
    pub(crate) running: Option<Dep>,
}

/// Nothing runs: the first operation failed.
impl From<Error> for AppendError {
    fn from(error: Error) -> Self {
        Self {
            error,
            running: None,
        }
    }
}

impl From<AppendError> for Error {
    fn from(failed: AppendError) -> Self {
        failed.error
    }
}

/// Appends operations to a lane in order, the first after `after`. Returns the last command. `before` is why a device
/// was lost since the memory they use was allocated.
pub(crate) fn append_all(
    lane: &'static CommandLane,
    after: &Deps,
    before: Option<&Error>,
    operations: &mut [Operation],
) -> Result<Dep, AppendError> {
    let nothing = Deps::default();
    let (mut last, mut after) = (None, after);
    for operation in operations {
        let append = &mut |target: &mut Target<'_>| operation.append_to(before, target);
        let appended = lane.append(after, None, append);
        let running = last;
        last = Some(appended.map_err(|error| AppendError { error, running })?);
        after = &nothing;
    }
    Ok(last.unwrap_or_else(|| lane.tail()))
}
