//! Virtual reservations and physical memory.
//!
//! A reservation is a row of spans that covers it: each has one access attribute and shows a part of one physical
//! memory, or nothing. The system's page protection follows the spans.

use crate::address_space::{Access, AddressSpace, Pages};
use crate::check::{enumeration, error, flags, lock, not_null};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::driver::Driver;
use crate::core::external::{self, Source};
use crate::core::ipc::descriptor_of;
use crate::core::shared_file;
use crate::core::{mem, object};
use crate::device::MemoryKind;
use crate::tables;
use level_zero_sys::*;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};
use ze_abi::{ChainMut, Handle, Head, InMut, Object, OptHandle, Out, OutHandle, Prop, ZeResult};
use ze_entry::ze_entry;

/// Memory without an address.
#[repr(C)]
pub(crate) struct PhysicalMemory {
    head: Head,
    pages: Backing,
    id: u64,
    kind: MemoryKind,
    device: Option<usize>,
    driver: &'static Driver,
}

impl Drop for PhysicalMemory {
    fn drop(&mut self) {
        // What is still mapped could be exported until now, also after the handle was destroyed.
        let key = std::ptr::from_ref(self).addr();
        self.driver.exports().forget(key);
    }
}
object!(
    PhysicalMemory,
    _ze_physical_mem_handle_t,
    b"ZePm",
    "physical memory"
);

enum Backing {
    Fresh(Arc<dyn Pages>),
    Imported {
        file: OwnedFd,
        offset: u64,
        size: u64,
    },
}

impl PhysicalMemory {
    /// The file and where in it the memory begins.
    pub(crate) fn file(&self) -> (BorrowedFd<'_>, u64) {
        match &self.pages {
            Backing::Fresh(pages) => (pages.file(), 0),
            Backing::Imported { file, offset, .. } => (file.as_fd(), *offset),
        }
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        match &self.pages {
            Backing::Fresh(pages) => pages.size(),
            Backing::Imported { size, .. } => *size,
        }
    }

    /// Host or device.
    pub(crate) fn kind(&self) -> MemoryKind {
        self.kind
    }
}

struct Span {
    len: u64,
    access: Access,
    /// Physical memory and the offset of the span's first byte in it.
    shows: Option<(Arc<PhysicalMemory>, u64)>,
}

struct Reservation {
    size: u64,
    /// By address; together they cover the reservation.
    spans: BTreeMap<usize, Span>,
}

impl Reservation {
    /// Makes `at` the beginning of a span; it lies inside the reservation or at its end.
    fn split(&mut self, at: usize) {
        let Some((&start, span)) = self.spans.range_mut(..at).next_back() else {
            return;
        };
        let before = (at - start) as u64;
        if before >= span.len {
            return;
        }
        let rest = Span {
            len: span.len - before,
            access: span.access,
            shows: span
                .shows
                .as_ref()
                .map(|(memory, offset)| (Arc::clone(memory), offset + before)),
        };
        span.len = before;
        self.spans.insert(at, rest);
    }

    /// Replaces everything in `at..at + size` by one span.
    fn replace(&mut self, at: usize, span: Span) {
        let end = at + span.len as usize;
        self.split(at);
        self.split(end);
        let old: Vec<_> = self.spans.range(at..end).map(|(&start, _)| start).collect();
        for start in old {
            self.spans.remove(&start);
        }
        self.spans.insert(at, span);
    }
}

/// What is known of an address in mapped virtual memory.
pub(crate) struct Mapped {
    /// First byte of the reservation.
    pub(crate) base: usize,
    /// Bytes of the reservation.
    pub(crate) size: u64,
    /// What is shown there.
    pub(crate) memory: Arc<PhysicalMemory>,
}

impl Mapped {
    /// Kind, device and id for allocation properties.
    pub(crate) fn properties(&self) -> (MemoryKind, Option<usize>, u64) {
        (self.memory.kind, self.memory.device, self.memory.id)
    }
}

