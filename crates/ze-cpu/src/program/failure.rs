//! Failures of builds, as the driver has them.

use kernel_ir::BuildError;
use kernel_ir::build::BuildErrorKind;
use ze_driver::device::BuildFailure;

pub(super) fn failed(error: &BuildError) -> BuildFailure {
    BuildFailure {
        not_a_binary: false,
        link: error.kind == BuildErrorKind::Link,
        log: error.line(),
    }
}

pub(super) fn log(log: String) -> BuildFailure {
    BuildFailure {
        not_a_binary: false,
        link: false,
        log,
    }
}
