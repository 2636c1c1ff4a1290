//! The validation layer's checks: what the table says about each function's parameters and handles, as code.

use super::slots::{SlotFunction, Slots};
use super::{driver_tables, rust};
use crate::table::{Direction, ErrorRule, Field, Function, Param, Struct, Table};
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

/// Sets of bits in which all bits at once stand for "any".
const ALL_ONES: [&str; 1] = ["ze_init_driver_type_flags_t"];

/// Structs with a rule of their own in the layer's `rules`.
const RULES: [(&str, &str); 2] = [
    ("ze_module_desc_t", "module"),
    ("ze_init_driver_type_desc_t", "driver_types"),
];

/// Fields that may be zero although the table does not call them optional: the reason is in the layer's `rules`.
const BY_RULE: [(&str, &str); 2] = [
    ("ze_module_desc_t", "pInputModule"),
    ("zet_tracer_exp_desc_t", "pUserData"),
];

const IMPORTS: &str =
    "#![expect(non_snake_case, reason = \"functions and parameters carry C's names\")]\n\n";

/// The checks of one function or struct, one line each, without the `if`s around them.
type Lines = String;

/// Enumerations and the types of their sets, by name.
struct Enums<'t> {
    by_name: HashMap<&'t str, &'t crate::table::Enum>,
}

impl<'t> Enums<'t> {
    fn new(table: &'t Table) -> Enums<'t> {
        let mut by_name = HashMap::new();
        for e in &table.enums {
            by_name.insert(e.name.as_str(), e);
            if let Some(set) = &e.flags {
                by_name.insert(set.as_str(), e);
            }
        }
        Enums { by_name }
    }

    /// The expression that is true for a value that is not allowed.
    fn refuses(&self, ty: &str, value: &str) -> Option<String> {
        let e = self.by_name.get(ty)?;
        let values = e
            .values
            .iter()
            .filter(|(name, _)| !name.ends_with("_FORCE_UINT32"))
            .map(|(_, v)| *v);
        if e.flags.as_deref() == Some(ty) {
            let mask = values.fold(0, |mask, v| mask | v);
            let any = if ALL_ONES.contains(&ty) {
                format!(" && {value} != u32::MAX")
            } else {
                String::new()
            };
            Some(format!("{value} & !{mask:#x} != 0{any}"))
        } else if e.flags.is_some() {
            let mask = values.fold(0, |mask, v| mask | v);
            Some(format!("{value}.0 & !{mask:#x} != 0"))
        } else {
            let values: BTreeSet<u32> = values.collect();
            let (first, last) = (*values.first()?, *values.last()?);
            let contiguous = (last - first) as usize + 1 == values.len();
            // With holes, vendors' values may lie in them; only what is beyond all is wrong.
            Some(if contiguous && first > 0 {
                format!("!({first:#x}..={last:#x}).contains(&{value}.0)")
            } else {
                format!("{value}.0 > {last:#x}")
            })
        }
    }
}

impl Enums<'_> {
    /// The value as a number: sets are numbers, enumerators wrap one.
    fn bits(&self, ty: &str, value: &str) -> String {
        let set = self
            .by_name
            .get(ty)
            .is_some_and(|e| e.flags.as_deref() == Some(ty));
        if set {
            value.to_string()
        } else {
            format!("{value}.0")
        }
    }
}

/// The type that a parameter points to, without `const`.
fn pointee(ty: &str) -> Option<&str> {
    let inner = ty.strip_suffix('*')?.trim();
    Some(inner.strip_prefix("const ").unwrap_or(inner))
}

fn is_function_pointer(table: &Table, ty: &str) -> bool {
    ty.contains("_pfn") || table.callbacks.iter().any(|c| c.name == ty)
}

fn is_handle(table: &Table, ty: &str) -> bool {
    table.handles.iter().any(|h| h.name == ty)
}

/// A struct that has something to check: a structure type, or fields with rules.
fn checked<'t>(table: &'t Table, enums: &Enums<'_>, name: &str) -> Option<&'t Struct> {
    let found = table
        .structs
        .iter()
        .find(|s| s.name == name && s.kind == crate::table::Kind::Struct)?;
    (!found.stypes.is_empty()
        || found
            .fields
            .iter()
            .any(|f| !field_checks(enums, found, f).is_empty()))
    .then_some(found)
}

