//! README.md and docs/ show no code and no output that is not true: Rust samples are parts of example programs, which run;
//! samples of C, C++ and OpenCL C are parts of the repository's files, which tests compile; `solum` prints what the
//! console samples show, and so do the programs that samples name. Elsewhere are tested: the report of `solum trace`
//! (`./x check trace-pipeline cpu`), and the compiler's messages of docs/sycl.md (`compile_fail` of crate `sycl`).

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Example programs whose code the pages show. `./x test clients` runs those of crate `sycl`.
const PROGRAMS: [&str; 5] = [
    "crates/level-zero/examples/scale.rs",
    "crates/sycl/examples/rust_kernel.rs",
    "crates/sycl/examples/vector_add.rs",
    "crates/sycl/examples/spirv_file.rs",
    "crates/sycl/examples/documentation.rs",
];

/// Folders of the files that other samples are parts of, by the samples' language.
const SOURCES: [(&str, &[&str]); 2] = [
    (
        "c",
        &[
            "tests/kernels",
            "tests/check/demo",
            "crates/level-zero/examples",
            "crates/codegen-llvm/tests/stages",
        ],
    ),
    ("cpp", &["tests/sycl"]),
];

/// The code without comments and white space, which pages and rustfmt lay out differently.
fn bare(code: &str) -> String {
    let lines = code.lines().map(|line| match line.find("//") {
        Some(start) => &line[..start],
        None => line,
    });
    lines.flat_map(str::split_whitespace).collect()
}

/// The code blocks of a language.
fn samples<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let start = format!("```{language}\n");
    let blocks = page.split(start.as_str()).skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the repository");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .collect()
}

/// README.md and the pages, by path.
fn pages() -> Vec<(PathBuf, String)> {
    let root = conformance::root();
    let mut pages = files(&root.join("docs"));
    pages.push(root.join("README.md"));
    pages.retain(|page| page.extension().is_some_and(|end| end == "md"));
    let read = |page: PathBuf| {
        let text = fs::read_to_string(&page).expect("a text of the repository");
        (page, text)
    };
    pages.into_iter().map(read).collect()
}

#[test]
fn samples_are_parts_of_programs() {
    let root = conformance::root();
    let programs = PROGRAMS.map(|program| root.join(program)).to_vec();
    let others = SOURCES.map(|(language, folders)| {
        let folders = folders.iter().flat_map(|folder| files(&root.join(folder)));
        (language, folders.collect::<Vec<_>>())
    });
    let mut count = 0;
    for (language, sources) in [("rust", programs)].into_iter().chain(others) {
        // Compiled kernels lie beside their sources.
        let sources = sources
            .iter()
            .filter_map(|file| fs::read_to_string(file).ok());
        let sources: Vec<String> = sources.map(|text| bare(&text)).collect();
        for (page, text) in pages() {
            for sample in samples(&text, language) {
                let sample_bare = bare(sample);
                assert!(
                    sources.iter().any(|source| source.contains(&sample_bare)),
                    "{}: in no file:\n{sample}",
                    page.display()
                );
                count += 1;
            }
        }
    }
    assert!(count >= 17, "{count} samples");
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

/// A command of a console sample, and the lines below it.
struct Shown<'p> {
    command: &'p str,
    lines: Vec<&'p str>,
}

fn commands<'p>(sample: &'p str) -> Vec<Shown<'p>> {
    let mut all: Vec<Shown<'p>> = Vec::new();
    for line in sample.lines() {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push(Shown {
                command,
                lines: Vec::new(),
            }),
            (None, Some(shown)) => shown.lines.push(line),
            (None, None) => panic!("output without a command: {line}"),
        }
    }
    all
}

