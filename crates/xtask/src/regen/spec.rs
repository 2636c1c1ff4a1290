//! `ze-spec`: the table's rules as constant data, for checks at run time.

use super::output::Output;
use super::rust;
use crate::table::{Direction, Function, Kind, Table, Version};
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::fmt::Write as _;

const FOLDER: &str = "crates/ze-spec/src/generated";

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let files = [
        ("mod", module()),
        ("enums", enums(table)),
        ("extensions", extensions(table)?),
        ("functions", functions(table)?),
        ("layouts", layouts(table)?),
        ("structs", structs(table)?),
    ];
    Ok(files
        .into_iter()
        .map(|(name, text)| Output::new(format!("{FOLDER}/{name}.rs"), text))
        .collect())
}

fn module() -> String {
    rust::head("The tables, each in the order of its names.")
        + "mod enums;\nmod extensions;\nmod functions;\nmod layouts;\nmod structs;\n\npub use enums::ENUMS;\npub use \
           extensions::EXTENSIONS;\npub use functions::FUNCTIONS;\npub use layouts::LAYOUTS;\npub use structs::STRUCTS;\n"
}

fn version(v: Version) -> String {
    format!("Version {{ major: {}, minor: {} }}", v.major, v.minor)
}

/// The table's items in the order of their names, which the lookups search.
fn sorted<T>(items: &[T], name: impl Fn(&T) -> &str) -> Vec<&T> {
    let mut all: Vec<&T> = items.iter().collect();
    all.sort_by(|a, b| name(a).cmp(name(b)));
    all
}

fn enums(table: &Table) -> String {
    let mut out = rust::head("Enumerations and sets of bits.") + "use crate::Enum;\n\n";
    writeln!(
        out,
        "/// Every enumeration, in the order of the names.\npub static ENUMS: [Enum; {}] = [",
        table.enums.len()
    )
    .ok();
    for e in sorted(&table.enums, |e| &e.name) {
        let set = e
            .flags
            .as_ref()
            .map_or("None".to_string(), |f| format!("Some({f:?})"));
        let values: Vec<String> = real(&e.values)
            .map(|(n, v)| format!("({n:?}, {v:#x})"))
            .collect();
        writeln!(
            out,
            "    Enum {{ name: {:?}, set: {set}, values: &[{}] }},",
            e.name,
            values.join(", ")
        )
        .ok();
    }
    out + "];\n"
}

/// Without the enumerator that only makes C compilers choose 32 bits.
fn real(values: &[(String, u32)]) -> impl Iterator<Item = &(String, u32)> {
    values
        .iter()
        .filter(|(name, _)| !name.ends_with("_FORCE_UINT32"))
}

fn extensions(table: &Table) -> Result<String> {
    let mut out =
        rust::head("Extensions by their name strings.") + "use crate::{Extension, Version};\n\n";
    writeln!(
        out,
        "/// Every extension, in the order of the names.\npub static EXTENSIONS: [Extension; {}] = [",
        table.extensions.len()
    )?;
    for e in sorted(&table.extensions, |e| &e.name) {
        let versions: Vec<String> = e.versions.iter().map(|v| version(*v)).collect();
        writeln!(
            out,
            "    Extension {{ name: {:?}, versions: &[{}], experimental: {}, since: {}, functions: &{:?} }},",
            e.name,
            versions.join(", "),
            e.experimental,
            version(e.since),
            e.functions,
        )?;
    }
    Ok(out + "];\n")
}

