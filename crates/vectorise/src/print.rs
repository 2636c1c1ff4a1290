//! The text form of a plan, for people and golden tests.
//!
//! ```text
//! kernel saxpy: 16 lanes; cost 29, scalar 192
//! region 0, from the start
//!   b0
//!     br_if %5: versioned
//!   b1
//!     load global f32 %8: contiguous
//!     load global f32 %9: contiguous
//!     store global f32: contiguous
//! ```
//!
//! Values have the numbers that [`kernel_ir::print`] gives them. Each access, branch on a condition and loop has a
//! line, and so has each operation on vectors that is more than vector instructions.
//! `masked` blocks run under a mask.

use std::collections::HashMap;
use std::fmt::Write as _;

use kernel_ir::passes::shape::Shapes;
use kernel_ir::{
    AddressSpace, BlockId, Function, Inst, InstId, Kernel, Op, Terminator, Type, TypeId, Types,
    ValueId,
};

use crate::access::{Access, Accesses};
use crate::input::Input;
use crate::interleave::{StoreGroup, store_groups};
use crate::operation::{Operation, Recast};
use crate::plan::{Plan, RegionPlan};
use crate::representation::{Chunk, Representation, Representations};
use crate::sub_groups::Rows;

/// The text form of `plan`, which belongs to `kernel` and `input`.
#[must_use]
pub fn print(plan: &Plan, input: &Input<'_>, kernel: &Kernel) -> String {
    let mut printer = Printer {
        out: String::new(),
        numbers: numbers(input),
        plan,
        input,
    };
    // Writing to a string cannot fail.
    let _ = printer.kernel(kernel);
    for (number, region_plan) in plan.regions.iter().enumerate() {
        let _ = printer.region(number, region_plan);
    }
    printer.out
}

/// The numbers that kernel-ir's text form gives to values: parameters first, then results in the order of blocks.
fn numbers(input: &Input<'_>) -> HashMap<ValueId, usize> {
    let function = input.function;
    let results = function.blocks.iter().flat_map(|block| &block.insts);
    let results = results.filter_map(|inst| function.insts[inst.index()].result);
    let all = function.params.iter().copied().chain(results);
    all.enumerate().map(|(number, v)| (v, number)).collect()
}

struct Printer<'a> {
    out: String,
    numbers: HashMap<ValueId, usize>,
    plan: &'a Plan,
    input: &'a Input<'a>,
}

