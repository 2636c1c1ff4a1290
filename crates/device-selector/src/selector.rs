//! `ONEAPI_DEVICE_SELECTOR`: terms `[!]BACKEND:DEVICE,DEVICE…` between semicolons.
//!
//! Where the reference is unclear: the empty text means "not set"; a term that accepts may not stand behind one that
//! discards, because the reader would expect an order that does not exist.

use crate::{Backend, Device, Kind, SyntaxError, pieces};

/// A text of `ONEAPI_DEVICE_SELECTOR`, understood.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeviceSelector {
    terms: Vec<Term>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Term {
    discard: bool,
    backend: Backend,
    patterns: Vec<Pattern>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    text: String,
    shape: Shape,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    /// Root devices of a kind.
    Kind(Kind),
    /// By number on each level, `None` for any: one level means root devices, two their sub-devices.
    Path(Vec<Option<usize>>),
}

/// What a selector leaves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chosen {
    /// The devices as paths of numbers (root, sub-device…), roots first, each once, in the order of enumeration.
    pub devices: Vec<Vec<usize>>,
    /// One line for each pattern with `*` that no device matches.
    pub warnings: Vec<String>,
}

impl DeviceSelector {
    /// Reads the variable's text; letter case does not matter. The empty text chooses as if the variable were not set.
    ///
    /// # Errors
    /// The place that breaks the grammar, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let mut terms: Vec<Term> = Vec::new();
        for (place, term) in pieces(text, 0, ';') {
            let read = Term::parse(text, place, term)?;
            if !read.discard && terms.iter().any(|before| before.discard) {
                let reason =
                    "a term that accepts stands behind one with `!`: write all terms with `!` last";
                return Err(SyntaxError::new(text, place, reason));
            }
            terms.push(read);
        }
        Ok(Self { terms })
    }

    /// What it leaves of Level Zero's devices, numbered over all drivers.
    pub fn choose(&self, devices: &[Device]) -> Chosen {
        let mut all = Vec::new();
        for depth in 1..=3 {
            collect(devices, depth, &mut Vec::new(), &mut all);
        }
        let accepts = self.terms.iter().any(|term| !term.discard);
        let says = |discard: bool, path: &[usize], kind: Kind| {
            self.terms
                .iter()
                .filter(|term| term.discard == discard && term.backend.is_level_zero())
                .any(|term| {
                    term.patterns
                        .iter()
                        .any(|pattern| pattern.matches(path, kind))
                })
        };
        let chosen = all.iter().filter(|(path, kind)| {
            let accepted = if accepts {
                says(false, path, *kind)
            } else {
                path.len() == 1
            };
            accepted && !says(true, path, *kind)
        });
        let devices = chosen.map(|(path, _)| path.clone()).collect();
        let patterns = self
            .terms
            .iter()
            .filter(|term| term.backend.is_level_zero())
            .flat_map(|term| &term.patterns);
        let warnings = patterns
            .filter(|pattern| {
                pattern.is_open() && !all.iter().any(|(path, kind)| pattern.matches(path, *kind))
            })
            .map(|pattern| format!("no Level Zero device matches `{}`", pattern.text))
            .collect();
        Chosen { devices, warnings }
    }
}

/// Adds the devices `depth` levels down, with their paths and kinds.
fn collect(
    devices: &[Device],
    depth: usize,
    path: &mut Vec<usize>,
    all: &mut Vec<(Vec<usize>, Kind)>,
) {
    for (number, device) in devices.iter().enumerate() {
        path.push(number);
        if depth == 1 {
            all.push((path.clone(), device.kind));
        } else {
            collect(&device.parts, depth - 1, path, all);
        }
        path.pop();
    }
}

