//! Random kernels in Rust compute the same as plain Rust on the host, interpreted, and as machine code.
//!
//! The build script (`build/main.rs`) writes the kernels, because a macro expands them: `tests/agree.rs` includes and runs
//! them. This library has no content.
#![forbid(unsafe_code)]
