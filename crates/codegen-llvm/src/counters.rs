//! Which loops' counters LLVM reduces in strength.
//!
//! LLVM weighs every way to express every value that depends on a loop's counter against all the others. That takes
//! as long as all its passes before, and is worth it in the smallest loops only: elsewhere the processor's forms of
//! addresses do as well. There the counter is hidden: uses see it through a call that instruction selection takes out
//! again.

use std::collections::HashSet;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::llvm::Ir;

/// Uses of what is computed from a counter, beyond which it is hidden.
const USES: usize = 3;

/// Hides the counters of all but the smallest loops; to be done last.
pub(crate) fn hide(ir: &Ir) {
    // SAFETY: all handles come from this module, which nobody else changes meanwhile; calls are put in behind the
    // phis that they pass on, and take over uses that those dominate.
    unsafe {
        let builder = LLVMCreateBuilderInContext(ir.context);
        let mut function = LLVMGetFirstFunction(ir.module);
        while !function.is_null() {
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                hide_in(ir, builder, block);
                block = LLVMGetNextBasicBlock(block);
            }
            function = LLVMGetNextFunction(function);
        }
        LLVMDisposeBuilder(builder);
    }
}

/// The intrinsic that passes on an integer or a pointer, and is opaque to LLVM's analysis of loops.
unsafe fn screen(ir: &Ir, ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: the caller's type is alive; names are given with their lengths.
    unsafe {
        let name: &[u8] = match LLVMGetTypeKind(ty) {
            LLVMTypeKind::LLVMPointerTypeKind => b"llvm.launder.invariant.group",
            _ => b"llvm.expect",
        };
        let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
        let mut overloads = ty;
        LLVMGetIntrinsicDeclaration(ir.module, id, &raw mut overloads, 1)
    }
}

unsafe fn hide_in(ir: &Ir, builder: LLVMBuilderRef, block: LLVMBasicBlockRef) {
    // SAFETY: as in `hide`.
    unsafe {
        let mut counters = Vec::new();
        let mut inst = LLVMGetFirstInstruction(block);
        while !inst.is_null() && LLVMGetInstructionOpcode(inst) == LLVMOpcode::LLVMPHI {
            if is_scalar(inst)
                && let Some(step) = step_of(inst)
                && has_more_uses(inst, step)
            {
                counters.push((inst, step));
            }
            inst = LLVMGetNextInstruction(inst);
        }
        if inst.is_null() {
            return;
        }
        for (counter, step) in counters {
            let ty = LLVMTypeOf(counter);
            let screen = screen(ir, ty);
            let mut users = Vec::new();
            let mut at = LLVMGetFirstUse(counter);
            while !at.is_null() {
                let user = LLVMGetUser(at);
                if user != step && user != counter && !users.contains(&user) {
                    users.push(user);
                }
                at = LLVMGetNextUse(at);
            }
            LLVMPositionBuilderBefore(builder, inst);
            let mut arguments = [counter, counter];
            let count = LLVMCountParams(screen).min(2);
            let seen = LLVMBuildCall2(
                builder,
                LLVMGlobalGetValueType(screen),
                screen,
                arguments.as_mut_ptr(),
                count,
                c"".as_ptr(),
            );
            for user in users {
                for i in 0..LLVMGetNumOperands(user) {
                    if LLVMGetOperand(user, i as u32) == counter {
                        LLVMSetOperand(user, i as u32, seen);
                    }
                }
            }
        }
    }
}

/// What computes a counter's next value from it.
unsafe fn step_of(phi: LLVMValueRef) -> Option<LLVMValueRef> {
    // SAFETY: the caller's phi is alive.
    unsafe {
        (0..LLVMCountIncoming(phi))
            .map(|i| LLVMGetIncomingValue(phi, i))
            .find(|&value| {
                !LLVMIsAInstruction(value).is_null()
                    && matches!(
                        LLVMGetInstructionOpcode(value),
                        LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMGetElementPtr
                    )
                    && (0..LLVMGetNumOperands(value))
                        .any(|i| LLVMGetOperand(value, i as u32) == phi)
            })
    }
}

/// Whether values that are linear in `counter` have more than [`USES`] uses.
unsafe fn has_more_uses(counter: LLVMValueRef, step: LLVMValueRef) -> bool {
    let mut uses = 0;
    let mut seen = HashSet::from([step]);
    let mut linear = vec![counter];
    // SAFETY: the caller's handles are alive.
    unsafe {
        while let Some(value) = linear.pop() {
            let mut at = LLVMGetFirstUse(value);
            while !at.is_null() {
                let user = LLVMGetUser(at);
                at = LLVMGetNextUse(at);
                if !seen.insert(user) {
                    continue;
                }
                if is_linear(user) {
                    linear.push(user);
                } else {
                    uses += 1;
                    if uses > USES {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Scalars that LLVM follows a counter through.
unsafe fn is_linear(value: LLVMValueRef) -> bool {
    // SAFETY: the caller's instruction is alive.
    unsafe {
        matches!(
            LLVMGetInstructionOpcode(value),
            LLVMOpcode::LLVMAdd
                | LLVMOpcode::LLVMSub
                | LLVMOpcode::LLVMMul
                | LLVMOpcode::LLVMShl
                | LLVMOpcode::LLVMOr
                | LLVMOpcode::LLVMSExt
                | LLVMOpcode::LLVMZExt
                | LLVMOpcode::LLVMTrunc
                | LLVMOpcode::LLVMGetElementPtr
        ) && is_scalar(value)
    }
}

unsafe fn is_scalar(value: LLVMValueRef) -> bool {
    // SAFETY: the caller's value is alive.
    unsafe {
        matches!(
            LLVMGetTypeKind(LLVMTypeOf(value)),
            LLVMTypeKind::LLVMIntegerTypeKind | LLVMTypeKind::LLVMPointerTypeKind
        )
    }
}
