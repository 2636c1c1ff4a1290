//! Block reads and writes of sub-groups: each work-item accesses its column of some rows, which are as wide as a sub-group.

use super::state::Instrument;
use crate::ir::{BinaryOp, Builtin, ConvertOp, Op, Touch, ValueId};
use crate::types::{Type, TypeId};

impl Instrument<'_> {
    /// Checks a block access through `ptr` of a value of this type.
    pub(super) fn check_block(&mut self, ptr: ValueId, value: TypeId, touch: Touch) {
        let (element, rows) = match *self.e.types.get(value) {
            Type::Vector(element, count) => (element, u64::from(count)),
            _ => (value, 1),
        };
        let bytes = self.e.types.size_of(element);
        let (word, half) = (self.e.types.int(64), self.e.types.int(32));
        let query = |all: &mut Self, what| {
            let value = all.emit(Op::WorkItem(what, 0), half);
            all.convert(ConvertOp::ZExt, value, word)
        };
        let column = query(self, Builtin::SubgroupLocalInvocationId);
        let width = query(self, Builtin::SubgroupMaxSize);
        let root = self.roots.of(ptr);
        let ty = self.e.f.ty(ptr);
        for row in 0..rows {
            let index = match row {
                0 => column,
                row => {
                    let row = self.e.int(64, row);
                    let start = self.binary(BinaryOp::IMul, width, row);
                    self.binary(BinaryOp::IAdd, start, column)
                }
            };
            let place = Op::PtrOffset {
                ptr,
                index: Some((index, bytes.cast_signed())),
                offset: 0,
            };
            let place = self.emit(place, ty);
            self.roots.derive(place, root);
            self.access(place, bytes, touch, None);
        }
    }
}
