//! The entry points of both forms.

use super::Form;
use super::build::{Operation, Target, prepare, sizes};
use crate::check::{error, lock};
use crate::core::dependencies::Dependencies;
use crate::core::driver::Driver;
use crate::core::event::Event;
use crate::core::list::CommandList;
use crate::core::object;
use crate::device::Work;
use crate::dispatch;
use crate::schedule::Op;
use acceleration_structure::layout;
use level_zero_sys::*;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use ze_abi::{Handle, Handles, Head, In, Object, OptHandle, OutHandle, Prop, ZeError, ZeResult};
use ze_abi_macros::ze_entry;

/// The state of a parallel operation.
#[derive(Default)]
enum Bound {
    #[default]
    Nothing,
    Building(Arc<Operation>),
    /// Code and text of the last build, for threads that join late.
    Over(Result<(), (ze_result_t, String)>),
}

fn bind(slot: &Mutex<Bound>, operation: Arc<Operation>) -> ZeResult {
    let mut bound = lock(slot);
    if matches!(*bound, Bound::Building(_)) {
        return error(
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE,
            "hParallelOperation is in use by another build; join that until it ends",
        );
    }
    *bound = Bound::Building(operation);
    Ok(())
}

fn unbound<T>() -> ZeResult<T> {
    error(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        "hParallelOperation is bound to no build: call the build function with it first",
    )
}

fn concurrency(slot: &Mutex<Bound>) -> ZeResult<u32> {
    match &*lock(slot) {
        Bound::Building(operation) => Ok(operation.concurrency()),
        _ => unbound(),
    }
}

fn join(slot: &Mutex<Bound>) -> ZeResult {
    let operation = match &*lock(slot) {
        Bound::Nothing => return unbound(),
        Bound::Building(operation) => Arc::clone(operation),
        Bound::Over(Ok(())) => return Ok(()),
        Bound::Over(Err((code, text))) => return error(*code, text.clone()),
    };
    let made = operation.join();
    let mut bound = lock(slot);
    // Unbinds the build, unless another joiner did so and the operation is bound again.
    if matches!(&*bound, Bound::Building(now) if Arc::ptr_eq(now, &operation)) {
        let told = match &made {
            Ok(()) => Ok(()),
            Err(e) => Err((e.code(), e.text().to_owned())),
        };
        *bound = Bound::Over(told);
    }
    made
}

