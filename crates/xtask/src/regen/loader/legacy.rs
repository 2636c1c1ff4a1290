//! The loader's functions for drivers without DDI handles: each unwraps what the API table says is a handle, calls the
//! driver, and wraps what it returns.

use crate::regen::driver_tables::{BY_HAND, LOGIC, number, parameters, trim_imports};
use crate::regen::output::Output;
use crate::regen::rust;
use crate::table::{Direction, Function, Kind, Param, Table};

use anyhow::{Context as _, Result, bail};
use std::fmt::Write as _;

/// Arrays of handles whose length the table does not say: function, parameter, the parameter that counts.
const COUNTS: [(&str, &str, &str); 2] = [
    (
        "zetDeviceCreateMetricGroupsFromMetricsExp",
        "phMetrics",
        "metricCount",
    ),
    (
        "zetDeviceGetConcurrentMetricGroupsExp",
        "phMetricGroups",
        "metricGroupCount",
    ),
];

/// Parts of the names of functions whose output is a new object, which the application destroys.
const CREATORS: [&str; 8] = [
    "Create",
    "Open",
    "Import",
    "Attach",
    "Instantiate",
    "DynamicLink",
    "InspectLinkage",
    "Clone",
];

/// The namespaces whose functions a handle decides: prefix, member of `Tables`, file.
const NAMESPACES: [(&str, &str); 3] = [("ze", "core"), ("zet", "tools"), ("zes", "sysman")];

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let mut outputs = vec![Output::new(
        format!("{LOGIC}/legacy_facts.rs"),
        facts(table)?,
    )];
    for (prefix, file) in NAMESPACES {
        outputs.push(Output::new(
            format!("{LOGIC}/legacy_{file}.rs"),
            functions(table, prefix)?,
        ));
    }
    Ok(outputs)
}

/// The functions of a namespace that have a slot, in the table's order.
fn slotted<'t>(table: &'t Table, prefix: &'t str) -> impl Iterator<Item = &'t Function> {
    table.functions.iter().filter(move |f| {
        f.prefix() == prefix && f.slot.is_some() && !BY_HAND.contains(&f.name.as_str())
    })
}

/// The name of a handle's type without prefix and suffix, by its opaque struct: `_ze_event_pool_handle_t`.
fn kind(table: &Table, handle: &str) -> Result<String> {
    let handle = table
        .handles
        .iter()
        .find(|h| h.name == handle)
        .with_context(|| format!("no handle {handle}"))?;
    let name = handle.opaque.trim_start_matches('_');
    let name = name.strip_suffix("_handle_t").unwrap_or(name);
    // Sysman's memory module is not core's memory, so its prefix stays.
    Ok(name.strip_prefix("ze_").unwrap_or(name).to_uppercase())
}

fn kinds(table: &Table) -> Result<Vec<String>> {
    let mut kinds = Vec::new();
    for handle in &table.handles {
        let name = kind(table, &handle.name)?;
        if !kinds.contains(&name) && !name.starts_with("ZEL_") {
            kinds.push(name);
        }
    }
    Ok(kinds)
}

fn stype(table: &Table, name: &str) -> Result<u32> {
    let values = table.enums.iter().flat_map(|e| &e.values);
    values
        .into_iter()
        .find(|(n, _)| n == name)
        .map(|(_, value)| *value)
        .with_context(|| format!("no enumerator {name}"))
}

