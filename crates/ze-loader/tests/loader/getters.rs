//! The loader's own getters, through which static loaders find its functions.

use std::ffi::c_void;
use std::ptr::null_mut;

use level_zero_sys::*;

use crate::opened::Loader;
use crate::{EXPORTS, functions};

type Getter = unsafe extern "C" fn(ze_api_version_t, *mut *mut c_void) -> ze_result_t;

/// As static loaders of any version request.
pub(crate) fn all(loader: &Loader) {
    let getters = || {
        EXPORTS
            .lines()
            .filter(|name| name.ends_with("ProcAddrTable"))
    };
    assert_eq!(getters().count(), 77);
    for name in getters() {
        assert_eq!(
            loader.call_with_nulls(name),
            ZE_RESULT_ERROR_UNINITIALIZED,
            "{name} before drivers are open"
        );
    }
    assert_eq!(loader.call_with_nulls("zeLoaderInit"), ZE_RESULT_SUCCESS);
    let untouched = 0x5a5a as *mut c_void;
    for name in getters() {
        let get: Option<Getter> = loader.get(name);
        let get = get.unwrap();
        let mut table = [untouched; 128];
        // SAFETY: room for any table, and the null that is being tested.
        unsafe {
            assert_eq!(
                get(ZE_API_VERSION_1_17, null_mut()),
                ZE_RESULT_ERROR_INVALID_NULL_POINTER,
                "{name}"
            );
            for version in [0x1_0012, 0x2_0000, 0] {
                let result = get(ze_api_version_t(version), table.as_mut_ptr());
                assert_eq!(
                    result, ZE_RESULT_ERROR_UNSUPPORTED_VERSION,
                    "{name} {version:#x}"
                );
            }
            assert!(
                table.iter().all(|slot| *slot == untouched),
                "{name} fills a table that it rejects"
            );
            assert_eq!(
                get(ZE_API_VERSION_1_17, table.as_mut_ptr()),
                ZE_RESULT_SUCCESS,
                "{name}"
            );
        }
        let filled = table.iter().take_while(|slot| **slot != untouched).count();
        assert!(filled > 0, "{name}");
        assert!(table[..filled].iter().all(|slot| !slot.is_null()), "{name}");
    }
    let get: ze_pfnGetContextProcAddrTable_t = loader.get("zeGetContextProcAddrTable");
    let mut table = ze_context_dditable_t::default();
    // SAFETY: a table of this frame.
    let result = unsafe { get.unwrap()(ZE_API_VERSION_1_17, &raw mut table) };
    assert_eq!(result, ZE_RESULT_SUCCESS);
    assert_eq!(
        table.pfnCreate.unwrap() as *mut c_void,
        loader.address("zeContextCreate")
    );
    assert_eq!(
        table.pfnDestroy.unwrap() as *mut c_void,
        loader.address("zeContextDestroy")
    );
    let get: ze_pfnGetEventProcAddrTable_t = loader.get("zeGetEventProcAddrTable");
    let mut table = ze_event_dditable_t::default();
    // SAFETY: a table of this frame.
    let result = unsafe { get.unwrap()(ZE_API_VERSION_1_0, &raw mut table) };
    assert_eq!(result, ZE_RESULT_SUCCESS);
    assert!(
        table.pfnCreate.is_some() && table.pfnCounterBasedCreate.is_none(),
        "slots of later versions are unchanged"
    );
    older_versions(loader);
}

/// The slots of each version are filled and none after them, because an older client's table ends there.
fn older_versions(loader: &Loader) {
    let tables = functions::tables();
    let getters = functions::getters();
    assert_eq!(getters.len(), 76);
    for (name, table) in getters {
        let get: Option<Getter> = loader.get(name);
        let slots = &tables[table];
        assert!(!slots.is_empty(), "{table}");
        for minor in 0..=17 {
            let version = 1 << 16 | minor;
            let expected = slots.iter().filter(|since| **since <= version).count();
            let untouched = 0x5a5a as *mut c_void;
            let mut table = [untouched; 128];
            // SAFETY: room for any table.
            let result = unsafe { get.unwrap()(ze_api_version_t(version), table.as_mut_ptr()) };
            assert_eq!(result, ZE_RESULT_SUCCESS, "{name} 1.{minor}");
            let filled = table.iter().filter(|slot| **slot != untouched).count();
            assert_eq!(filled, expected, "{name} 1.{minor}");
            assert!(
                table[..filled]
                    .iter()
                    .all(|slot| !slot.is_null() && *slot != untouched),
                "{name} 1.{minor}"
            );
        }
    }
}
