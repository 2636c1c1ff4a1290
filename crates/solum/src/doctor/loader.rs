//! Checks which `libze_loader.so.1` a program gets and whether it works.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use super::linker::{self, Found, Process, Rule, Search};
use super::probe::{self, End, Outcome};
use super::report::Check;
use super::selector;
use super::step::Step;
use crate::program::Program;
use crate::regular_file;

/// The name by which clients open the loader.
pub(crate) const NAME: &str = "libze_loader.so.1";
pub(crate) const AREA: &str = "loader";
/// The time after which a loader counts as hanging; includes compiling a kernel.
const LIMIT: Duration = Duration::from_secs(90);
/// Functions that clients with the static loader require.
const REQUIRED: [&str; 6] = [
    "zeLoaderInit",
    "zelLoaderGetVersionsInternal",
    "zeLoaderGetTracingHandle",
    "zelGetTracerApiProcAddrTable",
    "zelLoaderTranslateHandleInternal",
    "zeInit",
];
const GET_OURS: &str = "solum run -- PROGRAM, or eval \"$(solum env --shell)\"";

/// DPC++'s runtime and its Level Zero adapters.
pub(crate) struct Runtime {
    /// The folder of the runtime's libraries.
    pub(crate) folder: Option<PathBuf>,
    /// The adapters' names and their objects in the process.
    pub(crate) adapters: Vec<(&'static str, usize)>,
    pub(crate) checks: Vec<Check>,
}

/// Finds DPC++'s runtime through the program's libraries, its folder, or the Python environment.
pub(crate) fn runtime(
    process: &mut Process,
    environment: &Environment,
    program: Option<&Program>,
) -> Runtime {
    const LOADER: &str = "libur_loader.so.0";
    const ADAPTERS: [(&str, &str); 2] = [
        ("level_zero", "libur_adapter_level_zero.so.0"),
        ("level_zero_v2", "libur_adapter_level_zero_v2.so.0"),
    ];
    let mut runtime = Runtime {
        folder: None,
        adapters: Vec::new(),
        checks: Vec::new(),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    let linked = process.objects.iter().find(|object| {
        let name = object.name.to_string_lossy();
        name.starts_with("libsycl.so") || name.starts_with("libur_loader.so")
    });
    folders.extend(linked.and_then(|object| object.path.parent().map(Path::to_owned)));
    let found = process.search(OsStr::new(LOADER), 0).found;
    folders.extend(found.and_then(|found| found.path.parent().map(Path::to_owned)));
    // Python environments have PREFIX/bin/python and PREFIX/lib.
    let prefix = program.and_then(|program| program.binary.parent()?.parent());
    folders.extend(prefix.map(|prefix| prefix.join("lib")));
    for (variable, below) in [
        ("VIRTUAL_ENV", "lib"),
        ("CONDA_PREFIX", "lib"),
        ("HOME", ".local/lib"),
    ] {
        folders.extend(
            environment
                .get(variable)
                .map(|base| Path::new(base).join(below)),
        );
    }
    let folder = folders.into_iter().find(|folder| {
        folder.join(LOADER).exists() || ADAPTERS.iter().any(|(_, file)| folder.join(file).exists())
    });
    let Some(folder) = folder else {
        runtime.checks.push(Check::note(
            "dpcpp",
            "no DPC++ runtime in the program's libraries, LD_LIBRARY_PATH or the Python environment (not needed by programs \
             that use Level Zero directly)",
        ));
        return runtime;
    };
    runtime.folder = Some(folder.clone());
    let by = process
        .open(folder.join(LOADER).as_os_str(), 0)
        .unwrap_or(0);
    let mut broken = Vec::new();
    for (name, file) in ADAPTERS {
        let path = folder.join(file);
        if !path.exists() {
            continue;
        }
        let before = process.missing.len();
        let Some(adapter) = process.open(path.as_os_str(), by) else {
            broken.push(format!("{name}: {} cannot be read", path.display()));
            continue;
        };
        let missing = process.missing.get(before..).unwrap_or_default();
        if missing.is_empty() {
            runtime.adapters.push((name, adapter));
        } else {
            let missing = linker::missing_text(missing, ", ");
            broken.push(format!("{name}: not found: {missing}"));
        }
    }
    let names: Vec<&str> = runtime.adapters.iter().map(|(name, _)| *name).collect();
    if names.is_empty() {
        let cause = if broken.is_empty() {
            "libur_adapter_level_zero.so.0 is not in that folder".to_owned()
        } else {
            format!(
                "DPC++ silently ignores adapters that cannot be loaded:\n{}",
                broken.join("\n")
            )
        };
        runtime.checks.push(Check::fail(
            "dpcpp",
            format!(
                "the DPC++ runtime in {} has no Level Zero adapter",
                folder.display()
            ),
            cause,
            "install the missing libraries; with pip: intel-sycl-rt and intel-cmplr-lib-ur",
        ));
        return runtime;
    }
    runtime.checks.push(Check::ok(
        "dpcpp",
        format!(
            "runtime in {}, adapters {}",
            folder.display(),
            names.join(", ")
        ),
    ));
    if !broken.is_empty() {
        runtime.checks.push(Check::warn(
            "dpcpp",
            "not every adapter can be loaded",
            broken.join("\n"),
            "install what is missing; until then DPC++ uses the other adapter",
        ));
    }
    runtime
}

/// The loader that the program gets.
pub(crate) fn search(process: &Process, environment: &Environment, runtime: &Runtime) -> Search {
    let by = runtime.adapters.first().map_or(0, |(_, index)| *index);
    // DPC++'s adapters contain the static loader, which reads this variable.
    if let Some(folder) = environment
        .get("ZEL_LIBRARY_PATH")
        .filter(|folder| !folder.is_empty() && !runtime.adapters.is_empty())
    {
        return process.search(Path::new(folder).join(NAME).as_os_str(), by);
    }
    process.search(OsStr::new(NAME), by)
}

/// The check for a loader that was not found.
pub(crate) fn not_found(search: &Search, environment: &Environment) -> Check {
    let mut cause = if search.refused.is_empty() {
        "no file of this name in the library search path".to_owned()
    } else {
        let all: Vec<String> = search
            .refused
            .iter()
            .map(|(path, reason)| format!("{}: {reason}", path.display()))
            .collect();
        format!(
            "all files of this name cannot be loaded:\n{}",
            all.join("\n")
        )
    };
    match environment
        .text("LD_LIBRARY_PATH")
        .filter(|path| !path.is_empty())
    {
        Some(path) => cause += &format!("; LD_LIBRARY_PATH={path}"),
        None => cause += "; LD_LIBRARY_PATH is not set",
    }
    if let Some(folder) = environment.text("ZEL_LIBRARY_PATH") {
        cause += &format!("; ZEL_LIBRARY_PATH={folder}");
    }
    Check::fail(AREA, format!("{NAME} not found"), cause, GET_OURS)
}

/// How a program that gets another loader can use Solum's driver. `own` is the folder of Solum's libraries.
pub(crate) fn fix_for(found: &Found, own: Option<&Path>) -> String {
    let driver = own.map_or_else(
        || "the path of libze_solum_cpu.so.1".to_owned(),
        |folder| folder.join("libze_solum_cpu.so.1").display().to_string(),
    );
    if found.rule.is_before_library_path() {
        format!(
            "solum run cannot override it; set ZE_ENABLE_ALT_DRIVERS={driver} to use Solum's driver with this loader, or \
             remove {}",
            found.path.display()
        )
    } else {
        format!("{GET_OURS}; or keep this loader and set ZE_ENABLE_ALT_DRIVERS={driver}")
    }
}

/// Checks the path of the loader and whether it is Solum's.
pub(crate) fn location(found: &Found, search: &Search, ours: bool) -> Vec<Check> {
    let whose = if ours { "Solum's" } else { "not Solum's" };
    let mut checks = vec![Check::ok(
        AREA,
        format!("{} ({whose}), {}", found.path.display(), found.rule.text()),
    )];
    if !matches!(found.rule, Rule::Loaded(_)) && !search.others.is_empty() {
        let others: Vec<String> = search
            .others
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        checks.push(Check::note(
            AREA,
            format!("not used, later in the search path: {}", others.join(", ")),
        ));
    }
    for (path, reason) in &search.refused {
        checks.push(Check::warn(
            AREA,
            format!(
                "{} comes first in the search path, but cannot be loaded",
                path.display()
            ),
            reason.clone(),
            "remove it from the search path",
        ));
    }
    checks
}

/// Whether two files are the same or copies of each other.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    if let (Ok(one), Ok(other)) = (one.canonicalize(), other.canonicalize())
        && one == other
    {
        return true;
    }
    are_copies(one, other).unwrap_or(false)
}

/// Whether two files have the same content and are not empty.
fn are_copies(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (one, other) = (regular_file::open(one)?, regular_file::open(other)?);
    let size = one.metadata()?.len();
    if size == 0 || other.metadata()?.len() != size {
        return Ok(false);
    }
    let mut one = BufReader::with_capacity(1 << 16, one.take(size));
    let mut other = BufReader::with_capacity(1 << 16, other.take(size));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if length == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left[..length] != right[..length] {
            return Ok(false);
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Tries the loader in a child process, up to a kernel's results.
pub(crate) fn probe(environment: &Environment, path: &Path) -> Outcome {
    let mut environment = environment.clone();
    // The loader then prints why it rejects a driver.
    environment.set("ZE_ENABLE_LOADER_DEBUG_TRACE", "1");
    // A cached kernel would hide a missing code generator.
    environment.set("SOLUM_CACHE", "0");
    probe::run(&environment, "loader", path.as_os_str(), &[], LIMIT)
}

/// Checks that the loader opens and initialises; `other` is the fix if the loader is not Solum's.
pub(crate) fn initialisation(
    outcome: &Outcome,
    other: Option<&str>,
    environment: &Environment,
) -> Vec<Check> {
    if let Some(reason) = outcome.refused() {
        return vec![Check::fail(
            AREA,
            "cannot be opened",
            reason,
            format!("repair or remove the file, or use Solum's loader: {GET_OURS}"),
        )];
    }
    let mut checks = Vec::new();
    let (mut version, mut drivers) = (None, 0);
    for step in &outcome.steps {
        match step {
            Step::Missing { symbols } => {
                let missing: Vec<&str> = symbols
                    .iter()
                    .map(String::as_str)
                    .filter(|symbol| REQUIRED.contains(symbol))
                    .collect();
                if !missing.is_empty() {
                    checks.push(Check::fail(
                        AREA,
                        format!("does not export {}", missing.join(", ")),
                        "DPC++ needs these functions and otherwise shows no device",
                        format!("use Solum's loader: {GET_OURS}"),
                    ));
                }
            }
            Step::Version { library, api } => {
                version = Some(format!("version {library}, Level Zero {api}"));
                checks.extend(selector::loader_version(library));
            }
            Step::Initialised {
                function,
                code,
                text,
            } if code != "ZE_RESULT_SUCCESS" => {
                // Each driver that was tried has checks of its own.
                let text = match own_words(text) {
                    "" => "the loader found no usable driver",
                    text => text,
                };
                let fix = match variable_at_fault(outcome, environment) {
                    Some(name) => format!("correct {name}, or unset it"),
                    None => other
                        .unwrap_or("see the checks of drivers below")
                        .to_owned(),
                };
                checks.push(Check::fail(
                    AREA,
                    format!("{function} returned {code}"),
                    text,
                    fix,
                ));
            }
            Step::Failed { what } => checks.push(Check::fail(
                AREA,
                what.clone(),
                "a call fails that succeeds on a working driver",
                "find the failing driver with ZE_ENABLE_LOADER_DEBUG_TRACE=1, then exclude it: ZE_ENABLE_ALT_DRIVERS names \
                 the drivers to load",
            )),
            Step::Driver { .. } => drivers += 1,
            _ => {}
        }
    }
    if let Some(version) = version {
        checks.insert(
            0,
            Check::ok(AREA, format!("{version}, {}", counted(drivers))),
        );
    }
    if outcome.end != End::Done {
        checks.push(Check::fail(
            AREA,
            failed_step(outcome),
            outcome.end_text(),
            "exclude one driver after the other with ZE_ENABLE_ALT_DRIVERS to find the faulty one",
        ));
    }
    checks
}

/// A loader's error message without the list of what it tried.
fn own_words(text: &str) -> &str {
    text.split(" Tried:").next().unwrap_or_default()
}

/// The environment variable that the loader names as the reason why initialisation failed.
pub(crate) fn variable_at_fault(outcome: &Outcome, environment: &Environment) -> Option<String> {
    let texts = outcome.steps.iter().filter_map(|step| match step {
        Step::Initialised { code, text, .. } if code != "ZE_RESULT_SUCCESS" => {
            Some(own_words(text))
        }
        _ => None,
    });
    let words = texts.flat_map(|text| {
        text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
    });
    let mut names = words.filter(|word| word.contains('_') && environment.get(word).is_some());
    names.next().map(str::to_owned)
}

/// A number of drivers as text.
fn counted(drivers: usize) -> String {
    match drivers {
        0 => "no driver".into(),
        1 => "1 driver".into(),
        n => format!("{n} drivers"),
    }
}

/// The step in which the child ended.
fn failed_step(outcome: &Outcome) -> &'static str {
    match outcome.steps.last() {
        None => "a program fails while it opens the loader",
        Some(Step::Initialised { .. } | Step::Driver { .. } | Step::Launched { .. }) => {
            "a program fails while it lists devices and runs a kernel"
        }
        Some(_) => "a program fails while it initialises the loader",
    }
}

/// Checks the kernel that was run on each device.
pub(crate) fn launches(outcome: &Outcome) -> Vec<Check> {
    let mut checks = Vec::new();
    for step in &outcome.steps {
        let Step::Launched {
            device,
            error,
            build_ms,
            launch_us,
        } = step
        else {
            continue;
        };
        checks.push(match error {
            None => Check::ok(
                "launch",
                format!(
                    "{device}: kernel compiled in {build_ms:.1} ms, ran in {launch_us:.1} µs, results correct"
                ),
            ),
            Some(error) => Check::fail(
                "launch",
                format!("{device}: the test kernel failed"),
                error.clone(),
                "see the checks above; otherwise report a bug with the output of solum doctor --json",
            ),
        });
    }
    checks
}

/// Why the loader does not use a driver, from its debug trace.
pub(crate) fn reason_against(outcome: &Outcome, name: &str) -> Option<String> {
    let start = format!("not used: {name}: ");
    outcome
        .talk
        .lines()
        .find_map(|line| Some(line.split_once(&start)?.1.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn copies_are_ordinary_files_of_the_same_content() {
        let folder = std::env::temp_dir().join(format!("solum-copies-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a temporary folder");
        // Longer than what is read at once.
        let long = vec![7; (1 << 16) + 1];
        let mut other = long.clone();
        other[1 << 16] = 8;
        for (name, content) in [("long", &long), ("copy", &long), ("other", &other)] {
            std::fs::write(folder.join(name), content).expect("writable");
        }
        std::fs::write(folder.join("short"), b"short").expect("writable");
        for name in ["empty", "empty2"] {
            std::fs::write(folder.join(name), b"").expect("writable");
        }
        for name in ["pipe", "pipe2"] {
            let path = folder.join(name);
            let path = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no NUL");
            // SAFETY: a C string.
            assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        }
        for (one, two, expected) in [
            ("long", "copy", true),
            ("long", "long", true),
            ("long", "other", false),
            ("long", "short", false),
            ("empty", "empty2", false),
            ("pipe", "pipe2", false),
            ("long", "pipe", false),
            ("long", "missing", false),
        ] {
            let found = is_same(&folder.join(one), &folder.join(two));
            assert_eq!(found, expected, "{one} {two}");
        }
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
