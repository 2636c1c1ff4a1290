//! The checker of this process.

use super::constants;
use super::host::Host;
use super::objects::Objects;
use super::quarantine::Quarantine;
use super::report::{self, Output, Programs};
use super::shadows::Shadows;
use crate::environment::CheckSettings;
use crate::memory::Memory;
use check_report::{Group, Kind};
use kernel_checker::{Checker, Scratch};
use kernel_ir::abi::KernelInfo;
use kernel_ir::build::Request;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use ze_driver::device::{AllocInfo, MemoryKind};

/// The checker of this process.
pub(crate) struct Check {
    pub(super) checker: Checker,
    checks: kernel_ir::Checks,
    /// What is looked for.
    pub(super) wanted: check_report::Checks,
    /// The process that began to check: its children have no leaks of their own.
    pub(super) process: u32,
    pub(super) programs: Arc<Programs>,
    pub(super) output: Arc<Output>,
    quarantine: Mutex<Quarantine>,
    pub(super) host: Host,
    pub(super) objects: Mutex<Objects>,
    /// Of device memory, if uninitialised values are looked for.
    pub(super) shadows: Option<Shadows>,
    /// Held by the launch that runs.
    pub(super) turn: Mutex<()>,
    /// Memory of runs.
    pub(super) scratches: Mutex<Vec<Scratch>>,
    /// What copies and fills are called in reports.
    pub(super) copy: Arc<kernel_checker::Kernel>,
    pub(super) fill: Arc<kernel_checker::Kernel>,
}

static CHECK: OnceLock<Check> = OnceLock::new();

/// The checker, if kernels are checked.
pub(crate) fn get() -> Option<&'static Check> {
    CHECK.get()
}

/// The local memory of a kernel without shadows, which are as large at most. The limit of a device is no mistake of the kernel.
pub(crate) fn own_local_size(bytes: u64) -> u64 {
    let has_shadows = CHECK.get().is_some_and(|check| check.shadows.is_some());
    if has_shadows {
        bytes.div_ceil(2)
    } else {
        bytes
    }
}

/// A command has copied memory.
pub(crate) fn copied(to: *mut u8, from: *const u8, bytes: u64) {
    if let Some(check) = CHECK.get() {
        check.copied(to as u64, from as u64, bytes);
    }
}

/// A command has written memory.
pub(crate) fn written(to: *mut u8, bytes: u64) {
    if let Some(shadows) = CHECK.get().and_then(|check| check.shadows.as_ref()) {
        shadows.written(to as u64, bytes);
    }
}

/// A task has ended, and those that waited for it were handed to the device.
pub(crate) fn task_finished() {
    if let Some(check) = CHECK.get() {
        check.host.quiet.finished();
    }
}

/// Addresses are reserved for memory that the program maps there.
pub(crate) fn reserved(base: usize, size: u64) {
    if let Some(check) = CHECK.get() {
        crate::sync::lock(&check.programs.reserved).push((base, size));
    }
}

/// Begins to check. The first call counts.
pub(crate) fn start(settings: &CheckSettings) -> &'static Check {
    let check = CHECK.get_or_init(|| {
        let programs = Arc::<Programs>::default();
        let output = Arc::new(Output::open(settings));
        let reporter = report::reporter(settings, &programs, &output);
        let transfer = |name: &str| {
            Arc::new(kernel_checker::Kernel {
                name: name.to_owned(),
                program: 0,
                sub_group_size: 1,
                has_old_atomics: false,
            })
        };
        crate::memory::keep_apart();
        let mut checks = settings.of_kernels();
        let shadows = checks.uninitialised.then(Shadows::new).flatten();
        checks.uninitialised = shadows.is_some();
        Check {
            checker: Checker::new(settings.rules(), reporter),
            checks,
            wanted: settings.checks,
            process: std::process::id(),
            shadows,
            programs,
            output,
            quarantine: Mutex::default(),
            host: Host::new(settings.checks.has(Kind::RaceHost)),
            objects: Mutex::default(),
            turn: Mutex::default(),
            scratches: Mutex::default(),
            copy: transfer("memory copy"),
            fill: transfer("memory fill"),
        }
    });
    ze_driver::command_order::watch_command_order(check);
    if settings.checks.has_any(Group::Lifetime) {
        ze_abi::watch_objects(check);
    }
    check
}

/// The linker's list of functions that run once, when the process ends: after the program's functions of `atexit` and the
/// destructors of its static objects, which may free memory.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

extern "C" fn at_exit() {
    if let Some(check) = CHECK.get() {
        // A panic here would end a program that has already ended well.
        let _ = std::panic::catch_unwind(|| {
            check.host.tell_accesses(&check.checker);
            check.tell_leaks();
            check.output.end(&check.checker.counts());
        });
    }
}

/// First bytes of the constants of a program.
pub(crate) struct OwnConstants(Vec<usize>);

impl Drop for OwnConstants {
    fn drop(&mut self) {
        if let Some(check) = CHECK.get() {
            for &start in &self.0 {
                check.programs.constants.remove(start);
            }
        }
    }
}

