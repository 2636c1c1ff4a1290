//! A generated file.

use std::path::PathBuf;

/// One generated file.
pub(crate) struct Output {
    /// From the repository's root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Output {
    pub(crate) fn new(path: impl Into<PathBuf>, text: String) -> Output {
        Output {
            path: path.into(),
            text,
        }
    }
}
