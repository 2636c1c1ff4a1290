//! Level Zero calls on the streams `sycl.pi` and `sycl.pi.debug`.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use smallvec::SmallVec;
use xpti::sys::function_with_args_t;

use super::streams::{CALLS, CALLS_DEBUG, Layer, any};

/// Whether a subscriber listens to calls.
#[inline]
pub(crate) fn traced() -> bool {
    any(&CALLS).is_some() || any(&CALLS_DEBUG).is_some()
}

/// The name of a function of Level Zero, with its number. Each call in the source has one in a static.
pub(crate) struct Name {
    text: &'static CStr,
    /// 0 until the first call that is reported.
    number: AtomicU32,
}

impl Name {
    /// The name of a function, with a NUL at its end.
    pub(crate) const fn new(text: &'static str) -> Self {
        Self {
            text: match CStr::from_bytes_with_nul(text.as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("no NUL at the end"),
            },
            number: AtomicU32::new(0),
        }
    }

    /// The function's index in the API table of this version, from 1; 0 if it has none.
    fn number(&self) -> u32 {
        let known = self.number.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let name = self.text.to_bytes();
        let mut functions = ze_spec::FUNCTIONS.iter().zip(1..);
        let found = functions.find(|(function, _)| function.name.as_bytes() == name);
        let number = found.map_or(0, |(_, number)| number);
        self.number.store(number, Ordering::Relaxed);
        number
    }
}

/// Reports a call with its arguments' addresses, in the form of Level Zero's own tracing layer.
#[cold]
pub(crate) fn call<R>(
    name: &'static Name,
    arguments: &[*const c_void],
    call: impl FnOnce() -> R,
) -> R {
    static PLAIN: Layer = Layer::new(&CALLS, c"sycl.pi");
    static DEBUG: Layer = Layer::new(&CALLS_DEBUG, c"sycl.pi.debug");
    let plain = PLAIN.listeners();
    let plain = plain.and_then(|(layer, _)| CALLS.function(Some(layer), name.text));
    let mut data = function_with_args_t {
        function_id: 0,
        function_name: name.text.as_ptr(),
        args_data: arguments.as_ptr().cast(),
        ret_data: std::ptr::null(),
        user_data: std::ptr::null(),
    };
    let debug = DEBUG.listeners().map(|(layer, _)| layer);
    let instance = debug.and_then(|layer| {
        data.function_id = name.number();
        CALLS_DEBUG.call_begin(Some(layer), None, &data)
    });
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
