//! Findings of the generated parameter checks, and the check of chains.

use std::ffi::c_void;

use level_zero_sys::*;
use ze_spec::Struct;

use super::finding::{Finding, Severity};
use crate::value::{Shown, function};

fn error(
    index: usize,
    param: usize,
    field: Option<&str>,
    value: String,
    rule: String,
    code: ze_result_t,
) -> ze_result_t {
    Finding::new(Severity::Error, "parameters", rule)
        .of(index)
        .argument(index, param, field)
        .value(value)
        .code(code)
        .report()
}

fn ty(index: usize, param: usize) -> &'static str {
    function(index).params.get(param).map_or("", |p| p.ty)
}

#[cold]
#[inline(never)]
pub(crate) fn null_handle(index: usize, param: usize) -> ze_result_t {
    let rule = format!(
        "a live {} is required, null is not allowed",
        ty(index, param)
    );
    error(
        index,
        param,
        None,
        "null".into(),
        rule,
        ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
    )
}

#[cold]
#[inline(never)]
pub(crate) fn null_pointer(index: usize, param: usize) -> ze_result_t {
    let rule = format!("a non-null '{}' is required", ty(index, param));
    error(
        index,
        param,
        None,
        "null".into(),
        rule,
        ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    )
}

#[cold]
#[inline(never)]
pub(crate) fn null_field(index: usize, param: usize, field: &str) -> ze_result_t {
    let rule = "the pointer must not be null".into();
    error(
        index,
        param,
        Some(field),
        "null".into(),
        rule,
        ZE_RESULT_ERROR_INVALID_NULL_POINTER,
    )
}

#[cold]
#[inline(never)]
pub(crate) fn enumeration(index: usize, param: usize, bits: u32) -> ze_result_t {
    let Some(described) = function(index).params.get(param) else {
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    };
    let value = Shown {
        param: described,
        bits: u64::from(bits),
    }
    .to_string();
    let rule = allowed(described.ty);
    error(
        index,
        param,
        None,
        value,
        rule,
        ZE_RESULT_ERROR_INVALID_ENUMERATION,
    )
}

#[cold]
#[inline(never)]
pub(crate) fn enumeration_field(
    index: usize,
    param: usize,
    field: &str,
    ty: &str,
    bits: u32,
) -> ze_result_t {
    error(
        index,
        param,
        Some(field),
        format!("{bits:#x}"),
        allowed(ty),
        ZE_RESULT_ERROR_INVALID_ENUMERATION,
    )
}

/// Text for the values that an enumeration or bit set allows.
fn allowed(ty: &str) -> String {
    let found = ze_spec::ENUMS
        .iter()
        .find(|e| e.name == ty || e.set == Some(ty));
    match found {
        Some(e) if e.set == Some(ty) => {
            format!("only bits of {} are allowed, {:#x}", e.name, e.mask())
        }
        Some(e) => format!(
            "only enumerators of {} are allowed, up to {:#x}",
            e.name,
            e.max()
        ),
        None => format!("only values of {ty} are allowed"),
    }
}

#[cold]
#[inline(never)]
pub(crate) fn rule(index: usize, param: usize, code: ze_result_t, condition: &str) -> ze_result_t {
    let rule = match code {
        ZE_RESULT_ERROR_UNSUPPORTED_SIZE => "the size must not be 0".into(),
        ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT => "0 or a power of two is required".into(),
        _ => format!("not allowed: {condition}"),
    };
    Finding::new(Severity::Error, "parameters", rule)
        .of(index)
        .argument(index, param, None)
        .code(code)
        .report()
}

/// The value of a pointer to a count; 0 for null.
pub(crate) fn count(at: *const u32) -> usize {
    // SAFETY: the caller's pointer, which is null or leads to a count.
    unsafe { at.as_ref() }.map_or(0, |count| *count as usize)
}

