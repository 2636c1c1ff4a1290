//! The time that a loader adds to a call: an entry of `libze_loader.so.1` against the driver's own function, beside up to seven
//! other drivers, with and without DDI handles, with layers, and against the reference loader where one is installed or
//! `SOLUM_PEER_LOADER` names one.
//!
//! Each case is a process of its own, as a process has one set of drivers; it alternates both calls and reports minima
//! and medians. The driver that is measured is ours; the others are stubs.

use std::ffi::{OsStr, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::null_mut;
use std::time::Instant;

use level_zero::sys::*;
use level_zero::{Error, Result};
use libloading::Library;

use crate::Row;
use crate::peers::{self, REFERENCE_LOADER};

/// Rounds of each case, as the issue counts them.
const ROUNDS: usize = 21;
/// Parts of a round, of which the shortest counts: a machine that does other things besides leaves some of them alone.
const PARTS: usize = 20;
/// Calls in a part.
const CALLS: u32 = 20_000;

/// One case: its name, how many stubs stand beside, and the environment.
struct Case {
    name: &'static str,
    what: &'static str,
    stubs: usize,
    environment: &'static [(&'static str, &'static str)],
    /// Also through the reference loader.
    reference: bool,
}

const fn case(
    name: &'static str,
    stubs: usize,
    environment: &'static [(&'static str, &'static str)],
) -> Case {
    Case {
        name,
        what: "query",
        stubs,
        environment,
        reference: true,
    }
}

const LEGACY: (&str, &str) = ("SOLUM_STUB_LEGACY", "1");
const WRAPPED: (&str, &str) = ("ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0");
const TRACING: (&str, &str) = ("ZE_ENABLE_TRACING_LAYER", "1");
const VALIDATION: (&str, &str) = ("ZE_ENABLE_VALIDATION_LAYER", "1");
const PARAMETERS: (&str, &str) = ("ZE_ENABLE_PARAMETER_VALIDATION", "1");
const LIFETIME: (&str, &str) = ("ZE_ENABLE_HANDLE_LIFETIME", "1");

const CASES: [Case; 23] = [
    case("ddi-1", 0, &[]),
    case("ddi-2", 1, &[]),
    case("ddi-4", 3, &[]),
    case("ddi-8", 7, &[]),
    // Ours through DDI handles, a legacy driver beside it.
    case("ddi-beside-legacy-1", 1, &[LEGACY]),
    case("ddi-beside-legacy-7", 7, &[LEGACY]),
    // Ours wrapped like a driver without DDI handles.
    case("legacy-1", 0, &[WRAPPED]),
    case("legacy-2", 1, &[WRAPPED]),
    case("legacy-8", 7, &[WRAPPED]),
    Case {
        what: "query-1000",
        ..case("legacy-2-live-1000", 1, &[WRAPPED])
    },
    Case {
        what: "query-1000000",
        reference: false,
        ..case("legacy-2-live-1000000", 1, &[WRAPPED])
    },
    Case {
        what: "threads",
        ..case("ddi-2-threads-8", 1, &[])
    },
    Case {
        what: "threads",
        ..case("legacy-2-threads-8", 1, &[WRAPPED])
    },
    Case {
        what: "argument",
        ..case("set-argument-100-ddi-1", 0, &[])
    },
    Case {
        what: "argument",
        ..case("set-argument-100-ddi-8", 7, &[])
    },
    Case {
        reference: false,
        ..case("tracing-idle", 0, &[TRACING])
    },
    Case {
        what: "tracer",
        reference: false,
        ..case("tracing-empty-callbacks", 0, &[TRACING])
    },
    Case {
        what: "argument",
        ..case("set-argument-100-legacy-2", 1, &[WRAPPED])
    },
    Case {
        what: "argument",
        reference: false,
        ..case("set-argument-100-tracing-idle", 0, &[TRACING])
    },
    Case {
        reference: false,
        ..case("validation-idle", 0, &[VALIDATION])
    },
    Case {
        what: "argument",
        reference: false,
        ..case(
            "set-argument-100-validation-parameters",
            0,
            &[VALIDATION, PARAMETERS],
        )
    },
    Case {
        what: "argument",
        reference: false,
        ..case(
            "set-argument-100-validation-lifetime",
            0,
            &[VALIDATION, PARAMETERS, LIFETIME],
        )
    },
    Case {
        what: "argument",
        reference: false,
        ..case(
            "set-argument-100-validation-legacy-2",
            1,
            &[VALIDATION, PARAMETERS, LIFETIME, WRAPPED],
        )
    },
];

/// Runs the area; without the reference loader if `alone`.
pub(crate) fn run(alone: bool, emit: &mut dyn FnMut(Row)) -> Result<()> {
    let ours = conformance::artefacts().join("libze_loader.so.1");
    let reference = if alone {
        None
    } else {
        peers::check_ours(&ours).map_err(Error::Argument)?;
        reference_loader()?
    };
    let stage = Stage::new()?;
    for case in &CASES {
        let unit = if case.what == "argument" { "us" } else { "ns" };
        let found = numbers(&mut stage.child(case, &ours, "")?)?;
        emit(row(case.name, unit, &found, "direct", found[2]));
        if let Some(reference) = reference.as_ref().filter(|_| case.reference) {
            // A reference loader that cannot run this case says nothing about ours.
            if let Ok(peer) = stage
                .child(case, reference, "")
                .and_then(|mut child| numbers(&mut child))
            {
                emit(row(case.name, unit, &found, "reference", peer[0]));
            }
        }
    }
    initialisation(&stage, &ours, emit)?;
    instructions(&stage, &ours, emit)
}

fn row(case: &str, unit: &'static str, found: &[f64], peer: &'static str, peer_value: f64) -> Row {
    Row {
        bench: "loader",
        case: case.to_owned(),
        unit,
        ours: found[0],
        peer,
        peer_value,
        ratio: peer_value / found[0],
        min: found[0],
        median: found[1],
        runs: ROUNDS,
    }
}

/// The loader's own share of `zeInit`: what it takes through the loader against the driver alone, each in fresh processes.
fn initialisation(stage: &Stage, ours: &Path, emit: &mut dyn FnMut(Row)) -> Result<()> {
    let case = Case {
        what: "init",
        ..case("init", 0, &[])
    };
    let (mut through, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        through.push(numbers(&mut stage.child(&case, ours, "")?)?[0]);
        alone.push(numbers(&mut stage.child(&case, ours, "-alone")?)?[0]);
    }
    through.sort_by(f64::total_cmp);
    alone.sort_by(f64::total_cmp);
    emit(row(
        "init",
        "us",
        &[through[0], through[ROUNDS / 2]],
        "direct",
        alone[0],
    ));
    Ok(())
}

/// Instructions of one call, counted by callgrind where it is installed.
fn instructions(stage: &Stage, ours: &Path, emit: &mut dyn FnMut(Row)) -> Result<()> {
    let installed = Command::new("valgrind").arg("--version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    for (name, stubs) in [("instructions-ddi-1", 0), ("instructions-ddi-8", 7)] {
        let case = case(name, stubs, &[]);
        // The difference of two lengths leaves the calls alone.
        let each = |way: &str| -> Result<f64> {
            let mut counts = [0.0; 2];
            for (calls, count) in [(10_000, 0), (30_000, 1)] {
                let mut plain = stage.child(&case, ours, &format!("-{way}-{calls}"))?;
                let file = stage.folder.join("callgrind");
                let mut command = Command::new("valgrind");
                command
                    .arg("--tool=callgrind")
                    .arg(format!("--callgrind-out-file={}", file.display()));
                command.arg(plain.get_program()).args(plain.get_args());
                command.envs(
                    plain
                        .get_envs()
                        .filter_map(|(name, value)| Some((name, value?))),
                );
                let output = command.output().map_err(io)?;
                plain = command;
                if !output.status.success() {
                    return Err(Error::Argument(format!(
                        "{plain:?}: {}",
                        String::from_utf8_lossy(&output.stderr)
                    )));
                }
                let text = std::fs::read_to_string(&file).map_err(io)?;
                let total = text.lines().find_map(|line| {
                    line.strip_prefix("summary: ")
                        .or(line.strip_prefix("totals: "))
                });
                counts[count] = total
                    .and_then(|total| total.trim().parse().ok())
                    .unwrap_or(f64::NAN);
            }
            Ok((counts[1] - counts[0]) / 20_000.0)
        };
        let (through, alone) = (each("through")?, each("alone")?);
        emit(row(name, "instr", &[through, through], "direct", alone));
    }
    Ok(())
}

fn io(error: std::io::Error) -> Error {
    Error::Argument(error.to_string())
}

/// A folder with copies of the stub driver, gone with the value.
struct Stage {
    folder: PathBuf,
}

impl Stage {
    fn new() -> Result<Stage> {
        let folder = std::env::temp_dir().join(format!("solum-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(io)?;
        let stub = conformance::artefacts().join("libze_stub.so");
        for index in 0..7 {
            std::fs::copy(&stub, folder.join(format!("stub_{index}.so")))
                .map_err(|error| Error::Argument(format!("{}: {error}", stub.display())))?;
        }
        Ok(Stage { folder })
    }

    /// The command that measures a case through this loader.
    fn child(&self, case: &Case, loader: &Path, suffix: &str) -> Result<Command> {
        let mut drivers = driver_file().into_os_string();
        for index in 0..case.stubs {
            drivers.push(",");
            drivers.push(self.folder.join(format!("stub_{index}.so")));
        }
        let mut command = Command::new(std::env::current_exe().map_err(io)?);
        command
            .arg("child")
            .arg(format!("loader-{}{suffix}", case.what));
        command
            .env("SOLUM_BENCH_LOADER", loader)
            .env("ZE_ENABLE_ALT_DRIVERS", drivers);
        // Behind ours in any order.
        command
            .env("SOLUM_STUB_DEVICES", "npu")
            .envs(case.environment.iter().copied());
        Ok(command)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Leftovers lie in the temporary folder.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn numbers(command: &mut Command) -> Result<Vec<f64>> {
    let output = command.output().map_err(io)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    if output.status.success() && !found.is_empty() {
        return Ok(found);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(Error::Argument(format!(
        "{command:?}: {} {why}",
        output.status
    )))
}

fn driver_file() -> PathBuf {
    conformance::artefacts().join("libze_solum_cpu.so.1")
}

/// The reference loader: the one that `SOLUM_PEER_LOADER` names, or the system's own, where that is one.
fn reference_loader() -> Result<Option<PathBuf>> {
    if let Some(path) = std::env::var_os("SOLUM_PEER_LOADER").map(PathBuf::from) {
        REFERENCE_LOADER.check(&path).map_err(Error::Argument)?;
        return Ok(Some(path));
    }
    let mut found = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
    ]
    .into_iter()
    .map(|folder| Path::new(folder).join("libze_loader.so.1"))
    .filter(|path| path.exists());
    Ok(found.find(|path| match REFERENCE_LOADER.check(path) {
        Ok(()) => true,
        Err(text) => {
            eprintln!("bench: loader: {text}");
            false
        }
    }))
}

/// An open library.
struct Opened(Library);

impl Opened {
    fn new(path: impl AsRef<OsStr>) -> Result<Opened> {
        // SAFETY: a loader or a driver, whose initialisers are meant to run.
        unsafe { Library::new(path.as_ref()) }
            .map(Opened)
            .map_err(|error| Error::Argument(error.to_string()))
    }

    /// A function by name, as the pointer type that Level Zero gives it.
    fn get<T: Copy>(&self, name: &str) -> Result<T> {
        // SAFETY: each use names the function's own type.
        unsafe { self.0.get::<T>(name) }
            .map(|symbol| *symbol)
            .map_err(|error| Error::Argument(error.to_string()))
    }
}

fn check(result: ze_result_t, what: &str) -> Result<()> {
    if result == ZE_RESULT_SUCCESS {
        Ok(())
    } else {
        Err(Error::Argument(format!("{what}: {result:?}")))
    }
}

macro_rules! call {
    ($library:expr, $name:literal: $ty:ty, $($argument:expr),*) => {{
        let function = $library.get::<$ty>($name)?.ok_or_else(|| Error::Argument($name.to_owned()))?;
        // SAFETY: arguments of this frame, as the function requires.
        check(unsafe { function($($argument),*) }, $name)
    }};
}

type OnHandle = unsafe extern "C" fn(ze_event_handle_t) -> ze_result_t;

/// The first driver, through a loader.
fn first_driver(loader: &Opened) -> Result<ze_driver_handle_t> {
    call!(loader, "zeInit": ze_pfnInit_t, 0)?;
    let (mut count, mut driver) = (1, null_mut());
    call!(loader, "zeDriverGet": ze_pfnDriverGet_t, &raw mut count, &raw mut driver)?;
    Ok(driver)
}

fn native<T>(loader: &Opened, handle: *mut T) -> Result<*mut T> {
    let mut native: *mut c_void = null_mut();
    call!(loader, "zelLoaderTranslateHandle": zel_pfnLoaderTranslateHandle_t, ZEL_HANDLE_EVENT, handle.cast(), &raw mut native)?;
    Ok(native.cast())
}

/// One measurement, in this process: minimum and median through the loader, then both of the driver alone.
///
/// # Errors
/// The reason of a failure.
pub(crate) fn child(what: &str) -> Result<String> {
    let path = std::env::var_os("SOLUM_BENCH_LOADER")
        .ok_or_else(|| Error::Argument("no loader".to_owned()))?;
    if let Some(way) = what.strip_prefix("init") {
        return initialise(&path, way == "-alone");
    }
    let loader = Opened::new(path)?;
    let library = Opened::new(driver_file())?;
    let driver = first_driver(&loader)?;
    let context_desc = ze_context_desc_t::default();
    let mut context = null_mut();
    call!(loader, "zeContextCreate": ze_pfnContextCreate_t, driver, &raw const context_desc, &raw mut context)?;
    if what == "argument" {
        return arguments(&loader, &library, driver, context);
    }
    let live: u32 = what
        .strip_prefix("query-")
        .and_then(|count| count.parse().ok())
        .unwrap_or(1);
    let pool_desc = ze_event_pool_desc_t {
        count: live,
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        ..Default::default()
    };
    let mut pool = null_mut();
    call!(loader, "zeEventPoolCreate": ze_pfnEventPoolCreate_t, context, &raw const pool_desc, 0, null_mut(), &raw mut pool)?;
    let mut event = null_mut();
    for index in 0..live {
        let desc = ze_event_desc_t {
            index,
            ..Default::default()
        };
        call!(loader, "zeEventCreate": ze_pfnEventCreate_t, pool, &raw const desc, &raw mut event)?;
    }
    call!(loader, "zeEventHostSignal": ze_pfnEventHostSignal_t, event)?;
    let through = loader.get::<OnHandle>("zeEventQueryStatus")?;
    let mut table = ze_event_dditable_t::default();
    call!(library, "zeGetEventProcAddrTable": ze_pfnGetEventProcAddrTable_t, ZE_API_VERSION_CURRENT, &raw mut table)?;
    let alone = table
        .pfnQueryStatus
        .ok_or_else(|| Error::Argument("no zeEventQueryStatus".to_owned()))?;
    let own = native(&loader, event)?;
    if let Some((way, calls)) = what
        .strip_prefix("query-")
        .and_then(|rest| rest.split_once('-'))
    {
        let calls = calls
            .parse()
            .map_err(|_| Error::Argument(calls.to_owned()))?;
        let (function, handle) = if way == "through" {
            (through, event)
        } else {
            (alone, own)
        };
        return Ok(round(function, handle, calls).to_string());
    }
    if what == "tracer" {
        empty_tracer(&loader)?;
    }
    let threads = if what == "threads" { 8 } else { 1 };
    Ok(report(|number| {
        let (function, handle) = if number == 0 {
            (through, event)
        } else {
            (alone, own)
        };
        on_threads(threads, function, handle)
    }))
}

/// Measures both ways in turns: minimum and median of the rounds of each.
fn report(measure: impl Fn(usize) -> f64) -> String {
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        let mut shortest = [f64::INFINITY; 2];
        for part in 0..2 * PARTS {
            shortest[part % 2] = measure(part % 2).min(shortest[part % 2]);
        }
        found
            .iter_mut()
            .zip(shortest)
            .for_each(|(values, value)| values.push(value));
    }
    found
        .iter_mut()
        .for_each(|values| values.sort_by(f64::total_cmp));
    let both = found.map(|values| format!("{} {}", values[0], values[values.len() / 2]));
    both.join(" ")
}

/// Nanoseconds of one call.
#[inline(never)]
fn round(function: OnHandle, handle: ze_event_handle_t, calls: u32) -> f64 {
    let began = Instant::now();
    for _ in 0..calls {
        // SAFETY: a live event of the function's loader or driver.
        std::hint::black_box(unsafe { function(handle) });
    }
    began.elapsed().as_nanos() as f64 / f64::from(calls)
}

/// Nanoseconds of processor time of one call, as the mean over threads.
fn on_threads(threads: u32, function: OnHandle, handle: ze_event_handle_t) -> f64 {
    if threads == 1 {
        return round(function, handle, CALLS);
    }
    let handle = handle.expose_provenance();
    let total: f64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(move || {
                    let began = thread_time();
                    round(
                        function,
                        std::ptr::with_exposed_provenance_mut(handle),
                        CALLS,
                    );
                    thread_time() - began
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(f64::NAN))
            .sum()
    });
    total / f64::from(threads) / f64::from(CALLS)
}

/// Nanoseconds that this thread has run.
fn thread_time() -> f64 {
    // SAFETY: all-zero is a valid timespec.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: writes the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

unsafe extern "C" fn empty(
    _: *mut ze_event_query_status_params_t,
    _: ze_result_t,
    _: *mut c_void,
    _: *mut *mut c_void,
) {
}

fn empty_tracer(loader: &Opened) -> Result<()> {
    let desc = zel_tracer_desc_t::default();
    let mut tracer = null_mut();
    call!(loader, "zelTracerCreate": zel_pfnTracerCreate_t, &raw const desc, &raw mut tracer)?;
    type Register = Option<
        unsafe extern "C" fn(
            zel_tracer_handle_t,
            zel_tracer_reg_t,
            ze_pfnEventQueryStatusCb_t,
        ) -> ze_result_t,
    >;
    for kind in [ZEL_REGISTER_PROLOGUE, ZEL_REGISTER_EPILOGUE] {
        call!(loader, "zelTracerEventQueryStatusRegisterCallback": Register, tracer, kind, Some(empty))?;
    }
    call!(loader, "zelTracerSetEnabled": zel_pfnTracerSetEnabled_t, tracer, 1)
}

type SetArgument =
    unsafe extern "C" fn(ze_kernel_handle_t, u32, usize, *const c_void) -> ze_result_t;

/// Microseconds for setting a hundred kernel arguments to a USM pointer.
fn arguments(
    loader: &Opened,
    library: &Opened,
    driver: ze_driver_handle_t,
    context: ze_context_handle_t,
) -> Result<String> {
    static SPIRV: &[u8] = include_bytes!("../../c/kernels.spv");
    let (mut count, mut device) = (1, null_mut());
    call!(loader, "zeDeviceGet": ze_pfnDeviceGet_t, driver, &raw mut count, &raw mut device)?;
    let desc = ze_module_desc_t {
        format: ZE_MODULE_FORMAT_IL_SPIRV,
        inputSize: SPIRV.len(),
        pInputModule: SPIRV.as_ptr(),
        ..Default::default()
    };
    let mut module = null_mut();
    call!(loader, "zeModuleCreate": ze_pfnModuleCreate_t, context, device, &raw const desc, &raw mut module, null_mut())?;
    let desc = ze_kernel_desc_t {
        pKernelName: c"add".as_ptr(),
        ..Default::default()
    };
    let mut kernel = null_mut();
    call!(loader, "zeKernelCreate": ze_pfnKernelCreate_t, module, &raw const desc, &raw mut kernel)?;
    let desc = ze_host_mem_alloc_desc_t::default();
    let mut memory = null_mut();
    call!(loader, "zeMemAllocHost": ze_pfnMemAllocHost_t, context, &raw const desc, 4096, 64, &raw mut memory)?;
    let through = loader.get::<SetArgument>("zeKernelSetArgumentValue")?;
    let mut table = ze_kernel_dditable_t::default();
    call!(library, "zeGetKernelProcAddrTable": ze_pfnGetKernelProcAddrTable_t, ZE_API_VERSION_CURRENT, &raw mut table)?;
    let alone = table
        .pfnSetArgumentValue
        .ok_or_else(|| Error::Argument("no zeKernelSetArgumentValue".to_owned()))?;
    let own = native(loader, kernel)?;
    Ok(report(|number| {
        let (function, handle) = if number == 0 {
            (through, kernel)
        } else {
            (alone, own)
        };
        let began = Instant::now();
        for _ in 0..200 * 100 {
            // SAFETY: a live kernel of the function's loader or driver, and a value of this frame.
            std::hint::black_box(unsafe { function(handle, 0, 8, (&raw const memory).cast()) });
        }
        began.elapsed().as_secs_f64() * 1e6 / 200.0
    }))
}

/// Microseconds until drivers are listed: from `zeInit` on, which opens the driver, or from opening the driver on.
fn initialise(path: &OsStr, alone: bool) -> Result<String> {
    let loader = Opened::new(path)?;
    let began = Instant::now();
    let library = if alone {
        Opened::new(driver_file())?
    } else {
        loader
    };
    if alone {
        let mut global = ze_global_dditable_t::default();
        call!(library, "zeGetGlobalProcAddrTable": ze_pfnGetGlobalProcAddrTable_t, ZE_API_VERSION_CURRENT, &raw mut global)?;
        let init = global
            .pfnInit
            .ok_or_else(|| Error::Argument("no zeInit".to_owned()))?;
        // SAFETY: any flags may be passed.
        check(unsafe { init(0) }, "zeInit")?;
        let mut table = ze_driver_dditable_t::default();
        call!(library, "zeGetDriverProcAddrTable": ze_pfnGetDriverProcAddrTable_t, ZE_API_VERSION_CURRENT, &raw mut table)?;
        let get = table
            .pfnGet
            .ok_or_else(|| Error::Argument("no zeDriverGet".to_owned()))?;
        let (mut count, mut driver) = (1, null_mut());
        // SAFETY: places of this frame.
        let result = unsafe { get(&raw mut count, &raw mut driver) };
        check(result, "zeDriverGet")?;
    } else {
        first_driver(&library)?;
    }
    let found = began.elapsed().as_secs_f64() * 1e6;
    std::mem::forget(library);
    Ok(found.to_string())
}
