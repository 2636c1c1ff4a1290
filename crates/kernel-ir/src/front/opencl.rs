use super::fault::{Res, unsupported};
use super::lower::Lower;
use crate::ValueId;
use spirv_reader::{OpenClStd, Operands};
impl Lower<'_, '_> {
    pub(super) fn opencl(&mut self, inst: OpenClStd, _ty: u32, _id: u32, _operands: &mut Operands<'_>) -> Res<Option<ValueId>> {
        unsupported(format!("{}", inst.name()))
    }
}
