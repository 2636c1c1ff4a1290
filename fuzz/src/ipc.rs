//! IPC handles of any bytes, and event pools whose shared memory another process fills with any bytes.
//! `crates/ze-cpu/tests/process/hostile.rs` includes this file and plays fixed sequences; the fuzz target feeds it bytes.

use level_zero::{Context, Device, Loader};
use level_zero_sys::*;
use std::ffi::{CStr, c_char, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// A function of the driver's. `F` is the function pointer type that the headers give for `name`.
fn function<F: Copy>(name: &CStr) -> F {
    let function = ze_driver::getters::lookup(name);
    assert!(!function.is_null() && size_of::<F>() == size_of_val(&function));
    // SAFETY: a pointer to a function is copied as one; the callers below name its type.
    unsafe { std::mem::transmute_copy(&function) }
}

/// In the name of the file.
const TOKEN: u64 = 7;

struct Target {
    context: Context,
    device: Device,
}

fn target() -> &'static Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let loader = Loader::from_entry(ze_cpu::entry()).expect("the driver inside");
        let driver = loader.drivers().expect("its driver").remove(0);
        let device = driver.devices().expect("its devices").remove(0);
        let context = driver.create_context().expect("a context");
        Target { context, device }
    })
}

/// A sealed memory file with those bytes, of a page at least.
fn memory_file(bytes: &[u8]) -> File {
    let len = (bytes.len() as u64).next_multiple_of(4096).max(4096);
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;
    // SAFETY: the name is a C string; the descriptor is new; the bytes are readable.
    unsafe {
        let name = ze_driver::address_space::file_name(TOKEN);
        let file = libc::memfd_create(name.as_ptr(), libc::MFD_ALLOW_SEALING);
        let file = File::from_raw_fd(file);
        file.set_len(len).expect("room for a page");
        libc::pwrite(file.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0);
        libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals);
        file
    }
}

