//! The machine and the rights on it: processor, memory, what a program may do; and the code generator for it.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use kernel_ir::build::{COMPILER_BUILD, serves};
use local_ranks::Rank;

use super::probe::{self, Step};
use super::report::Check;
use super::setting::Setting;
use crate::{install, units};

/// The area of lines about the code generator.
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
/// What to do about a code generator that is missing, or another.
const CURE: &str = "install driver and code generator side by side from one build: ./x install PREFIX; until then \
                    SOLUM_COMPILER=interpreter runs kernels, slowly";
/// Less address space than this is told, in bytes.
const LITTLE: u64 = 8 << 30;

/// The processor, and how much of it a program gets.
pub(crate) fn processor(setting: &Setting) -> Vec<Check> {
    let mut checks = Vec::new();
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let level = cpu_target::host();
    let target = setting
        .text("SOLUM_CPU_TARGET")
        .unwrap_or_else(|| "native".into());
    checks.push(Check::ok(
        "cpu",
        format!(
            "{level} ({}); {cpus} CPUs by affinity and cgroup; SOLUM_CPU_TARGET {target}",
            cpu_target::instruction_set(level)
        ),
    ));
    if cpus == 1 {
        checks.push(Check::note(
            "cpu",
            "one CPU: two workers share it, kernels do not run side by side",
        ));
    }
    checks.extend(rank(setting, cpus));
    checks
}

/// What a rank of a parallel program gets.
fn rank(setting: &Setting, cpus: usize) -> Option<Check> {
    let rank = Rank::told(&|name| setting.text(name))?;
    let Rank { size, launcher, .. } = rank;
    let number = rank.rank;
    let who = format!("rank {number} of {size} on this machine ({launcher})");
    let gets = if setting.given("SOLUM_WORKERS").is_some() {
        "SOLUM_WORKERS says how many threads run its kernels".to_owned()
    } else if size == 1 || local_ranks::is_bound() {
        format!("its kernels run on {cpus} CPUs")
    } else {
        let share = rank.share(cpus);
        format!("the launcher binds no CPUs, so its kernels run on {share} threads of {cpus} CPUs")
    };
    Some(Check::ok("cpu", format!("{who}: {gets}")))
}

/// What the kernel forbids, and rights that are more than usual.
pub(crate) fn permissions(privileged: bool) -> Vec<Check> {
    const AREA: &str = "permissions";
    let mut checks = Vec::new();
    if privileged {
        checks.push(Check::warn(
            AREA,
            "the program runs with more rights than its caller",
            "the dynamic linker ignores LD_LIBRARY_PATH, and Solum ignores paths from the environment",
            "install Solum where the system's linker looks: ./x install /usr/local, then ldconfig",
        ));
    }
    let executable = std::fs::read_to_string("/proc/sys/vm/memfd_noexec").unwrap_or_default();
    if executable.trim() == "2" {
        checks.push(Check::fail(
            AREA,
            "vm.memfd_noexec is 2",
            "the kernel refuses memory that holds compiled kernels",
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
            "the driver reserves addresses ahead, and LLVM needs some hundred MiB",
            "ulimit -v unlimited",
        ));
    }
    if checks.is_empty() {
        checks.push(Check::ok(
            AREA,
            "memory may be executable, address space is free",
        ));
    }
    checks
}

/// The code generator beside our driver, or where the system's linker looks.
pub(crate) fn generator(setting: &Setting, driver: &Path, launched: bool) -> Check {
    if setting
        .text("SOLUM_COMPILER")
        .is_some_and(|value| value.trim() == "interpreter")
    {
        return Check::note(
            LLVM,
            "SOLUM_COMPILER=interpreter: kernels are interpreted, the code generator is never opened",
        );
    }
    let resolved = driver.canonicalize().ok();
    let resolved = resolved.as_deref().and_then(Path::parent);
    let file = install::generator(driver.parent().into_iter().chain(resolved));
    let nowhere = file.parent() == Some(Path::new(""));
    let outcome = probe::run(setting, "library", OsStr::new(&file), &FUNCTIONS, LIMIT);
    let shown = file.display();
    if let Some(reason) = outcome.refused() {
        if nowhere {
            return Check::fail(
                LLVM,
                "the code generator is not found",
                format!("not beside {}; {reason}", driver.display()),
                CURE,
            );
        }
        return Check::fail(LLVM, format!("{shown} cannot be opened"), reason, CURE);
    }
    if outcome.end != probe::End::Done {
        return Check::fail(
            LLVM,
            format!("{shown} takes the process down"),
            outcome.end_text(),
            CURE,
        );
    }
    for step in &outcome.steps {
        if let Step::Missing { symbols } = step
            && !symbols.is_empty()
        {
            return Check::fail(
                LLVM,
                format!("{shown} lacks {}", symbols.join(", ")),
                "it is another library under that name",
                CURE,
            );
        }
    }
    let build = outcome.steps.iter().find_map(|step| match step {
        Step::Build { id } => Some(id.as_str()),
        _ => None,
    });
    judge_build(&shown.to_string(), build, launched)
}

/// The line for a code generator that opens and is of that build; `launched`: the driver ran a kernel, with nothing
/// compiled beforehand.
fn judge_build(shown: &str, build: Option<&str>, launched: bool) -> Check {
    let named = build.unwrap_or("unknown");
    if launched {
        // The driver has taken it, whatever build this program is of.
        let found = format!("{shown}, build {named}, compiled the kernel below");
        return Check::ok(LLVM, found);
    }
    match build {
        Some(build) if !serves(build, COMPILER_BUILD) => Check::fail(
            LLVM,
            format!("{shown} is of another build: {build}"),
            format!(
                "a driver takes a code generator of its own sources only; this is {COMPILER_BUILD}"
            ),
            CURE,
        ),
        _ => Check::ok(LLVM, format!("{shown}, build {named}, opens")),
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPILER_BUILD, judge_build};
    use crate::doctor::report::State;

    #[test]
    fn a_generator_of_another_build_is_told_unless_the_driver_has_taken_it() {
        let other = "0.0.0-llvm22.1.0-0123456789abcdef";
        for (build, launched, state) in [
            (Some(COMPILER_BUILD), false, State::Ok),
            (Some(COMPILER_BUILD), true, State::Ok),
            (Some(other), false, State::Fail),
            (Some(other), true, State::Ok),
            (None, false, State::Ok),
        ] {
            let check = judge_build("/lib/libsolum_codegen.so.1", build, launched);
            assert!(check.state == state, "{build:?}, {launched}");
            assert!(
                check.found.contains(build.unwrap_or("unknown")),
                "{build:?}"
            );
        }
    }
}
