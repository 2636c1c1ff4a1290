//! A program with its arguments and environment, as data: it can be run, and printed as a line for a shell.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    name: OsString,
    arguments: Vec<OsString>,
    /// Variables in the order of setting; `None` removes one.
    environment: Vec<(OsString, Option<OsString>)>,
}

impl Program {
    /// The program `name`, searched in `PATH` unless it is a path.
    pub(crate) fn new(name: impl AsRef<OsStr>) -> Self {
        Self {
            name: name.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// `cargo` with arguments that have no spaces in them.
    pub(crate) fn cargo(line: &str) -> Self {
        Self::new("cargo").words(line)
    }

    /// Adds one argument.
    #[must_use]
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        let arguments = arguments.into_iter().map(|a| a.as_ref().to_owned());
        self.arguments.extend(arguments);
        self
    }

    /// Adds the words of `line`, which are separated by spaces.
    #[must_use]
    pub(crate) fn words(self, line: &str) -> Self {
        self.args(line.split_whitespace())
    }

    /// Adds an option and its value, if there is a value.
    #[must_use]
    pub(crate) fn option(self, name: &str, value: Option<impl AsRef<OsStr>>) -> Self {
        match value {
            Some(value) => self.arg(name).arg(value),
            None => self,
        }
    }

    /// Adds an option without value if it is set.
    #[must_use]
    pub(crate) fn flag(self, name: &str, is_set: bool) -> Self {
        if is_set { self.arg(name) } else { self }
    }

    /// Sets a variable.
    #[must_use]
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = Some(value.as_ref().to_owned());
        self.environment.push((name.into(), value));
        self
    }

    /// Removes variables.
    #[must_use]
    pub(crate) fn without(mut self, names: &[&str]) -> Self {
        let names = names.iter().map(|name| (name.into(), None));
        self.environment.extend(names);
        self
    }

    /// For the standard library: in `folder`, with the variables of `base` before its own.
    pub(crate) fn command(&self, folder: &Path, base: &[(OsString, Option<OsString>)]) -> Command {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments).current_dir(folder);
        for (name, value) in base.iter().chain(&self.environment) {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// The line that runs it in a shell.
    pub(crate) fn line(&self) -> String {
        let mut words = Vec::new();
        let removed = self.environment.iter().filter(|(_, value)| value.is_none());
        for (name, _) in removed {
            words.push(format!("-u {}", quote(name)));
        }
        if !words.is_empty() {
            words.insert(0, "env".to_owned());
        }
        for (name, value) in &self.environment {
            if let Some(value) = value {
                words.push(format!("{}={}", name.to_string_lossy(), quote(value)));
            }
        }
        words.push(quote(&self.name));
        words.extend(self.arguments.iter().map(|argument| quote(argument)));
        words.join(" ")
    }
}

/// `word` as a shell reads it: in quotes where it has a character that means something to a shell.
pub(crate) fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_pasted_into_a_shell() {
        let cases = [
            (
                Program::cargo("test -p a").args(["--", "x"]),
                "cargo test -p a -- x",
            ),
            (
                Program::new("p").arg("two words").arg(""),
                "p 'two words' ''",
            ),
            (
                Program::new("p").arg("it's").arg("$HOME"),
                r"p 'it'\''s' '$HOME'",
            ),
            (
                Program::new("p").env("A", "1 2").without(&["B"]).arg("x"),
                "env -u B A='1 2' p x",
            ),
            (
                Program::new("p")
                    .option("--files", Some("a,b"))
                    .option("--jobs", None::<&str>)
                    .flag("--record", true)
                    .flag("--verbose", false),
                "p --files a,b --record",
            ),
        ];
        for (program, expected) in cases {
            assert_eq!(program.line(), expected);
        }
    }

    #[test]
    fn a_shell_reads_the_line_as_it_was_meant() {
        let words = ["a b", "it's", "$HOME", "*", "", "\"q\"", "back\\slash", "é"];
        let line = Program::new("printf").arg("%s\\n").args(words).line();
        let output = Command::new("sh").arg("-c").arg(&line).output().unwrap();
        let expected = words.join("\n") + "\n";
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}
