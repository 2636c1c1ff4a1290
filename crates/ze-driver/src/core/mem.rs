//! Unified shared memory: allocation, freeing, pointer queries.

use crate::check::{error, flags, not_null};
use crate::core::attributes::ATTRIBUTES;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::driver::Driver;
use crate::core::exports::EXPORTS;
use crate::core::external::{self, Source};
use crate::core::ipc::descriptor_of;
use crate::core::reservations::VIRTUAL_MEMORY;
use crate::core::shared_file;
use crate::device::{AllocError, AllocRequest, MemoryKind, Platform, WrongFree};
use crate::schedule::{self, Command, CommandLane, Op};
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use ze_abi::{
    Chain, ChainMut, Handle, In, Object, OptHandle, OptOut, OptOutHandle, Out, Prop, ZeError,
    ZeResult,
};
use ze_abi_macros::ze_entry;

/// Bits of `ze_device_mem_alloc_flags_t`.
const DEVICE_FLAGS: u32 = 0x7;
/// Bits of `ze_host_mem_alloc_flags_t`.
const HOST_FLAGS: u32 = 0x1f;

struct Request<'a> {
    context: &'a Context,
    kind: MemoryKind,
    device: Option<&'a Device>,
    size: usize,
    alignment: usize,
    /// Options from the descriptors' chains.
    wishes: Wishes,
}

/// Options from the chains of an allocation's descriptors.
struct Wishes {
    /// Lifts the limit of one allocation.
    relaxed: bool,
    source: Source,
}

fn is_relaxed(next: *const c_void) -> bool {
    // SAFETY: the caller's chain of descriptors, valid for the call.
    unsafe { Chain::new(next) }.any(|link| match link.stype {
        ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC => {
            // SAFETY: the type says which struct it is.
            let desc = unsafe { link.get::<ze_relaxed_allocation_limits_exp_desc_t>() };
            desc.flags & ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE != 0
        }
        ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC => {
            // SAFETY: the type says which struct it is.
            let desc = unsafe { link.get::<ze_relaxed_allocation_limits_ext_desc_t>() };
            desc.flags & ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE != 0
        }
        _ => false,
    })
}

/// Allocates, also in a lost context (`crate::leniency`).
fn allocate(request: Request<'_>) -> ZeResult<*mut c_void> {
    let (size, alignment) = (request.size, request.alignment);
    // core/memory.yml: UNSUPPORTED_SIZE for 0, UNSUPPORTED_ALIGNMENT unless 0 or a power of two.
    if size == 0 {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            "size is 0, at least 1 byte is required",
        );
    }
    if alignment & alignment.wrapping_sub(1) != 0 {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            format!("alignment is {alignment}, 0 or a power of two is required"),
        );
    }
    if let Some(device) = request.device {
        request.context.check_device(device)?;
    }
    let platform = request.context.platform();
    let limit = match request.device {
        Some(device) => device.facts().max_mem_alloc_size,
        None => platform
            .devices()
            .iter()
            .map(|device| device.facts().max_mem_alloc_size)
            .max()
            .unwrap_or(u64::MAX),
    };
    if !request.wishes.relaxed && size as u64 > limit {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            format!(
                "size is {size} bytes, at most {limit} (maxMemAllocSize) are allowed without relaxed limits"
            ),
        );
    }
    let wanted = AllocRequest {
        kind: request.kind,
        size: size as u64,
        align: alignment.max(1) as u64,
        device: request.device.map(Device::index),
        context: request.context.handle() as usize,
    };
    let made = match request.wishes.source {
        Source::Fresh { exported: false } => platform.allocate(&wanted),
        Source::Fresh { exported: true } => request
            .context
            .driver()
            .address_space()?
            .allocate_in_file(&wanted),
        Source::File(file) => import(request.context.driver(), &wanted, file)?,
        Source::System { base, size: has } => {
            return adopt(request.context.driver(), &wanted, base, has);
        }
    };
    match made {
        Ok(base) => Ok(base.cast()),
        Err(why) => Err(refusal(&**platform, request.kind, size as u64, why)),
    }
}

/// OUT_OF_DEVICE_MEMORY when `size` more bytes of any kind exceed the platform's own limit.
fn beyond_limit(platform: &dyn Platform, size: u64) -> Option<ZeError> {
    let of = platform.memory_use()?;
    if of.used.saturating_add(size) <= of.limit {
        return None;
    }
    Some(ZeError::new(
        ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
        format!(
            "{size} bytes of memory are not available: {} of {} bytes are in use; the limit is set by {}",
            of.used, of.limit, of.set_by
        ),
    ))
}

