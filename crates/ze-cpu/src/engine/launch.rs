//! A kernel launch: from the argument block to calls of the compiled code.

use super::executor::{Executor, SAMPLE};
use super::join;
use crate::check::{CheckedKernel, CheckedLaunch, Turn};
use crate::clock::now_ns;
use crate::fault::watchdog::Limit;
use crate::fault::{Fault, Guard, MODES, MODES_FLUSH, with_default_modes};
use crate::location;
use crate::printf;
use crate::program::{CpuProgram, Entry, Failure, Kernel};
use crate::telemetry::Kind;
use kernel_ir::abi;
use std::sync::atomic::{AtomicU8, Ordering};
use work_group_pool::{Parts, Plan};
use ze_driver::device::{GroupCount, Launch, Work};

/// A launch on one thread checks the cost again after this much work.
pub(super) const LOOK_NS: f64 = 100_000.0;
/// A launch that takes less is run together with its neighbours.
const BRIEF_NS: f64 = 3_000.0;
/// Most memory that a work-group may have: locals, scratch, state across barriers.
const MOST_MEMORY: u64 = 16 << 30;
/// Most work-items of a group: kernels rely on it.
const MOST_ITEMS: u64 = kernel_ir::abi::MOST_ITEMS as u64;

/// The error of a launch whose kernel is not there.
pub(super) const NO_KERNEL: &str = "the launch names a kernel that the program lacks";

/// A launch and the kernel that it names, looked up once by each thread that runs groups of it.
#[derive(Clone, Copy)]
pub(super) struct LaunchedKernel<'a> {
    pub(super) launch: &'a Launch,
    pub(super) program: &'a CpuProgram,
    pub(super) kernel: &'a Kernel,
}

impl<'a> LaunchedKernel<'a> {
    /// The kernel of the launch in `work`; `None` if `work` is not a launch, or its program lacks the kernel.
    pub(super) fn of(work: &'a Work) -> Option<Self> {
        match work {
            Work::Launch(launch) => Self::of_launch(launch),
            _ => None,
        }
    }

    pub(super) fn of_launch(launch: &'a Launch) -> Option<Self> {
        let program: &CpuProgram = launch.program.as_any()?.downcast_ref()?;
        let kernel = program.kernel(launch.kernel)?;
        Some(Self {
            launch,
            program,
            kernel,
        })
    }

    /// Whether the launch is known to take little time.
    fn is_brief(self) -> bool {
        let GroupCount::Direct(groups) = self.launch.groups else {
            return false;
        };
        let count: f64 = groups.iter().map(|n| f64::from(*n)).product();
        let cost = self.kernel.cost.ns_per_group();
        if matches!(self.kernel.entry, Entry::Checked(..)) {
            // Each is a task of its own, whose order is known.
            return false;
        }
        !self.launch.cooperative && cost.is_some_and(|ns| ns * count < BRIEF_NS)
    }

    /// `text` with the kernel's name before it.
    pub(super) fn named(self, text: &dyn std::fmt::Display) -> String {
        format!("kernel {:?}: {text}", self.kernel.info.name)
    }
}

/// Whether a launch is known to take little time.
pub(crate) fn is_brief(launch: &Launch) -> bool {
    LaunchedKernel::of_launch(launch).is_some_and(LaunchedKernel::is_brief)
}

/// Whether a launch may run in an inline slot: it is known to take little time and its use of the stack is bounded.
pub(super) fn is_light(launch: &Launch) -> bool {
    LaunchedKernel::of_launch(launch)
        .is_some_and(|launched| launched.is_brief() && launched.kernel.is_plain())
}

/// Runs a brief launch on this thread.
pub(super) fn run_brief(executor: &mut Executor, work: &Work) -> Result<(), String> {
    let Work::Launch(launch) = work else {
        return Ok(());
    };
    let (Some(launched), GroupCount::Direct(groups)) =
        (LaunchedKernel::of_launch(launch), launch.groups)
    else {
        return Err(NO_KERNEL.to_owned());
    };
    let prepared = Prepared::new(launched, groups, 1).map_err(|text| launched.named(&text))?;
    executor.meter.kernel();
    let timing = if executor.samples() {
        Timing::Sampled(now_ns())
    } else {
        Timing::Untimed
    };
    let ran = prepared.run(executor, launched, (0, prepared.groups), timing);
    prepared.end();
    ran
}

/// The work-groups of a launch that starts now; none when it does not run.
pub(super) fn group_count(guard: &Guard, groups: GroupCount) -> Result<Option<[u32; 3]>, String> {
    let at = match groups {
        GroupCount::Direct(groups) => return Ok(Some(groups)),
        GroupCount::Indirect(at) => at,
        GroupCount::IndirectBelow {
            groups,
            index,
            below,
        } => {
            let [count] = read(guard, "the count of launches", below)?;
            if index >= count {
                return Ok(None);
            }
            groups
        }
    };
    read(guard, "its group counts", at).map(Some)
}