macro_rules! form {
    (
        $form:ident, $retry:ident, $deferred:ident, $incompatible:ident, $callback:ident,
        $Builder:ident($builder_opaque:ident, $builder_tag:literal),
        $Parallel:ident($parallel_opaque:ident, $parallel_tag:literal),
        $desc:ident, $properties:ident, $parallel_properties:ident, $op_desc:ident, $aabb:ident, $format:ident,
        #[ze_entry($create_pfn:ident)] $create:ident;
        #[ze_entry($sizes_pfn:ident)] $get_sizes:ident;
        #[ze_entry($check_pfn:ident)] $check:ident;
        #[ze_entry($build_pfn:ident)] $build:ident;
        #[ze_entry($destroy_pfn:ident)] $destroy:ident;
        #[ze_entry($parallel_create_pfn:ident)] $parallel_create:ident;
        #[ze_entry($parallel_get_pfn:ident)] $parallel_get:ident;
        #[ze_entry($parallel_join_pfn:ident)] $parallel_join:ident;
        #[ze_entry($parallel_destroy_pfn:ident)] $parallel_destroy:ident;
    ) => {
        const $form: Form = Form {
            retry: $retry,
            deferred: $deferred,
            incompatible: $incompatible,
            callback: $callback,
        };

        /// A builder: it has no state.
        #[repr(C)]
        pub(crate) struct $Builder {
            head: Head,
        }
        object!(
            $Builder,
            $builder_opaque,
            $builder_tag,
            "acceleration structure builder"
        );

        /// A parallel operation.
        #[repr(C)]
        pub(crate) struct $Parallel {
            head: Head,
            bound: Mutex<Bound>,
        }
        object!(
            $Parallel,
            $parallel_opaque,
            $parallel_tag,
            "parallel operation"
        );

        const _: () = assert!(
            size_of::<$op_desc>() == size_of::<ze_rtas_builder_build_op_ext_desc_t>()
                && size_of::<$aabb>() == size_of::<ze_rtas_aabb_ext_t>()
        );

        /// A builder; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($create_pfn)]
        pub(crate) fn $create(
            _hDriver: Handle<'_, Driver>,
            pDescriptor: In<'_, $desc>,
            phBuilder: OutHandle<'_, $builder_opaque>,
        ) -> ZeResult {
            let version = pDescriptor.builderVersion.0;
            if version != 0x1_0000 {
                return error(
                    ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
                    format!("pDescriptor->builderVersion is {version:#x}, 0x10000 is supported"),
                );
            }
            phBuilder.write(Object::give(Arc::new($Builder {
                head: Head::new::<$Builder>(dispatch::tables()),
            })));
            Ok(())
        }

        /// Sizes of buffers; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($sizes_pfn)]
        pub(crate) fn $get_sizes(
            _hBuilder: Handle<'_, $Builder>,
            pBuildOpDescriptor: In<'_, $op_desc>,
            mut pProperties: Prop<'_, $properties>,
        ) -> ZeResult {
            let desc = std::ptr::from_ref(&*pBuildOpDescriptor).cast();
            // SAFETY: the forms' layouts are one (asserted above in size); the client's pointers.
            let (expected, most, scratch) = unsafe { sizes(&*desc) }?;
            pProperties.flags = 0;
            pProperties.rtasBufferSizeBytesExpected = expected;
            pProperties.rtasBufferSizeBytesMaxRequired = most;
            pProperties.scratchBufferSizeBytes = scratch;
            Ok(())
        }

        /// Only equal formats are compatible; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($check_pfn)]
        pub(crate) fn $check(
            _hDriver: Handle<'_, Driver>,
            rtasFormatA: $format,
            rtasFormatB: $format,
        ) -> ZeResult {
            for (name, format) in [("rtasFormatA", rtasFormatA), ("rtasFormatB", rtasFormatB)] {
                crate::check::enumeration(name, format.0, 0x7fff_fffe)?;
            }
            if rtasFormatA == rtasFormatB && rtasFormatA.0 == layout::FORMAT {
                return Ok(());
            }
            Err(ZeError::status($form.incompatible))
        }

        /// Builds on this thread, or by those that join the parallel operation; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($build_pfn)]
        pub(crate) fn $build(
            _hBuilder: Handle<'_, $Builder>,
            pBuildOpDescriptor: In<'_, $op_desc>,
            pScratchBuffer: *mut c_void,
            scratchBufferSizeBytes: usize,
            pRtasBuffer: *mut c_void,
            rtasBufferSizeBytes: usize,
            hParallelOperation: OptHandle<'_, $Parallel>,
            pBuildUserPtr: *mut c_void,
            pBounds: *mut $aabb,
            pRtasBufferSizeBytes: *mut usize,
        ) -> ZeResult {
            let desc = std::ptr::from_ref(&*pBuildOpDescriptor).cast();
            let target = Target {
                scratch: pScratchBuffer,
                scratch_size: scratchBufferSizeBytes,
                buffer: pRtasBuffer,
                size: rtasBufferSizeBytes,
                user: pBuildUserPtr,
                bounds: pBounds.cast(),
                out_size: pRtasBufferSizeBytes,
            };
            // SAFETY: as above; the client's buffers, valid until the build is over.
            let operation = unsafe { prepare(&*desc, &target, $form) }?;
            match hParallelOperation.0 {
                None => operation.join(),
                Some(parallel) => {
                    bind(&parallel.bound, operation)?;
                    Err(ZeError::status($form.deferred))
                }
            }
        }

        /// Destroys the handle; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($destroy_pfn)]
        pub(crate) fn $destroy(hBuilder: Handle<'_, $Builder>) -> ZeResult {
            drop(hBuilder.take());
            Ok(())
        }

        /// A parallel operation; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($parallel_create_pfn)]
        pub(crate) fn $parallel_create(
            _hDriver: Handle<'_, Driver>,
            phParallelOperation: OutHandle<'_, $parallel_opaque>,
        ) -> ZeResult {
            phParallelOperation.write(Object::give(Arc::new($Parallel {
                head: Head::new::<$Parallel>(dispatch::tables()),
                bound: Mutex::default(),
            })));
            Ok(())
        }

        /// How many threads may usefully join; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($parallel_get_pfn)]
        pub(crate) fn $parallel_get(
            hParallelOperation: Handle<'_, $Parallel>,
            mut pProperties: Prop<'_, $parallel_properties>,
        ) -> ZeResult {
            pProperties.maxConcurrency = concurrency(&hParallelOperation.bound)?;
            pProperties.flags = 0;
            Ok(())
        }

        /// Works on the bound build until it is over; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($parallel_join_pfn)]
        pub(crate) fn $parallel_join(hParallelOperation: Handle<'_, $Parallel>) -> ZeResult {
            // The first thread that returns may destroy the handle.
            let parallel = hParallelOperation.arc();
            join(&parallel.bound)
        }

        /// Destroys the handle; core/RTAS.yml, RTASBuilder.yml.
        #[ze_entry($parallel_destroy_pfn)]
        pub(crate) fn $parallel_destroy(hParallelOperation: Handle<'_, $Parallel>) -> ZeResult {
            drop(hParallelOperation.take());
            Ok(())
        }
    };
}

