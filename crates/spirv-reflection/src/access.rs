//! Pointer analysis: which memory accesses a kernel makes through each of its parameters.
//!
//! A fixed-point analysis of each function computes which parameters a value may be derived from. Calls of functions in
//! the module are followed; unknown instructions count as reads and writes.

use std::collections::{BTreeSet, HashMap};

use spirv::Op;
use spirv_reader::Instruction;

/// Depth of calls that are followed.
const MAX_CALLS: u32 = 32;

/// How a kernel may access memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Access {
    /// No access, or reads.
    Read,
    /// Reads and writes.
    ReadWrite,
}

/// A function: its parameters and the instructions after them.
#[derive(Default, Debug)]
pub(crate) struct Body<'m> {
    pub(crate) parameters: Vec<Instruction<'m>>,
    instructions: Vec<Instruction<'m>>,
}

/// All functions, by id.
#[derive(Default, Debug)]
pub(crate) struct Bodies<'m> {
    functions: HashMap<u32, Body<'m>>,
    open: Option<u32>,
    /// Types of values, by id.
    value_types: HashMap<u32, u32>,
    opencl_sets: Vec<u32>,
}

impl<'m> Bodies<'m> {
    /// Handles the next instruction that is not a type, name or constant.
    pub(crate) fn push(&mut self, instruction: Instruction<'m>) {
        let operands = instruction.operands;
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::ExtInstImport) => self.opencl_sets.extend(operands.first()),
            Some(Op::Function) => {
                self.open = operands.get(1).copied();
                if let Some(id) = self.open {
                    self.functions.insert(id, Body::default());
                }
            }
            Some(Op::FunctionEnd) => self.open = None,
            op => {
                let Some(body) = self.open.and_then(|id| self.functions.get_mut(&id)) else {
                    return;
                };
                if op == Some(Op::FunctionParameter) {
                    body.parameters.push(instruction);
                } else {
                    body.instructions.push(instruction);
                }
                // Debug lines and lifetimes have literals at the position of the result.
                if !matches!(op, Some(Op::Line | Op::LifetimeStart | Op::LifetimeStop)) {
                    self.value(operands);
                }
            }
        }
    }
    /// Records the type of an instruction's result; the operands start with type and result.
    pub(crate) fn value(&mut self, operands: &[u32]) {
        if let &[ty, id, ..] = operands {
            self.value_types.entry(id).or_insert(ty);
        }
    }
    /// Whether the current instruction is inside a function.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }
    pub(crate) fn of(&self, function: u32) -> Option<&Body<'m>> {
        self.functions.get(&function)
    }
}

/// The uses of one parameter.
#[derive(Clone, Debug)]
pub(crate) struct Uses {
    pub(crate) access: Access,
    /// Type ids of the values loaded and stored through it.
    pub(crate) accessed: BTreeSet<u32>,
    /// Ids of the parameters of other functions to which it is passed.
    pub(crate) passed_as: Vec<u32>,
}

impl Uses {
    fn none() -> Self {
        Self {
            access: Access::Read,
            accessed: BTreeSet::new(),
            passed_as: Vec::new(),
        }
    }
}

/// The uses of each parameter of `function`.
pub(crate) fn uses(bodies: &Bodies<'_>, function: u32) -> Vec<Uses> {
    Follow {
        bodies,
        known: HashMap::new(),
    }
    .function(function, 0)
}

struct Follow<'b, 'm> {
    bodies: &'b Bodies<'m>,
    known: HashMap<u32, Vec<Uses>>,
}

type Roots = BTreeSet<usize>;

/// The state of the analysis of one function.
struct State {
    /// The roots that a value may point to: parameters first, then the function's variables.
    values: HashMap<u32, Roots>,
    /// The uses of each parameter.
    uses: Vec<Uses>,
    /// The roots that each variable may hold: unoptimised code keeps its parameters in variables.
    held: Vec<Roots>,
}

