//! The environment that doctor checks: the current one, or the one that `solum run` would set up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Environment variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The environment of this process.
    pub(crate) fn own() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
        }
    }

    /// The value of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// The value of a variable, `None` if it is empty: Solum's libraries treat empty as not set.
    pub(crate) fn given(&self, name: &str) -> Option<&OsStr> {
        self.get(name)
            .filter(|value| !value.as_encoded_bytes().trim_ascii().is_empty())
    }

    /// The value as text, with replacement characters for invalid Unicode.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Removes a variable.
    pub(crate) fn remove(&mut self, name: &str) {
        self.variables.remove(OsStr::new(name));
    }

    /// All variables, ordered by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

#[cfg(test)]
impl Environment {
    /// An environment with only these variables.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self {
            variables: pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        }
    }
}
