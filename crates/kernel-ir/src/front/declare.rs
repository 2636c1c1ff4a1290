//! Declarations of a module: types, constants and variables.

use super::constants::{Constants, Leaves, MAX_LEAVES, null};
use super::fault::{At, Res, invalid, unsupported};
use super::images;
use super::source::Source;
use super::specialise;
use super::table::{Entity, ExtSet, Kind, Table, Ty, low_bits};
use super::work_item;
use crate::{AddressSpace, ConstId, Constant, FunctionId, GlobalId, Module, Type, TypeId};
use spirv::{Decoration, FPEncoding, Op, StorageClass};
use spirv_reader::{Instruction, Operands};
use std::collections::{HashMap, HashSet};

/// Types larger than this are refused, in bytes.
const MAX_TYPE: u64 = 1 << 40;
/// Variables larger than this are refused, in bytes.
const MAX_VARIABLE: u64 = 1 << 32;
/// Deeper nested types are refused.
const MAX_DEPTH: u16 = 64;
/// Structs and scalars of one type, counting an array as one element.
const MAX_NODES: u32 = 1 << 16;
/// Declares the ids of one module.
pub(super) struct Declare<'a, 'w> {
    pub(super) module: &'a mut Module,
    pub(super) source: &'a Source<'w>,
    pub(super) table: &'a mut Table,
    /// Specialisation constants of the request.
    pub(super) specialisation: &'a HashMap<u32, &'a [u8]>,
    /// Variables of this module, numbered by linking.
    pub(super) variables: &'a HashMap<u32, GlobalId>,
    /// Imported variables, which another declaration defines.
    pub(super) borrowed: &'a HashSet<u32>,
    /// Functions with an address.
    pub(super) functions: &'a HashMap<u32, FunctionId>,
    /// Leaves of composite constants.
    pub(super) leaves: Leaves,
    /// Total constituents from replicating instructions.
    pub(super) replicated: u64,
}

impl Declare<'_, '_> {
    /// Declares everything in order.
    pub(super) fn all(&mut self) -> Res<()> {
        let source = self.source;
        let mut at = 0;
        while let Some(inst) = source.declarations.get(at) {
            at += 1;
            // Long composites have continuation instructions.
            let mut more = Vec::new();
            let long = matches!(
                Op::from_u32(u32::from(inst.opcode)),
                Some(Op::TypeStruct | Op::ConstantComposite | Op::SpecConstantComposite)
            );
            while let Some(next) = source.declarations.get(at).filter(|_| long) {
                if !Op::from_u32(u32::from(next.opcode)).is_some_and(continues) {
                    break;
                }
                more.extend_from_slice(next.operands);
                at += 1;
            }
            self.one(inst, &more).at(inst.word)?;
        }
        Ok(())
    }

    fn one(&mut self, inst: &Instruction<'_>, more: &[u32]) -> Res<()> {
        let Some(op) = Op::from_u32(u32::from(inst.opcode)) else {
            return unsupported("unknown instruction");
        };
        let mut operands = inst.cursor();
        match op {
            Op::ExtInstImport => {
                let id = operands.next()?;
                let name = operands.text()?;
                let set = match name.as_str() {
                    "OpenCL.std" => ExtSet::OpenCl,
                    "OpenCL.DebugInfo.100" | "DebugInfo" => ExtSet::Ignored,
                    _ if name.starts_with("NonSemantic.") => {
                        self.module.lines.has_others |= name.contains("DebugInfo");
                        ExtSet::Ignored
                    }
                    _ => return unsupported(format!("extended instruction set {name:?}")),
                };
                self.table.define(id, 0, Entity::Set(set))
            }
            Op::ExtInst | Op::ExtInstWithForwardRefsKHR => {
                let (_, id, set) = (operands.next()?, operands.next()?, operands.next()?);
                match self.table.get(set)? {
                    Entity::Set(ExtSet::Ignored) => self.table.define(id, 0, Entity::Named),
                    _ => invalid("only debug information may stand outside functions"),
                }
            }
            Op::String
            | Op::AliasDomainDeclINTEL
            | Op::AliasScopeDeclINTEL
            | Op::AliasScopeListDeclINTEL => {
                let id = operands.next()?;
                self.table.define(id, 0, Entity::Named)
            }
            Op::Undef => {
                let (ty, id) = (operands.next()?, operands.next()?);
                let ir = self.table.sized(ty)?;
                let constant = self.module.constants.intern(ir, Constant::Undef);
                self.table.define(id, ty, Entity::Const(constant))
            }
            Op::Variable | Op::UntypedVariableKHR => self.variable(op, &mut operands),
            _ if continues(op) => invalid("nothing before it to go on with"),
            _ if is_constant(op) => self.constant(op, &mut operands, more),
            _ => self.declare_type(op, &mut operands, more),
        }
    }

