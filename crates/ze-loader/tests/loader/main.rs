//! The loader as a C library, tested on stub drivers. A process can initialise and tear down only once, so such cases
//! run in separate processes: the test binary starts itself again with the name of a case.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and a case reports to its parent"
)]

mod artefacts;
mod cases;
mod elf;
mod functions;
mod getters;
mod layered;
mod lifetimes;
mod log;
mod opened;
mod wrapped;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// The names of the reference loader 1.32, and one that it declares but does not export.
const EXPORTS: &str = include_str!("exports-1.32.txt");

/// Names the case in the environment of the process that runs it.
const CASE: &str = "SOLUM_LOADER_CASE";
/// The test that runs it there.
const CASES: &str = "cases_run_in_separate_processes";
/// Names the folder with the case's libraries.
const STAGE: &str = "SOLUM_LOADER_STAGE";

/// Runs a case in a separate process; `environment` may contain `{stage}` for its folder. Returns its stderr.
fn run(case: &str, stubs: &[&str], environment: &[(&str, &str)]) -> String {
    let stage = artefacts::stage(case, stubs);
    let stderr = run_in(&stage, case, environment);
    std::fs::remove_dir_all(&stage).unwrap();
    stderr
}

fn run_in(stage: &Path, case: &str, environment: &[(&str, &str)]) -> String {
    let output = start(stage, case, environment);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "case {case}: {}\n{stdout}\n{stderr}",
        output.status
    );
    assert!(
        stdout.contains("1 passed"),
        "case {case} did not run:\n{stdout}\n{stderr}"
    );
    stderr
}

/// Starts this binary again with the case's name and without the user's variables for Level Zero.
fn start(stage: &Path, case: &str, environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([CASES, "--exact", "--nocapture", "--test-threads", "1"]);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let prefixes = ["ZE_", "ZEL_", "ZES_", "ZET_", "SOLUM_"];
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    let case = case.split('@').next().unwrap();
    command.env(CASE, case).env(STAGE, stage);
    for (name, value) in environment {
        command.env(name, value.replace("{stage}", stage.to_str().unwrap()));
    }
    command.output().unwrap()
}

const ONE: (&str, &str) = ("ZE_ENABLE_ALT_DRIVERS", "{stage}/stub_a.so");
const TWO: (&str, &str) = (
    "ZE_ENABLE_ALT_DRIVERS",
    "{stage}/stub_a.so,{stage}/stub_b.so",
);

