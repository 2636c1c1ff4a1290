//! `libsolum_trace.so.1`: an XPTI subscriber and a tracer of Level Zero in one library.
//!
//! XPTI loads it because `XPTI_SUBSCRIBERS` names it, our loader because `SOLUM_TRACE` is set; `solum trace` sets both.
//!
//! Invariants: exports only, all of the work is `trace-recorder`'s; the library is never unloaded; no panic leaves it.

use trace_recorder::subscriber::RECORDER;

xpti::export_subscriber!(RECORDER);
