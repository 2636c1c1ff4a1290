//! The API table: parses `spec/level-zero-1.17/*.txt` into plain structs, in the order of the files.
//!
//! The grammar is in that folder's README. Every error names file and line.

use anyhow::{Context as _, Result, anyhow, bail};
use std::collections::HashMap;
use std::path::Path;

/// The folder of the table, from the repository's root.
pub(crate) const FOLDER: &str = "spec/level-zero-1.17";

/// A version of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

/// The value of a named constant (an object-like macro in C).
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Int { bits: u32, value: u64 },
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) value: Value,
}

/// A macro that is no constant.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) params: Vec<String>,
    /// Each with the condition under which it holds; the first that does counts, and without any it is empty.
    pub(crate) values: Vec<(String, Option<String>)>,
}

/// A constant struct: a descriptor with the values that are recommended.
#[derive(Clone, Debug)]
pub(crate) struct DefaultStruct {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) structure: String,
    pub(crate) since: Version,
    pub(crate) doc: String,
    /// Each field with its value, in the struct's order.
    pub(crate) fields: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Handle {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) opaque: String,
    pub(crate) alias: Option<String>,
}

/// A typedef of a number or of another type of the table.
#[derive(Clone, Debug)]
pub(crate) struct Typedef {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) target: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) tag: String,
    /// The type of sets of these bits, where the enumerators are bits.
    pub(crate) flags: Option<String>,
    pub(crate) since: Version,
    pub(crate) doc: String,
    pub(crate) values: Vec<(String, u32)>,
}

/// The purpose of a parameter or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) offset: u64,
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) direction: Option<Direction>,
    pub(crate) optional: bool,
    pub(crate) since: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Struct,
    Union,
    /// A table of function pointers, or of pointers to such tables.
    Table,
    /// Parameter blocks and callback tables of the tracing layer.
    Tracing,
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) tag: String,
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// Enumerators that may stand in `stype`; the first is the default.
    pub(crate) stypes: Vec<String>,
    /// Structs whose `pNext` may lead here.
    pub(crate) extends: Vec<String>,
    /// Functions that take it through a `pNext` of no struct.
    pub(crate) passed: Vec<String>,
    pub(crate) since: Version,
    pub(crate) doc: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) direction: Direction,
    pub(crate) optional: bool,
    /// The call ends the life of this handle.
    pub(crate) release: bool,
    /// The second bound of `range(0, n)`: the expression that counts the elements.
    pub(crate) count: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct ErrorRule {
    pub(crate) code: String,
    pub(crate) condition: String,
}

/// Where a function lies in the tables of function pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) table: String,
    pub(crate) field: String,
    pub(crate) index: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// `None`: exported, but in no public header.
    pub(crate) header: Option<String>,
    pub(crate) since: Version,
    pub(crate) ret: String,
    pub(crate) doc: String,
    pub(crate) params: Vec<Param>,
    pub(crate) errors: Vec<ErrorRule>,
    pub(crate) slot: Option<Slot>,
}

/// A function pointer type that no public function has.
#[derive(Clone, Debug)]
pub(crate) struct Callback {
    pub(crate) name: String,
    pub(crate) header: String,
    pub(crate) ret: String,
    /// Name and C type.
    pub(crate) params: Vec<(String, String)>,
    /// True for the prologue and epilogue callbacks of the tracing layer.
    pub(crate) tracing: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) versions: Vec<Version>,
    pub(crate) experimental: bool,
    pub(crate) since: Version,
    pub(crate) functions: Vec<String>,
}

/// Everything, in the order of the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) constants: Vec<Constant>,
    pub(crate) macros: Vec<Macro>,
    pub(crate) defaults: Vec<DefaultStruct>,
    pub(crate) handles: Vec<Handle>,
    pub(crate) typedefs: Vec<Typedef>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) structs: Vec<Struct>,
    pub(crate) callbacks: Vec<Callback>,
    pub(crate) functions: Vec<Function>,
    pub(crate) extensions: Vec<Extension>,
}

/// The namespaces, longest prefix first, so that `zet` is not read as `ze`.
const PREFIXES: [&str; 5] = ["zet", "zes", "zer", "zel", "ze"];

