//! The runtime of `solum check`: told each access and each barrier of an instrumented kernel, it finds races, accesses
//! outside their allocation, and barriers that not all work-items reach.
//!
//! # A race, found because it is there
//! Work-items run one after another here; that one of them ran first does not order them. Two accesses of a word are ordered
//! only by a barrier between them, or by a release and an acquire.
//!
//! ```
//! use kernel_checker::{
//!     Checker, Dropped, HostMistake, Kernel, Mistake, MistakeKind, Position, Reporter, Rules, Run, Scratch,
//! };
//! use kernel_ir::abi::check::{What, who};
//! use kernel_ir::{AddressSpace, CheckOp, Touch};
//! use std::sync::{Arc, Mutex};
//!
//! struct Kinds(Arc<Mutex<Vec<MistakeKind>>>);
//! impl Reporter for Kinds {
//!     fn dropped(&mut self, _what: Dropped) {}
//!     fn found(&mut self, _number: usize, mistake: &Mistake) {
//!         self.0.lock().unwrap().push(mistake.kind);
//!     }
//!     fn found_host(&mut self, _number: usize, _mistake: &HostMistake) {}
//!     fn read(&self, _address: u64, _bytes: &mut [u8]) -> bool {
//!         false
//!     }
//! }
//!
//! let kinds = Arc::default();
//! let checker = Checker::new(Rules::default(), Box::new(Kinds(Arc::clone(&kinds))));
//! checker.allocated(0x10000, 256, 1, 0);
//! let kernel = Arc::new(Kernel {
//!     name: "k".into(),
//!     program: 1,
//!     sub_group_size: 16,
//!     has_old_atomics: false,
//! });
//! let launch = checker.begin(&kernel, [64, 1, 1], [1, 1, 1], [0; 3], (Position::default(), 0));
//! let run = Run::new(&checker, &launch, (0, 0), Scratch::default());
//! let call = |touch| What { op: CheckOp::Access(touch, 4), space: AddressSpace::Global }.encode();
//!
//! // Work-item 0 writes the first word, work-item 5 reads it, and no barrier lies between.
//! run.one(who(0, 0), 0, call(Touch::Write), 0x10000, 42);
//! run.one(who(0, 5), 0, call(Touch::Read), 0x10000, 0);
//! assert_eq!(*kinds.lock().unwrap(), [MistakeKind::RaceOfWorkItems]);
//! ```
//!
//! # Modules, each above the ones that it uses
//! | module | content |
//! |---|---|
//! | `cell` | an access in 64 bits |
//! | `history` | the last accesses to each byte: `history/line`, patterns of accesses to a line of 64 bytes; `planes`, those of a line that has no patterns; `rows`; `before`, contents of memory before an attempt |
//! | `lanes`, `scratch` | the lanes of a call, in rows; memory that runs use one after another |
//! | `synchronisation` | order by atomics and fences |
//! | `arrivals` | barriers |
//! | `commands` | order of commands |
//! | `launch`, `mistake` | launches; mistakes |
//! | `waiting` | values that nobody has written, until their launch ends |
//! | `order` | whether two accesses are ordered |
//! | `allocations`, `checker` | all that is known of the process |
//! | `borrowed` | histories of launches that several threads attempt |
//! | `host` | accesses by the host |
//! | `run`, `uninitialised` | the calls of a kernel |
//!
//! # Invariants
//! - What is bounded (groups, barriers, tags) hides races where it overflows, and never invents one.
//! - Nothing here reads the program's memory, except through [`Reporter::read`].
//! - No panic on any call.
#![deny(unsafe_code)]

mod allocations;
mod arrivals;
mod borrowed;
mod cell;
mod checker;
mod commands;
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "code for processors that have AVX2")
)]
mod history;
mod host;
mod lanes;
mod launch;
mod mistake;
mod order;
mod run;
mod scratch;
mod synchronisation;
mod uninitialised;
mod waiting;

pub use checker::{Bounds, Checker};
pub use commands::{Position, Start};
pub use lanes::{Addresses, Lanes};
pub use launch::{Kernel, Launch};
pub use mistake::{
    AllocationOffset, Dropped, HostAccess, HostMistake, Mistake, MistakeKind, ProgramMemory,
    Reporter, Rules, Side,
};
pub use run::Run;
pub use scratch::Scratch;
