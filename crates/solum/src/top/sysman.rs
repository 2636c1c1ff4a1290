//! One reading of a device through the system management API.
//!
//! Values that a driver does not offer are empty or `None`; only initialisation can fail.

use std::ffi::{CStr, c_char};

use level_zero::sys::*;

use crate::library::Library;

/// The most entries of a list, such as processes, that are shown.
const COUNT_BOUND: u32 = 4096;
/// The longest list that is requested. `zesDeviceProcessesGetState` does not return a part of its list, so this exceeds
/// Linux's default limit of 32,768 processes; the buffer takes 3 MiB.
const ASKED_BOUND: u32 = 1 << 16;

/// The functions that the loader exports.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) init: zes_pfnInit_t,
    pub(super) drivers: zes_pfnDriverGet_t,
    pub(super) devices: zes_pfnDeviceGet_t,
    pub(super) device_properties: zes_pfnDeviceGetProperties_t,
    pub(super) processes: zes_pfnDeviceProcessesGetState_t,
    pub(super) engines: zes_pfnDeviceEnumEngineGroups_t,
    pub(super) engine_properties: zes_pfnEngineGetProperties_t,
    pub(super) engine_activity: zes_pfnEngineGetActivity_t,
    pub(super) memories: zes_pfnDeviceEnumMemoryModules_t,
    pub(super) memory_properties: zes_pfnMemoryGetProperties_t,
    pub(super) memory_state: zes_pfnMemoryGetState_t,
    pub(super) memory_bandwidth: zes_pfnMemoryGetBandwidth_t,
    pub(super) powers: zes_pfnDeviceEnumPowerDomains_t,
    pub(super) power_energy: zes_pfnPowerGetEnergyCounter_t,
    pub(super) frequencies: zes_pfnDeviceEnumFrequencyDomains_t,
    pub(super) frequency_properties: zes_pfnFrequencyGetProperties_t,
    pub(super) frequency_state: zes_pfnFrequencyGetState_t,
    pub(super) temperatures: zes_pfnDeviceEnumTemperatureSensors_t,
    pub(super) temperature_properties: zes_pfnTemperatureGetProperties_t,
    pub(super) temperature_state: zes_pfnTemperatureGetState_t,
    pub(super) last_error: zer_pfnGetLastErrorDescription_t,
}

impl Calls {
    pub(super) fn of(library: &Library) -> Self {
        // SAFETY: each export of these names has this C signature in the specification; the slots' types are `Option`s
        // of it.
        unsafe {
            Self {
                init: library.function(c"zesInit"),
                drivers: library.function(c"zesDriverGet"),
                devices: library.function(c"zesDeviceGet"),
                device_properties: library.function(c"zesDeviceGetProperties"),
                processes: library.function(c"zesDeviceProcessesGetState"),
                engines: library.function(c"zesDeviceEnumEngineGroups"),
                engine_properties: library.function(c"zesEngineGetProperties"),
                engine_activity: library.function(c"zesEngineGetActivity"),
                memories: library.function(c"zesDeviceEnumMemoryModules"),
                memory_properties: library.function(c"zesMemoryGetProperties"),
                memory_state: library.function(c"zesMemoryGetState"),
                memory_bandwidth: library.function(c"zesMemoryGetBandwidth"),
                powers: library.function(c"zesDeviceEnumPowerDomains"),
                power_energy: library.function(c"zesPowerGetEnergyCounter"),
                frequencies: library.function(c"zesDeviceEnumFrequencyDomains"),
                frequency_properties: library.function(c"zesFrequencyGetProperties"),
                frequency_state: library.function(c"zesFrequencyGetState"),
                temperatures: library.function(c"zesDeviceEnumTemperatureSensors"),
                temperature_properties: library.function(c"zesTemperatureGetProperties"),
                temperature_state: library.function(c"zesTemperatureGetState"),
                last_error: library.function(c"zerGetLastErrorDescription"),
            }
        }
    }
}

