//! Subscribers: loading them, announcing streams to them, and how the framework starts and ends.
//!
//! The tables exist before any code runs, so nothing waits for a start: the first call that needs the environment reads
//! it and loads the subscribers. Their constructors may call back; tracing is off then. Other threads wait for the
//! start, but not forever.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::ffi::CString;
use std::sync::OnceLock;

use xpti_sys::{
    FRAMEWORK_STREAM, INVALID_STREAM, QUERY_DETAIL_LEVEL, TRACE_FINISH, TRACE_INIT, detail_level,
    plugin_fini_t, plugin_init_t, query_detail_level_t, result,
};

use crate::{callback_table, environment, fork, streams, thread, trial};

struct Subscriber {
    library: *mut c_void,
    init: plugin_init_t,
    finish: plugin_fini_t,
    level: Option<query_detail_level_t>,
}
// SAFETY: a handle and functions of a library that is never closed.
unsafe impl Send for Subscriber {}
// SAFETY: as above.
unsafe impl Sync for Subscriber {}

/// In the order of the list.
static SUBSCRIBERS: OnceLock<Vec<Subscriber>> = OnceLock::new();

const NEW: u32 = 0;
const STARTING: u32 = 1;
const STARTED: u32 = 2;

static STATE: AtomicU32 = AtomicU32::new(NEW);
/// The thread that starts the framework.
static STARTER: AtomicUsize = AtomicUsize::new(0);

/// How long a thread waits for another one that loads subscribers, because a subscriber may itself wait for the first
/// thread.
static PATIENCE: libc::timespec = libc::timespec {
    tv_sec: 5,
    tv_nsec: 0,
};

/// Reads the environment and loads the subscribers, once in a process.
#[inline]
pub fn start() {
    if STATE.load(Ordering::Acquire) != STARTED {
        start_slowly();
    }
}

#[cold]
fn start_slowly() {
    if STATE
        .compare_exchange(NEW, STARTING, Ordering::AcqRel, Ordering::Acquire)
        .is_err()
    {
        wait_for_start();
        return;
    }
    STARTER.store(thread::address(), Ordering::Release);
    fork::prepare(in_forked_child);
    environment::read_log_level();
    let loaded = if environment::trace_enable() {
        load_all()
    } else {
        Vec::new()
    };
    let on = !loaded.is_empty();
    let _ = SUBSCRIBERS.set(loaded);
    callback_table::switch_initially(on);
    STARTER.store(0, Ordering::Release);
    STATE.store(STARTED, Ordering::Release);
    // SAFETY: a word that lives forever.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            STATE.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        )
    };
}

/// The starting thread does not wait, because a subscriber's constructor may call.
fn wait_for_start() {
    while STATE.load(Ordering::Acquire) == STARTING
        && STARTER.load(Ordering::Acquire) != thread::address()
    {
        // SAFETY: a word that lives forever, and a time.
        let code = unsafe {
            libc::syscall(
                libc::SYS_futex,
                STATE.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                STARTING,
                &raw const PATIENCE,
            )
        };
        // SAFETY: this thread's word.
        if code != 0 && unsafe { *libc::__errno_location() } == libc::ETIMEDOUT {
            environment::say(
                1,
                &[b"a subscriber has not finished loading; continuing without it"],
            );
            return;
        }
    }
}

/// A start that another thread had begun does not end in a forked child: tracing is off there.
extern "C" fn in_forked_child() {
    fork::leave();
    if STATE.load(Ordering::Acquire) == STARTING
        && STARTER.load(Ordering::Acquire) != thread::address()
    {
        callback_table::switch_initially(false);
        STATE.store(STARTED, Ordering::Release);
    }
}

fn load_all() -> Vec<Subscriber> {
    let mut loaded: Vec<Subscriber> = Vec::new();
    let mut refused: Vec<Vec<u8>> = Vec::new();
    let paths = environment::subscribers();
    // Queried once, because it may print a message.
    let tries = !paths.is_empty() && environment::wants_trials();
    for path in paths {
        if refused.contains(&path) {
            continue;
        }
        match load(&path, tries) {
            // The same file again: the second reference is kept, because the library is never closed anyway.
            Ok(subscriber)
                if loaded
                    .iter()
                    .any(|known| known.library == subscriber.library) => {}
            Ok(subscriber) => {
                environment::say(2, &[b"subscriber ", &path]);
                loaded.push(subscriber);
            }
            Err(reason) => {
                environment::say(1, &[b"subscriber ", &path, b": ", &reason]);
                refused.push(path);
            }
        }
    }
    loaded
}

