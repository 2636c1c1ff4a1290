//! Variants of kernels for launches with null arguments: reads through a null pointer give zero, writes are lost.
//!
//! A variant is a program of one kernel, made from the request of the program that it belongs to. It is compiled and cached
//! like any other.

use super::loaded::Loaded;
use super::{Builder, CpuProgram, stages};
use kernel_ir::build::{NullArguments, Request};
use std::sync::{Arc, OnceLock};
use ze_driver::device::Program;

impl Builder {
    /// Kernel `index` of `program` as a program of its own, for launches in which the pointers at these offsets are
    /// null.
    pub(crate) fn ignoring(
        &self,
        program: &Arc<dyn Program>,
        index: usize,
        offsets: &[u32],
    ) -> Option<Arc<CpuProgram>> {
        let own: &CpuProgram = program.as_any()?.downcast_ref()?;
        let name = own.loaded.names.get(index)?;
        let none = |why: &str| {
            stages::remark(&format!(
                "kernel {name:?} has no variant for null arguments: {why}"
            ));
            None
        };
        let Some(request) = &own.loaded.request else {
            return none("its program was not built from SPIR-V");
        };
        let request = Request {
            nulls: Some(NullArguments {
                kernel: index as u32,
                offsets: offsets.to_vec(),
            }),
            ..Request::clone(request)
        };
        let made = self.request(request).and_then(|loaded| {
            // It is launched next.
            loaded.kernel(0)?;
            Ok(loaded)
        });
        match made {
            Ok(loaded) => Some(Arc::new(CpuProgram {
                loaded,
                origin: Some((Arc::clone(program), index)),
            })),
            Err(failure) => none(&failure.log),
        }
    }

    /// Keeps the request of a program if a launch of one of its kernels may need a variant.
    pub(super) fn keep_request(&self, loaded: &mut Loaded, request: &Arc<Request>) {
        let mut kernels = loaded.kernels.iter().filter_map(OnceLock::get);
        if self.ignores_nulls
            && request.nulls.is_none()
            && kernels.any(|kernel| !kernel.info.unchecked.is_empty())
        {
            loaded.request = Some(Arc::clone(request));
        }
    }
}
