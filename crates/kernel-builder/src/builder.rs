//! The body of one kernel: values, memory, and blocks.
//!
//! Code after a jump is staged like any other and leaves no instruction, because its block has no predecessor.

use std::collections::{HashMap, HashSet};

use spirv::Op;

use crate::facts::{Always, Condition, Relation};
use crate::fault_sites::{FaultSite, Reporting};
use crate::module::{Block, Id, Instruction, Module, storage_class};
use crate::rotation;
use crate::threading;
use crate::types::{Space, Type};

/// A value or a place in the staged code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value of code that is never reached.
    Never,
    /// `()`.
    Unit,
    /// A value.
    Value(u32),
    /// A place in memory, by its address.
    Memory(u32),
}

/// Why a kernel cannot be staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Line and column in the user's source.
    pub line: (u32, u32),
    /// The construct, the reason, and the way out.
    pub text: String,
}

/// Stages one kernel.
pub struct Builder {
    pub(crate) module: Module,
    types: HashMap<Id, Type>,
    parts: HashMap<Id, Vec<Operand>>,
    pub(crate) constants: HashMap<Id, u64>,
    /// The greatest value that an unsigned number can have, where that is less than its type's.
    pub(crate) bounds: HashMap<Id, u64>,
    /// The constants of type `bool`.
    truths: HashMap<Id, bool>,
    pub(crate) conditions: HashMap<Id, Condition>,
    /// Relations that hold here.
    pub(crate) facts: Vec<Relation>,
    pub(crate) always: Always,
    parameters: Vec<(Id, Id)>,
    /// Variables of numbers that nothing refers to, and the values that they have here.
    owned: HashSet<Id>,
    pub(crate) held: HashMap<Id, Operand>,
    variables: Vec<Instruction>,
    blocks: Vec<Block>,
    /// Labels to which reachable code jumps.
    targets: HashSet<Id>,
    live: bool,
    pub(crate) line: (u32, u32),
    /// The file of the code that follows; known in the reporting form.
    pub(crate) file: &'static str,
    /// The reporting form of a kernel.
    pub(crate) report: Option<Reporting>,
    refusal: Option<Refusal>,
    pub(crate) exit: Id,
    pub(crate) depth: usize,
    /// Leaves out the checks of indices.
    pub(crate) unchecked: bool,
    /// The conditions under which pointers are inside.
    pub(crate) guards: HashMap<Id, Id>,
    /// Conditions that hold in the code that follows.
    pub(crate) open_guards: Vec<Id>,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        let mut module = Module::default();
        let (entry, exit) = (module.id(), module.id());
        Self {
            module,
            types: HashMap::new(),
            parts: HashMap::new(),
            constants: HashMap::new(),
            bounds: HashMap::new(),
            truths: HashMap::new(),
            conditions: HashMap::new(),
            facts: Vec::new(),
            always: Always::default(),
            parameters: Vec::new(),
            owned: HashSet::new(),
            held: HashMap::new(),
            variables: Vec::new(),
            blocks: vec![Block {
                label: entry,
                body: Vec::new(),
            }],
            targets: HashSet::new(),
            live: true,
            line: (0, 0),
            file: "",
            report: None,
            refusal: None,
            exit,
            depth: 0,
            unchecked: false,
            guards: HashMap::new(),
            open_guards: Vec::new(),
        }
    }
}

impl Builder {
    /// Sets the source position of the code that follows.
    pub fn at(&mut self, line: u32, column: u32) {
        self.line = (line, column);
    }

    /// Records why the kernel cannot be staged; the first reason is kept.
    pub fn refuse(&mut self, text: impl Into<String>) -> Operand {
        if self.refusal.is_none() {
            self.refusal = Some(Refusal {
                line: self.line,
                text: text.into(),
            });
        }
        Operand::Never
    }

    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// An instruction without a result.
    pub(crate) fn effect(&mut self, op: Op, operands: Vec<u32>) {
        if !self.live {
            return;
        }
        self.keep_guards(op, &operands);
        let line = self.line;
        if let Some(block) = self.blocks.last_mut() {
            block.body.push(Instruction { op, operands, line });
        }
    }

    /// An instruction with a result.
    pub(crate) fn emit(&mut self, op: Op, ty: &Type, operands: &[u32]) -> Id {
        let id = self.module.type_id(ty);
        self.emit_as(op, ty, id, operands)
    }

