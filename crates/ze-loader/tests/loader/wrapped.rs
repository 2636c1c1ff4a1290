//! Every function of the API through drivers with and without DDI handles: the stubs' log shows which arguments reached
//! which driver.

use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use level_zero_sys::*;

use crate::functions::{self, Function, Parameter, Role};
use crate::opened::Loader;

/// A line of the stubs' log.
struct Line {
    file: String,
    function: String,
    /// Handles by parameter; arrays have several.
    handles: HashMap<String, Vec<usize>>,
}

/// The log, read as it grows.
pub(crate) struct Log {
    path: PathBuf,
    read: u64,
}

impl Log {
    fn new(stage: &Path) -> Log {
        Log {
            path: stage.join("log"),
            read: 0,
        }
    }

    /// The lines since the last look.
    fn more(&mut self) -> Vec<Line> {
        let mut file = File::open(&self.path).unwrap();
        file.seek(SeekFrom::Start(self.read)).unwrap();
        let mut new = String::new();
        self.read += file.read_to_string(&mut new).unwrap() as u64;
        new.lines()
            .map(|line| {
                let mut words = line.split(' ');
                let (file, function) = (
                    words.next().unwrap().to_owned(),
                    words.next().unwrap().to_owned(),
                );
                let handles = words.map(|word| {
                    let (name, values) = word.split_once('=').unwrap();
                    let values = values
                        .split('+')
                        .map(|v| usize::from_str_radix(&v[2..], 16).unwrap());
                    (name.to_owned(), values.collect())
                });
                Line {
                    file,
                    function,
                    handles: handles.collect(),
                }
            })
            .collect()
    }
}

/// A driver in the test, with handles of each type that are created on demand.
pub(crate) struct Driver<'l> {
    loader: &'l Loader,
    file: String,
    pub(crate) legacy: bool,
    pub(crate) handles: HashMap<&'static str, usize>,
}

/// Memory that each call may write to or read from: zeroes, with room for any struct.
struct Scratch(Vec<Vec<u64>>);

impl Scratch {
    fn place(&mut self, value: u64) -> *mut u64 {
        let mut place = vec![0; 128];
        place[0] = value;
        let address = place.as_mut_ptr();
        self.0.push(place);
        address
    }
}

const DRIVER: &str = "_ze_driver_handle_t";

pub(crate) fn translate(loader: &Loader, handle: usize) -> usize {
    let translate = loader
        .get::<zel_pfnLoaderTranslateHandle_t>("zelLoaderTranslateHandle")
        .unwrap();
    let mut native = null_mut();
    // SAFETY: places of this frame.
    let result = unsafe { translate(ZEL_HANDLE_EVENT, handle as *mut c_void, &raw mut native) };
    assert_eq!(result, ZE_RESULT_SUCCESS, "{}", loader.text().1);
    native.addr()
}

