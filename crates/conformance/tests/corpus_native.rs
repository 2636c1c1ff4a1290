//! The corpus of `kernel-ir` through the driver, as machine code and in the interpreter: the same kernels on the
//! same data with the same results.
//!
//! The engine is chosen when the driver is loaded, so each run has a process of its own: this binary, asked for
//! its one test that does nothing without `CORPUS_LIBRARIES`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus_native {
    pub(crate) mod native;
}
#[path = "../../kernel-ir/tests/corpus/cases/mod.rs"]
mod cases;
#[path = "../../kernel-ir/tests/corpus/files.rs"]
mod files;

use std::process::Command;

/// Runs the whole corpus in a process with this environment; its own words when it fails.
fn in_a_process(environment: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "every_case_here",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("LD_LIBRARY_PATH", conformance::artefacts())
        .env("CORPUS_LIBRARIES", conformance::artefacts())
        .env("SOLUM_CACHE", "0")
        .env_remove("SOLUM_DEVICES")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = text.lines().filter(|l| !l.starts_with("case ")).collect();
    let case = text.lines().rfind(|l| l.starts_with("case "));
    assert!(
        output.status.success() && case.is_some(),
        "{environment:?}: {}, the last one run is {case:?}\n{}",
        output.status,
        last.join("\n")
    );
}

#[test]
fn machine_code_gives_the_expected_results() {
    in_a_process(&[]);
}

#[test]
fn machine_code_without_optimisation_gives_the_expected_results() {
    in_a_process(&[("CORPUS_FLAGS", "-ze-opt-disable")]);
}

#[test]
fn machine_code_for_lesser_processors_gives_the_expected_results() {
    for target in ["x86-64", "x86-64-v2"] {
        in_a_process(&[("SOLUM_CPU_TARGET", target)]);
    }
}

#[test]
fn other_sub_group_sizes_give_the_expected_results() {
    for size in ["8", "32"] {
        in_a_process(&[("SOLUM_SUB_GROUP_SIZE", size)]);
    }
}

/// Without this these kernels end before they have full code.
#[test]
fn full_code_for_null_arguments_gives_the_expected_results() {
    in_a_process(&[("SOLUM_TIERS", "full"), ("CORPUS_ONLY", "nulls")]);
}

#[test]
fn the_interpreter_behind_the_driver_gives_the_expected_results() {
    in_a_process(&[("SOLUM_COMPILER", "interpreter")]);
}

/// Modules that are not built: the code, and what the build log must name.
const REFUSED: [(&str, &str, &str); 5] = [
    (
        "refused_esimd",
        "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        "VectorComputeINTEL",
    ),
    (
        "refused_vector_any",
        "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        "VectorAnyINTEL",
    ),
    (
        "refused_image",
        "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        "OpTypeImage",
    ),
    (
        "refused_pointers",
        "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE",
        "addressing model",
    ),
    (
        "refused_import",
        "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED",
        "zeKernelCreate",
    ),
];

#[test]
fn every_case_here() {
    let Some(folder) = std::env::var_os("CORPUS_LIBRARIES") else {
        return;
    };
    let flags = std::env::var("CORPUS_FLAGS").unwrap_or_default();
    let only = std::env::var("CORPUS_ONLY").unwrap_or_default();
    let machine = corpus_native::native::Machine::open(folder.as_ref()).unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for (theme, cases) in cases::all() {
        for case in cases.iter().filter(|c| c.name.contains(&only)) {
            count += 1;
            eprintln!("case {theme}: {}", case.name);
            if let Err(e) = machine.run(case, &flags) {
                let grid = &case.steps[0];
                failures.push(format!(
                    "{theme}: {} ({:?} x {:?}): {e}",
                    case.name, grid.groups, grid.size
                ));
            }
        }
    }
    for (name, code, text) in REFUSED {
        let said = machine.run(&cases::case(name, "k", 1, 1, Vec::new()), &flags);
        if !said
            .as_ref()
            .is_err_and(|e| e.contains(code) && e.contains(text))
        {
            failures.push(format!("{name}: {said:?}, not {code} naming {text}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
