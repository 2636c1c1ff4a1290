//! Wrappers are created and freed with their objects.

use std::collections::BTreeSet;
use std::path::Path;

use level_zero_sys::*;

use crate::opened::Loader;
use crate::wrapped::{first, translate};

fn event_functions(
    loader: &Loader,
    stage: &Path,
) -> (usize, impl Fn() -> Result<usize, ze_result_t>) {
    let (driver, _) = first(loader, stage, &["_ze_event_pool_handle_t"]);
    assert!(driver.legacy);
    let pool = driver.handles["_ze_event_pool_handle_t"];
    let loader = std::ptr::from_ref(loader).addr();
    (pool, move || {
        let desc = ze_event_desc_t::default();
        let mut event = 0_usize;
        // SAFETY: the loader outlives the test.
        let loader = unsafe { &*(loader as *const Loader) };
        match loader.call(
            "zeEventCreate",
            &[pool, (&raw const desc).addr(), (&raw mut event).addr()],
        ) {
            ZE_RESULT_SUCCESS => Ok(event),
            error => Err(error),
        }
    })
}

/// Wrappers of destroyed objects are reused, and none is used for two live objects.
pub(crate) fn many_objects(loader: &Loader, stage: &Path) {
    let (_, create) = event_functions(loader, stage);
    let mut seen = BTreeSet::new();
    for _ in 0..30_000 {
        let event = create().unwrap();
        seen.insert(event);
        assert_eq!(loader.call("zeEventDestroy", &[event]), ZE_RESULT_SUCCESS);
    }
    assert!(
        seen.len() <= 64 * 64 + 64,
        "{} wrappers for one object at a time",
        seen.len()
    );
    let alive: Vec<usize> = (0..30_000).map(|_| create().unwrap()).collect();
    assert_eq!(
        alive.iter().collect::<BTreeSet<_>>().len(),
        alive.len(),
        "live handles differ"
    );
    for event in &alive {
        assert_eq!(
            loader.call("zeEventQueryStatus", &[*event]),
            ZE_RESULT_SUCCESS
        );
    }
    for event in &alive {
        assert_eq!(loader.call("zeEventDestroy", &[*event]), ZE_RESULT_SUCCESS);
        assert_eq!(
            loader.call("zeEventQueryStatus", &[*event]),
            ZE_RESULT_ERROR_INVALID_ARGUMENT
        );
    }
}

/// Eight threads create, use, look up and destroy.
pub(crate) fn many_threads(loader: &Loader, stage: &Path) {
    let (pool, create) = event_functions(loader, stage);
    let create = &create;
    let natives: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(move || {
                    let mut natives = Vec::new();
                    for round in 0..3_000 {
                        let event = create().unwrap();
                        let native = translate(loader, event);
                        let mut back = 0_usize;
                        let place = (&raw mut back).addr();
                        let result = loader.call("zeEventGetEventPool", &[event, place]);
                        assert_eq!(result, ZE_RESULT_SUCCESS);
                        let first = back;
                        assert_eq!(
                            loader.call("zeEventGetEventPool", &[event, place]),
                            ZE_RESULT_SUCCESS
                        );
                        assert_eq!(
                            (back, translate(loader, event)),
                            (first, native),
                            "one object, one handle"
                        );
                        if round % 3 != 0 {
                            assert_eq!(loader.call("zeEventDestroy", &[event]), ZE_RESULT_SUCCESS);
                        }
                        natives.push(native);
                    }
                    natives
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let all: BTreeSet<usize> = natives.iter().flatten().copied().collect();
    assert_eq!(all.len(), 8 * 3_000, "no object was mistaken for another");
    assert_eq!(
        loader.call("zeEventPoolDestroy", &[pool]),
        ZE_RESULT_SUCCESS
    );
}

/// A driver that reuses an address, and one that opens the same object twice.
pub(crate) fn reused_addresses(loader: &Loader, stage: &Path) {
    let (_, create) = event_functions(loader, stage);
    let native = translate(loader, create().unwrap());
    let first = create().unwrap();
    assert_eq!(
        translate(loader, first),
        native,
        "the stub returns one object"
    );
    assert_eq!(loader.call("zeEventDestroy", &[first]), ZE_RESULT_SUCCESS);
    assert_eq!(
        loader.call("zeEventQueryStatus", &[first]),
        ZE_RESULT_SUCCESS,
        "opened twice, closed once"
    );
    assert_eq!(loader.call("zeEventDestroy", &[first]), ZE_RESULT_SUCCESS);
    assert_eq!(
        loader.call("zeEventDestroy", &[first]),
        ZE_RESULT_ERROR_INVALID_ARGUMENT
    );
    let again = create().unwrap();
    assert_eq!(translate(loader, again), native);
    assert_eq!(
        loader.call("zeEventQueryStatus", &[again]),
        ZE_RESULT_SUCCESS
    );
    assert_eq!(loader.call("zeEventDestroy", &[again]), ZE_RESULT_SUCCESS);
}

/// A driver that refuses to destroy: the handle stays valid.
pub(crate) fn refused_destruction(loader: &Loader, stage: &Path) {
    let (_, create) = event_functions(loader, stage);
    let event = create().unwrap();
    let native = translate(loader, event);
    for _ in 0..2 {
        assert_eq!(
            loader.call("zeEventDestroy", &[event]),
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE
        );
        assert_eq!(
            loader.call("zeEventQueryStatus", &[event]),
            ZE_RESULT_SUCCESS
        );
        assert_eq!(translate(loader, event), native);
    }
}
