//! zeInit, zeInitDrivers, zesInit and the lists of drivers. They take a lock while drivers are initialised.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use level_zero_sys as sys;
use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ENUMERATION, ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS,
    ze_driver_handle_t, ze_result_t, zes_driver_handle_t,
};

use crate::candidate::{self, Candidate, Class, is_on};
use crate::default_driver::DefaultDriver;
use crate::generated::legacy_facts::DRIVER;
use crate::guard::guarded;
use crate::legacy_driver::LegacyDriver;
use crate::legacy_tables;
use crate::library::{Handles, Library};
use crate::log::Level;
use crate::order::{self, Rank};
use crate::refusals::not_ready;
use crate::wrapper::{Origin, wrap};
use crate::{dispatch_table, driver, log, phase, text};

const NO_MEMORY: &str = "the loader cannot allocate memory for wrapping its handles";
/// Larger numbers of drivers are treated as errors of the library.
const COUNT_BOUND: u32 = 256;

/// A driver handle that has passed the checks.
struct Record {
    handle: ze_driver_handle_t,
    library: usize,
    /// Queried only if there are several drivers.
    rank: Option<Rank>,
    /// Whether the library's `zeDriverGet` returned it (a driver may return other handles from `zeInitDrivers`).
    enumerable: bool,
}

// SAFETY: handles are addresses that Level Zero lets any thread use.
unsafe impl Send for Record {}

struct SysmanRecord(zes_driver_handle_t);

// SAFETY: as for `Record`.
unsafe impl Send for SysmanRecord {}

/// The drivers of this process.
struct Loader {
    /// Candidates that were not tried yet.
    candidates: Vec<Option<Candidate>>,
    libraries: Vec<Library>,
    /// For each candidate the reason why it is not used.
    refusals: Vec<(String, String)>,
    records: Vec<Record>,
    sysman: Vec<SysmanRecord>,
    sysman_done: bool,
}

/// The lists that calls read without a lock. They are replaced as a whole and never freed, because readers are not
/// counted.
pub(crate) struct Snapshot {
    pub(crate) drivers: Vec<ze_driver_handle_t>,
    sysman: Vec<zes_driver_handle_t>,
}

static LOADER: Mutex<Loader> = Mutex::new(Loader {
    candidates: Vec::new(),
    libraries: Vec::new(),
    refusals: Vec::new(),
    records: Vec::new(),
    sysman: Vec::new(),
    sysman_done: false,
});
static SNAPSHOT: AtomicPtr<Snapshot> = AtomicPtr::new(std::ptr::null_mut());
/// `zeInit` has succeeded; later calls return without taking the lock.
static INIT_DONE: AtomicBool = AtomicBool::new(false);
/// The process that looked for drivers, or 0.
static PROCESS: AtomicI32 = AtomicI32::new(0);
/// The thread inside an init function, or 0: a driver that calls back must not wait for itself.
static INSIDE: AtomicI32 = AtomicI32::new(0);

/// The published lists; `None` before the first success.
pub(crate) fn snapshot() -> Option<&'static Snapshot> {
    // SAFETY: null or a leaked box, published with Release.
    unsafe { SNAPSHOT.load(Ordering::Acquire).as_ref() }
}

fn current_process() -> i32 {
    // SAFETY: no arguments, no failure.
    unsafe { libc::getpid() }
}

/// Makes this the process that looks for drivers, unless another one did; before any lock that a fork could copy.
pub(crate) fn claim_process() {
    // A failed exchange means that the process is known: this one, or its parent.
    let _ = PROCESS.compare_exchange(0, current_process(), Ordering::AcqRel, Ordering::Relaxed);
}

/// Whether this is a child forked after drivers were found: it lacks their threads, and locks may be held.
pub(crate) fn is_forked() -> bool {
    let process = PROCESS.load(Ordering::Acquire);
    process != 0 && process != current_process()
}

/// Marks the thread inside an init function; also cleared by a panic.
struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.store(0, Ordering::Release);
    }
}