/// All reservations and physical memories of the process.
#[derive(Default)]
pub(crate) struct VirtualMemory {
    reservations: Mutex<BTreeMap<usize, Reservation>>,
    physical: Mutex<BTreeMap<usize, Weak<PhysicalMemory>>>,
}

/// Ids of physical memory: apart from those of allocations.
const FIRST_ID: u64 = 1 << 48;

impl VirtualMemory {
    /// The physical memory whose handle has that value.
    pub(crate) fn physical(&self, handle: usize) -> Option<Arc<PhysicalMemory>> {
        lock(&self.physical).get(&handle).and_then(Weak::upgrade)
    }

    /// What is mapped at an address.
    pub(crate) fn mapped(&self, address: usize) -> Option<Mapped> {
        let all = lock(&self.reservations);
        let (&base, reservation) = all.range(..=address).next_back()?;
        let (&start, span) = reservation.spans.range(..=address).next_back()?;
        if (address - start) as u64 >= span.len {
            return None;
        }
        let (memory, _) = span.shows.as_ref()?;
        Some(Mapped {
            base,
            size: reservation.size,
            memory: Arc::clone(memory),
        })
    }

    /// Runs `act` on the reservation that has all of the range; INVALID_ARGUMENT when there is none.
    fn within<T>(
        &self,
        at: usize,
        size: u64,
        act: impl FnOnce(&mut Reservation) -> ZeResult<T>,
    ) -> ZeResult<T> {
        let mut all = lock(&self.reservations);
        let found = all.range_mut(..=at).next_back().filter(|(base, found)| {
            let before = (at - **base) as u64;
            before
                .checked_add(size)
                .is_some_and(|end| end <= found.size)
        });
        match found {
            Some((_, reservation)) => act(reservation),
            None => error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("{size} bytes at ptr {at:#x} lie in no single virtual reservation"),
            ),
        }
    }
}

/// The platform's pages; UNSUPPORTED_FEATURE where it has none.
pub(crate) fn address_space(driver: &Driver) -> ZeResult<&dyn AddressSpace> {
    match driver.platform().address_space() {
        Some(space) => Ok(space),
        None => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "the platform has no virtual memory of its own",
        ),
    }
}

/// UNSUPPORTED_SIZE for nothing; `odd` for what is no number of pages.
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

/// Checks a range in a reservation; gives address, size and the platform's pages. `odd`: as of [`check_size`].
fn range(
    context: &Context,
    ptr: *const c_void,
    size: usize,
    odd: ze_result_t,
) -> ZeResult<(&dyn AddressSpace, usize, u64)> {
    context.check()?;
    not_null("ptr", ptr)?;
    let space = address_space(context.driver())?;
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
        "the system refused to change the address space",
    )
}

/// Address space that nothing may touch yet; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemReserve_t)]
pub(crate) fn zeVirtualMemReserve(
    hContext: Handle<'_, Context>,
    pStart: *const c_void,
    size: usize,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    hContext.check()?;
    let space = address_space(hContext.driver())?;
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
    lock(&hContext.driver().virtual_memory().reservations).insert(base, reservation);
    pptr.write(std::ptr::without_provenance_mut(base));
    Ok(())
}

/// Gives a whole reservation back; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemFree_t)]
pub(crate) fn zeVirtualMemFree(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
) -> ZeResult {
    let space = address_space(hContext.driver())?;
    not_null("ptr", ptr)?;
    let (base, size) = (ptr.addr(), size as u64);
    check_size(
        "size",
        size,
        space.page_size(),
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
    )?;
    let mut all = lock(&hContext.driver().virtual_memory().reservations);
    match all.get(&base) {
        Some(reservation) if reservation.size == size => {
            all.remove(&base);
            hContext.driver().attributes().forget(base, size);
            // Under the lock: the range must not be reserved anew before it is released.
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
            format!("ptr is {ptr:p}, which is the beginning of no virtual reservation"),
        ),
    }
}

