//! `libze_loader.so.1`: the C exports of the Level Zero loader.
//!
//! Invariants: the exports are the 832 names of the reference loader 1.32 and `zelTracerResetAllCallbacks`, and nothing
//! else; each is a trampoline, and `ze-loader` has the logic. Functions whose first parameter is a handle are expanded
//! from the API table ([`exports`]); the others are in [`entries`]. Not here: any decision.

mod entries;
mod exports;
#[rustfmt::skip]
mod generated;

cancellation::hold_off_cancellation!();
library_mark::mark!();

/// The word that each export reads first.
static DISPATCH_TABLE: ze_loader::dispatch_table::DispatchTable =
    ze_loader::dispatch_table::DispatchTable::new(ze_loader::dispatch::bottom());

/// Called by the dynamic linker when the library is loaded.
extern "C" fn at_load() {
    ze_loader::dispatch_table::attach(&DISPATCH_TABLE);
}

/// The linker's list of functions that run once, before any other function of the library.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Called by the dynamic linker when the library is unloaded or the process exits.
extern "C" fn at_unload() {
    ze_loader::teardown::run();
}

/// The linker's list of functions that run once, while the library is still mapped.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = at_unload;
