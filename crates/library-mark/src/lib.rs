//! An ELF note that identifies Solum's libraries, whatever their file names are.
//!
//! Benchmarks compare our libraries with others of the same name: the note shows that one of ours is installed in
//! another's place. Invariants: each installed library has the note (a shell expands [`mark!`](crate::mark)), and
//! `strip` keeps it; it is not a symbol, because exports are exactly those of the library that ours replaces. Not here:
//! versions.
//!
//! ```
//! // Once in the root of a library's crate; here in a program.
//! library_mark::mark!();
//!
//! fn main() -> std::io::Result<()> {
//!     let file = std::fs::read(std::env::current_exe()?)?;
//!     assert!(library_mark::is_marked(&file));
//!     Ok(())
//! }
//! ```

/// Puts the note into the library whose root crate expands this: section `.note.solum`, owner `Solum`, type 1.
#[macro_export]
macro_rules! mark {
    () => {
        ::core::arch::global_asm!(
            ".pushsection .note.solum,\"a\",@note",
            ".balign 4",
            ".long 6, 4, 1",
            ".asciz \"Solum\"",
            ".balign 4",
            ".long 1",
            ".popsection",
        );
    };
}

/// The note's bytes: lengths of owner and content, type, owner, content.
const NOTE: [u8; 24] = *b"\x06\0\0\0\x04\0\0\0\x01\0\0\0Solum\0\0\0\x01\0\0\0";

/// Whether these are the bytes of a library with the note.
#[must_use]
pub fn is_marked(file: &[u8]) -> bool {
    // Notes are aligned in the file, too.
    let words = (0..file.len()).step_by(4);
    words
        .filter_map(|at| file.get(at..)?.first_chunk())
        .any(|bytes| *bytes == NOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::mark!();

    #[test]
    fn the_note_of_the_macro_is_found() {
        let me = std::env::current_exe().expect("this test runs");
        let mut file = std::fs::read(me).expect("the file of this test");
        assert!(is_marked(&file));
        // The constant itself is somewhere in the file too, aligned or not.
        while let Some(at) = file.windows(NOTE.len()).position(|part| part == NOTE) {
            file[at] ^= 1;
        }
        assert!(!is_marked(&file));
        for (file, marked) in [
            (Vec::new(), false),
            (NOTE[..23].to_vec(), false),
            (NOTE.to_vec(), true),
            ([&[0; 8][..], &NOTE, b"more"].concat(), true),
        ] {
            assert_eq!(is_marked(&file), marked);
        }
    }
}
