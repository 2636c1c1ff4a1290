//! Clocks of devices: their ticks as nanoseconds of the recording's clock.

use level_zero_sys::*;
use timeline::record::Event;

use super::api::Api;
use crate::sink::{Sink, now};

/// How long a reading of both clocks is good for.
const FRESH: u64 = 500_000_000;

/// A device's clock, and the recording's clock at the same moment.
pub(crate) struct Clock {
    device: usize,
    number: u64,
    /// Nanoseconds of a tick.
    tick: f64,
    /// Bits that a kernel's timestamps have.
    bits: u32,
    host: u64,
    ticks: u64,
}

impl Clock {
    /// Queries the device's name and clock and records them.
    pub(crate) fn new(api: &Api, sink: &Sink, device: ze_device_handle_t, number: u64) -> Self {
        let mut properties = ze_device_properties_t {
            stype: ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
            ..ze_device_properties_t::default()
        };
        // SAFETY: a live device of the program's, and a struct to write to.
        let known = unsafe { (api.device_properties)(device, &raw mut properties) };
        let name: Vec<u8> = properties
            .name
            .iter()
            .map(|letter| *letter as u8)
            .take_while(|letter| *letter != 0)
            .collect();
        // In this form of the struct the resolution is in ticks a second.
        let tick = match properties.timerResolution {
            0 => 1.0,
            rate => 1e9 / rate as f64,
        };
        let name = if known == ZE_RESULT_SUCCESS && !name.is_empty() {
            sink.text(&name)
        } else {
            sink.text(format!("device {number}").as_bytes())
        };
        sink.emit(
            &Event::Device {
                device: number,
                name,
            },
            &[],
        );
        let mut clock = Self {
            device: device as usize,
            number,
            tick,
            bits: properties.kernelTimestampValidBits,
            host: 0,
            ticks: 0,
        };
        clock.read(api, sink);
        clock
    }

    /// The device's number in the recording.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads both clocks: the best of three attempts, by how long the device's reading took.
    fn read(&mut self, api: &Api, sink: &Sink) {
        let mut best = u64::MAX;
        for _ in 0..3 {
            let (mut host, mut ticks) = (0, 0);
            let before = now();
            // SAFETY: a live device and two places to write to.
            let read = unsafe {
                (api.device_clock)(
                    self.device as ze_device_handle_t,
                    &raw mut host,
                    &raw mut ticks,
                )
            };
            let took = now() - before;
            if read == ZE_RESULT_SUCCESS && took < best {
                best = took;
                self.host = before + took / 2;
                self.ticks = ticks;
            }
        }
        if best == u64::MAX {
            // A device without a clock: its work is shown at the time when it was found to have ended.
            self.host = now();
        }
        let clock = Event::Clock {
            device: self.number,
            host: self.host,
            ticks: self.ticks,
        };
        sink.emit(&clock, &[]);
    }

    /// Begin and end of a command on the recording's clock.
    pub(crate) fn times(
        &mut self,
        api: &Api,
        sink: &Sink,
        stamps: &ze_kernel_timestamp_data_t,
    ) -> (u64, u64) {
        if now().saturating_sub(self.host) > FRESH {
            self.read(api, sink);
        }
        (self.time(stamps.kernelStart), self.time(stamps.kernelEnd))
    }

    fn time(&self, stamp: u64) -> u64 {
        // Kernel timestamps may have fewer bits than the device's clock: the difference is computed in their width,
        // with its sign.
        let distance = stamp.wrapping_sub(self.ticks);
        let spare = match self.bits {
            1..=63 => 64 - self.bits,
            _ => 0,
        };
        let distance = (distance << spare).cast_signed() >> spare;
        self.host
            .saturating_add_signed((distance as f64 * self.tick) as i64)
    }
}
