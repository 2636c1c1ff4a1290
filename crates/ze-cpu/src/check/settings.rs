//! Checks by name as the operations and rules that they need.

use crate::environment::CheckSettings;
use check_report::{Group, Kind};
use kernel_checker::Rules;

impl CheckSettings {
    pub(super) fn rules(&self) -> Rules {
        Rules {
            strict: self.checks.is_strict(),
            allow_same_value: !self.checks.has(Kind::SameValueWrite),
        }
    }

    /// The operations that kernels need for them.
    pub(crate) fn of_kernels(&self) -> kernel_ir::Checks {
        kernel_ir::Checks {
            memory: self.checks.has_any(Group::Memory),
            races: self.checks.has_any(Group::Race),
            barriers: self.checks.has_any(Group::Sync),
            values: self.checks.has_any(Group::Value),
            uninitialised: self.checks.has_any(Group::Uninitialised),
        }
    }
}
