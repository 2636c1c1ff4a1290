//! A safe wrapper of LLVM's C interface: a module under construction and its builder.
//!
//! Handles ([`Val`], [`Ty`], [`Bb`]) are plain copies. They are valid as long as the [`Ir`] they came from; they never
//! leave this crate and never outlive a compilation. LLVM checks the types of operands and the builder's position only
//! by assertions, which release builds lack: they are the lowering's duty. [`Ir::verify`] checks the whole module, in
//! every build, before LLVM's passes run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::*;

pub(crate) use llvm_sys::LLVMAtomicOrdering as Ordering;
pub(crate) use llvm_sys::LLVMAtomicRMWBinOp as Rmw;
pub(crate) use llvm_sys::LLVMIntPredicate as IntPred;
pub(crate) use llvm_sys::LLVMLinkage as Linkage;
pub(crate) use llvm_sys::LLVMOpcode as Opcode;
pub(crate) use llvm_sys::LLVMRealPredicate as RealPred;

/// A value of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Val(pub(crate) LLVMValueRef);
/// A type of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ty(pub(crate) LLVMTypeRef);
/// A basic block of LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bb(pub(crate) LLVMBasicBlockRef);

/// A function and its type.
type Callee = (Val, Ty);

/// Calls LLVM with handles of this module.
macro_rules! llvm {
    ($call:expr) => {{
        // SAFETY: every handle comes from the context of the same `Ir`, which is alive; strings are
        // zero-terminated or passed with their length.
        unsafe { $call }
    }};
}