/// Reads words from the client's pointer.
fn read<const N: usize>(guard: &Guard, what: &str, at: *const u32) -> Result<[u32; N], String> {
    let mut words = [0u32; N];
    let to = words.as_mut_ptr().cast();
    match guard.move_bytes(to, at.cast(), size_of_val(&words)) {
        Ok(()) => Ok(words),
        Err(fault) => Err(format!("reading {what} at {at:?}: {fault}")),
    }
}

/// A launch, with everything that its groups have in common worked out.
pub(crate) struct Prepared {
    args: Args,
    pub(super) record: abi::Launch,
    memory: usize,
    /// Groups as they run: each is `joined` groups of the host.
    pub(super) groups: u64,
    pub(super) joined: u32,
    /// Whether groups may begin in any order.
    pub(super) any_order: bool,
    /// 1 asks the kernel to stop.
    pub(super) cancel: AtomicU8,
    output: Option<Box<printf::Stream>>,
    /// The time by which the launch must have ended.
    limit: Limit,
    /// For kernels with checks. Boxed, because short launches move this structure.
    checked: Option<Box<CheckedLaunch>>,
}

/// How a part of a launch is timed; the number is the time of its start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timing {
    /// The time counts for the kernel's cost and the device's load.
    Metered(u64),
    /// The time counts for the kernel's cost; the caller meters the device's load.
    Sampled(u64),
    /// The clock is not read.
    Untimed,
}

/// The argument block: the launch's own bytes, or a copy with local offsets filled in.
enum Args {
    Given,
    Copied(Box<[Chunk]>),
}

/// The alignment that the largest vector argument needs.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
struct Chunk([u8; 128]);

