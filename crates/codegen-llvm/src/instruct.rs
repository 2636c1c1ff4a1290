//! Lowers one instruction.

use kernel_ir::{BuildError, GroupScope, InstId, Op};

use crate::llvm::Val;
use crate::lower::{Lower, unsupported};

impl Lower<'_> {
    /// Emits `inst` at the builder's position and defines its result.
    pub(crate) fn instruction(&mut self, inst: InstId) -> Result<(), BuildError> {
        let function = self.function;
        let inst = &function.insts[inst.index()];
        let value = self.operation(&inst.op, inst.result, inst.word)?;
        if let (Some(result), Some(value)) = (inst.result, value) {
            self.define(result, value);
        }
        Ok(())
    }

    pub(crate) fn operation(
        &mut self,
        op: &Op,
        result: Option<kernel_ir::ValueId>,
        word: u32,
    ) -> Result<Option<Val>, BuildError> {
        let ir = self.ir;
        let result_ty = result.map(|r| self.ty(r));
        let typed =
            || result_ty.ok_or_else(|| unsupported(word, "an operation without its result"));
        Ok(Some(match op {
            // Phis are made at the start of the block.
            Op::Phi(_) => return Ok(None),
            Op::Binary(op, a, b, flags) => {
                let (a, b) = (self.get(*a), self.get(*b));
                self.binary(*op, a, b, *flags)
            }
            Op::Unary(op, a, flags) => {
                let a = self.get(*a);
                self.unary(*op, a, *flags, self.values.register(typed()?))
            }
            Op::Compare(predicate, a, b) => {
                let (a, b) = (self.get(*a), self.get(*b));
                self.compare(*predicate, a, b)
            }
            Op::Convert(op, a, rounding) => {
                let a = self.get(*a);
                self.convert(*op, a, *rounding, self.values.register(typed()?), word)?
            }
            Op::Select {
                cond,
                then,
                otherwise,
            } => {
                let (cond, then, otherwise) =
                    (self.get(*cond), self.get(*then), self.get(*otherwise));
                ir.select(cond, then, otherwise)
            }
            Op::Math(math, args, flags) => {
                let operands: Vec<Val> = args.iter().map(|&a| self.get(a)).collect();
                self.math(
                    *math,
                    &operands,
                    *flags,
                    self.values.register(typed()?),
                    word,
                )?
            }
            Op::Construct(parts) => self.construct(parts, typed()?),
            Op::Extract(whole, path) => {
                let v = self.get(*whole);
                self.extract(v, self.ty(*whole), path)
            }
            Op::Insert(whole, part, path) => {
                let (v, p) = (self.get(*whole), self.get(*part));
                self.insert(v, self.ty(*whole), p, path)
            }
            Op::ExtractDynamic(vector, index) => {
                let (v, i) = (self.get(*vector), self.get(*index));
                // An index out of range gives poison; `freeze` makes it an unspecified value.
                ir.freeze(ir.extract_element(v, i))
            }
            Op::InsertDynamic(vector, element, index) => {
                let (v, e, i) = (self.get(*vector), self.get(*element), self.get(*index));
                ir.freeze(ir.insert_element(v, e, i))
            }
            Op::Shuffle(a, b, lanes) => {
                let (a, b) = (self.get(*a), self.get(*b));
                self.pick_lanes(a, b, lanes, word)?
            }
            Op::Alloca { .. } => match result {
                Some(result) => self.alloca_address(result),
                None => return Ok(None),
            },
            Op::Load {
                ptr,
                align,
                volatile,
            } => {
                let ptr = self.get(*ptr);
                self.load(ptr, typed()?, *align, *volatile)
            }
            Op::Store {
                ptr,
                value,
                align,
                volatile,
            } => {
                let (at, v) = (self.get(*ptr), self.get(*value));
                self.store(v, at, self.ty(*value), *align, *volatile);
                return Ok(None);
            }
            Op::CopyMemory {
                dst,
                src,
                size,
                align,
            } => {
                let (dst, src, size) = (self.get(*dst), self.get(*src), self.get(*size));
                self.copy_memory(dst, src, size, *align);
                return Ok(None);
            }
            Op::PtrOffset { ptr, index, offset } => {
                let base = self.get(*ptr);
                let index = index.map(|(i, stride)| (self.get(i), stride));
                self.pointer(base, index, *offset)
            }
            Op::GenericToExplicit(ptr, space) => {
                let ptr = self.get(*ptr);
                let there = self.points_into(ptr, *space);
                ir.select(there, ptr, ir.null(ir.ptr))
            }
            Op::GenericIs(ptr, space) => {
                let ptr = self.get(*ptr);
                self.points_into(ptr, *space)
            }
            Op::Atomic { .. } => return self.atomic(op, result, word),
            Op::Fence(scope, order) => {
                self.fence(*scope, *order);
                return Ok(None);
            }
            // Stops end segments and are not lowered here.
            Op::Barrier(_) => return Ok(None),
            Op::WorkItem(builtin, dimension) => self.work_item(*builtin, *dimension, typed()?),
            Op::Group(group, GroupScope::Subgroup, operands) => {
                return self.block_access(*group, operands, result, word);
            }
            Op::Group(_, GroupScope::Workgroup, _) => {
                return Err(unsupported(
                    word,
                    "a work-group operation that was not expanded before code generation",
                ));
            }
            Op::Call(callee, args) => return self.call_function(*callee, args, result, word),
            Op::CallIndirect(pointer, args) => {
                return Ok(self.call_pointer(*pointer, args, result));
            }
            Op::Printf(format, args) => self.printf(*format, args, word)?,
            Op::Clock => ir.intrinsic("llvm.readcyclecounter", &[], &[]),
            Op::Trap(args) => {
                self.trap(args, word);
                return Ok(None);
            }
            // No pass profits from assumptions yet, and each costs compile time.
            Op::Assume(_) => return Ok(None),
            Op::Copy(v) => self.get(*v),
            Op::Check(check, args) => return Ok(self.kernel_check(*check, args, word)),
        }))
    }
}
