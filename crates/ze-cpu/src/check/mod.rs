//! The side of `solum check` that runs in the checked process: it feeds [`kernel_checker`] and writes what that finds.
//!
//! `SOLUM_CHECK` turns it on before the first device is shown, for the life of the process. Kernels are then compiled with
//! checks ([`kernel_ir::passes::instrument()`]), whose calls arrive in `calls`; freed memory is kept for a while
//! (`quarantine`), so that late accesses do not hit a new allocation; work-groups run in order on one thread, so that two
//! runs give the same report.

pub(crate) mod calls;
mod quarantine;
mod report;
mod settings;
mod shadows;
mod transfers;
mod uninitialised;

use crate::environment::CheckSettings;
use crate::fault::{Fault, Known};
use crate::memory::Memory;
use kernel_checker::{Checker, Run, Scratch};
use kernel_ir::abi::Launch as LaunchRecord;
use kernel_ir::abi::check::ArgumentBounds;
use kernel_ir::abi::{ArgInfo, KernelInfo};
use kernel_ir::build::Request;
use quarantine::Quarantine;
use report::{Output, Programs};
use shadows::Shadows;
use std::sync::{Arc, Mutex, OnceLock};
use ze_driver::device::AllocInfo;

/// The checker of this process.
pub(crate) struct Check {
    checker: Checker,
    checks: kernel_ir::Checks,
    programs: Arc<Programs>,
    output: Arc<Output>,
    quarantine: Mutex<Quarantine>,
    /// Of device memory, if uninitialised values are looked for.
    shadows: Option<Shadows>,
    /// Held by the launch that runs.
    turn: Mutex<Scratch>,
    /// What copies and fills are called in reports.
    copy: Arc<kernel_checker::Kernel>,
    fill: Arc<kernel_checker::Kernel>,
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
            shadows,
            programs,
            output,
            quarantine: Mutex::default(),
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
        let _ = std::panic::catch_unwind(|| check.output.end(&check.checker.counts()));
    }
}

/// A kernel with checks.
#[derive(Clone)]
pub(crate) struct CheckedKernel {
    kernel: Arc<kernel_checker::Kernel>,
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

