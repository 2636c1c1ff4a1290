//! The library's name and what it exports: the getters of the DDI tables, nothing else.
//!
//! A driver that exported `zeInit` too could be bound to by a loader's own calls of that name, or the other way.

#[expect(clippy::unwrap_used, reason = "a test")]
#[path = "../../ze-loader/tests/loader/elf.rs"]
mod elf;

use std::collections::BTreeSet;
use std::process::Command;

/// The library of this profile; cargo builds none for a test of a shell, so the test asks for it.
fn library() -> elf::Library {
    let program = std::env::current_exe().expect("a program has a path");
    let folder = program
        .ancestors()
        .nth(2)
        .expect("cargo puts tests two levels deep");
    let target = folder
        .parent()
        .expect("a profile's folder lies in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "-p", "libze_solum_cpu", "--target-dir"]);
    cargo.arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().is_ok_and(|status| status.success()));
    elf::read(&folder.join("libze_solum_cpu.so"))
}

#[test]
fn only_getters_are_exported() {
    let mut want = BTreeSet::new();
    macro_rules! names {
        ($(($name:ident, $table:ident),)*) => { $(want.insert(stringify!($name).to_owned());)* };
    }
    ze_driver::for_each_getter!(names);
    assert_eq!(want.len(), 76);
    let library = library();
    let got: BTreeSet<_> = library.exports.iter().map(|e| e.name.clone()).collect();
    assert_eq!(got, want);
    assert!(library.exports.iter().all(|e| e.binding == 1), "STB_GLOBAL");
    assert_eq!(library.soname, "libze_solum_cpu.so.1");
}