/// In a process for a case, the case; otherwise a check that a failing case is detected.
#[test]
fn cases_run_in_separate_processes() {
    if let Ok(case) = std::env::var(CASE) {
        let stage = std::env::var_os(STAGE).expect("the folder of a case");
        return cases::run(&case, Path::new(&stage));
    }
    let stage = artefacts::stage("unknown", &[]);
    let output = start(&stage, "a case that does not exist", &[]);
    assert!(!output.status.success(), "{}", output.status);
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn exports_are_the_reference_loaders() {
    let path = artefacts::folder().join("libze_loader.so");
    let library = elf::read(&path);
    assert_eq!(library.soname, "libze_loader.so.1");
    let expected: BTreeSet<&str> = EXPORTS.lines().collect();
    let found: BTreeSet<&str> = library
        .exports
        .iter()
        .map(|export| export.name.as_str())
        .collect();
    assert_eq!(expected.len(), 833);
    assert_eq!(
        found.difference(&expected).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "exported too much"
    );
    assert_eq!(
        expected.difference(&found).collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "not exported"
    );
    let odd: Vec<_> = library
        .exports
        .iter()
        .filter(|export| export.binding != 1)
        .map(|export| &export.name)
        .collect();
    assert!(odd.is_empty(), "not STB_GLOBAL: {odd:?}");
    if artefacts::is_release() {
        let size = path.metadata().unwrap().len();
        assert!(size < 4_000_000, "{size} bytes, under 4 MB are promised");
    }
}

#[test]
fn init_without_a_driver_gives_the_reasons() {
    run("no_driver", &[], &[("ZE_ENABLE_ALT_DRIVERS", "")]);
}

#[test]
fn bad_entries_do_not_hide_good_ones() {
    let list = "/nonexistent/libze.so,,libc.so.6,{stage}/libze_loader.so.1,{stage}/stub_a.so,{stage}/stub_a.so";
    run(
        "one_driver",
        &["stub_a.so"],
        &[("ZE_ENABLE_ALT_DRIVERS", list)],
    );
}

#[test]
fn each_rejected_driver_has_its_reason() {
    type Row = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static str,
    );
    let table: [Row; 7] = [
        (
            "getter",
            &[("SOLUM_STUB_RESULT", "zeGetDriverProcAddrTable=0x78000003")],
            "zeGetDriverProcAddrTable returned ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        ),
        (
            "version-of-driver",
            &[("SOLUM_STUB_RESULT", "zeDriverGetApiVersion=0x78000001")],
            "zeDriverGetApiVersion returned ZE_RESULT_ERROR_UNINITIALIZED",
        ),
        (
            "extensions",
            &[
                ("SOLUM_STUB_EXTENSION", "1.1"),
                (
                    "SOLUM_STUB_RESULT",
                    "zeDriverGetExtensionProperties=0x78000003",
                ),
            ],
            "zeDriverGetExtensionProperties returned ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
        ),
        (
            "init",
            &[("SOLUM_STUB_RESULT", "zeInit=0x78000004")],
            "ZE_RESULT_ERROR_INVALID_ARGUMENT: stub driver's text",
        ),
        (
            "get",
            &[("SOLUM_STUB_RESULT", "zeDriverGet=0x78000001")],
            "zeDriverGet returned",
        ),
        (
            "no-init",
            &[("SOLUM_STUB_NULL", "zeInit")],
            "zeInit is missing",
        ),
        (
            "itself",
            &[("ZE_ENABLE_ALT_DRIVERS", "{stage}/libze_loader.so.1")],
            "a Level Zero loader, not a driver",
        ),
    ];
    for (name, environment, expected) in table {
        let environment: Vec<_> = [ONE].iter().chain(environment).copied().collect();
        let stderr = run(&format!("refused@{name}"), &["stub_a.so"], &environment);
        assert!(stderr.contains(expected), "{name}: {stderr}");
        assert!(
            !stderr.contains("ZE_LOADER_DEBUG_TRACE"),
            "{name} logs without being enabled: {stderr}"
        );
    }
}

#[test]
fn reasons_are_logged_if_enabled() {
    let line = "not used: nothing.so: ";
    let table: [(&[(&str, &str)], &str); 6] = [
        (
            &[("ZE_ENABLE_LOADER_DEBUG_TRACE", "1")],
            "ZE_LOADER_DEBUG_TRACE: ",
        ),
        (
            &[
                ("ZEL_ENABLE_LOADER_LOGGING", "1"),
                ("ZEL_LOADER_LOG_CONSOLE", "1"),
            ],
            "[warning] ",
        ),
        (
            &[
                ("ZEL_ENABLE_LOADER_LOGGING", "1"),
                ("ZEL_LOADER_LOG_CONSOLE", "1"),
                ("ZEL_LOADER_LOG_PATTERN", "<%L> %v"),
                ("ZEL_LOADER_LOGGING_LEVEL", "trace"),
            ],
            "<W> ",
        ),
        (
            &[
                ("ZEL_ENABLE_LOADER_LOGGING", "1"),
                ("ZEL_LOADER_LOG_CONSOLE", "1"),
                ("ZEL_LOADER_LOGGING_LEVEL", "err"),
            ],
            "",
        ),
        (&[("ZEL_LOADER_LOG_CONSOLE", "1")], ""),
        (&[("ZE_ENABLE_LOADER_DEBUG_TRACE", "3")], ""),
    ];
    for (index, (environment, mark)) in table.into_iter().enumerate() {
        let environment: Vec<_> = [("ZE_ENABLE_ALT_DRIVERS", "nothing.so")]
            .iter()
            .chain(environment)
            .copied()
            .collect();
        let stderr = run(&format!("refused@trace{index}"), &[], &environment);
        // The case itself prints the text without a prefix, indented.
        let found = stderr.lines().find(|text| text.contains(line));
        match mark {
            "" => assert_eq!(found, None, "{environment:?}"),
            mark => assert!(
                found.is_some_and(|text| text.contains(&format!("{mark}{line}"))),
                "{environment:?}: {stderr}"
            ),
        }
    }
}

#[test]
fn a_rejected_driver_does_not_disturb_the_other() {
    let script = "stub_a:zeInit=0x78000001,stub_a:zeInitDrivers=0x78000001";
    run(
        "one_driver@init",
        &["stub_a.so", "stub_b.so"],
        &[TWO, ("SOLUM_STUB_RESULT", script)],
    );
}

#[test]
fn each_wrapped_driver_has_its_reason() {
    let table = [
        (
            "legacy",
            ("SOLUM_STUB_LEGACY", "1"),
            "its handles have no DDI tables",
        ),
        (
            "version",
            ("SOLUM_STUB_VERSION", "1.12"),
            "version 1.12, but the loader requires 1.13",
        ),
        (
            "extension",
            ("SOLUM_STUB_EXTENSION", "1.0"),
            "the loader requires 1.1",
        ),
        (
            "table",
            ("SOLUM_STUB_NO_TABLE", "zeFenceCreate"),
            "pCore table has no Fence table",
        ),
        (
            "path",
            ("ZE_ENABLE_LOADER_DRIVER_DDI_PATH", "0"),
            "ZE_ENABLE_LOADER_DRIVER_DDI_PATH is off",
        ),
    ];
    for (name, script, expected) in table {
        let environment = [ONE, script, ("ZE_ENABLE_LOADER_DEBUG_TRACE", "1")];
        let stderr = run(&format!("one_driver@{name}"), &["stub_a.so"], &environment);
        assert!(stderr.contains(expected), "{name}: {stderr}");
    }
}

#[test]
fn without_an_optional_table_only_its_functions_are_unsupported() {
    for table in [
        "zeRTASBuilderCreateExt",
        "zeFabricVertexGetExp",
        "zeGraphCreateExt",
    ] {
        let trace = ("ZE_ENABLE_LOADER_DEBUG_TRACE", "1");
        let environment = [ONE, ("SOLUM_STUB_NO_TABLE", table), trace];
        let stderr = run(
            &format!("missing_table@{table}"),
            &["stub_a.so"],
            &environment,
        );
        assert!(!stderr.contains("wrapped"), "{stderr}");
    }
}

/// Runs a case with stubs of these letters and more variables.
fn run_stubs(case: &str, letters: &str, environment: &[(&str, &str)]) {
    let files: Vec<String> = letters
        .chars()
        .map(|letter| format!("stub_{letter}.so"))
        .collect();
    let paths: Vec<String> = files
        .iter()
        .map(|file| format!("{{stage}}/{file}"))
        .collect();
    let paths = paths.join(",");
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let own = [
        ("ZE_ENABLE_ALT_DRIVERS", paths.as_str()),
        ("SOLUM_STUB_LOG", "{stage}/log"),
    ];
    let environment: Vec<_> = own.iter().chain(environment).copied().collect();
    run(case, &files, &environment);
}

const NO_HEADERS: [(&str, &str); 3] = [
    ("SOLUM_STUB_LEGACY", "1"),
    ("SOLUM_STUB_API", "1.17"),
    ("SOLUM_STUB_GUARD", "1"),
];

#[test]
fn every_function_reaches_the_driver_of_its_handles() {
    let mixed = "stub_b:1,stub_d:1,stub_f:1,stub_h:1";
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)]);
    let table: [Row<'_>; 8] = [
        ("a", "1", "0", &[]),
        ("abcdefgh", "8", "0", &[]),
        ("a", "1", "1", &[("SOLUM_STUB_LEGACY", "1")]),
        // A version with the headers, but a driver without them: memory ends after an object's first word.
        ("ab", "2", "2", &NO_HEADERS),
        ("ab", "2", "2", &[("SOLUM_STUB_LEGACY", "1")]),
        ("ab", "2", "1", &[("SOLUM_STUB_LEGACY", mixed)]),
        ("abcdefgh", "8", "4", &[("SOLUM_STUB_LEGACY", mixed)]),
        // The header of 24 bytes, after which memory ends.
        (
            "ab",
            "2",
            "2",
            &[("SOLUM_STUB_EXTENSION", "1.0"), ("SOLUM_STUB_GUARD", "1")],
        ),
    ];
    for (index, (letters, drivers, legacy, more)) in table.into_iter().enumerate() {
        let expected = [("EXPECTED_DRIVERS", drivers), ("EXPECTED_LEGACY", legacy)];
        let environment: Vec<_> = expected.iter().chain(more).copied().collect();
        run_stubs(
            &format!("wrapped_every_function@{index}"),
            letters,
            &environment,
        );
    }
}