impl Prepared {
    pub(super) fn new(
        launched: LaunchedKernel<'_>,
        groups: [u32; 3],
        threads: usize,
    ) -> Result<Self, String> {
        let LaunchedKernel {
            launch,
            program,
            kernel,
        } = launched;
        let info = &kernel.info;
        let [x, y, z] = launch.group_size.map(u64::from);
        let items = x
            .checked_mul(y)
            .and_then(|xy| xy.checked_mul(z))
            .filter(|items| (1..=MOST_ITEMS).contains(items))
            .ok_or_else(|| {
                format!(
                    "a group of {:?} work-items; allowed: 1 to {MOST_ITEMS}",
                    launch.group_size
                )
            })?;
        let total = groups
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(u64::from(n)))
            .ok_or_else(|| format!("{groups:?} work-groups are more than 2^64"))?;
        if launch.args.len() < info.args_size as usize {
            return Err(format!(
                "{} bytes of arguments; needed: {}",
                launch.args.len(),
                info.args_size
            ));
        }
        let joined = if launch.cooperative {
            1
        } else {
            let most = join::most(total, threads);
            join::joined(info.row, launch.group_size[0], groups[0], most)
        };
        let items = items * u64::from(joined);
        let mut copied = None;
        let too_large = || format!("its memory exceeds {MOST_MEMORY} bytes");
        let scratch = align(info.local_size, 64).ok_or_else(too_large)?;
        let mut end = info
            .local_per_item
            .checked_mul(items)
            .and_then(|bytes| bytes.checked_add(scratch))
            .ok_or_else(too_large)?;
        for arg in info.args.iter().filter(|arg| arg.kind == 2) {
            let block = copied.get_or_insert_with(|| copy(&launch.args));
            let bytes = block.as_bytes_mut();
            let at = arg.offset as usize;
            let Some(slot) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) else {
                return Err(format!(
                    "argument {:?} is outside the argument block",
                    arg.name
                ));
            };
            let size = u64::from_ne_bytes(*slot);
            let offset = align(end, 128).ok_or_else(too_large)?;
            *slot = offset.to_ne_bytes();
            end = offset.checked_add(size).ok_or_else(too_large)?;
        }
        let state = align(end, 128).ok_or_else(too_large)?;
        let memory = items
            .div_ceil(u64::from(info.width.max(1)))
            .checked_mul(info.state_per_block)
            .and_then(|bytes| bytes.checked_add(state))
            .filter(|bytes| *bytes <= MOST_MEMORY)
            .ok_or_else(too_large)?;
        let aligned = launch.args.as_ptr().addr().is_multiple_of(16) || launch.args.is_empty();
        let args = match copied {
            Some(block) => Args::Copied(block),
            None if aligned => Args::Given,
            None => Args::Copied(copy(&launch.args)),
        };
        let dims = (0..3)
            .rev()
            .find(|&d| launch.group_size[d] > 1 || groups[d] > 1 || launch.offset[d] > 0)
            .map_or(1, |d| d as u32 + 1);
        let record = abi::Launch {
            group_size: [
                launch.group_size[0] * joined,
                launch.group_size[1],
                launch.group_size[2],
            ],
            work_dim: dims,
            group_count: [groups[0] / joined, groups[1], groups[2]],
            items_per_group: items as u32,
            global_offset: launch.offset,
            state_offset: state,
            scratch_offset: scratch,
            printf: 0,
            cancel: 0,
            check: 0,
            check_arguments: 0,
        };
        let (checked, memory) = match &kernel.entry {
            Entry::Checked(_, of) => with_checks(of, launched, &args, &record, memory),
            _ => (None, memory),
        };
        Ok(Self {
            args,
            record,
            checked,
            memory: memory as usize,
            groups: total / u64::from(joined),
            joined,
            any_order: info.any_order,
            cancel: AtomicU8::new(0),
            output: program.printf_formats().map(printf::Stream::new),
            limit: Limit::new(launch.device),
        })
    }

    /// Runs `count` groups of the launch on this thread.
    pub(super) fn run(
        &self,
        executor: &mut Executor,
        launched: LaunchedKernel<'_>,
        (first, count): (u64, u64),
        timing: Timing,
    ) -> Result<(), String> {
        let LaunchedKernel {
            launch,
            program,
            kernel,
        } = launched;
        let memory = executor
            .memory(self.memory.max(64))
            .ok_or_else(|| launched.named(&format!("no {} bytes for a work-group", self.memory)))?;
        let begin = match timing {
            Timing::Metered(begin) | Timing::Sampled(begin) => begin,
            Timing::Untimed => 0,
        };
        if let Some(why) = self.limit.over(begin) {
            return Err(launched.named(&why));
        }
        if matches!(timing, Timing::Metered(_)) {
            executor.meter.begin(Kind::Compute, launch.device, begin);
        }
        let result = self
            .run_metered(executor, launch, kernel, (first, count), memory)
            .map_err(|failure| {
                let location = match failure.item {
                    Some(item) => self.location_of_item(item),
                    None => self.location_of_groups(first, count),
                };
                format!("{location}: {}", failure.text)
            });
        executor.meter.groups(count * u64::from(self.joined));
        if matches!(timing, Timing::Untimed) {
            return result.map_err(|text| launched.named(&text));
        }
        let end = now_ns();
        executor.ended_ns = end;
        if matches!(timing, Timing::Metered(_)) {
            executor.meter.end(end);
        }
        result.map_err(|text| launched.named(&text))?;
        if self.cancel.load(Ordering::Relaxed) == 0 {
            // Counted in the host's groups: the number that runs as one differs between launches.
            let count = count * u64::from(self.joined);
            let took = end.saturating_sub(begin);
            kernel.cost.record(count, took);
            if let Some(counter) = kernel.tier() {
                let stands_for = match timing {
                    Timing::Sampled(_) => SAMPLE,
                    _ => 1,
                };
                if counter.ran(took.saturating_mul(u64::from(stands_for))) {
                    program.ask(launch.kernel);
                }
            }
        }
        Ok(())
    }

    /// How `left` groups should be shared; the kernel's cost is by the host's groups.
    pub(super) fn plan(&self, kernel: &Kernel, left: u64, threads: usize, awake: usize) -> Plan {
        let joined = u64::from(self.joined);
        let parts = match kernel.info.collects_updates {
            true => Parts::Long,
            false => Parts::Short,
        };
        let plan = kernel
            .cost
            .plan(left.saturating_mul(joined), threads, awake, parts);
        Plan {
            chunk: (plan.chunk / joined).max(1),
            least: (plan.least / joined).max(1),
            threads: plan
                .threads
                .min(usize::try_from(left).unwrap_or(usize::MAX)),
            ..plan
        }
    }

    /// The text for `count` groups from `first` on, where the work-item is unknown.
    #[cold]
    fn location_of_groups(&self, first: u64, count: u64) -> String {
        location::of_groups(&self.record, self.joined, first, count)
    }

    /// The text for the work-item with this global id.
    #[cold]
    fn location_of_item(&self, item: [u64; 3]) -> String {
        location::of_item(&self.record, self.joined, item)
    }

    fn run_metered(
        &self,
        executor: &mut Executor,
        launch: &Launch,
        kernel: &Kernel,
        (first, count): (u64, u64),
        memory: *mut u8,
    ) -> Result<(), Failure> {
        let args = match &self.args {
            Args::Given => launch.args.as_ptr(),
            Args::Copied(block) => block.as_ptr().cast(),
        };
        let record = abi::Launch {
            printf: self
                .output
                .as_deref()
                .map_or(0, |stream| std::ptr::from_ref(stream) as u64),
            cancel: std::ptr::from_ref(&self.cancel) as u64,
            ..self.record
        };
        let native = |code: usize, record: &abi::Launch, first: u64, count: u64| {
            executor.guard.set_modes(if kernel.info.flush_denorms {
                MODES_FLUSH
            } else {
                MODES
            });
            let arguments = [
                args as usize,
                std::ptr::from_ref(record) as usize,
                first as usize,
                count as usize,
                memory as usize,
            ];
            // SAFETY: `code` is a kernel's entry in a loaded object, which the launch's program
            // keeps alive; the arguments are those of the launch ABI and outlive the call.
            unsafe { executor.guard.call_until(&self.limit, code, arguments) }
        };
        let failed = |fault: Fault| Failure {
            item: fault.item(),
            text: fault.to_string(),
            accessed: fault.signal == libc::SIGSEGV,
        };
        match &kernel.entry {
            Entry::Native(code) => {
                native(code.load(Ordering::Acquire), &record, first, count).map_err(failed)
            }
            Entry::Checked(code, _) => match &self.checked {
                // SAFETY: the memory has as many bytes as `checked` asked for, and is this thread's.
                Some(checked) => unsafe {
                    checked.run(record, memory, (first, count), |record, first, count| {
                        native(*code, record, first, count)
                    })
                },
                None => native(*code, &record, first, count),
            }
            .map_err(failed),
            Entry::Interpreted(interpreted) => {
                let args = match &self.args {
                    Args::Given => &launch.args,
                    Args::Copied(block) => block.as_bytes(),
                };
                with_default_modes(|| interpreted.run(args, &record, first, count))
            }
        }
        .map_err(|mut failure| {
            if failure.accessed {
                failure.text.push_str(&null_arguments(kernel, launch));
            }
            failure
        })
    }

    /// The turn of a launch with checks that several threads may attempt.
    pub(super) fn attempt(&self) -> Option<Turn> {
        if self.output.is_some() {
            return None;
        }
        self.checked.as_ref()?.attempt()
    }

    /// Undoes an attempt that has failed; `false` if it has not.
    pub(super) fn undo(&self) -> bool {
        let failed = self
            .checked
            .as_ref()
            .filter(|checked| checked.end_attempt());
        if let Some(checked) = failed {
            checked.undo();
            self.cancel.store(0, Ordering::Relaxed);
        }
        failed.is_some()
    }

    /// After the last group: writes the kernel's output.
    pub(super) fn end(&self) {
        if let Some(output) = &self.output {
            output.flush();
        }
    }
}

