//! The process-wide driver: how it comes to life, and what a fork does to it.

use crate::check::error;
use crate::core::driver::Driver;
use crate::device::Platform;
use level_zero_sys::{ZE_RESULT_ERROR_INVALID_ARGUMENT, ZE_RESULT_ERROR_UNINITIALIZED};
use std::sync::{Arc, OnceLock};
use ze_abi::{Gate, ZeResult, gate, set_gate};

/// Makes the devices; called once, at the first `zeInit*`. An error says what to change.
pub type Factory = fn() -> Result<Arc<dyn Platform>, String>;

static FACTORY: OnceLock<Factory> = OnceLock::new();
static DRIVER: OnceLock<Result<Arc<Driver>, String>> = OnceLock::new();

/// Names the platform of this process. The first call counts.
pub fn install(factory: Factory) {
    let _ = FACTORY.set(factory);
}

extern "C" fn in_forked_child() {
    // One atomic: locks and threads of the parent are not here.
    if gate() == Gate::Open {
        set_gate(Gate::Forked);
    }
}

/// The driver, brought to life if need be.
pub(crate) fn initialise() -> ZeResult<&'static Arc<Driver>> {
    if gate() == Gate::Forked {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "the process is a fork of one that had initialised the driver; start it anew with exec to use Level Zero",
        );
    }
    let Some(factory) = FACTORY.get() else {
        return error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "no platform is installed in this driver",
        );
    };
    let made = DRIVER.get_or_init(|| {
        let driver = Driver::new(factory()?)?;
        // SAFETY: the handler is a static function that does one atomic load and store.
        unsafe { libc::pthread_atfork(None, None, Some(in_forked_child)) };
        Ok(driver)
    });
    match made {
        Ok(driver) => {
            if gate() == Gate::Closed {
                set_gate(Gate::Open);
            }
            Ok(driver)
        }
        Err(text) => error(ZE_RESULT_ERROR_INVALID_ARGUMENT, text.clone()),
    }
}

/// The driver, if it is in service.
pub(crate) fn driver() -> ZeResult<&'static Arc<Driver>> {
    match DRIVER.get() {
        Some(Ok(driver)) => Ok(driver),
        _ => error(
            ZE_RESULT_ERROR_UNINITIALIZED,
            "the driver is not initialised; call zeInit or zeInitDrivers first",
        ),
    }
}