    pub(crate) fn emit_as(&mut self, op: Op, ty: &Type, type_id: Id, operands: &[u32]) -> Id {
        let id = self.module.id();
        let mut all = vec![type_id, id];
        all.extend_from_slice(operands);
        self.effect(op, all);
        self.types.insert(id, ty.clone());
        id
    }

    pub(crate) fn value(&mut self, op: Op, ty: &Type, operands: &[u32]) -> Operand {
        Operand::Value(self.emit(op, ty, operands))
    }

    /// Says the type of an id that another part of the builder has made.
    pub(crate) fn know(&mut self, id: Id, ty: &Type) {
        self.types.insert(id, ty.clone());
    }

    /// The type of a value.
    pub(crate) fn type_of(&self, id: Id) -> Type {
        self.types.get(&id).cloned().unwrap_or(Type::Unit)
    }

    // Constants.

    /// An integer or a `char`.
    pub fn integer(&mut self, bits: u32, signed: bool, value: u64) -> Operand {
        let id = self.module.integer_as(bits, signed, value);
        self.types.insert(id, Type::Int { bits, signed });
        self.constants.insert(id, value);
        Operand::Value(id)
    }

    /// A `usize`.
    pub(crate) fn size(&mut self, value: u64) -> Id {
        let id = self.module.integer(64, value);
        self.types.insert(id, Type::SIZE);
        self.constants.insert(id, value);
        id
    }

    /// A number by its bits.
    pub fn float(&mut self, bits: u32, value: u64) -> Operand {
        let ty = Type::Float(bits);
        let of = self.module.type_id(&ty);
        let words = [value as u32, (value >> 32) as u32];
        let words = if bits == 64 { &words[..] } else { &words[..1] };
        let id = self.module.constant(Op::Constant, of, words);
        self.types.insert(id, ty);
        self.constants.insert(id, value);
        Operand::Value(id)
    }

