//! The rows of the tables: functions with their parameters and rules, types, structs, extensions.

use core::fmt;

/// A version of the specification or of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Incompatible above this.
    pub major: u16,
    /// Grows with additions.
    pub minor: u16,
}

impl Version {
    /// The number that the C API uses, `ZE_MAKE_VERSION`.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        (self.major as u32) << 16 | self.minor as u32
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The prefix of a name; numbers of structure types are unique only within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespace {
    /// `ze`: core.
    Ze,
    /// `zet`: tools.
    Zet,
    /// `zes`: system management.
    Zes,
    /// `zer`: runtime.
    Zer,
    /// `zel`: loader and layers.
    Zel,
}

/// Whether the caller or the function writes behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The caller; the callee only reads.
    In,
    /// The callee.
    Out,
    /// Both.
    InOut,
}

/// The kind of a parameter, for checks that know nothing of its meaning.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A handle: null is `INVALID_NULL_HANDLE` unless optional.
    Handle,
    /// A pointer, also to a function: null is `INVALID_NULL_POINTER` unless optional.
    Pointer,
    /// A value of the enumeration, else `INVALID_ENUMERATION`.
    Enum(&'static Enum),
    /// A set of the enumeration's bits, else `INVALID_ENUMERATION`.
    Flags(&'static Enum),
    /// A struct by value.
    Struct,
    /// A number: any value.
    Number,
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// As the specification spells it.
    pub name: &'static str,
    /// The C type.
    pub ty: &'static str,
    /// The values that a check may expect.
    pub kind: Kind,
    /// Whether the caller or the function writes it.
    pub direction: Direction,
    /// Null or zero is allowed.
    pub optional: bool,
    /// The call ends the handle's life.
    pub release: bool,
    /// For arrays: the expression, over the other parameters, that counts the elements (`*pCount`, `numWaitEvents`).
    pub count: Option<&'static str>,
}

pub(crate) const fn param(
    name: &'static str,
    ty: &'static str,
    kind: Kind,
    direction: Direction,
) -> Param {
    Param {
        name,
        ty,
        kind,
        direction,
        optional: false,
        release: false,
        count: None,
    }
}

impl Param {
    pub(crate) const fn optional(self) -> Param {
        Param {
            optional: true,
            ..self
        }
    }

    pub(crate) const fn release(self) -> Param {
        Param {
            release: true,
            ..self
        }
    }

    pub(crate) const fn count(self, elements: &'static str) -> Param {
        Param {
            count: Some(elements),
            ..self
        }
    }
}

pub(crate) const fn rule(code: u32, condition: &'static str) -> ErrorRule {
    ErrorRule { code, condition }
}

/// A result that the specification names for a function beyond those that follow from its parameters.
#[derive(Clone, Copy, Debug)]
pub struct ErrorRule {
    /// The value of `ze_result_t`.
    pub code: u32,
    /// When: prose or, in backquotes, an expression of C; empty where the specification says nothing.
    pub condition: &'static str,
}

/// Where a function lies in the tables of function pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The C type of the table.
    pub table: &'static str,
    /// The name of the slot.
    pub field: &'static str,
    /// The number of slots before it.
    pub index: u16,
}

/// One exported function.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The symbol.
    pub name: &'static str,
    /// Its prefix.
    pub namespace: Namespace,
    /// The version of the specification that added it.
    pub since: Version,
    /// The C type that it returns.
    pub ret: &'static str,
    /// Its slot, unless only the loader has it.
    pub slot: Option<Slot>,
    /// In order.
    pub params: &'static [Param],
    /// In the specification's order.
    pub errors: &'static [ErrorRule],
}

/// One enumeration.
#[derive(Clone, Copy, Debug)]
pub struct Enum {
    /// The C type of one enumerator.
    pub name: &'static str,
    /// The C type of sets, where the enumerators are bits.
    pub set: Option<&'static str>,
    /// Names and values, in the header's order.
    pub values: &'static [(&'static str, u32)],
}

impl Enum {
    /// All bits of a set; for other enumerations of no use.
    #[must_use]
    pub fn mask(&self) -> u32 {
        self.values.iter().fold(0, |mask, (_, value)| mask | value)
    }

    /// The largest enumerator.
    #[must_use]
    pub fn max(&self) -> u32 {
        self.values
            .iter()
            .fold(0, |max, (_, value)| max.max(*value))
    }

    /// True for an enumerator, or for a set of them where they are bits.
    #[must_use]
    pub fn allows(&self, value: u32) -> bool {
        match self.set {
            Some(_) => value & !self.mask() == 0,
            None => self.values.iter().any(|(_, v)| *v == value),
        }
    }

    /// The name of an enumerator.
    #[must_use]
    pub fn name_of(&self, value: u32) -> Option<&'static str> {
        self.values
            .iter()
            .find(|(_, v)| *v == value)
            .map(|(name, _)| *name)
    }
}

/// One struct that can stand in a chain.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// The C type.
    pub name: &'static str,
    /// Whose structure types it counts in.
    pub namespace: Namespace,
    /// Values allowed in `stype`; the first is the usual one.
    pub stypes: &'static [u32],
    /// In bytes, on 64-bit machines.
    pub size: u32,
    /// The version of the specification that added it.
    pub since: Version,
    /// Structs whose chain may hold it.
    pub extends: &'static [&'static str],
    /// Functions that take it through a `pNext` parameter.
    pub passed: &'static [&'static str],
}

/// The meaning of a field's bytes.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// One byte; an array of them is a text up to its NUL.
    Char,
    /// `ze_bool_t`: one byte, zero or not.
    Bool,
    /// A number of so many bytes.
    Unsigned(u8),
    /// A number of so many bytes.
    Signed(u8),
    /// IEEE 754 of so many bytes.
    Float(u8),
    /// Four bytes, a value of the enumeration.
    Enum(&'static Enum),
    /// Four bytes, a set of the enumeration's bits.
    Flags(&'static Enum),
    /// A struct of [`crate::LAYOUTS`].
    Struct(&'static str),
    /// A union: which member counts is said elsewhere.
    Union(&'static str),
    /// A pointer, a handle or a function.
    Pointer,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// As the specification spells it.
    pub name: &'static str,
    /// In bytes.
    pub offset: u32,
    /// Of one element.
    pub content: Content,
    /// Elements, where it is an array.
    pub count: Option<u32>,
}

/// One struct with what lies where.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The C type.
    pub name: &'static str,
    /// In bytes.
    pub size: u32,
    /// In order.
    pub fields: &'static [Field],
}

/// One extension.
#[derive(Clone, Copy, Debug)]
pub struct Extension {
    /// The string that `zeDriverGetExtensionProperties` reports.
    pub name: &'static str,
    /// Oldest first.
    pub versions: &'static [Version],
    /// Not yet promised to stay.
    pub experimental: bool,
    /// The version of the specification that added it.
    pub since: Version,
    /// The functions it adds.
    pub functions: &'static [&'static str],
}
