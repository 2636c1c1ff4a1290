//! Records every byte range that the runtime's copies move: the recorder logs calls, but not the contents of a region.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use level_zero::sys::*;

use crate::shim;

/// One run of bytes of a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) bytes: usize,
}

/// The byte ranges of each copy, while recording.
static SEEN: Mutex<Option<Vec<Vec<Run>>>> = Mutex::new(None);

fn seen() -> MutexGuard<'static, Option<Vec<Vec<Run>>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts recording, from an empty list.
pub(crate) fn watch() {
    *seen() = Some(Vec::new());
}

/// Stops recording and returns the copies since `watch`.
pub(crate) fn take() -> Vec<Vec<Run>> {
    seen().take().unwrap_or_default()
}

fn saw(runs: impl FnOnce() -> Vec<Run>) {
    if let Some(seen) = seen().as_mut() {
        seen.push(runs());
    }
}

unsafe extern "C" fn append_copy(
    list: ze_command_list_handle_t,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    signal: ze_event_handle_t,
    count: u32,
    waits: *mut ze_event_handle_t,
) -> ze_result_t {
    saw(|| {
        vec![Run {
            from: from.addr(),
            to: to.addr(),
            bytes,
        }]
    });
    let real = shim::list().pfnAppendMemoryCopy.unwrap();
    // SAFETY: the caller's contract.
    unsafe { real(list, to, from, bytes, signal, count, waits) }
}

/// The first byte of each row of a region, relative to the memory.
fn rows(region: &ze_copy_region_t, row: u32, plane: u32) -> Vec<usize> {
    let [row, plane] = [row as usize, plane as usize];
    let of = |z: u32, y: u32| {
        (region.originZ + z) as usize * plane
            + (region.originY + y) as usize * row
            + region.originX as usize
    };
    (0..region.depth.max(1))
        .flat_map(|z| (0..region.height).map(move |y| of(z, y)))
        .collect()
}

unsafe extern "C" fn append_copy_region(
    list: ze_command_list_handle_t,
    to: *mut c_void,
    to_region: *const ze_copy_region_t,
    to_row: u32,
    to_plane: u32,
    from: *const c_void,
    from_region: *const ze_copy_region_t,
    from_row: u32,
    from_plane: u32,
    signal: ze_event_handle_t,
    count: u32,
    waits: *mut ze_event_handle_t,
) -> ze_result_t {
    saw(|| {
        // SAFETY: the caller gives valid regions.
        let (to_region, from_region) = unsafe { (&*to_region, &*from_region) };
        let to_rows = rows(to_region, to_row, to_plane);
        let from_rows = rows(from_region, from_row, from_plane);
        assert_eq!(
            to_rows.len(),
            from_rows.len(),
            "both ends have the same number of rows"
        );
        let ends = from_rows.into_iter().zip(to_rows);
        ends.map(|(first, other)| Run {
            from: from.addr() + first,
            to: to.addr() + other,
            bytes: to_region.width as usize,
        })
        .collect()
    });
    let real = shim::list().pfnAppendMemoryCopyRegion.unwrap();
    // SAFETY: the caller's contract.
    unsafe {
        real(
            list,
            to,
            to_region,
            to_row,
            to_plane,
            from,
            from_region,
            from_row,
            from_plane,
            signal,
            count,
            waits,
        )
    }
}

/// A kind of object that a thread creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Made {
    /// An immediate list.
    List,
    /// Device memory.
    Memory,
}

type Meanwhile = (Made, Box<dyn FnOnce() -> ze_result_t>);

thread_local! {
    /// A hook that runs while this thread creates its next such object, and its result.
    static MEANWHILE: RefCell<Option<Meanwhile>> = const { RefCell::new(None) };
}

/// Runs a hook while the calling thread creates its next such object; the object is created only if the hook returns
/// success.
pub(crate) fn while_made(made: Made, work: impl FnOnce() -> ze_result_t + 'static) {
    MEANWHILE.set(Some((made, Box::new(work))));
}

fn meanwhile(made: Made) -> ze_result_t {
    let work = MEANWHILE.with_borrow_mut(|known| known.take_if(|(of, _)| *of == made));
    work.map_or(ZE_RESULT_SUCCESS, |(_, work)| work())
}

unsafe extern "C" fn create_immediate(
    context: ze_context_handle_t,
    device: ze_device_handle_t,
    desc: *const ze_command_queue_desc_t,
    list: *mut ze_command_list_handle_t,
) -> ze_result_t {
    let code = meanwhile(Made::List);
    if code != ZE_RESULT_SUCCESS {
        return code;
    }
    let real = shim::list().pfnCreateImmediate.unwrap();
    // SAFETY: the caller's contract.
    unsafe { real(context, device, desc, list) }
}

static MEMORY: OnceLock<ze_mem_dditable_t> = OnceLock::new();

unsafe extern "C" fn alloc_device(
    context: ze_context_handle_t,
    desc: *const ze_device_mem_alloc_desc_t,
    size: usize,
    alignment: usize,
    device: ze_device_handle_t,
    pointer: *mut *mut c_void,
) -> ze_result_t {
    let code = meanwhile(Made::Memory);
    if code != ZE_RESULT_SUCCESS {
        return code;
    }
    let real = MEMORY.get().unwrap().pfnAllocDevice.unwrap();
    // SAFETY: the caller's contract.
    unsafe { real(context, desc, size, alignment, device, pointer) }
}

unsafe extern "C" fn memory_table(
    version: ze_api_version_t,
    table: *mut ze_mem_dditable_t,
) -> ze_result_t {
    let getter = shim::real(c"zeGetMemProcAddrTable");
    // SAFETY: the export of this name has this signature; the caller gives a table with room.
    unsafe {
        let getter: ze_pfnGetMemProcAddrTable_t = std::mem::transmute(getter);
        let code = getter.unwrap()(version, table);
        if code == ZE_RESULT_SUCCESS {
            let _ = MEMORY.set(*table);
            (*table).pfnAllocDevice = Some(alloc_device);
        }
        code
    }
}

unsafe extern "C" fn list_table(
    version: ze_api_version_t,
    table: *mut ze_command_list_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller's contract.
    unsafe {
        shim::list_table(version, table, |table| {
            table.pfnCreateImmediate = Some(create_immediate);
            table.pfnAppendMemoryCopy = Some(append_copy);
            table.pfnAppendMemoryCopyRegion = Some(append_copy_region);
        })
    }
}

/// The driver, with recorded copies, waits that can be blocked, and hooks.
pub(crate) fn watched(name: &CStr) -> *const () {
    match name.to_bytes() {
        b"zeGetEventProcAddrTable" => crate::waits::event_table as *const (),
        b"zeGetCommandListProcAddrTable" => list_table as *const (),
        b"zeGetMemProcAddrTable" => memory_table as *const (),
        _ => shim::real(name),
    }
}
