//! Lines of source files, as a report shows them.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;

/// The largest file that is read.
const LARGEST: u64 = 16 << 20;
/// The most files that are kept.
const MOST: usize = 64;
/// Characters that are shown of a line.
const WIDTH: usize = 120;
/// Columns of a tab.
const TAB: usize = 4;

/// Source files on this machine. Names come from debug information, so any file may be named: only regular files are
/// read, and nothing is waited for.
#[derive(Default)]
pub struct Sources {
    files: HashMap<String, Option<Vec<u8>>>,
}

impl Sources {
    /// A line of a file, from 1; `None` if file or line do not exist.
    pub fn line(&mut self, file: &str, line: u32) -> Option<String> {
        if !self.files.contains_key(file) {
            if self.files.len() >= MOST {
                self.files.clear();
            }
            self.files.insert(file.to_owned(), read(file).ok());
        }
        let bytes = self.files.get(file)?.as_ref()?;
        let number = usize::try_from(line).ok()?.checked_sub(1)?;
        let line = bytes.split(|byte| *byte == b'\n').nth(number)?;
        Some(String::from_utf8_lossy(line).into_owned())
    }
}

fn read(file: &str) -> io::Result<Vec<u8>> {
    let other = || io::Error::other("no source file");
    // Before opening, because the writer of a pipe would notice the open, and after, because the name may lead elsewhere
    // meanwhile.
    if !std::fs::metadata(file)?.is_file() {
        return Err(other());
    }
    let mut options = OpenOptions::new();
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened: File = options.read(true).custom_flags(flags).open(file)?;
    let data = opened.metadata()?;
    if !data.is_file() || data.len() > LARGEST {
        return Err(other());
    }
    let mut bytes = Vec::new();
    opened.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A line as it is shown, and what is printed below it. The column counts bytes from 1; with 0 the whole line is
/// underlined.
pub(super) fn shown(line: &str, column: u32) -> (String, String) {
    let line = line.trim_end();
    let place = usize::try_from(column).unwrap_or(usize::MAX);
    let mut letters: Vec<char> = Vec::new();
    let mut caret = None;
    for (at, letter) in line.char_indices() {
        if at + letter.len_utf8() >= place && caret.is_none() {
            caret = Some(letters.len());
        }
        match letter {
            '\t' => letters.extend(std::iter::repeat_n(' ', TAB - letters.len() % TAB)),
            letter => {
                letters.extend(crate::escape::escape(letter.encode_utf8(&mut [0; 4])).chars())
            }
        }
    }
    let indent = letters.iter().take_while(|letter| letter.is_whitespace());
    let indent = indent.count();
    let (mut caret, mut length) = match (place, caret) {
        (0, _) => (indent, (letters.len() - indent).max(1)),
        (_, Some(caret)) => (caret, 1),
        // Behind the line's end: the file has changed, or the line ends there.
        (_, None) => (letters.len(), 1),
    };
    if letters.len() > WIDTH {
        let start = caret.saturating_sub(WIDTH / 2).min(letters.len() - WIDTH);
        let end = start + WIDTH;
        let is_cut_behind = end < letters.len();
        letters.truncate(end);
        letters.drain(..start);
        caret -= start;
        if start > 0 {
            letters[0] = '…';
        }
        if is_cut_behind {
            letters[WIDTH - 1] = '…';
        }
        length = length.min(WIDTH - caret.min(WIDTH - 1));
    }
    let underline = " ".repeat(caret) + &"^".repeat(length);
    (letters.into_iter().collect(), underline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_below_their_column() {
        for (line, column, text, underline) in [
            ("a[i] = 1;", 1, "a[i] = 1;", "^"),
            ("a[i] = 1;", 8, "a[i] = 1;", "       ^"),
            ("\ta[i]", 2, "    a[i]", "    ^"),
            (" \ta", 3, "    a", "    ^"),
            ("é = x", 4, "é = x", "  ^"),
            ("    b = 2;  \r", 0, "    b = 2;", "    ^^^^^^"),
            ("a", 99, "a", " ^"),
            ("", 0, "", "^"),
            ("", 1, "", "^"),
            ("\u{1b}[5mx", 5, "\\u{1b}[5mx", "         ^"),
        ] {
            let (shown_text, shown_underline) = shown(line, column);
            assert_eq!(
                (shown_text.as_str(), shown_underline.as_str()),
                (text, underline),
                "{line:?} {column}"
            );
        }
        for column in [0, 1, 50, 150, 300, 400, u32::MAX] {
            let (text, underline) = shown(&"x".repeat(300), column);
            assert_eq!(text.chars().count(), WIDTH, "{column}");
            assert!(underline.len() <= WIDTH + 1, "{column}");
        }
    }

    #[test]
    fn only_regular_files_are_read() {
        let path = std::env::temp_dir().join(format!("check-report-source-{}", std::process::id()));
        std::fs::write(&path, b"one\ntwo\r\n\xff").unwrap();
        let file = path.to_str().unwrap();
        let mut sources = Sources::default();
        for (line, expected) in [(1, Some("one")), (2, Some("two\r")), (0, None), (9, None)] {
            assert_eq!(sources.line(file, line).as_deref(), expected, "{line}");
        }
        std::fs::remove_file(&path).unwrap();
        for other in ["", "/", "/dev/zero", "/no/such/file.cl", file] {
            let mut sources = Sources::default();
            assert_eq!(sources.line(other, 1), None, "{other}");
        }
    }
}
