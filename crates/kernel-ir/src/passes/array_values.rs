//! Whole private arrays are read and written element by element.
//!
//! ```text
//! store %a, [3 x f32] null       =>      store %a, f32 0
//!                                        %b = offset %a [4]
//!                                        store %b, f32 0
//!                                        ...
//! ```
//!
//! Back ends lay an array out by lane if all accesses have the size of its elements. Arrays whose indices are all known
//! have become values before.

use std::collections::{HashMap, HashSet};

use super::edit::{Edit, Replacements};
use super::slots::leaves;
use crate::ir::{InstId, Op, ValueId};
use crate::types::{Constant, Type, TypeId};

/// The accesses to one alloca.
#[derive(Default)]
struct Array {
    /// Sizes of the scalars and vectors that are read and written.
    sizes: HashSet<u64>,
    /// Loads and stores of whole arrays, and the sizes of their elements.
    whole: Vec<(InstId, u64)>,
}

/// Splits such accesses; returns whether there were any.
pub(super) fn split(e: &mut Edit<'_>) -> bool {
    let found = arrays(e);
    let of = |array: &Array| {
        let mut sizes = array
            .sizes
            .iter()
            .copied()
            .chain(array.whole.iter().map(|w| w.1));
        let first = sizes.next();
        let same = sizes.all(|size| Some(size) == first);
        // Without other accesses nothing says that elements matter.
        same && !array.sizes.is_empty()
    };
    let chosen = found.iter().filter(|array| of(array));
    let chosen: HashSet<InstId> = chosen
        .flat_map(|array| array.whole.iter().map(|w| w.0))
        .collect();
    if chosen.is_empty() {
        return false;
    }
    crate::mark!(ArrayValues);
    let mut replace = Replacements::new(e.f);
    for block in 0..e.f.blocks.len() {
        if !e.f.blocks[block]
            .insts
            .iter()
            .any(|inst| chosen.contains(inst))
        {
            continue;
        }
        let mut out = Vec::new();
        for inst in std::mem::take(&mut e.f.blocks[block].insts) {
            match chosen.contains(&inst) {
                true => split_access(e, inst, &mut replace, &mut out),
                false => out.push(inst),
            }
        }
        e.f.blocks[block].insts = out;
    }
    replace.apply(e.f);
    true
}

/// The size of the elements of an array of numbers that is not too long.
fn element_size(e: &Edit<'_>, ty: TypeId) -> Option<u64> {
    if !matches!(e.types.get(ty), Type::Array(..)) {
        return None;
    }
    let all = leaves(e, ty)?;
    let size = e.types.size_of(all.first()?.ty);
    all.iter()
        .all(|leaf| e.types.size_of(leaf.ty) == size)
        .then_some(size)
}

/// The allocas of a function, with what is accessed through addresses computed from them.
fn arrays(e: &Edit<'_>) -> Vec<Array> {
    let mut found: Vec<Array> = Vec::new();
    let mut of: HashMap<ValueId, usize> = HashMap::new();
    for block in e.f.reverse_post_order() {
        for &id in &e.f.blocks[block.index()].insts {
            let inst = &e.f.insts[id.index()];
            let (ptr, ty) = match (&inst.op, inst.result) {
                (Op::Alloca { .. }, Some(result)) => {
                    of.insert(result, found.len());
                    found.push(Array::default());
                    continue;
                }
                (Op::PtrOffset { ptr, .. }, Some(result)) => {
                    if let Some(&array) = of.get(ptr) {
                        of.insert(result, array);
                    }
                    continue;
                }
                (
                    Op::Load {
                        ptr,
                        volatile: false,
                        ..
                    },
                    Some(result),
                ) => (ptr, e.f.ty(result)),
                (
                    Op::Store {
                        ptr,
                        value,
                        volatile: false,
                        ..
                    },
                    _,
                ) => (ptr, e.f.ty(*value)),
                _ => continue,
            };
            let Some(array) = of.get(ptr).and_then(|&array| found.get_mut(array)) else {
                continue;
            };
            match element_size(e, ty) {
                Some(size) => array.whole.push((id, size)),
                None => {
                    array.sizes.insert(e.types.size_of(ty));
                }
            }
        }
    }
    found
}

/// Replaces a load or a store by those of its elements, which go to `out`.
fn split_access(e: &mut Edit<'_>, inst: InstId, replace: &mut Replacements, out: &mut Vec<InstId>) {
    let (op, result) = (
        e.f.insts[inst.index()].op.clone(),
        e.f.insts[inst.index()].result,
    );
    let word = e.f.insts[inst.index()].word;
    let (ptr, align, ty) = match (&op, result) {
        (Op::Load { ptr, align, .. }, Some(result)) => (*ptr, *align, e.f.ty(result)),
        (
            Op::Store {
                ptr, align, value, ..
            },
            _,
        ) => (*ptr, *align, e.f.ty(*value)),
        _ => return out.push(inst),
    };
    let to = e.f.ty(ptr);
    let mut parts = Vec::new();
    for leaf in leaves(e, ty).unwrap_or_default() {
        let mut emit = |e: &mut Edit<'_>, op, ty| {
            let (inst, value) = e.make(op, ty, word);
            out.push(inst);
            value
        };
        let at = match leaf.offset {
            0 => ptr,
            offset => {
                let op = Op::PtrOffset {
                    ptr,
                    index: None,
                    offset: offset.cast_signed(),
                };
                emit(e, op, to)
            }
        };
        let align = match leaf.offset {
            0 => align,
            offset => align.min(1 << offset.trailing_zeros()),
        };
        match op {
            Op::Store { value, .. } => {
                let part = match e.const_of(value).map(|c| e.constants.get(c)) {
                    Some(Constant::Null) => {
                        let zero = e.null(leaf.ty);
                        e.constant(zero)
                    }
                    _ => emit(e, Op::Extract(value, leaf.path.clone()), leaf.ty),
                };
                let store = Op::Store {
                    ptr: at,
                    value: part,
                    align,
                    volatile: false,
                };
                out.push(e.f.add_inst(store, None, word).0);
            }
            _ => {
                let load = Op::Load {
                    ptr: at,
                    align,
                    volatile: false,
                };
                parts.push(emit(e, load, leaf.ty));
            }
        }
    }
    if let (Op::Load { .. }, Some(result)) = (&op, result) {
        let whole = assemble(e, ty, &mut parts.into_iter(), word, out);
        replace.set(result, whole);
    }
}

/// An array from its elements in order.
fn assemble(
    e: &mut Edit<'_>,
    ty: TypeId,
    parts: &mut dyn Iterator<Item = ValueId>,
    word: u32,
    out: &mut Vec<InstId>,
) -> ValueId {
    let inner: Vec<TypeId> = match e.types.get(ty) {
        Type::Array(element, n) => vec![*element; *n as usize],
        Type::Struct { fields, .. } => fields.clone(),
        _ => {
            return match parts.next() {
                Some(part) => part,
                None => e.undef(ty),
            };
        }
    };
    let inner = inner
        .into_iter()
        .map(|ty| assemble(e, ty, parts, word, out))
        .collect();
    let (inst, value) = e.make(Op::Construct(inner), ty, word);
    out.push(inst);
    value
}
