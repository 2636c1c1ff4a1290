//! Decides how the work-items of a kernel run as lanes of vectors, without any back end.
//!
//! Input: a kernel in kernel-ir, cut at its barriers ([`Segments`]), and the processor ([`TargetInfo`]). Output: a
//! [`Plan`]: how many work-items run as one, the regions between barriers, and for each region which accesses are
//! vectors, which branches stay branches, and which loops run several chunks together. A back end follows the plan and
//! decides nothing of its own.
#![forbid(unsafe_code)]

mod access;
mod array_layout;
mod cost;
mod facts;
mod form_regions;
mod forms;
mod functions;
mod input;
mod interleave;
mod no_wrap;
mod order;
mod plan;
mod print;
mod privatise;
mod range;
mod region;
mod report;
mod representation;
mod search_loops;
mod segments;
mod sub_groups;
mod target;
mod tighten;
mod tuple;
mod unroll_and_jam;
mod versioning;
mod width;

pub use access::{Access, Accesses};
pub use array_layout::private_arrays;
pub use forms::{Planned, first_plan};
pub use functions::{VectorForm, has_vector_form, vector_form};
pub use input::Input;
pub use interleave::{
    Member, Origin, StoreGroup, lead, load_span, origin, plain_interleaving, store_groups,
};
pub use no_wrap::extension;
pub use plan::{Plan, RegionPlan};
pub use print::print;
pub use privatise::{Privatised, Window};
pub use region::Region;
pub use report::describe;
pub use representation::{
    Chunk, Representation, Representations, increment, is_uniform_step_induction,
};
pub use segments::{LaneOrder, Segment, Segments, Stop, StopKind, stop_of};
pub use sub_groups::Rows;
pub use target::{TargetInfo, asked};
pub use tighten::{Bound, Ends, Steps, Tightening, ends};
pub use tuple::{Tuple, is_row};
pub use unroll_and_jam::UnrollAndJam;
