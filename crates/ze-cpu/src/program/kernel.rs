//! A kernel: its metadata, its entry and its cost.

use super::interpreted::InterpretedKernel;
use super::tier::TierCounter;
use crate::check::CheckedKernel;
use kernel_ir::abi::KernelInfo;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use work_group_pool::Cost;
use ze_driver::device::{KernelArgFacts, KernelArgKind, KernelFacts};

/// How a kernel runs.
pub(crate) enum Entry {
    /// Address of compiled code: baseline code until full code replaces it.
    Native(AtomicUsize),
    /// By the interpreter.
    Interpreted(InterpretedKernel),
    /// Address of compiled code with checks.
    Checked(usize, CheckedKernel),
}

/// A kernel.
pub(crate) struct Kernel {
    pub(crate) info: KernelInfo,
    pub(crate) entry: Entry,
    pub(crate) cost: Cost,
    /// Whether it is machine code whose need of stack is bounded and that calls no function of the driver.
    is_plain: AtomicBool,
    /// The time spent in baseline code, where that may be replaced.
    pub(super) tier: Option<TierCounter>,
    pub(super) facts: Arc<KernelFacts>,
}

impl Kernel {
    pub(super) fn new(info: KernelInfo, entry: Entry, is_plain: bool) -> Self {
        Self {
            facts: Arc::new(facts(&info)),
            tier: info.baseline.then(TierCounter::default),
            info,
            entry,
            cost: Cost::new(),
            is_plain: AtomicBool::new(is_plain),
        }
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain.load(Ordering::Relaxed)
    }

    /// The time spent in baseline code, where that may be replaced.
    pub(crate) fn tier(&self) -> Option<&TierCounter> {
        self.tier.as_ref()
    }

    /// Runs the code of `better`, which is the same kernel, from now on.
    pub(super) fn replace_code(&self, better: &Self) -> Result<(), String> {
        let same = KernelInfo {
            baseline: self.info.baseline,
            spill_size: self.info.spill_size,
            ..better.info.clone()
        };
        match (&self.entry, &better.entry) {
            (Entry::Native(code), Entry::Native(new)) if same == self.info => {
                code.store(new.load(Ordering::Relaxed), Ordering::Release);
                self.is_plain.store(better.is_plain(), Ordering::Relaxed);
                Ok(())
            }
            _ => Err("its full code is launched in another way".to_owned()),
        }
    }
}

/// Checks the metadata that driver and engine index by: it may come from any file.
pub(super) fn check(info: &KernelInfo) -> Result<(), String> {
    // Bytes, 2048 times what the device says that arguments may take: larger blocks come from damaged files.
    const MOST_ARGUMENTS: u32 = 1 << 24;
    let fits = info.args.iter().all(|arg| {
        arg.offset
            .checked_add(if arg.kind == 0 { arg.size } else { 8 })
            .is_some_and(|end| end <= info.args_size)
    });
    if fits && info.width >= 1 && info.args_size <= MOST_ARGUMENTS {
        Ok(())
    } else {
        Err(format!("kernel {:?} has impossible metadata", info.name))
    }
}

fn facts(info: &KernelInfo) -> KernelFacts {
    KernelFacts {
        name: info.name.clone(),
        args: info
            .args
            .iter()
            .map(|arg| KernelArgFacts {
                name: arg.name.clone(),
                kind: match arg.kind {
                    1 => KernelArgKind::Pointer,
                    2 => KernelArgKind::Local,
                    3 => KernelArgKind::Image,
                    4 => KernelArgKind::Sampler,
                    _ => KernelArgKind::Value,
                },
                size: arg.size,
                unpadded: arg.unpadded,
                offset: arg.offset,
            })
            .collect(),
        args_size: info.args_size,
        required_group_size: info.required_group_size,
        required_sub_group_size: info.required_sub_group_size,
        sub_group_size: info.sub_group_size,
        local_size: crate::check::own_local_size(info.local_size),
        local_per_item: info.local_per_item,
        private_size: info.private_size,
        spill_size: info.spill_size,
        attributes: info.attributes.clone(),
        unchecked: info.unchecked.clone(),
    }
}
