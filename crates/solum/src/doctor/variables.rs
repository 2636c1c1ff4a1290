//! Checks environment variables: unknown names, invalid values, values that do not mean what they seem to.

use std::io;
use std::path::Path;

use ze_layers::recorder::Script;

use super::environment::Environment;
use super::report::Check;
use crate::regular_file;
use crate::variables::{self, HIERARCHIES, LEVELS, known, nearest};

const AREA: &str = "variables";
/// Prefixes of which all names are known.
const PREFIXES: [&str; 5] = ["ZE_", "ZEL_", "ZET_", "ZES_", "SOLUM_"];
/// The reader that fails to initialise if a value is invalid.
const DRIVER: &str = "libze_solum_cpu";

/// Lists the relevant variables and warns about doubtful ones.
pub(crate) fn check(environment: &Environment) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut set = Vec::new();
    let own = variables::table();
    for (name, value) in environment.all() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if let Some(known) = known().find(|known| known.name == name) {
            set.push(format!("{name}={value} ({})", known.meaning));
            checks.extend(misread(&name, &value, known.form));
        } else if let Some(variable) = own.iter().find(|variable| variable.name == name) {
            set.push(format!("{name}={value} ({})", variable.meaning));
            checks.extend(choice(variable, &value));
        } else if ours && !variables::is_of_the_build(&name) {
            checks.push(unknown(&name, own.iter().map(|variable| variable.name)));
        }
    }
    let summary = if set.is_empty() {
        "none that affects Level Zero is set".into()
    } else {
        set.join("\n")
    };
    checks.insert(0, Check::ok(AREA, summary));
    checks
}

/// A warning about a value that Level Zero's loader does not read as a user would expect.
fn misread(name: &str, value: &str, form: &str) -> Option<Check> {
    let found = format!("{name}={value}");
    match form {
        "switch" if value != "0" && value != "1" => {
            let looks_off = ["", "false", "no", "off", "n", "f", "disabled"]
                .contains(&value.trim().to_ascii_lowercase().as_str());
            looks_off.then(|| {
                Check::warn(
                    AREA,
                    found,
                    "it is on: only 0 turns it off",
                    format!("unset {name}, or {name}=0"),
                )
            })
        }
        "mode" if !["0", "1", "2"].contains(&value) => Some(Check::warn(
            AREA,
            found,
            "it is off: only 0, 1 and 2 are understood",
            format!("{name}=1"),
        )),
        "ddi" if !["0", "1", "true", "false"].contains(&value) => Some(Check::warn(
            AREA,
            found,
            "it is on: only 0 and false turn it off",
            format!("unset {name}, or {name}=0"),
        )),
        "mask" => {
            let is_number =
                |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_device = |part: &str| match part.split_once('.') {
                Some((root, sub)) => is_number(root) && is_number(sub),
                None => is_number(part),
            };
            let wrong: Vec<&str> = value
                .split(',')
                .map(str::trim)
                .filter(|part| !is_device(part))
                .collect();
            (!value.trim().is_empty() && !wrong.is_empty()).then(|| {
                Check::warn(
                    AREA,
                    found,
                    format!("\"{}\" is not a device number and is ignored", wrong.join("\", \"")),
                    format!("use numbers of devices, or DEVICE.SUBDEVICE, separated by commas: {name}=0,1.0"),
                )
            })
        }
        "hierarchy" if !value.is_empty() && !HIERARCHIES.contains(&value) => Some(Check::warn(
            AREA,
            found,
            "invalid value: Solum's driver uses COMPOSITE",
            format!("set it to one of {}, or unset it", HIERARCHIES.join(", ")),
        )),
        "level" if !LEVELS.contains(&value) => Some(Check::warn(
            AREA,
            found,
            "not a log level: the loader uses warn",
            format!("set it to one of {}", LEVELS.join(", ")),
        )),
        _ => None,
    }
}

/// Whether a value is allowed; `None` if the description of the choices cannot be checked here. The library then checks
/// the value itself when it initialises.
fn is_allowed(variable: &variables::Variable, value: &str) -> Option<bool> {
    let choices = variable.choices.as_str();
    if variable.name == "SOLUM_CPU_TARGET" {
        return Some(value == "native" || cpu_target::NAMES.contains(&value));
    }
    if let Some((least, most)) = choices.split_once(" to ")
        && let (Ok(least), Ok(most)) = (least.parse::<u64>(), most.parse::<u64>())
    {
        return Some(
            value
                .parse()
                .is_ok_and(|number: u64| (least..=most).contains(&number)),
        );
    }
    match choices {
        "bytes" => return Some(value.parse().is_ok_and(|number: u64| number > 0)),
        "a number" => return Some(value.parse::<i64>().is_ok()),
        _ => {}
    }
    if choices.starts_with("bytes, or a number with ") {
        let least = choices.split_once("; at least ");
        let least = least.and_then(|(_, least)| bytes(least)).unwrap_or(0);
        return Some(bytes(value).is_some_and(|number| number >= least));
    }
    let words: Vec<&str> = choices.split(", ").collect();
    let plain = |word: &&str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    (words.len() > 1 && words.iter().all(plain)).then(|| words.contains(&value))
}

