use super::fault::Res;
use super::lower::Lower;
use spirv::Op as Spv;
use spirv_reader::Operands;
impl Lower<'_, '_> {
    pub(super) fn grouped(&mut self, _op: Spv, _operands: &mut Operands<'_>) -> Res<bool> {
        Ok(false)
    }
}