/// Splits a function's name: `zeFenceCreate` into `ze` and `FenceCreate`.
pub(crate) fn split_prefix(function: &str) -> Option<(&'static str, &str)> {
    PREFIXES.iter().find_map(|&prefix| {
        let rest = function.strip_prefix(prefix)?;
        rest.starts_with(|c: char| c.is_ascii_uppercase())
            .then_some((prefix, rest))
    })
}

impl Function {
    /// The namespace: `ze`, `zet`, `zes`, `zer` or `zel`.
    pub(crate) fn prefix(&self) -> &'static str {
        split_prefix(&self.name).map_or("ze", |(prefix, _)| prefix)
    }

    /// Name of its function pointer type: `ze_pfnFenceCreate_t`.
    pub(crate) fn pfn(&self) -> String {
        let (prefix, rest) = split_prefix(&self.name).unwrap_or(("ze", &self.name));
        format!("{prefix}_pfn{rest}_t")
    }

    /// True for `ze*Get*ProcAddrTable`.
    pub(crate) fn is_getter(&self) -> bool {
        self.name.ends_with("ProcAddrTable")
    }
}

impl Table {
    /// Reads the table below `root`.
    pub(crate) fn load(root: &Path) -> Result<Table> {
        let mut table = Table::default();
        for file in [
            "constants",
            "types",
            "enums",
            "structs",
            "tables",
            "tracing",
            "callbacks",
            "functions",
            "extensions",
        ] {
            let path = root.join(FOLDER).join(format!("{file}.txt"));
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("reading {}", path.display()))?;
            for (item, lines) in items(&text) {
                table
                    .item(file, item.1, &lines)
                    .with_context(|| format!("{FOLDER}/{file}.txt:{}", item.0))?;
            }
        }
        table.find_slots();
        table.check()?;
        Ok(table)
    }

    pub(crate) fn structure(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|s| s.name == name)
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }

    /// The DDI tables that hold functions (`ze_fence_dditable_t`), not the tables of tables.
    pub(crate) fn ddi_tables(&self) -> impl Iterator<Item = &Struct> {
        self.structs
            .iter()
            .filter(|s| s.kind == Kind::Table && s.fields.iter().all(|f| f.name.starts_with("pfn")))
    }

    /// The function behind a slot's type.
    pub(crate) fn function_of_pfn(&self, pfn: &str) -> Option<&Function> {
        let (prefix, rest) = pfn.split_once("_pfn")?;
        self.function(&format!("{prefix}{}", rest.strip_suffix("_t")?))
    }

    fn item(&mut self, file: &str, head: &str, lines: &[(usize, &str)]) -> Result<()> {
        let (left, after) = head
            .split_once(" : ")
            .map_or((head, None), |(l, r)| (l, Some(r)));
        let mut words = left.split(' ');
        let word = words.next().unwrap_or_default();
        let name = words.next().ok_or_else(|| anyhow!("no name"))?.to_string();
        let rest: Vec<&str> = words.collect();
        let header = (*rest.first().ok_or_else(|| anyhow!("no header"))?).to_string();
        let attributes: HashMap<&str, &str> =
            rest.iter().filter_map(|w| w.split_once('=')).collect();
        let since = attributes
            .get("since")
            .map_or(Ok(Version { major: 1, minor: 0 }), |v| version(v))?;
        let doc = lines
            .iter()
            .find_map(|(_, l)| l.strip_prefix("doc "))
            .unwrap_or_default()
            .to_string();
        let body: Vec<(usize, &str)> = lines
            .iter()
            .copied()
            .filter(|(_, l)| !l.starts_with("doc "))
            .collect();
        let attribute = |key: &str| {
            attributes
                .get(key)
                .copied()
                .ok_or_else(|| anyhow!("{name}: no {key}="))
        };
        let list = |key: &str| {
            attributes
                .get(key)
                .map_or_else(Vec::new, |v| v.split(',').map(str::to_string).collect())
        };
        match word {
            "const" => {
                let (kind, value) = (
                    rest.get(1).copied().unwrap_or_default(),
                    rest.get(2..).unwrap_or_default().join(" "),
                );
                let value = if let Some(bits) = kind.strip_prefix("int") {
                    Value::Int {
                        bits: bits.parse()?,
                        value: value.parse()?,
                    }
                } else {
                    Value::Text(serde_json::from_str(&value)?)
                };
                self.constants.push(Constant {
                    name,
                    header,
                    value,
                });
            }
            "macro" => self.macros.push(Macro {
                name,
                header,
                params: rest[1..].iter().map(|p| (*p).to_string()).collect(),
                values: body
                    .iter()
                    .map(|(_, text)| match text.split_once(" if ") {
                        Some((value, condition)) => (value.into(), Some(condition.into())),
                        None => ((*text).into(), None),
                    })
                    .collect(),
            }),
            "default" => {
                let structure = (*rest.get(1).ok_or_else(|| anyhow!("no struct"))?).to_string();
                let mut fields = Vec::new();
                for (line, text) in body {
                    let (field, value) = text
                        .split_once(' ')
                        .ok_or_else(|| anyhow!("line {line}: no value"))?;
                    fields.push((field.to_string(), value.to_string()));
                }
                self.defaults.push(DefaultStruct {
                    name,
                    header,
                    structure,
                    since,
                    doc,
                    fields,
                });
            }
            "handle" => {
                let opaque = (*rest.get(1).ok_or_else(|| anyhow!("no opaque struct"))?).to_string();
                let alias = attributes.get("alias").map(|a| (*a).to_string());
                self.handles.push(Handle {
                    name,
                    header,
                    opaque,
                    alias,
                });
            }
            "type" => {
                let target = rest.get(1..).unwrap_or_default().join(" ");
                self.typedefs.push(Typedef {
                    name,
                    header,
                    target,
                });
            }
            "enum" => {
                let mut values = Vec::new();
                for (line, text) in body {
                    let (n, v) = text
                        .split_once(' ')
                        .ok_or_else(|| anyhow!("line {line}: no value"))?;
                    let v = match v.strip_prefix("0x") {
                        Some(hex) => u32::from_str_radix(hex, 16),
                        None => v.parse(),
                    };
                    values.push((n.to_string(), v.with_context(|| format!("line {line}"))?));
                }
                let tag = attribute("tag")?.to_string();
                let flags = attributes.get("flags").map(|f| (*f).to_string());
                self.enums.push(Enum {
                    name,
                    header,
                    tag,
                    flags,
                    since,
                    doc,
                    values,
                });
            }
            "struct" | "union" | "table" => {
                let kind = match (word, file) {
                    (_, "tracing") => Kind::Tracing,
                    ("union", _) => Kind::Union,
                    ("table", _) => Kind::Table,
                    _ => Kind::Struct,
                };
                let mut fields = Vec::new();
                for (line, text) in body {
                    fields.push(field(text).with_context(|| format!("line {line}"))?);
                }
                self.structs.push(Struct {
                    kind,
                    tag: attribute("tag")?.to_string(),
                    size: attribute("size")?.parse()?,
                    align: attribute("align")?.parse()?,
                    stypes: list("stype"),
                    extends: list("extends"),
                    passed: list("passed"),
                    name,
                    header,
                    since,
                    doc,
                    fields,
                });
            }
            "trace" => {
                let block = rest.get(1).ok_or_else(|| anyhow!("no parameter block"))?;
                let params = [
                    ("params", format!("{block} *")),
                    (
                        "result",
                        rest.get(2).map_or("ze_result_t", |ty| ty).to_string(),
                    ),
                    ("pTracerUserData", "void *".to_string()),
                    ("ppTracerInstanceUserData", "void **".to_string()),
                ];
                let params = params
                    .into_iter()
                    .map(|(n, t)| (n.to_string(), t))
                    .collect();
                self.callbacks.push(Callback {
                    name,
                    header,
                    ret: "void".into(),
                    params,
                    tracing: true,
                });
            }
            "callback" => {
                let ret = after.ok_or_else(|| anyhow!("no return type"))?.to_string();
                let mut params = Vec::new();
                for (line, text) in body {
                    let (n, t) = text
                        .split_once(" : ")
                        .ok_or_else(|| anyhow!("line {line}: no type"))?;
                    params.push((n.to_string(), t.to_string()));
                }
                self.callbacks.push(Callback {
                    name,
                    header,
                    ret,
                    params,
                    tracing: false,
                });
            }
            "fn" => {
                let ret = after.ok_or_else(|| anyhow!("no return type"))?.to_string();
                let (mut params, mut errors) = (Vec::new(), Vec::new());
                for (line, text) in body {
                    if let Some(rule) = text.strip_prefix("err ") {
                        let (code, condition) = rule.split_once(' ').unwrap_or((rule, ""));
                        errors.push(ErrorRule {
                            code: code.into(),
                            condition: condition.into(),
                        });
                    } else {
                        params.push(param(text).with_context(|| format!("line {line}"))?);
                    }
                }
                let header = (header != "-").then_some(header);
                self.functions.push(Function {
                    name,
                    header,
                    since,
                    ret,
                    doc,
                    params,
                    errors,
                    slot: None,
                });
            }
            "ext" => {
                let versions = header.split('/').map(version).collect::<Result<_>>()?;
                let functions = rest
                    .iter()
                    .filter_map(|w| w.split_once('@'))
                    .map(|(f, _)| f.to_string())
                    .collect();
                let experimental = rest.get(1).is_some_and(|k| *k == "experimental");
                self.extensions.push(Extension {
                    name,
                    versions,
                    experimental,
                    since,
                    functions,
                });
            }
            other => bail!("unknown item '{other}'"),
        }
        Ok(())
    }

    /// Joins functions and slots through the slot's type.
    fn find_slots(&mut self) {
        let mut slots = HashMap::new();
        for table in self.ddi_tables() {
            for (index, slot) in (0..).zip(&table.fields) {
                slots.insert(
                    slot.ty.clone(),
                    Slot {
                        table: table.name.clone(),
                        field: slot.name.clone(),
                        index,
                    },
                );
            }
        }
        for function in &mut self.functions {
            function.slot = slots.remove(&function.pfn());
        }
    }

    /// Rules across the items.
    fn check(&self) -> Result<()> {
        for table in self.ddi_tables() {
            for slot in &table.fields {
                let function = self.function_of_pfn(&slot.ty);
                let function = function.ok_or_else(|| {
                    anyhow!(
                        "{}.{}: no function has type {}",
                        table.name,
                        slot.name,
                        slot.ty
                    )
                })?;
                if function.slot.is_none() {
                    bail!("{}: in two slots", function.name);
                }
            }
            if !table.fields.is_sorted_by_key(|f| f.since) {
                bail!(
                    "{}: slots are not in the order of the versions that added them",
                    table.name
                );
            }
        }
        for extension in &self.extensions {
            for function in &extension.functions {
                self.function(function)
                    .ok_or_else(|| anyhow!("{}: no function {function}", extension.name))?;
            }
        }
        for default in &self.defaults {
            let structure = self
                .structure(&default.structure)
                .ok_or_else(|| anyhow!("{}: no struct {}", default.name, default.structure))?;
            let wanted = structure.fields.iter().map(|f| &f.name);
            if !default.fields.iter().map(|(field, _)| field).eq(wanted) {
                bail!(
                    "{}: its fields are not those of {} in their order",
                    default.name,
                    default.structure
                );
            }
        }
        for s in &self.structs {
            for base in &s.extends {
                self.structure(base)
                    .ok_or_else(|| anyhow!("{}: extends {base}, which is no struct", s.name))?;
            }
        }
        Ok(())
    }
}

