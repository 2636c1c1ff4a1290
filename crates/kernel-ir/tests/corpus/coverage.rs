//! Coverage of the corpus: the lists of `required.txt` against the instructions of the modules.

use crate::corpus::files::{self, FILES};
use kernel_ir::build::{BuildErrorKind, SpirvInput};
use kernel_ir::{Request, front, passes, validate};
use spirv_reader::{Instruction, OpenClStd, Words};
use std::collections::{BTreeMap, BTreeSet};

const REQUIRED: &str = include_str!("required.txt");

/// Names by kind.
type Names = BTreeMap<String, BTreeSet<String>>;

fn required() -> Names {
    let mut names = Names::new();
    let mut kind = String::new();
    for line in REQUIRED.lines().filter(|l| !l.starts_with('#')) {
        if let Some(name) = line.strip_suffix(':') {
            kind = name.to_owned();
        } else {
            names
                .entry(kind.clone())
                .or_default()
                .extend(line.split_whitespace().map(str::to_owned));
        }
    }
    names
}

/// The text in the words of a literal string.
fn text(words: &[u32]) -> String {
    let bytes = words
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .take_while(|&b| b != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

fn note(names: &mut Names, inst: &Instruction<'_>) {
    use spirv::{BuiltIn, Decoration, ExecutionMode, LinkageType, Op, StorageClass};
    let mut add = |kind: &str, name: String| {
        names.entry(kind.to_owned()).or_default().insert(name);
    };
    let Some(op) = Op::from_u32(u32::from(inst.opcode)) else {
        return;
    };
    add("instructions", format!("{op:?}"));
    match (op, inst.operands) {
        (Op::Capability, [capability]) => {
            add("capabilities", spirv_reader::capability_name(*capability))
        }
        (Op::Extension, words) => add("extensions", text(words)),
        (Op::ExecutionMode, [_, mode, rest @ ..]) => {
            if let Some(known) = ExecutionMode::from_u32(*mode) {
                let size = if known == ExecutionMode::SubgroupSize {
                    format!(":{}", rest[0])
                } else {
                    String::new()
                };
                add("modes", format!("{known:?}{size}"));
            }
        }
        (Op::Decorate, [_, decoration, rest @ ..]) => {
            add("decorations", spirv_reader::decoration_name(*decoration));
            match (Decoration::from_u32(*decoration), rest) {
                (Some(Decoration::BuiltIn), [builtin]) => {
                    add(
                        "builtins",
                        BuiltIn::from_u32(*builtin).map_or(String::new(), |b| format!("{b:?}")),
                    );
                }
                (Some(Decoration::LinkageAttributes), [name @ .., linkage])
                    if LinkageType::from_u32(*linkage) == Some(LinkageType::Import) =>
                {
                    add("imports", text(name));
                }
                _ => {}
            }
        }
        (Op::Variable, [_, _, class, ..]) | (Op::TypePointer, [_, class, _]) => {
            add(
                "storage",
                StorageClass::from_u32(*class).map_or(String::new(), |c| format!("{c:?}")),
            );
        }
        (Op::ExtInst, [_, _, _, number, ..]) => {
            add(
                "opencl.std",
                OpenClStd::from_u32(*number).map_or(String::new(), |i| i.name().to_owned()),
            );
        }
        _ => {}
    }
}

/// Files that must be refused, with what the message must name.
const REFUSED: [(&str, BuildErrorKind, &str); 4] = [
    (
        "refused_esimd",
        BuildErrorKind::Unsupported,
        "VectorComputeINTEL",
    ),
    (
        "refused_vector_any",
        BuildErrorKind::Unsupported,
        "VectorAnyINTEL",
    ),
    ("refused_image", BuildErrorKind::Unsupported, "image"),
    (
        "refused_pointers",
        BuildErrorKind::Unsupported,
        "addressing model",
    ),
];

/// Files that import what other files of the corpus, or none, export.
const HALVES: [&str; 3] = ["linking_a", "linking_a.O0", "refused_import"];

fn request(name: &str) -> Request {
    let words = files::words(name).to_vec();
    Request {
        modules: vec![SpirvInput {
            words,
            constants: Vec::new(),
        }],
        sub_group_size: 16,
        ..Request::default()
    }
}

#[test]
fn instructions_of_the_clients_are_in_the_corpus() {
    let mut found = Names::new();
    for (name, bytes) in FILES.iter().filter(|f| !f.0.starts_with("refused")) {
        let words = Words::new(bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        for inst in words.instructions() {
            note(&mut found, &inst.unwrap_or_else(|e| panic!("{name}: {e}")));
        }
    }
    let mut missing = Vec::new();
    for (kind, names) in required() {
        if kind == "refused" {
            let named = |n: &String| REFUSED.iter().any(|r| r.2 == n);
            missing.extend(
                names
                    .into_iter()
                    .filter(|n| !named(n))
                    .map(|n| format!("{kind}: {n}")),
            );
            continue;
        }
        let has = found.remove(&kind).unwrap_or_default();
        missing.extend(names.difference(&has).map(|n| format!("{kind}: {n}")));
    }
    assert!(
        missing.is_empty(),
        "the corpus lacks\n{}",
        missing.join("\n")
    );
}

#[test]
fn every_module_is_built_and_prepared_or_refused_by_name() {
    let mut total = 0;
    for (name, bytes) in FILES {
        total += bytes.len();
        let refusal = REFUSED.iter().find(|r| r.0 == *name);
        match (front::build(&request(name)), refusal) {
            (Err(e), Some((_, kind, text))) => {
                assert_eq!(e.kind, *kind, "{name}: {e}");
                assert!(e.message.contains(text), "{name}: {e}");
                assert!(e.word.is_some() && e.instruction.is_some(), "{name}: {e}");
            }
            (Ok(_), Some(_)) => panic!("{name} is built"),
            (Err(e), None) => panic!("{name}: {e}"),
            (Ok(built), None) => {
                // Halves of programs; the cases link them.
                let half = HALVES.contains(name);
                assert_eq!(
                    !built.unresolved.is_empty(),
                    half,
                    "{name}: {:?}",
                    built.unresolved
                );
                let mut module = built.module;
                validate(&module).unwrap_or_else(|e| panic!("{name}: {e:?}"));
                passes::prepare(&mut module).unwrap_or_else(|e| panic!("{name}: {e}"));
                validate(&module).unwrap_or_else(|e| panic!("{name} after prepare: {e:?}"));
                assert!(
                    !module.kernels.is_empty() || *name == "linking_b",
                    "{name} has no kernels"
                );
            }
        }
    }
    assert!(
        total < 1_000_000,
        "the corpus has {total} bytes, a million is allowed"
    );
}

#[test]
fn every_file_of_the_folder_is_in_the_list_and_has_its_source() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut listed: BTreeSet<String> = FILES.iter().map(|f| format!("{}.spv", f.0)).collect();
    for entry in std::fs::read_dir(&folder)
        .expect("the corpus's folder")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(stem) = name.strip_suffix(".spv") {
            assert!(listed.remove(&name), "{name} is not in files.rs");
            let source = stem.strip_suffix(".O0").unwrap_or(stem);
            let has = |ext: &str| folder.join(format!("{source}.{ext}")).exists();
            let sources = ["cl", "cpp", "spvasm"];
            assert!(sources.into_iter().any(has), "{name} has no source");
        }
    }
    assert!(listed.is_empty(), "not there: {listed:?}");
}
