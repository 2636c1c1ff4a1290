//! A launch, as the checker sees it.

use std::sync::Arc;

/// A kernel of a program.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Identifies the program in the process.
    pub program: u64,
    /// Work-items of a sub-group.
    pub sub_group_size: u32,
    /// Whether atomics of work-group scope may come from OpenCL C's functions without a scope, which compilers translate
    /// like this although programs use them across groups.
    pub has_old_atomics: bool,
}

/// A launch of a kernel.
#[derive(Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// Launches of the process before this one, and 1.
    pub number: u64,
    /// Work-items per group.
    pub group_size: [u32; 3],
    /// Work-groups.
    pub group_count: [u32; 3],
    /// Global offset.
    pub offset: [u64; 3],
    /// Its tag in histories.
    pub(crate) tag: u16,
}

impl Launch {
    /// Work-items of a group.
    #[must_use]
    pub fn items_per_group(&self) -> u32 {
        self.group_size.iter().product()
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