/// The handle of a file with fields from `data`: right enough to be opened now and then.
fn handle(magic: [u8; 4], file: &File, data: &[u8]) -> [c_char; 64] {
    use std::os::unix::fs::MetadataExt;
    let mut handle = [0_u8; 64];
    for (place, byte) in handle.iter_mut().zip(data) {
        *place = *byte;
    }
    let found = file.metadata().expect("an open file");
    // The lowest bits of the first byte choose what is left as it came.
    let keep = data.first().copied().unwrap_or(0);
    let fields: [(usize, &[u8]); 7] = [
        (0, &file.as_raw_fd().to_ne_bytes()),
        (4, &magic),
        (8, &std::process::id().to_ne_bytes()),
        (12, &file.as_raw_fd().to_ne_bytes()),
        (16, &found.dev().to_ne_bytes()),
        (24, &found.ino().to_ne_bytes()),
        (56, &TOKEN.to_ne_bytes()),
    ];
    for (number, (at, bytes)) in fields.into_iter().enumerate() {
        if keep >> number & 1 == 0 {
            handle[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }
    handle.map(|byte| byte as c_char)
}

/// Opens a handle of each kind, uses what opens, and closes it. The first 64 bytes are the handle's, the rest is what lies
/// in the shared memory. Nothing may end the process.
pub fn handles(data: &[u8]) {
    let (head, rest) = data.split_at(data.len().min(64));
    let file = memory_file(rest);
    memory(handle(*b"SoMe", &file, head));
    pool(handle(*b"SoEp", &file, head));
    counter(handle(*b"SoEv", &file, head));
}

fn memory(data: [c_char; 64]) {
    let Target { context, device } = target();
    let open = function::<ze_pfnMemOpenIpcHandle_t>(c"zeMemOpenIpcHandle").unwrap();
    let close = function::<ze_pfnMemCloseIpcHandle_t>(c"zeMemCloseIpcHandle").unwrap();
    let range = function::<ze_pfnMemGetAddressRange_t>(c"zeMemGetAddressRange").unwrap();
    let mut at: *mut c_void = null_mut();
    let (handle, context) = (ze_ipc_mem_handle_t { data }, context.as_raw());
    // SAFETY: live handles and places for the answers; what opens is read and written within its range, then closed.
    unsafe {
        if open(context, device.as_raw(), handle, 0, &mut at) != ZE_RESULT_SUCCESS {
            return;
        }
        let (mut base, mut size) = (null_mut(), 0);
        assert_eq!(range(context, at, &mut base, &mut size), ZE_RESULT_SUCCESS);
        assert!(base == at && size > 0);
        let last = at.cast::<u8>().add(size - 1);
        let value = last.read_volatile();
        last.write_volatile(value);
        assert_eq!(close(context, at), ZE_RESULT_SUCCESS);
    }
}

fn pool(data: [c_char; 64]) {
    let context = target().context.as_raw();
    let open = function::<ze_pfnEventPoolOpenIpcHandle_t>(c"zeEventPoolOpenIpcHandle").unwrap();
    let close = function::<ze_pfnEventPoolCloseIpcHandle_t>(c"zeEventPoolCloseIpcHandle").unwrap();
    let create = function::<ze_pfnEventCreate_t>(c"zeEventCreate").unwrap();
    let mut pool = null_mut();
    // SAFETY: live handles and places for the answers; each is ended once.
    unsafe {
        if open(context, ze_ipc_event_pool_handle_t { data }, &mut pool) != ZE_RESULT_SUCCESS {
            return;
        }
        for index in [0, 1, 63, u32::MAX] {
            let desc = ze_event_desc_t {
                stype: ZE_STRUCTURE_TYPE_EVENT_DESC,
                pNext: std::ptr::null(),
                index,
                signal: 0,
                wait: 0,
            };
            let mut event = null_mut();
            if create(pool, &desc, &mut event) == ZE_RESULT_SUCCESS {
                use_event(event);
                function::<ze_pfnEventDestroy_t>(c"zeEventDestroy").unwrap()(event);
            }
        }
        close(pool);
    }
}

fn counter(data: [c_char; 64]) {
    let context = target().context.as_raw();
    let open =
        function::<ze_pfnEventCounterBasedOpenIpcHandle_t>(c"zeEventCounterBasedOpenIpcHandle")
            .unwrap();
    let close =
        function::<ze_pfnEventCounterBasedCloseIpcHandle_t>(c"zeEventCounterBasedCloseIpcHandle")
            .unwrap();
    let mut event = null_mut();
    let handle = ze_ipc_event_counter_based_handle_t { data };
    // SAFETY: live handles and a place for the answer; the event is ended once.
    unsafe {
        if open(context, handle, &mut event) == ZE_RESULT_SUCCESS {
            use_event(event);
            close(event);
        }
    }
}

/// Every question about an event, a wait without patience, a signal and a reset. Answers may be wrong, not fatal.
///
/// # Safety
/// `event` lives.
unsafe fn use_event(event: ze_event_handle_t) {
    let mut times = ze_kernel_timestamp_result_t::default();
    // SAFETY: the caller's event, a place for the answer.
    unsafe {
        function::<ze_pfnEventQueryStatus_t>(c"zeEventQueryStatus").unwrap()(event);
        let query =
            function::<ze_pfnEventQueryKernelTimestamp_t>(c"zeEventQueryKernelTimestamp").unwrap();
        query(event, &mut times);
        let wait = function::<ze_pfnEventHostSynchronize_t>(c"zeEventHostSynchronize").unwrap();
        wait(event, 0);
        wait(event, 1000);
        function::<ze_pfnEventHostSignal_t>(c"zeEventHostSignal").unwrap()(event);
        function::<ze_pfnEventQueryStatus_t>(c"zeEventQueryStatus").unwrap()(event);
        function::<ze_pfnEventHostReset_t>(c"zeEventHostReset").unwrap()(event);
    }
}
