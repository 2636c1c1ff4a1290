//! Tests of the validation layer over fake tables: the shared parts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use level_zero_sys::*;
use ze_spec::Kind;

use super::*;
use crate::generated::FUNCTIONS;
use crate::value::function;
use crate::{Tables, fake};

thread_local! {
    static FOUND: RefCell<Vec<Finding>> = const { RefCell::new(Vec::new()) };
}

/// The findings of this thread since the last call.
fn found() -> Vec<Finding> {
    FOUND.with(|found| std::mem::take(&mut *found.borrow_mut()))
}

fn rules() -> Vec<String> {
    found().iter().map(ToString::to_string).collect()
}

/// The checks are global, so these tests run one after another.
static ONE: Mutex<()> = Mutex::new(());

fn with(settings: Settings) -> (MutexGuard<'static, ()>, &'static Tables) {
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    set_sink(Some(|finding| {
        FOUND.with(|found| found.borrow_mut().push(finding.clone()))
    }));
    configure(&settings);
    fake::answer(ZE_RESULT_SUCCESS);
    fake::calls();
    found();
    (one, over(&fake::TABLE))
}

fn parameters_only() -> Settings {
    Settings {
        parameters: true,
        ..Settings::default()
    }
}

fn lifetime_only() -> Settings {
    Settings {
        lifetime: true,
        ..Settings::default()
    }
}

fn handle<T>(number: usize) -> *mut T {
    std::ptr::without_provenance_mut(number)
}

/// The calls of a program, with the handles that the fake driver "creates": the previous value of the out-parameter.
struct Program {
    tables: &'static Tables,
}

impl Program {
    fn driver(&self, number: usize) -> ze_driver_handle_t {
        let mut handle = handle(number);
        let mut count = 1;
        // SAFETY: the fake leaves both as they are.
        unsafe { self.tables.ze.Driver.pfnGet.unwrap()(&raw mut count, &raw mut handle) };
        handle
    }

    fn device(&self, driver: ze_driver_handle_t, number: usize) -> ze_device_handle_t {
        let mut handle = handle(number);
        let mut count = 1;
        // SAFETY: the fake leaves both as they are.
        unsafe { self.tables.ze.Device.pfnGet.unwrap()(driver, &raw mut count, &raw mut handle) };
        handle
    }

