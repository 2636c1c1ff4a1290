//! Which files belong to this process's user.

use std::sync::OnceLock;

/// The owner of files whose user is unknown in the namespace, unless the system is configured otherwise.
const OVERFLOW: u32 = 65534;
/// The number of users in a namespace that maps all of them.
const ALL: u32 = u32::MAX;

/// The id that represents all users unknown in this user namespace; `None` if all users are known. In a namespace
/// without a mapping the process itself has that id too.
fn overflow() -> Option<u32> {
    static NUMBER: OnceLock<Option<u32>> = OnceLock::new();
    *NUMBER.get_or_init(|| {
        let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
        if knows_all(&map) {
            return None;
        }
        let text = std::fs::read_to_string("/proc/sys/kernel/overflowuid").unwrap_or_default();
        Some(text.trim().parse().unwrap_or(OVERFLOW))
    })
}

/// Whether a mapping of user ids covers all of them: one line, whose last word is the count.
fn knows_all(map: &str) -> bool {
    let counts = map.lines().map(|line| line.split_whitespace().last());
    counts.flatten().any(|count| count.parse() == Ok(ALL))
}

/// The user whose rights this process has.
pub fn effective() -> u32 {
    // SAFETY: a system call without memory.
    unsafe { libc::geteuid() }
}

/// The user whose files count as this process's own.
///
/// # Errors
/// Why there is none.
pub fn own() -> Result<u32, String> {
    let user = effective();
    if is_unknown(user) {
        return Err(format!(
            "this process runs as user {user}, which is also the owner that files of unknown users show in a user \
             namespace"
        ));
    }
    Ok(user)
}

/// Whether files of unknown users show that owner.
pub fn is_unknown(owner: u32) -> bool {
    // No system maps unknown users to root; reading the mapping takes 10 to 50 us of a process's first program.
    owner != 0 && overflow() == Some(owner)
}

/// Whether a file of that owner is this process's user's.
pub fn owns(owner: u32) -> bool {
    own().is_ok_and(|user| user == owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_knows_all_users_or_has_an_overflow_number() {
        for (map, all) in [
            ("         0          0 4294967295\n", true),
            ("         0       1000          1\n", false),
            ("0 1000 1\n1 100000 65536\n", false),
            ("", false),
        ] {
            assert_eq!(knows_all(map), all, "{map:?}");
        }
    }
}
