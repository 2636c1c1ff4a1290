//! Decides how the work-items of a kernel run as lanes of vectors, without any back end.
//!
//! Input: a kernel in kernel-ir, cut at its barriers ([`Segments`]), and the processor ([`TargetInfo`]). Output: a
//! [`Plan`]: how many work-items run as one, the regions between barriers, and for each region which values are scalars,
//! which accesses are vectors and which loops run several chunks together. A back end follows it.
//!
//! ```
//! use vectorise::{Input, LaneOrder, Segments, TargetInfo, first_plan, forms, print};
//! let text = "kernel @copy(%in: ptr<global>, %out: ptr<global>) {
//! b0:
//!   %i: i64 = wi.GlobalInvocationId 0
//!   %p: ptr<global> = offset %in [%i * 4 + 0]
//!   %v: f32 = load %p align 4
//!   %q: ptr<global> = offset %out [%i * -4 + 4096]
//!   store %q, %v align 4
//!   ret
//! }";
//! let module = kernel_ir::parse(text)?;
//! let function = &module.functions[0];
//! let segments = Segments::new(function, &module.constants, None, LaneOrder::Lockstep);
//! let input = Input {
//!     module: &module,
//!     function,
//!     segments: &segments,
//!     group_size: None,
//!     one_row: false,
//!     sub_group_size: 16,
//!     target: TargetInfo::x86_64("x86-64-v3", ""),
//! };
//! let planned = first_plan(&input, forms(&[], function), &module.kernels[0], false, None);
//! let planned = planned.map_err(|why| why.unwrap_or("no forms"))?;
//! assert_eq!(
//!     print(&planned.plan, &input, &module.kernels[0]),
//!     "kernel copy: 16 lanes; cost 19, scalar 96
//! region 0, from the start
//!   b0
//!     load global f32 %4: contiguous
//!     store global f32: reversed
//! "
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | modules |
//! |---|---|
//! | the kernel and the processor | `input`, `target`, `segments` |
//! | facts about values before the kernel is cut: shapes, no-wrap (on top of [`kernel_ir::index`]) | `facts`, `no_wrap`, `array_layout` |
//! | regions between barriers, and their branches | `region`, `form_regions`, `versioning`, `checked` |
//! | how wide | `width`, `search_loops`, `sub_groups`, `cost`, `operation_cost` |
//! | loops over chunks | `unroll_and_jam`, `tighten` |
//! | how values are held and made, how memory is accessed | `outer_uses`, `representation`, `operation`, `access`, `interleave`, `tuple`, `privatise`, `functions` |
//! | the plan, its text form, the report to the kernel's author | `plan`, `forms`, `print`, `report` |
//!
//! | word | meaning |
//! |---|---|
//! | chunk | the work-items that run as one: the lanes of one vector |
//! | row | the work-items of a group with neighbouring ids in dimension 0; a chunk is usually a part of a row |
//! | width | work-items of a chunk |
//! | form | a kernel's body after one choice of the passes; the first form that has a plan is used |
//! | stop | a point at which work-items wait for each other, such as a barrier |
//! | region | the code from one stop to the next ones |
//! | saved value | one that lives in memory across a stop |
//! | state area | memory of a work-group for saved values and private arrays |
//! | rematerialised value | one that is computed again behind a stop instead of saved |
//! | uniform, affine, varying | the same in all lanes; a fixed step from lane to lane; anything else |
//! | divergent | of a branch: lanes may disagree; of a loop: lanes may leave it in different iterations |
//! | masked | run under a mask of the active lanes |
//! | tested | valid only if a test at run time, at the start of a chunk or a row, says so |
//! | assumed uniform | of a branch: such a test finds it uniform (loop versioning) |
//! | no-wrap | of an integer: it does not wrap around from lane to lane |
//! | scalarised | one scalar access for each lane |
//! | jammed | run together with other chunks (unroll-and-jam) |
//! | window | memory of a thread that collects atomic updates (privatised atomics) |
#![forbid(unsafe_code)]

mod access;
mod array_layout;
mod checked;
mod cost;
mod facts;
mod form_regions;
mod forms;
mod functions;
mod input;
mod interleave;
mod no_wrap;
mod operation;
mod operation_cost;
mod outer_uses;
mod plan;
mod print;
mod privatise;
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
pub use checked::{alternatives, comparisons};
pub use forms::{Planned, first_plan, forms};
pub use functions::{VectorForm, has_vector_form, vector_form};
pub use input::Input;
pub use interleave::{
    Member, Origin, StoreGroup, lead, load_span, origin, plain_interleaving, store_groups,
};
pub use operation::{Operation, Recast};
pub use plan::{Plan, RegionPlan};
pub use print::print;
pub use privatise::{Privatised, Window};
pub use region::Region;
pub use report::describe;
pub use representation::{Chunk, Representation, Representations, increment, is_clamp};
pub use segments::{LaneOrder, Segment, Segments, Stop, StopKind, stop_of};
pub use sub_groups::Rows;
pub use target::{TargetInfo, asked};
pub use tighten::{Bound, Ends, Steps, Tightening, ends};
pub use tuple::{Tuple, is_row};
pub use unroll_and_jam::UnrollAndJam;
