//! The tracer of this process.

use std::sync::OnceLock;

use super::api::Api;
use super::functions::Traced;
use super::work::Work;

/// The state that callbacks need.
pub(super) struct Tracer {
    pub(super) api: Api,
    pub(super) functions: Vec<Traced>,
    pub(super) work: Work,
}

/// The tracer, once its creation was tried.
pub(super) static TRACER: OnceLock<Option<Tracer>> = OnceLock::new();

/// The tracer, if there is one.
pub(super) fn tracer() -> Option<&'static Tracer> {
    TRACER.get()?.as_ref()
}
