//! The API's functions for the tests: read from the API table's text, independently of the generated code.

use std::collections::HashMap;

const FUNCTIONS: &str = include_str!("../../../../spec/level-zero-1.17/functions.txt");
const TABLES: &str = include_str!("../../../../spec/level-zero-1.17/tables.txt");
const TYPES: &str = include_str!("../../../../spec/level-zero-1.17/types.txt");

/// The role of a parameter in a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// A handle of this type.
    Handle { optional: bool, releases: bool },
    /// An array of handles, counted by a parameter.
    Array { count: String },
    /// Returns one handle.
    Output,
    /// An array that is filled; a pointer gives the count.
    Listed { count: String },
    /// A pointer to anything else, or to a number.
    Pointer,
    /// Other words: the number of registers they take; 0 for floating-point registers.
    Words(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    /// The opaque type of the handle or of the handle it points to; empty for others.
    pub(crate) kind: &'static str,
}

pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<Parameter>,
}

/// Handle types and their opaque types, which aliases share.
fn handles() -> HashMap<&'static str, &'static str> {
    TYPES
        .lines()
        .filter_map(|line| line.strip_prefix("handle "))
        .map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            (words[0], words[2])
        })
        .collect()
}

/// Array parameters whose length is not in the table.
const COUNTS: [(&str, &str); 2] = [
    ("phMetrics", "metricCount"),
    ("phMetricGroups", "metricGroupCount"),
];

fn parameter(
    function: &str,
    line: &'static str,
    first: bool,
    handles: &HashMap<&'static str, &'static str>,
) -> Parameter {
    let (left, ty) = line.split_once(" : ").unwrap();
    let (words, name) = left.rsplit_once(' ').unwrap();
    let words: Vec<_> = words.split(' ').collect();
    let count = words
        .iter()
        .find_map(|word| word.strip_prefix("range(0,"))
        .map(|count| count.trim_end_matches(')').to_owned());
    let pointed = ty.strip_suffix(" *").unwrap_or_default();
    let (kind, role) = if let Some(kind) = handles.get(ty) {
        let destroys = function.contains("Destroy") || function.contains("ReleaseExternal");
        let role = Role::Handle {
            optional: words.contains(&"optional"),
            releases: words.contains(&"release")
                || first && destroys && !words.contains(&"release") && releases_first(function),
        };
        (*kind, role)
    } else if let Some(kind) = handles.get(pointed) {
        let unsaid = || {
            COUNTS
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, count)| (*count).to_owned())
        };
        let role = match (words[0], count) {
            ("in", count) => Role::Array {
                count: count.or_else(unsaid).unwrap(),
            },
            (_, Some(count)) => Role::Listed {
                count: count.trim_start_matches('*').to_owned(),
            },
            (_, None) if name == "phMetricGroups" => Role::Array {
                count: unsaid().unwrap(),
            },
            _ => Role::Output,
        };
        (*kind, role)
    } else if ty.contains('*') {
        ("", Role::Pointer)
    } else {
        let words = match ty.trim_start_matches("const ") {
            "double" => 0,
            "ze_group_count_t" | "ze_group_size_t" | "ze_device_thread_t" | "zes_uuid_t" => 2,
            _ => 1,
        };
        ("", Role::Words(words))
    };
    Parameter { name, role, kind }
}

/// Functions that destroy their first handle, which is not in the table.
fn releases_first(function: &str) -> bool {
    [
        "zetMetricGroupDestroyExp",
        "zetMetricDestroyExp",
        "zetMetricTracerDestroyExp",
        "zetMetricDecoderDestroyExp",
        "zeDeviceReleaseExternalSemaphoreExt",
    ]
    .contains(&function)
}

/// Functions that are dispatched by a handle and return a code.
pub(crate) fn all() -> Vec<Function> {
    let handles = handles();
    let mut functions: Vec<Function> = Vec::new();
    let mut open = false;
    for line in FUNCTIONS.lines() {
        if let Some(head) = line.strip_prefix("fn ") {
            let name = head.split(' ').next().unwrap();
            open = head.ends_with(": ze_result_t")
                && !name.starts_with("zel")
                && !name.ends_with("ProcAddrTable");
            if open {
                functions.push(Function {
                    name,
                    parameters: Vec::new(),
                });
            }
        } else if open
            && line.contains(" : ")
            && [" in", " out"].iter().any(|start| line.starts_with(start))
            && let Some(function) = functions.last_mut()
        {
            let first = function.parameters.is_empty();
            function
                .parameters
                .push(parameter(function.name, line.trim(), first, &handles));
        }
    }
    const OTHERS: [&str; 6] = [
        "zeInit",
        "zeInitDrivers",
        "zeDriverGet",
        "zesInit",
        "zesDriverGet",
        "zeLoaderInit",
    ];
    functions.retain(|f| !OTHERS.contains(&f.name) && !f.name.starts_with("zer"));
    functions
}

/// The getters of drivers' tables, with the type of the table that each fills.
pub(crate) fn getters() -> Vec<(&'static str, &'static str)> {
    let mut getters = Vec::new();
    let mut open = None;
    for line in FUNCTIONS.lines() {
        if let Some(head) = line.strip_prefix("fn ") {
            let name = head.split(' ').next().unwrap();
            open = (name.ends_with("ProcAddrTable") && !name.starts_with("zel")).then_some(name);
        } else if let (Some(name), Some((_, ty))) = (open, line.split_once(" pDdiTable : ")) {
            getters.push((name, ty.trim_end_matches(" *")));
        }
    }
    getters
}

/// Tables of functions: the version that added each slot, in their order.
pub(crate) fn tables() -> HashMap<&'static str, Vec<u32>> {
    let mut tables: HashMap<&'static str, Vec<u32>> = HashMap::new();
    let mut open = "";
    for line in TABLES.lines() {
        if let Some(head) = line.strip_prefix("table ") {
            open = head.split(' ').next().unwrap();
        } else if let Some((left, _)) = line.split_once(" : ")
            && left.contains(" pfn")
        {
            let since = left.split(' ').find_map(|word| word.strip_prefix("since="));
            let (major, minor) = since.unwrap_or("1.0").split_once('.').unwrap();
            let since = major.parse::<u32>().unwrap() << 16 | minor.parse::<u32>().unwrap();
            tables.entry(open).or_default().push(since);
        }
    }
    tables
}
