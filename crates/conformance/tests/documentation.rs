//! Every Rust sample in README.md and docs/ is part of an example program, and these programs run.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Example programs whose code the pages show. `./x test clients` runs those of crate `sycl`.
const PROGRAMS: [&str; 3] = [
    "crates/level-zero/examples/scale.rs",
    "crates/sycl/examples/vector_add.rs",
    "crates/sycl/examples/documentation.rs",
];

/// The code without comments and white space, which pages and rustfmt lay out differently.
fn bare(code: &str) -> String {
    let lines = code.lines().map(|line| match line.find("//") {
        Some(start) => &line[..start],
        None => line,
    });
    lines.flat_map(str::split_whitespace).collect()
}

fn samples(page: &str) -> Vec<&str> {
    let blocks = page.split("```rust\n").skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .collect()
}

#[test]
fn samples_are_parts_of_programs() {
    let root = conformance::root();
    let read = |path: &Path| fs::read_to_string(path).expect("a text of the repository");
    let programs = PROGRAMS.map(|program| bare(&read(&root.join(program))));
    let mut pages = vec![root.join("README.md")];
    let docs = fs::read_dir(root.join("docs")).expect("the pages");
    pages.extend(docs.map(|entry| entry.expect("an entry").path()));
    let mut count = 0;
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|end| end == "md"))
    {
        for sample in samples(&read(page)) {
            let sample_bare = bare(sample);
            assert!(
                programs
                    .iter()
                    .any(|program| program.contains(&sample_bare)),
                "{}: in no example program:\n{sample}",
                page.display()
            );
            count += 1;
        }
    }
    assert!(count >= 7, "{count} samples");
}

#[test]
fn the_level_zero_sample_runs() {
    let folder = test_artifacts::build(&["-p", "level-zero", "--example", "scale"]);
    let output = Command::new(folder.join("examples/scale"))
        .env("LD_LIBRARY_PATH", conformance::artefacts())
        .output()
        .expect("the example starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
