//! Commands that wait for a word of memory or write one: `zexCommandListAppendWaitOnMemory` and its companions, as in
//! other vendors' drivers.
//!
//! ```c
//! struct zex_wait_on_mem_desc_t { uint32_t actionFlag, waitScope; };
//! struct zex_write_to_mem_desc_t { uint32_t writeScope; };
//! ze_result_t zexCommandListAppendWaitOnMemory(ze_command_list_handle_t list, zex_wait_on_mem_desc_t *desc, void *ptr,
//!                                              uint32_t data, ze_event_handle_t signal);
//! ze_result_t zexCommandListAppendWaitOnMemory64(ze_command_list_handle_t list, zex_wait_on_mem_desc_t *desc, void *ptr,
//!                                                uint64_t data, ze_event_handle_t signal);
//! ze_result_t zexCommandListAppendWriteToMemory(ze_command_list_handle_t list, zex_write_to_mem_desc_t *desc, void *ptr,
//!                                               uint64_t data);
//! struct ze_intel_device_command_list_wait_on_memory_data_size_exp_desc_t // in the chain of ze_device_properties_t
//! { ze_structure_type_t stype; const void *pNext; uint32_t cmdListWaitOnMemoryDataSizeInBytes; };
//! ```
//!
//! A wait delays the later commands of the list until the comparison holds. The action is one of 1 equal, 2 not equal,
//! 4 greater, 8 greater or equal, 16 less, 32 less or equal; words are unsigned. The driver is not notified of writes, so
//! it reads the word about once a millisecond. A write of 8 bytes comes after all earlier commands. All scopes
//! (1 sub-device, 2 device, 4 host) mean the same, because caches are coherent.

