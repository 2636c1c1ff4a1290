//! The files of `tests/check` and `tests/sycl/check`: each is in the format of the README, planted ones have a mistake to find,
//! correct ones none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use conformance::check_kernels::{Action, KINDS, KernelFile, Role};

/// `FOLDER/CLASS/NAME.cl` of tests/check, in order.
fn files(folder: &str) -> Vec<PathBuf> {
    files_of(&format!("tests/check/{folder}"))
}

fn files_of(folder: &str) -> Vec<PathBuf> {
    let entries = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        entries.map(|entry| entry.expect("entry").path()).collect()
    };
    let root = conformance::root().join(folder);
    let mut files: Vec<_> = entries(&root).iter().flat_map(|c| entries(c)).collect();
    files.sort();
    files
}

fn read(path: &Path) -> (String, KernelFile) {
    let text = fs::read_to_string(path).expect("readable");
    let file = text
        .parse()
        .unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
    (text, file)
}

/// The number of parameters of a kernel.
fn parameters(text: &str, kernel: &str) -> Option<usize> {
    let (_, rest) = text.split_once(&format!("kernel void {kernel}("))?;
    let (list, _) = rest.split_once(')')?;
    Some(
        list.split(',')
            .filter(|part| !part.trim().is_empty())
            .count(),
    )
}

/// What is wrong with a file of either folder.
fn faults(text: &str, file: &KernelFile) -> Vec<String> {
    let mut faults = Vec::new();
    if file.note.is_empty() {
        faults.push("no `// note:`".to_owned());
    }
    for command in &file.commands {
        if let Action::Run {
            kernel, arguments, ..
        } = &command.action
        {
            match parameters(text, kernel) {
                None => faults.push(format!("line {}: no kernel {kernel}", command.line)),
                Some(count) if count != arguments.len() => faults.push(format!(
                    "line {}: {kernel} has {count} parameters, not {}",
                    command.line,
                    arguments.len()
                )),
                Some(_) => {}
            }
        }
    }
    faults.extend(
        text.lines()
            .enumerate()
            .filter(|(_, line)| line.len() > 120)
            .map(|(index, _)| format!("line {}: more than 120 characters", index + 1)),
    );
    faults
}

#[test]
fn planted_files_say_what_is_to_be_found() {
    let files = files("planted");
    assert!(files.len() >= 125, "{} files", files.len());
    let mut kinds = BTreeSet::new();
    let mut wrong = Vec::new();
    for path in &files {
        let (text, file) = read(path);
        let mut faults = faults(&text, &file);
        let marked = file.marks.iter().filter_map(|mark| match &mark.role {
            Role::Must(kinds) => Some(kinds),
            Role::Other(_) | Role::May(_) => None,
        });
        let told: Vec<_> = marked.chain(&file.expect).flatten().cloned().collect();
        if told.is_empty() {
            faults.push("no mark `//~ KIND` and no `// expect: KIND`".to_owned());
        }
        kinds.extend(told);
        wrong.extend(
            faults
                .iter()
                .map(|fault| format!("{}: {fault}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<_> = KINDS
        .iter()
        .filter(|kind| !kinds.contains(**kind))
        .collect();
    assert!(missing.is_empty(), "no file has {missing:?}");
}

#[test]
fn correct_files_have_nothing_to_find() {
    let files = files("correct");
    assert!(files.len() >= 45, "{} files", files.len());
    let mut wrong = Vec::new();
    for path in &files {
        let (text, file) = read(path);
        let mut faults = faults(&text, &file);
        if !file.marks.is_empty() || !file.expect.is_empty() {
            faults.push("a mark in a correct file".to_owned());
        }
        wrong.extend(
            faults
                .iter()
                .map(|fault| format!("{}: {fault}", path.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sycl_files_name_a_case_of_the_program_that_launches_them() {
    let program = fs::read_to_string(conformance::root().join("tests/sycl/checked.cpp"));
    let program = program.expect("tests/sycl/checked.cpp");
    let mut wrong = Vec::new();
    for (folder, least, is_planted) in [("planted", 24, true), ("correct", 16, false)] {
        let files = files_of(&format!("tests/sycl/check/{folder}"));
        assert!(files.len() >= least, "{} files", files.len());
        for path in &files {
            let (text, file) = read(path);
            let mut faults = faults(&text, &file);
            let case = file.case.as_deref().unwrap_or_default();
            if !program.contains(&format!("{{\"{case}\", ")) {
                faults.push(format!("there is no case {case:?}"));
            }
            let is_told = !file.expect.is_empty()
                || file
                    .marks
                    .iter()
                    .any(|mark| matches!(mark.role, Role::Must(_)));
            if is_told != is_planted {
                faults.push("a planted file has marks, a correct one has none".to_owned());
            }
            wrong.extend(
                faults
                    .iter()
                    .map(|fault| format!("{}: {fault}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
