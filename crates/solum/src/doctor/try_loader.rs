//! In the child: opens a loader, uses it as DPC++ does, and runs a kernel on each device.

use std::ffi::{CStr, CString, OsStr};
use std::path::Path;
use std::time::Instant;

use level_zero::sys::*;
use level_zero::{Device, ListOptions, Loader, ModuleSource, QueueMode};

use super::calls::{Calls, code, version};
use super::step::{Step, report};
use crate::library::Library;

// Compiled from launch.cl with clang -target spirv64.
static SPIRV: &[u8] = include_bytes!("launch.spv");
/// List options without flags of newer versions.
const PLAIN: ListOptions = ListOptions {
    in_order: false,
    mode: QueueMode::Default,
};
/// The number of work-items.
const ITEMS: u32 = 1 << 16;
/// The longest wait for the kernel, in nanoseconds; a working device needs a fraction of it.
const WAIT_NS: u64 = 20_000_000_000;

/// Functions that clients with the static loader need.
fn wanted() -> impl Iterator<Item = &'static str> {
    let getters = ze_spec::FUNCTIONS
        .iter()
        .map(|function| function.name)
        .filter(|name| name.ends_with("ProcAddrTable"));
    [
        "zeLoaderInit",
        "zelLoaderGetVersionsInternal",
        "zeLoaderGetTracingHandle",
        "zelGetTracerApiProcAddrTable",
        "zelLoaderTranslateHandleInternal",
    ]
    .into_iter()
    .chain(getters)
}

/// Opens the loader `name` and reports each step up to a kernel's results.
pub(crate) fn run(name: &OsStr) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return report(&Step::Refused { reason }),
    };
    report(&Step::Opened {
        path: path.to_string_lossy().into_owned(),
    });
    let has = |name: &str| CString::new(name).is_ok_and(|name| library.symbol(&name).is_some());
    let mut missing: Vec<String> = wanted()
        .filter(|name| !has(name))
        .map(str::to_owned)
        .collect();
    if !has("zeInit") && !has("zeInitDrivers") {
        missing.push("zeInit".into());
    }
    missing.dedup();
    report(&Step::Missing { symbols: missing });
    let before = versions(&library);
    before.iter().for_each(report);
    let calls = Calls::of_loader(&library);
    let handles = initialise(&calls);
    if before.is_none() {
        // Older loaders report their version only after initialisation.
        versions(&library).iter().for_each(report);
    }
    for handle in &handles {
        report(
            &calls
                .describe(*handle)
                .unwrap_or_else(|what| Step::Failed { what }),
        );
    }
    if !handles.is_empty() {
        launches(Path::new(&path));
    }
}

/// Initialises as DPC++ does: `zeInit` for GPU drivers, then `zeInitDrivers` if it exists.
fn initialise(calls: &Calls) -> Vec<ze_driver_handle_t> {
    let mut failed = true;
    if let Some(init) = calls.init {
        // SAFETY: no pointers are passed.
        let result = unsafe { init(ZE_INIT_FLAG_GPU_ONLY) };
        failed = result != ZE_RESULT_SUCCESS;
        report(&Step::Initialised {
            function: "zeInit".into(),
            code: code(result),
            text: if failed {
                calls.last_error()
            } else {
                String::new()
            },
        });
    }
    let handles = if calls.init_drivers.is_some() {
        calls.drivers_of(ZE_INIT_DRIVER_TYPE_FLAG_GPU)
    } else {
        calls.drivers()
    };
    match handles {
        Ok(handles) => handles,
        // Already reported for the first call.
        Err(_) if failed => Vec::new(),
        Err(what) => {
            report(&Step::Failed { what });
            Vec::new()
        }
    }
}

fn versions(library: &Library) -> Option<Step> {
    type Get = unsafe extern "C" fn(*mut usize, *mut zel_component_version_t) -> ze_result_t;
    // SAFETY: the export of this name has this signature.
    let get = unsafe { library.function::<Get>(c"zelLoaderGetVersions") }?;
    let mut count = 0;
    // SAFETY: a null array asks for the count.
    if unsafe { get(&raw mut count, std::ptr::null_mut()) } != ZE_RESULT_SUCCESS {
        return None;
    }
    let mut all = vec![zel_component_version_t::default(); count.min(64)];
    count = all.len();
    // SAFETY: the array has `count` elements.
    if unsafe { get(&raw mut count, all.as_mut_ptr()) } != ZE_RESULT_SUCCESS {
        return None;
    }
    let of = all.iter().find(|component| {
        let bytes: Vec<u8> = component
            .component_name
            .iter()
            .flat_map(|c| c.to_ne_bytes())
            .collect();
        CStr::from_bytes_until_nul(&bytes).is_ok_and(|name| name == c"loader")
    })?;
    let library = &of.component_lib_version;
    Some(Step::Version {
        library: format!("{}.{}.{}", library.major, library.minor, library.patch),
        api: version(of.spec_version.0),
    })
}

