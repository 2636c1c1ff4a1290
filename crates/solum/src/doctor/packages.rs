//! Python packages beside the program's interpreter whose modules open a loader by a path, which `LD_LIBRARY_PATH` does not
//! change: one that they bring with them, or one of the system's.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::loader::{self, AREA};
use super::program::Program;
use super::report::Check;
use super::setting::Setting;

/// More packages, or modules of one, than there are.
const BOUND: usize = 4096;
/// Longer modules are read up to here.
const MODULE_BOUND: u64 = 1 << 20;

/// The lines about them; `installed` is where Solum's libraries lie.
pub(crate) fn check(
    setting: &Setting,
    program: Option<&Program>,
    installed: Option<&Path>,
) -> Vec<Check> {
    let packages = packages(program);
    let mut checks: Vec<Check> = bundled(&packages).into_iter().collect();
    for module in modules(&packages) {
        for path in loader_paths(&read(&module)) {
            checks.push(opened(setting, &module, &path, installed));
        }
    }
    checks
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).take(BOUND).collect();
    all.sort();
    all
}

/// Packages and single modules beside the interpreter.
fn packages(program: Option<&Program>) -> Vec<PathBuf> {
    let prefix = program.and_then(|program| program.binary.parent()?.parent());
    let Some(prefix) = prefix else {
        return Vec::new();
    };
    let versions = entries(&prefix.join("lib")).into_iter().filter(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("python3"))
    });
    let folders = versions
        .flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name)));
    folders.flat_map(|folder| entries(&folder)).collect()
}

/// Loaders that packages bring with them.
fn bundled(packages: &[PathBuf]) -> Option<Check> {
    let folders = packages
        .iter()
        .flat_map(|package| [package.clone(), package.join("lib")]);
    let found: Vec<String> = folders
        .flat_map(|folder| entries(&folder))
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
            format!("Python packages bring loaders of their own:\n{}", found.join("\n")),
            "modules of these packages open them by their own paths, whatever LD_LIBRARY_PATH says",
            "for programs that use these packages: ZE_ENABLE_ALT_DRIVERS with the path of libze_solum_cpu.so.1",
        )
    })
}

/// Modules in Python, of packages and single ones.
fn modules(packages: &[PathBuf]) -> Vec<PathBuf> {
    let is_module = |path: &PathBuf| path.extension() == Some(OsStr::new("py"));
    let inside = packages.iter().flat_map(|package| entries(package));
    packages
        .iter()
        .cloned()
        .chain(inside)
        .filter(is_module)
        .collect()
}

fn read(module: &Path) -> String {
    let mut text = Vec::new();
    if let Ok(file) = std::fs::File::open(module) {
        // What cannot be read says nothing.
        let _ = file.take(MODULE_BOUND).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Absolute paths of a loader among a module's literals: whole ones, and beginnings that something is added to.
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

/// The line about a module that opens the loader at `path`.
fn opened(setting: &Setting, module: &Path, path: &Path, installed: Option<&Path>) -> Check {
    let (module, shown) = (module.display(), path.display());
    let ours = installed.map(|folder| folder.join(loader::NAME));
    let file = |name: &str| match installed {
        Some(folder) => folder.join(name).display().to_string(),
        None => format!("the path of {name}"),
    };
    let cause = "it opens this path, whatever LD_LIBRARY_PATH says";
    if !path.exists() {
        return Check::warn(
            AREA,
            format!("{module} opens {shown}, which is not there"),
            cause,
            format!(
                "for programs that use it: ln -s {} {shown}",
                file(loader::NAME)
            ),
        );
    }
    if ours.is_some_and(|ours| loader::is_same(&ours, path)) {
        return Check::ok(
            AREA,
            format!("{module} opens {shown} (Solum's) by its path"),
        );
    }
    const DRIVERS: &str = "ZE_ENABLE_ALT_DRIVERS";
    let found = format!("{module} opens {shown} (not Solum's)");
    match setting.text(DRIVERS) {
        Some(drivers) if drivers.contains("libze_solum_cpu") => {
            Check::note(AREA, format!("{found}; {DRIVERS} gives it Solum's driver"))
        }
        _ => Check::warn(
            AREA,
            found,
            cause,
            format!(
                "for programs that use it: {DRIVERS}={} gives Solum's driver to this loader",
                file("libze_solum_cpu.so.1")
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
