//! Findings, one a line: what was looked at, what was found, and for what is not well its cause and its cure.

use serde::Serialize;

use crate::say;

/// How a check came out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// Worth knowing, nothing to do.
    Note,
    /// Works, but hardly as meant.
    Warn,
    /// Stands between the program and a device.
    Fail,
}

/// One line of the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Check {
    /// The area, a word.
    pub(crate) check: &'static str,
    pub(crate) state: State,
    /// What was found.
    pub(crate) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
}

impl Check {
    fn new(check: &'static str, state: State, found: impl Into<String>) -> Self {
        Self {
            check,
            state,
            found: found.into(),
            cause: None,
            cure: None,
        }
    }

    /// As it should be.
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, State::Ok, found)
    }

    /// Worth knowing.
    pub(crate) fn note(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, State::Note, found)
    }

    /// Hardly as meant: always with cause and cure.
    pub(crate) fn warn(
        check: &'static str,
        found: impl Into<String>,
        cause: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            cause: Some(cause.into()),
            cure: Some(cure.into()),
            ..Self::new(check, State::Warn, found)
        }
    }

    /// In the way: always with cause and cure.
    pub(crate) fn fail(
        check: &'static str,
        found: impl Into<String>,
        cause: impl Into<String>,
        cure: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Fail,
            ..Self::warn(check, found, cause, cure)
        }
    }
}

/// The document of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) schema: &'static str,
    /// Nothing stands in the way: the exit code is 0.
    pub(crate) ok: bool,
    /// The program whose environment was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<Vec<String>>,
    pub(crate) checks: Vec<Check>,
}

/// The list for people, with colours that `anstream` drops where nobody sees them.
pub(crate) fn text(checks: &[Check]) -> String {
    let mut out = String::new();
    let width = checks.iter().map(|c| c.check.len()).max().unwrap_or(0);
    let indent = " ".repeat(6 + width + 2);
    for check in checks {
        let (colour, word) = match check.state {
            State::Ok => ("\u{1b}[32m", "ok  "),
            State::Note => ("\u{1b}[2m", "note"),
            State::Warn => ("\u{1b}[33m", "warn"),
            State::Fail => ("\u{1b}[31m", "fail"),
        };
        let found = say::lines(&check.found).replace('\n', &format!("\n{indent}"));
        out += &format!("{colour}{word}\u{1b}[0m  {:width$}  {found}\n", check.check);
        for (what, text) in [("cause", &check.cause), ("cure", &check.cure)] {
            if let Some(text) = text {
                let text = say::lines(text).replace('\n', &format!("\n{indent}       "));
                out += &format!("{indent}{:<7}{text}\n", format!("{what}:"));
            }
        }
    }
    let count = |state| checks.iter().filter(|c| c.state == state).count();
    let (failed, warned) = (count(State::Fail), count(State::Warn));
    out += &match (failed, warned) {
        (0, 0) => "\u{1b}[32mall is well\u{1b}[0m\n".to_owned(),
        (0, n) => format!("\u{1b}[33mit works; {n} to look at\u{1b}[0m\n"),
        (n, _) => format!(
            "\u{1b}[31m{n} in the way of a device: cure the first, then look again\u{1b}[0m\n"
        ),
    };
    out
}