/// One reading of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    pub(super) name: String,
    pub(super) uuid: String,
    pub(super) engines: Vec<Engine>,
    pub(super) memories: Vec<Memory>,
    /// The energy counter of each power domain, in microjoules.
    pub(super) powers: Vec<Stamped>,
    /// Domain and MHz.
    pub(super) frequencies: Vec<(String, f64)>,
    /// Sensor and degrees Celsius.
    pub(super) temperatures: Vec<(String, f64)>,
    pub(super) processes: Vec<Process>,
}

/// A counter with its time in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamped {
    pub(super) value: u64,
    pub(super) time_us: u64,
}

/// An engine group, as defined by the driver.
#[derive(Clone, Debug, Default)]
pub(super) struct Engine {
    pub(super) kind: String,
    /// Active time in microseconds.
    pub(super) active: Option<Stamped>,
}

/// A memory module.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) kind: String,
    pub(super) size_bytes: u64,
    pub(super) free_bytes: u64,
    /// Bytes read and written, with their time.
    pub(super) traffic: Option<(Stamped, Stamped)>,
}

/// A process that uses the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) memory_bytes: u64,
    pub(super) shared_bytes: u64,
}

/// The name of an enumerator without its prefix, in lower case.
fn word(name: Option<&str>, prefix: &str) -> String {
    name.map_or("unknown".into(), |name| {
        name.trim_start_matches(prefix).to_ascii_lowercase()
    })
}

/// Reads a list in two calls, count and content; empty if the function is missing or fails.
fn list<T: Clone>(
    empty: T,
    mut call: impl FnMut(*mut u32, *mut T) -> Option<ze_result_t>,
) -> Vec<T> {
    let mut count = 0;
    if call(&raw mut count, std::ptr::null_mut()) != Some(ZE_RESULT_SUCCESS) {
        return Vec::new();
    }
    // If the list has grown between the calls, one retry with spare room.
    for spare in [0, COUNT_BOUND] {
        if count == 0 {
            break;
        }
        let room = count.saturating_add(spare).min(ASKED_BOUND);
        let mut all = vec![empty.clone(); room as usize];
        count = room;
        match call(&raw mut count, all.as_mut_ptr()) {
            Some(ZE_RESULT_SUCCESS) => {
                all.truncate(count.min(COUNT_BOUND) as usize);
                return all;
            }
            Some(ZE_RESULT_ERROR_INVALID_SIZE) => {}
            _ => break,
        }
    }
    Vec::new()
}

/// A struct filled by a call; `None` if the call fails.
fn filled<T>(mut value: T, call: impl FnOnce(*mut T) -> Option<ze_result_t>) -> Option<T> {
    (call(&raw mut value) == Some(ZE_RESULT_SUCCESS)).then_some(value)
}

/// Calls a function; `None` if it is missing.
macro_rules! call {
    ($slot:expr, $($argument:expr),*) => {
        // SAFETY: handles that this library returned; outputs are valid, counts match their arrays.
        $slot.map(|function| unsafe { function($($argument),*) })
    };
}

impl Calls {
    /// Initialises system management and lists the devices.
    ///
    /// # Errors
    /// The reason why no driver offers system management.
    pub(super) fn open(&self) -> Result<Vec<zes_device_handle_t>, String> {
        let Some(init) = self.init else {
            return Err("the loader has no zesInit: it is older than version 1.5".into());
        };
        // SAFETY: no pointers are passed.
        let code = unsafe { init(0) };
        if code != ZE_RESULT_SUCCESS {
            let name = code
                .name()
                .map_or_else(|| format!("{:#x}", code.0), str::to_owned);
            return Err(format!(
                "no driver offers system management: zesInit returned {name}{}",
                self.last_error()
            ));
        }
        let mut devices = Vec::new();
        for driver in list(std::ptr::null_mut(), |count, array| {
            call!(self.drivers, count, array)
        }) {
            devices.extend(list(std::ptr::null_mut(), |count, array| {
                call!(self.devices, driver, count, array)
            }));
        }
        if devices.is_empty() {
            return Err("system management lists no device".into());
        }
        Ok(devices)
    }

