//! What the suite's run says.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use conformance::check_kernels::Found;
use serde::Serialize;

use crate::misses::Misses;
use crate::{Case, Outcome, compile};

/// The kernels of one class.
#[derive(Default, Serialize)]
struct Class {
    found: usize,
    planted: usize,
    false_alarms: usize,
    correct: usize,
}

/// A kernel that is not judged as its marks say.
#[derive(Serialize)]
struct Failure<'r> {
    name: String,
    wrong: &'r [String],
    found: Vec<String>,
    /// Of `misses.txt`.
    reason: Option<&'r str>,
}

/// The report; its fields are those of `--json`.
#[derive(Serialize)]
pub(crate) struct Report<'r> {
    classes: BTreeMap<&'r str, Class>,
    missed: Vec<Failure<'r>>,
    false_alarms: Vec<Failure<'r>>,
    /// Entries of `misses.txt` that are found.
    outdated: Vec<String>,
    /// Kernels without lines, of whose findings only the kinds were compared.
    without_lines: Vec<String>,
}

impl<'r> Report<'r> {
    pub(crate) fn new(results: &'r [(&'r Case, Outcome)], misses: &'r Misses) -> Self {
        let mut report = Self {
            classes: BTreeMap::new(),
            missed: Vec::new(),
            false_alarms: Vec::new(),
            outdated: Vec::new(),
            without_lines: Vec::new(),
        };
        for (case, outcome) in results {
            let class = report.classes.entry(case.class()).or_default();
            if !compile::has_lines(case) {
                report.without_lines.push(case.full_name());
            }
            let is_right = outcome.wrong.is_empty();
            let reason = misses.reason(&case.name).filter(|_| case.is_planted);
            let failure = || Failure {
                name: case.full_name(),
                wrong: &outcome.wrong,
                found: outcome.found.iter().map(shown).collect(),
                reason,
            };
            if case.is_planted {
                class.planted += 1;
                class.found += usize::from(is_right);
                if !is_right {
                    report.missed.push(failure());
                } else if reason.is_some() {
                    report.outdated.push(case.full_name());
                }
            } else {
                class.correct += 1;
                class.false_alarms += usize::from(!is_right);
                if !is_right {
                    report.false_alarms.push(failure());
                }
            }
        }
        report
    }

    /// Whether all is as `misses.txt` says.
    pub(crate) fn is_good(&self) -> bool {
        self.unlisted().next().is_none() && self.false_alarms.is_empty() && self.outdated.is_empty()
    }

    fn unlisted(&self) -> impl Iterator<Item = &Failure<'r>> {
        self.missed.iter().filter(|miss| miss.reason.is_none())
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// For people: the table, then what is wrong.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{:18}{:>14}{:>22}\n", "", "found", "false alarms");
        let mut row = |name: &str, class: &Class| {
            let found = format!("{} of {}", class.found, class.planted);
            let alarms = format!("{} of {}", class.false_alarms, class.correct);
            let line = format!("{name:18}{found:>14}{alarms:>22}");
            text += line.trim_end();
            text.push('\n');
        };
        let mut total = Class::default();
        for (name, class) in &self.classes {
            row(name, class);
            total.found += class.found;
            total.planted += class.planted;
            total.false_alarms += class.false_alarms;
            total.correct += class.correct;
        }
        row("all", &total);
        if !self.without_lines.is_empty() {
            let names = self.without_lines.join(", ");
            let _ = writeln!(
                text,
                "compared without lines, which their compiler does not write: {names}"
            );
        }
        let known = self.missed.iter().filter(|miss| miss.reason.is_some());
        self.list(&mut text, "missed, as misses.txt says", known);
        self.list(&mut text, "MISSED", self.unlisted());
        self.list(&mut text, "FALSE ALARM", self.false_alarms.iter());
        for name in &self.outdated {
            let _ = writeln!(text, "FOUND, but listed in misses.txt: {name}");
        }
        text
    }

    fn list<'f>(
        &self,
        text: &mut String,
        title: &str,
        failures: impl Iterator<Item = &'f Failure<'r>>,
    ) where
        'r: 'f,
    {
        for failure in failures {
            let _ = writeln!(text, "{title}: {}", failure.name);
            for wrong in failure.wrong {
                let _ = writeln!(text, "  {wrong}");
            }
            if !failure.found.is_empty() {
                let _ = writeln!(text, "  what was found: {}", failure.found.join("; "));
            }
            if let Some(reason) = failure.reason {
                let _ = writeln!(text, "  reason: {reason}");
            }
        }
    }
}

/// `race-groups at 7, other side 8`.
fn shown(found: &Found) -> String {
    let lines = |lines: &[usize]| {
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        if lines.is_empty() {
            "no line".to_owned()
        } else {
            lines.join("<")
        }
    };
    let mut text = format!("{} at {}", found.kind, lines(&found.access));
    if !found.other.is_empty() {
        let _ = write!(text, ", other side {}", lines(&found.other));
    }
    text
}
