//! ze-loader
