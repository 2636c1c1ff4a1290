//! `solum compile` as a kernel's author uses it: the report, each stage, and what it says of bad input.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value as Json;

fn corpus(name: &str) -> PathBuf {
    conformance::root()
        .join("crates/kernel-ir/tests/corpus")
        .join(name)
}

fn compile(arguments: &[&str], files: &[&str]) -> Output {
    Command::new(conformance::artefacts().join("solum"))
        .arg("compile")
        .args(arguments)
        .args(files.iter().map(|file| corpus(file)))
        .env_remove("SOLUM_CPU_TARGET")
        .output()
        .expect("solum starts")
}

fn json(arguments: &[&str], files: &[&str]) -> Json {
    let output = compile(&[&["--json"], arguments].concat(), files);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_report_tells_each_kernel() {
    let report = json(&[], &["atomics.spv"]);
    assert_eq!(report["schema"], "solum.compile/1");
    let kernels = report["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), 9, "{report}");
    let kernel = |name: &str| {
        let found = kernels.iter().find(|kernel| kernel["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(kernel("in_local")["barriers"], 2);
    assert!(
        kernels
            .iter()
            .all(|k| k["instructions"].as_u64() > Some(10))
    );
    let stages = report["stages"].as_array().expect("stages");
    let names: Vec<_> = stages.iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "front end",
            "scalar passes",
            "lanes",
            "LLVM passes",
            "instructions"
        ]
    );

    // A table by a loaded index: the access that costs is named, with its cause.
    let accesses = kernel("in_local")["accesses"].as_array().expect("accesses");
    let scattered = accesses.iter().find(|a| a["pattern"] == "scattered");
    let scattered = scattered.expect("one scattered access");
    assert_eq!(scattered["space"], "local");
    assert_eq!(scattered["why"], "a value loaded from memory decides");

    let one = json(&["--kernel", "publish"], &["atomics.spv"]);
    assert_eq!(one["kernels"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        one["kernels"][0]["branches"].as_array().map(Vec::is_empty),
        Some(false)
    );
}

#[test]
fn each_stage_can_be_seen() {
    for (stage, part) in [
        ("scalar", "kernel"),
        ("facts", "// step 1"),
        ("plan", "region 0, from the start"),
        ("lanes", "define void @solum.kernel.0"),
        ("asm", "solum.kernel.0:"),
    ] {
        let output = compile(&["--emit", stage], &["memory.spv"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains(part),
            "{stage}: {text}"
        );
    }
    let file = std::env::temp_dir().join(format!("solum-compile-{}.o", std::process::id()));
    let name = file.to_str().expect("a plain path");
    let output = compile(&["--emit", "obj", "-o", name], &["memory.spv"]);
    let object = std::fs::read(&file).expect("an object");
    let _ = std::fs::remove_file(&file);
    assert!(output.status.success() && object.starts_with(b"\x7fELF"));
    assert!(!output.stdout.is_empty(), "the report goes to the terminal");
}

#[test]
fn constants_and_links_reach_the_compiler() {
    let linked = json(&[], &["linking_a.spv", "linking_b.spv"]);
    assert!(linked["kernels"].as_array().is_some_and(|k| !k.is_empty()));
    let alone = json(&[], &["linking_a.spv"]);
    let unresolved = alone["unresolved"].as_array().expect("a list");
    assert!(!unresolved.is_empty(), "{alone}");

    let scalar = |arguments: &[&str]| {
        let output = compile(
            &[&["--emit", "scalar"], arguments].concat(),
            &["spec_constants.spv"],
        );
        assert!(output.status.success());
        output.stdout
    };
    assert_ne!(scalar(&[]), scalar(&["--constant", "3=77"]));
}

#[test]
fn bad_input_is_named() {
    for (arguments, file, code, part) in [
        (
            &[][..],
            "../corpus.rs",
            1,
            "corpus.rs is a text file, not SPIR-V",
        ),
        (&[], "no_such_file.spv", 2, "cannot read"),
        (&["--target", "z80"], "memory.spv", 2, "unknown processor"),
        (&["--kernel", "nobody"], "memory.spv", 2, "the kernels are:"),
        (&["--constant", "x=1"], "memory.spv", 2, "ID=VALUE"),
        (
            &["--constant", "99=1"],
            "spec_constants.spv",
            2,
            "no module has a constant 99",
        ),
        (
            &["--emit", "obj", "--json"],
            "memory.spv",
            2,
            "--emit obj writes a binary file",
        ),
        (&["--sub-group-size", "12"], "memory.spv", 2, "8, 16, 32"),
        (&[], "refused_esimd.spv", 1, "refused_esimd.spv"),
        (
            &[],
            "refused_import.spv",
            1,
            "undefined symbols, so no kernel was compiled: not_there",
        ),
        (&["--emit", "scalar"], "refused_import.spv", 1, "kernel @k"),
        (
            &["--emit", "asm"],
            "refused_import.spv",
            1,
            "undefined symbols",
        ),
        (
            &["--kernel", "k"],
            "refused_import.spv",
            1,
            "undefined symbols",
        ),
        (&["--json"], "refused_import.spv", 1, "\"unresolved\": ["),
    ] {
        let output = compile(arguments, &[file]);
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?} {file}: {text}"
        );
        assert!(text.contains(part), "{arguments:?} {file}: {text}");
    }
}
