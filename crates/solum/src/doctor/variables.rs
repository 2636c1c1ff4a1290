//! Variables that are set: names that nobody reads, values that mean something else than they look like.

use super::report::Check;
use super::setting::Setting;
use crate::environment;

const AREA: &str = "variables";
/// The reference's variables and their forms.
static TABLE: &str = include_str!("variables.txt");
/// Prefixes whose names we know all of.
const PREFIXES: [&str; 5] = ["ZE_", "ZEL_", "ZET_", "ZES_", "SOLUM_"];
const LEVELS: [&str; 7] = ["trace", "debug", "info", "warn", "err", "critical", "off"];
/// The reader that refuses to start with a value that it does not understand.
const DRIVER: &str = "libze_solum_cpu";
/// More edits than this is another name.
const TYPO: usize = 2;

/// Name, form and meaning of each of the reference's.
fn known() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter_map(|line| {
            let mut parts = line.splitn(3, '|').map(str::trim);
            Some((parts.next()?, parts.next()?, parts.next()?))
        })
}

/// What is set and what is doubtful about it.
pub(crate) fn check(setting: &Setting) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut set = Vec::new();
    let own = environment::variables();
    for (name, value) in setting.all() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        let ours = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        if let Some((_, form, meaning)) = known().find(|(known, ..)| *known == name) {
            set.push(format!("{name}={value} ({meaning})"));
            checks.extend(doubt(&name, &value, form));
        } else if let Some(variable) = own.iter().find(|variable| variable.name == name) {
            set.push(format!("{name}={value} ({})", variable.meaning));
            checks.extend(choice(variable, &value));
        } else if ours {
            checks.push(unknown(&name, own.iter().map(|variable| variable.name)));
        }
    }
    let summary = if set.is_empty() {
        "none that bears on Level Zero is set".into()
    } else {
        set.join("\n")
    };
    checks.insert(0, Check::ok(AREA, summary));
    checks
}

/// A value that the reference reads otherwise than a person would.
fn doubt(name: &str, value: &str, form: &str) -> Option<Check> {
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
        "level" if !LEVELS.contains(&value) => Some(Check::warn(
            AREA,
            found,
            "no log level: warn is taken",
            format!("one of {}", LEVELS.join(", ")),
        )),
        _ => None,
    }
}

/// A value of ours outside a list of words.
fn choice(variable: &environment::Variable, value: &str) -> Option<Check> {
    let words: Vec<&str> = variable.choices.split(", ").collect();
    let plain = |word: &&str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    // Choices in prose are the library's to judge: it refuses by name when it starts.
    if words.len() < 2 || !words.iter().all(plain) || words.contains(&value.trim()) {
        return None;
    }
    let found = format!("{}={value}", variable.name);
    let cure = format!("one of {}, or unset it", variable.choices);
    Some(if variable.reader == DRIVER {
        Check::fail(
            AREA,
            found,
            "it is not understood, and initialisation fails",
            cure,
        )
    } else {
        Check::warn(
            AREA,
            found,
            format!("it is not understood (read by {})", variable.reader),
            cure,
        )
    })
}

fn unknown(name: &str, own: impl Iterator<Item = &'static str>) -> Check {
    let nearest = known()
        .map(|(known, ..)| known)
        .chain(own)
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .min();
    match nearest {
        Some((distance, known)) if distance <= TYPO => Check::warn(
            AREA,
            format!("{name} is set"),
            format!("nothing reads it; {known} is read"),
            format!("rename it to {known}, or unset it"),
        ),
        _ if name.starts_with("SOLUM_") => Check::warn(
            AREA,
            format!("{name} is set"),
            "nothing reads it",
            "unset it; solum env lists what is read",
        ),
        _ => Check::note(
            AREA,
            format!("{name} is set: neither the loader nor Solum reads it, a vendor's driver may"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::State;
    use super::*;

    #[test]
    fn doubtful_values_and_names_are_told() {
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
            ("SOLUM_XPTI_LOG", "much", State::Warn, "0, 1, 2, 3"),
            ("SOLUM_XPTI_USM_UD", "text", State::Warn, "struct, string"),
            ("SYCL_DEVICE_ALLOWLIST", "x", State::Ok, "hides"),
            ("SOLUM_DEVICES", "cpu:2,discrete", State::Ok, ""),
            ("SOLUM_WORKER", "2", State::Warn, "SOLUM_WORKERS"),
            ("SOLUM_NONSENSE_AT_ALL", "2", State::Warn, "solum env"),
            ("HOME", "/", State::Ok, ""),
        ] {
            let checks = check(&Setting::of(&[(name, value)]));
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
    fn forms_are_known() {
        for (name, form, meaning) in known() {
            assert!(
                ["switch", "mode", "ddi", "level", "text"].contains(&form) && !meaning.is_empty(),
                "{name}"
            );
        }
    }
}
