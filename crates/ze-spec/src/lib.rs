//! ze-spec
