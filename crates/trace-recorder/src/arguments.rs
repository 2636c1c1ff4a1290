//! Arguments of Unified Runtime calls, by the names and positions of the interface's version 0.12.
//!
//! A call comes with a struct of pointers to its arguments. Their types are known only for the version of the table, so
//! calls of other versions have no arguments in the recording.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::OnceLock;

use timeline::record::{Attribute, Text, Value};
use xpti::StreamInfo;
use xpti::sys::function_with_args_t;

use crate::sink::Sink;

/// One function a line.
static TABLE: &str = include_str!("unified-runtime-0.12.txt");
/// The version that [`TABLE`] holds for, as its stream announces it.
const VERSION: (u32, u32) = (0, 12);

/// A parameter: its name and the letter of its kind.
struct Parameter {
    name: &'static str,
    text: OnceLock<Text>,
    kind: u8,
}

fn functions() -> &'static HashMap<&'static str, Vec<Parameter>> {
    static FUNCTIONS: OnceLock<HashMap<&'static str, Vec<Parameter>>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| {
                let mut words = line.split(' ');
                let name = words.next()?;
                let parameters = words.filter_map(|word| {
                    let (name, kind) = word.split_once(':')?;
                    Some(Parameter {
                        name,
                        text: OnceLock::new(),
                        kind: *kind.as_bytes().first()?,
                    })
                });
                Some((name, parameters.collect()))
            })
            .collect()
    })
}

/// Arguments of a call that has returned; none when the interface is of another version or the function unknown.
pub(crate) fn unified_runtime(
    sink: &Sink,
    stream: &StreamInfo,
    name: &str,
    call: &function_with_args_t,
) -> Vec<Attribute> {
    if stream.numbers() != VERSION || !stream.name().to_bytes().starts_with(b"ur.call") {
        return Vec::new();
    }
    let (Some(parameters), false) = (functions().get(name), call.args_data.is_null()) else {
        return Vec::new();
    };
    let places: *const *const c_void = call.args_data.cast();
    let values = parameters.iter().enumerate().filter_map(|(index, of)| {
        // SAFETY: the call's struct has a pointer for each parameter of this version's function.
        let place = unsafe { *places.add(index) };
        if place.is_null() {
            return None;
        }
        // SAFETY: it points to the argument, whose size the kind tells.
        let value = unsafe { value(place, of.kind)? };
        let key = *of.text.get_or_init(|| sink.text(of.name.as_bytes()));
        Some(Attribute { key, value })
    });
    values.collect()
}

/// # Safety
/// `place` points to an argument of this kind.
unsafe fn value(place: *const c_void, kind: u8) -> Option<Value> {
    // SAFETY: the caller's.
    let word = || unsafe { place.cast::<u64>().read_unaligned() };
    Some(match kind {
        b'h' | b'p' => Value::Address(word()),
        b'o' => {
            let handle = word() as *const u64;
            if handle.is_null() {
                return None;
            }
            // SAFETY: the call has returned and was given a place for a handle; an unwritten one holds any number.
            Value::Address(unsafe { handle.read_unaligned() })
        }
        // SAFETY: the caller's.
        b'b' => Value::Boolean(unsafe { place.cast::<u8>().read() } != 0),
        // SAFETY: the caller's.
        b'u' => Value::Unsigned(unsafe { place.cast::<u32>().read_unaligned() }.into()),
        b'z' => Value::Unsigned(word()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let functions = functions();
        assert_eq!(
            functions.len(),
            TABLE.lines().filter(|line| !line.starts_with('#')).count()
        );
        for (name, parameters) in functions {
            assert!(name.starts_with("ur"), "{name}");
            for parameter in parameters {
                assert!(b"hpobuzs".contains(&parameter.kind), "{name}");
                assert!(!parameter.name.is_empty(), "{name}");
            }
        }
        let copy = &functions["urEnqueueUSMMemcpy"];
        let kinds: Vec<u8> = copy.iter().map(|parameter| parameter.kind).collect();
        assert_eq!(kinds, b"hbppzupo");
    }
}