impl Printer<'_> {
    fn name(&self, v: ValueId) -> String {
        match (
            self.numbers.get(&v),
            self.input.module.known_signed(self.input.function, v),
        ) {
            (Some(number), _) => format!("%{number}"),
            (None, Some(constant)) => constant.to_string(),
            (None, None) => "a constant".to_owned(),
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> std::fmt::Result {
        let plan = self.plan;
        write!(self.out, "kernel {}: {} lanes", kernel.name, plan.width)?;
        match plan.sub_groups {
            None => {}
            Some(Rows::Whole) => write!(self.out, " of a sub-group, rows of whole sub-groups")?,
            Some(Rows::Broken) => {
                write!(self.out, " of a sub-group, rows of any length under a mask")?
            }
            Some(Rows::Any) => write!(
                self.out,
                " of a sub-group, rows of whole sub-groups or any length"
            )?,
        }
        for tail in &plan.tail_widths {
            write!(self.out, ", tails {tail}")?;
        }
        if let Some((lanes, scalar)) = plan.cost {
            write!(self.out, "; cost {lanes}, scalar {scalar}")?;
        }
        writeln!(self.out)?;
        if plan.one_row {
            writeln!(self.out, "for groups of one row only")?;
        }
        if let Some(transform) = plan.transform {
            writeln!(self.out, "form after {}", transform.name())?;
        }
        let mut saved: Vec<(ValueId, String)> = Vec::new();
        for &v in &plan.group_uniform {
            saved.push((v, "one for the group".to_owned()));
        }
        for (&v, (offsets, step)) in &plan.per_item {
            let held = match (plan.sub_group_uniform.contains(&v), step) {
                (true, _) => "one for each sub-group".to_owned(),
                (_, Some(0)) => "one for each work-item, uniform in a chunk".to_owned(),
                (_, Some(step)) => format!("one for each work-item, step {step}"),
                (_, None) => "one for each work-item".to_owned(),
            };
            let at: Vec<String> = offsets.iter().map(u64::to_string).collect();
            saved.push((v, format!("{held}, at {}", at.join(" "))));
        }
        saved.sort();
        for (v, held) in saved {
            writeln!(self.out, "saved {}: {held}", self.name(v))?;
        }
        for &(v, step) in &plan.no_wrap {
            writeln!(
                self.out,
                "no wrap {}: operand has step {step}, tested",
                self.name(v)
            )?;
        }
        let mut arrays: Vec<(ValueId, u64)> =
            plan.array_elements.iter().map(|(&v, &e)| (v, e)).collect();
        arrays.sort_unstable();
        for (v, bytes) in arrays {
            writeln!(
                self.out,
                "array {}: by lane, elements of {bytes} bytes",
                self.name(v)
            )?;
        }
        for window in &plan.privatised.windows {
            writeln!(
                self.out,
                "privatised: {:?} of {} bytes",
                window.op, window.size
            )?;
        }
        Ok(())
    }

    fn region(&mut self, number: usize, region_plan: &RegionPlan) -> std::fmt::Result {
        let (plan, input) = (self.plan, self.input);
        let region = &region_plan.region;
        match region.after {
            None => writeln!(self.out, "region {number}, from the start")?,
            Some(stop) => writeln!(self.out, "region {number}, from stop {stop}")?,
        }
        if let Some(jam) = &region_plan.jam {
            let versioned = match jam.assumed_uniform.len() {
                0 => String::new(),
                1 => "; 1 branch versioned".to_owned(),
                many => format!("; {many} branches versioned"),
            };
            writeln!(
                self.out,
                "  unroll-and-jam: {} rows, {} chunks of a row{versioned}",
                jam.rows, jam.chunks
            )?;
        }
        if let Some(cond) = region.tested {
            writeln!(self.out, "  without checks where {} holds", self.name(cond))?;
        }
        if let Some(tightening) = &region_plan.tightening {
            write!(self.out, "  tightened:")?;
            if tightening.bounds.is_empty() {
                write!(self.out, " one chunk")?;
            }
            for bound in &tightening.bounds {
                let (ids, limit) = (self.name(bound.ids), self.name(bound.limit));
                write!(self.out, " {ids} {:?} {limit}", bound.predicate)?;
            }
            writeln!(
                self.out,
                "{}",
                if tightening.scattered { ", scalar" } else { "" }
            )?;
        }
        let chunk = match (&region_plan.jam, plan.sub_groups) {
            (_, Some(Rows::Broken)) => Chunk::Masked,
            (Some(_), _) => Chunk::Jammed,
            (None, _) => Chunk::Row,
        };
        let shapes = match chunk {
            Chunk::Masked => &region.sub_group_shapes,
            _ => &region.shapes,
        };
        let Some(shapes) = shapes else {
            return Ok(());
        };
        let held = Representations::new(input, plan, region, plan.width, chunk);
        let accesses = Accesses {
            input,
            plan,
            region,
            held: &held,
            width: plan.width,
            chunk,
        };
        for (l, this) in region.loops.loops.iter().enumerate() {
            let divergent = shapes.is_divergent_loop(l as u32);
            let how = if divergent { "divergent" } else { "uniform" };
            writeln!(self.out, "  loop at b{}: {how}", this.header.0)?;
        }
        for &block in region.loops.order() {
            self.block(&accesses, shapes, block)?;
        }
        Ok(())
    }

    fn block(
        &mut self,
        accesses: &Accesses<'_>,
        shapes: &Shapes,
        block: BlockId,
    ) -> std::fmt::Result {
        let region = accesses.region;
        let function = &region.function;
        let masked = accesses.chunk != Chunk::Jammed && shapes.is_masked(block);
        let mut lines = Vec::new();
        let groups = store_groups(accesses, block, masked || accesses.chunk == Chunk::Masked);
        for &inst in &function.blocks[block.index()].insts {
            lines.extend(self.access_line(accesses, &groups, block, masked, inst));
            lines.extend(self.operation_line(accesses, inst));
        }
        let code = &function.blocks[block.index()];
        let word = match &code.term {
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } if then != otherwise => Some(("br_if", *cond)),
            Terminator::Switch { value, .. } => Some(("switch", *value)),
            _ => None,
        };
        if let Some((word, on)) = word {
            let how = if accesses.chunk != Chunk::Masked && region.assumed_uniform.contains(&block)
            {
                "versioned"
            } else if shapes.is_divergent(block) {
                "linearised"
            } else {
                "uniform"
            };
            lines.push(format!("{word} {}: {how}", self.name(on)));
        }
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(
            self.out,
            "  b{}{}",
            block.0,
            if masked { ", masked" } else { "" }
        )?;
        for line in lines {
            writeln!(self.out, "    {line}")?;
        }
        Ok(())
    }

    /// A phi with a uniform step, a loop's result in memory, or an operation that has no vector instruction.
    fn operation_line(&self, accesses: &Accesses<'_>, inst: InstId) -> Option<String> {
        let (region, held) = (accesses.region, accesses.held);
        let inst = &region.function.insts[inst.index()];
        let result = inst.result?;
        let name = self.name(result);
        if held.is_in_memory(result) {
            return Some(format!("result {name}: in memory behind its loop"));
        }
        match &inst.op {
            Op::Phi(_) if held.is_uniform_step(result) => {
                return Some(format!("phi {name}: uniform step"));
            }
            Op::Phi(_) | Op::Load { .. } | Op::Atomic { .. } | Op::Group(..) | Op::WorkItem(..) => {
                return None;
            }
            _ => {}
        }
        if held.of(result) != Representation::Vector {
            return None;
        }
        match Operation::of(accesses.input, region, &inst.op, result) {
            Operation::Vectors => None,
            Operation::Divided(bits) => Some(format!("division {name}: by doubles, {bits} bits")),
            Operation::Recast(Recast { from, to }) => {
                Some(format!("bit cast {name}: {from} to {to} bits"))
            }
            Operation::Scalarised => Some(format!("operation {name}: scalarised")),
        }
    }

    fn access_line(
        &self,
        accesses: &Accesses<'_>,
        groups: &[StoreGroup],
        block: BlockId,
        masked: bool,
        inst: InstId,
    ) -> Option<String> {
        let function = &accesses.region.function;
        let types = &accesses.input.module.types;
        let some = masked || accesses.chunk == Chunk::Masked;
        let line = match &function.insts[inst.index()] {
            Inst {
                op: Op::Load { ptr, volatile, .. },
                result: Some(result),
                ..
            } => {
                let ty = function.ty(*result);
                let class = match volatile {
                    true => "volatile".to_owned(),
                    false => class(accesses.load(*ptr, ty, block, some)),
                };
                let (space, ty) = (space(function, types, *ptr), type_name(types, ty));
                format!("load {space} {ty} {}: {class}", self.name(*result))
            }
            Inst {
                op:
                    Op::Store {
                        ptr,
                        value,
                        volatile,
                        ..
                    },
                ..
            } => {
                let ty = function.ty(*value);
                let of = |group: &&StoreGroup| group.members.iter().any(|m| m.inst == inst);
                let class = match groups.iter().find(of) {
                    _ if *volatile => "volatile".to_owned(),
                    Some(group) => {
                        format!(
                            "interleaved {}, group of {}",
                            group.element_step,
                            group.members.len()
                        )
                    }
                    None => class(accesses.store(*ptr, ty, block, some)),
                };
                let (space, ty) = (space(function, types, *ptr), type_name(types, ty));
                format!("store {space} {ty}: {class}")
            }
            Inst {
                op: Op::Atomic { op, ptr, .. },
                ..
            } => {
                let held = match accesses.held.at(accesses.region, *ptr, block).step() {
                    Some((0, _)) => "uniform",
                    _ => "one for each lane",
                };
                let private = match accesses.plan.privatised.sites.contains_key(&inst) {
                    true => ", privatised",
                    false => "",
                };
                format!(
                    "atomic {op:?} {}: {held}{private}",
                    space(function, types, *ptr)
                )
            }
            _ => return None,
        };
        Some(line)
    }
}