    fn declare_type(&mut self, op: Op, operands: &mut Operands<'_>, more: &[u32]) -> Res<()> {
        if op == Op::TypeForwardPointer {
            let (id, class) = (operands.next()?, operands.next()?);
            let space = storage(class)?;
            let ir = self.module.types.ptr(space);
            return self.add_type(id, ir, Kind::Pointer(space, 0), 0);
        }
        let refused = match op {
            Op::TypePipe | Op::TypeReserveId | Op::TypePipeStorage => Some("pipes"),
            Op::TypeDeviceEvent | Op::TypeQueue => Some("device-side enqueue"),
            Op::TypeNamedBarrier => Some("named barriers"),
            Op::TypeMatrix | Op::TypeRuntimeArray => Some("a type that kernels do not have"),
            _ => None,
        };
        if let Some(what) = refused {
            return unsupported(what);
        }
        let is_type = matches!(
            op,
            Op::TypeVoid
                | Op::TypeBool
                | Op::TypeInt
                | Op::TypeFloat
                | Op::TypeVector
                | Op::TypeArray
                | Op::TypeStruct
                | Op::TypePointer
                | Op::TypeUntypedPointerKHR
                | Op::TypeFunction
                | Op::TypeEvent
                | Op::TypeImage
                | Op::TypeSampler
                | Op::TypeSampledImage
                | Op::TypeOpaque
        );
        if !is_type {
            return unsupported("this instruction outside functions");
        }
        let id = operands.next()?;
        let void = self.module.types.void();
        match op {
            Op::TypeVoid => self.add_type(id, void, Kind::Void, 0),
            Op::TypeBool => {
                let ir = self.module.types.bool();
                self.add_type(id, ir, Kind::Bool, 0)
            }
            Op::TypeInt => {
                let width = operands.next()?;
                let Some(bits) = u8::try_from(width)
                    .ok()
                    .filter(|bits| matches!(bits, 8 | 16 | 32 | 64))
                else {
                    return unsupported(format!(
                        "integers of {width} bits; there are 8, 16, 32 and 64"
                    ));
                };
                let ir = self.module.types.int(bits);
                self.add_type(id, ir, Kind::Int, 0)
            }
            Op::TypeFloat => self.float_type(id, operands),
            Op::TypeVector => self.vector_type(id, operands),
            Op::TypeArray => {
                let (element, len) = (operands.next()?, operands.next()?);
                let len = self.table.integer(self.module, len)?;
                if len == 0 {
                    return invalid("an array has at least one element");
                }
                let ir = self.table.sized(element)?;
                let depth = self.table.ty(element)?.depth.saturating_add(1);
                let ir = self.module.types.intern(Type::Array(ir, len));
                self.add_type(id, ir, Kind::Array(element), depth)
            }
            Op::TypeStruct => {
                let members = operands.rest().iter().chain(more).copied().collect();
                self.struct_type(id, members)
            }
            Op::TypePointer => self.pointer_type(id, operands),
            Op::TypeUntypedPointerKHR => {
                let space = storage(operands.next()?)?;
                let ir = self.module.types.ptr(space);
                self.add_type(id, ir, Kind::Pointer(space, 0), 0)
            }
            Op::TypeFunction => {
                let result = operands.next()?;
                self.table.ty(result)?;
                let params = operands.rest().to_vec();
                for &param in &params {
                    self.table.sized(param)?;
                }
                self.add_type(id, void, Kind::Function(result, params), 0)
            }
            Op::TypeEvent => {
                let ir = self.module.types.int(64);
                self.add_type(id, ir, Kind::Event, 0)
            }
            Op::TypeImage | Op::TypeSampler | Op::TypeSampledImage => {
                let (ir, kind) = images::declare(&mut self.module.types, self.table, op, operands)?;
                self.add_type(id, ir, kind, 0)
            }
            _ => self.add_type(id, void, Kind::Opaque, 0),
        }
    }

