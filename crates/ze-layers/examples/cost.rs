//! What layers cost per call: `cargo run --release -p solum-ze-layers --example cost`, one JSON object a line with `--json`.
//!
//! Each case calls a function that does nothing, once directly and once through layers, in turns; minima of 21 rounds.

use std::ffi::c_void;
use std::hint::black_box;
use std::time::Instant;

use level_zero_sys::*;
use ze_layers::{Tables, recorder, tracing, validation};

unsafe extern "C" fn set_argument(
    _: ze_kernel_handle_t,
    _: u32,
    _: usize,
    _: *const c_void,
) -> ze_result_t {
    ZE_RESULT_SUCCESS
}

macro_rules! succeed {
    ($($name:ident($($ty:ty),*);)*) => { $(
        unsafe extern "C" fn $name($(_: $ty),*) -> ze_result_t {
            ZE_RESULT_SUCCESS
        }
    )* };
}
succeed! {
    get_drivers(*mut u32, *mut ze_driver_handle_t);
    get_devices(ze_driver_handle_t, *mut u32, *mut ze_device_handle_t);
    create_context(ze_driver_handle_t, *const ze_context_desc_t, *mut ze_context_handle_t);
    create_module(ze_context_handle_t, ze_device_handle_t, *const ze_module_desc_t, *mut ze_module_handle_t, *mut ze_module_build_log_handle_t);
    create_kernel(ze_module_handle_t, *const ze_kernel_desc_t, *mut ze_kernel_handle_t);
}

unsafe extern "C" fn quiet(
    _: *mut ze_kernel_set_argument_value_params_t,
    _: ze_result_t,
    _: *mut c_void,
    _: *mut *mut c_void,
) {
}

const CALLS: u32 = 20_000;
const ROUNDS: usize = 21;

/// Nanoseconds per call of one round.
fn round(tables: &Tables) -> f64 {
    let value = 0u64;
    let begin = Instant::now();
    for number in 0..CALLS {
        let function = black_box(tables).ze.Kernel.pfnSetArgumentValue;
        if let Some(function) = function {
            let kernel = std::ptr::without_provenance_mut(0x40);
            // SAFETY: the function looks at nothing.
            black_box(unsafe { function(kernel, number & 7, 8, (&raw const value).cast()) });
        }
    }
    begin.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}

fn compare(
    out: &mut impl std::io::Write,
    json: bool,
    case: &str,
    direct: &Tables,
    through: &Tables,
) -> std::io::Result<()> {
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        peer.push(round(direct));
        ours.push(round(through));
    }
    ours.sort_by(f64::total_cmp);
    peer.sort_by(f64::total_cmp);
    let (best, base, median) = (ours[0], peer[0], ours[ROUNDS / 2]);
    if json {
        writeln!(
            out,
            "{{\"bench\":\"layers\",\"case\":\"{case}\",\"unit\":\"ns\",\"ours\":{best:.2},\"peer\":\"direct\",\"peer_value\":{base:.2},\"ratio\":{:.3},\"min\":{best:.2},\"median\":{median:.2},\"runs\":{ROUNDS}}}",
            base / best
        )
    } else {
        writeln!(
            out,
            "{case:<28} {best:6.2} ns   direct {base:5.2}   layer {:6.2}   median {median:6.2}",
            best - base
        )
    }
}

fn main() -> std::io::Result<()> {
    let json = std::env::args().any(|word| word == "--json");
    let mut out = std::io::stdout().lock();
    let mut tables = Tables::default();
    tables.ze.Kernel.pfnSetArgumentValue = Some(set_argument);
    tables.ze.Driver.pfnGet = Some(get_drivers);
    tables.ze.Device.pfnGet = Some(get_devices);
    tables.ze.Context.pfnCreate = Some(create_context);
    tables.ze.Module.pfnCreate = Some(create_module);
    tables.ze.Kernel.pfnCreate = Some(create_kernel);
    let direct: &'static Tables = Box::leak(Box::new(tables));

    compare(&mut out, json, "nothing", direct, direct)?;
    let traced = tracing::over(direct);
    compare(&mut out, json, "tracing-idle", direct, traced)?;
    compare(
        &mut out,
        json,
        "recorder-idle",
        direct,
        recorder::over(direct),
    )?;

    // The kernel whose argument is set must have been made, for lifetime to know it.
    let mut kernel = std::ptr::without_provenance_mut(0x40);
    let mut module = std::ptr::without_provenance_mut(0x80);
    let mut context = std::ptr::without_provenance_mut(0xc0);
    let mut driver = std::ptr::without_provenance_mut(0x100);
    let mut device = std::ptr::without_provenance_mut(0x140);
    let validated = validation::over(direct);
    let settings = validation::Settings::default();
    validation::configure(&validation::Settings {
        lifetime: true,
        ..settings.clone()
    });
    // SAFETY: the functions below succeed and leave the handles as they are.
    unsafe {
        let mut count = 1;
        let ze = &validated.ze;
        let _ = ze
            .Driver
            .pfnGet
            .map(|get| get(&raw mut count, &raw mut driver));
        let _ = ze
            .Device
            .pfnGet
            .map(|get| get(driver, &raw mut count, &raw mut device));
        let _ = ze
            .Context
            .pfnCreate
            .map(|create| create(driver, std::ptr::null(), &raw mut context));
        let _ = ze.Module.pfnCreate.map(|create| {
            create(
                context,
                device,
                std::ptr::null(),
                &raw mut module,
                std::ptr::null_mut(),
            )
        });
        let _ = ze
            .Kernel
            .pfnCreate
            .map(|create| create(module, std::ptr::null(), &raw mut kernel));
    }
    for (case, parameters, lifetime) in [
        ("validation-idle", false, false),
        ("validation-parameters", true, false),
        ("validation-lifetime", true, true),
    ] {
        validation::configure(&validation::Settings {
            parameters,
            lifetime,
            ..settings.clone()
        });
        compare(&mut out, json, case, direct, validated)?;
    }
    validation::configure(&settings);

    const NUMBER: Option<usize> =
        tracing::number_of("zelTracerKernelSetArgumentValueRegisterCallback");
    let mut tracers = Vec::new();
    for count in 1..=2 {
        let desc = zel_tracer_desc_t::default();
        let mut tracer = std::ptr::null_mut();
        type Quiet = unsafe extern "C" fn(
            *mut ze_kernel_set_argument_value_params_t,
            ze_result_t,
            *mut c_void,
            *mut *mut c_void,
        );
        // SAFETY: function pointers are alike; it is called as what it is.
        let callback = Some(unsafe { std::mem::transmute::<Quiet, unsafe extern "C" fn()>(quiet) });
        // SAFETY: all of it is this function's, and the callback fits.
        unsafe {
            let _ = tracing::create(&raw const desc, &raw mut tracer);
            for kind in [ZEL_REGISTER_PROLOGUE, ZEL_REGISTER_EPILOGUE] {
                let _ = tracing::register(tracer, NUMBER.unwrap_or_default(), kind, callback);
            }
        }
        let _ = tracing::set_enabled(tracer, 1);
        tracers.push(tracer);
        compare(&mut out, json, &format!("tracing-{count}"), direct, traced)?;
    }
    for tracer in tracers {
        let _ = tracing::set_enabled(tracer, 0);
        let _ = tracing::destroy(tracer);
    }
    Ok(())
}
