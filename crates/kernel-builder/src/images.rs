//! Images and samplers in the staged code.
//!
//! Outside of the image a read gives zeros and a write is left out, as in slices: OpenCL leaves their meaning open.

use spirv::{AccessQualifier, Capability, Dim, ImageFormat, Op};

use crate::builder::{Builder, Operand};
use crate::module::{Id, Module};
use crate::stage::{Stage, Staged};
use crate::types::Type;

impl Module {
    /// The type of an image that a kernel reads or writes.
    pub(crate) fn image_type(&mut self, dimensions: u32, writes: bool) -> Id {
        self.need(Capability::ImageBasic);
        let dim = match dimensions {
            1 => {
                self.need(Capability::Sampled1D);
                Dim::Dim1D
            }
            2 => Dim::Dim2D,
            _ => Dim::Dim3D,
        };
        let access = match writes {
            true => AccessQualifier::WriteOnly,
            false => AccessQualifier::ReadOnly,
        };
        let texel = self.type_id(&Type::Unit);
        let format = ImageFormat::Unknown as u32;
        // Neither depth nor arrayed nor of several samples; whether sampled is known at run time.
        let operands = [texel, dim as u32, 0, 0, 0, 0, format, access as u32];
        self.declare(Op::TypeImage, &operands)
    }

    pub(crate) fn sampler_type(&mut self) -> Id {
        self.declare(Op::TypeSampler, &[])
    }

    fn sampled_image_type(&mut self, image: Id) -> Id {
        self.declare(Op::TypeSampledImage, &[image])
    }
}

impl Builder {
    /// An image's id and number of dimensions.
    fn image(&mut self, image: Operand) -> Option<(Id, u32)> {
        let place = self.follow(image);
        let Operand::Value(id) = self.read(place) else {
            return None;
        };
        match self.type_of(id) {
            Type::Image { dimensions, .. } => Some((id, dimensions)),
            _ => None,
        }
    }

    /// A vector in the order x, y, z of parts in SYCL's order; one part is itself.
    fn x_first(&mut self, of: &Type, parts: &[Id]) -> Id {
        let reversed: Vec<Id> = parts.iter().rev().copied().collect();
        match reversed[..] {
            [only] => only,
            _ => {
                let ty = Type::Vector(of.clone().into(), reversed.len() as u32);
                self.emit(Op::CompositeConstruct, &ty, &reversed)
            }
        }
    }

    /// The extents in SYCL's order, as `usize`. OpenCL's environment has image queries without a capability of their own, and
    /// does not allow that of shaders.
    fn extents(&mut self, image: Id, dimensions: u32) -> Vec<Operand> {
        let narrow = Type::Int {
            bits: 32,
            signed: false,
        };
        let all = match dimensions {
            1 => narrow.clone(),
            count => Type::Vector(narrow.clone().into(), count),
        };
        let level = self.module.integer(32, 0);
        let size = self.emit(Op::ImageQuerySizeLod, &all, &[image, level]);
        let mut extents = Vec::new();
        for axis in (0..dimensions as usize).rev() {
            let extent = match dimensions {
                1 => Operand::Value(size),
                _ => self.part(size, axis, &narrow),
            };
            extents.push(self.cast(extent, &Type::SIZE));
        }
        extents
    }

    /// The position of a texel, as an instruction takes it, and the condition under which the image has it.
    fn texel(&mut self, image: Id, dimensions: u32, at: Operand) -> Option<(Id, Id)> {
        let at = self.array_elements(at, dimensions as usize, &Type::SIZE);
        let extents = self.extents(image, dimensions);
        let narrow = Type::Int {
            bits: 32,
            signed: false,
        };
        let (mut parts, mut condition) = (Vec::new(), None);
        for (at, extent) in at.into_iter().zip(extents) {
            let Operand::Value(inside) = self.compare(Op::ULessThan, at, extent) else {
                return None;
            };
            condition = Some(match condition {
                Some(outer) => self.emit(Op::LogicalAnd, &Type::Bool, &[outer, inside]),
                None => inside,
            });
            match self.cast(at, &narrow) {
                Operand::Value(id) => parts.push(id),
                _ => return None,
            }
        }
        Some((self.x_first(&narrow, &parts), condition?))
    }

