//! One kernel: its entry, the loops over groups and work-items, its segments.
//!
//! ```text
//! with a plan           without stops             with stops
//! for each group {      for each group {          for each group {
//!     see `lanes`           for z, for y, for x {     until all work-items have returned {
//! }                             the body                  a pass: for each work-item that waits at the
//!                           }                             selected stop, run on to its next stop
//!                       }                             }
//!                                                 }
//! ```
//!
//! With stops each work-item has a record, which holds the number of its stop and the saved values.

pub(crate) mod callable;

use std::cell::RefCell;

use kernel_ir::abi::{KernelInfo, launch_offset};
use kernel_ir::passes::{Form, may_be_written};
use kernel_ir::report::KernelReport;
use kernel_ir::{BuildError, InstId, Kernel, Op, Terminator, ValueDef, ValueId};

use crate::launch::load_launch;
use crate::llvm::{Bb, IntPred, Ir, Linkage, Opcode, Ordering, Ty, Val};
use crate::lower::{Item, Lower};
use crate::record::Record;
use crate::values::Values;
use vectorise::{LaneOrder, Segments, StopKind, TargetInfo, first_plan, forms, private_arrays};

/// The stop number of work-items that have not begun, in records and as the selector of the first pass.
pub(crate) const START: u32 = 0;
/// The stop number, in records, of work-items that have returned. Larger than any stop's.
const DONE: u32 = u32::MAX;
/// Selector of all work-items that wait at a work-group stop.
const ALL: u32 = u32::MAX - 1;
/// Cheap operations, one on another, that rematerialise a value at less than the cost of a load from the record. Not
/// measured.
const REMATERIALISED: u8 = 3;
/// Private arrays of more bytes than this lie in the work-item's record instead of on the stack.
const STACK_BYTES: u64 = 1 << 20;

/// The setting in which a kernel is lowered.
pub(crate) struct Setting<'a> {
    pub(crate) values: &'a Values<'a>,
    pub(crate) sub_group_size: u32,
    pub(crate) fast: u32,
    /// Whether work-items may run as lanes of vectors.
    pub(crate) wide: bool,
    /// Lanes of kernels without sub-group operations; by speed when `None`.
    pub(crate) lanes: Option<u32>,
    pub(crate) symbol: &'a str,
    /// Receives a report of each kernel, if reports are wanted.
    pub(crate) reports: Option<&'a RefCell<Vec<KernelReport>>>,
    /// The processor.
    pub(crate) target: TargetInfo,
    /// The kernel's forms for vectors; the first that can be planned is used.
    pub(crate) suited: &'a [Form],
}

/// Forms for vectors of a kernel that could not be emitted.
#[derive(Default)]
pub(crate) struct Failures {
    /// Number of forms, from the first on, that are not to be tried.
    pub(crate) forms: usize,
    /// Why the last of them failed.
    pub(crate) why: Option<String>,
}

/// Why a kernel could not be lowered.
pub(crate) enum Failure {
    /// It cannot be lowered in any form.
    Kernel(BuildError),
    /// The form for vectors of that number failed. The LLVM function that was begun is to be deleted.
    Form(usize, Val, BuildError),
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Kernel(error)
    }
}

/// Plans the kernel in the first of its forms, from form `first` on, that can run as lanes of vectors, and puts plan
/// and form into `low`. `copies`: work-items have copies of arguments. Returns the form's number, and the reason if no
/// form can run so.
fn choose<'a>(
    low: &mut Lower<'a>,
    setting: &Setting<'a>,
    kernel: &Kernel,
    first: usize,
    copies: bool,
) -> (usize, Option<&'static str>) {
    if !setting.wide {
        return (first, None);
    }
    let forms = forms(setting.suited, low.function).skip(first);
    match first_plan(&low.input(), forms, kernel, copies, setting.lanes) {
        Ok(planned) => {
            low.whole_sub_groups = planned.plan.has_sub_groups();
            low.one_row = planned.plan.one_row;
            low.held.known = vec![None; planned.function.values.len()];
            low.function = planned.function;
            low.cut.segments = planned.segments;
            low.lanes = Some(planned.plan);
            (planned.number, None)
        }
        Err(refused) => (first, refused),
    }
}

