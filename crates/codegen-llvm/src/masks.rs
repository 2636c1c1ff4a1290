//! Widens lane masks between blocks, on processors without mask registers.
//!
//! LLVM carries a vector of Bools from block to block packed into bytes, and unpacks it at every use. This pass runs
//! after LLVM's passes. It turns such masks into vectors of integers, as wide as most of the function's compared
//! values:
//!
//! ```text
//! %m = fcmp olt <8 x float> %a, %b      %m = fcmp olt <8 x float> %a, %b
//!                                       %w = sext <8 x i1> %m to <8 x i32>
//! other block:                          other block:
//!   select <8 x i1> %m, ...               %n = icmp slt <8 x i32> %w, zeroinitializer
//!                                         select <8 x i1> %n, ...
//! ```
//!
//! Within a block instruction selection then sees the comparison itself, or a sign bit, which is the operand of blends.

use std::collections::HashMap;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};

use crate::llvm::Ir;

/// Widens all vectors of Bools that are used outside their own block.
pub(crate) fn widen(ir: &Ir) {
    // SAFETY: all handles come from this module, which nobody else changes meanwhile; instructions are put in
    // where their operands are defined, and no instruction is removed that still has uses.
    unsafe {
        let builder = LLVMCreateBuilderInContext(ir.context);
        let mut function = LLVMGetFirstFunction(ir.module);
        while !function.is_null() {
            widen_function(ir, builder, function);
            function = LLVMGetNextFunction(function);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The number of lanes, if the value is a vector of Bools.
unsafe fn bools(v: LLVMValueRef) -> Option<u32> {
    // SAFETY: the caller's handle is alive.
    unsafe {
        let ty = LLVMTypeOf(v);
        if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMVectorTypeKind {
            return None;
        }
        let element = LLVMGetElementType(ty);
        let is = LLVMGetTypeKind(element) == LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(element) == 1;
        is.then(|| LLVMGetVectorSize(ty))
    }
}

unsafe fn widen_function(ir: &Ir, builder: LLVMBuilderRef, function: LLVMValueRef) {
    // SAFETY: as in `widen`.
    unsafe {
        let mut found = Vec::new();
        let (mut wide, mut narrow) = (0, 0);
        let mut block = LLVMGetFirstBasicBlock(function);
        while !block.is_null() {
            let mut inst = LLVMGetFirstInstruction(block);
            while !inst.is_null() {
                if bools(inst).is_some() {
                    if matches!(
                        LLVMGetInstructionOpcode(inst),
                        LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMFCmp
                    ) {
                        let ty = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(inst, 0)));
                        let is_wide = match LLVMGetTypeKind(ty) {
                            LLVMTypeKind::LLVMDoubleTypeKind
                            | LLVMTypeKind::LLVMPointerTypeKind => true,
                            LLVMTypeKind::LLVMIntegerTypeKind => LLVMGetIntTypeWidth(ty) == 64,
                            _ => false,
                        };
                        if is_wide { wide += 1 } else { narrow += 1 }
                    }
                    if is_phi(inst) || crosses(inst, block) {
                        found.push(inst);
                    }
                }
                inst = LLVMGetNextInstruction(inst);
            }
            block = LLVMGetNextBasicBlock(block);
        }
        let scalar = if wide > narrow { ir.i64.0 } else { ir.i32.0 };
        // First every value gets its wide form; then uses are redirected.
        let mut forms: HashMap<LLVMValueRef, LLVMValueRef> = HashMap::new();
        for &inst in &found {
            let Some(lanes) = bools(inst) else { continue };
            let ty = LLVMVectorType(scalar, lanes);
            let form = if is_phi(inst) {
                LLVMPositionBuilderBefore(builder, inst);
                LLVMBuildPhi(builder, ty, c"".as_ptr())
            } else {
                let next = LLVMGetNextInstruction(inst);
                if next.is_null() || is_phi(next) {
                    continue;
                }
                LLVMPositionBuilderBefore(builder, next);
                LLVMBuildSExt(builder, inst, ty, c"".as_ptr())
            };
            forms.insert(inst, form);
        }
        for &inst in &found {
            let Some(&form) = forms.get(&inst) else {
                continue;
            };
            let own = LLVMGetInstructionParent(inst);
            let phi = is_phi(inst);
            if phi {
                for i in 0..LLVMCountIncoming(inst) {
                    let value = LLVMGetIncomingValue(inst, i);
                    let from = LLVMGetIncomingBlock(inst, i);
                    let mut wide = match forms.get(&value) {
                        Some(&wide) => wide,
                        None => {
                            LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(from));
                            LLVMBuildSExt(builder, value, LLVMTypeOf(form), c"".as_ptr())
                        }
                    };
                    let mut from = from;
                    LLVMAddIncoming(form, &raw mut wide, &raw mut from, 1);
                }
            }
            // Uses in other blocks see the sign bits; so do uses of a phi in its own block.
            let mut uses = Vec::new();
            let mut at = LLVMGetFirstUse(inst);
            while !at.is_null() {
                let user = LLVMGetUser(at);
                if !is_phi(user)
                    && user != form
                    && (phi || LLVMGetInstructionParent(user) != own)
                    && !uses.contains(&user)
                {
                    uses.push(user);
                }
                at = LLVMGetNextUse(at);
            }
            let mut tests: HashMap<LLVMBasicBlockRef, LLVMValueRef> = HashMap::new();
            for user in uses {
                let block = LLVMGetInstructionParent(user);
                let test = *tests.entry(block).or_insert_with(|| {
                    let mut first = LLVMGetFirstInstruction(block);
                    while is_phi(first) {
                        first = LLVMGetNextInstruction(first);
                    }
                    LLVMPositionBuilderBefore(builder, first);
                    let zero = LLVMConstNull(LLVMTypeOf(form));
                    LLVMBuildICmp(
                        builder,
                        LLVMIntPredicate::LLVMIntSLT,
                        form,
                        zero,
                        c"".as_ptr(),
                    )
                });
                for i in 0..LLVMGetNumOperands(user) {
                    if LLVMGetOperand(user, i as u32) == inst {
                        LLVMSetOperand(user, i as u32, test);
                    }
                }
            }
        }
        // Phis of Bools are now used by each other at most.
        for &inst in &found {
            if is_phi(inst) {
                let poison = LLVMGetPoison(LLVMTypeOf(inst));
                LLVMReplaceAllUsesWith(inst, poison);
            }
        }
        for &inst in &found {
            if is_phi(inst) {
                LLVMInstructionEraseFromParent(inst);
            }
        }
    }
}

unsafe fn is_phi(inst: LLVMValueRef) -> bool {
    // SAFETY: the caller's handle is alive.
    unsafe { LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMPHI }
}

/// Whether another block has a use that is not a phi.
unsafe fn crosses(inst: LLVMValueRef, block: LLVMBasicBlockRef) -> bool {
    // SAFETY: the caller's handles are alive.
    unsafe {
        let mut at = LLVMGetFirstUse(inst);
        while !at.is_null() {
            let user = LLVMGetUser(at);
            if !is_phi(user) && LLVMGetInstructionParent(user) != block {
                return true;
            }
            at = LLVMGetNextUse(at);
        }
        false
    }
}
