//! Functions of OpenCL C that clang's SPIR-V back end leaves as imports, under their mangled names.
//! `tests/opencl_c/builtins.py` finds them.

use super::fault::{Res, invalid};
use super::lower::Lower;
use super::table::Shape;
use crate::image::record_offset;
use crate::{
    AddressSpace, AtomicOp, BinaryOp, GroupOp, GroupScope, Op, Order, Reduction, Scope, Type,
    TypeId, UnaryOp, ValueId,
};

/// The functions, for docs/spirv.md; braces list alternatives, which the tests expand.
pub(super) const NAMES: &[&str] = &[
    "{atomic,atom}_{add,sub,inc,dec,xchg,cmpxchg,min,max,and,or,xor}",
    "atomic_fetch_{add,sub,min,max,and,or,xor}{,_explicit}",
    "{,read_,write_}mem_fence",
    "get_fence",
    "sub_group_barrier",
    "get_image_channel_{data_type,order}",
    "read_imageh",
    "intel_sub_group_broadcast",
    "intel_sub_group_{reduce,scan_exclusive,scan_inclusive}_{add,min,max}",
    "intel_sub_group_block_prefetch_{uc,us,ui,ul}{,2,4,8,16}",
];

/// The meaning of a name.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// `mem_fence` and similar.
    Fence(Order),
    /// `sub_group_barrier`.
    SubGroupBarrier,
    /// `get_fence`.
    FenceOf,
    Atomic(Atomic),
    /// Offset of a word in an image's record, and the difference between OpenCL C's and SPIR-V's number in it.
    ImageWord(i64, u64),
    /// `read_imageh`.
    ReadImage(Shape),
    /// A sub-group operation.
    Group(GroupOp),
    Prefetch,
}

#[derive(Clone, Copy)]
pub(super) struct Atomic {
    op: AtomicOp,
    /// Number of values after the pointer.
    operands: usize,
    /// Float subtraction: adds the negated operand.
    negate: bool,
    order: Ordered,
}

/// The source of an atomic function's memory order.
#[derive(Clone, Copy)]
enum Ordered {
    Always(Order),
    /// The operand after the values.
    ByOperand,
}

/// Name and parameters of a function, mangled by the Itanium C++ ABI.
fn unmangled(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (length, rest) = rest.split_at(digits);
    rest.split_at_checked(length.parse().ok()?)
}

pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let (name, parameters) = unmangled(name)?;
    Some(match name {
        "mem_fence" => Meaning::Fence(Order::AcquireRelease),
        "read_mem_fence" => Meaning::Fence(Order::Acquire),
        "write_mem_fence" => Meaning::Fence(Order::Release),
        "get_fence" => Meaning::FenceOf,
        "sub_group_barrier" => Meaning::SubGroupBarrier,
        "get_image_channel_data_type" => Meaning::ImageWord(record_offset::DATA_TYPE, 0x10d0),
        "get_image_channel_order" => Meaning::ImageWord(record_offset::ORDER, 0x10b0),
        "read_imageh" => Meaning::ReadImage(shape(parameters)?),
        "intel_sub_group_broadcast" => Meaning::Group(GroupOp::Broadcast),
        _ if name.starts_with("intel_sub_group_block_prefetch_") => Meaning::Prefetch,
        _ if name.starts_with("intel_sub_group_") => Meaning::Group(group(name, parameters)?),
        _ => Meaning::Atomic(atomic(name, number(parameters)?)?),
    })
}

/// The pointee of a pointer parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Signed,
    Unsigned,
    Float,
}