/// A kernel with checks.
#[derive(Clone)]
pub(crate) struct CheckedKernel {
    pub(super) kernel: Arc<kernel_checker::Kernel>,
    /// Whether an attempt to run it on several threads has failed.
    has_failed: Arc<AtomicBool>,
}

impl CheckedKernel {
    pub(super) fn runs_in_order(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    pub(super) fn run_in_order(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

impl Check {
    /// The checks that kernels get.
    pub(crate) fn of_kernels(&self) -> kernel_ir::Checks {
        self.checks
    }

    /// A kernel of a program that was compiled from `request`.
    pub(crate) fn kernel(&self, info: &KernelInfo, request: &Arc<Request>) -> CheckedKernel {
        let kernel = kernel_checker::Kernel {
            name: info.name.clone(),
            program: self.programs.number(request),
            sub_group_size: info.sub_group_size,
            has_old_atomics: request
                .modules
                .iter()
                .any(|module| is_opencl_c(&module.words)),
        };
        CheckedKernel {
            kernel: Arc::new(kernel),
            has_failed: Arc::default(),
        }
    }

    /// Learns the constants of a program that was compiled from `request`: `place` gives first byte and size of a variable by its
    /// name. They count until the result is dropped.
    pub(crate) fn constants(
        &self,
        request: &Request,
        place: impl Fn(&str) -> Option<(usize, u64)>,
    ) -> OwnConstants {
        let modules = request.modules.iter();
        let names = modules.flat_map(|module| constants::names(&module.words));
        let places: Vec<(usize, u64)> = names.filter_map(|name| place(&name)).collect();
        for &(start, size) in &places {
            self.programs.constants.add(start, size);
        }
        OwnConstants(places.iter().map(|&(start, _)| start).collect())
    }

    /// Memory was allocated. `is_for_devices`: the host may not access it.
    pub(crate) fn allocated(&self, info: &AllocInfo, is_for_devices: bool) {
        self.programs.allocated(info);
        self.checker
            .allocated(info.base as u64, info.size, info.id, info.context);
        if let Some(shadow) = self
            .shadows
            .as_ref()
            .and_then(|shadows| shadows.allocated(info))
        {
            self.checker.has_shadow(info.base as u64, shadow);
        }
        self.host
            .allocated(info, is_for_devices || self.is_strict(info));
    }

    /// Whether the checks tell accesses of the host to this memory although the device allows them.
    fn is_strict(&self, info: &AllocInfo) -> bool {
        self.wanted.is_strict() && info.kind == MemoryKind::Device
    }

    /// Whether writes of the host are compared with what commands only read. Recording these reads makes launches take three times as
    /// long (geometric mean of 39 kernels whose memory is shared, 2026-11, AMD EPYC).
    pub(super) fn compares_reads(&self, start: u64) -> bool {
        self.wanted.is_strict() && self.host.compares(start)
    }

    /// A task is handed to the device.
    pub(crate) fn task_submitted(&self) {
        self.host.quiet.submitted();
    }

    /// Memory is freed by the program: it is kept for a while. `false` if it is no allocation.
    pub(crate) fn free(&self, memory: &Memory, base: *mut u8) -> bool {
        let Some(info) = memory.find(base).filter(|info| info.base == base) else {
            return false;
        };
        let mut quarantine = crate::sync::lock(&self.quarantine);
        if quarantine.holds(base) {
            return false;
        }
        self.host.tell_accesses(&self.checker);
        self.host.forget(base as u64);
        self.checker.freed(base as u64);
        self.programs.freed(info.id);
        if let Some(shadows) = &self.shadows {
            shadows.freed(base as u64);
        }
        for old in quarantine.put(base, info.size) {
            self.let_go(memory, old);
        }
        true
    }

    /// Frees all memory that is kept; for allocations that find no room.
    pub(crate) fn release(&self, memory: &Memory) {
        for old in crate::sync::lock(&self.quarantine).take() {
            self.let_go(memory, old);
        }
    }

    /// Frees memory that is kept no longer.
    fn let_go(&self, memory: &Memory, base: *mut u8) {
        if let Some(shadows) = &self.shadows {
            shadows.let_go(base as u64);
        }
        memory.free(base);
    }

    /// Whether the program has freed the allocation at `base`.
    pub(crate) fn is_freed(&self, base: *mut u8) -> bool {
        crate::sync::lock(&self.quarantine).holds(base)
    }
}

/// Whether a module was compiled from OpenCL C, as far as it says so.
fn is_opencl_c(words: &[u8]) -> bool {
    /// `OpSource`, and its number of the language.
    const SOURCE: u16 = 3;
    const OPENCL_C: u32 = 3;
    let Ok(words) = spirv_reader::Words::new(words) else {
        return false;
    };
    let mut instructions = words.instructions().map_while(Result::ok);
    instructions.any(|one| one.opcode == SOURCE && one.operands.first() == Some(&OPENCL_C))
}