impl<'l> Driver<'l> {
    fn all(loader: &'l Loader, log: &mut Log) -> Vec<Driver<'l>> {
        let version = loader
            .get::<ze_pfnDriverGetApiVersion_t>("zeDriverGetApiVersion")
            .unwrap();
        log.more();
        let drivers = loader.drivers().unwrap();
        drivers
            .into_iter()
            .map(|handle| {
                let mut found = ze_api_version_t(0);
                // SAFETY: a driver of this process and a place of this frame.
                let result = unsafe { version(handle, &raw mut found) };
                assert_eq!(result, ZE_RESULT_SUCCESS);
                let lines = log.more();
                let [line] = &lines[..] else {
                    panic!("one call, one line")
                };
                Driver {
                    loader,
                    file: line.file.clone(),
                    legacy: line.handles["hDriver"] != [handle.addr()],
                    handles: HashMap::from([(DRIVER, handle.addr())]),
                }
            })
            .collect()
    }

    /// A handle of this type, from any function that returns one.
    fn make(
        &mut self,
        kind: &'static str,
        functions: &[Function],
        visited: &mut Vec<&'static str>,
    ) -> Option<usize> {
        if let Some(handle) = self.handles.get(kind) {
            return Some(*handle);
        }
        if visited.contains(&kind) {
            return None;
        }
        visited.push(kind);
        for function in functions {
            let outputs = |p: &Parameter| matches!(p.role, Role::Output | Role::Listed { .. });
            let returns = function
                .parameters
                .iter()
                .position(|p| p.kind == kind && outputs(p));
            let Some(place) = returns else { continue };
            let needed = function
                .parameters
                .iter()
                .filter(|p| !p.kind.is_empty() && !outputs(p));
            if needed
                .clone()
                .any(|p| self.make(p.kind, functions, visited).is_none())
            {
                continue;
            }
            let mut scratch = Scratch(Vec::new());
            let call = self.arguments(function, &mut scratch);
            if self.loader.call(function.name, &call.words) == ZE_RESULT_SUCCESS {
                // SAFETY: a place of the scratch memory, where the stub has written.
                let handle = unsafe { *(call.places[place] as *const usize) };
                assert_ne!(handle, 0, "{} returned {kind}", function.name);
                self.handles.insert(kind, handle);
                visited.pop();
                return Some(handle);
            }
        }
        visited.pop();
        None
    }

    fn arguments(&self, function: &Function, scratch: &mut Scratch) -> Arguments {
        let mut arguments = Arguments {
            words: Vec::new(),
            places: Vec::new(),
            starts: Vec::new(),
        };
        for parameter in &function.parameters {
            arguments.starts.push(arguments.words.len());
            let handle = self.handles.get(parameter.kind).copied().unwrap_or(0);
            let (place, words) = match &parameter.role {
                Role::Handle { .. } => (0, vec![handle]),
                Role::Array { .. } => {
                    let array = scratch.place(handle as u64);
                    // SAFETY: within the scratch memory.
                    unsafe { array.add(1).write(handle as u64) };
                    (array.addr(), vec![array.addr()])
                }
                Role::Output | Role::Listed { .. } => {
                    let place = scratch.place(0).addr();
                    (place, vec![place])
                }
                Role::Pointer => {
                    let counts = function.parameters.iter().any(
                        |p| matches!(&p.role, Role::Listed { count } if count == parameter.name),
                    );
                    let place = scratch.place(u64::from(counts)).addr();
                    (place, vec![place])
                }
                Role::Words(words) => {
                    let counts = function.parameters.iter().any(
                        |p| matches!(&p.role, Role::Array { count } if count == parameter.name),
                    );
                    (0, vec![if counts { 2 } else { 0 }; *words])
                }
            };
            arguments.places.push(place);
            arguments.words.extend(words);
        }
        // Two arguments of the kernel, which point to zeroes.
        if function.name == "zeCommandListAppendLaunchKernelWithArguments" {
            let values = [scratch.place(0), scratch.place(0)];
            let index = function
                .parameters
                .iter()
                .position(|p| p.name == "pArguments")
                .unwrap();
            // SAFETY: within the scratch memory.
            unsafe { (arguments.places[index] as *mut [*mut u64; 2]).write(values) };
        }
        arguments
    }
}

/// The words of one call; for each parameter, the address that it points to and the first word there.
struct Arguments {
    words: Vec<usize>,
    places: Vec<usize>,
    starts: Vec<usize>,
}

/// Every function on every driver: the right driver gets its own handles, and its results are translated back.
pub(crate) fn every_function(loader: &Loader, stage: &Path) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let functions = functions::all();
    assert!(functions.len() > 460, "{}", functions.len());
    let mut log = Log::new(stage);
    let mut drivers = Driver::all(loader, &mut log);
    let files: BTreeSet<_> = drivers.iter().map(|driver| driver.file.clone()).collect();
    let expected: usize = std::env::var("EXPECTED_DRIVERS").unwrap().parse().unwrap();
    let legacy: usize = std::env::var("EXPECTED_LEGACY").unwrap().parse().unwrap();
    assert_eq!((drivers.len(), files.len()), (expected, expected));
    assert_eq!(
        drivers.iter().filter(|driver| driver.legacy).count(),
        legacy
    );
    for driver in &mut drivers {
        assert!(
            driver
                .make("_ze_device_handle_t", &functions, &mut Vec::new())
                .is_some()
        );
    }
    for index in 0..drivers.len() {
        for function in &functions {
            let driver = &mut drivers[index];
            let kinds = function
                .parameters
                .iter()
                .map(|p| p.kind)
                .filter(|kind| !kind.is_empty());
            for kind in kinds.clone() {
                let outputs = function.parameters.iter().all(|p| {
                    p.kind != kind || matches!(p.role, Role::Output | Role::Listed { .. })
                });
                let made = outputs || driver.make(kind, &functions, &mut Vec::new()).is_some();
                assert!(made, "{}: nothing returns a {kind}", function.name);
            }
            if drivers[index].legacy {
                for kind in kinds {
                    for other in &mut drivers {
                        other.make(kind, &functions, &mut Vec::new());
                    }
                }
                bad_calls(&drivers, index, function, &mut log);
            }
            good_call(&drivers[index], function, &mut log);
            stale_call(&mut drivers[index], function, &mut log);
        }
    }
}

