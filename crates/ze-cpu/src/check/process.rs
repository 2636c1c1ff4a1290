//! The checker of this process.

use super::host::Host;
use super::quarantine::Quarantine;
use super::report::{self, Output, Programs};
use super::shadows::Shadows;
use crate::environment::CheckSettings;
use crate::memory::Memory;
use kernel_checker::{Checker, Scratch};
use kernel_ir::abi::KernelInfo;
use kernel_ir::build::Request;
use std::sync::{Arc, Mutex, OnceLock};
use ze_driver::device::{AllocInfo, MemoryKind};

/// The checker of this process.
pub(crate) struct Check {
    pub(super) checker: Checker,
    checks: kernel_ir::Checks,
    is_strict: bool,
    programs: Arc<Programs>,
    output: Arc<Output>,
    quarantine: Mutex<Quarantine>,
    pub(super) host: Host,
    /// Of device memory, if uninitialised values are looked for.
    pub(super) shadows: Option<Shadows>,
    /// Held by the launch that runs.
    pub(super) turn: Mutex<Scratch>,
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
        // SAFETY: the function takes nothing and returns; the library stays loaded, like its threads.
        unsafe { libc::atexit(at_exit) };
        let mut checks = settings.of_kernels();
        let shadows = checks.uninitialised.then(Shadows::new).flatten();
        checks.uninitialised = shadows.is_some();
        Check {
            checker: Checker::new(settings.rules(), reporter),
            checks,
            is_strict: settings.checks.is_strict(),
            shadows,
            programs,
            output,
            quarantine: Mutex::default(),
            host: Host::default(),
            turn: Mutex::default(),
            copy: transfer("memory copy"),
            fill: transfer("memory fill"),
        }
    });
    ze_driver::command_order::watch_command_order(check);
    check
}

extern "C" fn at_exit() {
    if let Some(check) = CHECK.get() {
        // A panic here would end a program that has already ended well.
        let _ = std::panic::catch_unwind(|| {
            check.host.tell_accesses(&check.checker);
            check.output.end(&check.checker.counts());
        });
    }
}

/// A kernel with checks.
#[derive(Clone)]
pub(crate) struct CheckedKernel {
    pub(super) kernel: Arc<kernel_checker::Kernel>,
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
        }
    }

    /// Memory was allocated. `is_for_devices`: the host may not access it.
    pub(crate) fn allocated(&self, info: &AllocInfo, is_for_devices: bool) {
        self.programs.allocated(info);
        self.checker
            .allocated(info.base as u64, info.size, info.id, info.context);
        if let Some(shadows) = &self.shadows {
            shadows.allocated(info);
        }
        self.host
            .allocated(info, is_for_devices || self.is_strict(info));
    }

    /// Whether the checks tell accesses of the host to this memory although the device allows them.
    fn is_strict(&self, info: &AllocInfo) -> bool {
        self.is_strict && info.kind == MemoryKind::Device
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
