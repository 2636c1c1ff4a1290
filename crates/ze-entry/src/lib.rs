//! ze-entry
