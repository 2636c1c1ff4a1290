//! Accesses that are told as one: those of one source line to neighbouring places, such as the members of a structure that is
//! copied.
//!
//! ```text
//! %4: f32 = load %3 align 4                    told: 8 bytes at %3
//! %5: ptr<global> = offset %2 [%1 * 8 + 4]
//! %6: f32 = load %5 align 4                    told by the first
//! ```

use std::collections::{HashMap, HashSet};

use crate::ir::{Function, InstId, LineStarts, Op, ValueDef, ValueId};
use crate::types::Types;

/// Bytes that are told as one, at most: histories compare this many at a time.
const MOST_BYTES: u64 = 64;

/// How an access is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// With others behind it, so many bytes together.
    First(u64),
    /// By an earlier one.
    Told,
}

/// A load or store.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Member {
    is_store: bool,
    word: u32,
    base: ValueId,
    index: Option<(ValueId, i64)>,
    offset: i64,
    bytes: u64,
}

impl Member {
    fn is_of_one_access(&self, other: &Self, lines: &LineStarts) -> bool {
        (self.is_store, self.base, self.index) == (other.is_store, other.base, other.index)
            && lines.is_one_line(self.word, other.word)
    }
}

/// The loads and stores that are told together with others; all but those of `alone`.
pub(super) fn parts(
    types: &Types,
    f: &Function,
    lines: &LineStarts,
    alone: &HashSet<InstId>,
) -> HashMap<InstId, Part> {
    let mut parts = HashMap::new();
    for block in &f.blocks {
        let mut open: Vec<(InstId, Member)> = Vec::new();
        for &id in &block.insts {
            let op = &f.insts[id.index()].op;
            match member(types, f, id).filter(|_| !alone.contains(&id)) {
                Some(member) => open.push((id, member)),
                // These may order what is before them and what is behind them.
                None if !op.is_pure() => close(lines, &mut open, &mut parts),
                None => {}
            }
        }
        close(lines, &mut open, &mut parts);
    }
    parts
}

/// Unites accesses that nothing separates.
fn close(lines: &LineStarts, open: &mut Vec<(InstId, Member)>, parts: &mut HashMap<InstId, Part>) {
    while !open.is_empty() {
        let (first, member) = open.remove(0);
        let mut end = member.offset + member.bytes.cast_signed();
        let mut told = Vec::new();
        // Members follow each other in most structures, in whatever order they are accessed.
        loop {
            let next = open.iter().position(|(_, other)| {
                let bytes = (end - member.offset).cast_unsigned() + other.bytes;
                other.is_of_one_access(&member, lines) && other.offset == end && bytes <= MOST_BYTES
            });
            let Some(next) = next else { break };
            let (id, other) = open.remove(next);
            end += other.bytes.cast_signed();
            told.push(id);
        }
        if !told.is_empty() {
            let bytes = (end - member.offset).cast_unsigned();
            parts.insert(first, Part::First(bytes));
            parts.extend(told.into_iter().map(|id| (id, Part::Told)));
        }
    }
}

fn member(types: &Types, f: &Function, id: InstId) -> Option<Member> {
    let inst = &f.insts[id.index()];
    let (ptr, value) = match inst.op {
        Op::Load {
            ptr,
            volatile: false,
            ..
        } => (ptr, inst.result?),
        Op::Store {
            ptr,
            value,
            volatile: false,
            ..
        } => (ptr, value),
        _ => return None,
    };
    let def = match f.values[ptr.index()].def {
        ValueDef::Inst(def) => Some(&f.insts[def.index()].op),
        _ => None,
    };
    let (base, index, offset) = match def {
        Some(&Op::PtrOffset { ptr, index, offset }) => (ptr, index, offset),
        _ => (ptr, None, 0),
    };
    Some(Member {
        is_store: matches!(inst.op, Op::Store { .. }),
        word: inst.word,
        base,
        index,
        offset,
        bytes: types.unpadded_size_of(f.ty(value)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_of_one_line_as_far_as_the_module_says_so() {
        let starts = vec![(3, [1, 7]), (9, [1, 8]), (20, [1, 7]), (30, [2, 7])];
        let mut lines = LineStarts {
            starts,
            has_others: false,
        };
        for (a, b, expected) in [
            (4, 8, true),
            (4, 9, false),
            (4, 21, true),
            (21, 31, false),
            (1, 2, true),
            (1, 3, false),
        ] {
            assert_eq!(lines.is_one_line(a, b), expected, "{a} {b}");
        }
        lines.has_others = true;
        assert!(!lines.is_one_line(4, 8) && lines.is_one_line(4, 4));
        assert!(LineStarts::default().is_one_line(4, 8));
    }
}
