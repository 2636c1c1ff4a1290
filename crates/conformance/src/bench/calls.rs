//! The cost of single calls, through the loader as programs make them, beside the nearest call of Intel's CPU OpenCL
//! runtime, which runs in a child process; where that is missing or has no such call, beside the goal.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Instant;

use level_zero::{Context, Device, Error, Kernel, Loader, ModuleSource, Result};
use level_zero_sys::*;
use libloading::Library;

use crate::opencl::Peer;
use crate::{Better, Row, measure, nanoseconds};

static SPIRV: &[u8] = include_bytes!("../../c/kernels.spv");

/// Calls made in one measurement.
const CALLS: u32 = 1000;

/// The functions measured, as the loader exports them.
struct Calls {
    _library: Library,
    create_list: ze_pfnCommandListCreate_t,
    create_immediate: ze_pfnCommandListCreateImmediate_t,
    reset: ze_pfnCommandListReset_t,
    close: ze_pfnCommandListClose_t,
    launch: ze_pfnCommandListAppendLaunchKernel_t,
    synchronize: ze_pfnCommandListHostSynchronize_t,
    create_queue: ze_pfnCommandQueueCreate_t,
    execute: ze_pfnCommandQueueExecuteCommandLists_t,
    wait: ze_pfnCommandQueueSynchronize_t,
    create_pool: ze_pfnEventPoolCreate_t,
    create_event: ze_pfnEventCreate_t,
    signal: ze_pfnEventHostSignal_t,
    query: ze_pfnEventQueryStatus_t,
    destroy_event: ze_pfnEventDestroy_t,
    set_argument: ze_pfnKernelSetArgumentValue_t,
    allocate: ze_pfnMemAllocDevice_t,
    free: ze_pfnMemFree_t,
    range: ze_pfnMemGetAddressRange_t,
}

/// Calls a function of [`Calls`]; its code counts only when it is an error.
macro_rules! call {
    ($calls:ident.$name:ident($($arg:expr),* $(,)?)) => {{
        let Some(function) = $calls.$name else {
            return Err(Error::Argument(concat!("the loader lacks ", stringify!($name)).to_owned()));
        };
        // SAFETY: live handles and locals of this file, as the specification asks.
        let code = unsafe { function($($arg),*) };
        if code != ZE_RESULT_SUCCESS {
            return Err(Error::Argument(format!("{}: {code:?}", stringify!($name))));
        }
    }};
}

fn open() -> Result<Calls> {
    let path = conformance::artefacts().join("libze_loader.so.1");
    let broken = |error: libloading::Error| Error::Argument(error.to_string());
    // SAFETY: our own library, whose initialisers do nothing harmful.
    let library = unsafe { Library::new(path) }.map_err(broken)?;
    macro_rules! symbol {
        ($name:literal) => {
            // SAFETY: the symbol is the function that the field's type describes.
            *unsafe { library.get($name) }.map_err(broken)?
        };
    }
    Ok(Calls {
        create_list: symbol!(b"zeCommandListCreate\0"),
        create_immediate: symbol!(b"zeCommandListCreateImmediate\0"),
        reset: symbol!(b"zeCommandListReset\0"),
        close: symbol!(b"zeCommandListClose\0"),
        launch: symbol!(b"zeCommandListAppendLaunchKernel\0"),
        synchronize: symbol!(b"zeCommandListHostSynchronize\0"),
        create_queue: symbol!(b"zeCommandQueueCreate\0"),
        execute: symbol!(b"zeCommandQueueExecuteCommandLists\0"),
        wait: symbol!(b"zeCommandQueueSynchronize\0"),
        create_pool: symbol!(b"zeEventPoolCreate\0"),
        create_event: symbol!(b"zeEventCreate\0"),
        signal: symbol!(b"zeEventHostSignal\0"),
        query: symbol!(b"zeEventQueryStatus\0"),
        destroy_event: symbol!(b"zeEventDestroy\0"),
        set_argument: symbol!(b"zeKernelSetArgumentValue\0"),
        allocate: symbol!(b"zeMemAllocDevice\0"),
        free: symbol!(b"zeMemFree\0"),
        range: symbol!(b"zeMemGetAddressRange\0"),
        _library: library,
    })
}

/// One case: name, goal in ns, case of the peer, runs, measurement.
struct Bench<'a> {
    emit: &'a mut dyn FnMut(Row),
    peer: Option<Peer>,
}