/// The checks of a launch, and the bytes that each of its groups needs with them; `memory`: the bytes without.
#[cold]
fn with_checks(
    of: &CheckedKernel,
    launched: LaunchedKernel<'_>,
    args: &Args,
    record: &abi::Launch,
    memory: u64,
) -> (Option<Box<CheckedLaunch>>, u64) {
    let given = &launched.launch.args[..];
    let placed = match args {
        Args::Given => given,
        Args::Copied(block) => block.as_bytes(),
    };
    let info = &launched.kernel.info;
    let checked = CheckedLaunch::new(of, info, (given, placed), record, memory).map(Box::new);
    let memory = checked
        .as_ref()
        .map_or(memory, |checked| checked.memory(record));
    (checked, memory)
}

/// The null pointers of a launch, as the end of a fault's text: most faults of correct kernels come from those.
#[cold]
fn null_arguments(kernel: &Kernel, launch: &Launch) -> String {
    const POINTER: u8 = 1;
    let pointers = kernel.info.args.iter().enumerate();
    let nulls: Vec<String> = pointers
        .filter(|(_, arg)| {
            let value = launch.args.get(arg.offset as usize..);
            arg.kind == POINTER && value.and_then(<[u8]>::first_chunk) == Some(&[0_u8; 8])
        })
        .map(|(index, _)| index.to_string())
        .collect();
    match nulls.as_slice() {
        [] => String::new(),
        [one] => format!("; argument {one} of {:?} is null", kernel.info.name),
        all => format!(
            "; arguments {} of {:?} are null",
            all.join(", "),
            kernel.info.name
        ),
    }
}

fn align(value: u64, to: u64) -> Option<u64> {
    value.checked_next_multiple_of(to)
}

fn copy(bytes: &[u8]) -> Box<[Chunk]> {
    let chunks = bytes.len().div_ceil(size_of::<Chunk>()).max(1);
    let mut block = vec![Chunk([0; 128]); chunks].into_boxed_slice();
    block.as_bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    block
}

/// The bytes of an aligned block.
trait Bytes {
    fn as_bytes(&self) -> &[u8];
    fn as_bytes_mut(&mut self) -> &mut [u8];
}

impl Bytes for [Chunk] {
    fn as_bytes(&self) -> &[u8] {
        // SAFETY: a chunk is 128 plain bytes without padding.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), size_of_val(self)) }
    }
    fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), size_of_val(self)) }
    }
}
