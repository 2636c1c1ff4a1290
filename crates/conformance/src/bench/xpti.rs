//! The XPTI framework call by call: `libxptifw.so.1` of ours against Intel's, both loaded here, in turns.
//!
//! Cases that end in `-2t` run on two threads at once and give the time of one operation of one thread. `composite-memcpy` is
//! the mix of calls that DPC++ makes for one USM copy and its wait with a subscriber on stream `sycl`. `dpctl-memcpy` is what
//! tracing adds to such a copy in a real program, with an empty subscriber on every stream.

use std::ffi::{CStr, c_void};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use level_zero::{Error, Result};
use xpti_sys::{Functions, payload_flag, payload_t, trace_event_data_t, xpti_tracepoint_t};

use crate::{Better, NO_PEER, Row, measure, peers};

/// Many short runs: one of some milliseconds would often be interrupted.
const RUNS: usize = 41;

/// A loaded framework with a stream that is listened to, one that is not, and an event.
struct Library {
    api: Functions,
    stream: u8,
    silent: u8,
    event: *mut trace_event_data_t,
    next_line: AtomicU32,
    next_value: AtomicU64,
}
// SAFETY: the event is only passed on; the framework's functions may be called from any thread.
unsafe impl Sync for Library {}

unsafe extern "C-unwind" fn listen(
    _: u16,
    _: *mut trace_event_data_t,
    _: *mut trace_event_data_t,
    instance: u64,
    _: *const c_void,
) {
    black_box(instance);
}

unsafe extern "C-unwind" fn listen_too(
    _: u16,
    _: *mut trace_event_data_t,
    _: *mut trace_event_data_t,
    instance: u64,
    _: *const c_void,
) {
    black_box(!instance);
}

fn payload(name: &'static CStr, line: u32) -> payload_t {
    payload_t {
        name: name.as_ptr(),
        stack_trace: null(),
        source_file: c"app.cpp".as_ptr(),
        line_no: line,
        column_no: 1,
        code_ptr_va: null(),
        internal: 0,
        flags: payload_flag::NAME
            | payload_flag::SOURCE_FILE
            | payload_flag::LINE
            | payload_flag::COLUMN,
        p1: 0,
        p2: 0,
        p3: 0,
    }
}

impl Library {
    fn open(path: &Path) -> Result<Self> {
        let failed = |error: String| Error::Argument(format!("{}: {error}", path.display()));
        // SAFETY: a framework library; its initialisers run once.
        let library =
            unsafe { libloading::Library::new(path) }.map_err(|error| failed(error.to_string()))?;
        // SAFETY: the exports of these names have the types of the ABI; the library is never closed.
        let api = unsafe {
            Functions::load(|name| {
                library
                    .get::<*const c_void>(name)
                    .map_or(null(), |symbol| *symbol)
            })
        };
        std::mem::forget(library);
        let api = api.ok_or_else(|| failed("not a whole XPTI framework".to_owned()))?;
        let mut made = Self {
            api,
            stream: 0,
            silent: 0,
            event: null_mut(),
            next_line: AtomicU32::new(1),
            next_value: AtomicU64::new(1),
        };
        // SAFETY: C strings, callbacks of this program, a valid payload.
        unsafe {
            (made.api.xptiFrameworkInitialize)();
            (made.api.xptiForceSetTraceEnabled)(1);
            made.stream = (made.api.xptiRegisterStream)(c"bench.heard".as_ptr());
            made.silent = (made.api.xptiRegisterStream)(c"bench.silent".as_ptr());
            for kind in [4, 10, 11, 12, 28] {
                (made.api.xptiRegisterCallback)(made.stream, kind, Some(listen));
            }
            (made.api.xptiRegisterCallback)(made.stream, 12, Some(listen_too));
        }
        made.event = made.make(c"bench", 1);
        if made.event.is_null() {
            return Err(failed("no event".to_owned()));
        }
        Ok(made)
    }

    fn make(&self, name: &'static CStr, line: u32) -> *mut trace_event_data_t {
        let mut payload = payload(name, line);
        let mut instance = 0;
        // SAFETY: a valid payload and a place to write to.
        unsafe { (self.api.xptiMakeEvent)(c"".as_ptr(), &raw mut payload, 2, 1, &raw mut instance) }
    }

    fn check(&self, stream: u8, kind: u16) -> bool {
        // SAFETY: any numbers.
        black_box(unsafe { (self.api.xptiCheckTraceEnabled)(stream, kind) })
    }

