//! Enumeration: finds the drivers, once per process, and selects devices by the environment's variables.
//!
//! Level Zero comes from the first of these that exists: the entry that the program set with [`use_entry`]; the loader
//! that `SOLUM_ZE_LOADER` names; an installed `libze_loader.so.1` with at least one device; the driver inside the
//! program (feature `driver`). Without any of them there are no platforms.

use std::path::Path;
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use device_selector::{DeviceSelector, Filters, Kind, Rules};
use level_zero::sys::*;
use level_zero::{Entry, Loader, Tables};

use crate::context::Context;
use crate::device::{Device, DeviceInner, DeviceType, number_devices};
use crate::engine::deferred_release::sweep_all;
use crate::environment;
use crate::error::{Errc, Error, Result};
use crate::log::{CHOICES, complain, say};
use crate::platform::Platform;
use crate::process;
use crate::ze::Api;

/// A driver that was found.
pub(crate) struct Driver {
    platform: Platform,
    /// The selected devices, in enumeration order.
    devices: Vec<Device>,
    default_context: Mutex<Option<Context>>,
}

static ENTRY: Mutex<Option<Entry>> = Mutex::new(None);
static DRIVERS: OnceLock<Result<Vec<Driver>>> = OnceLock::new();

/// Uses the driver at `entry` instead of looking for a loader. Call it before anything else of this crate.
///
/// # Errors
/// [`Errc::Invalid`] if platforms were enumerated already.
pub fn use_entry(entry: Entry) -> Result<()> {
    let mut place = ENTRY.lock().unwrap_or_else(PoisonError::into_inner);
    if DRIVERS.get().is_some() {
        return Err(Error::invalid(
            "platforms have been enumerated already: call use_entry before anything else",
        ));
    }
    *place = Some(entry);
    Ok(())
}

/// Returns all drivers, including those without a selected device.
pub(crate) fn drivers() -> Result<&'static [Driver]> {
    crate::trace::start();
    let found = DRIVERS.get_or_init(|| {
        let Some(loader) = find() else {
            return Ok(Vec::new());
        };
        let drivers = loader.drivers().unwrap_or_default();
        let tables: &'static Tables = loader.tables();
        let platforms: Vec<Platform> = drivers
            .iter()
            .map(|driver| {
                let driver = driver.as_raw();
                Platform::new(Api { tables, driver })
            })
            .collect();
        report_leaks_at_exit();
        crate::engine::exit::start();
        environment::check().inspect_err(|error| complain(&error.to_string()))?;
        let roots = platforms.iter();
        let roots = roots.flat_map(|platform| DeviceInner::roots(*platform).unwrap_or_default());
        let devices = choose(&roots.collect::<Vec<_>>())?;
        number_devices(&devices);
        let of = |platform: Platform| {
            let own = devices.iter().filter(|d| d.platform() == platform);
            own.cloned().collect()
        };
        let driver = |platform| Driver {
            platform,
            devices: of(platform),
            default_context: Mutex::default(),
        };
        Ok(platforms.into_iter().map(driver).collect())
    });
    found.as_deref().map_err(Clone::clone)
}

/// Returns every selected device in enumeration order; none if enumeration fails.
pub(crate) fn all_devices() -> Vec<Device> {
    let drivers = drivers().unwrap_or_default().iter();
    drivers.flat_map(|driver| driver.devices.clone()).collect()
}

