//! ze-stub
