//! `ONEAPI_DEVICE_SELECTOR`: terms `[!]BACKEND:DEVICE,DEVICE…` separated by semicolons.
//!
//! A term without `!` selects devices, a term with `!` removes them. A device is a type, `*` or a number, and
//! `NUMBER.NUMBER` or `NUMBER.*` stands for sub-devices:
//!
//! ```text
//! level_zero:gpu          all GPUs
//! level_zero:*;!*:cpu     all Level Zero devices except CPUs
//! level_zero:0.*          the sub-devices of device 0
//! ```
//!
//! [`Rules`] names the two readers that exist. For both, a term without `!` must not follow one with `!`, because that
//! would suggest an order of evaluation that does not exist.

use crate::{Backend, Device, Kind, SyntaxError, pieces};

/// The reader whose rules apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// The runtime of crate `sycl`: every part of the text must be valid.
    Strict,
    /// DPC++, as measured with version 2026.2: empty terms and devices are ignored, a type may have sub-devices, terms
    /// with `!` take no numbers, and spaces are an error. DPC++ shows no device if the text is invalid.
    Dpcpp,
}

/// A parsed `ONEAPI_DEVICE_SELECTOR`.
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
    root: Root,
    /// Numbers of sub-devices, one a level; `None` for any.
    below: Vec<Option<usize>>,
}

/// A root device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Root {
    Any,
    Kind(Kind),
    Number(usize),
}

/// The devices that a selector chooses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chosen {
    /// The devices as paths of numbers (root, sub-device…), roots first, each once, in the order of enumeration.
    pub devices: Vec<Vec<usize>>,
    /// One line for each pattern with `*` that matches no device.
    pub warnings: Vec<String>,
}

