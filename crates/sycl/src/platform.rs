//! Platforms: the drivers, each with the table of functions that reaches it. Finding them, and their devices, is the
//! module [`crate::enumeration`].

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
    /// Whether the driver makes images over memory that exists already; asked once.
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
    /// A driver; it lives as long as the process.
    pub(crate) fn new(api: Api) -> Self {
        Self(Box::leak(Box::new(PlatformInner {
            api,
            images_over_memory: OnceLock::new(),
        })))
    }

    /// Always Level Zero.
    #[must_use]
    pub fn backend(&self) -> Backend {
        Backend::LevelZero
    }

    /// A property, such as `platform.info::<info::platform::Name>()`.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api
    }
}
