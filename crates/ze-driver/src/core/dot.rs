//! Graphs as DOT text.

use crate::core::graph_content::{Content, Step};
use crate::device::{GroupCount, KernelArgFacts, KernelArgKind, Launch, Work};
use crate::schedule::Op;
use std::fmt::Write as _;

/// The graph; `simple` leaves out arguments and addresses.
pub(crate) fn draw(content: &Content, simple: bool) -> String {
    let mut out = String::from("digraph {\n  node [shape=box];\n");
    // Writing to a string cannot fail.
    for (b, branch) in content.branches.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{b} {{");
        let _ = writeln!(out, "    label=\"list {b}, device {}\";", branch.device);
        for (i, step) in branch.steps.iter().enumerate() {
            let label = escape(&describe(step, simple));
            let _ = writeln!(out, "    n{b}_{i} [label=\"{label}\"];");
        }
        out.push_str("  }\n");
    }
    for (b, branch) in content.branches.iter().enumerate() {
        for (i, step) in branch.steps.iter().enumerate() {
            if i > 0 {
                let style = if step.command.drain {
                    ""
                } else {
                    " [style=dashed]"
                };
                let _ = writeln!(out, "  n{b}_{} -> n{b}_{i}{style};", i - 1);
            }
            for (from, at) in &step.after {
                let _ = writeln!(out, "  n{from}_{at} -> n{b}_{i} [color=blue];");
            }
        }
    }
    out.push_str("}\n");
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn describe(step: &Step, simple: bool) -> String {
    let work = match &step.command.op {
        Op::Work(work) => work,
        Op::Reset(_) => return "reset event".to_owned(),
        Op::Call(_) => return "read counters".to_owned(),
        Op::Nothing | Op::Release(_) => {
            return match (step.after.is_empty(), step.gives, &step.command.signal) {
                (false, _, _) => "wait".to_owned(),
                (true, None, None) => "barrier".to_owned(),
                (true, _, _) => "signal".to_owned(),
            };
        }
    };
    let (name, rest) = match work {
        Work::Nothing => ("nothing", String::new()),
        Work::Launch(launch) => return describe_launch(launch, simple),
        Work::Copy { dst, src, len } => ("copy", format!("{len} bytes\n{src:p} to {dst:p}")),
        Work::Fill { dst, pattern, len } => {
            ("fill", format!("{len} bytes at {dst:p}\n{pattern:02x?}"))
        }
        Work::CopyRegion(copy) => (
            "copy region",
            format!(
                "{} bytes x {} rows x {} slices\n{:p} to {:p}",
                copy.width, copy.rows, copy.slices, copy.src, copy.dst
            ),
        ),
        Work::WriteTimestamp(to) => ("write timestamp", format!("to {to:p}")),
        Work::Host { function, data } => ("host function", format!("{function:p}\ndata {data:p}")),
        Work::Write { what, .. } => (*what, String::new()),
        Work::Internal(_) => ("driver's own work", String::new()),
    };
    if simple || rest.is_empty() {
        name.to_owned()
    } else {
        format!("{name}\n{rest}")
    }
}

fn describe_launch(launch: &Launch, simple: bool) -> String {
    let Ok(kernel) = launch.program.kernel(launch.kernel) else {
        return "kernel".to_owned();
    };
    let mut out = format!("kernel {}", kernel.name);
    if simple {
        return out;
    }
    let groups = match launch.groups {
        GroupCount::Direct(groups) => format!("{groups:?}"),
        GroupCount::Indirect(at) | GroupCount::IndirectBelow { groups: at, .. } => {
            format!("read at {at:p}")
        }
    };
    let _ = write!(out, "\ngroups {groups} of {:?}", launch.group_size);
    for (i, arg) in kernel.args.iter().enumerate() {
        let name = if arg.name.is_empty() {
            i.to_string()
        } else {
            arg.name.clone()
        };
        let _ = write!(out, "\n{name}: {}", value(arg, &launch.args));
    }
    out
}

/// Type and value of an argument.
fn value(arg: &KernelArgFacts, block: &[u8]) -> String {
    let at = arg.offset as usize;
    let bytes = block.get(at..at.saturating_add(arg.size as usize));
    let Some(bytes) = bytes else {
        return "?".to_owned();
    };
    let number = bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    match arg.kind {
        KernelArgKind::Pointer => format!("pointer {number:#x}"),
        KernelArgKind::Local => format!("local, {number} bytes"),
        KernelArgKind::Image => format!("image {number:#x}"),
        KernelArgKind::Sampler => format!("sampler {number:#x}"),
        KernelArgKind::Value => format!("{} bytes {bytes:02x?}", arg.size),
    }
}