/// Whether the process has more rights than the user who set its environment.
fn is_privileged() -> bool {
    // SAFETY: reads a word that the kernel passed to the process.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

fn find() -> Option<&'static Loader> {
    let keep = |loader: Loader| -> &'static Loader { Box::leak(Box::new(loader)) };
    let set = *ENTRY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = set {
        say(CHOICES, || "Level Zero is the program's own");
        return Loader::from_entry(entry).ok().map(keep);
    }
    let named = std::env::var_os("SOLUM_ZE_LOADER").filter(|path| !path.is_empty());
    if named.is_some() && is_privileged() {
        complain("SOLUM_ZE_LOADER is ignored: the program has elevated privileges");
    } else if let Some(path) = named {
        match Loader::open_at(Path::new(&path)) {
            Ok(loader) => {
                say(
                    CHOICES,
                    || "Level Zero is the loader that SOLUM_ZE_LOADER names",
                );
                return Some(keep(loader));
            }
            Err(error) => complain(&format!("SOLUM_ZE_LOADER: {error}; trying the next loader")),
        }
    }
    let installed = Loader::open().ok().filter(|loader| {
        let drivers = loader.drivers().unwrap_or_default();
        drivers
            .iter()
            .any(|driver| driver.devices().is_ok_and(|devices| !devices.is_empty()))
    });
    if let Some(loader) = installed {
        say(CHOICES, || "Level Zero is the installed loader");
        return Some(keep(loader));
    }
    #[cfg(feature = "driver")]
    {
        say(CHOICES, || "Level Zero is the driver inside the program");
        Loader::from_entry(ze_cpu::entry()).ok().map(keep)
    }
    #[cfg(not(feature = "driver"))]
    {
        say(CHOICES, || "there is no Level Zero");
        None
    }
}

/// Selects from the root devices by the environment, in its order.
fn choose(roots: &[Device]) -> Result<Vec<Device>> {
    let described: Vec<_> = roots.iter().map(describe).collect();
    let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let older = ["SYCL_BE", "SYCL_DEVICE_TYPE"];
    let older: Vec<&str> = older
        .into_iter()
        .filter(|name| variable(name).is_some())
        .collect();
    if !older.is_empty() && variable("ONEAPI_DEVICE_SELECTOR").is_none() {
        let names = older.join(" and ");
        complain(&format!("ignored: {names}; use ONEAPI_DEVICE_SELECTOR"));
    }
    let chosen = match (
        variable("ONEAPI_DEVICE_SELECTOR"),
        variable("SYCL_DEVICE_FILTER"),
    ) {
        (Some(text), _) => {
            let selector = DeviceSelector::parse(&text, Rules::Strict)
                .map_err(|error| Error::invalid(format!("ONEAPI_DEVICE_SELECTOR: {error}")))?;
            let chosen = selector.choose(&described);
            for warning in &chosen.warnings {
                complain(&format!("ONEAPI_DEVICE_SELECTOR: {warning}"));
            }
            chosen.devices
        }
        (None, Some(text)) => {
            complain("SYCL_DEVICE_FILTER is deprecated: use ONEAPI_DEVICE_SELECTOR");
            let filters = Filters::parse(&text)
                .map_err(|error| Error::invalid(format!("SYCL_DEVICE_FILTER: {error}")))?;
            let numbers = filters.choose(&described).into_iter();
            numbers.map(|number| vec![number]).collect()
        }
        (None, None) => (0..roots.len()).map(|number| vec![number]).collect(),
    };
    let mut devices = Vec::new();
    for path in &chosen {
        let Some((first, rest)) = path.split_first() else {
            continue;
        };
        let mut device = roots.get(*first).cloned();
        for number in rest {
            device = device.and_then(|device| device.parts().get(*number).cloned());
        }
        devices.extend(device.map(|device| device.as_root(rest.is_empty())));
    }
    say_what_is_there(roots, &devices);
    Ok(devices)
}

/// Logs each device with its type, and whether it is selected.
fn say_what_is_there(roots: &[Device], chosen: &[Device]) {
    for (number, device) in chosen.iter().enumerate() {
        let (name, kind) = (crate::ze::text(&device.0.properties.name), device.kind());
        say(CHOICES, || format!("device {number}: {name}, {kind:?}"));
    }
    for device in roots.iter().filter(|root| !chosen.contains(root)) {
        let (name, kind) = (crate::ze::text(&device.0.properties.name), device.kind());
        say(CHOICES, || format!("hidden as a whole: {name}, {kind:?}"));
    }
}

/// If the environment asks for it, counts Level Zero's objects from now on and reports leaks at exit. Called when
/// drivers are loaded: functions registered later run earlier at exit, so drivers still respond then.
fn report_leaks_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        if environment::leaks() {
            crate::leaks::start();
            // SAFETY: a function without arguments that does not unwind.
            let _ = unsafe { libc::atexit(report_leaks) };
        }
    });
}

