//! Virtual reservations and physical memory: entry points. [`crate::core::reservations`] has the objects.

use crate::address_space::{Access, AddressSpace};
use crate::check::{enumeration, error, flags, lock, not_null};
use crate::core::attributes::ATTRIBUTES;
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::exports::EXPORTS;
use crate::core::external::{self, Source};
use crate::core::ipc::descriptor_of;
use crate::core::mem;
use crate::core::reservations::{
    Backing, FIRST_ID, PhysicalMemory, Reservation, Span, VIRTUAL_MEMORY,
};
use crate::core::shared_file;
use crate::device::MemoryKind;
use crate::dispatch;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs::File;
use std::sync::Arc;
use ze_abi::{ChainMut, Handle, Head, InMut, Object, OptHandle, Out, OutHandle, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// UNSUPPORTED_SIZE for 0; `odd` for a size that is not a multiple of the page size.
fn check_size(name: &str, size: u64, page: u64, odd: ze_result_t) -> ZeResult {
    if size != 0 && size.is_multiple_of(page) {
        return Ok(());
    }
    error(
        match size {
            0 => ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
            _ => odd,
        },
        format!("{name} is {size}, a multiple of the page size {page} above 0 is required"),
    )
}

fn check_aligned(name: &str, value: u64, page: u64) -> ZeResult {
    if value.is_multiple_of(page) {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
        format!("{name} is {value:#x}, a multiple of the page size {page} is required"),
    )
}

/// Checks a range in a reservation. Returns the platform's pages, address and size. `odd` as in [`check_size`].
fn range(
    context: &Context,
    ptr: *const c_void,
    size: usize,
    odd: ze_result_t,
) -> ZeResult<(&dyn AddressSpace, usize, u64)> {
    context.check()?;
    not_null("ptr", ptr)?;
    let space = context.driver().address_space()?;
    let (at, size) = (ptr.addr(), size as u64);
    check_size("size", size, space.page_size(), odd)?;
    check_aligned("ptr", at as u64, space.page_size())?;
    Ok((space, at, size))
}

fn attribute(access: ze_memory_access_attribute_t) -> ZeResult<Access> {
    enumeration("access", access.0, ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY.0)?;
    Ok(match access {
        ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE => Access::ReadWrite,
        ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY => Access::ReadOnly,
        _ => Access::None,
    })
}

fn refused<T>() -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
        "the system could not change the mappings of the address space",
    )
}

/// Reserves inaccessible address space; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemReserve_t)]
pub(crate) fn zeVirtualMemReserve(
    hContext: Handle<'_, Context>,
    pStart: *const c_void,
    size: usize,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    hContext.check()?;
    let space = hContext.driver().address_space()?;
    let size = size as u64;
    check_size(
        "size",
        size,
        space.page_size(),
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
    )?;
    let hint = pStart.addr() & !(space.page_size() as usize - 1);
    let Some(base) = space.reserve(hint, size) else {
        return error(
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!("no free address range of {size} bytes"),
        );
    };
    let empty = Span {
        len: size,
        access: Access::None,
        shows: None,
    };
    let reservation = Reservation {
        size,
        spans: BTreeMap::from([(base, empty)]),
    };
    lock(&VIRTUAL_MEMORY.reservations).insert(base, reservation);
    pptr.write(std::ptr::without_provenance_mut(base));
    Ok(())
}

/// Releases a whole reservation; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemFree_t)]
pub(crate) fn zeVirtualMemFree(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
) -> ZeResult {
    let space = hContext.driver().address_space()?;
    not_null("ptr", ptr)?;
    let (base, size) = (ptr.addr(), size as u64);
    check_size(
        "size",
        size,
        space.page_size(),
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
    )?;
    let mut all = lock(&VIRTUAL_MEMORY.reservations);
    match all.get(&base) {
        Some(reservation) if reservation.size == size => {
            all.remove(&base);
            ATTRIBUTES.forget(base, size);
            // Under the lock, so that the range is not reserved again before it is released.
            space.release(base, size);
            Ok(())
        }
        Some(reservation) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "size is {size}, the reservation at ptr has {} bytes",
                reservation.size
            ),
        ),
        None => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("ptr is {ptr:p}, which is not the beginning of a virtual reservation"),
        ),
    }
}