impl Bench<'_> {
    fn case(
        &mut self,
        name: &str,
        goal: f64,
        peer: Option<&str>,
        runs: usize,
        mut ours: impl FnMut() -> Result<f64>,
    ) -> Result<()> {
        let mut failure = None;
        let unit = ("ns", Better::Lower);
        let mut mine = || match ours() {
            Ok(value) => value,
            Err(error) => {
                failure = Some(error);
                f64::NAN
            }
        };
        let row = match (peer, &mut self.peer) {
            (Some(case), Some(process)) => {
                let theirs = || process.measure(case);
                measure("driver", name, unit, "intel", runs, &mut mine, theirs)
            }
            _ => measure("driver", name, unit, "goal", runs, &mut mine, || goal),
        };
        (self.emit)(row);
        failure.map_or(Ok(()), Err)
    }
}

static ONE: ze_group_count_t = ze_group_count_t {
    groupCountX: 1,
    groupCountY: 1,
    groupCountZ: 1,
};

/// Runs the cases.
pub(crate) fn run(emit: &mut dyn FnMut(Row)) -> Result<()> {
    let calls = open()?;
    let loader = Loader::open_at(&conformance::artefacts().join("libze_loader.so.1"))?;
    let driver = loader.drivers()?.remove(0);
    let device = driver.devices()?.remove(0);
    let context = driver.create_context()?;
    let module = context.build_module(&device, ModuleSource::Spirv(SPIRV), "")?;
    let mut empty = module.create_kernel("empty")?;
    empty.set_group_size([1, 1, 1])?;
    let add = module.create_kernel("add")?;
    let mut bench = Bench {
        emit,
        peer: Peer::start(),
    };
    lists(&mut bench, &calls, &context, &device, &empty)?;
    submissions(&mut bench, &calls, &context, &device, &empty)?;
    events(&mut bench, &calls, &context)?;
    arguments(&mut bench, &calls, &context, &device, &add)?;
    memory(&mut bench, &calls, &context, &device)?;
    crowd(&mut bench, &calls, &context, &device, &empty)
}

/// What calls cost among a million live events and a hundred thousand allocations, beside what they cost among a
/// thousand of each.
fn crowd(
    bench: &mut Bench<'_>,
    calls: &Calls,
    context: &Context,
    device: &Device,
    kernel: &Kernel,
) -> Result<()> {
    let (context, device, kernel) = (context.as_raw(), device.as_raw(), kernel.as_raw());
    let pool = || -> Result<ze_event_pool_handle_t> {
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: CALLS,
            ..Default::default()
        };
        let mut pool = null_mut();
        call!(calls.create_pool(context, &raw const desc, 0, null_mut(), &raw mut pool));
        Ok(pool)
    };
    let create = |pool, index| -> Result<ze_event_handle_t> {
        let desc = ze_event_desc_t {
            index,
            ..Default::default()
        };
        let mut event = null_mut();
        call!(calls.create_event(pool, &raw const desc, &raw mut event));
        Ok(event)
    };
    let allocate = |size: usize| -> Result<*mut c_void> {
        let desc = ze_device_mem_alloc_desc_t::default();
        let mut at = null_mut();
        call!(calls.allocate(context, &raw const desc, size, 0, device, &raw mut at));
        Ok(at)
    };
    let desc = ze_command_queue_desc_t {
        mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ..Default::default()
    };
    let mut list = null_mut();
    call!(calls.create_immediate(context, device, &raw const desc, &raw mut list));
    let (own, block) = (pool()?, allocate(4096)?);
    let event = create(own, 0)?;
    let cases: [(&str, &dyn Fn() -> Result<()>); 6] = [
        ("event-create-destroy", &|| {
            let event = create(own, 1)?;
            call!(calls.destroy_event(event));
            Ok(())
        }),
        ("event-host-signal", &|| {
            call!(calls.signal(event));
            Ok(())
        }),
        ("event-query", &|| {
            call!(calls.query(event));
            Ok(())
        }),
        ("usm-4KiB", &|| {
            let at = allocate(4096)?;
            call!(calls.free(context, at));
            Ok(())
        }),
        ("look-up", &|| {
            let (mut base, mut size) = (null_mut(), 0);
            call!(calls.range(context, block, &raw mut base, &raw mut size));
            Ok(())
        }),
        ("submit-wait-signal", &|| {
            call!(calls.launch(list, kernel, &raw const ONE, event, 0, null_mut()));
            call!(calls.synchronize(list, u64::MAX));
            Ok(())
        }),
    ];
    let time = |case: &dyn Fn() -> Result<()>| -> Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..50 {
            let began = Instant::now();
            for _ in 0..CALLS {
                case()?;
            }
            best = best.min(began.elapsed().as_nanos() as f64 / f64::from(CALLS));
        }
        Ok(best)
    };
    let (mut events, mut blocks) = (Vec::new(), Vec::new());
    let mut few = Vec::new();
    for (pools, count) in [(1, 1000), (999, 99_000)] {
        for _ in 0..pools {
            let pool = pool()?;
            for index in 0..CALLS {
                events.push(create(pool, index)?);
            }
        }
        for _ in 0..count {
            blocks.push(allocate(4096)?);
        }
        if few.is_empty() {
            few = cases
                .iter()
                .map(|(_, case)| time(case))
                .collect::<Result<_>>()?;
        }
    }
    for ((name, case), few) in cases.into_iter().zip(few) {
        let name = format!("{name}-in-crowd");
        let mut failure = None;
        let ours = || {
            time(case).unwrap_or_else(|error| {
                failure = Some(error);
                f64::NAN
            })
        };
        let unit = ("ns", Better::Lower);
        (bench.emit)(measure("driver", &name, unit, "in-1000", 1, ours, || few));
        failure.map_or(Ok(()), Err)?;
    }
    for event in events {
        call!(calls.destroy_event(event));
    }
    for block in blocks {
        call!(calls.free(context, block));
    }
    Ok(())
}

