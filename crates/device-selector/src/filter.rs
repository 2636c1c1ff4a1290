//! SYCL's filter selector strings: filters `BACKEND:TYPE:NUMBER` separated by commas; each part is optional.

use crate::{Backend, Device, Kind, SyntaxError, pieces};

/// One filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// The backend; `None`: any.
    pub backend: Option<Backend>,
    /// The device type; `None`: any.
    pub kind: Option<Kind>,
    /// The number among the devices that match the other parts.
    pub number: Option<usize>,
    /// Selects the host, which is not a device in SYCL 2020: nothing matches.
    pub host: bool,
}

/// A parsed filter selector string.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Filters(Vec<Filter>);

impl Filters {
    /// Parses the text; case and the order of parts do not matter.
    ///
    /// # Errors
    /// The position of the first error, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        pieces(text, 0, ',')
            .map(|(place, filter)| Filter::parse(text, place, filter))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The filters in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Filter> {
        self.0.iter()
    }

    /// The numbers of the Level Zero root devices that match any filter, ascending.
    pub fn choose(&self, devices: &[Device]) -> Vec<usize> {
        let matches = |number: usize| self.0.iter().any(|filter| filter.matches(devices, number));
        (0..devices.len())
            .filter(|&number| matches(number))
            .collect()
    }
}

impl Filter {
    fn parse(text: &str, place: usize, filter: &str) -> Result<Self, SyntaxError> {
        const ALLOWED: &str =
            "expected BACKEND:TYPE:NUMBER with each part optional, such as level_zero:gpu:0 or cpu";
        let wrong = |at: usize, reason: String| Err(SyntaxError::new(text, at, reason));
        let mut read = Self::default();
        for (index, (at, part)) in pieces(filter, place, ':').enumerate() {
            let twice =
                |what: &str| wrong(at, format!("`{part}`: a filter has at most one {what}"));
            if index == 3 {
                return wrong(at, format!("more than three parts; {ALLOWED}"));
            }
            let kind = match part.to_ascii_lowercase().as_str() {
                "level_zero" | "opencl" | "cuda" | "hip" => {
                    let level_zero = part.eq_ignore_ascii_case("level_zero");
                    let backend = if level_zero {
                        Backend::LevelZero
                    } else {
                        Backend::Other
                    };
                    if read.backend.replace(backend).is_some() {
                        return twice("backend");
                    }
                    continue;
                }
                "host" if !read.host => {
                    read.host = true;
                    continue;
                }
                "host" => return twice("host"),
                "cpu" => Kind::Cpu,
                "gpu" => Kind::Gpu,
                "accelerator" | "acc" => Kind::Accelerator,
                "" => return wrong(at, format!("an empty part; {ALLOWED}")),
                digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                    let Ok(number) = digits.parse() else {
                        return wrong(at, format!("`{part}`: device number too large"));
                    };
                    if read.number.replace(number).is_some() {
                        return twice("number");
                    }
                    continue;
                }
                _ => {
                    return wrong(
                        at,
                        format!("`{part}` is not a backend, type or number; {ALLOWED}"),
                    );
                }
            };
            if read.kind.replace(kind).is_some() {
                return twice("type");
            }
        }
        Ok(read)
    }

    /// Whether root device `number` matches: backend and type, and the position among the devices that match those.
    fn matches(&self, devices: &[Device], number: usize) -> bool {
        let left = |device: &Device| {
            !self.host
                && self.backend.is_none_or(Backend::is_level_zero)
                && self.kind.is_none_or(|kind| kind == device.kind)
        };
        let before = devices[..number]
            .iter()
            .filter(|device| left(device))
            .count();
        left(&devices[number]) && self.number.is_none_or(|wanted| wanted == before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn machine() -> Vec<Device> {
        [Kind::Gpu, Kind::Cpu, Kind::Gpu].map(Device::root).to_vec()
    }

    #[test]
    fn devices_are_chosen_by_any_filter() {
        for (text, expected) in [
            ("gpu", &[0, 2][..]),
            ("gpu:1", &[2]),
            ("1", &[1]),
            ("level_zero", &[0, 1, 2]),
            ("Level_Zero:GPU:0", &[0]),
            ("0:gpu:level_zero", &[0]),
            ("gpu:1,cpu", &[1, 2]),
            ("opencl:gpu", &[]),
            ("cpu:1", &[]),
            ("host", &[]),
            ("host,1", &[1]),
            ("accelerator", &[]),
        ] {
            assert_eq!(
                Filters::parse(text).expect(text).choose(&machine()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn errors_point_at_the_character() {
        for (text, place, reason) in [
            ("", 0, "an empty part"),
            ("gpu,", 4, "an empty part"),
            ("gpu,,cpu", 4, "an empty part"),
            ("level_zero:gpu:0:0", 17, "more than three parts"),
            ("gpu:cpu", 4, "one type"),
            ("level_zero:opencl", 11, "one backend"),
            ("1:2", 2, "one number"),
            ("level_zero:bob", 11, "is not a backend, type or number"),
            ("99999999999999999999", 0, "too large"),
        ] {
            let error = Filters::parse(text).expect_err(text);
            assert_eq!(
                (error.place, error.reason.contains(reason)),
                (place, true),
                "{text}: {error}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "[:,0-9a-z_ é]{0,24}") {
            match Filters::parse(&text) {
                Ok(filters) => prop_assert!(filters.choose(&machine()).iter().all(|&number| number < 3)),
                Err(error) => prop_assert!(text.is_char_boundary(error.place), "{}", error),
            }
        }
    }
}