/// Runs an init function under the lock, after all checks that can reject it.
fn session(
    name: &'static &'static str,
    body: impl FnOnce(&mut Loader) -> ze_result_t,
) -> ze_result_t {
    guarded(name, || {
        if phase::is_torn_down() {
            return not_ready(name);
        }
        if is_forked() {
            text::set_cause(format_args!(
                "{name}: this process was forked after Level Zero was initialised; the drivers work only in the parent. \
                 Start a new process image (exec), or initialise for the first time after the fork."
            ));
            return ZE_RESULT_ERROR_UNINITIALIZED;
        }
        // SAFETY: no arguments, no failure.
        let thread = unsafe { libc::gettid() };
        if INSIDE.load(Ordering::Acquire) == thread {
            text::set_cause(format_args!(
                "{name}: a driver called it during its own initialisation"
            ));
            return ZE_RESULT_ERROR_UNINITIALIZED;
        }
        let mut loader = LOADER.lock().unwrap_or_else(PoisonError::into_inner);
        PROCESS.store(current_process(), Ordering::Release);
        INSIDE.store(thread, Ordering::Release);
        let _inside = Inside;
        body(&mut loader)
    })
}

impl Loader {
    /// Opens the selected candidates that are not open yet. Returns whether any library is open. Until one is, each
    /// attempt reads the environment again.
    fn discover(&mut self, wanted: impl Fn(Class) -> bool, what: fmt::Arguments<'_>) -> bool {
        if self.libraries.is_empty() {
            self.refusals.clear();
            self.candidates = candidate::all().into_iter().map(Some).collect();
        }
        for place in 0..self.candidates.len() {
            let Some(candidate) = self.candidates[place].take() else {
                continue;
            };
            let name = candidate.name.to_string_lossy().into_owned();
            if !wanted(candidate.class) {
                self.candidates[place] = Some(candidate);
                self.refuse(name, format!("not selected by {what}"));
                continue;
            }
            match Library::open(&candidate, place, &self.libraries) {
                Ok(library) => {
                    log::line(Level::Info, format_args!("opened {name}"));
                    self.libraries.push(library);
                }
                Err(reason) => self.refuse(name, reason),
            }
        }
        phase::set_discovered(!self.libraries.is_empty());
        !self.libraries.is_empty()
    }

