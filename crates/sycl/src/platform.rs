//! Platforms: the drivers that are found, once per process, and the devices that the environment leaves of them.
//!
//! Where Level Zero comes from, in this order: what the program set with [`use_entry`]; the loader that
//! `SOLUM_ZE_LOADER` names; an installed `libze_loader.so.1` with at least one device; the driver inside the program
//! (feature `driver`). Without any the list of platforms is empty.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use device_selector::{DeviceSelector, Filters, Kind, Rules};
use level_zero::sys::*;
use level_zero::{Entry, Loader, Tables};

use crate::context::Context;
use crate::device::{Device, DeviceInner, DeviceType};
use crate::environment;
use crate::error::{Errc, Error, Result};
use crate::info::Info;
use crate::log::{CHOICES, say};
use crate::ze::Api;

/// A programming interface under this runtime.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Backend {
    /// Level Zero, the only one.
    LevelZero,
}

/// A driver with its devices.
#[derive(Clone, Copy)]
pub struct Platform(pub(crate) &'static PlatformInner);

pub(crate) struct PlatformInner {
    pub(crate) api: Api,
    /// All root devices that the driver has.
    pub(crate) roots: OnceLock<Vec<Device>>,
    /// The devices that the environment leaves, in the order of enumeration.
    chosen: OnceLock<Vec<Device>>,
    default_context: Mutex<Option<Context>>,
    images_over_memory: OnceLock<bool>,
}

impl PartialEq for Platform {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for Platform {}
impl Hash for Platform {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}
impl std::fmt::Debug for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Platform({:p})", self.0.api.driver)
    }
}

static ENTRY: Mutex<Option<Entry>> = Mutex::new(None);
static PLATFORMS: OnceLock<Result<Vec<Platform>>> = OnceLock::new();

/// Takes the driver at `entry` instead of looking for a loader. To be called before anything else of this crate.
///
/// # Errors
/// [`Errc::Invalid`] when platforms have been looked for already.
pub fn use_entry(entry: Entry) -> Result<()> {
    let mut place = ENTRY.lock().unwrap_or_else(PoisonError::into_inner);
    if PLATFORMS.get().is_some() {
        return Err(Error::invalid(
            "platforms have been enumerated already: call use_entry before anything else",
        ));
    }
    *place = Some(entry);
    Ok(())
}

/// All drivers, whether or not the environment leaves devices of them.
pub(crate) fn drivers() -> Result<&'static [Platform]> {
    crate::trace::start();
    let found = PLATFORMS.get_or_init(|| {
        let Some(tables) = find() else {
            return Ok(Vec::new());
        };
        let drivers = tables.drivers().unwrap_or_default();
        let tables: &'static Tables = tables.tables();
        let platforms: Vec<Platform> = drivers
            .iter()
            .map(|driver| {
                let api = Api {
                    tables,
                    driver: driver.as_raw(),
                };
                Platform(Box::leak(Box::new(PlatformInner {
                    api,
                    roots: OnceLock::new(),
                    chosen: OnceLock::new(),
                    default_context: Mutex::new(None),
                    images_over_memory: OnceLock::new(),
                })))
            })
            .collect();
        crate::leaks::start();
        crate::exit::start();
        environment::check().inspect_err(|error| complain(&error.to_string()))?;
        for platform in &platforms {
            let roots = DeviceInner::roots(*platform).unwrap_or_default();
            let _ = platform.0.roots.set(roots);
        }
        choose(&platforms)?;
        Ok(platforms)
    });
    found.as_deref().map_err(Clone::clone)
}

