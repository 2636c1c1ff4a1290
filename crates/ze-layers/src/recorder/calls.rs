//! The recorder's functions: they forward directly without a session, else apply the script and log the call.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{CStr, c_char, c_void};
use std::time::Instant;

use level_zero_sys::*;

use super::session::{is_active, running};
use crate::Tables;
use crate::answer::Answer;
use crate::next::{Next, call_next};
use crate::value::bits;

static NEXT: Next = Next::new();

static TABLE: Tables = complete_tables!();

/// The table that records calls on their way to `next`. The last call of this function sets `next`.
#[must_use]
pub fn over(next: &'static Tables) -> &'static Tables {
    NEXT.set(next);
    &TABLE
}

/// Records a driver that is linked into the program: takes a function that finds the driver's functions by name, and
/// returns one that finds the recorder's. Both find the getters (`zeGet…ProcAddrTable`) and the functions.
///
/// # Safety
/// `driver` returns null, or the address of a function with the signature that the name has in the specification, valid
/// as long as the process.
pub unsafe fn wrap(driver: fn(name: &CStr) -> *const ()) -> fn(name: &CStr) -> *const () {
    // SAFETY: guaranteed by the caller.
    let tables = unsafe { Tables::read(driver) };
    // Once per wrapped driver; calls may still use an earlier one.
    NEXT.set(Box::leak(Box::new(tables)));
    lookup
}

macro_rules! recorded {
    ($($index:literal $name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident;)*) => {
        $(
            unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
                /// The slow path, a separate function so that the fast path needs no stack frame.
                #[cold]
                #[inline(never)]
                unsafe extern "C" fn recorded($($param: $ty),*) -> $ret {
                    let Some(running) = running() else {
                        return call_next!(NEXT, $aggregate.$table.$slot => $($param),*);
                    };
                    let begin = Instant::now();
                    let verdict = running.judge($index);
                    let mut result = match verdict.fail {
                        Some(code) => <$ret>::failed(code),
                        None => call_next!(NEXT, $aggregate.$table.$slot => $($param),*),
                    };
                    if let Some(code) = verdict.replace {
                        result = <$ret>::failed(code);
                    }
                    // SAFETY: the arguments of the call that has just ended.
                    unsafe { running.end($index, &verdict, begin, &[$(bits($param)),*], result.code()) };
                    result
                }
                if is_active() {
                    // SAFETY: the caller has the same contract.
                    return unsafe { recorded($($param),*) };
                }
                call_next!(NEXT, $aggregate.$table.$slot => $($param),*)
            }
        )*

        fn by_name(name: &str) -> *const () {
            match name {
                $(stringify!($name) => $name as *const (),)*
                _ => std::ptr::null(),
            }
        }
    };
}
each_function!(recorded);

macro_rules! getters {
    ($($getter:ident $aggregate:ident.$table:ident: $ty:ident [$($reach:expr),*];)*) => {
        /// The recorder's getters and functions by name; null for others. They call the table last passed to [`over`]
        /// or [`wrap`].
        #[must_use]
        pub fn lookup(name: &CStr) -> *const () {
            let Ok(name) = name.to_str() else {
                return std::ptr::null();
            };
            match name {
                $(
                    stringify!($getter) => {
                        unsafe extern "C" fn getter(version: ze_api_version_t, table: *mut $ty) -> ze_result_t {
                            // SAFETY: the caller gives null or a table with room for the slots of the version.
                            unsafe { TABLE.serve(stringify!($getter), version, table.cast()) }
                        }
                        getter as *const ()
                    }
                )*
                _ => by_name(name),
            }
        }
    };
}
each_table!(getters);
