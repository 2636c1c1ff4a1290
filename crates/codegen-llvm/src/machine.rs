//! From a finished module to an object: target machines that each thread keeps, and a fixed short list of passes.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::sync::Once;

use llvm_sys::core::*;
use llvm_sys::error::*;
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::support::LLVMParseCommandLineOptions;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;

use vectorise::{TargetInfo, asked};

use crate::llvm::Ir;

/// The processor that code is generated for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) cpu: String,
    pub(crate) features: String,
    pub(crate) opt_level: u8,
    /// Whether compile time matters more than the code's speed.
    pub(crate) baseline: bool,
}

const TRIPLE: &CStr = c"x86_64-unknown-linux-gnu";

/// No pass multiplies code: unrolling and vectorisation are decided before LLVM sees the kernel. Variables become
/// values before any other pass looks at them, and instructions are combined once. Measured with the register
/// allocator's option below: a twentieth less compile time, and code no slower (commit f447d06).
const PASSES: &CStr = c"function(mem2reg,sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop-mssa(licm),gvn,simplifycfg,adce)";
/// `-ze-opt-disable`: only the passes that turn variables into values.
const PASSES_OFF: &CStr = c"function(sroa,early-cse)";

/// For baseline code, in which a value that outlives its block costs a store and loads: variables become values.
const PASSES_BASELINE: &CStr = c"function(mem2reg,early-cse,simplifycfg)";

/// The float sizes, in bits, for which the processor has a fused multiply-add.
pub(crate) fn contracted(cpu: &str, features: &str) -> &'static [u8] {
    let has = |feature, by_name: bool| asked(features, feature).unwrap_or(by_name);
    match (
        has("+fma", cpu_target::has_fma(cpu)),
        has("+avx512fp16", cpu_target::has_halves(cpu)),
    ) {
        (false, _) => &[],
        (true, false) => &[32, 64],
        (true, true) => &[16, 32, 64],
    }
}

/// Options that LLVM exposes only on its command line: the register allocator looks for places to split a value's
/// registers in regions of a hundred blocks, not ten thousand; and remarks list the slots of stack frames.
const COMMAND_LINE: [&CStr; 3] = [
    c"solum",
    c"-grow-region-complexity-budget=100",
    crate::frames::ASKED,
];

struct Machine {
    target: Target,
    machine: LLVMTargetMachineRef,
    layout: LLVMTargetDataRef,
}

thread_local! {
    // Making one costs 300 us, a tenth of a small kernel's compile time. Two are alive when options differ.
    static KEPT: RefCell<Vec<Machine>> = const { RefCell::new(Vec::new()) };
}

static INITIALISED: Once = Once::new();

fn machine(target: &Target) -> Result<(LLVMTargetMachineRef, LLVMTargetDataRef), String> {
    INITIALISED.call_once(|| {
        // SAFETY: once per process, before any other use of the target.
        unsafe {
            LLVMInitializeX86TargetInfo();
            LLVMInitializeX86Target();
            LLVMInitializeX86TargetMC();
            LLVMInitializeX86AsmPrinter();
            let arguments = COMMAND_LINE.map(CStr::as_ptr);
            LLVMParseCommandLineOptions(
                arguments.len() as libc::c_int,
                arguments.as_ptr(),
                std::ptr::null(),
            );
        }
    });
    KEPT.with_borrow_mut(|kept| {
        if let Some(found) = kept.iter().find(|m| m.target == *target) {
            return Ok((found.machine, found.layout));
        }
        let text = |s: &str| CString::new(s).map_err(|_| "a zero byte in the processor's name");
        let (cpu, features) = (text(&target.cpu)?, text(&target.features)?);
        let level = match target.opt_level {
            _ if target.baseline => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            0 => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            1 => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            _ => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        };
        let mut handle = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: all strings are zero-terminated; the message is LLVM's to free.
        let made = unsafe {
            if LLVMGetTargetFromTriple(TRIPLE.as_ptr(), &raw mut handle, &raw mut message) != 0 {
                let error = CStr::from_ptr(message).to_string_lossy().into_owned();
                LLVMDisposeMessage(message);
                return Err(error);
            }
            LLVMCreateTargetMachine(
                handle,
                TRIPLE.as_ptr(),
                cpu.as_ptr(),
                features.as_ptr(),
                level,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            )
        };
        if made.is_null() {
            return Err(format!("LLVM knows no processor {:?}", target.cpu));
        }
        if kept.len() >= 4 {
            let oldest = kept.remove(0);
            // SAFETY: nothing of a finished compile refers to it.
            unsafe {
                LLVMDisposeTargetData(oldest.layout);
                LLVMDisposeTargetMachine(oldest.machine);
            }
        }
        // SAFETY: the machine was just made.
        let layout = unsafe { LLVMCreateTargetDataLayout(made) };
        kept.push(Machine {
            target: target.clone(),
            machine: made,
            layout,
        });
        Ok((made, layout))
    })
}