    fn last_error(&self) -> String {
        let mut text: *const c_char = std::ptr::null();
        if call!(self.last_error, &raw mut text) != Some(ZE_RESULT_SUCCESS) || text.is_null() {
            return String::new();
        }
        // SAFETY: a C string that stays valid until this thread's next call.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        // A loader lists what it tried; the last line is the driver's own reason.
        text.lines()
            .next_back()
            .map_or(String::new(), |line| format!(": {}", line.trim()))
    }

    /// Reads everything about a device.
    pub(super) fn read(&self, device: zes_device_handle_t) -> Device {
        let (name, uuid) = self.identity(device);
        Device {
            name,
            uuid,
            engines: self.engines(device),
            memories: self.memories(device),
            powers: self.powers(device),
            frequencies: self.frequencies(device),
            temperatures: self.temperatures(device),
            processes: self.processes(device),
        }
    }

    fn identity(&self, device: zes_device_handle_t) -> (String, String) {
        let mut properties = zes_device_properties_t::default();
        properties.core.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
        let properties = filled(properties, |p| call!(self.device_properties, device, p));
        properties.map_or_else(Default::default, |properties| {
            let name: Vec<u8> = properties
                .core
                .name
                .iter()
                .flat_map(|c| c.to_ne_bytes())
                .take_while(|c| *c != 0)
                .collect();
            let uuid = properties.core.uuid.id;
            (
                String::from_utf8_lossy(&name).into_owned(),
                uuid.iter().map(|byte| format!("{byte:02x}")).collect(),
            )
        })
    }

