//! The SSA form: modules, functions, blocks, instructions.
//!
//! Semantics that are not obvious:
//! - A pointer is 64 bits in every address space; a generic pointer equals the pointer it came from.
//! - Shifts by the width or more, division by zero, `INT_MIN / -1`, float-to-integer out of range
//!   give an unspecified value and never a fault.
//! - All work-items of a group reach a work-group `Barrier` or work-group [`Op::Group`]. A sub-group operation combines
//!   the lanes of the sub-group that reach it together.
//! - Instructions of a block are evaluated in order. `Phi`s come first and read their inputs simultaneously.

pub use crate::ids::{BlockId, FunctionId, GlobalId, InstId, ValueId};
pub use crate::op::*;
use crate::types::{AddressSpace, ConstId, Constant, Constants, Type, TypeId, Types, sign_extend};

/// A linked, specialised program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// All types.
    pub types: Types,
    /// All constants.
    pub constants: Constants,
    /// Program-scope and work-group variables.
    pub globals: Vec<Global>,
    /// Functions; a [`Kernel`] names one of them.
    pub functions: Vec<Function>,
    /// Entry points, in the order of the modules.
    pub kernels: Vec<Kernel>,
    /// Format strings of [`Op::Printf`], without the final zero.
    pub printf_formats: Vec<Vec<u8>>,
    /// Words of operations of sub-groups that need not be reached by all of the sub-group (`OpGroupNonUniform…`).
    pub non_uniform: std::collections::BTreeSet<u32>,
    /// Where lines of source text begin.
    pub lines: LineStarts,
    /// The transforms that passes and back ends may use.
    pub transforms: crate::Transforms,
}

/// Where lines of source text begin, as far as `OpLine` says so.
#[derive(Clone, Debug, Default)]
pub struct LineStarts {
    /// Words of `OpLine`, ascending, with file and line.
    pub(crate) starts: Vec<(u32, [u32; 2])>,
    /// Debug information names lines in another way.
    pub(crate) has_others: bool,
}

impl LineStarts {
    /// Whether two instructions, by their words, are of one line. In modules without lines all are.
    #[must_use]
    pub fn is_one_line(&self, a: u32, b: u32) -> bool {
        let line = |word: u32| {
            let behind = self.starts.partition_point(|&(start, _)| start <= word);
            behind.checked_sub(1).map(|at| self.starts[at].1)
        };
        a == b || (!self.has_others && line(a) == line(b))
    }
}

impl Module {
    /// Whether a transform may be used.
    #[must_use]
    pub const fn uses(&self, transform: crate::Transform) -> bool {
        self.transforms.has(transform)
    }

    /// The value of integer constant `v` of `function`, sign-extended from its width.
    #[must_use]
    pub fn known_signed(&self, function: &Function, v: ValueId) -> Option<i64> {
        known_signed(&self.types, &self.constants, function, v)
    }
}

/// As [`Module::known_signed`], from the module's types and constants.
pub(crate) fn known_signed(
    types: &Types,
    constants: &Constants,
    function: &Function,
    v: ValueId,
) -> Option<i64> {
    let ValueDef::Const(c) = function.values[v.index()].def else {
        return None;
    };
    match (constants.get(c), types.get(function.ty(v))) {
        (Constant::Int(n), Type::Int(bits)) => Some(sign_extend(*n, *bits)),
        _ => None,
    }
}