    fn notify(&self, kind: u16, event: *mut trace_event_data_t, instance: u64, data: &CStr) {
        // SAFETY: a living event or null, text.
        unsafe {
            (self.api.xptiNotifySubscribers)(
                self.stream,
                kind,
                self.event,
                event,
                instance,
                data.as_ptr().cast(),
            )
        };
    }

    fn create(&self, name: &CStr, line: u32) -> *mut xpti_tracepoint_t {
        // SAFETY: C strings.
        unsafe {
            (self.api.xptiCreateTracepoint)(name.as_ptr(), c"app.cpp".as_ptr(), line, 0, null_mut())
        }
    }

    fn delete(&self, tracepoint: *mut xpti_tracepoint_t) {
        // SAFETY: made by the same library, deleted once.
        unsafe { (self.api.xptiDeleteTracepoint)(tracepoint) };
    }

    fn object(&self, value: u64) -> i32 {
        let bytes = value.to_le_bytes();
        // SAFETY: the array's memory.
        unsafe { (self.api.xptiRegisterObject)(bytes.as_ptr().cast(), bytes.len(), 3) }
    }

    fn set(&self, event: *mut trace_event_data_t, key: &CStr, object: i32) {
        // SAFETY: a living event and a C string.
        unsafe { (self.api.xptiAddMetadata)(event, key.as_ptr(), object) };
    }

    /// The calls of DPC++ 2026.2 for one USM copy and its wait.
    fn composite(&self) {
        let api = &self.api;
        let kind = c"memory_transfer_node::memcpy";
        // SAFETY: C strings and objects that were just made; each call as DPC++ makes it.
        unsafe {
            black_box((api.xptiTraceEnabled)());
            (api.xptiStashTuple)(c"queue_id".as_ptr(), 3);
            black_box((api.xptiGetDefaultStreamID)());
            if (api.xptiGetTracepointScopeData)().is_null() {
                let tracepoint = (api.xptiRegisterTracepointScope)(
                    c"memcpy".as_ptr(),
                    c"app.cpp".as_ptr(),
                    24,
                    0,
                    null_mut(),
                )
                .cast_mut();
                (api.xptiSetTracepointScopeData)(tracepoint);
                let event = ((*(*tracepoint).vtable).event_ref)(tracepoint);
                black_box((api.xptiTraceEnabled)());
                for (key, value) in [
                    (c"sycl_device", 4711),
                    (c"src_memory_ptr", 0x1000),
                    (c"dest_memory_ptr", 0x2000),
                    (c"memory_size", 1024),
                    (c"queue_id", 3),
                ] {
                    self.set(event, key, self.object(value));
                }
                black_box((api.xptiTraceEnabled)());
                if self.check(self.stream, 4) {
                    self.notify(4, event, (api.xptiGetUniqueId)(), kind);
                }
                let id = (api.xptiGetUniqueId)();
                black_box((api.xptiTraceEnabled)());
                self.check(self.stream, 0);
                for end in [10, 11] {
                    if self.check(self.stream, end) {
                        self.notify(end, event, id, kind);
                    }
                }
                self.delete(tracepoint);
                (api.xptiUnsetTracepointScopeData)();
            }
            self.check(self.stream, 0);
            let id = (api.xptiGetUniqueId)();
            for end in [10, 11] {
                if self.check(self.stream, end) {
                    self.notify(end, self.event, id, c"event.wait[0]");
                }
            }
            (api.xptiUnstashTuple)();
        }
    }
}

type Work = fn(&Library, u32);

