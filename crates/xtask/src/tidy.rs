//! `xtask tidy`: the rules of the house that the compiler does not check.
//!
//! Crates keep their levels (arrows only down), modules of a crate have no dependency cycles, generated files are what the
//! table says, manifests of published packages are complete, each crate and room begins by saying what it is, nothing
//! unfinished or of one machine is committed. All findings are reported, not the first.

use crate::cycles::Graph;
use crate::regen;
use anyhow::{Context as _, Result, bail};
use std::path::Path;

mod manifests;
mod metadata;

use metadata::{Dependency, Metadata};

/// Each crate's level; a normal or build dependency must lie on a lower one.
const LEVELS: &[(&str, u32)] = &[
    ("level-zero-sys", 0),
    ("ze-spec", 0),
    ("xpti-sys", 0),
    ("test-artifacts", 0),
    ("compiler-build", 0),
    ("cpu-target", 0),
    ("local-ranks", 0),
    ("library-mark", 0),
    ("spirv-reader", 0),
    ("ze-abi", 1),
    ("ze-abi-macros", 1),
    ("signal-mask", 1),
    ("owned-file", 1),
    ("cancellation", 1),
    ("kernel-ir", 1),
    ("vectorise", 2),
    ("object-loader", 2),
    ("work-group-pool", 2),
    ("acceleration-structure", 2),
    ("sycl-graph", 2),
    ("spirv-reflection", 2),
    ("device-selector", 2),
    ("check-report", 2),
    ("kernel-checker", 2),
    ("kernel-builder", 2),
    ("level-zero", 3),
    ("sycl-macros", 3),
    ("sycl-build", 3),
    ("timeline", 3),
    ("ze-driver", 3),
    ("xpti", 3),
    ("xpti-framework", 3),
    ("ze-layers", 3),
    ("codegen-llvm", 3),
    ("ze-loader", 4),
    ("ze-cpu", 4),
    ("sycl", 4),
    ("ze-stub", 4),
    ("trace-recorder", 4),
    ("libze_loader", 5),
    ("libze_solum_cpu", 5),
    ("libsolum_codegen", 5),
    ("libze_stub", 5),
    ("libze_null", 5),
    ("libze_validation_layer", 5),
    ("libze_tracing_layer", 5),
    ("libxptifw", 5),
    ("libsolum_trace", 5),
    ("solum", 5),
    ("xtask", 5),
    ("conformance", 5),
    ("random-kernels", 5),
];

/// Edges that no level allows, each with its reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "sycl",
        "ze-cpu",
        "a program that uses `sycl` has the CPU driver inside (features `driver` and `embedded`)",
    ),
    (
        "ze-abi",
        "ze-abi-macros",
        "the attribute and the types that it expands to are one boundary in two crates",
    ),
    (
        "ze-abi-macros",
        "ze-abi",
        "the attribute and the types that it expands to are one boundary in two crates",
    ),
];

/// A shell is the only kind of crate that may use a product (level 4).
fn is_shell(name: &str) -> bool {
    name.starts_with("lib")
}

/// The code generator's own shell always links LLVM; the CPU driver only where a program asks for it. Random kernels are
/// compared with machine code where there is some: without LLVM the code generator is empty, and their test too.
fn may_need_llvm(name: &str, dependency: &Dependency) -> bool {
    ["libsolum_codegen", "random-kernels"].contains(&name)
        || (name == "ze-cpu" && dependency.optional)
}

/// Words of a former private dialect, with the field's own.
type Words = &'static [(&'static str, &'static str)];

