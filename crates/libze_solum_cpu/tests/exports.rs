//! The library's name and what it exports: the getters of the DDI tables, nothing else.
//!
//! If a driver exported `zeInit` too, a loader's own calls could be bound to it, or the reverse.

#[expect(clippy::unwrap_used, reason = "a test")]
#[path = "../../ze-loader/tests/loader/elf.rs"]
mod elf;

use std::collections::BTreeSet;

fn library() -> elf::Library {
    let folder = test_artifacts::build(&["-p", "libze_solum_cpu"]);
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
