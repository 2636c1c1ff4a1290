//! All of these tests once more, by machine code: in a test of the whole workspace the code generator is part of this
//! program. `cargo test -p sycl-macros` alone has none, unless `libsolum_codegen.so.1` is in a library folder.

use std::process::Command;

#[test]
fn machine_code_agrees_too() {
    const COMPILER: &str = "SOLUM_COMPILER";
    if std::env::var_os(COMPILER).is_some_and(|compiler| compiler == "llvm") {
        return;
    }
    let this = std::env::current_exe().expect("a path");
    let run = Command::new(this)
        .args(["--skip", "refused", "--skip", "golden"])
        .env(COMPILER, "llvm")
        .output()
        .expect("the tests run");
    let said = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    if said.contains("the code generator is not installed") {
        return;
    }
    assert!(run.status.success(), "{said}\n{errors}");
}