fn good_call(driver: &Driver<'_>, function: &Function, log: &mut Log) {
    let name = function.name;
    let mut scratch = Scratch(Vec::new());
    let call = driver.arguments(function, &mut scratch);
    let native: Vec<Vec<usize>> = function
        .parameters
        .iter()
        .zip(&call.starts)
        .map(|(parameter, start)| match parameter.role {
            Role::Handle { .. } => vec![translate(driver.loader, call.words[*start])],
            Role::Array { .. } => {
                let handle = driver.handles[parameter.kind];
                vec![translate(driver.loader, handle); 2]
            }
            _ => Vec::new(),
        })
        .collect();
    log.more();
    let result = driver.loader.call(name, &call.words);
    assert_eq!(
        result,
        ZE_RESULT_SUCCESS,
        "{name}: {}",
        driver.loader.text().1
    );
    let lines = log.more();
    let [.., line] = &lines[..] else {
        panic!("{name} reached no driver")
    };
    assert_eq!((&line.file, line.function.as_str()), (&driver.file, name));
    assert!(
        lines.iter().all(|line| line.file == driver.file),
        "{name} calls other drivers"
    );
    for (index, parameter) in function.parameters.iter().enumerate() {
        match parameter.role {
            Role::Handle { .. } | Role::Array { .. } => {
                assert_eq!(
                    line.handles[parameter.name], native[index],
                    "{name}: {}",
                    parameter.name
                );
            }
            Role::Output | Role::Listed { .. } if line.handles.contains_key(parameter.name) => {
                // SAFETY: a place of the scratch memory.
                let returned = unsafe { *(call.places[index] as *const usize) };
                let written = line.handles[parameter.name][0];
                assert_eq!(
                    translate(driver.loader, returned),
                    written,
                    "{name}: {}",
                    parameter.name
                );
                assert_eq!(
                    translate(driver.loader, written),
                    written,
                    "translating twice changes nothing"
                );
                assert_eq!(
                    returned != written,
                    driver.legacy,
                    "{name}: {}",
                    parameter.name
                );
            }
            _ => {}
        }
    }
}

