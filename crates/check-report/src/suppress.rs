//! Suppressions: findings that the user knows and accepts, one rule a line.
//!
//! ```text
//! # KIND [kernel=GLOB] [file=GLOB] [line=N] [function=GLOB]  # comment
//! race-groups kernel=bfs_* file=graph.cl        # the flags are benign
//! memory function="vendor::*"                   # a group
//! * file=*/third_party/*                        # any kind
//! ```
//!
//! A rule suppresses a finding if its kind or group, and all that it names, agree. `file`, `line` and `function` must
//! agree with one place of either side, also of a caller. A pattern of a file without `/` is compared with the file's
//! name alone.

use std::fmt;

use crate::escape::escape;
use crate::options::{nearest, suggestion};
use crate::{Finding, Frame, Group, Kind, glob};

/// The most errors that are told of one file.
const MOST_ERRORS: usize = 20;
const KEYS: [&str; 4] = ["kernel", "file", "line", "function"];

/// What a rule's first word names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    Any,
    Group(Group),
    Kind(Kind),
}

/// A line of a file of suppressions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    which: Which,
    kernel: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    function: Option<String>,
    /// The file that it is in.
    pub source: String,
    /// Its line there, from 1.
    pub source_line: usize,
    /// Its text, without the comment.
    pub text: String,
    /// Its comment: why it is there.
    pub comment: Option<String>,
}

/// A line that is no rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// The file.
    pub source: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub what: String,
}

impl std::error::Error for RuleError {}

impl fmt::Display for RuleError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", escape(&self.source), self.line, self.what)
    }
}

/// Rules, and how often each was used.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
    used: Vec<u64>,
}

impl Suppressions {
    /// Adds the rules of a file. `source` is its name, for messages.
    ///
    /// # Errors
    /// The lines that are no rules, at most 20 of them; then nothing is added.
    pub fn add(&mut self, source: &str, text: &str) -> Result<(), Vec<RuleError>> {
        let mut rules = Vec::new();
        let mut errors = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (line, text) in (1..).zip(text.lines()) {
            match rule(text) {
                Ok(Some(rule)) => rules.push(Rule {
                    source: source.to_owned(),
                    source_line: line,
                    ..rule
                }),
                Ok(None) => {}
                Err(what) => errors.push(RuleError {
                    source: source.to_owned(),
                    line,
                    what,
                }),
            }
        }
        if !errors.is_empty() {
            errors.truncate(MOST_ERRORS);
            return Err(errors);
        }
        self.used.resize(self.rules.len() + rules.len(), 0);
        self.rules.extend(rules);
        Ok(())
    }

    /// Splits findings into those that stay, and those that are suppressed, each with the first rule that agrees.
    pub fn split(&mut self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<(Finding, Rule)>) {
        let mut stay = Vec::new();
        let mut suppressed = Vec::new();
        for finding in findings {
            match self.rules.iter().position(|rule| rule.agrees(&finding)) {
                Some(place) => {
                    self.used[place] += 1;
                    suppressed.push((finding, self.rules[place].clone()));
                }
                None => stay.push(finding),
            }
        }
        (stay, suppressed)
    }

    /// The rules that have suppressed nothing.
    pub fn unused(&self) -> impl Iterator<Item = &Rule> {
        let rules = self.rules.iter().zip(&self.used);
        rules.filter(|(_, used)| **used == 0).map(|(rule, _)| rule)
    }
}

impl Rule {
    /// Whether it suppresses the finding.
    #[must_use]
    pub fn agrees(&self, finding: &Finding) -> bool {
        let is_kind = match self.which {
            Which::Any => true,
            Which::Group(group) => finding.kind.group() == group,
            Which::Kind(kind) => finding.kind == kind,
        };
        let mut kernels = finding
            .kernel
            .iter()
            .chain(finding.sides().filter_map(|side| side.kernel.as_ref()));
        let is_kernel = self
            .kernel
            .as_ref()
            .is_none_or(|pattern| kernels.any(|kernel| glob::matches(pattern, kernel)));
        let names_place = self.file.is_some() || self.line.is_some() || self.function.is_some();
        let mut frames = finding.sides().flat_map(|side| &side.frames).chain(
            finding
                .allocation
                .iter()
                .flat_map(|allocation| &allocation.allocated),
        );
        is_kind && is_kernel && (!names_place || frames.any(|frame| self.is_at(frame)))
    }

