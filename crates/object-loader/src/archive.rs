//! Unix archives (`ar`): several objects in one file.

use super::elf::Refusal;

const MAGIC: &[u8] = b"!<arch>\n";
/// Bytes of a member's header: name 16, time 12, owner 6, group 6, mode 8, size 10, end mark 2.
const HEAD: usize = 60;
const NAME: std::ops::Range<usize> = 0..16;
const SIZE: std::ops::Range<usize> = 48..58;
const END: &[u8] = b"`\n";
/// Members that are no objects: two forms of the symbol index, and the table of long names.
const NO_OBJECTS: [&[u8]; 3] = [b"/", b"/SYM64/", b"//"];

/// The objects of an archive, or `bytes` itself if it is no archive.
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
        let size = size(&head[SIZE]).ok_or("a member of the archive has no size")?;
        let (member, after) = content
            .split_at_checked(size)
            .ok_or("the archive ends within a member")?;
        // Members start at even offsets.
        rest = after.get(size % 2..).unwrap_or_default();
        if !NO_OBJECTS.contains(&head[NAME].trim_ascii_end()) {
            members.push(member);
        }
    }
    Ok(members)
}

/// Decimal digits, then blanks.
fn size(text: &[u8]) -> Option<usize> {
    let digits = text.trim_ascii_end();
    let plain = digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, size: &str) -> String {
        format!("{name:<48}{size:<10}`\n")
    }

    type Expected = Result<&'static [&'static str], &'static str>;

    #[test]
    fn members_are_found_or_the_archive_is_refused() {
        let (a, b) = (head("0.o/", "3"), head("1.o/", "2"));
        let within_head = Err("the archive ends within the head of a member");
        let (within_member, no_size) = (
            Err("the archive ends within a member"),
            Err("a member of the archive has no size"),
        );
        let cases: [(&str, String, Expected); 23] = [
            ("none", String::new(), Ok(&[])),
            ("two", format!("{a}abc\n{b}de"), Ok(&["abc", "de"])),
            ("no last filler", format!("{b}de{a}abc"), Ok(&["de", "abc"])),
            ("no filler", format!("{a}abc{b}de"), within_head),
            ("empty", head("0.o/", "0"), Ok(&[""])),
            ("the same twice", format!("{b}de{b}de"), Ok(&["de", "de"])),
            ("no name", head("", "2") + "de", Ok(&["de"])),
            ("index", head("/", "2") + "de", Ok(&[])),
            ("wide index", head("/SYM64/", "2") + "de", Ok(&[])),
            ("names", head("//", "2") + "de", Ok(&[])),
            ("long name", head("/17", "2") + "de", Ok(&["de"])),
            ("leading zeros", head("0.o/", "002") + "de", Ok(&["de"])),
            ("cut head", a[..59].to_owned(), within_head),
            ("other end", a.replace('`', "'") + "abc", within_head),
            ("cut", format!("{a}ab"), within_member),
            ("cut at once", a.clone(), within_member),
            ("no size", head("0.o/", "") + "de", no_size),
            ("sign", head("0.o/", "+2") + "de", no_size),
            ("negative", head("0.o/", "-2") + "de", no_size),
            ("hexadecimal", head("0.o/", "0x2") + "de", no_size),
            ("within", head("0.o/", "2 2") + "de", no_size),
            ("most", head("0.o/", "9999999999") + "de", within_member),
            ("zero byte", head("0.o/", "2\0") + "de", no_size),
        ];
        for (what, rest, expected) in cases {
            let bytes = [MAGIC, rest.as_bytes()].concat();
            let expected = expected.map(|all| all.iter().map(|m| m.as_bytes()).collect());
            let found = members(&bytes);
            assert_eq!(found, expected.map_err(str::to_owned), "{what}");
        }
    }

    #[test]
    fn what_is_no_archive_is_one_object() {
        for bytes in [&b""[..], b"!<arch>", b"\x7fELF!<arch>\n"] {
            assert_eq!(members(bytes), Ok(vec![bytes]));
        }
    }
}
