//! The layers: lists of functions, tables, getters and tracing callbacks that the layers' own macros expand.

use super::output::Output;
use super::slots::{AGGREGATES, Slots};
use super::{driver_tables, rust, validation};
use crate::table::{Function, Table};
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::fmt::Write as _;

const FOLDER: &str = "crates/ze-layers/src/generated";
const VALIDATION: &str = "crates/libze_validation_layer/src/generated";
const TRACING: &str = "crates/libze_tracing_layer/src/generated";

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let slots = Slots::new(table)?;
    let modules = rust::head(
        "Lists that the layers' macros expand, and what the API table says about each function.",
    ) + "#[macro_use]\nmod functions;\n#[macro_use]\nmod tables;\n#[macro_use]\nmod callbacks;\npub(crate) mod kinds;\npub(crate) mod lifetimes;\npub(crate) mod parameters;\n\npub(crate) use callbacks::{CALLBACKS, TRACED};\npub(crate) use functions::{FUNCTIONS, PLACES};\n";
    Ok(vec![
        Output::new(format!("{VALIDATION}/mod.rs"), getters(table, |_| true)),
        Output::new(
            format!("{TRACING}/mod.rs"),
            getters(table, |f| matches!(f.prefix(), "ze" | "zer")) + "\n" + &registrations(table),
        ),
        Output::new(format!("{FOLDER}/mod.rs"), modules),
        Output::new(format!("{FOLDER}/functions.rs"), functions(table, &slots)?),
        Output::new(format!("{FOLDER}/tables.rs"), tables(table, &slots)?),
        Output::new(format!("{FOLDER}/callbacks.rs"), callbacks(table, &slots)?),
        Output::new(
            format!("{FOLDER}/parameters.rs"),
            validation::parameters(table, &slots)?,
        ),
        Output::new(format!("{FOLDER}/kinds.rs"), validation::kinds(table)?),
        Output::new(
            format!("{FOLDER}/lifetimes.rs"),
            validation::lifetimes(table, &slots)?,
        ),
    ])
}

fn functions(table: &Table, slots: &Slots<'_>) -> Result<String> {
    let mut out = rust::head("Every function that has a slot, in the order of the slots.");
    out += "/// Expands `$m!` over all functions: `INDEX name(param: Type, …) -> Type = aggregate.Table.slot;`.\n";
    out += "macro_rules! each_function {\n    ($m:ident) => {\n        $m! {\n";
    for (index, entry) in slots.all.iter().enumerate() {
        let (aggregate, member, slot) = entry.path;
        writeln!(
            out,
            "            {index} {}({}) -> {} = {aggregate}.{member}.{slot};",
            entry.function.name,
            driver_tables::parameters(entry.function)?,
            rust::ty(&entry.function.ret)?,
        )?;
    }
    out += "        }\n    };\n}\n\n";
    writeln!(
        out,
        "/// How many functions have a slot.\npub(crate) const FUNCTIONS: usize = {};\n",
        slots.all.len()
    )?;
    out += "/// Their places in `ze_spec::FUNCTIONS`, by index.\npub(crate) static PLACES: [u16; FUNCTIONS] = [\n";
    let mut names: Vec<&str> = table.functions.iter().map(|f| f.name.as_str()).collect();
    names.sort_unstable();
    for entry in &slots.all {
        let place = names
            .binary_search(&entry.function.name.as_str())
            .map_err(|_| anyhow::anyhow!("{}: not in the table", entry.function.name))?;
        writeln!(out, "    {place},")?;
    }
    Ok(out + "];\n")
}

fn tables(table: &Table, slots: &Slots<'_>) -> Result<String> {
    let mut out = rust::head("The tables of `Tables`.");
    out += "/// `Tables` whose slots are the functions of the API's names in scope.\nmacro_rules! complete_tables {\n    () => {\n        $crate::Tables {\n";
    for (prefix, name) in AGGREGATES {
        let aggregate = table
            .structure(name)
            .with_context(|| format!("no {name}"))?;
        writeln!(out, "            {prefix}: level_zero_sys::{name} {{")?;
        for member in &aggregate.fields {
            writeln!(
                out,
                "                {}: level_zero_sys::{} {{",
                member.name, member.ty
            )?;
            let slots = slots
                .all
                .iter()
                .filter(|w| w.path.0 == prefix && w.path.1 == member.name);
            for entry in slots {
                writeln!(
                    out,
                    "                    {}: Some({}),",
                    entry.path.2, entry.function.name
                )?;
            }
            out += "                },\n";
        }
        out += "            },\n";
    }
    out += "        }\n    };\n}\n\n";
    out += "/// Expands `$m!` over the tables: `zeGet…ProcAddrTable aggregate.Table: type [(since, slots), …];`, the slots\n/// that exist at each version.\nmacro_rules! each_table {\n    ($m:ident) => {\n        $m! {\n";
    for getter in driver_tables::driver_getters(table) {
        let inner = driver_tables::filled(table, getter)?;
        let (prefix, member) = AGGREGATES
            .iter()
            .find_map(|(prefix, name)| {
                let member = table
                    .structure(name)?
                    .fields
                    .iter()
                    .find(|f| f.ty == inner.name)?;
                Some((prefix, &member.name))
            })
            .with_context(|| format!("{}: in no aggregate", inner.name))?;
        let mut reach: Vec<(u32, usize)> = Vec::new();
        for (index, slot) in inner.fields.iter().enumerate() {
            let since = driver_tables::number(slot.since);
            match reach.last_mut() {
                Some(last) if last.0 == since => last.1 = index + 1,
                _ => reach.push((since, index + 1)),
            }
        }
        let reach: Vec<String> = reach
            .iter()
            .map(|(since, slots)| format!("({since:#x}, {slots})"))
            .collect();
        writeln!(
            out,
            "            {} {prefix}.{member}: {} [{}];",
            getter.name,
            inner.name,
            reach.join(", ")
        )?;
    }
    Ok(out + "        }\n    };\n}\n")
}