/// One unindented line with its number, and the indented ones below it.
type Item<'t> = ((usize, &'t str), Vec<(usize, &'t str)>);

fn items(text: &str) -> Vec<Item<'_>> {
    let mut items: Vec<Item<'_>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match (line.strip_prefix(' '), items.last_mut()) {
            (Some(inner), Some(item)) => item.1.push((number, inner)),
            _ => items.push(((number, line), Vec::new())),
        }
    }
    items
}

fn version(text: &str) -> Result<Version> {
    let (major, minor) = text
        .split_once('.')
        .ok_or_else(|| anyhow!("'{text}' is no version"))?;
    Ok(Version {
        major: major.parse()?,
        minor: minor.parse()?,
    })
}

fn field(text: &str) -> Result<Field> {
    let (left, ty) = text.split_once(" : ").ok_or_else(|| anyhow!("no type"))?;
    let mut words = left.split(' ');
    let offset = words.next().unwrap_or_default().parse().context("offset")?;
    let name = words
        .next()
        .ok_or_else(|| anyhow!("no field name"))?
        .to_string();
    let mut f = Field {
        offset,
        name,
        ty: ty.into(),
        direction: None,
        optional: false,
        since: Version { major: 1, minor: 0 },
    };
    for word in words {
        match word {
            "optional" => f.optional = true,
            w if w.starts_with("range(") => {}
            w => match w.strip_prefix("since=") {
                Some(since) => f.since = version(since)?,
                None => f.direction = Some(direction(w)?),
            },
        }
    }
    Ok(f)
}