    fn float_type(&mut self, id: u32, operands: &mut Operands<'_>) -> Res<()> {
        let width = operands.next()?;
        match (operands.maybe().map(FPEncoding::from_u32), width) {
            (None, _) => {}
            (Some(Some(FPEncoding::BFloat16KHR)), 16) => {
                let ir = self.module.types.int(16);
                return self.add_type(id, ir, Kind::Bfloat16, 0);
            }
            (Some(Some(encoding)), _) => {
                return unsupported(format!("{encoding:?} of {width} bits"));
            }
            (Some(None), _) => return unsupported("floats of an unknown encoding"),
        }
        let Some(bits) = u8::try_from(width)
            .ok()
            .filter(|bits| matches!(bits, 16 | 32 | 64))
        else {
            return unsupported(format!("floats of {width} bits; there are 16, 32 and 64"));
        };
        let ir = self.module.types.float(bits);
        self.add_type(id, ir, Kind::Float, 0)
    }

    fn vector_type(&mut self, id: u32, operands: &mut Operands<'_>) -> Res<()> {
        let (element, len) = (operands.next()?, operands.next()?);
        let scalar = self.table.ty(element)?;
        let (Kind::Bool | Kind::Int | Kind::Float | Kind::Bfloat16 | Kind::Pointer(..)) =
            scalar.kind
        else {
            return invalid(format!("vector elements are scalars, %{element} is none"));
        };
        if !matches!(len, 2 | 3 | 4 | 8 | 16) {
            return unsupported(format!(
                "vectors of {len} elements; there are 2, 3, 4, 8 and 16"
            ));
        }
        let ir = self.module.types.intern(Type::Vector(scalar.ir, len));
        self.add_type(id, ir, Kind::Vector(element, len), 1)
    }

    fn struct_type(&mut self, id: u32, members: Vec<u32>) -> Res<()> {
        let mut depth = 0;
        let mut fields = Vec::with_capacity(members.len());
        for &member in &members {
            fields.push(self.table.sized(member)?);
            depth = self.table.ty(member)?.depth.max(depth);
        }
        let packed = self.source.decoration(id, Decoration::CPacked).is_some();
        let mut offsets = Vec::with_capacity(fields.len());
        let mut at = 0u64;
        for &field in &fields {
            if !packed {
                let align = self.module.types.align_of(field);
                at = at.checked_next_multiple_of(align).unwrap_or(u64::MAX);
            }
            offsets.push(at);
            at = at.saturating_add(self.module.types.size_of(field));
        }
        let ir = self.module.types.intern(Type::Struct { fields, packed });
        self.add_type(
            id,
            ir,
            Kind::Struct(members, offsets),
            depth.saturating_add(1),
        )
    }

    fn pointer_type(&mut self, id: u32, operands: &mut Operands<'_>) -> Res<()> {
        let (class, pointee) = (operands.next()?, operands.next()?);
        let space = storage(class)?;
        self.table.ty(pointee)?;
        // Declared before by OpTypeForwardPointer; now its pointee is known.
        if let Ok(Entity::Type(index)) = self.table.get(id)
            && let Some(ty) = self.table.types.get_mut(index as usize)
            && let Kind::Pointer(before, unknown @ 0) = &mut ty.kind
        {
            if *before != space {
                return invalid("another storage class than its forward declaration");
            }
            *unknown = pointee;
            return Ok(());
        }
        let ir = self.module.types.ptr(space);
        self.add_type(id, ir, Kind::Pointer(space, pointee), 0)
    }

    fn add_type(&mut self, id: u32, ir: TypeId, kind: Kind, depth: u16) -> Res<()> {
        if depth > MAX_DEPTH {
            return unsupported(format!("types nested deeper than {MAX_DEPTH}"));
        }
        let size = self.module.types.size_of(ir);
        if size > MAX_TYPE {
            return unsupported(format!(
                "a type of {size} bytes; the largest has {MAX_TYPE}"
            ));
        }
        let part = |id: &u32| self.table.ty(*id).map_or(1, |ty| ty.nodes);
        let nodes = match &kind {
            Kind::Struct(members, _) => members
                .iter()
                .fold(1u32, |sum, member| sum.saturating_add(part(member))),
            Kind::Array(element) => part(element).saturating_add(1),
            _ => 1,
        };
        if nodes > MAX_NODES {
            return unsupported(format!(
                "a type of {nodes} parts; the largest has {MAX_NODES}"
            ));
        }
        let index = self.table.types.len() as u32;
        self.table.define(id, 0, Entity::Type(index))?;
        self.table.types.push(Ty {
            ir,
            kind,
            depth,
            nodes,
        });
        Ok(())
    }

