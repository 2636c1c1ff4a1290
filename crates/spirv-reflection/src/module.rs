//! Reads a module: one pass over the words, then the function of each kernel.

use std::collections::HashMap;
use std::rc::Rc;

use spirv::{
    AccessQualifier, AddressingModel, Decoration, Dim, ExecutionMode, FunctionParameterAttribute,
    LinkageType,
};
use spirv_reader::{Instruction, Words};

use crate::access::{self, Access, Bodies};
use crate::types::{AddressSpace, Struct, Type};

/// Deepest nesting of types.
const MAX_DEPTH: u32 = 64;

/// Why a module could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The words are not a module.
    #[error(transparent)]
    Words(#[from] spirv_reader::Error),
    /// An invalid instruction.
    #[error("SPIR-V word {word}: {instruction}: {reason}")]
    Instruction {
        /// Offset in words.
        word: usize,
        /// Its name.
        instruction: String,
        /// The reason.
        reason: String,
    },
}

/// The addressing model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Addressing {
    /// No addresses: graphics.
    Logical,
    /// 32 bits.
    Physical32,
    /// 64 bits, as Level Zero requires.
    Physical64,
    /// Another model, by its number.
    Other(u32),
}

/// The kernels of a module and its specialization constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Version word of the header, `0x00010200` for 1.2.
    pub version: u32,
    /// Capabilities that it declares, by number, in order.
    pub capabilities: Vec<u32>,
    /// The addressing model.
    pub addressing: Addressing,
    /// Entry points of execution model Kernel, in order.
    pub kernels: Vec<Kernel>,
    /// Names of entry points of other execution models, with the models' numbers.
    pub other_entry_points: Vec<(String, u32)>,
    /// Specialization constants that have an id, in order.
    pub specialization_constants: Vec<SpecializationConstant>,
    /// Names of functions and variables that another module must define.
    pub imports: Vec<String>,
}

/// A constant that can be set before the module is built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecializationConstant {
    /// Its debug name, if the module keeps one.
    pub name: Option<String>,
    /// The `SpecId`.
    pub id: u32,
    /// Its size in bytes: 1 for a Bool.
    pub size: u32,
    /// Its default value, in the low bits.
    pub default: u64,
    /// Whether it is a floating-point number.
    pub float: bool,
}

/// An entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Work-items per group, if the kernel requires a size.
    pub group_size: Option<[u32; 3]>,
    /// Work-items per sub-group, if the kernel requires a size.
    pub sub_group_size: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its debug name, if the module keeps one.
    pub name: Option<String>,
    /// Its kind.
    pub kind: ParameterKind,
}

/// The kind of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A value of this type.
    Value(Type),
    /// An address.
    Pointer {
        /// Its address space.
        space: AddressSpace,
        /// The type of its elements; `None` when the kernel accesses it as several types.
        element: Option<Type>,
        /// How the kernel may access it.
        access: Access,
    },
    /// An image.
    Image {
        /// Its shape.
        dimension: ImageDimension,
        /// Whether it is an array of images.
        array: bool,
        /// How the kernel may access it.
        access: ImageAccess,
    },
    /// A sampler.
    Sampler,
    /// A type that a host program cannot pass, by name.
    Unsupported(String),
}

/// Shape of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ImageDimension {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// One dimension, backed by a buffer.
    Buffer,
    /// Another one, by its number.
    Other(u32),
}

/// How a kernel may access an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ImageAccess {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Both.
    ReadWrite,
}

impl Module {
    /// Reads a module from its bytes, in either byte order.
    ///
    /// # Errors
    /// The bytes are not a module, or a kernel's signature is invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let words = Words::new(bytes)?;
        Scan::new(&words)?.finish()
    }
    /// The kernel of this name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

/// Parts of a module that signatures depend on, by id.
struct Scan<'m> {
    words: &'m Words,
    names: HashMap<u32, String>,
    member_names: HashMap<(u32, u32), String>,
    packed: Vec<u32>,
    by_value: Vec<u32>,
    read_only: Vec<u32>,
    spec_ids: HashMap<u32, u32>,
    /// Types, by id.
    types: HashMap<u32, Instruction<'m>>,
    /// Integer constants of up to 64 bits, by id.
    constants: HashMap<u32, u64>,
    /// Function, name, model.
    entries: Vec<(u32, String, u32)>,
    group_sizes: HashMap<u32, [u32; 3]>,
    sub_group_sizes: HashMap<u32, u32>,
    bodies: Bodies<'m>,
    module: Module,
}

fn wrong(instruction: &Instruction<'_>, reason: impl Into<String>) -> Error {
    Error::Instruction {
        word: instruction.word,
        instruction: instruction.name(),
        reason: reason.into(),
    }
}