fn load(path: &[u8], tries: bool) -> Result<Subscriber, Vec<u8>> {
    let path = CString::new(path).map_err(|_| b"its name contains a zero byte".to_vec())?;
    if tries && let Some(fault) = trial::fault(&path) {
        return Err(fault);
    }
    // SAFETY: a C string; the library's initialisers are what the user asked for.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY) };
    if library.is_null() {
        // SAFETY: this thread's last error, a C string or null.
        return Err(environment::bytes(unsafe { libc::dlerror() }).to_vec());
    }
    // SAFETY: an open library, a C string.
    let symbol = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
    let (init, finish, level) = (
        symbol(TRACE_INIT),
        symbol(TRACE_FINISH),
        symbol(QUERY_DETAIL_LEVEL),
    );
    if init.is_null() || finish.is_null() {
        // SAFETY: opened above; nothing of it was used.
        unsafe { libc::dlclose(library) };
        return Err(b"not a subscriber: it must export xptiTraceInit and xptiTraceFinish".to_vec());
    }
    // SAFETY: functions of these names have these types in every subscriber.
    Ok(unsafe {
        Subscriber {
            library,
            init: core::mem::transmute::<*mut c_void, plugin_init_t>(init),
            finish: core::mem::transmute::<*mut c_void, plugin_fini_t>(finish),
            level: core::mem::transmute::<*mut c_void, Option<query_detail_level_t>>(level),
        }
    })
}

fn all() -> &'static [Subscriber] {
    SUBSCRIBERS.get().map_or(&[], Vec::as_slice)
}

static REFERENCES: AtomicI64 = AtomicI64::new(0);

/// One more user.
pub fn framework_initialize() {
    start();
    REFERENCES.fetch_add(1, Ordering::Relaxed);
}

/// One user less. The last one ends nothing, because other libraries still point into the tables.
pub fn framework_finalize() {
    let _ = REFERENCES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |users| {
        (users > 0).then_some(users - 1)
    });
}

/// Announces a stream to the subscribers, and before the first one the framework's own. INVALIDARG for null.
///
/// # Safety
/// Null or C strings.
pub unsafe fn initialize(
    stream: *const c_char,
    major: u32,
    minor: u32,
    version: *const c_char,
) -> i32 {
    if stream.is_null() || version.is_null() {
        return result::INVALIDARG;
    }
    start();
    static FRAMEWORK: AtomicBool = AtomicBool::new(false);
    if !FRAMEWORK.swap(true, Ordering::AcqRel) {
        announce(FRAMEWORK_STREAM, 1, 0, c"1.0.0");
    }
    // SAFETY: the caller's.
    let (stream, version) = unsafe { (CStr::from_ptr(stream), CStr::from_ptr(version)) };
    announce(stream, major, minor, version);
    result::SUCCESS
}

fn announce(stream: &CStr, major: u32, minor: u32, version: &CStr) {
    let id = streams::register(stream);
    environment::say(
        2,
        &[b"stream ", stream.to_bytes(), b" ", version.to_bytes()],
    );
    let subscribers = all();
    for subscriber in subscribers {
        // SAFETY: a subscriber's function and C strings. It may throw: nothing here needs to be undone.
        unsafe { (subscriber.init)(major, minor, version.as_ptr(), stream.as_ptr()) };
    }
    if id == INVALID_STREAM {
        return;
    }
    let mut level = if subscribers.is_empty() {
        Some(detail_level::NONE)
    } else {
        None
    };
    for subscriber in subscribers {
        let mut wanted = detail_level::NONE;
        let asked = subscriber.level.is_some_and(|ask| {
            // SAFETY: a subscriber's function, a C string and a place to write to.
            unsafe { ask(stream.as_ptr(), &raw mut wanted) }
        });
        if asked {
            level = level.max(Some(wanted));
        }
    }
    streams::set_detail(id, level.unwrap_or(detail_level::NORMAL));
}

/// Tells the subscribers that the emitter has finished the stream, and unregisters its callbacks; before the first
/// stream the framework's own. Null and unknown names do nothing.
///
/// # Safety
/// Null or a C string.
pub unsafe fn finalize(stream: *const c_char) {
    // SAFETY: the caller's.
    let Some((name, id)) = (unsafe { known(stream) }) else {
        return;
    };
    static FRAMEWORK: AtomicBool = AtomicBool::new(false);
    if !FRAMEWORK.swap(true, Ordering::AcqRel) {
        finish(FRAMEWORK_STREAM);
        callback_table::unregister_stream(xpti_sys::FRAMEWORK_STREAM_ID);
    }
    finish(name);
    callback_table::unregister_stream(id);
}

/// As [`finalize`], for one stream alone. INVALIDARG for null, NOTFOUND if the stream never had a listener.
///
/// # Safety
/// Null or a C string.
pub unsafe fn unregister_stream(stream: *const c_char) -> i32 {
    if stream.is_null() {
        return result::INVALIDARG;
    }
    // SAFETY: the caller's.
    let Some((name, id)) = (unsafe { known(stream) }) else {
        return result::NOTFOUND;
    };
    finish(name);
    if callback_table::unregister_stream(id) {
        result::SUCCESS
    } else {
        result::NOTFOUND
    }
}

/// # Safety
/// Null or a C string that lives for `'a`.
unsafe fn known<'a>(stream: *const c_char) -> Option<(&'a CStr, u8)> {
    if stream.is_null() {
        return None;
    }
    start();
    // SAFETY: the caller's.
    let name = unsafe { CStr::from_ptr(stream) };
    Some((name, streams::find(name)?))
}

fn finish(stream: &CStr) {
    for subscriber in all() {
        // SAFETY: a subscriber's function and a C string.
        unsafe { (subscriber.finish)(stream.as_ptr()) };
    }
}