#[test]
fn objects_created_without_the_loader_are_rejected() {
    run_stubs("wrapped_behind_the_loader@ddi", "a", &[]);
    run_stubs(
        "wrapped_behind_the_loader@legacy",
        "a",
        &[("SOLUM_STUB_LEGACY", "1")],
    );
    let guard = [("SOLUM_STUB_LEGACY", "1"), ("SOLUM_STUB_GUARD", "1")];
    run_stubs("wrapped_behind_the_loader@guard", "a", &guard);
    run_stubs(
        "wrapped_behind_the_loader@mixed",
        "ab",
        &[("SOLUM_STUB_LEGACY", "stub_b:1")],
    );
}

/// Cases on one wrapped driver.
macro_rules! wrapped {
    ($($case:ident $(($($variable:literal = $value:literal),+))?;)+) => {
        $(
            #[test]
            fn $case() {
                run_stubs(stringify!($case), "a", &[("SOLUM_STUB_LEGACY", "1") $($(, ($variable, $value))+)?]);
            }
        )+
    };
}

wrapped! {
    wrapped_hidden_handles;
    wrapped_many_objects;
    wrapped_many_threads;
    wrapped_reused_addresses("SOLUM_STUB_REUSE" = "1");
    wrapped_refused_destruction("SOLUM_STUB_RESULT" = "zeEventDestroy=0x78000006");
    wrapped_default_driver("SOLUM_STUB_API" = "1.16");
    wrapped_older_functions("SOLUM_STUB_API" = "1.3", "SOLUM_STUB_NULL" = "zeContextGetStatus,zeGraphCreateExt");
}