fn launches(path: &Path) {
    let devices = || -> level_zero::Result<Vec<Device>> {
        let mut all = Vec::new();
        for driver in Loader::open_at(path)?.drivers()? {
            all.extend(driver.devices()?);
        }
        Ok(all)
    };
    match devices() {
        Ok(devices) => {
            for device in &devices {
                let name = device.properties().map(|properties| properties.name);
                let name = name.unwrap_or_else(|error| error.to_string());
                report(&match launch(device) {
                    Ok((build_ms, launch_us)) => Step::Launched {
                        device: name,
                        error: None,
                        build_ms,
                        launch_us,
                    },
                    Err(error) => Step::Launched {
                        device: name,
                        error: Some(error),
                        build_ms: 0.0,
                        launch_us: 0.0,
                    },
                });
            }
        }
        Err(error) => report(&Step::Failed {
            what: error.to_string(),
        }),
    }
}

/// Compiles the kernel, runs it twice and checks every result. Returns the milliseconds of the compilation and the
/// microseconds of the second run.
fn launch(device: &Device) -> Result<(f64, f64), String> {
    let text = |error: level_zero::Error| error.to_string();
    let context = device.driver().create_context().map_err(text)?;
    let began = Instant::now();
    let module = context
        .build_module(device, ModuleSource::Spirv(SPIRV), "")
        .map_err(text)?;
    let build_ms = began.elapsed().as_secs_f64() * 1e3;
    let mut out = context
        .allocate_shared::<u32>(device, ITEMS as usize)
        .map_err(text)?;
    let mut kernel = module.create_kernel("check").map_err(text)?;
    let group = kernel.suggest_group_size([ITEMS, 1, 1]).map_err(text)?;
    if group[0] == 0 || !ITEMS.is_multiple_of(group[0]) || group[1] != 1 || group[2] != 1 {
        return Err(format!(
            "zeKernelSuggestGroupSize returned {group:?}, which does not divide {ITEMS} work-items"
        ));
    }
    kernel.set_group_size(group).map_err(text)?;
    kernel.set_memory(0, &out).map_err(text)?;
    // Uses only functions of version 1.0, which any loader and driver have.
    let queue = context
        .create_queue(device, QueueMode::Asynchronous)
        .map_err(text)?;
    let mut launch_us = 0.0;
    for key in [0x5017u32, 0xfaceu32] {
        kernel.set_argument(1, key).map_err(text)?;
        out.as_mut_slice().fill(0);
        let groups = [ITEMS / group[0], 1, 1];
        let began = Instant::now();
        let mut list = context.create_list(device, PLAIN).map_err(text)?;
        // SAFETY: the kernel writes `out` only, and group size times groups is its length.
        unsafe { list.append_launch(&kernel, groups, None, &[]) }.map_err(text)?;
        list.close().map_err(text)?;
        // SAFETY: the list is closed, and waited for below.
        unsafe { queue.execute(&list, None) }.map_err(text)?;
        if !queue.synchronize(WAIT_NS).map_err(text)? {
            std::mem::forget(list);
            // The kernel may still write to the memory, so it is not freed.
            std::mem::forget(out);
            return Err(format!(
                "the kernel did not finish within {} s",
                WAIT_NS / 1_000_000_000
            ));
        }
        launch_us = began.elapsed().as_secs_f64() * 1e6;
        let wrong = (0..ITEMS)
            .zip(out.as_slice())
            .find(|(i, got)| i.wrapping_mul(2_654_435_761).wrapping_add(key) != **got);
        if let Some((i, got)) = wrong {
            return Err(format!(
                "the kernel wrote {got:#x} to element {i}; expected {:#x}",
                i.wrapping_mul(2_654_435_761).wrapping_add(key)
            ));
        }
    }
    Ok((build_ms, launch_us))
}
