//! Return values of functions when there is no driver to call.

use level_zero_sys::{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS, ze_result_t};

/// The return type of a function: a result code, except for four functions that return a handle or a number.
pub(crate) trait Answer: Copy {
    /// The result that a tracer's prologue sees.
    const NOTHING: Self;

    /// Returned by a missing function.
    const UNSUPPORTED: Self;

    /// Returned by a call that failed with `code`.
    fn failed(code: ze_result_t) -> Self;

    /// The code, for functions that return one.
    fn code(self) -> Option<ze_result_t>;
}

impl Answer for ze_result_t {
    const NOTHING: Self = ZE_RESULT_SUCCESS;
    const UNSUPPORTED: Self = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;

    fn failed(code: ze_result_t) -> Self {
        code
    }

    fn code(self) -> Option<ze_result_t> {
        Some(self)
    }
}

impl<T> Answer for *mut T {
    const NOTHING: Self = std::ptr::null_mut();
    const UNSUPPORTED: Self = std::ptr::null_mut();

    fn failed(_: ze_result_t) -> Self {
        std::ptr::null_mut()
    }

    fn code(self) -> Option<ze_result_t> {
        None
    }
}

/// Device identifiers: the greatest one means none.
impl Answer for u32 {
    const NOTHING: Self = 0;
    const UNSUPPORTED: Self = u32::MAX;

    fn failed(_: ze_result_t) -> Self {
        u32::MAX
    }

    fn code(self) -> Option<ze_result_t> {
        None
    }
}
