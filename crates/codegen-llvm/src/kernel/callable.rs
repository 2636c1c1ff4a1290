//! Callable functions: those that pointers refer to, and those that call themselves.
//!
//! A pointer to a function is the address of its [`kernel_ir::abi`] record. The code takes two pointers: a context,
//! which identifies the calling work-item, and a frame, which carries the result and then the arguments, each aligned:
//!
//! ```text
//! int f(long a, char b)      frame: 0 result, 8 a, 16 b
//! ```
//!
//! One work-item at a time calls. A callable function does not wait for other work-items, so it has no stops.

use kernel_ir::abi::{CALLEE_SYMBOL, callable};
use kernel_ir::{
    AddressSpace, BuildError, Constant, Function, FunctionId, GlobalId, Module, Op, Type, TypeId,
    ValueDef, ValueId,
};

use super::STACK_BYTES;
use crate::launch::load_launch;
use crate::llvm::{Linkage, Ty, Val};
use crate::lower::{Item, Lower, Position, Within, unsupported};
use crate::record::Record;
use crate::values::Values;
use vectorise::{LaneOrder, Segments, TargetInfo, private_arrays};

/// Byte offsets in the context.
mod context {
    pub(super) const LAUNCH: u64 = 0;
    pub(super) const MEMORY: u64 = 8;
    pub(super) const GROUP: u64 = 16;
    pub(super) const LOCAL: u64 = 40;
    pub(super) const LINEAR: u64 = 64;
    /// Addresses of the work-group variables by their numbers in the module.
    pub(super) const VARIABLES: u64 = 72;
    /// End of the private memory on the stack.
    pub(super) const TOP: u64 = 80;
    /// Bytes of the private memory in records.
    pub(super) const RECORDS: u64 = 88;
    pub(super) const SUB_GROUP: u64 = 96;
    pub(super) const BYTES: u64 = 104;
}

/// Settings that all callable functions share.
pub(crate) struct Shared {
    pub(crate) fast: u32,
    pub(crate) target: TargetInfo,
    pub(crate) sub_group_size: u32,
}

/// Offsets of the arguments in a frame, and the frame's bytes.
fn frame(module: &Module, result: Option<TypeId>, args: &[TypeId]) -> (Vec<u64>, u64) {
    let types = &module.types;
    let mut at = result.map_or(0, |ty| types.size_of(ty));
    let offsets = args
        .iter()
        .map(|&ty| {
            at = at.next_multiple_of(align(module, ty));
            at += types.size_of(ty);
            at - types.size_of(ty)
        })
        .collect();
    (offsets, at.next_multiple_of(16).max(16))
}

fn align(module: &Module, ty: TypeId) -> u64 {
    module.types.align_of(ty).clamp(1, 16)
}

fn result_of(module: &Module, function: &Function) -> Option<TypeId> {
    function
        .result
        .filter(|&ty| *module.types.get(ty) != Type::Void)
}

fn types_of(function: &Function, values: &[ValueId]) -> Vec<TypeId> {
    values.iter().map(|&v| function.ty(v)).collect()
}

/// The work-group variables that a function uses.
fn variables(module: &Module, function: &Function) -> Vec<GlobalId> {
    let mut found: Vec<GlobalId> = Vec::new();
    for value in &function.values {
        let mut constants = Vec::new();
        match value.def {
            ValueDef::Global(id) => found.push(id),
            ValueDef::Const(id) => constants.push(id),
            _ => {}
        }
        while let Some(id) = constants.pop() {
            match module.constants.get(id) {
                Constant::GlobalAddress(id, _) => found.push(*id),
                Constant::Composite(parts) => constants.extend(parts),
                _ => {}
            }
        }
    }
    found.retain(|id| module.globals[id.index()].space == AddressSpace::Local);
    found.sort_unstable();
    found.dedup();
    found
}

fn insts(function: &Function) -> impl Iterator<Item = &Op> {
    let ids = function.blocks.iter().flat_map(|b| &b.insts);
    ids.map(|id| &function.insts[id.index()].op)
}

/// The reason why `function` cannot be callable.
fn refusal(function: &Function) -> Option<&'static str> {
    if function.blocks.is_empty() {
        return Some("it is an import that nothing satisfies");
    }
    if insts(function).any(|op| vectorise::stop_of(op).is_some() || matches!(op, Op::Group(..))) {
        return Some("it meets other work-items");
    }
    let private: u64 = private_arrays(function).iter().map(|a| a.1).sum();
    (private > STACK_BYTES).then_some("its private arrays take more than 1 MiB")
}