    fn constant(&mut self, op: Op, operands: &mut Operands<'_>, more: &[u32]) -> Res<()> {
        if op == Op::ConstantPipeStorage {
            return unsupported("pipes");
        }
        let (ty, id) = (operands.next()?, operands.next()?);
        let ir = self.table.sized(ty)?;
        let (is_bool, is_float, is_pointer) = {
            let kind = &self.table.ty(ty)?.kind;
            (
                matches!(kind, Kind::Bool),
                matches!(kind, Kind::Float),
                matches!(kind, Kind::Pointer(..)),
            )
        };
        let value = match op {
            Op::ConstantTrue | Op::ConstantFalse => Constant::Bool(op == Op::ConstantTrue),
            Op::SpecConstantTrue | Op::SpecConstantFalse => Constant::Bool(
                self.specialised(id, 8)
                    .map_or(op == Op::SpecConstantTrue, |value| value != 0),
            ),
            Op::Constant | Op::SpecConstant => {
                let bits = match *self.module.types.get(ir) {
                    Type::Int(bits) | Type::Float(bits) => bits,
                    _ => return invalid("the type is no integer or float"),
                };
                let low = u64::from(operands.next()?);
                let mut value = if bits == 64 {
                    low | u64::from(operands.next()?) << 32
                } else {
                    low
                };
                if op == Op::SpecConstant {
                    value = self.specialised(id, bits).unwrap_or(value);
                }
                value = low_bits(value, bits);
                if is_float {
                    Constant::Float(value)
                } else {
                    Constant::Int(value)
                }
            }
            Op::ConstantNull => null(&self.module.types, ir),
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts: Vec<u32> = operands.rest().iter().chain(more).copied().collect();
                let constant = self.composite(ir, &parts)?;
                return self.table.define(id, ty, Entity::Const(constant));
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let part = operands.next()?;
                let len = match *self.module.types.get(ir) {
                    Type::Vector(_, len) => u64::from(len),
                    Type::Array(_, len) if len <= 1 << 16 => len,
                    _ => return invalid("the type is no vector or reasonably long array"),
                };
                self.replicated = self.replicated.saturating_add(len);
                if self.replicated > MAX_LEAVES {
                    return unsupported(format!(
                        "more than {MAX_LEAVES} constituents made by replication"
                    ));
                }
                let constant = self.composite(ir, &vec![part; len as usize])?;
                return self.table.define(id, ty, Entity::Const(constant));
            }
            Op::ConstantFunctionPointerINTEL => {
                let function = operands.next()?;
                let Some(&function) = self.functions.get(&function) else {
                    return invalid(format!("id %{function} is no function with an address"));
                };
                if !is_pointer {
                    return invalid("the type is no pointer");
                }
                Constant::FunctionAddress(function)
            }
            Op::SpecConstantOp => {
                let entity = specialise::fold(&mut self.constants(), ty, operands)?;
                return self.table.define(id, ty, entity);
            }
            Op::ConstantSampler => {
                if self.table.ty(ty)?.kind != Kind::Sampler {
                    return invalid("the type is no sampler");
                }
                Constant::Int(images::literal(operands)?)
            }
            _ => return unsupported("this kind of constant"),
        };
        let fits = match value {
            Constant::Bool(_) => is_bool,
            _ => true,
        };
        if !fits {
            return invalid("the type is not Bool");
        }
        let constant = self.module.constants.intern(ir, value);
        self.table.define(id, ty, Entity::Const(constant))
    }

    /// The value that the request gives to specialisation constant `id`.
    fn specialised(&self, id: u32, bits: u8) -> Option<u64> {
        let spec = self.source.literal(id, Decoration::SpecId)?;
        let bytes = self.specialisation.get(&spec)?;
        let mut value = [0; 8];
        for (to, from) in value.iter_mut().zip(bytes.iter()) {
            *to = *from;
        }
        Some(low_bits(u64::from_le_bytes(value), bits))
    }

    /// The context for computing constants.
    fn constants(&mut self) -> Constants<'_> {
        Constants {
            module: self.module,
            table: self.table,
            leaves: &mut self.leaves,
        }
    }

    /// A vector, array or struct constant.
    pub(super) fn composite(&mut self, ir: TypeId, parts: &[u32]) -> Res<ConstId> {
        let len = match self.module.types.get(ir) {
            Type::Vector(_, len) => u64::from(*len),
            Type::Array(_, len) => *len,
            Type::Struct { fields, .. } => fields.len() as u64,
            _ => return invalid("the type is no vector, array or struct"),
        };
        if parts.len() as u64 != len {
            return invalid(format!("{} constituents, the type has {len}", parts.len()));
        }
        let mut constants = Vec::with_capacity(parts.len());
        for (i, &part) in parts.iter().enumerate() {
            let constant = self.table.constant(self.module, part)?;
            let want = self.module.types.element(ir, i as u64);
            if want != Some(self.module.constants.ty(constant)) {
                return invalid(format!(
                    "constituent {i} (%{part}) has not the type of the part it fills"
                ));
            }
            constants.push(constant);
        }
        self.constants().composite(ir, constants)
    }

    fn variable(&mut self, op: Op, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let class = operands.next()?;
        let (space, mut pointee) = self.table.pointer(ty)?;
        if op == Op::UntypedVariableKHR {
            let Some(content) = operands.maybe() else {
                return unsupported("an untyped variable without a data type");
            };
            pointee = content;
        }
        if storage(class)? != space {
            return invalid("another storage class than the pointer type's");
        }
        if let Some(place) = work_item::variable(self.source, self.module, self.table, id, pointee)?
        {
            return self.table.define(id, ty, Entity::BuiltinPart(place));
        }
        let Some(&global) = self.variables.get(&id) else {
            return unsupported(format!("storage class {class} outside functions"));
        };
        let content = self.table.sized(pointee)?;
        let size = self.module.types.size_of(content);
        if size > MAX_VARIABLE {
            return unsupported(format!(
                "a variable of {size} bytes; the largest has {MAX_VARIABLE}"
            ));
        }
        let init = match operands.maybe() {
            Some(init) => {
                let init = self.table.constant(self.module, init)?;
                if self.module.constants.ty(init) != content {
                    return invalid("the initialiser has not the variable's type");
                }
                Some(init)
            }
            None => None,
        };
        let align = self.source.alignment(id).map_or(1, u64::from);
        if !align.is_power_of_two() || align > 1 << 16 {
            return invalid(format!(
                "alignment {align}, a power of two to 65536 is needed"
            ));
        }
        let align = align.max(self.module.types.align_of(content));
        if !self.borrowed.contains(&id)
            && let Some(slot) = self.module.globals.get_mut(global.index())
        {
            slot.space = space;
            slot.ty = content;
            slot.size = size.max(1);
            slot.align = align;
            slot.init = init;
        }
        self.table.define(
            id,
            ty,
            Entity::Address {
                global,
                offset: 0,
                space,
            },
        )
    }
}

