//! The validation layer's functions: checks, the call, and recording its effects.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;

use super::modes::{CHECKERS, LIFETIME, OUTCOMES, PARAMETERS, modes};
use super::{checkers, log};
use crate::Tables;
use crate::answer::Answer;
use crate::generated::{lifetimes, parameters};
use crate::next::{Next, call_next};
use crate::value::bits;

static NEXT: Next = Next::new();

static TABLE: Tables = complete_tables!();

/// The table that checks calls on their way to `next`. The last call of this function sets `next`;
/// [`configure`](super::configure) selects the checks.
#[must_use]
pub fn over(next: &'static Tables) -> &'static Tables {
    NEXT.set(next);
    &TABLE
}

macro_rules! validated {
    ($($index:literal $name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident;)*) => { $(
        unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
            /// The path that records objects, a separate function so that the path without it stays short.
            #[inline(never)]
            unsafe extern "C" fn recorded($($param: $ty),*) -> $ret {
                let modes = modes();
                if modes & CHECKERS != 0 {
                    // SAFETY: the arguments of a call that is about to be made.
                    let code = unsafe { checkers::before(modes, $index, &[$(bits($param)),*]) };
                    if code != ZE_RESULT_SUCCESS {
                        return <$ret>::failed(code);
                    }
                }
                if modes & LIFETIME != 0 {
                    // SAFETY: the caller has the same contract.
                    let code = unsafe { lifetimes::$name($($param),*) };
                    if code != ZE_RESULT_SUCCESS {
                        return <$ret>::failed(code);
                    }
                }
                let result: $ret = call_next!(NEXT, $aggregate.$table.$slot => $($param),*);
                if modes & LIFETIME != 0 {
                    // SAFETY: the arguments and the result of the call that has just ended.
                    unsafe { lifetimes::after::$name($($param,)* result) };
                }
                if modes & CHECKERS != 0 {
                    // SAFETY: as above.
                    unsafe { checkers::after(modes, $index, &[$(bits($param)),*], result.code()) };
                }
                result
            }
            /// The path of a call whose result is logged.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn logged($($param: $ty),*) -> $ret {
                let mut refused = ZE_RESULT_SUCCESS;
                if modes() & PARAMETERS != 0 {
                    // SAFETY: the caller has the same contract.
                    refused = unsafe { parameters::$name($($param),*) };
                }
                let result = match refused {
                    // SAFETY: the caller has the same contract.
                    ZE_RESULT_SUCCESS => unsafe { recorded($($param),*) },
                    code => <$ret>::failed(code),
                };
                log::outcome($index, &[$(bits($param)),*], result.code());
                result
            }
            let modes = modes();
            if modes & OUTCOMES != 0 {
                // SAFETY: the caller has the same contract.
                return unsafe { logged($($param),*) };
            }
            if modes & PARAMETERS != 0 {
                // SAFETY: the caller has the same contract.
                let code = unsafe { parameters::$name($($param),*) };
                if code != ZE_RESULT_SUCCESS {
                    return <$ret>::failed(code);
                }
            }
            if modes & (LIFETIME | CHECKERS) != 0 {
                // SAFETY: the caller has the same contract.
                return unsafe { recorded($($param),*) };
            }
            call_next!(NEXT, $aggregate.$table.$slot => $($param),*)
        }
    )* };
}
each_function!(validated);
