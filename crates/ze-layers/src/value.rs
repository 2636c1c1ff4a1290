//! Arguments as bits, and their text.

use std::ffi::{CStr, c_char};
use std::fmt::{self, Display};

use ze_spec::{Direction, Kind, Param};

use crate::generated::PLACES;

/// The function with this index.
pub(crate) fn function(index: usize) -> &'static ze_spec::Function {
    &ze_spec::FUNCTIONS[usize::from(PLACES[index])]
}

/// The first eight bytes of a C value, zero-extended.
pub(crate) fn bits<T: Copy>(value: T) -> u64 {
    let mut bytes = [0u8; 8];
    let length = size_of::<T>().min(8);
    // SAFETY: numbers, pointers and C structs without padding in their first eight bytes; both sides have `length`.
    unsafe {
        std::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), bytes.as_mut_ptr(), length);
    }
    u64::from_le_bytes(bytes)
}

/// The name of a result code, or its number.
pub(crate) fn code_name(code: u32) -> impl Display {
    fmt::from_fn(move |f| match result_name(code) {
        Some(name) => f.write_str(name),
        None => write!(f, "{code:#x}"),
    })
}

fn result_name(code: u32) -> Option<&'static str> {
    ze_spec::ENUMS
        .iter()
        .find(|e| e.name == "ze_result_t")?
        .name_of(code)
}

/// The code with this name, which may lack `ZE_RESULT_` and `ERROR_`, or this number in hexadecimal.
pub(crate) fn code_by_name(text: &str) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).ok();
    }
    let codes = ze_spec::ENUMS.iter().find(|e| e.name == "ze_result_t")?;
    codes.values.iter().find_map(|(name, value)| {
        let short = name.strip_prefix("ZE_RESULT_")?;
        let shorter = short.strip_prefix("ERROR_").unwrap_or(short);
        [*name, short, shorter].contains(&text).then_some(*value)
    })
}

/// Formats an argument by its parameter's kind: names for enumerators, hexadecimal for handles and pointers.
pub(crate) struct Shown<'a> {
    pub(crate) param: &'a Param,
    pub(crate) bits: u64,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { param, bits } = *self;
        // An enumeration has 32 bits.
        let word = (bits & u64::from(u32::MAX)) as u32;
        match param.kind {
            Kind::Handle | Kind::Pointer => write!(f, "{bits:#x}"),
            Kind::Enum(e) => match e.name_of(word) {
                Some(name) => f.write_str(name),
                None => write!(f, "{word:#x}"),
            },
            Kind::Flags(e) => {
                if word == 0 {
                    return f.write_str("0");
                }
                let mut rest = word;
                let mut between = "";
                for (name, bit) in e.values {
                    if bit.count_ones() == 1 && rest & bit != 0 {
                        write!(f, "{between}{name}")?;
                        (rest, between) = (rest & !bit, "|");
                    }
                }
                if rest != 0 {
                    write!(f, "{between}{rest:#x}")?;
                }
                Ok(())
            }
            Kind::Struct => f.write_str("{…}"),
            Kind::Number => match param.ty {
                "double" => write!(f, "{}", f64::from_bits(bits)),
                "float" => write!(f, "{}", f32::from_bits(word)),
                "int32_t" => write!(f, "{}", word.cast_signed()),
                _ => write!(f, "{bits}"),
            },
        }
    }
}

/// The text of a `const char *` argument, if it may be read before the call.
///
/// # Safety
/// `bits` is the caller's argument for `param`: null or a NUL-terminated string.
pub(crate) unsafe fn text(param: &Param, bits: u64) -> Option<String> {
    let address = usize::try_from(bits).ok()?;
    if param.ty != "const char *" || param.direction != Direction::In || address == 0 {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(std::ptr::with_exposed_provenance::<c_char>(address)) };
    Some(text.to_string_lossy().chars().take(128).collect())
}

/// The handle that a successful call wrote through a single `out` pointer.
///
/// # Safety
/// `bits` is the caller's argument for `param` of a call that succeeded.
pub(crate) unsafe fn created(param: &Param, bits: u64) -> Option<u64> {
    let address = usize::try_from(bits).ok()?;
    let single = param.direction == Direction::Out && param.count.is_none();
    if !single || address == 0 || !param.ty.ends_with("_handle_t *") {
        return None;
    }
    // SAFETY: by the caller's contract the call wrote a handle there, which is a pointer.
    Some(unsafe { std::ptr::with_exposed_provenance::<u64>(address).read() })
}
