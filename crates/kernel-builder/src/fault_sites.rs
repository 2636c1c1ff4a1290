//! The places of a kernel that may fault, the memory of a report, and its text.

use crate::format::Format;
use crate::module::Id;

/// The behaviour of a kernel where Rust panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Faults {
    /// A read outside gives zero, a write outside is left out, integers wrap; nothing is reported.
    #[default]
    Mask,
    /// The same, and the first fault is reported with its line.
    Report,
}

/// The most values in a fault's text: the sides of a comparison, and four of the user's.
pub(crate) const VALUES: usize = 6;

/// The memory that a kernel in the reporting form writes its first fault to; all zero before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(128))]
pub struct FaultRecord {
    /// 0 without a fault, 1 while a work-item writes, then [`Self::WRITTEN`].
    pub state: u32,
    /// The place, an index of the kernel's [`FaultSite`]s.
    pub site: u32,
    /// The values of its text.
    pub values: [u64; VALUES],
    /// The work-item's index in the range, the fastest dimension first.
    pub item: [u64; 3],
}

impl FaultRecord {
    /// The state of a record with a whole report.
    pub const WRITTEN: u32 = 2;
}

/// How a value is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Signed(u32),
    Unsigned(u32),
    Float(u32),
    Bool,
    Char,
    /// A value that cannot be shown, such as a structure.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) kind: Kind,
    /// `None` for Rust's form for programmers.
    pub(crate) format: Option<Format>,
}

/// A place of a kernel that may fault.
#[derive(Clone, Debug)]
pub struct FaultSite {
    /// The source file.
    pub file: &'static str,
    /// Line and column.
    pub line: (u32, u32),
    /// One more than there are values.
    pub(crate) texts: Vec<String>,
    pub(crate) values: Vec<Shown>,
}

impl FaultSite {
    /// The text of a fault with these values, as Rust's panic has it.
    #[must_use]
    pub fn text(&self, values: &[u64; VALUES]) -> String {
        let mut all = String::new();
        for (index, text) in self.texts.iter().enumerate() {
            all += text;
            match (self.values.get(index), values.get(index)) {
                (Some(shown), Some(bits)) => all += &shown.text(*bits),
                (Some(_), None) => all.push('…'),
                _ => {}
            }
        }
        all
    }
}

impl Shown {
    fn text(self, bits: u64) -> String {
        let hexadecimal = self.format.and_then(|format| format.hexadecimal);
        let digits = self.format.and_then(|format| format.digits);
        let digits = digits.and_then(|digits| usize::try_from(digits).ok());
        let scientific = self.format.and_then(|format| format.scientific);
        let is_plain = self.format.is_some();
        let text = match (self.kind, hexadecimal) {
            (Kind::Unknown, _) => return "…".to_owned(),
            (Kind::Bool, _) => (bits != 0).to_string(),
            (Kind::Char, _) => {
                let shown = u32::try_from(bits).ok().and_then(char::from_u32);
                let shown = shown.unwrap_or(char::REPLACEMENT_CHARACTER);
                match self.format {
                    Some(_) => shown.to_string(),
                    None => format!("{shown:?}"),
                }
            }
            (Kind::Signed(width) | Kind::Unsigned(width), Some(capitals)) => {
                let bits = bits & (u64::MAX >> (64 - width));
                match capitals {
                    true => format!("{bits:X}"),
                    false => format!("{bits:x}"),
                }
            }
            (Kind::Signed(_), None) => integer(bits.cast_signed(), scientific),
            (Kind::Unsigned(_), None) => integer(bits, scientific),
            (Kind::Float(width), _) => match width {
                64 => float(f64::from_bits(bits), digits, scientific, is_plain),
                _ => float(f32::from_bits(bits as u32), digits, scientific, is_plain),
            },
        };
        let is_number = !matches!(self.kind, Kind::Bool | Kind::Char);
        let plus = is_number && !text.starts_with('-') && self.format.is_some_and(|of| of.plus);
        self.padded(if plus { format!("+{text}") } else { text })
    }

    fn padded(self, text: String) -> String {
        let format = self.format.unwrap_or_default();
        let width = usize::try_from(format.width).unwrap_or(0);
        let missing = width.saturating_sub(text.chars().count());
        let is_left = format.left;
        let is_left = is_left.unwrap_or(matches!(self.kind, Kind::Bool | Kind::Char));
        match (is_left, format.zeros) {
            (true, _) => text + &" ".repeat(missing),
            (false, false) => " ".repeat(missing) + &text,
            (false, true) => {
                let (sign, number) = text.split_at(usize::from(text.starts_with(['-', '+'])));
                format!("{sign}{}{number}", "0".repeat(missing))
            }
        }
    }
}

fn integer<T: std::fmt::Display + std::fmt::LowerExp + std::fmt::UpperExp>(
    value: T,
    scientific: Option<bool>,
) -> String {
    match scientific {
        None => format!("{value}"),
        Some(false) => format!("{value:e}"),
        Some(true) => format!("{value:E}"),
    }
}

/// `scientific`: whether the letter of the exponent is a capital; `is_plain`: as `{}` shows it, not `{:?}`.
fn float<T>(value: T, digits: Option<usize>, scientific: Option<bool>, is_plain: bool) -> String
where
    T: std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp + std::fmt::UpperExp,
{
    match (digits, scientific) {
        (Some(digits), None) => format!("{value:.digits$}"),
        (Some(digits), Some(false)) => format!("{value:.digits$e}"),
        (Some(digits), Some(true)) => format!("{value:.digits$E}"),
        (None, Some(false)) => format!("{value:e}"),
        (None, Some(true)) => format!("{value:E}"),
        (None, None) if is_plain => format!("{value}"),
        (None, None) => format!("{value:?}"),
    }
}

/// The reporting form of a kernel in the making.
pub(crate) struct Reporting {
    /// The kernel's last parameter.
    pub(crate) record: Id,
    /// The function that writes it.
    pub(crate) function: Id,
    pub(crate) sites: Vec<FaultSite>,
}