/// A fault for tests: a kernel named `fails_N` cannot be emitted in its first N forms for vectors.
#[cfg(test)]
fn fault(kernel: &Kernel, form: usize) -> Result<(), BuildError> {
    let fails = kernel.name.strip_prefix("fails_");
    match fails.and_then(|n| n.parse::<usize>().ok()) {
        Some(n) if form < n => Err(crate::lower::unsupported(
            0,
            format!("form {form} has a fault"),
        )),
        _ => Ok(()),
    }
}

/// The type of a kernel's LLVM function: arguments, launch record, first group, number of groups, memory.
fn kernel_type(ir: &Ir) -> Ty {
    ir.function_type(ir.void, &[ir.ptr, ir.ptr, ir.i64, ir.i64, ir.ptr])
}

/// The LLVM function of a kernel, with what holds for all of them.
fn declare(ir: &Ir, symbol: &str) -> Val {
    let llvm_function = ir.add_function(symbol, kernel_type(ir));
    ir.attribute(llvm_function, None, "nounwind", 0);
    // Private arrays lie between the stack pointer and the frame: see `points_into`.
    ir.attribute(llvm_function, None, "noredzone", 0);
    ir.text_attribute(llvm_function, "probe-stack", "inline-asm");
    for (param, align) in [(0, 16), (1, 8), (4, 64)] {
        ir.attribute(llvm_function, Some(param), "align", align);
    }
    for param in [0, 1] {
        // Nothing else of a launch points to the argument block or the launch record.
        ir.attribute(llvm_function, Some(param), "noalias", 0);
        ir.attribute(llvm_function, Some(param), "readonly", 0);
    }
    llvm_function
}

/// Fills in the barriers and the sizes of the state area.
fn fill_in(info: &mut KernelInfo, low: &Lower<'_>, groups_may_join: bool) {
    info.barriers = low
        .cut
        .segments
        .stops
        .iter()
        .any(|s| s.kind == StopKind::Workgroup);
    if let Some(form) = &low.lanes {
        info.width = form.items_per_block();
        info.collects_updates = !form.privatised.windows.is_empty();
        if groups_may_join {
            info.row = form.width;
        }
        info.state_per_block = form.state_bytes * u64::from(info.width);
        return;
    }
    info.state_per_block = if low.cut.segments.stops.is_empty() && low.cut.record.is_empty() {
        0
    } else {
        low.cut.record.stride
    };
}

