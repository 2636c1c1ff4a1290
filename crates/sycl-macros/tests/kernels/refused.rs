//! Kernels that must not compile, with the compiler's messages. Each file of `refused` is compiled once.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds of crate `sycl`, the newest first.
fn libraries(deps: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(deps).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libsycl-") && name.ends_with(".rlib")
        })
        .collect();
    found.sort_by_key(|path| {
        let time = path.metadata().and_then(|data| data.modified()).ok();
        std::cmp::Reverse(time)
    });
    found
}

/// The compiler's messages, one a line; nothing if the file compiles.
fn messages(library: &Path, file: &Path, output: &Path) -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut dependencies = std::ffi::OsString::from("dependency=");
    dependencies.push(library.parent().unwrap_or(Path::new("")));
    let mut external = std::ffi::OsString::from("sycl=");
    external.push(library);
    let run = Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .args(["--error-format", "short", "--cap-lints", "allow", "-o"])
        .arg(output)
        .arg("-L")
        .arg(dependencies)
        .arg("--extern")
        .arg(external)
        .arg(file)
        .output()
        .expect("the compiler runs");
    let folder = file.parent().unwrap_or(Path::new("")).display().to_string();
    String::from_utf8_lossy(&run.stderr).replace(&format!("{folder}/"), "")
}

#[test]
fn mistakes_do_not_compile() {
    let deps = std::env::current_exe().expect("a path");
    let deps = deps.parent().expect("its folder");
    // Another instance of this test may run at the same time.
    let output = deps.join(format!("kernels-refused-{}.rmeta", std::process::id()));
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let good = tests.join("refused/good.rs");
    // The folder may contain other builds of the crate than the one that this test is linked with.
    let library = libraries(deps)
        .into_iter()
        .find(|library| messages(library, &good, &output).is_empty());
    let library = library.expect("a good kernel compiles with some build of the crate");
    let mut wrong = String::new();
    for name in ["language", "types", "launch"] {
        let got = messages(&library, &tests.join(format!("refused/{name}.rs")), &output);
        let golden = tests.join(format!("refused/{name}.txt"));
        if std::env::var_os("SOLUM_BLESS").is_some() {
            std::fs::write(&golden, &got).expect("the golden file");
        }
        let want = std::fs::read_to_string(&golden).unwrap_or_default();
        if got != want || got.is_empty() {
            wrong += &format!("{name}:\n{got}\n");
        }
    }
    let _ = std::fs::remove_file(&output);
    assert!(
        wrong.is_empty(),
        "SOLUM_BLESS=1 writes the golden files\n{wrong}"
    );
}
