//! Function bodies: blocks, phis, branches and calls; other instructions are dispatched to their modules.

use super::fault::{At, Res, invalid, unsupported};
use super::lower::Lower;
use super::source::FunctionSource;
use super::table::{Callee, Entity, ExtSet};
use crate::{BlockId, Op, Terminator, Type, ValueId};
use spirv::Op as Spv;
use spirv_reader::{Instruction, Operands};
use std::collections::{HashMap, HashSet};

/// The decoration ArgumentAttributeINTEL of SPV_INTEL_function_pointers.
const ARGUMENT_ATTRIBUTE: u32 = 6409;

/// A block of the SPIR-V module.
struct Piece {
    block: BlockId,
    /// Its instructions after the label.
    insts: std::ops::Range<usize>,
}

fn is_terminator(op: Spv) -> bool {
    matches!(
        op,
        Spv::Branch
            | Spv::BranchConditional
            | Spv::Switch
            | Spv::Return
            | Spv::ReturnValue
            | Spv::Unreachable
            | Spv::Kill
            | Spv::TerminateInvocation
    )
}

impl<'w> Lower<'_, 'w> {
    /// Lowers the body of a function that has its parameters.
    pub(super) fn body(&mut self, function: &FunctionSource<'w>) -> Res<()> {
        for (i, &(id, ty, word)) in function.params.iter().enumerate() {
            let Some(&value) = self.f.params.get(i) else {
                return invalid("more parameters than the function type").at(word);
            };
            self.table
                .define_local(id, ty, Entity::Value(value))
                .at(word)?;
        }
        // An additional first block for private variables, without predecessors.
        let prologue = self.f.add_block();
        self.restores = function
            .body
            .iter()
            .any(|inst| u32::from(inst.opcode) == Spv::RestoreMemoryINTEL as u32);
        let pieces = self.pieces(function)?;
        for index in self.reachable(function, &pieces)? {
            let Some(piece) = pieces.get(index) else {
                continue;
            };
            self.block = piece.block;
            self.reached.insert(piece.block);
            let insts = function.body.get(piece.insts.clone()).unwrap_or(&[]);
            for (at, inst) in insts.iter().enumerate() {
                self.word = inst.word as u32;
                let Some(op) = Spv::from_u32(u32::from(inst.opcode)) else {
                    return unsupported("unknown instruction").at(inst.word);
                };
                self.go_on(op, insts.get(at + 1..).unwrap_or(&[]));
                match self.terminator(op, inst).at(inst.word)? {
                    Some(term) => self.terminate(term),
                    None => self.instruction(op, inst).at(inst.word)?,
                }
            }
        }
        let Some(first) = pieces.first() else {
            return invalid("the function has no block").at(function.word);
        };
        self.block = prologue;
        self.terminate(Terminator::Br(first.block));
        self.fill_phis()?;
        self.tidy();
        Ok(())
    }

    /// Splits the body into blocks and checks that each has one terminator, at its end.
    fn pieces(&mut self, function: &FunctionSource<'w>) -> Res<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut open = false;
        for (i, inst) in function.body.iter().enumerate() {
            let op = Spv::from_u32(u32::from(inst.opcode));
            if op == Some(Spv::Label) {
                if open {
                    return invalid("the block before has no terminator").at(inst.word);
                }
                let id = inst.cursor().next()?;
                self.table
                    .define_local(id, 0, Entity::Named)
                    .at(inst.word)?;
                let block = self.f.add_block();
                self.labels.insert(id, block);
                pieces.push(Piece {
                    block,
                    insts: i + 1..i + 1,
                });
                open = true;
                continue;
            }
            let Some(piece) = pieces.last_mut().filter(|_| open) else {
                return invalid("not in a block: an OpLabel is needed first").at(inst.word);
            };
            piece.insts.end = i + 1;
            open = !op.is_some_and(is_terminator);
        }
        if open {
            return invalid("the last block has no terminator").at(function.word);
        }
        Ok(pieces)
    }

    /// Reachable blocks in reverse post-order: dominators come first, whatever their order in the module.
    fn reachable(&self, function: &FunctionSource<'w>, pieces: &[Piece]) -> Res<Vec<usize>> {
        // Types of results, since the width of OpSwitch's literals is that of its operand.
        let mut types = None;
        let mut successors = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let last = piece.insts.end.checked_sub(1);
            let Some(inst) = last.and_then(|last| function.body.get(last)) else {
                successors.push(Vec::new());
                continue;
            };
            let ids: Vec<u32> = match (Spv::from_u32(u32::from(inst.opcode)), inst.operands) {
                (Some(Spv::Branch), &[to, ..]) => vec![to],
                (Some(Spv::BranchConditional), &[_, then, otherwise, ..]) => vec![then, otherwise],
                (Some(Spv::Switch), &[selector, default, ref cases @ ..]) => {
                    let types = types.get_or_insert_with(|| {
                        let all = function.body.iter().filter_map(|inst| match inst.operands {
                            &[ty, id, ..] if self.table.ty(ty).is_ok() => Some((id, ty)),
                            _ => None,
                        });
                        let params = function.params.iter().map(|&(id, ty, _)| (id, ty));
                        params.chain(all).collect::<HashMap<u32, u32>>()
                    });
                    let ty = match self.table.type_id_of(selector) {
                        0 => types.get(&selector).copied().unwrap_or(0),
                        ty => ty,
                    };
                    let wide = self
                        .table
                        .ty(ty)
                        .is_ok_and(|ty| self.module.types.size_of(ty.ir) == 8);
                    let targets = cases.chunks(if wide { 3 } else { 2 });
                    let targets = targets.filter_map(|case| case.last().copied());
                    std::iter::once(default).chain(targets).collect()
                }
                _ => Vec::new(),
            };
            let mut to = Vec::with_capacity(ids.len());
            for id in ids {
                // The block of piece `n` is number `n + 1`.
                to.push(self.label(id).at(inst.word)?.index().saturating_sub(1));
            }
            successors.push(to);
        }
        let mut seen = vec![false; pieces.len()];
        let mut order = Vec::with_capacity(pieces.len());
        let mut stack = Vec::new();
        if let Some(first) = seen.first_mut() {
            *first = true;
            stack.push((0usize, 0usize));
        }
        while let Some((piece, next)) = stack.pop() {
            match successors.get(piece).and_then(|to| to.get(next)) {
                Some(&to) => {
                    stack.push((piece, next + 1));
                    if let Some(slot @ false) = seen.get_mut(to) {
                        *slot = true;
                        stack.push((to, 0));
                    }
                }
                None => order.push(piece),
            }
        }
        order.reverse();
        Ok(order)
    }

    fn terminate(&mut self, term: Terminator) {
        if let Some(block) = self.f.blocks.get_mut(self.block.index()) {
            block.term = term;
        }
    }

    /// The block that label `id` begins.
    fn label(&self, id: u32) -> Res<BlockId> {
        match self.labels.get(&id) {
            Some(&block) => Ok(block),
            None => invalid(format!("id %{id} is no label of this function")),
        }
    }

    fn terminator(&mut self, op: Spv, inst: &Instruction<'w>) -> Res<Option<Terminator>> {
        let mut operands = inst.cursor();
        Ok(Some(match op {
            Spv::Branch => Terminator::Br(self.label(operands.next()?)?),
            Spv::BranchConditional => {
                let cond = operands.next()?;
                let (then, otherwise) = (operands.next()?, operands.next()?);
                let (then, otherwise) = (self.label(then)?, self.label(otherwise)?);
                let cond = self.value(cond)?;
                let bool = self.module.types.bool();
                if self.f.ty(cond) != bool {
                    return invalid("the condition is no Bool");
                }
                if then == otherwise {
                    Terminator::Br(then)
                } else {
                    Terminator::CondBr {
                        cond,
                        then,
                        otherwise,
                    }
                }
            }
            Spv::Switch => {
                let (value, default) = (operands.next()?, operands.next()?);
                let value = self.value(value)?;
                let default = self.label(default)?;
                let bits = match *self.module.types.get(self.f.ty(value)) {
                    Type::Int(bits) => bits,
                    _ => return invalid("the selector is no integer scalar"),
                };
                let mut seen = HashSet::new();
                let mut cases = Vec::new();
                while operands.left() > 0 {
                    let mut literal = u64::from(operands.next()?);
                    if bits == 64 {
                        literal |= u64::from(operands.next()?) << 32;
                    }
                    let literal = super::table::low_bits(literal, bits);
                    let target = self.label(operands.next()?)?;
                    if !seen.insert(literal) {
                        return invalid(format!("case {literal} twice"));
                    }
                    cases.push((literal, target));
                }
                if cases.is_empty() {
                    Terminator::Br(default)
                } else {
                    Terminator::Switch {
                        value,
                        default,
                        cases,
                    }
                }
            }
            Spv::Return => {
                if self.f.result != Some(self.module.types.void()) {
                    return invalid("the function returns a value");
                }
                Terminator::Ret(None)
            }
            Spv::ReturnValue => {
                let value = operands.next()?;
                let value = self.value(value)?;
                if self.f.result != Some(self.f.ty(value)) {
                    return invalid("the value has not the function's result type");
                }
                Terminator::Ret(Some(value))
            }
            Spv::Unreachable => {
                self.trap();
                Terminator::Unreachable
            }
            Spv::Kill | Spv::TerminateInvocation => {
                return unsupported("fragment shaders are not kernels");
            }
            _ => return Ok(None),
        }))
    }

    /// Constituents of a long composite, from the continuation instructions that follow it.
    fn go_on(&mut self, op: Spv, rest: &[Instruction<'w>]) {
        self.further.clear();
        match op {
            Spv::CompositeConstruct => {
                let number = Spv::CompositeConstructContinuedINTEL as u32;
                let more = rest
                    .iter()
                    .take_while(|inst| u32::from(inst.opcode) == number);
                for inst in more {
                    self.further.extend_from_slice(inst.operands);
                }
                self.goes_on = true;
            }
            Spv::CompositeConstructContinuedINTEL => {}
            _ => self.goes_on = false,
        }
    }

    fn instruction(&mut self, op: Spv, inst: &Instruction<'w>) -> Res<()> {
        let mut operands = inst.cursor();
        if self.source.any_rounding {
            self.check_rounding(op, inst.operands)?;
        }
        match op {
            Spv::Load => self.load_inst(&mut operands),
            Spv::Store => self.store_inst(&mut operands),
            Spv::AccessChain
            | Spv::InBoundsAccessChain
            | Spv::PtrAccessChain
            | Spv::InBoundsPtrAccessChain
            | Spv::UntypedAccessChainKHR
            | Spv::UntypedInBoundsAccessChainKHR
            | Spv::UntypedPtrAccessChainKHR
            | Spv::UntypedInBoundsPtrAccessChainKHR => self.access_chain(op, &mut operands),
            Spv::Variable => self.variable(&mut operands, false),
            Spv::UntypedVariableKHR => self.variable(&mut operands, true),
            Spv::VariableLengthArrayINTEL | Spv::UntypedVariableLengthArrayINTEL => {
                self.array_of_length(op, &mut operands)
            }
            // Nothing to restore: arrays are allocated at the start of the function.
            Spv::SaveMemoryINTEL => {
                let (ty, id) = (operands.next()?, operands.next()?);
                let ir = self.value_type(ty)?;
                let value = self.undef(ir);
                self.result(ty, id, value)
            }
            Spv::RestoreMemoryINTEL => {
                let saved = operands.next()?;
                self.pointer(saved).map(|_| ())
            }
            Spv::MaskedGatherINTEL => self.masked_gather(&mut operands),
            Spv::MaskedScatterINTEL => self.masked_scatter(&mut operands),
            Spv::CopyMemory => self.copy_memory(&mut operands, false),
            Spv::CopyMemorySized => self.copy_memory(&mut operands, true),
            Spv::PtrEqual | Spv::PtrNotEqual | Spv::PtrDiff => {
                self.compare_pointers(op, &mut operands)
            }
            Spv::Phi => self.phi(&mut operands),
            Spv::FunctionCall => self.call(&mut operands),
            Spv::FunctionPointerCallINTEL => self.call_indirect(&mut operands),
            Spv::ExtInst | Spv::ExtInstWithForwardRefsKHR => self.extended(&mut operands),
            Spv::Undef => {
                let (ty, id) = (operands.next()?, operands.next()?);
                let ir = self.value_type(ty)?;
                let value = self.undef(ir);
                self.result(ty, id, value)
            }
            Spv::CopyObject | Spv::ExpectKHR | Spv::CopyLogical => {
                let (ty, id, from) = (operands.next()?, operands.next()?, operands.next()?);
                let value = self.value(from)?;
                self.result(ty, id, value)
            }
            Spv::ArithmeticFenceEXT => {
                let (ty, id, from) = (operands.next()?, operands.next()?, operands.next()?);
                let value = self.value(from)?;
                let ir = self.f.ty(value);
                let value = self.emit(Op::Copy(value), ir);
                self.result(ty, id, value)
            }
            Spv::ReadClockKHR => {
                let (ty, id, scope) = (operands.next()?, operands.next()?, operands.next()?);
                let scope = self.value(scope)?;
                if self.known(scope).is_none() {
                    return unsupported("a scope that is no constant");
                }
                let ir = self.value_type(ty)?;
                let int = self.module.types.int(64);
                let now = self.emit(Op::Clock, int);
                let now = self.bitcast(now, ir)?;
                self.result(ty, id, now)
            }
            // Its constituents belong to the previous instruction.
            Spv::CompositeConstructContinuedINTEL => {
                if self.goes_on {
                    return Ok(());
                }
                invalid("there is nothing before it to go on with")
            }
            Spv::AssumeTrueKHR => {
                let cond = operands.next()?;
                let cond = self.value(cond)?;
                self.emit_void(Op::Assume(cond));
                Ok(())
            }
            Spv::Line => {
                if let [file, line, ..] = *inst.operands {
                    self.module.lines.starts.push((self.word, [file, line]));
                }
                Ok(())
            }
            // Hints without effect on results.
            Spv::LoopMerge
            | Spv::SelectionMerge
            | Spv::LoopControlINTEL
            | Spv::LifetimeStart
            | Spv::LifetimeStop
            | Spv::NoLine
            | Spv::Nop
            | Spv::SubgroupBlockPrefetchINTEL
            | Spv::UntypedPrefetchKHR => Ok(()),
            _ => {
                if self.arithmetic(op, &mut operands)? {
                    return Ok(());
                }
                let mut operands = inst.cursor();
                if self.group_instruction(op, &mut operands)? {
                    return Ok(());
                }
                let mut operands = inst.cursor();
                if self.image(op, &mut operands)? {
                    return Ok(());
                }
                unsupported("this device does not do this instruction in a kernel")
            }
        }
    }

    fn phi(&mut self, operands: &mut Operands<'w>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let ir = self.value_type(ty)?;
        let block = self.f.blocks.get(self.block.index());
        let last = block.and_then(|block| block.insts.last());
        let late = last.is_some_and(|last| {
            !matches!(
                self.f.insts.get(last.index()).map(|i| &i.op),
                Some(Op::Phi(_))
            )
        });
        if late {
            return invalid("after other instructions of its block");
        }
        let (inst, value) = self.f.add_inst(Op::Phi(Vec::new()), Some(ir), self.word);
        if let Some(block) = self.f.blocks.get_mut(self.block.index()) {
            block.insts.push(inst);
        }
        self.phis.push((inst, self.word as usize, operands.rest()));
        match value {
            Some(value) => self.result(ty, id, value),
            None => invalid("has no result"),
        }
    }

    /// Adds the inputs of all phis, once every id has its value.
    fn fill_phis(&mut self) -> Res<()> {
        let predecessors = self.f.predecessors();
        let mut block_of = HashMap::new();
        for (i, block) in self.f.blocks.iter().enumerate() {
            for inst in &block.insts {
                block_of.insert(*inst, BlockId(i as u32));
            }
        }
        for (inst, word, pairs) in std::mem::take(&mut self.phis) {
            let own = block_of.get(&inst).copied().unwrap_or(BlockId(0));
            let from: &[BlockId] = predecessors.get(own.index()).map_or(&[], Vec::as_slice);
            let mut inputs: Vec<(BlockId, ValueId)> = Vec::with_capacity(pairs.len() / 2);
            if pairs.len() % 2 != 0 {
                return invalid("a value without its parent block").at(word);
            }
            for pair in pairs.chunks_exact(2) {
                let &[id, parent] = pair else { continue };
                let start = self.label(parent).at(word)?;
                if !self.reached.contains(&start) {
                    continue;
                }
                if from.binary_search(&start).is_err() {
                    return invalid(format!("parent %{parent} does not branch to this block"))
                        .at(word);
                }
                // Instructions that the value needs are built in the predecessor.
                self.block = start;
                self.word = word as u32;
                let value = self.value(id).at(word)?;
                inputs.push((start, value));
            }
            inputs.sort_by_key(|&(block, _)| block);
            inputs.dedup();
            if let Some(pair) = inputs.windows(2).find(|w| w[0].0 == w[1].0) {
                return invalid(format!("two values for block {}", pair[0].0.0)).at(word);
            }
            if inputs.len() != from.len() {
                return invalid(format!(
                    "{} parents, the block has {} predecessors",
                    inputs.len(),
                    from.len()
                ))
                .at(word);
            }
            let want = self.f.insts.get(inst.index()).and_then(|i| i.result);
            let want = want.map(|v| self.f.ty(v));
            if inputs.iter().any(|&(_, v)| Some(self.f.ty(v)) != want) {
                return invalid("a value of another type than the result").at(word);
            }
            if let Some(slot) = self.f.insts.get_mut(inst.index()) {
                slot.op = Op::Phi(inputs);
            }
        }
        Ok(())
    }

    fn call(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, callee) = (operands.next()?, operands.next()?, operands.next()?);
        self.table.ty(ty)?;
        self.table.get(callee)?;
        let mut args = self.all(operands.rest())?;
        let target = match self.callees.get(&callee) {
            Some(Callee::Function(target)) => *target,
            Some(Callee::Named(name)) => {
                let name = name.clone();
                let result = self.table.ty(ty)?.ir;
                let value = self.named(&name, args, result)?;
                return self.call_result(ty, id, value);
            }
            None => return invalid(format!("id %{callee} is no function")),
        };
        let Some(signature) = self.signatures.get(target.index()) else {
            return invalid(format!("id %{callee} is no function"));
        };
        let by_value = signature.by_value.clone();
        for (arg, by_value) in args.iter_mut().zip(by_value) {
            let Some((size, align)) = by_value else {
                continue;
            };
            // The callee owns its by-value argument: it gets a copy.
            if !matches!(self.module.types.get(self.f.ty(*arg)), Type::Ptr(_)) {
                return invalid("an argument passed by value is no pointer");
            }
            let copy = self.alloca(size, align);
            let bytes = self.int(64, size);
            self.emit_void(Op::CopyMemory {
                dst: copy,
                src: *arg,
                size: bytes,
                align: 1,
            });
            let ty = self.f.ty(*arg);
            *arg = self.cast_pointer(copy, ty);
        }
        let value = self.call_helper(target, args);
        self.call_result(ty, id, value)
    }

    /// A direct call.
    pub(super) fn call_helper(
        &mut self,
        target: crate::FunctionId,
        args: Vec<ValueId>,
    ) -> Option<ValueId> {
        self.calls.push((target, self.word));
        let result = self
            .signatures
            .get(target.index())
            .and_then(|signature| signature.result);
        let void = self.module.types.void();
        match result.filter(|&result| result != void) {
            Some(result) => Some(self.emit(Op::Call(target, args), result)),
            None => {
                self.emit_void(Op::Call(target, args));
                None
            }
        }
    }

    fn call_result(&mut self, ty: u32, id: u32, value: Option<ValueId>) -> Res<()> {
        match value {
            Some(value) => self.result(ty, id, value),
            None => {
                let void = self.module.types.void();
                if self.table.ty(ty)?.ir != void {
                    return invalid("the function gives no value, the result type is not void");
                }
                self.table.define_local(id, ty, Entity::Named)
            }
        }
    }

    fn call_indirect(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, callee) = (operands.next()?, operands.next()?, operands.next()?);
        let callee = self.pointer(callee)?;
        let ids = operands.rest();
        let mut args = self.all(ids)?;
        // By-value arguments are copied, as in a direct call.
        let source = self.source;
        for of in source.all_numbered(id, ARGUMENT_ATTRIBUTE) {
            let &[index, attribute, ..] = of else {
                return invalid("ArgumentAttributeINTEL has an index and an attribute");
            };
            if attribute != spirv::FunctionParameterAttribute::ByVal as u32 {
                continue;
            }
            let index = index as usize;
            let (Some(&from), Some(&of)) = (args.get(index), ids.get(index)) else {
                return invalid(format!(
                    "an attribute of argument {index}, which is not there"
                ));
            };
            let pointee = self.table.pointee_of(of)?;
            let content = self.table.sized(pointee)?;
            let types = &self.module.types;
            let (size, align) = (types.size_of(content), types.align_of(content));
            let copy = self.alloca(size, align);
            let bytes = self.int(64, size);
            self.emit_void(Op::CopyMemory {
                dst: copy,
                src: from,
                size: bytes,
                align: 1,
            });
            let ty = self.f.ty(from);
            let copy = self.cast_pointer(copy, ty);
            if let Some(arg) = args.get_mut(index) {
                *arg = copy;
            }
        }
        let ir = self.table.ty(ty)?.ir;
        let void = self.module.types.void();
        let op = Op::CallIndirect(callee, args);
        let value = if ir == void {
            self.emit_void(op);
            None
        } else {
            Some(self.emit(op, ir))
        };
        self.call_result(ty, id, value)
    }

    fn extended(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let (set, number) = (operands.next()?, operands.next()?);
        match self.table.get(set)? {
            Entity::Set(ExtSet::Ignored) => self.table.define_local(id, 0, Entity::Named),
            Entity::Set(ExtSet::OpenCl) => {
                let inst = super::table::opencl(number)?;
                let name = inst.name();
                match self.opencl(inst, ty, id, operands) {
                    Ok(value) => self.call_result(ty, id, value),
                    Err(fault) => Err(fault.within(name)),
                }
            }
            _ => invalid(format!("id %{set} is no extended instruction set")),
        }
    }

    /// Removes unreachable blocks, merges the additional first block with the function's, and renumbers in reverse
    /// post-order.
    fn tidy(&mut self) {
        let order = self.f.reverse_post_order();
        let predecessors = self.f.predecessors();
        let join = match self.f.blocks.first().map(|b| &b.term) {
            Some(&Terminator::Br(first)) => {
                let from = predecessors.get(first.index());
                from.is_some_and(|from| from.as_slice() == [BlockId(0)])
                    .then_some(first)
            }
            _ => None,
        };
        let mut new_of = vec![None; self.f.blocks.len()];
        let mut kept = 0u32;
        for &old in &order {
            let new = if Some(old) == join {
                Some(BlockId(0))
            } else {
                kept += 1;
                Some(BlockId(kept - 1))
            };
            if let Some(slot) = new_of.get_mut(old.index()) {
                *slot = new;
            }
        }
        let mut blocks: Vec<Option<crate::Block>> = std::mem::take(&mut self.f.blocks)
            .into_iter()
            .map(Some)
            .collect();
        let mut fresh: Vec<crate::Block> = Vec::with_capacity(order.len());
        for &old in &order {
            let Some(mut block) = blocks.get_mut(old.index()).and_then(Option::take) else {
                continue;
            };
            block.term.successors_mut(|to| {
                if let Some(Some(new)) = new_of.get(to.index()) {
                    *to = *new;
                }
            });
            for inst in &block.insts {
                if let Some(crate::Inst {
                    op: Op::Phi(inputs),
                    ..
                }) = self.f.insts.get_mut(inst.index())
                {
                    inputs.retain_mut(|(from, _)| match new_of.get(from.index()) {
                        Some(Some(new)) => {
                            *from = *new;
                            true
                        }
                        _ => false,
                    });
                }
            }
            if Some(old) == join {
                if let Some(entry) = fresh.first_mut() {
                    entry.insts.extend(block.insts);
                    entry.term = block.term;
                }
            } else {
                fresh.push(block);
            }
        }
        self.f.blocks = fresh;
    }
}