/// As [`lower`](crate::forms::lower), but without the forms that `failures` excludes; another form may fail. The code
/// becomes the body of `llvm_function`, else of a new function.
///
/// Returns the function that is called for groups of several rows, if the code is for groups of one row only. The caller
/// gives it a body.
pub(crate) fn lower_once(
    setting: &Setting<'_>,
    kernel: &Kernel,
    info: &mut KernelInfo,
    failures: &Failures,
    llvm_function: Option<Val>,
) -> Result<Option<Val>, Failure> {
    let (values, ir) = (setting.values, setting.values.ir);
    let module = values.module;
    let function = &module.functions[kernel.function.index()];
    let segments = Segments::new(
        function,
        &module.constants,
        Some(REMATERIALISED),
        LaneOrder::Sequential,
    );

    let llvm_function = llvm_function.unwrap_or_else(|| declare(ir, setting.symbol));
    let [args, launch, first, count, memory] = [0, 1, 2, 3, 4].map(|i| ir.param(llvm_function, i));

    let entry = ir.block(llvm_function, c"entry");
    let setup = ir.block(llvm_function, c"setup");
    ir.at_end(setup);
    let mut launch = load_launch(ir, launch);
    let group_size = kernel.required_group_size.filter(|size| !size.contains(&0));
    if let Some(size) = group_size {
        let size = size.map(u64::from);
        launch.size = size.map(|d| ir.i64c(d));
        launch.items = ir.i64c(size.iter().fold(1, |n, d| n.wrapping_mul(*d)));
    }
    let state = ir.offset(memory, launch.state_offset);

    let allocas = private_arrays(function);
    let private: u64 = allocas.iter().map(|&(_, size, _)| size).sum();
    let in_record = !segments.stops.is_empty() || private > STACK_BYTES;
    let by_value: Vec<(usize, u64)> = function
        .by_value
        .iter()
        .enumerate()
        .filter_map(|(i, size)| size.map(|size| (i, size)))
        .filter(|&(i, _)| may_be_written(function, i))
        .collect();
    let record = Record::new(
        values,
        function,
        &segments,
        if in_record { &allocas } else { &[] },
        &by_value,
    );

    let mut low = Lower {
        sub_group_size: setting.sub_group_size,
        group_size,
        target: setting.target,
        fast: setting.fast,
        ..Lower::new(
            values,
            function,
            segments,
            (llvm_function, entry),
            (memory, state),
        )
    };
    low.cut.record = record;
    low.at.launch = launch;
    low.load_params(kernel, info, args, &by_value)?;
    let groups_may_join = low.place_locals(kernel, info);
    let (form_at_hand, refused) = choose(
        &mut low,
        setting,
        kernel,
        failures.forms,
        !by_value.is_empty(),
    );
    if !in_record && low.lanes.is_none() {
        for &(value, size, align) in &allocas {
            let slot = low.entry_alloca(ir.array(ir.i8, size), align);
            low.held.stack_allocas.insert(value, slot);
        }
    }
    let is_wide = low.lanes.is_some();
    kernel_ir::mark!(
        FormRows,
        low.lanes
            .as_ref()
            .is_some_and(|form| !form.has_sub_groups())
    );
    kernel_ir::mark!(FormOneRow, low.one_row);
    kernel_ir::mark!(FormItems, !is_wide && low.cut.segments.stops.is_empty());
    kernel_ir::mark!(FormPasses, !is_wide && !low.cut.segments.stops.is_empty());
    let emitted = low.group_loop(first, count);
    let emitted = emitted.and_then(|()| low.fault.take().map_or(Ok(()), Err));
    #[cfg(test)]
    let emitted = emitted.and_then(|()| match is_wide {
        true => fault(kernel, form_at_hand),
        false => Ok(()),
    });
    emitted.map_err(|error| match is_wide {
        true => Failure::Form(form_at_hand, llvm_function, error),
        false => Failure::Kernel(error),
    })?;
    if let Some(reports) = setting.reports {
        let why = failures.why.clone();
        let why = why.or(refused.map(str::to_owned));
        reports
            .borrow_mut()
            .push(crate::report::kernel(&low, kernel, why));
    }
    info.private_size = private;
    fill_in(info, &low, groups_may_join && !low.one_row);
    ir.at_end(entry);
    if low.one_row {
        return Ok(Some(only_for_one_row(&low, setting.symbol, setup)));
    }
    ir.br(setup);
    Ok(None)
}

/// The end of a kernel's entry: to `setup` for groups of one row, else a call of the function that is returned.
fn only_for_one_row(low: &Lower<'_>, symbol: &str, setup: Bb) -> Val {
    let ir = low.ir;
    let other = declare(ir, &format!("{symbol}.rows"));
    ir.set_linkage(other, Linkage::LLVMInternalLinkage);
    ir.attribute(other, None, "noinline", 0);
    let [y, z] = [4, 8].map(|d| {
        let launch = ir.param(low.llvm_function, 1);
        ir.load(
            ir.i32,
            ir.offset_by(launch, launch_offset::GROUP_SIZE + d),
            4,
        )
    });
    let one = ir.int_const(ir.i32, 1);
    let is_row = ir.icmp(IntPred::LLVMIntEQ, ir.bin(Opcode::LLVMMul, y, z), one);
    let several = low.new_block(c"rows");
    ir.cond_br(is_row, setup, several);
    ir.at_end(several);
    let params: Vec<Val> = (0..5).map(|i| ir.param(low.llvm_function, i)).collect();
    ir.call(other, kernel_type(ir), &params);
    ir.ret_void();
    other
}

