//! Tables as arrays of addresses, and the getters that fill them.

use std::ffi::c_void;
use std::sync::OnceLock;

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZE_RESULT_SUCCESS,
    ze_api_version_t, ze_result_t,
};

use crate::generated::tables::{DRIVER_TABLES, TABLES};
use crate::objects::{HEADER, POISON};
use crate::script::script;

/// This copy's tables, created once and never freed.
struct Built {
    /// Addresses of the slots, table by table.
    tables: Vec<&'static [*const ()]>,
}

// SAFETY: addresses of static memory and functions.
unsafe impl Send for Built {}
// SAFETY: as above; nothing is written after building.
unsafe impl Sync for Built {}

fn built() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| {
        let script = script();
        let is_in = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        let tables: Vec<&'static [*const ()]> = TABLES
            .iter()
            .map(|table| {
                let slots: Vec<*const ()> = (table.slots.iter())
                    .map(|slot| {
                        if is_in(&script.null_slots, slot.name) {
                            std::ptr::null()
                        } else {
                            slot.function
                        }
                    })
                    .collect();
                &*slots.leak()
            })
            .collect();
        let header = std::array::from_fn(|index| {
            if script.legacy {
                return POISON;
            }
            // Version and valid flag share the first eight bytes, little-endian.
            let mut words = vec![script.table_version as usize | 1 << 32];
            words.extend(DRIVER_TABLES[index].members.iter().map(|place| {
                let slots = TABLES[*place].slots;
                let missing = slots
                    .iter()
                    .any(|slot| is_in(&script.null_tables, slot.name));
                // A table of that version ends before the members that were added later.
                let since = slots.iter().map(|slot| slot.since).min();
                if missing || since.is_some_and(|since| since > script.table_version) {
                    0
                } else {
                    tables[*place].as_ptr().expose_provenance()
                }
            }));
            words.leak().as_ptr().expose_provenance()
        });
        // Nothing else sets the version.
        let _ = HEADER.set(header);
        Built { tables }
    })
}

/// Fills a getter's table with the slots of `version`.
///
/// # Safety
/// `table` is null or the table that the getter with this `place` fills.
pub unsafe fn fill(
    name: &str,
    place: usize,
    version: ze_api_version_t,
    table: *mut c_void,
) -> ze_result_t {
    let script = script();
    if let Some((_, code)) = script.results.iter().find(|(scripted, _)| scripted == name) {
        return ze_result_t(*code);
    }
    if script.getters.is_some_and(|newest| version.0 > newest) {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    if table.is_null() {
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if version.0 >> 16 != 1 {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    let (Some(slots), Some(facts)) = (built().tables.get(place), TABLES.get(place)) else {
        return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
    };
    for (index, (address, fact)) in slots.iter().zip(facts.slots).enumerate() {
        if fact.since <= version.0 {
            // SAFETY: slots of this version lie within the caller's table.
            unsafe { table.cast::<*const ()>().add(index).write(*address) };
        }
    }
    ZE_RESULT_SUCCESS
}