    /// Records why a candidate is not used; the latest reason counts.
    fn refuse(&mut self, name: String, reason: String) {
        log::line(Level::Warn, format_args!("not used: {name}: {reason}"));
        match self.refusals.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = reason,
            None => self.refusals.push((name, reason)),
        }
    }

    fn refuse_library(&mut self, index: usize, reason: String) {
        let name = self.libraries[index].name.to_string_lossy().into_owned();
        self.refuse(name, reason);
    }

    /// Sets the reasons as this thread's last-error text.
    fn explain(&self, name: &str) {
        let mut reasons = String::new();
        for (candidate, reason) in &self.refusals {
            let candidate = if candidate.is_empty() {
                "\"\""
            } else {
                candidate
            };
            // Writing to a string does not fail.
            let _ = write!(reasons, "\n  {candidate}: {reason}");
        }
        text::set_cause(format_args!(
            "{name}: no usable Level Zero driver was found. Tried:{reasons}"
        ));
    }

    /// Accepts a driver handle after its checks. Returns the application's handle, which is a wrapper for some drivers.
    ///
    /// # Safety
    /// `handle` came from this library's `zeDriverGet` or `zeInitDrivers`.
    unsafe fn admit(
        &mut self,
        library: usize,
        handle: ze_driver_handle_t,
        enumerable: bool,
    ) -> Option<ze_driver_handle_t> {
        // SAFETY: guaranteed by the caller.
        let shown = match unsafe { self.shown(library, handle) } {
            Ok(shown) => shown,
            Err(reason) => {
                self.refuse_library(library, reason);
                return None;
            }
        };
        match self
            .records
            .iter_mut()
            .find(|record| record.handle == shown)
        {
            Some(record) => record.enumerable |= enumerable,
            None => self.records.push(Record {
                handle: shown,
                library,
                rank: None,
                enumerable,
            }),
        }
        Some(shown)
    }

    /// The application's handle for a driver handle; the first one decides for its library.
    ///
    /// # Safety
    /// As [`Loader::admit`].
    unsafe fn shown(
        &mut self,
        library: usize,
        handle: ze_driver_handle_t,
    ) -> Result<ze_driver_handle_t, String> {
        let known = self
            .records
            .iter()
            .any(|record| record.handle == handle && record.library == library);
        if known {
            return Ok(handle);
        }
        let entry = &mut self.libraries[library];
        if entry.handles.is_none() {
            // SAFETY: guaranteed by the caller.
            entry.handles = Some(match unsafe { driver::judge(entry, handle) }? {
                driver::Verdict::Ddi => Handles::Ddi,
                driver::Verdict::Wrap(reason, version) => {
                    log::line(
                        Level::Info,
                        format_args!("wrapped: {}: {reason}", entry.name.to_string_lossy()),
                    );
                    Handles::Wrapped(LegacyDriver::new(entry, version, legacy_tables::header()))
                }
            });
        }
        match entry.handles {
            Some(Handles::Wrapped(legacy)) => {
                if handle.is_null() {
                    return Err("the driver returned a null handle".into());
                }
                wrap(legacy, DRIVER, handle, Origin::Known).ok_or_else(|| NO_MEMORY.into())
            }
            // SAFETY: as above.
            _ => match unsafe { driver::judge(entry, handle) }? {
                driver::Verdict::Ddi => Ok(handle),
                driver::Verdict::Wrap(reason, _) => Err(format!(
                    "one of its drivers differs from the first: {reason}"
                )),
            },
        }
    }

    /// Gets the drivers of an initialised library. Returns whether at least one is usable.
    fn enumerate(&mut self, index: usize) -> bool {
        let Some(get) = self.libraries[index].driver.pfnGet else {
            return false;
        };
        // SAFETY: the library's own function.
        let handles = collect(|count, array| unsafe { get(count, array) });
        match handles {
            Ok(handles) => {
                let mut any = false;
                for handle in handles {
                    // SAFETY: the handle is this library's.
                    any |= unsafe { self.admit(index, handle, true) }.is_some();
                }
                any
            }
            Err(error) => {
                let more = self.libraries[index].last_error();
                self.refuse_library(index, format!("zeDriverGet returned {error}{more}"));
                false
            }
        }
    }

    /// Initialises the core of one library. Returns whether it has a usable driver.
    fn init_core(&mut self, index: usize, flags: u32) -> bool {
        let Some(init) = self.libraries[index].global.pfnInit else {
            self.refuse_library(index, "zeInit is missing".into());
            return false;
        };
        // SAFETY: the library's own function; any flags may be passed.
        let result = unsafe { init(flags) };
        if result != ZE_RESULT_SUCCESS {
            let more = self.libraries[index].last_error();
            self.refuse_library(
                index,
                format!("zeInit({flags:#x}) returned {result:?}{more}"),
            );
            return false;
        }
        self.enumerate(index)
    }

    /// Sorts the drivers by their devices, ours last, then as `ZEL_DRIVERS_ORDER` says. Program instrumentation leaves
    /// them unsorted.
    fn sort(&mut self) {
        let libraries = &self.libraries;
        self.records
            .sort_by_key(|record| libraries[record.library].place);
        // A single driver needs no order, and querying devices would start it up.
        if self.records.len() < 2 || is_on("ZET_ENABLE_PROGRAM_INSTRUMENTATION") {
            return;
        }
        for record in &mut self.records {
            // SAFETY: records have passed the checks.
            record.rank = Some(
                record
                    .rank
                    .unwrap_or_else(|| unsafe { driver::rank(record.handle) }),
            );
        }
        let rank = |record: &Record| record.rank.unwrap_or(Rank::Other);
        let reversed = is_on("ZE_ENABLE_PCI_ID_DEVICE_ORDER");
        self.records.sort_by_key(|record| {
            order::key(libraries[record.library].own, rank(record), reversed)
        });
        if let Some(list) = std::env::var_os("ZEL_DRIVERS_ORDER") {
            let ranks: Vec<_> = self.records.iter().map(rank).collect();
            let mut sorted: Vec<_> = self.records.drain(..).map(Some).collect();
            let order = order::explicit(&list.to_string_lossy(), &ranks);
            self.records
                .extend(order.into_iter().filter_map(|place| sorted[place].take()));
        }
    }

    /// Sorts and publishes the lists, and marks the loader as ready.
    fn publish(&mut self) {
        self.sort();
        let drivers: Vec<_> = self
            .records
            .iter()
            .filter(|record| record.enumerable)
            .map(|record| record.handle)
            .collect();
        let sysman: Vec<_> = self.sysman.iter().map(|record| record.0).collect();
        let same = snapshot().is_some_and(|old| old.drivers == drivers && old.sysman == sysman);
        if !same {
            for record in &self.records {
                log::line(
                    Level::Info,
                    format_args!(
                        "driver {:p} of {}, {:?}",
                        record.handle,
                        self.libraries[record.library].name.to_string_lossy(),
                        record.rank
                    ),
                );
            }
            let first = drivers.first().copied().map(DefaultDriver::of);
            text::set_default_driver(first.and_then(|driver| driver.functions()));
            // Leaked on purpose, because readers of an older list are not counted.
            SNAPSHOT.store(
                Box::into_raw(Box::new(Snapshot { drivers, sysman })),
                Ordering::Release,
            );
        }
        text::clear();
        dispatch_table::mark_ready();
    }
}

