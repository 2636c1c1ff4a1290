//! Constants made of other constants.

use super::fault::{Res, unsupported};
use super::table::Table;
use crate::{ConstId, Constant, Module, Type, TypeId};
use std::collections::HashMap;

/// Leaves of one composite constant, counting shared parts each time.
pub(super) const MAX_LEAVES: u64 = 1 << 22;

/// Leaves of each composite constant.
pub(super) type Leaves = HashMap<ConstId, u64>;

/// The context for computing constants: ids, and the module that holds the constants.
pub(super) struct Constants<'a> {
    pub(super) module: &'a mut Module,
    pub(super) table: &'a Table,
    pub(super) leaves: &'a mut Leaves,
}

impl Constants<'_> {
    /// A vector, array or struct constant of parts whose types fit.
    pub(super) fn composite(&mut self, ir: TypeId, parts: Vec<ConstId>) -> Res<ConstId> {
        let leaves = parts.iter().fold(0u64, |sum, part| {
            sum.saturating_add(self.leaves.get(part).copied().unwrap_or(1))
        });
        if leaves > MAX_LEAVES {
            return unsupported(format!(
                "a constant of {leaves} scalars; the largest has {MAX_LEAVES}"
            ));
        }
        let constant = self.module.constants.intern(ir, Constant::Composite(parts));
        self.leaves.insert(constant, leaves.max(1));
        Ok(constant)
    }
}

/// The canonical zero of type `ty`.
pub(super) fn null(types: &crate::Types, ty: TypeId) -> Constant {
    match types.get(ty) {
        Type::Bool => Constant::Bool(false),
        Type::Int(_) => Constant::Int(0),
        Type::Float(_) => Constant::Float(0),
        _ => Constant::Null,
    }
}
