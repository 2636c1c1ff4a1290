//! Launches of kernels with checks.

use super::process::{Check, CheckedKernel, get};
use super::program_memory::DeviceMemory;
use super::transfers;
use crate::fault::{Fault, Known, with_silence};
use kernel_checker::Run;
use kernel_ir::abi::check::ArgumentBounds;
use kernel_ir::abi::{ArgInfo, KernelInfo, Launch as LaunchRecord};
use std::sync::{Arc, Mutex};

/// A launch of a kernel with checks.
pub(crate) struct CheckedLaunch {
    pub(super) check: &'static Check,
    /// Another one runs in its place when its attempt has failed.
    pub(super) launch: Mutex<Arc<kernel_checker::Launch>>,
    /// Whether several threads may attempt it: see [`super::attempt`].
    pub(super) may_attempt: bool,
    pub(super) kernel: CheckedKernel,
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
                    let bounds = check.checker.bounds(value, transfers::context());
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
            (transfers::position(), transfers::context()),
        );
        let starts = bounds.iter().filter(|bounds| bounds.size != u64::MAX);
        check
            .checker
            .uses(&launch, starts.map(|bounds| bounds.start));
        let written: Vec<u64> = written
            .iter()
            .filter_map(|&argument| bounds.get(argument as usize))
            .map(|bounds| bounds.start)
            .collect();
        let arguments = bounds.iter().filter(|bounds| bounds.size != u64::MAX);
        let arguments = arguments.map(|bounds| {
            let writes = written.contains(&bounds.start) || written.contains(&0);
            (bounds.start, writes)
        });
        check.host.uses(transfers::position(), arguments);
        let may_overlap = check.checker.may_overlap(&launch);
        for bounds in &mut bounds {
            // Where nothing is known of a pointer it may point into any allocation.
            let is_written = may_overlap
                || bounds.size == u64::MAX
                || check.compares_reads(bounds.start)
                || written.contains(&bounds.start)
                || written.contains(&0);
            bounds.is_written = u64::from(is_written);
        }
        // Without checks of races nothing is told that could be undone.
        let may_attempt = check.of_kernels().races
            && info.repeatable
            && info.any_order
            && launch.is_after_all()
            && !kernel.runs_in_order()
            && check.host.quiet.is_only_task();
        Some(Self {
            check,
            launch: Mutex::new(launch),
            may_attempt,
            kernel: kernel.clone(),
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
        let launch = Arc::clone(&crate::sync::lock(&self.launch));
        // Launches that may overlap take turns; an attempt has its turn until it ends.
        let _turn = (!launch.is_attempt()).then(|| crate::sync::lock(&self.check.turn));
        let mut bounds = self.bounds.clone();
        let shadow = memory as u64 + self.memory.next_multiple_of(128);
        for &(number, offset) in &self.local {
            bounds[number].shadow = shadow + offset;
        }
        let local = (memory as u64, record.state_offset);
        let scratch = crate::sync::lock(&self.check.scratches)
            .pop()
            .unwrap_or_default();
        let checker = &self.check.checker;
        let mut groups = Run::new(checker, &launch, local, scratch);
        if launch.is_attempt() {
            groups = groups.of_attempt(&DeviceMemory);
        }
        let record = LaunchRecord {
            check: std::ptr::from_ref(&groups) as u64,
            check_arguments: bounds.as_ptr() as u64,
            ..record
        };
        // Variables come first, arguments last; between them lies what the compiler needs itself.
        let bytes = match self.local.is_empty() {
            true => record.scratch_offset,
            false => record.state_offset,
        };
        let all = || match &self.check.shadows {
            Some(shadows) if bytes > 0 => (first..first + count).try_for_each(|group| {
                shadows.group_begins(memory as u64, bytes);
                // SAFETY: the caller's promise. In the shadow of local memory zeros mean that nothing is initialised; the
                // shadows of variables lie among these.
                unsafe {
                    memory.write_bytes(0, bytes as usize);
                    if !self.local.is_empty() {
                        (shadow as *mut u8).write_bytes(0, bytes as usize);
                    }
                }
                run(&record, group, 1)
            }),
            _ => run(&record, first, count),
        };
        let result = with_silence(launch.is_attempt(), all);
        if let Some(shadows) = &self.check.shadows {
            shadows.groups_end();
        }
        match &result {
            Err(fault) => tell_fault(&groups, fault),
            Ok(()) => groups.end(),
        }
        crate::sync::lock(&self.check.scratches).push(groups.into_scratch());
        self.check.host.quiet.progress();
        result
    }
}

/// A fault as a mistake, as far as it is one that was not told before.
fn tell_fault(groups: &Run<'_>, fault: &Fault) {
    if fault.is_from_outside() {
        return;
    }
    match &fault.known {
        Known::Trapped(trapped) => {
            groups.stopped(trapped.item, trapped.word(), trapped.is_assertion());
        }
        Known::Nothing | Known::StackEnd => groups.faulted(fault.address as u64),
    }
}

impl Drop for CheckedLaunch {
    fn drop(&mut self) {
        let launch = self.launch.get_mut();
        let launch = launch.unwrap_or_else(std::sync::PoisonError::into_inner);
        self.check.checker.end(launch);
    }
}
