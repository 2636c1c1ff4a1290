//! Cases that run in a separate process.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Mutex;

use level_zero_sys::*;

use crate::EXPORTS;
use crate::getters;
use crate::layered;
use crate::lifetimes;
use crate::opened::Loader;
use crate::wrapped;

/// Runs the case called `name` on the libraries in `stage`.
pub(crate) fn run(name: &str, stage: &Path) {
    let path = stage.join("libze_loader.so.1");
    let loader = Loader::open(&path);
    match name {
        "no_driver" => no_driver(&loader),
        "one_driver" => one_driver(&loader),
        "missing_table" => missing_table(&loader),
        "refused" => refused(&loader),
        "two_drivers" => two_drivers(&loader),
        "order" => order(&loader),
        "lazily" => lazily(&loader),
        "beside" => beside(&loader),
        "init_rules" => init_rules(&loader),
        "init_drivers_rules" => init_drivers_rules(&loader),
        "init_drivers_without_support" => init_drivers_without_support(&loader),
        "any_way_of_init_makes_drivers_enumerable" => any_way_of_init(&loader),
        "sysman" => sysman(&loader),
        "every_function_checks_state_and_handle" => every_function(&loader),
        "null_slot" => null_slot(&loader),
        "old_tables" => old_tables(&loader),
        "getters" => getters::all(&loader),
        "versions" => versions(&loader),
        "translation" => translation(&loader),
        "tracer_functions" => layered::tracer_functions(&loader),
        "tracers" => layered::tracers(&loader),
        "traced_by_environment" => layered::traced_by_environment(&loader),
        "recorded" => layered::recorded(&loader),
        "validated" => layered::validated(&loader),
        "refused_script" => layered::refused_by_variable(&loader, "zeInit: SOLUM_RECORDER: "),
        "refused_format" => {
            layered::refused_by_variable(&loader, "zeInit: SOLUM_VALIDATION_FORMAT is 'xml'")
        }
        "default_driver" => default_driver(&loader),
        "teardown_callbacks" => teardown_callbacks(&loader),
        "one_client_leaves" => one_client_leaves(loader, &path),
        "unloading_and_loading_again" => unloading(loader, &path),
        "forked_child" => forked_child(&loader),
        "eight_threads" => eight_threads(&loader),
        "static_client" => static_client(&loader),
        "exit_without_close" => exit_without_close(&loader),
        "wrapped_every_function" => wrapped::every_function(&loader, stage),
        "wrapped_behind_the_loader" => wrapped::behind_the_loader(&loader, stage),
        "wrapped_hidden_handles" => wrapped::hidden_handles(&loader, stage),
        "wrapped_many_objects" => lifetimes::many_objects(&loader, stage),
        "wrapped_many_threads" => lifetimes::many_threads(&loader, stage),
        "wrapped_reused_addresses" => lifetimes::reused_addresses(&loader, stage),
        "wrapped_refused_destruction" => lifetimes::refused_destruction(&loader, stage),
        "wrapped_default_driver" => wrapped::default_driver(&loader, stage),
        "wrapped_random_calls" => wrapped::random_calls(&loader, stage),
        "wrapped_older_getters" => wrapped::older_getters(&loader, stage),
        "wrapped_older_functions" => wrapped::older_functions(&loader, stage),
        other => panic!("no case {other}"),
    }
}

