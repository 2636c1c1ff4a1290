//! C programs compiled against our headers and run on our libraries: the plain ones, and those that end badly on purpose.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use conformance::{artefacts, root};

#[path = "clients/traced.rs"]
mod traced;

/// Compiles `c/NAME.c` and links it with the loader, once: several tests may run one program.
fn compile(name: &str) -> PathBuf {
    compile_as(name, name, &[])
}

/// As [`compile`], with more options for the compiler, under a name of its own.
fn compile_as(name: &str, called: &str, options: &[&str]) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(called);
    // What does not compile fails each test that wants it.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if compiled.contains(called) {
        return program;
    }
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O1", "-Wall", "-Werror"])
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(folder.join(format!("{name}.c")))
        .arg("-I")
        .arg(root().join("include"))
        .arg("-L")
        .arg(artefacts())
        .args(["-l:libze_loader.so.1", "-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    compiled.insert(called.to_owned());
    program
}

const DEBIANS_LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// What is killed then hangs: a busy machine alone never makes a program so late.
const HANGS: Duration = Duration::from_secs(600);

/// Runs a program with the kernels' path; kills one that hangs.
fn run(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut child = Command::new(program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv"))
        .args(arguments)
        .env("LD_LIBRARY_PATH", artefacts())
        .env_remove("SOLUM_DEVICES")
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > HANGS {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn passes(name: &str, arguments: &[&str], environment: &[(&str, &str)]) {
    let output = run(&compile(name), arguments, environment);
    assert!(
        output.status.success() && output.stdout == b"ok\n",
        "{name} {arguments:?} {environment:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// As [`passes`], with the driver behind the loader of Debian's package libze1.
fn passes_under_debians_loader(name: &str, arguments: &[&str]) {
    let driver = artefacts().join("libze_solum_cpu.so.1");
    let environment = [
        ("LD_LIBRARY_PATH", DEBIANS_LIBRARIES),
        ("ZE_ENABLE_ALT_DRIVERS", driver.to_str().unwrap()),
    ];
    passes(name, arguments, &environment);
}

#[test]
fn vectors_add_on_each_device_and_engine() {
    for environment in [
        &[][..],
        &[("SOLUM_DEVICES", "cpu")],
        &[("SOLUM_COMPILER", "interpreter")],
        &[("SOLUM_CACHE", "0")],
        &[("SOLUM_WORKERS", "1")],
    ] {
        passes("vector_add", &[], environment);
    }
}

#[test]
fn constructors_of_libraries_run_kernels() {
    let options = ["-shared", "-fPIC", "-DLIBRARY"];
    let library = compile_as("constructor", "libconstructor.so", &options);
    for environment in [&[][..], &[("SOLUM_CACHE", "0")]] {
        passes("constructor", &[library.to_str().unwrap()], environment);
    }
}

#[test]
fn the_process_may_exit_while_a_kernel_runs() {
    passes("exit_while_running", &[], &[]);
}

#[test]
fn calls_of_cancelled_threads_come_to_their_end() {
    passes("vector_add", &[], &[("CLIENT_CANCELLED", "1")]);
    for (arguments, environment) in [
        (["0", "1"], &[][..]),
        (["200", "1"], &[]),
        (["200", "1"], &[("SOLUM_COMPILER", "interpreter")]),
        (["200", "2"], &[("ZE_ENABLE_VALIDATION_LAYER", "1")]),
    ] {
        // Empty at the beginning: programs are compiled, written and read.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cancelled-cache");
        drop(std::fs::remove_dir_all(&cache));
        let cache = [("SOLUM_CACHE_DIR", cache.to_str().unwrap())];
        passes("cancel", &arguments, &[environment, &cache].concat());
    }
}

#[test]
fn a_forked_child_gets_an_error_and_exits() {
    passes("fork", &[], &[]);
}

#[test]
fn a_forked_child_reports_nothing_of_its_parents() {
    let checked = [
        ("ZE_ENABLE_VALIDATION_LAYER", "1"),
        ("ZE_ENABLE_HANDLE_LIFETIME", "1"),
        ("ZEL_ENABLE_BASIC_LEAK_CHECKER", "1"),
    ];
    let output = run(&compile("fork"), &[], &checked);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("Balance of create and destroy calls").count(),
        1,
        "{said}"
    );
}

#[test]
fn processes_share_memory_and_events_and_survive_each_other() {
    passes("ipc", &[], &[]);
    passes("ipc", &[], &[("SOLUM_COMPILER", "interpreter")]);
}

#[test]
fn sub_devices_are_shown_as_the_hierarchy_says_and_stay_on_their_cpus() {
    let subs = ("SOLUM_SUB_DEVICES", "2");
    // (devices, sub-devices of the first, whether it has a root), hierarchy, mask
    for (shown, hierarchy, mask) in [
        (["2", "2", "0"], "COMPOSITE", ""),
        (["4", "0", "0"], "FLAT", ""),
        (["4", "0", "1"], "COMBINED", ""),
        (["1", "2", "0"], "COMPOSITE", "0"),
        (["1", "0", "0"], "COMPOSITE", "1.1"),
        (["2", "0", "0"], "FLAT", "0,3"),
    ] {
        let environment = [
            subs,
            ("ZE_FLAT_DEVICE_HIERARCHY", hierarchy),
            ("ZE_AFFINITY_MASK", mask),
        ];
        passes("sub_devices", &shown, &environment);
    }
    passes(
        "sub_devices",
        &["2", "0", "0"],
        &[("SOLUM_SUB_DEVICES", "1")],
    );
}

#[test]
fn modules_are_linked_after_they_were_created() {
    passes("dynamic_link", &[], &[]);
    passes("dynamic_link", &[], &[("SOLUM_COMPILER", "interpreter")]);
}

#[test]
fn a_kernel_that_never_ends_is_stopped_where_a_limit_is_set() {
    // Far longer than a kernel of the program's that ends can be kept from its processor.
    passes(
        "kernel_timeout",
        &[],
        &[("SOLUM_KERNEL_TIMEOUT_MS", "1000")],
    );
}

#[test]
fn each_fault_loses_its_context_a_hundred_times_says_where_and_leaves_nothing_behind() {
    for help in ["1", "0"] {
        let environment = [("SOLUM_KERNEL_TIMEOUT_MS", "1000"), ("SOLUM_HELP", help)];
        passes("faults", &[], &environment);
    }
}

#[test]
fn memory_beyond_the_limit_is_refused_and_nothing_else() {
    passes("memory_limit", &[], &[("SOLUM_MEMORY_LIMIT", "64MiB")]);
}

#[test]
fn discrete_devices_keep_their_memory_to_themselves() {
    passes("peers", &[], &[("SOLUM_DEVICES", "cpu:2,discrete")]);
}

#[test]
fn objects_die_in_any_order_and_threads_vanish() {
    passes("any_order", &[], &[]);
    passes("any_order", &[], &[("SOLUM_HELP", "0")]);
}

#[test]
fn a_device_is_watched_by_another_process_and_reset() {
    passes("system_management", &[], &[]);
}

#[test]
fn metrics_count_what_commands_do() {
    passes("metrics", &[], &[]);
    passes("metrics", &[], &[("SOLUM_COMPILER", "interpreter")]);
}

#[test]
fn acceleration_structures_answer_rays_like_all_triangles() {
    passes("ray_tracing", &[], &[]);
}

#[test]
fn each_listed_extension_does_what_its_name_says() {
    passes("extensions", &[], &[]);
    passes("extensions", &[], &[("SOLUM_COMPILER", "interpreter")]);
    // What Debian's loader has calls for.
    passes_under_debians_loader("extensions", &["3"]);
}

#[test]
fn tracers_of_the_driver_run_around_its_calls() {
    passes("tracer", &[], &[]);
    // Beside the loader's own tracing layer, and where calls come through the tables of the getters.
    passes("tracer", &[], &[("ZE_ENABLE_TRACING_LAYER", "1")]);
    passes_under_debians_loader("tracer", &[]);
}

#[test]
fn virtual_memory_keeps_its_attributes() {
    passes("virtual_memory", &[], &[]);
}

#[test]
fn eight_threads_initialise_and_launch() {
    passes("threads", &[], &[]);
}

#[test]
fn a_pending_cancellation_does_not_act_inside_a_call() {
    type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)]);
    let cases: [Case<'_>; 12] = [
        ("cancel", &["0", "1"], &[]),
        ("vector_add", &[], &[("ZE_ENABLE_VALIDATION_LAYER", "1")]),
        ("vector_add", &[], &[("SOLUM_LOG", "compile")]),
        ("extensions", &[], &[]),
        ("metrics", &[], &[]),
        ("system_management", &[], &[]),
        ("ipc", &[], &[]),
        ("ray_tracing", &[], &[]),
        ("virtual_memory", &[], &[]),
        ("dynamic_link", &[], &[]),
        ("tracer", &[], &[]),
        ("any_order", &[], &[]),
    ];
    for (number, (name, arguments, environment)) in cases.into_iter().enumerate() {
        let cache = new_cache(&format!("pending-{number}"));
        let mut all = vec![
            ("CLIENT_CANCELLED", "1"),
            ("SOLUM_CACHE_DIR", cache.as_str()),
        ];
        all.extend(environment);
        passes(name, arguments, &all);
    }
}

#[test]
fn threads_are_cancelled_at_random_moments() {
    for seed in ["1", "2", "3", "4"] {
        let cache = new_cache(&format!("cancel-{seed}"));
        passes("cancel", &["100", seed], &[("SOLUM_CACHE_DIR", &cache)]);
    }
}

/// The path of a cache that is not there yet.
fn new_cache(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cache-{name}"));
    drop(std::fs::remove_dir_all(&folder));
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_programs_signal_handler_and_ours_live_together() {
    passes("signal_handler", &["before"], &[]);
    passes("signal_handler", &["after"], &[]);
}

#[test]
fn the_loader_can_be_closed_and_opened_again() {
    passes("close_library", &[], &[]);
}

#[test]
fn calls_after_teardown_are_uninitialized() {
    passes("after_teardown", &[], &[]);
}

/// The loader of Debian's package libze1, which knows nothing of DDI handles.
#[test]
fn debians_own_loader_finds_the_driver() {
    let program = compile("vector_add_old_loader");
    let debian = Path::new(DEBIANS_LIBRARIES).join("libze_loader.so.1");
    assert!(
        debian.is_file(),
        "package libze1 is not installed: ./x test installs it"
    );
    let driver = artefacts().join("libze_solum_cpu.so.1");
    let output = Command::new(&program)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/kernels.spv"))
        .arg(&debian)
        .env("ZE_ENABLE_ALT_DRIVERS", &driver)
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stdout == b"ok\n",
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
