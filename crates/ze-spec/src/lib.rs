//! Level Zero 1.17 as constant data: functions with parameters, versions, DDI slots and error rules; enumerations and
//! sets of bits; structs with structure types, extended structs and fields; extensions.
//!
//! For checks and texts: the driver's entries, the validation layer, `solum`. The tables are generated from the API
//! table by `cargo xtask regen`; only their types (`model`) and lookups are written by hand.
//!
//! Invariants: each table is sorted by name and complete; `no_std`, no dependencies, nothing allocates. It holds no
//! rule that the table cannot say (lifetimes, rules across arguments) and no C types: those are `level-zero-sys`.

#![no_std]

#[rustfmt::skip]
mod generated;
mod model;

pub use generated::{ENUMS, EXTENSIONS, FUNCTIONS, LAYOUTS, STRUCTS};
pub use model::{
    Content, Direction, Enum, ErrorRule, Extension, Field, Function, Kind, Layout, Namespace,
    Param, Slot, Struct, Version,
};

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