/// Each handle in turn is null, of another driver, of another type, the driver's own, or not an address.
fn bad_calls(drivers: &[Driver<'_>], index: usize, function: &Function, log: &mut Log) {
    let driver = &drivers[index];
    let name = function.name;
    let mut decides = true;
    for (number, parameter) in function.parameters.iter().enumerate() {
        let (optional, array) = match parameter.role {
            Role::Handle { optional, .. } => (optional, false),
            Role::Array { .. } => (false, true),
            _ => continue,
        };
        let own = driver.handles[parameter.kind];
        let other_kind = if parameter.kind == DRIVER {
            "_ze_device_handle_t"
        } else {
            DRIVER
        };
        let mut bad = vec![
            (
                "another type",
                driver.handles[other_kind],
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            ),
            (
                "the driver's own",
                translate(driver.loader, own),
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            ),
            ("no address", 1, ZE_RESULT_ERROR_INVALID_ARGUMENT),
            ("no address", 8, ZE_RESULT_ERROR_INVALID_ARGUMENT),
            (
                "inside a wrapper",
                own + 8,
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            ),
        ];
        if !optional {
            bad.push(("null", 0, ZE_RESULT_ERROR_INVALID_NULL_HANDLE));
        }
        if !decides {
            for other in drivers.iter().filter(|other| other.file != driver.file) {
                if let Some(handle) = other.handles.get(parameter.kind) {
                    bad.push((
                        "another driver's",
                        *handle,
                        ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    ));
                }
            }
        }
        for (what, handle, expected) in bad {
            let mut scratch = Scratch(Vec::new());
            let mut call = driver.arguments(function, &mut scratch);
            if array {
                // If an array decides, its first element does; the second may then be of another driver.
                let place = if decides { 0 } else { 8 };
                // SAFETY: a place of the scratch memory.
                unsafe { *((call.places[number] + place) as *mut usize) = handle };
            } else {
                call.words[call.starts[number]] = handle;
            }
            log.more();
            let result = driver.loader.call(name, &call.words);
            assert_eq!(result, expected, "{name}: {} is {what}", parameter.name);
            let text = driver.loader.text().1;
            assert!(
                text.starts_with(&format!("{name}: ")),
                "{name}: {} is {what}: {text}",
                parameter.name
            );
            let called = log.more().into_iter().find(|line| line.function == name);
            assert!(
                called.is_none(),
                "{name} reached a driver although {} is {what}",
                parameter.name
            );
        }
        decides = false;
    }
}

/// After a call that destroys a wrapped handle, the handle is rejected.
fn stale_call(driver: &mut Driver<'_>, function: &Function, log: &mut Log) {
    let released = function
        .parameters
        .iter()
        .find(|p| matches!(p.role, Role::Handle { releases: true, .. }));
    let Some(released) = released else { return };
    if driver.legacy {
        let mut scratch = Scratch(Vec::new());
        let call = driver.arguments(function, &mut scratch);
        log.more();
        let result = driver.loader.call(function.name, &call.words);
        assert_eq!(
            result, ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "{} twice",
            function.name
        );
        let text = driver.loader.text().1;
        assert!(text.contains("was destroyed"), "{}: {text}", function.name);
        assert!(log.more().iter().all(|line| line.function != function.name));
    }
    driver.handles.remove(released.kind);
}

/// Handles by type, of the first driver.
pub(crate) fn first<'l>(
    loader: &'l Loader,
    stage: &Path,
    kinds: &[&'static str],
) -> (Driver<'l>, Log) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let functions = functions::all();
    let mut log = Log::new(stage);
    let mut driver = Driver::all(loader, &mut log).remove(0);
    for kind in kinds {
        assert!(
            driver.make(kind, &functions, &mut Vec::new()).is_some(),
            "{kind}"
        );
    }
    log.more();
    (driver, log)
}

/// Objects that a driver created without the loader.
pub(crate) fn behind_the_loader(loader: &Loader, stage: &Path) {
    let (driver, mut log) = first(loader, stage, &["_ze_context_handle_t"]);
    let context = translate(loader, driver.handles["_ze_context_handle_t"]);
    let address = |name: &std::ffi::CStr| {
        let get = loader
            .get::<ze_pfnDriverGetExtensionFunctionAddress_t>("zeDriverGetExtensionFunctionAddress")
            .unwrap();
        let mut address = null_mut();
        // SAFETY: a driver of this process and places of this frame.
        let result = unsafe { get(driver.handles[DRIVER] as _, name.as_ptr(), &raw mut address) };
        assert_eq!(result, ZE_RESULT_SUCCESS);
        address
    };
    // SAFETY: the stub's extension functions have these types.
    let (make, use_it) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn(usize, *mut usize) -> u32>(address(
                c"stubMakeEvent",
            )),
            std::mem::transmute::<*mut c_void, extern "C" fn(usize) -> u32>(address(
                c"stubUseEvent",
            )),
        )
    };
    let mut event = 0;
    assert_eq!(make(context, &raw mut event), 0);
    assert_eq!(log.more().last().unwrap().handles["hContext"], [context]);
    let expected = if driver.legacy {
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    } else {
        ZE_RESULT_SUCCESS
    };
    for name in [
        "zeEventQueryStatus",
        "zeEventHostSignal",
        "zeEventHostReset",
        "zeEventDestroy",
    ] {
        assert_eq!(loader.call(name, &[event]), expected, "{name}");
        if driver.legacy {
            assert!(
                loader.text().1.contains("was not returned by this loader"),
                "{:?}",
                loader.text()
            );
        }
    }
    assert_eq!(translate(loader, event), event);
    assert_eq!(use_it(translate(loader, event)), 0);
}

