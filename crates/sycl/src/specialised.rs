//! Specialization constants in kernels in Rust.

use kernel_builder::{Builder, Constant, KernelType, Operand, Stage, Staged, Type};

use crate::bundle::{SpecId, SpecValue};

/// Returns a specialization constant: the value that the launch's group or the bundle has set, or else the default.
///
/// ```
/// const ROUNDS: sycl::SpecId<u32> = sycl::SpecId::new(0);
///
/// #[sycl::kernel]
/// fn grow(y: &mut [u32]) {
///     let i = sycl::item::<1>().id();
///     for _ in 0..sycl::spec_constant(ROUNDS, 3) {
///         y[i] *= 2;
///     }
/// }
/// // In a command group: cg.spec_const(ROUNDS, 5)?;
/// # let mut y = [1];
/// # sycl::kernel::for_each([1], || grow(&mut y));
/// # assert_eq!(y, [8]);
/// ```
///
/// On the host it is the default.
#[must_use]
pub fn spec_constant<T: SpecValue>(_id: SpecId<T>, default: T) -> T {
    default
}

#[doc(hidden)]
#[expect(
    non_camel_case_types,
    reason = "the staged form has the function's name"
)]
#[derive(Debug)]
pub enum spec_constant {}
impl spec_constant {
    #[doc(hidden)]
    pub fn __stage<T: SpecValue + Constant>(
        stage: &Stage,
        id: Staged<SpecId<T>>,
        default: Staged<T>,
    ) -> Staged<T> {
        stage.specialised(id, default)
    }
}

// In the staged code a specialization constant's name is its number.
impl<T: SpecValue> KernelType for SpecId<T> {
    type Plain = Self;
    fn describe() -> Type {
        Type::Int {
            bits: 32,
            signed: false,
        }
    }
    fn example() -> Self {
        Self::new(0)
    }
    fn copied(self, builder: &mut Builder) -> Operand {
        builder.integer(32, false, u64::from(self.number()))
    }
}
impl<T: SpecValue> Constant for SpecId<T> {}
