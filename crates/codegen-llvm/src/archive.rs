//! Several objects in one file: a Unix archive, as `ar` and linkers read it.

use std::io::Write as _;

/// A single object as it is; several objects as the members of an archive.
pub(crate) fn archive(mut objects: Vec<Vec<u8>>) -> Vec<u8> {
    if objects.len() == 1 {
        return objects.pop().unwrap_or_default();
    }
    let mut bytes = b"!<arch>\n".to_vec();
    for (i, object) in objects.iter().enumerate() {
        let (name, size) = (format!("{i}.o/"), object.len());
        // Name, time, owner, group, mode, size. Writing to a vector cannot fail.
        let _ = writeln!(
            bytes,
            "{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`",
            0, 0, 0, 644
        );
        bytes.extend_from_slice(object);
        if size % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}
