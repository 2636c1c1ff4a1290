//! Tools (`zet`): metrics of devices, and what is known of modules and kernels beyond core.
//!
//! Invariants
//! - Metric groups live as long as the driver; a report holds all that its values are calculated from.
//! - Counting costs nothing while nobody asks: the engine's counters run always, perf events from the first reading.
//! - A query's begin and end are commands in their list: they read the counters between the commands around them.
//!
//! Non-goals: no debugger (`zetDebug*`; devices say so by no flags): a kernel runs in the process itself, which any debugger can be attached to.

pub(crate) mod metric;
pub(crate) mod program;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod streamer;
pub(crate) mod tracer;
