//! The way of one call: way, handle, table, slot, jump. Everything that is not the straight way is cold, and of the C
//! calling convention with thin arguments, so that the exports need no stack frame.
//!
//! The straight way is open while the loader is ready, no layer is on, and no driver is wrapped. Else calls go through
//! tables ([`state::Way`]), at whose bottom `bottom!` looks at state and handle before anything is read through it.

use std::ffi::c_void;

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_INVALID_SIZE,
    ZE_RESULT_ERROR_UNINITIALIZED, ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ze_result_t,
};

use crate::{state, text};

/// Forwards a call to the slot that the handle's own header names.
///
/// `forward!("zeFoo", ze pCore, Foo, pfnBar, hFoo => hFoo, other, arguments)`: name for error texts, namespace and header
/// member, sub-table, slot, the handle that decides (after the arrow all arguments in their order). With `since 0x1000e`
/// after the slot, a driver whose table is older answers UNSUPPORTED_VERSION; it is given only for functions newer than
/// 1.13, the oldest table that is let in. `Foo unless is_null` is a sub-table that drivers may leave out.
#[macro_export]
#[expect(
    clippy::crate_in_macro_def,
    reason = "the word stands in the shell that expands this"
)]
macro_rules! forward {
    ($name:literal, $namespace:ident $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $handle:ident => $($arg:ident),+) => {{
        // The shell's own word, which it reads by one instruction.
        if let Some(tables) = crate::WAY.tables() {
            std::hint::cold_path();
            return match tables.$namespace.$sub.$slot {
                // SAFETY: the arguments are the caller's own, under the same contract as this function.
                Some(function) => unsafe { function($($arg),+) },
                None => $crate::dispatch::null_slot(&$name),
            };
        }
        if $crate::dispatch::is_no_object($handle.addr()) {
            return $crate::dispatch::no_object($handle.cast(), &$name, &stringify!($handle));
        }
        // SAFETY: the caller passes a live handle of a driver that was let in, and each object of such a driver begins
        // with a `ze_handle_t` whose four pointers and required sub-tables were checked on load and are static.
        let table = unsafe { &*(*$handle.cast::<$crate::sys::ze_handle_t>()).$header };
        $(
            if table.version.0 < $since {
                return $crate::dispatch::too_old(&$name, table.version.0, $since);
            }
        )?
        $(
            if table.$sub.$absent() {
                return $crate::dispatch::null_slot(&$name);
            }
        )?
        // SAFETY: as above; the version says that this table reaches as far as this sub-table and slot.
        match unsafe { (*table.$sub).$slot } {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),+) },
            None => $crate::dispatch::null_slot(&$name),
        }
    }};
}

/// Calls a function that no handle's header decides through the tables: `through!("zeInit", ze.Global.pfnInit(flags))`.
/// Where a layer leaves the slot empty, the loader's own function answers.
#[macro_export]
macro_rules! through {
    ($namespace:ident.$sub:ident.$slot:ident($($arg:ident),*) or $otherwise:expr) => {
        match $crate::state::tables().$namespace.$sub.$slot.or($crate::state::bottom().$namespace.$sub.$slot) {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),*) },
            None => $otherwise,
        }
    };
}

/// The same as [`forward!`] below all layers: state and handle are looked at before anything is read through them.
///
/// After the slot stands the function for wrapped handles; `first of COUNT ARRAY` where an array's first handle decides.
macro_rules! bottom {
    ($name:literal, $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $legacy:path, first of $count:ident $array:ident => $($arg:ident),+) => {{
        if !$crate::state::is_ready() {
            return $crate::dispatch::not_ready(&$name);
        }
        // SAFETY: the caller's contract: null or as many handles as announced.
        let first = match unsafe { $crate::dispatch::first_of($name, stringify!($array), $count, $array) } {
            Ok(first) => first,
            Err(error) => return error,
        };
        $crate::dispatch::bottom!($name, $header, $sub $(unless $absent)?, $slot $(since $since)?, $legacy, first => $($arg),+)
    }};
    ($name:literal, $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $legacy:path, $handle:ident => $($arg:ident),+) => {{
        if !$crate::state::is_ready() {
            return $crate::dispatch::not_ready(&$name);
        }
        if $crate::dispatch::is_no_object($handle.addr()) {
            return $crate::dispatch::no_object($handle.cast(), &$name, &stringify!($handle));
        }
        if $crate::wrapper::arena::is_in_use() {
            if $crate::wrapper::arena::holds($handle.addr()) {
                // SAFETY: the arguments are the caller's own, under the same contract as this function.
                return unsafe { $legacy($($arg),+) };
            }
            if !$crate::driver::is_known($handle.cast()) {
                return $crate::wrapper::arguments::foreign(&$name, &stringify!($handle), $handle.cast());
            }
        }
        // SAFETY: the caller passes a live handle of a driver that was let in, and each object of such a driver begins
        // with a `ze_handle_t` whose four pointers and required sub-tables were checked on load and are static.
        let table = unsafe { &*(*$handle.cast::<$crate::sys::ze_handle_t>()).$header };
        $(
            if table.version.0 < $since {
                return $crate::dispatch::too_old(&$name, table.version.0, $since);
            }
        )?
        $(
            if table.$sub.$absent() {
                return $crate::dispatch::null_slot(&$name);
            }
        )?
        // SAFETY: as above; the version says that this table reaches as far as this sub-table and slot.
        match unsafe { (*table.$sub).$slot } {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),+) },
            None => $crate::dispatch::null_slot(&$name),
        }
    }};
}
pub(crate) use bottom;

