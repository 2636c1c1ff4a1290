//! The text form of the facts: a module's text, with the facts about each result as a comment behind it.
//!
//! ```text
//! %3: i64 = wi.LocalInvocationId 0       // step 1, 0 to 65535
//! %4: i64 = shl %3, i64 2                // step 4, 0 to 262140, 2 zero bits
//! ```
//!
//! Steps are those of a row. `if no wrap`: only where narrower integers do not wrap around from lane to lane. Ranges are
//! of a number that equals the value modulo its width.

use super::facts::IndexFacts;
use super::step::extension;
use crate::ir::{Function, Module, ValueDef, ValueId};
use crate::passes::shape::{Given, LaneScope, Shape, Shapes, shapes_given};
use crate::print::print_noted;

/// The text of `module` with the facts about its results.
#[must_use]
pub fn print(module: &Module) -> String {
    let functions = module.functions.iter();
    let all = functions.map(|function| {
        let facts = IndexFacts::new(module, function);
        let results = function.insts.iter().filter_map(|inst| inst.result);
        let given = Given {
            no_wrap_values: results
                .filter(|&v| never_wraps(function, &facts, v))
                .collect(),
            ..Given::default()
        };
        let shapes = shapes_given(module, function, LaneScope::Row, &given);
        (function, shapes, facts)
    });
    let all: Vec<(&Function, Shapes, IndexFacts<'_>)> = all.collect();
    print_noted(module, &|function, v| match all.get(function) {
        Some((function, shapes, facts)) => note(function, shapes, facts, v),
        None => String::new(),
    })
}

fn note(function: &Function, shapes: &Shapes, facts: &IndexFacts<'_>, v: ValueId) -> String {
    let mut known = Vec::new();
    match shapes.of(v) {
        Shape::Uniform => known.push("uniform".to_owned()),
        Shape::Varying => {}
        shape => {
            let step = shape.step().unwrap_or_default();
            known.push(match shapes.assumes_no_wrap(v) {
                true => format!("step {step} if no wrap"),
                false => format!("step {step}"),
            });
        }
    }
    if let Some([low, high]) = facts.range(v) {
        known.push(format!("{low} to {high}"));
    }
    match facts.zero_bits(v) {
        0 => {}
        1 => known.push("1 zero bit".to_owned()),
        bits => known.push(format!("{bits} zero bits")),
    }
    if never_wraps(function, facts, v) {
        known.push("never wraps".to_owned());
    }
    known.join(", ")
}

/// Whether `v` is the result of an extension of a value that does not wrap around.
fn never_wraps(function: &Function, facts: &IndexFacts<'_>, v: ValueId) -> bool {
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return false;
    };
    let extended = extension(&function.insts[inst.index()].op);
    extended.is_some_and(|(op, from)| facts.cannot_wrap(op, from))
}
