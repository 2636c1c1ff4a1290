//! The validation layer's functions: checks, the call, and what is to be remembered of it.

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

/// The table that checks calls on their way to `next`. The last call decides what `next` is; what is checked,
/// [`configure`](super::configure) decides.
#[must_use]
pub fn over(next: &'static Tables) -> &'static Tables {
    NEXT.set(next);
    &TABLE
}

macro_rules! validated {
    ($($index:literal $name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident;)*) => { $(
        unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
            /// The way with memory of earlier calls, apart so that the way without it stays short.
            #[inline(never)]
            unsafe extern "C" fn remembered($($param: $ty),*) -> $ret {
                let modes = modes();
                if modes & CHECKERS != 0 {
                    // SAFETY: the arguments of a call that is about to be made.
                    let code = unsafe { checkers::before(modes, $index, &[$(bits($param)),*]) };
                    if code != ZE_RESULT_SUCCESS {
                        return <$ret>::failed(code);
                    }
                }
                if modes & LIFETIME != 0 {
                    // SAFETY: the caller's contract is the same.
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
            /// The way of a call whose end is written down.
            #[cold]
            #[inline(never)]
            unsafe extern "C" fn told($($param: $ty),*) -> $ret {
                let mut refused = ZE_RESULT_SUCCESS;
                if modes() & PARAMETERS != 0 {
                    // SAFETY: the caller's contract is the same.
                    refused = unsafe { parameters::$name($($param),*) };
                }
                let result = match refused {
                    // SAFETY: the caller's contract is the same.
                    ZE_RESULT_SUCCESS => unsafe { remembered($($param),*) },
                    code => <$ret>::failed(code),
                };
                log::outcome($index, &[$(bits($param)),*], result.code());
                result
            }
            let modes = modes();
            if modes & OUTCOMES != 0 {
                // SAFETY: the caller's contract is the same.
                return unsafe { told($($param),*) };
            }
            if modes & PARAMETERS != 0 {
                // SAFETY: the caller's contract is the same.
                let code = unsafe { parameters::$name($($param),*) };
                if code != ZE_RESULT_SUCCESS {
                    return <$ret>::failed(code);
                }
            }
            if modes & (LIFETIME | CHECKERS) != 0 {
                // SAFETY: the caller's contract is the same.
                return unsafe { remembered($($param),*) };
            }
            call_next!(NEXT, $aggregate.$table.$slot => $($param),*)
        }
    )* };
}
each_function!(validated);
