use super::fault::{Res, unsupported};
use super::lower::Lower;
use crate::{TypeId, ValueId};
pub(super) fn known(_name: &str) -> bool { false }
impl Lower<'_, '_> {
    pub(super) fn named(&mut self, name: &str, _args: Vec<ValueId>, _result: TypeId) -> Res<Option<ValueId>> {
        unsupported(name)
    }
}
