//! Private arrays laid out by lane: an element of all lanes, then the next element of all lanes.
//!
//! ```text
//! float t[4], 4 lanes     by work-item:  t0 t1 t2 t3 | t0 t1 t2 t3 | t0 t1 t2 t3 | t0 t1 t2 t3
//!                         by lane:       t0 t0 t0 t0 | t1 t1 t1 t1 | t2 t2 t2 t2 | t3 t3 t3 t3
//! ```
//!
//! Where lanes use the same index, an element is then one contiguous vector.
//!
//! An array qualifies if the function only reads and writes whole elements of one size. The regions' functions carry
//! the layout: offsets into such arrays are multiplied by the number of lanes, and lane `l` begins `l` elements after
//! the array's start.

use std::collections::HashMap;

use kernel_ir::{BinaryOp, Constant, ConvertOp, Function, Module, Op, ValueDef, ValueId};

/// Operations from an offset back to its factors. Not measured: a bound on compile time.
const DEPTH: u32 = 12;
/// Most low bits of an offset that are known to be zero.
const ALL: u32 = 63;

/// Each private array of `function`: its value, bytes, and alignment.
#[must_use]
pub fn private_arrays(function: &Function) -> Vec<(ValueId, u64, u64)> {
    let mut all = Vec::new();
    for block in &function.blocks {
        for inst in &block.insts {
            let inst = &function.insts[inst.index()];
            if let (Op::Alloca { size, align }, Some(result)) = (&inst.op, inst.result) {
                all.push((result, *size, (*align).clamp(1, 128)));
            }
        }
    }
    all
}

/// The arrays that can be laid out by lane, with their element sizes and the pointers into them.
#[derive(Default)]
pub(crate) struct ArrayLayout {
    /// Element size in bytes of each array.
    pub element: HashMap<ValueId, u64>,
    /// Array of each pointer that is not the array itself.
    of: HashMap<ValueId, ValueId>,
}

impl ArrayLayout {
    /// The arrays of `function`.
    pub(crate) fn new(module: &Module, function: &Function) -> Self {
        let mut found = Self::default();
        let arrays: Vec<ValueId> = private_arrays(function).iter().map(|a| a.0).collect();
        let is_used = module.uses(kernel_ir::Transform::ArraysByLane);
        if arrays.is_empty() || !is_used {
            return found;
        }
        // The array that each pointer points into: phis make this a search for a fixed point.
        let mut of: HashMap<ValueId, ValueId> = arrays.iter().map(|&a| (a, a)).collect();
        let order = function.reverse_post_order();
        loop {
            let before = of.len();
            for &inst in order.iter().flat_map(|b| &function.blocks[b.index()].insts) {
                let inst = &function.insts[inst.index()];
                let Some(result) = inst.result else { continue };
                let base = match &inst.op {
                    Op::PtrOffset { ptr, .. } => of.get(ptr),
                    Op::Copy(v) => of.get(v),
                    Op::Phi(incoming) => incoming.iter().find_map(|i| of.get(&i.1)),
                    Op::Select { then, .. } => of.get(then),
                    _ => None,
                };
                if let Some(&base) = base {
                    of.entry(result).or_insert(base);
                }
            }
            if of.len() == before {
                break;
            }
        }
        let mut size: HashMap<ValueId, u64> = HashMap::new();
        let mut bad: Vec<ValueId> = Vec::new();
        for &inst in order.iter().flat_map(|b| &function.blocks[b.index()].insts) {
            let inst = &function.insts[inst.index()];
            let result = inst.result;
            let mut access = |ptr: &ValueId, value: ValueId| {
                if let Some(&array) = of.get(ptr) {
                    let bytes = module.types.size_of(function.ty(value));
                    if *size.entry(array).or_insert(bytes) != bytes {
                        bad.push(array);
                    }
                }
            };
            match (&inst.op, result) {
                (Op::Load { ptr, .. }, Some(result)) => access(ptr, result),
                (Op::Store { ptr, value, .. }, _) => {
                    access(ptr, *value);
                    bad.extend(of.get(value));
                }
                (Op::PtrOffset { index, .. }, _) => {
                    bad.extend(index.and_then(|(i, _)| of.get(&i)));
                }
                (Op::Phi(incoming), Some(result)) => {
                    let own = of.get(&result);
                    for (_, v) in incoming {
                        if of.get(v) != own {
                            bad.extend(own);
                            bad.extend(of.get(v));
                        }
                    }
                }
                (
                    Op::Select {
                        then, otherwise, ..
                    },
                    Some(result),
                ) => {
                    for v in [then, otherwise] {
                        if of.get(v) != of.get(&result) {
                            bad.extend(of.get(&result));
                            bad.extend(of.get(v));
                        }
                    }
                }
                (Op::Copy(_), _) => {}
                (op, _) => op.operands(|v| bad.extend(of.get(&v))),
            }
        }
        for block in &function.blocks {
            bad.extend(block.term.operand().and_then(|v| of.get(&v).copied()));
        }
        // Offsets must be multiples of the element size.
        for &inst in order.iter().flat_map(|b| &function.blocks[b.index()].insts) {
            let Op::PtrOffset { ptr, index, offset } = &function.insts[inst.index()].op else {
                continue;
            };
            let Some(array) = of.get(ptr) else { continue };
            let Some(&element) = size.get(array) else {
                continue;
            };
            let whole = element.is_power_of_two() && {
                let zeros = element.trailing_zeros();
                let index = index.map_or(ALL, |(v, stride)| {
                    zero_bits(module, function, v, &mut Vec::new(), DEPTH)
                        .saturating_add(stride.trailing_zeros())
                });
                index.min(offset.trailing_zeros()) >= zeros
            };
            if !whole {
                bad.push(*array);
            }
        }
        size.retain(|array, element| !bad.contains(array) && element.is_power_of_two());
        of.retain(|_, array| size.contains_key(array));
        found.element = size;
        found.of = of;
        found
    }

