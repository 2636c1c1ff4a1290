//! Several objects in one file: a Unix archive, as `ar` and linkers read it.

use std::io::Write as _;

/// One object as it is, several as the members of an archive.
pub(crate) fn archive(mut objects: Vec<Vec<u8>>) -> Vec<u8> {
    if objects.len() == 1 {
        return objects.pop().unwrap_or_default();
    }
    let mut bytes = b"!<arch>\n".to_vec();
    for (i, object) in objects.iter().enumerate() {
        let (name, size) = (format!("{i}.o/"), object.len());
        // Name, time, owner, group, mode, size. A vector takes all that is written to it.
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
