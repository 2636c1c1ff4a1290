//! Checks the machine: processor, permissions, limits, and the code generator.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use compiler_build::{COMPILER_BUILD, serves};
use local_ranks::Rank;

use super::environment::Environment;
use super::probe;
use super::report::Check;
use super::step::Step;
use crate::{install, units};

/// The area of checks of the code generator.
const LLVM: &str = "llvm";
const LIMIT: Duration = Duration::from_secs(30);
const FUNCTIONS: [&str; 7] = [
    "solum_codegen_build_id",
    "solum_codegen_close",
    "solum_codegen_compile",
    "solum_codegen_explain",
    "solum_codegen_free",
    "solum_codegen_kernel",
    "solum_codegen_open",
];
/// The fix for a missing or wrong code generator.
const FIX: &str = "install driver and code generator side by side from the same build: ./x install PREFIX; meanwhile \
                   SOLUM_COMPILER=interpreter runs kernels slowly";
/// Address space below which doctor warns, in bytes.
const LITTLE: u64 = 8 << 30;

/// Checks the processor and how many CPUs a program gets.
pub(crate) fn processor(environment: &Environment) -> Vec<Check> {
    let mut checks = Vec::new();
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let level = cpu_target::host();
    let target = environment
        .text("SOLUM_CPU_TARGET")
        .unwrap_or_else(|| "native".into());
    checks.push(Check::ok(
        "cpu",
        format!(
            "{level} ({}); {cpus} CPUs by affinity and cgroup; SOLUM_CPU_TARGET={target}",
            cpu_target::instruction_set(level)
        ),
    ));
    if cpus == 1 {
        checks.push(Check::note(
            "cpu",
            "one CPU: two worker threads share it, so kernels do not run in parallel",
        ));
    }
    checks.extend(rank(environment, cpus));
    checks
}

/// The CPUs that a rank of an MPI program gets.
fn rank(environment: &Environment, cpus: usize) -> Option<Check> {
    let rank = Rank::told(&|name| environment.text(name))?;
    let Rank { size, launcher, .. } = rank;
    let number = rank.rank;
    let who = format!("rank {number} of {size} on this machine ({launcher})");
    let gets = if environment.given("SOLUM_WORKERS").is_some() {
        "SOLUM_WORKERS sets the number of threads for its kernels".to_owned()
    } else if size == 1 || local_ranks::is_bound() {
        format!("its kernels run on {cpus} CPUs")
    } else {
        let share = rank.share(cpus);
        format!("the launcher binds no CPUs, so its kernels run on {share} of {cpus} CPUs")
    };
    Some(Check::ok("cpu", format!("{who}: {gets}")))
}

/// Checks kernel settings and limits that affect the driver, and elevated privileges.
pub(crate) fn permissions(privileged: bool) -> Vec<Check> {
    const AREA: &str = "permissions";
    let mut checks = Vec::new();
    if privileged {
        checks.push(Check::warn(
            AREA,
            "the program runs with elevated privileges",
            "the dynamic linker ignores LD_LIBRARY_PATH, and Solum ignores paths in the environment",
            "install Solum into a default library folder: ./x install /usr/local, then ldconfig",
        ));
    }
    let executable = std::fs::read_to_string("/proc/sys/vm/memfd_noexec").unwrap_or_default();
    if executable.trim() == "2" {
        checks.push(Check::fail(
            AREA,
            "vm.memfd_noexec is 2",
            "the kernel forbids the executable memory that compiled kernels need",
            "sysctl vm.memfd_noexec=1",
        ));
    }
    // SAFETY: a struct of numbers.
    let mut limit: libc::rlimit = unsafe { std::mem::zeroed() };
    // SAFETY: a valid output.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if known && limit.rlim_cur < LITTLE {
        checks.push(Check::warn(
            AREA,
            format!(
                "address space is limited to {}",
                units::bytes(limit.rlim_cur)
            ),
            "the driver reserves address space in advance, and LLVM needs several hundred MiB",
            "ulimit -v unlimited",
        ));
    }
    if checks.is_empty() {
        checks.push(Check::ok(
            AREA,
            "executable memory is allowed, address space is not limited",
        ));
    }
    checks
}

/// Checks the code generator that Solum's driver would open.
pub(crate) fn generator(environment: &Environment, driver: &Path, launched: bool) -> Check {
    if environment
        .text("SOLUM_COMPILER")
        .is_some_and(|value| value.trim() == "interpreter")
    {
        return Check::note(
            LLVM,
            "SOLUM_COMPILER=interpreter: kernels are interpreted, the code generator is not used",
        );
    }
    let resolved = driver.canonicalize().ok();
    let resolved = resolved.as_deref().and_then(Path::parent);
    let file = install::generator(driver.parent().into_iter().chain(resolved));
    let nowhere = file.parent() == Some(Path::new(""));
    let outcome = probe::run(environment, "library", OsStr::new(&file), &FUNCTIONS, LIMIT);
    let shown = file.display();
    if let Some(reason) = outcome.refused() {
        if nowhere {
            return Check::fail(
                LLVM,
                "the code generator is not found",
                format!("not beside {}; {reason}", driver.display()),
                FIX,
            );
        }
        return Check::fail(LLVM, format!("{shown} cannot be opened"), reason, FIX);
    }
    if outcome.end != probe::End::Done {
        return Check::fail(
            LLVM,
            format!("{shown} crashes the process"),
            outcome.end_text(),
            FIX,
        );
    }
    for step in &outcome.steps {
        if let Step::Missing { symbols } = step
            && !symbols.is_empty()
        {
            return Check::fail(
                LLVM,
                format!("{shown} lacks {}", symbols.join(", ")),
                "it is a different library with that name",
                FIX,
            );
        }
    }
    let build = outcome.steps.iter().find_map(|step| match step {
        Step::Build { id } => Some(id.as_str()),
        _ => None,
    });
    check_build(&shown.to_string(), build, launched)
}

/// Checks the build of a code generator. `launched`: the driver compiled and ran a kernel without its cache.
fn check_build(shown: &str, build: Option<&str>, launched: bool) -> Check {
    let named = build.unwrap_or("unknown");
    if launched {
        // The driver accepted it, whatever the build of this program.
        let found = format!("{shown}, build {named}, compiled the kernel below");
        return Check::ok(LLVM, found);
    }
    match build {
        Some(build) if !serves(build, COMPILER_BUILD) => Check::fail(
            LLVM,
            format!("{shown} is from a different build: {build}"),
            format!(
                "a driver accepts only a code generator built from the same sources; solum is {COMPILER_BUILD}"
            ),
            FIX,
        ),
        _ => Check::ok(LLVM, format!("{shown}, build {named}, can be opened")),
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPILER_BUILD, check_build};
    use crate::doctor::report::State;

    #[test]
    fn a_generator_of_another_build_fails_unless_the_driver_used_it() {
        let other = "0.0.0-llvm22.1.0-0123456789abcdef";
        for (build, launched, state) in [
            (Some(COMPILER_BUILD), false, State::Ok),
            (Some(COMPILER_BUILD), true, State::Ok),
            (Some(other), false, State::Fail),
            (Some(other), true, State::Ok),
            (None, false, State::Ok),
        ] {
            let check = check_build("/lib/libsolum_codegen.so.1", build, launched);
            assert!(check.state == state, "{build:?}, {launched}");
            assert!(
                check.found.contains(build.unwrap_or("unknown")),
                "{build:?}"
            );
        }
    }
}