/// No definition below these folders has one of the old words again.
const OLD_WORDS: &[(&[&str], Words)] = &[
    (
        &[
            "crates/kernel-ir/src/",
            "crates/vectorise/src/",
            "crates/codegen-llvm/src/",
        ],
        &[
            ("apart", "masked"),
            ("beforehand", "at the start of a chunk"),
            ("convoy", "uniform step"),
            ("everybody", "mask"),
            ("flatten_branches", "if_convert"),
            ("holds", "no_wrap"),
            ("meets", "implicit barrier"),
            ("members", "interleaved stores"),
            ("moves_by", "step"),
            ("narrowed", "tightened"),
            ("nowhere", "scratch"),
            ("one_by_one", "scalarise"),
            ("present", "active mask"),
            ("remade", "rematerialised"),
            ("room", "alloca"),
            ("strided", "interleaved loads"),
            ("together", "assumed uniform"),
            ("turns", "iterations"),
        ],
    ),
    (
        &[
            "crates/sycl/src/",
            "crates/sycl-graph/src/",
            "crates/ze-driver/src/",
            "crates/ze-cpu/src/",
            "crates/ze-loader/src/",
            "crates/work-group-pool/src/",
            "crates/ze-layers/src/",
            "crates/ze-stub/src/",
            "crates/level-zero/src/",
            "crates/solum/src/",
            "crates/timeline/src/",
            "crates/trace-recorder/src/",
            "crates/xpti/src/",
            "crates/xpti-framework/src/",
        ],
        &[
            ("graveyard", "deferred release"),
            ("bury", "release after"),
            ("crowd", "contended"),
            ("gates", "user events"),
            ("goal", "wait value"),
            ("heat", "tier counter"),
            ("help", "run while waiting"),
            ("settle", "roll back, drain"),
            ("standing", "status"),
            ("ticket", "pending command"),
            ("promises", "pending set"),
            ("is_shut", "is_unsignaled"),
            ("has_reached_or_hang", "is_reached_or_subscribe"),
            ("berth", "inline slot"),
            ("berths", "inline slots"),
            ("errand", "stack call"),
            ("roster", "idle workers"),
            ("census", "lock audit"),
            ("become_as", "replace_code"),
        ],
    ),
];

/// The longest hand-written file.
const MAX_LINES: usize = 900;

/// Fails with every finding, one a line.
pub(crate) fn run(root: &Path) -> Result<()> {
    let metadata = Metadata::of(root)?;
    let mut findings = levels(&metadata);
    findings.extend(manifests::findings(&metadata, &|path| {
        std::fs::read_to_string(path).ok()
    }));
    let stated = metadata
        .packages
        .iter()
        .find_map(|p| p.rust_version.as_ref());
    let stated = stated.context("no rust-version")?;
    if let Err(error) = regen::run(root, true) {
        findings.push(format!("{error:#}"));
    }
    let files = files(root)?;
    findings.extend(cycles(root, &files));
    for file in files {
        let Ok(text) = std::fs::read_to_string(root.join(&file)) else {
            continue;
        };
        findings.extend(file_findings(&file, &text));
        findings.extend(manifests::rust_version(&file, &text, stated));
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("{} findings\n{}", findings.len(), findings.join("\n"))
}

/// The crate of a package: packages outside the public face have a prefix in the registry.
fn crate_name(package: &str) -> &str {
    package.strip_prefix("solum-").unwrap_or(package)
}

fn level(name: &str) -> Option<u32> {
    LEVELS
        .iter()
        .find(|(n, _)| *n == name)
        .map(|(_, level)| *level)
}

fn levels(metadata: &Metadata) -> Vec<String> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let name = crate_name(&package.name);
        let Some(own) = level(name) else {
            findings.push(format!(
                "crate {name}: no level; add it to LEVELS in xtask's tidy"
            ));
            continue;
        };
        let ours = package
            .dependencies
            .iter()
            .filter(|d| d.path.is_some() && d.kind.as_deref() != Some("dev"));
        for dependency in ours {
            let to = crate_name(&dependency.name);
            let Some(other) = level(to) else {
                continue;
            };
            let edge = format!("{name} (level {own}) -> {to} (level {other})");
            let excepted = EXCEPTIONS.iter().any(|(a, b, _)| (*a, *b) == (name, to));
            if other >= own && !excepted {
                findings.push(format!("{edge}: arrows go down only"));
            } else if own == 5 && !is_shell(name) && other == 4 {
                findings.push(format!("{edge}: only the lib… shells use products"));
            } else if to == "codegen-llvm" && !may_need_llvm(name, dependency) {
                findings.push(format!(
                    "{edge}: all but its shell build without LLVM; ze-cpu has it behind a feature (`embedded`)"
                ));
            }
        }
    }
    findings
}