    pub(crate) fn allocated(&self, info: &AllocInfo) {
        self.programs.allocated(info);
        self.checker.allocated(info.base as u64, info.size, info.id);
        if let Some(shadows) = &self.shadows {
            shadows.allocated(info);
        }
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

/// A launch of a kernel with checks.
pub(crate) struct CheckedLaunch {
    check: &'static Check,
    launch: Arc<kernel_checker::Launch>,
    bounds: Box<[ArgumentBounds]>,
    /// Local arguments and their offsets in local memory.
    local: Box<[(usize, u64)]>,
    /// Bytes that a group needs without the shadow of its local memory.
    memory: u64,
}

impl CheckedLaunch {
    /// `args`: the argument block, in which a local argument is its size; `placed`: that in which it is its offset; `memory`:
    /// the bytes that a group needs.
    pub(crate) fn new(
        kernel: &CheckedKernel,
        info: &KernelInfo,
        (args, placed): (&[u8], &[u8]),
        record: &LaunchRecord,
        memory: u64,
    ) -> Option<Self> {
        /// Kinds of arguments: [`ArgInfo::kind`].
        const POINTER: u8 = 1;
        const LOCAL: u8 = 2;
        let check = get()?;
        let (infos, written) = (&info.args, &info.written);
        let word = |block: &[u8], info: &ArgInfo| {
            let bytes = block
                .get(info.offset as usize..)
                .and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        if let Some(shadows) = &check.shadows {
            shadows.launch_begins();
        }
        let shadow = |pointer: u64| {
            let shadows = check.shadows.as_ref();
            shadows.map_or(0, |shadows| shadows.of(pointer))
        };
        let mut bounds: Vec<ArgumentBounds> = infos
            .iter()
            .map(|info| match info.kind {
                POINTER => {
                    let value = word(args, info);
                    let bounds = check.checker.bounds(value);
                    ArgumentBounds {
                        start: bounds.start,
                        size: bounds.size,
                        is_written: 0,
                        shadow: shadow(value),
                    }
                }
                LOCAL => ArgumentBounds {
                    size: word(args, info),
                    ..ArgumentBounds::default()
                },
                _ => ArgumentBounds {
                    shadow: shadow(0),
                    ..ArgumentBounds::default()
                },
            })
            .collect();
        let local = infos
            .iter()
            .enumerate()
            .filter(|(_, info)| info.kind == LOCAL)
            .map(|(number, info)| (number, word(placed, info)))
            .collect();
        let launch = check.checker.begin(
            &kernel.kernel,
            record.group_size,
            record.group_count,
            record.global_offset,
            transfers::position(),
        );
        let written: Vec<u64> = written
            .iter()
            .filter_map(|&argument| bounds.get(argument as usize))
            .map(|bounds| bounds.start)
            .collect();
        let may_overlap = check.checker.may_overlap(&launch);
        for bounds in &mut bounds {
            // Where nothing is known of a pointer it may point into any allocation.
            let is_written = may_overlap
                || bounds.size == u64::MAX
                || written.contains(&bounds.start)
                || written.contains(&0);
            bounds.is_written = u64::from(is_written);
        }
        Some(Self {
            check,
            launch,
            bounds: bounds.into_boxed_slice(),
            local,
            memory,
        })
    }

    /// The bytes that a group needs.
    pub(crate) fn memory(&self, record: &LaunchRecord) -> u64 {
        match self.check.shadows {
            // Accesses outside may hit what is behind.
            Some(_) => self.memory.next_multiple_of(128) + record.state_offset + 4096,
            None => self.memory,
        }
    }

    /// Calls `run` with the launch record for `count` groups from `first` on, whose memory is at `memory`.
    ///
    /// # Safety
    /// There are [`Self::memory`] bytes that nobody else uses.
    pub(crate) unsafe fn run(
        &self,
        record: LaunchRecord,
        memory: *mut u8,
        (first, count): (u64, u64),
        run: impl Fn(&LaunchRecord, u64, u64) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        // Launches that may overlap take turns.
        let mut turn = crate::sync::lock(&self.check.turn);
        let mut bounds = self.bounds.clone();
        let shadow = memory as u64 + self.memory.next_multiple_of(128);
        for &(number, offset) in &self.local {
            bounds[number].shadow = shadow + offset;
        }
        let local = (memory as u64, record.state_offset);
        let scratch = std::mem::take(&mut *turn);
        let groups = Run::new(&self.check.checker, &self.launch, local, scratch);
        let record = LaunchRecord {
            check: std::ptr::from_ref(&groups) as u64,
            check_arguments: bounds.as_ptr() as u64,
            ..record
        };
        let result = match &self.check.shadows {
            None => run(&record, first, count),
            Some(shadows) => (first..first + count).try_for_each(|group| {
                let bytes = record.state_offset as usize;
                shadows.group_begins(memory as u64, record.state_offset);
                // SAFETY: the caller's promise. In the shadow of local memory zeros mean that nothing is initialised; the
                // shadows of variables lie among these.
                unsafe {
                    memory.write_bytes(0, bytes);
                    (shadow as *mut u8).write_bytes(0, bytes);
                }
                run(&record, group, 1)
            }),
        };
        match &result {
            Err(fault) => tell_fault(&groups, fault),
            Ok(()) => groups.end(),
        }
        *turn = groups.into_scratch();
        result
    }
}

/// A fault as a mistake, as far as it is one that was not told before.
fn tell_fault(groups: &Run<'_>, fault: &Fault) {
    match &fault.known {
        Known::Trapped(trapped) => {
            groups.stopped(trapped.item, trapped.word(), trapped.is_assertion());
        }
        Known::Nothing | Known::StackEnd => groups.faulted(fault.address as u64),
    }
}

impl Drop for CheckedLaunch {
    fn drop(&mut self) {
        self.check.checker.end(&self.launch);
    }
}