/// A module under construction.
pub(crate) struct Ir {
    pub(crate) context: LLVMContextRef,
    pub(crate) module: LLVMModuleRef,
    builder: LLVMBuilderRef,
    intrinsics: RefCell<HashMap<(&'static str, Vec<Ty>), Callee>>,
    externals: RefCell<HashMap<String, Callee>>,
    /// LLVM's messages that do not end the process.
    diagnostics: Box<RefCell<Diagnostics>>,
    pub(crate) void: Ty,
    pub(crate) i1: Ty,
    pub(crate) i8: Ty,
    pub(crate) i16: Ty,
    pub(crate) i32: Ty,
    pub(crate) i64: Ty,
    pub(crate) half: Ty,
    pub(crate) float: Ty,
    pub(crate) double: Ty,
    pub(crate) ptr: Ty,
}

/// LLVM's messages about a module.
#[derive(Default)]
struct Diagnostics {
    /// Errors, one a line.
    complaints: String,
    /// Bytes of spilled registers, by function.
    spilled: HashMap<String, u64>,
}

extern "C" fn record_diagnostic(info: LLVMDiagnosticInfoRef, to: *mut libc::c_void) {
    // SAFETY: `to` is the `diagnostics` of an `Ir` that is alive while its context is.
    let log = unsafe { &*to.cast::<RefCell<Diagnostics>>() };
    // SAFETY: LLVM passes a live record; the description is copied and freed.
    let (severity, text) = unsafe {
        let text = LLVMGetDiagInfoDescription(info);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        (LLVMGetDiagInfoSeverity(info), copy)
    };
    let Ok(mut log) = log.try_borrow_mut() else {
        return;
    };
    if severity == LLVMDiagnosticSeverity::LLVMDSError {
        log.complaints.push_str(&text);
        log.complaints.push('\n');
    } else if let Some((function, bytes)) = crate::frames::spilled(&text) {
        log.spilled.insert(function.to_owned(), bytes);
    }
}

impl Ir {
    pub(crate) fn new(name: &CStr) -> Self {
        let diagnostics = Box::<RefCell<Diagnostics>>::default();
        // SAFETY: a fresh context owns everything made here; the handler's argument is boxed and dropped
        // after the context.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(
                context,
                Some(record_diagnostic),
                std::ptr::from_ref::<RefCell<Diagnostics>>(&diagnostics)
                    .cast_mut()
                    .cast(),
            );
            LLVMContextSetDiscardValueNames(context, i32::from(!cfg!(test)));
            Self {
                context,
                module: LLVMModuleCreateWithNameInContext(name.as_ptr(), context),
                builder: LLVMCreateBuilderInContext(context),
                intrinsics: RefCell::default(),
                externals: RefCell::default(),
                diagnostics,
                void: Ty(LLVMVoidTypeInContext(context)),
                i1: Ty(LLVMInt1TypeInContext(context)),
                i8: Ty(LLVMInt8TypeInContext(context)),
                i16: Ty(LLVMInt16TypeInContext(context)),
                i32: Ty(LLVMInt32TypeInContext(context)),
                i64: Ty(LLVMInt64TypeInContext(context)),
                half: Ty(LLVMHalfTypeInContext(context)),
                float: Ty(LLVMFloatTypeInContext(context)),
                double: Ty(LLVMDoubleTypeInContext(context)),
                ptr: Ty(LLVMPointerTypeInContext(context, 0)),
            }
        }
    }

    /// LLVM's errors so far.
    pub(crate) fn complaints(&self) -> String {
        self.diagnostics.borrow().complaints.clone()
    }

    /// Bytes of registers that a function's machine code spills.
    pub(crate) fn spilled(&self, function: &str) -> u64 {
        let log = self.diagnostics.borrow();
        log.spilled.get(function).copied().unwrap_or(0)
    }

    /// The module as text.
    pub(crate) fn text(&self) -> String {
        // SAFETY: the message is LLVM's, copied and freed.
        unsafe {
            let text = LLVMPrintModuleToString(self.module);
            let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            copy
        }
    }

    /// Verifies the module; the error tells the rules that it breaks.
    pub(crate) fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        // SAFETY: the message is LLVM's, copied and freed.
        unsafe {
            let broken = analysis::LLVMVerifyModule(
                self.module,
                analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &raw mut message,
            );
            let text = if message.is_null() {
                String::new()
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            };
            LLVMDisposeMessage(message);
            if broken == 0 { Ok(()) } else { Err(text) }
        }
    }

    // Types.

    pub(crate) fn int(&self, bits: u32) -> Ty {
        Ty(llvm!(LLVMIntTypeInContext(self.context, bits)))
    }
    pub(crate) fn vector(&self, element: Ty, lanes: u32) -> Ty {
        Ty(llvm!(LLVMVectorType(element.0, lanes)))
    }
    pub(crate) fn array(&self, element: Ty, len: u64) -> Ty {
        Ty(llvm!(LLVMArrayType2(element.0, len)))
    }
    pub(crate) fn structure(&self, fields: &[Ty], packed: bool) -> Ty {
        let mut fields: Vec<_> = fields.iter().map(|f| f.0).collect();
        Ty(llvm!(LLVMStructTypeInContext(
            self.context,
            fields.as_mut_ptr(),
            fields.len() as u32,
            i32::from(packed)
        )))
    }
    pub(crate) fn function_type(&self, result: Ty, params: &[Ty]) -> Ty {
        let mut params: Vec<_> = params.iter().map(|p| p.0).collect();
        Ty(llvm!(LLVMFunctionType(
            result.0,
            params.as_mut_ptr(),
            params.len() as u32,
            0
        )))
    }
    pub(crate) fn type_of(&self, v: Val) -> Ty {
        Ty(llvm!(LLVMTypeOf(v.0)))
    }
    fn is_vector(&self, ty: Ty) -> bool {
        llvm!(LLVMGetTypeKind(ty.0)) == LLVMTypeKind::LLVMVectorTypeKind
    }
    /// Lanes of a vector type; `None` for others.
    pub(crate) fn lanes(&self, ty: Ty) -> Option<u32> {
        self.is_vector(ty).then(|| llvm!(LLVMGetVectorSize(ty.0)))
    }
    /// The type itself, or the element type of a vector.
    pub(crate) fn scalar(&self, ty: Ty) -> Ty {
        if self.is_vector(ty) {
            Ty(llvm!(LLVMGetElementType(ty.0)))
        } else {
            ty
        }
    }
    /// `scalar`, as a vector when `like` is one.
    pub(crate) fn shaped(&self, scalar: Ty, like: Ty) -> Ty {
        match self.lanes(like) {
            Some(n) => self.vector(scalar, n),
            None => scalar,
        }
    }
    /// Bits of a scalar integer type.
    pub(crate) fn int_width(&self, ty: Ty) -> u32 {
        llvm!(LLVMGetIntTypeWidth(ty.0))
    }

    // Constants.

    /// `value` in integer type `ty`, or in every lane of it.
    pub(crate) fn int_const(&self, ty: Ty, value: u64) -> Val {
        let scalar = self.scalar(ty);
        // LLVM requires the bits beyond the width to be clear.
        let value = match self.int_width(scalar) {
            bits @ 1..64 => value & (u64::MAX >> (64 - bits)),
            _ => value,
        };
        let one = Val(llvm!(LLVMConstInt(scalar.0, value, 0)));
        self.splat_const(one, ty)
    }
    pub(crate) fn i32c(&self, value: u32) -> Val {
        self.int_const(self.i32, u64::from(value))
    }
    pub(crate) fn i64c(&self, value: u64) -> Val {
        self.int_const(self.i64, value)
    }
    /// `value` in float type `ty`, or in every lane of it.
    pub(crate) fn float_const(&self, ty: Ty, value: f64) -> Val {
        let one = Val(llvm!(LLVMConstReal(self.scalar(ty).0, value)));
        self.splat_const(one, ty)
    }
    /// A float constant by its bits.
    pub(crate) fn float_bits(&self, ty: Ty, bits: u64, width: u32) -> Val {
        let int = self.int_const(self.int(width), bits);
        Val(llvm!(LLVMConstBitCast(int.0, ty.0)))
    }
    fn splat_const(&self, one: Val, ty: Ty) -> Val {
        match self.lanes(ty) {
            Some(n) => {
                let mut all = vec![one.0; n as usize];
                Val(llvm!(LLVMConstVector(all.as_mut_ptr(), n)))
            }
            None => one,
        }
    }
    pub(crate) fn null(&self, ty: Ty) -> Val {
        Val(llvm!(LLVMConstNull(ty.0)))
    }
    pub(crate) fn poison(&self, ty: Ty) -> Val {
        Val(llvm!(LLVMGetPoison(ty.0)))
    }
    pub(crate) fn const_vector(&self, parts: &[Val]) -> Val {
        let mut all: Vec<_> = parts.iter().map(|p| p.0).collect();
        Val(llvm!(LLVMConstVector(all.as_mut_ptr(), all.len() as u32)))
    }
    pub(crate) fn const_array(&self, element: Ty, parts: &[Val]) -> Val {
        let mut all: Vec<_> = parts.iter().map(|p| p.0).collect();
        Val(llvm!(LLVMConstArray2(
            element.0,
            all.as_mut_ptr(),
            all.len() as u64
        )))
    }
    pub(crate) fn const_struct(&self, parts: &[Val], packed: bool) -> Val {
        let mut all: Vec<_> = parts.iter().map(|p| p.0).collect();
        Val(llvm!(LLVMConstStructInContext(
            self.context,
            all.as_mut_ptr(),
            all.len() as u32,
            i32::from(packed)
        )))
    }
    /// `base + offset` bytes of a constant address.
    pub(crate) fn const_offset(&self, base: Val, offset: i64) -> Val {
        let mut index = self.i64c(offset as u64).0;
        Val(llvm!(LLVMConstGEP2(self.i8.0, base.0, &raw mut index, 1)))
    }

    // Functions and variables.

    pub(crate) fn add_function(&self, name: &str, ty: Ty) -> Val {
        let name = c_string(name);
        Val(llvm!(LLVMAddFunction(self.module, name.as_ptr(), ty.0)))
    }
    /// Deletes a function that nothing refers to. The builder has no position afterwards.
    pub(crate) fn delete_function(&self, function: Val) {
        llvm!({
            LLVMClearInsertionPosition(self.builder);
            LLVMDeleteFunction(function.0);
        });
    }
    pub(crate) fn param(&self, function: Val, index: u32) -> Val {
        Val(llvm!(LLVMGetParam(function.0, index)))
    }
    /// An attribute of the function (`None`) or of one parameter.
    pub(crate) fn attribute(&self, function: Val, param: Option<u32>, name: &str, value: u64) {
        llvm!({
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.context, kind, value);
            let index = param.map_or(LLVMAttributeFunctionIndex, |p| p + 1);
            LLVMAddAttributeAtIndex(function.0, index, attribute);
        });
    }
    pub(crate) fn text_attribute(&self, function: Val, name: &str, value: &str) {
        llvm!({
            let attribute = LLVMCreateStringAttribute(
                self.context,
                name.as_ptr().cast(),
                name.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, attribute);
        });
    }
    pub(crate) fn add_global(&self, name: &str, ty: Ty) -> Val {
        let name = c_string(name);
        Val(llvm!(LLVMAddGlobal(self.module, ty.0, name.as_ptr())))
    }
    pub(crate) fn define_global(&self, global: Val, init: Val, constant: bool, align: u64) {
        llvm!({
            LLVMSetInitializer(global.0, init.0);
            LLVMSetGlobalConstant(global.0, i32::from(constant));
            LLVMSetAlignment(global.0, align as u32);
        });
    }
    pub(crate) fn set_linkage(&self, global: Val, linkage: Linkage) {
        llvm!(LLVMSetLinkage(global.0, linkage));
    }
    pub(crate) fn is_declaration(&self, global: Val) -> bool {
        llvm!(LLVMIsDeclaration(global.0)) != 0
    }
    /// Gives a symbol hidden visibility: code reaches it without a global offset table.
    pub(crate) fn hide(&self, global: Val) {
        llvm!(LLVMSetVisibility(
            global.0,
            LLVMVisibility::LLVMHiddenVisibility
        ));
    }
    /// A C function outside the object.
    pub(crate) fn external(&self, name: &str, result: Ty, params: &[Ty]) -> (Val, Ty) {
        if let Some(&found) = self.externals.borrow().get(name) {
            return found;
        }
        let ty = self.function_type(result, params);
        let function = self.add_function(name, ty);
        self.attribute(function, None, "nounwind", 0);
        self.externals
            .borrow_mut()
            .insert(name.to_owned(), (function, ty));
        (function, ty)
    }
    /// As [`Self::external`], for mathematical functions that touch no memory.
    pub(crate) fn pure_external(&self, name: &str, result: Ty, params: &[Ty]) -> (Val, Ty) {
        let new = !self.externals.borrow().contains_key(name);
        let found = self.external(name, result, params);
        if new {
            // Generated code does not read errno. 0 = no memory at all.
            self.attribute(found.0, None, "memory", 0);
            self.attribute(found.0, None, "willreturn", 0);
        }
        found
    }
    /// As [`Self::external`], for functions that do not return: LLVM moves code that leads to a call out of the way.
    pub(crate) fn last_external(&self, name: &str, params: &[Ty]) -> (Val, Ty) {
        let new = !self.externals.borrow().contains_key(name);
        let found = self.external(name, self.void, params);
        if new {
            self.attribute(found.0, None, "cold", 0);
            self.attribute(found.0, None, "noreturn", 0);
        }
        found
    }
    /// Calls an intrinsic that is overloaded on `types`.
    pub(crate) fn intrinsic(&self, name: &'static str, types: &[Ty], args: &[Val]) -> Val {
        let key = (name, types.to_vec());
        let found = self.intrinsics.borrow().get(&key).copied();
        let (function, ty) = found.unwrap_or_else(|| {
            let mut raw: Vec<_> = types.iter().map(|t| t.0).collect();
            let made = llvm!({
                let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
                let function =
                    LLVMGetIntrinsicDeclaration(self.module, id, raw.as_mut_ptr(), raw.len());
                let ty = LLVMIntrinsicGetType(self.context, id, raw.as_mut_ptr(), raw.len());
                (Val(function), Ty(ty))
            });
            self.intrinsics.borrow_mut().insert(key, made);
            made
        });
        self.call(function, ty, args)
    }

    // Blocks and position.

    pub(crate) fn block(&self, function: Val, name: &CStr) -> Bb {
        Bb(llvm!(LLVMAppendBasicBlockInContext(
            self.context,
            function.0,
            name.as_ptr()
        )))
    }
    pub(crate) fn at_end(&self, block: Bb) {
        llvm!(LLVMPositionBuilderAtEnd(self.builder, block.0));
    }
    /// Puts the builder before the block's terminator, or at the block's end if it has none yet.
    pub(crate) fn before_end(&self, block: Bb) {
        llvm!({
            let end = LLVMGetBasicBlockTerminator(block.0);
            if end.is_null() {
                LLVMPositionBuilderAtEnd(self.builder, block.0);
            } else {
                LLVMPositionBuilderBefore(self.builder, end);
            }
        });
    }
    /// The block of the builder's position.
    pub(crate) fn here(&self) -> Bb {
        Bb(llvm!(LLVMGetInsertBlock(self.builder)))
    }

    // Instructions.

    pub(crate) fn call(&self, function: Val, ty: Ty, args: &[Val]) -> Val {
        let mut args: Vec<_> = args.iter().map(|a| a.0).collect();
        Val(llvm!(LLVMBuildCall2(
            self.builder,
            ty.0,
            function.0,
            args.as_mut_ptr(),
            args.len() as u32,
            c"".as_ptr()
        )))
    }
    pub(crate) fn bin(&self, op: Opcode, a: Val, b: Val) -> Val {
        Val(llvm!(LLVMBuildBinOp(
            self.builder,
            op,
            a.0,
            b.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn add(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMAdd, a, b)
    }
    pub(crate) fn sub(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMSub, a, b)
    }
    pub(crate) fn mul(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMMul, a, b)
    }
    pub(crate) fn and(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMAnd, a, b)
    }
    pub(crate) fn or(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMOr, a, b)
    }
    pub(crate) fn xor(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMXor, a, b)
    }
    pub(crate) fn shl(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMShl, a, b)
    }
    pub(crate) fn lshr(&self, a: Val, b: Val) -> Val {
        self.bin(Opcode::LLVMLShr, a, b)
    }
    pub(crate) fn not(&self, a: Val) -> Val {
        Val(llvm!(LLVMBuildNot(self.builder, a.0, c"".as_ptr())))
    }
    pub(crate) fn neg(&self, a: Val) -> Val {
        Val(llvm!(LLVMBuildNeg(self.builder, a.0, c"".as_ptr())))
    }
    pub(crate) fn fneg(&self, a: Val) -> Val {
        Val(llvm!(LLVMBuildFNeg(self.builder, a.0, c"".as_ptr())))
    }
    pub(crate) fn freeze(&self, a: Val) -> Val {
        Val(llvm!(LLVMBuildFreeze(self.builder, a.0, c"".as_ptr())))
    }
    pub(crate) fn icmp(&self, pred: IntPred, a: Val, b: Val) -> Val {
        Val(llvm!(LLVMBuildICmp(
            self.builder,
            pred,
            a.0,
            b.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn fcmp(&self, pred: RealPred, a: Val, b: Val) -> Val {
        Val(llvm!(LLVMBuildFCmp(
            self.builder,
            pred,
            a.0,
            b.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn select(&self, cond: Val, a: Val, b: Val) -> Val {
        Val(llvm!(LLVMBuildSelect(
            self.builder,
            cond.0,
            a.0,
            b.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn cast(&self, op: Opcode, v: Val, to: Ty) -> Val {
        if self.type_of(v) == to {
            return v;
        }
        Val(llvm!(LLVMBuildCast(
            self.builder,
            op,
            v.0,
            to.0,
            c"".as_ptr()
        )))
    }
    /// An unsigned conversion to a wider or narrower integer.
    pub(crate) fn zext_or_trunc(&self, v: Val, to: Ty) -> Val {
        let from = self.int_width(self.scalar(self.type_of(v)));
        let op = if self.int_width(self.scalar(to)) > from {
            Opcode::LLVMZExt
        } else {
            Opcode::LLVMTrunc
        };
        self.cast(op, v, to)
    }
    pub(crate) fn phi(&self, ty: Ty) -> Val {
        Val(llvm!(LLVMBuildPhi(self.builder, ty.0, c"".as_ptr())))
    }
    pub(crate) fn add_incoming(&self, phi: Val, value: Val, from: Bb) {
        let (mut value, mut from) = (value.0, from.0);
        llvm!(LLVMAddIncoming(phi.0, &raw mut value, &raw mut from, 1));
    }
    pub(crate) fn extract_element(&self, v: Val, index: Val) -> Val {
        Val(llvm!(LLVMBuildExtractElement(
            self.builder,
            v.0,
            index.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn insert_element(&self, v: Val, element: Val, index: Val) -> Val {
        Val(llvm!(LLVMBuildInsertElement(
            self.builder,
            v.0,
            element.0,
            index.0,
            c"".as_ptr()
        )))
    }
    /// A vector with `v` in each of its lanes.
    pub(crate) fn splat(&self, v: Val, lanes: u32) -> Val {
        let none = self.poison(self.vector(self.type_of(v), lanes));
        let one = self.insert_element(none, v, self.i32c(0));
        self.shuffle(one, none, &vec![0; lanes as usize])
    }
    /// A shuffle; index `u32::MAX` gives a lane of poison.
    pub(crate) fn shuffle(&self, a: Val, b: Val, lanes: &[u32]) -> Val {
        let lanes: Vec<Val> = lanes
            .iter()
            .map(|&l| match l {
                u32::MAX => self.poison(self.i32),
                l => self.i32c(l),
            })
            .collect();
        let mask = self.const_vector(&lanes);
        Val(llvm!(LLVMBuildShuffleVector(
            self.builder,
            a.0,
            b.0,
            mask.0,
            c"".as_ptr()
        )))
    }
    pub(crate) fn extract_value(&self, v: Val, index: u32) -> Val {
        Val(llvm!(LLVMBuildExtractValue(
            self.builder,
            v.0,
            index,
            c"".as_ptr()
        )))
    }
    pub(crate) fn insert_value(&self, v: Val, part: Val, index: u32) -> Val {
        Val(llvm!(LLVMBuildInsertValue(
            self.builder,
            v.0,
            part.0,
            index,
            c"".as_ptr()
        )))
    }
    pub(crate) fn alloca(&self, ty: Ty, align: u64) -> Val {
        let v = Val(llvm!(LLVMBuildAlloca(self.builder, ty.0, c"".as_ptr())));
        if align > 0 {
            llvm!(LLVMSetAlignment(v.0, align as u32));
        }
        v
    }
    /// A load. Alignment 0 is that of the type, for variables.
    pub(crate) fn load(&self, ty: Ty, ptr: Val, align: u64) -> Val {
        let v = Val(llvm!(LLVMBuildLoad2(
            self.builder,
            ty.0,
            ptr.0,
            c"".as_ptr()
        )));
        if align > 0 {
            llvm!(LLVMSetAlignment(v.0, align as u32));
        }
        v
    }
    pub(crate) fn store(&self, value: Val, ptr: Val, align: u64) -> Val {
        let v = Val(llvm!(LLVMBuildStore(self.builder, value.0, ptr.0)));
        if align > 0 {
            llvm!(LLVMSetAlignment(v.0, align as u32));
        }
        v
    }
    pub(crate) fn set_volatile(&self, access: Val) {
        llvm!(LLVMSetVolatile(access.0, 1));
    }
    pub(crate) fn set_ordering(&self, access: Val, ordering: Ordering) {
        llvm!(LLVMSetOrdering(access.0, ordering));
    }
    /// `ptr + index` bytes.
    pub(crate) fn offset(&self, ptr: Val, index: Val) -> Val {
        let mut index = index.0;
        Val(llvm!(LLVMBuildGEP2(
            self.builder,
            self.i8.0,
            ptr.0,
            &raw mut index,
            1,
            c"".as_ptr()
        )))
    }
    /// Address of element `index` of an array of `ty` at `ptr`.
    pub(crate) fn element(&self, ty: Ty, ptr: Val, index: Val) -> Val {
        let mut index = index.0;
        Val(llvm!(LLVMBuildGEP2(
            self.builder,
            ty.0,
            ptr.0,
            &raw mut index,
            1,
            c"".as_ptr()
        )))
    }
    /// `ptr + offset` bytes.
    pub(crate) fn offset_by(&self, ptr: Val, offset: u64) -> Val {
        if offset == 0 {
            return ptr;
        }
        self.offset(ptr, self.i64c(offset))
    }
    pub(crate) fn memcpy(&self, dst: Val, src: Val, size: Val, align: u64) {
        llvm!(LLVMBuildMemCpy(
            self.builder,
            dst.0,
            align as u32,
            src.0,
            align as u32,
            size.0
        ));
    }
    pub(crate) fn atomic_rmw(&self, op: Rmw, ptr: Val, value: Val, ordering: Ordering) -> Val {
        Val(llvm!(LLVMBuildAtomicRMW(
            self.builder,
            op,
            ptr.0,
            value.0,
            ordering,
            0
        )))
    }
    /// A compare-and-exchange; returns the old value.
    pub(crate) fn cmpxchg(
        &self,
        ptr: Val,
        expected: Val,
        new: Val,
        success: Ordering,
        failure: Ordering,
    ) -> Val {
        let both = Val(llvm!(LLVMBuildAtomicCmpXchg(
            self.builder,
            ptr.0,
            expected.0,
            new.0,
            success,
            failure,
            0
        )));
        self.extract_value(both, 0)
    }
    pub(crate) fn fence(&self, ordering: Ordering, one_thread: bool) {
        llvm!(LLVMBuildFence(
            self.builder,
            ordering,
            i32::from(one_thread),
            c"".as_ptr()
        ));
    }
    pub(crate) fn br(&self, to: Bb) {
        llvm!(LLVMBuildBr(self.builder, to.0));
    }
    pub(crate) fn cond_br(&self, cond: Val, then: Bb, otherwise: Bb) {
        llvm!(LLVMBuildCondBr(self.builder, cond.0, then.0, otherwise.0));
    }
    pub(crate) fn switch(&self, value: Val, default: Bb, cases: &[(Val, Bb)]) {
        llvm!({
            let switch = LLVMBuildSwitch(self.builder, value.0, default.0, cases.len() as u32);
            for &(value, block) in cases {
                LLVMAddCase(switch, value.0, block.0);
            }
        });
    }
    pub(crate) fn ret(&self, value: Val) {
        llvm!(LLVMBuildRet(self.builder, value.0));
    }
    pub(crate) fn ret_void(&self) {
        llvm!(LLVMBuildRetVoid(self.builder));
    }

    // Flags. Values that LLVM folded to constants have none and stay as they are.

    pub(crate) fn set_wrap(&self, v: Val, nsw: bool, nuw: bool) {
        llvm!(if !LLVMIsAInstruction(v.0).is_null() {
            LLVMSetNSW(v.0, i32::from(nsw));
            LLVMSetNUW(v.0, i32::from(nuw));
        });
    }
    pub(crate) fn set_fast(&self, v: Val, flags: u32) {
        llvm!(if flags != 0
            && !LLVMIsAInstruction(v.0).is_null()
            && LLVMCanValueUseFastMathFlags(v.0) != 0
        {
            LLVMSetFastMathFlags(v.0, flags);
        });
    }
}

impl Drop for Ir {
    fn drop(&mut self) {
        // SAFETY: builder, module and context are ours and used no more; the module goes first.
        unsafe {
            LLVMDisposeBuilder(self.builder);
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}

/// `text` up to its first zero byte.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}
