//! The cache as programs use it: opened by the first build, and optional.

use super::stages;
use crate::cache::{Cache, Key};
use std::path::PathBuf;
use std::sync::OnceLock;

/// The log line if no folder for the cache is set.
const NOWHERE: &str = "no cache: neither SOLUM_CACHE_DIR, XDG_CACHE_HOME nor HOME names a folder with a path that begins \
                       with / (a process with more rights than its user believes none)";

/// The cache, opened by the first build instead of at initialisation.
pub(super) struct CacheState {
    /// The folder, if one is named, and the bound in bytes. None: the cache is off.
    pub(super) settings: Option<(Option<PathBuf>, u64)>,
    pub(super) opened: OnceLock<Option<Cache>>,
}

impl CacheState {
    pub(super) fn get(&self) -> Option<&Cache> {
        self.opened
            .get_or_init(|| {
                let (path, bound) = self.settings.as_ref()?;
                let cache = match path {
                    Some(path) => Cache::open(path, *bound),
                    None => Err(NOWHERE.to_owned()),
                };
                // Without a cache everything works, only slower.
                let told = |why| {
                    stages::remark(&format!("{why}; each process compiles its kernels again"))
                };
                cache.map_err(told).ok()
            })
            .as_ref()
    }

    /// The entry under a key.
    pub(super) fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.get()?.get(key)
    }

    /// Stores an entry, if there is a cache.
    pub(super) fn keep(&self, key: &Key, bytes: &[u8]) {
        if let Some(cache) = self.get()
            && let Err(why) = cache.put(key, bytes)
        {
            stages::remark(&format!("cache: {} is not kept: {why}", short(key)));
        }
    }
}

/// A short name for a program in the log.
pub(super) fn short(key: &Key) -> String {
    key[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}
