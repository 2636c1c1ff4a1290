//! What a verb says: its answer on stdout, talk on stderr, a refusal as the one or the other.
//!
//! Invariants
//! - An answer that cannot be written ends the verb with 2 and a line that says why; a reader who has seen enough and
//!   closes the pipe is no failure.
//! - Talk that cannot be written is dropped: there is nobody to tell.
//! - A terminal gets no control character but line ends, tabs and our own colours: names come from other users'
//!   processes, files and drivers. Data passes [`shown`] or [`lines`] where it enters a text of an answer; talk passes
//!   [`lines`] here. JSON has such characters escaped.
//! - `--json` prints one document also when there is nothing to answer: `schema`, `error`, and `hint` if there is one.

use std::borrow::Cow;
use std::io::{self, BufWriter, ErrorKind, Write};

use serde::Serialize;

use crate::exit;

/// Why there is no answer.
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
    /// A verb that ends with this code.
    pub(crate) fn new(code: u8, error: impl Into<String>) -> Self {
        Self {
            code,
            error: error.into(),
            hint: None,
        }
    }

    /// Wrong usage, no such file, an installation that is not whole.
    pub(crate) fn cannot(error: impl Into<String>) -> Self {
        Self::new(exit::CANNOT, error)
    }

    /// What to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says it: with a schema as a document, else on stderr. The exit code.
    pub(crate) fn tell(&self, schema: Option<&'static str>) -> u8 {
        let (error, hint) = (self.error.as_str(), self.hint.as_deref());
        let Some(schema) = schema else {
            complain(error, hint);
            return self.code;
        };
        let refusal = Refusal {
            schema,
            error,
            hint,
        };
        // In one line: `top --json` answers in lines.
        match serde_json::to_string(&refusal) {
            Ok(text) => answer(&format!("{}\n", plain_json(&text)), self.code),
            Err(error) => {
                complain(&format!("cannot print JSON: {error}"), None);
                exit::CANNOT
            }
        }
    }
}

/// Whether a terminal acts on it instead of showing it: control characters, ends of lines and paragraphs, and those that
/// turn the direction of text.
fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn escaped(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
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

/// A name as a terminal may get it: what it would act on is written as `\u{1b}`.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, acts)
}

/// As [`shown`], of a text with lines and tabs.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        acts(letter) && !matches!(letter, '\n' | '\t')
    })
}

/// The same document without characters that a terminal acts on; only strings can hold them, besides line ends.
pub(crate) fn plain_json(document: &str) -> Cow<'_, str> {
    let is_replaced = |letter| acts(letter) && letter != '\n';
    if !document.contains(is_replaced) {
        return Cow::Borrowed(document);
    }
    let mut all = String::with_capacity(document.len() + 16);
    for letter in document.chars() {
        match is_replaced(letter) {
            // All of them have four digits.
            true => all += &format!("\\u{:04x}", u32::from(letter)),
            false => all.push(letter),
        }
    }
    Cow::Owned(all)
}

/// Passes a document on as [`plain_json`] has it, piece by piece: no whole document is in memory. No piece ends inside of
/// a character: `serde_json` writes strings and parts of strings.
struct Plain<W>(W);

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            self.0.write_all(plain_json(chunk.valid()).as_bytes())?;
            self.0.write_all(chunk.invalid())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints the answer, without colours where nobody sees them; `code`, or that it cannot be written.
pub(crate) fn answer(text: &str, code: u8) -> u8 {
    let mut out = anstream::stdout().lock();
    written(
        out.write_all(text.as_bytes()).and_then(|()| out.flush()),
        code,
    )
}

/// Prints an answer that is no text for people.
pub(crate) fn bytes(bytes: &[u8], code: u8) -> u8 {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()), code)
}

/// Prints a document.
pub(crate) fn json(document: &impl Serialize, code: u8) -> u8 {
    written(write_json(document, &mut io::stdout().lock()), code)
}

/// Writes a document as [`json`] prints it.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_json(document: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer_pretty(Plain(&mut out), document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// The exit code behind a write of the answer.
pub(crate) fn written(result: io::Result<()>, code: u8) -> u8 {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let error = signal_mask::name_file_size_limit(error);
            complain(&format!("cannot write to stdout: {error}"), None);
            exit::CANNOT
        }
        _ => code,
    }
}

/// A message on stderr, with what to do next when there is something.
pub(crate) fn complain(what: &str, hint: Option<&str>) {
    line(&format!("\u{1b}[31msolum: {}\u{1b}[0m", lines(what)));
    if let Some(hint) = hint {
        remark(&format!("hint: {hint}"));
    }
}

/// A line on stderr.
pub(crate) fn remark(text: &str) {
    line(&lines(text));
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
            assert_eq!(shown(text), as_name, "{text:?}");
            assert_eq!(lines(text), as_lines, "{text:?}");
            let json = serde_json::to_string(text).expect("a string");
            let plain = plain_json(&json);
            assert!(!plain.contains(acts), "{plain:?}");
            let back: String = serde_json::from_str(&plain).expect("the same document");
            assert_eq!(back, text);
            let mut written = Vec::new();
            write_json(&[text, text], &mut written).expect("memory");
            let written = String::from_utf8(written).expect("text");
            let shown = written.contains(|letter| acts(letter) && letter != '\n');
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
