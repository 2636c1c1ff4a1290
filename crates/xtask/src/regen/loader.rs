//! The loader: exported functions that forward through the handle's header, getters, and the members of driver tables.

mod legacy;

use super::driver_tables::{
    BY_HAND, DRIVER_TABLES, FLOOR, LOGIC, driver_getters, filled, is_optional, members, number,
    parameters, since,
};
use super::output::Output;
use super::rust;
use crate::table::{Field, Function, Struct, Table};
use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;

const SHELL: &str = "crates/libze_loader/src/generated";

/// The rooms of the loader's generated code.
const MODULES: &str = "\
pub(crate) mod driver_tables;
#[macro_use]
mod each_table;
#[macro_use]
mod each_wrapped;
pub(crate) mod legacy_facts;
";

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let mut outputs = vec![
        Output::new(
            format!("{LOGIC}/mod.rs"),
            rust::head("What the loader knows about tables.") + MODULES,
        ),
        Output::new(format!("{LOGIC}/driver_tables.rs"), driver_tables(table)?),
    ];
    outputs.push(Output::new(
        format!("{LOGIC}/each_table.rs"),
        each_table(table)?,
    ));
    outputs.extend(legacy::generate(table)?);
    outputs.push(Output::new(format!("{SHELL}/mod.rs"), tracer(table)));
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

/// The documentation of the list.
const EACH_TABLE: &str = "\
/// Expands `$m!` over the tables of drivers:
///
/// ```text
/// NAMESPACE HEADER_MEMBER AGGREGATE DRIVER_TABLE {
///     MEMBER [LOOK]: TABLE by GETTER [REACH] { SLOT FUNCTION(PARAMETERS) [CONDITION]; }
/// }
/// ```
///
/// LOOK is the question for a table that drivers may leave out. REACH holds pairs of an API version and the number of slots
/// that exist from it on. CONDITION is `since VERSION` for slots newer than 1.13, the oldest table that is let in, and
/// `first of COUNT ARRAY` where the first handle of an array decides; `by_hand` stands in place of the parameters of a
/// function that is written by hand.
#[macro_export]
macro_rules! each_table {
    ($m:ident) => {
        $m! {
";

fn each_table(table: &Table) -> Result<String> {
    let mut out =
        rust::head("All tables of drivers and their functions, a line for each function.");
    out += EACH_TABLE;
    for (name, header, _) in DRIVER_TABLES {
        let prefix = name.split('_').next().unwrap_or_default();
        writeln!(out, "{prefix} {header} {prefix}_dditable_t {name} {{")?;
        for (member, inner) in members(table, name)? {
            let getter = driver_getters(table)
                .find(|g| filled(table, g).is_ok_and(|t| t.name == inner.name));
            let getter = getter.with_context(|| format!("{}: no getter", inner.name))?;
            let look = if is_optional(member, inner)? {
                "is_null"
            } else {
                ""
            };
            let reach = lengths(inner)
                .iter()
                .map(|(since, slots)| format!("({since:#x}, {slots})"))
                .collect::<Vec<_>>()
                .join(", ");
            writeln!(
                out,
                "    {member} [{look}]: {} by {} [{reach}] {{",
                inner.name, getter.name
            )?;
            for slot in &inner.fields {
                let function = table
                    .function_of_pfn(&slot.ty)
                    .with_context(|| format!("{}: no function", slot.name))?;
                let (parameters, condition) = if BY_HAND.contains(&function.name.as_str()) {
                    (" by_hand".to_owned(), String::new())
                } else {
                    (
                        format!("({})", parameters(function)?),
                        condition(table, function, slot)?,
                    )
                };
                writeln!(
                    out,
                    "        {} {}{parameters} [{condition}];",
                    slot.name, function.name
                )?;
            }
            out += "    }\n";
        }
        out += "}\n";
    }
    Ok(out + "        }\n    };\n}\n")
}

/// How many slots a table has from which version on.
fn lengths(inner: &Struct) -> Vec<(u32, usize)> {
    let mut lengths: Vec<(u32, usize)> = Vec::new();
    for (index, slot) in inner.fields.iter().enumerate() {
        let since = number(slot.since);
        match lengths.last_mut() {
            Some(last) if last.0 == since => last.1 = index + 1,
            _ => lengths.push((since, index + 1)),
        }
    }
    lengths
}

fn condition(table: &Table, function: &Function, slot: &Field) -> Result<String> {
    let is_handle = |ty: &str| table.handles.iter().any(|h| h.name == ty);
    if function.ret != "ze_result_t" {
        bail!(
            "{}: another result, so it must be written by hand",
            function.name
        );
    }
    let newer = (slot.since > FLOOR).then(|| format!("since {:#x}", number(slot.since)));
    if function
        .params
        .first()
        .is_some_and(|first| is_handle(&first.ty))
    {
        return Ok(newer.unwrap_or_default());
    }
    let array = legacy::deciding_array(table, function)?;
    if newer.is_some() {
        bail!("{}: an array decides and a version", function.name);
    }
    let count = array.count.as_ref().context("an array without count")?;
    Ok(format!("first of {count} {}", rust::ident(&array.name)))
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
