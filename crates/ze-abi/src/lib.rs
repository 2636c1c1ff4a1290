//! ze-abi
