//! The tables of drivers: their members, versions and getters, as the loader, the layers and the stub use them.

use super::rust;
use crate::table::{Function, Kind, Struct, Table, Version};
use anyhow::{Context as _, Result, bail};

/// The folder of the loader's generated code.
pub(super) const LOGIC: &str = "crates/ze-loader/src/generated";

/// The tables of tables behind a handle's header: struct, header member, name of the generated list.
pub(super) const DRIVER_TABLES: [(&str, &str, &str); 4] = [
    ("ze_dditable_driver_t", "pCore", "CORE"),
    ("zet_dditable_driver_t", "pTools", "TOOLS"),
    ("zes_dditable_driver_t", "pSysman", "SYSMAN"),
    ("zer_dditable_driver_t", "pRuntime", "RUNTIME"),
];

/// The oldest driver table that the loader lets in; functions up to it need no version check.
pub(super) const FLOOR: Version = Version {
    major: 1,
    minor: 13,
};

/// Functions with a slot that the loader defines by hand: no handle decides, all drivers are asked, or the result is no code.
pub(super) const BY_HAND: [&str; 10] = [
    "zeInit",
    "zeInitDrivers",
    "zeDriverGet",
    "zeDriverGetDefaultContext",
    "zesInit",
    "zesDriverGet",
    "zerGetLastErrorDescription",
    "zerTranslateDeviceHandleToIdentifier",
    "zerTranslateIdentifierToDeviceHandle",
    "zerGetDefaultContext",
];

pub(super) fn number(version: Version) -> u32 {
    version.major << 16 | version.minor
}

/// The sub-tables of a table of tables: member name and struct.
pub(super) fn members<'t>(table: &'t Table, name: &str) -> Result<Vec<(&'t str, &'t Struct)>> {
    let outer = table
        .structure(name)
        .with_context(|| format!("no table {name}"))?;
    let pointers = outer
        .fields
        .iter()
        .filter_map(|f| f.ty.strip_suffix(" *").map(|inner| (f, inner)));
    pointers
        .map(|(field, inner)| {
            let inner = table
                .structure(inner)
                .with_context(|| format!("{name}.{}: no table {inner}", field.name))?;
            Ok((field.name.as_str(), inner))
        })
        .collect()
}

/// The version that added a table: that of its first function.
pub(super) fn since(inner: &Struct) -> Result<Version> {
    let versions = inner.fields.iter().map(|field| field.since);
    versions.min().context("an empty table")
}

/// Whether drivers may leave a table out: it came after 1.0, or is experimental. `Global` begins everything.
pub(super) fn is_optional(member: &str, inner: &Struct) -> Result<bool> {
    let is_late = member.ends_with("Exp") || number(since(inner)?) > 0x1_0000;
    Ok(is_late && member != "Global")
}

pub(super) fn parameters(function: &Function) -> Result<String> {
    let mut list = Vec::new();
    for p in &function.params {
        list.push(format!("{}: {}", rust::ident(&p.name), rust::ty(&p.ty)?));
    }
    Ok(list.join(", "))
}

/// Leaves out what a file does not use.
pub(super) fn trim_imports(text: String) -> String {
    let used: Vec<&str> = ["c_char", "c_void"]
        .into_iter()
        .filter(|n| text.contains(&format!(" {n}")))
        .filter(|n| text.matches(n).count() > 1)
        .collect();
    let line = match used.as_slice() {
        [] => String::new(),
        [one] => format!("use std::ffi::{one};\n"),
        several => format!("use std::ffi::{{{}}};\n", several.join(", ")),
    };
    text.replace("use std::ffi::{c_char, c_void};\n", &line)
}

/// The table that a getter fills.
pub(super) fn filled<'t>(table: &'t Table, getter: &Function) -> Result<&'t Struct> {
    let out = getter
        .params
        .get(1)
        .with_context(|| format!("{}: no table", getter.name))?;
    let name = out.ty.strip_suffix(" *").unwrap_or(&out.ty);
    let found = table
        .structure(name)
        .with_context(|| format!("{}: no table {name}", getter.name))?;
    if found.kind != Kind::Table {
        bail!("{}: {name} is no table", getter.name);
    }
    Ok(found)
}

/// The getters of drivers' tables, without that of the tracer table.
pub(super) fn driver_getters(table: &Table) -> impl Iterator<Item = &Function> {
    table
        .functions
        .iter()
        .filter(|f| f.is_getter() && f.prefix() != "zel")
}
