//! Images and samplers: types, and lowering of instructions to calls of the routines of [`crate::image`].

use super::fault::{Res, invalid, unsupported};
use super::lower::{Lower, Signature};
use super::table::{Kind, Shape, Table};
use crate::image::{Addressing, record_offset, routines, sampler_word};
use crate::{
    AddressSpace, ConstId, Constant, ConvertOp, FunctionId, Module, Op, Type, TypeId, Types,
    ValueDef, ValueId,
};
use spirv::{Dim, Op as Spv};
use spirv_reader::Operands;

/// Image operands without effect on images of one level: Lod, sign or zero extension (known from the image), lifetime
/// hints.
const HARMLESS: u32 = 0x2 | 0x1000 | 0x2000 | 0x4000;

/// Also without effect when sampling: gradients, which select a level.
const GRADIENTS: u32 = 0x4;

/// The IR type of an image, a sampler or both, and its [`Kind`].
pub(super) fn declare(
    types: &mut Types,
    table: &Table,
    op: Spv,
    operands: &mut Operands<'_>,
) -> Res<(TypeId, Kind)> {
    let image = types.ptr(AddressSpace::Constant);
    let sampler = types.int(64);
    Ok(match op {
        Spv::TypeImage => {
            operands.next()?;
            let (dim, _depth) = (operands.next()?, operands.next()?);
            let (arrayed, samples) = (operands.next()? != 0, operands.next()?);
            let dimensions = match Dim::from_u32(dim) {
                Some(Dim::Dim1D | Dim::DimBuffer) => 1,
                Some(Dim::Dim2D) => 2,
                Some(Dim::Dim3D) => 3,
                Some(other) => return unsupported(format!("images of dimension {other:?}")),
                None => return invalid(format!("image dimension {dim} does not exist")),
            };
            if samples != 0 {
                return unsupported("images of several samples for each texel");
            }
            if arrayed && dimensions == 3 {
                return unsupported("arrays of images of three dimensions");
            }
            let shape = Shape {
                dimensions,
                layered: arrayed,
            };
            (image, Kind::Image(shape))
        }
        Spv::TypeSampler => (sampler, Kind::Sampler),
        _ => {
            let of = operands.next()?;
            let Kind::Image(shape) = table.ty(of)?.kind else {
                return invalid(format!("type %{of} is no image type"));
            };
            let both = Type::Struct {
                fields: vec![image, sampler],
                packed: false,
            };
            (types.intern(both), Kind::SampledImage(shape))
        }
    })
}

/// The word of a constant sampler.
pub(super) fn literal(operands: &mut Operands<'_>) -> Res<u64> {
    let (mode, normalised, filter) = (operands.next()?, operands.next()?, operands.next()?);
    let addressing = match mode {
        0 => Addressing::None,
        1 => Addressing::ClampToEdge,
        2 => Addressing::Clamp,
        3 => Addressing::Repeat,
        4 => Addressing::Mirror,
        _ => return invalid(format!("sampler addressing mode {mode} does not exist")),
    };
    if filter > 1 {
        return invalid(format!("sampler filter mode {filter} does not exist"));
    }
    Ok(sampler_word(addressing, normalised != 0, filter == 1))
}

/// A coordinate in the form that the routines expect.
struct Coordinates {
    x: ValueId,
    y: ValueId,
    z: ValueId,
}