fn direction(word: &str) -> Result<Direction> {
    Ok(match word {
        "in" => Direction::In,
        "out" => Direction::Out,
        "in,out" => Direction::InOut,
        _ => bail!("unknown word '{word}'"),
    })
}

fn param(text: &str) -> Result<Param> {
    let (left, ty) = text.split_once(" : ").ok_or_else(|| anyhow!("no type"))?;
    let (words, name) = left
        .rsplit_once(' ')
        .ok_or_else(|| anyhow!("no direction"))?;
    let mut p = Param {
        name: name.into(),
        ty: ty.into(),
        direction: Direction::In,
        optional: false,
        release: false,
        count: None,
    };
    for word in words.split(' ') {
        match word {
            "optional" => p.optional = true,
            "release" => p.release = true,
            "mbz" => {}
            w if w.starts_with("range(") => {
                let inner = w.trim_start_matches("range(").trim_end_matches(')');
                p.count = inner.split_once(',').map(|(_, n)| n.to_string());
            }
            w => p.direction = direction(w)?,
        }
    }
    Ok(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load() -> Table {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("crates lie two folders deep");
        Table::load(root).expect("the table parses")
    }

    #[test]
    fn nothing_of_the_reference_is_missing() {
        let table = load();
        let exported = table
            .functions
            .iter()
            .filter(|f| f.name != "zelTracerResetAllCallbacks")
            .count();
        let slots: usize = table
            .ddi_tables()
            .filter(|t| !t.name.starts_with("zel_"))
            .map(|t| t.fields.len())
            .sum();
        let getters = table.functions.iter().filter(|f| f.is_getter()).count();
        let extensions = table.extensions.len();
        let counts = [
            ("constants", table.constants.len(), 120),
            ("macros", table.macros.len(), 8),
            ("default structs", table.defaults.len(), 3),
            ("structs", table.structs.len(), 665),
            ("enumerations", table.enums.len(), 250),
            ("handles", table.handles.len(), 59),
            ("exports of the reference loader", exported, 832),
            ("slots of the API", slots, 478),
            ("getters", getters, 77),
            ("extensions", extensions, 74),
        ];
        for (what, found, expected) in counts {
            assert_eq!(found, expected, "{what}");
        }
    }

    #[test]
    fn a_function_knows_its_slot_and_its_type() {
        let table = load();
        let f = table
            .function("zeCommandListAppendBarrier")
            .expect("a core function");
        assert_eq!(f.pfn(), "ze_pfnCommandListAppendBarrier_t");
        let slot = f.slot.as_ref().expect("in a table");
        assert_eq!(
            (slot.table.as_str(), slot.field.as_str(), slot.index),
            ("ze_command_list_dditable_t", "pfnAppendBarrier", 6)
        );
        assert_eq!(split_prefix("zetDebugAttach"), Some(("zet", "DebugAttach")));
        assert_eq!(split_prefix("zeta"), None);
    }

    #[test]
    fn a_line_that_is_wrong_is_refused() {
        for (file, head, line) in [
            (
                "functions",
                "fn zeX ze_api.h since=1.0 : ze_result_t",
                "sideways p : uint32_t",
            ),
            (
                "functions",
                "fn zeX ze_api.h since=1 : ze_result_t",
                "in p : uint32_t",
            ),
            (
                "structs",
                "struct x ze_api.h size=8 align=8",
                "0 a : uint32_t",
            ),
            (
                "structs",
                "struct x ze_api.h tag=_x size=8 align=8",
                "zero a : uint32_t",
            ),
            ("constants", "default x ze_api.h y_t", "field"),
            ("constants", "default x ze_api.h", "field 0"),
            ("enums", "enum x ze_api.h tag=_x", "A b"),
            ("enums", "enumeration x ze_api.h tag=_x", "A 1"),
        ] {
            assert!(
                Table::default().item(file, head, &[(2, line)]).is_err(),
                "{head} / {line}"
            );
        }
    }
}
