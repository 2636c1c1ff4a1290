//! What is checked: the text of `SOLUM_CHECK`, and of `--only`.
//!
//! ```
//! use check_report::{Checks, Kind};
//!
//! let checks = Checks::parse("memory,race-host,allow=same-value")?;
//! assert!(checks.has(Kind::OutOfBounds) && checks.has(Kind::RaceHost) && !checks.has(Kind::RaceGroups));
//! assert_eq!(checks.to_string(), "memory,race-host");
//! let error = Checks::parse("memry").unwrap_err();
//! assert_eq!(error.nearest, Some("memory"));
//! # Ok::<(), check_report::options::UnknownWord>(())
//! ```

use std::fmt;

use crate::{Group, Kind};

/// The words beside groups and kinds.
const OTHERS: [&str; 3] = ["all", "strict", ALLOW_SAME_VALUE];
const ALLOW_SAME_VALUE: &str = "allow=same-value";
/// The largest edit distance at which a word counts as a misspelling of another.
const TYPO: usize = 3;

/// Which kinds of mistakes are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Checks {
    /// A bit for each kind.
    kinds: u32,
    strict: bool,
}

const _: () = assert!(Kind::ALL.len() <= 32, "a bit for each kind");

fn bit(kind: Kind) -> u32 {
    1 << kind as u32
}

/// A word that is no check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownWord {
    /// The word.
    pub word: String,
    /// The known word that may be meant.
    pub nearest: Option<&'static str>,
}

impl std::error::Error for UnknownWord {}

impl fmt::Display for UnknownWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word.as_str() {
            "" => out.write_str("an empty word among the checks")?,
            word => write!(out, "no check is called {}", crate::escape::escape(word))?,
        }
        out.write_str(&suggestion(
            self.nearest,
            &known().collect::<Vec<_>>().join(", "),
        ))
    }
}

/// All words that [`Checks::parse`] knows.
pub fn known() -> impl Iterator<Item = &'static str> {
    let groups = Group::ALL.into_iter().map(Group::name);
    let kinds = Kind::ALL.into_iter().map(Kind::name);
    OTHERS.into_iter().chain(groups).chain(kinds)
}

/// The known word that `word` may be a misspelling of.
pub(crate) fn nearest(
    word: &str,
    known: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    // Names of kinds are short: longer words are no misspellings, and cost time.
    let word = Some(word).filter(|word| !word.is_empty() && word.len() <= 64)?;
    let distances = known.map(|known| (strsim::damerau_levenshtein(word, known), known));
    let (distance, known) = distances.min()?;
    (distance <= TYPO.min(known.len() / 2)).then_some(known)
}

/// The rest of an error about an unknown word.
pub(crate) fn suggestion(nearest: Option<&str>, known: &str) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean {nearest}? Known are {known}"),
        None => format!("; known are {known}"),
    }
}

impl Default for Checks {
    fn default() -> Self {
        Self::all()
    }
}

impl Checks {
    /// All kinds that are found without `strict`.
    #[must_use]
    pub fn all() -> Self {
        let kinds = Kind::ALL.into_iter().filter(|kind| !kind.is_strict());
        Self {
            kinds: kinds.fold(0, |all, kind| all | bit(kind)),
            strict: false,
        }
    }

