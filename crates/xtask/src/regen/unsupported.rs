//! The driver's default tables: every slot filled with an entry that answers "unsupported" by the right code.

use super::output::Output;
use super::rust;
use crate::table::{Direction, Function, Param, Table};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;

pub(super) fn generate(table: &Table) -> Result<Vec<Output>> {
    let mut out =
        rust::head("Complete DDI tables whose every slot answers that it is not supported.");
    out += "//! A table of the driver is its own entries over one of these: `..unsupported::ZE_CONTEXT`.\n//!\n";
    out += "//! A null handle is answered before the missing feature, as the specification orders it.\n\n";
    out = out.replacen("do not edit.\n\n//!", "do not edit.\n//!\n//!", 1);
    out += MACROS;
    for ddi in table.ddi_tables().filter(|t| !t.name.starts_with("zel_")) {
        let name = ddi.name.trim_end_matches("_dditable_t").to_uppercase();
        writeln!(out, "table! {{ {name}: {} {{", ddi.name)?;
        for slot in &ddi.fields {
            let function = table
                .function_of_pfn(&slot.ty)
                .with_context(|| slot.ty.clone())?;
            entry(&mut out, table, &slot.name, function)?;
        }
        out.push_str("} }\n\n");
    }
    Ok(vec![Output::new(
        "crates/ze-driver/src/generated/unsupported.rs",
        out,
    )])
}

/// The bodies, which all functions share.
const MACROS: &str = r#"#![expect(non_snake_case, reason = "the names are C's")]

use crate::{clear, unsupported};
use core::ffi::{c_char, c_void};
use level_zero_sys::*;

/// A table and its functions: `SLOT FUNCTION(PARAMETERS) [HANDLE] [NEW HANDLES];`, and `-> TYPE = VALUE` where the result
/// is no code. New handles are null after a failed call.
macro_rules! table {
    ($table:ident: $type:ident { $($slot:ident $name:ident $params:tt [$($handle:ident)?] [$($new:ident)*] $(-> $ret:ty = $neutral:expr)?;)* }) => {
        pub(crate) const $table: $type = $type { $($slot: Some($name),)* };
        $(function! { $name $params [$($handle)?] [$($new)*] $(-> $ret = $neutral)? })*
    };
}

macro_rules! function {
    ($name:ident ($($param:tt)*) [$($handle:ident)?] [$($new:ident)*]) => {
        unsafe extern "C" fn $name($($param)*) -> ze_result_t {
            $(clear($new);)*
            $(if $handle.is_null() {
                return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
            })?
            unsupported(stringify!($name))
        }
    };
    // Without a result code the text of the last error is all that can tell.
    ($name:ident ($($param:tt)*) [$($handle:ident)?] [] -> $ret:ty = $neutral:expr) => {
        unsafe extern "C" fn $name($($param)*) -> $ret {
            if true $(&& !$handle.is_null())? {
                unsupported(stringify!($name));
            }
            $neutral
        }
    };
}

"#;

fn entry(out: &mut String, table: &Table, slot: &str, f: &Function) -> Result<()> {
    let handle = f
        .params
        .iter()
        .position(|p| !p.optional && table.handles.iter().any(|h| h.name == p.ty));
    let is_new = |p: &Param| {
        let handle = p.ty.strip_suffix(" *").unwrap_or_default();
        p.direction == Direction::Out
            && p.count.is_none()
            && table.handles.iter().any(|h| h.name == handle)
    };
    let (mut params, mut new) = (Vec::new(), Vec::new());
    for (i, p) in f.params.iter().enumerate() {
        let name = match Some(i) == handle {
            true => "handle",
            false if is_new(p) => &p.name,
            false => "_",
        };
        if is_new(p) {
            new.push(name);
        }
        params.push(format!("{name}: {}", rust::ty(&p.ty)?));
    }
    let result = match f.ret.as_str() {
        "ze_result_t" => String::new(),
        "uint32_t" => " -> u32 = u32::MAX".to_owned(),
        other => format!(" -> {} = core::ptr::null_mut()", rust::ty(other)?),
    };
    writeln!(
        out,
        "    {slot} {}({}) [{}] [{}]{result};",
        f.name,
        params.join(", "),
        if handle.is_some() { "handle" } else { "" },
        new.join(" "),
    )?;
    Ok(())
}