/// One size for everything, also for nothing, which the conformance tests ask about; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemQueryPageSize_t)]
pub(crate) fn zeVirtualMemQueryPageSize(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    _size: usize,
    pagesize: Out<'_, usize>,
) -> ZeResult {
    hContext.check_device(&hDevice)?;
    pagesize.write(address_space(hContext.driver())?.page_size() as usize);
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
    let space = address_space(hContext.driver())?;
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
                "physical memory cannot be made from the program's own memory",
            );
        }
    };
    let driver = hContext.driver();
    let memory = Arc::new(PhysicalMemory {
        head: Head::new::<PhysicalMemory>(tables::all()),
        pages,
        id: FIRST_ID + driver.next_id(),
        kind: if on_host {
            MemoryKind::Host
        } else {
            MemoryKind::Device
        },
        device: device.map(Device::index),
        driver,
    });
    let known = Arc::downgrade(&memory);
    let handle = Object::give(memory);
    lock(&driver.virtual_memory().physical).insert(handle.addr(), known);
    phPhysicalMemory.write(handle);
    Ok(())
}

/// Over a file from outside, which is sealed memory.
fn imported(file: File, size: u64, page: u64) -> ZeResult<Backing> {
    match shared_file::marked(&file).filter(|part| part.room(page) >= size) {
        Some(part) if part.offset.is_multiple_of(page) => Ok(Backing::Imported {
            file: file.into(),
            offset: part.offset,
            size,
        }),
        // Only whole pages can be shown somewhere else.
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

/// Ends the handle; what is mapped stays until it is unmapped; core/virtual.yml.
#[ze_entry(ze_pfnPhysicalMemDestroy_t)]
pub(crate) fn zePhysicalMemDestroy(
    hContext: Handle<'_, Context>,
    hPhysicalMemory: Handle<'_, PhysicalMemory>,
) -> ZeResult {
    let handle = hPhysicalMemory.handle().addr();
    lock(&hContext.driver().virtual_memory().physical).remove(&handle);
    hContext.driver().exports().forget(handle);
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

/// Shows a part of physical memory in a part of a reservation that shows nothing; core/virtual.yml.
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
    hContext
        .driver()
        .virtual_memory()
        .within(at, size, |reservation| {
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

/// Makes a part of a reservation show nothing; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemUnmap_t)]
pub(crate) fn zeVirtualMemUnmap(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
) -> ZeResult {
    let (space, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    hContext
        .driver()
        .virtual_memory()
        .within(at, size, |reservation| {
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

/// Changes what may be done; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemSetAccessAttribute_t)]
pub(crate) fn zeVirtualMemSetAccessAttribute(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
    access: ze_memory_access_attribute_t,
) -> ZeResult {
    let (space, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    let access = attribute(access)?;
    hContext
        .driver()
        .virtual_memory()
        .within(at, size, |reservation| {
            let end = at + size as usize;
            reservation.split(at);
            reservation.split(end);
            for (&start, span) in reservation.spans.range_mut(at..end) {
                // What shows nothing stays inaccessible; the attribute is kept for the getter.
                if span.shows.is_some() && !space.protect(start, span.len, access) {
                    return refused();
                }
                span.access = access;
            }
            Ok(())
        })
}

/// The attribute at `ptr`, and how far it reaches; core/virtual.yml.
#[ze_entry(ze_pfnVirtualMemGetAccessAttribute_t)]
pub(crate) fn zeVirtualMemGetAccessAttribute(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    size: usize,
    access: Out<'_, ze_memory_access_attribute_t>,
    outSize: Out<'_, usize>,
) -> ZeResult {
    let (_, at, size) = range(&hContext, ptr, size, ZE_RESULT_ERROR_UNSUPPORTED_SIZE)?;
    let (found, reach) = hContext
        .driver()
        .virtual_memory()
        .within(at, size, |reservation| {
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