#[test]
fn calls_reach_the_driver_of_their_handle() {
    let stage = artefacts::stage("two_drivers", &["stub_a.so", "stub_b.so"]);
    let log = ("SOLUM_STUB_LOG", "{stage}/log");
    // stub_b is the discrete one and comes first.
    run_in(
        &stage,
        "two_drivers",
        &[
            TWO,
            log,
            ("SOLUM_STUB_DEVICES", "stub_a:integrated,stub_b:discrete"),
        ],
    );
    let log = std::fs::read_to_string(stage.join("log")).unwrap();
    let calls: Vec<String> = log
        .lines()
        .filter(|line| line.contains("zeContext"))
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        calls,
        [
            "stub_b.so zeContextCreate",
            "stub_a.so zeContextCreate",
            "stub_b.so zeContextGetStatus",
            "stub_a.so zeContextGetStatus",
            "stub_b.so zeContextDestroy",
            "stub_a.so zeContextDestroy",
        ]
    );
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn drivers_are_sorted_by_their_devices() {
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);
    const TWO_GPUS: &str = "stub_a:integrated,stub_b:discrete";
    let table: [Row<'_>; 13] = [
        ("stub_a:npu,stub_b:cpu", "1,0", &[]),
        ("stub_a:cpu,stub_b:cpu", "0,1", &[]),
        (
            "stub_a:discrete+integrated+cpu,stub_b:discrete+integrated",
            "1,0",
            &[],
        ),
        ("stub_a:discrete,stub_b:integrated", "0,1", &[]),
        (TWO_GPUS, "1,0", &[("SOLUM_STUB_LEGACY", "stub_a:1")]),
        (TWO_GPUS, "1,0", &[("SOLUM_STUB_LEGACY", "1")]),
        (TWO_GPUS, "0,1", &[("ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1")]),
        (TWO_GPUS, "1,0", &[("ZE_ENABLE_PCI_ID_DEVICE_ORDER", "0")]),
        (
            TWO_GPUS,
            "0,1",
            &[("ZET_ENABLE_PROGRAM_INSTRUMENTATION", "1")],
        ),
        (TWO_GPUS, "0,1", &[("ZEL_DRIVERS_ORDER", "1")]),
        (
            TWO_GPUS,
            "0,1",
            &[("ZEL_DRIVERS_ORDER", "INTEGRATED_GPU_ONLY")],
        ),
        (TWO_GPUS, "1,0", &[("ZEL_DRIVERS_ORDER", "nonsense,7")]),
        (
            TWO_GPUS,
            "1,0",
            &[
                ("ZEL_DRIVERS_ORDER", "DISCRETE_GPU_ONLY:0"),
                ("ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1"),
            ],
        ),
    ];
    for (index, (devices, order, more)) in table.into_iter().enumerate() {
        let environment = [
            TWO,
            ("SOLUM_STUB_DEVICES", devices),
            ("EXPECTED_ORDER", order),
        ];
        let environment: Vec<_> = environment.iter().chain(more).copied().collect();
        run(
            &format!("order@{index}"),
            &["stub_a.so", "stub_b.so"],
            &environment,
        );
    }
}

