//! What `solum check` finds in a program's kernels, on its way from the checked process to people and machines.
//!
//! ```
//! use check_report::{Access, Finding, Kind, merge, text};
//!
//! let mut finding = Finding::new(Kind::OutOfBounds, "read of 4 bytes behind the end of a buffer");
//! finding.kernel = Some("scale".into());
//! finding.access = Some(Access::new("read"));
//! let report = merge::merge([vec![finding.clone()], vec![finding]]);
//! assert_eq!(report[0].count, 2);
//! let shown = text::Style::plain().finding(&report[0], &mut |_, _| None);
//! assert!(shown.starts_with("error[out-of-bounds]: read of 4 bytes"));
//! ```
//!
//! The way of a finding: the driver's checker makes a [`Finding`] and gives it to a [`stream::Writer`]; `solum check`
//! reads the files of all processes ([`stream::read`]), merges them ([`merge`]), drops what the user suppresses
//! ([`suppress`]), and prints the rest ([`text`], [`sarif`], or the findings themselves as JSON). A process whose findings
//! nobody reads prints them itself when it ends: [`text::Style::for_stderr`].
//!
//! Invariants
//! - Names of kinds, groups and JSON keys are stable: users' suppressions and CI settings contain them.
//! - Any bytes can be read as a stream or as a file of suppressions: they give findings or errors, and no panic.
//! - A writer never ends, blocks or changes the process that it observes; what it has written survives a killed process.
//! - Texts from kernels and files reach no terminal unescaped.
//!
//! Not here: how mistakes are found (`ze-cpu`), starting programs (`solum`).

pub mod escape;
pub mod finding;
mod glob;
pub mod host_stack;
mod kind;
pub mod merge;
pub mod options;
pub mod sarif;
pub mod stream;
pub mod suppress;
pub mod text;

pub use finding::{Access, Address, Allocation, Finding, Frame, Item, MemoryKind};
pub use kind::{Group, Kind, Level};
pub use options::Checks;