/// Two-call enumeration of a library's handles; returns errors as text.
fn collect<T>(call: impl Fn(*mut u32, *mut *mut T) -> ze_result_t) -> Result<Vec<*mut T>, String> {
    let mut count = 0;
    let result = call(&raw mut count, std::ptr::null_mut());
    if result != ZE_RESULT_SUCCESS {
        return Err(format!("{result:?}"));
    }
    if count > COUNT_BOUND {
        return Err(format!(
            "with {count} drivers, more than the limit of {COUNT_BOUND}"
        ));
    }
    let mut handles = vec![std::ptr::null_mut(); count as usize];
    if count > 0 {
        let result = call(&raw mut count, handles.as_mut_ptr());
        if result != ZE_RESULT_SUCCESS {
            return Err(format!("{result:?}"));
        }
        // A driver may return fewer the second time, never more than the array holds.
        handles.truncate(count as usize);
    }
    Ok(handles)
}

/// The count-and-array convention of Level Zero. With a null array the count is only written, so that a caller's
/// uninitialised count does no harm.
///
/// # Safety
/// `count` is null or writable; `out` is null or has room for `*count` elements.
unsafe fn answer<T: Copy>(
    name: &'static str,
    items: &[T],
    count: *mut u32,
    out: *mut T,
) -> ze_result_t {
    if count.is_null() {
        text::set(format_args!("{name}: pCount must not be null"));
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    let available = u32::try_from(items.len()).unwrap_or(u32::MAX);
    // SAFETY: guaranteed by the caller; copied elements are within both arrays.
    unsafe {
        if out.is_null() || *count == 0 {
            *count = available;
        } else {
            let taken = (*count).min(available);
            std::ptr::copy_nonoverlapping(items.as_ptr(), out, taken as usize);
            *count = taken;
        }
    }
    ZE_RESULT_SUCCESS
}

/// `zeLoaderInit`: finds and opens the driver libraries. Static loaders call it first, any number of times.
#[must_use]
pub fn loader_init() -> ze_result_t {
    if phase::is_discovered() {
        return ZE_RESULT_SUCCESS;
    }
    session(&"zeLoaderInit", |loader| {
        // NPU-only drivers are opened on request, or if there are no others.
        let what = "zeLoaderInit";
        if loader.discover(|class| class != Class::Npu, format_args!("{what}"))
            || loader.discover(|_| true, format_args!("{what}"))
        {
            return ZE_RESULT_SUCCESS;
        }
        loader.explain("zeLoaderInit");
        ZE_RESULT_ERROR_UNINITIALIZED
    })
}

/// `zeInit`: initialises the drivers that the flags select. Succeeds if one driver is usable; later calls return that
/// success and ignore their flags. After a failure the last-error text has the reasons, and the call may be repeated.
#[must_use]
pub fn init(flags: u32) -> ze_result_t {
    const NAME: &str = "zeInit";
    if INIT_DONE.load(Ordering::Acquire) && !phase::is_torn_down() && !is_forked() {
        text::clear();
        return ZE_RESULT_SUCCESS;
    }
    session(&NAME, |loader| {
        if INIT_DONE.load(Ordering::Acquire) {
            return ZE_RESULT_SUCCESS;
        }
        let mut any = false;
        if loader.discover(
            |class| class.matches_init(flags),
            format_args!("zeInit flags {flags:#x}"),
        ) {
            for index in 0..loader.libraries.len() {
                if loader.libraries[index].class.matches_init(flags) {
                    any |= loader.init_core(index, flags);
                } else {
                    loader
                        .refuse_library(index, format!("not selected by zeInit flags {flags:#x}"));
                }
            }
        }
        if !any {
            loader.explain(NAME);
            return ZE_RESULT_ERROR_UNINITIALIZED;
        }
        loader.publish();
        INIT_DONE.store(true, Ordering::Release);
        ZE_RESULT_SUCCESS
    })
}

/// `zeInitDrivers`: calls each selected driver every time and returns the handles in this process's order.
///
/// # Safety
/// As Level Zero requires: pointers are null or valid, `drivers` has room for `*count` handles.
pub unsafe fn init_drivers(
    count: *mut u32,
    drivers: *mut ze_driver_handle_t,
    desc: *mut sys::ze_init_driver_type_desc_t,
) -> ze_result_t {
    const NAME: &str = "zeInitDrivers";
    session(&NAME, |loader| {
        for (argument, null) in [("pCount", count.is_null()), ("desc", desc.is_null())] {
            if null {
                text::set(format_args!("{NAME}: {argument} must not be null"));
                return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
            }
        }
        // SAFETY: non-null, and readable by the caller's contract.
        let flags = unsafe { (*desc).flags };
        if flags == 0 {
            text::set(format_args!(
                "{NAME}: desc->flags is 0; set at least one driver type (GPU 1, NPU 2)"
            ));
            return ZE_RESULT_ERROR_INVALID_ENUMERATION;
        }
        let mut found = Vec::new();
        let mut last = None;
        if loader.discover(
            |class| class.matches_types(flags),
            format_args!("zeInitDrivers flags {flags:#x}"),
        ) {
            for index in 0..loader.libraries.len() {
                match loader.drivers_of(index, flags, desc) {
                    Ok(handles) => found.extend(handles),
                    // A missing function is a weaker reason than one that failed.
                    Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) if last.is_some() => {}
                    Err(error) => last = Some(error),
                }
            }
        }
        if found.is_empty() {
            loader.explain(NAME);
            return last.unwrap_or(ZE_RESULT_ERROR_UNINITIALIZED);
        }
        loader.publish();
        let ordered: Vec<_> = (loader.records.iter().map(|record| record.handle))
            .filter(|handle| found.contains(handle))
            .collect();
        // SAFETY: guaranteed by the caller.
        unsafe { answer(NAME, &ordered, count, drivers) }
    })
}