impl Term {
    fn parse(text: &str, place: usize, term: &str) -> Result<Self, SyntaxError> {
        let wrong = |at: usize, reason: String| Err(SyntaxError::new(text, at, reason));
        let (discard, start, rest) = match term.strip_prefix('!') {
            Some(rest) => (true, place + 1, rest),
            None => (false, place, term),
        };
        if rest.is_empty() {
            return wrong(
                start,
                "an empty term: a term is BACKEND:DEVICES, such as level_zero:gpu".into(),
            );
        }
        let Some((backend, devices)) = rest.split_once(':') else {
            return wrong(
                start + rest.len(),
                format!("`{rest}` has no colon: a term is BACKEND:DEVICES, such as level_zero:*"),
            );
        };
        let first = start + backend.len() + 1;
        let backend = match backend.to_ascii_lowercase().as_str() {
            "*" => Backend::Any,
            "level_zero" => Backend::LevelZero,
            "opencl" | "cuda" | "hip" | "native_cpu" | "offload" | "esimd_emulator" => {
                Backend::Other
            }
            "" => {
                return wrong(
                    start,
                    "no backend before the colon: level_zero, or * for any".into(),
                );
            }
            _ => {
                let known = "*, level_zero, opencl, cuda, hip, native_cpu, offload";
                return wrong(
                    start,
                    format!("`{backend}` is no backend: there are {known}"),
                );
            }
        };
        if let Some(at) = devices.find(':') {
            return wrong(
                first + at,
                "a second colon in one term: terms are separated by semicolons".into(),
            );
        }
        let patterns = pieces(devices, first, ',')
            .map(|(at, word)| {
                let shape =
                    Shape::parse(word).map_err(|reason| SyntaxError::new(text, at, reason))?;
                Ok(Pattern {
                    text: word.to_owned(),
                    shape,
                })
            })
            .collect::<Result<_, SyntaxError>>()?;
        Ok(Self {
            discard,
            backend,
            patterns,
        })
    }
}

impl Shape {
    fn parse(word: &str) -> Result<Self, String> {
        const ALLOWED: &str =
            "a device is cpu, gpu, fpga, *, a number, or numbers of sub-devices such as 0.1 or 0.*";
        let lower = word.to_ascii_lowercase();
        let kind = |name: &str| match name {
            "cpu" => Some(Kind::Cpu),
            "gpu" => Some(Kind::Gpu),
            "fpga" | "acc" => Some(Kind::Accelerator),
            _ => None,
        };
        if lower.is_empty() {
            return Err(format!("no device: {ALLOWED}"));
        }
        if let Some(kind) = kind(&lower) {
            return Ok(Self::Kind(kind));
        }
        let mut path: Vec<Option<usize>> = Vec::new();
        for level in lower.split('.') {
            let number = match level {
                "*" => None,
                _ if kind(level).is_some() => {
                    return Err(format!(
                        "`{word}`: a device type has no sub-devices; name the device by its number"
                    ));
                }
                _ if path.last() == Some(&None) => {
                    return Err(format!("`{word}`: behind a `*` only `*` may follow"));
                }
                // Only digits: `parse` would take a plus sign as well.
                _ if !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()) => Some(
                    level
                        .parse()
                        .map_err(|_| format!("`{word}`: no machine has that many devices"))?,
                ),
                _ => return Err(format!("`{word}` is no device: {ALLOWED}")),
            };
            path.push(number);
        }
        if path.len() > 3 {
            return Err(format!(
                "`{word}`: sub-devices go two levels deep, such as 0.1.0"
            ));
        }
        Ok(Self::Path(path))
    }
}

impl Pattern {
    /// Whether it leaves open which devices it means.
    fn is_open(&self) -> bool {
        matches!(&self.shape, Shape::Path(path) if path.contains(&None))
    }