impl Lower<'_> {
    fn group_loop(&mut self, first: Val, count: Val) -> Result<(), BuildError> {
        let ir = self.ir;
        let end = ir.add(first, count);
        // A launch without a cancel flag reads a zero on the kernel's own stack instead.
        let cancel = ir.load(
            ir.ptr,
            ir.offset_by(ir.param(self.llvm_function, 1), launch_offset::CANCEL),
            8,
        );
        let no_cancel = self.entry_alloca(ir.i8, 1);
        ir.store(ir.int_const(ir.i8, 0), no_cancel, 1);
        let none = ir.icmp(IntPred::LLVMIntEQ, cancel, ir.null(ir.ptr));
        let cancel = ir.select(none, no_cancel, cancel);
        if let Some(form) = self.lanes.take() {
            self.make_windows(&form.privatised);
            self.lanes = Some(form);
        }
        let setup = ir.here();
        let [head, check, body, next, exit] = [
            c"group.head",
            c"group.check",
            c"group",
            c"group.next",
            c"exit",
        ]
        .map(|name| self.new_block(name));
        ir.br(head);
        ir.at_end(head);
        let group = ir.phi(ir.i64);
        ir.add_incoming(group, first, setup);
        ir.cond_br(ir.icmp(IntPred::LLVMIntULT, group, end), check, exit);
        ir.at_end(check);
        let stop = ir.load(ir.i8, cancel, 1);
        ir.set_ordering(stop, Ordering::LLVMAtomicOrderingMonotonic);
        let stop = ir.icmp(IntPred::LLVMIntNE, stop, ir.int_const(ir.i8, 0));
        ir.cond_br(stop, exit, body);
        ir.at_end(body);
        let [nx, ny, _] = self.at.launch.count;
        let rest = ir.bin(crate::llvm::Opcode::LLVMUDiv, group, nx);
        let x = ir.bin(crate::llvm::Opcode::LLVMURem, group, nx);
        let y = ir.bin(crate::llvm::Opcode::LLVMURem, rest, ny);
        let z = ir.bin(crate::llvm::Opcode::LLVMUDiv, rest, ny);
        self.at.group = [x, y, z];
        for d in 0..3 {
            let start = ir.mul(self.at.group[d], self.at.launch.size[d]);
            self.at.base[d] = ir.add(start, self.at.launch.offset[d]);
        }
        if let Some(form) = self.lanes.take() {
            crate::lanes::emit(self, &form, next)?;
            self.lanes = Some(form);
        } else if self.cut.segments.stops.is_empty() {
            self.nested_items(next)?;
        } else {
            self.passes(next)?;
        }
        ir.at_end(next);
        let following = ir.add(group, ir.i64c(1));
        ir.add_incoming(group, following, next);
        ir.br(head);
        ir.at_end(exit);
        self.close_windows();
        ir.ret_void();
        Ok(())
    }

    /// Three nested loops around the body; continues at `done`.
    fn nested_items(&mut self, done: Bb) -> Result<(), BuildError> {
        let ir = self.ir;
        let mut ids = [ir.i64c(0); 3];
        let mut heads = [self.entry; 3];
        for d in [2, 1, 0] {
            let before = ir.here();
            heads[d] = self.new_block(c"item");
            ir.br(heads[d]);
            ir.at_end(heads[d]);
            ids[d] = ir.phi(ir.i64);
            ir.add_incoming(ids[d], ir.i64c(0), before);
        }
        let row = ir.add(ir.mul(ids[2], self.at.launch.size[1]), ids[1]);
        let linear = ir.add(ir.mul(row, self.at.launch.size[0]), ids[0]);
        // Private arrays too large for the stack lie in one record: the work-items run one after another.
        self.at.item = Item {
            local: ids,
            linear,
            record: self.state,
        };
        let stopped = self.new_block(c"item.done");
        self.cut.item_stopped = stopped;
        self.segments()?;
        ir.at_end(stopped);
        for d in 0..3 {
            let latch = ir.here();
            let next = ir.add(ids[d], ir.i64c(1));
            ir.set_wrap(next, true, true);
            ir.add_incoming(ids[d], next, latch);
            let after = if d == 2 {
                done
            } else {
                self.new_block(c"item.row")
            };
            let more = ir.icmp(IntPred::LLVMIntULT, next, self.at.launch.size[d]);
            ir.cond_br(more, heads[d], after);
            ir.at_end(after);
        }
        Ok(())
    }

    /// Passes over records until all work-items have returned; continues at `done`.
    fn passes(&mut self, done: Bb) -> Result<(), BuildError> {
        let ir = self.ir;
        let last = self.cut.segments.sub_group_stops;
        let var32 = || self.entry_alloca(ir.i32, 4);
        let var64 = || self.entry_alloca(ir.i64, 8);
        let (round_selector, selector, lowest, round_lowest) = (var32(), var32(), var32(), var32());
        let (start, lane) = (var64(), var64());
        let ids = [var64(), var64(), var64()];
        let start_ids = [var64(), var64(), var64()];
        let at_stop = var32();
        let get32 = |var: Val| ir.load(ir.i32, var, 4);
        let get64 = |var: Val| ir.load(ir.i64, var, 8);
        let put32 = |value: Val, var: Val| ir.store(value, var, 4);
        let put64 = |value: Val, var: Val| ir.store(value, var, 8);
        let umin = |a: Val, b: Val| {
            let ty = ir.type_of(a);
            ir.intrinsic("llvm.umin", &[ty], &[a, b])
        };
        let [
            round,
            block,
            pass,
            item,
            dispatch,
            stopped,
            next,
            pass_end,
            block_end,
            round_end,
        ] = [
            c"round",
            c"block",
            c"pass",
            c"item",
            c"dispatch",
            c"item.stopped",
            c"item.next",
            c"pass.end",
            c"block.end",
            c"round.end",
        ]
        .map(|name| self.new_block(name));

        put32(ir.i32c(START), round_selector);
        ir.br(round);

        ir.at_end(round);
        put64(ir.i64c(0), start);
        put32(ir.i32c(DONE), round_lowest);
        for id in start_ids {
            put64(ir.i64c(0), id);
        }
        ir.br(block);

        ir.at_end(block);
        put32(get32(round_selector), selector);
        ir.br(pass);

        ir.at_end(pass);
        put64(ir.i64c(0), lane);
        put32(ir.i32c(DONE), lowest);
        for (id, from) in ids.into_iter().zip(start_ids) {
            put64(get64(from), id);
        }
        let left = ir.sub(self.at.launch.items, get64(start));
        let len = if last == 0 {
            left
        } else {
            umin(left, ir.i64c(u64::from(self.sub_group_size)))
        };
        let block_start = get64(start);
        ir.br(item);

        ir.at_end(item);
        let linear = ir.add(block_start, get64(lane));
        let record = self.record_of(linear);
        let chosen = get32(selector);
        let begun = ir.icmp(IntPred::LLVMIntNE, chosen, ir.i32c(START));
        let old = ir.load(ir.i32, record, 4);
        let old = ir.select(begun, old, ir.i32c(START));
        let all = ir.icmp(IntPred::LLVMIntEQ, chosen, ir.i32c(ALL));
        let alive = ir.icmp(IntPred::LLVMIntNE, old, ir.i32c(DONE));
        let named = ir.icmp(IntPred::LLVMIntEQ, old, chosen);
        put32(old, at_stop);
        ir.cond_br(ir.select(all, alive, named), dispatch, next);

        self.at.item = Item {
            local: {
                ir.at_end(dispatch);
                ids.map(get64)
            },
            linear,
            record,
        };
        self.cut.at_stop = at_stop;
        self.cut.item_stopped = stopped;
        self.segments_with_dispatch(dispatch, old, next)?;

        ir.at_end(stopped);
        ir.store(get32(at_stop), record, 4);
        ir.br(next);

        ir.at_end(next);
        put32(umin(get32(lowest), get32(at_stop)), lowest);
        self.advance(ids);
        let following = ir.add(get64(lane), ir.i64c(1));
        put64(following, lane);
        ir.cond_br(ir.icmp(IntPred::LLVMIntULT, following, len), item, pass_end);

        ir.at_end(pass_end);
        if last == 0 {
            ir.br(block_end);
        } else {
            self.meet(get32(lowest), block_start, len, selector, pass, block_end)?;
        }

        ir.at_end(block_end);
        put32(umin(get32(round_lowest), get32(lowest)), round_lowest);
        for (id, to) in ids.into_iter().zip(start_ids) {
            put64(get64(id), to);
        }
        let following = ir.add(block_start, len);
        put64(following, start);
        let more = ir.icmp(IntPred::LLVMIntULT, following, self.at.launch.items);
        ir.cond_br(more, block, round_end);

        ir.at_end(round_end);
        put32(ir.i32c(ALL), round_selector);
        let alive = ir.icmp(IntPred::LLVMIntNE, get32(round_lowest), ir.i32c(DONE));
        ir.cond_br(alive, round, done);
        Ok(())
    }

    /// The record of the work-item with that linear local id.
    pub(crate) fn record_of(&self, linear: Val) -> Val {
        let ir = self.ir;
        ir.offset(self.state, ir.mul(linear, ir.i64c(self.cut.record.stride)))
    }

    /// Local ids of the next work-item, x fastest.
    fn advance(&self, ids: [Val; 3]) {
        let ir = self.ir;
        let mut carry = ir.i64c(1);
        for (d, id) in ids.into_iter().enumerate() {
            let next = ir.add(ir.load(ir.i64, id, 8), carry);
            let over = ir.icmp(IntPred::LLVMIntUGE, next, self.at.launch.size[d]);
            ir.store(ir.select(over, ir.i64c(0), next), id, 8);
            carry = ir.cast(crate::llvm::Opcode::LLVMZExt, over, ir.i64);
        }
    }

    fn segments_with_dispatch(
        &mut self,
        dispatch: Bb,
        old: Val,
        otherwise: Bb,
    ) -> Result<(), BuildError> {
        let ir = self.ir;
        for i in 0..self.cut.segments.saved.len() {
            let v = self.cut.segments.saved[i];
            let ty = self.values.memory(self.ty(v));
            let slot = self.entry_alloca(ty, self.cut.record.align_of_value(v));
            self.held.slots.insert(v, slot);
        }
        self.make_segment_blocks();
        // Copies of by-value parameters and the like are made when a work-item begins.
        let begin = self.new_block(c"begin");
        let mut cases = vec![(ir.i32c(START), begin)];
        for stop in &self.cut.segments.stops {
            cases.push((ir.i32c(stop.number), self.cut.starts[stop.resume]));
        }
        ir.at_end(dispatch);
        ir.switch(old, otherwise, &cases);
        ir.at_end(begin);
        self.begin_item();
        ir.br(self.cut.starts[0]);
        self.emit_segments()
    }

    fn segments(&mut self) -> Result<(), BuildError> {
        self.make_segment_blocks();
        self.begin_item();
        self.ir.br(self.cut.starts[0]);
        self.emit_segments()
    }

    fn begin_item(&mut self) {
        let ir = self.ir;
        for i in 0..self.held.copies.len() {
            let (param, from, size) = self.held.copies[i];
            let to = self.param(param);
            ir.memcpy(to, from, ir.i64c(size), 1);
        }
    }

    fn make_segment_blocks(&mut self) {
        self.cut.starts = self
            .cut
            .segments
            .list
            .iter()
            .map(|_| self.new_block(c"segment"))
            .collect();
        self.cut.ends = self.cut.starts.clone();
    }

    fn emit_segments(&mut self) -> Result<(), BuildError> {
        let mut phis = Vec::new();
        for at in 0..self.cut.segments.list.len() {
            self.held.block_values.clear();
            self.ir.at_end(self.cut.starts[at]);
            self.resume(at)?;
            let segment = &self.cut.segments.list[at];
            let (block, range) = (segment.block, segment.insts.clone());
            let function = self.function;
            let insts = &function.blocks[block].insts[range];
            let mut made_phis = Vec::new();
            for &inst in insts {
                let result = function.insts[inst.index()].result;
                if let (Op::Phi(_), Some(result)) = (&function.insts[inst.index()].op, result) {
                    let phi = self.ir.phi(self.values.register(self.ty(result)));
                    self.held.block_values.insert(result, phi);
                    made_phis.push((result, phi));
                    phis.push((inst, phi));
                    continue;
                }
                if result.is_some_and(|r| self.cut.segments.rematerialised[r.index()]) {
                    continue;
                }
                // Phis stand first in a block: from here on other instructions may follow.
                for (result, phi) in made_phis.drain(..) {
                    self.define(result, phi);
                }
                self.instruction(inst)?;
            }
            for (result, phi) in made_phis.drain(..) {
                self.define(result, phi);
            }
            self.end_segment(at)?;
            self.cut.ends[at] = self.ir.here();
            self.finish_segment(at)?;
        }
        for (inst, phi) in phis {
            self.fill_phi(inst, phi);
        }
        Ok(())
    }

    /// At the start of a segment that follows a stop: loads the values that it needs from the record.
    fn resume(&mut self, at: usize) -> Result<(), BuildError> {
        let Some(stop) = at
            .checked_sub(1)
            .and_then(|before| self.cut.segments.list[before].stop)
        else {
            return Ok(());
        };
        for i in 0..self.cut.segments.stops[stop].live.len() {
            let v = self.cut.segments.stops[stop].live[i];
            let (ty, offset) = (self.values.memory(self.ty(v)), self.cut.record.values[&v]);
            let align = self.cut.record.align_of_value(v);
            let kept = self
                .ir
                .load(ty, self.ir.offset_by(self.at.item.record, offset), align);
            self.ir.store(kept, self.held.slots[&v], align);
            let register = self.values.to_register(kept, self.ty(v));
            self.held.block_values.insert(v, register);
        }
        if let Some(group) = self.cut.segments.stops[stop].group
            && let Some(result) = self.function.insts[group.index()].result
        {
            let value = self.group_result(stop, result);
            self.define(result, value);
        }
        Ok(())
    }

    /// Evaluates what must precede the segment's last jump: the operands of a sub-group operation.
    fn end_segment(&mut self, at: usize) -> Result<(), BuildError> {
        if let Some(stop) = self.cut.segments.list[at].stop
            && let Some(group) = self.cut.segments.stops[stop].group
        {
            self.leave_group_operands(group);
        }
        Ok(())
    }

    fn finish_segment(&mut self, at: usize) -> Result<(), BuildError> {
        let ir = self.ir;
        if let Some(stop) = self.cut.segments.list[at].stop {
            for i in 0..self.cut.segments.stops[stop].live.len() {
                let v = self.cut.segments.stops[stop].live[i];
                // The result of the stop's own operation is computed later.
                let value = self.get(v);
                let value = self.values.to_memory(value, self.ty(v));
                let to = ir.offset_by(self.at.item.record, self.cut.record.values[&v]);
                ir.store(value, to, self.cut.record.align_of_value(v));
            }
            ir.store(
                ir.i32c(self.cut.segments.stops[stop].number),
                self.cut.at_stop,
                4,
            );
            ir.br(self.cut.item_stopped);
            return Ok(());
        }
        let function = self.function;
        let block = self.cut.segments.list[at].block;
        let start = |low: &Self, to: kernel_ir::BlockId| {
            low.cut.starts[low.cut.segments.first_segment[to.index()]]
        };
        match &function.blocks[block].term {
            Terminator::Br(to) => ir.br(start(self, *to)),
            Terminator::CondBr {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.get(*cond);
                self.cut.ends[at] = ir.here();
                ir.cond_br(cond, start(self, *then), start(self, *otherwise));
            }
            Terminator::Switch {
                value,
                default,
                cases,
            } => {
                let selector = self.get(*value);
                let ty = ir.type_of(selector);
                self.cut.ends[at] = ir.here();
                let cases: Vec<(Val, Bb)> = cases
                    .iter()
                    .map(|&(case, to)| (ir.int_const(ty, case), start(self, to)))
                    .collect();
                ir.switch(selector, start(self, *default), &cases);
            }
            term @ (Terminator::Ret(_) | Terminator::Unreachable) => {
                self.leave_result(term.operand());
                self.cut.ends[at] = ir.here();
                if !self.cut.segments.stops.is_empty() {
                    ir.store(ir.i32c(DONE), self.cut.at_stop, 4);
                }
                ir.br(self.cut.item_stopped);
            }
        }
        Ok(())
    }

    fn fill_phi(&mut self, inst: InstId, phi: Val) {
        let function = self.function;
        let inst = &function.insts[inst.index()];
        let Op::Phi(incoming) = &inst.op else { return };
        let Some(own) = inst.result.and_then(|result| self.block_of(result)) else {
            return;
        };
        for &(from, v) in incoming {
            let segment = self.cut.segments.last_segment[from.index()];
            if segment == usize::MAX {
                continue;
            }
            let end = self.cut.ends[segment];
            self.held.block_values.clear();
            self.ir.before_end(end);
            let value = self.get(v);
            let mut edges = 0;
            function.blocks[from.index()]
                .term
                .successors(|to| edges += usize::from(to.index() == own));
            for _ in 0..edges {
                self.ir.add_incoming(phi, value, end);
            }
        }
    }

    fn block_of(&self, result: ValueId) -> Option<usize> {
        let ValueDef::Inst(inst) = self.function.values[result.index()].def else {
            return None;
        };
        self.cut.segments.list.iter().find_map(|segment| {
            let insts = &self.function.blocks[segment.block].insts[segment.insts.clone()];
            insts.contains(&inst).then_some(segment.block)
        })
    }
}
