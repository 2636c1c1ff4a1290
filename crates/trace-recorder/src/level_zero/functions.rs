//! The traced functions: their names, parameters and hooks, from the specification's tables.

use std::ffi::{CStr, CString, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicU32, Ordering};

use level_zero_sys::{ZE_RESULT_SUCCESS, ze_result_t, zel_tracer_handle_t};
use timeline::record::{Attribute, Text, Value};
use ze_spec::{Direction, Function, Kind, Param};

use super::hook::Hook;
use crate::sink::Sink;

type Register = unsafe extern "C" fn(zel_tracer_handle_t, u32, Option<Callback>) -> ze_result_t;

/// A prologue or epilogue.
pub(super) type Callback =
    unsafe extern "C" fn(*mut c_void, ze_result_t, *mut c_void, *mut *mut c_void);

/// Arguments of one call that are recorded.
const MAX_ARGUMENTS: usize = 16;

/// A function of the loader that can be traced.
pub(crate) struct Traced {
    /// Its registration function.
    pub(crate) register: Register,
    /// The work in addition to recording the call.
    pub(crate) hook: Hook,
    name: &'static str,
    params: &'static [Param],
    text: AtomicU32,
    keys: Vec<AtomicU32>,
}

/// All functions that the loader lets one register callbacks for.
pub(crate) fn traced(lookup: impl Fn(&CStr) -> *mut c_void) -> Vec<Traced> {
    let all = ze_spec::FUNCTIONS.iter();
    all.filter_map(|registration| {
        let middle = registration
            .name
            .strip_prefix("zelTracer")?
            .strip_suffix("RegisterCallback")?;
        let function = named(middle)?;
        let symbol = CString::new(registration.name).ok()?;
        let address = lookup(&symbol);
        if address.is_null() {
            return None;
        }
        // SAFETY: a registration function: all have this type but for the callback's, and those are alike in the ABI.
        let register = unsafe { transmute::<*mut c_void, Register>(address) };
        Some(Traced {
            register,
            hook: Hook::of(function),
            name: function.name,
            params: function.params,
            text: AtomicU32::new(0),
            keys: function.params.iter().map(|_| AtomicU32::new(0)).collect(),
        })
    })
    .collect()
}

/// The function that a registration's name speaks of, without its prefix.
fn named(middle: &str) -> Option<&'static Function> {
    ze_spec::FUNCTIONS.iter().find(|function| {
        ["ze", "zer"]
            .iter()
            .any(|prefix| function.name.strip_prefix(prefix) == Some(middle))
    })
}

/// The number of a fixed string, looked up once.
fn cached(sink: &Sink, place: &AtomicU32, text: &str) -> Text {
    match place.load(Ordering::Relaxed) {
        0 => {
            let number = sink.text(text.as_bytes());
            place.store(number, Ordering::Relaxed);
            number
        }
        number => number,
    }
}

/// Reads argument `index` of a parameter block: a struct of pointers to the arguments, in order.
///
/// # Safety
/// `params` is the block of a call whose argument of that number is a `T`.
pub(crate) unsafe fn argument<T: Copy>(params: *const *const c_void, index: usize) -> T {
    // SAFETY: the caller's.
    unsafe { (*params.add(index)).cast::<T>().read_unaligned() }
}

impl Traced {
    /// Its name in the recording.
    pub(crate) fn text(&self, sink: &Sink) -> Text {
        cached(sink, &self.text, self.name)
    }

    /// The number of a parameter.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|param| param.name == name)
    }

    /// Whether it destroys its object.
    pub(crate) fn destroys(&self) -> bool {
        self.name.ends_with("Destroy")
    }

    /// Whether its group counts are in device memory.
    pub(crate) fn indirect(&self) -> bool {
        self.name.contains("Indirect")
    }

    /// Its arguments after the call; outputs are read if the call succeeded.
    pub(crate) fn arguments(
        &self,
        sink: &Sink,
        params: *const *const c_void,
        result: ze_result_t,
    ) -> Vec<Attribute> {
        if params.is_null() {
            return Vec::new();
        }
        let mut all = Vec::with_capacity(self.params.len());
        for (index, param) in self.params.iter().enumerate().take(MAX_ARGUMENTS) {
            // SAFETY: the block belongs to this function, and `value` reads according to the parameter's type.
            let Some(value) = (unsafe { value(sink, params, index, param, result) }) else {
                continue;
            };
            all.push(Attribute {
                key: cached(sink, &self.keys[index], param.name),
                value,
            });
        }
        all
    }
}

/// # Safety
/// `params` is the block of a call of the function that `param` is number `index` of.
unsafe fn value(
    sink: &Sink,
    params: *const *const c_void,
    index: usize,
    param: &Param,
    result: ze_result_t,
) -> Option<Value> {
    let word = || {
        // SAFETY: the caller's; handles and pointers are words.
        unsafe { argument::<usize>(params, index) as u64 }
    };
    let half = || {
        // SAFETY: the caller's; enumerations, flags and 32-bit numbers are half words.
        unsafe { argument::<u32>(params, index) }
    };
    Some(match param.kind {
        Kind::Handle => Value::Address(word()),
        Kind::Pointer => {
            let pointer = word();
            let created = param.direction == Direction::Out
                && param.count.is_none()
                && param.ty.ends_with("_handle_t *")
                && result == ZE_RESULT_SUCCESS
                && pointer != 0;
            if created {
                // SAFETY: the function has succeeded, so it has written a handle there.
                Value::Address(unsafe { *(pointer as *const usize) } as u64)
            } else {
                Value::Address(pointer)
            }
        }
        Kind::Enum(of) => {
            let found = half();
            match of.values.iter().find(|(_, value)| *value == found) {
                Some((name, _)) => Value::Text(sink.text(name.as_bytes())),
                None => Value::Unsigned(found.into()),
            }
        }
        Kind::Flags(_) => Value::Unsigned(half().into()),
        Kind::Number => match param.ty {
            "size_t" | "uint64_t" => Value::Unsigned(word()),
            "double" => Value::Float(f64::from_bits(word())),
            "ze_bool_t" => Value::Boolean(half() & 0xff != 0),
            _ => Value::Unsigned(half().into()),
        },
        Kind::Struct => return None,
    })
}