impl<'m> Scan<'m> {
    fn new(words: &'m Words) -> Result<Self, Error> {
        let mut scan = Self {
            words,
            names: HashMap::new(),
            member_names: HashMap::new(),
            packed: Vec::new(),
            by_value: Vec::new(),
            read_only: Vec::new(),
            spec_ids: HashMap::new(),
            types: HashMap::new(),
            constants: HashMap::new(),
            entries: Vec::new(),
            group_sizes: HashMap::new(),
            sub_group_sizes: HashMap::new(),
            bodies: Bodies::default(),
            module: Module {
                version: words.header().version,
                capabilities: Vec::new(),
                addressing: Addressing::Logical,
                kernels: Vec::new(),
                other_entry_points: Vec::new(),
                specialization_constants: Vec::new(),
                imports: Vec::new(),
            },
        };
        for instruction in words.instructions() {
            scan.instruction(instruction?)?;
        }
        Ok(scan)
    }

    fn instruction(&mut self, instruction: Instruction<'m>) -> Result<(), Error> {
        use spirv::Op;
        let mut operands = instruction.cursor();
        let Some(op) = spirv::Op::from_u32(u32::from(instruction.opcode)) else {
            self.bodies.push(instruction);
            return Ok(());
        };
        match op {
            Op::Capability => self.module.capabilities.push(operands.next()?),
            Op::MemoryModel => {
                let number = operands.next()?;
                self.module.addressing = match AddressingModel::from_u32(number) {
                    Some(AddressingModel::Logical) => Addressing::Logical,
                    Some(AddressingModel::Physical32) => Addressing::Physical32,
                    Some(AddressingModel::Physical64) => Addressing::Physical64,
                    _ => Addressing::Other(number),
                }
            }
            Op::EntryPoint => {
                let model = operands.next()?;
                let function = operands.next()?;
                self.entries.push((function, operands.text()?, model));
            }
            Op::ExecutionMode => {
                let function = operands.next()?;
                match ExecutionMode::from_u32(operands.next()?) {
                    Some(ExecutionMode::LocalSize) => {
                        let size = [operands.next()?, operands.next()?, operands.next()?];
                        self.group_sizes.insert(function, size);
                    }
                    Some(ExecutionMode::SubgroupSize) => {
                        let size = operands.next()?;
                        self.sub_group_sizes.insert(function, size);
                    }
                    _ => {}
                }
            }
            Op::Name => {
                let id = operands.next()?;
                // An invalid name is ignored.
                if let Ok(name) = operands.text() {
                    self.names.insert(id, name);
                }
            }
            Op::MemberName => {
                let member = (operands.next()?, operands.next()?);
                if let Ok(name) = operands.text() {
                    self.member_names.insert(member, name);
                }
            }
            Op::Decorate => self.decoration(&instruction)?,
            Op::TypeVoid
            | Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeArray
            | Op::TypeStruct
            | Op::TypePointer
            | Op::TypeUntypedPointerKHR
            | Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
            | Op::TypeOpaque
            | Op::TypeEvent
            | Op::TypeDeviceEvent
            | Op::TypeReserveId
            | Op::TypeQueue
            | Op::TypePipe
            | Op::TypeFunction => {
                self.types.insert(operands.next()?, instruction);
            }
            Op::ConstantNull
            | Op::ConstantComposite
            | Op::ConstantTrue
            | Op::ConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef
                if !self.bodies.is_open() =>
            {
                self.bodies.value(instruction.operands);
            }
            Op::Constant => {
                self.bodies.value(instruction.operands);
                let _type = operands.next()?;
                let id = operands.next()?;
                let low = u64::from(operands.next()?);
                let high = u64::from(operands.maybe().unwrap_or(0));
                self.constants.insert(id, high << 32 | low);
            }
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse => {
                self.specialization_constant(&instruction, op)?;
            }
            _ => self.bodies.push(instruction),
        }
        Ok(())
    }

