//! Parsers for the two ways in which oneAPI programs select devices: the variable `ONEAPI_DEVICE_SELECTOR`
//! ([`DeviceSelector`]) and SYCL's filter selector strings ([`Filters`]).
//!
//! ```
//! use device_selector::{Device, DeviceSelector, Kind, Rules};
//!
//! let devices = [Device::root(Kind::Gpu), Device::root(Kind::Cpu)];
//! let selector = DeviceSelector::parse("level_zero:cpu", Rules::Strict).unwrap();
//! assert_eq!(selector.choose(&devices).devices, [[1]]);
//! let error = DeviceSelector::parse("level_zero:tpu", Rules::Strict).unwrap_err();
//! assert_eq!(error.place, 11);
//! ```
//!
//! Invariants: a text is either parsed completely or rejected with the position of the error and what is allowed there.
//! The choice depends on text and devices only, not on the order of terms. Not here: the environment, handles, scores of
//! SYCL's device selectors.

mod filter;
mod selector;

pub use filter::{Filter, Filters};
pub use selector::{Chosen, DeviceSelector, Rules};

/// The device types that selectors distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A CPU.
    Cpu,
    /// A GPU.
    Gpu,
    /// An FPGA or another accelerator.
    Accelerator,
}

/// A device with its sub-devices, as a backend enumerates them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Its type.
    pub kind: Kind,
    /// Its sub-devices by affinity domain.
    pub parts: Vec<Device>,
}

impl Device {
    /// A device without sub-devices.
    pub fn root(kind: Kind) -> Self {
        Self {
            kind,
            parts: Vec::new(),
        }
    }
}

/// A backend. Other backends than Level Zero are parsed, but their devices cannot be chosen here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Backend {
    /// Any backend.
    Any,
    /// Level Zero.
    LevelZero,
    /// Another backend.
    Other,
}

impl Backend {
    /// Whether it includes Level Zero.
    pub fn is_level_zero(self) -> bool {
        self != Self::Other
    }
}

/// Why a text was rejected. Prints the text with a mark at the error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}\n  {text}\n  {:width$}^", "", width = text.get(..*place).map_or(0, |before| before.chars().count()))]
pub struct SyntaxError {
    /// The whole text.
    pub text: String,
    /// The position of the error, in bytes.
    pub place: usize,
    /// What is wrong, and what is allowed there.
    pub reason: String,
}

impl SyntaxError {
    fn new(text: &str, place: usize, reason: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            place,
            reason: reason.into(),
        }
    }
}

/// The parts of a text between separators, with their positions.
fn pieces(text: &str, first: usize, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let mut place = first;
    text.split(separator).map(move |piece| {
        let at = place;
        place += piece.len() + separator.len_utf8();
        (at, piece)
    })
}
