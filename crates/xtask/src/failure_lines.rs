//! The lines of a program's output about failures. CI keeps only the end of a long output, so a run repeats them there.

use std::io::{BufRead as _, BufReader, PipeReader, Write as _};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// Lines that are kept of one step.
const MOST: usize = 60;
/// Lines of a failed test's own output that are kept.
const MOST_OF_A_TEST: usize = 12;
/// The wait for the output of processes that outlive their program: it only delays a step that has left some.
const PATIENCE: Duration = Duration::from_secs(5);

/// Finds these lines in the output of rustc, clippy and Rust's tests.
#[derive(Default)]
struct Finder {
    kept: Vec<String>,
    /// Lines that are kept yet of the test or the error that is being printed.
    rest: usize,
}

impl Finder {
    fn read(&mut self, line: &str) {
        let is_test = line.starts_with("---- ") && line.ends_with(" ----");
        if is_test || line.starts_with("error") {
            self.rest = MOST_OF_A_TEST;
        } else if line.is_empty() {
            self.rest = 0;
        }
        let is_failure = line.starts_with("test ") && line.ends_with("FAILED");
        if (is_failure || self.rest > 0) && self.kept.len() < MOST {
            self.kept.push(line.to_owned());
        }
        self.rest = self.rest.saturating_sub(1);
    }
}

/// A copy of a program's output to ours, on a thread of its own.
pub(crate) struct Copy(Receiver<Vec<String>>);

impl Copy {
    /// Copies until the last process that holds the pipe's other end has ended.
    pub(crate) fn begin(reader: PipeReader) -> Self {
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut finder = Finder::default();
            let mut reader = BufReader::new(reader);
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
                // If our output is closed, the lines are lost, as without the copy.
                let mut out = std::io::stdout().lock();
                let _lost = out.write_all(&bytes).and_then(|()| out.flush());
                finder.read(String::from_utf8_lossy(&bytes).trim_end());
                bytes.clear();
            }
            send.send(finder.kept)
        });
        Self(receive)
    }

    /// The lines that say what failed; none if a process that outlives the program keeps the pipe open.
    pub(crate) fn end(self) -> Vec<String> {
        self.0.recv_timeout(PATIENCE).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_in_the_output_of_tests_and_compilers() {
        let output = "\
test a ... ok
test b ... FAILED
failures:

---- b stdout ----

---- c stdout ----
thread 'c' panicked at src/lib.rs:1:2:
left is not right

failures:
    b
error: unused
  --> src/lib.rs:7:1
   |

warning: other";
        let mut finder = Finder::default();
        output.lines().for_each(|line| finder.read(line));
        let expected = [
            "test b ... FAILED",
            "---- b stdout ----",
            "---- c stdout ----",
            "thread 'c' panicked at src/lib.rs:1:2:",
            "left is not right",
            "error: unused",
            "  --> src/lib.rs:7:1",
            "   |",
        ];
        assert_eq!(finder.kept, expected);
    }
}
