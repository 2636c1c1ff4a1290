//! Checks Python packages that open a loader by path, so that `LD_LIBRARY_PATH` has no effect: a bundled loader or the
//! system's.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use owned_file::user;

use super::environment::Environment;
use super::loader::{self, AREA};
use super::report::Check;
use crate::program::Program;
use crate::regular_file;

/// The most packages, or modules of a package, that are read.
const BOUND: usize = 4096;
/// The most paths that are printed.
const SHOWN: usize = 100;
/// Bytes that are read of a module.
const MODULE_BOUND: u64 = 1 << 20;

/// Limits on all files together. An environment of 200 packages has 2,222 entries at this depth and 12 MB of modules;
/// the limits are 60 and 20 times that.
struct Left {
    entries: usize,
    bytes: u64,
    /// A limit was reached.
    is_cut: bool,
}

impl Left {
    const ALL: Self = Self {
        entries: 1 << 17,
        bytes: 256 << 20,
        is_cut: false,
    };

    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut all: Vec<PathBuf> = entries
            .map(|entry| entry.path())
            .take(BOUND.min(self.entries) + 1)
            .collect();
        if all.len() > BOUND.min(self.entries) {
            self.is_cut = true;
            all.pop();
        }
        self.entries -= all.len();
        all.sort();
        all
    }

    fn module(&mut self, module: &Path) -> String {
        // A module that cannot be read is skipped.
        let text = regular_file::start(module, MODULE_BOUND.min(self.bytes)).unwrap_or_default();
        self.bytes -= text.len() as u64;
        self.is_cut |= self.bytes == 0;
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Checks the packages beside the program's interpreter; `installed` is the folder of Solum's libraries.
pub(crate) fn check(
    environment: &Environment,
    program: Option<&Program>,
    installed: Option<&Path>,
) -> Vec<Check> {
    let mut left = Left::ALL;
    let mut checks = Vec::new();
    let packages = packages(program, &mut left, &mut checks);
    checks.extend(bundled(&packages, &mut left));
    let mut opens = Vec::new();
    for module in modules(&packages, &mut left) {
        for path in loader_paths(&left.module(&module)) {
            opens.push(opened(environment, &module, &path, installed));
        }
        if opens.len() > SHOWN {
            opens.truncate(SHOWN);
            left.is_cut = true;
            break;
        }
    }
    checks.extend(opens);
    if left.is_cut {
        checks.push(Check::note(
            AREA,
            "not all Python packages of this interpreter were checked: too many files or loader paths",
        ));
    }
    checks
}

/// The packages and top-level modules of the interpreter.
fn packages(program: Option<&Program>, left: &mut Left, checks: &mut Vec<Check>) -> Vec<PathBuf> {
    let prefix = program.and_then(|program| program.binary.parent()?.parent());
    let Some(prefix) = prefix else {
        return Vec::new();
    };
    let here = Path::new(".");
    let prefix = if prefix == Path::new("") {
        here
    } else {
        prefix
    };
    // Doctor reads only files of root and of its own user.
    let mut is_ours = |folder: &Path| match folder.metadata() {
        Ok(data) if data.uid() != 0 && !user::owns(data.uid()) => {
            checks.push(Check::note(
                AREA,
                format!(
                    "Python packages in {} were not checked: it belongs to user {}",
                    folder.display(),
                    data.uid()
                ),
            ));
            false
        }
        Ok(_) => true,
        Err(_) => false,
    };
    let lib = prefix.join("lib");
    if !is_ours(prefix) || !is_ours(&lib) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for version in left.entries(&lib) {
        let name = version.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("python3") {
            continue;
        }
        for name in ["site-packages", "dist-packages"] {
            let folder = version.join(name);
            if is_ours(&folder) {
                all.extend(left.entries(&folder));
            }
        }
    }
    all
}

/// Loaders that are bundled with packages.
fn bundled(packages: &[PathBuf], left: &mut Left) -> Option<Check> {
    let folders = packages
        .iter()
        .flat_map(|package| [package.clone(), package.join("lib")]);
    let found: Vec<String> = folders
        .flat_map(|folder| left.entries(&folder))
        .filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with("libze_loader") && name.contains(".so")
            })
        })
        .map(|path| path.display().to_string())
        .collect();
    (!found.is_empty()).then(|| {
        Check::warn(
            AREA,
            format!("Python packages bundle their own loaders:\n{}", found.join("\n")),
            "these packages open them by path, regardless of LD_LIBRARY_PATH",
            "for programs that use these packages, set ZE_ENABLE_ALT_DRIVERS to the path of libze_solum_cpu.so.1",
        )
    })
}

/// The Python modules of the packages.
fn modules(packages: &[PathBuf], left: &mut Left) -> Vec<PathBuf> {
    let is_module = |path: &PathBuf| path.extension() == Some(OsStr::new("py"));
    let inside = packages.iter().flat_map(|package| left.entries(package));
    packages
        .iter()
        .cloned()
        .chain(inside)
        .filter(is_module)
        .collect()
}

