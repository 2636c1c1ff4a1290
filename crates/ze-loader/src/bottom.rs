//! The tables below all layers: each function tells handles apart and goes to the handle's driver.

#![expect(non_snake_case, reason = "functions and parameters carry C's names")]

use std::ffi::{c_char, c_void};

use level_zero_sys::*;

use crate::checked::bottom;
use crate::entries::*;
use crate::legacy_functions as legacy;
use crate::tables::Tables;

macro_rules! function {
    ($name:ident by_hand $($place:tt)*) => {};
    ($name:ident ($($param:ident: $type:ty),*) [first of $count:ident $array:ident] $header:ident $sub:ident [$($absent:ident)?] $slot:ident) => {
        unsafe extern "C" fn $name($($param: $type),*) -> ze_result_t {
            bottom!(stringify!($name), $header, $sub $(unless $absent)?, $slot, legacy::$name, first of $count $array => $($param),*)
        }
    };
    ($name:ident ($handle:ident: $handle_type:ty $(, $param:ident: $type:ty)*) [$(since $since:literal)?] $header:ident $sub:ident [$($absent:ident)?] $slot:ident) => {
        unsafe extern "C" fn $name($handle: $handle_type $(, $param: $type)*) -> ze_result_t {
            bottom!(stringify!($name), $header, $sub $(unless $absent)?, $slot $(since $since)?, legacy::$name, $handle => $handle $(, $param)*)
        }
    };
}

macro_rules! tables {
    ($($namespace:ident $header:ident $aggregate:ident $driver:ident {
        $($sub:ident $absent:tt: $type:ident by $getter:ident $reach:tt { $($slot:ident $name:ident $params:tt $condition:tt;)* })*
    })*) => {
        $($($(function! { $name $params $condition $header $sub $absent $slot })*)*)*

        pub(crate) static BOTTOM: Tables = Tables {
            $($namespace: $aggregate {
                $($sub: $type { $($slot: Some($name),)* },)*
            },)*
        };
    };
}
each_table!(tables);