extern "C" fn report_leaks() {
    // In a fork the objects belong to the parent, and so do the threads that may hold locks.
    if process::is_fork() {
        return;
    }
    // Nothing can catch a panic at the end of the process.
    let _ = std::panic::catch_unwind(|| {
        // Running work gets time to end, but only two seconds.
        process::wait_until(sweep_all);
        drop_default_contexts();
        sweep_all();
        complain(&crate::leaks::report());
    });
}

/// At the end of the process: drops the contexts that live as long as it does, with everything cached in them.
fn drop_default_contexts() {
    let Some(Ok(drivers)) = DRIVERS.get() else {
        return;
    };
    for driver in drivers {
        let known = &driver.default_context;
        let context = known.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(context);
    }
}

/// Describes a device in the terms of the selectors' grammars.
pub(crate) fn describe(device: &Device) -> device_selector::Device {
    let kind = match device.kind() {
        DeviceType::Cpu => Kind::Cpu,
        DeviceType::Gpu => Kind::Gpu,
        DeviceType::Accelerator | DeviceType::Custom => Kind::Accelerator,
    };
    device_selector::Device {
        kind,
        parts: device.parts().iter().map(describe).collect(),
    }
}

impl Device {
    /// Returns every device, or those of one type, in enumeration order.
    ///
    /// # Errors
    /// As [`Platform::all`].
    pub fn all(kind: Option<DeviceType>) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for driver in drivers()? {
            all.extend(driver.platform.devices(kind)?);
        }
        Ok(all)
    }
}

impl Platform {
    /// Returns every platform with at least one device, in enumeration order.
    ///
    /// # Errors
    /// [`Errc::Invalid`] with the position if `ONEAPI_DEVICE_SELECTOR` cannot be parsed.
    pub fn all() -> Result<Vec<Self>> {
        let all = drivers()?.iter();
        let all = all.filter(|driver| !driver.devices.is_empty());
        Ok(all.map(|driver| driver.platform).collect())
    }

    /// The platform's driver, as enumerated.
    fn driver(self) -> Result<&'static Driver> {
        let known = drivers()?.iter().find(|driver| driver.platform == self);
        known.ok_or_else(|| Error::new(Errc::Platform, "the platform was not enumerated"))
    }

    /// Returns the platform's devices, or those of one type.
    ///
    /// # Errors
    /// Those of enumeration.
    pub fn devices(&self, kind: Option<DeviceType>) -> Result<Vec<Device>> {
        let all = self.driver()?.devices.iter();
        Ok(all
            .filter(|device| kind.is_none_or(|kind| device.kind() == kind))
            .cloned()
            .collect())
    }

    /// Returns the context of all devices, which queues use by default. After a loss of the whole context a new one is
    /// made.
    ///
    /// # Errors
    /// [`Errc::Runtime`] without devices; errors of the driver.
    pub fn default_context(&self) -> Result<Context> {
        let driver = self.driver()?;
        let known = &driver.default_context;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = known.as_ref().filter(|known| !known.0.native.is_lost()) {
            return Ok(context.clone());
        }
        let context = Context::new(&driver.devices)?;
        let lost = known.replace(context.clone());
        // Outside the lock, because dropping it drops many other objects.
        drop((known, lost));
        Ok(context)
    }

    /// Returns the platform with a driver's handle.
    pub(crate) fn of_driver(driver: ze_driver_handle_t) -> Result<Self> {
        let mut all = drivers()?.iter();
        let known = all.find(|known| known.platform.api().driver == driver);
        let known = known.ok_or_else(|| {
            Error::invalid(format!(
                "{driver:p} is not the handle of an enumerated driver"
            ))
        })?;
        if known.devices.is_empty() {
            return Err(Error::new(
                Errc::Platform,
                "all devices of this driver are hidden by the environment's device selector",
            ));
        }
        Ok(known.platform)
    }
}
