//! How an operation whose result is a vector is performed.
//!
//! ```text
//! x[i] + y[i]        vectors        one instruction for each register
//! k[i] / n[i]        divided        integers, divided as vectors of doubles
//! (short2) k[i]      recast         the components change their size: shuffles
//! f(x[i])            scalarised     the scalar form in a loop over the active lanes
//! ```

use kernel_ir::{BinaryOp, ConvertOp, Op, Transform, Type, ValueId};

use crate::input::Input;
use crate::region::Region;

/// The class of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Vector instructions, one or more for each scalar of the result.
    Vectors,
    /// A division of integers of that many bits, by doubles.
    Divided(u32),
    /// A bit cast between components of different sizes.
    Recast(Recast),
    /// The scalar form, one lane after another.
    Scalarised,
}

/// A bit cast between numbers of different sizes, as from `uchar4` to `uint`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recast {
    /// Bits of a component of the operand.
    pub from: u32,
    /// Bits of a component of the result.
    pub to: u32,
}

impl Operation {
    /// The class of `op`, which makes `result`. Loads, atomics and operations of groups have classes of their own.
    #[must_use]
    pub fn of(input: &Input<'_>, region: &Region, op: &Op, result: ValueId) -> Self {
        let function = &region.function;
        let leaves = |v: ValueId| {
            let mut all = Vec::new();
            let types = &input.module.types;
            types.scalars(function.ty(v), 0, &mut all);
            all
        };
        match op {
            &Op::Binary(op, a, b, _) => match divided(input, region, op, [a, b]) {
                Some(bits) => Self::Divided(bits),
                None => Self::Vectors,
            },
            Op::Convert(op, a, _) => {
                let (from, to) = (leaves(*a), leaves(result));
                let recast = match op {
                    ConvertOp::Bitcast => Recast::of(input, &from, &to),
                    _ => None,
                };
                match recast {
                    Some(recast) => Self::Recast(recast),
                    None if from.len() == to.len() => Self::Vectors,
                    None => Self::Scalarised,
                }
            }
            Op::Unary(..)
            | Op::Compare(..)
            | Op::Select { .. }
            | Op::Math(..)
            | Op::Construct(_)
            | Op::Extract(..)
            | Op::Insert(..)
            | Op::ExtractDynamic(..)
            | Op::InsertDynamic(..)
            | Op::Shuffle(..)
            | Op::PtrOffset { .. }
            | Op::Copy(_) => Self::Vectors,
            _ => Self::Scalarised,
        }
    }
}

impl Recast {
    /// How a bit cast changes the size of components; `None` if it does not, or if they are no numbers of one type.
    fn of(
        input: &Input<'_>,
        from: &[(kernel_ir::TypeId, u64)],
        to: &[(kernel_ir::TypeId, u64)],
    ) -> Option<Self> {
        let types = &input.module.types;
        let bits = |leaves: &[(kernel_ir::TypeId, u64)]| {
            let &(first, _) = leaves.first()?;
            let plain = matches!(types.get(first), Type::Int(_) | Type::Float(_));
            let alike = plain && leaves.iter().all(|&(ty, _)| ty == first);
            let bits = u32::try_from(types.size_of(first) * 8).ok()?;
            alike.then_some((bits, bits.checked_mul(u32::try_from(leaves.len()).ok()?)?))
        };
        let ((from, all), (to, same)) = (bits(from)?, bits(to)?);
        (from != to && all == same).then_some(Self { from, to })
    }
}

/// The bits of the integers of a division, if doubles are faster.
fn divided(input: &Input<'_>, region: &Region, op: BinaryOp, [a, b]: [ValueId; 2]) -> Option<u32> {
    use BinaryOp as B;
    let module = input.module;
    let &Type::Int(bits) = module.types.get(region.function.ty(a)) else {
        return None;
    };
    // LLVM turns divisions by constants into multiplications.
    let is_constant = module.known_signed(&region.function, b).is_some();
    let is_division = matches!(op, B::UDiv | B::URem | B::SDiv | B::SRem);
    let is_used = is_division && module.uses(Transform::Division);
    let is_long = matches!(bits, 32 | 64);
    (is_used && !is_constant && is_long).then_some(u32::from(bits))
}
