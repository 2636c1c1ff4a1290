//! The tables behind a wrapper's header.

use level_zero_sys::*;

use crate::legacy_driver::Shared;
use crate::legacy_functions::*;

/// Functions that no handle decides have no slot behind a handle.
macro_rules! slot {
    (zeDriverGetDefaultContext by_hand) => {
        Some(crate::legacy::zeDriverGetDefaultContext)
    };
    ($name:ident by_hand) => {
        None
    };
    ($name:ident $params:tt) => {
        Some($name)
    };
}

macro_rules! tables {
    ($($namespace:ident $header:ident $aggregate:ident $driver:ident {
        $($sub:ident $absent:tt: $type:ident by $getter:ident $reach:tt { $($slot:ident $name:ident $params:tt $condition:tt;)* })*
    })*) => {
        $($(
            #[expect(non_upper_case_globals, reason = "a table has its type's name")]
            static $type: $type = $type { $($slot: slot!($name $params),)* };
        )*)*
        $(
            #[expect(non_upper_case_globals, reason = "a table has its type's name")]
            static $driver: Shared<$driver> = Shared($driver {
                version: ZE_API_VERSION_CURRENT,
                isValidFlag: 1,
                $($sub: (&raw const $type).cast_mut(),)*
            });
        )*

        /// The header of each wrapper.
        pub(crate) fn header() -> ze_handle_t {
            ze_handle_t { $($header: (&raw const $driver.0).cast_mut(),)* }
        }
    };
}
each_table!(tables);