/// Absolute paths of a loader in a module's string literals: complete paths, and prefixes followed by `+`.
fn loader_paths(text: &str) -> Vec<PathBuf> {
    if !text.contains("ze_loader") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(at) = rest.find(['"', '\'']) {
            let (quote, inside) = rest[at..].split_at(1);
            let Some((literal, behind)) = inside.split_once(quote) else {
                break;
            };
            rest = behind;
            let is_begun = behind.trim_start().starts_with('+');
            let path = if !literal.starts_with('/') {
                continue;
            } else if literal.contains("/libze_loader.so") {
                literal.to_owned()
            } else if is_begun && literal.ends_with("/lib") {
                format!("{literal}ze_loader.so.1")
            } else if is_begun && literal.ends_with('/') && literal.contains("/lib") {
                format!("{literal}{}", loader::NAME)
            } else {
                continue;
            };
            found.push(PathBuf::from(path));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Checks a module that opens the loader at `path`.
fn opened(
    environment: &Environment,
    module: &Path,
    path: &Path,
    installed: Option<&Path>,
) -> Check {
    let (module, shown) = (module.display(), path.display());
    let ours = installed.map(|folder| folder.join(loader::NAME));
    let file = |name: &str| match installed {
        Some(folder) => folder.join(name).display().to_string(),
        None => format!("the path of {name}"),
    };
    let cause = "it opens this path regardless of LD_LIBRARY_PATH";
    if !path.exists() {
        return Check::warn(
            AREA,
            format!("{module} opens {shown}, which does not exist"),
            cause,
            format!(
                "for programs that use it: ln -s {} {shown}",
                file(loader::NAME)
            ),
        );
    }
    if ours.is_some_and(|ours| loader::is_same(&ours, path)) {
        return Check::ok(AREA, format!("{module} opens {shown} (Solum's) by path"));
    }
    const DRIVERS: &str = "ZE_ENABLE_ALT_DRIVERS";
    let found = format!("{module} opens {shown} (not Solum's)");
    match environment.text(DRIVERS) {
        Some(drivers) if drivers.contains("libze_solum_cpu") => Check::note(
            AREA,
            format!("{found}; {DRIVERS} makes it use Solum's driver"),
        ),
        _ => Check::warn(
            AREA,
            found,
            cause,
            format!(
                "for programs that use it, set {DRIVERS}={} to use Solum's driver with this loader",
                file("libze_solum_cpu.so.1")
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn packages_are_looked_at_within_a_bound_and_not_those_of_others() {
        let top = std::env::temp_dir().join(format!("solum-packages-{}", std::process::id()));
        let site = top.join("lib/python3.12/site-packages");
        std::fs::create_dir_all(&site).expect("a temporary folder");
        let text = "CDLL('/none/libze_loader.so.1')";
        for number in 0..10 {
            std::fs::write(site.join(format!("{number}.py")), text).expect("writable");
        }
        let pipe = site.join("a.py");
        let pipe = std::ffi::CString::new(pipe.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: a C string. It would be waited for.
        assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
        let program = Program {
            file: top.join("bin/python"),
            binary: top.join("bin/python"),
            privileged: false,
        };
        let environment = Environment::own();
        let found = check(&environment, Some(&program), None);
        assert_eq!(found.len(), 10, "{found:?}");
        let many: String = (0..300)
            .map(|number| format!("CDLL('/none/{number}/libze_loader.so.1')\n"))
            .collect();
        let module = site.join("many.py");
        std::fs::write(&module, many).expect("writable");
        assert_eq!(check(&environment, Some(&program), None).len(), SHOWN + 1);
        std::fs::remove_file(module).expect("it is there");
        // The folder python3.12, then some of the modules.
        let mut left = Left {
            entries: 5,
            bytes: 40,
            is_cut: false,
        };
        let packages = packages(Some(&program), &mut left, &mut Vec::new());
        assert_eq!((packages.len(), left.is_cut), (4, true));
        assert_eq!(modules(&packages, &mut left).len(), 4);
        let mut left = Left {
            entries: 5,
            bytes: 40,
            is_cut: false,
        };
        let lengths = [0, 1].map(|number| left.module(&site.join(format!("{number}.py"))).len());
        assert_eq!(
            (lengths, left.is_cut),
            ([text.len(), 40 - text.len()], true)
        );
        for folder in [&site, &top] {
            if std::os::unix::fs::chown(folder, Some(12345), None).is_err() {
                println!("skipped: only root can give a folder away");
                break;
            }
            let found = check(&environment, Some(&program), None);
            assert!(
                found.len() == 1 && found[0].found.contains("user 12345"),
                "{found:?}"
            );
        }
        std::fs::remove_dir_all(&top).expect("ours");
    }

    #[test]
    fn paths_are_read_from_modules() {
        for (text, paths) in [
            ("", &[][..]),
            ("CDLL('/usr/lib/libother.so.1')", &[]),
            ("CDLL('libze_loader.so.1')", &[]),
            ("name = 'ze_loader'; folder = '/usr/lib'", &[]),
            (
                "import ctypes\nctypes.CDLL(\"/opt/lib/libze_loader.so.1\")\n",
                &["/opt/lib/libze_loader.so.1"],
            ),
            (
                "name = \"ze_loader\"\npath = \"/usr/lib/x86_64-linux-gnu/lib\" + name + \".so.1\"",
                &["/usr/lib/x86_64-linux-gnu/libze_loader.so.1"],
            ),
            (
                "CDLL('/usr/lib64/' + 'libze_loader.so.1')",
                &["/usr/lib64/libze_loader.so.1"],
            ),
            (
                "a = '/a/libze_loader.so'; b = '/b/libze_loader.so.1'; a = '/a/libze_loader.so'",
                &["/a/libze_loader.so", "/b/libze_loader.so.1"],
            ),
            ("it's 'ze_loader, and \"no end", &[]),
        ] {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            assert_eq!(loader_paths(text), paths, "{text}");
        }
    }
}
