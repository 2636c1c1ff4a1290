//! Platforms: each is a driver with its function table. The module [`crate::enumeration`] finds them and their devices.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use crate::error::Result;
use crate::info::descriptor::Info;
use crate::ze::Api;

/// A programming interface under this runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Level Zero, the only one.
    LevelZero,
}

/// A driver with its devices.
#[derive(Clone, Copy)]
pub struct Platform(pub(crate) &'static PlatformInner);

pub(crate) struct PlatformInner {
    api: Api,
    /// Whether the driver supports images over existing memory; queried once.
    pub(crate) images_over_memory: OnceLock<bool>,
}

impl PartialEq for Platform {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Platform {}
impl Hash for Platform {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}
impl std::fmt::Debug for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Platform({:p})", self.0.api.driver)
    }
}

impl Platform {
    /// Creates a platform, which lives as long as the process.
    pub(crate) fn new(api: Api) -> Self {
        Self(Box::leak(Box::new(PlatformInner {
            api,
            images_over_memory: OnceLock::new(),
        })))
    }

    /// Returns the backend: always Level Zero.
    #[must_use]
    pub fn backend(&self) -> Backend {
        Backend::LevelZero
    }

    /// Returns a property, such as `platform.info::<info::platform::Name>()`.
    ///
    /// # Errors
    /// See the descriptor.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api
    }
}
