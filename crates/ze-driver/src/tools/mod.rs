//! Tools (`zet`): metrics of devices, tracers, and debug and profile facts of modules and kernels.
//!
//! Invariants
//! - Metric groups live as long as the driver; a report holds all inputs of its values.
//! - Counting costs nothing until the first reading: the engine always counts, perf events count from then on.
//! - A query's begin and end are commands in their list: they read the counters between the commands around them.
//!
//! Not here: a debugger (`zetDebug*`; devices have no debug flags). Kernels run in the process itself, which any debugger
//! can attach to.

pub(crate) mod metric;
pub(crate) mod program;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod streamer;
pub(crate) mod tracer;