fn facts(table: &Table) -> Result<String> {
    let mut out = rust::head(
        "Facts for wrapping: types of handles, structs that hold them, getters of tables.",
    );
    out += "use std::ffi::CStr;\n\nuse crate::tables::Tables;\nuse crate::wrapper::kinds::{HandleIn, Kind, ValueIn};\n\n";
    let kinds = kinds(table)?;
    for (index, kind) in kinds.iter().enumerate() {
        writeln!(out, "pub(crate) const {kind}: Kind = {};", index + 1)?;
    }
    out += "\n/// Names of the types, for texts; 0 is none.\npub(crate) static KINDS: [&str; ";
    writeln!(out, "{}] = [\n    \"free handle\",", kinds.len() + 1)?;
    for kind in &kinds {
        writeln!(
            out,
            "    \"{} handle\",",
            kind.to_lowercase().replace('_', " ")
        )?;
    }
    out += "];\n\n/// Sizes of the structs of core that have a type, ordered by it.\n";
    let mut sizes = Vec::new();
    let mut handles = Vec::new();
    let mut values = Vec::new();
    for s in table
        .structs
        .iter()
        .filter(|s| s.kind == Kind::Struct && s.name.starts_with("ze_"))
    {
        for name in &s.stypes {
            let stype = stype(table, name)?;
            sizes.push((stype, s.size));
            for f in &s.fields {
                if table.handles.iter().any(|h| h.name == f.ty) {
                    handles.push(format!(
                        "HandleIn {{ stype: {stype:#x}, offset: {}, kind: {} }}",
                        f.offset,
                        kind(table, &f.ty)?
                    ));
                }
                if f.name == "pArgValue" {
                    let size = s
                        .fields
                        .iter()
                        .find(|f| f.name == "argSize")
                        .map(|f| f.offset);
                    values.push(format!(
                        "ValueIn {{ stype: {stype:#x}, value: {}, size: {size:?} }}",
                        f.offset
                    ));
                }
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup_by_key(|(stype, _)| *stype);
    writeln!(
        out,
        "pub(crate) static SIZES: [(u32, usize); {}] = [",
        sizes.len()
    )?;
    for (stype, size) in &sizes {
        writeln!(out, "    ({stype:#x}, {size}),")?;
    }
    writeln!(
        out,
        "];\n\n/// Structs with a handle.\npub(crate) static HANDLES_IN_STRUCTS: [HandleIn; {}] = [",
        handles.len()
    )?;
    for entry in &handles {
        writeln!(out, "    {entry},")?;
    }
    writeln!(
        out,
        "];\n\n/// Structs with the value of a kernel argument.\npub(crate) static VALUES_IN_STRUCTS: [ValueIn; {}] = [",
        values.len()
    )?;
    for entry in &values {
        writeln!(out, "    {entry},")?;
    }
    out += "];\n\n";
    out += &getters(table)?;
    Ok(out)
}

/// The getters of a driver with the places in `Tables` that they fill.
fn getters(table: &Table) -> Result<String> {
    let getters: Vec<_> = super::driver_getters(table).collect();
    let mut out = format!(
        "/// Getters of drivers: name, the place of its table in `Tables`.\npub(crate) static GETTERS: [(&CStr, usize); {}] = [\n",
        getters.len()
    );
    for getter in getters {
        let inner = super::filled(table, getter)?;
        let (prefix, member) = place(table, &inner.name)?;
        writeln!(
            out,
            "    (c{:?}, std::mem::offset_of!(Tables, {prefix}.{member})),",
            getter.name
        )?;
    }
    Ok(out + "];\n\n")
}

/// Where in `Tables` the table `name` lies: namespace and member.
fn place<'t>(table: &'t Table, name: &str) -> Result<(&'static str, &'t str)> {
    for prefix in ["ze", "zet", "zes", "zer"] {
        let aggregate = table
            .structure(&format!("{prefix}_dditable_t"))
            .with_context(|| format!("no {prefix}_dditable_t"))?;
        if let Some(member) = aggregate.fields.iter().find(|f| f.ty == name) {
            return Ok((prefix, &member.name));
        }
    }
    bail!("{name}: in no aggregate")
}

fn is_handle(table: &Table, ty: &str) -> bool {
    table.handles.iter().any(|h| h.name == ty)
}

/// The handle type that a parameter points to, if it does.
fn pointed<'p>(table: &Table, p: &'p Param) -> Option<&'p str> {
    p.ty.strip_suffix(" *")
        .map(|t| t.trim_start_matches("const "))
        .filter(|t| is_handle(table, t))
}

/// True for a constant struct that begins a chain, or a bare chain.
fn is_chain(table: &Table, p: &Param) -> bool {
    if p.direction != Direction::In {
        return false;
    }
    if p.ty == "const void *" {
        return p.name == "pNext" || p.name == "pObjDesc";
    }
    let Some(inner) = p.ty.strip_suffix(" *") else {
        return false;
    };
    let inner = inner.trim_start_matches("const ");
    table.structure(inner).is_some_and(|s| {
        s.fields.len() > 1 && s.fields[0].name == "stype" && s.fields[1].name == "pNext"
    })
}

fn destroys(f: &Function, p: &Param) -> bool {
    p.release && p.ty.ends_with("_handle_t")
        || f.params.first().is_some_and(|first| first.name == p.name)
            && (f.name.contains("MetricGroupDestroy")
                || f.name.contains("MetricDestroy")
                || f.name.contains("MetricTracerDestroy")
                || f.name.contains("MetricDecoderDestroy")
                || f.name.contains("ReleaseExternalSemaphore"))
}

