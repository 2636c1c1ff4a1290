//! The hipSYCL buffer-accessor model as a pure core: where the pages of a buffer are valid, which copies an access
//! needs, and which earlier work it has to wait for.
//!
//! A [`Buffer`] is a grid of fixed-size pages ([`Grid`]); each [`Domain`] (a physical memory in one driver context) may
//! hold one full-size allocation of it. The caller describes a command group's uses ([`Access`]), asks for the copies
//! it needs ([`Buffer::plan`]) and the work it must follow ([`Buffer::dependencies`]), and reports afterwards what was
//! actually submitted ([`Buffer::commit_transfer`], [`Buffer::commit_accesses`]). Nothing changes before a commit, so a
//! submission that fails half-way leaves exactly the state of the work that did happen. Work that fails after its
//! commit is rolled back ([`Buffer::roll_back`]): copies are kept until they are known to have succeeded.
//!
//! What runs in a lane has its own bookkeeping: the numbers of a lane that runs in order ([`Progress`]), which of its
//! events may be used again ([`Ring`]), and how many operations a deferred command still waits for ([`Countdown`]).
//!
//! Modules, from the bottom up; each uses only those before it
//! - `cuboid`, `grid`, `view`, `access`, `domain`: boxes, pages, the caller's terms.
//! - `pages`: sets of pages. `front`: the last uses of pages. `part`, `transfer`: pieces of pages, and copies.
//! - `buffer`: the state. `tiling`, `plan`: the copies for an access.
//! - `atomic`, `progress`, `ring`, `countdown`: the bookkeeping of lanes; nothing above uses it.
//!
//! Invariants:
//! - A page is *valid* on a domain only if its whole written content is there. A page that was written in part without
//!   reading it first (`no_init`) and whose rest lies elsewhere is valid nowhere: its pieces are remembered instead.
//! - A plan never copies a page that is valid at its target, nor one that was never written, and never one that is
//!   accessed with `no_init` alone.
//! - Two accesses depend on each other exactly if their page ranges overlap and one of them writes.
//! - Dependencies stay flat: a lane runs in order, so all earlier work on it is one number ([`Dep`]).
//! - A number of a lane that is done stays done; all before it are done too.
//! - A slot of a ring is given out again only when its work and the next one's have ended, no thread has it pinned, and
//!   its owner says that nothing waits for it. Pins of other slots, except its neighbours', do not keep it, nor does work
//!   that waits for them.
//! - A deferred command runs once, on the thread that releases the last of its reasons to wait, and sees all that the
//!   other threads did before.
//!
//! Not here: devices, allocations, events, locks, threads, clocks. The caller holds a lock around each call on a buffer
//! or a ring; `Progress` and `Countdown` need none.

mod access;
mod atomic;
mod buffer;
mod countdown;
mod cuboid;
mod domain;
mod front;
mod grid;
mod pages;
mod part;
mod plan;
mod progress;
mod ring;
mod tiling;
mod transfer;
mod view;

pub use access::{Access, Mode};
pub use buffer::{Buffer, Fate};
pub use countdown::Countdown;
pub use cuboid::Cuboid;
pub use domain::{Domain, MAX_DOMAINS};
pub use front::{Dep, Deps, Front};
pub use grid::{Grid, GridError, MAX_PAGES};
pub use pages::PageSet;
pub use plan::Links;
pub use progress::Progress;
pub use ring::Ring;
pub use transfer::{Extent, Transfer};
pub use view::View;