fn field_checks(enums: &Enums<'_>, of: &Struct, field: &Field) -> Lines {
    let mut out = String::new();
    if field.direction != Some(Direction::In)
        || field.optional
        || BY_RULE.contains(&(&of.name, &field.name))
    {
        return out;
    }
    let name = rust::ident(&field.name);
    if field.ty.ends_with('*') {
        writeln!(out, "    if value.{name}.is_null() {{\n        return found::null_field(index, param, {:?});\n    }}", field.name).ok();
    } else if let Some(refused) = enums.refuses(&field.ty, &format!("value.{name}")) {
        let bits = enums.bits(&field.ty, &format!("value.{name}"));
        writeln!(out, "    if {refused} {{\n        return found::enumeration_field(index, param, {:?}, {:?}, {bits});\n    }}", field.name, field.ty).ok();
    }
    out
}

pub(super) fn parameters(table: &Table, slots: &Slots<'_>) -> Result<String> {
    let enums = Enums::new(table);
    let mut out = rust::head(
        "The checks that need no memory of earlier calls: per function its parameters, per struct its fields.",
    );
    out += "#![expect(non_snake_case, unused_variables, clippy::too_many_arguments, reason = \"functions and parameters carry C's names; most are not looked at\")]\n\n";
    out += "use crate::validation::found;\nuse level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\n\n";
    let mut structs = BTreeSet::new();
    for (index, slot) in slots.all.iter().enumerate() {
        out += &function(table, &enums, index, slot, &mut structs)?;
    }
    for name in structs {
        let of = checked(table, &enums, &name).with_context(|| format!("no {name}"))?;
        out += &structure(table, &enums, of)?;
    }
    Ok(driver_tables::trim_imports(out).trim_end().to_string() + "\n")
}

fn function(
    table: &Table,
    enums: &Enums<'_>,
    index: usize,
    slot: &SlotFunction<'_>,
    structs: &mut BTreeSet<String>,
) -> Result<String> {
    let f = slot.function;
    let mut out = format!(
        "#[inline(always)]\npub(crate) unsafe fn {}({}) -> ze_result_t {{\n",
        f.name,
        driver_tables::parameters(f)?
    );
    let named = |p: &Param| rust::ident(&p.name);
    for (place, p) in f
        .params
        .iter()
        .enumerate()
        .filter(|(_, p)| !p.optional && is_handle(table, &p.ty))
    {
        writeln!(
            out,
            "    if {}.is_null() {{\n        return found::null_handle({index}, {place});\n    }}",
            named(p)
        )?;
    }
    for (place, p) in f.params.iter().enumerate().filter(|(_, p)| !p.optional) {
        if p.ty.ends_with('*') {
            writeln!(
                out,
                "    if {}.is_null() {{\n        return found::null_pointer({index}, {place});\n    }}",
                named(p)
            )?;
        } else if is_function_pointer(table, &p.ty) {
            writeln!(
                out,
                "    if {}.is_none() {{\n        return found::null_pointer({index}, {place});\n    }}",
                named(p)
            )?;
        }
    }
    for (place, p) in f
        .params
        .iter()
        .enumerate()
        .filter(|(_, p)| p.direction != Direction::Out && !p.optional)
    {
        if let Some(refused) = enums.refuses(&p.ty, &named(p)) {
            let bits = enums.bits(&p.ty, &named(p));
            writeln!(
                out,
                "    if {refused} {{\n        return found::enumeration({index}, {place}, {bits});\n    }}"
            )?;
        }
    }
    for (place, p) in f.params.iter().enumerate() {
        let Some(inner) = pointee(&p.ty) else {
            continue;
        };
        let Some(of) = checked(table, enums, inner) else {
            continue;
        };
        structs.insert(of.name.clone());
        let count = match &p.count {
            None => "1".to_string(),
            Some(expression) => match counted(f, expression) {
                Some(count) => count,
                None => continue,
            },
        };
        if count == "1" {
            writeln!(
                out,
                "    if !{0}.is_null() {{\n        // SAFETY: the caller's struct.\n        let code = unsafe {{ check_{1}({index}, {place}, &*{0}) }};\n        if code.0 != 0 {{\n            return code;\n        }}\n    }}",
                named(p),
                of.name
            )?;
        } else {
            writeln!(
                out,
                "    if !{0}.is_null() {{\n        // SAFETY: the caller's array of as many structs.\n        let code = unsafe {{ found::each({0}, {count}, |value| check_{1}({index}, {place}, value)) }};\n        if code.0 != 0 {{\n            return code;\n        }}\n    }}",
                named(p),
                of.name
            )?;
        }
    }
    for rule in &f.errors {
        if let Some((condition, culprit)) = condition(table, f, rule) {
            writeln!(
                out,
                "    // SAFETY: what is looked at was found not null above.\n    if {condition} {{\n        return found::rule({index}, {culprit}, {}, {:?});\n    }}",
                rule.code,
                rule.condition.trim_matches('`')
            )?;
        }
    }
    if f.params.iter().any(|p| p.name == "pNext") {
        let place = f
            .params
            .iter()
            .position(|p| p.name == "pNext")
            .unwrap_or_default();
        writeln!(
            out,
            "    // SAFETY: the caller's chain.\n    let code = unsafe {{ found::bare_chain({index}, {place}, pNext.cast()) }};\n    if code.0 != 0 {{\n        return code;\n    }}"
        )?;
    }
    out += "    ZE_RESULT_SUCCESS\n}\n\n";
    // A condition without a look behind a pointer needs no promise.
    Ok(out
        .lines()
        .collect::<Vec<_>>()
        .windows(2)
        .filter(|w| !w[0].contains("// SAFETY: what is looked at") || w[1].contains("unsafe"))
        .map(|w| format!("{}\n", w[0]))
        .collect::<String>()
        + "\n")
}

