//! Several objects in one file: a Unix archive, as `ar` and linkers read it.

use super::elf::Refusal;

const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's head: name 16, time 12, owner 6, group 6, mode 8, size 10, and two that end it.
const HEAD: usize = 60;
const SIZE: std::ops::Range<usize> = 48..58;
const END: &[u8] = b"`\n";

/// The objects of an archive, or `bytes` itself where it is none.
pub(crate) fn members(bytes: &[u8]) -> Result<Vec<&[u8]>, Refusal> {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        return Ok(vec![bytes]);
    };
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (head, content) = rest
            .split_at_checked(HEAD)
            .filter(|(head, _)| head.ends_with(END))
            .ok_or("the archive ends within the head of a member")?;
        let size = std::str::from_utf8(&head[SIZE])
            .ok()
            .and_then(|text| text.trim_end().parse::<usize>().ok())
            .ok_or("a member of the archive has no size")?;
        let (member, after) = content
            .split_at_checked(size)
            .ok_or("the archive ends within a member")?;
        // Members begin at even places.
        rest = after.get(size % 2..).unwrap_or_default();
        // The linkers' index and long names are no objects.
        if head[0] != b'/' {
            members.push(member);
        }
    }
    Ok(members)
}
