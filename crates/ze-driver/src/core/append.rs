//! Appends without kernels: copies, fills, barriers, events, timestamps, host functions.

use crate::check::{enumeration, error, not_null, refuse_parameters};
use crate::core::context::Context;
use crate::core::dependencies::Dependencies;
use crate::core::device::Device;
use crate::core::event::Event;
use crate::core::list::CommandList;
use crate::device::{Keeps, RegionCopy, Work};
use crate::schedule::Op;
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::Arc;
use ze_abi::{Handle, Handles, In, OptHandle, ZeResult, copied};
use ze_abi_macros::ze_entry;

fn copy(
    list: &CommandList,
    dst: *mut c_void,
    src: *const c_void,
    size: usize,
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    not_null("dstptr", dst)?;
    not_null("srcptr", src)?;
    list.check_reach("dstptr", dst)?;
    list.check_reach("srcptr", src)?;
    let op = if size == 0 {
        Op::Nothing
    } else {
        Op::Work(Work::Copy {
            dst: dst.cast(),
            src: src.cast(),
            len: size as u64,
        })
    };
    list.append(op, dependencies)
}

/// Copies bytes; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryCopy_t)]
pub(crate) fn zeCommandListAppendMemoryCopy(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    srcptr: *const c_void,
    size: usize,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    copy(&hCommandList, dstptr, srcptr, size, &dependencies)
}

/// Copies bytes; no parameters are supported; core/copy.yml (1.16).
#[ze_entry(ze_pfnCommandListAppendMemoryCopyWithParameters_t)]
pub(crate) fn zeCommandListAppendMemoryCopyWithParameters(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    srcptr: *const c_void,
    size: usize,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    copy(&hCommandList, dstptr, srcptr, size, &dependencies)
}

/// Copies bytes from another context: one address space serves all; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryCopyFromContext_t)]
pub(crate) fn zeCommandListAppendMemoryCopyFromContext(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    _hContextSrc: OptHandle<'_, Context>,
    srcptr: *const c_void,
    size: usize,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    copy(&hCommandList, dstptr, srcptr, size, &dependencies)
}

/// # Safety
/// `pattern` is null or valid for reads of `pattern_size` bytes.
unsafe fn fill(
    list: &CommandList,
    ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    dependencies: &Dependencies<'_>,
) -> ZeResult {
    not_null("ptr", ptr)?;
    not_null("pattern", pattern)?;
    list.check_reach("ptr", ptr)?;
    // core/copy.yml: INVALID_SIZE when the size is no multiple of the pattern's.
    if pattern_size == 0 || !size.is_multiple_of(pattern_size) {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "size is {size} bytes, a multiple of pattern_size, {pattern_size}, is required"
            ),
        );
    }
    // Lenient: patterns of any size at any address work (`crate::leniency`).
    let op = if size == 0 {
        Op::Nothing
    } else {
        // SAFETY: not null; `pattern_size` readable bytes by this function's contract.
        let pattern = unsafe { copied("pattern", pattern.cast::<u8>(), pattern_size) }?;
        Op::Work(Work::Fill {
            dst: ptr.cast(),
            pattern: pattern.into(),
            len: size as u64,
        })
    };
    list.append(op, dependencies)
}

/// Repeats a pattern; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryFill_t)]
pub(crate) fn zeCommandListAppendMemoryFill(
    hCommandList: Handle<'_, CommandList>,
    ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    // SAFETY: the caller's pattern, by the specification.
    unsafe {
        fill(
            &hCommandList,
            ptr,
            pattern,
            pattern_size,
            size,
            &dependencies,
        )
    }
}

/// Repeats a pattern; no parameters are supported; core/copy.yml (1.16).
#[ze_entry(ze_pfnCommandListAppendMemoryFillWithParameters_t)]
pub(crate) fn zeCommandListAppendMemoryFillWithParameters(
    hCommandList: Handle<'_, CommandList>,
    ptr: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    size: usize,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    refuse_parameters(pNext)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents);
    // SAFETY: the caller's pattern, by the specification.
    unsafe {
        fill(
            &hCommandList,
            ptr,
            pattern,
            pattern_size,
            size,
            &dependencies,
        )
    }
}

/// Where a region begins: origin in bytes, rows and slices.
fn origin(region: &ze_copy_region_t, pitch: u64, slice_pitch: u64) -> Option<u64> {
    let y = u64::from(region.originY).checked_mul(pitch)?;
    let z = u64::from(region.originZ).checked_mul(slice_pitch)?;
    u64::from(region.originX).checked_add(y)?.checked_add(z)
}

/// Pitches of a region; 0 means tightly packed.
fn pitches(region: &ze_copy_region_t, pitch: u32, slice_pitch: u32) -> (u64, u64) {
    let pitch = match pitch {
        0 => u64::from(region.width),
        some => u64::from(some),
    };
    let slice = match slice_pitch {
        0 => pitch.saturating_mul(u64::from(region.height.max(1))),
        some => u64::from(some),
    };
    (pitch, slice)
}

