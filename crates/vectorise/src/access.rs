//! How the lanes of a region access memory.
//!
//! | class | `float` in 8 lanes |
//! |---|---|
//! | uniform | one scalar access |
//! | contiguous | one vector access of 32 bytes |
//! | reversed | the same, and a shuffle |
//! | interleaved | vector accesses that cover all lanes' elements, and shuffles |
//! | piecewise | one vector access for each piece, where a test finds the pieces contiguous |
//! | gather | the processor's gather or scatter |
//! | scalarised | one access for each lane |

use kernel_ir::passes::shape::MAX_NEAR_STRIDE;
use kernel_ir::{BlockId, Transform, Type, TypeId, ValueId};

use crate::input::Input;
use crate::plan::Plan;
use crate::region::Region;
use crate::representation::{Chunk, Representation, Representations};
use crate::sub_groups::Rows;
use crate::tuple::{Tuple, is_row};

/// Lanes below which gathers and scatters are no faster than one access for each lane. In four lanes, gathers of 32 and
/// 64 bits took 1.65 times as long as an access for each lane (2026-11, AMD EPYC of Zen 4, whose gathers are slow; not
/// measured on processors with fast gathers).
const FEWEST_GATHERED: u32 = 8;

/// The class of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// All lanes access one address: one scalar access. A store writes the last lane's value.
    Uniform,
    /// The lanes' elements follow each other in memory: one vector access.
    Contiguous {
        /// Whether that holds only if a test at run time says so; otherwise the access is scattered.
        tested: bool,
    },
    /// The lanes' elements follow each other in memory, last lane first: one vector access and a shuffle.
    Reversed,
    /// The lanes' elements are that many elements apart: a few vector accesses and shuffles.
    Interleaved(i64),
    /// Contiguous in pieces of that many lanes if a test at run time says so; otherwise scalarised.
    Piecewise(u32),
    /// The processor's gather or scatter.
    Gather,
    /// One access for each lane.
    Scalarised {
        /// Whether the accesses are a loop over the lanes: less code, for masked chunks.
        in_loop: bool,
    },
}

/// A region's accesses.
pub struct Accesses<'a> {
    /// The kernel and the processor.
    pub input: &'a Input<'a>,
    /// The kernel's plan.
    pub plan: &'a Plan,
    /// The region.
    pub region: &'a Region,
    /// How its values are held.
    pub held: &'a Representations,
    /// Lanes.
    pub width: u32,
    /// The kind of chunk.
    pub chunk: Chunk,
}