/// Whether the instruction continues the previous one.
fn continues(op: Op) -> bool {
    matches!(
        op,
        Op::TypeStructContinuedINTEL
            | Op::ConstantCompositeContinuedINTEL
            | Op::SpecConstantCompositeContinuedINTEL
    )
}

fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantSampler
            | Op::ConstantNull
            | Op::ConstantPipeStorage
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::ConstantCompositeReplicateEXT
            | Op::SpecConstantCompositeReplicateEXT
            | Op::ConstantFunctionPointerINTEL
    )
}

/// The address space of a storage class. `Input` holds built-in variables.
pub(super) fn storage(class: u32) -> Res<AddressSpace> {
    match StorageClass::from_u32(class) {
        Some(StorageClass::Function | StorageClass::Input | StorageClass::Private) => {
            Ok(AddressSpace::Private)
        }
        // Function pointers are addresses of global records.
        Some(
            StorageClass::CrossWorkgroup
            | StorageClass::CodeSectionINTEL
            | StorageClass::DeviceOnlyALTERA
            | StorageClass::HostOnlyALTERA,
        ) => Ok(AddressSpace::Global),
        Some(StorageClass::Workgroup) => Ok(AddressSpace::Local),
        Some(StorageClass::UniformConstant) => Ok(AddressSpace::Constant),
        Some(StorageClass::Generic) => Ok(AddressSpace::Generic),
        Some(other) => unsupported(format!("storage class {other:?}")),
        None => invalid(format!("storage class {class} does not exist")),
    }
}
