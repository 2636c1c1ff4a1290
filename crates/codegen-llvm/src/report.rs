//! The report of one kernel: its form, the reason for it, and its accesses and branches.

use kernel_ir::Kernel;
use kernel_ir::report::{Form, KernelReport};
use vectorise::StopKind;

use crate::lower::Lower;

/// The report of a kernel that was lowered. `why`: the reason why it has no better form.
pub(crate) fn kernel(low: &Lower<'_>, kernel: &Kernel, why: Option<String>) -> KernelReport {
    let barriers = low.cut.segments.stops.iter();
    let barriers = barriers.filter(|s| s.kind == StopKind::Workgroup).count();
    let mut report = KernelReport {
        name: kernel.name.clone(),
        sub_group_size: low.sub_group_size,
        barriers: u32::try_from(barriers).unwrap_or(u32::MAX),
        width: 1,
        form: if low.cut.segments.stops.is_empty() {
            Form::Loop
        } else {
            Form::Passes
        },
        ..KernelReport::default()
    };
    report.plan = match &why {
        Some(why) => format!("kernel {}: no lanes: {why}\n", kernel.name),
        None => format!("kernel {}: no lanes\n", kernel.name),
    };
    report.why = why;
    if let Some(lanes) = &low.lanes {
        report.form = Form::Lanes;
        if lanes.one_row {
            report.why = Some("for work-groups of one row".to_owned());
        }
        report.width = lanes.width;
        report.bytes_over_barriers = lanes.state_bytes;
        report.plan = vectorise::print(lanes, &low.input(), kernel);
        (report.accesses, report.branches) = vectorise::describe(lanes, &low.input());
    }
    report
}