/// Copies a 2-D or 3-D region; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryCopyRegion_t)]
pub(crate) fn zeCommandListAppendMemoryCopyRegion(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    dstRegion: In<'_, ze_copy_region_t>,
    dstPitch: u32,
    dstSlicePitch: u32,
    srcptr: *const c_void,
    srcRegion: In<'_, ze_copy_region_t>,
    srcPitch: u32,
    srcSlicePitch: u32,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("dstptr", dstptr)?;
    not_null("srcptr", srcptr)?;
    hCommandList.check_reach("dstptr", dstptr)?;
    hCommandList.check_reach("srcptr", srcptr)?;
    let (dst, src) = (&*dstRegion, &*srcRegion);
    let extent = |region: &ze_copy_region_t| (region.width, region.height, region.depth);
    if extent(dst) != extent(src) {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "dstRegion is {:?} and srcRegion {:?} (width, height, depth), equal ones are required",
                extent(dst),
                extent(src)
            ),
        );
    }
    let (dst_pitch, dst_slice) = pitches(dst, dstPitch, dstSlicePitch);
    let (src_pitch, src_slice) = pitches(src, srcPitch, srcSlicePitch);
    let (Some(to), Some(from)) = (
        origin(dst, dst_pitch, dst_slice),
        origin(src, src_pitch, src_slice),
    ) else {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            "the origin of a region lies beyond the address space",
        );
    };
    let copy = RegionCopy {
        dst: dstptr.cast::<u8>().wrapping_add(to as usize),
        dst_pitch,
        dst_slice_pitch: dst_slice,
        src: srcptr.cast::<u8>().wrapping_add(from as usize),
        src_pitch,
        src_slice_pitch: src_slice,
        width: u64::from(dst.width),
        // A depth or height of 0 is a region of lower dimension.
        rows: u64::from(dst.height.max(1)),
        slices: u64::from(dst.depth.max(1)),
        keeps: Keeps::default(),
    };
    let op = if copy.width == 0 {
        Op::Nothing
    } else {
        Op::Work(Work::CopyRegion(copy))
    };
    hCommandList.append(op, &Dependencies::new(&hSignalEvent, &phWaitEvents))
}

/// Populates missing pages, so that kernels do not fault on them; nothing moves; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryPrefetch_t)]
pub(crate) fn zeCommandListAppendMemoryPrefetch(
    hCommandList: Handle<'_, CommandList>,
    ptr: *const c_void,
    size: usize,
) -> ZeResult {
    not_null("ptr", ptr)?;
    hCommandList.context().check()?;
    let platform = Arc::clone(hCommandList.context().platform());
    let at = ptr.addr();
    let populate = move || {
        if let Some(space) = platform.address_space() {
            space.populate(at, size as u64);
        }
    };
    let work = Work::Internal(Arc::new(populate));
    hCommandList.append(Op::Work(work), &Dependencies::default())
}

/// A hint without effect; core/copy.yml.
#[ze_entry(ze_pfnCommandListAppendMemAdvise_t)]
pub(crate) fn zeCommandListAppendMemAdvise(
    hCommandList: Handle<'_, CommandList>,
    _hDevice: Handle<'_, Device>,
    ptr: *const c_void,
    _size: usize,
    advice: ze_memory_advice_t,
) -> ZeResult {
    not_null("ptr", ptr)?;
    enumeration(
        "advice",
        advice.0,
        ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION.0,
    )?;
    hCommandList.context().check()
}

/// Waits for all earlier commands and delays all later ones; core/barrier.yml.
#[ze_entry(ze_pfnCommandListAppendBarrier_t)]
pub(crate) fn zeCommandListAppendBarrier(
    hCommandList: Handle<'_, CommandList>,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents).draining();
    hCommandList.append(Op::Nothing, &dependencies)
}

/// A barrier: caches are coherent, so the ranges need nothing else; core/barrier.yml.
#[ze_entry(ze_pfnCommandListAppendMemoryRangesBarrier_t)]
pub(crate) fn zeCommandListAppendMemoryRangesBarrier(
    hCommandList: Handle<'_, CommandList>,
    _numRanges: u32,
    pRangeSizes: *const usize,
    pRanges: *mut *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("pRangeSizes", pRangeSizes)?;
    not_null("pRanges", pRanges)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents).draining();
    hCommandList.append(Op::Nothing, &dependencies)
}

