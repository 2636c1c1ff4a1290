//! The loader's functions for drivers without DDI handles: each unwraps what the API table says is a handle, calls the
//! driver, and wraps what it returns.

use crate::regen::driver_tables::{BY_HAND, LOGIC, number, parameters};
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

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    Ok(vec![
        Output::new(format!("{LOGIC}/legacy_facts.rs"), facts(table)?),
        Output::new(format!("{LOGIC}/each_wrapped.rs"), each_wrapped(table)?),
    ])
}

/// The functions that have a slot, in the table's order.
fn slotted(table: &Table) -> impl Iterator<Item = &Function> {
    table.functions.iter().filter(|f| {
        ["ze", "zet", "zes"].contains(&f.prefix())
            && f.slot.is_some()
            && !BY_HAND.contains(&f.name.as_str())
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

/// The documentation of the list.
const EACH_WRAPPED: &str = "\
/// Expands `$m!` over the functions of drivers without DDI handles:
/// `NAMESPACE.MEMBER.SLOT since VERSION: FUNCTION(PARAMETERS) KIND [HANDLE OR ARRAY] { STEPS } (ARGUMENTS) { STEPS };`.
///
/// KIND is the type of the handle that decides. The first steps turn parameters into the driver's arguments; ARGUMENTS come
/// after the driver's own handle where that is the first argument. The last steps wrap the handles that the driver returns.
/// In their place `ends it` or `ends leaving` names the object that the call destroys.
macro_rules! each_wrapped {
    ($m:ident) => {
        $m! {
";

fn each_wrapped(table: &Table) -> Result<String> {
    let mut out = rust::head(
        "Functions of drivers without DDI handles, a line for each: what to unwrap and what to wrap.",
    );
    out += EACH_WRAPPED;
    for function in slotted(table) {
        out += &one(table, function)?;
    }
    Ok(out + "        }\n    };\n}\n")
}

/// The steps that turn one parameter into what the driver gets, and those after the call.
#[derive(Default)]
struct Steps {
    before: Option<String>,
    after: Option<String>,
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
    let first = f.params.first().context("no parameters")?;
    let by_array = !is_handle(table, &first.ty);
    let decider = if by_array {
        let array = deciding_array(table, f)?;
        let count = array.count.as_ref().context("an array without count")?;
        let kind = kind(table, pointed(table, array).unwrap_or_default())?;
        format!("{kind} [first of {count} {}]", array.name)
    } else {
        format!("{} [{}]", kind(table, &first.ty)?, first.name)
    };
    let (mut before, mut arguments, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let mut ended = None;
    for (index, p) in f.params.iter().enumerate() {
        if destroys(f, p) {
            ended = Some(if index == 0 { "it" } else { "leaving" });
        }
        if index == 0 && !by_array {
            continue;
        }
        let steps = parameter(table, f, p)?;
        before.extend(steps.before);
        after.extend(steps.after);
        arguments.push(steps.argument);
    }
    if let Some(ended) = ended {
        if !after.is_empty() {
            bail!("{}: destroys and returns", f.name);
        }
        after.push(format!("ends {ended}"));
    }
    let list = |steps: &[String]| match steps {
        [] => "{}".to_owned(),
        steps => format!("{{ {}; }}", steps.join("; ")),
    };
    Ok(format!(
        "{prefix}.{member}.{} since {:#x}: {}({}) {decider} {} ({}) {};\n",
        slot.field,
        number(since),
        f.name,
        parameters(f)?,
        list(&before),
        arguments.join(", "),
        list(&after),
    ))
}

fn parameter(table: &Table, f: &Function, p: &Param) -> Result<Steps> {
    let name = rust::ident(&p.name);
    let mut steps = Steps {
        argument: name.clone(),
        ..Steps::default()
    };
    let origin = if CREATORS.iter().any(|part| f.name.contains(part)) {
        "Created"
    } else {
        "Known"
    };
    if is_handle(table, &p.ty) {
        let kind = kind(table, &p.ty)?;
        if destroys(f, p) {
            steps.before = Some(format!("wrapper leaving {name} {kind}"));
            steps.argument = "leaving.native()".into();
        } else {
            let way = if p.optional { "optional" } else { "required" };
            steps.before = Some(format!("{way} {name} {kind}"));
        }
        return Ok(steps);
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
        match (p.direction, count) {
            (Direction::In, Some(count)) => {
                steps.before = Some(format!("array {name} {name}_native {kind} {count}"));
                steps.argument = format!("{name}_native");
            }
            (Direction::In, None) => bail!("{}: {} has no count", f.name, p.name),
            (_, Some(count)) if special.is_some() => {
                steps.before = Some(format!("array {name} {name}_native {kind} {count}"));
                steps.argument = format!("{name}_native");
                steps.after = Some(format!("reordered {name} {name}_native {kind} {count}"));
            }
            (_, Some(count)) => {
                let count = count.trim_start_matches('*').to_string();
                steps.before = Some(format!("room {name}_room {count} {name}"));
                steps.after = Some(format!("listed {name} {name}_room {kind} {origin} {count}"));
            }
            (_, None) => {
                steps.before = Some(format!("output {name}_out {name}"));
                steps.argument = format!("{name}_out.native()");
                steps.after = Some(format!("output {name}_out {kind} {origin}"));
            }
        }
        return Ok(steps);
    }
    if f.prefix() == "ze" && is_chain(table, p) {
        steps.before = Some(format!("chain {name}"));
        if !p.ty.starts_with("const") {
            steps.argument = format!("{name}.cast_mut()");
        }
        return Ok(steps);
    }
    if f.name == "zeKernelSetArgumentValue" && p.name == "pArgValue" {
        steps.before = Some(format!("value argIndex argSize {name}"));
    }
    if p.name == "pArguments" && p.ty == "void **" {
        steps.before = Some(format!("kernel_arguments hKernel {name}"));
    }
    Ok(steps)
}

/// The array of handles whose first one decides.
pub(super) fn deciding_array<'f>(table: &Table, f: &'f Function) -> Result<&'f Param> {
    f.params
        .iter()
        .find(|p| pointed(table, p).is_some() && p.direction == Direction::In)
        .with_context(|| format!("{}: no handle decides", f.name))
}