use crate::check::{error, flags, not_null};
use crate::core::capture::unsupported;
use crate::core::dependencies::Dependencies;
use crate::core::event::Event;
use crate::core::list::CommandList;
use crate::device::Work;
use crate::schedule::{Op, Signal, start_lost};
use crate::user_memory::{Comparison, Condition};
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::Arc;
use ze_abi::{Handle, In, OptHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// Bits of a scope.
const SCOPES: u32 = 0x7;

/// Structure type of [`DataSize`].
pub(crate) const DATA_SIZE: ze_structure_type_t = ze_structure_type_t(0x0003_0017);

/// Device properties: the smallest size of a word to wait for, in bytes.
#[repr(C)]
pub(crate) struct DataSize {
    stype: ze_structure_type_t,
    next: *mut c_void,
    bytes: u32,
}

impl DataSize {
    pub(crate) fn fill(&mut self) {
        self.bytes = size_of::<u32>() as u32;
    }
}

/// Parameters of a wait.
#[repr(C)]
struct WaitDesc {
    action: u32,
    scope: u32,
}

/// Parameters of a write.
#[repr(C)]
struct WriteDesc {
    scope: u32,
}

type WaitFn = Option<
    unsafe extern "C" fn(
        ze_command_list_handle_t,
        *const WaitDesc,
        *mut c_void,
        u32,
        ze_event_handle_t,
    ) -> ze_result_t,
>;
type Wait64Fn = Option<
    unsafe extern "C" fn(
        ze_command_list_handle_t,
        *const WaitDesc,
        *mut c_void,
        u64,
        ze_event_handle_t,
    ) -> ze_result_t,
>;
type WriteFn = Option<
    unsafe extern "C" fn(
        ze_command_list_handle_t,
        *const WriteDesc,
        *mut c_void,
        u64,
    ) -> ze_result_t,
>;

fn comparison(action: u32) -> ZeResult<Comparison> {
    Ok(match action {
        0x1 => Comparison::Equal,
        0x2 => Comparison::NotEqual,
        0x4 => Comparison::Greater,
        0x8 => Comparison::GreaterOrEqual,
        0x10 => Comparison::Less,
        0x20 => Comparison::LessOrEqual,
        _ => {
            return error(
                ZE_RESULT_ERROR_INVALID_ENUMERATION,
                format!("desc->actionFlag is {action:#x}, one bit of 0x3f is required"),
            );
        }
    })
}

/// UNSUPPORTED_ALIGNMENT unless `ptr` is a multiple of `size`.
fn check_word(list: &CommandList, ptr: *mut c_void, size: usize) -> ZeResult {
    not_null("ptr", ptr)?;
    list.check_reach("ptr", ptr)?;
    if ptr.addr().is_multiple_of(size) {
        return Ok(());
    }
    error(
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
        format!("ptr is {ptr:p}; it must be a multiple of the word's {size} bytes"),
    )
}

fn wait(
    list: &CommandList,
    desc: &WaitDesc,
    ptr: *mut c_void,
    (data, is_wide): (u64, bool),
    signal: Option<&Event>,
) -> ZeResult {
    let comparison = comparison(desc.action)?;
    flags("desc->waitScope", desc.scope, SCOPES)?;
    check_word(list, ptr, if is_wide { 8 } else { 4 })?;
    if list.capture_slot().is_some() {
        return Err(unsupported(
            "hCommandList is in graph capture mode: a graph cannot wait for a word of memory",
        ));
    }
    let context = Arc::clone(list.context());
    let condition = Condition::new(
        context,
        ptr.expose_provenance(),
        is_wide,
        comparison,
        data,
        start_lost,
    );
    let dependencies = Dependencies {
        signal,
        condition: Some(Signal::when(condition)),
        ..Dependencies::default()
    };
    list.append(Op::Nothing, &dependencies)
}

/// Delays later commands until a comparison of a word of 4 bytes holds.
#[ze_entry(WaitFn)]
fn zexCommandListAppendWaitOnMemory(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, WaitDesc>,
    ptr: *mut c_void,
    data: u32,
    hSignalEvent: OptHandle<'_, Event>,
) -> ZeResult {
    let signal = hSignalEvent.0.map(Handle::get);
    wait(&hCommandList, &desc, ptr, (u64::from(data), false), signal)
}

/// The same for a word of 8 bytes.
#[ze_entry(Wait64Fn)]
fn zexCommandListAppendWaitOnMemory64(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, WaitDesc>,
    ptr: *mut c_void,
    data: u64,
    hSignalEvent: OptHandle<'_, Event>,
) -> ZeResult {
    let signal = hSignalEvent.0.map(Handle::get);
    wait(&hCommandList, &desc, ptr, (data, true), signal)
}

/// Writes 8 bytes after all earlier commands.
#[ze_entry(WriteFn)]
fn zexCommandListAppendWriteToMemory(
    hCommandList: Handle<'_, CommandList>,
    desc: In<'_, WriteDesc>,
    ptr: *mut c_void,
    data: u64,
) -> ZeResult {
    flags("desc->writeScope", desc.scope, SCOPES)?;
    check_word(&hCommandList, ptr, 8)?;
    let at = ptr.expose_provenance();
    let work = Work::Write {
        what: "a word",
        parts: Arc::new(move || {
            let bytes: Box<[u8]> = Box::new(data.to_ne_bytes());
            vec![(std::ptr::with_exposed_provenance_mut(at), bytes)]
        }),
    };
    hCommandList.append(Op::Work(work), &Dependencies::default().draining())
}

/// Address of [`zexCommandListAppendWaitOnMemory`].
pub(crate) fn wait32() -> *const c_void {
    zexCommandListAppendWaitOnMemory as *const c_void
}

/// Address of [`zexCommandListAppendWaitOnMemory64`].
pub(crate) fn wait64() -> *const c_void {
    zexCommandListAppendWaitOnMemory64 as *const c_void
}

/// Address of [`zexCommandListAppendWriteToMemory`].
pub(crate) fn write() -> *const c_void {
    zexCommandListAppendWriteToMemory as *const c_void
}
