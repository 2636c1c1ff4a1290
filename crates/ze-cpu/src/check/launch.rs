//! Launches of kernels with checks.

use super::process::{Check, CheckedKernel, get};
use super::transfers;
use crate::fault::{Fault, Known};
use kernel_checker::Run;
use kernel_ir::abi::check::ArgumentBounds;
use kernel_ir::abi::{ArgInfo, KernelInfo, Launch as LaunchRecord};
use std::sync::Arc;

/// A launch of a kernel with checks.
pub(crate) struct CheckedLaunch {
    check: &'static Check,
    launch: Arc<kernel_checker::Launch>,
    bounds: Box<[ArgumentBounds]>,
}

impl CheckedLaunch {
    /// `args`: the argument block, in which a local argument is its size.
    pub(crate) fn new(
        kernel: &CheckedKernel,
        info: &KernelInfo,
        args: &[u8],
        record: &LaunchRecord,
    ) -> Option<Self> {
        /// Kinds of arguments: [`ArgInfo::kind`].
        const POINTER: u8 = 1;
        const LOCAL: u8 = 2;
        let check = get()?;
        let (infos, written) = (&info.args, &info.written);
        let value_of = |info: &ArgInfo| {
            let bytes = args
                .get(info.offset as usize..)
                .and_then(<[u8]>::first_chunk);
            bytes.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        let mut bounds: Vec<ArgumentBounds> = infos
            .iter()
            .map(|info| match info.kind {
                POINTER => {
                    let bounds = check.checker.bounds(value_of(info), transfers::context());
                    ArgumentBounds {
                        start: bounds.start,
                        size: bounds.size,
                        is_written: 0,
                    }
                }
                LOCAL => ArgumentBounds {
                    size: value_of(info),
                    ..ArgumentBounds::default()
                },
                _ => ArgumentBounds::default(),
            })
            .collect();
        let launch = check.checker.begin(
            &kernel.kernel,
            record.group_size,
            record.group_count,
            record.global_offset,
            (transfers::position(), transfers::context()),
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
        })
    }

    /// Calls `run` with the launch record for groups whose local memory is at `memory`.
    pub(crate) fn run(
        &self,
        record: LaunchRecord,
        memory: *mut u8,
        run: impl FnOnce(&LaunchRecord) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        // Launches that may overlap take turns.
        let mut turn = crate::sync::lock(&self.check.turn);
        let local = (memory as u64, record.state_offset);
        let scratch = std::mem::take(&mut *turn);
        let groups = Run::new(&self.check.checker, &self.launch, local, scratch);
        let record = LaunchRecord {
            check: std::ptr::from_ref(&groups) as u64,
            check_arguments: self.bounds.as_ptr() as u64,
            ..record
        };
        let result = run(&record);
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