impl Accesses<'_> {
    /// The class of a load of type `ty` in `block`. `masked`: only some lanes run.
    #[must_use]
    pub fn load(&self, ptr: ValueId, ty: TypeId, block: BlockId, masked: bool) -> Access {
        if let Some(class) = self.direct(ptr, ty, block, masked) {
            return class;
        }
        match self.element_step(ptr, ty, block, masked) {
            Some(-1) => Access::Reversed,
            Some(step) if self.is_short(step) => Access::Interleaved(step),
            _ => self.scattered_load(ty, block),
        }
    }

    /// The class of a load from scattered addresses.
    #[must_use]
    pub fn scattered_load(&self, ty: TypeId, block: BlockId) -> Access {
        let types = &self.input.module.types;
        if self.chunk == Chunk::Masked {
            return match self.piece(ty, block) {
                Some(lanes) => Access::Piecewise(lanes),
                None => Access::Scalarised { in_loop: true },
            };
        }
        let is_gathered = match Tuple::of(types, ty, self.width) {
            Some(tuple) => self.is_gathered(tuple.bytes()),
            None => self.is_gathered_scalar(ty),
        };
        match is_gathered {
            true => Access::Gather,
            false => Access::Scalarised { in_loop: false },
        }
    }

    /// The class of a store of type `ty` in `block`, if no group writes it ([`StoreGroup`](crate::StoreGroup)).
    /// `masked`: only some lanes run.
    #[must_use]
    pub fn store(&self, ptr: ValueId, ty: TypeId, block: BlockId, masked: bool) -> Access {
        if let Some(class) = self.direct(ptr, ty, block, masked) {
            return class;
        }
        match self.element_step(ptr, ty, block, masked) {
            Some(-1) => Access::Reversed,
            _ => self.scattered_store(ty, masked),
        }
    }

    /// The class of a store to scattered addresses.
    #[must_use]
    pub fn scattered_store(&self, ty: TypeId, masked: bool) -> Access {
        let types = &self.input.module.types;
        let tuple = Tuple::of(types, ty, self.width);
        let mut scalars = Vec::new();
        types.scalars(ty, 0, &mut scalars);
        if self.chunk == Chunk::Masked || (masked && tuple.is_none() && scalars.len() != 1) {
            return Access::Scalarised { in_loop: true };
        }
        let is_gathered = tuple.is_some_and(|tuple| self.is_gathered(tuple.bytes()));
        match is_gathered || self.is_gathered_scalar(ty) {
            true => Access::Gather,
            false => Access::Scalarised { in_loop: false },
        }
    }

    /// Whether a masked access of all lanes' elements of type `ty` is one instruction.
    #[must_use]
    pub fn has_masked(&self, ty: TypeId) -> bool {
        let types = &self.input.module.types;
        self.input.target.has_masked(types, ty)
            || Tuple::of(types, ty, self.width)
                .is_some_and(|tuple| tuple.is_word() && matches!(types.size_of(ty), 4 | 8))
    }

    /// The class of a uniform or contiguous access; `None` for others.
    fn direct(&self, ptr: ValueId, ty: TypeId, block: BlockId, masked: bool) -> Option<Access> {
        let types = &self.input.module.types;
        match self.held.at(self.region, ptr, block) {
            Representation::Uniform => Some(Access::Uniform),
            Representation::Affine { step, tested }
                if u64::try_from(step) == Ok(types.size_of(ty)) && is_row(types, ty) =>
            {
                let tested = tested || (masked && !self.has_masked(ty));
                Some(Access::Contiguous { tested })
            }
            _ => None,
        }
    }

    /// Elements from one lane's address to the next, for scalars where all lanes run and no test is needed.
    pub(crate) fn element_step(
        &self,
        ptr: ValueId,
        ty: TypeId,
        block: BlockId,
        masked: bool,
    ) -> Option<i64> {
        let types = &self.input.module.types;
        let size = types.size_of(ty).cast_signed();
        let Representation::Affine {
            step,
            tested: false,
        } = self.held.at(self.region, ptr, block)
        else {
            return None;
        };
        let is_scalar = types.scalar_of(ty) == Some(ty) && matches!(size, 1 | 2 | 4 | 8);
        if masked || self.chunk == Chunk::Masked || !is_scalar || step % size != 0 {
            return None;
        }
        Some(step / size)
    }

    /// Whether vector accesses and shuffles are fewer instructions than one load for each lane.
    fn is_short(&self, step: i64) -> bool {
        let distance = step.unsigned_abs();
        let is_used = self.input.module.uses(Transform::InterleavedLoads);
        match step {
            0 | 1 => false,
            _ if !is_used => false,
            _ if self.input.target.has_mask_registers => distance <= MAX_NEAR_STRIDE,
            _ => distance <= 4 || (!distance.is_multiple_of(2) && distance <= 7),
        }
    }

    fn is_gathered(&self, bytes: u64) -> bool {
        self.input.module.uses(Transform::Gathers)
            && self.input.target.has_fast_gathers
            && self.chunk != Chunk::Masked
            && self.width >= FEWEST_GATHERED
            && matches!(bytes, 4 | 8)
    }

    fn is_gathered_scalar(&self, ty: TypeId) -> bool {
        let types = &self.input.module.types;
        let is_scalar = matches!(types.get(ty), Type::Int(_) | Type::Float(_));
        is_scalar && self.is_gathered(types.size_of(ty))
    }

    /// Lanes whose elements fill a register, where a test for contiguous pieces pays: in loops of code for rows of any
    /// length. Two kernels of our own, a maximum and a sum of squares over rows of 8 work-items, took 2.8 and 3.4 times as
    /// long without it on x86-64-v3; on x86-64-v4, whose register holds two such rows, the tests find no piece and cost 2 %
    /// and 22 % (2026-11, AMD EPYC of Zen 4, two processors).
    fn piece(&self, ty: TypeId, block: BlockId) -> Option<u32> {
        let types = &self.input.module.types;
        let is_broken = self.plan.sub_groups == Some(Rows::Broken);
        let in_loop = self.region.loops.innermost(block).is_some();
        let is_used = self.input.module.uses(Transform::Pieces);
        if !is_used || !is_broken || !in_loop || !is_row(types, ty) {
            return None;
        }
        let (size, register) = (types.size_of(ty), self.input.target.register_bytes);
        if !size.is_power_of_two() || 2 * size > register {
            return None;
        }
        let lanes = u32::try_from(register / size).ok()?;
        Some(lanes.min(self.width))
    }
}