/// The error for `size` bytes that the platform could not allocate.
pub(crate) fn refusal(
    platform: &dyn Platform,
    kind: MemoryKind,
    size: u64,
    why: AllocError,
) -> ZeError {
    if let Some(refusal) = beyond_limit(platform, size) {
        return refusal;
    }
    let (code, text) = match (why, kind) {
        (AllocError::TooLarge, _) => (
            ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            format!("size is {size} bytes, which with its alignment exceeds the address space"),
        ),
        (AllocError::NoFile(why), kind) => (
            match kind {
                MemoryKind::Host => ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                _ => ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            },
            format!("no memory file of {size} bytes, which memory to be shared needs: {why}"),
        ),
        (AllocError::OutOfMemory, MemoryKind::Host) => (
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!("the system has no {size} bytes of memory now"),
        ),
        (AllocError::OutOfMemory, _) => (
            ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            format!("the system has no {size} bytes of memory now"),
        ),
    };
    ZeError::new(code, text)
}

/// An allocation over an imported file of sealed memory.
pub(crate) fn import(
    driver: &Driver,
    wanted: &AllocRequest,
    file: std::fs::File,
) -> ZeResult<Result<*mut u8, AllocError>> {
    let space = driver.address_space()?;
    let part = shared_file::marked(&file);
    let Some(part) = part.filter(|part| part.room(space.page_size()) >= wanted.size) else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "size is {} bytes, which the file to import does not have",
                wanted.size
            ),
        );
    };
    // Files are mapped by pages, so the offset inside a page is the same everywhere.
    if !part
        .offset
        .is_multiple_of(wanted.align.min(space.page_size()))
    {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
            format!(
                "alignment is {}, the memory to import begins {} bytes into its file: at most {} are allowed",
                wanted.align,
                part.offset,
                1u64 << part.offset.trailing_zeros()
            ),
        );
    }
    Ok(space.import(wanted, file.into(), part.offset, false))
}

/// Turns the program's own memory into an allocation, at the same address.
fn adopt(
    driver: &Driver,
    wanted: &AllocRequest,
    base: *mut c_void,
    has: u64,
) -> ZeResult<*mut c_void> {
    not_null("pSystemMemory", base)?;
    let space = driver.address_space()?;
    let page = space.page_size();
    if !(base.addr() as u64).is_multiple_of(page) || has < wanted.size || has == 0 {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "pSystemMemory is {base:p} of {has} bytes, a multiple of {page} and at least {} bytes are required",
                wanted.size
            ),
        );
    }
    if wanted.kind != MemoryKind::Host {
        return error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the program's own memory can only become a host allocation",
        );
    }
    if space.adopt(wanted, base.cast()) {
        return Ok(base);
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("pSystemMemory is {base:p}, which is already part of an allocation"),
    )
}

/// Any ordinal is accepted and means the only memory: the conformance tests pass others too.
fn check_device_desc(desc: &ze_device_mem_alloc_desc_t) -> ZeResult<Wishes> {
    flags("device_desc->flags", desc.flags, DEVICE_FLAGS)?;
    wishes(desc.pNext)
}

fn check_host_desc(desc: &ze_host_mem_alloc_desc_t) -> ZeResult<Wishes> {
    flags("host_desc->flags", desc.flags, HOST_FLAGS)?;
    wishes(desc.pNext)
}

fn wishes(next: *const c_void) -> ZeResult<Wishes> {
    Ok(Wishes {
        relaxed: is_relaxed(next),
        source: external::source(next)?,
    })
}

/// Shared memory; core/memory.yml.
#[ze_entry(ze_pfnMemAllocShared_t)]
pub(crate) fn zeMemAllocShared(
    hContext: Handle<'_, Context>,
    device_desc: In<'_, ze_device_mem_alloc_desc_t>,
    host_desc: In<'_, ze_host_mem_alloc_desc_t>,
    size: usize,
    alignment: usize,
    hDevice: OptHandle<'_, Device>,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    let mut wishes = check_device_desc(&device_desc)?;
    wishes.relaxed |= check_host_desc(&host_desc)?.relaxed;
    pptr.write(allocate(Request {
        context: &hContext,
        kind: MemoryKind::Shared,
        device: hDevice.0.map(Handle::get),
        size,
        alignment,
        wishes,
    })?);
    Ok(())
}

