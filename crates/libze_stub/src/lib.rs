//! `libze_stub.so`: the stub driver's getters. Copy the file under several names for several drivers.
//!
//! Invariant: getters are the only exports, as of a real driver. Not here: the tables that they return (`ze-stub`).

ze_stub::export_getters!();