form! {
    EXT, ZE_RESULT_EXT_RTAS_BUILD_RETRY, ZE_RESULT_EXT_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE, ZE_STRUCTURE_TYPE_RTAS_GEOMETRY_AABBS_EXT_CB_PARAMS,
    BuilderExt(_ze_rtas_builder_ext_handle_t, b"ZeRb"),
    ParallelExt(_ze_rtas_parallel_operation_ext_handle_t, b"ZeRp"),
    ze_rtas_builder_ext_desc_t, ze_rtas_builder_ext_properties_t, ze_rtas_parallel_operation_ext_properties_t,
    ze_rtas_builder_build_op_ext_desc_t, ze_rtas_aabb_ext_t, ze_rtas_format_ext_t,
    #[ze_entry(ze_pfnRTASBuilderCreateExt_t)] zeRTASBuilderCreateExt;
    #[ze_entry(ze_pfnRTASBuilderGetBuildPropertiesExt_t)] zeRTASBuilderGetBuildPropertiesExt;
    #[ze_entry(ze_pfnDriverRTASFormatCompatibilityCheckExt_t)] zeDriverRTASFormatCompatibilityCheckExt;
    #[ze_entry(ze_pfnRTASBuilderBuildExt_t)] zeRTASBuilderBuildExt;
    #[ze_entry(ze_pfnRTASBuilderDestroyExt_t)] zeRTASBuilderDestroyExt;
    #[ze_entry(ze_pfnRTASParallelOperationCreateExt_t)] zeRTASParallelOperationCreateExt;
    #[ze_entry(ze_pfnRTASParallelOperationGetPropertiesExt_t)] zeRTASParallelOperationGetPropertiesExt;
    #[ze_entry(ze_pfnRTASParallelOperationJoinExt_t)] zeRTASParallelOperationJoinExt;
    #[ze_entry(ze_pfnRTASParallelOperationDestroyExt_t)] zeRTASParallelOperationDestroyExt;
}

form! {
    EXP, ZE_RESULT_EXP_RTAS_BUILD_RETRY, ZE_RESULT_EXP_RTAS_BUILD_DEFERRED,
    ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE, ZE_STRUCTURE_TYPE_RTAS_GEOMETRY_AABBS_EXP_CB_PARAMS,
    BuilderExp(_ze_rtas_builder_exp_handle_t, b"ZeRe"),
    ParallelExp(_ze_rtas_parallel_operation_exp_handle_t, b"ZeRo"),
    ze_rtas_builder_exp_desc_t, ze_rtas_builder_exp_properties_t, ze_rtas_parallel_operation_exp_properties_t,
    ze_rtas_builder_build_op_exp_desc_t, ze_rtas_aabb_exp_t, ze_rtas_format_exp_t,
    #[ze_entry(ze_pfnRTASBuilderCreateExp_t)] zeRTASBuilderCreateExp;
    #[ze_entry(ze_pfnRTASBuilderGetBuildPropertiesExp_t)] zeRTASBuilderGetBuildPropertiesExp;
    #[ze_entry(ze_pfnDriverRTASFormatCompatibilityCheckExp_t)] zeDriverRTASFormatCompatibilityCheckExp;
    #[ze_entry(ze_pfnRTASBuilderBuildExp_t)] zeRTASBuilderBuildExp;
    #[ze_entry(ze_pfnRTASBuilderDestroyExp_t)] zeRTASBuilderDestroyExp;
    #[ze_entry(ze_pfnRTASParallelOperationCreateExp_t)] zeRTASParallelOperationCreateExp;
    #[ze_entry(ze_pfnRTASParallelOperationGetPropertiesExp_t)] zeRTASParallelOperationGetPropertiesExp;
    #[ze_entry(ze_pfnRTASParallelOperationJoinExp_t)] zeRTASParallelOperationJoinExp;
    #[ze_entry(ze_pfnRTASParallelOperationDestroyExp_t)] zeRTASParallelOperationDestroyExp;
}

/// Copies a structure, which holds no absolute addresses; core/RTAS.yml.
#[ze_entry(ze_pfnRTASBuilderCommandListAppendCopyExt_t)]
pub(crate) fn zeRTASBuilderCommandListAppendCopyExt(
    hCommandList: Handle<'_, CommandList>,
    dstptr: *mut c_void,
    srcptr: *const c_void,
    size: usize,
    hSignalEvent: OptHandle<'_, Event>,
    phWaitEvents: Handles<'_, Event>,
) -> ZeResult {
    crate::check::not_null("dstptr", dstptr)?;
    crate::check::not_null("srcptr", srcptr)?;
    hCommandList.check_reach("dstptr", dstptr)?;
    hCommandList.check_reach("srcptr", srcptr)?;
    let op = if size == 0 {
        Op::Nothing
    } else {
        Op::Work(Work::Copy {
            dst: dstptr.cast(),
            src: srcptr.cast(),
            len: size as u64,
        })
    };
    hCommandList.append(op, &Dependencies::new(&hSignalEvent, &phWaitEvents))
}