#[test]
fn the_null_driver_comes_first_when_asked_for() {
    for (name, folder) in [("beside", ""), ("path", "drivers")] {
        let case = format!("order@null-{name}");
        let stage = artefacts::stage(&case, &["stub_b.so"]);
        std::fs::create_dir_all(stage.join(folder)).unwrap();
        std::fs::copy(
            stage.join("stub_b.so"),
            stage.join(folder).join("libze_null.so.1"),
        )
        .unwrap();
        let path = format!("{{stage}}/{folder}");
        let environment = [
            ("ZE_ENABLE_NULL_DRIVER", "1"),
            ("ZE_ENABLE_ALT_DRIVERS", "{stage}/stub_b.so"),
            (
                "SOLUM_STUB_DEVICES",
                "null:discrete,stub_b:discrete+discrete",
            ),
            ("EXPECTED_ORDER", "0,1"),
            ("ZEL_LIBRARY_PATH", path.as_str()),
        ];
        let environment = &environment[..if folder.is_empty() { 4 } else { 5 }];
        run_in(&stage, &case, environment);
        std::fs::remove_dir_all(&stage).unwrap();
    }
}

/// The log of the stubs shows which libraries are opened; a library writes to it only when it is called.
#[test]
fn libraries_are_opened_when_flags_concern_them() {
    for (case, gpu, npu) in [
        ("gpu", true, false),
        ("npu", false, true),
        ("both", true, true),
    ] {
        let files = ["libze_intel_gpu.so.1", "libze_intel_npu.so.1"];
        let stage = artefacts::stage(&format!("lazily@{case}"), &files);
        let environment = [
            ("LD_LIBRARY_PATH", "{stage}"),
            ("SOLUM_STUB_LOG", "{stage}/log"),
            ("SOLUM_STUB_DEVICES", "intel_gpu:discrete,intel_npu:npu"),
            ("EXPECTED_LIBRARIES", case),
            ("ZE_ENABLE_LOADER_DEBUG_TRACE", "1"),
        ];
        let stderr = run_in(&stage, "lazily", &environment);
        for (file, expected) in files.iter().zip([gpu, npu]) {
            let opened = stderr.contains(&format!("opened {file}"));
            assert_eq!(opened, expected, "{case}: {file}: {stderr}");
            let log = std::fs::read_to_string(stage.join("log")).unwrap();
            assert_eq!(
                log.contains(&format!("{file} zeInit")),
                expected,
                "{case}: {file}: {log}"
            );
        }
        std::fs::remove_dir_all(&stage).unwrap();
    }
}

