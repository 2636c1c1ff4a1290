//! Check results and how they are printed: area, finding, and for problems cause and fix.

use serde::Serialize;

use crate::output;

/// The areas of checks. docs/troubleshooting.md has a section for each.
pub(crate) const AREAS: [&str; 16] = [
    "program",
    "solum",
    "dpcpp",
    "loader",
    "driver",
    "llvm",
    "cache",
    "devices",
    "selector",
    "launch",
    "shell",
    "cpu",
    "permissions",
    "variables",
    "xpti",
    "opencl",
];

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// No problem.
    Ok,
    /// Information; nothing to do.
    Note,
    /// Works, but probably not as intended.
    Warn,
    /// Prevents the program from using a device.
    Fail,
}

/// One check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Check {
    /// The area, one word.
    pub(crate) check: &'static str,
    pub(crate) state: State,
    /// The finding.
    pub(crate) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
}

impl Check {
    fn new(check: &'static str, state: State, found: impl Into<String>) -> Self {
        debug_assert!(AREAS.contains(&check), "{check} is not in AREAS");
        Self {
            check,
            state,
            found: found.into(),
            cause: None,
            fix: None,
        }
    }

    /// No problem.
    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, State::Ok, found)
    }

    /// Information.
    pub(crate) fn note(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, State::Note, found)
    }

    /// A warning, always with cause and fix.
    pub(crate) fn warn(
        check: &'static str,
        found: impl Into<String>,
        cause: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            cause: Some(cause.into()),
            fix: Some(fix.into()),
            ..Self::new(check, State::Warn, found)
        }
    }

    /// A failure, always with cause and fix.
    pub(crate) fn fail(
        check: &'static str,
        found: impl Into<String>,
        cause: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Fail,
            ..Self::warn(check, found, cause, fix)
        }
    }
}

/// The document of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) schema: &'static str,
    /// No check failed; the exit code is 0.
    pub(crate) ok: bool,
    /// The checked program with its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<Vec<String>>,
    pub(crate) checks: Vec<Check>,
}

/// The checks as text. `anstream` removes the colours if stdout is not a terminal.
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
        let found = output::escape_lines(&check.found).replace('\n', &format!("\n{indent}"));
        out += &format!("{colour}{word}\u{1b}[0m  {:width$}  {found}\n", check.check);
        for (what, text) in [("cause", &check.cause), ("fix", &check.fix)] {
            if let Some(text) = text {
                let text = output::escape_lines(text).replace('\n', &format!("\n{indent}       "));
                out += &format!("{indent}{:<7}{text}\n", format!("{what}:"));
            }
        }
    }
    let count = |state| checks.iter().filter(|c| c.state == state).count();
    let (failed, warned) = (count(State::Fail), count(State::Warn));
    out += &match (failed, warned) {
        (0, 0) => "\u{1b}[32mno problems found\u{1b}[0m\n".to_owned(),
        (0, 1) => "\u{1b}[33mit works, with 1 warning\u{1b}[0m\n".to_owned(),
        (0, n) => format!("\u{1b}[33mit works, with {n} warnings\u{1b}[0m\n"),
        (1, _) => "\u{1b}[31m1 problem found: fix it, then run doctor again\u{1b}[0m\n".to_owned(),
        (n, _) => {
            format!("\u{1b}[31m{n} problems found: fix the first, then run doctor again\u{1b}[0m\n")
        }
    };
    if let Some(sections) = sections(checks) {
        out += &format!(
            "more: {sections} of the page Trouble shooting (docs/troubleshooting.md in the sources)\n"
        );
    }
    out
}

/// The sections of docs/troubleshooting.md that are about the problems, in words.
fn sections(checks: &[Check]) -> Option<String> {
    let problems = checks.iter().filter(|check| check.state >= State::Warn);
    let mut areas: Vec<&str> = Vec::new();
    for check in problems {
        if !areas.contains(&check.check) {
            areas.push(check.check);
        }
    }
    match areas[..] {
        [] => None,
        [one] => Some(format!("section {one}")),
        _ => Some(format!("sections {}", areas.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_area_has_its_section() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/troubleshooting.md");
        let page = std::fs::read_to_string(page).expect("the page");
        for area in AREAS {
            let heading = format!("\n## {area}\n");
            assert_eq!(page.matches(&heading).count(), 1, "{area}");
        }
    }

    #[test]
    fn problems_name_their_sections_once() {
        let warn = |area| Check::warn(area, "a", "b", "c");
        let checks = [
            warn("loader"),
            Check::ok("cpu", "a"),
            warn("cache"),
            warn("loader"),
        ];
        let sections = |checks| sections(checks).unwrap_or_default();
        assert_eq!(sections(&checks), "sections loader, cache");
        assert_eq!(sections(&checks[..1]), "section loader");
        assert_eq!(sections(&checks[1..2]), "");
    }
}
