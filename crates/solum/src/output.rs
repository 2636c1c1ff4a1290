//! Output: answers on stdout, messages on stderr, failures as text or JSON.
//!
//! Invariants
//! - If stdout cannot be written, the command prints the reason and exits with 2. A closed pipe (`solum ls | head -1`)
//!   is not an error.
//! - A message that cannot be written to stderr is dropped.
//! - Names come from processes, files and drivers of other users, so they may hold terminal escape sequences. They are
//!   escaped with [`escape`] or [`escape_lines`] before they enter an answer; messages are escaped here, and so is JSON.
//! - With `--json` a failure is a document too: `schema`, `error`, and `hint` if there is one.

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, Write};

use serde::Serialize;

use crate::exit;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) error: String,
    pub(crate) hint: Option<String>,
}

/// A failure as `--json` prints it.
#[derive(Serialize)]
struct Refusal<'f> {
    schema: &'static str,
    error: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'f str>,
}

impl Failure {
    /// A failure with this exit code.
    pub(crate) fn new(code: u8, error: impl Into<String>) -> Self {
        Self {
            code,
            error: error.into(),
            hint: None,
        }
    }

    /// Wrong usage, a missing file, an incomplete installation.
    pub(crate) fn error(error: impl Into<String>) -> Self {
        Self::new(exit::ERROR, error)
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints it: as a JSON document if there is a schema, otherwise to stderr. Returns the exit code.
    pub(crate) fn print(&self, schema: Option<&'static str>) -> u8 {
        let (error, hint) = (self.error.as_str(), self.hint.as_deref());
        let Some(schema) = schema else {
            print_error(error, hint);
            return self.code;
        };
        let refusal = Refusal {
            schema,
            error,
            hint,
        };
        // On one line, because `top --json` prints one object a line.
        match serde_json::to_string(&refusal) {
            Ok(text) => answer(&format!("{}\n", escape_json(&text)), self.code),
            Err(error) => {
                print_error(&format!("cannot print JSON: {error}"), None);
                exit::ERROR
            }
        }
    }
}

/// Whether a terminal interprets the character instead of showing it: control characters, line and paragraph
/// separators, and bidirectional formatting.
fn is_control_sequence(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn escape_if(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut all = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_replaced(letter) {
            true => all.extend(letter.escape_unicode()),
            false => all.push(letter),
        }
    }
    Cow::Owned(all)
}

/// A name, safe for a terminal: control characters are written as `\u{1b}`.
pub(crate) fn escape(name: &str) -> Cow<'_, str> {
    escape_if(name, is_control_sequence)
}

/// As [`escape`], for a text with several lines: keeps line ends and tabs.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    escape_if(text, |letter| {
        is_control_sequence(letter) && !matches!(letter, '\n' | '\t')
    })
}

/// A JSON document, safe for a terminal. Only its strings can hold such characters, apart from line ends.
pub(crate) fn escape_json(document: &str) -> Cow<'_, str> {
    let is_replaced = |letter| is_control_sequence(letter) && letter != '\n';
    if !document.contains(is_replaced) {
        return Cow::Borrowed(document);
    }
    let mut all = String::with_capacity(document.len() + 16);
    for letter in document.chars() {
        match is_replaced(letter) {
            // All of these characters have four hexadecimal digits.
            true => all += &format!("\\u{:04x}", u32::from(letter)),
            false => all.push(letter),
        }
    }
    Cow::Owned(all)
}

/// Applies [`escape_json`] piece by piece, so that a large document is never in memory as a whole. `serde_json` writes
/// whole characters, so no piece ends inside one.
struct Plain<W>(W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            self.0.write_all(escape_json(chunk.valid()).as_bytes())?;
            self.0.write_all(chunk.invalid())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints the answer, with colours if stdout is a terminal. Returns `code`, or 2 if it cannot be written.
pub(crate) fn answer(text: &str, code: u8) -> u8 {
    let mut out = anstream::stdout().lock();
    written(
        out.write_all(text.as_bytes()).and_then(|()| out.flush()),
        code,
    )
}

/// Prints a binary or machine-readable answer unchanged.
pub(crate) fn bytes(bytes: &[u8], code: u8) -> u8 {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()), code)
}