    /// A constant that the program may set before it builds the module.
    pub(crate) fn specialised(&mut self, number: Operand, default: Operand) -> Operand {
        let known = |builder: &Self, operand| match operand {
            Operand::Value(id) => builder.constants.get(&id).copied(),
            _ => None,
        };
        let (Some(number), Some(value)) = (known(self, number), known(self, default)) else {
            return self.refuse(
                "a specialization constant whose number or default is computed: give constants",
            );
        };
        let Operand::Value(default) = default else {
            return Operand::Never;
        };
        let ty = self.type_of(default);
        let bits = match ty {
            Type::Int { bits, .. } | Type::Float(bits) => bits,
            _ => return self.refuse(format!("a specialization constant of {ty}")),
        };
        let words = [value as u32, (value >> 32) as u32];
        let narrow = [value as u32 & (u32::MAX >> (32 - bits.min(32)))];
        let words = if bits == 64 { &words[..] } else { &narrow[..] };
        let of = self.module.type_id(&ty);
        let id = self.module.specialised(number as u32, of, words);
        self.types.insert(id, ty);
        Operand::Value(id)
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> Operand {
        let of = self.module.type_id(&Type::Bool);
        let op = if value {
            Op::ConstantTrue
        } else {
            Op::ConstantFalse
        };
        let id = self.module.constant(op, of, &[]);
        self.types.insert(id, Type::Bool);
        self.constants.insert(id, u64::from(value));
        self.truths.insert(id, value);
        Operand::Value(id)
    }

    // Memory.

    /// A variable of the work-item.
    pub fn allocate(&mut self, ty: &Type) -> Operand {
        let pointer = Type::Pointer(Space::Private, ty.clone().into());
        let (of, id) = (self.module.type_id(&pointer), self.module.id());
        let class = storage_class(Space::Private) as u32;
        self.variables
            .push(Instruction::new(Op::Variable, vec![of, id, class]));
        self.types.insert(id, pointer);
        if matches!(ty, Type::Bool | Type::Int { .. } | Type::Float(_)) {
            self.owned.insert(id);
        }
        Operand::Memory(id)
    }

    /// A variable with a value.
    pub fn variable(&mut self, value: Operand) -> Operand {
        let value = self.read(value);
        let place = match value {
            Operand::Never => return Operand::Never,
            Operand::Unit => self.allocate(&Type::Unit),
            Operand::Value(id) | Operand::Memory(id) => {
                let ty = self.type_of(id);
                self.allocate(&ty)
            }
        };
        self.store(place, value);
        place
    }

    /// A variable of the work-group.
    pub fn local_variable(&mut self, ty: &Type) -> Operand {
        let id = self.module.local_variable(ty);
        self.types
            .insert(id, Type::Pointer(Space::Local, ty.clone().into()));
        Operand::Value(id)
    }

    /// Reads a place; a value is itself.
    pub fn read(&mut self, operand: Operand) -> Operand {
        let Operand::Memory(pointer) = operand else {
            return operand;
        };
        if let Some(value) = self.held.get(&pointer) {
            return *value;
        }
        let value = match self.type_of(pointer).pointee() {
            None | Some(Type::Unit) => Operand::Unit,
            Some(_) if self.is_split(pointer) => self.read_members(pointer),
            Some(ty) => {
                let of = self.module.memory_type(ty);
                let id = self.load(ty, of, &[pointer]);
                self.loaded(id, ty)
            }
        };
        if self.owned.contains(&pointer) {
            self.held.insert(pointer, value);
        }
        value
    }

    /// The value of a loaded or extracted id: bytes become truth values.
    fn loaded(&mut self, id: Id, ty: &Type) -> Operand {
        match ty {
            Type::Bool => {
                let zero = self.module.integer(8, 0);
                self.value(Op::INotEqual, &Type::Bool, &[id, zero])
            }
            Type::Unit => Operand::Unit,
            _ => Operand::Value(id),
        }
    }

    /// The id to store or to put into a composite.
    fn stored(&mut self, value: Operand) -> Option<Id> {
        match self.read(value) {
            Operand::Never | Operand::Memory(_) => None,
            Operand::Unit => Some(self.module.integer(8, 0)),
            Operand::Value(id) if self.type_of(id) == Type::Bool => {
                let (one, zero) = (self.module.integer(8, 1), self.module.integer(8, 0));
                let byte = Type::Int {
                    bits: 8,
                    signed: false,
                };
                Some(self.emit(Op::Select, &byte, &[id, one, zero]))
            }
            Operand::Value(id) => Some(id),
        }
    }

    /// Writes a place.
    pub fn store(&mut self, place: Operand, value: Operand) {
        let held = self.read(value);
        let Some(value) = self.stored(held) else {
            return;
        };
        if let Operand::Memory(pointer) = place
            && self.owned.contains(&pointer)
        {
            self.held.insert(pointer, held);
        }
        match place {
            Operand::Memory(pointer) => {
                let held = self.type_of(pointer);
                let given = self.type_of(value);
                if given.has_pointer() && held.pointee() != Some(&given) {
                    self.refuse(
                        "one variable refers to memory of different kinds (buffer, local, private): use a variable for each",
                    );
                    return;
                }
                self.where_inside(pointer, |builder| match builder.is_split(pointer) {
                    true => builder.store_members(pointer, value),
                    false => builder.effect(Op::Store, vec![pointer, value]),
                });
            }
            Operand::Value(_) if self.live => {
                self.refuse("an assignment to a value, which has no place in memory");
            }
            Operand::Value(_) | Operand::Unit | Operand::Never => {}
        }
    }

    /// Follows references until a place or a value that is none.
    pub(crate) fn follow(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Value(id) => match self.type_of(id) {
                Type::Pointer(..) => self.follow(Operand::Memory(id)),
                _ => operand,
            },
            Operand::Memory(id) => match self.type_of(id).pointee() {
                Some(Type::Pointer(..) | Type::Slice(..)) => {
                    let value = self.read(operand);
                    self.follow(value)
                }
                _ => operand,
            },
            other => other,
        }
    }

    /// `*operand`.
    pub fn deref(&mut self, operand: Operand) -> Operand {
        match self.read(operand) {
            Operand::Value(id) => match self.type_of(id) {
                Type::Pointer(..) => Operand::Memory(id),
                // The place of a slice is the slice.
                _ => Operand::Value(id),
            },
            other => other,
        }
    }

