//! `solum doctor`: everything between a program and a working device, one line each, with cause and cure.
//!
//! Invariants
//! - It changes nothing and starts no program: what a program would get is found by the dynamic linker's rules.
//! - Whatever can crash or hang (drivers, subscribers, kernels) runs in a child; its end is a finding.
//! - The loader and its drivers are looked at from outside: any vendor's may be there.

mod cache;
mod calls;
mod drivers;
mod elf;
mod linker;
mod loader;
mod machine;
mod opencl;
mod ordinary;
mod packages;
pub(crate) mod probe;
mod probe_driver;
mod probe_library;
mod probe_loader;
pub(crate) mod program;
mod report;
mod selector;
mod setting;
mod tracing;
pub(crate) mod variables;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{exit, install, run, say};
use elf::Abi;
use linker::{Found, Process, Rule, Search, System};
use program::Program;
use report::{Check, Document, State};
use setting::Setting;

/// Check everything between a program and a device.
#[derive(Args)]
pub(crate) struct Options {
    /// Look at the environment that `solum run` would give, instead of this one. Without PROGRAM it always is that one.
    #[arg(long)]
    run: bool,
    /// One JSON document.
    #[arg(long)]
    json: bool,
    /// The program, with its arguments, whose environment is looked at; it is not started.
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Prints the list; 1 when something stands in the way.
pub(crate) fn doctor(options: &Options) -> u8 {
    let checks = checks(options);
    let ok = checks.iter().all(|check| check.state != State::Fail);
    let code = if ok { 0 } else { exit::NO };
    if options.json {
        let words = options.program.iter();
        let program: Vec<String> = words.map(|w| w.to_string_lossy().into_owned()).collect();
        let document = Document {
            schema: "solum.doctor/1",
            ok,
            program: (!program.is_empty()).then_some(program),
            checks,
        };
        return say::json(&document, code);
    }
    say::answer(&report::text(&checks), code)
}

fn checks(options: &Options) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut setting = Setting::own();
    let installed = install::library_folder();
    let name = options.program.first();
    if options.run || name.is_none() {
        match &installed {
            Ok(folder) => {
                for (name, value) in run::variables(folder, None) {
                    setting.set(name, value);
                }
            }
            Err(error) => {
                checks.push(Check::fail(
                    "solum",
                    "Solum's libraries are not beside this program",
                    error.clone(),
                    "build with ./x build, or install with ./x install PREFIX",
                ));
                return checks;
            }
        }
    }
    let program = match name.map(|name| program::resolve(name, setting.get("PATH"))) {
        None => None,
        Some(Ok(program)) => Some(program),
        Some(Err((cause, cure))) => {
            checks.push(Check::fail("program", "it cannot be started", cause, cure));
            return checks;
        }
    };
    let privileged = program.as_ref().is_some_and(|program| program.privileged);
    if privileged {
        // What the dynamic linker and the libraries ignore in such a program.
        for name in [
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
            "ZEL_LIBRARY_PATH",
            "ZE_ENABLE_ALT_DRIVERS",
        ] {
            setting.remove(name);
        }
    }
    let mut process = match process(&mut checks, &setting, program.as_ref()) {
        Some(process) => process,
        None => return checks,
    };
    let runtime = loader::runtime(&mut process, &setting, program.as_ref());
    checks.extend(runtime.checks.iter().cloned());
    let ours = installed.as_ref().map(|folder| folder.join(loader::NAME));
    let search = if program.is_some() {
        loader::which(&process, &setting, &runtime)
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
        None => checks.push(loader::not_found(&search, &setting)),
        Some(found) => {
            let is_ours = ours.is_ok_and(|ours| loader::is_same(&ours, &found.path));
            checks.extend(loader::found(found, &search, is_ours));
            let folder = installed.as_deref().ok();
            let other = (!is_ours).then(|| loader::cure_for(found, folder));
            let other = other.as_deref();
            through(&mut checks, &process, &setting, found, other, privileged);
        }
    }
    checks.extend(process.left_out());
    checks.extend(packages::check(
        &setting,
        program.as_ref(),
        installed.as_deref().ok(),
    ));
    checks.extend(opencl::check(&process, &setting));
    if program.is_none() {
        checks.push(without_run());
    }
    checks.extend(machine::processor(&setting));
    checks.extend(machine::permissions(privileged));
    checks.extend(variables::check(&setting));
    // A program with more rights than its caller does not read it.
    if let Some(script) = setting.given("SOLUM_RECORDER").filter(|_| !privileged) {
        checks.push(variables::recorder(Path::new(script)));
    }
    checks.extend(tracing::check(&process, &setting));
    checks
}

