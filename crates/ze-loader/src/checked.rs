//! Dispatch below all layers, which first checks the phase and the handle.

/// As `forward!`, but checks the phase and the handle before it reads anything through the handle.
///
/// After the slot comes the function for wrapped handles; `first of COUNT ARRAY` dispatches by an array's first handle.
macro_rules! bottom {
    ($name:expr, $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $legacy:path, first of $count:ident $array:ident => $($arg:ident),+) => {{
        if !$crate::phase::is_ready() {
            return $crate::refusals::not_ready(&$name);
        }
        // SAFETY: by the caller's contract null or as many handles as announced.
        let first = match unsafe { $crate::refusals::first_of($name, stringify!($array), $count, $array) } {
            Ok(first) => first,
            Err(error) => return error,
        };
        $crate::checked::bottom!($name, $header, $sub $(unless $absent)?, $slot $(since $since)?, $legacy, first => $($arg),+)
    }};
    ($name:expr, $header:ident, $sub:ident $(unless $absent:ident)?, $slot:ident $(since $since:literal)?, $legacy:path, $handle:ident => $($arg:ident),+) => {{
        if !$crate::phase::is_ready() {
            return $crate::refusals::not_ready(&$name);
        }
        if $crate::refusals::is_no_object($handle.addr()) {
            return $crate::refusals::no_object($handle.cast(), &$name, &stringify!($handle));
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
        // SAFETY: the caller passes a live handle of an accepted driver; each object of such a driver begins with a
        // `ze_handle_t` whose four pointers and required sub-tables were checked on load and are static.
        let table = unsafe { &*(*$handle.cast::<$crate::sys::ze_handle_t>()).$header };
        $(
            if table.version.0 < $since {
                return $crate::refusals::too_old(&$name, table.version.0, $since);
            }
        )?
        $(
            if table.$sub.$absent() {
                return $crate::refusals::null_slot(&$name);
            }
        )?
        // SAFETY: as above; the version says that this table reaches as far as this sub-table and slot.
        match unsafe { (*table.$sub).$slot } {
            // SAFETY: the arguments are the caller's own, under the same contract as this function.
            Some(function) => unsafe { function($($arg),+) },
            None => $crate::refusals::null_slot(&$name),
        }
    }};
}
pub(crate) use bottom;