impl DeviceSelector {
    /// Parses the text of the variable; case does not matter. An empty text means that the variable is not set.
    ///
    /// # Errors
    /// The position of the first error, and what is allowed there.
    pub fn parse(text: &str, rules: Rules) -> Result<Self, SyntaxError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        if rules == Rules::Dpcpp
            && let Some(place) = text.find(char::is_whitespace)
        {
            return Err(SyntaxError::new(text, place, "spaces are not allowed"));
        }
        let mut terms: Vec<Term> = Vec::new();
        for (place, term) in pieces(text, 0, ';') {
            if rules == Rules::Dpcpp && term.is_empty() {
                continue;
            }
            let read = Term::parse(text, place, term, rules)?;
            if !read.discard && terms.iter().any(|before| before.discard) {
                let reason =
                    "a term without `!` follows one with `!`: write all terms with `!` last";
                return Err(SyntaxError::new(text, place, reason));
            }
            terms.push(read);
        }
        Ok(Self { terms })
    }

    /// Whether it selects devices of other backends only, so that no Level Zero device can match.
    pub fn is_for_other_backends(&self) -> bool {
        let mut accepting = self.terms.iter().filter(|term| !term.discard).peekable();
        accepting.peek().is_some() && accepting.all(|term| !term.backend.is_level_zero())
    }

    /// The Level Zero devices that it chooses, numbered over all drivers.
    pub fn choose(&self, devices: &[Device]) -> Chosen {
        let mut all = Vec::new();
        for depth in 1..=3 {
            collect(devices, depth, None, &mut Vec::new(), &mut all);
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

/// Adds the devices `depth` levels down, with their paths and the kinds of their root devices.
fn collect(
    devices: &[Device],
    depth: usize,
    root: Option<Kind>,
    path: &mut Vec<usize>,
    all: &mut Vec<(Vec<usize>, Kind)>,
) {
    for (number, device) in devices.iter().enumerate() {
        path.push(number);
        let root = root.unwrap_or(device.kind);
        if depth == 1 {
            all.push((path.clone(), root));
        } else {
            collect(&device.parts, depth - 1, Some(root), path, all);
        }
        path.pop();
    }
}

impl Term {
    fn parse(text: &str, place: usize, term: &str, rules: Rules) -> Result<Self, SyntaxError> {
        let wrong = |at: usize, reason: String| Err(SyntaxError::new(text, at, reason));
        let (discard, start, rest) = match term.strip_prefix('!') {
            Some(rest) => (true, place + 1, rest),
            None => (false, place, term),
        };
        if rest.is_empty() {
            return wrong(
                start,
                "empty term; expected BACKEND:DEVICES, such as level_zero:gpu".into(),
            );
        }
        let Some((backend, devices)) = rest.split_once(':') else {
            return wrong(
                start + rest.len(),
                format!("`{rest}` has no colon; expected BACKEND:DEVICES, such as level_zero:gpu"),
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
                    "no backend before the colon; expected level_zero, or * for any".into(),
                );
            }
            _ => {
                let known = "*, level_zero, opencl, cuda, hip, native_cpu, offload";
                return wrong(
                    start,
                    format!("unknown backend `{backend}`; allowed: {known}"),
                );
            }
        };
        if let Some(at) = devices.find(':') {
            return wrong(
                first + at,
                "second colon in a term; separate terms with semicolons".into(),
            );
        }
        let mut patterns = Vec::new();
        for (at, word) in pieces(devices, first, ',') {
            if rules == Rules::Dpcpp && word.is_empty() {
                continue;
            }
            let pattern =
                Pattern::parse(word, rules).map_err(|reason| SyntaxError::new(text, at, reason))?;
            if rules == Rules::Dpcpp && discard && matches!(pattern.root, Root::Number(_)) {
                return wrong(
                    at,
                    format!("`{word}`: a term with `!` takes device types, not numbers"),
                );
            }
            patterns.push(pattern);
        }
        if patterns.is_empty() {
            return wrong(first, format!("no device; {ALLOWED}"));
        }
        Ok(Self {
            discard,
            backend,
            patterns,
        })
    }
}

const ALLOWED: &str =
    "allowed: cpu, gpu, fpga, *, a device number, or sub-device numbers such as 0.1 or 0.*";

impl Pattern {
    fn parse(word: &str, rules: Rules) -> Result<Self, String> {
        let lower = word.to_ascii_lowercase();
        let mut levels = lower.split('.');
        let kind = |name: &str| match name {
            "cpu" => Some(Kind::Cpu),
            "gpu" => Some(Kind::Gpu),
            "fpga" | "acc" => Some(Kind::Accelerator),
            _ => None,
        };
        let number = |level: &str| match level {
            "*" => Ok(None),
            // Only digits: `parse` would also accept a plus sign.
            _ if !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()) => level
                .parse()
                .map(Some)
                .map_err(|_| format!("`{word}`: device number too large")),
            _ if word.is_empty() => Err(format!("no device; {ALLOWED}")),
            _ if kind(level).is_some() => Err(format!(
                "`{word}`: a sub-device is given by its number, not by a type"
            )),
            _ => Err(format!("unknown device `{word}`; {ALLOWED}")),
        };
        let first = levels.next().unwrap_or_default();
        let root = match kind(first) {
            Some(kind) => Root::Kind(kind),
            None => number(first)?.map_or(Root::Any, Root::Number),
        };
        let below: Vec<Option<usize>> = levels.map(number).collect::<Result<_, _>>()?;
        if matches!(root, Root::Kind(_)) && !below.is_empty() && rules == Rules::Strict {
            return Err(format!(
                "`{word}`: a device type has no sub-devices; use the device's number"
            ));
        }
        if below.len() > 2 {
            return Err(format!(
                "`{word}`: sub-devices have at most two levels, such as 0.1.0"
            ));
        }
        let mut after_any = below.iter().skip_while(|level| level.is_some());
        if (root == Root::Any && below.iter().any(Option::is_some))
            || after_any.any(|level| level.is_some())
        {
            return Err(format!("`{word}`: only `*` may follow a `*`"));
        }
        Ok(Self {
            text: word.to_owned(),
            root,
            below,
        })
    }

    /// Whether it contains `*`.
    fn is_open(&self) -> bool {
        self.root == Root::Any || self.below.contains(&None)
    }

    /// Whether the device at `path` matches; `kind` is its root device's.
    fn matches(&self, path: &[usize], kind: Kind) -> bool {
        let Some((number, below)) = path.split_first() else {
            return false;
        };
        let is_root = match self.root {
            Root::Any => true,
            Root::Kind(wanted) => wanted == kind,
            Root::Number(wanted) => wanted == *number,
        };
        is_root
            && self.below.len() == below.len()
            && self
                .below
                .iter()
                .zip(below)
                .all(|(wanted, number)| wanted.is_none_or(|wanted| wanted == *number))
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
            let chosen = DeviceSelector::parse(text, Rules::Strict)
                .expect(text)
                .choose(&machine());
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
    fn dpcpp_is_lenient_where_strict_is_not() {
        for (text, strict, dpcpp) in [
            ("level_zero:0;", None, Some("0")),
            (";level_zero:00", None, Some("0")),
            ("level_zero:cpu,", None, Some("1")),
            ("level_zero:,", None, None),
            ("level_zero:gpu.0", None, Some("0.0")),
            ("!level_zero:0", Some("1 2"), None),
            ("*:gpu;!level_zero:cpu", Some("0 2"), Some("0 2")),
            ("level_zero:gpu, cpu", None, None),
        ] {
            for (rules, expected) in [(Rules::Strict, strict), (Rules::Dpcpp, dpcpp)] {
                let chosen = DeviceSelector::parse(text, rules).map(|read| {
                    let paths = read.choose(&machine()).devices.into_iter().map(|path| {
                        let numbers: Vec<_> = path.iter().map(usize::to_string).collect();
                        numbers.join(".")
                    });
                    paths.collect::<Vec<_>>().join(" ")
                });
                assert_eq!(chosen.ok().as_deref(), expected, "{text} {rules:?}");
            }
        }
    }

    #[test]
    fn other_backends_are_recognised() {
        for (text, expected) in [
            ("opencl:*", true),
            ("opencl:*;cuda:0", true),
            ("opencl:*;level_zero:cpu", false),
            ("!opencl:*", false),
            ("", false),
        ] {
            let read = DeviceSelector::parse(text, Rules::Dpcpp).expect(text);
            assert_eq!(read.is_for_other_backends(), expected, "{text}");
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
            let chosen = DeviceSelector::parse(text, Rules::Strict)
                .expect(text)
                .choose(&machine());
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
            ("*:*.1", 2, "may follow a `*`"),
            ("*:0.*.1", 2, "may follow a `*`"),
            ("*:*.gpu", 2, "given by its number"),
            ("a:b:c", 0, "unknown backend"),
            ("*:b:c", 3, "second colon"),
            ("level_zero:0.0.0.0", 11, "at most two levels"),
            ("level_zero:x", 11, "unknown device"),
            ("level_zero:0,+1", 13, "unknown device"),
            ("level_zero:0.", 11, "unknown device"),
            ("level_zero:99999999999999999999", 11, "too large"),
            ("level_zero:0; level_zero:1", 13, "unknown backend"),
            ("level_zero:0;", 13, "empty term"),
            ("!", 1, "empty term"),
            ("!*:0;*:1", 5, "follows one with `!`"),
            ("vulkan:gpu", 0, "unknown backend"),
        ] {
            let error = DeviceSelector::parse(text, Rules::Strict).expect_err(text);
            assert_eq!(
                (error.place, error.reason.contains(reason)),
                (place, true),
                "{text}: {error}"
            );
        }
        let error = DeviceSelector::parse("level_zero:x", Rules::Strict)
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
            for rules in [Rules::Strict, Rules::Dpcpp] { match DeviceSelector::parse(&text, rules) {
                Ok(selector) => {
                    let chosen = selector.choose(&machine()).devices;
                    let mut once = chosen.clone();
                    once.dedup();
                    prop_assert_eq!(chosen, once);
                }
                Err(error) => prop_assert!(text.is_char_boundary(error.place), "{}", error),
            }}
        }
    }
}