/// Whether the process has more rights than the user who started it, and chose its environment.
fn is_privileged() -> bool {
    // SAFETY: reads a word that the kernel gave the process.
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
                say(CHOICES, || "Level Zero is what SOLUM_ZE_LOADER names");
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

/// Applies the environment's choice of devices.
fn choose(platforms: &[Platform]) -> Result<()> {
    let roots: Vec<Device> = platforms.iter().flat_map(|p| p.all_roots()).collect();
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
    say_what_is_there(&roots, &devices);
    for platform in platforms {
        let own = devices.iter().filter(|d| d.platform() == *platform);
        let _ = platform.0.chosen.set(own.cloned().collect());
    }
    Ok(())
}

/// Each device with its type, and whether the environment leaves it.
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

/// At the end of the process: the contexts that live as long as it does, with what is remembered in them.
pub(crate) fn drop_default_contexts() {
    let Some(Ok(platforms)) = PLATFORMS.get() else {
        return;
    };
    for platform in platforms {
        let known = &platform.0.default_context;
        let context = known.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(context);
    }
}

/// A device as the selectors' grammars see it.
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

/// One line on stderr.
pub(crate) fn complain(line: &str) {
    signal_mask::write_stderr(format!("sycl: {line}\n").as_bytes());
}

impl Platform {
    /// Every platform with at least one device; those come first enumerated first.
    ///
    /// # Errors
    /// [`Errc::Invalid`] with the place when `ONEAPI_DEVICE_SELECTOR` is not understood.
    pub fn all() -> Result<Vec<Self>> {
        let all = drivers()?.iter().copied();
        Ok(all.filter(|p| !p.chosen_devices().is_empty()).collect())
    }

    /// Always Level Zero.
    #[must_use]
    pub fn backend(&self) -> Backend {
        Backend::LevelZero
    }

    /// Its devices of a type, or all.
    ///
    /// # Errors
    /// None today; those of enumeration where it happens late.
    pub fn devices(&self, kind: Option<DeviceType>) -> Result<Vec<Device>> {
        let all = self.chosen_devices().iter();
        Ok(all
            .filter(|device| kind.is_none_or(|kind| device.kind() == kind))
            .cloned()
            .collect())
    }

    /// Whether its driver makes images over memory that is there already.
    pub(crate) fn has_images_over_memory(&self) -> bool {
        *self.0.images_over_memory.get_or_init(|| {
            let all = self.info::<crate::info::platform::Extensions>();
            let name = ZE_BINDLESS_IMAGE_EXP_NAME.to_str();
            all.is_ok_and(|all| all.iter().any(|known| Ok(known.as_str()) == name))
        })
    }

    /// The context of all its devices, which queues without a context of their own use. Where it was lost with a device,
    /// a new one.
    ///
    /// # Errors
    /// [`Errc::Runtime`] when it has no device; the call's.
    pub fn default_context(&self) -> Result<Context> {
        let known = &self.0.default_context;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = known.as_ref().filter(|known| !known.0.native.is_lost()) {
            return Ok(context.clone());
        }
        let context = Context::new(self.chosen_devices())?;
        let lost = known.replace(context.clone());
        // Outside the lock: its end is that of much else.
        drop((known, lost));
        Ok(context)
    }

    /// A property, such as `platform.info::<info::platform::Name>()`.
    ///
    /// # Errors
    /// As the descriptor says.
    pub fn info<I: Info<Self>>(&self) -> Result<I::Value> {
        I::get(self)
    }

    pub(crate) fn api(&self) -> Api {
        self.0.api
    }

    pub(crate) fn chosen_devices(&self) -> &'static [Device] {
        self.0.chosen.get().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn all_roots(&self) -> Vec<Device> {
        self.0.roots.get().cloned().unwrap_or_default()
    }

    pub(crate) fn of_driver(driver: ze_driver_handle_t) -> Result<Self> {
        let known = drivers()?.iter().find(|p| p.0.api.driver == driver);
        let platform = *known.ok_or_else(|| {
            Error::invalid(format!(
                "{driver:p} is not the handle of an enumerated driver"
            ))
        })?;
        if platform.chosen_devices().is_empty() {
            return Err(Error::new(
                Errc::Platform,
                "all devices of this driver are hidden by the environment's device selector",
            ));
        }
        Ok(platform)
    }
}