    fn decoration(&mut self, instruction: &Instruction<'m>) -> Result<(), Error> {
        let mut operands = instruction.cursor();
        let target = operands.next()?;
        match Decoration::from_u32(operands.next()?) {
            Some(Decoration::SpecId) => {
                let id = operands.next()?;
                self.spec_ids.insert(target, id);
            }
            Some(Decoration::CPacked) => self.packed.push(target),
            Some(Decoration::NonWritable) => self.read_only.push(target),
            Some(Decoration::FuncParamAttr) => {
                match FunctionParameterAttribute::from_u32(operands.next()?) {
                    Some(FunctionParameterAttribute::ByVal) => self.by_value.push(target),
                    Some(FunctionParameterAttribute::NoWrite) => self.read_only.push(target),
                    _ => {}
                }
            }
            Some(Decoration::LinkageAttributes) => {
                let name = operands.text()?;
                // Built-in variables look like imports but are not.
                let linkage = LinkageType::from_u32(operands.next()?);
                if linkage == Some(LinkageType::Import) && !name.starts_with("__spirv_BuiltIn") {
                    self.module.imports.push(name);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn specialization_constant(
        &mut self,
        instruction: &Instruction<'m>,
        op: spirv::Op,
    ) -> Result<(), Error> {
        let mut operands = instruction.cursor();
        self.bodies.value(instruction.operands);
        let ty = operands.next()?;
        let id = operands.next()?;
        let (size, default, float) = match op {
            spirv::Op::SpecConstantTrue => (1, 1, false),
            spirv::Op::SpecConstantFalse => (1, 0, false),
            _ => {
                let low = u64::from(operands.next()?);
                let high = u64::from(operands.maybe().unwrap_or(0));
                match self.memory_type(ty, instruction)? {
                    Some(Type::Int(bits)) => (bits.div_ceil(8), high << 32 | low, false),
                    Some(Type::Float(bits)) => (bits.div_ceil(8), high << 32 | low, true),
                    _ => return Err(wrong(instruction, "the type is neither integer nor float")),
                }
            }
        };
        self.constants.insert(id, default);
        if let Some(&spec_id) = self.spec_ids.get(&id) {
            self.module
                .specialization_constants
                .push(SpecializationConstant {
                    name: self.names.get(&id).cloned(),
                    id: spec_id,
                    size,
                    default,
                    float,
                });
        }
        Ok(())
    }

    /// The memory type of type `id`; `None` if values of it cannot be in memory.
    fn memory_type(&self, id: u32, user: &Instruction<'_>) -> Result<Option<Type>, Error> {
        self.memory_type_within(id, user, 0)
    }

    fn memory_type_within(
        &self,
        id: u32,
        user: &Instruction<'_>,
        depth: u32,
    ) -> Result<Option<Type>, Error> {
        use spirv::Op;
        if depth > MAX_DEPTH {
            let reason = format!("type %{id} is nested more than {MAX_DEPTH} deep");
            return Err(wrong(user, reason));
        }
        let Some(instruction) = self.types.get(&id) else {
            return Err(wrong(user, format!("%{id} is not a type")));
        };
        let mut operands = instruction.cursor();
        operands.next()?;
        let inner = |id| self.memory_type_within(id, instruction, depth + 1);
        let bits = |bits: u32| match bits {
            8 | 16 | 32 | 64 => Ok(bits),
            _ => Err(wrong(
                instruction,
                format!("{bits} bits: 8, 16, 32 and 64 can be passed"),
            )),
        };
        Ok(Some(
            match spirv::Op::from_u32(u32::from(instruction.opcode)) {
                Some(Op::TypeInt) => Type::Int(bits(operands.next()?)?),
                Some(Op::TypeFloat) => Type::Float(bits(operands.next()?)?),
                Some(Op::TypeVector) => {
                    let scalar = inner(operands.next()?)?;
                    let count = operands.next()?;
                    let Some(scalar @ (Type::Int(_) | Type::Float(_))) = scalar else {
                        return Ok(None);
                    };
                    if !matches!(count, 2 | 3 | 4 | 8 | 16) {
                        let reason =
                            format!("{count} components: only 2, 3, 4, 8 and 16 are supported");
                        return Err(wrong(instruction, reason));
                    }
                    Type::Vector(Rc::new(scalar), count)
                }
                Some(Op::TypeArray) => {
                    let element = inner(operands.next()?)?;
                    let length = operands.next()?;
                    let (Some(element), Some(&count)) = (element, self.constants.get(&length))
                    else {
                        return Ok(None);
                    };
                    Type::Array(Rc::new(element), count)
                }
                Some(Op::TypeStruct) => {
                    let mut members = Vec::new();
                    for (index, member) in (0..).zip(operands.rest()) {
                        let Some(ty) = inner(*member)? else {
                            return Ok(None);
                        };
                        members.push((self.member_names.get(&(id, index)).cloned(), ty));
                    }
                    let name = self.names.get(&id).map(|name| {
                        let kind = ["struct.", "class.", "union."];
                        let bare = kind.iter().find_map(|kind| name.strip_prefix(kind));
                        bare.unwrap_or(name).to_owned()
                    });
                    let packed = self.packed.contains(&id);
                    match Struct::lay_out(name, members, packed) {
                        Some(layout) => Type::Struct(Rc::new(layout)),
                        None => {
                            return Err(wrong(
                                instruction,
                                "the structure's size is beyond 64 bits",
                            ));
                        }
                    }
                }
                Some(Op::TypePointer | Op::TypeUntypedPointerKHR) => Type::Address,
                _ => return Ok(None),
            },
        ))
    }

    fn finish(mut self) -> Result<Module, Error> {
        let entries = std::mem::take(&mut self.entries);
        for (function, name, model) in entries {
            if model != spirv::ExecutionModel::Kernel as u32 {
                self.module.other_entry_points.push((name, model));
                continue;
            }
            let kernel = self.kernel(function, name)?;
            self.module.kernels.push(kernel);
        }
        Ok(self.module)
    }

    fn kernel(&self, function: u32, name: String) -> Result<Kernel, Error> {
        let Some(body) = self.bodies.of(function) else {
            return Err(Error::Instruction {
                word: self.words.len(),
                instruction: "OpEntryPoint".to_owned(),
                reason: format!("kernel {name:?} is %{function}, which no OpFunction defines"),
            });
        };
        let uses = access::uses(&self.bodies, function);
        let mut parameters = Vec::with_capacity(body.parameters.len());
        for (index, parameter) in body.parameters.iter().enumerate() {
            let mut operands = parameter.cursor();
            let ty = operands.next()?;
            let id = operands.next()?;
            let mut kind = self.parameter(ty, id, parameter)?;
            let seen = uses.get(index);
            if let ParameterKind::Pointer {
                element, access, ..
            } = &mut kind
                && let Some(seen) = seen
            {
                if *access != Access::Read {
                    *access = seen.access;
                }
                // Bytes that are accessed as another type only are elements of that type.
                if *element == Some(Type::Int(8)) {
                    let types: Vec<Option<Type>> = seen
                        .accessed
                        .iter()
                        .map(|ty| self.memory_type(*ty, parameter))
                        .collect::<Result<_, _>>()?;
                    *element = match types.as_slice() {
                        [] => Some(Type::Int(8)),
                        [one, rest @ ..] if rest.iter().all(|other| other == one) => one.clone(),
                        _ => None,
                    };
                }
            }
            let given = |id: &u32| self.names.get(id).filter(|name| !name.is_empty());
            let known =
                given(&id).or_else(|| seen.and_then(|seen| seen.passed_as.iter().find_map(given)));
            parameters.push(Parameter {
                name: known.cloned(),
                kind,
            });
        }
        Ok(Kernel {
            name,
            parameters,
            group_size: self.group_sizes.get(&function).copied(),
            sub_group_size: self.sub_group_sizes.get(&function).copied(),
        })
    }

    fn parameter(&self, ty: u32, id: u32, user: &Instruction<'_>) -> Result<ParameterKind, Error> {
        use spirv::Op;
        let Some(instruction) = self.types.get(&ty) else {
            return Err(wrong(user, format!("%{ty} is not a type")));
        };
        let mut operands = instruction.cursor();
        operands.next()?;
        let unsupported = || ParameterKind::Unsupported(instruction.name());
        Ok(match spirv::Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::TypePointer) => {
                let space = AddressSpace::from_storage_class(operands.next()?);
                let element = self.memory_type(operands.next()?, user)?;
                if self.by_value.contains(&id) || space == AddressSpace::Private {
                    return Ok(element.map_or_else(unsupported, ParameterKind::Value));
                }
                let access = if self.read_only.contains(&id) || space == AddressSpace::Constant {
                    Access::Read
                } else {
                    Access::ReadWrite
                };
                ParameterKind::Pointer {
                    space,
                    element,
                    access,
                }
            }
            Some(Op::TypeUntypedPointerKHR) => ParameterKind::Pointer {
                space: AddressSpace::from_storage_class(operands.next()?),
                element: None,
                access: Access::ReadWrite,
            },
            Some(Op::TypeImage) => {
                let _sampled_type = operands.next()?;
                let number = operands.next()?;
                let dimension = match Dim::from_u32(number) {
                    Some(Dim::Dim1D) => ImageDimension::D1,
                    Some(Dim::Dim2D) => ImageDimension::D2,
                    Some(Dim::Dim3D) => ImageDimension::D3,
                    Some(Dim::DimBuffer) => ImageDimension::Buffer,
                    _ => ImageDimension::Other(number),
                };
                let _depth = operands.next()?;
                let array = operands.next()? != 0;
                let _multisampled = operands.next()?;
                let _sampled = operands.next()?;
                let _format = operands.next()?;
                let access = match operands.maybe().map(AccessQualifier::from_u32) {
                    None | Some(Some(AccessQualifier::ReadOnly)) => ImageAccess::Read,
                    Some(Some(AccessQualifier::WriteOnly)) => ImageAccess::Write,
                    Some(_) => ImageAccess::ReadWrite,
                };
                ParameterKind::Image {
                    dimension,
                    array,
                    access,
                }
            }
            Some(Op::TypeSampler) => ParameterKind::Sampler,
            _ => self
                .memory_type(ty, user)?
                .map_or_else(unsupported, ParameterKind::Value),
        })
    }
}
