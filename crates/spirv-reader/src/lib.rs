//! spirv-reader
