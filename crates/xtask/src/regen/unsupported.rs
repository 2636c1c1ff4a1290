//! The driver's default tables: every slot filled with an entry that answers "unsupported" by the right code.

use super::{Output, rust};
use crate::table::{Direction, Function, Param, Table};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let mut out =
        rust::head("Complete DDI tables whose every slot answers that it is not supported.");
    out += "//! A table of the driver is its own entries over one of these: `..unsupported::ZE_CONTEXT`.\n//!\n";
    out += "//! A null handle is answered before the missing feature, as the specification orders it.\n\n";
    out = out.replacen("do not edit.\n\n//!", "do not edit.\n//!\n//!", 1);
    out += "#![expect(non_snake_case, reason = \"the names are C's\")]\n\n";
    out += "use crate::{clear, unsupported};\nuse core::ffi::{c_char, c_void};\nuse level_zero_sys::*;\n\n";
    for ddi in table.ddi_tables().filter(|t| !t.name.starts_with("zel_")) {
        let name = ddi.name.trim_end_matches("_dditable_t").to_uppercase();
        writeln!(
            out,
            "pub(crate) const {name}: {} = {} {{",
            ddi.name, ddi.name
        )?;
        for slot in &ddi.fields {
            let function = table
                .function_of_pfn(&slot.ty)
                .with_context(|| slot.ty.clone())?;
            writeln!(out, "    {}: Some({}),", slot.name, function.name)?;
        }
        out.push_str("};\n\n");
        for slot in &ddi.fields {
            let function = table
                .function_of_pfn(&slot.ty)
                .with_context(|| slot.ty.clone())?;
            entry(&mut out, table, function)?;
        }
    }
    Ok(vec![Output::new(
        "crates/ze-driver/src/generated/unsupported.rs",
        out,
    )])
}

fn entry(out: &mut String, table: &Table, f: &Function) -> Result<()> {
    let handle = f
        .params
        .iter()
        .position(|p| !p.optional && table.handles.iter().any(|h| h.name == p.ty));
    // New handles are null after a failed call.
    let is_new = |p: &Param| {
        let handle = p.ty.strip_suffix(" *").unwrap_or_default();
        p.direction == Direction::Out
            && p.count.is_none()
            && table.handles.iter().any(|h| h.name == handle)
    };
    let mut params = Vec::new();
    let mut clear = String::new();
    for (i, p) in f.params.iter().enumerate() {
        let name = match Some(i) == handle {
            true => "handle",
            false if is_new(p) => &p.name,
            false => "_",
        };
        if is_new(p) {
            writeln!(clear, "    clear({name});")?;
        }
        params.push(format!("{name}: {}", rust::ty(&p.ty)?));
    }
    writeln!(
        out,
        "unsafe extern \"C\" fn {}({}){} {{",
        f.name,
        params.join(", "),
        rust::arrow(&f.ret)?
    )?;
    out.push_str(&clear);
    if f.ret == "ze_result_t" {
        if handle.is_some() {
            out.push_str("    if handle.is_null() {\n        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;\n    }\n");
        }
        writeln!(out, "    unsupported({:?})\n}}\n", f.name)?;
        return Ok(());
    }
    // Without a result code the text of the last error is all that can tell.
    let neutral = if f.ret == "uint32_t" {
        "u32::MAX"
    } else {
        "core::ptr::null_mut()"
    };
    let guard = if handle.is_some() {
        "if !handle.is_null() {\n        unsupported"
    } else {
        "unsupported"
    };
    let close = if handle.is_some() { ";\n    }" } else { ";" };
    writeln!(out, "    {guard}({:?}){close}\n    {neutral}\n}}\n", f.name)?;
    Ok(())
}