/// A variable that outlives a work-item.
#[derive(Clone, Debug)]
pub struct Global {
    /// Name (OpName or linkage name); may be empty.
    pub name: String,
    /// `Global`, `Constant` or `Local`.
    pub space: AddressSpace,
    /// Type of the content.
    pub ty: TypeId,
    /// Bytes; for `Local` with `per_work_item` this many for each work-item of the group.
    pub size: u64,
    /// Only `Local`: sized by the launch (scratch of expanded work-group operations).
    pub per_work_item: bool,
    /// Alignment in bytes.
    pub align: u64,
    /// Initial content; `None` is zero (for `Local`: unspecified).
    pub init: Option<ConstId>,
    /// Visible by name to `zeModuleGetGlobalPointer`.
    pub exported: bool,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name for `zeKernelCreate`.
    pub name: String,
    /// Its body.
    pub function: FunctionId,
    /// `reqd_work_group_size`.
    pub required_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint`.
    pub group_size_hint: Option<[u32; 3]>,
    /// `SubgroupSize` execution mode; 0 when the kernel does not ask.
    pub required_sub_group_size: u32,
    /// Floating-point contraction allowed (no `ContractionOff`).
    pub contract: bool,
    /// `DenormFlushToZero` for 32-bit floats, or the option that means it.
    pub flush_denorms: bool,
    /// Argument names, type names and qualifiers as far as the module names them.
    pub arg_infos: Vec<KernelArg>,
    /// Text of `zeKernelGetSourceAttributes`.
    pub attributes: String,
}

/// An argument of a kernel, as the host sees it.
#[derive(Clone, Debug)]
pub struct KernelArg {
    /// OpName; may be empty.
    pub name: String,
    /// `Private` for by-value; `Local` when the host gives a size only.
    pub kind: ArgKind,
    /// Bytes of the value as the host passes it (8 for pointers).
    pub size: u64,
    /// Bytes without the padding behind a vector of three components; `size` for all others.
    pub unpadded: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Bytes of the value. Also a by-value aggregate, which SPIR-V passes as a `Function` pointer with `ByVal`: the
    /// parameter of the body is then a private pointer to the bytes.
    Value,
    /// A device pointer (global or constant).
    Pointer,
    /// A block of work-group memory; the host passes its size.
    Local,
    /// An image: 8 bytes, the address of its record ([`crate::image`]).
    Image,
    /// A sampler: 8 bytes, its word ([`crate::image::sampler_word`]).
    Sampler,
}

/// A function body.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// For messages.
    pub name: String,
    /// Result type (`Void` type for kernels).
    pub result: Option<TypeId>,
    /// Parameters in order.
    pub params: Vec<ValueId>,
    /// Exported by name: the host may query its address, so calls through pointers may reach it.
    pub exported: bool,
    /// For a kernel: parameter `i` is a private pointer to a by-value aggregate of this size.
    pub by_value: Vec<Option<u64>>,
    /// All values.
    pub values: Vec<Value>,
    /// All instructions; only those that blocks list are live.
    pub insts: Vec<Inst>,
    /// Blocks; `BlockId(0)` is the entry and has no predecessors. Empty for an import.
    pub blocks: Vec<Block>,
}

/// A value: its type and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Its type.
    pub ty: TypeId,
    /// Its definition.
    pub def: ValueDef,
}

/// The definition of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Parameter of the function, by position.
    Param(u32),
    /// Result of an instruction.
    Inst(InstId),
    /// A module constant.
    Const(ConstId),
    /// Address of a variable.
    Global(GlobalId),
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Instructions in order, phis first.
    pub insts: Vec<InstId>,
    /// How it ends.
    pub term: Terminator,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Its operation.
    pub op: Op,
    /// Its result, unless it has none.
    pub result: Option<ValueId>,
    /// Word offset in the SPIR-V module, for messages; 0 for instructions of a pass.
    pub word: u32,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Jump.
    Br(BlockId),
    /// `cond` is a Bool.
    CondBr {
        /// Condition.
        cond: ValueId,
        /// When true.
        then: BlockId,
        /// When false.
        otherwise: BlockId,
    },
    /// On an integer.
    Switch {
        /// Selector.
        value: ValueId,
        /// Target when no case matches.
        default: BlockId,
        /// (zero-extended value, target), values distinct.
        cases: Vec<(u64, BlockId)>,
    },
    /// End of the function.
    Ret(Option<ValueId>),
    /// Never reached by a correct program; ends the work-item if reached.
    Unreachable,
}

impl Terminator {
    /// Calls `f` on every successor.
    pub fn successors(&self, mut f: impl FnMut(BlockId)) {
        match self {
            Terminator::Br(target) => f(*target),
            Terminator::CondBr {
                then, otherwise, ..
            } => {
                f(*then);
                f(*otherwise);
            }
            Terminator::Switch { default, cases, .. } => {
                f(*default);
                cases.iter().for_each(|&(_, target)| f(target));
            }
            Terminator::Ret(_) | Terminator::Unreachable => {}
        }
    }
    /// Calls `f` on every successor, which `f` may change.
    pub fn successors_mut(&mut self, mut f: impl FnMut(&mut BlockId)) {
        match self {
            Terminator::Br(target) => f(target),
            Terminator::CondBr {
                then, otherwise, ..
            } => {
                f(then);
                f(otherwise);
            }
            Terminator::Switch { default, cases, .. } => {
                f(default);
                cases.iter_mut().for_each(|(_, target)| f(target));
            }
            Terminator::Ret(_) | Terminator::Unreachable => {}
        }
    }
    /// Its operand.
    pub fn operand_mut(&mut self) -> Option<&mut ValueId> {
        match self {
            Terminator::CondBr { cond, .. } => Some(cond),
            Terminator::Switch { value, .. } => Some(value),
            Terminator::Ret(value) => value.as_mut(),
            Terminator::Br(_) | Terminator::Unreachable => None,
        }
    }
    /// Its operand.
    #[must_use]
    pub fn operand(&self) -> Option<ValueId> {
        match self {
            Terminator::CondBr { cond, .. } => Some(*cond),
            Terminator::Switch { value, .. } => Some(*value),
            Terminator::Ret(value) => *value,
            Terminator::Br(_) | Terminator::Unreachable => None,
        }
    }
}

impl Function {
    /// The type of `value`.
    #[must_use]
    pub fn ty(&self, value: ValueId) -> TypeId {
        self.values[value.index()].ty
    }
    /// A new value.
    pub fn add_value(&mut self, ty: TypeId, def: ValueDef) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { ty, def });
        id
    }
    /// A new instruction in no block yet; `ty` is the type of its result.
    pub fn add_inst(&mut self, op: Op, ty: Option<TypeId>, word: u32) -> (InstId, Option<ValueId>) {
        let id = InstId(self.insts.len() as u32);
        let result = ty.map(|ty| self.add_value(ty, ValueDef::Inst(id)));
        self.insts.push(Inst { op, result, word });
        (id, result)
    }
    /// A new instruction at the end of `block`.
    pub fn push(
        &mut self,
        block: BlockId,
        op: Op,
        ty: Option<TypeId>,
        word: u32,
    ) -> Option<ValueId> {
        let (id, result) = self.add_inst(op, ty, word);
        self.blocks[block.index()].insts.push(id);
        result
    }
    /// A new empty block that ends in `Unreachable`.
    pub fn add_block(&mut self) -> BlockId {
        let id = BlockId(self.blocks.len() as u32);
        self.blocks.push(Block {
            insts: Vec::new(),
            term: Terminator::Unreachable,
        });
        id
    }
    /// Predecessors of every block, each edge once.
    #[must_use]
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut all = vec![Vec::new(); self.blocks.len()];
        for (i, block) in self.blocks.iter().enumerate() {
            block
                .term
                .successors(|to| all[to.index()].push(BlockId(i as u32)));
        }
        for list in &mut all {
            list.sort_unstable();
            list.dedup();
        }
        all
    }
    /// Reachable blocks in reverse post-order, the entry first.
    #[must_use]
    pub fn reverse_post_order(&self) -> Vec<BlockId> {
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut seen = vec![false; self.blocks.len()];
        if self.blocks.is_empty() {
            return order;
        }
        // An explicit stack: hostile modules nest deeper than a thread's stack.
        let mut stack = vec![(BlockId(0), 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            let mut targets = Vec::new();
            self.blocks[block.index()]
                .term
                .successors(|to| targets.push(to));
            if let Some(&to) = targets.get(next) {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((to, 0));
                }
            } else {
                order.push(block);
            }
        }
        order.reverse();
        order
    }
}
