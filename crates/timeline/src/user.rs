//! The user whose files count as a process's own, by the rule of Solum's driver.

use std::fs;

/// The owner that files show whose user the namespace does not know, unless the system says otherwise.
const OVERFLOW: u32 = 65534;
/// The count of users in the map of a namespace that knows them all.
const ALL: u32 = u32::MAX;

/// The user whose files count as this process's own; `effective` is the one whose rights it has.
///
/// A user namespace shows all users that it does not know under one number. A file with that number may be anybody's.
///
/// # Errors
/// The process itself has that number. The text is a sentence.
pub fn own(effective: u32) -> Result<u32, String> {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let number = fs::read_to_string("/proc/sys/kernel/overflowuid").unwrap_or_default();
    if is_unknown(effective, &map, &number) {
        return Err(format!(
            "this process runs as user {effective}, which is also the owner that files of unknown users show in a \
             user namespace"
        ));
    }
    Ok(effective)
}

/// Whether `user` stands for all users that the map leaves out. The last word of each of its lines is a count.
fn is_unknown(user: u32, map: &str, number: &str) -> bool {
    let counts = map.lines().map(|line| line.split_whitespace().last());
    let knows_all = counts.flatten().any(|count| count.parse() == Ok(ALL));
    !knows_all && number.trim().parse().unwrap_or(OVERFLOW) == user
}

#[cfg(test)]
mod tests {
    use super::is_unknown;

    #[test]
    fn the_overflow_number_is_nobodys_own() {
        for (user, map, number, expected) in [
            (
                65534,
                "         0          0 4294967295\n",
                "65534\n",
                false,
            ),
            (65534, "         0       1000          1\n", "65534\n", true),
            (65534, "0 1000 1\n1 100000 65536\n", "65534\n", true),
            (65534, "", "", true),
            (99, "0 1000 1\n", "99\n", true),
            (0, "0 1000 1\n", "65534\n", false),
        ] {
            assert_eq!(is_unknown(user, map, number), expected, "{user} {map:?}");
        }
    }
}
