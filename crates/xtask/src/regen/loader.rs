//! The loader: exported functions that forward through the handle's header, getters, and the members of driver tables.

mod legacy;

use super::driver_tables::{
    DRIVER_TABLES, FLOOR, LOGIC, driver_getters, filled, is_optional, members, number, parameters,
    reach, since, trim_imports,
};
use super::output::Output;
use super::rust;
use crate::table::Table;
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;

const SHELL: &str = "crates/libze_loader/src/generated";

/// The rooms of the loader's generated code.
const MODULES: &str = "\
/// The value of a result, or the way out with its error.
macro_rules! check {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return error,
        }
    };
}

pub(crate) mod bottom;
mod bottom_core;
mod bottom_sysman;
mod bottom_tools;
pub(crate) mod driver_tables;
pub(crate) mod legacy;
mod legacy_core;
pub(crate) mod legacy_facts;
mod legacy_sysman;
mod legacy_tools;
";

/// Functions with a slot that `libze_loader` defines by hand: no handle decides, all drivers are asked, or the result
/// is no code.
const BY_HAND: [&str; 12] = [
    "zeInit",
    "zeInitDrivers",
    "zeDriverGet",
    "zeDriverGetDefaultContext",
    "zesInit",
    "zesDriverGet",
    "zeModuleDynamicLink",
    "zeModuleInspectLinkageExt",
    "zerGetLastErrorDescription",
    "zerTranslateDeviceHandleToIdentifier",
    "zerTranslateIdentifierToDeviceHandle",
    "zerGetDefaultContext",
];

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let mut outputs = vec![
        Output::new(
            format!("{LOGIC}/mod.rs"),
            rust::head("What the loader knows about tables.") + MODULES,
        ),
        Output::new(format!("{LOGIC}/driver_tables.rs"), driver_tables(table)?),
    ];
    outputs.extend(legacy::generate(table)?);
    let mut modules = rust::head("The exports, by namespace.");
    for (prefix, module) in [("ze", "core"), ("zet", "tools"), ("zes", "sysman")] {
        writeln!(modules, "pub(crate) mod {module};")?;
        outputs.push(Output::new(
            format!("{SHELL}/{module}.rs"),
            entries(table, prefix)?,
        ));
    }
    modules += "mod getters;\nmod tracer;\n";
    outputs.push(Output::new(format!("{SHELL}/getters.rs"), getters(table)?));
    outputs.push(Output::new(format!("{SHELL}/tracer.rs"), tracer(table)));
    outputs.push(Output::new(format!("{SHELL}/mod.rs"), modules));
    Ok(outputs)
}

fn driver_tables(table: &Table) -> Result<String> {
    let mut out =
        rust::head("The members of the four driver tables, in the order of their offsets from 8.");
    out += "use crate::tables::Member;\n\n";
    for (name, header, list) in DRIVER_TABLES {
        let members = members(table, name)?;
        writeln!(
            out,
            "/// `{header}`: `{name}`.\npub(crate) static {list}: [Member; {}] = [",
            members.len()
        )?;
        for (member, inner) in members {
            writeln!(
                out,
                "    Member {{ name: {member:?}, since: {:#x}, optional: {} }},",
                number(since(inner)?),
                is_optional(member, inner)?
            )?;
        }
        out += "];\n\n";
    }
    Ok(out)
}

const LINTS: &str =
    "#![expect(non_snake_case, reason = \"functions and parameters carry C's names\")]\n\n";

fn entries(table: &Table, prefix: &str) -> Result<String> {
    let mut out =
        rust::head("Exported functions: each goes the way that its first handle's header shows.")
            + LINTS;
    out += "use level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\nuse ze_loader::forward;\n\n";
    for function in table
        .functions
        .iter()
        .filter(|f| f.prefix() == prefix && !BY_HAND.contains(&f.name.as_str()))
    {
        let Some((header, member)) = reach(table, function)? else {
            continue;
        };
        let slot = function.slot.as_ref().context("a way without a slot")?;
        let first = function
            .params
            .first()
            .with_context(|| format!("{}: no handle decides", function.name))?;
        if !table.handles.iter().any(|h| h.name == first.ty) || function.ret != "ze_result_t" {
            bail!(
                "{}: must be written by hand (no leading handle, or another result)",
                function.name
            );
        }
        let since = table
            .structure(&slot.table)
            .and_then(|t| t.fields.iter().find(|f| f.name == slot.field));
        let since = since.map(|f| f.since).filter(|v| *v > FLOOR);
        let since = since.map_or(String::new(), |v| format!(" since {:#x}", number(v)));
        let arguments: Vec<String> = function
            .params
            .iter()
            .map(|p| rust::ident(&p.name))
            .collect();
        writeln!(
            out,
            "#[unsafe(no_mangle)]\npub(crate) unsafe extern \"C\" fn {}({}) -> ze_result_t {{\n    forward!({:?}, {prefix} {header}, {member}, {}{since}, {} => {})\n}}\n",
            function.name,
            parameters(function)?,
            function.name,
            slot.field,
            rust::ident(&first.name),
            arguments.join(", "),
        )?;
    }
    Ok(trim_imports(out))
}

fn getters(table: &Table) -> Result<String> {
    let mut out = rust::head("Getters: each table's slots are the exported functions.");
    out += "#![expect(non_snake_case, non_upper_case_globals, reason = \"functions, parameters and tables carry C's names\")]\n\n";
    out += "use super::{core::*, sysman::*, tools::*};\nuse crate::entries::*;\nuse level_zero_sys::*;\nuse ze_loader::tables::fill;\n\n";
    for getter in driver_getters(table) {
        let inner = filled(table, getter)?;
        writeln!(out, "static {0}: {0} = {0} {{", inner.name)?;
        let mut reach: Vec<(u32, usize)> = Vec::new();
        for (index, slot) in inner.fields.iter().enumerate() {
            let function = table
                .function_of_pfn(&slot.ty)
                .with_context(|| format!("{}: no function", slot.name))?;
            writeln!(out, "    {}: Some({}),", slot.name, function.name)?;
            let since = number(slot.since);
            match reach.last_mut() {
                Some(last) if last.0 == since => last.1 = index + 1,
                _ => reach.push((since, index + 1)),
            }
        }
        let reach: Vec<String> = reach
            .iter()
            .map(|(since, slots)| format!("({since:#x}, {slots})"))
            .collect();
        writeln!(out, "}};\n")?;
        writeln!(
            out,
            "#[unsafe(no_mangle)]\npub(crate) unsafe extern \"C\" fn {0}({1}) -> ze_result_t {{\n    // SAFETY: the caller gives null or a table with room for the slots of the version it asks for.\n    unsafe {{ fill({0:?}, version, pDdiTable, &{2}, &[{3}]) }}\n}}\n",
            getter.name,
            parameters(getter)?,
            inner.name,
            reach.join(", "),
        )?;
    }
    Ok(out)
}

fn tracer(table: &Table) -> String {
    let mut out = rust::head("Registration of tracing callbacks.");
    out += "use crate::entries::registrations;\n\nregistrations! {\n";
    for function in table
        .functions
        .iter()
        .filter(|f| f.name.ends_with("RegisterCallback"))
    {
        writeln!(out, "    {}", function.name).ok();
    }
    out + "}\n"
}
