//! The forms of a kernel, and the first of them that has a plan.

use kernel_ir::{Function, Kernel};

use crate::input::Input;
use crate::plan::Plan;
use crate::segments::{LaneOrder, Segments};

/// Cheap operations that rematerialise a value behind a barrier, where one computation serves all lanes. Not measured.
const REMATERIALISED: u8 = 12;

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

/// Plans the first of `forms`, which are numbered, that can run as lanes of vectors. Each form replaces the function
/// and the segments of `input`. `copies`, `wanted`: as for [`Plan::new`].
///
/// # Errors
/// Why the last of them cannot; `None` if there are no forms.
pub fn first_plan<'a>(
    input: &Input<'_>,
    forms: impl Iterator<Item = (usize, &'a Function)>,
    kernel: &Kernel,
    copies: bool,
    wanted: Option<u32>,
) -> Result<Planned<'a>, Option<&'static str>> {
    let mut refused = None;
    for (number, function) in forms {
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
        match Plan::new(&form, kernel, copies, wanted) {
            Ok(plan) => {
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