/// The number of elements of an array as an expression, when it is a parameter or what one points to.
fn counted(f: &Function, expression: &str) -> Option<String> {
    let (name, behind) = expression
        .strip_prefix('*')
        .map_or((expression, false), |n| (n, true));
    let p = f.params.iter().find(|p| p.name == name)?;
    let name = rust::ident(name);
    Some(match (behind, p.ty.as_str()) {
        // SAFETY comments stand with the block that this lands in.
        (true, _) if p.optional => return None,
        (true, _) => format!("crate::validation::found::count({name})"),
        (false, _) => format!("{name} as usize"),
    })
}

/// The rule's condition in Rust and the place of the parameter to blame, where the condition is an expression over
/// parameters.
fn condition(table: &Table, f: &Function, rule: &ErrorRule) -> Option<(String, usize)> {
    if rule.condition == "Must be zero or a power-of-two" {
        let place = f.params.iter().position(|p| p.name == "alignment")?;
        return Some((
            "alignment != 0 && !alignment.is_power_of_two()".into(),
            place,
        ));
    }
    let text = rule.condition.strip_prefix('`')?.strip_suffix('`')?;
    if text == "0 != (alignment & (alignment - 1))" {
        let place = f.params.iter().position(|p| p.name == "alignment")?;
        return Some(("alignment & alignment.wrapping_sub(1) != 0".into(), place));
    }
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len())
        } else {
            ["->", "==", "!=", "&&", "||", "<=", ">="]
                .iter()
                .find(|s| rest.starts_with(*s))
                .map_or(1, |s| s.len())
        };
        let (word, after) = rest.split_at(length);
        if word != " " {
            words.push(word);
        }
        rest = after;
    }
    let mut culprit = None;
    let mut code = Vec::new();
    let mut reads = false;
    let mut at = 0;
    while at < words.len() {
        let word = words[at];
        let place = f.params.iter().position(|p| p.name == word);
        match (word, place) {
            ("nullptr", _) => {
                // `nullptr == name`
                let (operator, name) = (*words.get(at + 1)?, *words.get(at + 2)?);
                let place = f.params.iter().position(|p| p.name == name)?;
                culprit = culprit.or(Some(place));
                code.push(format!(
                    "{}{}.is_null()",
                    if operator == "==" { "" } else { "!" },
                    rust::ident(name)
                ));
                at += 2;
            }
            (_, Some(place)) if words.get(at + 1) == Some(&"->") => {
                let field = *words.get(at + 2)?;
                let of = table.structure(pointee(&f.params[place].ty)?)?;
                if f.params[place].optional
                    || !of.fields.iter().any(|field_of| field_of.name == field)
                {
                    return None;
                }
                if BY_RULE
                    .iter()
                    .any(|(name, _)| *name == of.name && field == "inputSize")
                {
                    return None;
                }
                culprit = culprit.or(Some(place));
                code.push(format!(
                    "(*{}).{}{}",
                    rust::ident(word),
                    rust::ident(field),
                    ""
                ));
                reads = true;
                at += 2;
            }
            (_, Some(place)) => {
                if f.params[place].ty.ends_with('*') {
                    return None;
                }
                culprit = culprit.or(Some(place));
                code.push(rust::ident(word));
            }
            // Only conjunctions of comparisons are known, which need no parentheses.
            ("(" | ")", _) => {}
            ("==" | "!=" | "<" | ">" | "&&" | "%", _) => code.push(word.into()),
            (number, None) if number.chars().all(|c| c.is_ascii_digit()) => {
                code.push(number.into())
            }
            _ => return None,
        }
        at += 1;
    }
    let mut text = code.join(" ");
    if let [size, "%", of, "!=", "0"] = words.as_slice() {
        text = format!("{of} != 0 && !{size}.is_multiple_of({of})");
    }
    // A null inside the struct is the struct's own check.
    if text.contains(").p") && text.contains("is_null") {
        return None;
    }
    if reads {
        text = format!("unsafe {{ {text} }}");
    }
    Some((text, culprit?))
}

