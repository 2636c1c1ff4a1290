//! The stub driver: every slot logs its name and answers what the script says; creation hands out an object.

use super::{Output, loader, rust};
use crate::table::{Direction, Function, Table};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

const LOGIC: &str = "crates/ze-stub/src/generated";
const SHELL: &str = "crates/libze_stub/src/generated";

/// Functions that `ze-stub` answers by hand: they describe the stub itself.
const BY_HAND: [&str; 15] = [
    "zeInit",
    "zeInitDrivers",
    "zeDriverGet",
    "zeDriverGetApiVersion",
    "zeDriverGetProperties",
    "zeDriverGetExtensionProperties",
    "zeDriverGetDefaultContext",
    "zeDeviceGet",
    "zeDeviceGetProperties",
    "zesInit",
    "zesDriverGet",
    "zerGetLastErrorDescription",
    "zerTranslateDeviceHandleToIdentifier",
    "zerTranslateIdentifierToDeviceHandle",
    "zerGetDefaultContext",
];

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let modules = rust::head("Slots and tables.") + "mod slots;\npub(crate) mod tables;\n";
    Ok(vec![
        Output::new(format!("{LOGIC}/mod.rs"), modules),
        Output::new(format!("{LOGIC}/slots.rs"), slots(table)?),
        Output::new(format!("{LOGIC}/tables.rs"), tables(table)?),
        Output::new(format!("{SHELL}/mod.rs"), getters(table)),
    ])
}

fn slots(table: &Table) -> Result<String> {
    let mut out = rust::head("One function per slot.");
    out += "#![expect(non_snake_case, unused_variables, reason = \"functions and parameters carry C's names; most arguments are not looked at\")]\n\n";
    out += "use crate::script::{created, none, slot};\nuse level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\n\n";
    for function in slot_functions(table).filter(|f| !BY_HAND.contains(&f.name.as_str())) {
        writeln!(
            out,
            "pub(super) unsafe extern \"C\" fn {}({}){} {{",
            function.name,
            loader::parameters(function)?,
            rust::arrow(&function.ret)?
        )?;
        let outputs = outputs(table, function);
        if outputs.is_empty() {
            writeln!(out, "    slot({:?})", function.name)?;
        } else {
            writeln!(out, "    let result = slot({:?});", function.name)?;
            for (call, parameter) in outputs {
                writeln!(
                    out,
                    "    // SAFETY: the caller gives null or a place to write.\n    unsafe {{ {call}(result, {parameter}) }};"
                )?;
            }
            out += "    result\n";
        }
        out += "}\n\n";
    }
    Ok(loader::trim_imports(out))
}

/// The functions with a slot that drivers fill.
fn slot_functions(table: &Table) -> impl Iterator<Item = &Function> {
    table
        .functions
        .iter()
        .filter(|f| f.slot.is_some() && f.prefix() != "zel")
}

/// What a call writes when it succeeds: new objects for single handles, zero for counts.
fn outputs<'t>(table: &Table, function: &'t Function) -> Vec<(&'static str, &'t str)> {
    let written = function
        .params
        .iter()
        .filter(|p| p.direction != Direction::In);
    written
        .filter_map(|p| {
            let inner = p.ty.strip_suffix(" *")?;
            if p.direction == Direction::Out
                && p.count.is_none()
                && table.handles.iter().any(|h| h.name == inner)
            {
                Some(("created", p.name.as_str()))
            } else if p.direction == Direction::InOut
                && inner == "uint32_t"
                && p.name.ends_with("Count")
            {
                Some(("none", p.name.as_str()))
            } else {
                None
            }
        })
        .collect()
}

fn tables(table: &Table) -> Result<String> {
    let mut out = rust::head("Which function stands in which slot, and how tables hang together.");
    out += "use super::slots::*;\nuse crate::answers::*;\nuse crate::objects::{DriverTable, Slot, Table};\n\n";
    let getters: Vec<_> = loader::driver_getters(table).collect();
    writeln!(
        out,
        "/// The tables of functions, in the order of the getters.\npub(crate) static TABLES: [Table; {}] = [",
        getters.len()
    )?;
    let mut names = Vec::new();
    for getter in getters {
        let inner = loader::filled(table, getter)?;
        names.push(inner.name.as_str());
        out += "    Table {\n        slots: &[\n";
        for slot in &inner.fields {
            let function = table
                .function_of_pfn(&slot.ty)
                .with_context(|| format!("{}: no function", slot.name))?;
            let since = slot.since.major << 16 | slot.since.minor;
            writeln!(
                out,
                "            Slot {{ name: {0:?}, since: {since:#x}, function: {0} as *const () }},",
                function.name
            )?;
        }
        out += "        ],\n    },\n";
    }
    out += "];\n\n/// The four tables behind a handle's header: places in [`TABLES`] in the order of their members.\n";
    out += "pub(crate) static DRIVER_TABLES: [DriverTable; 4] = [\n";
    for name in [
        "ze_dditable_driver_t",
        "zet_dditable_driver_t",
        "zes_dditable_driver_t",
        "zer_dditable_driver_t",
    ] {
        let mut places = Vec::new();
        for (_, inner) in loader::members(table, name)? {
            let place = names.iter().position(|n| *n == inner.name);
            places.push(
                place
                    .with_context(|| format!("{}: no getter fills it", inner.name))?
                    .to_string(),
            );
        }
        writeln!(
            out,
            "    DriverTable {{ members: &[{}] }},",
            places.join(", ")
        )?;
    }
    Ok(out + "];\n")
}

fn getters(table: &Table) -> String {
    let mut out = rust::head("The getters, by place in the stub's list of tables.");
    out += "crate::getters! {\n";
    for (place, getter) in loader::driver_getters(table).enumerate() {
        writeln!(out, "    {} {place}", getter.name).ok();
    }
    out + "}\n"
}
