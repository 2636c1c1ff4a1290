//! The report of a checked program: as text, JSON and SARIF.

use std::path::Path;

use check_report::stream::Dropped;
use check_report::suppress::{Rule, Suppressions};
use check_report::text::{Sources, Style};
use check_report::{Checks, Finding, merge, sarif};
use serde::Serialize;

use super::program_lines::ProgramLines;
use super::streams::Told;
use crate::exit;
use crate::output::{self, Failure};

pub(super) const SCHEMA: &str = "solum.check/1";

/// What was found in all processes.
pub(super) struct Report {
    checks: Checks,
    /// The program's exit code.
    code: u8,
    processes: Vec<Told>,
    findings: Vec<Finding>,
    suppressed: Vec<(Finding, Rule)>,
    /// Rules that suppressed nothing.
    unused: Vec<Rule>,
    not_checked: Vec<Dropped>,
}

/// A process, as `--json` prints it.
#[derive(Serialize)]
struct Process<'r> {
    pid: u64,
    program: Option<&'r str>,
    version: Option<&'r str>,
    /// Whether it told all: it was not killed, and did not crash.
    complete: bool,
    damaged_lines: u64,
}

#[derive(Serialize)]
struct Suppressed<'r> {
    rule: String,
    reason: Option<&'r str>,
    #[serde(flatten)]
    finding: &'r Finding,
}

/// The document of `--json`.
#[derive(Serialize)]
struct Document<'r> {
    schema: &'static str,
    checks: String,
    program_exit_code: u8,
    findings: &'r [Finding],
    suppressed: Vec<Suppressed<'r>>,
    unused_suppressions: Vec<String>,
    not_checked: &'r [Dropped],
    processes: Vec<Process<'r>>,
}

impl Report {
    pub(super) fn new(
        mut processes: Vec<Told>,
        suppressions: &mut Suppressions,
        checks: Checks,
        code: u8,
    ) -> Self {
        let mut lines = ProgramLines::default();
        for told in &mut processes {
            told.stream.findings.retain(|(_, finding)| {
                let stack = finding.owner_stack().filter(|stack| !stack.is_empty());
                checks.is_strict() || stack.is_none_or(|stack| lines.is_known_to_be_programs(stack))
            });
            for (_, finding) in &mut told.stream.findings {
                finding.find_sources(&mut |stack| lines.frames(stack));
            }
        }
        let all = merge::streams(processes.iter().map(|told| &told.stream));
        let (findings, suppressed) = suppressions.split(all);
        let mut not_checked: Vec<Dropped> = Vec::new();
        for dropped in processes.iter().flat_map(|told| &told.stream.dropped) {
            match not_checked
                .iter_mut()
                .find(|other| other.what == dropped.what)
            {
                Some(other) => other.count = other.count.saturating_add(dropped.count),
                None => not_checked.push(dropped.clone()),
            }
        }
        Self {
            checks,
            code,
            processes,
            findings,
            suppressed,
            unused: suppressions.unused().cloned().collect(),
            not_checked,
        }
    }

    /// Whether a process told everything, or executed another program that goes on.
    fn is_complete(&self, told: &Told) -> bool {
        let mut others = self.processes.iter();
        let went_on =
            others.any(|other| other.process == told.process && other.number > told.number);
        told.stream.is_complete || went_on
    }

    /// What limits the findings, one sentence each.
    fn remarks(&self) -> Vec<String> {
        let mut all = Vec::new();
        for told in &self.processes {
            let program = told
                .stream
                .start
                .as_ref()
                .map_or("", |start| &start.program);
            let process = match program {
                "" => format!("process {}", told.process),
                program => format!("process {} ({program})", told.process),
            };
            if !self.is_complete(told) {
                all.push(format!(
                    "{process} was killed, crashed or still runs: only what it had found until then is told"
                ));
            }
            match told.stream.damaged {
                0 => {}
                1 => all.push(format!(
                    "{process}: 1 damaged line of its findings is left out"
                )),
                lines => all.push(format!(
                    "{process}: {lines} damaged lines of its findings are left out"
                )),
            }
        }
        for Dropped { what, count } in &self.not_checked {
            let times = if *count == 1 { "time" } else { "times" };
            all.push(format!("not checked: {what}, {count} {times}"));
        }
        for rule in &self.unused {
            all.push(format!("a suppression was not used: {rule}"));
        }
        all
    }

    /// Why nothing was checked.
    fn nothing(&self) -> Failure {
        let text = format!(
            "the program exited with {} and never opened Solum's driver: no kernel was checked",
            self.code
        );
        Failure::new(self.code, text).hint(
            "it may have used another runtime or device: SYCL_UR_TRACE=1 shows its choice, solum doctor -- PROGRAM what it \
             finds; programs with their own copy of the loader or with setuid do not see Solum",
        )
    }

    /// The exit code.
    fn code(&self) -> u8 {
        match self.findings.is_empty() {
            true => self.code,
            false => exit::FINDINGS,
        }
    }

    /// Prints it: JSON on stdout, or text on stderr. Returns the exit code.
    pub(super) fn show(&self, is_json: bool) -> u8 {
        if self.processes.is_empty() {
            let printed = self.nothing().print(is_json.then_some(SCHEMA));
            return exit::or_wrapper(self.code, printed == self.code);
        }
        if is_json {
            let is_printed = output::json(&self.document(), 0) == 0;
            return exit::or_wrapper(self.code(), is_printed);
        }
        let mut sources = Sources::default();
        let mut source = |file: &str, line| sources.line(file, line);
        let style = Style::coloured();
        for finding in &self.findings {
            output::painted(&format!("\n{}", style.finding(finding, &mut source)));
        }
        let remarks = self.remarks();
        if !(remarks.is_empty() && self.findings.is_empty()) {
            output::message("");
        }
        for remark in remarks {
            output::message(&format!("note: {remark}"));
        }
        let summary = style.summary(&self.findings, self.suppressed.len());
        output::painted(&format!("{summary}\n"));
        self.code()
    }

    fn process<'r>(&self, told: &'r Told) -> Process<'r> {
        let start = told.stream.start.as_ref();
        Process {
            pid: told.process,
            program: start.map(|start| start.program.as_str()),
            version: start.map(|start| start.version.as_str()),
            complete: self.is_complete(told),
            damaged_lines: told.stream.damaged,
        }
    }

    fn document(&self) -> Document<'_> {
        let suppressed = self.suppressed.iter().map(|(finding, rule)| Suppressed {
            rule: rule.to_string(),
            reason: rule.comment.as_deref(),
            finding,
        });
        Document {
            schema: SCHEMA,
            checks: self.checks.to_string(),
            program_exit_code: self.code,
            findings: &self.findings,
            suppressed: suppressed.collect(),
            unused_suppressions: self.unused.iter().map(ToString::to_string).collect(),
            not_checked: &self.not_checked,
            processes: self
                .processes
                .iter()
                .map(|told| self.process(told))
                .collect(),
        }
    }

    /// The document of `--sarif`.
    pub(super) fn sarif(&self, program: &Path) -> String {
        let root = std::env::current_dir().unwrap_or_default();
        let mut remarks = self.remarks();
        if self.processes.is_empty() {
            remarks.push(self.nothing().error);
        }
        let log = sarif::log(&sarif::Log {
            version: env!("CARGO_PKG_VERSION"),
            root: &root,
            program,
            findings: &self.findings,
            suppressed: &self.suppressed,
            exit_code: self.code,
            remarks: &remarks,
        });
        format!("{log:#}\n")
    }
}