    fn engines(&self, device: zes_device_handle_t) -> Vec<Engine> {
        let handles = list(std::ptr::null_mut(), |count, array| {
            call!(self.engines, device, count, array)
        });
        let read = |handle| {
            let properties = filled(zes_engine_properties_t::default(), |p| {
                call!(self.engine_properties, handle, p)
            });
            let stats = filled(zes_engine_stats_t::default(), |s| {
                call!(self.engine_activity, handle, s)
            });
            Engine {
                kind: word(
                    properties.and_then(|properties| properties.r#type.name()),
                    "ZES_ENGINE_GROUP_",
                ),
                active: stats.map(|stats| Stamped {
                    value: stats.activeTime,
                    time_us: stats.timestamp,
                }),
            }
        };
        handles.into_iter().map(read).collect()
    }

    fn memories(&self, device: zes_device_handle_t) -> Vec<Memory> {
        let handles = list(std::ptr::null_mut(), |count, array| {
            call!(self.memories, device, count, array)
        });
        let read = |handle| {
            let properties = filled(zes_mem_properties_t::default(), |p| {
                call!(self.memory_properties, handle, p)
            });
            let state = filled(zes_mem_state_t::default(), |s| {
                call!(self.memory_state, handle, s)
            })?;
            let traffic = filled(zes_mem_bandwidth_t::default(), |b| {
                call!(self.memory_bandwidth, handle, b)
            });
            Some(Memory {
                kind: word(
                    properties.and_then(|properties| properties.r#type.name()),
                    "ZES_MEM_TYPE_",
                ),
                size_bytes: state.size,
                free_bytes: state.free,
                traffic: traffic.map(|traffic| {
                    let at = |value| Stamped {
                        value,
                        time_us: traffic.timestamp,
                    };
                    (at(traffic.readCounter), at(traffic.writeCounter))
                }),
            })
        };
        handles.into_iter().filter_map(read).collect()
    }

    fn powers(&self, device: zes_device_handle_t) -> Vec<Stamped> {
        let handles = list(std::ptr::null_mut(), |count, array| {
            call!(self.powers, device, count, array)
        });
        let read = |handle| {
            let energy = filled(zes_power_energy_counter_t::default(), |e| {
                call!(self.power_energy, handle, e)
            })?;
            Some(Stamped {
                value: energy.energy,
                time_us: energy.timestamp,
            })
        };
        handles.into_iter().filter_map(read).collect()
    }

    fn frequencies(&self, device: zes_device_handle_t) -> Vec<(String, f64)> {
        let handles = list(std::ptr::null_mut(), |count, array| {
            call!(self.frequencies, device, count, array)
        });
        let read = |handle| {
            let properties = filled(zes_freq_properties_t::default(), |p| {
                call!(self.frequency_properties, handle, p)
            });
            let state = filled(zes_freq_state_t::default(), |s| {
                call!(self.frequency_state, handle, s)
            })?;
            // The specification uses a negative number for "unknown".
            (state.actual >= 0.0).then(|| {
                (
                    word(
                        properties.and_then(|properties| properties.r#type.name()),
                        "ZES_FREQ_DOMAIN_",
                    ),
                    state.actual,
                )
            })
        };
        handles.into_iter().filter_map(read).collect()
    }

    fn temperatures(&self, device: zes_device_handle_t) -> Vec<(String, f64)> {
        let handles = list(std::ptr::null_mut(), |count, array| {
            call!(self.temperatures, device, count, array)
        });
        let read = |handle| {
            let properties = filled(zes_temp_properties_t::default(), |p| {
                call!(self.temperature_properties, handle, p)
            });
            let celsius = filled(0.0, |value| call!(self.temperature_state, handle, value))?;
            Some((
                word(
                    properties.and_then(|properties| properties.r#type.name()),
                    "ZES_TEMP_SENSORS_",
                ),
                celsius,
            ))
        };
        handles.into_iter().filter_map(read).collect()
    }

    fn processes(&self, device: zes_device_handle_t) -> Vec<Process> {
        let all = list(zes_process_state_t::default(), |count, array| {
            call!(self.processes, device, count, array)
        });
        all.into_iter()
            .map(|process| Process {
                pid: process.processId,
                memory_bytes: process.memSize,
                shared_bytes: process.sharedSize,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_completely() {
        // How many there are at each call.
        for (there, shown) in [
            ([3, 3, 3], 3),
            ([5000, 5000, 5000], 4096),
            ([3, 4, 4], 4),
            ([5000, 6000, 7000], 4096),
            ([3, 4, 9000], 0),
            ([100_000, 100_000, 100_000], 0),
            ([0, 0, 0], 0),
        ] {
            let mut calls = there.into_iter();
            let all = list(0, |count, array: *mut u32| {
                let there = calls.next().expect("three calls at most");
                // SAFETY: the two-call idiom: an array of `count`, or none.
                unsafe {
                    let room = std::mem::replace(&mut *count, there);
                    if array.is_null() {
                        return Some(ZE_RESULT_SUCCESS);
                    }
                    if room < there {
                        return Some(ZE_RESULT_ERROR_INVALID_SIZE);
                    }
                    for number in 0..there {
                        *array.add(number as usize) = number;
                    }
                }
                Some(ZE_RESULT_SUCCESS)
            });
            let expected: Vec<u32> = (0..shown).collect();
            assert_eq!(all, expected, "{there:?}");
        }
    }

    #[test]
    fn of_a_long_list_the_first_are_shown() {
        for (there, shown) in [(0, 0), (3, 3), (4096, 4096), (5000, 4096)] {
            let all = list(0, |count, array: *mut u32| {
                // SAFETY: the two-call idiom: an array of `count`, or none.
                unsafe {
                    if array.is_null() {
                        *count = there;
                    } else {
                        *count = there.min(*count);
                        for number in 0..*count {
                            *array.add(number as usize) = number;
                        }
                    }
                }
                Some(ZE_RESULT_SUCCESS)
            });
            let expected: Vec<u32> = (0..shown).collect();
            assert_eq!(all, expected, "{there}");
        }
    }
}
