//! A next table for tests: each function logs the call for its thread and returns the value that the test has set.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};

use level_zero_sys::*;

use crate::Tables;
use crate::answer::Answer;
use crate::generated::FUNCTIONS;
use crate::value::bits;

/// A hook that runs inside the next call of a thread.
type Inside = Box<dyn FnOnce()>;

thread_local! {
    static CALLS: RefCell<Vec<(usize, Vec<u64>)>> = const { RefCell::new(Vec::new()) };
    static CODE: Cell<ze_result_t> = const { Cell::new(ZE_RESULT_SUCCESS) };
    static INSIDE: RefCell<Option<Inside>> = const { RefCell::new(None) };
}

/// A complete table.
pub(crate) static TABLE: Tables = complete_tables!();

/// Returns and clears this thread's calls: function by index, arguments.
pub(crate) fn calls() -> Vec<(usize, Vec<u64>)> {
    CALLS.with(|calls| std::mem::take(&mut *calls.borrow_mut()))
}

/// Sets the code that this thread's calls return from now on.
pub(crate) fn answer(code: ze_result_t) {
    CODE.with(|own| own.set(code));
}

/// Sets a hook that runs before this thread's next call returns.
pub(crate) fn inside(what: impl FnOnce() + 'static) {
    INSIDE.with(|own| *own.borrow_mut() = Some(Box::new(what)));
}

fn called(index: usize, arguments: Vec<u64>) -> ze_result_t {
    CALLS.with(|calls| calls.borrow_mut().push((index, arguments)));
    if let Some(inside) = INSIDE.with(|own| own.borrow_mut().take()) {
        inside();
    }
    CODE.with(Cell::get)
}

/// The index of a function.
pub(crate) fn index(name: &str) -> usize {
    (0..FUNCTIONS)
        .find(|index| crate::value::function(*index).name == name)
        .expect("a function of the table")
}

macro_rules! fakes {
    ($($index:literal $name:ident($($param:ident: $ty:ty),*) -> $ret:ty = $aggregate:ident.$table:ident.$slot:ident;)*) => {
        $(
            unsafe extern "C" fn $name($($param: $ty),*) -> $ret {
                <$ret>::failed(called($index, vec![$(bits($param)),*]))
            }
        )*

        /// Calls function `index` of `tables`; the first bytes of each argument are its number. Returns the code.
        ///
        /// # Safety
        /// Pointers that `tables` dereferences are valid.
        pub(crate) unsafe fn call_with(tables: &Tables, index: usize, arguments: &[u64]) -> Option<ze_result_t> {
            match index {
                $($index => {
                    let mut rest = arguments.iter();
                    let _ = &mut rest;
                    $(let $param: $ty = value(*rest.next().expect("an argument for each parameter"));)*
                    let function = tables.$aggregate.$table.$slot.expect("no slot of a layer is empty");
                    // SAFETY: guaranteed by the caller; the fake functions at the end dereference nothing.
                    unsafe { function($($param),*) }.code()
                })*
                _ => None,
            }
        }
    };
}
each_function!(fakes);

/// Calls function `index` of `tables` with arguments that are numbers counting from `seed`, which must not be
/// dereferenced.
pub(crate) fn call_any(tables: &Tables, index: usize, seed: u64) -> Option<ze_result_t> {
    let count = crate::value::function(index).params.len() as u64;
    let arguments: Vec<u64> = (1..=count).map(|place| seed + place * 0x10).collect();
    // SAFETY: as said.
    unsafe { call_with(tables, index, &arguments) }
}

/// A C value whose first bytes are those of `seed`.
fn value<T: Copy>(seed: u64) -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let length = size_of::<T>().min(8);
    // SAFETY: C numbers, pointers and structs take any bits; both sides have `length` bytes.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw const seed).cast::<u8>(),
            value.as_mut_ptr().cast(),
            length,
        );
        value.assume_init()
    }
}