/// A line without what depends on the machine: spaces that align columns, folders, the processor's name, numbers. Of a
/// compiler's report only LLVM's counts are left out.
fn without_machine(line: &str, is_report: bool) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    if is_report && !line.contains(" instructions, ") {
        return words.join(" ");
    }
    let words = words.iter().map(|word| match word.rsplit_once('/') {
        Some((folder, file)) if folder.starts_with('/') => file,
        _ => word,
    });
    let mut line = words.collect::<Vec<_>>().join(" ");
    if let Some(end) = line.find(" (Solum, ") {
        let starts = ["; ", ": ", ":0 ", ":1 ", "show "];
        let starts = starts
            .iter()
            .filter_map(|start| Some(line[..end].rfind(start)? + start.len()));
        line.replace_range(starts.max().unwrap_or(0)..end, "PROCESSOR");
    }
    let mut bare = String::new();
    for letter in line.chars() {
        match letter.is_ascii_digit() {
            true if bare.ends_with('0') => {}
            true => bare.push('0'),
            false => bare.push(letter),
        }
    }
    bare
}

/// Whether a line is as shown; `…` stands for any text.
fn is_as_shown(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The first line that is not as shown; a line `…` stands for any lines.
fn difference(lines: &[String], shown: &[String]) -> Option<String> {
    let Some((first, others)) = shown.split_first() else {
        return lines.first().map(|line| format!("not shown: {line}"));
    };
    if first == "…" {
        let starts = 0..=lines.len();
        let is_shown = |start| difference(&lines[start..], others).is_none();
        return match starts.into_iter().any(is_shown) {
            true => None,
            false => Some(format!("nowhere: {}", others.join("\n"))),
        };
    }
    match lines.split_first() {
        Some((line, lines)) if is_as_shown(line, first) => difference(lines, others),
        Some((line, _)) => Some(format!("{line}\ninstead of: {first}")),
        None => Some(format!("missing: {first}")),
    }
}

/// A home for `solum`, with a folder `bin`.
fn home() -> PathBuf {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documentation");
    fs::create_dir_all(home.join("bin")).expect("a folder of tests");
    home
}

/// What a command of a sample prints to stdout.
fn output_of(command: &str, folders: &[PathBuf]) -> String {
    let folders = folders.iter().map(|folder| folder.display().to_string());
    let path = folders.chain(["/usr/bin:/bin".into()]).collect::<Vec<_>>();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(conformance::root().join("docs"))
        .env_clear()
        .env("PATH", path.join(":"))
        .env("HOME", home())
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The folder with the examples of crate `sycl` that samples run.
fn examples() -> PathBuf {
    test_artifacts::build(&["-p", "sycl", "--example", "vector_add"]).join("examples")
}

/// The folder with the program of docs/layers.md.
fn mistakes() -> PathBuf {
    let folder = home().join("bin");
    let root = conformance::root();
    let libraries = conformance::artefacts();
    let output = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Werror", "-rdynamic", "-o"])
        .arg(folder.join("mistakes"))
        .arg(root.join("crates/conformance/c/mistakes.c"))
        .arg("-I")
        .arg(root.join("include"))
        .arg("-L")
        .arg(libraries)
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-l:libze_loader.so.1", "-lpthread"])
        .output()
        .expect("a C compiler");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    folder
}

/// Whether OpenCL's tool shows Solum here: it is installed, and so is PoCL with its driver for Level Zero.
fn has_opencl(shown: &Shown<'_>, folders: &[PathBuf]) -> bool {
    let printed = output_of(&format!("{} 2>&1", shown.command), folders);
    if printed.contains("(Solum, ") {
        return true;
    }
    // What does not depend on PoCL: the device's name.
    let name_of = |line: &str| {
        let line = without_machine(line, false);
        Some(line[line.find("PROCESSOR (Solum, ")?..line.find(')')? + 1].to_owned())
    };
    let name = shown.lines.iter().find_map(|line| name_of(line));
    let list = output_of("solum ls", folders);
    assert!(
        name.is_some() && list.lines().any(|line| name_of(line) == name),
        "{name:?} is none of\n{list}"
    );
    false
}

#[test]
fn programs_print_what_samples_show() {
    let folders = [conformance::artefacts().to_owned(), examples(), mistakes()];
    let mut count = 0;
    for (page, text) in pages() {
        for shown in samples(&text, "console").into_iter().flat_map(commands) {
            let command = shown.command;
            let page = page.display();
            if command.contains("clinfo") && !has_opencl(&shown, &folders) {
                // Not through `eprintln`, which is shown of tests that fail alone.
                let reason = "needs clinfo, and PoCL with its driver for Level Zero, which no package of Debian has";
                let _ = writeln!(std::io::stderr(), "skipped: {page}: {command}: {reason}");
                continue;
            }
            let is_report = command.contains("solum compile");
            let bare = |lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
                lines.map(|line| without_machine(line, is_report)).collect()
            };
            let said = output_of(command, &folders);
            let lines = bare(&mut said.lines());
            let difference = difference(&lines, &bare(&mut shown.lines.iter().copied()));
            assert!(
                difference.is_none(),
                "{page}: {command}: {}\n{said}",
                difference.unwrap_or_default()
            );
            count += 1;
        }
    }
    assert!(count >= 16, "{count} commands");
}

#[test]
fn methods_of_numbers_are_all_named() {
    let page = conformance::root().join("docs/rust-kernels.md");
    let page = fs::read_to_string(page).expect("a text of the repository");
    let (_, list) = page.split_once("## Methods of numbers").expect("the list");
    let list = list.split("\n## ").next().unwrap_or_default();
    let missing = kernel_builder::METHODS.iter();
    let missing = missing.filter(|name| !list.contains(&format!("`{name}`")));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// The text of the error; `main` prints it as a string of Rust.
#[test]
fn an_error_of_the_selector_is_as_shown() {
    let page = conformance::root().join("docs/sycl.md");
    let page = fs::read_to_string(page).expect("a text of the repository");
    let start = "```\nONEAPI_DEVICE_SELECTOR: ";
    let (_, shown) = page.split_once(start).expect("the sample");
    let (shown, _) = shown.split_once("\n```").expect("its end");
    let (_, value) = shown.split_once("\n  ").expect("the value");
    let value = value.lines().next().unwrap_or_default();
    let command = format!("ONEAPI_DEVICE_SELECTOR={value} vector_add 2>&1");
    let said = output_of(&command, &[examples()]);
    let shown = format!("{:?}", format!("ONEAPI_DEVICE_SELECTOR: {shown}"));
    assert!(said.contains(&shown), "{said}\ninstead of: {shown}");
}

#[test]
fn a_line_is_compared_up_to_the_machine() {
    for (line, shown, is_report, is_same) in [
        (
            " level_zero:gpu:0   AMD EPYC (Solum, GPU-typed)   8    23.5 GiB",
            "level_zero:gpu:0 Intel(R) Xeon(R) @ 2.50GHz (Solum, GPU-typed) 128 7.0 GiB",
            false,
            true,
        ),
        (
            "ok  cache  /a/x: 3 programs",
            "ok cache /b/x: 21 programs",
            false,
            true,
        ),
        ("ok  loader", "fail  loader", false, false),
        (
            "  12 instructions, 3 spills",
            "  7 instructions, 0 spills",
            true,
            true,
        ),
        (
            "  2 of 3 memory accesses",
            "  3 of 3 memory accesses",
            true,
            false,
        ),
        ("ran in 3 µs, good", "ran in …, good", false, true),
        ("ran in 3 µs, bad", "ran in …, good", false, false),
        ("a b c d", "a…c…", false, true),
        ("a b c d", "a…c", false, false),
    ] {
        let bare = |line| without_machine(line, is_report);
        assert_eq!(
            is_as_shown(&bare(line), &bare(shown)),
            is_same,
            "{line} {shown}"
        );
    }
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (given, shown, is_same) in [
        ("a b c", "a … c", true),
        ("a c", "a … c", true),
        ("a b c d", "… c …", true),
        ("a b c", "… d …", false),
        ("a b", "a", false),
        ("a", "a b", false),
    ] {
        let difference = difference(&lines(given), &lines(shown));
        assert_eq!(difference.is_none(), is_same, "{given} {shown}");
    }
}