fn lists(
    bench: &mut Bench<'_>,
    calls: &Calls,
    context: &Context,
    device: &Device,
    kernel: &Kernel,
) -> Result<()> {
    let desc = ze_command_list_desc_t::default();
    let (context, device, kernel) = (context.as_raw(), device.as_raw(), kernel.as_raw());
    let mut list = null_mut();
    call!(calls.create_list(context, device, &raw const desc, &raw mut list));
    let append = |count: u32| -> Result<f64> {
        call!(calls.reset(list));
        let began = Instant::now();
        for _ in 0..count {
            call!(calls.launch(list, kernel, &raw const ONE, null_mut(), 0, null_mut()));
        }
        Ok(began.elapsed().as_nanos() as f64 / f64::from(count))
    };
    bench.case("append-kernel", 150.0, Some("enqueue"), 100, || {
        append(CALLS)
    })?;
    append(10_000)?;
    call!(calls.close(list));
    let desc = ze_command_queue_desc_t {
        mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ..Default::default()
    };
    let mut queue = null_mut();
    call!(calls.create_queue(context, device, &raw const desc, &raw mut queue));
    bench.case("list-10000-again", 100.0, Some("enqueue-10000"), 40, || {
        let began = Instant::now();
        call!(calls.execute(queue, 1, &raw mut list, null_mut()));
        call!(calls.wait(queue, u64::MAX));
        Ok(began.elapsed().as_nanos() as f64 / 10_000.0)
    })
}

fn submissions(
    bench: &mut Bench<'_>,
    calls: &Calls,
    context: &Context,
    device: &Device,
    kernel: &Kernel,
) -> Result<()> {
    let desc = ze_command_queue_desc_t {
        mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ..Default::default()
    };
    let mut list = null_mut();
    call!(calls.create_immediate(
        context.as_raw(),
        device.as_raw(),
        &raw const desc,
        &raw mut list
    ));
    let kernel = kernel.as_raw();
    let submit = |count: u32| -> Result<f64> {
        let began = Instant::now();
        for _ in 0..count {
            call!(calls.launch(list, kernel, &raw const ONE, null_mut(), 0, null_mut()));
        }
        call!(calls.synchronize(list, u64::MAX));
        Ok(began.elapsed().as_nanos() as f64 / f64::from(count))
    };
    let many = || -> Result<Vec<f64>> {
        let mut all = (0..500).map(|_| submit(1)).collect::<Result<Vec<_>>>()?;
        all.sort_by(f64::total_cmp);
        Ok(all)
    };
    bench.case(
        "submit-wait-median",
        930.0,
        Some("submit-median"),
        40,
        || many().map(|all| all[all.len() / 2]),
    )?;
    bench.case(
        "submit-wait-minimum",
        650.0,
        Some("submit-minimum"),
        40,
        || many().map(|all| all[0]),
    )?;
    bench.case("submit-1000", 500.0, Some("submit-1000"), 60, || {
        submit(1000)
    })
}