fn structure(table: &Table, enums: &Enums<'_>, of: &Struct) -> Result<String> {
    let mut out = format!(
        "unsafe fn check_{0}(index: usize, param: usize, value: &{0}) -> ze_result_t {{\n",
        of.name
    );
    if !of.stypes.is_empty() {
        let mut all: Vec<&str> = table
            .structs
            .iter()
            .filter(|s| !s.stypes.is_empty())
            .map(|s| s.name.as_str())
            .collect();
        all.sort_unstable();
        let place = all
            .binary_search(&of.name.as_str())
            .ok()
            .with_context(|| format!("{}: not in ze_spec::STRUCTS", of.name))?;
        writeln!(
            out,
            "    // SAFETY: the caller's struct and its chain.\n    let code = unsafe {{ found::chain(index, param, &ze_spec::STRUCTS[{place}], value.stype.0, value.pNext.cast()) }};\n    if code.0 != 0 {{\n        return code;\n    }}"
        )?;
    }
    for field in &of.fields {
        out += &field_checks(enums, of, field);
    }
    if let Some((_, rule)) = RULES.iter().find(|(name, _)| *name == of.name) {
        writeln!(
            out,
            "    // SAFETY: the caller's struct and its chain.\n    let code = unsafe {{ crate::validation::rules::{rule}(index, param, value) }};\n    if code.0 != 0 {{\n        return code;\n    }}"
        )?;
    }
    Ok(out + "    ZE_RESULT_SUCCESS\n}\n\n")
}

/// The type that counts for life and death: `zet_driver_handle_t` is `ze_driver_handle_t`.
fn base<'t>(table: &'t Table, ty: &'t str) -> &'t str {
    table
        .handles
        .iter()
        .find(|h| h.name == ty)
        .and_then(|h| h.alias.as_deref())
        .unwrap_or(ty)
}

/// True for the parameter whose object the call ends.
fn ends(table: &Table, f: &Function, p: &Param) -> bool {
    if !is_handle(table, &p.ty) {
        return false;
    }
    let by_name = ["Destroy", "DestroyExp", "DestroyExt"]
        .iter()
        .any(|end| f.name.ends_with(end))
        || f.name.starts_with("zeDeviceRelease");
    p.release || (by_name && f.params.first().is_some_and(|first| first.name == p.name))
}

/// The numbers of the handle types, by name.
fn kind_numbers(table: &Table) -> BTreeMap<&str, usize> {
    table
        .handles
        .iter()
        .filter(|h| h.alias.is_none() && h.name != "zel_tracer_handle_t")
        .map(|h| h.name.as_str())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .enumerate()
        .map(|(number, name)| (name, number))
        .collect()
}