/// Handles inside values and descriptors.
pub(crate) fn hidden_handles(loader: &Loader, stage: &Path) {
    const KERNEL: &str = "_ze_kernel_handle_t";
    const IMAGE: &str = "_ze_image_handle_t";
    const SAMPLER: &str = "_ze_sampler_handle_t";
    const MODULE: &str = "_ze_module_handle_t";
    const LIST: &str = "_ze_command_list_handle_t";
    let (driver, mut log) = first(
        loader,
        stage,
        &[KERNEL, IMAGE, SAMPLER, MODULE, LIST, "_ze_device_handle_t"],
    );
    assert!(driver.legacy);
    let handle = |kind: &str| driver.handles[kind];
    let mut logged = |name: &str, parameter: &str, words: &[usize]| {
        assert_eq!(
            loader.call(name, words),
            ZE_RESULT_SUCCESS,
            "{:?}",
            loader.text()
        );
        log.more().pop().unwrap().handles.get(parameter).cloned()
    };
    let set = "zeKernelSetArgumentValue";
    // An odd address, because values may be unaligned.
    let mut bytes = [0_u8; 17];
    for (value, expected) in [
        (handle(IMAGE), translate(loader, handle(IMAGE))),
        (handle(SAMPLER), translate(loader, handle(SAMPLER))),
        (0x1234_5678, 0x1234_5678),
        (0, 0),
    ] {
        bytes[1..9].copy_from_slice(&value.to_ne_bytes());
        let address = bytes[1..].as_ptr().addr();
        let found = logged(set, "pArgValue", &[handle(KERNEL), 0, 8, address]);
        assert_eq!(found.unwrap(), [expected], "{value:#x}");
        assert_eq!(
            logged(set, "pArgValue", &[handle(KERNEL), 0, 4, address]),
            None,
            "four bytes are not a handle"
        );
    }
    assert_eq!(
        loader.call(set, &[handle(KERNEL), 0, 8, 0]),
        ZE_RESULT_SUCCESS,
        "a null value is passed to the driver"
    );
    let stranger = handle(KERNEL);
    let place = (&raw const stranger).addr();
    assert_eq!(
        loader.call(set, &[handle(KERNEL), 0, 8, place]),
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "a kernel is not a value"
    );

    let values = [handle(IMAGE), handle(SAMPLER)];
    let pointers = [(&raw const values[0]).addr(), (&raw const values[1]).addr()];
    let words = [
        handle(LIST),
        handle(KERNEL),
        0,
        0,
        0,
        0,
        pointers.as_ptr().addr(),
        0,
        0,
        0,
        0,
    ];
    let name = "zeCommandListAppendLaunchKernelWithArguments";
    assert_eq!(loader.call(name, &words), ZE_RESULT_SUCCESS);
    // The log has the parameter's last value; the application's array is unchanged.
    let found = log.more().pop().unwrap().handles["pArguments"].clone();
    assert_eq!(found, [translate(loader, handle(SAMPLER))]);
    assert_eq!(values, [handle(IMAGE), handle(SAMPLER)]);

    let source = ze_runtime_requirements_module_desc_t {
        requirementsSrc: handle(MODULE) as _,
        ..Default::default()
    };
    let words = [
        handle("_ze_device_handle_t"),
        (&raw const source).addr(),
        0,
        0,
    ];
    assert_eq!(
        loader.call("zeDeviceGetRuntimeRequirements", &words),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(
        log.more().pop().unwrap().handles["requirementsSrc"],
        [translate(loader, handle(MODULE))]
    );
    assert_eq!(
        source.requirementsSrc.addr(),
        handle(MODULE),
        "the application's struct is unchanged"
    );

    // In a chain, after a struct of known size, and after an unknown one.
    let image = handle(IMAGE);
    let argument = ze_mutable_kernel_argument_exp_desc_t {
        argSize: 8,
        pArgValue: (&raw const image).cast(),
        ..Default::default()
    };
    let size = ze_mutable_group_size_exp_desc_t {
        pNext: (&raw const argument).cast(),
        ..Default::default()
    };
    let commands = ze_mutable_commands_exp_desc_t {
        pNext: (&raw const size).cast(),
        ..Default::default()
    };
    let name = "zeCommandListUpdateMutableCommandsExp";
    let words = [handle(LIST), (&raw const commands).addr()];
    assert_eq!(
        loader.call(name, &words),
        ZE_RESULT_SUCCESS,
        "{:?}",
        loader.text()
    );
    assert_eq!(
        log.more().pop().unwrap().handles["pArgValue"],
        [translate(loader, image)]
    );
    let unknown = ze_base_desc_t {
        stype: ze_structure_type_t(0x7777_7777),
        pNext: (&raw const argument).cast(),
    };
    let commands = ze_mutable_commands_exp_desc_t {
        pNext: (&raw const unknown).cast(),
        ..Default::default()
    };
    let words = [handle(LIST), (&raw const commands).addr()];
    assert_eq!(
        loader.call(name, &words),
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
    );
    let mut link = ze_base_desc_t::default();
    link.pNext = (&raw const link).cast();
    assert_eq!(
        loader.call(name, &[handle(LIST), (&raw const link).addr()]),
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "a loop"
    );
}

/// The `zer` functions where the default driver is wrapped.
pub(crate) fn default_driver(loader: &Loader, stage: &Path) {
    let (driver, _) = first(loader, stage, &["_ze_device_handle_t"]);
    assert!(driver.legacy);
    let device = driver.handles["_ze_device_handle_t"];
    let to_identifier: zer_pfnTranslateDeviceHandleToIdentifier_t =
        loader.get("zerTranslateDeviceHandleToIdentifier");
    let to_device: zer_pfnTranslateIdentifierToDeviceHandle_t =
        loader.get("zerTranslateIdentifierToDeviceHandle");
    let context: zer_pfnGetDefaultContext_t = loader.get("zerGetDefaultContext");
    let context_of: ze_pfnDriverGetDefaultContext_t = loader.get("zeDriverGetDefaultContext");
    // SAFETY: handles of this process, and invalid ones that must be rejected.
    unsafe {
        let (to_identifier, to_device, context, context_of) = (
            to_identifier.unwrap(),
            to_device.unwrap(),
            context.unwrap(),
            context_of.unwrap(),
        );
        assert_eq!(loader.text().1, "stub driver's text");
        assert_eq!(to_identifier(device as _), 0);
        assert_eq!(to_device(0).addr(), device);
        assert_eq!(to_identifier(translate(loader, device) as _), u32::MAX);
        assert!(to_device(99).is_null());
        let shown = context();
        assert_ne!(translate(loader, shown.addr()), shown.addr());
        assert_eq!(context_of(driver.handles[DRIVER] as _), shown);
        assert!(context_of(device as _).is_null() && context_of(null_mut()).is_null());
        assert_eq!(
            loader.call("zeContextGetStatus", &[shown.addr()]),
            ZE_RESULT_SUCCESS
        );
    }
}

/// Functions that an older legacy driver lacks.
pub(crate) fn older_functions(loader: &Loader, stage: &Path) {
    let (driver, _) = first(loader, stage, &["_ze_context_handle_t"]);
    assert!(driver.legacy);
    let context = driver.handles["_ze_context_handle_t"];
    let status = loader.call("zeContextGetStatus", &[context]);
    assert_eq!(status, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "an empty slot");
    let mut graph = 0_usize;
    let words = [context, 0, (&raw mut graph).addr()];
    assert_eq!(
        loader.call("zeGraphCreateExt", &words),
        ZE_RESULT_ERROR_UNSUPPORTED_VERSION
    );
    assert!(
        loader
            .text()
            .1
            .contains("needs Level Zero 1.17, but the handle's driver supports 1.3"),
        "{:?}",
        loader.text()
    );
}

/// Functions of later versions than the getters support.
pub(crate) fn older_getters(loader: &Loader, stage: &Path) {
    let (driver, _) = first(
        loader,
        stage,
        &["_ze_context_handle_t", "_ze_event_handle_t"],
    );
    assert!(driver.legacy);
    let event = driver.handles["_ze_event_handle_t"];
    assert_eq!(
        loader.call("zeEventQueryStatus", &[event]),
        ZE_RESULT_SUCCESS
    );
    let mut pool = 0_usize;
    let words = [event, (&raw mut pool).addr()];
    assert_eq!(
        loader.call("zeEventGetEventPool", &words),
        ZE_RESULT_ERROR_UNSUPPORTED_VERSION
    );
    assert_eq!(pool, 0, "nothing was written");
}

/// Random calls with handles that are valid, stale, of other drivers and types, the drivers' own, or invalid: no call
/// crashes, and each rejected one has an error text.
pub(crate) fn random_calls(loader: &Loader, stage: &Path) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let functions = functions::all();
    let mut log = Log::new(stage);
    let mut drivers = Driver::all(loader, &mut log);
    assert!(drivers.iter().all(|driver| driver.legacy));
    let mut pool = vec![0, 1, 8, 0xffff_fff8, usize::MAX, usize::MAX - 7];
    let mut seed = 0x5eed_u64;
    let mut random = move |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut good, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let function = &functions[random(functions.len())];
        let place = random(drivers.len());
        let driver = &mut drivers[place];
        for parameter in function.parameters.iter().filter(|p| !p.kind.is_empty()) {
            driver.make(parameter.kind, &functions, &mut Vec::new());
        }
        let mut scratch = Scratch(Vec::new());
        let mut call = driver.arguments(function, &mut scratch);
        for (number, parameter) in function.parameters.iter().enumerate() {
            let other = pool[random(pool.len())];
            match parameter.role {
                Role::Handle { .. } if random(4) == 0 => call.words[call.starts[number]] = other,
                // SAFETY: a place of the scratch memory.
                Role::Array { .. } if random(4) == 0 => unsafe {
                    *(call.places[number] as *mut usize) = other
                },
                _ => {}
            }
        }
        // Handles that an application may still hold: its own, even destroyed ones, and the driver's.
        let held = driver
            .handles
            .values()
            .nth(random(driver.handles.len()))
            .copied()
            .unwrap_or(0);
        let native = {
            let mut native = null_mut();
            let translate = loader
                .get::<zel_pfnLoaderTranslateHandle_t>("zelLoaderTranslateHandle")
                .unwrap();
            // SAFETY: places of this frame.
            unsafe { translate(ZEL_HANDLE_EVENT, held as *mut c_void, &raw mut native) };
            native.addr()
        };
        for handle in [held, native] {
            if pool.len() < 2_000 && !pool.contains(&handle) {
                pool.push(handle);
            }
        }
        match loader.call(function.name, &call.words) {
            ZE_RESULT_SUCCESS => {
                good += 1;
                let released = function
                    .parameters
                    .iter()
                    .find(|p| matches!(p.role, Role::Handle { releases: true, .. }));
                if let Some(released) = released {
                    driver.handles.retain(|kind, _| *kind != released.kind);
                }
            }
            error => {
                refused += 1;
                let expected = [
                    ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
                ];
                assert!(expected.contains(&error), "{}: {error:?}", function.name);
                let text = loader.text().1;
                assert!(
                    text.starts_with(&format!("{}: ", function.name)),
                    "{}: {text}",
                    function.name
                );
            }
        }
        // Another call may have destroyed an object that this driver relies on.
        for driver in &mut drivers {
            driver.handles.retain(|_, handle| is_live(loader, *handle));
        }
    }
    assert!(
        good > 5_000 && refused > 2_000,
        "{good} went through, {refused} were refused"
    );
}

fn is_live(loader: &Loader, handle: usize) -> bool {
    let translate = loader
        .get::<zel_pfnLoaderTranslateHandle_t>("zelLoaderTranslateHandle")
        .unwrap();
    let mut native = null_mut();
    // SAFETY: places of this frame.
    unsafe {
        translate(ZEL_HANDLE_EVENT, handle as *mut c_void, &raw mut native) == ZE_RESULT_SUCCESS
    }
}