impl State {
    fn roots(&self, id: u32) -> Roots {
        self.values.get(&id).cloned().unwrap_or_default()
    }
    fn flow(&mut self, from: &[u32], to: u32) {
        let roots: Roots = from.iter().flat_map(|id| self.roots(*id)).collect();
        self.add(to, roots);
    }
    fn add(&mut self, to: u32, roots: Roots) {
        if !roots.is_empty() {
            self.values.entry(to).or_default().extend(roots);
        }
    }
    /// The variable of a root.
    fn variable(&self, root: usize) -> Option<usize> {
        root.checked_sub(self.uses.len())
    }
    fn touch(&mut self, pointer: u32, ty: Option<u32>, writes: bool) {
        for root in self.roots(pointer) {
            let Some(seen) = self.uses.get_mut(root) else {
                continue;
            };
            seen.accessed.extend(ty);
            if writes {
                seen.access = Access::ReadWrite;
            }
        }
    }
    /// The roots held by the variables that `pointer` may point to.
    fn held(&self, pointer: u32) -> Roots {
        let variables = self.roots(pointer).into_iter();
        variables
            .filter_map(|root| self.held.get(self.variable(root)?))
            .flatten()
            .copied()
            .collect()
    }
    fn store(&mut self, pointer: u32, stored: &Roots) {
        if stored.is_empty() {
            return;
        }
        let into = self.roots(pointer);
        if into.is_empty() {
            self.escape(stored.clone());
        }
        for root in into {
            match self.variable(root) {
                Some(variable) => {
                    if let Some(held) = self.held.get_mut(variable) {
                        held.extend(stored);
                    }
                }
                None => self.escape(stored.clone()),
            }
        }
    }
    /// The roots in `ids` escape, and the roots that they hold.
    fn escape(&mut self, roots: Roots) {
        let mut seen = Roots::new();
        let mut open: Vec<usize> = roots.into_iter().collect();
        while let Some(root) = open.pop() {
            if !seen.insert(root) {
                continue;
            }
            match self.variable(root) {
                Some(variable) => open.extend(self.held.get(variable).into_iter().flatten()),
                None => {
                    if let Some(uses) = self.uses.get_mut(root) {
                        uses.access = Access::ReadWrite;
                    }
                }
            }
        }
    }
    fn escape_all(&mut self, ids: &[u32]) {
        let roots: Roots = ids.iter().flat_map(|id| self.roots(*id)).collect();
        if !roots.is_empty() {
            self.escape(roots);
        }
    }
    /// Repeats until nothing changes.
    fn size(&self) -> usize {
        self.values.values().chain(&self.held).map(Roots::len).sum()
    }
}

impl Follow<'_, '_> {
    fn function(&mut self, function: u32, depth: u32) -> Vec<Uses> {
        if let Some(known) = self.known.get(&function) {
            return known.clone();
        }
        let Some(body) = self.bodies.of(function) else {
            return Vec::new();
        };
        let unknown = Uses {
            access: Access::ReadWrite,
            ..Uses::none()
        };
        // The assumption for recursive calls, and for calls beyond the depth that is followed.
        self.known
            .insert(function, vec![unknown; body.parameters.len()]);
        if depth > MAX_CALLS || body.instructions.is_empty() {
            return self.known.get(&function).cloned().unwrap_or_default();
        }
        let mut state = State {
            values: HashMap::new(),
            uses: vec![Uses::none(); body.parameters.len()],
            held: Vec::new(),
        };
        for (index, parameter) in body.parameters.iter().enumerate() {
            if let Some(&id) = parameter.operands.get(1) {
                state.add(id, Roots::from([index]));
            }
        }
        for instruction in &body.instructions {
            if instruction.opcode == Op::Variable as u16
                && let Some(&id) = instruction.operands.get(1)
            {
                let root = state.uses.len() + state.held.len();
                state.held.push(Roots::new());
                state.add(id, Roots::from([root]));
            }
        }
        loop {
            let before = state.size();
            for instruction in &body.instructions {
                self.instruction(instruction, depth, &mut state);
            }
            if state.size() == before {
                break;
            }
        }
        self.known.insert(function, state.uses.clone());
        state.uses
    }