    fn context(&self, driver: ze_driver_handle_t, number: usize) -> ze_context_handle_t {
        let mut handle = handle(number);
        let desc = ze_context_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.Context.pfnCreate.unwrap()(driver, &raw const desc, &raw mut handle)
        };
        handle
    }

    fn queue(
        &self,
        context: ze_context_handle_t,
        device: ze_device_handle_t,
        number: usize,
    ) -> ze_command_queue_handle_t {
        let mut handle = handle(number);
        let desc = ze_command_queue_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.CommandQueue.pfnCreate.unwrap()(
                context,
                device,
                &raw const desc,
                &raw mut handle,
            )
        };
        handle
    }

    fn fence(&self, queue: ze_command_queue_handle_t, number: usize) -> ze_fence_handle_t {
        let mut handle = handle(number);
        let desc = ze_fence_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe { self.tables.ze.Fence.pfnCreate.unwrap()(queue, &raw const desc, &raw mut handle) };
        handle
    }

    fn list(
        &self,
        context: ze_context_handle_t,
        device: ze_device_handle_t,
        number: usize,
        immediate: bool,
    ) -> ze_command_list_handle_t {
        let mut handle = handle(number);
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            if immediate {
                let desc = ze_command_queue_desc_t::default();
                self.tables.ze.CommandList.pfnCreateImmediate.unwrap()(
                    context,
                    device,
                    &raw const desc,
                    &raw mut handle,
                );
            } else {
                let desc = ze_command_list_desc_t::default();
                self.tables.ze.CommandList.pfnCreate.unwrap()(
                    context,
                    device,
                    &raw const desc,
                    &raw mut handle,
                );
            }
        }
        handle
    }

    fn pool(&self, context: ze_context_handle_t, number: usize) -> ze_event_pool_handle_t {
        let mut handle = handle(number);
        let desc = ze_event_pool_desc_t {
            count: 8,
            ..Default::default()
        };
        // SAFETY: the fake leaves the handle as it is.
        unsafe {
            self.tables.ze.EventPool.pfnCreate.unwrap()(
                context,
                &raw const desc,
                0,
                null_mut(),
                &raw mut handle,
            )
        };
        handle
    }

    fn event(&self, pool: ze_event_pool_handle_t, number: usize) -> ze_event_handle_t {
        let mut handle = handle(number);
        let desc = ze_event_desc_t::default();
        // SAFETY: the fake leaves the handle as it is.
        unsafe { self.tables.ze.Event.pfnCreate.unwrap()(pool, &raw const desc, &raw mut handle) };
        handle
    }

    fn barrier(
        &self,
        list: ze_command_list_handle_t,
        signal: ze_event_handle_t,
        waits: &[ze_event_handle_t],
    ) -> ze_result_t {
        let mut waits = waits.to_vec();
        // SAFETY: the array is there for the call.
        unsafe {
            self.tables.ze.CommandList.pfnAppendBarrier.unwrap()(
                list,
                signal,
                waits.len() as u32,
                waits.as_mut_ptr(),
            )
        }
    }

    fn execute(
        &self,
        queue: ze_command_queue_handle_t,
        list: ze_command_list_handle_t,
        fence: ze_fence_handle_t,
    ) -> ze_result_t {
        let mut list = list;
        // SAFETY: the array is there for the call.
        unsafe {
            self.tables.ze.CommandQueue.pfnExecuteCommandLists.unwrap()(
                queue,
                1,
                &raw mut list,
                fence,
            )
        }
    }
}

/// Calls a function with one handle.
macro_rules! one {
    ($program:expr, $table:ident.$slot:ident, $handle:expr) => {
        // SAFETY: the fake looks behind no handle.
        unsafe { $program.tables.ze.$table.$slot.unwrap()($handle) }
    };
}

mod checkers;
mod lifetime;
mod parameters;

#[test]
fn findings_are_one_json_object_each() {
    let mut finding = Finding::new(Severity::Error, "parameters", "say \"why\"\n".into());
    finding.argument = Some("desc->flags".into());
    finding.code = Some(ZE_RESULT_ERROR_INVALID_ENUMERATION);
    let expected = r#"{"severity":"error","checker":"parameters","argument":"desc->flags","rule":"say \"why\"\u000a","code":"ZE_RESULT_ERROR_INVALID_ENUMERATION"}"#;
    assert_eq!(finding.json(), expected);
}

#[test]
fn settings_come_from_variables() {
    let read = |pairs: &[(&str, &str)]| {
        let map: BTreeMap<&str, &str> = pairs.iter().copied().collect();
        Settings::read(|name| map.get(name).map(ToString::to_string))
    };
    assert_eq!(read(&[]), Ok(Settings::default()));
    let on = read(&[
        ("ZE_ENABLE_PARAMETER_VALIDATION", "1"),
        ("ZE_ENABLE_HANDLE_LIFETIME", "0"),
        ("ZEL_ENABLE_EVENTS_CHECKER", "yes"),
    ])
    .unwrap();
    assert_eq!((on.parameters, on.lifetime, on.events), (true, false, true));
    let version = read(&[("ZEL_CERTIFICATION_CHECKER_VERSION", "1.9")]).unwrap();
    assert_eq!(version.certified, Some(Version { major: 1, minor: 9 }));
    assert!(read(&[("SOLUM_VALIDATION_FORMAT", "json")]).unwrap().json);
    let error = read(&[("SOLUM_VALIDATION_FORMAT", "xml")]).unwrap_err();
    assert!(
        error.contains("'xml'") && error.contains("text and json"),
        "{error}"
    );
}