    /// Reads groups, kinds and the words `all`, `strict` and `allow=same-value`, separated by commas. Without a group or
    /// kind all are meant.
    ///
    /// # Errors
    /// The first word that is not known.
    pub fn parse(text: &str) -> Result<Self, UnknownWord> {
        let mut checks = Self {
            kinds: 0,
            strict: false,
        };
        let mut allows_same_value = false;
        let mut is_all = true;
        for word in text.split(',').map(str::trim) {
            let group = Group::ALL.into_iter().find(|group| group.name() == word);
            match (word, group, Kind::from_name(word)) {
                ("strict", ..) => checks.strict = true,
                (ALLOW_SAME_VALUE, ..) => allows_same_value = true,
                ("all", ..) => {
                    checks.kinds |= Self::all().kinds;
                    is_all = false;
                }
                (_, Some(group), _) => {
                    let kinds = group.kinds().filter(|kind| !kind.is_strict());
                    checks.kinds = kinds.fold(checks.kinds, |all, kind| all | bit(kind));
                    is_all = false;
                }
                (.., Some(kind)) => {
                    checks.kinds |= bit(kind);
                    is_all = false;
                }
                _ => {
                    return Err(UnknownWord {
                        word: word.to_owned(),
                        nearest: nearest(word, known()),
                    });
                }
            }
        }
        if is_all {
            checks.kinds = Self::all().kinds;
        }
        Ok(match (checks.strict, allows_same_value) {
            (true, true) => checks.strict().without(Kind::SameValueWrite),
            (true, false) => checks.strict(),
            (false, true) => checks.without(Kind::SameValueWrite),
            (false, false) => checks,
        })
    }

    /// Reads the value of `SOLUM_CHECK`: as [`Checks::parse`], `1` for all; `None` for `0` or an empty value.
    ///
    /// # Errors
    /// The first word that is not known.
    pub fn from_variable(value: &str) -> Result<Option<Self>, UnknownWord> {
        match value.trim() {
            "" | "0" => Ok(None),
            "1" => Ok(Some(Self::all())),
            text => Self::parse(text).map(Some),
        }
    }

    /// Adds what is only suspicious: kinds that [`Kind::is_strict`], in the groups that are looked for.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.strict = true;
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_strict()) {
            if kind.group().kinds().any(|other| self.has(other)) {
                self.kinds |= bit(kind);
            }
        }
        self
    }

    /// Drops a kind.
    #[must_use]
    pub fn without(mut self, kind: Kind) -> Self {
        self.kinds &= !bit(kind);
        self
    }

    /// Whether a kind is looked for.
    #[must_use]
    pub fn has(self, kind: Kind) -> bool {
        self.kinds & bit(kind) != 0
    }

    /// Whether at least one kind of a group is looked for.
    #[must_use]
    pub fn has_any(self, group: Group) -> bool {
        group.kinds().any(|kind| self.has(kind))
    }

    /// Whether reliance on what only some devices do counts as a mistake too.
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.strict
    }
}