/// The pointee type of the first of `parameters`, a pointer: `PU3AS1Vj`, `PU3AS4VU7_Atomicf`.
fn number(parameters: &str) -> Option<Number> {
    let rest = parameters.strip_prefix('P')?;
    let rest = rest.strip_prefix("U3AS").map_or(rest, |rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    let rest = rest.trim_start_matches(['V', 'K']);
    scalar(rest.strip_prefix("U7_Atomic").unwrap_or(rest))
}

/// The type of the first of `parameters`.
fn scalar(parameters: &str) -> Option<Number> {
    Some(match parameters.as_bytes() {
        [b'c' | b's' | b'i' | b'l', ..] => Number::Signed,
        [b'h' | b't' | b'j' | b'm', ..] => Number::Unsigned,
        [b'f' | b'd', ..] | [b'D', b'h', ..] => Number::Float,
        _ => return None,
    })
}

/// `intel_sub_group_reduce_add` and similar.
fn group(name: &str, parameters: &str) -> Option<GroupOp> {
    let (kind, operation) = name.strip_prefix("intel_sub_group_")?.rsplit_once('_')?;
    let reduction = match (operation, scalar(parameters)?) {
        ("add", Number::Float) => Reduction::FAdd,
        ("min", Number::Float) => Reduction::FMin,
        ("max", Number::Float) => Reduction::FMax,
        ("add", _) => Reduction::IAdd,
        ("min", Number::Signed) => Reduction::SMin,
        ("max", Number::Signed) => Reduction::SMax,
        ("min", _) => Reduction::UMin,
        ("max", _) => Reduction::UMax,
        _ => return None,
    };
    Some(match kind {
        "reduce" => GroupOp::Reduce(reduction),
        "scan_exclusive" => GroupOp::ExclusiveScan(reduction),
        "scan_inclusive" => GroupOp::InclusiveScan(reduction),
        _ => return None,
    })
}

fn atomic(name: &str, number: Number) -> Option<Atomic> {
    use AtomicOp as A;
    use Number::{Float, Signed};
    let (name, order) = if let Some(rest) = name.strip_prefix("atomic_fetch_") {
        match rest.strip_suffix("_explicit") {
            Some(rest) => (rest, Ordered::ByOperand),
            None => (rest, Ordered::Always(Order::SequentiallyConsistent)),
        }
    } else {
        let rest = name
            .strip_prefix("atomic_")
            .or_else(|| name.strip_prefix("atom_"))?;
        (rest, Ordered::Always(Order::Relaxed))
    };
    let (op, operands) = match (name, number) {
        ("xchg", _) => (A::Exchange, 1),
        ("add" | "sub", Float) => (A::FAdd, 1),
        ("min", Float) => (A::FMin, 1),
        ("max", Float) => (A::FMax, 1),
        (_, Float) => return None,
        ("inc", _) => (A::IAdd, 0),
        ("dec", _) => (A::ISub, 0),
        ("add", _) => (A::IAdd, 1),
        ("sub", _) => (A::ISub, 1),
        ("min", Signed) => (A::SMin, 1),
        ("max", Signed) => (A::SMax, 1),
        ("min", _) => (A::UMin, 1),
        ("max", _) => (A::UMax, 1),
        ("and", _) => (A::And, 1),
        ("or", _) => (A::Or, 1),
        ("xor", _) => (A::Xor, 1),
        ("cmpxchg", _) => (A::CompareExchange, 2),
        _ => return None,
    };
    Some(Atomic {
        op,
        operands,
        negate: (name, number) == ("sub", Float),
        order,
    })
}

/// The shape of the first of `parameters`, an image: `20ocl_image2d_array_ro`.
fn shape(parameters: &str) -> Option<Shape> {
    let at = parameters.find("ocl_image")?;
    let rest = parameters.get(at + "ocl_image".len()..)?;
    let (dimensions, rest) = rest.split_at_checked(1)?;
    Some(Shape {
        dimensions: dimensions.parse().ok().filter(|d| (1..=3).contains(d))?,
        layered: rest.starts_with("d_array"),
    })
}

impl Lower<'_, '_> {
    /// Lowers a call of a function of OpenCL C.
    pub(super) fn opencl_c(
        &mut self,
        meaning: Meaning,
        args: &[ValueId],
        result: TypeId,
    ) -> Res<Option<ValueId>> {
        Ok(Some(match (meaning, args) {
            (Meaning::Fence(order), _) => {
                self.emit_void(Op::Fence(Scope::Device, order));
                return Ok(None);
            }
            (Meaning::SubGroupBarrier, _) => {
                self.emit_void(Op::Fence(Scope::Workgroup, Order::AcquireRelease));
                self.emit_void(Op::Barrier(Scope::Subgroup));
                return Ok(None);
            }
            (Meaning::FenceOf, &[ptr]) => self.fence_of(ptr, result)?,
            (Meaning::Atomic(atomic), &[ptr, ref rest @ ..]) => {
                self.atomic_function(atomic, ptr, rest, result)?
            }
            (Meaning::ImageWord(place, first), &[image]) => {
                let number = self.image_word(image, place, result)?;
                let first = self.int_of(result, first);
                self.binary(BinaryOp::IAdd, number, first)
            }
            (Meaning::ReadImage(shape), &[image, at]) => {
                self.read_texel(shape, image, at, result)?
            }
            (Meaning::ReadImage(shape), &[image, sampler, at]) => {
                self.sample_texel(shape, (image, sampler), at, result)?
            }
            (Meaning::Group(op @ GroupOp::Broadcast), &[value, lane]) => {
                let args = vec![value, self.lane_number(lane)?];
                self.emit(Op::Group(op, GroupScope::Subgroup, args), result)
            }
            (Meaning::Group(op), &[value]) => {
                self.emit(Op::Group(op, GroupScope::Subgroup, vec![value]), result)
            }
            (Meaning::Prefetch, _) => return Ok(None),
            _ => return invalid(format!("{} arguments are too few or too many", args.len())),
        }))
    }

    /// `CLK_LOCAL_MEM_FENCE` of a pointer to local memory, else `CLK_GLOBAL_MEM_FENCE`.
    fn fence_of(&mut self, ptr: ValueId, result: TypeId) -> Res<ValueId> {
        let Type::Int(bits) = *self.module.types.get(result) else {
            return invalid("the result is an integer");
        };
        let (local, global) = (self.int(bits, 1), self.int(bits, 2));
        match *self.module.types.get(self.f.ty(ptr)) {
            Type::Ptr(AddressSpace::Generic) => {
                let bool = self.module.types.bool();
                let is_local = self.emit(Op::GenericIs(ptr, AddressSpace::Local), bool);
                Ok(self.select(is_local, local, global))
            }
            Type::Ptr(AddressSpace::Local) => Ok(local),
            Type::Ptr(_) => Ok(global),
            _ => invalid("the argument is no pointer"),
        }
    }

    fn atomic_function(
        &mut self,
        atomic: Atomic,
        ptr: ValueId,
        rest: &[ValueId],
        result: TypeId,
    ) -> Res<ValueId> {
        let Some((operands, rest)) = rest.split_at_checked(atomic.operands) else {
            return invalid("an operand is missing");
        };
        let order = match atomic.order {
            Ordered::Always(order) => order,
            // C's memory orders; consume counts as acquire.
            Ordered::ByOperand => match rest.first().and_then(|&order| self.known(order)) {
                Some(0) => Order::Relaxed,
                Some(1 | 2) => Order::Acquire,
                Some(3) => Order::Release,
                Some(4) => Order::AcquireRelease,
                _ => Order::SequentiallyConsistent,
            },
        };
        let (comparator, value) = match *operands {
            [] => (None, self.int_of(result, 1)),
            [value] if atomic.negate => (None, self.unary(UnaryOp::FNeg, value)),
            [value] => (None, value),
            [expected, value, ..] => (Some(expected), value),
        };
        let operands = (Some(value), comparator);
        Ok(self.update(atomic.op, ptr, operands, order, result))
    }
}

#[cfg(test)]
mod tests {
    use super::super::imports::expanded;
    use super::{Meaning, meaning};
    use crate::AtomicOp as A;

    #[test]
    fn every_name_of_the_list_is_known() {
        let names: Vec<String> = super::NAMES
            .iter()
            .flat_map(|name| expanded(name))
            .collect();
        assert!(names.len() > 30);
        for name in names {
            let parameters = match name.as_str() {
                _ if name.contains("image") => "14ocl_image2d_roDv2_i",
                _ if name.starts_with("intel_") => "c",
                _ => "PU3AS1Vii",
            };
            let mangled = format!("_Z{}{name}{parameters}", name.len());
            assert!(meaning(&mangled).is_some(), "{mangled}");
        }
    }

    #[test]
    fn names_have_the_meaning_of_their_first_parameter() {
        let op = |name: &str| match meaning(name) {
            Some(Meaning::Atomic(atomic)) => Some((atomic.op, atomic.operands)),
            _ => None,
        };
        for (name, want) in [
            ("_Z10atomic_minPU3AS1Vii", Some((A::SMin, 1))),
            ("_Z10atomic_minPU3AS3Vjj", Some((A::UMin, 1))),
            ("_Z10atomic_minPU3AS1Vff", Some((A::FMin, 1))),
            ("_Z8atom_maxPU3AS1Vll", Some((A::SMax, 1))),
            ("_Z8atom_incPU3AS1Vm", Some((A::IAdd, 0))),
            ("_Z10atomic_decPVi", Some((A::ISub, 0))),
            (
                "_Z14atomic_cmpxchgPU3AS1Vjjj",
                Some((A::CompareExchange, 2)),
            ),
            (
                "_Z16atomic_fetch_maxPU3AS4VU7_AtomicDhDh",
                Some((A::FMax, 1)),
            ),
            (
                "_Z25atomic_fetch_min_explicitPU3AS4VU7_Atomicmm12memory_order12memory_scope",
                Some((A::UMin, 1)),
            ),
            ("_Z10atomic_incPU3AS1Vf", None),
            ("_Z26intel_sub_group_reduce_mulc", None),
            ("_Z10atomic_minPU3AS1VDv2_ii", None),
            ("_Z10atomic_mini", None),
            ("_Z10atomic_min", None),
            ("_Z99atomic_minPi", None),
            ("atomic_min", None),
            ("_Z", None),
        ] {
            assert_eq!(op(name), want, "{name}");
        }
        for (name, want) in [
            (
                "_Z11read_imageh14ocl_image1d_ro11ocl_samplerf",
                Some((1, false)),
            ),
            (
                "_Z11read_imageh20ocl_image2d_array_roDv4_i",
                Some((2, true)),
            ),
            ("_Z11read_imageh21ocl_image1d_buffer_roi", Some((1, false))),
            ("_Z11read_imageh14ocl_image3d_rwDv4_i", Some((3, false))),
            ("_Z11read_imageh14ocl_image4d_rwDv4_i", None),
            ("_Z11read_imagehi", None),
        ] {
            let shape = match meaning(name) {
                Some(Meaning::ReadImage(shape)) => Some((shape.dimensions, shape.layered)),
                _ => None,
            };
            assert_eq!(shape, want, "{name}");
        }
    }
}
