//! Memory and objects of C programs, as `solum check` sees them: what is told, and above all what is not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::{artefacts, root};

fn compile() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifetimes");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-g", "-Wall", "-Werror"])
        .arg("-o")
        .arg(&program)
        .arg(folder.join("lifetimes.c"))
        .arg("-I")
        .arg(root().join("include"))
        .arg("-L")
        .arg(artefacts())
        .args(["-l:libze_loader.so.1", "-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    program
}

/// What the driver prints at the end of a program.
fn told(program: &Path, word: &str, checks: &str) -> String {
    let output = Command::new(program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv"))
        .arg(word)
        .env("LD_LIBRARY_PATH", artefacts())
        .env("SOLUM_CHECK", checks)
        .env_remove("SOLUM_CHECK_OUTPUT")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{word}: {text}");
    text
}

#[test]
fn leaks_and_wrong_uses_are_told() {
    let program = compile();
    for (word, checks, lines) in [
        ("clean", "1", &[][..]),
        (
            "clean",
            "all,strict",
            &["never destroys an object of the type context"],
        ),
        ("atexit", "1", &[]),
        ("destructor", "1", &[]),
        ("exit", "1", &[]),
        (
            "exit",
            "leak,strict",
            &["never frees memory", "memory of 4096 bytes"],
        ),
        ("_exit", "1", &[]),
        ("thread", "1", &[]),
        ("fork", "1", &[]),
        (
            "leak",
            "1",
            &[
                "2 mistakes found: 2 leak",
                "memory of 192 bytes",
                "memory of 32 bytes",
                "count: 3 times",
            ],
        ),
        ("leak", "memory", &[]),
        (
            "twice",
            "1",
            &[
                "1 mistake found",
                "invalid-lifetime",
                "frees memory a second time",
            ],
        ),
        (
            "context",
            "1",
            &[
                "1 mistake found",
                "invalid-lifetime",
                "in another context than its own",
            ],
        ),
        (
            "event",
            "1",
            &[
                "1 mistake found",
                "invalid-lifetime",
                "hEvent is a handle of the type event that the program has destroyed",
            ],
        ),
    ] {
        let text = told(&program, word, checks);
        let case = format!("{word} with {checks}: {text}");
        assert_eq!(text.is_empty(), lines.is_empty(), "{case}");
        for line in lines {
            assert!(text.contains(line), "no {line:?} in {case}");
        }
    }
}