/// Answers a call that came before init or after teardown.
#[cold]
#[inline(never)]
pub extern "C" fn not_ready(name: &'static &'static str) -> ze_result_t {
    if state::is_torn_down() {
        text::set_consequence(format_args!("{name}: called after the loader's teardown"));
    } else {
        text::set_consequence(format_args!(
            "{name}: called before zeInit or zeInitDrivers has succeeded"
        ));
    }
    ZE_RESULT_ERROR_UNINITIALIZED
}

/// Addresses below are no objects: the kernel maps nothing there.
const LOWEST: usize = 0x1_0000;
/// Bits of a program's addresses; without the highest byte on AArch64, which is a tag there.
const ADDRESS_BITS: u32 = if cfg!(target_arch = "x86_64") { 47 } else { 56 };

/// Whether nothing can lie at an address that begins with a driver's tables: null, below [`LOWEST`], not a multiple of
/// eight, or not the program's. In place of a look for null alone it adds no measurable time to a call.
#[inline(always)]
#[must_use]
pub fn is_no_object(address: usize) -> bool {
    let address = if cfg!(target_arch = "aarch64") {
        address & ((1 << ADDRESS_BITS) - 1)
    } else {
        address
    };
    // The rotation moves the low bits, which must be 0, to the high ones, which must be 0 as well.
    address.wrapping_sub(LOWEST).rotate_right(3) >> (ADDRESS_BITS - 3) != 0
}

/// Answers a call whose deciding handle is the address of no object. The handle comes first, as in the call: it stays in
/// its register.
#[cold]
#[inline(never)]
pub extern "C" fn no_object(
    handle: *mut c_void,
    name: &'static &'static str,
    argument: &'static &'static str,
) -> ze_result_t {
    if handle.is_null() {
        return null_handle(name, argument);
    }
    text::set(format_args!(
        "{name}: {argument} ({handle:p}) is not the address of an object; expected a live handle"
    ));
    ZE_RESULT_ERROR_INVALID_ARGUMENT
}

/// Answers a call whose deciding handle is null.
#[cold]
#[inline(never)]
pub extern "C" fn null_handle(
    name: &'static &'static str,
    argument: &'static &'static str,
) -> ze_result_t {
    text::set(format_args!(
        "{name}: {argument} is null, a live handle is required"
    ));
    ZE_RESULT_ERROR_INVALID_NULL_HANDLE
}

/// Answers a call that the driver's slot leaves empty.
#[cold]
#[inline(never)]
pub extern "C" fn null_slot(name: &'static &'static str) -> ze_result_t {
    text::set(format_args!(
        "{name}: the handle's driver does not implement this function"
    ));
    ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
}

/// Answers a call that is newer than the driver's table.
#[cold]
#[inline(never)]
pub extern "C" fn too_old(name: &'static &'static str, found: u32, needed: u32) -> ze_result_t {
    text::set(format_args!(
        "{name}: needs Level Zero {}.{}, the handle's driver offers {}.{}",
        needed >> 16,
        needed & 0xffff,
        found >> 16,
        found & 0xffff
    ));
    ZE_RESULT_ERROR_UNSUPPORTED_VERSION
}

/// Picks the handle that decides for functions that take an array of them: the first one.
///
/// # Errors
/// Null array with a count → INVALID_NULL_POINTER; count 0 → INVALID_SIZE, as there is no driver to ask.
///
/// # Safety
/// `handles` is null or points to `count` readable handles.
pub unsafe fn first_of<T>(
    name: &'static str,
    argument: &'static str,
    count: u32,
    handles: *mut *mut T,
) -> Result<*mut T, ze_result_t> {
    if count == 0 {
        text::set(format_args!(
            "{name}: {argument} holds 0 handles, at least 1 is required"
        ));
        return Err(ZE_RESULT_ERROR_INVALID_SIZE);
    }
    if handles.is_null() {
        text::set(format_args!(
            "{name}: {argument} is null, {count} handles were announced"
        ));
        return Err(ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    }
    // SAFETY: non-null and `count` ≥ 1 elements, by the caller's contract.
    Ok(unsafe { *handles })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_objects_are_told_from_junk() {
        let object = Box::new(0_u64);
        let local = 0_u64;
        for address in [
            (&raw const *object).addr(),
            (&raw const local).addr(),
            (&raw const crate::generated::bottom::BOTTOM).addr(),
            LOWEST,
            (1 << 47) - 8,
        ] {
            assert!(!is_no_object(address), "{address:#x}");
        }
        for address in [0, 1, 8, LOWEST - 8, LOWEST + 1, (1 << 46) + 4] {
            assert!(is_no_object(address), "{address:#x}");
        }
        #[cfg(target_arch = "x86_64")]
        for address in [1 << 48, 1 << 63, usize::MAX - 7] {
            assert!(is_no_object(address), "{address:#x}");
        }
    }
}
