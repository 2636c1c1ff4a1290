//! Checks the cache directory of compiled programs, by the driver's rules.

use std::fs;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::report::Check;
use crate::units;

const AREA: &str = "cache";
/// The driver's default size limit, in bytes.
const BOUND: u64 = 1 << 30;
/// Free disk space below which doctor warns, in bytes.
const LITTLE: u64 = 64 << 20;
/// The fix for a directory that is not used. Without a cache each process compiles its kernels again.
const FIX: &str = "set SOLUM_CACHE_DIR to a directory that only you can write to, or SOLUM_CACHE=0";

/// The cache directory by the driver's rules.
fn place(environment: &Environment, privileged: bool) -> Option<PathBuf> {
    if privileged {
        return None;
    }
    let absolute = |name: &str| {
        let path = environment.given(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    match environment.given("SOLUM_CACHE_DIR") {
        Some(path) => Some(PathBuf::from(path)),
        None => absolute("XDG_CACHE_HOME")
            .map(|base| base.join("solum"))
            .or_else(|| absolute("HOME").map(|home| home.join(".cache/solum"))),
    }
}

/// Checks the cache.
pub(crate) fn check(environment: &Environment, privileged: bool) -> Check {
    if environment
        .text("SOLUM_CACHE")
        .is_some_and(|value| value.trim() == "0")
    {
        return Check::note(
            AREA,
            "disabled by SOLUM_CACHE=0: each process compiles its kernels again",
        );
    }
    let Some(path) = place(environment, privileged) else {
        let cause = if privileged {
            "the program runs with elevated privileges, so paths in the environment are ignored"
        } else {
            "none of SOLUM_CACHE_DIR, XDG_CACHE_HOME and HOME is set"
        };
        return Check::note(AREA, format!("no cache: {cause}"));
    };
    let shown = path.display();
    if !path.is_absolute() {
        return Check::fail(
            AREA,
            format!("SOLUM_CACHE_DIR={shown}"),
            "it must be an absolute path; the driver's initialisation fails",
            FIX,
        );
    }
    let refused = |cause: String| {
        Check::warn(
            AREA,
            format!("{shown} is not used: each process compiles its kernels again"),
            cause,
            FIX,
        )
    };
    let data = match fs::symlink_metadata(&path) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return match nearest(&path) {
                Some(parent) if is_writable(&parent) => {
                    Check::ok(AREA, format!("{shown}, created with the first program"))
                }
                Some(parent) => refused(format!(
                    "it does not exist, and {} is not writable",
                    parent.display()
                )),
                None => refused("neither it nor any parent directory exists".into()),
            };
        }
        Err(error) => return refused(error.to_string()),
    };
    if data.is_symlink() {
        return refused("it is a symbolic link".into());
    }
    if !data.is_dir() {
        return refused("it is not a directory".into());
    }
    let user = match owned_file::user::own() {
        Ok(user) => user,
        Err(cause) => return refused(cause),
    };
    if data.uid() != user {
        return refused(format!("it belongs to user {}, not to {user}", data.uid()));
    }
    if data.mode() & 0o022 != 0 {
        return refused(format!(
            "other users can write to it (mode {:o})",
            data.mode() & 0o7777
        ));
    }
    if !is_writable(&path) {
        return refused("no file can be created in it".into());
    }
    let (entries, bytes) = contents(&path);
    let bound = environment
        .text("SOLUM_CACHE_SIZE")
        .filter(|size| !size.trim().is_empty())
        .unwrap_or_else(|| units::bytes(BOUND));
    let text = format!(
        "{shown}: {entries} program{}, {} of {bound}",
        if entries == 1 { "" } else { "s" },
        units::bytes(bytes)
    );
    match free(&path) {
        Some(free) if free < LITTLE => Check::warn(
            AREA,
            text,
            format!("only {} are free on its disk", units::bytes(free)),
            "free disk space, or move the cache to another disk with SOLUM_CACHE_DIR",
        ),
        _ => Check::ok(AREA, text),
    }
}

/// The nearest directory above that exists.
fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .find(|parent| parent.is_dir())
        .map(Path::to_owned)
}

/// Whether a file can be created in it. Tries an unnamed file; checks permissions if the file system has none.
pub(super) fn is_writable(directory: &Path) -> bool {
    let made = fs::OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .mode(0o600)
        .open(directory);
    match made {
        Ok(_) => true,
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL)
            ) =>
        {
            use std::os::unix::ffi::OsStrExt;
            let Ok(path) = std::ffi::CString::new(directory.as_os_str().as_bytes()) else {
                return false;
            };
            // SAFETY: a C string that lives through the call.
            unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) == 0 }
        }
        Err(_) => false,
    }
}

/// The number of cached programs and their size in bytes.
fn contents(directory: &Path) -> (usize, u64) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "solum"))
        .filter_map(|entry| entry.metadata().ok())
        .fold((0, 0), |(count, bytes), data| {
            (count + 1, bytes + data.len())
        })
}

/// Bytes that this user can still write.
fn free(path: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: a struct of numbers.
    let mut data: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and a valid output.
    let done = unsafe { libc::statvfs(path.as_ptr(), &raw mut data) } == 0;
    done.then(|| data.f_bavail.saturating_mul(data.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::report::State;
    use super::*;

    #[test]
    fn directories_are_judged_by_the_drivers_rule() {
        let base = std::env::temp_dir().join(format!("solum-doctor-cache-{}", std::process::id()));
        let make = |name: &str, mode: u32| {
            let path = base.join(name);
            fs::create_dir_all(&path).expect("a folder below the temporary one");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            path.to_string_lossy().into_owned()
        };
        let (good, open) = (make("good", 0o700), make("open", 0o777));
        fs::write(base.join("good/one.solum"), b"12345").expect("writable");
        fs::write(base.join("file"), b"").expect("writable");
        let link = base.join("link");
        let _ = std::os::unix::fs::symlink(&good, &link);
        let (link, file) = (
            link.to_string_lossy().into_owned(),
            base.join("file").to_string_lossy().into_owned(),
        );
        let fresh = base.join("not/there/yet").to_string_lossy().into_owned();
        for (name, value, state, word) in [
            (
                "SOLUM_CACHE_DIR",
                good.as_str(),
                State::Ok,
                "1 program, 5 B of 1 GiB",
            ),
            ("SOLUM_CACHE_DIR", open.as_str(), State::Warn, "mode 777"),
            (
                "SOLUM_CACHE_DIR",
                link.as_str(),
                State::Warn,
                "symbolic link",
            ),
            (
                "SOLUM_CACHE_DIR",
                file.as_str(),
                State::Warn,
                "not a directory",
            ),
            (
                "SOLUM_CACHE_DIR",
                fresh.as_str(),
                State::Ok,
                "first program",
            ),
            ("SOLUM_CACHE_DIR", "", State::Note, "no cache"),
            ("SOLUM_CACHE", "", State::Note, "no cache"),
            ("XDG_CACHE_HOME", "", State::Note, "no cache"),
            ("SOLUM_CACHE_DIR", "relative", State::Fail, "absolute path"),
            ("SOLUM_CACHE", "0", State::Note, "disabled"),
            ("HOME", "relative", State::Note, "no cache"),
            ("XDG_CACHE_HOME", fresh.as_str(), State::Ok, "yet/solum"),
        ] {
            let check = check(&Environment::of(&[(name, value)]), false);
            assert_eq!(check.state, state, "{name}={value}: {check:?}");
            assert!(
                format!("{check:?}").contains(word),
                "{name}={value}: {check:?}"
            );
        }
        let _ = fs::remove_dir_all(base);
    }
}