impl Values<'_> {
    /// The declaration of a function's code; [`define_all`] adds the body.
    fn code(&self, id: FunctionId) -> (Val, Ty) {
        let ir = self.ir;
        let ty = ir.function_type(ir.void, &[ir.ptr, ir.ptr]);
        let made = self.codes.borrow().get(&id).copied();
        let code = made.unwrap_or_else(|| {
            let code = ir.add_function(&format!("solum.code.{}", id.0), ty);
            self.codes.borrow_mut().insert(id, code);
            self.undefined.borrow_mut().push(id);
            code
        });
        (code, ty)
    }

    /// The address of a function's record, which is put into the object on first use.
    pub(crate) fn callable(&self, id: FunctionId) -> Val {
        if let Some(&made) = self.callables.borrow().get(&id) {
            return made;
        }
        let (ir, module) = (self.ir, self.module);
        let function = &module.functions[id.index()];
        let symbol = if function.exported {
            callable::symbol(&function.name)
        } else {
            format!("solum.callable.{}", id.0)
        };
        let ty = ir.structure(&[ir.i64, ir.i64, ir.i64, ir.ptr], false);
        let record = ir.add_global(&symbol, ty);
        self.callables.borrow_mut().insert(id, record);
        let shares = !variables(module, function).is_empty()
            || insts(function).any(|op| matches!(op, Op::Printf(..)));
        let result = result_of(module, function);
        let code = match refusal(function) {
            None => self.code(id).0,
            Some(_) => ir.null(ir.ptr),
        };
        let parts = [
            ir.i64c(callable::MAGIC),
            ir.i64c(
                self.signatures()
                    .of(result, &types_of(function, &function.params)),
            ),
            ir.i64c(if shares { callable::program(module) } else { 0 }),
            code,
        ];
        ir.define_global(record, ir.const_struct(&parts, false), true, 16);
        if function.exported {
            ir.hide(record);
        } else {
            ir.set_linkage(record, Linkage::LLVMInternalLinkage);
        }
        record
    }
}

/// Defines the code of all functions that are called or pointed to.
pub(crate) fn define_all(values: &Values<'_>, shared: &Shared) -> Result<(), BuildError> {
    for (i, function) in values.module.functions.iter().enumerate() {
        if function.exported {
            values.callable(FunctionId(i as u32));
        }
    }
    loop {
        let next = values.undefined.borrow_mut().pop();
        match next {
            Some(id) => define(values, shared, id)?,
            None => return Ok(()),
        }
    }
}

fn define(values: &Values<'_>, shared: &Shared, id: FunctionId) -> Result<(), BuildError> {
    let (ir, module) = (values.ir, values.module);
    let function = &module.functions[id.index()];
    let (code, _) = values.code(id);
    ir.set_linkage(code, Linkage::LLVMInternalLinkage);
    ir.attribute(code, None, "nounwind", 0);
    ir.attribute(code, None, "noredzone", 0);
    // Too deep a recursion ends at the guard page: the prologue touches every page of a frame.
    ir.text_attribute(code, "probe-stack", "inline-asm");
    let [entry, setup, end] = [c"entry", c"setup", c"end"].map(|name| ir.block(code, name));
    ir.at_end(setup);
    let (context, frame_at) = (ir.param(code, 0), ir.param(code, 1));
    let at = |offset: u64| ir.offset_by(context, offset);
    let wide = |offset: u64| ir.load(ir.i64, at(offset), 8);
    let pointer = |offset: u64| ir.load(ir.ptr, at(offset), 8);
    let launch = load_launch(ir, pointer(context::LAUNCH));
    let memory = pointer(context::MEMORY);
    let group = [0, 8, 16].map(|d| wide(context::GROUP + d));
    let base = [0, 1, 2].map(|d| ir.add(ir.mul(group[d], launch.size[d]), launch.offset[d]));
    let item = Item {
        local: [0, 8, 16].map(|d| wide(context::LOCAL + d)),
        linear: wide(context::LINEAR),
        record: ir.null(ir.ptr),
    };
    let within = Within {
        context,
        frame: frame_at,
        top: pointer(context::TOP),
        records: wide(context::RECORDS),
        sub_group: wide(context::SUB_GROUP),
    };
    let table = pointer(context::VARIABLES);
    let locals = variables(module, function)
        .into_iter()
        .map(|id| {
            let place = ir.offset_by(table, 8 * u64::from(id.0));
            (id, ir.load(ir.ptr, place, 8))
        })
        .collect();
    let params = types_of(function, &function.params);
    let (offsets, _) = frame(module, result_of(module, function), &params);
    let params = params
        .iter()
        .zip(offsets)
        .map(|(&ty, offset)| {
            let place = ir.offset_by(frame_at, offset);
            let loaded = ir.load(values.memory(ty), place, align(module, ty));
            values.to_register(loaded, ty)
        })
        .collect();
    let segments = Segments::new(function, &module.constants, None, LaneOrder::Sequential);
    let state = ir.offset(memory, launch.state_offset);
    let record = Record::new(values, function, &segments, &[], &[]);
    let mut low = Lower {
        within: Some(within),
        fast: shared.fast,
        target: shared.target,
        sub_group_size: shared.sub_group_size,
        at: Position {
            launch,
            group,
            base,
            item,
        },
        ..Lower::new(values, function, segments, (code, entry), (memory, state))
    };
    low.cut.record = record;
    low.cut.item_stopped = end;
    low.held.params = params;
    low.held.locals = locals;
    for (value, size, align) in private_arrays(function) {
        let slot = low.entry_alloca(ir.array(ir.i8, size), align);
        low.held.stack_allocas.insert(value, slot);
    }
    low.segments()?;
    ir.at_end(end);
    ir.ret_void();
    ir.at_end(entry);
    ir.br(setup);
    Ok(())
}

