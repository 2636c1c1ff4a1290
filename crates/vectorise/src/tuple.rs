//! Short vectors of each work-item (`float4`, `uchar4`): whole tuples are moved as integers or short vectors.

use kernel_ir::{Type, TypeId, Types};

/// A vector type whose components are adjacent, without gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuple {
    /// The type of a component: an integer or a float.
    pub element: TypeId,
    /// Components: 2 or 4.
    pub count: u32,
    /// Bytes of a component.
    pub size: u64,
}

impl Tuple {
    /// `ty` as a tuple, for `width` lanes; `None` if it is not one, or has more than 32 bytes.
    #[must_use]
    pub fn of(types: &Types, ty: TypeId, width: u32) -> Option<Self> {
        let Type::Vector(element, count @ (2 | 4)) = types.get(ty) else {
            return None;
        };
        let is_plain = matches!(types.get(*element), Type::Int(_) | Type::Float(_));
        let tuple = Self {
            element: *element,
            count: *count,
            size: types.size_of(*element),
        };
        let is_whole = width.is_multiple_of(*count) && tuple.bytes() == types.size_of(ty);
        (is_plain && is_whole && tuple.bytes() <= 32).then_some(tuple)
    }

    /// Bytes of all components.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.size * u64::from(self.count)
    }

    /// Whether one integer holds it.
    #[must_use]
    pub fn is_word(&self) -> bool {
        self.bytes() <= 8
    }
}

/// Whether elements of type `ty` in a row are scalars without gaps.
#[must_use]
pub fn is_row(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Vector(element, n) => {
            types.size_of(*element) * u64::from(*n) == types.size_of(ty)
                && !matches!(types.get(*element), Type::Bool)
                && *n <= 4
        }
        _ => types.scalar_of(ty).is_some(),
    }
}
