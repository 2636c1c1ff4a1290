//! `libze_solum_cpu.so.1`: the CPU driver, as a loader opens it.
//!
//! Invariants: the exports are the getters of the DDI tables and nothing else; the library is never unloaded,
//! because its threads and its clients' pointers outlive every handle. Not here: any decision; the driver is
//! `ze-driver`, the device `ze-cpu`.

use level_zero_sys::*;

cancellation::hold_off_cancellation!();
library_mark::mark!();

macro_rules! exports {
    ($(($name:ident, $table:ident),)*) => {$(
        /// Fills the table of that name.
        ///
        /// # Safety
        /// `table` is null or valid for writes of the slots that `version` has.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(version: ze_api_version_t, table: *mut $table) -> ze_result_t {
            ze_cpu::install();
            // SAFETY: forwarded from the C caller.
            unsafe { ze_driver::getters::$name(version, table) }
        }
    )*};
}

ze_driver::for_each_getter!(exports);