impl Loader {
    /// The usable handles that one library returns for this descriptor, or the error of the whole call.
    fn drivers_of(
        &mut self,
        index: usize,
        flags: u32,
        desc: *mut sys::ze_init_driver_type_desc_t,
    ) -> Result<Vec<ze_driver_handle_t>, ze_result_t> {
        if !self.libraries[index].class.matches_types(flags) {
            self.refuse_library(
                index,
                format!("not selected by zeInitDrivers flags {flags:#x}"),
            );
            return Ok(Vec::new());
        }
        let Some(init) = self.libraries[index].global.pfnInitDrivers else {
            self.refuse_library(index, "zeInitDrivers is missing".into());
            return Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
        };
        let mut error = ZE_RESULT_SUCCESS;
        let handles = {
            let error = std::cell::Cell::from_mut(&mut error);
            collect(|count, array| {
                // SAFETY: the library's own function; the descriptor is the caller's.
                let result = unsafe { init(count, array, desc) };
                error.set(result);
                result
            })
        };
        match handles {
            Ok(handles) => {
                let mut usable = Vec::new();
                for handle in handles {
                    let enumerable = self.libraries[index].driver.pfnGet.is_none();
                    // SAFETY: the handle is this library's.
                    usable.extend(unsafe { self.admit(index, handle, enumerable) });
                }
                if !usable.is_empty() {
                    // Drivers initialised by any function can be enumerated by all.
                    self.enumerate(index);
                }
                Ok(usable)
            }
            Err(reason) => {
                let more = self.libraries[index].last_error();
                self.refuse_library(
                    index,
                    format!("zeInitDrivers(flags {flags:#x}) returned {reason}{more}"),
                );
                Err(if error == ZE_RESULT_SUCCESS {
                    ZE_RESULT_ERROR_UNINITIALIZED
                } else {
                    error
                })
            }
        }
    }
}

