//! What functions answer when there is no one to ask.

use level_zero_sys::{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, ZE_RESULT_SUCCESS, ze_result_t};

/// The result type of a function: nearly always a code, for four functions a handle or a number.
pub(crate) trait Answer: Copy {
    /// What a tracer's prologue is given as the result.
    const NOTHING: Self;

    /// The function is not there.
    const UNSUPPORTED: Self;

    /// The answer of a call that failed with `code`.
    fn failed(code: ze_result_t) -> Self;

    /// The code, when the function answers with one.
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

/// Identifiers of devices: the greatest one means none.
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