/// Crates whose modules depend on each other in cycles.
fn cycles(root: &Path, files: &[String]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in files {
        let Some((name, path)) = file
            .strip_prefix("crates/")
            .and_then(|f| f.split_once("/src/"))
        else {
            continue;
        };
        if !["lib.rs", "main.rs"].contains(&path) {
            continue;
        }
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        let cycles = Graph::of(&root.join(file), &read).cycles();
        findings.extend(cycles.into_iter().map(|cycle| {
            format!("crate {name}: modules depend on each other in a cycle: {cycle}")
        }));
    }
    findings
}

/// The repository's files, relative to its root; read from the tree itself, so that neither git nor a clone is needed.
fn files(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let walk = ignore::WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    for entry in walk {
        let entry = entry.context("walking the repository")?;
        if entry.file_type().is_some_and(|kind| !kind.is_dir()) {
            let path = entry.path().strip_prefix(root)?;
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}

/// The old word in the name that a line defines, and the word for it.
fn old_word(words: Words, line: &str) -> Option<(&'static str, &'static str)> {
    const KINDS: [&str; 8] = [
        "fn ", "struct ", "enum ", "const ", "static ", "mod ", "type ", "trait ",
    ];
    let code = line.trim_start();
    if code.starts_with("//") {
        return None;
    }
    let name = KINDS.iter().find_map(|kind| {
        let at = code.find(kind)?;
        let is_word = at == 0 || code[..at].ends_with(' ');
        let name = &code[at + kind.len()..];
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        is_word.then(|| &name[..end.unwrap_or(name.len())])
    })?;
    let name = format!("_{}_", name.to_lowercase());
    let found = words
        .iter()
        .find(|(old, _)| name.contains(&format!("_{old}_")));
    found.copied()
}

/// Words that must not stand in a Rust source, put together here so that this file does not contain it either.
fn unfinished() -> Vec<String> {
    vec![
        format!("#[{}", "ignore"),
        format!("{}!(", "todo"),
        format!("{}!(", "unimplemented"),
    ]
}

/// Paths that exist on one machine only.
fn machine_paths() -> Vec<String> {
    ["work", "root"]
        .iter()
        .map(|top| format!("/{top}/"))
        .chain([format!("/tmp/{}", "solum/")])
        .collect()
}

fn file_findings(file: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let generated = file.contains("/generated/");
    let rust = file.ends_with(".rs");
    let head = text.lines().take_while(|l| l.starts_with("//!")).count();
    let crate_root = file.ends_with("/src/lib.rs") || file.ends_with("/src/main.rs");
    if rust && file.contains("/src/") && head == 0 {
        findings.push(format!(
            "{file}: does not begin with `//!` lines that say what it is"
        ));
    } else if crate_root && head < 3 {
        findings.push(format!(
            "{file}: a crate's head says what it is, its invariants and what it is not"
        ));
    }
    if rust && !generated && text.lines().count() > MAX_LINES {
        findings.push(format!(
            "{file}: {} lines, more than {MAX_LINES}; give its parts names",
            text.lines().count()
        ));
    }
    let stem = Path::new(file)
        .file_stem()
        .and_then(|s| s.to_str())
        .unwrap_or_default();
    if rust && ["utils", "util", "helpers", "helper", "common", "misc"].contains(&stem) {
        findings.push(format!("{file}: name the module by what it holds"));
    }
    let is_there = |folders: &&[&str]| folders.iter().any(|folder| file.starts_with(folder));
    let words = OLD_WORDS.iter().find(|(folders, _)| is_there(folders));
    let words = words.map_or(&[][..], |(_, words)| words);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some((old, new)) = old_word(words, line) {
            findings.push(format!("{file}:{number}: {old} is called {new}"));
        }
        if rust {
            for word in unfinished().iter().filter(|w| line.contains(w.as_str())) {
                findings.push(format!("{file}:{number}: unfinished: {word}"));
            }
        }
        for path in machine_paths().iter().filter(|p| line.contains(p.as_str())) {
            findings.push(format!("{file}:{number}: a path of one machine: {path}"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use metadata::Package;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, kind)| Dependency {
                name: (*name).into(),
                kind: kind.map(str::to_string),
                path: Some("here".into()),
                ..Dependency::default()
            })
            .collect();
        Package {
            name: name.into(),
            dependencies,
            ..Package::default()
        }
    }

    #[test]
    fn old_words_are_found_in_definitions_only() {
        for (line, is_found) in [
            ("    pub(super) fn find_convoy(&mut self) {", true),
            ("struct Convoy {", true),
            ("mod one_by_one;", true),
            ("    let room = low.entry_alloca(ty, 8);", false),
            ("/// fn everybody of the past", false),
            ("fn mushroom() {}", false),
        ] {
            assert_eq!(old_word(OLD_WORDS[0].1, line).is_some(), is_found, "{line}");
        }
    }

    #[test]
    fn arrows_go_down_only() {
        let cases = [
            ("ze-driver", "ze-abi", None, 0),
            ("ze-driver", "codegen-llvm", None, 1),
            ("kernel-ir", "ze-driver", Some("build"), 1),
            ("kernel-ir", "ze-driver", Some("dev"), 0),
            ("ze-abi", "ze-abi-macros", None, 0),
            ("solum", "ze-loader", None, 1),
            ("conformance", "codegen-llvm", None, 1),
            ("libze_loader", "ze-loader", None, 0),
            ("solum-kernel-ir", "solum-spirv-reader", None, 0),
            ("solum-kernel-ir", "solum-ze-driver", None, 1),
            ("nobody", "ze-abi", None, 1),
        ];
        for (from, to, kind, expected) in cases {
            let found = levels(&Metadata {
                packages: vec![package(from, &[(to, kind)])],
            });
            assert_eq!(found.len(), expected, "{from} -> {to}: {found:?}");
        }
    }

    #[test]
    fn llvm_comes_with_its_shell_or_by_a_feature_only() {
        let cases = [
            ("libsolum_codegen", false, 0),
            ("libze_solum_cpu", false, 1),
            ("conformance", true, 1),
            ("ze-cpu", false, 1),
            ("ze-cpu", true, 0),
        ];
        for (from, optional, expected) in cases {
            let mut package = package(from, &[("codegen-llvm", None)]);
            package.dependencies[0].optional = optional;
            let found = levels(&Metadata {
                packages: vec![package],
            });
            assert_eq!(found.len(), expected, "{from}: {found:?}");
        }
    }

    #[test]
    fn each_rule_of_files_finds_its_breach() {
        let head = "//! A room.\n//!\n//! It holds things.\n";
        let cases = [
            ("crates/a/src/lib.rs", head.to_string(), 0),
            ("crates/a/src/lib.rs", "//! a\n".into(), 1),
            ("crates/a/src/room.rs", "fn f() {}\n".into(), 1),
            ("crates/a/src/utils.rs", head.into(), 1),
            (
                "crates/a/src/room.rs",
                format!("{head}{}", "\n".repeat(MAX_LINES)),
                1,
            ),
            (
                "crates/a/src/generated/room.rs",
                format!("{head}{}", "\n".repeat(MAX_LINES)),
                0,
            ),
            (
                "crates/a/tests/all.rs",
                format!("#[{}]\nfn f() {{ {}!() }}", "ignore", "todo"),
                2,
            ),
            ("README.md", "see homework/table".into(), 0),
            (
                "README.md",
                format!("see {}", ["", "work", "shared"].join("/")),
                1,
            ),
        ];
        for (file, text, expected) in cases {
            let found = file_findings(file, &text);
            assert_eq!(found.len(), expected, "{file}: {found:?}");
        }
    }
}
