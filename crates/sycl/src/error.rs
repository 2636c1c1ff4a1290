//! SYCL's error codes, and the error type.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use level_zero::sys::*;

/// The enumerators of `sycl::errc` (SYCL 2020, 4.13.2) except `success`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Errc {
    /// The runtime or the backend failed.
    Runtime,
    /// A kernel failed.
    Kernel,
    /// An accessor was used wrongly.
    Accessor,
    /// An nd-range that the kernel or device cannot run.
    NdRange,
    /// An event was used wrongly.
    Event,
    /// An argument that does not match the kernel's parameter in number, size or kind.
    KernelArgument,
    /// Building or linking a program failed.
    Build,
    /// A value that is not allowed here.
    Invalid,
    /// Allocating memory failed.
    MemoryAllocation,
    /// The platform does not exist.
    Platform,
    /// Profiling information is not available.
    Profiling,
    /// The device lacks the feature.
    FeatureNotSupported,
    /// The device cannot run the kernel.
    KernelNotSupported,
    /// An object belongs to another backend.
    BackendMismatch,
}

/// An error and its cause. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    errc: Errc,
    backend: Option<ze_result_t>,
    message: Cow<'static, str>,
    cause: Option<Error>,
}

/// The result of fallible functions of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Receives asynchronous errors, SYCL's `exception_list`.
pub type AsyncHandler = dyn Fn(&[Error]) + Send + Sync + 'static;

impl Error {
    /// Creates an error of this crate or of a host task.
    pub fn new(errc: Errc, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Arc::new(Inner {
            errc,
            backend: None,
            message: message.into(),
            cause: None,
        }))
    }

    pub(crate) fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Errc::Invalid, message)
    }

    pub(crate) fn backend(code: ze_result_t, message: String) -> Self {
        Self(Arc::new(Inner {
            errc: errc_of(code),
            backend: Some(code),
            message: message.into(),
            cause: None,
        }))
    }

    /// An error that follows from `cause`.
    pub(crate) fn because(message: impl Into<Cow<'static, str>>, cause: &Self) -> Self {
        Self(Arc::new(Inner {
            errc: Errc::Runtime,
            backend: cause.0.backend,
            message: message.into(),
            cause: Some(cause.first().clone()),
        }))
    }

    /// The same error with another code.
    pub(crate) fn with_code(self, errc: Errc) -> Self {
        Self(Arc::new(Inner {
            errc,
            backend: self.0.backend,
            message: self.0.message.clone(),
            cause: self.0.cause.clone(),
        }))
    }

    fn first(&self) -> &Self {
        self.0.cause.as_ref().unwrap_or(self)
    }

    /// Returns SYCL's code.
    #[must_use]
    pub fn errc(&self) -> Errc {
        self.0.errc
    }

    /// Returns the code of the failed Level Zero call, if one failed.
    #[must_use]
    pub fn backend_code(&self) -> Option<ze_result_t> {
        self.0.backend
    }

    /// Returns the cause: the error of the work that this work depended on.
    #[must_use]
    pub fn cause(&self) -> Option<&Self> {
        self.0.cause.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match &self.0.cause {
            Some(cause) => write!(f, ": {cause}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<level_zero::Error> for Error {
    fn from(error: level_zero::Error) -> Self {
        match error.code() {
            Some(code) => Self::backend(code, error.to_string()),
            None => Self::new(Errc::Runtime, error.to_string()),
        }
    }
}

impl From<sycl_graph::GridError> for Error {
    fn from(error: sycl_graph::GridError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// Maps a backend's code to SYCL's.
fn errc_of(code: ze_result_t) -> Errc {
    match code {
        ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY | ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY => {
            Errc::MemoryAllocation
        }
        ZE_RESULT_ERROR_MODULE_BUILD_FAILURE
        | ZE_RESULT_ERROR_MODULE_LINK_FAILURE
        | ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED => Errc::Build,
        ZE_RESULT_ERROR_INVALID_KERNEL_NAME => Errc::Invalid,
        ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION
        | ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION => Errc::NdRange,
        ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX
        | ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE => Errc::KernelArgument,
        ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
        | ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT
        | ZE_RESULT_ERROR_UNSUPPORTED_SIZE => Errc::FeatureNotSupported,
        _ => Errc::Runtime,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_mapped_and_causes_are_the_first() {
        let (memory, group) = (Errc::MemoryAllocation, Errc::NdRange);
        let (argument, feature) = (Errc::KernelArgument, Errc::FeatureNotSupported);
        for (code, errc) in [
            (ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, memory),
            (ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, memory),
            (ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, Errc::Build),
            (ZE_RESULT_ERROR_MODULE_LINK_FAILURE, Errc::Build),
            (ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, Errc::Build),
            (ZE_RESULT_ERROR_INVALID_KERNEL_NAME, Errc::Invalid),
            (ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, group),
            (ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, group),
            (ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, argument),
            (ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, argument),
            (ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, feature),
            (ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, feature),
            (ZE_RESULT_ERROR_UNSUPPORTED_SIZE, feature),
            (ZE_RESULT_ERROR_DEVICE_LOST, Errc::Runtime),
            (ZE_RESULT_ERROR_UNKNOWN, Errc::Runtime),
        ] {
            let error = Error::backend(code, "it failed".to_owned());
            assert_eq!((error.errc(), error.backend_code()), (errc, Some(code)));
        }
        let first = Error::new(Errc::Invalid, "the first");
        let third = Error::because("the third", &Error::because("the second", &first));
        assert!(
            third
                .cause()
                .is_some_and(|cause| Arc::ptr_eq(&cause.0, &first.0))
        );
        assert_eq!(third.to_string(), "the third: the first");
    }
}
