//! System settings of the dynamic linker: cache, default directories, processor level.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Default directories of Debian and other distributions.
const DEFAULTS: [&str; 6] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// System settings of the dynamic linker.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// Names and paths in `/etc/ld.so.cache`, in its order.
    pub(super) cache: Vec<(OsString, PathBuf)>,
    pub(super) defaults: Vec<PathBuf>,
    /// Sub-directories with builds for this processor's level, best first.
    pub(super) levels: Vec<&'static str>,
}

impl System {
    /// The settings of this machine.
    pub(crate) fn of_this_machine() -> Self {
        Self {
            cache: std::fs::read("/etc/ld.so.cache")
                .map(|bytes| read_cache(&bytes))
                .unwrap_or_default(),
            defaults: DEFAULTS.iter().map(PathBuf::from).collect(),
            levels: levels(),
        }
    }
}

/// The x86-64 levels that glibc searches below `glibc-hwcaps`.
fn levels() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    {
        let v2 = is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("popcnt");
        let v3 = v2 && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
        let v4 = v3 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
        let levels = [
            (v4, "glibc-hwcaps/x86-64-v4"),
            (v3, "glibc-hwcaps/x86-64-v3"),
            (v2, "glibc-hwcaps/x86-64-v2"),
        ];
        let has = levels.into_iter().filter(|(has, _)| *has);
        has.map(|(_, name)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// The x86-64 entries of `ld.so.cache`; empty for an unknown format.
fn read_cache(bytes: &[u8]) -> Vec<(OsString, PathBuf)> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    const HEADER: usize = 48;
    const ENTRY: usize = 24;
    /// ELF for libc 6 on x86-64.
    const FLAGS: u32 = 0x0303;
    // The new format may follow the old one in the same file.
    let Some(start) = bytes.windows(MAGIC.len()).position(|at| at == MAGIC) else {
        return Vec::new();
    };
    let table = bytes.get(start..).unwrap_or_default();
    let word = |at: usize| -> Option<u32> {
        let part = table.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(part.try_into().ok()?))
    };
    let text = |at: u32| -> Option<&[u8]> {
        let from = table.get(at as usize..)?;
        from.split(|byte| *byte == 0).next()
    };
    let count = word(MAGIC.len()).unwrap_or(0) as usize;
    (0..count)
        .map_while(|index| {
            let at = HEADER.checked_add(index.checked_mul(ENTRY)?)?;
            let (flags, key, value) = (word(at)?, word(at + 4)?, word(at + 8)?);
            Some((flags, text(key)?, text(value)?))
        })
        .filter(|(flags, ..)| *flags == FLAGS)
        .map(|(_, key, value)| {
            (
                OsString::from_vec(key.to_vec()),
                PathBuf::from(OsStr::from_bytes(value)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_that_lie_have_no_entries() {
        let mut cache = b"glibc-ld.so.cache1.1".to_vec();
        cache.extend(1u32.to_le_bytes());
        cache.resize(48, 0);
        let entry = |cache: &[u8], flags: u32, key: u32, value: u32| {
            let mut cache = cache.to_vec();
            for word in [flags, key, value, 0, 0, 0] {
                cache.extend(word.to_le_bytes());
            }
            cache.extend(b"libx.so\0/lib/libx.so\0");
            cache
        };
        let good = entry(&cache, 0x0303, 72, 80);
        assert_eq!(
            read_cache(&good),
            [("libx.so".into(), "/lib/libx.so".into())]
        );
        let behind = [b"old format".as_slice(), &good].concat();
        assert_eq!(read_cache(&behind).len(), 1);
        for (what, bytes) in [
            ("another machine", entry(&cache, 0x0a03, 72, 80)),
            ("a name outside", entry(&cache, 0x0303, u32::MAX, 80)),
            ("cut", good[..60].to_vec()),
            ("no magic", b"nothing".to_vec()),
            ("empty", Vec::new()),
        ] {
            assert_eq!(read_cache(&bytes), [], "{what}");
        }
    }
}