/// Name, calls of a measurement, threads that run it, what runs.
const CASES: &[(&str, u32, &[usize], Work)] = &[
    ("check-hit", 400_000, &[1, 2], |l, n| {
        for _ in 0..n {
            l.check(l.stream, 10);
        }
    }),
    ("check-miss-type", 400_000, &[1], |l, n| {
        for _ in 0..n {
            l.check(l.stream, 60);
        }
    }),
    ("check-miss-stream", 400_000, &[1], |l, n| {
        for _ in 0..n {
            l.check(l.silent, 10);
        }
    }),
    ("check-any", 400_000, &[1], |l, n| {
        for _ in 0..n {
            l.check(l.stream, 0);
        }
    }),
    ("trace-enabled", 400_000, &[1], |l, n| {
        for _ in 0..n {
            // SAFETY: no arguments.
            black_box(unsafe { (l.api.xptiTraceEnabled)() });
        }
    }),
    ("notify-0", 300_000, &[1, 2], |l, n| {
        for i in 0..n {
            l.notify(60, l.event, u64::from(i), c"");
        }
    }),
    ("notify-1", 200_000, &[1, 2], |l, n| {
        for i in 0..n {
            l.notify(10, l.event, u64::from(i), c"");
        }
    }),
    ("notify-2", 100_000, &[1], |l, n| {
        for i in 0..n {
            l.notify(12, l.event, u64::from(i), c"");
        }
    }),
    ("notify-1-no-event", 200_000, &[1], |l, n| {
        for i in 0..n {
            l.notify(28, null_mut(), u64::from(i), c"x");
        }
    }),
    ("unique-id", 400_000, &[1, 2], |l, n| {
        for _ in 0..n {
            // SAFETY: no arguments.
            black_box(unsafe { (l.api.xptiGetUniqueId)() });
        }
    }),
    ("universal-id", 400_000, &[1], |l, n| {
        for _ in 0..n {
            // SAFETY: no arguments.
            black_box(unsafe { (l.api.xptiGetUniversalId)() });
        }
    }),
    ("stash", 200_000, &[1], |l, n| {
        for i in 0..n {
            let (mut key, mut value) = (null_mut(), 0);
            // SAFETY: a literal and places to write to.
            unsafe {
                (l.api.xptiStashTuple)(c"queue_id".as_ptr(), u64::from(i));
                (l.api.xptiGetStashedTuple)(&raw mut key, &raw mut value);
            }
            black_box(value);
        }
    }),
    ("string-repeat", 200_000, &[1], |l, n| {
        for _ in 0..n {
            let mut copy = null_mut();
            // SAFETY: a C string and a place to write to.
            black_box(unsafe {
                (l.api.xptiRegisterString)(c"sycl_device_name".as_ptr(), &raw mut copy)
            });
        }
    }),
    ("string-lookup", 200_000, &[1], |l, n| {
        let mut copy = null_mut();
        // SAFETY: a C string and a place to write to.
        let id = unsafe { (l.api.xptiRegisterString)(c"sycl_device_name".as_ptr(), &raw mut copy) };
        for _ in 0..n {
            // SAFETY: any number.
            black_box(unsafe { (l.api.xptiLookupString)(id) });
        }
    }),
    ("object-repeat", 200_000, &[1], |l, n| {
        for _ in 0..n {
            black_box(l.object(4711));
        }
    }),
    ("object-new", 10_000, &[1], |l, n| {
        for _ in 0..n {
            let value = l.next_value.fetch_add(1, Ordering::Relaxed);
            black_box(l.object(value.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        }
    }),
    ("object-lookup", 200_000, &[1], |l, n| {
        let id = l.object(4711);
        for _ in 0..n {
            // SAFETY: a number of this library.
            black_box(unsafe { (l.api.xptiLookupObject)(id) });
        }
    }),
    ("make-first", 5_000, &[1, 2], |l, n| {
        for _ in 0..n {
            l.make(c"fn_first", l.next_line.fetch_add(1, Ordering::Relaxed));
        }
    }),
    ("make-repeat", 5_000, &[1], |l, n| {
        for _ in 0..n {
            l.make(c"fn_repeat", 7);
        }
    }),
    ("make-release", 20_000, &[1], |l, n| {
        for _ in 0..n {
            let event = l.make(c"fn_repeat", 7);
            // SAFETY: just made, released once.
            unsafe { (l.api.xptiReleaseEvent)(event) };
        }
    }),
    ("tracepoint-create-delete", 20_000, &[1, 2], |l, n| {
        for _ in 0..n {
            l.delete(l.create(c"fn_tp", 9));
        }
    }),
    ("find-event", 200_000, &[1], |l, n| {
        // SAFETY: a living event.
        let uid = unsafe { (*l.event).unique_id };
        for _ in 0..n {
            // SAFETY: any number.
            black_box(unsafe { (l.api.xptiFindEvent)(uid) });
        }
    }),
    ("metadata-overwrite", 200_000, &[1], |l, n| {
        for i in 0..n {
            l.set(l.event, c"key", i.cast_signed());
        }
    }),
    ("metadata-6", 10_000, &[1], |l, n| {
        for _ in 0..n {
            let tracepoint = l.create(c"fn_metadata", 9);
            // SAFETY: a living tracepoint and its own function.
            let event = unsafe { ((*(*tracepoint).vtable).event_ref)(tracepoint) };
            for key in [c"a1", c"a2", c"a3", c"a4", c"a5", c"a6"] {
                l.set(event, key, 1);
            }
            l.delete(tracepoint);
        }
    }),
    ("composite-memcpy", 5_000, &[1, 2], |l, n| {
        for _ in 0..n {
            l.composite();
        }
    }),
];

/// Nanoseconds of one operation of one thread.
fn time(library: &Library, threads: usize, count: u32, work: Work) -> f64 {
    let start = Barrier::new(threads);
    let longest = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    let began = Instant::now();
                    work(library, count);
                    began.elapsed()
                })
            })
            .collect();
        runs.into_iter()
            .filter_map(|run| run.join().ok())
            .max()
            .unwrap_or_default()
    });
    longest.as_nanos() as f64 / f64::from(count)
}