/// Device memory; core/memory.yml.
#[ze_entry(ze_pfnMemAllocDevice_t)]
pub(crate) fn zeMemAllocDevice(
    hContext: Handle<'_, Context>,
    device_desc: In<'_, ze_device_mem_alloc_desc_t>,
    size: usize,
    alignment: usize,
    hDevice: Handle<'_, Device>,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    let wishes = check_device_desc(&device_desc)?;
    pptr.write(allocate(Request {
        context: &hContext,
        kind: MemoryKind::Device,
        device: Some(hDevice.get()),
        size,
        alignment,
        wishes,
    })?);
    Ok(())
}

/// Host memory; core/memory.yml.
#[ze_entry(ze_pfnMemAllocHost_t)]
pub(crate) fn zeMemAllocHost(
    hContext: Handle<'_, Context>,
    host_desc: In<'_, ze_host_mem_alloc_desc_t>,
    size: usize,
    alignment: usize,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    let wishes = check_host_desc(&host_desc)?;
    pptr.write(allocate(Request {
        context: &hContext,
        kind: MemoryKind::Host,
        device: None,
        size,
        alignment,
        wishes,
    })?);
    Ok(())
}

/// INVALID_ARGUMENT unless `ptr` is the base of an allocation, which is about to be freed.
fn check_base(context: &Context, ptr: *mut c_void) -> ZeResult {
    not_null("ptr", ptr)?;
    let platform = context.platform();
    match platform.find(ptr.cast()) {
        Some(info) if info.base == ptr.cast() && info.imported => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "ptr is {ptr:p}, opened by zeMemOpenIpcHandle: close it with zeMemCloseIpcHandle"
            ),
        ),
        Some(info) if info.base == ptr.cast() => {
            if info.context != context.handle() as usize {
                platform.wrong_free(ptr.cast(), WrongFree::OtherContext);
            }
            EXPORTS.forget(ptr.addr());
            ATTRIBUTES.forget(ptr.addr(), info.size);
            Ok(())
        }
        Some(info) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "ptr is {ptr:p}, inside the allocation at {:p}, whose base is required",
                info.base
            ),
        ),
        None => {
            platform.wrong_free(ptr.cast(), WrongFree::NoAllocation);
            error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "ptr is {ptr:p}, which is not an allocation of this driver (already freed?)"
                ),
            )
        }
    }
}

fn free(platform: &dyn Platform, ptr: *mut c_void) -> ZeResult {
    if platform.free(ptr.cast()) {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("ptr is {ptr:p}, which is not an allocation of this driver (already freed?)"),
    )
}

/// Frees; the caller has ended all use; core/memory.yml.
#[ze_entry(ze_pfnMemFree_t)]
pub(crate) fn zeMemFree(hContext: Handle<'_, Context>, ptr: *mut c_void) -> ZeResult {
    check_base(&hContext, ptr)?;
    if hContext.is_lost() {
        // The caller promised that all use has ended, but commands of other lanes are still running.
        free_behind(&hContext, busy_lanes(&hContext), ptr);
        return Ok(());
    }
    free(&**hContext.platform(), ptr)
}

fn busy_lanes(context: &Handle<'_, Context>) -> Vec<Arc<CommandLane>> {
    let mut lanes = schedule::lanes_of(&context.arc());
    lanes.retain(|lane| !lane.is_idle());
    lanes
}

/// Frees when these lanes have finished their commands.
fn free_behind(context: &Handle<'_, Context>, lanes: Vec<Arc<CommandLane>>, ptr: *mut c_void) {
    context.platform().frees_itself(ptr.cast());
    let deferred = Arc::new(DeferredFree {
        platform: Arc::clone(context.platform()),
        ptr,
    });
    for lane in lanes {
        let holder: Box<dyn Send> = Box::new(Arc::clone(&deferred));
        lane.push(
            [Arc::new(Command {
                op: Op::Release(Mutex::new(Some(holder))),
                waits: Vec::new(),
                signal: None,
                drain: true,
                counts: false,
            })],
            true,
        );
    }
}

/// Frees when its last holder is dropped, after the commands submitted earlier.
struct DeferredFree {
    platform: Arc<dyn Platform>,
    ptr: *mut c_void,
}

// SAFETY: the address is only handed back to the platform, which any thread may do.
unsafe impl Send for DeferredFree {}
// SAFETY: as for `Send`; nothing is shared through it.
unsafe impl Sync for DeferredFree {}