fn no_driver(loader: &Loader) {
    assert_eq!(
        loader.text().0,
        ZE_RESULT_ERROR_UNINITIALIZED,
        "before init there is no text"
    );
    for _ in 0..2 {
        assert_eq!(loader.init(0), ZE_RESULT_ERROR_UNINITIALIZED);
        let (result, text) = loader.text();
        assert_eq!(result, ZE_RESULT_SUCCESS);
        assert!(
            text.starts_with(
                "zeInit: no usable Level Zero driver was found. Tried:\n  \"\": an empty name"
            ),
            "{text}"
        );
    }
    assert_eq!(loader.drivers(), Err(ZE_RESULT_ERROR_UNINITIALIZED));
    assert!(
        loader
            .text()
            .1
            .starts_with("zeInit: no usable Level Zero driver"),
        "a later error does not hide the cause"
    );
    assert_eq!(loader.init_drivers(1), Err(ZE_RESULT_ERROR_UNINITIALIZED));
    assert_eq!(
        loader.call_with_nulls("zeLoaderInit"),
        ZE_RESULT_ERROR_UNINITIALIZED
    );
    assert_eq!(
        loader.call_with_nulls("zesInit"),
        ZE_RESULT_ERROR_UNINITIALIZED
    );
    assert_eq!(
        loader.call_with_nulls("zeGetContextProcAddrTable"),
        ZE_RESULT_ERROR_UNINITIALIZED
    );
    components(loader, &["loader"]);
}

fn one_driver(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let drivers = loader.drivers().unwrap();
    assert_eq!(drivers.len(), 1);
    assert_eq!(loader.init_drivers(1).unwrap(), drivers);
    loader.create_context(drivers[0]).unwrap();
}

/// The driver is called through its tables, of which one is missing.
fn missing_table(loader: &Loader) {
    one_driver(loader);
    let driver = loader.drivers().unwrap()[0];
    let (mut count, mut handle) = (0, null_mut());
    let missing = std::env::var("SOLUM_STUB_NO_TABLE").unwrap();
    // SAFETY: functions of these names, a live driver, descriptors and places for the answers.
    let result = unsafe {
        match &*missing {
            "zeRTASBuilderCreateExt" => {
                let create = loader
                    .get::<ze_pfnRTASBuilderCreateExt_t>(&missing)
                    .unwrap();
                let desc = ze_rtas_builder_ext_desc_t::default();
                create(driver, &raw const desc, &raw mut handle)
            }
            "zeFabricVertexGetExp" => {
                let get = loader.get::<ze_pfnFabricVertexGetExp_t>(&missing).unwrap();
                get(driver, &raw mut count, null_mut())
            }
            _ => {
                let create = loader.get::<ze_pfnGraphCreateExt_t>(&missing).unwrap();
                let context = loader.create_context(driver).unwrap();
                create(context, std::ptr::null(), (&raw mut handle).cast())
            }
        }
    };
    assert_eq!(result, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "{missing}");
    assert!(
        loader.text().1.contains("does not implement"),
        "{:?}",
        loader.text()
    );
}

/// The parent checks the text.
fn refused(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_ERROR_UNINITIALIZED);
    eprintln!("{}", loader.text().1);
    assert_eq!(loader.drivers(), Err(ZE_RESULT_ERROR_UNINITIALIZED));
}

