//! Steps of a long run: each has a name, a time limit and a line that repeats it; one that fails does not end the run.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::checks::Check;
use crate::program::Program;
use crate::session::Session;

/// After this time a step counts as hanging. The longest takes 900 s on 2 processors from a fresh clone, and CI has
/// 5400 s for all of them.
const LIMIT: Duration = Duration::from_secs(2400);

/// The work of a step.
pub(crate) enum Work {
    /// One program.
    Program(Program),
    /// A check, which `./x check` repeats.
    Check(Check),
}

impl From<Program> for Work {
    fn from(program: Program) -> Self {
        Self::Program(program)
    }
}

impl From<Check> for Work {
    fn from(check: Check) -> Self {
        Self::Check(check)
    }
}

/// The steps of one run, counted.
pub(crate) struct Steps<'s> {
    session: &'s Session,
    limit: Duration,
    passed: usize,
    /// The line of each failed step, and lines of its programs about the failure.
    failed: Vec<(String, Vec<String>)>,
    skipped: Vec<String>,
}

impl<'s> Steps<'s> {
    /// No steps yet, each with the usual limit.
    pub(crate) fn new(session: &'s Session) -> Self {
        Self::with_limit(session, LIMIT)
    }

    /// No steps yet, each with its own `limit`.
    pub(crate) fn with_limit(session: &'s Session, limit: Duration) -> Self {
        Self {
            session,
            limit,
            passed: 0,
            failed: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Runs one step and counts it.
    pub(crate) fn step(&mut self, name: &str, work: impl Into<Work>) {
        let work = work.into();
        let session = self.session;
        session.say(name);
        let began = Instant::now();
        let (result, is_late) = session.limited(self.limit, || match &work {
            Work::Program(program) => session.run(program),
            Work::Check(check) => check.run(session),
        });
        let seconds = began.elapsed().as_secs();
        if session.is_dry {
            return;
        }
        match self.verdict(&result, is_late, &work) {
            None => {
                self.passed += 1;
                session.take_failures();
                session.say(&format!("{}: {name} ({seconds} s)", session.green("ok")));
            }
            Some(reason) => self.add_failure(&format!(" after {seconds} s: {name}{reason}")),
        }
    }

    /// Why a step failed and how to repeat it, or `None` when it passed.
    fn verdict(&self, result: &Result<()>, is_late: bool, work: &Work) -> Option<String> {
        let line = match work {
            Work::Program(program) => program.line(),
            Work::Check(check) => check.line(),
        };
        let again = format!(" (to repeat: {})", self.session.repeatable(&line));
        match result {
            _ if is_late => Some(format!(
                ": it hangs; its processes were ended after {} s{again}",
                self.limit.as_secs()
            )),
            Err(error) if matches!(work, Work::Check(_)) => Some(format!(": {error:#}{again}")),
            Err(_) => Some(again),
            Ok(()) => None,
        }
    }

    /// Counts a step as failed whose work could not begin.
    pub(crate) fn fail(&mut self, name: &str, error: &anyhow::Error) {
        self.add_failure(&format!(": {name}: {error:#}"));
    }

    fn add_failure(&mut self, text: &str) {
        let line = format!("{}{text}", self.session.red("FAILED"));
        self.session.error_line(&line);
        self.failed.push((line, self.session.take_failures()));
    }

    /// Notes that a step cannot run here.
    pub(crate) fn skip(&mut self, name: &str) {
        self.skipped.push(name.to_owned());
    }

    /// Prints the counts; fails if a step failed, or in CI was skipped.
    pub(crate) fn finish(self) -> Result<ExitCode> {
        if self.session.is_dry {
            return Ok(ExitCode::SUCCESS);
        }
        let mut out = std::io::stdout().lock();
        for name in &self.skipped {
            writeln!(out, "SKIPPED: {name}")?;
        }
        for (line, details) in &self.failed {
            writeln!(out, "{line}")?;
            for detail in details {
                writeln!(out, "    {detail}")?;
            }
        }
        writeln!(out, "{}", self.counts())?;
        Ok(ExitCode::from(u8::from(self.failures() > 0)))
    }

    fn failures(&self) -> usize {
        let skipped = if self.session.is_ci {
            self.skipped.len()
        } else {
            0
        };
        self.failed.len() + skipped
    }

    fn counts(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failures());
        if !self.skipped.is_empty() {
            text += &format!(", {} skipped", self.skipped.len());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn failures_say_how_to_repeat_the_step() {
        let session = Session::for_test();
        let steps = Steps::with_limit(&session, Duration::from_secs(7));
        let program: Work = Program::new("p").arg("a b").into();
        let check: Work = Check::Loom.into();
        let failed = || Err(anyhow!("the models failed"));
        for (result, is_late, work, expected) in [
            (Ok(()), false, &program, None),
            (failed(), false, &program, Some(" (to repeat: p 'a b')")),
            (
                failed(),
                false,
                &check,
                Some(": the models failed (to repeat: ./x check loom)"),
            ),
            (
                failed(),
                true,
                &check,
                Some(": it hangs; its processes were ended after 7 s (to repeat: ./x check loom)"),
            ),
        ] {
            let text = steps.verdict(&result, is_late, work);
            assert_eq!(text.as_deref(), expected);
        }
    }

    #[test]
    fn skipped_steps_fail_in_ci_only() {
        let mut session = Session::for_test();
        for (is_ci, failures, text) in [
            (false, 1, "2 passed, 1 failed, 1 skipped"),
            (true, 2, "2 passed, 2 failed, 1 skipped"),
        ] {
            session.is_ci = is_ci;
            let mut steps = Steps::new(&session);
            (steps.passed, steps.failed) = (2, vec![(String::new(), Vec::new())]);
            steps.skip("wheels");
            assert_eq!(
                (steps.failures(), steps.counts().as_str()),
                (failures, text)
            );
        }
    }
}
