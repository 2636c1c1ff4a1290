//! `level-zero-sys`: the C ABI as Rust, with the table's layout facts asserted at compile time.

use super::output::Output;
use super::rust;
use crate::table::{Enum, Kind, Struct, Table, Value, Version};
use anyhow::Result;
use std::collections::HashSet;
use std::fmt::Write as _;

const FOLDER: &str = "crates/level-zero-sys/src/generated";

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let files = [
        ("mod", module()),
        ("constants", constants(table)?),
        ("types", types(table)?),
        ("enums", enums(table)),
        (
            "structs",
            structs(table, "Structs and unions.", &[Kind::Struct, Kind::Union])?,
        ),
        (
            "tables",
            structs(
                table,
                "DDI tables: one function pointer per slot.",
                &[Kind::Table],
            )?,
        ),
        (
            "tracing",
            structs(
                table,
                "Parameter blocks and callback tables of the tracing layer.",
                &[Kind::Tracing],
            )?,
        ),
        ("functions", functions(table)?),
        ("asserts", asserts(table)),
    ];
    Ok(files
        .into_iter()
        .map(|(name, text)| Output::new(format!("{FOLDER}/{name}.rs"), text))
        .collect())
}

fn module() -> String {
    let mut out = rust::head("Everything of the five headers, flat.");
    for name in [
        "constants",
        "enums",
        "functions",
        "structs",
        "tables",
        "tracing",
        "types",
    ] {
        writeln!(out, "mod {name};\npub use {name}::*;").ok();
    }
    out + "mod asserts;\n"
}

fn since(version: Version) -> String {
    format!("Since {}.{}.", version.major, version.minor)
}

fn described(out: &mut String, doc: &str, version: Version) {
    if !doc.is_empty() {
        out.push_str(&rust::doc("", doc));
        out.push_str("///\n");
    }
    out.push_str(&rust::doc("", &since(version)));
}

fn constants(table: &Table) -> Result<String> {
    let mut out = rust::head("Object-like macros and constant structs of the headers.")
        + "use super::*;\nuse core::ffi::CStr;\n\n";
    for c in &table.constants {
        match &c.value {
            Value::Int { bits: 64, value } => {
                writeln!(out, "pub const {}: u64 = {value:#x};", c.name)
            }
            Value::Int { value, .. } => writeln!(out, "pub const {}: u32 = {value:#x};", c.name),
            Value::Text(text) => writeln!(out, "pub const {}: &CStr = c{text:?};", c.name),
        }
        .ok();
    }
    for d in &table.defaults {
        out.push('\n');
        described(&mut out, &d.doc, d.since);
        let structure = &d.structure;
        writeln!(out, "pub const {}: {structure} = {structure} {{", d.name)?;
        for (field, value) in &d.fields {
            // Enumerators are spelled as in C.
            let value = if value == "NULL" {
                "core::ptr::null()"
            } else {
                value
            };
            writeln!(out, "    {}: {value},", rust::ident(field))?;
        }
        out.push_str("};\n");
    }
    Ok(out)
}

fn types(table: &Table) -> Result<String> {
    let mut out = rust::head("Handles and other names for types.") + "use super::*;\n\n";
    for h in &table.handles {
        if let Some(alias) = &h.alias {
            writeln!(out, "pub type {} = {alias};", h.name)?;
            continue;
        }
        writeln!(
            out,
            "/// What [`{}`] points to; only its driver knows.",
            h.name
        )?;
        writeln!(
            out,
            "#[repr(C)]\npub struct {} {{\n    _private: [u8; 0],\n}}",
            h.opaque
        )?;
        writeln!(out, "pub type {} = *mut {};\n", h.name, h.opaque)?;
    }
    for t in &table.typedefs {
        writeln!(out, "pub type {} = {};", t.name, rust::ty(&t.target)?)?;
    }
    Ok(out)
}

fn enums(table: &Table) -> String {
    let mut out = rust::head(
        "Enumerations: newtypes with the C names as constants; sets of bits: plain integers.",
    );
    for e in &table.enums {
        match &e.flags {
            Some(set) => flag_enum(&mut out, e, set),
            None => newtype_enum(&mut out, e),
        }
    }
    out
}

fn flag_enum(out: &mut String, e: &Enum, set: &str) {
    described(out, &e.doc, e.since);
    writeln!(
        out,
        "///\n/// One bit of [`{set}`](super::{set}).\npub type {} = u32;",
        e.name
    )
    .ok();
    for (name, value) in &e.values {
        writeln!(out, "pub const {name}: {} = {value:#x};", e.name).ok();
    }
    out.push('\n');
}

fn newtype_enum(out: &mut String, e: &Enum) {
    out.push_str("c_enum! {\n");
    let mut text = String::new();
    described(&mut text, &e.doc, e.since);
    out.extend(text.lines().map(|line| format!("    {line}\n")));
    writeln!(out, "    {} {{", e.name).ok();
    let mut seen = HashSet::new();
    let (first, aliases): (Vec<_>, Vec<_>) =
        e.values.iter().partition(|(_, value)| seen.insert(*value));
    for (name, value) in first {
        writeln!(out, "        {name} = {value:#x},").ok();
    }
    out.push_str("    } aliases {\n");
    for (name, value) in aliases {
        writeln!(out, "        {name} = {value:#x},").ok();
    }
    out.push_str("    }\n}\n\n");
}

