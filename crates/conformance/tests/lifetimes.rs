//! Memory and objects of C programs, as `solum check` sees them: what is told, and above all what is not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::{artefacts, root};

fn compile() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifetimes");
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O0", "-g", "-Wall", "-Werror"])
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

/// A place for streams, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lifetimes-{name}"));
        // What an earlier run left.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The findings of the driver in a program: kinds, texts, bytes and counts, sorted.
fn told(program: &Path, word: &str, checks: &str) -> Vec<String> {
    let folder = Folder::new(&format!("{word}-{checks}"));
    let output = Command::new(program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv"))
        .arg(word)
        .env("LD_LIBRARY_PATH", artefacts())
        .env("SOLUM_CHECK", checks)
        .env("SOLUM_CHECK_OUTPUT", &folder.0)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{word}: {text}");
    let mut found = Vec::new();
    for file in std::fs::read_dir(&folder.0).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let stream = check_report::stream::read(bytes.as_slice()).unwrap();
        assert!(stream.is_complete || word == "_exit", "{word}");
        for (_, finding) in stream.findings {
            let allocation = finding.allocation.unwrap_or_default();
            let own = |stack: &[check_report::Address]| {
                let first = check_report::host_stack::of_program(stack).first();
                first.is_some_and(|frame| frame.object == program.to_string_lossy())
            };
            assert!(own(&allocation.allocated_at), "{word}: {allocation:?}");
            let is_called = finding.access.is_none_or(|access| own(&access.called_at));
            assert!(is_called, "{word}");
            let (count, bytes) = (finding.count, allocation.size.unwrap_or(0));
            found.push(format!(
                "{}: {}, {count}, {bytes}",
                finding.kind, finding.message
            ));
        }
    }
    found.sort();
    found
}

#[test]
fn leaks_and_wrong_uses_are_told() {
    let program = compile();
    let never =
        |what: &str| format!("leak: the program never destroys an object of the type {what}, 1, 0");
    let objects = ["command list", "context", "module"].map(never);
    let objects = objects.each_ref().map(String::as_str);
    const LEAK: &str = "leak: the program never frees memory, 1, 4096";
    let with_objects = [objects[0], objects[1], objects[2], LEAK];
    for (word, checks, expected) in [
        ("clean", "1", &[][..]),
        ("clean", "leak,strict", &objects),
        ("atexit", "1", &[]),
        ("destructor", "1", &[]),
        ("global", "1", &[]),
        ("global", "leak,strict", &with_objects),
        ("exit", "1", &[]),
        ("exit", "leak,strict", &with_objects),
        ("_exit", "1", &[]),
        ("thread", "1", &[]),
        ("fork", "1", &[]),
        (
            "leak",
            "lifetime",
            &[
                "leak: the program never frees memory, 1, 32",
                "leak: the program never frees memory, 3, 192",
            ],
        ),
        ("leak", "memory", &[]),
        (
            "twice",
            "1",
            &["invalid-lifetime: the program frees memory a second time, 1, 4096"],
        ),
        ("idle", "1", &[]),
        (
            "busy",
            "lifetime",
            &[
                "invalid-lifetime: the program destroys an object of the type command list and has waited for none of its commands, 1, 0",
            ],
        ),
        (
            "context",
            "1",
            &[
                "invalid-lifetime: the program frees memory in another context than its own, 1, 4096",
            ],
        ),
        (
            "event",
            "1",
            &[
                "invalid-lifetime: hEvent is a handle of the type event that the program has destroyed, 1, 0",
            ],
        ),
    ] {
        assert_eq!(
            told(&program, word, checks),
            expected,
            "{word} with {checks}"
        );
    }
}