impl Lower<'_, '_> {
    /// Lowers image instructions; false for others.
    pub(super) fn image(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<bool> {
        match op {
            Spv::SampledImage => {
                let (ty, id) = (operands.next()?, operands.next()?);
                let (image, sampler) = (operands.next()?, operands.next()?);
                self.shape(image)?;
                let (image, sampler) = (self.value(image)?, self.value(sampler)?);
                self.expect_sampler(sampler)?;
                let ir = self.value_type(ty)?;
                let value = self.emit(Op::Construct(vec![image, sampler]), ir);
                self.result(ty, id, value)?;
            }
            Spv::Image => {
                let (ty, id, both) = (operands.next()?, operands.next()?, operands.next()?);
                self.shape(both)?;
                let both = self.value(both)?;
                let value = self.extract(both, 0)?;
                self.result(ty, id, value)?;
            }
            Spv::ImageSampleExplicitLod => self.sample(operands)?,
            Spv::ImageRead | Spv::ImageFetch => self.read(operands)?,
            Spv::ImageWrite => self.write(operands)?,
            Spv::ImageQuerySize | Spv::ImageQuerySizeLod => self.query_size(operands)?,
            Spv::ImageQueryFormat => self.query(operands, Some(record_offset::DATA_TYPE))?,
            Spv::ImageQueryOrder => self.query(operands, Some(record_offset::ORDER))?,
            Spv::ImageQueryLevels | Spv::ImageQuerySamples => self.query(operands, None)?,
            Spv::ConvertHandleToImageINTEL
            | Spv::ConvertHandleToSamplerINTEL
            | Spv::ConvertHandleToSampledImageINTEL => self.bindless(op, operands)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The shape of image `image`, with or without a sampler.
    fn shape(&self, image: u32) -> Res<Shape> {
        match self.table.type_of(image)?.kind {
            Kind::Image(shape) | Kind::SampledImage(shape) => Ok(shape),
            _ => invalid(format!("id %{image} is no image")),
        }
    }

    fn expect_image(&self, image: ValueId) -> Res<()> {
        match *self.module.types.get(self.f.ty(image)) {
            Type::Ptr(AddressSpace::Constant) => Ok(()),
            _ => invalid("an operand is no image"),
        }
    }

    fn expect_sampler(&self, sampler: ValueId) -> Res<()> {
        match *self.module.types.get(self.f.ty(sampler)) {
            Type::Int(64) => Ok(()),
            _ => invalid("an operand is no sampler"),
        }
    }

    /// Refuses image operands other than the `harmless` ones.
    fn image_operands(&self, operands: &mut Operands<'_>, harmless: u32) -> Res<()> {
        match operands.maybe() {
            Some(mask) if mask & !harmless != 0 => unsupported(format!(
                "image operands {mask:#x}; those of {harmless:#x} are supported"
            )),
            _ => Ok(()),
        }
    }

    /// Coordinates of `scalar`s for an image of `shape`.
    fn coordinates(&mut self, shape: Shape, value: ValueId, scalar: TypeId) -> Res<Coordinates> {
        let lanes = self.lanes(value);
        let need = usize::from(shape.dimensions) + usize::from(shape.layered);
        if lanes.len() < need {
            return invalid(format!(
                "{} coordinates, this image takes {need}",
                lanes.len()
            ));
        }
        let mut parts = Vec::with_capacity(need);
        for lane in lanes.into_iter().take(need) {
            parts.push(self.coordinate(lane, scalar)?);
        }
        let zero = match self.module.types.get(scalar) {
            Type::Int(_) => self.int(32, 0),
            _ => self.float_of(scalar, 0.0),
        };
        let mut parts = parts.into_iter();
        let x = parts.next().unwrap_or(zero);
        let y = match shape.dimensions {
            1 => zero,
            _ => parts.next().unwrap_or(zero),
        };
        let z = parts.next().unwrap_or(zero);
        Ok(Coordinates { x, y, z })
    }

    /// One coordinate as `scalar`, an integer or float of 32 bits.
    fn coordinate(&mut self, lane: ValueId, scalar: TypeId) -> Res<ValueId> {
        let have = self.f.ty(lane);
        if have == scalar {
            return Ok(lane);
        }
        let from = self.module.types.get(have).clone();
        let op = match (from, self.module.types.get(scalar)) {
            (Type::Int(bits), Type::Int(_)) if bits < 32 => ConvertOp::SExt,
            (Type::Int(_), Type::Int(_)) => ConvertOp::SatSToS,
            (Type::Int(_), Type::Float(_)) => ConvertOp::SToF,
            (Type::Float(_), Type::Float(_)) => ConvertOp::FToF,
            _ => return invalid("a coordinate is neither integer nor float"),
        };
        Ok(self.convert(op, lane, scalar))
    }

    /// Whether texels of type `ty` are floats.
    fn texel_is_float(&self, ty: TypeId) -> Res<bool> {
        match self.scalar_of(ty) {
            Type::Float(16 | 32) => Ok(true),
            Type::Int(_) => Ok(false),
            _ => invalid("a texel is of floats of 16 or 32 bits, or of integers"),
        }
    }

    /// Converts the result of a routine to type `want`.
    fn texel(&mut self, value: ValueId, want: TypeId) -> Res<ValueId> {
        let lanes = self.module.types.lane_count(want);
        // Depth images have one component.
        let value = match lanes {
            4 => value,
            1 => self.extract(value, 0)?,
            _ => return invalid("a texel has four components, or one of a depth image"),
        };
        if self.f.ty(value) == want {
            return Ok(value);
        }
        let op = match self.scalar_of(want) {
            Type::Float(_) => ConvertOp::FToF,
            Type::Int(bits) if bits < 32 => ConvertOp::Trunc,
            _ => ConvertOp::SExt,
        };
        Ok(self.convert(op, value, want))
    }

    fn sample(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let (both, coordinate) = (operands.next()?, operands.next()?);
        self.image_operands(operands, HARMLESS | GRADIENTS)?;
        let Kind::SampledImage(shape) = self.table.type_of(both)?.kind else {
            return invalid(format!("id %{both} is no image with a sampler"));
        };
        let both = self.value(both)?;
        let parts = (self.extract(both, 0)?, self.extract(both, 1)?);
        let coordinate = self.value(coordinate)?;
        let want = self.value_type(ty)?;
        let value = self.sample_texel(shape, parts, coordinate, want)?;
        self.result(ty, id, value)
    }

    /// Samples an image.
    pub(super) fn sample_texel(
        &mut self,
        shape: Shape,
        (image, sampler): (ValueId, ValueId),
        coordinate: ValueId,
        want: TypeId,
    ) -> Res<ValueId> {
        self.expect_image(image)?;
        self.expect_sampler(sampler)?;
        let float = self.module.types.float(32);
        let at = self.coordinates(shape, coordinate, float)?;
        let is_whole = matches!(self.scalar(coordinate), Type::Int(_));
        let index = if is_whole {
            let int = self.module.types.int(32);
            self.coordinates(shape, coordinate, int)?
        } else {
            let zero = self.int(32, 0);
            Coordinates {
                x: zero,
                y: zero,
                z: zero,
            }
        };
        let name = if self.texel_is_float(want)? {
            "solum.image.sample_f"
        } else {
            "solum.image.sample_i"
        };
        let dimensions = self.int(32, u64::from(shape.dimensions));
        let whole = self.flag(is_whole);
        let layered = self.flag(shape.layered);
        let args = vec![
            image, sampler, at.x, at.y, at.z, index.x, index.y, index.z, whole, dimensions, layered,
        ];
        let value = self.routine_value(name, args)?;
        self.texel(value, want)
    }

    fn flag(&mut self, value: bool) -> ValueId {
        let bool = self.module.types.bool();
        let value = self.module.constants.intern(bool, Constant::Bool(value));
        self.constant(value)
    }

    fn read(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id) = (operands.next()?, operands.next()?);
        let (image, coordinate) = (operands.next()?, operands.next()?);
        self.image_operands(operands, HARMLESS)?;
        let shape = self.shape(image)?;
        let image = self.image_value(image)?;
        let coordinate = self.value(coordinate)?;
        let want = self.value_type(ty)?;
        let value = self.read_texel(shape, image, coordinate, want)?;
        self.result(ty, id, value)
    }

    /// Reads a texel at integer coordinates.
    pub(super) fn read_texel(
        &mut self,
        shape: Shape,
        image: ValueId,
        coordinate: ValueId,
        want: TypeId,
    ) -> Res<ValueId> {
        self.expect_image(image)?;
        let int = self.module.types.int(32);
        let at = self.coordinates(shape, coordinate, int)?;
        let name = if self.texel_is_float(want)? {
            "solum.image.read_f"
        } else {
            "solum.image.read_i"
        };
        let value = self.routine_value(name, vec![image, at.x, at.y, at.z])?;
        self.texel(value, want)
    }

    fn write(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (image, coordinate) = (operands.next()?, operands.next()?);
        let texel = operands.next()?;
        self.image_operands(operands, HARMLESS)?;
        let shape = self.shape(image)?;
        let image = self.image_value(image)?;
        let int = self.module.types.int(32);
        let coordinate = self.value(coordinate)?;
        let at = self.coordinates(shape, coordinate, int)?;
        let mut value = self.value(texel)?;
        let is_float = self.texel_is_float(self.f.ty(value))?;
        let scalar = if is_float {
            self.module.types.float(32)
        } else {
            self.module.types.int(32)
        };
        let vector = self.module.types.intern(Type::Vector(scalar, 4));
        match self.lane_count(value) {
            4 => {}
            1 => {
                let zero = if is_float {
                    let ty = self.f.ty(value);
                    self.float_of(ty, 0.0)
                } else {
                    let ty = self.f.ty(value);
                    self.int_of(ty, 0)
                };
                value = self.join(vec![value, zero, zero, zero]);
            }
            _ => return invalid("a texel has four components, or one of a depth image"),
        }
        if self.f.ty(value) != vector {
            let op = match self.scalar(value) {
                Type::Float(_) => ConvertOp::FToF,
                Type::Int(bits) if bits < 32 => ConvertOp::SExt,
                _ => ConvertOp::Trunc,
            };
            value = self.convert(op, value, vector);
        }
        let name = if is_float {
            "solum.image.write_f"
        } else {
            "solum.image.write_i"
        };
        let callee = self.routine(name)?;
        self.call_helper(callee, vec![image, at.x, at.y, at.z, value]);
        Ok(())
    }

    /// The image `id` without its sampler.
    fn image_value(&mut self, id: u32) -> Res<ValueId> {
        let both = matches!(self.table.type_of(id)?.kind, Kind::SampledImage(_));
        let value = self.value(id)?;
        if both {
            self.extract(value, 0)
        } else {
            Ok(value)
        }
    }

    fn query_size(&mut self, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, image) = (operands.next()?, operands.next()?, operands.next()?);
        let shape = self.shape(image)?;
        let image = self.image_value(image)?;
        let mut places = vec![record_offset::WIDTH];
        if shape.dimensions > 1 {
            places.push(record_offset::HEIGHT);
        }
        if shape.dimensions > 2 || shape.layered {
            places.push(record_offset::DEPTH);
        }
        let want = self.value_type(ty)?;
        let Type::Int(bits) = self.scalar_of(want) else {
            return invalid("sizes are integers");
        };
        if self.module.types.lane_count(want) as usize != places.len() {
            return invalid(format!("this image has {} sizes", places.len()));
        }
        let int = self.module.types.int(32);
        let mut sizes = Vec::with_capacity(places.len());
        for place in places {
            let at = self.offset(image, place);
            let size = self.load(at, int, 4);
            sizes.push(self.resize(size, 32, bits));
        }
        let value = self.join(sizes);
        self.result(ty, id, value)
    }

    /// The word at `place` of the record; without a place 1, the number of levels and samples.
    fn query(&mut self, operands: &mut Operands<'_>, place: Option<i64>) -> Res<()> {
        let (ty, id, image) = (operands.next()?, operands.next()?, operands.next()?);
        self.shape(image)?;
        let image = self.image_value(image)?;
        let want = self.value_type(ty)?;
        let value = match (place, self.module.types.get(want)) {
            (Some(place), _) => self.image_word(image, place, want)?,
            (None, &Type::Int(bits)) => self.int(bits, 1),
            _ => return invalid("the result is an integer"),
        };
        self.result(ty, id, value)
    }

    /// A word of an image's record.
    pub(super) fn image_word(&mut self, image: ValueId, place: i64, want: TypeId) -> Res<ValueId> {
        self.expect_image(image)?;
        let Type::Int(bits) = *self.module.types.get(want) else {
            return invalid("the result is an integer");
        };
        let int = self.module.types.int(32);
        let at = self.offset(image, place);
        let word = self.load(at, int, 4);
        Ok(self.resize(word, 32, bits))
    }

    /// Handles are as arguments hold them; a combined handle has its sampler in the record.
    fn bindless(&mut self, op: Spv, operands: &mut Operands<'_>) -> Res<()> {
        let (ty, id, handle) = (operands.next()?, operands.next()?, operands.next()?);
        let handle = self.value(handle)?;
        if *self.module.types.get(self.f.ty(handle)) != Type::Int(64) {
            return invalid("a handle is an integer of 64 bits");
        }
        let ir = self.value_type(ty)?;
        let image = self.module.types.ptr(AddressSpace::Constant);
        let kind = self.table.ty(ty)?.kind.clone();
        let value = match (op, kind) {
            (Spv::ConvertHandleToImageINTEL, Kind::Image(_)) => {
                self.convert(ConvertOp::IntToPtr, handle, image)
            }
            (Spv::ConvertHandleToSamplerINTEL, Kind::Sampler) => handle,
            (Spv::ConvertHandleToSampledImageINTEL, Kind::SampledImage(_)) => {
                let image = self.convert(ConvertOp::IntToPtr, handle, image);
                let at = self.offset(image, record_offset::SAMPLER);
                let int = self.module.types.int(64);
                let sampler = self.load(at, int, 8);
                self.emit(Op::Construct(vec![image, sampler]), ir)
            }
            _ => return invalid("the result type is not what this instruction makes"),
        };
        self.result(ty, id, value)
    }

    fn routine_value(&mut self, name: &str, args: Vec<ValueId>) -> Res<ValueId> {
        let callee = self.routine(name)?;
        match self.call_helper(callee, args) {
            Some(value) => Ok(value),
            None => invalid("an image routine without a result"),
        }
    }

    /// The routine `name`, added to the module at its first use.
    fn routine(&mut self, name: &str) -> Res<FunctionId> {
        if let Some(&id) = self.helpers.get(name) {
            return Ok(id);
        }
        let Some((from, source)) = routines().and_then(|from| {
            let source = from.functions.iter().find(|f| f.name == name)?;
            Some((from, source))
        }) else {
            return unsupported(format!("there is no routine {name:?}"));
        };
        let mut f = source.clone();
        let mut calls = Vec::new();
        for inst in &mut f.insts {
            if let Op::Call(callee, _) = &mut inst.op {
                let name = from.functions.get(callee.index()).map(|f| f.name.clone());
                // Routines do not recurse, so this ends.
                *callee = self.routine(&name.unwrap_or_default())?;
                calls.push((*callee, 0));
            }
        }
        for value in &mut f.values {
            value.ty = import_type(from, self.module, value.ty);
            if let ValueDef::Const(constant) = &mut value.def {
                *constant = import_constant(from, self.module, *constant);
            }
        }
        let void = self.module.types.void();
        let result = f
            .result
            .map_or(void, |ty| import_type(from, self.module, ty));
        f.result = Some(result);
        let params: Vec<TypeId> = f.params.iter().map(|&param| f.ty(param)).collect();
        let id = FunctionId(self.module.functions.len() as u32);
        self.signatures.push(Signature {
            result: Some(result),
            by_value: vec![None; params.len()],
            params,
            calls,
            ..Signature::default()
        });
        self.module.functions.push(f);
        self.helpers.insert(name.to_owned(), id);
        Ok(id)
    }
}

fn import_type(from: &Module, to: &mut Module, ty: TypeId) -> TypeId {
    let ty = match from.types.get(ty).clone() {
        Type::Vector(element, n) => Type::Vector(import_type(from, to, element), n),
        Type::Array(element, n) => Type::Array(import_type(from, to, element), n),
        Type::Struct { fields, packed } => Type::Struct {
            fields: fields
                .into_iter()
                .map(|field| import_type(from, to, field))
                .collect(),
            packed,
        },
        scalar => scalar,
    };
    to.types.intern(ty)
}

fn import_constant(from: &Module, to: &mut Module, constant: ConstId) -> ConstId {
    let ty = import_type(from, to, from.constants.ty(constant));
    let value = match from.constants.get(constant).clone() {
        Constant::Composite(parts) => Constant::Composite(
            parts
                .into_iter()
                .map(|part| import_constant(from, to, part))
                .collect(),
        ),
        scalar => scalar,
    };
    to.constants.intern(ty, value)
}
