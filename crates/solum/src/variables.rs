//! The environment variables that Solum and DPC++ read.
//!
//! Solum's libraries each have a table of their own variables, which their tests check; [`table`] joins these.
//! `variables.txt` lists the variables of Level Zero, XPTI and DPC++.

use serde::Serialize;

use crate::output;

/// The libraries' tables: `name | default | choices | reader | meaning`, one variable a line.
static OWN: &str = concat!(
    include_str!("../../ze-cpu/environment.txt"),
    include_str!("../../trace-recorder/environment.txt"),
    include_str!("../../sycl/environment.txt"),
);

/// The variables of Level Zero, XPTI and DPC++: `name | form | reader | meaning`.
static KNOWN: &str = include_str!("variables.txt");
pub(crate) const HIERARCHIES: [&str; 3] = ["FLAT", "COMBINED", "COMPOSITE"];
pub(crate) const LEVELS: [&str; 7] = ["trace", "debug", "info", "warn", "err", "critical", "off"];
/// The largest edit distance at which a name counts as a misspelling of another.
const TYPO: usize = 2;

/// A variable of [`table`].
#[derive(Serialize)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) value: Option<String>,
    pub(crate) default: &'static str,
    pub(crate) choices: String,
    pub(crate) reader: &'static str,
    pub(crate) meaning: &'static str,
}

/// Every variable of the table with its current value.
pub(crate) fn table() -> Vec<Variable> {
    let lines = OWN
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .filter_map(|line| {
            let mut parts = line.splitn(5, '|').map(str::trim);
            let name = parts.next()?;
            Some(Variable {
                name,
                value: value_of(name),
                default: parts.next()?,
                choices: parts.next()?.to_owned(),
                reader: parts.next()?,
                meaning: parts.next()?,
            })
        })
        .collect()
}

pub(crate) fn value_of(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// A variable of Level Zero, XPTI or DPC++.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) form: &'static str,
    pub(crate) reader: &'static str,
    pub(crate) meaning: &'static str,
}

impl Known {
    /// Whether a library of Solum reads it.
    pub(crate) fn is_read_here(&self) -> bool {
        self.reader.starts_with("lib") || self.reader.contains("programs of crate")
    }

    /// Its default and the allowed values.
    pub(crate) fn default_and_choices(&self) -> (&'static str, String) {
        match self.form {
            "switch" => ("0", "0, 1".into()),
            "mode" => ("0", "0, 1, 2".into()),
            "ddi" => ("1", "0, 1".into()),
            "level" => ("warn", LEVELS.join(", ")),
            "mask" => ("all devices", "N or N.M, separated by commas".into()),
            "hierarchy" => ("COMPOSITE", HIERARCHIES.join(", ")),
            "trace" => ("1 with subscribers", "0, 1, false, true".into()),
            _ => ("none", "any text".into()),
        }
    }
}

/// The variables of Level Zero, XPTI and DPC++.
pub(crate) fn known() -> impl Iterator<Item = Known> {
    KNOWN
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| {
            let mut parts = line.splitn(4, '|').map(str::trim);
            Some(Known {
                name: parts.next()?,
                form: parts.next()?,
                reader: parts.next()?,
                meaning: parts.next()?,
            })
        })
}

/// Whether the build reads the variable, so that developers may have set it.
pub(crate) fn is_of_the_build(name: &str) -> bool {
    name == "SOLUM_LLVM"
}

/// The names that begin with SOLUM_ but that Solum does not read, each with the name that may be meant.
pub(crate) fn misspelled(
    names: impl Iterator<Item = std::ffi::OsString>,
) -> Vec<(String, Option<&'static str>)> {
    let own = table();
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("SOLUM_") && !is_of_the_build(name))
        .filter(|name| own.iter().all(|known| known.name != name))
        .map(|name| {
            let near = nearest(&name, own.iter().map(|variable| variable.name));
            (name, near)
        })
        .collect()
}

/// The known name that `name` may be a misspelling of.
pub(crate) fn nearest(name: &str, own: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let nearest = known()
        .map(|known| known.name)
        .chain(own)
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .min();
    nearest
        .filter(|(distance, _)| *distance <= TYPO)
        .map(|(_, known)| known)
}

/// Misspelled variables of this process.
pub(crate) fn misspelled_now() -> Vec<(String, Option<&'static str>)> {
    misspelled(std::env::vars_os().map(|(name, _)| name))
}

/// Warns about each variable that is set and looks like a misspelling of one of Solum's.
pub(crate) fn warn_of_misspellings() {
    for (name, near) in misspelled_now() {
        if let Some(near) = near {
            output::print_error(
                &format!("{name} is set, but Solum does not read it; did you mean {near}?"),
                None,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_the_build_are_no_misspellings() {
        let names = ["SOLUM_LLVM", "SOLUM_LLVN", "HOME"].map(Into::into);
        let found = misspelled(names.into_iter());
        let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, ["SOLUM_LLVN"]);
    }

    #[test]
    fn forms_are_known() {
        for known in known() {
            let Known {
                name,
                form,
                meaning,
                ..
            } = known;
            assert!(
                [
                    "switch",
                    "mode",
                    "ddi",
                    "level",
                    "mask",
                    "hierarchy",
                    "trace",
                    "text"
                ]
                .contains(&form)
                    && !meaning.is_empty(),
                "{name}"
            );
        }
    }
}