/// The process that the program becomes, or the lines why it becomes none that a loader fits into.
fn process(
    checks: &mut Vec<Check>,
    setting: &Setting,
    program: Option<&Program>,
) -> Option<Process> {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
    let binary = program.map_or(own, |program| program.binary.clone());
    let started = Process::start(
        System::of_this_machine(),
        &binary,
        setting.get("LD_LIBRARY_PATH"),
        setting.get("LD_PRELOAD"),
    );
    let process = match started {
        Ok(process) => process,
        Err(reason) => {
            checks.push(Check::fail(
                "program",
                format!("{} is no program that a loader fits into", binary.display()),
                reason,
                "name the program that is run in the end",
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
            "it is linked statically: no library can be opened into it by the usual linker"
                .to_owned(),
            "link it dynamically",
        ))
    } else if elf.abi != Abi::SOLUM {
        Some((
            format!(
                "it is made for {}, Solum's libraries for {}",
                elf.abi.name(),
                Abi::SOLUM.name()
            ),
            "use a 64-bit x86 build of it",
        ))
    } else if interpreter.to_string_lossy().contains("ld-musl") {
        Some((
            "it is made for musl, Solum's libraries for glibc".to_owned(),
            "use a build of it for glibc",
        ))
    } else if !interpreter.exists() {
        Some((
            format!("its dynamic linker {} is not there", interpreter.display()),
            "install the system libraries that it is made for",
        ))
    } else {
        None
    };
    if let Some((cause, cure)) = refused {
        checks.push(Check::fail("program", shown, cause, cure));
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
            "it cannot start: libraries are not found",
            linker::missing_text(&process.missing, "\n"),
            "install them, or put their folders into LD_LIBRARY_PATH",
        ));
    }
    Some(process)
}

/// From the loader to a kernel's results.
fn through(
    checks: &mut Vec<Check>,
    process: &Process,
    setting: &Setting,
    found: &Found,
    other: Option<&str>,
    privileged: bool,
) {
    let outcome = loader::probe(setting, &found.path);
    checks.extend(loader::judge(&outcome, other, setting));
    if loader::variable_at_fault(&outcome, setting).is_some() {
        // It ended before any driver was asked: what they do alone is not what is in the way.
        return;
    }
    let drivers = drivers::check(process, setting, &found.path, other.is_none(), &outcome);
    checks.extend(drivers.checks);
    let launches = loader::launches(&outcome);
    if let Some(driver) = &drivers.own {
        let launched = launches.iter().any(|check| check.state == State::Ok);
        checks.push(machine::generator(setting, driver, launched));
        checks.push(cache::check(setting, privileged));
    }
    checks.extend(selector::check(setting, &outcome.steps));
    checks.extend(selector::driver_remarks(&outcome.steps));
    checks.extend(launches);
}

/// What a program gets that is started from this shell without `solum run`.
fn without_run() -> Check {
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
                "without solum run, programs of this shell get {}, {}",
                found.path.display(),
                found.rule.text()
            ),
        ),
        None => Check::note(
            AREA,
            "without solum run, programs of this shell find no loader: eval \"$(solum env --shell)\" lets them",
        ),
    }
}