/// Gives the module its triple and data layout. Comes before anything is put into the module.
pub(crate) fn prepare(ir: &Ir, target: &Target) -> Result<(), String> {
    let (_, layout) = machine(target)?;
    // SAFETY: module and layout are alive.
    unsafe {
        LLVMSetTarget(ir.module, TRIPLE.as_ptr());
        LLVMSetModuleDataLayout(ir.module, layout);
    }
    Ok(())
}

/// Runs LLVM's passes.
pub(crate) fn optimise(ir: &Ir, target: &Target) -> Result<(), String> {
    let (machine, _) = machine(target)?;
    let passes = match (target.baseline, target.opt_level) {
        (true, _) => PASSES_BASELINE,
        (false, 0) => PASSES_OFF,
        (false, _) => PASSES,
    };
    // SAFETY: module and machine are alive; the error's text is copied and freed.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(ir.module, passes.as_ptr(), machine, options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let text = LLVMGetErrorMessage(error);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        Err(copy)
    }
}

/// Rewrites the module for instruction selection: hides loop counters, and widens masks between blocks.
pub(crate) fn suit(ir: &Ir, target: &Target) {
    if target.baseline {
        return;
    }
    if target.opt_level > 0 {
        crate::counters::hide(ir);
    }
    crate::splats::join(ir);
    if !TargetInfo::x86_64(&target.cpu, &target.features).has_mask_registers {
        crate::masks::widen(ir);
    }
}

/// The object's bytes.
pub(crate) fn emit(ir: &Ir, target: &Target) -> Result<Vec<u8>, String> {
    emit_as(ir.module, target, LLVMCodeGenFileType::LLVMObjectFile)
}

/// The assembly, with LLVM's remarks about spills. It is made of a copy, because instruction selection changes a
/// module.
pub(crate) fn assembly(ir: &Ir, target: &Target) -> Result<String, String> {
    let (machine, _) = machine(target)?;
    // SAFETY: machine and module are alive and this thread's own.
    let copy = unsafe {
        LLVMSetTargetMachineAsmVerbosity(machine, 1);
        LLVMCloneModule(ir.module)
    };
    let text = emit_as(copy, target, LLVMCodeGenFileType::LLVMAssemblyFile);
    // SAFETY: as before; nothing refers to the copy.
    unsafe {
        LLVMDisposeModule(copy);
        LLVMSetTargetMachineAsmVerbosity(machine, 0);
    }
    Ok(String::from_utf8_lossy(&text?).into_owned())
}

fn emit_as(
    module: LLVMModuleRef,
    target: &Target,
    form: LLVMCodeGenFileType,
) -> Result<Vec<u8>, String> {
    let (machine, _) = machine(target)?;
    let mut message = std::ptr::null_mut();
    let mut buffer = std::ptr::null_mut();
    // SAFETY: module and machine are alive; buffer and message are copied and freed.
    unsafe {
        let failed = LLVMTargetMachineEmitToMemoryBuffer(
            machine,
            module,
            form,
            &raw mut message,
            &raw mut buffer,
        );
        if failed != 0 {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            LLVMDisposeMessage(message);
            return Err(text);
        }
        let bytes = std::slice::from_raw_parts(
            LLVMGetBufferStart(buffer).cast::<u8>(),
            LLVMGetBufferSize(buffer),
        )
        .to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        Ok(bytes)
    }
}

/// A fatal error of LLVM, for a test: an invalid data layout ends in LLVM's fatal-error handler, which does not return
/// here.
pub(crate) fn die() -> kernel_ir::BuildError {
    let ir = Ir::new(c"fatal");
    // SAFETY: the string is zero-terminated.
    unsafe { LLVMSetDataLayout(ir.module, c"no such layout".as_ptr()) };
    kernel_ir::BuildError {
        kind: kernel_ir::BuildErrorKind::Codegen,
        module: 0,
        word: None,
        instruction: None,
        message: "LLVM survived a fatal error".into(),
    }
}
