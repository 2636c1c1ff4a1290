//! Signatures of real modules, and of damaged ones.

use std::fmt::Write as _;
use std::path::PathBuf;

use spirv_reflection::{Access, Module, ParameterKind};

fn corpus() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kernel-ir/tests/corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus of kernel-ir");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "spv"))
        .collect();
    files.sort();
    assert!(files.len() > 20, "the corpus has moved");
    files
}

fn describe(module: &Module) -> String {
    let mut text = String::new();
    for kernel in &module.kernels {
        let parameters: Vec<String> = kernel
            .parameters
            .iter()
            .map(|parameter| {
                let kind = match &parameter.kind {
                    ParameterKind::Value(ty) => ty.name(),
                    ParameterKind::Pointer {
                        space,
                        element,
                        access,
                    } => format!(
                        "{space:?} {}{}*",
                        if *access == Access::Read {
                            "const "
                        } else {
                            ""
                        },
                        element.as_ref().map_or("void".to_owned(), |e| e.name())
                    ),
                    other => format!("{other:?}"),
                };
                format!("{}: {kind}", parameter.name.as_deref().unwrap_or("_"))
            })
            .collect();
        writeln!(text, "{}({})", kernel.name, parameters.join(", ")).expect("a string");
    }
    for constant in &module.specialization_constants {
        writeln!(
            text,
            "spec {} = {} ({} bytes)",
            constant.id, constant.default, constant.size
        )
        .expect("a string");
    }
    text
}

fn read(name: &str) -> Module {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kernel-ir/tests/corpus");
    let bytes = std::fs::read(folder.join(name)).expect("a module of the corpus");
    Module::read(&bytes).expect("well formed")
}

#[test]
fn signatures_have_types_and_written_pointers() {
    let cases = [
        (
            "convert.spv",
            "vectors(_: Global const float4*, _: Global char4*, _: Global int4*)",
        ),
        (
            "async_copy.spv",
            "copies(_: Global const int*, _: Global const int*, _: Global int*, _: Local int*, _: Local int*, _: int)",
        ),
        (
            "bf16.spv",
            "bf16(a: Global const float*, h: Global const short*, out: Global short*, fout: Global float*)",
        ),
        (
            "atomics.spv",
            "cas_loop(_: Global int*, _: Global const float*)",
        ),
        (
            "spec_constants.spv",
            "spec 6 = 4612811918334230528 (8 bytes)",
        ),
    ];
    for (file, want) in cases {
        let got = describe(&read(file));
        assert!(
            got.lines().any(|line| line == want),
            "{file}: {want}\n{got}"
        );
    }
}

#[test]
fn code_that_was_not_optimised_has_the_same_signatures() {
    let mut pairs = 0;
    for file in corpus() {
        let name = file
            .file_name()
            .expect("a file")
            .to_string_lossy()
            .into_owned();
        let Some(stem) = name.strip_suffix(".O0.spv") else {
            continue;
        };
        // Structures that are copied whole, and vectors that a library function loads, are bytes there; of the images'
        // coordinates only what is used is loaded where code is optimised. Pointers that only imported functions take are
        // bytes where code was not optimised: clang gives them a type when it has removed the variables that hold them.
        if ["memory", "vector16", "images", "opencl_c"].contains(&stem) {
            continue;
        }
        pairs += 1;
        assert_eq!(
            describe(&read(&name)),
            describe(&read(&format!("{stem}.spv"))),
            "{stem}"
        );
    }
    assert!(pairs > 3);
}

#[test]
fn damaged_modules_give_a_result_or_an_error() {
    let mut refused = 0;
    for file in corpus() {
        let bytes = std::fs::read(&file).expect("readable");
        Module::read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for cut in (0..bytes.len()).step_by(797) {
            refused += usize::from(Module::read(&bytes[..cut]).is_err());
        }
        for at in (20..bytes.len()).step_by(397) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x5b;
            refused += usize::from(Module::read(&damaged).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}
