//! In the child: a loader is opened and used as DPC++ uses it, and a kernel runs on each device.

use std::ffi::{CStr, CString, OsStr};
use std::path::Path;
use std::time::Instant;

use level_zero::sys::*;
use level_zero::{Device, ListOptions, Loader, ModuleSource, QueueMode};

use super::calls::{Calls, code, version};
use super::probe::{Step, tell};
use crate::library::Library;

// From launch.cl by clang -target spirv64.
static SPIRV: &[u8] = include_bytes!("launch.spv");
/// A list without the flags of later versions.
const PLAIN: ListOptions = ListOptions {
    in_order: false,
    mode: QueueMode::Default,
};
/// Work-items of the kernel.
const ITEMS: u32 = 1 << 16;
/// A wait that a working device ends long before, in nanoseconds.
const WAIT_NS: u64 = 20_000_000_000;

/// Names that clients of the static loader look for; one of the last two is enough.
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

/// Opens the loader `name` and goes all the way to a kernel's results.
pub(crate) fn probe(name: &OsStr) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return tell(&Step::Refused { reason }),
    };
    tell(&Step::Opened {
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
    // Names that only newer versions have are no loss to a client of an older one.
    missing.dedup();
    tell(&Step::Missing { symbols: missing });
    let before = versions(&library);
    before.iter().for_each(tell);
    let calls = Calls::of_loader(&library);
    let handles = initialise(&calls);
    if before.is_none() {
        // Older loaders know their version only after their initialisation.
        versions(&library).iter().for_each(tell);
    }
    for handle in &handles {
        tell(
            &calls
                .describe(*handle)
                .unwrap_or_else(|what| Step::Failed { what }),
        );
    }
    if !handles.is_empty() {
        launches(Path::new(&path));
    }
}

/// As DPC++ initialises: GPU drivers by `zeInit`, then `zeInitDrivers` where there is one.
fn initialise(calls: &Calls) -> Vec<ze_driver_handle_t> {
    let mut failed = true;
    if let Some(init) = calls.init {
        // SAFETY: no pointers are passed.
        let result = unsafe { init(ZE_INIT_FLAG_GPU_ONLY) };
        failed = result != ZE_RESULT_SUCCESS;
        tell(&Step::Initialised {
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
        // The reason of the first call says it already.
        Err(_) if failed => Vec::new(),
        Err(what) => {
            tell(&Step::Failed { what });
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
    // SAFETY: `count` elements have room.
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
                tell(&match launch(device) {
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
        Err(error) => tell(&Step::Failed {
            what: error.to_string(),
        }),
    }
}

/// Builds and runs the kernel twice and checks every result; milliseconds of the build, microseconds of the second run.
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
            "zeKernelSuggestGroupSize answered {group:?} for {ITEMS} work-items, which it does not divide"
        ));
    }
    kernel.set_group_size(group).map_err(text)?;
    kernel.set_memory(0, &out).map_err(text)?;
    // Nothing newer than version 1.0: any loader and driver can do it.
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
            // The kernel may still write: the memory is not freed.
            std::mem::forget(out);
            return Err(format!(
                "the kernel did not end within {} s",
                WAIT_NS / 1_000_000_000
            ));
        }
        launch_us = began.elapsed().as_secs_f64() * 1e6;
        let wrong = (0..ITEMS)
            .zip(out.as_slice())
            .find(|(i, got)| i.wrapping_mul(2_654_435_761).wrapping_add(key) != **got);
        if let Some((i, got)) = wrong {
            return Err(format!(
                "the kernel wrote {got:#x} as element {i}, {:#x} is right",
                i.wrapping_mul(2_654_435_761).wrapping_add(key)
            ));
        }
    }
    Ok((build_ms, launch_us))
}
