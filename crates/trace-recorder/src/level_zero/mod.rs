//! Level Zero calls and the work of devices for them, through the loader's tracing layer.
//!
//! Every traced function gets a prologue and an epilogue of one generic kind: they record the call with its arguments.
//! Some functions have hooks (`hooks`): appended commands get an event with timestamps if the program passes none, and
//! `work` reads the timestamps once the command has run.

mod api;
mod clock;
mod functions;
mod hook;
mod hooks;
mod tracer;
mod work;

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t, zel_tracer_desc_t, zel_tracer_handle_t};
use timeline::record::{Domain, Event};

use crate::sink::{self, sink};
use crate::subscriber::on_behalf;

use api::Api;
use functions::{Callback, traced};
use tracer::{TRACER, Tracer, tracer};

/// Prologue, as the registration functions number it.
const PROLOGUE: u32 = 0;
/// Epilogue.
const EPILOGUE: u32 = 1;

/// Begins to trace calls that go through the loader at `path`, which must be initialised. Returns 0, also if there is
/// nothing to do; 1 if the loader's tracing layer cannot be used.
///
/// # Safety
/// `path` is null or a C string: the file that the loader was loaded from.
pub unsafe fn attach(path: *const c_char) -> i32 {
    if path.is_null() || sink().is_none() {
        return 0;
    }
    // SAFETY: the caller's.
    let path = unsafe { CStr::from_ptr(path) };
    let attached = TRACER.get_or_init(|| {
        catch_unwind(AssertUnwindSafe(|| {
            let (api, lookup) = Api::load(path)?;
            Some(Tracer {
                functions: traced(&lookup),
                api,
                work: work::Work::default(),
            })
        }))
        .ok()
        .flatten()
    });
    let Some(tracer) = attached else {
        sink::say("solum trace: Level Zero calls are not recorded: the loader lacks functions\n");
        return 1;
    };
    static STARTED: OnceLock<bool> = OnceLock::new();
    i32::from(!*STARTED.get_or_init(|| start(tracer)))
}

fn start(tracer: &'static Tracer) -> bool {
    let desc = zel_tracer_desc_t::default();
    let mut handle: zel_tracer_handle_t = std::ptr::null_mut();
    let api = &tracer.api;
    // SAFETY: a descriptor and a place for the handle.
    let created = unsafe { (api.tracer_create)(&raw const desc, &raw mut handle) };
    if created != ZE_RESULT_SUCCESS {
        sink::say("solum trace: Level Zero calls are not recorded: a tracer cannot be created\n");
        return false;
    }
    for (number, function) in tracer.functions.iter().enumerate() {
        let (Some(before), Some(after)) = (PROLOGUES.get(number), EPILOGUES.get(number)) else {
            break;
        };
        // SAFETY: the loader's registration function, with our tracer, which is not enabled yet. Callbacks of all
        // functions have the same signature.
        unsafe {
            (function.register)(handle, PROLOGUE, Some(*before));
            (function.register)(handle, EPILOGUE, Some(*after));
        }
    }
    // SAFETY: our tracer.
    unsafe {
        (api.enable_layer)();
        (api.set_enabled)(handle, 1) == ZE_RESULT_SUCCESS
    }
}

unsafe extern "C" fn prologue<const NUMBER: usize>(
    params: *mut c_void,
    _: ze_result_t,
    _: *mut c_void,
    instance: *mut *mut c_void,
) {
    let (Some(tracer), Some(sink)) = (tracer(), sink()) else {
        return;
    };
    let Some(function) = tracer.functions.get(NUMBER) else {
        return;
    };
    let task = on_behalf();
    let begin = Event::Begin {
        domain: Domain::LevelZero,
        name: function.text(sink),
        uid: task.uid,
        instance: task.instance,
    };
    sink.emit(&begin, &[]);
    let call = hooks::Call {
        tracer,
        sink,
        params: params.cast(),
        instance,
        task,
    };
    // A bug in the recorder costs a record, not the program.
    let _ = catch_unwind(AssertUnwindSafe(|| hooks::before(&call, function)));
}

unsafe extern "C" fn epilogue<const NUMBER: usize>(
    params: *mut c_void,
    result: ze_result_t,
    _: *mut c_void,
    instance: *mut *mut c_void,
) {
    let (Some(tracer), Some(sink)) = (tracer(), sink()) else {
        return;
    };
    let Some(function) = tracer.functions.get(NUMBER) else {
        return;
    };
    let call = hooks::Call {
        tracer,
        sink,
        params: params.cast(),
        instance,
        task: crate::subscriber::Task::default(),
    };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        hooks::after(&call, function, result);
        let arguments = function.arguments(sink, params.cast(), result);
        let end = Event::End {
            domain: Domain::LevelZero,
            result: i64::from(result.0),
        };
        sink.emit(&end, &arguments);
    }));
}

/// One callback for each number, because a callback is not passed the function that it belongs to.
macro_rules! callbacks {
    ($callback:ident: $($hundreds:literal)*) => {
        [$(
            callbacks!(@ten $callback $hundreds 0), callbacks!(@ten $callback $hundreds 1),
            callbacks!(@ten $callback $hundreds 2), callbacks!(@ten $callback $hundreds 3),
            callbacks!(@ten $callback $hundreds 4), callbacks!(@ten $callback $hundreds 5),
            callbacks!(@ten $callback $hundreds 6), callbacks!(@ten $callback $hundreds 7),
            callbacks!(@ten $callback $hundreds 8), callbacks!(@ten $callback $hundreds 9),
        )*]
    };
    (@ten $callback:ident $hundreds:literal $tens:literal) => {
        [
            $callback::<{ $hundreds * 100 + $tens * 10 }> as Callback,
            $callback::<{ $hundreds * 100 + $tens * 10 + 1 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 2 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 3 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 4 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 5 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 6 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 7 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 8 }>,
            $callback::<{ $hundreds * 100 + $tens * 10 + 9 }>,
        ]
    };
}

static PROLOGUE_TENS: [[Callback; 10]; 40] = callbacks!(prologue: 0 1 2 3);
static EPILOGUE_TENS: [[Callback; 10]; 40] = callbacks!(epilogue: 0 1 2 3);
static PROLOGUES: &[Callback] = PROLOGUE_TENS.as_flattened();
static EPILOGUES: &[Callback] = EPILOGUE_TENS.as_flattened();