impl Drop for DeferredFree {
    fn drop(&mut self) {
        self.platform.free(self.ptr.cast());
    }
}

/// Frees after the commands submitted earlier; waits for them or defers the free; core/memoryFreePolicies.yml.
#[ze_entry(ze_pfnMemFreeExt_t)]
pub(crate) fn zeMemFreeExt(
    hContext: Handle<'_, Context>,
    pMemFreeDesc: In<'_, ze_memory_free_ext_desc_t>,
    ptr: *mut c_void,
) -> ZeResult {
    let policy = pMemFreeDesc.freePolicy;
    flags("pMemFreeDesc->freePolicy", policy, 0x3)?;
    check_base(&hContext, ptr)?;
    let busy = busy_lanes(&hContext);
    if policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE != 0 {
        free_behind(&hContext, busy, ptr);
        return Ok(());
    }
    if policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE != 0 {
        for lane in busy {
            lane.wait(lane.pushed(), u64::MAX);
        }
    }
    free(&**hContext.platform(), ptr)
}

/// The memory type of properties.
pub(crate) fn type_of(kind: Option<MemoryKind>) -> ze_memory_type_t {
    match kind {
        None => ZE_MEMORY_TYPE_UNKNOWN,
        Some(MemoryKind::Host) => ZE_MEMORY_TYPE_HOST,
        Some(MemoryKind::Device) => ZE_MEMORY_TYPE_DEVICE,
        Some(MemoryKind::Shared) => ZE_MEMORY_TYPE_SHARED,
    }
}

/// Properties of any pointer; type UNKNOWN outside of the driver's allocations; core/memory.yml.
#[ze_entry(ze_pfnMemGetAllocProperties_t)]
pub(crate) fn zeMemGetAllocProperties(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    mut pMemAllocProperties: Prop<'_, ze_memory_allocation_properties_t>,
    phDevice: OptOutHandle<'_, _ze_device_handle_t>,
) -> ZeResult {
    not_null("ptr", ptr)?;
    let out = &mut *pMemAllocProperties;
    let driver = hContext.driver();
    let info = driver.platform().find(ptr.cast());
    let known = match info {
        Some(info) => Some((info.kind, info.device, info.id)),
        None => VIRTUAL_MEMORY
            .mapped(ptr.addr())
            .map(|found| found.properties()),
    };
    out.r#type = type_of(known.map(|(kind, ..)| kind));
    out.id = known.map_or(0, |(.., id)| id);
    out.pageSize = match (info, known) {
        (Some(info), _) => info.page_size,
        (None, Some(_)) => driver.address_space()?.page_size(),
        (None, None) => 0,
    };
    let device = known
        .and_then(|(_, device, _)| device)
        .and_then(|index| driver.devices().get(index));
    phDevice.write(device.map_or(std::ptr::null_mut(), |device| device.handle()));
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe {
        ChainMut::behind(
            ze_memory_allocation_properties_t::STYPE,
            out.stype,
            out.pNext,
        )
    } {
        if link.stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD {
            // SAFETY: the type says which struct it is.
            let fd = unsafe { link.get::<ze_external_memory_export_fd_t>() };
            let name = "ze_external_memory_export_fd_t::flags";
            external::supported(name, fd.flags, external::EXPORTS)?;
            let base = info.map_or(ptr, |info| info.base.cast_const().cast());
            fd.fd = descriptor_of(driver, base)?;
        }
    }
    Ok(())
}

/// Base and size of the allocation around a pointer; core/memory.yml.
#[ze_entry(ze_pfnMemGetAddressRange_t)]
pub(crate) fn zeMemGetAddressRange(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    pBase: OptOut<'_, *mut c_void>,
    pSize: OptOut<'_, usize>,
) -> ZeResult {
    not_null("ptr", ptr)?;
    let Some((base, size)) = hContext.platform().range(ptr.cast()) else {
        if let Some(found) = VIRTUAL_MEMORY.mapped(ptr.addr()) {
            pBase.write(std::ptr::without_provenance_mut(found.base));
            pSize.write(usize::try_from(found.size).unwrap_or(usize::MAX));
            return Ok(());
        }
        return error(
            ZE_RESULT_ERROR_ADDRESS_NOT_FOUND,
            format!("ptr is {ptr:p}, which is in no allocation of this driver"),
        );
    };
    pBase.write(base.cast());
    pSize.write(usize::try_from(size).unwrap_or(usize::MAX));
    Ok(())
}
