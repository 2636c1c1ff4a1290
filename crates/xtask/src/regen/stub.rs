//! The stub driver: every slot logs its name and answers what the script says; creation hands out an object.

use super::output::Output;
use super::{driver_tables, rust};
use crate::table::{Direction, Function, Table};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

const LOGIC: &str = "crates/ze-stub/src/generated";

/// Functions that `ze-stub` answers by hand: they describe the stub itself.
const BY_HAND: [&str; 19] = [
    "zeInit",
    "zeInitDrivers",
    "zeDriverGet",
    "zeDriverGetApiVersion",
    "zeDriverGetProperties",
    "zeDriverGetExtensionProperties",
    "zeDriverGetDefaultContext",
    "zeDeviceGet",
    "zeDeviceGetProperties",
    "zeDriverGetExtensionFunctionAddress",
    "zeKernelGetProperties",
    "zeKernelSetArgumentValue",
    "zeDeviceGetRuntimeRequirements",
    "zesInit",
    "zesDriverGet",
    "zerGetLastErrorDescription",
    "zerTranslateDeviceHandleToIdentifier",
    "zerTranslateIdentifierToDeviceHandle",
    "zerGetDefaultContext",
];

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let modules =
        rust::head("Slots and tables.") + "mod getters;\nmod slots;\npub(crate) mod tables;\n";
    Ok(vec![
        Output::new(format!("{LOGIC}/mod.rs"), modules),
        Output::new(format!("{LOGIC}/slots.rs"), slots(table)?),
        Output::new(format!("{LOGIC}/tables.rs"), tables(table)?),
        Output::new(format!("{LOGIC}/getters.rs"), getters(table)),
    ])
}

fn slots(table: &Table) -> Result<String> {
    let mut out = rust::head("One function per slot.");
    out += "#![expect(non_snake_case, unused_variables, reason = \"functions and parameters carry C's names; most arguments are not looked at\")]\n#![expect(unsafe_op_in_unsafe_fn, reason = \"one contract for all: the arguments are what Level Zero requires of them\")]\n\n";
    out += "use crate::call::Call;\nuse level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\n\n";
    out += SLOTS;
    for function in slot_functions(table).filter(|f| !BY_HAND.contains(&f.name.as_str())) {
        let steps = steps(table, function);
        writeln!(
            out,
            "    {}({}) -> {} {{ {} }}",
            function.name,
            driver_tables::parameters(function)?,
            rust::ty(&function.ret)?,
            steps
                .iter()
                .map(|step| format!("{step};"))
                .collect::<Vec<_>>()
                .join(" "),
        )?;
    }
    out += "}\n";
    Ok(driver_tables::trim_imports(out))
}

/// The body that all slots share.
const SLOTS: &str = r#"/// `FUNCTION(PARAMETERS) -> RESULT { STEPS }`: logs the call, takes the steps, answers as the script says.
macro_rules! slots {
    ($($name:ident($($param:ident: $type:ty),*) -> $ret:ty { $($step:ident($($value:expr),*);)* })*) => {$(
        pub(super) unsafe extern "C" fn $name($($param: $type),*) -> $ret {
            let call = &mut Call::new(stringify!($name));
            $(call.$step($($value),*);)*
            call.finish()
        }
    )*};
}

slots! {
"#;

/// The functions with a slot that drivers fill.
fn slot_functions(table: &Table) -> impl Iterator<Item = &Function> {
    table
        .functions
        .iter()
        .filter(|f| f.slot.is_some() && f.prefix() != "zel")
}

/// Functions whose output is a new object each time; others return one that they keep.
fn creates(name: &str) -> bool {
    [
        "Create",
        "Open",
        "Import",
        "Attach",
        "Instantiate",
        "DynamicLink",
        "InspectLinkage",
        "EndGraphCapture",
    ]
    .iter()
    .any(|part| name.contains(part))
}

/// The values that a call logs and writes: handles and arrays of them, new or kept objects, zero for counts of other things.
fn steps(table: &Table, function: &Function) -> Vec<String> {
    let is_handle = |ty: &str| table.handles.iter().any(|h| h.name == ty);
    let mut steps = Vec::new();
    for p in &function.params {
        let name = rust::ident(&p.name);
        let inner = p.ty.strip_suffix(" *").unwrap_or_default();
        if is_handle(&p.ty) {
            steps.push(format!("handle({:?}, {name})", p.name));
        } else if is_handle(inner) {
            match (p.direction, p.count.as_deref()) {
                (Direction::In, count) => {
                    steps.push(format!(
                        "array({:?}, {}, {name})",
                        p.name,
                        count.unwrap_or("metricCount")
                    ));
                }
                (_, Some(count)) => {
                    let count = count.trim_start_matches('*');
                    steps.push(format!("listed({:?}, {count}, {name})", p.name));
                }
                (_, None) if p.name == "phMetricGroups" => {
                    steps.push(format!("array({:?}, metricGroupCount, {name})", p.name));
                }
                _ if creates(&function.name) => {
                    steps.push(format!("created({:?}, {name})", p.name))
                }
                _ => steps.push(format!("kept({:?}, {name})", p.name)),
            }
        } else if p.direction == Direction::InOut
            && inner == "uint32_t"
            && p.name.ends_with("Count")
        {
            let counts_handles = (function.params.iter()).any(|q| {
                q.count.as_deref() == Some(&format!("*{}", p.name))
                    && is_handle(q.ty.strip_suffix(" *").unwrap_or_default())
            });
            if !counts_handles {
                steps.push(format!("none({name})"));
            }
        } else if p.name == "pArguments" && p.ty == "void **" {
            steps.push(format!("arguments({name})"));
        } else if p.name == "desc" && function.name == "zeCommandListUpdateMutableCommandsExp" {
            steps.push(format!("argument_in_chain({name}.cast())"));
        }
    }
    steps
}

fn tables(table: &Table) -> Result<String> {
    let mut out = rust::head("Which function stands in which slot, and how tables hang together.");
    out += "use super::slots::*;\nuse crate::answers::*;\nuse crate::objects::{DriverTable, Slot, Table};\n\n";
    let getters: Vec<_> = driver_tables::driver_getters(table).collect();
    writeln!(
        out,
        "/// The tables of functions, in the order of the getters.\npub(crate) static TABLES: [Table; {}] = [",
        getters.len()
    )?;
    let mut names = Vec::new();
    for getter in getters {
        let inner = driver_tables::filled(table, getter)?;
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
        for (_, inner) in driver_tables::members(table, name)? {
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
    let mut out = rust::head("The getters, by place in the list of tables.");
    out += GETTERS;
    for (place, getter) in driver_tables::driver_getters(table).enumerate() {
        writeln!(out, "            {} {place}", getter.name).ok();
    }
    out + "        }\n    };\n}\n"
}

/// The macro by which a shell exports them.
const GETTERS: &str = r#"/// Exports the getters of a driver from the library that expands it.
#[macro_export]
macro_rules! export_getters {
    ($($name:ident $place:literal)+) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            version: $crate::ze_api_version_t,
            table: *mut std::ffi::c_void,
        ) -> $crate::ze_result_t {
            // SAFETY: the caller gives null or the table of this getter.
            unsafe { $crate::fill(stringify!($name), $place, version, table) }
        }
    )+};
    () => {
        $crate::export_getters! {
"#;
