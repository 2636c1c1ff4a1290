//! The machine and the rights on it: processor, memory, what a program may do; and the code generator for it.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::probe::{self, Step};
use super::report::Check;
use super::setting::Setting;
use crate::units;

const LIMIT: Duration = Duration::from_secs(30);
/// Our code generator's file names.
const GENERATOR: [&str; 2] = ["libsolum_codegen.so.1", "libsolum_codegen.so"];
const FUNCTIONS: [&str; 7] = [
    "solum_codegen_build_id",
    "solum_codegen_close",
    "solum_codegen_compile",
    "solum_codegen_explain",
    "solum_codegen_free",
    "solum_codegen_kernel",
    "solum_codegen_open",
];
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
    checks
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
    const AREA: &str = "llvm";
    if setting
        .get("SOLUM_COMPILER")
        .is_some_and(|value| value == "interpreter")
    {
        return Check::note(
            AREA,
            "SOLUM_COMPILER=interpreter: kernels are interpreted, the code generator is never opened",
        );
    }
    let cure = "install driver and code generator side by side from one build: ./x install PREFIX; until then \
                SOLUM_COMPILER=interpreter runs kernels, slowly";
    let folders: Vec<&Path> = driver.parent().into_iter().collect();
    let resolved = driver.canonicalize().ok();
    let resolved = resolved.as_deref().and_then(Path::parent);
    let beside = folders
        .into_iter()
        .chain(resolved)
        .flat_map(|folder| GENERATOR.iter().map(move |name| folder.join(name)))
        .find(|path| path.exists());
    let nowhere = beside.is_none();
    let file = beside.unwrap_or_else(|| GENERATOR[0].into());
    let outcome = probe::run(setting, "library", OsStr::new(&file), &FUNCTIONS, LIMIT);
    let shown = file.display();
    if let Some(reason) = outcome.refused() {
        if nowhere {
            return Check::fail(
                AREA,
                "the code generator is not found",
                format!("not beside {}; {reason}", driver.display()),
                cure,
            );
        }
        return Check::fail(AREA, format!("{shown} cannot be opened"), reason, cure);
    }
    if outcome.end != probe::End::Done {
        return Check::fail(
            AREA,
            format!("{shown} takes the process down"),
            outcome.end_text(),
            cure,
        );
    }
    for step in &outcome.steps {
        if let Step::Missing { symbols } = step
            && !symbols.is_empty()
        {
            return Check::fail(
                AREA,
                format!("{shown} lacks {}", symbols.join(", ")),
                "it is another library under that name",
                cure,
            );
        }
    }
    let build = outcome.steps.iter().find_map(|step| match step {
        Step::Build { id } => Some(id.as_str()),
        _ => None,
    });
    let used = if launched {
        "compiled the kernel below"
    } else {
        "opens"
    };
    Check::ok(
        AREA,
        format!("{shown}, build {}, {used}", build.unwrap_or("unknown")),
    )
}