    fn image_range(&mut self, image: Operand) -> Operand {
        let Some((image, dimensions)) = self.image(image) else {
            return Operand::Never;
        };
        let extents = self.extents(image, dimensions);
        let ty = Type::Array(Type::SIZE.into(), u64::from(dimensions));
        self.compose(&ty, &extents)
    }

    fn image_read(&mut self, image: Operand, at: Operand, texel: &Type) -> Operand {
        let Some((image, dimensions)) = self.image(image) else {
            return Operand::Never;
        };
        let Some((at, inside)) = self.texel(image, dimensions, at) else {
            return Operand::Never;
        };
        let read = self.values_where(inside, |builder| {
            vec![builder.value(Op::ImageRead, texel, &[image, at])]
        });
        read.first().copied().unwrap_or(Operand::Never)
    }

    fn image_write(&mut self, image: Operand, at: Operand, texel: Operand) -> Operand {
        let Some((image, dimensions)) = self.image(image) else {
            return Operand::Never;
        };
        let Some((at, inside)) = self.texel(image, dimensions, at) else {
            return Operand::Never;
        };
        let texel = self.follow(texel);
        if let Operand::Value(texel) = self.read(texel) {
            self.values_where(inside, |builder| {
                builder.effect(Op::ImageWrite, vec![image, at, texel]);
                Vec::new()
            });
        }
        Operand::Unit
    }

    fn image_sample(
        &mut self,
        image: Operand,
        sampler: Operand,
        at: Operand,
        texel: &Type,
    ) -> Operand {
        let Some((image, dimensions)) = self.image(image) else {
            return Operand::Never;
        };
        let sampler = self.follow(sampler);
        let Operand::Value(sampler) = self.read(sampler) else {
            return Operand::Never;
        };
        let single = Type::Float(32);
        let mut parts = Vec::new();
        for part in self.array_elements(at, dimensions as usize, &single) {
            match part {
                Operand::Value(id) => parts.push(id),
                _ => return Operand::Never,
            }
        }
        let at = self.x_first(&single, &parts);
        let of = self.module.type_id(&self.type_of(image));
        let both = self.module.sampled_image_type(of);
        let both = self.emit_as(Op::SampledImage, &Type::Unit, both, &[image, sampler]);
        let Operand::Value(level) = self.float(32, 0) else {
            return Operand::Never;
        };
        let lod = spirv::ImageOperands::LOD.bits();
        self.value(Op::ImageSampleExplicitLod, texel, &[both, at, lod, level])
    }
}

impl Stage {
    /// The extents of an image.
    pub fn image_range<const D: usize>(&self, image: Operand) -> Staged<[usize; D]> {
        self.operation(|builder| builder.image_range(image))
    }

    /// A texel of an image.
    pub fn image_read<T: crate::KernelType, const D: usize>(
        &self,
        image: Operand,
        at: Staged<[usize; D]>,
    ) -> Staged<T> {
        self.operation(|builder| builder.image_read(image, at.operand(), &T::describe()))
    }

    /// Sets a texel of an image.
    pub fn image_write<T, const D: usize>(
        &self,
        image: Operand,
        at: Staged<[usize; D]>,
        texel: Staged<T>,
    ) -> Staged<()> {
        self.operation(|builder| builder.image_write(image, at.operand(), texel.operand()))
    }

    /// A sample of an image.
    pub fn image_sample<S, T: crate::KernelType, const D: usize>(
        &self,
        image: Operand,
        sampler: Staged<S>,
        at: Staged<[f32; D]>,
    ) -> Staged<T> {
        self.operation(|builder| {
            builder.image_sample(image, sampler.operand(), at.operand(), &T::describe())
        })
    }
}