fn functions(table: &Table) -> Result<String> {
    let mut out = rust::head("Functions: parameters, versions, slots and error rules.");
    out += "use super::ENUMS;\nuse crate::Direction::{In, InOut, Out};\nuse crate::Kind::{Enum, Flags, Handle, Number, Pointer, Struct};\nuse crate::Namespace::{Ze, Zel, Zer, Zes, Zet};\nuse crate::{Function, Slot, Version};\nuse crate::model::{param as p, rule as e};\n\n";
    let kinds = Kinds::new(table);
    let codes: HashMap<&str, u32> = table
        .enums
        .iter()
        .filter(|e| e.name == "ze_result_t")
        .flat_map(|e| &e.values)
        .map(|(n, v)| (n.as_str(), *v))
        .collect();
    let all: Vec<&Function> = sorted(&table.functions, |f| &f.name);
    writeln!(
        out,
        "/// Every exported function, in the order of the names.\npub static FUNCTIONS: [Function; {}] = [",
        all.len()
    )?;
    for f in all {
        let slot = f.slot.as_ref().map_or("None".to_string(), |s| {
            format!(
                "Some(Slot {{ table: {:?}, field: {:?}, index: {} }})",
                s.table, s.field, s.index
            )
        });
        let namespace = f.prefix();
        let namespace = format!("{}{}", namespace[..1].to_uppercase(), &namespace[1..]);
        write!(
            out,
            "    Function {{ name: {:?}, namespace: {namespace}, since: {}, ret: {:?}, slot: {slot}, params: &[",
            f.name,
            version(f.since),
            f.ret,
        )?;
        let mut params = Vec::new();
        for p in &f.params {
            let direction = match p.direction {
                Direction::In => "In",
                Direction::Out => "Out",
                Direction::InOut => "InOut",
            };
            let optional = if p.optional { ".optional()" } else { "" };
            let release = if p.release { ".release()" } else { "" };
            let count = p
                .count
                .as_ref()
                .map_or(String::new(), |n| format!(".count({n:?})"));
            params.push(format!(
                "p({:?}, {:?}, {}, {direction}){optional}{release}{count}",
                p.name,
                p.ty,
                kinds.of(&p.ty),
            ));
        }
        let mut errors = Vec::new();
        for rule in &f.errors {
            let code = codes
                .get(rule.code.as_str())
                .with_context(|| format!("{}: no code {}", f.name, rule.code))?;
            errors.push(format!("e({code:#x}, {:?})", rule.condition));
        }
        let (params, errors) = (params.join(", "), errors.join(", "));
        writeln!(out, "{params}], errors: &[{errors}] }},")?;
    }
    Ok(out + "];\n")
}

/// The kind of a C type's values for a check.
struct Kinds<'t> {
    table: &'t Table,
    /// Enumeration or its type of sets, to the place in `ENUMS`.
    enums: HashMap<&'t str, usize>,
}

