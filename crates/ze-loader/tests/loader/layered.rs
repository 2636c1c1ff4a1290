//! Layers over the stubs: tracers, the recorder.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use level_zero_sys::*;

use crate::EXPORTS;
use crate::opened::Loader;

fn tracing_state(loader: &Loader) -> bool {
    let state = loader
        .get::<zel_pfnGetTracingLayerState_t>("zelGetTracingLayerState")
        .unwrap();
    let mut enabled = false;
    // SAFETY: a place of this frame, and the null that is being tested.
    unsafe {
        assert_eq!(state(null_mut()), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
        assert_eq!(state(&raw mut enabled), ZE_RESULT_SUCCESS);
    }
    enabled
}

pub(crate) fn tracer_functions(loader: &Loader) {
    let tracer = || EXPORTS.lines().filter(|name| name.starts_with("zelTracer"));
    assert_eq!(tracer().count(), 258);
    for name in tracer() {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_UNINITIALIZED,
            "{name} before init"
        );
    }
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    for name in tracer() {
        let expected = match name {
            "zelTracerCreate" => ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            _ => ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
        };
        assert_eq!(loader.call_with_nulls(name), expected, "{name}");
        assert!(
            loader.text().1.starts_with(&format!("{name}: ")),
            "{:?}",
            loader.text()
        );
    }
    assert!(!tracing_state(loader));
    // An unmatched disable changes nothing; enables are counted.
    for (name, expected) in [
        ("zelDisableTracingLayer", false),
        ("zelEnableTracingLayer", true),
        ("zelEnableTracingLayer", true),
        ("zelDisableTracingLayer", true),
        ("zelDisableTracingLayer", false),
        ("zelDisableTracingLayer", false),
        ("zelEnableTracingLayer", true),
    ] {
        assert_eq!(loader.call_with_nulls(name), ZE_RESULT_SUCCESS);
        assert_eq!(tracing_state(loader), expected, "after {name}");
    }
}

/// `ZE_ENABLE_TRACING_LAYER`: on from the start, regardless of clients' disables.
pub(crate) fn traced_by_environment(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    for name in [
        "zelDisableTracingLayer",
        "zelEnableTracingLayer",
        "zelDisableTracingLayer",
        "zelDisableTracingLayer",
    ] {
        assert!(tracing_state(loader), "before {name}");
        assert_eq!(loader.call_with_nulls(name), ZE_RESULT_SUCCESS);
    }
    assert!(tracing_state(loader));
}

/// Counts the calls of the callbacks below.
static SEEN: Mutex<[u32; 2]> = Mutex::new([0; 2]);

unsafe extern "C" fn on_entry(
    params: *mut ze_context_create_params_t,
    result: ze_result_t,
    _: *mut c_void,
    instance: *mut *mut c_void,
) {
    SEEN.lock().unwrap()[0] += 1;
    assert_eq!(result, ZE_RESULT_SUCCESS);
    // SAFETY: the layer passes pointers to the arguments and the tracer's cell of this call.
    unsafe {
        assert!(!(*(*params).phDriver).is_null());
        assert!((*instance).is_null());
        *instance = 7 as *mut c_void;
    }
}

unsafe extern "C" fn on_exit(
    params: *mut ze_context_create_params_t,
    result: ze_result_t,
    _: *mut c_void,
    instance: *mut *mut c_void,
) {
    SEEN.lock().unwrap()[1] += 1;
    assert_eq!(result, ZE_RESULT_SUCCESS);
    // SAFETY: as above; the context was returned.
    unsafe {
        assert!(!(*(*(*params).pphContext)).is_null());
        assert_eq!((*instance).addr(), 7);
    }
}

