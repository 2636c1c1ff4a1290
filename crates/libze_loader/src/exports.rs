//! Exported functions: each goes the way that its first handle's header shows. Getters: each table's slots are these.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;
use ze_loader::tables::fill;
use ze_loader::{each_table, forward};

use crate::entries::*;

/// Functions that no handle at the front decides are in [`crate::entries`].
macro_rules! function {
    ($name:ident by_hand $($place:tt)*) => {};
    ($name:ident $params:tt [first of $count:ident $array:ident] $($place:tt)*) => {};
    ($name:ident ($handle:ident: $handle_type:ty $(, $param:ident: $type:ty)*) [$(since $since:literal)?] $namespace:ident $header:ident $sub:ident [$($absent:ident)?] $slot:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($handle: $handle_type $(, $param: $type)*) -> ze_result_t {
            forward!(stringify!($name), $namespace $header, $sub $(unless $absent)?, $slot $(since $since)?, $handle => $handle $(, $param)*)
        }
    };
}

macro_rules! exports {
    ($($namespace:ident $header:ident $aggregate:ident $driver:ident {
        $($sub:ident $absent:tt: $type:ident by $getter:ident $reach:tt { $($slot:ident $name:ident $params:tt $condition:tt;)* })*
    })*) => {
        $($($(function! { $name $params $condition $namespace $header $sub $absent $slot })*)*)*
        $($(
            static $type: $type = $type { $($slot: Some($name),)* };

            #[unsafe(no_mangle)]
            unsafe extern "C" fn $getter(version: ze_api_version_t, pDdiTable: *mut $type) -> ze_result_t {
                // SAFETY: the caller gives null or a table with room for the slots of the version it asks for.
                unsafe { fill(stringify!($getter), version, pDdiTable, &$type, &$reach) }
            }
        )*)*
    };
}
each_table!(exports);
