//! Tables as arrays of addresses, and objects that begin with them.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};

use level_zero_sys::{
    ZE_RESULT_ERROR_INVALID_NULL_POINTER, ZE_RESULT_ERROR_UNSUPPORTED_VERSION, ZE_RESULT_SUCCESS,
    ze_api_version_t, ze_result_t,
};

use crate::generated::tables::{DRIVER_TABLES, TABLES};
use crate::script::script;

/// One slot: the API function, the version that added it, the stub's function.
pub(crate) struct Slot {
    pub(crate) name: &'static str,
    pub(crate) since: u32,
    pub(crate) function: *const (),
}

// SAFETY: the address of a function.
unsafe impl Sync for Slot {}

/// One table of functions.
pub(crate) struct Table {
    pub(crate) slots: &'static [Slot],
}

/// One table of tables: places of its members.
pub(crate) struct DriverTable {
    pub(crate) members: &'static [usize],
}

/// What stands where a legacy driver's header would be: reading through it must fault.
const POISON: usize = 0x10;

/// This copy's tables, made once and never freed.
struct Built {
    /// Addresses of the slots, table by table.
    tables: Vec<&'static [*const ()]>,
    /// What each object begins with.
    header: [usize; 4],
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
                let missing = TABLES[*place]
                    .slots
                    .iter()
                    .any(|slot| is_in(&script.null_tables, slot.name));
                if missing {
                    0
                } else {
                    tables[*place].as_ptr().expose_provenance()
                }
            }));
            words.leak().as_ptr().expose_provenance()
        });
        Built { tables, header }
    })
}

/// A new object with this copy's header: 40 bytes, or with a guard page behind it as many as its driver promises.
pub(crate) fn object() -> *mut c_void {
    let header = built().header;
    if script().guard {
        return guarded(&header[..if script().legacy { 1 } else { 3 }]);
    }
    // Four words of header, then room to tell objects apart in a debugger.
    Box::into_raw(Box::new([header[0], header[1], header[2], header[3], 0])).cast()
}

/// An object of these words, behind which nothing may be read.
fn guarded(words: &[usize]) -> *mut c_void {
    const PAGE: usize = 4096;
    // SAFETY: a fresh anonymous mapping of two pages, of which the second one stays without access.
    unsafe {
        let start = libc::mmap(
            std::ptr::null_mut(),
            2 * PAGE,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if start == libc::MAP_FAILED
            || libc::mprotect(start, PAGE, libc::PROT_READ | libc::PROT_WRITE) != 0
        {
            return std::ptr::null_mut();
        }
        let object = start.cast::<u8>().add(PAGE - size_of_val(words));
        std::ptr::copy_nonoverlapping(words.as_ptr().cast(), object, size_of_val(words));
        object.cast()
    }
}

/// The object that belongs to `key`, made when it is first asked for.
pub(crate) fn kept(key: &str) -> *mut c_void {
    static KEPT: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let address = kept
        .entry(key.to_owned())
        .or_insert_with(|| object().expose_provenance());
    std::ptr::with_exposed_provenance_mut(*address)
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
