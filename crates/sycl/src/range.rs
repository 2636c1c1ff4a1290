//! Index spaces of one to three dimensions, and the types that device memory can hold.

use kernel_builder::{Lanes, Vector, f16};

use crate::error::{Error, Result};

/// Sealed: only ranks 1 to 3 compile.
pub trait SupportedDim: sealed::Sealed {}

/// A rank, as a type.
#[derive(Clone, Copy, Debug)]
pub struct Dim<const D: usize>;

mod sealed {
    pub trait Sealed {}
}
impl sealed::Sealed for Dim<1> {}
impl sealed::Sealed for Dim<2> {}
impl sealed::Sealed for Dim<3> {}
impl SupportedDim for Dim<1> {}
impl SupportedDim for Dim<2> {}
impl SupportedDim for Dim<3> {}

/// Extents in each dimension. The last is the fastest in memory, as in SYCL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range<const D: usize>(pub [usize; D]);

/// An index in a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Id<const D: usize>(pub [usize; D]);

/// Global and local ranges of work-items.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NdRange<const D: usize> {
    /// All work-items.
    pub global: Range<D>,
    /// The work-items of one work-group; each extent divides the global one.
    pub local: Range<D>,
}

impl<const D: usize> Range<D> {
    /// Returns the number of indices; saturates.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.iter().fold(1, |size, &n| size.saturating_mul(n))
    }
}

impl<const D: usize> NdRange<D> {
    /// Creates an nd-range of work-groups of `local` work-items over `global`.
    pub fn new(global: impl Into<Range<D>>, local: impl Into<Range<D>>) -> Self {
        Self {
            global: global.into(),
            local: local.into(),
        }
    }
}

impl From<usize> for Range<1> {
    fn from(n: usize) -> Self {
        Self([n])
    }
}
impl<const D: usize> From<[usize; D]> for Range<D> {
    fn from(n: [usize; D]) -> Self {
        Self(n)
    }
}
impl From<usize> for Id<1> {
    fn from(n: usize) -> Self {
        Self([n])
    }
}
impl<const D: usize> From<[usize; D]> for Id<D> {
    fn from(n: [usize; D]) -> Self {
        Self(n)
    }
}

/// Three extents in SYCL's order; leading extents default to 1.
pub(crate) fn extents<const D: usize>(range: [usize; D]) -> [usize; 3] {
    padded(range, 1)
}

/// Three coordinates in SYCL's order; leading coordinates default to 0.
pub(crate) fn coordinates<const D: usize>(id: [usize; D]) -> [usize; 3] {
    padded(id, 0)
}

fn padded<const D: usize>(values: [usize; D], missing: usize) -> [usize; 3] {
    let mut all = [missing; 3];
    let shown = D.min(3);
    all[3 - shown..].copy_from_slice(&values[D - shown..]);
    all
}

/// Extents in Level Zero's order (x is the fastest), checked against its 32 bits.
pub(crate) fn to_xyz<const D: usize>(what: &str, range: Range<D>) -> Result<[u32; 3]> {
    let mut xyz = extents(range.0);
    xyz.reverse();
    let mut narrow = [0; 3];
    for axis in 0..3 {
        narrow[axis] = u32::try_from(xyz[axis]).map_err(|_| {
            Error::new(
                crate::Errc::NdRange,
                format!("{what} {:?}: an extent is above 2^32 - 1", range.0),
            )
        })?;
    }
    Ok(narrow)
}

/// Types that device memory can hold.
///
/// # Safety
/// Every bit pattern that a device can produce is a value of the type: no padding, no references or pointers that Rust
/// follows, no drop.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot live in device memory",
    note = "element types are numbers, arrays of them, and types for which you implement the unsafe trait `DeviceData`; store an enum as its number, because memory may hold one that is no variant"
)]
pub unsafe trait DeviceData: Copy + Send + Sync + 'static {}
macro_rules! device_data {
    ($($ty:ty)*) => { $(
        // SAFETY: a number has no padding, and every bit pattern is a value.
        unsafe impl DeviceData for $ty {}
    )* };
}
device_data!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f16 f32 f64);
// SAFETY: an array adds no padding to such values.
unsafe impl<T: DeviceData, const N: usize> DeviceData for [T; N] {}
// SAFETY: a vector's memory is its lanes, and a fourth one where it has three.
unsafe impl<T: DeviceData + Lanes<N>, const N: usize> DeviceData for Vector<T, N> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_turn_into_level_zeros_order() {
        assert_eq!(extents([5]), [1, 1, 5]);
        assert_eq!(extents([2, 3]), [1, 2, 3]);
        assert_eq!(coordinates([7]), [0, 0, 7]);
        assert_eq!(to_xyz("range", Range([2, 3, 4])).ok(), Some([4, 3, 2]));
        assert_eq!(to_xyz("range", Range([9])).ok(), Some([9, 1, 1]));
        let error = to_xyz("range", Range([1 << 32])).expect_err("too wide");
        assert_eq!(error.errc(), crate::Errc::NdRange);
    }
}