fn functions(table: &Table, prefix: &str) -> Result<String> {
    let mut out = rust::head("Functions of drivers without DDI handles: unwrap, call, wrap.");
    out += "#![expect(non_snake_case, reason = \"functions and parameters carry C's names\")]\n#![expect(clippy::undocumented_unsafe_blocks, reason = \"one contract for all: the arguments are what Level Zero requires of them\")]\n#![expect(clippy::let_and_return, reason = \"each output has its line\")]\n\n";
    out +=
        "use level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\n\nuse super::legacy_facts::*;\n";
    let mut body = String::new();
    for function in slotted(table, prefix) {
        body += &one(table, function)?;
    }
    let names: Vec<&str> = [
        "Arguments",
        "Buffer",
        "Call",
        "Output",
        "deciding",
        "filled",
        "hides_wrapper",
        "missing",
        "room",
    ]
    .into_iter()
    .filter(|n| {
        body.contains(&format!("{n}("))
            || body.contains(&format!("{n}::"))
            || body.contains(&format!("{n} {{"))
    })
    .collect();
    writeln!(
        out,
        "use crate::wrapper::arguments::{{{}}};",
        names.join(", ")
    )?;
    if body.contains("Chain::") {
        out += "use crate::wrapper::chain::Chain;\n";
    }
    out += "use crate::wrapper::Origin;\n\n";
    Ok(trim_imports(out + &body))
}

/// The lines that turn one parameter into what the driver gets, and those after the call.
#[derive(Default)]
struct Lines {
    before: String,
    after: String,
    /// The argument of the call.
    argument: String,
}

fn one(table: &Table, f: &Function) -> Result<String> {
    let slot = f.slot.as_ref().context("no slot")?;
    let (prefix, member) = place(table, &slot.table)?;
    let since = table
        .structure(&slot.table)
        .and_then(|t| t.fields.iter().find(|x| x.name == slot.field))
        .context("no such slot")?
        .since;
    let mut out = String::new();
    writeln!(
        out,
        "pub(crate) unsafe extern \"C\" fn {}({}) -> ze_result_t {{\n    unsafe {{",
        f.name,
        parameters(f)?
    )?;
    let first = f.params.first().context("no parameters")?;
    let by_array = !is_handle(table, &first.ty);
    let (decider, decider_kind) = if by_array {
        let array = deciding_array(table, f)?;
        let count = array.count.clone().context("an array without count")?;
        writeln!(
            out,
            "        let first = check!(crate::refusals::first_of({:?}, {:?}, {count}, {}));",
            f.name, array.name, array.name
        )?;
        (
            "first".to_string(),
            kind(table, pointed(table, array).unwrap_or_default())?,
        )
    } else {
        (rust::ident(&first.name), kind(table, &first.ty)?)
    };
    let argument_name = if by_array {
        "the first module"
    } else {
        &first.name
    };
    writeln!(
        out,
        "        let (call, {}) = check!(deciding(&{:?}, &{argument_name:?}, {decider_kind}, {decider}));",
        if by_array { "_" } else { "wrapper" },
        f.name
    )?;
    writeln!(
        out,
        "        let Some(function) = call.driver.tables.{prefix}.{member}.{} else {{\n            return missing(call, {:#x});\n        }};",
        slot.field,
        number(since)
    )?;
    let mut arguments = Vec::new();
    let mut after = String::new();
    let mut released = None;
    for (index, p) in f.params.iter().enumerate() {
        if destroys(f, p) {
            released = Some(if index == 0 {
                "wrapper".to_string()
            } else {
                "leaving".to_string()
            });
        }
        let lines = parameter(table, f, p, index == 0 && !by_array)?;
        out += &lines.before;
        after += &lines.after;
        arguments.push(lines.argument);
    }
    let call = format!("function({})", arguments.join(", "));
    match released {
        Some(wrapper) => {
            if !after.is_empty() {
                bail!("{}: destroys and returns", f.name);
            }
            writeln!(out, "        call.release({wrapper}, || {call})")?;
        }
        None if after.is_empty() => writeln!(out, "        {call}")?,
        None => {
            writeln!(out, "        let result = {call};")?;
            out += &after;
            out += "        result\n";
        }
    }
    out += "    }\n}\n\n";
    Ok(out)
}