/// Signals after all earlier commands; core/event.yml.
#[ze_entry(ze_pfnCommandListAppendSignalEvent_t)]
pub(crate) fn zeCommandListAppendSignalEvent(
    hCommandList: Handle<'_, CommandList>,
    hEvent: Handle<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies {
        signal: Some(hEvent.get()),
        drain: true,
        ..Dependencies::default()
    };
    hCommandList.append(Op::Nothing, &dependencies)
}

/// Delays all later commands until all events are signalled; core/event.yml.
#[ze_entry(ze_pfnCommandListAppendWaitOnEvents_t)]
pub(crate) fn zeCommandListAppendWaitOnEvents(
    hCommandList: Handle<'_, CommandList>,
    phEvents: Handles<'_, Event>,
) -> ZeResult {
    let dependencies = Dependencies {
        waits: phEvents.get(),
        ..Dependencies::default()
    };
    hCommandList.append(Op::Nothing, &dependencies)
}

/// Resets after all earlier commands; core/event.yml.
#[ze_entry(ze_pfnCommandListAppendEventReset_t)]
pub(crate) fn zeCommandListAppendEventReset(
    hCommandList: Handle<'_, CommandList>,
    hEvent: Handle<'_, Event>,
) -> ZeResult {
    let signal = Arc::clone(hEvent.resettable("hEvent")?);
    hCommandList.append(Op::Reset(signal), &Dependencies::default().draining())
}

/// Writes the device clock in ns, after all earlier commands; core/cmdlist.yml.
#[ze_entry(ze_pfnCommandListAppendWriteGlobalTimestamp_t)]
pub(crate) fn zeCommandListAppendWriteGlobalTimestamp(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut u64,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("dstptr", dstptr)?;
    hCommandList.check_reach("dstptr", dstptr)?;
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents).draining();
    hCommandList.append(Op::Work(Work::WriteTimestamp(dstptr)), &dependencies)
}

/// Copies the timestamps of events; zeros for unsignalled ones; core/event.yml.
#[ze_entry(ze_pfnCommandListAppendQueryKernelTimestamps_t)]
pub(crate) fn zeCommandListAppendQueryKernelTimestamps(
    hCommandList: Handle<'_, CommandList>,
    phEvents: Handles<'_, Event>,
    dstptr: *mut c_void,
    pOffsets: *const usize,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    not_null("dstptr", dstptr)?;
    hCommandList.check_reach("dstptr", dstptr)?;
    let events = phEvents.get();
    for event in events {
        event.check_timestamps("phEvents[i]")?;
    }
    let size = size_of::<ze_kernel_timestamp_result_t>();
    let offsets: Vec<usize> = if pOffsets.is_null() {
        (0..events.len()).map(|i| i * size).collect()
    } else {
        // SAFETY: one offset for each event, by the specification.
        unsafe { std::slice::from_raw_parts(pOffsets, events.len()) }.to_vec()
    };
    if hCommandList.capture_slot().is_some() && events.iter().any(|event| event.counter().is_some())
    {
        return Err(crate::core::capture::unsupported(
            "phEvents holds a counter-based event, whose timestamps a captured command cannot copy",
        ));
    }
    let times: Vec<_> = events.iter().map(|event| event.waited()).collect();
    let (device, to) = (
        Arc::clone(hCommandList.device()),
        dstptr.expose_provenance(),
    );
    let parts = move || {
        let parts = times.iter().zip(&offsets).map(|(signal, offset)| {
            let (start, end) = signal.times().unwrap_or((0, 0));
            // A result holds the times twice: global and of the context.
            let data = [device.kernel_time(start), device.kernel_time(end)];
            let bytes: Vec<u8> = [data, data]
                .as_flattened()
                .iter()
                .flat_map(|time| time.to_ne_bytes())
                .collect();
            let place = std::ptr::with_exposed_provenance_mut::<u8>(to);
            (place.wrapping_add(*offset), bytes.into_boxed_slice())
        });
        parts.collect()
    };
    let dependencies = Dependencies::new(&hSignalEvent, &phWaitEvents).draining();
    let work = Work::Write {
        what: "timestamps of events",
        parts: Arc::new(parts),
    };
    hCommandList.append(Op::Work(work), &dependencies)
}

/// Calls the host from a worker; no parameters are supported; core/hostFunction.yml (1.17).
#[ze_entry(ze_pfnCommandListAppendHostFunction_t)]
pub(crate) fn zeCommandListAppendHostFunction(
    hCommandList: Handle<'_, CommandList>,
    pfnHostFunction: ze_host_function_callback_t,
    pUserData: *mut c_void,
    pNext: *const c_void,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    let Some(function) = pfnHostFunction else {
        return not_null("pfnHostFunction", std::ptr::null::<c_void>());
    };
    refuse_parameters(pNext)?;
    let work = Work::Host {
        function,
        data: pUserData,
    };
    hCommandList.append(
        Op::Work(work),
        &Dependencies::new(&hSignalEvent, &phWaitEvents),
    )
}
