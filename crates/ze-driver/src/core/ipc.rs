//! IPC handles of USM and physical memory.
//!
//! A handle holds a descriptor that this process keeps open until the handle is put back or the memory is freed.

use crate::check::{error, flags, not_null};
use crate::core::context::Context;
use crate::core::device::Device;
use crate::core::driver::Driver;
use crate::core::exports::{EXPORTS, TOO_MANY};
use crate::core::reservations::VIRTUAL_MEMORY;
use crate::core::shared_file::{self, Part, Purpose};
use crate::device::{AllocRequest, ExportError, MemoryKind};
use level_zero_sys::*;
use std::ffi::c_void;
use ze_abi::{Chain, Handle, Object, Out, ZeResult};
use ze_abi_macros::ze_entry;

fn word_of(kind: MemoryKind) -> u32 {
    match kind {
        MemoryKind::Host => 0,
        MemoryKind::Device => 1,
        MemoryKind::Shared => 2,
    }
}

fn kind_of(word: u32) -> MemoryKind {
    match word {
        0 => MemoryKind::Host,
        2 => MemoryKind::Shared,
        _ => MemoryKind::Device,
    }
}

fn handle(context: &Context, ptr: *const c_void) -> ZeResult<ze_ipc_mem_handle_t> {
    context.check()?;
    not_null("ptr", ptr)?;
    give_out(context.driver(), ptr).map(|data| ze_ipc_mem_handle_t { data })
}

/// The descriptor of an allocation, a physical memory, or the mapping at an address. The driver owns it.
pub(crate) fn descriptor_of(driver: &Driver, ptr: *const c_void) -> ZeResult<i32> {
    give_out(driver, ptr).map(|bytes| shared_file::descriptor(&bytes))
}

/// The handle of an allocation, a physical memory, or the mapping at an address.
fn give_out(driver: &Driver, ptr: *const c_void) -> ZeResult<shared_file::HandleBytes> {
    let space = driver.address_space()?;
    let physical = VIRTUAL_MEMORY
        .physical(ptr.addr())
        .or_else(|| VIRTUAL_MEMORY.mapped(ptr.addr()).map(|found| found.memory));
    let given = if let Some(memory) = physical {
        EXPORTS.give(memory.handle().addr(), || {
            let (file, offset) = memory.file();
            let part = Part {
                offset,
                size: memory.size(),
                words: [word_of(memory.kind()), 0],
            };
            let file = file.try_clone_to_owned().map_err(|_| TOO_MANY)?;
            Ok((file, part))
        })
    } else {
        let info = driver.platform().find(ptr.cast());
        let Some(info) = info.filter(|info| info.base == ptr.cast_mut().cast()) else {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "ptr is {ptr:p}, the base of an allocation or a physical memory is required"
                ),
            );
        };
        EXPORTS.give(ptr.addr(), || {
            let (file, offset) = space.export(ptr.addr())?;
            let part = Part {
                offset,
                size: info.size,
                words: [word_of(info.kind), 0],
            };
            Ok((file, part))
        })
    };
    given.or_else(|refused| match refused {
        ExportError::NotOurs => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            format!("the memory at {ptr:p} cannot be exported: it was allocated by the program, not by the driver"),
        ),
        ExportError::NoFile(why) => error(
            ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
            format!("the memory at {ptr:p} cannot get a file for other processes: {why}"),
        ),
    })
}

/// A handle for other processes; core/memory.yml.
#[ze_entry(ze_pfnMemGetIpcHandle_t)]
pub(crate) fn zeMemGetIpcHandle(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    pIpcHandle: Out<'_, ze_ipc_mem_handle_t>,
) -> ZeResult {
    pIpcHandle.write(handle(&hContext, ptr)?);
    Ok(())
}

/// As without properties: there is one type of handle; core/ipcMemHandleType.yml (1.15).
#[ze_entry(ze_pfnMemGetIpcHandleWithProperties_t)]
pub(crate) fn zeMemGetIpcHandleWithProperties(
    hContext: Handle<'_, Context>,
    ptr: *const c_void,
    pNext: *mut c_void,
    pIpcHandle: Out<'_, ze_ipc_mem_handle_t>,
) -> ZeResult {
    // SAFETY: the caller's chain of descriptors, valid for the call.
    for link in unsafe { Chain::new(pNext) } {
        if link.stype == ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC {
            // SAFETY: the type says which struct it is.
            let desc = unsafe { link.get::<ze_ipc_mem_handle_type_ext_desc_t>() };
            flags(
                "ze_ipc_mem_handle_type_ext_desc_t::typeFlags",
                desc.typeFlags,
                0x3,
            )?;
            if desc.typeFlags & ZE_IPC_MEM_HANDLE_TYPE_FLAG_FABRIC_ACCESSIBLE != 0 {
                return error(
                    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                    "typeFlags requests a fabric handle, but there is no fabric",
                );
            }
        }
    }
    pIpcHandle.write(handle(&hContext, ptr)?);
    Ok(())
}