/// Prints a JSON document.
pub(crate) fn json(document: &impl Serialize, code: u8) -> u8 {
    written(write_json(document, &mut io::stdout().lock()), code)
}

/// Writes a document in the format of [`json`].
///
/// # Errors
/// `out` cannot be written.
pub(crate) fn write_json(document: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(Plain(&mut out), document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The exit code after writing the answer.
pub(crate) fn written(result: io::Result<()>, code: u8) -> u8 {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let error = signal_mask::name_file_size_limit(error);
            print_error(&format!("cannot write to stdout: {error}"), None);
            exit::ERROR
        }
        _ => code,
    }
}

/// Prints an error message to stderr, and a hint if there is one.
pub(crate) fn print_error(what: &str, hint: Option<&str>) {
    line(&format!("\u{1b}[31msolum: {}\u{1b}[0m", escape_lines(what)));
    if let Some(hint) = hint {
        message(&format!("hint: {hint}"));
    }
}

/// Prints a line to stderr.
pub(crate) fn message(text: &str) {
    line(&escape_lines(text));
}

/// Prints a text that has its own colours and is escaped already to stderr.
pub(crate) fn painted(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

fn line(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_nothing_to_act_on() {
        for (text, as_name, as_lines) in [
            ("plain é 漢", "plain é 漢", "plain é 漢"),
            ("", "", ""),
            (
                "\u{1b}]0;T\u{7}\u{7f}",
                "\\u{1b}]0;T\\u{7}\\u{7f}",
                "\\u{1b}]0;T\\u{7}\\u{7f}",
            ),
            ("a\nb\tc\r", "a\\u{a}b\\u{9}c\\u{d}", "a\nb\tc\\u{d}"),
            ("\u{9b}5m\u{80}", "\\u{9b}5m\\u{80}", "\\u{9b}5m\\u{80}"),
            (
                "\u{202a}\u{202e}\u{2066}\u{2069}\u{200d}",
                "\\u{202a}\\u{202e}\\u{2066}\\u{2069}\u{200d}",
                "\\u{202a}\\u{202e}\\u{2066}\\u{2069}\u{200d}",
            ),
            (
                "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}",
                "\\u{61c}\\u{200e}\\u{200f}\\u{2028}\\u{2029}",
                "\\u{61c}\\u{200e}\\u{200f}\\u{2028}\\u{2029}",
            ),
        ] {
            assert_eq!(escape(text), as_name, "{text:?}");
            assert_eq!(escape_lines(text), as_lines, "{text:?}");
            let json = serde_json::to_string(text).expect("a string");
            let plain = escape_json(&json);
            assert!(!plain.contains(is_control_sequence), "{plain:?}");
            let back: String = serde_json::from_str(&plain).expect("the same document");
            assert_eq!(back, text);
            let mut written = Vec::new();
            write_json(&[text, text], &mut written).expect("memory");
            let written = String::from_utf8(written).expect("text");
            let shown = written.contains(|letter| is_control_sequence(letter) && letter != '\n');
            assert!(!shown && written.ends_with("]\n"), "{written:?}");
            let back: [String; 2] = serde_json::from_str(&written).expect("the same document");
            assert_eq!(back, [text, text]);
        }
    }

    /// Notes the longest piece.
    struct Pieces {
        longest: usize,
        all: usize,
    }

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.longest = self.longest.max(bytes.len());
            self.all += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_document_is_written_in_pieces() {
        let mut pieces = Pieces { longest: 0, all: 0 };
        let name = "\u{80}".repeat(512);
        write_json(&vec![name.as_str(); 200], &mut pieces).expect("memory");
        assert!(pieces.all > 200 * 512 * 6, "{}", pieces.all);
        assert!(pieces.longest <= 1 << 13, "{}", pieces.longest);
    }
}
