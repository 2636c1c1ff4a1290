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

use kernel_ir::index::IndexFacts;
use kernel_ir::{Function, Module, Op, ValueId};

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
        let facts = IndexFacts::new(module, function);
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
                let index = index.is_none_or(|(v, stride)| {
                    facts.zero_bits(v).saturating_add(stride.trailing_zeros()) >= zeros
                });
                index && offset.trailing_zeros() >= zeros
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
