//! A launch, as the checker sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::cell::MOST_TAGS;
use crate::commands::{Clock, Position};

/// What [`Launch::is_after`] has found.
const IS_AFTER: u8 = 1;
const IS_NOT_AFTER: u8 = 2;

/// A kernel of a program.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Identifies the program in the process; 0 for copies and fills, which belong to none.
    pub program: u64,
    /// Work-items of a sub-group.
    pub sub_group_size: u32,
    /// Whether atomics of work-group scope may come from OpenCL C's functions without a scope, which compilers translate
    /// like this although programs use them across groups.
    pub has_old_atomics: bool,
}

/// Several threads run a launch without order among its groups; they must not find anything.
#[derive(Debug, Default)]
pub(crate) struct Attempt {
    /// Whether they do.
    pub(crate) is_on: AtomicBool,
    pub(crate) has_failed: AtomicBool,
    /// Threads that wait for chunks of histories.
    pub(crate) wanted: AtomicU32,
    /// Calls about accesses, and how often a thread found a chunk locked by another.
    pub(crate) calls: AtomicU64,
    pub(crate) contended: AtomicU64,
}

/// A launch of a kernel.
#[derive(Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Launches of the process before this one, and 1; 0 for copies and fills.
    pub number: u64,
    /// Work-items per group.
    pub group_size: [u32; 3],
    /// Work-groups.
    pub group_count: [u32; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Its tag in histories.
    pub(crate) tag: u16,
    /// Its command, and what that knows to have finished; `None`: everything before it.
    pub(crate) position: Position,
    /// The context of its command; 0 if it belongs to none.
    pub(crate) context: usize,
    pub(crate) clock: Option<Arc<Clock>>,
    /// Whether it is ordered after all launches before it.
    pub(crate) is_after_all: AtomicBool,
    pub(crate) attempt: Attempt,
    /// By tag of another launch, what [`Self::is_after`] has found.
    pub(crate) after: Box<[AtomicU8]>,
}

impl Launch {
    /// The same launch with another tag, in order, after it was undone.
    pub(crate) fn again(&self, tag: u16) -> Self {
        let again = Self {
            kernel: Arc::clone(&self.kernel),
            number: self.number,
            group_size: self.group_size,
            group_count: self.group_count,
            offset: self.offset,
            tag,
            position: self.position,
            context: self.context,
            clock: self.clock.clone(),
            is_after_all: AtomicBool::new(self.is_after_all.load(Ordering::Relaxed)),
            attempt: Attempt::default(),
            after: (0..=MOST_TAGS).map(|_| AtomicU8::new(0)).collect(),
        };
        // Accesses of the attempt stay in histories.
        if let Some(known) = again.after.get(usize::from(self.tag)) {
            known.store(IS_AFTER, Ordering::Relaxed);
        }
        again
    }

    /// Several threads are about to run it.
    pub fn attempt(&self) {
        self.attempt.is_on.store(true, Ordering::Relaxed);
    }

    /// Whether it is ordered after all launches before it, and none has begun since that may run at the same time.
    #[must_use]
    pub fn is_after_all(&self) -> bool {
        self.is_after_all.load(Ordering::Relaxed)
    }

    /// Whether several threads attempt it.
    #[must_use]
    pub fn is_attempt(&self) -> bool {
        self.attempt.is_on.load(Ordering::Relaxed)
    }

    /// Whether the attempt has failed: the launch is to be undone, and to run in order.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.attempt.has_failed.load(Ordering::Relaxed)
    }

    /// Whether the threads of the attempt have hindered each other so often that one thread alone is faster. In a histogram in
    /// global memory they do in two of five calls, and it takes 3.5 times as long as in order; in no other kernel of
    /// `tests/kernels` in more than one of twenty (AMD EPYC, two processors, 2026-11).
    #[must_use]
    pub fn is_contended(&self) -> bool {
        let calls = self.attempt.calls.load(Ordering::Relaxed);
        self.attempt.contended.load(Ordering::Relaxed) > calls / 8
    }

    /// Whether it is ordered after the launch `other`, whose tag is `tag`.
    pub(crate) fn is_after(&self, tag: u16, other: Option<&Arc<Self>>) -> bool {
        let known = self.after.get(usize::from(tag));
        match known.map_or(0, |known| known.load(Ordering::Relaxed)) {
            IS_AFTER => return true,
            IS_NOT_AFTER => return false,
            _ => {}
        }
        let is_after = match (&self.clock, other) {
            (Some(clock), Some(other)) => clock.knows(other.position),
            _ => true,
        };
        if let Some(known) = known {
            let known_as = if is_after { IS_AFTER } else { IS_NOT_AFTER };
            known.store(known_as, Ordering::Relaxed);
        }
        is_after
    }

    /// Work-items of a group.
    #[must_use]
    pub fn items_per_group(&self) -> u32 {
        self.group_size.iter().product()
    }

    /// The group with these lowest 16 bits that is nearest to `other`.
    pub(crate) fn group_near(&self, low: u64, other: u64) -> u64 {
        let groups: u64 = self.group_count.iter().map(|&n| u64::from(n)).product();
        let near = other & !0xffff | low;
        match near < groups {
            true => near,
            false => low,
        }
    }

    /// Position of a work-item in its group, and of the group.
    #[must_use]
    pub fn position(&self, group: u64, item: u32) -> ([u32; 3], [u32; 3]) {
        let split = |at: u64, sides: [u32; 3]| {
            let [x, y, _] = sides.map(|n| u64::from(n).max(1));
            [at % x, at / x % y, at / x / y].map(|n| n as u32)
        };
        (
            split(u64::from(item), self.group_size),
            split(group, self.group_count),
        )
    }

    /// Linear group, and linear work-item in it, of a global id.
    pub(crate) fn numbers(&self, global_id: [u64; 3]) -> (u64, u32) {
        let size = self.group_size.map(|n| u64::from(n).max(1));
        let count = self.group_count.map(u64::from);
        let at = [0, 1, 2].map(|d| global_id[d].wrapping_sub(self.offset[d]));
        let group = [0, 1, 2].map(|d| at[d] / size[d]);
        let local = [0, 1, 2].map(|d| at[d] % size[d]);
        let linear = |at: [u64; 3], sides: [u64; 3]| {
            let row = at[2].wrapping_mul(sides[1]).wrapping_add(at[1]);
            row.wrapping_mul(sides[0]).wrapping_add(at[0])
        };
        (linear(group, count), linear(local, size) as u32)
    }

    /// Global id of a work-item.
    #[must_use]
    pub fn global_id(&self, group: u64, item: u32) -> [u64; 3] {
        let (local, group) = self.position(group, item);
        [0, 1, 2].map(|d| {
            self.offset[d]
                + u64::from(group[d]) * u64::from(self.group_size[d])
                + u64::from(local[d])
        })
    }
}