impl Lower<'_> {
    /// Stores a function's result for its caller; does nothing in a kernel.
    pub(super) fn leave_result(&mut self, result: Option<ValueId>) {
        let (Some(within), Some(v)) = (self.within, result) else {
            return;
        };
        let ty = self.ty(v);
        let value = self.get(v);
        let value = self.values.to_memory(value, ty);
        self.ir
            .store(value, within.frame, align(self.values.module, ty));
    }

    /// The launch record, of a kernel or of the kernel that has called.
    pub(crate) fn launch_record(&self) -> Val {
        let ir = self.ir;
        match &self.within {
            Some(within) => ir.load(ir.ptr, ir.offset_by(within.context, context::LAUNCH), 8),
            None => ir.param(self.llvm_function, 1),
        }
    }

    /// The caller's context: that of the function being lowered, or of the kernel's current work-item.
    fn context(&mut self) -> Val {
        if let Some(within) = self.within {
            return within.context;
        }
        let ir = self.ir;
        let context = self.entry_alloca(ir.array(ir.i8, context::BYTES), 16);
        let put = |value: Val, offset: u64| ir.store(value, ir.offset_by(context, offset), 8);
        put(ir.param(self.llvm_function, 1), context::LAUNCH);
        put(self.memory, context::MEMORY);
        for (d, at) in [0, 8, 16].into_iter().enumerate() {
            put(self.at.group[d], context::GROUP + at);
            put(self.at.item.local[d], context::LOCAL + at);
        }
        put(self.at.item.linear, context::LINEAR);
        let (top, records) = self.private_places();
        put(top, context::TOP);
        put(records, context::RECORDS);
        put(
            ir.i64c(u64::from(self.sub_group_size.max(1))),
            context::SUB_GROUP,
        );
        let mut variables: Vec<_> = self.held.locals.iter().map(|(&id, &at)| (id, at)).collect();
        variables.sort_unstable_by_key(|v| v.0);
        let count = variables.last().map_or(0, |last| u64::from(last.0.0) + 1);
        let table = self.entry_alloca(ir.array(ir.ptr, count), 8);
        for (id, at) in variables {
            ir.store(at, ir.offset_by(table, 8 * u64::from(id.0)), 8);
        }
        put(table, context::VARIABLES);
        context
    }

    fn call(&mut self, code: (Val, Ty), args: &[ValueId], result: Option<ValueId>) -> Option<Val> {
        let (ir, module) = (self.ir, self.values.module);
        let result = result.map(|r| self.ty(r));
        let types = types_of(self.function, args);
        let (offsets, size) = frame(module, result, &types);
        let frame = self.entry_alloca(ir.array(ir.i8, size), 16);
        for ((&v, ty), offset) in args.iter().zip(types).zip(offsets) {
            let value = self.get(v);
            let value = self.values.to_memory(value, ty);
            ir.store(value, ir.offset_by(frame, offset), align(module, ty));
        }
        let context = self.context();
        ir.call(code.0, code.1, &[context, frame]);
        result.map(|ty| {
            let loaded = ir.load(self.values.memory(ty), frame, align(module, ty));
            self.values.to_register(loaded, ty)
        })
    }

    /// A direct call of a callable function.
    pub(crate) fn call_function(
        &mut self,
        callee: FunctionId,
        args: &[ValueId],
        result: Option<ValueId>,
        word: u32,
    ) -> Result<Option<Val>, BuildError> {
        let function = &self.values.module.functions[callee.index()];
        if let Some(why) = refusal(function) {
            return Err(unsupported(
                word,
                format!("{:?} cannot be called out of line: {why}", function.name),
            ));
        }
        let code = self.values.code(callee);
        Ok(self.call(code, args, result))
    }

    /// A call through a pointer; a pointer to anything but a function of that type is a fault.
    pub(crate) fn call_pointer(
        &mut self,
        pointer: ValueId,
        args: &[ValueId],
        result: Option<ValueId>,
    ) -> Option<Val> {
        let (ir, module) = (self.ir, self.values.module);
        let expected = self
            .values
            .signatures()
            .of(result.map(|r| self.ty(r)), &types_of(self.function, args));
        let pointer = self.get(pointer);
        let (find, ty) = ir.external(CALLEE_SYMBOL, ir.ptr, &[ir.ptr, ir.i64, ir.i64]);
        let operands = [
            pointer,
            ir.i64c(expected),
            ir.i64c(callable::program(module)),
        ];
        let code = ir.call(find, ty, &operands);
        let ty = ir.function_type(ir.void, &[ir.ptr, ir.ptr]);
        self.call((code, ty), args, result)
    }
}
