//! OpenCL.std: functions that access memory: vector loads and stores, halves, prefetch, printf.

use super::fault::{Res, invalid, unsupported};
use super::lower::Lower;
use crate::{Constant, ConvertOp, GlobalId, Op, Rounding, Type, TypeId, ValueDef, ValueId};
use spirv_reader::{OpenClStd as Cl, Operands};

/// Longest format string of a printf, in bytes.
const MAX_FORMAT: usize = 1 << 16;

impl Lower<'_, '_> {
    /// Lowers an instruction of this module and returns its result, if it has one; none for other instructions.
    pub(super) fn in_memory(
        &mut self,
        inst: Cl,
        ty: u32,
        operands: &mut Operands<'_>,
    ) -> Res<Option<Option<ValueId>>> {
        Ok(Some(match inst {
            Cl::Vloadn => Some(self.load_vector(ty, operands)?),
            Cl::Vstoren => {
                self.store_vector(operands)?;
                None
            }
            Cl::VloadHalf | Cl::VloadHalfn | Cl::VloadaHalfn => {
                Some(self.load_half(ty, operands, inst == Cl::VloadaHalfn)?)
            }
            Cl::VstoreHalf
            | Cl::VstoreHalfR
            | Cl::VstoreHalfn
            | Cl::VstoreHalfnR
            | Cl::VstoreaHalfn
            | Cl::VstoreaHalfnR => {
                self.store_half(inst, operands)?;
                None
            }
            Cl::Prefetch => None,
            Cl::Printf => Some(self.printf(operands)?),
            _ => return Ok(None),
        }))
    }

    /// `ptr` plus `index` vectors of `lanes` elements of `bytes` bytes.
    fn vector_address(&mut self, ptr: u32, index: u32, lanes: u32, bytes: u64) -> Res<ValueId> {
        let ptr = self.pointer(ptr)?;
        let index = self.value(index)?;
        let index = self.index(index)?;
        let stride = i64::from(lanes) * i64::try_from(bytes).unwrap_or(0);
        Ok(self.offset_by(ptr, index, stride))
    }

    /// A vector of three is accessed element by element: the last one of an array may have no padding.
    pub(super) fn load_lanes(&mut self, ptr: ValueId, ty: TypeId, align: u64) -> ValueId {
        match *self.module.types.get(ty) {
            Type::Vector(element, 3) => {
                let bytes = self.module.types.size_of(element) as i64;
                let lanes = (0..3)
                    .map(|lane| {
                        let at = self.offset(ptr, lane * bytes);
                        self.load(at, element, align)
                    })
                    .collect();
                self.join(lanes)
            }
            _ => self.load(ptr, ty, align),
        }
    }

    pub(super) fn store_lanes(&mut self, ptr: ValueId, value: ValueId, align: u64) {
        match *self.module.types.get(self.f.ty(value)) {
            Type::Vector(element, 3) => {
                let bytes = self.module.types.size_of(element) as i64;
                let lanes = self.lanes(value);
                for (i, lane) in lanes.into_iter().enumerate() {
                    let at = self.offset(ptr, i as i64 * bytes);
                    self.store(at, lane, align);
                }
            }
            _ => self.store(ptr, value, align),
        }
    }

    fn load_vector(&mut self, ty: u32, operands: &mut Operands<'_>) -> Res<ValueId> {
        let (index, ptr) = (operands.next()?, operands.next()?);
        let ir = self.value_type(ty)?;
        let Type::Vector(element, lanes) = *self.module.types.get(ir) else {
            return invalid("the result type is no vector");
        };
        let bytes = self.module.types.size_of(element);
        let at = self.vector_address(ptr, index, lanes, bytes)?;
        Ok(self.load_lanes(at, ir, bytes))
    }

    fn store_vector(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (data, index, ptr) = (operands.next()?, operands.next()?, operands.next()?);
        let data = self.value(data)?;
        let Type::Vector(element, lanes) = *self.module.types.get(self.f.ty(data)) else {
            return invalid("the data is no vector");
        };
        let bytes = self.module.types.size_of(element);
        let at = self.vector_address(ptr, index, lanes, bytes)?;
        self.store_lanes(at, data, bytes);
        Ok(())
    }

