//! ze-driver
