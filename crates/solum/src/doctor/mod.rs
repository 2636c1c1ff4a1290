//! `solum doctor`: checks everything between a program and a working device; prints cause and fix of each problem.
//!
//! ```text
//! program -> dynamic linker -> DPC++ runtime -> loader -> drivers -> code generator -> a kernel's results
//! linker     loader            selector         loader    drivers    machine           try_loader
//! ```
//!
//! Each module below checks one of these steps and returns a list of [`report::Check`]s.
//!
//! Invariants
//! - It changes nothing and does not start the program. [`linker`] computes which libraries the program would load.
//! - Whatever may crash or hang (drivers, subscribers, kernels) runs in a child process ([`probe`] starts it, [`child`]
//!   runs in it). How the child ends is a finding.
//! - Loaders and drivers may come from any vendor, so they are used only through the standard API.

mod cache;
mod calls;
pub(crate) mod child;
mod drivers;
mod environment;
mod linker;
mod loader;
mod machine;
mod opencl;
mod packages;
mod probe;
mod report;
mod selector;
mod step;
mod sycl_config;
mod tracing;
mod try_driver;
mod try_library;
mod try_loader;
mod variables;

pub(crate) use probe::VERB as CHILD_VERB;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::elf::Abi;
use crate::program::{self, Program};
use crate::{exit, install, output, run};
use environment::Environment;
use linker::{Found, Process, Rule, Search, System};
use report::{Check, Document, State};

/// Check everything between a program and a device; report the cause and fix of each problem.
#[derive(Args)]
pub(crate) struct Options {
    /// Check the environment that `solum run` would set up instead of the current one. Implied without PROGRAM.
    #[arg(long)]
    run: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// The program to check, with its arguments. It is not started.
    #[arg(trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

/// Prints the checks. Returns 1 if one of them failed.
pub(crate) fn doctor(options: &Options) -> u8 {
    let checks = checks(options);
    let ok = checks.iter().all(|check| check.state != State::Fail);
    let code = if ok { 0 } else { exit::PROBLEM };
    if options.json {
        let words = options.program.iter();
        let program: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let document = Document {
            schema: "solum.doctor/1",
            ok,
            program: (!program.is_empty()).then_some(program),
            checks,
        };
        return output::json(&document, code);
    }
    output::answer(&report::text(&checks), code)
}

fn checks(options: &Options) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut environment = Environment::own();
    let installed = install::library_folder();
    let name = options.program.first();
    if options.run || name.is_none() {
        match &installed {
            Ok(folder) => {
                for (name, value) in run::variables(folder, None) {
                    environment.set(name, value);
                }
            }
            Err(error) => {
                checks.push(Check::fail(
                    "solum",
                    "Solum's libraries were not found",
                    error.clone(),
                    install::HINT,
                ));
                return checks;
            }
        }
    }
    let program = match name.map(|name| program::resolve(name, environment.get("PATH"))) {
        None => None,
        Some(Ok(program)) => Some(program),
        Some(Err((cause, fix))) => {
            checks.push(Check::fail("program", "cannot be started", cause, fix));
            return checks;
        }
    };
    let privileged = program.as_ref().is_some_and(|program| program.privileged);
    if privileged {
        // The dynamic linker and Solum's libraries ignore these in a program with elevated privileges.
        for name in [
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
            "ZEL_LIBRARY_PATH",
            "ZE_ENABLE_ALT_DRIVERS",
        ] {
            environment.remove(name);
        }
    }
    let mut process = match process(&mut checks, &environment, program.as_ref()) {
        Some(process) => process,
        None => return checks,
    };
    let runtime = loader::runtime(&mut process, &environment, program.as_ref());
    checks.extend(runtime.checks.iter().cloned());
    let (dpcpp, configured) = sycl_config::apply(&environment, runtime.folder.as_deref());
    checks.extend(configured);
    let ours = installed.as_ref().map(|folder| folder.join(loader::NAME));
    let search = if program.is_some() {
        loader::search(&process, &environment, &runtime)
    } else {
        // Without a program: the installation itself.
        Search {
            found: ours.clone().ok().map(|path| Found {
                path,
                rule: Rule::LibraryPath,
            }),
            ..Search::default()
        }
    };
    match &search.found {
        None => checks.push(loader::not_found(&search, &environment)),
        Some(found) => {
            let is_ours = ours.is_ok_and(|ours| loader::is_same(&ours, &found.path));
            checks.extend(loader::location(found, &search, is_ours));
            let folder = installed.as_deref().ok();
            let other = (!is_ours).then(|| loader::fix_for(found, folder));
            let other = other.as_deref();
            loader_to_kernel(
                &mut checks,
                &process,
                &environment,
                &dpcpp,
                found,
                other,
                privileged,
            );
        }
    }
    checks.extend(process.not_checked());
    checks.extend(packages::check(
        &environment,
        program.as_ref(),
        installed.as_deref().ok(),
    ));
    checks.extend(opencl::check(&process, &environment));
    if program.is_none() {
        checks.push(shell());
    }
    checks.extend(machine::processor(&environment));
    checks.extend(machine::permissions(privileged));
    checks.extend(variables::check(&environment));
    // A program with elevated privileges does not read it.
    if let Some(script) = environment.given("SOLUM_RECORDER").filter(|_| !privileged) {
        checks.push(variables::recorder(Path::new(script)));
    }
    checks.extend(tracing::check(&process, &environment));
    checks
}

