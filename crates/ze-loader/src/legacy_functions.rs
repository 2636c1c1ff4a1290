//! Functions of drivers without DDI handles: unwrap, call, wrap. The lines of `each_wrapped!` name the steps.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;

use crate::generated::legacy_facts::*;
use crate::wrapper::Origin;
use crate::wrapper::arguments::{
    Arguments, Buffer, Output, deciding, filled, hides_wrapper, missing, room,
};
use crate::wrapper::chain::Chain;

/// The value of a result, or a return with its error.
macro_rules! check {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return error,
        }
    };
}

/// Turns a parameter into the driver's argument.
macro_rules! before {
    ($call:ident $function:ident $wrapper:ident required $name:ident $kind:ident) => {
        let $name = check!($call.required(&stringify!($name), $kind, $name));
    };
    ($call:ident $function:ident $wrapper:ident optional $name:ident $kind:ident) => {
        let $name = check!($call.optional(&stringify!($name), $kind, $name));
    };
    ($call:ident $function:ident $wrapper:ident wrapper $leaving:ident $name:ident $kind:ident) => {
        let $leaving = check!($call.wrapper(&stringify!($name), $kind, $name));
    };
    ($call:ident $function:ident $wrapper:ident array $name:ident $native:ident $kind:ident $count:ident) => {
        let mut buffer = Buffer::new();
        let $native = check!($call.array(&stringify!($name), $kind, $count, $name, &mut buffer));
    };
    ($call:ident $function:ident $wrapper:ident room $room:ident $count:ident $name:ident) => {
        let $room = room($count, $name);
    };
    ($call:ident $function:ident $wrapper:ident output $output:ident $name:ident) => {
        let mut $output = Output::new($name);
    };
    ($call:ident $function:ident $wrapper:ident chain $name:ident) => {
        let mut copies = Chain::default();
        let $name = check!($call.chain(&stringify!($name), $name, &mut copies));
    };
    // In a cold function, so that the usual path needs no stack frame.
    ($call:ident $function:ident $wrapper:ident value $index:ident $size:ident $name:ident) => {
        if hides_wrapper($size, $name) {
            return $call.hidden_argument($function, $wrapper.native(), $index, $name);
        }
    };
    ($call:ident $function:ident $wrapper:ident kernel_arguments $kernel:ident $name:ident) => {
        let mut arguments = Arguments::default();
        let $name = check!($call.kernel_arguments($kernel, $name, &mut arguments));
    };
}

/// Wraps handles that the driver has returned.
macro_rules! after {
    // The driver reorders the array in place; each handle that goes in comes out again.
    ($call:ident $result:ident reordered $name:ident $native:ident $kind:ident $count:ident) => {{
        let result = $call.returned($result, $kind, Origin::Known, $count, $native);
        if result == ZE_RESULT_SUCCESS && !$name.is_null() {
            std::ptr::copy_nonoverlapping($native, $name, $count as usize);
        }
        result
    }};
    ($call:ident $result:ident listed $name:ident $room:ident $kind:ident $origin:ident $count:ident) => {
        $call.returned(
            $result,
            $kind,
            Origin::$origin,
            filled($room, $count),
            $name,
        )
    };
    ($call:ident $result:ident output $output:ident $kind:ident $origin:ident) => {
        $output.finish($call, $result, $kind, Origin::$origin)
    };
}

/// The driver's call with the steps after it.
macro_rules! finish {
    ($call:ident $wrapper:ident $invoke:expr, {}) => {
        $invoke
    };
    ($call:ident $wrapper:ident $invoke:expr, { ends it; }) => {
        $call.release($wrapper, || $invoke)
    };
    ($call:ident $wrapper:ident $invoke:expr, { ends $leaving:ident; }) => {
        $call.release($leaving, || $invoke)
    };
    ($call:ident $wrapper:ident $invoke:expr, { $($($after:ident)+;)+ }) => {{
        let result = $invoke;
        $(let result = after!($call result $($after)+);)+
        result
    }};
}

/// The steps after the deciding handle is known.
macro_rules! call {
    ($call:ident $wrapper:ident $place:tt $since:literal [$($first:expr)?] { $($($before:ident)+;)* } ($($argument:expr),*) $after:tt) => {{
        call!(slot $call function $place $since);
        $(before!($call function $wrapper $($before)+);)*
        finish!($call $wrapper function($($first,)? $($argument),*), $after)
    }};
    (slot $call:ident $function:ident [$namespace:ident $sub:ident $slot:ident] $since:literal) => {
        let Some($function) = $call.driver.tables.$namespace.$sub.$slot else {
            return missing($call, $since);
        };
    };
}

macro_rules! function {
    ($place:tt $since:literal $name:ident $kind:ident [first of $count:ident $array:ident] $before:tt $arguments:tt $after:tt) => {{
        let first = check!(crate::refusals::first_of(stringify!($name), stringify!($array), $count, $array));
        let (call, _wrapper) = check!(deciding(&stringify!($name), &"the first module", $kind, first));
        call!(call _wrapper $place $since [] $before $arguments $after)
    }};
    ($place:tt $since:literal $name:ident $kind:ident [$handle:ident] $before:tt $arguments:tt $after:tt) => {{
        let (call, wrapper) = check!(deciding(&stringify!($name), &stringify!($handle), $kind, $handle));
        call!(call wrapper $place $since [wrapper.native()] $before $arguments $after)
    }};
}

macro_rules! functions {
    ($($namespace:ident.$sub:ident.$slot:ident since $since:literal: $name:ident($($param:ident: $type:ty),*) $kind:ident $decider:tt $before:tt $arguments:tt $after:tt;)*) => {$(
        pub(crate) unsafe extern "C" fn $name($($param: $type),*) -> ze_result_t {
            // SAFETY: the caller passes arguments as Level Zero requires; the driver gets its own handles for wrapped ones.
            unsafe { function!([$namespace $sub $slot] $since $name $kind $decider $before $arguments $after) }
        }
    )*};
}
each_wrapped!(functions);
