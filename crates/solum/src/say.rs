//! What a verb says: its answer on stdout, talk on stderr, a refusal as the one or the other.
//!
//! Invariants
//! - An answer that cannot be written ends the verb with 2 and a line that says why; a reader who has seen enough and
//!   closes the pipe is no failure.
//! - Talk that cannot be written is dropped: there is nobody to tell.
//! - `--json` prints one document also when there is nothing to answer: `schema`, `error`, and `hint` if there is one.

use std::io::{self, ErrorKind, Write};

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
        printed(serde_json::to_string(&refusal), self.code)
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
    printed(serde_json::to_string_pretty(document), code)
}

fn printed(text: serde_json::Result<String>, code: u8) -> u8 {
    match text {
        Ok(text) => answer(&(text + "\n"), code),
        Err(error) => {
            complain(&format!("cannot print JSON: {error}"), None);
            exit::CANNOT
        }
    }
}

/// The exit code behind a write of the answer.
pub(crate) fn written(result: io::Result<()>, code: u8) -> u8 {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            complain(&format!("cannot write to stdout: {error}"), None);
            exit::CANNOT
        }
        _ => code,
    }
}

/// A message on stderr, with what to do next when there is something.
pub(crate) fn complain(what: &str, hint: Option<&str>) {
    remark(&format!("\u{1b}[31msolum: {what}\u{1b}[0m"));
    if let Some(hint) = hint {
        remark(&format!("hint: {hint}"));
    }
}

/// A line on stderr.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}
