//! The forms of a kernel, and the first of them that has a plan.

use kernel_ir::passes::Form;
use kernel_ir::{Function, Kernel, Transform};

use crate::cost::costs;
use crate::input::Input;
use crate::plan::{MAY_PART, Plan};
use crate::segments::{LaneOrder, Segments};

/// Cheap operations that rematerialise a value behind a barrier, where one computation serves all lanes. Of five
/// kernels with barriers in a loop, two with scattered indices took with 12 operations 1.2 to 1.4 times as long as with
/// 8 on x86-64-v3, 1.7 times on x86-64-v4; the others took the same. With 4, a stencil took 1.6 times as long and one
/// of the two 2.5 times; with 24, two took 1.5 and 1.8 times as long (2026-11, AMD EPYC of Zen 4, two processors).
const REMATERIALISED: u8 = 8;

/// A form of a kernel with its plan.
pub struct Planned<'a> {
    /// The form's number among those tried.
    pub number: usize,
    /// The form.
    pub function: &'a Function,
    /// It, cut at its barriers.
    pub segments: Segments,
    /// The plan.
    pub plan: Plan,
}

/// The forms to try, in their order, numbered: those that are made for vectors, then the function itself.
pub fn forms<'a>(
    suited: &'a [Form],
    function: &'a Function,
) -> impl Iterator<Item = Numbered<'a>> + Clone {
    let suited = suited.iter();
    let made = suited.map(|form| (&form.function, Some(form.transform)));
    made.chain([(function, None)]).enumerate()
}

/// A form with its number, and the transform that made it.
type Numbered<'a> = (usize, (&'a Function, Option<Transform>));

/// Plans the first of `forms` that can run as lanes of vectors. Each form replaces the function
/// and the segments of `input`. `copies`: work-items have copies of arguments that they write to. `wanted`: lanes of
/// kernels without sub-group operations; by speed when `None`.
///
/// # Errors
/// Why the last of them cannot; `None` if there are no forms.
pub fn first_plan<'a>(
    input: &Input<'_>,
    forms: impl Iterator<Item = Numbered<'a>> + Clone,
    kernel: &Kernel,
    copies: bool,
    wanted: Option<u32>,
) -> Result<Planned<'a>, Option<&'static str>> {
    let found = first_of(input, forms.clone(), kernel, copies, wanted);
    match found {
        // Barriers behind a condition on the row, as of launches whose groups are rows of a matrix.
        Err(Some(MAY_PART)) if input.group_size.is_none() => {
            let one_row = Input {
                one_row: true,
                ..*input
            };
            first_of(&one_row, forms, kernel, copies, wanted).or(found)
        }
        found => found,
    }
}

fn first_of<'a>(
    input: &Input<'_>,
    forms: impl Iterator<Item = Numbered<'a>>,
    kernel: &Kernel,
    copies: bool,
    wanted: Option<u32>,
) -> Result<Planned<'a>, Option<&'static str>> {
    let mut refused = None;
    for (number, (function, transform)) in forms {
        let constants = &input.module.constants;
        let segments = Segments::new(
            function,
            constants,
            Some(REMATERIALISED),
            LaneOrder::Lockstep,
        );
        let form = Input {
            function,
            segments: &segments,
            ..*input
        };
        let plan = Plan::new(&form, kernel, copies, wanted);
        match plan.and_then(|plan| judged(plan, &form, wanted)) {
            Ok(plan) => {
                let plan = Plan { transform, ..plan };
                return Ok(Planned {
                    number,
                    function,
                    segments,
                    plan,
                });
            }
            Err(why) => refused = Some(why),
        }
    }
    Err(refused)
}

/// The plan with its cost, where speed decides; the reason why it does not pay otherwise.
fn judged(mut plan: Plan, form: &Input<'_>, wanted: Option<u32>) -> Result<Plan, &'static str> {
    if plan.sub_groups.is_some() || wanted.is_some() {
        return Ok(plan);
    }
    let (lanes, scalar) = costs(form, &plan);
    // With barriers the scalar form keeps each work-item's state in a record: it is slower in any case.
    if form.segments.stops.is_empty() && lanes > scalar {
        return Err("side by side was estimated to be slower");
    }
    plan.cost = Some((lanes, scalar));
    Ok(plan)
}
