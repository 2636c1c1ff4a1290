//! ze-cpu