    fn is_at(&self, frame: &Frame) -> bool {
        let is_file = self.file.as_ref().is_none_or(|pattern| {
            let name = frame.file.rsplit('/').next().unwrap_or_default();
            match pattern.contains('/') {
                true => glob::matches(pattern, &frame.file),
                false => glob::matches(pattern, name),
            }
        });
        let is_function = self
            .function
            .as_ref()
            .is_none_or(|pattern| glob::matches(pattern, &frame.function));
        is_file && is_function && self.line.is_none_or(|line| line == frame.line)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, text) = (escape(&self.source), escape(&self.text));
        write!(out, "{source}:{}: {text}", self.source_line)
    }
}

/// Splits a line into words and a comment. Quotes keep spaces and `#` together.
fn words(line: &str) -> Result<(Vec<String>, Option<&str>), String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for (at, letter) in line.char_indices() {
        match letter {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            '#' if word.is_none() => return Ok((words, Some(line[at + 1..].trim()))),
            _ if letter.is_whitespace() && !is_quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if is_quoted {
        return Err("a quote \" without an end".into());
    }
    words.extend(word);
    Ok((words, None))
}

/// The rule of a line; `None` if there is none in it.
fn rule(line: &str) -> Result<Option<Rule>, String> {
    let (words, comment) = words(line)?;
    let Some((first, rest)) = words.split_first() else {
        return Ok(None);
    };
    let text = match comment {
        // The comment begins at the first `#` that is a word's beginning; it is the line's end.
        Some(comment) => line
            .trim_end()
            .strip_suffix(comment)
            .unwrap_or(line)
            .trim_end(),
        None => line.trim_end(),
    };
    let mut rule = Rule {
        which: which(first)?,
        kernel: None,
        file: None,
        line: None,
        function: None,
        source: String::new(),
        source_line: 0,
        text: text
            .strip_suffix('#')
            .filter(|_| comment.is_some())
            .unwrap_or(text)
            .trim()
            .to_owned(),
        comment: comment
            .filter(|comment| !comment.is_empty())
            .map(str::to_owned),
    };
    for word in rest {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let is_known = KEYS.contains(&key);
        let is_again = match key {
            "kernel" => rule.kernel.replace(value.to_owned()).is_some(),
            "file" => rule.file.replace(value.to_owned()).is_some(),
            "function" => rule.function.replace(value.to_owned()).is_some(),
            "line" => {
                let line = value.parse().ok().filter(|line| *line > 0);
                let line =
                    line.ok_or_else(|| format!("{}: line takes a number from 1", escape(word)))?;
                rule.line.replace(line).is_some()
            }
            _ => false,
        };
        if !is_known {
            let near = nearest(key, KEYS.into_iter());
            let rest = suggestion(near, "kernel=GLOB, file=GLOB, line=N and function=GLOB");
            return Err(format!("{} is no condition{rest}", escape(word)));
        }
        if is_again {
            return Err(format!("{key} is given twice"));
        }
        if value.is_empty() {
            return Err(format!("{key} has no value: {key}=GLOB"));
        }
    }
    Ok(Some(rule))
}

fn which(word: &str) -> Result<Which, String> {
    if word == "*" {
        return Ok(Which::Any);
    }
    if let Some(group) = Group::ALL.into_iter().find(|group| group.name() == word) {
        return Ok(Which::Group(group));
    }
    if let Some(kind) = Kind::from_name(word) {
        return Ok(Which::Kind(kind));
    }
    let known = || {
        let groups = Group::ALL.into_iter().map(Group::name);
        groups.chain(Kind::ALL.into_iter().map(Kind::name))
    };
    let all = format!("*, {}", known().collect::<Vec<_>>().join(", "));
    let rest = suggestion(nearest(word, known()), &all);
    Err(format!(
        "no kind of finding is called {}{rest}",
        escape(word)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::tests::{bounds, race};

    fn suppressions(text: &str) -> Suppressions {
        let mut all = Suppressions::default();
        all.add("known.txt", text).unwrap();
        all
    }

    #[test]
    fn rules_agree_with_what_they_name() {
        let of_other = || {
            let mut finding = race();
            finding.other.as_mut().unwrap().kernel = Some("second kernel".into());
            finding
        };
        for (rule, finding, expected) in [
            ("race-work-items", race(), true),
            ("race-groups", race(), false),
            ("race", race(), true),
            ("memory", race(), false),
            ("*", race(), true),
            ("* kernel=reduce", race(), true),
            ("* kernel=red*", race(), true),
            ("* kernel=red", race(), false),
            ("* kernel=\"second kernel\"", of_other(), true),
            ("* kernel=second?kernel", of_other(), true),
            ("* file=reduce.cl", race(), true),
            ("* file=*.cl line=14", race(), true),
            ("* file=/src/*", race(), true),
            ("* file=src/reduce.cl", race(), false),
            ("* file=*/reduce.cl function=add line=4", race(), true),
            ("* function=add line=12", race(), false),
            ("* line=12", race(), true),
            ("* line=13", race(), false),
            (
                "out-of-bounds kernel=scale file=scale.cl line=3 function=scale",
                bounds(),
                true,
            ),
            ("out-of-bounds file=main.c", bounds(), true),
            ("leak file=*", Finding::new(Kind::Leak, "m"), false),
            ("leak kernel=*", Finding::new(Kind::Leak, "m"), false),
            ("leak", Finding::new(Kind::Leak, "m"), true),
        ] {
            let mut all = suppressions(rule);
            let (stay, suppressed) = all.split(vec![finding]);
            assert_eq!(
                (stay.len(), suppressed.len()),
                if expected { (0, 1) } else { (1, 0) },
                "{rule}"
            );
            assert_eq!(all.unused().count(), usize::from(!expected), "{rule}");
        }
    }

    #[test]
    fn lines_have_comments_and_unused_rules_are_known() {
        let text = "\u{feff}# all of them\n\n  race-work-items kernel=reduce  # benign: #12\nleak\t#\nmemory file=\"a #1.cl\"\r\n";
        let mut all = suppressions(text);
        let (stay, suppressed) = all.split(vec![race(), bounds()]);
        assert_eq!(stay, [bounds()]);
        let [(finding, rule)] = suppressed.as_slice() else {
            panic!("{suppressed:?}")
        };
        assert_eq!(*finding, race());
        assert_eq!(
            (rule.source_line, rule.text.as_str()),
            (3, "race-work-items kernel=reduce")
        );
        assert_eq!(rule.comment.as_deref(), Some("benign: #12"));
        let unused: Vec<String> = all.unused().map(ToString::to_string).collect();
        assert_eq!(
            unused,
            ["known.txt:4: leak", "known.txt:5: memory file=\"a #1.cl\""]
        );
    }

    #[test]
    fn errors_name_the_line_and_what_is_allowed() {
        for (text, line, what) in [
            ("race-workitems", 1, "did you mean race-work-items?"),
            ("\n# x\nnonsense", 3, "; known are *, memory, race, "),
            ("leak\nleak kernal=x", 2, "did you mean kernel?"),
            ("leak bla", 1, "bla is no condition; known are kernel=GLOB"),
            ("leak line=x", 1, "line takes a number from 1"),
            ("leak line=0", 1, "line takes a number from 1"),
            ("leak line", 1, "line takes a number from 1"),
            ("leak kernel=", 1, "kernel has no value"),
            ("leak file", 1, "file has no value"),
            ("leak kernel=a kernel=b", 1, "kernel is given twice"),
            ("leak kernel=\"a", 1, "a quote"),
            ("\u{1b}[5m", 1, "\\u{1b}[5m"),
        ] {
            let mut all = Suppressions::default();
            let errors = all.add("f\u{7}", text).unwrap_err();
            let [error] = errors.as_slice() else {
                panic!("{errors:?}")
            };
            let said = error.to_string();
            assert!(said.starts_with(&format!("f\\u{{7}}:{line}: ")), "{said}");
            assert!(said.contains(what), "{said}");
            assert!(!said.contains(char::is_control), "{said}");
            assert_eq!(all.unused().count(), 0);
        }
        let mut all = Suppressions::default();
        let errors = all.add("f", &"x\n".repeat(1000)).unwrap_err();
        assert_eq!(errors.len(), MOST_ERRORS);
    }
}