/// The tracing callbacks: one per function whose calls can be traced.
fn callbacks(table: &Table, slots: &Slots<'_>) -> Result<String> {
    let mut out =
        rust::head("Tracing callbacks: which function each belongs to, and its parameter block.");
    let mut list = String::new();
    let mut names = String::new();
    let mut order: HashMap<&str, usize> = HashMap::new();
    let registrations = table
        .functions
        .iter()
        .filter(|f| f.name.ends_with("RegisterCallback"));
    for (number, registration) in registrations.enumerate() {
        let callback = &registration
            .params
            .get(2)
            .with_context(|| format!("{}: no callback", registration.name))?
            .ty;
        // `ze_pfnInitCb_t` is for `zeInit`, `zer_pfn…Cb_t` for `zer…`.
        let (prefix, rest) = callback
            .split_once("_pfn")
            .with_context(|| format!("{callback}: unusual name"))?;
        let name = format!(
            "{prefix}{}",
            rest.strip_suffix("Cb_t")
                .with_context(|| format!("{callback}: unusual name"))?
        );
        let index = *slots
            .index
            .get(name.as_str())
            .with_context(|| format!("{callback}: no function {name}"))?;
        let function = slots.all[index].function;
        let block = table
            .callbacks
            .iter()
            .find(|c| c.name == *callback)
            .and_then(|c| c.params.first())
            .and_then(|(_, ty)| ty.strip_suffix(" *"))
            .with_context(|| format!("{callback}: no parameter block"))?;
        let fields = &table
            .structure(block)
            .with_context(|| format!("no {block}"))?
            .fields;
        anyhow::ensure!(
            fields.len() == function.params.len()
                || (function.params.is_empty() && fields.len() == 1),
            "{block}: {} fields for {} parameters of {name}",
            fields.len(),
            function.params.len()
        );
        let mut pairs = Vec::new();
        for (field, parameter) in fields.iter().zip(&function.params) {
            anyhow::ensure!(
                field.name == format!("p{}", parameter.name),
                "{block}.{}: not {}",
                field.name,
                parameter.name
            );
            pairs.push(format!(
                "{} {}: {}",
                field.name,
                rust::ident(&parameter.name),
                rust::ty(&parameter.ty)?
            ));
        }
        let (aggregate, member, slot) = slots.all[index].path;
        writeln!(
            list,
            "            {number} {name}({}) -> {} = {aggregate}.{member}.{slot}, {block};",
            pairs.join(", "),
            rust::ty(&function.ret)?,
        )?;
        writeln!(names, "    {:?},", name)?;
        order.insert(callback, number);
    }
    out += "/// Expands `$m!` over the functions that can be traced, in the order of the registration functions:\n/// `INDEX name(field param: Type, …) -> Type = aggregate.Table.slot, block;`.\n";
    writeln!(
        out,
        "macro_rules! each_callback {{\n    ($m:ident) => {{\n        $m! {{\n{list}        }}\n    }};\n}}\n"
    )?;
    // Everything with a slot that no tracer sees goes straight on.
    out += "/// Expands `$m!` over the functions that cannot be traced: `name = aggregate.Table.slot;`.\nmacro_rules! each_untraced {\n    ($m:ident) => {\n        $m! {\n";
    for entry in &slots.all {
        let traced = names
            .lines()
            .any(|l| l.trim() == format!("{:?},", entry.function.name));
        if !traced {
            let (aggregate, member, slot) = entry.path;
            writeln!(
                out,
                "            {}({}) -> {} = {aggregate}.{member}.{slot};",
                entry.function.name,
                driver_tables::parameters(entry.function)?,
                rust::ty(&entry.function.ret)?
            )?;
        }
    }
    out += "        }\n    };\n}\n\n";
    writeln!(
        out,
        "/// How many functions can be traced.\npub(crate) const CALLBACKS: usize = {};\n",
        order.len()
    )?;
    writeln!(
        out,
        "/// Their names, by number.\npub(crate) static TRACED: [&str; CALLBACKS] = [\n{names}];\n"
    )?;
    // The frozen set of the specification's 1.0.
    let set = table
        .structure("ze_callbacks_t")
        .context("no ze_callbacks_t")?;
    out += "/// Expands `$m!` over the members of `ze_callbacks_t`: `Group.slot NUMBER;`.\nmacro_rules! each_core_callback {\n    ($m:ident) => {\n        $m! {\n";
    for group in &set.fields {
        let inner = table
            .structure(&group.ty)
            .with_context(|| format!("no {}", group.ty))?;
        for slot in &inner.fields {
            let number = order
                .get(slot.ty.as_str())
                .with_context(|| format!("{}: no registration", slot.ty))?;
            writeln!(out, "            {}.{} {number};", group.name, slot.name)?;
        }
    }
    Ok(out + "        }\n    };\n}\n")
}

/// The exports of a layer's library that loaders ask for tables.
fn getters(table: &Table, is_wanted: impl Fn(&Function) -> bool) -> String {
    let mut out = rust::head("The exported functions, by name.") + "crate::getters! {\n";
    for getter in driver_tables::driver_getters(table).filter(|f| is_wanted(f)) {
        writeln!(out, "    {}", getter.name).ok();
    }
    out + "}\n"
}

fn registrations(table: &Table) -> String {
    let mut out = String::from("crate::registrations! {\n");
    for function in table
        .functions
        .iter()
        .filter(|f| f.name.ends_with("RegisterCallback"))
    {
        writeln!(out, "    {}", function.name).ok();
    }
    out + "}\n"
}