/// Checks each struct of an array, up to the first wrong one.
///
/// # Safety
/// `first` points to `count` structs.
pub(crate) unsafe fn each<T>(
    first: *const T,
    count: usize,
    check: impl Fn(&T) -> ze_result_t,
) -> ze_result_t {
    for place in 0..count {
        // SAFETY: guaranteed by the caller.
        let code = check(unsafe { &*first.add(place) });
        if code != ZE_RESULT_SUCCESS {
            return code;
        }
    }
    ZE_RESULT_SUCCESS
}

/// The head of every struct in a chain.
#[repr(C)]
struct Head {
    stype: u32,
    next: *const Head,
}

/// Longer chains are treated as cycles.
const LONGEST: usize = 256;

/// Unknown structure types from here on are mistakes; lower ones may come from later specifications.
const BEYOND: u32 = 0x0010_0000;

/// Checks a struct's own type and its chain.
///
/// # Safety
/// `next` is null or a chain of structs that begin with a type and a pointer.
pub(crate) unsafe fn chain(
    index: usize,
    param: usize,
    parent: &'static Struct,
    stype: u32,
    next: *const c_void,
) -> ze_result_t {
    if !parent.stypes.contains(&stype) {
        return wrong_type(index, param, parent, stype);
    }
    if next.is_null() {
        return ZE_RESULT_SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { walk(index, param, Some(parent), next.cast()) }
}

/// Checks a chain that belongs to the call rather than to a struct.
///
/// # Safety
/// As [`chain`].
pub(crate) unsafe fn bare_chain(index: usize, param: usize, next: *const c_void) -> ze_result_t {
    if next.is_null() {
        return ZE_RESULT_SUCCESS;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { walk(index, param, None, next.cast()) }
}

#[cold]
#[inline(never)]
fn wrong_type(index: usize, param: usize, parent: &Struct, stype: u32) -> ze_result_t {
    let expected: Vec<String> = parent.stypes.iter().map(|s| format!("{s:#x}")).collect();
    let rule = format!(
        "the structure type of {} is {}",
        parent.name,
        expected.join(" or ")
    );
    error(
        index,
        param,
        Some("stype"),
        format!("{stype:#x}"),
        rule,
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
    )
}

/// # Safety
/// As [`chain`].
#[inline(never)]
unsafe fn walk(
    index: usize,
    param: usize,
    parent: Option<&'static Struct>,
    mut next: *const Head,
) -> ze_result_t {
    let namespace = parent.map_or(function(index).namespace, |parent| parent.namespace);
    let mut length = 0;
    // SAFETY: the caller's chain.
    while let Some(head) = unsafe { next.as_ref() } {
        length += 1;
        if length > LONGEST {
            let rule = format!("the chain has more than {LONGEST} structs, or is a cycle");
            return error(
                index,
                param,
                Some("pNext"),
                format!("{next:p}"),
                rule,
                ZE_RESULT_ERROR_INVALID_ARGUMENT,
            );
        }
        let known = ze_spec::STRUCTS
            .iter()
            .find(|s| s.namespace == namespace && s.stypes.contains(&head.stype));
        match (known, parent) {
            (None, _) if head.stype >= BEYOND => {
                let rule = "the structure type in the chain is not in the specification".into();
                return error(
                    index,
                    param,
                    Some("pNext->stype"),
                    format!("{:#x}", head.stype),
                    rule,
                    ZE_RESULT_ERROR_INVALID_ARGUMENT,
                );
            }
            (Some(known), Some(parent))
                if !known.extends.is_empty() && !known.extends.contains(&parent.name) =>
            {
                // The driver ignores struct types that it does not know, so the call is made.
                let rule = format!(
                    "{} has no meaning in the chain of {}; it belongs to {}",
                    known.name,
                    parent.name,
                    known.extends.join(", ")
                );
                Finding::new(Severity::Warning, "parameters", rule)
                    .of(index)
                    .argument(index, param, Some("pNext"))
                    .value(format!("{next:p}"))
                    .report();
            }
            _ => {}
        }
        next = head.next;
    }
    ZE_RESULT_SUCCESS
}
