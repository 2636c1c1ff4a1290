//! Hides loop counters from LLVM's loop strength reduction, except in the smallest loops.
//!
//! LLVM weighs every way to express each value that depends on a loop's counter against all others. That took a tenth
//! to a sixth of a kernel's compile time and made none of the benchmark's kernels faster (commit a667283): the
//! processor's addressing modes do as well. Uses see a hidden counter through a call that instruction selection removes
//! again:
//!
//! ```text
//! %i = phi i64 ...            %i = phi i64 ...
//! getelementptr ... %i        %h = call i64 @llvm.expect.i64(i64 %i, i64 %i)
//!                             getelementptr ... %h
//! ```

use std::collections::HashSet;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMOpcode, LLVMTypeKind};

use crate::llvm::Ir;

/// Uses of values computed from a counter; a counter with more is hidden.
const USES: usize = 3;

/// Hides the counters of all but the smallest loops. Runs last, before code generation.
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

/// The intrinsic that returns its operand, an integer or a pointer, and is opaque to LLVM's loop analysis.
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

/// The instruction that computes a counter's next value from it.
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

/// Whether the value is a scalar operation through which LLVM's loop analysis follows a counter.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::IntPred;

    /// A loop with a counter, a number or an address, that so many stores use.
    fn a_loop(address: bool, stores: u64) -> Ir {
        let ir = Ir::new(c"loop");
        let ty = ir.function_type(ir.void, &[ir.ptr, ir.i64]);
        let function = ir.add_function("f", ty);
        let [memory, bound] = [0, 1].map(|i| ir.param(function, i));
        let [entry, body, end] = [c"entry", c"body", c"end"].map(|name| ir.block(function, name));
        ir.at_end(entry);
        ir.br(body);
        ir.at_end(body);
        let counter = ir.phi(if address { ir.ptr } else { ir.i64 });
        let first = if address { memory } else { ir.i64c(0) };
        ir.add_incoming(counter, first, entry);
        for at in 0..stores {
            let place = if address {
                ir.offset_by(counter, 8 * at + 8)
            } else {
                ir.offset(memory, ir.mul(counter, ir.i64c(at + 2)))
            };
            ir.store(bound, place, 8);
        }
        let next = if address {
            ir.offset(counter, bound)
        } else {
            ir.add(counter, ir.i64c(1))
        };
        ir.add_incoming(counter, next, body);
        let last = if address { ir.null(ir.ptr) } else { bound };
        ir.cond_br(ir.icmp(IntPred::LLVMIntEQ, next, last), end, body);
        ir.at_end(end);
        ir.ret_void();
        ir
    }

    #[test]
    fn counters_of_all_but_small_loops_are_hidden_from_their_uses() {
        let most = USES as u64;
        for (address, screen) in [(false, "@llvm.expect."), (true, "@llvm.launder.")] {
            for (stores, hidden) in [(1, false), (most, false), (most + 1, true), (40, true)] {
                let ir = a_loop(address, stores);
                ir.verify().unwrap();
                let before = ir.text();
                hide(&ir);
                ir.verify().unwrap();
                let after = ir.text();
                assert_eq!(before != after, hidden, "{stores}: {after}");
                let calls = |line: &&str| line.contains("call") && line.contains(screen);
                let calls = after.lines().filter(calls).count();
                assert_eq!(calls, usize::from(hidden), "{stores}: {after}");
            }
        }
    }
}
