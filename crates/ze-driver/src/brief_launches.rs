//! Which launches are brief, and so worth a bundle.

use crate::device::{GroupCount, Launch, Platform};
use std::sync::Arc;

/// Asks the platform about launches that follow each other; once for equal ones.
pub(crate) struct BriefLaunches<'a> {
    platform: &'a dyn Platform,
    last: Option<(&'a Launch, bool)>,
}

impl<'a> BriefLaunches<'a> {
    pub(crate) fn new(platform: &'a dyn Platform) -> Self {
        Self {
            platform,
            last: None,
        }
    }

    /// Whether a command's launch, if it may be bundled, is brief.
    pub(crate) fn is_brief(&mut self, launch: Option<&'a Launch>) -> bool {
        let Some(launch) = launch else {
            return false;
        };
        match self.last {
            Some((last, is)) if is_alike(last, launch) => is,
            _ => {
                let is = self.platform.is_brief(launch);
                self.last = Some((launch, is));
                is
            }
        }
    }
}

/// Whether two launches take equally long: the same kernel in the same number of groups.
fn is_alike(one: &Launch, other: &Launch) -> bool {
    let direct = match (one.groups, other.groups) {
        (GroupCount::Direct(these), GroupCount::Direct(those)) => these == those,
        _ => false,
    };
    direct
        && one.kernel == other.kernel
        && one.cooperative == other.cooperative
        && Arc::ptr_eq(&one.program, &other.program)
}
