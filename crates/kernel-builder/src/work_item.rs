//! Queries of a work-item about itself, in the staged code.

use spirv::{BuiltIn, MemorySemantics, Op, Scope};

use crate::builder::{Builder, Operand};
use crate::types::Type;

/// A question about the work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Its index in the whole range.
    Id,
    /// The range.
    Range,
    /// Its index in its work-group.
    LocalId,
    /// The range of a work-group.
    LocalRange,
    /// The index of its work-group.
    GroupId,
    /// The number of work-groups.
    GroupRange,
}

impl Builder {
    /// The answer in SYCL's order of dimensions: the last is the fastest, which Level Zero calls x. One dimension
    /// gives a number, several an array.
    pub fn query(&mut self, query: Query, dimensions: usize) -> Operand {
        let which = match query {
            Query::Id => BuiltIn::GlobalInvocationId,
            Query::Range => BuiltIn::GlobalSize,
            Query::LocalId => BuiltIn::LocalInvocationId,
            Query::LocalRange => BuiltIn::WorkgroupSize,
            Query::GroupId => BuiltIn::WorkgroupId,
            Query::GroupRange => BuiltIn::NumWorkgroups,
        };
        let size = self.module.int_type(64);
        let vector = self.module.vector_type(size, 3);
        let variable = self.module.built_in(which, vector);
        let all = self.emit_as(Op::Load, &Type::Unit, vector, &[variable]);
        let mut parts = Vec::new();
        for axis in (0..dimensions).rev() {
            let axis = u32::try_from(axis).unwrap_or(0);
            let part = self.emit(Op::CompositeExtract, &Type::SIZE, &[all, axis]);
            // Fewer work-items than half of 64 bits can count: a loop over them cannot wrap around.
            self.bounds.insert(part, u64::MAX >> 1);
            if matches!(query, Query::Range | Query::LocalRange | Query::GroupRange) {
                self.positive(part);
            }
            parts.push(self.small(Operand::Value(part)));
        }
        match parts[..] {
            [only] => only,
            _ => {
                let count = parts.len() as u64;
                self.compose(&Type::Array(Type::SIZE.into(), count), &parts)
            }
        }
    }

    /// Waits for the work-group; what it wrote to local and global memory is visible after it.
    pub fn barrier(&mut self) {
        let scope = self.module.integer(32, Scope::Workgroup as u64);
        let semantics = MemorySemantics::SEQUENTIALLY_CONSISTENT
            | MemorySemantics::WORKGROUP_MEMORY
            | MemorySemantics::CROSS_WORKGROUP_MEMORY;
        let semantics = self.module.integer(32, u64::from(semantics.bits()));
        self.effect(Op::ControlBarrier, vec![scope, scope, semantics]);
    }
}