/// A number of bytes as the driver reads it.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &text[..text.len() - unit.len()];
    let factor = match unit.trim() {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// A failure or warning about an invalid value of one of Solum's variables. An empty value counts as not set.
fn choice(variable: &variables::Variable, value: &str) -> Option<Check> {
    let value = value.trim();
    if value.is_empty() || is_allowed(variable, value) != Some(false) {
        return None;
    }
    let found = format!("{}={value}", variable.name);
    let fix = format!("allowed: {}; or unset it", variable.choices);
    Some(if variable.reader == DRIVER {
        Check::fail(
            AREA,
            found,
            "invalid value: the driver's initialisation fails",
            fix,
        )
    } else {
        Check::warn(
            AREA,
            found,
            format!("invalid value (read by {})", variable.reader),
            fix,
        )
    })
}

fn unknown(name: &str, own: impl Iterator<Item = &'static str>) -> Check {
    match nearest(name, own) {
        Some(known) => Check::warn(
            AREA,
            format!("{name} is set"),
            format!("Solum does not read it; did you mean {known}?"),
            format!("rename it to {known}, or unset it"),
        ),
        _ if name.starts_with("SOLUM_") => Check::warn(
            AREA,
            format!("{name} is set"),
            "Solum does not read it",
            "unset it; solum env lists the known variables",
        ),
        _ => Check::note(
            AREA,
            format!("{name} is set: Solum does not read it, another vendor's driver may"),
        ),
    }
}

/// The longest script that is read.
const MOST_SCRIPT: u64 = 1 << 20;

fn script_of(path: &Path) -> io::Result<String> {
    let text = regular_file::start(path, MOST_SCRIPT + 1)?;
    if text.len() as u64 > MOST_SCRIPT {
        let text = format!("more than {MOST_SCRIPT} bytes");
        return Err(io::Error::other(text));
    }
    String::from_utf8(text).map_err(io::Error::other)
}

/// Checks the script of `SOLUM_RECORDER`, which Solum's loader reads during initialisation.
pub(crate) fn recorder(path: &Path) -> Check {
    let found = format!("SOLUM_RECORDER={}", path.display());
    let fail = |cause: String, fix: &str| {
        Check::fail(
            AREA,
            found.clone(),
            format!("{cause}; initialisation fails"),
            fix,
        )
    };
    let script = match script_of(path) {
        Ok(text) => Script::parse(&text),
        Err(error) => {
            return fail(
                format!("the script cannot be read ({error})"),
                "correct the path, or unset SOLUM_RECORDER",
            );
        }
    };
    match script {
        Err(error) => fail(
            error.to_string(),
            "correct the script (syntax: docs/layers.md), or unset SOLUM_RECORDER",
        ),
        Ok(_) => Check::note(
            AREA,
            "SOLUM_RECORDER is set: the program's calls are logged, delayed or fail as the script says; the checks above \
             ran without it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::super::report::State;
    use super::*;

    #[test]
    fn doubtful_values_and_names_give_warnings() {
        for (name, value, state, word) in [
            ("ZE_ENABLE_VALIDATION_LAYER", "1", State::Ok, ""),
            ("ZE_ENABLE_VALIDATION_LAYER", "0", State::Ok, ""),
            (
                "ZE_ENABLE_VALIDATION_LAYER",
                "false",
                State::Warn,
                "it is on",
            ),
            (
                "ZE_ENABLE_LOADER_DEBUG_TRACE",
                "true",
                State::Warn,
                "it is off",
            ),
            (
                "ZEL_LOADER_LOGGING_LEVEL",
                "warning",
                State::Warn,
                "critical",
            ),
            (
                "ZE_ENABLE_LOADER_DRIVER_DDI_PATH",
                "off",
                State::Warn,
                "it is on",
            ),
            (
                "ZE_ENABLE_VALIDATON_LAYER",
                "1",
                State::Warn,
                "ZE_ENABLE_VALIDATION_LAYER",
            ),
            ("ZE_SOMETHING_ELSE", "1", State::Note, "vendor"),
            ("SOLUM_COMPILER", "interpreter", State::Ok, ""),
            ("SOLUM_COMPILER", "gcc", State::Fail, "llvm, interpreter"),
            ("SOLUM_CACHE", "maybe", State::Fail, "0, 1"),
            ("SOLUM_CACHE", "", State::Ok, ""),
            ("SOLUM_COMPILER", " ", State::Ok, ""),
            ("SOLUM_LANES", "", State::Ok, ""),
            ("SOLUM_LANES", "2", State::Fail, "auto, 1, 4"),
            ("SOLUM_SYCL_TRACE", "", State::Ok, ""),
            ("SOLUM_SYCL_TRACE", "4", State::Warn, "0, 1, 2, 3"),
            ("SOLUM_WORKERS", "1024", State::Ok, ""),
            ("SOLUM_WORKERS", "0", State::Fail, "1 to 1024"),
            ("SOLUM_SYCL_LANES", "17", State::Warn, "1 to 16"),
            ("SOLUM_CACHE_SIZE", "3 GiB", State::Ok, ""),
            ("SOLUM_CACHE_SIZE", "3 GB", State::Fail, "KiB"),
            ("SOLUM_CACHE_SIZE", "1KiB", State::Ok, ""),
            ("SOLUM_MEMORY_LIMIT", "half", State::Fail, "KiB"),
            ("SOLUM_MEMORY_LIMIT", "1 MiB", State::Ok, ""),
            (
                "SOLUM_MEMORY_LIMIT",
                "1023KiB",
                State::Fail,
                "at least 1MiB",
            ),
            ("SOLUM_SYCL_PAGE", "4k", State::Warn, "bytes"),
            ("UR_L0_BATCH_SIZE", "7", State::Ok, ""),
            ("UR_L0_BATCH_SIZE", "few", State::Warn, "a number"),
            ("SOLUM_CPU_TARGET", "haswell", State::Ok, ""),
            ("SOLUM_CPU_TARGET", "z80", State::Fail, "haswell"),
            ("ZE_AFFINITY_MASK", "", State::Ok, ""),
            ("ZE_AFFINITY_MASK", "0, 1.2", State::Ok, ""),
            ("ZE_AFFINITY_MASK", "0-1", State::Warn, "\\\"0-1\\\""),
            ("ZE_AFFINITY_MASK", "0,x,0.1.2", State::Warn, "is ignored"),
            ("ZE_FLAT_DEVICE_HIERARCHY", "FLAT", State::Ok, ""),
            ("ZE_FLAT_DEVICE_HIERARCHY", "flat", State::Warn, "COMPOSITE"),
            ("SOLUM_XPTI_LOG", "much", State::Warn, "0, 1, 2, 3"),
            ("SOLUM_XPTI_USM_UD", "text", State::Warn, "struct, string"),
            ("SYCL_DEVICE_ALLOWLIST", "x", State::Ok, "hides"),
            ("SOLUM_DEVICES", "cpu:2,discrete", State::Ok, ""),
            ("SOLUM_WORKER", "2", State::Warn, "SOLUM_WORKERS"),
            ("SOLUM_NONSENSE_AT_ALL", "2", State::Warn, "solum env"),
            ("HOME", "/", State::Ok, ""),
        ] {
            let checks = check(&Environment::of(&[(name, value)]));
            let worst = checks.iter().max_by_key(|check| check.state);
            let worst = worst.expect("a summary at least");
            assert_eq!(worst.state, state, "{name}={value}: {worst:?}");
            assert!(
                format!("{worst:?}").contains(word),
                "{name}={value}: {worst:?}"
            );
        }
    }

    #[test]
    fn only_small_files_are_read_as_scripts() {
        let folder = std::env::temp_dir().join(format!("solum-script-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a temporary folder");
        let script = folder.join("script");
        std::fs::write(&script, "log off\n").expect("writable");
        assert_eq!(recorder(&script).state, State::Note);
        let long = folder.join("long");
        let file = std::fs::File::create(&long).expect("writable");
        file.set_len(64 << 30).expect("a sparse file");
        let pipe = folder.join("pipe");
        let name = std::ffi::CString::new(pipe.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for (path, cause) in [
            (&long, "more than 1048576 bytes"),
            (&pipe, "not a regular file"),
            (&folder, "not a regular file"),
        ] {
            let check = recorder(path);
            assert_eq!(check.state, State::Fail);
            let found = check.cause.unwrap_or_default();
            assert!(found.contains(cause), "{found}");
        }
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
