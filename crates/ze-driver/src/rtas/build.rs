//! Builds: the client's descriptors as geometries, and the threads that join.

use super::{Form, geometry};
use crate::check::{enumeration, error, flags, lock, not_null};
use acceleration_structure::layout::FORMAT;
use acceleration_structure::{Build, Failure};
use level_zero_sys::*;
use std::sync::{Arc, Mutex};
use ze_abi::{ZeError, ZeResult, copied, with_room};

/// Bytes of scratch to ask for: the least, because the builder allocates its own memory.
const SCRATCH: usize = 64;

/// Addresses of the results.
#[derive(Clone, Copy)]
struct Results {
    bounds: *mut ze_rtas_aabb_ext_t,
    size: *mut usize,
}
// SAFETY: addresses of the client's, written under a lock by one of the threads that join.
unsafe impl Send for Results {}

/// A build that threads join.
pub(crate) struct Operation {
    build: Build<'static>,
    results: Mutex<Option<Results>>,
    form: Form,
}

impl Operation {
    /// Works until the structure is complete.
    pub(crate) fn join(&self) -> ZeResult {
        let made = self.build.join();
        if let Some(results) = lock(&self.results).take() {
            let size = match made {
                Ok(size) | Err(Failure::TooSmall(size)) => size,
                Err(Failure::TooMany | Failure::NoMemory(_)) => 0,
            };
            // SAFETY: null or the client's, valid until the build is over by the specification.
            if let Some(slot) = unsafe { results.size.as_mut() } {
                *slot = size;
            }
            // SAFETY: as above.
            if let (Ok(_), Some(slot)) = (made, unsafe { results.bounds.as_mut() }) {
                let bounds = self.build.bounds();
                let point = |[x, y, z]: [f32; 3]| ze_rtas_float3_ext_t { x, y, z };
                *slot = ze_rtas_aabb_ext_t {
                    lower: point(bounds.lower),
                    upper: point(bounds.upper),
                };
            }
        }
        match made {
            Ok(_) => Ok(()),
            Err(Failure::TooSmall(size)) => Err(ZeError::new(
                self.form.retry,
                format!("the structure needs {size} bytes, rtasBufferSizeBytes is smaller"),
            )),
            Err(Failure::TooMany) => error(
                ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                "the geometries have 2^28 primitives or more",
            ),
            Err(Failure::NoMemory(count)) => error(
                ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                format!("no memory for a build of {count} primitives"),
            ),
        }
    }

    /// The greatest number of threads with work.
    pub(crate) fn concurrency(&self) -> u32 {
        u32::try_from(self.build.concurrency()).unwrap_or(u32::MAX)
    }
}

/// The geometries of a descriptor, checked.
///
/// # Safety
/// The descriptor's pointers are null or valid as the specification says.
unsafe fn geometries(
    desc: &ze_rtas_builder_build_op_ext_desc_t,
) -> ZeResult<Vec<*const ze_rtas_builder_geometry_info_ext_t>> {
    if desc.rtasFormat.0 != FORMAT {
        return error(
            ZE_RESULT_ERROR_INVALID_ENUMERATION,
            format!(
                "pBuildOpDescriptor->rtasFormat is {:#x}, {FORMAT:#x} is built",
                desc.rtasFormat.0
            ),
        );
    }
    enumeration(
        "pBuildOpDescriptor->buildQuality",
        desc.buildQuality.0,
        ZE_RTAS_BUILDER_BUILD_QUALITY_HINT_EXT_HIGH.0,
    )?;
    flags("pBuildOpDescriptor->buildFlags", desc.buildFlags, 3)?;
    if desc.numGeometries == 0 {
        return Ok(Vec::new());
    }
    not_null("pBuildOpDescriptor->ppGeometries", desc.ppGeometries)?;
    // SAFETY: not null; as many pointers as the count.
    unsafe {
        copied(
            "pBuildOpDescriptor->ppGeometries",
            desc.ppGeometries,
            desc.numGeometries as usize,
        )
    }
}

/// Buffer sizes of a build in bytes.
///
/// # Safety
/// As for [`geometries`].
pub(crate) unsafe fn sizes(
    desc: &ze_rtas_builder_build_op_ext_desc_t,
) -> ZeResult<(usize, usize, usize)> {
    // SAFETY: this function's contract.
    let list = unsafe { geometries(desc) }?;
    let mut primitives = 0_usize;
    for info in &list {
        // SAFETY: null or a geometry of the type that it names.
        primitives = primitives.saturating_add(unsafe { geometry::count(*info) }?);
    }
    let (expected, most) = Build::sizes(primitives, list.len());
    Ok((expected, most, SCRATCH))
}

/// The arguments of a build, without the descriptor.
pub(crate) struct Target {
    pub(crate) scratch: *mut std::ffi::c_void,
    pub(crate) scratch_size: usize,
    pub(crate) buffer: *mut std::ffi::c_void,
    pub(crate) size: usize,
    pub(crate) user: *mut std::ffi::c_void,
    pub(crate) bounds: *mut ze_rtas_aabb_ext_t,
    pub(crate) out_size: *mut usize,
}

/// Prepares a build.
///
/// # Safety
/// As for [`geometries`]; the target is the client's, valid until the build is over.
pub(crate) unsafe fn prepare(
    desc: &ze_rtas_builder_build_op_ext_desc_t,
    target: &Target,
    form: Form,
) -> ZeResult<Arc<Operation>> {
    not_null("pScratchBuffer", target.scratch)?;
    not_null("pRtasBuffer", target.buffer)?;
    if target.scratch_size < SCRATCH {
        return error(
            ZE_RESULT_ERROR_INVALID_SIZE,
            format!(
                "scratchBufferSizeBytes is {}, at least {SCRATCH} is required",
                target.scratch_size
            ),
        );
    }
    // SAFETY: this function's contract.
    let list = unsafe { geometries(desc) }?;
    let mut made = with_room("pBuildOpDescriptor->ppGeometries", list.len())?;
    for info in list {
        // SAFETY: null or a geometry of the type that it names, valid until the build is over.
        made.push(unsafe { geometry::read(info, target.user, form) }?);
    }
    // SAFETY: not null; the client's buffer of that size, which only the build uses until it is over.
    let out = unsafe { std::slice::from_raw_parts_mut(target.buffer.cast::<u8>(), target.size) };
    Ok(Arc::new(Operation {
        build: Build::new(made, out),
        results: Mutex::new(Some(Results {
            bounds: target.bounds,
            size: target.out_size,
        })),
        form,
    }))
}