    fn instruction(&mut self, instruction: &Instruction<'_>, depth: u32, state: &mut State) {
        let operands = instruction.operands;
        let at = |index: usize| operands.get(index).copied().unwrap_or(0);
        let type_of = |id: u32| self.bodies.value_types.get(&id).copied();
        let Some(op) = Op::from_u32(u32::from(instruction.opcode)) else {
            return state.escape_all(operands);
        };
        match op {
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain
            | Op::Bitcast
            | Op::CopyObject
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::GenericCastToPtrExplicit => state.flow(&[at(2)], at(1)),
            Op::Select => state.flow(&[at(3), at(4)], at(1)),
            Op::Phi => {
                let incoming: Vec<u32> = operands.iter().skip(2).step_by(2).copied().collect();
                state.flow(&incoming, at(1));
            }
            Op::Load => {
                state.touch(at(2), Some(at(0)), false);
                let held = state.held(at(2));
                state.add(at(1), held);
            }
            Op::Store => {
                state.touch(at(0), type_of(at(1)), true);
                let stored = state.roots(at(1));
                state.store(at(0), &stored);
            }
            Op::AtomicLoad | Op::SubgroupBlockReadINTEL => {
                state.touch(at(2), Some(at(0)), false);
            }
            Op::AtomicStore => state.touch(at(0), type_of(at(3)), true),
            Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicCompareExchangeWeak
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT => state.touch(at(2), Some(at(0)), true),
            Op::CopyMemory | Op::CopyMemorySized => {
                state.touch(at(0), None, true);
                state.touch(at(1), None, false);
                let held = state.held(at(1));
                state.store(at(0), &held);
            }
            Op::GroupAsyncCopy => {
                state.touch(at(3), None, true);
                state.touch(at(4), None, false);
            }
            Op::ExtInst if self.bodies.opencl_sets.contains(&at(2)) => {
                use spirv_reader::OpenClStd as Cl;
                let reads = matches!(
                    Cl::from_u32(at(3)),
                    Some(
                        Cl::Vloadn
                            | Cl::VloadHalf
                            | Cl::VloadHalfn
                            | Cl::VloadaHalfn
                            | Cl::Prefetch
                            | Cl::Printf
                    )
                );
                for &id in operands.get(4..).unwrap_or(&[]) {
                    state.touch(id, None, !reads);
                }
            }
            Op::FunctionCall => self.call(operands, depth, state),
            // Their other operands are labels and literals, which could be mistaken for ids.
            Op::Variable
            | Op::Label
            | Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::LoopMerge
            | Op::SelectionMerge
            | Op::Line
            | Op::NoLine
            | Op::LifetimeStart
            | Op::LifetimeStop
            | Op::CompositeExtract
            | Op::VectorShuffle
            | Op::PtrEqual
            | Op::PtrNotEqual
            | Op::PtrDiff => {}
            _ => state.escape_all(operands),
        }
    }

    fn call(&mut self, operands: &[u32], depth: u32, state: &mut State) {
        let Some(&callee) = operands.get(2) else {
            return;
        };
        let theirs = self.function(callee, depth + 1);
        let parameters = self
            .bodies
            .of(callee)
            .map_or(&[][..], |body| &body.parameters);
        for (index, argument) in operands.iter().skip(3).enumerate() {
            let roots = state.roots(*argument);
            // A callee may read a variable whose address it gets.
            let own = state.uses.len();
            if theirs.get(index).is_none() || roots.iter().any(|root| *root >= own) {
                state.escape(roots.clone());
            }
            let Some(theirs) = theirs.get(index) else {
                continue;
            };
            let id = parameters.get(index).and_then(|p| p.operands.get(1));
            for root in roots {
                let Some(seen) = state.uses.get_mut(root) else {
                    continue;
                };
                if theirs.access == Access::ReadWrite {
                    seen.access = Access::ReadWrite;
                }
                seen.accessed.extend(theirs.accessed.iter().copied());
                for id in id.into_iter().chain(&theirs.passed_as) {
                    if !seen.passed_as.contains(id) {
                        seen.passed_as.push(*id);
                    }
                }
            }
        }
    }
}
