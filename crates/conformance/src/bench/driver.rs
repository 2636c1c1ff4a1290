//! The driver's own costs: single calls (`calls.rs`), an empty kernel, building a module, copying memory, initialising.

use std::process::Command;
use std::sync::mpsc;
use std::time::Instant;

use level_zero::{Allocation, Error, Loader, ModuleSource, Result};

use crate::{Better, Row, measure, nanoseconds};

static SPIRV: &[u8] = include_bytes!("../../c/kernels.spv");

fn open() -> Result<Loader> {
    Loader::open_at(&conformance::artefacts().join("libze_loader.so.1"))
}

/// Runs the area.
pub(crate) fn run(emit: &mut dyn FnMut(Row)) -> Result<()> {
    crate::calls::run(emit)?;
    empty_kernel(emit)?;
    copy(emit)?;
    let milliseconds = ("ms", Better::Lower);
    // Each run is a process of its own: the cache in memory and the loaded compiler belong to a process.
    let build = |cache: &'static str| move || in_child("build", cache);
    emit(measure(
        "driver",
        "module-build-cached",
        milliseconds,
        "cold",
        7,
        build("1"),
        build("0"),
    ));
    emit(measure(
        "driver",
        "initialise",
        milliseconds,
        "cold-build",
        7,
        || in_child("initialise", "1"),
        build("0"),
    ));
    Ok(())
}

/// Submit and wait, against waking a thread that answers at once.
fn empty_kernel(emit: &mut dyn FnMut(Row)) -> Result<()> {
    let driver = open()?.drivers()?.remove(0);
    let device = driver.devices()?.remove(0);
    let context = driver.create_context()?;
    let mut kernel = context
        .build_module(&device, ModuleSource::Spirv(SPIRV), "")?
        .create_kernel("empty")?;
    kernel.set_group_size([1, 1, 1])?;
    let mut list = context.create_immediate_list(&device, Default::default())?;
    let mut failure = None;
    let mut submit = || {
        // SAFETY: the kernel touches no memory.
        let done = unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) }
            .and_then(|()| list.synchronize(u64::MAX));
        if let Err(error) = done {
            failure = Some(error);
        }
    };
    let (to, from) = (mpsc::sync_channel::<()>(1), mpsc::sync_channel::<()>(1));
    let (ask, asked, answer, answered) = (to.0, to.1, from.0, from.1);
    let echo = std::thread::spawn(move || while asked.recv().is_ok() && answer.send(()).is_ok() {});
    let row = measure(
        "driver",
        "empty-kernel",
        ("ns", Better::Lower),
        "native",
        20,
        || nanoseconds(2_000, &mut submit),
        || {
            nanoseconds(2_000, || {
                assert!(ask.send(()).is_ok() && answered.recv().is_ok())
            })
        },
    );
    drop(ask);
    let _ = echo.join();
    emit(row);
    failure.map_or(Ok(()), Err)
}

/// Large and small copies against `memcpy` by the host.
fn copy(emit: &mut dyn FnMut(Row)) -> Result<()> {
    let driver = open()?.drivers()?.remove(0);
    let device = driver.devices()?.remove(0);
    let context = driver.create_context()?;
    for (name, bytes) in [("copy-64KiB", 64 << 10), ("copy-64MiB", 64usize << 20)] {
        let source = context.allocate_shared::<u8>(&device, bytes)?;
        let mut target = context.allocate_shared::<u8>(&device, bytes)?;
        let mut other = vec![1u8; bytes];
        let mut list = context.create_immediate_list(&device, Default::default())?;
        let mut failure = None;
        let count = u32::try_from((1usize << 28) / bytes).unwrap_or(1).min(512);
        let gigabytes = |ns: f64| bytes as f64 / ns;
        let row = measure(
            "driver",
            name,
            ("GB/s", Better::Higher),
            "native",
            7,
            || {
                gigabytes(nanoseconds(count, || {
                    // SAFETY: both allocations outlive the wait.
                    let done = unsafe {
                        list.append_copy(target.as_mut_ptr(), source.as_ptr(), bytes, None, &[])
                    }
                    .and_then(|()| list.synchronize(u64::MAX));
                    if let Err(error) = done {
                        failure = Some(error);
                    }
                }))
            },
            || {
                gigabytes(nanoseconds(count, || {
                    std::hint::black_box(&mut other).copy_from_slice(source.as_slice())
                }))
            },
        );
        emit(row);
        if let Some(error) = failure {
            return Err(error);
        }
    }
    Ok(())
}

/// One value from a process of its own; NaN when it failed, which its stderr explains.
fn in_child(what: &str, cache: &str) -> f64 {
    let output = std::env::current_exe().and_then(|me| {
        Command::new(me)
            .args(["child", what])
            .env("SOLUM_CACHE", cache)
            .env("SOLUM_ARTEFACTS", conformance::artefacts())
            .stderr(std::process::Stdio::inherit())
            .output()
    });
    output
        .ok()
        .and_then(|o| String::from_utf8_lossy(&o.stdout).trim().parse().ok())
        .unwrap_or(f64::NAN)
}

/// The child's side: milliseconds.
///
/// # Errors
/// The call that failed.
pub(crate) fn child(what: &str) -> Result<f64> {
    let began = Instant::now();
    let loader = open()?;
    let driver = loader.drivers()?.remove(0);
    if what == "initialise" {
        return Ok(began.elapsed().as_secs_f64() * 1e3);
    }
    if what != "build" {
        return Err(Error::Argument(format!("no measurement {what:?}")));
    }
    let device = driver.devices()?.remove(0);
    let context = driver.create_context()?;
    let began = Instant::now();
    context.build_module(&device, ModuleSource::Spirv(SPIRV), "")?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