#[test]
fn our_driver_is_found_beside_the_loader() {
    for name in ["libze_solum_cpu.so.1", "libze_solum_cpu.so"] {
        run(&format!("beside@{name}"), &[name], &[]);
    }
    // Through a link in another folder, as package managers and developers create it.
    let stage = artefacts::stage("beside@link", &["libze_solum_cpu.so.1"]);
    let links = stage.join("links");
    std::fs::create_dir(&links).unwrap();
    std::os::unix::fs::symlink(
        stage.join("libze_loader.so.1"),
        links.join("libze_loader.so.1"),
    )
    .unwrap();
    run_in(&links, "beside", &[]);
    std::fs::remove_dir_all(&stage).unwrap();
}

/// Cases with one or two correct stubs that check everything themselves.
macro_rules! plain {
    ($($case:ident $(($($variable:literal = $value:literal),+))?;)+) => {
        $(
            #[test]
            fn $case() {
                run(stringify!($case), &["stub_a.so", "stub_b.so"], &[TWO $($(, ($variable, $value))+)?]);
            }
        )+
    };
}

plain! {
    init_rules;
    init_drivers_rules;
    init_drivers_without_support("SOLUM_STUB_NULL" = "zeInitDrivers");
    any_way_of_init_makes_drivers_enumerable;
    sysman;
    every_function_checks_state_and_handle;
    null_slot("SOLUM_STUB_NULL" = "zeContextCreate");
    old_tables("SOLUM_STUB_VERSION" = "1.13");
    getters;
    translation;
    tracer_functions;
    default_driver;
    teardown_callbacks;
    one_client_leaves;
    unloading_and_loading_again;
    forked_child;
    eight_threads;
    static_client;
}

#[test]
fn versions() {
    run(
        "versions",
        &["stub_a.so"],
        &[ONE, ("EXPECTED_COMPONENTS", "loader,tracing layer")],
    );
}

#[test]
fn layers_see_calls_on_every_kind_of_driver() {
    for (index, legacy) in ["0", "1", "stub_b:1"].into_iter().enumerate() {
        let environment = [("SOLUM_STUB_LEGACY", legacy)];
        run_stubs(&format!("tracers@{index}"), "ab", &environment);
        let stage = artefacts::stage(&format!("recorded@{index}"), &["stub_a.so", "stub_b.so"]);
        let script = "fail zeContextCreate OUT_OF_DEVICE_MEMORY at 2\nonly zeContext* zeInit";
        std::fs::write(stage.join("script"), script).unwrap();
        let environment = [
            TWO,
            ("SOLUM_STUB_LEGACY", legacy),
            ("SOLUM_RECORDER", "{stage}/script"),
        ];
        run_in(&stage, "recorded", &environment);
        let log = std::fs::read_to_string(stage.join("script.log")).unwrap();
        assert_eq!(log.matches("zeContextCreate").count(), 3, "{log}");
        assert!(log.contains("zeInit"), "{log}");
        std::fs::remove_dir_all(&stage).unwrap();
    }
}

#[test]
fn the_validation_layer_reports_mistakes() {
    for (index, legacy) in ["0", "1", "stub_b:1"].into_iter().enumerate() {
        let environment = [
            TWO,
            ("SOLUM_STUB_LEGACY", legacy),
            ("ZE_ENABLE_VALIDATION_LAYER", "1"),
            ("ZE_ENABLE_PARAMETER_VALIDATION", "1"),
            ("ZE_ENABLE_HANDLE_LIFETIME", "1"),
            ("ZEL_ENABLE_BASIC_LEAK_CHECKER", "1"),
            ("SOLUM_VALIDATION_FORMAT", "json"),
        ];
        let stubs = ["stub_a.so", "stub_b.so"];
        let stderr = run(&format!("validated@{index}"), &stubs, &environment);
        let count = |text: &str| stderr.lines().filter(|line| line.contains(text)).count();
        let found = [
            count("this ze_context_handle_t was destroyed by zeContextDestroy"),
            count("a ze_context_handle_t is required, this is a ze_driver_handle_t"),
            count("null is not allowed"),
            count("LEAK = 2"),
            count("this ze_context_handle_t was never destroyed"),
        ];
        assert_eq!(found, [2, 2, 1, 1, 2], "{stderr}");
    }
    let environment = [
        ONE,
        ("ZE_ENABLE_VALIDATION_LAYER", "1"),
        ("SOLUM_VALIDATION_FORMAT", "xml"),
    ];
    let stderr = run("refused_format", &["stub_a.so"], &environment);
    assert!(
        stderr.contains("solum: SOLUM_VALIDATION_FORMAT is 'xml'"),
        "{stderr}"
    );
}

