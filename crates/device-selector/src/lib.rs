//! The grammars by which oneAPI programs choose devices: the variable `ONEAPI_DEVICE_SELECTOR` ([`DeviceSelector`]) and
//! SYCL's filter selector strings ([`Filter`]), as text and as what they choose from a list of Level Zero devices.
//!
//! Invariants: any text is either understood whole or refused with the place and what is allowed there; what is chosen
//! depends on text and devices alone, never on the order of terms. Not here: the environment, handles, scores.

mod filter;
mod selector;

pub use filter::{Filter, Filters};
pub use selector::{Chosen, DeviceSelector};

/// What a device is, as far as these grammars tell devices apart.
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
    /// What it is.
    pub kind: Kind,
    /// What it divides into by affinity domain; empty if it does not.
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

/// A programming interface for devices. Only Level Zero's devices can be chosen here; the others are understood.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Backend {
    /// Any.
    Any,
    /// Level Zero.
    LevelZero,
    /// Another one, of which this program has no devices.
    Other,
}

impl Backend {
    /// Whether Level Zero's devices are meant.
    pub fn is_level_zero(self) -> bool {
        self != Self::Other
    }
}

/// Why a text was refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason}\n  {text}\n  {:width$}^", "", width = text.get(..*place).map_or(0, |before| before.chars().count()))]
pub struct SyntaxError {
    /// The whole text.
    pub text: String,
    /// Where in it, in bytes.
    pub place: usize,
    /// What is wrong there, what is allowed.
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

/// The pieces of a text between separators, with their places.
fn pieces(text: &str, first: usize, separator: char) -> impl Iterator<Item = (usize, &str)> {
    let mut place = first;
    text.split(separator).map(move |piece| {
        let at = place;
        place += piece.len() + separator.len_utf8();
        (at, piece)
    })
}
