//! Level Zero calls on the streams `sycl.pi` and `sycl.pi.debug`.

use std::ffi::{CStr, c_void};
use std::sync::LazyLock;

use smallvec::SmallVec;
use xpti::sys::function_with_args_t;

use super::streams::{CALLS, CALLS_DEBUG, any, layer};

/// Whether a subscriber listens to calls.
#[inline]
pub(crate) fn traced() -> bool {
    any(&CALLS).is_some() || any(&CALLS_DEBUG).is_some()
}

/// Reports a call with its arguments' addresses, in the form of Level Zero's own tracing layer.
#[cold]
pub(crate) fn call<R>(
    name: &'static str,
    arguments: &[*const c_void],
    call: impl FnOnce() -> R,
) -> R {
    let name = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or(c"");
    let plain = layer(&CALLS, c"sycl.pi").and_then(|(layer, _)| CALLS.function(Some(layer), name));
    let mut data = function_with_args_t {
        function_id: number(name),
        function_name: name.as_ptr(),
        args_data: arguments.as_ptr().cast(),
        ret_data: std::ptr::null(),
        user_data: std::ptr::null(),
    };
    let debug = layer(&CALLS_DEBUG, c"sycl.pi.debug").map(|(layer, _)| layer);
    let instance = debug.and_then(|layer| CALLS_DEBUG.call_begin(Some(layer), None, &data));
    let result = call();
    if let Some(instance) = instance {
        data.ret_data = (&raw const result).cast();
        CALLS_DEBUG.call_end(debug, None, instance, &data);
    }
    drop(plain);
    result
}

/// Arguments as a structure of pointers.
pub(crate) trait Pointers {
    /// Returns one pointer for each argument.
    fn pointers(&self) -> SmallVec<[*const c_void; 16]>;
}
/// A function by the types of its arguments.
pub(crate) trait Signature {
    /// The types as a tuple.
    type Arguments;
    /// Returns the arguments, with the types inferred from the function.
    fn typed(self, arguments: Self::Arguments) -> Self::Arguments;
}
macro_rules! pointers {
    ($first:ident $($rest:ident)*) => {
        impl<Answer, $first $(, $rest)*> Signature for unsafe extern "C" fn($first $(, $rest)*) -> Answer {
            type Arguments = ($first, $($rest,)*);
            fn typed(self, arguments: Self::Arguments) -> Self::Arguments {
                arguments
            }
        }
        impl<$first, $($rest),*> Pointers for ($first, $($rest,)*) {
            #[expect(non_snake_case, reason = "values carry their types' names")]
            fn pointers(&self) -> SmallVec<[*const c_void; 16]> {
                let ($first, $($rest,)*) = self;
                let mut all = SmallVec::new();
                all.push(std::ptr::from_ref($first).cast());
                $(all.push(std::ptr::from_ref($rest).cast());)*
                all
            }
        }
        pointers!($($rest)*);
    };
    () => {};
}
pointers!(A B C D E F G H I J K L M);

/// The function's index in the API table of this version.
fn number(name: &CStr) -> u32 {
    static NUMBERS: LazyLock<std::collections::HashMap<&'static str, u32>> =
        LazyLock::new(|| ze_spec::FUNCTIONS.iter().map(|f| f.name).zip(1..).collect());
    name.to_str()
        .ok()
        .and_then(|name| NUMBERS.get(name))
        .copied()
        .unwrap_or(0)
}