fn class(class: Access) -> String {
    match class {
        Access::Uniform => "uniform".to_owned(),
        Access::Contiguous { tested: false } => "contiguous".to_owned(),
        Access::Contiguous { tested: true } => "contiguous, tested".to_owned(),
        Access::Reversed => "reversed".to_owned(),
        Access::Interleaved(element_step) => format!("interleaved {element_step}"),
        Access::Piecewise(lanes) => format!("piecewise, {lanes} lanes"),
        Access::Gather => "gather".to_owned(),
        Access::Scalarised { in_loop: false } => "scalarised".to_owned(),
        Access::Scalarised { in_loop: true } => "scalarised, in a loop".to_owned(),
    }
}

fn space(function: &Function, types: &Types, ptr: ValueId) -> &'static str {
    match types.get(function.ty(ptr)) {
        Type::Ptr(AddressSpace::Private) => "private",
        Type::Ptr(AddressSpace::Global) => "global",
        Type::Ptr(AddressSpace::Local) => "local",
        Type::Ptr(AddressSpace::Constant) => "constant",
        _ => "generic",
    }
}

fn type_name(types: &Types, ty: TypeId) -> String {
    match types.get(ty) {
        Type::Bool => "bool".to_owned(),
        Type::Int(bits) => format!("i{bits}"),
        Type::Float(bits) => format!("f{bits}"),
        Type::Ptr(_) => "ptr".to_owned(),
        Type::Vector(element, n) => format!("{} x {n}", type_name(types, *element)),
        _ => format!("{} bytes", types.size_of(ty)),
    }
}
