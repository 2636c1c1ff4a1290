//! What the build script takes for the code generator, and what it says when there is nothing.

#[path = "../build/source.rs"]
mod source;

use source::{LIBRARY, Source, choose};

#[test]
fn llvm_22_is_linked_else_an_installed_library_is_opened_else_the_build_stops() {
    let found = |text: &str| Ok(text.to_owned());
    let none = || Err("config cannot be run".to_owned());
    let linked = |text: &str| Ok(Source::Linked(text.to_owned()));
    let opened = |text: &str| Ok(Source::Opened(text.to_owned()));
    for (llvm, installed, expected) in [
        (found("22.1.8"), true, linked("22.1.8")),
        (found("22.1.8"), false, linked("22.1.8")),
        (
            found("19.1.7"),
            true,
            opened("config is of LLVM 19.1.7, not 22"),
        ),
        (none(), true, opened("config cannot be run")),
        (
            found("221.0"),
            false,
            Err("config is of LLVM 221.0, not 22"),
        ),
        (none(), false, Err("config cannot be run")),
    ] {
        let case = format!("{llvm:?}, library {installed}");
        let look = || installed.then_some(()).ok_or("no such file".to_owned());
        let chosen = choose("config", llvm, look);
        match expected {
            Ok(source) => assert_eq!(chosen, Ok(source), "{case}"),
            Err(why) => {
                let message = chosen.expect_err(&case);
                for part in [why, "apt install llvm-22-dev", LIBRARY, "no such file"] {
                    assert!(message.contains(part), "{case}: no {part} in {message}");
                }
            }
        }
    }
}

#[test]
fn the_library_is_looked_for_only_without_llvm() {
    let chosen = choose("config", Ok("22.1.8".to_owned()), || {
        panic!("LLVM 22 is there")
    });
    assert_eq!(chosen, Ok(Source::Linked("22.1.8".to_owned())));
}