fn parameter(table: &Table, f: &Function, p: &Param, is_decider: bool) -> Result<Lines> {
    let name = rust::ident(&p.name);
    let mut lines = Lines {
        argument: name.clone(),
        ..Lines::default()
    };
    let origin = if CREATORS.iter().any(|part| f.name.contains(part)) {
        "Created"
    } else {
        "Known"
    };
    if is_handle(table, &p.ty) {
        if is_decider {
            lines.argument = "wrapper.native()".into();
        } else if destroys(f, p) {
            lines.before = format!(
                "        let leaving = check!(call.wrapper(&{:?}, {}, {name}));\n",
                p.name,
                kind(table, &p.ty)?
            );
            lines.argument = "leaving.native()".into();
        } else {
            let way = if p.optional { "optional" } else { "required" };
            lines.before = format!(
                "        let {name} = check!(call.{way}(&{:?}, {}, {name}));\n",
                p.name,
                kind(table, &p.ty)?
            );
        }
        return Ok(lines);
    }
    if let Some(handle) = pointed(table, p) {
        let kind = kind(table, handle)?;
        let special = COUNTS
            .iter()
            .find(|(function, parameter, _)| *function == f.name && *parameter == p.name);
        let count = p
            .count
            .clone()
            .or_else(|| special.map(|(_, _, count)| (*count).to_string()));
        let array_in = |count: &str| {
            format!(
                "        let mut {0}_buffer = Buffer::new();\n        let {0}_native = check!(call.array(&{1:?}, {kind}, {count}, {0}, &mut {0}_buffer));\n",
                name, p.name
            )
        };
        match (p.direction, count) {
            (Direction::In, Some(count)) => {
                lines.before = array_in(&count);
                lines.argument = format!("{name}_native");
            }
            (Direction::In, None) => bail!("{}: {} has no count", f.name, p.name),
            (_, Some(count)) if special.is_some() => {
                // Reordered in place: what goes in comes out again.
                lines.before = array_in(&count);
                lines.argument = format!("{name}_native");
                lines.after = format!(
                    "        let result = call.returned(result, {kind}, Origin::Known, {count}, {name}_native);\n        if result == ZE_RESULT_SUCCESS && !{name}.is_null() {{\n            std::ptr::copy_nonoverlapping({name}_native, {name}, {count} as usize);\n        }}\n"
                );
            }
            (_, Some(count)) => {
                let count = count.trim_start_matches('*').to_string();
                lines.before = format!("        let {name}_room = room({count}, {name});\n");
                lines.after = format!(
                    "        let result = call.returned(result, {kind}, Origin::{origin}, filled({name}_room, {count}), {name});\n"
                );
            }
            (_, None) => {
                lines.before = format!("        let mut {name}_out = Output::new({name});\n");
                lines.argument = format!("{name}_out.native()");
                lines.after = format!(
                    "        let result = {name}_out.finish(call, result, {kind}, Origin::{origin});\n"
                );
            }
        }
        return Ok(lines);
    }
    if f.prefix() == "ze" && is_chain(table, p) {
        lines.before = format!(
            "        let mut {0}_copies = Chain::default();\n        let {0} = check!(call.chain(&{1:?}, {0}, &mut {0}_copies));\n",
            name, p.name
        );
        if !p.ty.starts_with("const") {
            lines.argument = format!("{name}.cast_mut()");
        }
        return Ok(lines);
    }
    if f.name == "zeKernelSetArgumentValue" && p.name == "pArgValue" {
        // Apart, so that the usual way needs no stack frame.
        lines.before = "        if hides_wrapper(argSize, pArgValue) {\n            return call.hidden_argument(function, wrapper.native(), argIndex, pArgValue);\n        }\n".into();
    }
    if p.name == "pArguments" && p.ty == "void **" {
        lines.before = "        let mut arguments = Arguments::default();\n        let pArguments = check!(call.kernel_arguments(hKernel, pArguments, &mut arguments));\n".into();
    }
    Ok(lines)
}

/// The array of handles whose first one decides.
pub(super) fn deciding_array<'f>(table: &Table, f: &'f Function) -> Result<&'f Param> {
    f.params
        .iter()
        .find(|p| pointed(table, p).is_some() && p.direction == Direction::In)
        .with_context(|| format!("{}: no handle decides", f.name))
}
