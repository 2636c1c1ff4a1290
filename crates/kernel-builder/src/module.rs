//! A SPIR-V module in its sections: ids, types, constants, and the words.

use std::collections::{BTreeSet, HashMap};

use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionParameterAttribute, MemoryModel, Op, SourceLanguage, StorageClass,
};

use crate::types::{Space, Type};

/// A SPIR-V id.
pub(crate) type Id = u32;

/// One instruction: its operands include the ids of type and result.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) op: Op,
    pub(crate) operands: Vec<u32>,
    /// Line and column of the user's source.
    pub(crate) line: (u32, u32),
}

/// A block of the kernel.
pub(crate) struct Block {
    pub(crate) label: Id,
    pub(crate) body: Vec<Instruction>,
}

impl Instruction {
    pub(crate) fn new(op: Op, operands: Vec<u32>) -> Self {
        Self {
            op,
            operands,
            line: (0, 0),
        }
    }

    fn write(&self, words: &mut Vec<u32>) {
        let count = u32::try_from(self.operands.len() + 1).unwrap_or(u32::MAX);
        words.push(count << 16 | self.op as u32);
        words.extend_from_slice(&self.operands);
    }
}

/// The bytes of a text as words, with at least one zero at the end.
fn text(value: &str) -> Vec<u32> {
    let mut bytes = value.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let words = bytes.chunks_exact(4);
    words
        .map(|word| {
            word.iter()
                .rev()
                .fold(0, |all, byte| all << 8 | u32::from(*byte))
        })
        .collect()
}

pub(crate) fn storage_class(space: Space) -> StorageClass {
    match space {
        Space::Private => StorageClass::Function,
        Space::Global => StorageClass::CrossWorkgroup,
        Space::Local => StorageClass::Workgroup,
    }
}

/// A module with one kernel.
#[derive(Debug, Default)]
pub(crate) struct Module {
    last: Id,
    capabilities: BTreeSet<u32>,
    extensions: BTreeSet<&'static str>,
    /// The version in words of the header, if an instruction needs a newer one than all modules have.
    version: Option<u32>,
    /// Execution modes of the kernel: their words after its id.
    modes: Vec<Vec<u32>>,
    names: Vec<Instruction>,
    decorations: Vec<Instruction>,
    globals: Vec<Instruction>,
    /// Types and constants by their content: each is declared once.
    known: HashMap<(u32, Vec<u32>), Id>,
    structs: HashMap<(Type, u32), Id>,
    built_ins: HashMap<u32, Id>,
    interface: Vec<Id>,
    math: Option<Id>,
}

impl Module {
    pub(crate) fn id(&mut self) -> Id {
        self.last += 1;
        self.last
    }

    pub(crate) fn need(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    /// An instruction of a later version than 1.2 is used.
    pub(crate) fn need_version(&mut self, minor: u32) {
        let wanted = 0x0001_0000 | minor << 8;
        self.version = self.version.max(Some(wanted));
    }

    pub(crate) fn need_extension(&mut self, name: &'static str) {
        self.extensions.insert(name);
    }

    /// An execution mode of the kernel, with its operands.
    pub(crate) fn execution_mode(&mut self, mode: ExecutionMode, operands: &[u32]) {
        let mut words = vec![mode as u32];
        words.extend_from_slice(operands);
        self.modes.push(words);
    }

    /// The set of OpenCL's functions.
    pub(crate) fn math(&mut self) -> Id {
        match self.math {
            Some(id) => id,
            None => {
                let id = self.id();
                self.math = Some(id);
                id
            }
        }
    }

    pub(crate) fn name(&mut self, id: Id, name: &str) {
        let mut operands = vec![id];
        operands.extend(text(name));
        self.names.push(Instruction::new(Op::Name, operands));
    }

    pub(crate) fn decorate(&mut self, id: Id, decoration: Decoration, more: &[u32]) {
        let mut operands = vec![id, decoration as u32];
        operands.extend_from_slice(more);
        self.decorations
            .push(Instruction::new(Op::Decorate, operands));
    }

    pub(crate) fn by_value(&mut self, parameter: Id) {
        let attribute = FunctionParameterAttribute::ByVal as u32;
        self.decorate(parameter, Decoration::FuncParamAttr, &[attribute]);
    }

    /// A declaration without an id of a type.
    pub(crate) fn declare(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = (op as u32, operands.to_vec());
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.id();
        let mut all = vec![id];
        all.extend_from_slice(operands);
        self.globals.push(Instruction::new(op, all));
        self.known.insert(key, id);
        id
    }

    /// A constant or another value of a type.
    pub(crate) fn constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let mut key = vec![ty];
        key.extend_from_slice(operands);
        let key = (op as u32, key);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.id();
        let mut all = vec![ty, id];
        all.extend_from_slice(operands);
        self.globals.push(Instruction::new(op, all));
        self.known.insert(key, id);
        id
    }

