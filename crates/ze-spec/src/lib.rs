//! Level Zero 1.17 as constant data: functions with parameters, versions, DDI slots and error rules; enumerations and
//! sets of bits; structs with structure types, what they extend and what lies where in them; extensions.
//!
//! For checks and texts: the driver's entries, the validation layer, `solum`. The tables are generated from the API
//! table by `cargo xtask regen`; only their types and lookups are written by hand, here.
//!
//! Invariants: each table is sorted by name and complete; `no_std`, no dependencies, nothing allocates. It holds no
//! rule that the table cannot say (lifetimes, rules across arguments) and no C types: those are `level-zero-sys`.

#![no_std]

use core::fmt;

#[rustfmt::skip]
mod generated;

pub use generated::{ENUMS, EXTENSIONS, FUNCTIONS, LAYOUTS, STRUCTS};

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

/// Who writes behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The caller; the callee only reads.
    In,
    /// The callee.
    Out,
    /// Both.
    InOut,
}

/// What a parameter is to a check that knows nothing of its meaning.
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
    /// What a check may expect.
    pub kind: Kind,
    /// Who writes it.
    pub direction: Direction,
    /// Null or zero is allowed.
    pub optional: bool,
    /// The call ends the handle's life.
    pub release: bool,
    /// For arrays: the expression, over the other parameters, that counts the elements (`*pCount`, `numWaitEvents`).
    pub count: Option<&'static str>,
}

const fn param(name: &'static str, ty: &'static str, kind: Kind, direction: Direction) -> Param {
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
    const fn optional(self) -> Param {
        Param {
            optional: true,
            ..self
        }
    }

    const fn release(self) -> Param {
        Param {
            release: true,
            ..self
        }
    }

    const fn count(self, elements: &'static str) -> Param {
        Param {
            count: Some(elements),
            ..self
        }
    }
}

const fn rule(code: u32, condition: &'static str) -> ErrorRule {
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

/// What the bytes of a field mean.
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
    /// A struct of [`LAYOUTS`].
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

fn find<T>(
    items: &'static [T],
    name: &str,
    key: impl Fn(&T) -> &'static str,
) -> Option<&'static T> {
    items
        .binary_search_by(|item| key(item).cmp(name))
        .ok()
        .and_then(|i| items.get(i))
}

/// The function of that name.
#[must_use]
pub fn function(name: &str) -> Option<&'static Function> {
    find(&FUNCTIONS, name, |f| f.name)
}

/// The enumeration of that name, or with that type of sets.
#[must_use]
pub fn enumeration(name: &str) -> Option<&'static Enum> {
    find(&ENUMS, name, |e| e.name).or_else(|| ENUMS.iter().find(|e| e.set == Some(name)))
}

/// The struct of that name, if it has a structure type.
#[must_use]
pub fn structure(name: &str) -> Option<&'static Struct> {
    find(&STRUCTS, name, |s| s.name)
}

/// What lies where in the struct of that name; `None` for unions and for tables of functions.
#[must_use]
pub fn layout(name: &str) -> Option<&'static Layout> {
    find(&LAYOUTS, name, |l| l.name)
}

/// The struct that an `stype` of a chain stands for.
#[must_use]
pub fn structure_of(namespace: Namespace, stype: u32) -> Option<&'static Struct> {
    STRUCTS
        .iter()
        .find(|s| s.namespace == namespace && s.stypes.contains(&stype))
}

/// The extension of that name string.
#[must_use]
pub fn extension(name: &str) -> Option<&'static Extension> {
    find(&EXTENSIONS, name, |e| e.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_find_every_item_of_their_table() {
        assert!(
            FUNCTIONS
                .iter()
                .all(|f| function(f.name).is_some_and(|g| g.name == f.name))
        );
        assert!(
            ENUMS
                .iter()
                .all(|e| enumeration(e.name).is_some_and(|g| g.name == e.name))
        );
        assert!(
            STRUCTS
                .iter()
                .all(|s| structure(s.name).is_some_and(|g| g.name == s.name))
        );
        assert!(
            LAYOUTS
                .iter()
                .all(|l| layout(l.name).is_some_and(|g| g.name == l.name))
        );
        assert!(
            EXTENSIONS
                .iter()
                .all(|e| extension(e.name).is_some_and(|g| g.name == e.name))
        );
        assert!(function("zeNothing").is_none());
    }

    #[test]
    fn references_by_name_lead_somewhere() {
        for s in &STRUCTS {
            assert!(
                s.extends.iter().all(|base| structure(base).is_some()),
                "{}",
                s.name
            );
            assert!(s.passed.iter().all(|f| function(f).is_some()), "{}", s.name);
            for stype in s.stypes {
                assert_eq!(
                    structure_of(s.namespace, *stype).map(|t| t.name),
                    Some(s.name)
                );
            }
        }
    }

    #[test]
    fn a_launch_is_described_as_the_specification_has_it() {
        let launch = function("zeCommandListAppendLaunchKernel").expect("a core function");
        assert_eq!(launch.slot.map(|s| s.field), Some("pfnAppendLaunchKernel"));
        let waits = launch.params.last().expect("has parameters");
        assert!(
            waits.optional
                && waits.count == Some("numWaitEvents")
                && matches!(waits.kind, Kind::Pointer)
        );
        assert!(launch.errors.iter().any(|rule| rule.code == 0x7800_0008));
    }

    #[test]
    fn bits_outside_a_set_are_refused() {
        let flags = enumeration("ze_init_flags_t").expect("the type of sets finds the bits");
        for (value, allowed) in [
            (0, true),
            (1, true),
            (3, true),
            (4, false),
            (u32::MAX, false),
        ] {
            assert_eq!(flags.allows(value), allowed, "{value:#x}");
        }
        let mode = enumeration("ze_command_queue_mode_t").expect("an enumeration");
        assert!(mode.allows(2) && !mode.allows(3) && mode.max() == 2);
    }

    /// Bytes of one element; `None` for what lies in no table.
    fn size(content: Content) -> Option<u32> {
        Some(match content {
            Content::Char | Content::Bool => 1,
            Content::Unsigned(bytes) | Content::Signed(bytes) | Content::Float(bytes) => {
                u32::from(bytes)
            }
            Content::Enum(_) | Content::Flags(_) => 4,
            Content::Struct(name) => layout(name)?.size,
            Content::Union(_) => return None,
            Content::Pointer => 8,
        })
    }

    #[test]
    fn fields_lie_behind_one_another_inside_their_struct() {
        for layout in &LAYOUTS {
            let mut end = 0;
            for field in layout.fields {
                assert!(field.offset >= end, "{}.{}", layout.name, field.name);
                end = field.offset + size(field.content).unwrap_or(1) * field.count.unwrap_or(1);
            }
            assert!(end <= layout.size, "{}", layout.name);
        }
        let device = layout("ze_device_properties_t").unwrap();
        let name = device.fields.iter().find(|f| f.name == "name").unwrap();
        assert!(matches!(name.content, Content::Char));
        assert_eq!(
            (name.offset, name.count, device.size),
            (112, Some(256), 368)
        );
    }
}
