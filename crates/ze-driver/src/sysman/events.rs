//! Events of devices, for programs that registered for them; sysman/events.yml.
//!
//! A reset raises DETACH and ATTACH at once. Temperatures and throttling are polled several times a second while a program
//! listens, and not at all otherwise.

use crate::check::{error, flags, lock, not_null};
use crate::core::device::Device;
use crate::core::driver::{self, Driver};
use crate::sysman::{frequency, temperature};
use level_zero_sys::*;
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use ze_abi::{Handle, Handles, Prop, ZeResult};
use ze_abi_macros::ze_entry;

/// All events of the specification.
const ALL: u32 = ZES_EVENT_TYPE_FLAG_SURVIVABILITY_MODE_DETECTED * 2 - 1;
/// Events that are polled.
const WATCHED: u32 = temperature::EVENTS | ZES_EVENT_TYPE_FLAG_FREQ_THROTTLED;
/// The polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Registered and pending events, by root device.
pub(super) struct Events {
    devices: Mutex<Vec<State>>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    registered: u32,
    pending: u32,
    /// The last throttling time of all domains together.
    throttled: Option<u64>,
}

impl Events {
    /// The events of this process.
    pub(super) fn of_process() -> ZeResult<&'static Self> {
        static EVENTS: OnceLock<Events> = OnceLock::new();
        let driver = driver::driver()?;
        Ok(EVENTS.get_or_init(|| Self {
            devices: Mutex::new(vec![State::default(); driver.devices().len()]),
            changed: Condvar::new(),
        }))
    }

    /// Keeps registered events of `device` for the next listener.
    pub(super) fn raise(&self, device: usize, events: u32) {
        if let Some(state) = lock(&self.devices).get_mut(device) {
            state.pending |= events & state.registered;
        }
        self.changed.notify_all();
    }

    fn register(&self, device: usize, events: u32) {
        if let Some(state) = lock(&self.devices).get_mut(device) {
            *state = State {
                registered: events,
                pending: state.pending & events,
                throttled: None,
            };
        }
        self.changed.notify_all();
    }

    /// Polls the sensors for the registered events of `devices`.
    fn look(&self, devices: &[&Device]) {
        for device in devices {
            let root = device.root_index();
            let registered = lock(&self.devices)
                .get(root)
                .map_or(0, |state| state.registered);
            let mut events = 0;
            if registered & temperature::EVENTS != 0 {
                events |= temperature::look(device);
            }
            if registered & ZES_EVENT_TYPE_FLAG_FREQ_THROTTLED != 0 {
                let domains = frequency::all(device).unwrap_or(&[]);
                let total: u64 = domains.iter().filter_map(|d| d.throttled()).sum();
                if let Some(state) = lock(&self.devices).get_mut(root)
                    && state
                        .throttled
                        .replace(total)
                        .is_some_and(|last| total > last)
                {
                    events |= ZES_EVENT_TYPE_FLAG_FREQ_THROTTLED;
                }
            }
            if events != 0 {
                self.raise(root, events);
            }
        }
    }

    /// Waits until one of `devices` has events, none is registered for any, or the time is over. Takes the events, and
    /// returns how many devices had some.
    fn listen(&self, devices: &[&Device], timeout: Option<Duration>, found: &mut [u32]) -> u32 {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            self.look(devices);
            let mut states = lock(&self.devices);
            let (mut count, mut registered) = (0, 0);
            for (device, found) in devices.iter().zip(&mut *found) {
                let Some(state) = states.get_mut(device.root_index()) else {
                    continue;
                };
                registered |= state.registered;
                *found = state.pending;
                count += u32::from(*found != 0);
            }
            if count > 0 {
                // Cleared afterwards, so that a device in the list twice reports its events twice.
                for device in devices {
                    if let Some(state) = states.get_mut(device.root_index()) {
                        state.pending = 0;
                    }
                }
                return count;
            }
            let now = Instant::now();
            let left = end.map(|end| end.saturating_duration_since(now));
            if registered == 0 || left == Some(Duration::ZERO) {
                return 0;
            }
            let mut nap = left.unwrap_or(Duration::from_secs(3600));
            if registered & WATCHED != 0 {
                nap = nap.min(LOOK_EVERY);
            }
            let woken = self.changed.wait_timeout(states, nap);
            drop(woken.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Registers for events of the device; 0 unregisters; sysman/events.yml.
#[ze_entry(zes_pfnDeviceEventRegister_t)]
pub(crate) fn zesDeviceEventRegister(hDevice: Handle<'_, Device>, events: u32) -> ZeResult {
    flags("events", events, ALL)?;
    Events::of_process()?.register(hDevice.root_index(), events);
    Ok(())
}

/// # Safety
/// `events` is null or valid for as many flags as there are devices.
unsafe fn listen(
    timeout: Option<Duration>,
    devices: &[&Device],
    number: &mut u32,
    events: *mut zes_event_type_flags_t,
) -> ZeResult {
    not_null("pEvents", events)?;
    if devices.is_empty() {
        return error(
            ZE_RESULT_ERROR_INVALID_ARGUMENT,
            "count is 0, at least one device is required",
        );
    }
    // SAFETY: not null; one flag a device by this function's contract.
    let found = unsafe { std::slice::from_raw_parts_mut(events, devices.len()) };
    *number = Events::of_process()?.listen(devices, timeout, found);
    Ok(())
}

/// Waits up to that many milliseconds, forever for UINT32_MAX; sysman/events.yml.
#[ze_entry(zes_pfnDriverEventListen_t)]
pub(crate) fn zesDriverEventListen(
    _hDriver: Handle<'_, Driver>,
    timeout: u32,
    phDevices: Handles<'_, Device>,
    mut pNumDeviceEvents: Prop<'_, u32>,
    pEvents: *mut zes_event_type_flags_t,
) -> ZeResult {
    let limit = (timeout != u32::MAX).then(|| Duration::from_millis(u64::from(timeout)));
    // SAFETY: null or one flag a device, by the specification.
    unsafe { listen(limit, phDevices.get(), &mut pNumDeviceEvents, pEvents) }
}

/// Waits up to that many milliseconds, forever for UINT64_MAX; sysman/events.yml.
#[ze_entry(zes_pfnDriverEventListenEx_t)]
pub(crate) fn zesDriverEventListenEx(
    _hDriver: Handle<'_, Driver>,
    timeout: u64,
    phDevices: Handles<'_, Device>,
    mut pNumDeviceEvents: Prop<'_, u32>,
    pEvents: *mut zes_event_type_flags_t,
) -> ZeResult {
    let limit = (timeout != u64::MAX).then(|| Duration::from_millis(timeout));
    // SAFETY: null or one flag a device, by the specification.
    unsafe { listen(limit, phDevices.get(), &mut pNumDeviceEvents, pEvents) }
}
