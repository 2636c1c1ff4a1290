//! Facts about a kernel's values before it is cut into regions: their shapes along a row, the values that the group
//! shares, and the extensions that do not wrap around.
//!
//! ```text
//! %g: i64 = wi.WorkgroupId 0           the same for the group
//! %l: i32 = wi.LocalInvocationId 0     affine: one more in the next lane of a row
//! %m: i64 = to.sext %l                 affine; never wraps around
//! %i: i32 = wi.GlobalInvocationId 0    affine
//! %j: i64 = to.sext %i                 affine if %i does not wrap around: tested at the start of a chunk or row
//! ```

use std::collections::HashSet;

use kernel_ir::passes::cfg::{Cfg, Loops};
use kernel_ir::passes::shape::{self, Given, LaneScope, Shape, Shapes};
use kernel_ir::{BlockId, Function, Module, ValueDef, ValueId};

use crate::array_layout::ArrayLayout;
use crate::input::Input;
use crate::sub_groups::Rows;

/// The facts about one kernel at one width.
pub(crate) struct Facts {
    /// The kernel. Its private arrays are laid out by lane where they can be.
    pub function: Function,
    pub arrays: ArrayLayout,
    /// How rows and sub-groups meet, where the lanes are those of a sub-group.
    pub sub_groups: Option<Rows>,
    shapes: Shapes,
    /// Values of divergent loops: behind the loop each lane has that of its own last iteration.
    left: HashSet<ValueId>,
    /// Saved values that are the same for the whole group.
    pub group: HashSet<ValueId>,
    /// Other saved values that are the same for the lanes of a sub-group.
    pub in_sub_group: HashSet<ValueId>,
    /// Extensions that never wrap around.
    pub never_wraps: Vec<ValueId>,
    /// Extensions that are tested not to wrap around, with the steps of their operands.
    pub no_wrap: Vec<(ValueId, i64)>,
}

impl Facts {
    pub(crate) fn new(input: &Input<'_>, width: u32, sub_groups: Option<Rows>) -> Self {
        let module = input.module;
        let mut function = input.function.clone();
        // Across stops an array lies in the state area, by work-item: chunks must then begin at multiples of the width.
        let whole =
            sub_groups.is_some() || input.group_size.is_some_and(|s| s[0].is_multiple_of(width));
        let arrays = if input.segments.stops.is_empty() || whole {
            ArrayLayout::new(module, &function)
        } else {
            ArrayLayout::default()
        };
        arrays.apply(&mut function, width);
        let places = Given {
            arrays: arrays.steps(),
            ..Given::default()
        };
        let plain = shape::shapes_given(module, &function, LaneScope::Row, &places);
        let function = &function;
        let [certain, exact] = crate::no_wrap::extensions(module, function, &plain);
        let given = Given {
            no_wrap_values: [certain.as_slice(), &exact].concat(),
            ..places
        };
        let shapes = if given.no_wrap_values.is_empty() {
            plain
        } else {
            shape::shapes_given(module, function, LaneScope::Row, &given)
        };
        let step = |v: ValueId| match function.values[v.index()].def {
            ValueDef::Inst(inst) => kernel_ir::index::extension(&function.insts[inst.index()].op)
                .and_then(|(_, from)| shapes.of(from).step()),
            _ => None,
        };
        let exact = exact.iter().filter_map(|&v| Some((v, step(v)?))).collect();
        let left = left_at_different_times(function, &shapes);
        let kept = &input.segments.saved;
        let own = Given {
            arrays: arrays.steps(),
            ..Given::default()
        };
        let group = uniform_in(
            module,
            function,
            kept,
            input.group_scope(),
            &Given::default(),
        );
        let in_sub_group = match sub_groups {
            None => HashSet::new(),
            Some(_) => {
                let others = kept.iter().copied().filter(|v| !group.contains(v));
                let others: Vec<ValueId> = others.collect();
                uniform_in(module, function, &others, LaneScope::SubGroup, &own)
            }
        };
        Self {
            sub_groups,
            group,
            in_sub_group,
            function: function.clone(),
            arrays,
            shapes,
            left,
            never_wraps: certain,
            no_wrap: exact,
        }
    }

    /// The shape, along a row, of a value from another region.
    pub(crate) fn row_shape(&self, v: ValueId) -> Shape {
        if self.group.contains(&v) || self.in_sub_group.contains(&v) {
            Shape::Uniform
        } else if self.left.contains(&v) || self.shapes.assumes_no_wrap(v) {
            Shape::Varying
        } else {
            self.shapes.of(v)
        }
    }
}

impl Facts {
    /// The shape of a value from another region over the lanes of a sub-group that is not part of a row.
    pub(crate) fn sub_group_shape(&self, v: ValueId) -> Shape {
        if self.group.contains(&v) || self.in_sub_group.contains(&v) {
            Shape::Uniform
        } else {
            Shape::Varying
        }
    }
}

/// The `values` that are the same for all `lanes`.
fn uniform_in(
    module: &Module,
    function: &Function,
    values: &[ValueId],
    lanes: LaneScope,
    given: &Given,
) -> HashSet<ValueId> {
    if values.is_empty() {
        return HashSet::new();
    }
    let shapes = shape::shapes_given(module, function, lanes, given);
    let left = left_at_different_times(function, &shapes);
    values
        .iter()
        .copied()
        .filter(|v| {
            shapes.of(*v) == Shape::Uniform && !shapes.assumes_no_wrap(*v) && !left.contains(v)
        })
        .collect()
}

/// Values of divergent loops, which differ behind the loop: lanes leave it in different iterations.
fn left_at_different_times(function: &Function, shapes: &Shapes) -> HashSet<ValueId> {
    let cfg = Cfg::new(function);
    let loops = Loops::new(&cfg);
    let mut left = HashSet::new();
    for (b, block) in function.blocks.iter().enumerate() {
        let mut at = loops.innermost(BlockId(b as u32));
        let mut divergent = false;
        while let Some(l) = at {
            divergent |= shapes.is_divergent_loop(l);
            at = loops.loops[l as usize].parent;
        }
        if divergent {
            let results = block.insts.iter();
            left.extend(results.filter_map(|i| function.insts[i.index()].result));
        }
    }
    left
}