    /// The step from lane to lane in each array, in bytes.
    pub(crate) fn steps(&self) -> Vec<(ValueId, i64)> {
        let mut all: Vec<(ValueId, i64)> =
            self.element.iter().map(|(&v, &e)| (v, e as i64)).collect();
        all.sort_unstable();
        all
    }

    /// Lays the arrays out for `width` lanes in `function`, a copy of the one they were found in.
    pub(crate) fn apply(&self, function: &mut Function, width: u32) {
        if self.element.is_empty() {
            return;
        }
        kernel_ir::mark!(ArraysByLane);
        let width = i64::from(width);
        for inst in &mut function.insts {
            match &mut inst.op {
                Op::PtrOffset { ptr, index, offset } if self.of.contains_key(ptr) => {
                    *offset = offset.wrapping_mul(width);
                    if let Some((_, stride)) = index {
                        *stride = stride.wrapping_mul(width);
                    }
                }
                Op::Load { ptr, align, .. } | Op::Store { ptr, align, .. } => {
                    if let Some(element) = self.of.get(ptr).and_then(|a| self.element.get(a)) {
                        *align = (*align).min(*element);
                    }
                }
                _ => {}
            }
        }
    }
}

/// How many of the lowest bits of `v` are certainly zero. `open`: phis in progress, which count as all zero: the other
/// incoming values decide.
fn zero_bits(
    module: &Module,
    function: &Function,
    v: ValueId,
    open: &mut Vec<ValueId>,
    depth: u32,
) -> u32 {
    let constant = |v: ValueId| match function.values[v.index()].def {
        ValueDef::Const(c) => match module.constants.get(c) {
            Constant::Int(n) => Some(*n),
            Constant::Null => Some(0),
            _ => None,
        },
        _ => None,
    };
    if let Some(n) = constant(v) {
        return n.trailing_zeros().min(ALL);
    }
    let ValueDef::Inst(inst) = function.values[v.index()].def else {
        return 0;
    };
    if depth == 0 {
        return 0;
    }
    let mut of = |v: ValueId| zero_bits(module, function, v, open, depth - 1);
    let by = |v: ValueId| constant(v).and_then(|n| u32::try_from(n).ok());
    match &function.insts[inst.index()].op {
        Op::Binary(op, a, b, _) => match op {
            BinaryOp::IAdd | BinaryOp::ISub | BinaryOp::Or | BinaryOp::Xor => of(*a).min(of(*b)),
            BinaryOp::And => of(*a).max(of(*b)),
            BinaryOp::IMul => of(*a).saturating_add(of(*b)).min(ALL),
            BinaryOp::Shl => by(*b).map_or(0, |n| of(*a).saturating_add(n).min(ALL)),
            // Fewer bits than the operand has: a phi in progress would prove nothing here.
            BinaryOp::AShr | BinaryOp::LShr => by(*b).map_or(0, |n| {
                zero_bits(module, function, *a, &mut Vec::new(), (depth - 1).min(3))
                    .saturating_sub(n)
            }),
            _ => 0,
        },
        Op::Convert(ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Trunc, a, _) | Op::Copy(a) => {
            of(*a)
        }
        Op::Select {
            then, otherwise, ..
        } => of(*then).min(of(*otherwise)),
        Op::Phi(incoming) => {
            if open.contains(&v) {
                return ALL;
            }
            open.push(v);
            let least = incoming
                .iter()
                .map(|i| zero_bits(module, function, i.1, open, depth - 1))
                .min();
            open.pop();
            least.unwrap_or(0)
        }
        _ => 0,
    }
}