#[test]
fn tracing_is_turned_on_by_the_environment() {
    for (value, said) in [("0", false), ("1", true)] {
        let environment = [
            ONE,
            ("ZE_ENABLE_TRACING_LAYER", "1"),
            ("ZET_ENABLE_API_TRACING_EXP", value),
            ("ZE_ENABLE_LOADER_INTERCEPT", "1"),
            ("ZE_ENABLE_LOADER_DEBUG_TRACE", "1"),
        ];
        let name = format!("traced_by_environment@{value}");
        let stderr = run(&name, &["stub_a.so"], &environment);
        let line =
            "ZET_ENABLE_API_TRACING_EXP no longer has an effect; set ZE_ENABLE_TRACING_LAYER=1";
        assert_eq!(stderr.contains(line), said, "{stderr}");
    }
}

/// Level, whether successes are wanted; whether successes, failures and findings are in the log.
#[test]
fn findings_and_results_of_calls_are_logged() {
    for (level, successes, expected) in [
        ("warn", "0", [false, false, true]),
        ("trace", "0", [false, true, true]),
        ("trace", "1", [true, true, true]),
        ("critical", "1", [false, false, false]),
    ] {
        let stage = artefacts::stage(
            &format!("validated@{level}{successes}"),
            &["stub_a.so", "stub_b.so"],
        );
        let environment = [
            TWO,
            ("ZE_ENABLE_VALIDATION_LAYER", "1"),
            ("ZE_ENABLE_PARAMETER_VALIDATION", "1"),
            ("ZE_ENABLE_HANDLE_LIFETIME", "1"),
            ("ZEL_ENABLE_LOADER_LOGGING", "1"),
            ("ZEL_LOADER_LOGGING_LEVEL", level),
            ("ZEL_LOADER_LOGGING_ENABLE_SUCCESS_PRINT", successes),
            ("ZEL_LOADER_LOG_DIR", "{stage}"),
            ("ZEL_LOADER_LOG_PATTERN", "%l %v"),
        ];
        let stderr = run_in(&stage, "validated", &environment);
        assert!(
            stderr.contains("was destroyed by zeContextDestroy"),
            "{stderr}"
        );
        let log = std::fs::read_to_string(stage.join("ze_loader.log")).unwrap_or_default();
        let found = [
            "trace SUCCESS (ZE_RESULT_SUCCESS) in zeContextDestroy(hContext=0x",
            "trace ERROR (ZE_RESULT_ERROR_INVALID_NULL_HANDLE) in zeContextDestroy(hContext=0x0)",
            "error error: parameters: zeContextDestroy: hContext",
        ]
        .map(|start| log.lines().any(|line| line.starts_with(start)));
        assert_eq!(found, expected, "{level} {successes}: {log}");
        std::fs::remove_dir_all(&stage).unwrap();
    }
}

#[test]
fn a_recorder_script_that_is_wrong_fails_initialisation() {
    let stderr = run(
        "refused_script",
        &["stub_a.so"],
        &[ONE, ("SOLUM_RECORDER", "{stage}/nothing")],
    );
    assert!(stderr.contains("solum: SOLUM_RECORDER: "), "{stderr}");
}