/// One page size for all sizes, including 0, which the conformance tests pass; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemQueryPageSize_t)]
pub(crate) fn zeVirtualMemQueryPageSize(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    _size: usize,
    pagesize: Out<'_, usize>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    pagesize.write(hContext.driver().address_space()?.page_size() as usize);
    Ok(())
}

/// Memory without an address, fresh or from a descriptor; core/virtual.yml.
#[ze_entry(ze_pfnPhysicalMemCreate_t)]
pub(crate) fn zePhysicalMemCreate(
    hContext: Handle<'_, Context>,
    hDevice: OptHandle<'_, Device>,
    desc: InMut<'_, ze_physical_mem_desc_t>,
    phPhysicalMemory: OutHandle<'_, _ze_physical_mem_handle_t>,
) -> ZeResult {
    hContext.check()?;
    flags("desc->flags", desc.flags, 0x3)?;
    let on_host = desc.flags & ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST != 0;
    let device = hDevice.0.map(Handle::get);
    match device {
        Some(device) => hContext.check_device(device)?,
        None if on_host => {}
        None => {
            return error(
                ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                "hDevice is null, which only physical host memory allows",
            );
        }
    }
    let space = hContext.driver().address_space()?;
    let size = desc.size as u64;
    check_size(
        "desc->size",
        size,
        space.page_size(),
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
    )?;
    let pages = match external::source(desc.pNext)? {
        Source::Fresh { .. } => Backing::Fresh(match space.pages(size) {
            Ok(pages) => pages,
            Err(refusal) => {
                let platform = hContext.platform();
                let kind = if on_host {
                    MemoryKind::Host
                } else {
                    MemoryKind::Device
                };
                return Err(mem::refusal(&**platform, kind, size, refusal));
            }
        }),
        Source::File(file) => imported(file, size, space.page_size())?,
        Source::System { .. } => {
            return error(
                ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "physical memory cannot be created from the program's own memory",
            );
        }
    };
    let driver = hContext.driver();
    let memory = Arc::new(PhysicalMemory {
        head: Head::new::<PhysicalMemory>(dispatch::tables()),
        pages,
        id: FIRST_ID + driver.next_id(),
        kind: if on_host {
            MemoryKind::Host
        } else {
            MemoryKind::Device
        },
        device: device.map(Device::index),
    });
    let known = Arc::downgrade(&memory);
    let handle = Object::give(memory);
    lock(&VIRTUAL_MEMORY.physical).insert(handle.addr(), known);
    phPhysicalMemory.write(handle);
    Ok(())
}

/// Memory of an imported file, which must be sealed memory.
fn imported(file: File, size: u64, page: u64) -> ZeResult<Backing> {
    match shared_file::marked(&file).filter(|part| part.room(page) >= size) {
        Some(part) if part.offset.is_multiple_of(page) => Ok(Backing::Imported {
            file: file.into(),
            offset: part.offset,
            size,
        }),
        // Only whole pages can be mapped elsewhere.
        Some(part) => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!(
                "the memory to import begins {} bytes into a page of {page}: physical memory, or an allocation with that alignment, is required",
                part.offset % page
            ),
        ),
        None => error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("the file to import is not memory of {size} bytes"),
        ),
    }
}

/// Destroys the handle; mappings stay; core/virtual.yml.
#[ze_entry(ze_pfnPhysicalMemDestroy_t)]
pub(crate) fn zePhysicalMemDestroy(
    _hContext: Handle<'_, Context>,
    hPhysicalMemory: Handle<'_, PhysicalMemory>,
) -> ZeResult {
    let handle = hPhysicalMemory.handle().addr();
    lock(&VIRTUAL_MEMORY.physical).remove(&handle);
    EXPORTS.forget(handle);
    drop(hPhysicalMemory.take());
    Ok(())
}

