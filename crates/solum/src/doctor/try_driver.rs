//! In the child: opens a driver library without a loader and lists its devices.

use std::ffi::OsStr;

use level_zero::sys::*;

use super::calls::{Calls, code};
use super::step::{Step, report};
use crate::library::Library;

/// Opens the driver `name` and initialises it as the loader does with flags 0.
pub(crate) fn run(name: &OsStr) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return report(&Step::Refused { reason }),
    };
    let calls = match Calls::of_driver(&library) {
        Ok(calls) => calls,
        Err(reason) => return report(&Step::Refused { reason }),
    };
    report(&Step::Opened {
        path: path.to_string_lossy().into_owned(),
    });
    let Some(init) = calls.init else {
        return report(&Step::Failed {
            what: "the driver has no zeInit".into(),
        });
    };
    // SAFETY: no pointers are passed.
    let result = unsafe { init(0) };
    report(&Step::Initialised {
        function: "zeInit".into(),
        code: code(result),
        text: calls.last_error(),
    });
    if result != ZE_RESULT_SUCCESS {
        return;
    }
    let handles = match calls.drivers() {
        Ok(handles) => handles,
        Err(what) => return report(&Step::Failed { what }),
    };
    for handle in handles {
        if handle.is_null() {
            report(&Step::Failed {
                what: "zeDriverGet returned a null handle".into(),
            });
            continue;
        }
        report(
            &calls
                .describe(handle)
                .unwrap_or_else(|what| Step::Failed { what }),
        );
    }
}
