//! What the loader adds to a call: an entry of `libze_loader.so.1` against the driver's own table slot.

use level_zero::sys::*;
use level_zero::{Error, Loader, Result};

use crate::{Better, Row, measure, nanoseconds};

/// Runs the area.
pub(crate) fn run(emit: &mut dyn FnMut(Row)) -> Result<()> {
    let path = conformance::artefacts().join("libze_loader.so.1");
    let driver = Loader::open_at(&path)?.drivers()?.remove(0);
    let mut pool = driver.create_context()?.create_event_pool(1, false)?;
    let event = pool.create_event()?;
    event.signal()?;
    // SAFETY: the library is open already; its initialisers ran.
    let library = unsafe { libloading::Library::new(&path) }
        .map_err(|error| Error::Argument(error.to_string()))?;
    // SAFETY: the export of this name has this C signature by the specification.
    let exported: unsafe extern "C" fn(ze_event_handle_t) -> ze_result_t =
        *unsafe { library.get(c"zeEventQueryStatus") }
            .map_err(|error| Error::Argument(error.to_string()))?;
    let handle = event.as_raw();
    // SAFETY: every object of a driver with DDI handles begins with `ze_handle_t` (spec, driverDDIHandles).
    let core = unsafe { (*handle.cast::<ze_handle_t>()).pCore };
    // SAFETY: the core table of a live driver.
    let table = unsafe { (*core).Event };
    // SAFETY: the event sub-table of a live driver.
    let direct = unsafe { (*table).pfnQueryStatus }
        .ok_or(Error::Argument("no zeEventQueryStatus".to_owned()))?;
    let drivers = 1;
    emit(measure(
        "loader",
        &format!("ddi-{drivers}"),
        ("ns", Better::Lower),
        "direct",
        20,
        // SAFETY: a live event.
        || {
            nanoseconds(1_000_000, || {
                assert_eq!(unsafe { exported(handle) }, ZE_RESULT_SUCCESS)
            })
        },
        // SAFETY: a live event.
        || {
            nanoseconds(1_000_000, || {
                assert_eq!(unsafe { direct(handle) }, ZE_RESULT_SUCCESS)
            })
        },
    ));
    Ok(())
}