    /// `&operand` or `&mut operand`.
    pub fn borrow(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Memory(id) => {
                // From here on others may write it.
                self.owned.remove(&id);
                self.held.remove(&id);
                Operand::Value(id)
            }
            Operand::Value(_) => {
                let place = self.variable(operand);
                self.borrow(place)
            }
            other => other,
        }
    }

    /// A tuple, a structure, an array or a slice from its parts.
    pub fn compose(&mut self, ty: &Type, parts: &[Operand]) -> Operand {
        let mut ids = Vec::new();
        let mut values = Vec::new();
        for part in parts {
            let value = self.read(*part);
            let Some(id) = self.stored(value) else {
                return Operand::Never;
            };
            ids.push(id);
            values.push(value);
        }
        let ty = self.placed(ty, &values);
        let id = self.emit(Op::CompositeConstruct, &ty, &ids);
        self.parts.insert(id, values);
        Operand::Value(id)
    }

    /// A composite type with the address spaces of its parts.
    fn placed(&self, ty: &Type, parts: &[Operand]) -> Type {
        let given = |part: Option<&Operand>, ty: &Type| match part {
            Some(Operand::Value(id)) if ty.has_pointer() => self.type_of(*id),
            _ => ty.clone(),
        };
        match ty {
            Type::Struct(layout) if ty.has_pointer() => {
                let mut layout = (**layout).clone();
                for (index, (_, member)) in layout.members.iter_mut().enumerate() {
                    *member = given(parts.get(index), member);
                }
                Type::Struct(layout.into())
            }
            Type::Array(of, count) => Type::Array(given(parts.first(), of).into(), *count),
            other => other.clone(),
        }
    }

    /// A part of a composite value.
    pub(crate) fn part(&mut self, id: Id, index: usize, ty: &Type) -> Operand {
        if let Some(known) = self.parts.get(&id).and_then(|parts| parts.get(index)) {
            return *known;
        }
        let of = self.module.memory_type(ty);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let part = self.emit_as(Op::CompositeExtract, ty, of, &[id, index]);
        self.loaded(part, ty)
    }

    /// `operand.name`.
    pub fn field(&mut self, operand: Operand, name: &str) -> Operand {
        let operand = self.follow(operand);
        let (Operand::Value(id) | Operand::Memory(id)) = operand else {
            return operand;
        };
        let ty = self.type_of(id);
        let of = match operand {
            Operand::Memory(_) => ty.pointee().cloned().unwrap_or(Type::Unit),
            _ => ty.clone(),
        };
        let found = match &of {
            Type::Struct(layout) => {
                let found = layout.members.iter().position(|(known, _)| known == name);
                found.map(|index| (index, layout.members[index].1.clone()))
            }
            Type::Vector(lane, _) => {
                crate::types::lane(name).map(|index| (index, (**lane).clone()))
            }
            _ => return self.refuse(format!("a member of {of}, which has none")),
        };
        let Some((index, member)) = found else {
            return self.refuse(format!("{of} has no member {name}"));
        };
        match (operand, &ty) {
            (Operand::Memory(id), Type::Pointer(space, _)) => {
                let index = self
                    .module
                    .integer(32, u64::try_from(index).unwrap_or(u64::MAX));
                let ty = Type::Pointer(*space, member.into());
                Operand::Memory(self.emit(Op::InBoundsAccessChain, &ty, &[id, index]))
            }
            _ => self.part(id, index, &member),
        }
    }

    /// `operand.len()`.
    pub fn length(&mut self, operand: Operand) -> Operand {
        let operand = self.follow(operand);
        let (Operand::Value(id) | Operand::Memory(id)) = operand else {
            return operand;
        };
        match (operand, self.type_of(id)) {
            (Operand::Value(_), Type::Slice(..)) => {
                let length = self.part(id, 1, &Type::SIZE);
                self.small(length)
            }
            (Operand::Value(_), Type::Array(_, count)) => Operand::Value(self.size(count)),
            (_, ty) => match ty.pointee() {
                Some(Type::Array(_, count)) => Operand::Value(self.size(*count)),
                _ => self.refuse(format!("the length of {ty}, which has none")),
            },
        }
    }

    /// `operand[index]`, checked.
    pub fn index(&mut self, operand: Operand, index: Operand) -> Operand {
        let operand = self.follow(operand);
        let index = self.read(index);
        let (Operand::Value(id) | Operand::Memory(id), Operand::Value(index)) = (operand, index)
        else {
            return Operand::Never;
        };
        match (operand, self.type_of(id)) {
            (Operand::Value(_), Type::Slice(space, of)) => {
                let pointer_type = Type::Pointer(space, of);
                let pointer = self.part(id, 0, &pointer_type);
                let length = self.part(id, 1, &Type::SIZE);
                let (Operand::Value(pointer), Operand::Value(length)) = (pointer, length) else {
                    return Operand::Never;
                };
                let guard = self.check_bounds(index, length);
                let operands = [pointer, index];
                let place = self.emit(Op::InBoundsPtrAccessChain, &pointer_type, &operands);
                if let Some(condition) = guard {
                    self.guard(place, pointer, condition);
                }
                Operand::Memory(place)
            }
            // A known element of a value needs no memory.
            (Operand::Value(_), Type::Array(of, count))
                if self.known_below(index, count).is_some() =>
            {
                let at = self.known_below(index, count).unwrap_or(0);
                self.part(id, at, &of)
            }
            (Operand::Value(_), Type::Array(..) | Type::Vector(..)) => {
                let place = self.variable(operand);
                self.index(place, Operand::Value(index))
            }
            (Operand::Memory(_), Type::Pointer(space, to)) => match to.elements() {
                Some((of, count)) => {
                    let length = self.size(count);
                    let guard = self.check_bounds(index, length);
                    let ty = Type::Pointer(space, of.clone());
                    let place = self.emit(Op::InBoundsAccessChain, &ty, &[id, index]);
                    if let Some(condition) = guard {
                        self.guard(place, id, condition);
                    }
                    Operand::Memory(place)
                }
                None => self.refuse(format!("an element of {to}, which has none")),
            },
            (_, ty) => self.refuse(format!("an element of {ty}, which has none")),
        }
    }

    /// A constant index, if it is inside.
    fn known_below(&self, index: Id, count: u64) -> Option<usize> {
        let index = *self.constants.get(&index)?;
        usize::try_from(index).ok().filter(|_| index < count)
    }

    /// The condition under which an index is inside; `None` if it always is.
    fn check_bounds(&mut self, index: Id, length: Id) -> Option<Id> {
        if self.unchecked || self.is_less(index, length) {
            return None;
        }
        let inside = self.emit(Op::ULessThan, &Type::Bool, &[index, length]);
        self.conditions
            .insert(inside, Condition::Less(index, length));
        let texts = [
            "index out of bounds: the length is ",
            " but the index is ",
            "",
        ];
        let values = [length, index].map(Operand::Value);
        self.report_unless(Operand::Value(inside), &texts, &values);
        Some(inside)
    }

    /// The greatest value that a number can have.
    pub(crate) fn most(&self, id: Id) -> u64 {
        let all = match self.type_of(id) {
            Type::Int { bits, signed } => (u64::MAX >> (64 - bits)) >> u32::from(signed),
            _ => u64::MAX,
        };
        let known = self.constants.get(&id).map(|value| value & all);
        known
            .or_else(|| self.bounds.get(&id).copied())
            .unwrap_or(all)
    }

    // Blocks.

    /// The label of the block in the making.
    pub(crate) fn block(&self) -> Id {
        self.blocks.last().map_or(0, |block| block.label)
    }

    pub(crate) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Appends the last block to the one before, whose conditional jump leads to it, if it only computes values.
    pub(crate) fn join_pure(&mut self, most: usize) -> bool {
        let Some([.., before, last]) = self.blocks.get(..) else {
            return false;
        };
        let jumps_there = before.body.last().is_some_and(|jump| {
            jump.op == Op::BranchConditional && jump.operands.get(1) == Some(&last.label)
        });
        let is_pure = last
            .body
            .iter()
            .all(|instruction| self.is_pure(instruction));
        if !jumps_there || !is_pure || last.body.len() > most {
            return false;
        }
        if let Some(last) = self.blocks.pop()
            && let Some(before) = self.blocks.last_mut()
        {
            before.body.pop();
            before.body.extend(last.body);
        }
        true
    }

    /// Whether an instruction only computes a value, cheaply and for any operands.
    fn is_pure(&self, instruction: &Instruction) -> bool {
        match instruction.op {
            // Of a variable, not of an element that a condition may protect.
            Op::Load => instruction.operands.get(2).is_some_and(|from| {
                self.variables
                    .iter()
                    .any(|variable| variable.operands.get(1) == Some(from))
            }),
            Op::IAdd | Op::ISub | Op::IMul | Op::FAdd | Op::FSub | Op::FMul => true,
            Op::SNegate | Op::FNegate | Op::Not | Op::Select | Op::CopyObject => true,
            Op::BitwiseAnd | Op::BitwiseOr | Op::BitwiseXor => true,
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => true,
            Op::UConvert | Op::SConvert | Op::FConvert | Op::ConvertUToF | Op::ConvertSToF => true,
            Op::IEqual | Op::INotEqual | Op::ULessThan | Op::ULessThanEqual => true,
            Op::UGreaterThan | Op::UGreaterThanEqual | Op::SLessThan | Op::SLessThanEqual => true,
            Op::SGreaterThan | Op::SGreaterThanEqual | Op::FOrdEqual | Op::FUnordNotEqual => true,
            Op::FOrdLessThan | Op::FOrdLessThanEqual | Op::FOrdGreaterThan => true,
            Op::FOrdGreaterThanEqual | Op::CompositeExtract | Op::Bitcast => true,
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalNot | Op::LogicalEqual => true,
            Op::LogicalNotEqual => true,
            _ => false,
        }
    }

    pub(crate) fn label(&mut self) -> Id {
        self.module.id()
    }

    /// Begins a block to which several jump: variables may have other values.
    pub(crate) fn join(&mut self, label: Id) {
        self.held.clear();
        self.begin(label);
    }

    /// Begins a block to which one jumps; it is left out if no reachable code does.
    pub(crate) fn begin(&mut self, label: Id) {
        self.live = self.targets.contains(&label);
        if self.live {
            self.blocks.push(Block {
                label,
                body: Vec::new(),
            });
        }
    }

    /// Ends the block with a jump.
    pub(crate) fn branch(&mut self, to: Id) {
        self.effect(Op::Branch, vec![to]);
        if self.live {
            self.targets.insert(to);
        }
        self.live = false;
    }

    pub(crate) fn branch_if(&mut self, condition: Id, yes: Id, no: Id) {
        self.effect(Op::BranchConditional, vec![condition, yes, no]);
        if self.live {
            self.targets.extend([yes, no]);
        }
        self.live = false;
    }

    /// A parameter of the kernel as SPIR-V has it.
    fn raw_parameter(&mut self, ty: &Type, name: &str) -> Id {
        let of = self.module.memory_type(ty);
        let id = self.module.id();
        self.parameters.push((of, id));
        self.module.name(id, name);
        self.types.insert(id, ty.clone());
        id
    }

    /// A parameter of the kernel: a slice is two of SPIR-V's, a structure a pointer to a copy.
    pub fn parameter(&mut self, ty: &Type, name: &str) -> Operand {
        match ty {
            Type::Slice(space, of) => {
                let pointer = Type::Pointer(*space, of.clone());
                let pointer = self.raw_parameter(&pointer, name);
                let length = self.raw_parameter(&Type::SIZE, &format!("{name}.len"));
                // No slice has more bytes than half of the addresses.
                self.bounds.insert(length, u64::MAX >> 1);
                self.compose(ty, &[Operand::Value(pointer), Operand::Value(length)])
            }
            Type::Unit => Operand::Unit,
            Type::Bool => {
                let id = self.raw_parameter(ty, name);
                self.loaded(id, ty)
            }
            Type::Struct(_) | Type::Array(..) => {
                let pointer = Type::Pointer(Space::Private, ty.clone().into());
                let id = self.raw_parameter(&pointer, name);
                self.module.by_value(id);
                self.read(Operand::Memory(id))
            }
            _ => Operand::Value(self.raw_parameter(ty, name)),
        }
    }

    /// Ends the kernel and returns its SPIR-V, and the places of its faults in the reporting form.
    ///
    /// # Errors
    /// The first reason why it cannot be staged.
    pub fn finish(
        mut self,
        kernel: &str,
        file: &str,
    ) -> Result<(Vec<u32>, Vec<FaultSite>), Refusal> {
        self.branch(self.exit);
        self.join(self.exit);
        self.effect(Op::Return, Vec::new());
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        threading::thread(&mut self.blocks, &self.truths);
        rotation::rotate(&mut self.blocks, || self.module.id());
        let mut parameters = std::mem::take(&mut self.parameters);
        let (mut reporter, sites) = self.finish_reporting(&mut parameters);
        let types: Vec<Id> = parameters.iter().map(|(of, _)| *of).collect();
        let ty = self.module.function_type(&types);
        let void = self.module.type_id(&Type::Unit);
        let id = self.module.id();
        self.module.name(id, kernel);
        let mut function = vec![Instruction::new(Op::Function, vec![void, id, 0, ty])];
        for (of, parameter) in &parameters {
            let operands = vec![*of, *parameter];
            function.push(Instruction::new(Op::FunctionParameter, operands));
        }
        for (index, block) in self.blocks.into_iter().enumerate() {
            function.push(Instruction::new(Op::Label, vec![block.label]));
            if index == 0 {
                function.append(&mut self.variables);
            }
            function.extend(block.body);
        }
        function.push(Instruction::new(Op::FunctionEnd, Vec::new()));
        function.append(&mut reporter);
        Ok((self.module.words(kernel, file, id, &function), sites))
    }
}