/// A handle from the descriptor of exported memory; core/memory.yml (1.6).
#[ze_entry(ze_pfnMemGetIpcHandleFromFileDescriptorExp_t)]
pub(crate) fn zeMemGetIpcHandleFromFileDescriptorExp(
    hContext: Handle<'_, Context>,
    handle: u64,
    pIpcHandle: Out<'_, ze_ipc_mem_handle_t>,
) -> ZeResult {
    hContext.check()?;
    let number = i32::try_from(handle).ok();
    let file = number.and_then(|number| shared_file::duplicate(number).ok());
    let part = file.as_ref().and_then(shared_file::marked);
    let (Some(file), Some(part)) = (file, part) else {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            format!("handle is {handle}, an open descriptor of exported memory is required"),
        );
    };
    let part = Part {
        words: [word_of(MemoryKind::Device), 0],
        ..part
    };
    // The handle keeps the caller's number, because programs send that descriptor.
    drop(file);
    // SAFETY: the caller keeps the descriptor open, by the specification; nothing is closed here.
    let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(handle as i32) };
    match shared_file::encode(Purpose::Memory, file, part) {
        Some(data) => pIpcHandle.write(ze_ipc_mem_handle_t { data }),
        None => {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!("handle is {handle}, which is not an open file"),
            );
        }
    }
    Ok(())
}

/// The descriptor in a handle; core/memory.yml (1.6).
#[ze_entry(ze_pfnMemGetFileDescriptorFromIpcHandleExp_t)]
pub(crate) fn zeMemGetFileDescriptorFromIpcHandleExp(
    hContext: Handle<'_, Context>,
    ipcHandle: ze_ipc_mem_handle_t,
    pHandle: Out<'_, u64>,
) -> ZeResult {
    hContext.check()?;
    shared_file::decode(Purpose::Memory, &ipcHandle.data)?;
    pHandle.write(shared_file::descriptor(&ipcHandle.data) as u64);
    Ok(())
}

/// Closes the handle's descriptor; opened memory stays; core/memory.yml (1.6).
#[ze_entry(ze_pfnMemPutIpcHandle_t)]
pub(crate) fn zeMemPutIpcHandle(
    _hContext: Handle<'_, Context>,
    handle: ze_ipc_mem_handle_t,
) -> ZeResult {
    shared_file::decode(Purpose::Memory, &handle.data)?;
    EXPORTS.put(&handle.data);
    Ok(())
}

/// Maps the memory of a handle at a new address; core/memory.yml.
#[ze_entry(ze_pfnMemOpenIpcHandle_t)]
pub(crate) fn zeMemOpenIpcHandle(
    hContext: Handle<'_, Context>,
    hDevice: Handle<'_, Device>,
    handle: ze_ipc_mem_handle_t,
    flags: ze_ipc_memory_flags_t,
    pptr: Out<'_, *mut c_void>,
) -> ZeResult {
    hContext.check()?;
    hContext.check_device(&hDevice)?;
    crate::check::flags("flags", flags, 0x3)?;
    let space = hContext.driver().address_space()?;
    let any_user = hContext.trusts_all_users();
    let (part, file) = if shared_file::is_descriptor_alone(&handle.data) {
        // A descriptor number is no secret: a peer could name memory that was never shared with it.
        let number = shared_file::descriptor(&handle.data);
        if !space.opens_descriptors() || EXPORTS.has(number) {
            return error(
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
                format!(
                    "the IPC handle is empty but for descriptor {number}: only ranks of a parallel program open such a handle, and none of their own; pass the whole handle, or make one with zeMemGetIpcHandleFromFileDescriptorExp"
                ),
            );
        }
        shared_file::open_descriptor(&handle.data, any_user)?
    } else {
        shared_file::open(Purpose::Memory, &handle.data, any_user)?
    };
    let request = AllocRequest {
        kind: kind_of(part.words[0]),
        size: part.size,
        align: 1,
        device: Some(hDevice.index()),
        context: hContext.handle() as usize,
    };
    match space.import(&request, file, part.offset, true) {
        Ok(base) => pptr.write(base.cast()),
        Err(_) => {
            return error(
                ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                format!("no room for {} bytes in the address space", part.size),
            );
        }
    }
    Ok(())
}

/// Closes opened memory; core/memory.yml.
#[ze_entry(ze_pfnMemCloseIpcHandle_t)]
pub(crate) fn zeMemCloseIpcHandle(hContext: Handle<'_, Context>, ptr: *const c_void) -> ZeResult {
    not_null("ptr", ptr)?;
    let platform = hContext.platform();
    let opened = platform
        .find(ptr.cast())
        .is_some_and(|info| info.imported && info.base == ptr.cast_mut().cast());
    if opened {
        // First, because another import may get the address.
        EXPORTS.forget(ptr.addr());
        if platform.free(ptr.cast_mut().cast()) {
            return Ok(());
        }
    }
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        format!("ptr is {ptr:p}, which zeMemOpenIpcHandle did not return (already closed?)"),
    )
}