    fn load_half(&mut self, ty: u32, operands: &mut Operands<'_>, aligned: bool) -> Res<ValueId> {
        let (index, ptr) = (operands.next()?, operands.next()?);
        let ir = self.value_type(ty)?;
        let lanes = self.module.types.lane_count(ir);
        let half = self.shaped(ir, |types| types.float(16));
        let room = if aligned && lanes == 3 { 4 } else { lanes };
        let at = self.vector_address(ptr, index, room, 2)?;
        let halves = self.load_lanes(at, half, 2);
        if half == ir {
            return Ok(halves);
        }
        Ok(self.convert(ConvertOp::FToF, halves, ir))
    }

    fn store_half(&mut self, inst: Cl, operands: &mut Operands<'_>) -> Res<()> {
        let (data, index, ptr) = (operands.next()?, operands.next()?, operands.next()?);
        let rounding = match (inst, operands.maybe()) {
            (Cl::VstoreHalfR | Cl::VstoreHalfnR | Cl::VstoreaHalfnR, Some(mode)) => match mode {
                0 => Rounding::Rte,
                1 => Rounding::Rtz,
                2 => Rounding::Rtp,
                3 => Rounding::Rtn,
                _ => return invalid(format!("rounding mode {mode} does not exist")),
            },
            _ => Rounding::Default,
        };
        let data = self.value(data)?;
        self.float_bits(data)?;
        let lanes = self.lane_count(data);
        let half = self.like(data, |types| types.float(16));
        let aligned = matches!(inst, Cl::VstoreaHalfn | Cl::VstoreaHalfnR);
        let room = if aligned && lanes == 3 { 4 } else { lanes };
        let at = self.vector_address(ptr, index, room, 2)?;
        let halves = if self.f.ty(data) == half {
            data
        } else {
            self.emit(Op::Convert(ConvertOp::FToF, data, rounding), half)
        };
        self.store_lanes(at, halves, 2);
        Ok(())
    }

    fn printf(&mut self, operands: &mut Operands<'_>) -> Res<ValueId> {
        let format = operands.next()?;
        let format = self.value(format)?;
        let Some((global, offset)) = self.origin(format) else {
            return unsupported("a format that is no constant of the module");
        };
        let Some(text) = self.text_of(global, offset) else {
            return unsupported("a format that is no constant string");
        };
        let args = self.all(operands.rest())?;
        let known = self.module.printf_formats.iter().position(|f| *f == text);
        let index = known.unwrap_or_else(|| {
            self.module.printf_formats.push(text);
            self.module.printf_formats.len() - 1
        });
        let int = self.module.types.int(32);
        Ok(self.emit(Op::Printf(index as u32, args), int))
    }

    /// The variable that a pointer is derived from, and the offset in bytes.
    fn origin(&self, mut ptr: ValueId) -> Option<(GlobalId, i64)> {
        let mut offset = 0i64;
        // A bound on the steps from a pointer to its variable; format strings need few.
        for _ in 0..64 {
            match self.f.values.get(ptr.index())?.def {
                ValueDef::Global(global) => return Some((global, offset)),
                ValueDef::Const(constant) => {
                    return match *self.module.constants.get(constant) {
                        Constant::GlobalAddress(global, more) => {
                            Some((global, offset.wrapping_add(more)))
                        }
                        _ => None,
                    };
                }
                ValueDef::Inst(inst) => match self.f.insts.get(inst.index())?.op {
                    Op::PtrOffset {
                        ptr: base,
                        index: None,
                        offset: more,
                    } => {
                        offset = offset.wrapping_add(more);
                        ptr = base;
                    }
                    Op::Convert(ConvertOp::AddressSpace, base, _) | Op::Copy(base) => ptr = base,
                    _ => return None,
                },
                ValueDef::Param(_) => return None,
            }
        }
        None
    }

    /// The string in the initialiser of `global`, without its zero.
    fn text_of(&self, global: GlobalId, offset: i64) -> Option<Vec<u8>> {
        let init = self.module.globals.get(global.index())?.init?;
        let Constant::Composite(parts) = self.module.constants.get(init) else {
            // All zeros: the empty string.
            return matches!(self.module.constants.get(init), Constant::Null).then(Vec::new);
        };
        let mut text = Vec::new();
        for &part in parts.get(usize::try_from(offset).ok()?..)? {
            match *self.module.constants.get(part) {
                Constant::Int(0) => return Some(text),
                Constant::Int(byte) => text.push(byte as u8),
                _ => return None,
            }
            if text.len() > MAX_FORMAT {
                return None;
            }
        }
        Some(text)
    }
}