    pub(crate) fn integer(&mut self, bits: u32, value: u64) -> Id {
        self.integer_as(bits, false, value)
    }

    /// Signed constants have ids of their own, because the builder knows signs by ids.
    pub(crate) fn integer_as(&mut self, bits: u32, signed: bool, value: u64) -> Id {
        let ty = self.int_type(bits);
        let low = value as u32;
        let mut words = match bits {
            64 => vec![low, (value >> 32) as u32],
            32 => vec![low],
            // The bits above a narrow constant are zero.
            bits => vec![low & ((1 << bits) - 1)],
        };
        let mut key = vec![ty, u32::from(signed)];
        key.extend_from_slice(&words);
        let key = (Op::Constant as u32, key);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.id();
        let mut operands = vec![ty, id];
        operands.append(&mut words);
        self.globals.push(Instruction::new(Op::Constant, operands));
        self.known.insert(key, id);
        id
    }

    pub(crate) fn int_type(&mut self, bits: u32) -> Id {
        match bits {
            8 => self.need(Capability::Int8),
            16 => self.need(Capability::Int16),
            64 => self.need(Capability::Int64),
            _ => {}
        }
        self.declare(Op::TypeInt, &[bits, 0])
    }

    /// The type of a value.
    pub(crate) fn type_id(&mut self, ty: &Type) -> Id {
        match ty {
            Type::Unit => self.declare(Op::TypeVoid, &[]),
            Type::Bool => self.declare(Op::TypeBool, &[]),
            Type::Int { bits, .. } => self.int_type(*bits),
            Type::Float(bits) => {
                match bits {
                    16 => self.need(Capability::Float16),
                    64 => self.need(Capability::Float64),
                    _ => {}
                }
                self.declare(Op::TypeFloat, &[*bits])
            }
            Type::Vector(of, count) => {
                if *count > 4 {
                    self.need(Capability::Vector16);
                }
                let of = self.type_id(of);
                self.vector_type(of, *count)
            }
            Type::Image { dimensions, writes } => self.image_type(*dimensions, *writes),
            Type::Sampler => self.sampler_type(),
            Type::Pointer(space, to) => {
                let to = self.memory_type(to);
                self.declare(Op::TypePointer, &[storage_class(*space) as u32, to])
            }
            Type::Slice(space, of) => {
                let pointer = self.type_id(&Type::Pointer(*space, of.clone()));
                let length = self.int_type(64);
                self.declare(Op::TypeStruct, &[pointer, length])
            }
            Type::Array(of, count) => {
                let of = self.memory_type(of);
                // SPIR-V has no empty array, and nothing reads an element of one.
                let count = self.integer(64, (*count).max(1));
                self.declare(Op::TypeArray, &[of, count])
            }
            Type::Struct(of) => {
                let key = (ty.clone(), 0);
                if let Some(id) = self.structs.get(&key) {
                    return *id;
                }
                let members: Vec<Id> = of
                    .members
                    .iter()
                    .map(|(_, ty)| self.memory_type(ty))
                    .collect();
                // Not by content: two structures may have members of the same types and different names.
                let id = self.id();
                let mut operands = vec![id];
                operands.extend(members);
                self.globals
                    .push(Instruction::new(Op::TypeStruct, operands));
                self.structs.insert(key, id);
                if !of.name.is_empty() {
                    self.name(id, &of.name);
                    for (index, (name, _)) in (0..).zip(&of.members) {
                        let mut operands = vec![id, index];
                        operands.extend(text(name));
                        self.names.push(Instruction::new(Op::MemberName, operands));
                    }
                }
                id
            }
        }
    }

    /// The type in memory, and in structures and arrays: `bool` is a byte, `()` too.
    pub(crate) fn memory_type(&mut self, ty: &Type) -> Id {
        match ty {
            Type::Bool | Type::Unit => self.int_type(8),
            ty => self.type_id(ty),
        }
    }

    pub(crate) fn function_type(&mut self, parameters: &[Id]) -> Id {
        let mut operands = vec![self.type_id(&Type::Unit)];
        operands.extend_from_slice(parameters);
        self.declare(Op::TypeFunction, &operands)
    }

    /// A variable that the device fills, and the type of its value.
    pub(crate) fn built_in(&mut self, which: BuiltIn, value: Id) -> Id {
        if let Some(id) = self.built_ins.get(&(which as u32)) {
            return *id;
        }
        let ty = self.declare(Op::TypePointer, &[StorageClass::Input as u32, value]);
        let id = self.id();
        let operands = vec![ty, id, StorageClass::Input as u32];
        self.globals.push(Instruction::new(Op::Variable, operands));
        self.name(id, &format!("__spirv_BuiltIn{which:?}"));
        self.decorate(id, Decoration::BuiltIn, &[which as u32]);
        self.decorate(id, Decoration::Constant, &[]);
        self.built_ins.insert(which as u32, id);
        self.interface.push(id);
        id
    }

