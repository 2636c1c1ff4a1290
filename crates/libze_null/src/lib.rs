//! `libze_null.so.1`: the driver that `ZE_ENABLE_NULL_DRIVER` adds: every call succeeds and nothing happens.
//!
//! It is the stub driver under the name that loaders look for; `SOLUM_STUB_*` steer it. Invariant: getters are the only
//! exports, as of a real driver. Not here: what they hand out (`ze-stub`).

library_mark::mark!();

ze_stub::export_getters!();
