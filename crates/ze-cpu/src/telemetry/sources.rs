//! The system's text files, below a directory: the machine's own are below `/`; tests use another.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use ze_driver::telemetry::{ReadError, Reading};

/// The largest file that is read: relevant ones have some kilobytes.
const MOST: u64 = 4 << 20;

/// The folder with `proc` and `sys`.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    root: PathBuf,
}

impl Sources {
    /// Below `root`.
    pub(crate) fn below(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A whole file. `path` is without the leading slash.
    pub(crate) fn read(&self, path: &str) -> Reading<String> {
        use std::io::Read as _;
        let file = fs::File::open(self.at(path)).map_err(|why| refused(path, "read", &why))?;
        let mut text = String::new();
        file.take(MOST)
            .read_to_string(&mut text)
            .map_err(|why| refused(path, "read", &why))?;
        Ok(text)
    }

    /// The number that is all of a file.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Reading<T> {
        let text = self.read(path)?;
        let number = text.trim().parse();
        number.map_err(|_| ReadError::Absent(format!("/{path} holds {:?}, no number", text.trim())))
    }

    /// Writes a number into a file.
    pub(crate) fn write(&self, path: &str, value: u64) -> Reading<()> {
        let open = fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.at(path));
        let written = open.and_then(|mut file| {
            use std::io::Write as _;
            file.write_all(value.to_string().as_bytes())
        });
        written.map_err(|why| refused(path, "write", &why))
    }

    /// Whether this process may write a file.
    pub(crate) fn is_writable(&self, path: &str) -> bool {
        fs::OpenOptions::new()
            .write(true)
            .open(self.at(path))
            .is_ok()
    }

    /// Names in a folder that begin with `prefix`, sorted by the numbers that they end with.
    pub(crate) fn list(&self, folder: &str, prefix: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.at(folder)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(prefix))
            .collect();
        names.sort_by_key(|name| (number_in(&name[prefix.len()..]), name.clone()));
        names
    }

    /// Whether the path is there.
    pub(crate) fn exists(&self, path: &str) -> bool {
        Path::exists(&self.at(path))
    }
}

/// The number at the beginning of a text; 0 without one.
fn number_in(text: &str) -> u64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

fn refused(path: &str, what: &str, why: &std::io::Error) -> ReadError {
    match why.kind() {
        ErrorKind::PermissionDenied => ReadError::Denied(format!(
            "this user may not {what} /{path}: allow it with `chmod a+{} /{path}`, or run as root",
            if what == "read" { "r" } else { "w" }
        )),
        _ => ReadError::Absent(format!("/{path}: {why}")),
    }
}