pub(crate) fn tracers(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS);
    let desc = zel_tracer_desc_t::default();
    let mut tracer = 0_usize;
    let words = [(&raw const desc).addr(), (&raw mut tracer).addr()];
    assert_eq!(loader.call("zelTracerCreate", &words), ZE_RESULT_SUCCESS);
    let register = "zelTracerContextCreateRegisterCallback";
    let entry = on_entry as *const () as usize;
    assert_eq!(
        loader.call(register, &[tracer, 0, entry]),
        ZE_RESULT_SUCCESS
    );
    let exit = on_exit as *const () as usize;
    assert_eq!(loader.call(register, &[tracer, 1, exit]), ZE_RESULT_SUCCESS);
    let drivers = loader.drivers().unwrap();
    let mut expected = 0;
    let mut create = |traced: bool| {
        for driver in &drivers {
            loader.create_context(*driver).unwrap();
        }
        expected += if traced { 2 } else { 0 };
        assert_eq!(*SEEN.lock().unwrap(), [expected; 2]);
    };
    create(false);
    assert_eq!(
        loader.call_with_nulls("zelEnableTracingLayer"),
        ZE_RESULT_SUCCESS
    );
    create(false);
    assert_eq!(
        loader.call("zelTracerSetEnabled", &[tracer, 1]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(
        loader.call(register, &[tracer, 1, exit]),
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "enabled"
    );
    create(true);
    assert_eq!(
        loader.call_with_nulls("zelDisableTracingLayer"),
        ZE_RESULT_SUCCESS
    );
    create(false);
    assert_eq!(
        loader.call_with_nulls("zelEnableTracingLayer"),
        ZE_RESULT_SUCCESS
    );
    create(true);
    assert_eq!(
        loader.call("zelTracerSetEnabled", &[tracer, 0]),
        ZE_RESULT_SUCCESS
    );
    create(false);
    assert_eq!(
        loader.call("zelTracerDestroy", &[tracer]),
        ZE_RESULT_SUCCESS
    );
    create(false);
    // A null handle is also rejected through the layers.
    assert_eq!(
        loader.call("zeContextGetStatus", &[0]),
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE
    );
    // Static loaders find these functions through the tracing library's handle.
    let handle: Option<unsafe extern "C" fn() -> *mut c_void> =
        loader.get("zeLoaderGetTracingHandle");
    // SAFETY: no arguments; the handle is the dynamic linker's.
    let found = unsafe { libc::dlsym(handle.unwrap()(), c"zelTracerCreate".as_ptr()) };
    assert_eq!(found, loader.address("zelTracerCreate"));
}

pub(crate) fn recorded(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let drivers = loader.drivers().unwrap();
    loader.create_context(drivers[0]).unwrap();
    assert_eq!(
        loader.create_context(drivers[1]),
        Err(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
    );
    loader.create_context(drivers[1]).unwrap();
}

pub(crate) fn validated(loader: &Loader) {
    assert_eq!(loader.init(0), ZE_RESULT_SUCCESS, "{:?}", loader.text());
    let drivers = loader.drivers().unwrap();
    let destroy = |context: usize| loader.call("zeContextDestroy", &[context]);
    for driver in drivers {
        let context = loader.create_context(driver).unwrap().addr();
        loader.create_context(driver).unwrap();
        assert_eq!(destroy(context), ZE_RESULT_SUCCESS);
        assert_eq!(destroy(context), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        let text = loader.text().1;
        assert!(
            text.contains("zeContextDestroy: hContext")
                && text.contains("was destroyed by zeContextDestroy"),
            "the last-error text describes the mistake: {text}"
        );
        assert_eq!(
            destroy(driver.addr()),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
            "a driver is not a context"
        );
    }
    assert_eq!(destroy(0), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

/// Initialisation fails because of a variable's value.
pub(crate) fn refused_by_variable(loader: &Loader, text: &str) {
    for _ in 0..2 {
        assert_eq!(loader.init(0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
        assert!(loader.text().1.starts_with(text), "{:?}", loader.text());
    }
    assert_eq!(
        loader.init_drivers(1),
        Err(ZE_RESULT_ERROR_INVALID_ARGUMENT)
    );
    assert_eq!(loader.drivers(), Err(ZE_RESULT_ERROR_UNINITIALIZED));
}