pub(super) fn kinds(table: &Table) -> Result<String> {
    let kinds = kind_numbers(table);
    let kind = |ty: &str| kinds.get(base(table, ty)).copied();
    let mut out = rust::head("The types of handles.");
    writeln!(
        out,
        "/// The types of handles, by number.\npub(crate) static KINDS: [&str; {}] = [",
        kinds.len()
    )?;
    for name in kinds.keys() {
        writeln!(out, "    {name:?},")?;
    }
    out += "];\n\n";
    for name in [
        "ze_command_list_handle_t",
        "ze_context_handle_t",
        "ze_event_handle_t",
        "ze_fence_handle_t",
        "ze_command_queue_handle_t",
    ] {
        let number = kind(name).with_context(|| format!("no {name}"))?;
        let constant = name
            .trim_start_matches("ze_")
            .trim_end_matches("_handle_t")
            .to_uppercase();
        writeln!(
            out,
            "/// `{name}`.\npub(crate) const {constant}: usize = {number};"
        )?;
    }
    Ok(out)
}

pub(super) fn lifetimes(table: &Table, slots: &Slots<'_>) -> Result<String> {
    let kinds = kind_numbers(table);
    let kind = |ty: &str| kinds.get(base(table, ty)).copied();
    let mut out = rust::head("Which handles a call needs alive, which it makes and which it ends.");
    out += IMPORTS
        .replace(
            "non_snake_case",
            "non_snake_case, unused_variables, clippy::too_many_arguments",
        )
        .as_str();
    out += "use crate::validation::lifetime as life;\nuse level_zero_sys::*;\nuse std::ffi::{c_char, c_void};\n\n";
    let (mut before, mut after) = (String::new(), String::new());
    for (index, slot) in slots.all.iter().enumerate() {
        let f = slot.function;
        let parameters = driver_tables::parameters(f)?;
        writeln!(
            before,
            "#[inline(always)]\npub(crate) unsafe fn {}({parameters}) -> ze_result_t {{",
            f.name
        )?;
        let separator = if parameters.is_empty() { "" } else { ", " };
        writeln!(
            after,
            "    #[inline(always)]\n    pub(crate) unsafe fn {}({parameters}{separator}result: {}) {{",
            f.name,
            rust::ty(&f.ret)?
        )?;
        // Getters hand out what is there already; clones and captured graphs outlive what they come from.
        let independent = f.name.contains("Get")
            || f.name.contains("Clone")
            || f.name.contains("EndGraphCapture");
        let parent = f
            .params
            .iter()
            .find(|p| is_handle(table, &p.ty) && p.direction == Direction::In && !independent)
            .and_then(|p| {
                Some(format!(
                    "Some(({}, {}.addr()))",
                    kind(&p.ty)?,
                    rust::ident(&p.name)
                ))
            })
            .unwrap_or_else(|| "None".into());
        let success = if f.ret == "ze_result_t" {
            "result.0 == 0"
        } else {
            "true"
        };
        let mut made = String::new();
        let state = list_state(f);
        for (place, p) in f.params.iter().enumerate() {
            let name = rust::ident(&p.name);
            if let Some(kind) = kind(&p.ty) {
                let guard = if p.optional {
                    format!("!{name}.is_null() && ")
                } else {
                    String::new()
                };
                let alive = match state {
                    Some(State::Open) if place == 0 => "is_open",
                    _ => "is_alive",
                };
                writeln!(
                    before,
                    "    if {guard}!life::{alive}({kind}, {name}.addr()) {{\n        return life::refuse({index}, {place}, {kind}, {name}.addr());\n    }}"
                )?;
                if ends(table, f, p) {
                    writeln!(
                        before,
                        "    let code = life::begin_end({index}, {place}, {kind}, {name}.addr());\n    if code.0 != 0 {{\n        return code;\n    }}"
                    )?;
                    writeln!(
                        after,
                        "        life::end({kind}, {name}.addr(), {success});"
                    )?;
                }
                continue;
            }
            let Some(kind) = pointee(&p.ty).and_then(kind) else {
                continue;
            };
            if p.direction == Direction::In {
                let Some(count) = p.count.as_deref().and_then(|count| counted(f, count)) else {
                    continue;
                };
                let closed = matches!(state, Some(State::Closes))
                    && kind == kinds["ze_command_list_handle_t"];
                writeln!(
                    before,
                    "    // SAFETY: the caller's array of as many handles, or null.\n    let code = unsafe {{ life::all({index}, {place}, {kind}, {name}.cast(), {count}, {closed}) }};\n    if code.0 != 0 {{\n        return code;\n    }}"
                )?;
            } else {
                let count = match p.count.as_deref() {
                    None => "1".to_string(),
                    Some(count) => match counted(f, count) {
                        Some(count) => count,
                        None => continue,
                    },
                };
                // A build log outlives its module.
                if kind == kinds["ze_module_build_log_handle_t"] {
                    // And it is there, too, when there is no module: it says why.
                    writeln!(
                        after,
                        "        if {success} || matches!(result, ZE_RESULT_ERROR_MODULE_BUILD_FAILURE | ZE_RESULT_ERROR_MODULE_LINK_FAILURE) {{\n            // SAFETY: the call wrote a log where one was asked for.\n            unsafe {{ life::made({index}, {kind}, {name}.cast(), {count}, None, true) }};\n        }}"
                    )?;
                    continue;
                }
                writeln!(
                    made,
                    "            life::made({index}, {kind}, {name}.cast(), {count}, {parent}, {});",
                    !independent
                )?;
            }
        }
        if let Some(kind) = kind(&f.ret) {
            writeln!(
                after,
                "        life::returned({index}, {kind}, result.addr(), {parent});"
            )?;
        }
        if !made.is_empty() {
            writeln!(
                after,
                "        if {success} {{\n            // SAFETY: the call succeeded and wrote as many handles.\n            unsafe {{\n{}            }}\n        }}",
                made.replace("            life", "                life")
            )?;
        }
        match f.name.as_str() {
            "zeCommandListCreateImmediate" => writeln!(
                after,
                "        if {success} {{\n            // SAFETY: the call succeeded and wrote a handle.\n            unsafe {{ life::immediate(phCommandList.cast()) }};\n        }}"
            )?,
            "zeCommandListCreate" => writeln!(
                after,
                "        if {success} {{\n            // SAFETY: the call succeeded and wrote a handle.\n            unsafe {{ life::opened(*phCommandList) }};\n        }}"
            )?,
            "zeCommandListReset" => writeln!(
                after,
                "        if {success} {{\n            life::opened(hCommandList);\n        }}"
            )?,
            "zeCommandListClose" => writeln!(
                after,
                "        if {success} {{\n            life::closed(hCommandList);\n        }}"
            )?,
            _ => {}
        }
        before += &same_context(table, index, f, &kind)?;
        before += "    ZE_RESULT_SUCCESS\n}\n\n";
        after += "    }\n\n";
    }
    writeln!(
        out,
        "\n{before}/// What calls leave behind.\npub(crate) mod after {{\n    use super::*;\n\n{after}}}"
    )?;
    Ok(driver_tables::trim_imports(out).trim_end().to_string() + "\n")
}