fn two_drivers(loader: &Loader) {
    assert_eq!(loader.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    let drivers = loader.drivers().unwrap();
    assert_eq!(drivers.len(), 2);
    let contexts: Vec<_> = drivers
        .iter()
        .map(|driver| loader.create_context(*driver).unwrap())
        .collect();
    let status = loader
        .get::<ze_pfnContextGetStatus_t>("zeContextGetStatus")
        .unwrap();
    let destroy = loader
        .get::<ze_pfnContextDestroy_t>("zeContextDestroy")
        .unwrap();
    for call in [status, destroy] {
        for context in &contexts {
            // SAFETY: contexts of this process.
            assert_eq!(unsafe { call(*context) }, ZE_RESULT_SUCCESS);
        }
    }
}

/// `EXPECTED_ORDER` lists the positions of stub_a and stub_b; the types of their devices identify them.
fn order(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let drivers = loader.drivers().unwrap();
    // `zeInitDrivers` calls the libraries in the order of their names, so the order of first contact identifies them.
    let first_device = |driver| loader.devices(driver).len();
    let script = std::env::var("SOLUM_STUB_DEVICES").unwrap();
    let kinds: Vec<String> = script
        .split(',')
        .map(|entry| entry.split_once(':').unwrap().1.to_owned())
        .collect();
    let properties = loader
        .get::<ze_pfnDeviceGetProperties_t>("zeDeviceGetProperties")
        .unwrap();
    let found: Vec<Vec<&str>> = drivers
        .iter()
        .map(|driver| {
            assert!(first_device(*driver) > 0);
            loader
                .devices(*driver)
                .into_iter()
                .map(|device| {
                    let mut found = ze_device_properties_t::default();
                    // SAFETY: a device of this process and a struct of this frame.
                    let result = unsafe { properties(device, &raw mut found) };
                    assert_eq!(result, ZE_RESULT_SUCCESS);
                    match (found.r#type, found.flags) {
                        (ZE_DEVICE_TYPE_GPU, 0) => "discrete",
                        (ZE_DEVICE_TYPE_GPU, _) => "integrated",
                        (ZE_DEVICE_TYPE_CPU, _) => "cpu",
                        _ => "npu",
                    }
                })
                .collect()
        })
        .collect();
    let expected: Vec<Vec<&str>> = std::env::var("EXPECTED_ORDER")
        .unwrap()
        .split(',')
        .map(|place| kinds[place.parse::<usize>().unwrap()].split('+').collect())
        .collect();
    assert_eq!(found, expected);
    assert_eq!(
        loader.init_drivers(u32::MAX).unwrap(),
        drivers,
        "both ways list in one order"
    );
}

/// One class of drivers after the other, as the case defines.
fn lazily(loader: &Loader) {
    assert_eq!(loader.drivers(), Err(ZE_RESULT_ERROR_UNINITIALIZED));
    match std::env::var("EXPECTED_LIBRARIES").unwrap().as_str() {
        "gpu" => assert_eq!(loader.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS),
        "npu" => assert_eq!(
            loader
                .init_drivers(ZE_INIT_DRIVER_TYPE_FLAG_NPU)
                .unwrap()
                .len(),
            1
        ),
        _ => {
            assert_eq!(
                loader
                    .init_drivers(ZE_INIT_DRIVER_TYPE_FLAG_GPU)
                    .unwrap()
                    .len(),
                1
            );
            assert_eq!(loader.init_drivers(u32::MAX).unwrap().len(), 2);
            assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
            assert_eq!(loader.drivers().unwrap().len(), 2);
        }
    }
}

/// The machine may have vendors' drivers too; ours is the last one.
fn beside(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let drivers = loader.drivers().unwrap();
    loader.create_context(*drivers.last().unwrap()).unwrap();
}

fn init_rules(loader: &Loader) {
    assert_eq!(loader.drivers(), Err(ZE_RESULT_ERROR_UNINITIALIZED));
    assert!(
        loader
            .text()
            .1
            .contains("zeDriverGet: called before zeInit"),
        "{:?}",
        loader.text()
    );
    for flags in [ZE_INIT_FLAG_GPU_ONLY, ZE_INIT_FLAG_VPU_ONLY, 0, 3] {
        assert_eq!(
            loader.init(flags),
            ZE_RESULT_SUCCESS,
            "the first result counts for any flags ({flags})"
        );
    }
    let drivers = loader.drivers().unwrap();
    let get = loader.get::<ze_pfnDriverGet_t>("zeDriverGet").unwrap();
    // SAFETY: places of this frame, and nulls that are being tested.
    unsafe {
        assert_eq!(
            get(null_mut(), null_mut()),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER
        );
        let mut count = 0xdead_beef;
        assert_eq!(get(&raw mut count, null_mut()), ZE_RESULT_SUCCESS);
        assert_eq!(
            count, 2,
            "a null array means that the count is only written"
        );
        let mut room = [null_mut(); 3];
        for (given, written) in [(1, 1), (2, 2), (3, 2)] {
            count = given;
            room = [null_mut(); 3];
            assert_eq!(get(&raw mut count, room.as_mut_ptr()), ZE_RESULT_SUCCESS);
            assert_eq!(count, written);
            assert_eq!(
                room.iter().filter(|handle| !handle.is_null()).count(),
                written as usize
            );
        }
        assert_eq!(room[..2], drivers);
    }
}

fn init_drivers_rules(loader: &Loader) {
    let init = loader.get::<ze_pfnInitDrivers_t>("zeInitDrivers").unwrap();
    let mut desc = ze_init_driver_type_desc_t::default();
    let mut count = 77;
    // SAFETY: places of this frame, and nulls that are being tested.
    unsafe {
        assert_eq!(
            init(&raw mut count, null_mut(), &raw mut desc),
            ZE_RESULT_ERROR_INVALID_ENUMERATION
        );
        assert_eq!(
            init(&raw mut count, null_mut(), null_mut()),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER
        );
        assert_eq!(
            init(null_mut(), null_mut(), &raw mut desc),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER
        );
    }
    assert_eq!(count, 77, "the count is unchanged on failure");
    let first = loader.init_drivers(ZE_INIT_DRIVER_TYPE_FLAG_GPU).unwrap();
    assert_eq!(first.len(), 2);
    for flags in [
        ZE_INIT_DRIVER_TYPE_FLAG_NPU,
        3,
        u32::MAX,
        ZE_INIT_DRIVER_TYPE_FLAG_GPU,
    ] {
        assert_eq!(
            loader.init_drivers(flags).unwrap(),
            first,
            "the same handles every time ({flags:#x})"
        );
        assert_eq!(loader.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    }
}

fn init_drivers_without_support(loader: &Loader) {
    assert_eq!(
        loader.init_drivers(1),
        Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    );
    assert!(
        loader.text().1.contains("zeInitDrivers is missing"),
        "{:?}",
        loader.text()
    );
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    assert_eq!(loader.drivers().unwrap().len(), 2);
}

fn any_way_of_init(loader: &Loader) {
    let found = loader.init_drivers(1).unwrap();
    assert_eq!(loader.drivers().unwrap(), found);
    loader.create_context(found[0]).unwrap();
}

fn sysman(loader: &Loader) {
    let get = loader.get::<zes_pfnDriverGet_t>("zesDriverGet").unwrap();
    let mut count = 2;
    let mut drivers = [null_mut(); 2];
    // SAFETY: places of this frame.
    unsafe {
        assert_eq!(
            get(&raw mut count, drivers.as_mut_ptr()),
            ZE_RESULT_ERROR_UNINITIALIZED
        );
        assert_eq!(
            loader.get::<zes_pfnInit_t>("zesInit").unwrap()(0),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(get(&raw mut count, drivers.as_mut_ptr()), ZE_RESULT_SUCCESS);
        assert_eq!(count, 2);
        let mut devices = 9;
        let list = loader.get::<zes_pfnDeviceGet_t>("zesDeviceGet").unwrap();
        assert_eq!(
            list(drivers[1], &raw mut devices, null_mut()),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(devices, 1, "the stub's slot was reached");
    }
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
}

/// Functions that take a handle first and return a code, except those that initialise, enumerate or describe.
fn handle_functions() -> impl Iterator<Item = &'static str> {
    const OTHERS: [&str; 9] = [
        "zeInit",
        "zeInitDrivers",
        "zeDriverGet",
        "zeDriverGetDefaultContext",
        "zeLoaderInit",
        "zeLoaderGetTracingHandle",
        "zesInit",
        "zesDriverGet",
        "zeModuleDynamicLink",
    ];
    EXPORTS.lines().filter(|name| {
        !name.starts_with("zel")
            && !name.starts_with("zer")
            && !name.ends_with("ProcAddrTable")
            && !OTHERS.contains(name)
            && *name != "zeModuleInspectLinkageExt"
    })
}

fn every_function(loader: &Loader) {
    let arrays = ["zeModuleDynamicLink", "zeModuleInspectLinkageExt"];
    assert!(handle_functions().count() > 460);
    for name in handle_functions().chain(arrays) {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_UNINITIALIZED,
            "{name} before init"
        );
    }
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    for name in handle_functions() {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            "{name} with a null handle"
        );
        assert!(
            loader.text().1.starts_with(&format!("{name}: h"))
                || loader.text().1.starts_with(&format!("{name}: p"))
        );
    }
    // Addresses where no object can be; reading them would end the process.
    let junk = [1, 0x7ff8, 0xffff, 0x1_0001, usize::MAX - 1, usize::MAX];
    for (name, junk) in handle_functions().flat_map(|name| junk.map(|junk| (name, junk))) {
        assert_eq!(
            loader.call(name, &[junk]),
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "{name} with {junk:#x}"
        );
        assert!(
            loader.text().1.contains(&format!("({junk:#x})")),
            "{name}: {:?}",
            loader.text()
        );
    }
    for name in arrays {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_INVALID_SIZE,
            "{name} without modules"
        );
    }
    let in_teardown = loader
        .get::<zel_pfnCheckIsLoaderInTearDown_t>("zelCheckIsLoaderInTearDown")
        .unwrap();
    // SAFETY: no arguments.
    assert!(!unsafe { in_teardown() });
    for _ in 0..2 {
        assert_eq!(
            loader.call_with_nulls("zelSetDriverTeardown"),
            ZE_RESULT_SUCCESS,
            "idempotent"
        );
    }
    // SAFETY: no arguments.
    assert!(unsafe { in_teardown() });
    for name in handle_functions().chain(arrays) {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_UNINITIALIZED,
            "{name} after teardown"
        );
    }
    for name in [
        "zeInit",
        "zeInitDrivers",
        "zesInit",
        "zeDriverGet",
        "zesDriverGet",
        "zeLoaderInit",
    ] {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_UNINITIALIZED,
            "{name} after teardown"
        );
    }
    assert_eq!(loader.text().0, ZE_RESULT_SUCCESS);
}

