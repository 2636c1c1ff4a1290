//! Every module of the corpus builds, or is refused by name.

use super::assembler::build;
use std::path::{Path, PathBuf};

pub(super) fn files() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "spv"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().map(|n| n.to_string_lossy().into_owned());
        (
            name.unwrap_or_default(),
            std::fs::read(path).expect("readable"),
        )
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn modules_of_the_corpus_build_or_are_refused_by_name() {
    let refused = [
        ("refused_esimd", "capability VectorComputeINTEL"),
        ("refused_vector_any", "capability VectorAnyINTEL"),
        ("refused_pointers", "addressing model 1"),
        ("refused_image", "images of several samples"),
    ];
    let mut kernels = 0;
    for (name, bytes) in files() {
        let built = build(&[bytes]);
        match refused.iter().find(|(refused, _)| *refused == name) {
            Some((_, why)) => {
                let error = built.expect_err(&name).to_string();
                assert!(error.contains(why), "{name}: {error}");
                assert!(error.contains("unsupported"), "{name}: {error}");
            }
            None => match built {
                Ok(built) => kernels += built.module.kernels.len(),
                Err(error) => panic!("{name}: {error}"),
            },
        }
    }
    assert!(kernels > 100, "only {kernels} kernels");
}

#[test]
fn both_byte_orders_give_the_same_module() {
    for (name, bytes) in files() {
        let swapped: Vec<u8> = bytes
            .chunks_exact(4)
            .flat_map(|b| [b[3], b[2], b[1], b[0]])
            .collect();
        let print = |bytes: Vec<u8>| match build(&[bytes]) {
            Ok(built) => kernel_ir::print(&built.module),
            Err(error) => error.to_string(),
        };
        assert_eq!(print(bytes), print(swapped), "{name}");
    }
}