/// The shortest text that [`Checks::parse`] reads as the same checks.
impl fmt::Display for Checks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        // Kinds that `strict` adds to their groups need no words of their own.
        let implied = |kind: Kind| {
            let mut others = kind.group().kinds().filter(|other| *other != kind);
            self.strict && others.any(|other| self.has(other))
        };
        let all = Self::all();
        if Kind::ALL
            .into_iter()
            .all(|kind| self.has(kind) || !all.has(kind))
        {
            words.push("all");
        } else if self.without(Kind::SameValueWrite).kinds & all.kinds
            == all.without(Kind::SameValueWrite).kinds
        {
            words.extend(["all", ALLOW_SAME_VALUE]);
        } else {
            for group in Group::ALL {
                if group.kinds().all(|kind| self.has(kind) || kind.is_strict()) {
                    words.push(group.name());
                } else {
                    let own = group.kinds().filter(|kind| !kind.is_strict());
                    words.extend(own.filter(|kind| self.has(*kind)).map(Kind::name));
                }
            }
        }
        let strict = Kind::ALL.into_iter().filter(|kind| kind.is_strict());
        words.extend(
            strict
                .filter(|kind| self.has(*kind) && !implied(*kind))
                .map(Kind::name),
        );
        if self.strict {
            words.push("strict");
        }
        if words.is_empty() || words == ["strict"] {
            // Nothing is left: a list that drops its only kind.
            words.splice(0..0, ["same-value-write", ALLOW_SAME_VALUE]);
        }
        out.write_str(&words.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_printed() {
        for (text, printed, has, has_not) in [
            ("all", "all", Kind::Leak, Some(Kind::LockStep)),
            ("strict", "all,strict", Kind::LockStep, None),
            ("memory", "memory", Kind::Misaligned, Some(Kind::Leak)),
            (
                " race , leak",
                "race,leak",
                Kind::RaceHost,
                Some(Kind::LockStep),
            ),
            (
                "lifetime,leak,leak",
                "lifetime",
                Kind::InvalidLifetime,
                Some(Kind::RaceHost),
            ),
            (
                "lock-step",
                "lock-step",
                Kind::LockStep,
                Some(Kind::BarrierDivergence),
            ),
            ("all,lock-step", "all,lock-step", Kind::LockStep, None),
            (
                "sync",
                "sync",
                Kind::BarrierDivergence,
                Some(Kind::LockStep),
            ),
            (
                "sync,strict",
                "sync,strict",
                Kind::LockStep,
                Some(Kind::Leak),
            ),
            (
                "strict,memory",
                "memory,strict",
                Kind::OutOfBounds,
                Some(Kind::LockStep),
            ),
            (
                "allow=same-value",
                "all,allow=same-value",
                Kind::RaceHost,
                Some(Kind::SameValueWrite),
            ),
            (
                "allow=same-value,strict",
                "all,allow=same-value,strict",
                Kind::LockStep,
                Some(Kind::SameValueWrite),
            ),
            (
                "race,allow=same-value",
                "race-work-items,race-groups,race-commands,race-host,atomic-scope,mixed-atomic",
                Kind::MixedAtomic,
                Some(Kind::SameValueWrite),
            ),
        ] {
            let checks = Checks::parse(text).unwrap();
            assert_eq!(checks.to_string(), printed, "{text}");
            assert_eq!(Checks::parse(printed).unwrap(), checks, "{text}");
            assert!(checks.has(has), "{text}");
            assert!(has_not.is_none_or(|kind| !checks.has(kind)), "{text}");
        }
    }

    #[test]
    fn every_set_survives_its_text() {
        for kind in Kind::ALL {
            for strict in ["", ",strict"] {
                for allow in ["", ",allow=same-value"] {
                    for other in ["", ",memory", ",all", ",sync,race"] {
                        let text = format!("{kind}{other}{strict}{allow}");
                        let checks = Checks::parse(&text).unwrap();
                        let printed = checks.to_string();
                        assert_eq!(Checks::parse(&printed).unwrap(), checks, "{text} {printed}");
                    }
                }
            }
        }
    }

    #[test]
    fn unknown_words_are_named_with_the_nearest() {
        for (text, word, nearest) in [
            ("memry", "memry", Some("memory")),
            ("memory,out-of-bound", "out-of-bound", Some("out-of-bounds")),
            ("uninitialized", "uninitialized", Some("uninitialised")),
            ("Race", "Race", Some("race")),
            (
                "allow=same-values",
                "allow=same-values",
                Some("allow=same-value"),
            ),
            ("everything", "everything", None),
            ("", "", None),
            ("memory,,race", "", None),
            ("1", "1", None),
            ("\u{1b}[5m", "\u{1b}[5m", None),
        ] {
            let error = Checks::parse(text).unwrap_err();
            assert_eq!(
                (error.word.as_str(), error.nearest),
                (word, nearest),
                "{text}"
            );
            let said = error.to_string();
            assert!(said.contains("nown are all, strict, "), "{said}");
            assert!(!said.contains(char::is_control), "{said}");
        }
    }

    #[test]
    fn the_variable_has_two_more_values() {
        for (value, expected) in [
            ("", None),
            ("0", None),
            ("1", Some("all")),
            (" all ", Some("all")),
            ("race", Some("race")),
        ] {
            let checks = Checks::from_variable(value).unwrap();
            assert_eq!(
                checks.map(|checks| checks.to_string()).as_deref(),
                expected,
                "{value}"
            );
        }
        assert!(Checks::from_variable("2").is_err());
        assert!(Checks::all().has_any(Group::Race) && !Checks::all().is_strict());
    }
}