    /// A pointer to a type that Rust's values do not have.
    pub(crate) fn pointer_to(&mut self, space: Space, to: Id) -> Id {
        self.declare(Op::TypePointer, &[storage_class(space) as u32, to])
    }

    pub(crate) fn vector_type(&mut self, of: Id, count: u32) -> Id {
        self.declare(Op::TypeVector, &[of, count])
    }

    /// A pointer to the first of some constants, which lie in an array.
    pub(crate) fn constant_bytes(&mut self, of: Id, values: &[Id], class: StorageClass) -> Id {
        let count = self.integer(64, values.len() as u64);
        let array = self.declare(Op::TypeArray, &[of, count]);
        let value = self.constant(Op::ConstantComposite, array, values);
        let key = (Op::Variable as u32, vec![value]);
        let pointer = self.declare(Op::TypePointer, &[class as u32, of]);
        let variable = match self.known.get(&key) {
            Some(id) => *id,
            None => {
                let whole = self.declare(Op::TypePointer, &[class as u32, array]);
                let id = self.id();
                let operands = vec![whole, id, class as u32, value];
                self.globals.push(Instruction::new(Op::Variable, operands));
                self.decorate(id, Decoration::Constant, &[]);
                self.known.insert(key, id);
                id
            }
        };
        let zero = self.integer(64, 0);
        let op = Op::InBoundsPtrAccessChain as u32;
        // As every compiler of OpenCL C writes it: a constant expression, which readers look through.
        self.constant(Op::SpecConstantOp, pointer, &[op, variable, zero, zero])
    }

    /// A constant that the program may set before it builds the module; one for each number.
    pub(crate) fn specialised(&mut self, number: u32, ty: Id, words: &[u32]) -> Id {
        let key = (Op::SpecConstant as u32, vec![number, ty]);
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = self.id();
        let mut operands = vec![ty, id];
        operands.extend_from_slice(words);
        self.globals
            .push(Instruction::new(Op::SpecConstant, operands));
        self.decorate(id, Decoration::SpecId, &[number]);
        self.known.insert(key, id);
        id
    }

    /// A variable of a work-group.
    pub(crate) fn local_variable(&mut self, ty: &Type) -> Id {
        let pointer = self.type_id(&Type::Pointer(Space::Local, ty.clone().into()));
        let id = self.id();
        let operands = vec![pointer, id, StorageClass::Workgroup as u32];
        self.globals.push(Instruction::new(Op::Variable, operands));
        id
    }

    /// The words: `function` has the instructions of the one function, whose id is `entry`.
    pub(crate) fn words(
        &mut self,
        kernel: &str,
        file: &str,
        entry: Id,
        function: &[Instruction],
    ) -> Vec<u32> {
        self.need(Capability::Addresses);
        self.need(Capability::Kernel);
        let path = self.id();
        // 1.2 is the oldest version that Level Zero's devices have in common with OpenCL 2.2.
        let version = self.version.unwrap_or(0x0001_0200);
        let mut words = vec![0x0723_0203, version, 0, self.last + 1, 0];
        let mut write = |op, operands: Vec<u32>| Instruction::new(op, operands).write(&mut words);
        for capability in &self.capabilities {
            write(Op::Capability, vec![*capability]);
        }
        for extension in &self.extensions {
            write(Op::Extension, text(extension));
        }
        if let Some(math) = self.math {
            let mut operands = vec![math];
            operands.extend(text("OpenCL.std"));
            write(Op::ExtInstImport, operands);
        }
        let model = vec![
            AddressingModel::Physical64 as u32,
            MemoryModel::OpenCL as u32,
        ];
        write(Op::MemoryModel, model);
        let mut operands = vec![ExecutionModel::Kernel as u32, entry];
        operands.extend(text(kernel));
        operands.extend(&self.interface);
        write(Op::EntryPoint, operands);
        // Rust never fuses a multiplication with an addition.
        let off = vec![entry, ExecutionMode::ContractionOff as u32];
        write(Op::ExecutionMode, off);
        for mode in &self.modes {
            let mut operands = vec![entry];
            operands.extend(mode);
            write(Op::ExecutionMode, operands);
        }
        let mut operands = vec![path];
        operands.extend(text(file));
        write(Op::String, operands);
        write(Op::Source, vec![SourceLanguage::Unknown as u32, 0, path]);
        for section in [&self.names, &self.decorations, &self.globals] {
            for instruction in section {
                instruction.write(&mut words);
            }
        }
        let mut last = (0, 0);
        for instruction in function {
            if instruction.line != last && instruction.line.0 != 0 {
                let (line, column) = instruction.line;
                Instruction::new(Op::Line, vec![path, line, column]).write(&mut words);
            }
            last = match instruction.op {
                // Lines end with their block.
                Op::Branch
                | Op::BranchConditional
                | Op::Return
                | Op::Unreachable
                | Op::FunctionEnd
                | Op::Switch => (0, 0),
                _ => instruction.line,
            };
            instruction.write(&mut words);
        }
        words
    }
}