/// Runs the area, or the named cases of it; without Intel's library if `alone`, and then without the case that needs
/// what comes with it.
pub(crate) fn run(cases: &[&str], alone: bool, emit: &mut dyn FnMut(Row)) -> Result<()> {
    let ours = conformance::artefacts().join("libxptifw.so.1");
    let peer = if alone { None } else { Some(peer()?) };
    if let Some(peer) = &peer {
        let both = peers::INTEL_XPTI.check(peer);
        both.and_then(|()| peers::check_ours(&ours))
            .map_err(Error::Argument)?;
    }
    let mine = Library::open(&ours)?;
    let theirs = peer.as_deref().map(Library::open).transpose()?;
    let wanted = |name: &str| cases.is_empty() || cases.contains(&name);
    for (name, count, threads, work) in CASES {
        for threads in *threads {
            let case = match threads {
                1 => (*name).to_owned(),
                more => format!("{name}-{more}t"),
            };
            if !wanted(&case) {
                continue;
            }
            let of = |library: Option<&Library>| {
                library.map_or(f64::NAN, |library| time(library, *threads, *count, *work))
            };
            let (mine, theirs) = (|| of(Some(&mine)), || of(theirs.as_ref()));
            mine();
            theirs();
            let name = if alone { NO_PEER } else { "intel" };
            let unit = ("ns", Better::Lower);
            emit(measure("xpti", &case, unit, name, RUNS, mine, theirs));
        }
    }
    if let Some(peer) = peer.filter(|_| wanted("dpctl-memcpy")) {
        match Program::prepare(&ours, &peer) {
            Ok(program) => emit(program.measure()),
            Err(reason) => eprintln!("bench: xpti: dpctl-memcpy left out: {reason}"),
        }
    }
    Ok(())
}

/// Intel's library.
fn peer() -> Result<PathBuf> {
    std::env::var_os("SOLUM_PEER_XPTI")
        .map(PathBuf::from)
        .ok_or_else(|| {
            Error::Argument(
                "SOLUM_PEER_XPTI names Intel's libxptifw.so.1; ./x bench xpti sets it".to_owned(),
            )
        })
}

/// A dpctl program that copies and waits, with and without tracing.
struct Program {
    listener: PathBuf,
    python: PathBuf,
    ours: PathBuf,
    peer: PathBuf,
}

impl Program {
    fn prepare(ours: &Path, peer: &Path) -> std::result::Result<Self, String> {
        let python = peer
            .parent()
            .and_then(Path::parent)
            .map(|venv| venv.join("bin/python"))
            .filter(|python| python.exists())
            .ok_or("no Python with dpctl beside Intel's library")?;
        let listener = std::env::temp_dir().join(format!("listener-{}.so", std::process::id()));
        let built = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(&listener)
            .arg(conformance::root().join("crates/conformance/c/xpti_listener.c"))
            .arg("-ldl")
            .status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("cc could not build the listener".to_owned());
        }
        Ok(Self {
            listener,
            python,
            ours: ours.to_owned(),
            peer: peer.to_owned(),
        })
    }

    /// Nanoseconds of a copy, the best of one process; NaN when it failed.
    fn copy(&self, framework: Option<&Path>) -> f64 {
        let mut command = Command::new(conformance::artefacts().join("solum"));
        command.args(["run", "--"]).arg(&self.python);
        command.arg(conformance::root().join("tests/wheels/bench_memcpy.py"));
        if let Some(framework) = framework {
            command.env("XPTI_FRAMEWORK_DISPATCHER", framework);
            command.env("XPTI_SUBSCRIBERS", &self.listener);
            command.env("XPTI_TRACE_ENABLE", "1");
            command.env("UR_ENABLE_LAYERS", "UR_LAYER_TRACING");
        }
        command
            .output()
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok())
            .unwrap_or(f64::NAN)
    }

    fn measure(&self) -> Row {
        let plain = (0..5)
            .map(|_| self.copy(None))
            .fold(f64::INFINITY, f64::min);
        measure(
            "xpti",
            "dpctl-memcpy",
            ("ns", Better::Lower),
            "intel",
            7,
            || self.copy(Some(&self.ours)) - plain,
            || self.copy(Some(&self.peer)) - plain,
        )
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A file in the folder for such files; the next boot clears it otherwise.
        let _ = std::fs::remove_file(&self.listener);
    }
}
