//! The environment that is looked at: this process's, or what a program would be started with.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Names and values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    variables: BTreeMap<OsString, OsString>,
}

impl Setting {
    /// This process's.
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

    /// The value of a variable that is set and not empty: what the libraries take for set.
    pub(crate) fn given(&self, name: &str) -> Option<&OsStr> {
        self.get(name)
            .filter(|value| !value.as_encoded_bytes().trim_ascii().is_empty())
    }

    /// The value as text; what is no Unicode is shown with marks.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name)
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Takes a variable away.
    pub(crate) fn remove(&mut self, name: &str) {
        self.variables.remove(OsStr::new(name));
    }

    /// All, in the order of their names.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

#[cfg(test)]
impl Setting {
    /// An environment of these alone.
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Self {
        Self {
            variables: pairs
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        }
    }
}
