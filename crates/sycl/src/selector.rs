//! Device selectors: they choose a device when the program names none.

use std::str::FromStr;

use device_selector::Filters;
use level_zero::sys::ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;

use crate::device::{Aspect, Device, DeviceType};
use crate::enumeration::{all_devices, describe};
use crate::error::{Errc, Error, Result};

/// Scores devices: a negative score rejects, the highest wins, and the first enumerated wins among equals.
pub trait Selector {
    /// Returns the device's score.
    fn score(&self, device: &Device) -> i32;
}

impl<F: Fn(&Device) -> i32> Selector for F {
    fn score(&self, device: &Device) -> i32 {
        self(device)
    }
}

impl Device {
    /// Returns the device with the highest score.
    ///
    /// # Errors
    /// [`Errc::Runtime`] if the selector accepts no device.
    pub fn select(selector: &dyn Selector) -> Result<Self> {
        let mut best: Option<(i32, Self)> = None;
        for device in Self::all(None)? {
            let score = selector.score(&device);
            if score >= 0 && best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, device));
            }
        }
        best.map(|(_, device)| device).ok_or_else(|| {
            Error::new(
                Errc::Runtime,
                "no device matches; `solum ls` lists the devices",
            )
        })
    }
}

/// Prefers GPUs over CPUs over accelerators, and discrete devices over integrated ones.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultSelector;
/// Accepts GPUs only.
#[derive(Clone, Copy, Debug, Default)]
pub struct GpuSelector;
/// Accepts CPUs only.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuSelector;
/// Accepts accelerators only.
#[derive(Clone, Copy, Debug, Default)]
pub struct AcceleratorSelector;

impl Selector for DefaultSelector {
    fn score(&self, device: &Device) -> i32 {
        let kind = match device.kind() {
            DeviceType::Gpu => 500,
            DeviceType::Cpu => 300,
            DeviceType::Accelerator => 75,
            DeviceType::Custom => 0,
        };
        let discrete = device.0.properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED == 0;
        kind + if discrete { 50 } else { 0 }
    }
}

fn only(kind: DeviceType, device: &Device) -> i32 {
    if device.kind() == kind {
        DefaultSelector.score(device)
    } else {
        -1
    }
}

impl Selector for GpuSelector {
    fn score(&self, device: &Device) -> i32 {
        only(DeviceType::Gpu, device)
    }
}
impl Selector for CpuSelector {
    fn score(&self, device: &Device) -> i32 {
        only(DeviceType::Cpu, device)
    }
}
impl Selector for AcceleratorSelector {
    fn score(&self, device: &Device) -> i32 {
        only(DeviceType::Accelerator, device)
    }
}

/// Accepts devices with some aspects and without others.
#[derive(Clone, Debug, Default)]
pub struct AspectSelector {
    /// The device has all of these.
    pub require: Vec<Aspect>,
    /// The device has none of these.
    pub deny: Vec<Aspect>,
}

impl Selector for AspectSelector {
    fn score(&self, device: &Device) -> i32 {
        let accepted = self.require.iter().all(|aspect| device.has(*aspect))
            && !self.deny.iter().any(|aspect| device.has(*aspect));
        if accepted {
            DefaultSelector.score(device)
        } else {
            -1
        }
    }
}

/// `Backend:DeviceType:RelativeNumber[,…]`, each part optional, such as `level_zero:gpu:1,cpu`. The number counts among
/// the enumerated devices that match the other parts, so a selector can be used repeatedly.
#[derive(Clone, Debug)]
pub struct FilterSelector(Filters);

impl FromStr for FilterSelector {
    type Err = Error;

    /// # Errors
    /// [`Errc::Runtime`] with the position of the syntax error.
    fn from_str(text: &str) -> Result<Self> {
        Filters::parse(text)
            .map(Self)
            .map_err(|error| Error::new(Errc::Runtime, error.to_string()))
    }
}

impl Selector for FilterSelector {
    fn score(&self, device: &Device) -> i32 {
        let roots = all_devices();
        let described: Vec<_> = roots.iter().map(describe).collect();
        let chosen = self.0.choose(&described);
        if chosen
            .iter()
            .any(|number| roots.get(*number) == Some(device))
        {
            DefaultSelector.score(device)
        } else {
            -1
        }
    }
}