/// `zesInit`: initialises system management; drivers without it are skipped.
#[must_use]
pub fn sysman_init(flags: u32) -> ze_result_t {
    const NAME: &str = "zesInit";
    session(&NAME, |loader| {
        if loader.sysman_done {
            return ZE_RESULT_SUCCESS;
        }
        let mut found = Vec::new();
        if loader.discover(|_| true, format_args!("zesInit")) {
            for index in 0..loader.libraries.len() {
                match loader.sysman_of(index, flags) {
                    Ok(handles) => found.extend(handles.into_iter().map(SysmanRecord)),
                    Err(reason) => loader.refuse_library(index, reason),
                }
            }
        }
        if found.is_empty() {
            loader.explain(NAME);
            return ZE_RESULT_ERROR_UNINITIALIZED;
        }
        loader.sysman = found;
        loader.publish();
        loader.sysman_done = true;
        ZE_RESULT_SUCCESS
    })
}

impl Loader {
    /// Initialises system management of one library and checks its handles.
    fn sysman_of(&mut self, index: usize, flags: u32) -> Result<Vec<zes_driver_handle_t>, String> {
        let (Some(init), Some(get)) = (
            self.libraries[index].sysman_global.pfnInit,
            self.libraries[index].sysman_driver.pfnGet,
        ) else {
            return Err(
                "system management is not supported (zesInit or zesDriverGet is missing)".into(),
            );
        };
        // SAFETY: the library's own function; any flags may be passed.
        let result = unsafe { init(flags) };
        if result != ZE_RESULT_SUCCESS {
            return Err(format!(
                "zesInit returned {result:?}{}",
                self.libraries[index].last_error()
            ));
        }
        // Only the core driver shows whether handles have tables, so it is initialised first.
        let known = self.records.iter().any(|record| record.library == index);
        if !known && !self.init_core(index, 0) {
            return Err(
                "its core driver is not usable, so the type of its handles is unknown".into(),
            );
        }
        // SAFETY: the library's own function.
        let handles = collect(|count, array| unsafe { get(count, array) })
            .map_err(|error| format!("zesDriverGet returned {error}"))?;
        let dispatch = self.libraries[index].handles;
        let shown = handles.into_iter().map(|handle| {
            if handle.is_null() {
                return Err("the driver returned a null sysman handle".into());
            }
            if let Some(Handles::Wrapped(legacy)) = dispatch {
                return wrap(legacy, DRIVER, handle, Origin::Known).ok_or_else(|| NO_MEMORY.into());
            }
            // SAFETY: an object of a driver whose core driver has DDI handles.
            unsafe { driver::check_header(handle.cast_const().cast()) }.map(|()| handle)
        });
        shown.collect()
    }
}

/// `zeDriverGet`: the usable drivers in order; lock-free.
///
/// # Safety
/// As Level Zero requires: `count` is null or valid, `drivers` is null or has room for `*count` handles.
pub unsafe fn driver_get(count: *mut u32, drivers: *mut ze_driver_handle_t) -> ze_result_t {
    const NAME: &str = "zeDriverGet";
    match snapshot().filter(|lists| phase::is_ready() && !lists.drivers.is_empty()) {
        // SAFETY: guaranteed by the caller.
        Some(lists) => unsafe { answer(NAME, &lists.drivers, count, drivers) },
        None => not_ready(&NAME),
    }
}

/// `zesDriverGet`: the drivers whose system management is initialised; lock-free.
///
/// # Safety
/// As [`driver_get`].
pub unsafe fn sysman_driver_get(count: *mut u32, drivers: *mut zes_driver_handle_t) -> ze_result_t {
    const NAME: &str = "zesDriverGet";
    match snapshot().filter(|lists| phase::is_ready() && !lists.sysman.is_empty()) {
        // SAFETY: guaranteed by the caller.
        Some(lists) => unsafe { answer(NAME, &lists.sysman, count, drivers) },
        None => not_ready(&NAME),
    }
}