fn events(bench: &mut Bench<'_>, calls: &Calls, context: &Context) -> Result<()> {
    let desc = ze_event_pool_desc_t {
        flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
        count: CALLS,
        ..Default::default()
    };
    let mut pool = null_mut();
    call!(calls.create_pool(
        context.as_raw(),
        &raw const desc,
        0,
        null_mut(),
        &raw mut pool
    ));
    let mut all = vec![null_mut(); CALLS as usize];
    let create = |all: &mut [ze_event_handle_t]| -> Result<()> {
        for (index, event) in all.iter_mut().enumerate() {
            let desc = ze_event_desc_t {
                index: index as u32,
                ..Default::default()
            };
            call!(calls.create_event(pool, &raw const desc, event));
        }
        Ok(())
    };
    let destroy = |all: &[ze_event_handle_t]| -> Result<()> {
        for &event in all {
            call!(calls.destroy_event(event));
        }
        Ok(())
    };
    let timed = |work: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        let began = Instant::now();
        work()?;
        Ok(began.elapsed().as_nanos() as f64 / f64::from(CALLS))
    };
    bench.case("event-create", 40.0, Some("event-create"), 100, || {
        let time = timed(&mut || create(&mut all))?;
        destroy(&all)?;
        Ok(time)
    })?;
    create(&mut all)?;
    bench.case("event-host-signal", 40.0, Some("event-signal"), 100, || {
        timed(&mut || {
            for &event in &all {
                call!(calls.signal(event));
            }
            Ok(())
        })
    })?;
    bench.case("event-query", 40.0, Some("event-query"), 100, || {
        timed(&mut || {
            for &event in &all {
                call!(calls.query(event));
            }
            Ok(())
        })
    })?;
    destroy(&all)
}

fn arguments(
    bench: &mut Bench<'_>,
    calls: &Calls,
    context: &Context,
    device: &Device,
    kernel: &Kernel,
) -> Result<()> {
    let memory = context.allocate_shared::<u64>(device, 1)?;
    let pointer: *const u64 = level_zero::Allocation::as_ptr(&memory);
    let kernel = kernel.as_raw();
    bench.case("set-argument", 5.0, Some("set-argument"), 100, || {
        let value: *const c_void = (&raw const pointer).cast();
        let mut failure = Ok(());
        let set = || {
            call!(calls.set_argument(kernel, 0, 8, value));
            Ok(())
        };
        let time = nanoseconds(CALLS, || {
            if let Err(error) = set() {
                failure = Err(error);
            }
        });
        failure.map(|()| time)
    })
}

fn memory(bench: &mut Bench<'_>, calls: &Calls, context: &Context, device: &Device) -> Result<()> {
    let desc = ze_device_mem_alloc_desc_t::default();
    let (context, device) = (context.as_raw(), device.as_raw());
    let allocate = |size: usize| -> Result<*mut c_void> {
        let mut at = null_mut();
        call!(calls.allocate(context, &raw const desc, size, 0, device, &raw mut at));
        Ok(at)
    };
    let pair = || -> Result<f64> {
        let began = Instant::now();
        for _ in 0..100 {
            let at = allocate(64 << 10)?;
            call!(calls.free(context, at));
        }
        Ok(began.elapsed().as_nanos() as f64 / 100.0)
    };
    bench.case("usm-64KiB", 400.0, Some("buffer-64KiB"), 100, pair)?;
    let live = (0..100_000)
        .map(|_| allocate(4096))
        .collect::<Result<Vec<_>>>()?;
    bench.case("usm-64KiB-among-100000", 400.0, None, 100, pair)?;
    let mut at = 1_u32;
    bench.case("look-up-among-100000", 20.0, None, 100, || {
        let began = Instant::now();
        for _ in 0..CALLS {
            at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let inner = live[at as usize % live.len()].wrapping_byte_add(77);
            let (mut base, mut size) = (null_mut(), 0);
            call!(calls.range(context, inner, &raw mut base, &raw mut size));
        }
        Ok(began.elapsed().as_nanos() as f64 / f64::from(CALLS))
    })?;
    let began = Instant::now();
    for at in &live {
        call!(calls.free(context, *at));
    }
    let each = began.elapsed().as_nanos() as f64 / live.len() as f64;
    bench.case("usm-free-100000", 400.0, None, 1, || Ok(each))
}