/// The rules of drivers with DDI handles also hold for wrapped ones, and for both together.
#[test]
fn wrapped_drivers_keep_the_rules_of_initialisation() {
    let cases = [
        "init_rules",
        "init_drivers_rules",
        "any_way_of_init_makes_drivers_enumerable",
        "sysman",
        "every_function_checks_state_and_handle",
        "getters",
        "tracer_functions",
        "teardown_callbacks",
        "one_client_leaves",
        "unloading_and_loading_again",
        "forked_child",
        "eight_threads",
        "static_client",
    ];
    for (index, legacy) in ["1", "stub_b:1"].into_iter().enumerate() {
        for case in cases {
            run_stubs(
                &format!("{case}@wrapped{index}"),
                "ab",
                &[("SOLUM_STUB_LEGACY", legacy)],
            );
        }
        let environment = [
            ("SOLUM_STUB_LEGACY", legacy),
            ("SOLUM_STUB_NULL", "zeContextCreate"),
        ];
        run_stubs(&format!("null_slot@wrapped{index}"), "ab", &environment);
    }
}

/// The same results for one driver and for eight, of one kind or of both.
#[test]
fn errors_are_the_same_for_eight_drivers() {
    let eight = "abcdefgh";
    for (index, legacy) in ["0", "1", "stub_b:1,stub_c:1,stub_g:1"]
        .into_iter()
        .enumerate()
    {
        let legacy = ("SOLUM_STUB_LEGACY", legacy);
        let null = ("SOLUM_STUB_NULL", "zeContextCreate");
        run_stubs(&format!("null_slot@eight{index}"), eight, &[legacy, null]);
    }
    run_stubs("old_tables@eight", eight, &[("SOLUM_STUB_VERSION", "1.13")]);
    let beside = [
        ("SOLUM_STUB_VERSION", "1.13"),
        ("SOLUM_STUB_LEGACY", "stub_h:1"),
        ("ZEL_DRIVERS_ORDER", "0"),
    ];
    run_stubs("old_tables@beside", eight, &beside);
}

#[test]
fn a_trace_that_cannot_be_recorded_is_reported() {
    let trace = ("SOLUM_TRACE", "{stage}/trace");
    let stderr = run("one_driver@no-trace", &["stub_a.so"], &[ONE, trace]);
    assert!(
        stderr.contains(
            "solum: SOLUM_TRACE is set, but libsolum_trace.so.1 is not beside the loader"
        ),
        "{stderr}"
    );
    let files = ["stub_a.so", "libsolum_trace.so.1"];
    let stderr = run("one_driver@bad-trace", &files, &[ONE, trace]);
    assert!(
        stderr.contains("libsolum_trace.so.1: solum_trace_attach is missing"),
        "{stderr}"
    );
}

#[test]
fn random_calls_on_wrapped_drivers_never_crash() {
    run_stubs(
        "wrapped_random_calls@plain",
        "ab",
        &[("SOLUM_STUB_LEGACY", "1")],
    );
    let guard = [("SOLUM_STUB_LEGACY", "1"), ("SOLUM_STUB_REUSE", "1")];
    run_stubs("wrapped_random_calls@reuse", "ab", &guard);
}

/// A legacy driver whose getters know only older versions, or fail for some tables, works with the rest.
#[test]
fn older_getters_are_called_with_their_version() {
    let script = [
        ("SOLUM_STUB_LEGACY", "1"),
        ("SOLUM_STUB_API", "1.3"),
        ("SOLUM_STUB_GETTERS", "1.3"),
    ];
    run_stubs("wrapped_older_getters", "a", &script);
    let result = ("SOLUM_STUB_RESULT", "zeGetContextProcAddrTable=0x78000003");
    run_stubs("null_slot@getter", "a", &[script[0], result]);
}

/// A single driver needs no order, so its devices are not queried, which would start it up.
#[test]
fn initialisation_makes_no_unnecessary_calls() {
    let stage = artefacts::stage("one_driver@quiet", &["stub_a.so"]);
    run_in(
        &stage,
        "one_driver",
        &[ONE, ("SOLUM_STUB_LOG", "{stage}/log")],
    );
    let log = std::fs::read_to_string(stage.join("log")).unwrap();
    assert!(log.contains("zeInit") && !log.contains("zeDevice"), "{log}");
    std::fs::remove_dir_all(&stage).unwrap();
}

#[test]
fn callbacks_run_at_exit() {
    let stderr = run("exit_without_close", &["stub_a.so"], &[ONE]);
    assert!(stderr.contains("callback at exit"), "{stderr}");
}