enum State {
    /// The first parameter is a list that must take commands.
    Open,
    /// Lists are executed, so they must be closed.
    Closes,
}

fn list_state(f: &Function) -> Option<State> {
    let first = f.params.first()?;
    let appends =
        first.ty.ends_with("command_list_handle_t") && f.name.contains("CommandListAppend");
    if appends {
        Some(State::Open)
    } else if f.name == "zeCommandQueueExecuteCommandLists"
        || f.name
            .starts_with("zeCommandListImmediateAppendCommandLists")
    {
        Some(State::Closes)
    } else {
        None
    }
}

/// The check that the objects of a call belong together, for calls with several objects that belong to a context.
fn same_context<'t>(
    table: &'t Table,
    index: usize,
    f: &'t Function,
    kind: &impl Fn(&'t str) -> Option<usize>,
) -> Result<String> {
    let outside = ["ze_driver_handle_t", "ze_device_handle_t"];
    let mut out = String::new();
    let (mut several, mut list) = (0, String::new());
    for (place, p) in f.params.iter().enumerate() {
        let belongs = !outside.contains(&base(table, &p.ty))
            && p.ty.starts_with("ze_")
            && p.direction == Direction::In;
        if let Some(number) = kind(&p.ty).filter(|_| belongs) {
            several += 1;
            write!(
                list,
                "({place}, {number}, {}.addr()), ",
                rust::ident(&p.name)
            )?;
        }
    }
    if several > 1 {
        writeln!(
            out,
            "    life::together({index}, &[{}]);",
            list.trim_end_matches(", ")
        )?;
    }
    if f.name == "zeCommandQueueExecuteCommandLists" {
        writeln!(
            out,
            "    let code = life::child_of({index}, 3, hFence.addr(), hCommandQueue.addr());\n    if code.0 != 0 {{\n        return code;\n    }}"
        )?;
    }
    Ok(out)
}