/// Id and size; chain: a descriptor; core/virtual.yml (1.15).
#[ze_entry(ze_pfnPhysicalMemGetProperties_t)]
pub(crate) fn zePhysicalMemGetProperties(
    hContext: Handle<'_, Context>,
    hPhysicalMem: Handle<'_, PhysicalMemory>,
    mut pMemProperties: Prop<'_, ze_physical_mem_properties_t>,
) -> ZeResult {
    pMemProperties.id = hPhysicalMem.id;
    pMemProperties.size = hPhysicalMem.size();
    // SAFETY: the caller's chain of properties, valid for the call.
    for link in unsafe { ChainMut::new(pMemProperties.pNext) } {
        if link.stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD {
            // SAFETY: the type says which struct it is.
            let out = unsafe { link.get::<ze_external_memory_export_fd_t>() };
            external::supported(
                "ze_external_memory_export_fd_t::flags",
                out.flags,
                external::EXPORTS,
            )?;
            let handle = hPhysicalMem.handle().cast_const().cast();
            out.fd = descriptor_of(hContext.driver(), handle)?;
        }
    }
    Ok(())
}

/// Maps a part of physical memory into an unmapped part of a reservation; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemMap_t)]
pub(crate) fn zeVirtualMemMap(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
    hPhysicalMemory: Handle<'_, PhysicalMemory>,
    offset: usize,
    access: ze_memory_access_attribute_t,
) -> ZeResult {
    let (space, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT)?;
    let offset = offset as u64;
    check_aligned("offset", offset, space.page_size())?;
    let access = attribute(access)?;
    let has = hPhysicalMemory.size();
    if offset.checked_add(size).is_none_or(|end| end > has) {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("{size} bytes from offset {offset} exceed the physical memory of {has} bytes"),
        );
    }
    let memory = hPhysicalMemory.arc();
    VIRTUAL_MEMORY.within(at, size, |reservation| {
        reservation.split(at);
        let end = at + size as usize;
        reservation.split(end);
        if let Some((start, _)) = reservation
            .spans
            .range(at..end)
            .find(|(_, span)| span.shows.is_some())
        {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("{start:#x} is mapped already; unmap it first"),
            );
        }
        let (file, begin) = memory.file();
        if !space.map(at, size, file, begin + offset, access) {
            return refused();
        }
        let shows = Some((Arc::clone(&memory), offset));
        reservation.replace(
            at,
            Span {
                len: size,
                access,
                shows,
            },
        );
        Ok(())
    })
}

/// Unmaps a part of a reservation; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemUnmap_t)]
pub(crate) fn zeVirtualMemUnmap(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
) -> ZeResult {
    let (space, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    VIRTUAL_MEMORY.within(at, size, |reservation| {
        if !space.unmap(at, size) {
            return refused();
        }
        reservation.replace(
            at,
            Span {
                len: size,
                access: Access::None,
                shows: None,
            },
        );
        Ok(())
    })
}

/// Changes access rights; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemSetAccessAttribute_t)]
pub(crate) fn zeVirtualMemSetAccessAttribute(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
    access: ze_memory_access_attribute_t,
) -> ZeResult {
    let (space, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    let access = attribute(access)?;
    VIRTUAL_MEMORY.within(at, size, |reservation| {
        let end = at + size as usize;
        reservation.split(at);
        reservation.split(end);
        for (&start, span) in reservation.spans.range_mut(at..end) {
            // Unmapped parts stay inaccessible; the attribute is stored for the getter.
            if span.shows.is_some() && !space.protect(start, span.len, access) {
                return refused();
            }
            span.access = access;
        }
        Ok(())
    })
}

/// The attribute at `ptr`, and its extent; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemGetAccessAttribute_t)]
pub(crate) fn zeVirtualMemGetAccessAttribute(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
    access: Out<'_, ze_memory_access_attribute_t>,
    outSize: Out<'_, usize>,
) -> ZeResult {
    let (_, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    let (found, reach) = VIRTUAL_MEMORY.within(at, size, |reservation| {
        reservation.split(at);
        let Some(first) = reservation.spans.get(&at).map(|span| span.access) else {
            return refused();
        };
        let same = reservation
            .spans
            .range(at..)
            .take_while(|(_, span)| span.access == first);
        Ok((first, same.map(|(_, span)| span.len).sum::<u64>()))
    })?;
    access.write(match found {
        Access::None => ZE_MEMORY_ACCESS_ATTRIBUTE_NONE,
        Access::ReadWrite => ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE,
        Access::ReadOnly => ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY,
    });
    outSize.write(reach as usize);
    Ok(())
}
