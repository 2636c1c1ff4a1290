//! Tracers of the driver: handles and checks; [`crate::tracing`] runs the callbacks. tools/tracing.yml.
//!
//! Callbacks run in the order in which their tracers were enabled, prologues and epilogues alike, around each core
//! function that a program calls on this driver; a call inside a traced call is not traced.

use crate::check::error;
use crate::core::context::Context;
use crate::core::object;
use crate::dispatch;
use crate::tracing::{self, Tracing, follow};
use level_zero_sys::*;
use std::sync::Arc;
use ze_abi::{Handle, Head, In, InMut, Object, OutHandle, ZeResult};
use ze_abi_macros::ze_entry;

/// A tracer.
#[repr(C)]
pub(crate) struct Tracer {
    head: Head,
    /// Its handle in [`crate::tracing`]: a number, never an address.
    key: usize,
}
object!(Tracer, _zet_tracer_exp_handle_t, b"ZtTr", "tracer");

impl Tracer {
    fn key(&self) -> zel_tracer_handle_t {
        std::ptr::without_provenance_mut(self.key)
    }
}

fn installed() -> ZeResult<&'static Tracing> {
    match tracing::installed() {
        Some(installed) => Ok(&installed.tracing),
        None => error(
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            "this driver was built without tracing",
        ),
    }
}

/// The result for `code`, with a text that says what to do.
fn answered(code: ze_result_t, refused: &str) -> ZeResult {
    if code == ZE_RESULT_SUCCESS {
        Ok(())
    } else {
        error(code, refused)
    }
}

const ENABLED: &str =
    "hTracer is enabled; callbacks can be set while it is disabled (zetTracerExpSetEnabled)";

/// A tracer, disabled; it sees the calls of all contexts. tools/tracing.yml.
#[ze_entry(zet_pfnTracerExpCreate_t)]
pub(crate) fn zetTracerExpCreate(
    hContext: Handle<'_, Context>,
    desc: In<'_, zet_tracer_exp_desc_t>,
    phTracer: OutHandle<'_, _zet_tracer_exp_handle_t>,
) -> ZeResult {
    hContext.check()?;
    let tracing = installed()?;
    let wish = zel_tracer_desc_t {
        pUserData: desc.pUserData,
        ..Default::default()
    };
    let mut key = std::ptr::null_mut();
    // SAFETY: both are this function's.
    let code = unsafe { (tracing.create)(&raw const wish, &raw mut key) };
    answered(code, "a tracer could not be created")?;
    let tracer = Tracer {
        head: Head::new::<Tracer>(dispatch::tables()),
        key: key.addr(),
    };
    phTracer.write(Object::give(Arc::new(tracer)));
    Ok(())
}

/// Destroys a disabled tracer, once its last callback has returned; tools/tracing.yml.
#[ze_entry(zet_pfnTracerExpDestroy_t)]
pub(crate) fn zetTracerExpDestroy(hTracer: Handle<'_, Tracer>) -> ZeResult {
    answered(
        (installed()?.destroy)(hTracer.key()),
        "hTracer is enabled, or its own callback destroys it; disable it first (zetTracerExpSetEnabled), outside its callbacks",
    )?;
    drop(hTracer.take());
    Ok(())
}

/// Sets the callbacks before functions; tools/tracing.yml.
#[ze_entry(zet_pfnTracerExpSetPrologues_t)]
pub(crate) fn zetTracerExpSetPrologues(
    hTracer: Handle<'_, Tracer>,
    pCoreCbs: InMut<'_, zet_core_callbacks_t>,
) -> ZeResult {
    // SAFETY: a live block of callbacks, each null or callable, by the specification.
    let code = unsafe { (installed()?.set_prologues)(hTracer.key(), &raw const *pCoreCbs) };
    answered(code, ENABLED)
}

/// Sets the callbacks after functions; tools/tracing.yml.
#[ze_entry(zet_pfnTracerExpSetEpilogues_t)]
pub(crate) fn zetTracerExpSetEpilogues(
    hTracer: Handle<'_, Tracer>,
    pCoreCbs: InMut<'_, zet_core_callbacks_t>,
) -> ZeResult {
    // SAFETY: a live block of callbacks, each null or callable, by the specification.
    let code = unsafe { (installed()?.set_epilogues)(hTracer.key(), &raw const *pCoreCbs) };
    answered(code, ENABLED)
}

/// Enables or disables; from a callback too. tools/tracing.yml.
#[ze_entry(zet_pfnTracerExpSetEnabled_t)]
pub(crate) fn zetTracerExpSetEnabled(hTracer: Handle<'_, Tracer>, enable: ze_bool_t) -> ZeResult {
    let code = (installed()?.set_enabled)(hTracer.key(), enable);
    follow();
    answered(
        code,
        "hTracer is disabled and its callbacks still run; it can be enabled once they have returned",
    )
}
