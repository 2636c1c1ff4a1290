//! The tracing layer's functions: they forward directly without a tracer, else run callbacks around the call.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;

use super::callback::Callback;
use super::tracers::{Call, Entry, is_wanted};
use crate::Tables;
use crate::answer::Answer;
use crate::next::{Next, call_next};

static NEXT: Next = Next::new();

static TABLE: Tables = complete_tables!();

/// The table that traces calls on their way to `next`. The last call of this function sets `next`.
#[must_use]
pub fn over(next: &'static Tables) -> &'static Tables {
    NEXT.set(next);
    &TABLE
}

/// The type of callbacks of a function with results of type `R`; all parameter blocks are passed as the same pointer
/// type. Callbacks are the program's code: if one throws an exception, or its thread is cancelled (`pthread_cancel`),
/// the call ends there and releases everything it holds.
type Typed<R> = unsafe extern "C-unwind" fn(*mut c_void, R, *mut c_void, *mut *mut c_void);

/// The cells of a call: one per tracer, with the first few on the stack.
struct Cells {
    few: [*mut c_void; 4],
    many: Vec<*mut c_void>,
}

impl Cells {
    fn new(count: usize) -> Self {
        let few = [std::ptr::null_mut(); 4];
        let many = if count > few.len() {
            vec![std::ptr::null_mut(); count]
        } else {
            Vec::new()
        };
        Self { few, many }
    }

    fn all(&mut self) -> &mut [*mut c_void] {
        if self.many.is_empty() {
            &mut self.few
        } else {
            &mut self.many
        }
    }
}

/// Runs one side's callbacks.
///
/// # Safety
/// `block` is the function's parameter block, and the entries' callbacks take it and an `R`.
unsafe fn notify<R: Answer>(
    entries: &[Entry],
    side: impl Fn(&Entry) -> Callback,
    block: *mut c_void,
    result: R,
    cells: &mut Cells,
) {
    for (entry, cell) in entries.iter().zip(cells.all()) {
        if let Some(callback) = side(entry) {
            // SAFETY: the client registered this callback for this function, which decides its signature.
            unsafe {
                let callback = std::mem::transmute::<unsafe extern "C" fn(), Typed<R>>(callback);
                callback(block, result, entry.user_data.0, std::ptr::from_mut(cell));
            }
        }
    }
}

macro_rules! traced {
    ($($number:literal $name:ident($($field:ident $param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident, $block:ident;)*) => { $(
        unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
            /// The slow path with callbacks, a separate function so that the fast path needs no stack frame.
            #[cold]
            #[inline(never)]
            unsafe extern "C-unwind" fn traced($(mut $param: $ty),*) -> $ret {
                let Some(call) = Call::begin() else {
                    return call_next!(NEXT, $aggregate.$table.$slot => $($param),*);
                };
                let entries = call.entries($number);
                let mut cells = Cells::new(entries.len());
                let mut block = $block { $($field: &raw mut $param),* };
                let at = (&raw mut block).cast::<c_void>();
                // SAFETY: the block is this function's, and its pointers lead to the arguments.
                unsafe { notify::<$ret>(entries, |entry| entry.prologue, at, <$ret>::NOTHING, &mut cells) };
                // The prologues may have changed the arguments.
                let result = call_next!(NEXT, $aggregate.$table.$slot => $($param),*);
                // SAFETY: as above.
                unsafe { notify::<$ret>(entries, |entry| entry.epilogue, at, result, &mut cells) };
                result
            }
            if is_wanted($number) {
                // SAFETY: the caller has the same contract.
                return unsafe { traced($($param),*) };
            }
            call_next!(NEXT, $aggregate.$table.$slot => $($param),*)
        }
    )* };
}
each_callback!(traced);

macro_rules! untraced {
    ($($name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident;)*) => { $(
        unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
            call_next!(NEXT, $aggregate.$table.$slot => $($param),*)
        }
    )* };
}
each_untraced!(untraced);

/// A callback of any signature, as it is stored.
fn stored<F: Copy>(callback: F) -> Callback {
    const { assert!(size_of::<F>() == size_of::<Callback>()) };
    // SAFETY: function pointers of all signatures are alike, and null is none.
    unsafe { std::mem::transmute_copy(&callback) }
}

macro_rules! core_callbacks {
    ($($group:ident.$slot:ident $number:literal;)*) => {
        /// Visits the callbacks of the snapshot.
        pub(super) fn each_core(callbacks: &zel_core_callbacks_t, mut visit: impl FnMut(usize, Callback)) {
            $(
                visit($number, stored(callbacks.$group.$slot));
            )*
        }
    };
}
each_core_callback!(core_callbacks);