fn structs(table: &Table, about: &str, kinds: &[Kind]) -> Result<String> {
    let mut out = rust::head(about) + "use super::*;\nuse core::ffi::*;\n\n";
    for s in table.structs.iter().filter(|s| kinds.contains(&s.kind)) {
        structure(&mut out, s)?;
    }
    Ok(out.replace("use core::ffi::*;\n", &ffi_use(&out)))
}

/// Only the names of `core::ffi` that the file uses.
fn ffi_use(text: &str) -> String {
    let names: Vec<&str> = ["c_char", "c_void"]
        .into_iter()
        .filter(|n| text.contains(&format!(" {n}")))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("use core::ffi::{{{}}};\n", names.join(", "))
    }
}

fn structure(out: &mut String, s: &Struct) -> Result<()> {
    described(out, &s.doc, s.since);
    if !s.extends.is_empty() {
        let names: Vec<String> = s.extends.iter().map(|e| format!("[`{e}`]")).collect();
        writeln!(out, "///\n/// Extends {}.", names.join(", "))?;
    }
    let word = if s.kind == Kind::Union {
        "union"
    } else {
        "struct"
    };
    writeln!(
        out,
        "#[repr(C)]\n#[derive(Clone, Copy)]\npub {word} {} {{",
        s.name
    )?;
    for f in &s.fields {
        writeln!(
            out,
            "    pub {}: {},",
            rust::ident(&f.name),
            rust::ty(&f.ty)?
        )?;
    }
    out.push_str("}\n");
    let stype = s
        .fields
        .iter()
        .find(|f| f.name == "stype")
        .zip(s.stypes.first());
    match stype {
        Some((field, stype)) => writeln!(out, "c_default!({}, {stype}: {});\n", s.name, field.ty)?,
        None => writeln!(out, "c_default!({});\n", s.name)?,
    }
    Ok(())
}

fn functions(table: &Table) -> Result<String> {
    let mut out =
        rust::head("Function pointer types: one per public function, then the callbacks.")
            + "use super::*;\nuse core::ffi::{c_char, c_void};\n\n";
    for f in &table.functions {
        writeln!(
            out,
            "/// `{}`.{}",
            f.name,
            if f.doc.is_empty() {
                String::new()
            } else {
                format!(" {}", f.doc)
            }
        )?;
        writeln!(out, "///\n/// {}", since(f.since))?;
        for rule in &f.errors {
            let condition = if rule.condition.is_empty() {
                String::new()
            } else {
                format!(": {}", rule.condition)
            };
            writeln!(
                out,
                "/// - [`{}`]{}",
                rule.code,
                rust::doc("", &condition)
                    .trim_start_matches("/// ")
                    .trim_end()
            )?;
        }
        let mut params = Vec::new();
        for p in &f.params {
            params.push(format!("{}: {}", rust::ident(&p.name), rust::ty(&p.ty)?));
        }
        pointer(&mut out, &f.pfn(), &params, &f.ret)?;
    }
    for c in &table.callbacks {
        let mut params = Vec::new();
        for (name, ty) in &c.params {
            params.push(format!("{}: {}", rust::ident(name), rust::ty(ty)?));
        }
        pointer(&mut out, &c.name, &params, &c.ret)?;
    }
    Ok(out)
}

fn pointer(out: &mut String, name: &str, params: &[String], ret: &str) -> Result<()> {
    writeln!(
        out,
        "pub type {name} = Option<unsafe extern \"C\" fn({}){}>;\n",
        params.join(", "),
        rust::arrow(ret)?
    )?;
    Ok(())
}

fn asserts(table: &Table) -> String {
    let mut out = rust::head(
        "Size, alignment and offsets as the reference headers have them on 64-bit Linux.",
    );
    out += "#![cfg(all(target_pointer_width = \"64\", not(windows)))]\n\nuse super::*;\n\n";
    for s in &table.structs {
        let fields: Vec<String> = s
            .fields
            .iter()
            .map(|f| format!("{} {}", rust::ident(&f.name), f.offset))
            .collect();
        writeln!(
            out,
            "layout!({}, {}, {}, {});",
            s.name,
            s.size,
            s.align,
            fields.join(", ")
        )
        .ok();
    }
    for h in &table.handles {
        writeln!(out, "const _: () = assert!(size_of::<{}>() == 8);", h.name).ok();
    }
    for e in &table.enums {
        let number = if e.flags.is_some() { "" } else { ".0" };
        writeln!(
            out,
            "const _: () = {{\n    assert!(size_of::<{}>() == 4);",
            e.name
        )
        .ok();
        for (name, value) in &e.values {
            writeln!(out, "    assert!({name}{number} == {value:#x});").ok();
        }
        out.push_str("};\n");
    }
    out
}