/// The program's process as the dynamic linker would set it up; `None`, with checks that say why, if the program cannot
/// load Solum's libraries.
fn process(
    checks: &mut Vec<Check>,
    environment: &Environment,
    program: Option<&Program>,
) -> Option<Process> {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let binary = program.map_or(own, |program| program.binary.clone());
    let started = Process::start(
        System::of_this_machine(),
        &binary,
        environment.get("LD_LIBRARY_PATH"),
        environment.get("LD_PRELOAD"),
    );
    let process = match started {
        Ok(process) => process,
        Err(reason) => {
            checks.push(Check::fail(
                "program",
                format!(
                    "{} is not a dynamically linked executable",
                    binary.display()
                ),
                reason,
                "name the program that is executed in the end",
            ));
            return None;
        }
    };
    let elf = process.objects.first().map(|object| object.elf.clone())?;
    let Some(program) = program else {
        return Some(process);
    };
    let shown = if program.file == program.binary {
        binary.display().to_string()
    } else {
        format!("{}, run by {}", program.file.display(), binary.display())
    };
    let interpreter = elf.interpreter.clone().unwrap_or_default();
    let refused = if !elf.dynamic || elf.interpreter.is_none() {
        Some((
            "it is statically linked, so it cannot load libraries at run time".to_owned(),
            "link it dynamically",
        ))
    } else if elf.abi != Abi::SOLUM {
        Some((
            format!(
                "it is built for {}, Solum's libraries for {}",
                elf.abi.name(),
                Abi::SOLUM.name()
            ),
            "use an x86-64 build of the program",
        ))
    } else if interpreter.to_string_lossy().contains("ld-musl") {
        Some((
            "it is built for musl, Solum's libraries for glibc".to_owned(),
            "use a build of the program for glibc",
        ))
    } else if !interpreter.exists() {
        Some((
            format!(
                "its dynamic linker {} does not exist",
                interpreter.display()
            ),
            "install the system libraries that it was built for",
        ))
    } else {
        None
    };
    if let Some((cause, fix)) = refused {
        checks.push(Check::fail("program", shown, cause, fix));
        return None;
    }
    checks.push(Check::ok(
        "program",
        format!(
            "{shown}: {}, dynamic, {} libraries",
            elf.abi.name(),
            process.objects.len() - 1
        ),
    ));
    if !process.missing.is_empty() {
        checks.push(Check::fail(
            "program",
            "cannot start: libraries are missing",
            linker::missing_text(&process.missing, "\n"),
            "install them, or add their folders to LD_LIBRARY_PATH",
        ));
    }
    Some(process)
}

/// Checks the steps from the loader to a kernel's results; `dpcpp` is the environment as DPC++ sees it.
fn loader_to_kernel(
    checks: &mut Vec<Check>,
    process: &Process,
    environment: &Environment,
    dpcpp: &Environment,
    found: &Found,
    other: Option<&str>,
    privileged: bool,
) {
    let outcome = loader::probe(environment, &found.path);
    checks.extend(loader::initialisation(&outcome, other, environment));
    if loader::variable_at_fault(&outcome, environment).is_some() {
        // Initialisation failed before any driver was opened, so checks of drivers would mislead.
        return;
    }
    let drivers = drivers::check(process, environment, &found.path, other.is_none(), &outcome);
    checks.extend(drivers.checks);
    let launches = loader::launches(&outcome);
    if let Some(driver) = &drivers.own {
        let launched = launches.iter().any(|check| check.state == State::Ok);
        checks.push(machine::generator(environment, driver, launched));
        checks.push(cache::check(environment, privileged));
    }
    checks.extend(selector::check(dpcpp, &outcome.steps));
    checks.extend(selector::driver_remarks(&outcome.steps));
    checks.extend(launches);
}

/// The loader that programs get when started from this shell without `solum run`.
fn shell() -> Check {
    const AREA: &str = "shell";
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let path = std::env::var_os("LD_LIBRARY_PATH");
    let process = Process::start(System::of_this_machine(), &own, path.as_deref(), None);
    let found = process
        .ok()
        .and_then(|process| process.search(OsStr::new(loader::NAME), 0).found);
    match found {
        Some(found) => Check::note(
            AREA,
            format!(
                "without solum run, programs started from this shell get {}, {}",
                found.path.display(),
                found.rule.text()
            ),
        ),
        None => Check::note(
            AREA,
            "without solum run, programs started from this shell find no loader; to change that: \
             eval \"$(solum env --shell)\"",
        ),
    }
}