fn null_slot(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let driver = loader.drivers().unwrap()[0];
    assert_eq!(
        loader.create_context(driver),
        Err(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    );
    assert!(
        loader.text().1.starts_with("zeContextCreate: "),
        "{:?}",
        loader.text()
    );
    assert!(!loader.devices(driver).is_empty(), "other slots work");
}

fn old_tables(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let driver = loader.drivers().unwrap()[0];
    let context = loader.create_context(driver).unwrap();
    let create = loader
        .get::<ze_pfnGraphCreateExt_t>("zeGraphCreateExt")
        .unwrap();
    let mut graph = null_mut();
    // SAFETY: a context of this process and places of this frame.
    let result = unsafe { create(context, null_mut(), &raw mut graph) };
    assert_eq!(result, ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
    assert!(
        loader
            .text()
            .1
            .contains("needs Level Zero 1.17, but the handle's driver supports 1.13"),
        "{:?}",
        loader.text()
    );
    let default = loader
        .get::<ze_pfnDriverGetDefaultContext_t>("zeDriverGetDefaultContext")
        .unwrap();
    // SAFETY: a driver of this process.
    assert!(unsafe { default(driver) }.is_null());
    // Version 1.14 introduced the runtime functions; this driver's runtime table is older.
    let default = loader
        .get::<zer_pfnGetDefaultContext_t>("zerGetDefaultContext")
        .unwrap();
    // SAFETY: no arguments.
    assert!(unsafe { default() }.is_null());
    assert!(
        loader.text().1.contains("zerGetDefaultContext"),
        "{:?}",
        loader.text()
    );
}

/// Before and after initialisation, which may be repeated.
fn versions(loader: &Loader) {
    components(loader, &["loader"]);
    assert_eq!(loader.init_drivers(1).unwrap().len(), 1);
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let expected = std::env::var("EXPECTED_COMPONENTS").unwrap();
    components(loader, &expected.split(',').collect::<Vec<_>>());
}

fn components(loader: &Loader, expected: &[&str]) {
    for name in ["zelLoaderGetVersions", "zelLoaderGetVersionsInternal"] {
        let get = loader.get::<zel_pfnLoaderGetVersions_t>(name).unwrap();
        let mut count = 94_858_790_504_976_usize;
        let mut found = [zel_component_version_t::default(); 4];
        // SAFETY: places of this frame, and nulls that are being tested.
        unsafe {
            assert_eq!(
                get(null_mut(), null_mut()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER
            );
            assert_eq!(get(&raw mut count, null_mut()), ZE_RESULT_SUCCESS);
            assert_eq!(count, expected.len(), "an uninitialised count is not read");
            count = 4;
            assert_eq!(get(&raw mut count, found.as_mut_ptr()), ZE_RESULT_SUCCESS);
        }
        assert_eq!(count, 4, "the count is not updated");
        for (found, expected) in found.iter().zip(expected) {
            check_version(found, expected);
        }
        assert_eq!(
            found[expected.len()].spec_version.0,
            0,
            "no more components"
        );
    }
    for name in ["zelGetLoaderVersion", "zelLoaderGetVersion"] {
        let get = loader.get::<zel_pfnGetLoaderVersion_t>(name).unwrap();
        let mut found = zel_component_version_t::default();
        // SAFETY: a place of this frame, and the null that is being tested.
        unsafe {
            assert_eq!(get(null_mut()), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
            assert_eq!(get(&raw mut found), ZE_RESULT_SUCCESS);
        }
        check_version(&found, "loader");
    }
}

fn check_version(component: &zel_component_version_t, expected: &str) {
    // SAFETY: a C string within the struct.
    let name = unsafe { std::ffi::CStr::from_ptr(component.component_name.as_ptr()) };
    assert_eq!(name.to_str().unwrap(), expected);
    assert_eq!(component.spec_version, ZE_API_VERSION_1_17);
    let version = component.component_lib_version;
    assert_eq!((version.major, version.minor, version.patch), (1, 32, 0));
}

fn translation(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let driver: *mut c_void = loader.drivers().unwrap()[0].cast();
    for name in [
        "zelLoaderTranslateHandle",
        "zelLoaderTranslateHandleInternal",
    ] {
        let translate = loader.get::<zel_pfnLoaderTranslateHandle_t>(name).unwrap();
        let mut out = null_mut();
        // SAFETY: places of this frame, and nulls that are being tested.
        unsafe {
            for kind in 0..14 {
                out = null_mut();
                assert_eq!(
                    translate(zel_handle_type_t(kind), driver, &raw mut out),
                    ZE_RESULT_SUCCESS,
                    "{kind}"
                );
                assert_eq!(out, driver);
            }
            let unknown = zel_handle_type_t(14);
            assert_eq!(
                translate(unknown, driver, &raw mut out),
                ZE_RESULT_ERROR_INVALID_ENUMERATION
            );
            assert_eq!(
                translate(ZEL_HANDLE_DRIVER, null_mut(), &raw mut out),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER
            );
            assert_eq!(
                translate(ZEL_HANDLE_DRIVER, driver, null_mut()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER
            );
        }
    }
}

fn default_driver(loader: &Loader) {
    let to_identifier: zer_pfnTranslateDeviceHandleToIdentifier_t =
        loader.get("zerTranslateDeviceHandleToIdentifier");
    let to_device: zer_pfnTranslateIdentifierToDeviceHandle_t =
        loader.get("zerTranslateIdentifierToDeviceHandle");
    let context: zer_pfnGetDefaultContext_t = loader.get("zerGetDefaultContext");
    let (to_identifier, to_device, context) =
        (to_identifier.unwrap(), to_device.unwrap(), context.unwrap());
    // SAFETY: handles of this process, and invalid ones that must be rejected.
    unsafe {
        assert!(context().is_null() && to_device(0).is_null());
        assert_eq!(to_identifier(null_mut()), u32::MAX, "before init");
        assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
        assert_eq!(
            loader.text(),
            (ZE_RESULT_SUCCESS, "stub driver's text".into()),
            "the driver is called"
        );
        let drivers = loader.drivers().unwrap();
        let own = loader.devices(drivers[0])[0];
        assert!(!context().is_null());
        assert_eq!((to_identifier(own), to_device(0)), (0, own));
        assert_eq!(to_identifier(null_mut()), u32::MAX);
        assert_eq!(
            loader.text().1,
            "stub driver's text",
            "the driver is called"
        );
        assert_eq!(to_identifier(16 as *mut _), u32::MAX, "not an object");
        assert!(
            loader
                .text()
                .1
                .starts_with("zerTranslateDeviceHandleToIdentifier: hDevice")
        );
        let other = loader.devices(drivers[1])[0];
        assert_eq!(to_identifier(other), u32::MAX, "a device of another driver");
        assert!(
            loader.text().1.contains("belongs to another driver"),
            "{:?}",
            loader.text()
        );
        let last: zer_pfnGetLastErrorDescription_t = loader.get("zerGetLastErrorDescription");
        assert_eq!(
            last.unwrap()(null_mut()),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER
        );
    }
}

static CALLED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

unsafe extern "C" fn first() {
    CALLED.lock().unwrap().push(1);
}

unsafe extern "C" fn second() {
    CALLED.lock().unwrap().push(2);
}

unsafe extern "C" fn third() {
    CALLED.lock().unwrap().push(3);
}

/// Registers a callback: returns its index and the function that removes it.
fn register(loader: &Loader, callback: unsafe extern "C" fn()) -> (u32, unsafe extern "C" fn(u32)) {
    let register = loader
        .get::<zel_pfnRegisterTeardownCallback_t>("zelRegisterTeardownCallback")
        .unwrap();
    let mut back: zel_application_teardown_callback_t = None;
    let mut index = 0;
    // SAFETY: places of this frame; callbacks of this program live as long as it does.
    let result = unsafe { register(Some(callback), &raw mut back, &raw mut index) };
    assert_eq!(result, ZE_RESULT_SUCCESS);
    (index, back.unwrap())
}

fn teardown_callbacks(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    assert_eq!(
        loader.call_with_nulls("zelRegisterTeardownCallback"),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    let registered =
        [first as unsafe extern "C" fn(), second, third].map(|callback| register(loader, callback));
    assert_eq!(registered.map(|(index, _)| index), [1, 2, 3]);
    // SAFETY: the loader is open; an unknown index is ignored.
    unsafe {
        registered[1].1(2);
        registered[1].1(99);
    }
    assert_eq!(
        loader.call_with_nulls("zelSetDriverTeardown"),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(*CALLED.lock().unwrap(), [1, 3]);
    assert_eq!(
        loader.call_with_nulls("zelSetDriverTeardown"),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(*CALLED.lock().unwrap(), [1, 3], "each callback once");
    // SAFETY: the loader is still mapped; taking back after teardown does nothing.
    unsafe { registered[0].1(1) };
}

/// Two adapters, each with its own loader handle and callback; the first is unloaded.
fn one_client_leaves(stays: Loader, path: &Path) {
    let leaves = Loader::open(path);
    assert_eq!(stays.init(0), ZE_RESULT_SUCCESS);
    assert_eq!(leaves.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    let (kept, back) = (register(&stays, first).0, register(&leaves, second));
    assert_eq!((kept, back.0), (1, 2));
    // SAFETY: the loader is open.
    unsafe { back.1(back.0) };
    leaves.call_with_nulls("zelSetDelayLoaderContextTeardown");
    leaves.call_with_nulls("zelLoaderContextTeardown");
    assert!(!leaves.close(path), "the other client keeps it loaded");
    let driver = stays.drivers().unwrap()[0];
    stays.create_context(driver).unwrap();
    assert_eq!(*CALLED.lock().unwrap(), [] as [u32; 0]);
    assert!(stays.close(path), "the last client's close unloads");
    assert_eq!(*CALLED.lock().unwrap(), [1]);
}

fn unloading(mut loader: Loader, path: &Path) {
    for round in 0..3 {
        assert_eq!(
            loader.drivers(),
            Err(ZE_RESULT_ERROR_UNINITIALIZED),
            "round {round} starts again"
        );
        assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
        // A thread that has used the loader and its text ends before the unloading: nothing of it may be left.
        let used = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                (
                    loader.call_with_nulls("zeDriverGetProperties"),
                    loader.text().0,
                )
            });
            thread.join().unwrap()
        });
        assert_eq!(
            used,
            (ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_SUCCESS)
        );
        register(&loader, first);
        assert!(loader.close(path), "round {round}");
        assert_eq!(CALLED.lock().unwrap().len(), round + 1);
        loader = Loader::open(path);
    }
}

fn forked_child(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    // SAFETY: the child calls the loader, which takes no lock there, and leaves without running anything else.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let good = loader.init(0) == ZE_RESULT_ERROR_UNINITIALIZED
                && loader.init_drivers(1) == Err(ZE_RESULT_ERROR_UNINITIALIZED);
            libc::_exit(i32::from(!good));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        assert!(
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
            "status {status:#x}"
        );
    }
    loader.create_context(loader.drivers().unwrap()[0]).unwrap();
}

fn eight_threads(loader: &Loader) {
    let barrier = &std::sync::Barrier::new(8);
    let found: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|index| {
                scope.spawn(move || {
                    barrier.wait();
                    if index % 2 == 0 {
                        assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
                    } else {
                        assert_eq!(loader.init_drivers(1).unwrap().len(), 2);
                    }
                    let drivers = loader.drivers().unwrap();
                    for driver in &drivers {
                        loader.create_context(*driver).unwrap();
                    }
                    drivers
                        .into_iter()
                        .map(|driver| driver as usize)
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(
        found
            .iter()
            .all(|drivers| *drivers == found[0] && drivers.len() == 2),
        "{found:?}"
    );
}

/// The calls of a static loader inside an adapter, in its order.
fn static_client(loader: &Loader) {
    for expected in [&["loader"][..], &["loader", "tracing layer"]] {
        assert_eq!(loader.call_with_nulls("zeLoaderInit"), ZE_RESULT_SUCCESS);
        components(loader, expected);
        let tracing =
            loader.get::<Option<unsafe extern "C" fn() -> *mut c_void>>("zeLoaderGetTracingHandle");
        // SAFETY: no arguments.
        assert!(!unsafe { tracing.unwrap()() }.is_null());
        let mut slot: *mut c_void = null_mut();
        for name in ["zelLoaderTracingLayerInit", "zelLoaderZerTracingLayerInit"] {
            let set: Option<unsafe extern "C" fn(*mut *mut c_void) -> ze_result_t> =
                loader.get(name);
            // SAFETY: a place of this frame.
            assert_eq!(unsafe { set.unwrap()(&raw mut slot) }, ZE_RESULT_SUCCESS);
            assert!(slot.is_null());
        }
        let mut table = zel_tracer_dditable_t::default();
        let get: zel_pfnGetTracerApiProcAddrTable_t = loader.get("zelGetTracerApiProcAddrTable");
        // SAFETY: a table of this frame.
        let result = unsafe { get.unwrap()(ZE_API_VERSION_1_17, &raw mut table) };
        assert_eq!(result, ZE_RESULT_SUCCESS);
        let context =
            loader.get::<Option<unsafe extern "C" fn() -> *mut c_void>>("zelLoaderGetContext");
        // SAFETY: no arguments.
        assert!(!unsafe { context.unwrap()() }.is_null());
        assert_eq!(loader.init_drivers(1).unwrap().len(), 2);
        assert_eq!(loader.init(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_SUCCESS);
    }
}

unsafe extern "C" fn at_exit() {
    eprintln!("callback at exit");
}

/// The loader stays open; the parent sees the callback's line.
fn exit_without_close(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    register(loader, at_exit);
}