    fn matches(&self, path: &[usize], kind: Kind) -> bool {
        match &self.shape {
            Shape::Kind(wanted) => path.len() == 1 && *wanted == kind,
            Shape::Path(wanted) => {
                wanted.len() == path.len()
                    && wanted
                        .iter()
                        .zip(path)
                        .all(|(wanted, number)| wanted.is_none_or(|w| w == *number))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine() -> Vec<Device> {
        let tile = || Device {
            kind: Kind::Gpu,
            parts: vec![Device::root(Kind::Gpu), Device::root(Kind::Gpu)],
        };
        vec![
            Device {
                kind: Kind::Gpu,
                parts: vec![tile(), tile()],
            },
            Device::root(Kind::Cpu),
            Device::root(Kind::Gpu),
        ]
    }

    #[test]
    fn devices_are_chosen_as_the_grammar_says() {
        for (text, expected) in [
            ("", "0 1 2"),
            ("*:*", "0 1 2"),
            ("LEVEL_ZERO:GPU", "0 2"),
            ("level_zero:cpu", "1"),
            ("*:fpga", ""),
            ("level_zero:gpu,cpu", "0 1 2"),
            ("level_zero:2,0", "0 2"),
            ("level_zero:0;level_zero:1", "0 1"),
            ("opencl:*", ""),
            ("opencl:gpu;level_zero:1", "1"),
            ("native_cpu:cpu;cuda:0;hip:*;offload:0.1", ""),
            ("!level_zero:0", "1 2"),
            ("!*:cpu", "0 2"),
            ("*:*;!*:gpu", "1"),
            ("*:gpu;!level_zero:2", "0"),
            ("!opencl:*", "0 1 2"),
            ("level_zero:0.*", "0.0 0.1"),
            ("level_zero:0.1", "0.1"),
            ("level_zero:0.1.0", "0.1.0"),
            ("level_zero:0.1.*", "0.1.0 0.1.1"),
            ("level_zero:0.*.*", "0.0.0 0.0.1 0.1.0 0.1.1"),
            ("*:*,*.*", "0 1 2 0.0 0.1"),
            ("*:*.*.*", "0.0.0 0.0.1 0.1.0 0.1.1"),
            ("level_zero:0.*;!level_zero:0.0", "0.1"),
            ("level_zero:0,0,gpu", "0 2"),
            ("level_zero:7", ""),
        ] {
            let chosen = DeviceSelector::parse(text).expect(text).choose(&machine());
            let paths = chosen.devices.iter().map(|path| {
                path.iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join(".")
            });
            assert_eq!(paths.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
    }

    #[test]
    fn only_open_patterns_warn() {
        for (text, warnings) in [
            ("level_zero:1.*", 1),
            ("level_zero:1.0", 0),
            ("*:*.*.*", 0),
            ("opencl:*.*", 0),
            ("*:fpga", 0),
        ] {
            let chosen = DeviceSelector::parse(text).expect(text).choose(&machine());
            assert_eq!(
                chosen.warnings.len(),
                warnings,
                "{text}: {:?}",
                chosen.warnings
            );
        }
    }

    #[test]
    fn errors_point_at_the_character() {
        for (text, place, reason) in [
            ("level_zero", 10, "has no colon"),
            (":gpu", 0, "no backend"),
            ("gpu", 3, "has no colon"),
            ("level_zero:", 11, "no device"),
            ("level_zero:gpu,", 15, "no device"),
            ("level_zero:gpu.0", 11, "has no sub-devices"),
            ("*:*.1", 2, "behind a `*` only `*`"),
            ("*:0.*.1", 2, "behind a `*` only `*`"),
            ("*:*.gpu", 2, "has no sub-devices"),
            ("a:b:c", 0, "is no backend"),
            ("*:b:c", 3, "second colon"),
            ("level_zero:0.0.0.0", 11, "two levels deep"),
            ("level_zero:x", 11, "is no device"),
            ("level_zero:0,+1", 13, "is no device"),
            ("level_zero:0.", 11, "is no device"),
            ("level_zero:99999999999999999999", 11, "that many devices"),
            ("level_zero:0; level_zero:1", 13, "is no backend"),
            ("level_zero:0;", 13, "empty term"),
            ("!", 1, "empty term"),
            ("!*:0;*:1", 5, "behind one with `!`"),
            ("vulkan:gpu", 0, "is no backend"),
        ] {
            let error = DeviceSelector::parse(text).expect_err(text);
            assert_eq!(
                (error.place, error.reason.contains(reason)),
                (place, true),
                "{text}: {error}"
            );
        }
        let error = DeviceSelector::parse("level_zero:x")
            .expect_err("refused")
            .to_string();
        assert!(
            error.ends_with("\n  level_zero:x\n             ^"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[!*;:,.0-9a-z_ é]{0,24}") {
            match DeviceSelector::parse(&text) {
                Ok(selector) => {
                    let chosen = selector.choose(&machine()).devices;
                    let mut once = chosen.clone();
                    once.dedup();
                    prop_assert_eq!(chosen, once);
                }
                Err(error) => prop_assert!(text.is_char_boundary(error.place), "{}", error),
            }
        }
    }
}