impl<'t> Kinds<'t> {
    fn new(table: &'t Table) -> Kinds<'t> {
        let mut enums = HashMap::new();
        for (i, e) in sorted(&table.enums, |e| &e.name).into_iter().enumerate() {
            enums.insert(e.name.as_str(), i);
            if let Some(set) = &e.flags {
                enums.insert(set.as_str(), i);
            }
        }
        Kinds { table, enums }
    }

    fn of(&self, ty: &str) -> String {
        let base = ty.strip_prefix("const ").unwrap_or(ty);
        if let Some(i) = self.enums.get(base) {
            let e = sorted(&self.table.enums, |e| &e.name)[*i];
            return format!(
                "{}(&ENUMS[{i}])",
                if e.flags.is_some() { "Flags" } else { "Enum" }
            );
        }
        if self.table.handles.iter().any(|h| h.name == base) {
            return "Handle".into();
        }
        let pointer = ty.ends_with('*')
            || ty.contains("_pfn")
            || self.table.callbacks.iter().any(|c| c.name == ty);
        match (pointer, self.table.structure(base)) {
            (true, _) => "Pointer".into(),
            (false, Some(_)) => "Struct".into(),
            (false, None) => "Number".into(),
        }
    }
}

fn structs(table: &Table) -> Result<String> {
    let mut out =
        rust::head("Structs that stand in pNext chains: structure types and what they extend.")
            + "use crate::{Namespace, Struct, Version};\n\n";
    let mut stypes: HashMap<&str, u32> = HashMap::new();
    for e in table
        .enums
        .iter()
        .filter(|e| e.name.ends_with("_structure_type_t"))
    {
        stypes.extend(e.values.iter().map(|(n, v)| (n.as_str(), *v)));
    }
    let chained: Vec<_> = sorted(&table.structs, |s| &s.name)
        .into_iter()
        .filter(|s| !s.stypes.is_empty())
        .collect();
    writeln!(
        out,
        "/// Every struct with a structure type, in the order of the names.\npub static STRUCTS: [Struct; {}] = [",
        chained.len()
    )?;
    for s in chained {
        let mut values = Vec::new();
        for name in &s.stypes {
            values.push(format!(
                "{:#x}",
                stypes
                    .get(name.as_str())
                    .with_context(|| format!("{}: no {name}", s.name))?
            ));
        }
        let namespace = s.name.split('_').next().unwrap_or_default();
        let namespace = format!("{}{}", namespace[..1].to_uppercase(), &namespace[1..]);
        writeln!(
            out,
            "    Struct {{ name: {:?}, namespace: Namespace::{namespace}, stypes: &[{}], size: {}, since: {}, extends: &{:?}, passed: &{:?} }},",
            s.name,
            values.join(", "),
            s.size,
            version(s.since),
            s.extends,
            s.passed,
        )?;
    }
    Ok(out + "];\n")
}

/// Structs with what lies where; unions are left out, for their fields say nothing without a tag.
fn layouts(table: &Table) -> Result<String> {
    let mut out =
        rust::head("Structs with the place and the type of each field, on 64-bit machines.");
    out += "use super::ENUMS;\nuse crate::Content::{Char, Enum, Flags, Float, Pointer, Signed, Struct, Union, Unsigned};\nuse crate::{Content, Field as F, Layout};\n\nconst BOOL: Content = Content::Bool;\n\n";
    let kinds = Kinds::new(table);
    let all: Vec<_> = sorted(&table.structs, |s| &s.name)
        .into_iter()
        .filter(|s| s.kind == Kind::Struct)
        .collect();
    writeln!(
        out,
        "/// Every struct, in the order of the names.\npub static LAYOUTS: [Layout; {}] = [",
        all.len()
    )?;
    for s in all {
        let mut fields = Vec::new();
        for f in &s.fields {
            let (ty, count) = match f.ty.split_once('[') {
                Some((ty, count)) => {
                    let count = count.trim_end_matches(']').parse::<u32>();
                    let count =
                        count.with_context(|| format!("{}.{}: {}", s.name, f.name, f.ty))?;
                    (ty.trim(), format!("Some({count})"))
                }
                None => (f.ty.as_str(), "None".into()),
            };
            let content = content(table, &kinds, ty)
                .with_context(|| format!("{}.{}: no content for {ty}", s.name, f.name))?;
            fields.push(format!(
                "F {{ name: {:?}, offset: {}, content: {content}, count: {count} }}",
                f.name, f.offset
            ));
        }
        writeln!(
            out,
            "    Layout {{ name: {:?}, size: {}, fields: &[{}] }},",
            s.name,
            s.size,
            fields.join(", ")
        )?;
    }
    Ok(out + "];\n")
}

/// The meaning of a C type's bytes.
fn content(table: &Table, kinds: &Kinds<'_>, ty: &str) -> Option<String> {
    let number = match ty {
        "ze_bool_t" => "BOOL",
        "char" => "Char",
        "uint8_t" => "Unsigned(1)",
        "uint16_t" => "Unsigned(2)",
        "uint32_t" => "Unsigned(4)",
        "uint64_t" | "size_t" | "uintptr_t" => "Unsigned(8)",
        "int8_t" => "Signed(1)",
        "int16_t" => "Signed(2)",
        "int32_t" | "int" => "Signed(4)",
        "int64_t" => "Signed(8)",
        "float" => "Float(4)",
        "double" => "Float(8)",
        _ => "",
    };
    if !number.is_empty() {
        return Some(number.into());
    }
    match kinds.of(ty).as_str() {
        "Handle" | "Pointer" => return Some("Pointer".into()),
        "Struct" => {
            let inner = table.structure(ty)?;
            let word = if inner.kind == Kind::Union {
                "Union"
            } else {
                "Struct"
            };
            return Some(format!("{word}({ty:?})"));
        }
        "Number" => {}
        // The types of some sets are narrower than an enumeration.
        _ if table
            .typedefs
            .iter()
            .any(|t| t.name == ty && t.target == "uint8_t") =>
        {
            return Some("Unsigned(1)".into());
        }
        set => return Some(set.into()),
    }
    let target = &table.typedefs.iter().find(|t| t.name == ty)?.target;
    content(table, kinds, target)
}
