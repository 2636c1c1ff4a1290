//! Types, constants and variables of a module in LLVM's terms.
//!
//! A Bool is `i1` in a register and one byte in memory; aggregates have their memory form everywhere.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use kernel_ir::abi::callable::Signatures;
use kernel_ir::{AddressSpace, ConstId, Constant, FunctionId, GlobalId, Module, Type, TypeId};

use crate::llvm::{Ir, Linkage, Opcode, Ty, Val};

/// The LLVM counterparts of a module's types and variables, each made once.
pub(crate) struct Values<'a> {
    pub(crate) ir: &'a Ir,
    pub(crate) module: &'a Module,
    registers: RefCell<Vec<Option<Ty>>>,
    memory: RefCell<Vec<Option<Ty>>>,
    globals: RefCell<Vec<Option<Val>>>,
    /// Functions that add a window's updates to global memory, by operation and size of element.
    pub(crate) movers: RefCell<HashMap<(u32, u64), Val>>,
    /// Records of functions whose address is taken.
    pub(crate) callables: RefCell<HashMap<FunctionId, Val>>,
    /// Code of callable functions.
    pub(crate) codes: RefCell<HashMap<FunctionId, Val>>,
    signatures: OnceCell<Signatures>,
    /// The functions in `codes` that have no body yet.
    pub(crate) undefined: RefCell<Vec<FunctionId>>,
}

/// Symbol of a program-scope variable in the object.
pub(crate) fn global_symbol(id: GlobalId) -> String {
    format!("solum.variable.{}", id.0)
}

impl<'a> Values<'a> {
    pub(crate) fn new(ir: &'a Ir, module: &'a Module) -> Self {
        Self {
            ir,
            module,
            registers: RefCell::new(vec![None; module.types.len()]),
            memory: RefCell::new(vec![None; module.types.len()]),
            globals: RefCell::new(vec![None; module.globals.len()]),
            movers: RefCell::default(),
            callables: RefCell::default(),
            codes: RefCell::default(),
            undefined: RefCell::default(),
            signatures: OnceCell::new(),
        }
    }

    /// Numbers of function types.
    pub(crate) fn signatures(&self) -> &Signatures {
        self.signatures
            .get_or_init(|| Signatures::new(&self.module.types))
    }

    /// The type of a value in a register.
    pub(crate) fn register(&self, id: TypeId) -> Ty {
        if let Some(found) = self.registers.borrow()[id.0 as usize] {
            return found;
        }
        let ty = match *self.module.types.get(id) {
            Type::Bool => self.ir.i1,
            Type::Vector(element, n) => self.ir.vector(self.register(element), n),
            _ => self.memory(id),
        };
        self.registers.borrow_mut()[id.0 as usize] = Some(ty);
        ty
    }

    /// The type of a value in memory.
    pub(crate) fn memory(&self, id: TypeId) -> Ty {
        if let Some(found) = self.memory.borrow()[id.0 as usize] {
            return found;
        }
        let ir = self.ir;
        let ty = match self.module.types.get(id) {
            Type::Void => ir.void,
            Type::Bool => ir.i8,
            Type::Int(bits) => ir.int(u32::from(*bits)),
            Type::Float(16) => ir.half,
            Type::Float(64) => ir.double,
            Type::Float(_) => ir.float,
            Type::Ptr(_) => ir.ptr,
            Type::Vector(element, n) => ir.vector(self.memory(*element), *n),
            Type::Array(element, len) => ir.array(self.memory(*element), *len),
            Type::Struct { fields, packed } => {
                let fields: Vec<Ty> = fields.iter().map(|&f| self.memory(f)).collect();
                ir.structure(&fields, *packed)
            }
        };
        self.memory.borrow_mut()[id.0 as usize] = Some(ty);
        ty
    }

    /// A register value in its memory form.
    pub(crate) fn to_memory(&self, v: Val, id: TypeId) -> Val {
        self.ir.cast(Opcode::LLVMZExt, v, self.memory(id))
    }
    /// A value loaded from memory, in its register form.
    pub(crate) fn to_register(&self, v: Val, id: TypeId) -> Val {
        self.ir.cast(Opcode::LLVMTrunc, v, self.register(id))
    }

    /// A constant in its register form.
    pub(crate) fn constant(&self, id: ConstId) -> Val {
        let ty = self.module.constants.ty(id);
        self.constant_as(id, self.register(ty), false)
    }

    /// A constant in its memory form.
    pub(crate) fn constant_in_memory(&self, id: ConstId) -> Val {
        let ty = self.module.constants.ty(id);
        self.constant_as(id, self.memory(ty), true)
    }

    fn constant_as(&self, id: ConstId, ty: Ty, memory: bool) -> Val {
        let (ir, module) = (self.ir, self.module);
        let own = module.constants.ty(id);
        match module.constants.get(id) {
            // Zero, not LLVM's undef: a branch on undef would be undefined behaviour.
            Constant::Null | Constant::Undef => ir.null(ty),
            Constant::FunctionAddress(id) => self.callable(*id),
            Constant::Bool(b) => ir.int_const(ty, u64::from(*b)),
            Constant::Int(v) => ir.int_const(ty, *v),
            Constant::Float(bits) => match module.types.get(own) {
                Type::Float(width) => ir.float_bits(ty, *bits, u32::from(*width)),
                _ => ir.null(ty),
            },
            Constant::Composite(parts) => {
                let is_vector = matches!(module.types.get(own), Type::Vector(..));
                let parts: Vec<Val> = parts
                    .iter()
                    .map(|&p| {
                        if memory || !is_vector {
                            self.constant_in_memory(p)
                        } else {
                            self.constant(p)
                        }
                    })
                    .collect();
                match module.types.get(own) {
                    Type::Vector(..) => ir.const_vector(&parts),
                    Type::Array(element, _) => ir.const_array(self.memory(*element), &parts),
                    Type::Struct { packed, .. } => ir.const_struct(&parts, *packed),
                    _ => ir.null(ty),
                }
            }
            Constant::GlobalAddress(global, offset) => {
                // Work-group variables have no address before a launch; the lowering of a kernel replaces theirs.
                match module.globals[global.index()].space {
                    AddressSpace::Local => ir.null(ty),
                    _ => ir.const_offset(self.global(*global), *offset),
                }
            }
        }
    }

    /// The address of a program-scope variable, which is put into the object on first use.
    pub(crate) fn global(&self, id: GlobalId) -> Val {
        if let Some(found) = self.globals.borrow()[id.index()] {
            return found;
        }
        let ir = self.ir;
        let global = &self.module.globals[id.index()];
        let ty = if self.module.types.size_of(global.ty) == global.size && global.size > 0 {
            self.memory(global.ty)
        } else {
            ir.array(ir.i8, global.size)
        };
        let made = ir.add_global(&global_symbol(id), ty);
        // Entered before the initialiser is made: a variable may point to itself.
        self.globals.borrow_mut()[id.index()] = Some(made);
        let init = match global.init {
            Some(init) if self.module.constants.ty(init) == global.ty => {
                self.constant_in_memory(init)
            }
            _ => ir.null(ty),
        };
        let constant = global.space == AddressSpace::Constant && !global.exported;
        ir.define_global(made, init, constant, global.align.clamp(1, 4096));
        if global.exported {
            ir.hide(made);
        } else {
            ir.set_linkage(made, Linkage::LLVMInternalLinkage);
        }
        made
    }
}
