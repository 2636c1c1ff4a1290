//! `misses.txt`: planted kernels that the checker does not judge right yet, each with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::told;

/// The list.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Misses {
    reasons: BTreeMap<String, String>,
}

impl Misses {
    /// Reads the list; `planted` are the names of all planted kernels.
    pub(crate) fn read(path: &Path, planted: &BTreeSet<&str>) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| told(path, &error))?;
        Self::parse(&text, planted).map_err(|error| told(path, &error))
    }

    /// Lines are `CLASS/NAME  REASON`, or begin with `#`.
    fn parse(text: &str, planted: &BTreeSet<&str>) -> Result<Self, String> {
        let mut reasons = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let wrong = |what: &str| Err(format!("line {}: {what}", index + 1));
            let Some((name, reason)) = line.split_once(char::is_whitespace) else {
                return wrong("a line is `CLASS/NAME  REASON`");
            };
            if !planted.contains(name) {
                return wrong(&format!("there is no planted/{name}.cl"));
            }
            if reasons
                .insert(name.to_owned(), reason.trim().to_owned())
                .is_some()
            {
                return wrong(&format!("{name} is there twice"));
            }
        }
        Ok(Self { reasons })
    }

    /// Why the kernel is missed; `None`: it must be found.
    pub(crate) fn reason(&self, name: &str) -> Option<&str> {
        self.reasons.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_name_a_planted_kernel_once_and_say_why() {
        let planted = BTreeSet::from(["memory/a", "values/b"]);
        let parse = |text| Misses::parse(text, &planted);
        let misses = parse("# why\n\nmemory/a   it is hard\n").unwrap();
        assert_eq!(misses.reason("memory/a"), Some("it is hard"));
        assert_eq!(misses.reason("values/b"), None);
        for (text, part) in [
            ("memory/a\n", "line 1: a line is"),
            (
                "memory/a x\nmemory/a y\n",
                "line 2: memory/a is there twice",
            ),
            ("memory/c x\n", "there is no planted/memory/c.cl"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
