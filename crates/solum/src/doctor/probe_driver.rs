//! In the child: a driver library is opened and asked for its devices, without any loader.

use std::ffi::OsStr;

use level_zero::sys::*;

use super::calls::{Calls, code};
use super::probe::{Step, tell};
use crate::library::Library;

/// Opens the driver `name` and initialises it as the loader does for a client that asks for any driver.
pub(crate) fn probe(name: &OsStr) {
    let (library, path) = match Library::open(name) {
        Ok(opened) => opened,
        Err(reason) => return tell(&Step::Refused { reason }),
    };
    let calls = match Calls::of_driver(&library) {
        Ok(calls) => calls,
        Err(reason) => return tell(&Step::Refused { reason }),
    };
    tell(&Step::Opened {
        path: path.to_string_lossy().into_owned(),
    });
    let Some(init) = calls.init else {
        return tell(&Step::Failed {
            what: "it has no zeInit".into(),
        });
    };
    // SAFETY: no pointers are passed.
    let result = unsafe { init(0) };
    tell(&Step::Initialised {
        function: "zeInit".into(),
        code: code(result),
        text: calls.last_error(),
    });
    if result != ZE_RESULT_SUCCESS {
        return;
    }
    let handles = match calls.drivers() {
        Ok(handles) => handles,
        Err(what) => return tell(&Step::Failed { what }),
    };
    for handle in handles {
        if handle.is_null() {
            tell(&Step::Failed {
                what: "zeDriverGet gave a null handle".into(),
            });
            continue;
        }
        tell(
            &calls
                .describe(handle)
                .unwrap_or_else(|what| Step::Failed { what }),
        );
    }
}
