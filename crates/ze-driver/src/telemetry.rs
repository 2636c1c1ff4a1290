//! Sensors and counters of devices: the boundary below system management and metrics.
//!
//! A platform with a [`Telemetry`] lists parts (sensors, domains, modules) once, in a fixed order. Each reading reads one
//! part, and costs as much as its source. Devices are indices of root devices in `Platform::devices`; parts are indices
//! into the device's list. Any thread may call at any time.

/// Why a value is not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The system denies access. The text says what to allow.
    Denied(String),
    /// The machine does not have the value. The text says where it was looked for.
    Absent(String),
}

/// Result of a reading.
pub type Reading<T> = Result<T, ReadError>;

/// Vendor and model; empty strings are unknown.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "named after the specification's fields")]
pub struct Identity {
    pub serial_number: String,
    pub board_number: String,
    pub brand_name: String,
    pub model_name: String,
    pub vendor_name: String,
}

/// A process that uses the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessUse {
    /// Process id.
    pub pid: u32,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Bytes of memory that it shares with the host.
    pub shared_bytes: u64,
    /// It runs kernels, or ran one most recently.
    pub compute: bool,
    /// It runs copies, or ran one most recently.
    pub copy: bool,
}

/// The work that an engine group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// All work of the device, for any process.
    All,
    /// Kernels.
    ComputeAll,
    /// Copies and fills.
    CopyAll,
    /// All work of one core.
    Core,
}

/// A counter of microseconds with the time of its reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Microseconds, microjoules or bytes, as the function says.
    pub value: u64,
    /// Microseconds of a clock that only goes forward.
    pub time_us: u64,
}

/// A part of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryModule {
    /// Sub-device that it belongs to.
    pub sub_device: Option<u32>,
    /// Bytes.
    pub size: u64,
}

/// The state of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryState {
    /// Bytes that can be allocated.
    pub free: u64,
    /// Size in bytes.
    pub size: u64,
    /// Health according to error counters, if known.
    pub healthy: Option<bool>,
}

/// A set of cores with one clock.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyDomain {
    /// Lowest clock in MHz.
    pub min_mhz: f64,
    /// Highest clock in MHz.
    pub max_mhz: f64,
    /// This process can set the range.
    pub can_control: bool,
    /// Throttling is counted.
    pub counts_throttling: bool,
}

/// The state of a clock; `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrequencyState {
    /// Requested, MHz.
    pub request: Option<f64>,
    /// Highest under the present power limit, MHz.
    pub tdp: Option<f64>,
    /// Base clock, MHz.
    pub efficient: Option<f64>,
    /// Measured, MHz.
    pub actual: Option<f64>,
    /// Throttled below the request by temperature.
    pub thermal: bool,
}

/// The location of a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorPlace {
    /// The hottest of all.
    Global,
    /// The cores.
    Cores,
    /// Memory.
    Memory,
}

/// A thermometer.
#[derive(Clone, Debug, PartialEq)]
pub struct TemperatureSensor {
    /// Location.
    pub place: SensorPlace,
    /// Degrees Celsius at which the device protects itself.
    pub critical: Option<f64>,
}

/// The part of the processor that a power domain supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerPlace {
    /// The processor's package.
    Package,
    /// Its memory.
    Memory,
    /// Its cores.
    Cores,
}

/// A power domain: its energy is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerDomain {
    /// The part that it supplies.
    pub place: PowerPlace,
    /// Default limit in milliwatts.
    pub default_limit_mw: Option<i32>,
    /// Highest limit in milliwatts.
    pub max_limit_mw: Option<i32>,
    /// This process can set the limit.
    pub can_control: bool,
}

/// A limit of average power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// In force.
    pub enabled: bool,
    /// Milliwatts.
    pub power_mw: i32,
    /// Averaging window in milliseconds.
    pub interval_ms: i32,
    /// The burst limit rather than the sustained one.
    pub burst: bool,
}

/// Memory errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryErrors {
    /// Corrected.
    pub corrected: u64,
    /// Not corrected.
    pub uncorrected: u64,
}

/// The engine's work since the process began, for all devices of the process together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Nanoseconds of the device clock at the reading.
    pub time_ns: u64,
    /// Thread-nanoseconds in kernels, running ones included.
    pub compute_ns: u64,
    /// Thread-nanoseconds in copies and fills, running ones included.
    pub copy_ns: u64,
    /// Kernels started.
    pub kernels: u64,
    /// Work-groups ended.
    pub groups: u64,
    /// Bytes copied and filled.
    pub bytes: u64,
}

/// A counter of the processor or the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// `instructions`, `page-faults`.
    pub name: &'static str,
    /// A description.
    pub description: &'static str,
    /// `ns`, or empty for plain numbers.
    pub unit: &'static str,
    /// Counts the processor's events rather than the system's.
    pub hardware: bool,
}

/// The device's sensors, domains and counters.
#[expect(
    missing_docs,
    reason = "one value each, of the part that the parameters name"
)]
pub trait Telemetry: Send + Sync {
    fn identity(&self, device: usize) -> Identity;
    fn processes(&self, device: usize) -> Reading<Vec<ProcessUse>>;
    fn engines(&self, device: usize) -> Vec<EngineKind>;
    /// Microseconds that the group was busy; those of several cores divided by their number.
    fn engine_activity(&self, device: usize, engine: usize) -> Reading<Stamped>;
    fn memories(&self, device: usize) -> Vec<MemoryModule>;
    fn memory_state(&self, device: usize, module: usize) -> Reading<MemoryState>;
    fn frequencies(&self, device: usize) -> Vec<FrequencyDomain>;
    fn frequency_state(&self, device: usize, domain: usize) -> Reading<FrequencyState>;
    /// MHz, rising.
    fn frequency_clocks(&self, device: usize, domain: usize) -> Reading<Vec<f64>>;
    /// Limits now in force, MHz.
    fn frequency_range(&self, device: usize, domain: usize) -> Reading<(f64, f64)>;
    /// Sets the limits in MHz; `None`: the machine's default.
    fn set_frequency_range(
        &self,
        device: usize,
        domain: usize,
        range: (Option<f64>, Option<f64>),
    ) -> Reading<()>;
    /// Microseconds that the domain was throttled.
    fn throttle_time(&self, device: usize, domain: usize) -> Reading<Stamped>;
    fn temperatures(&self, device: usize) -> Vec<TemperatureSensor>;
    /// Degrees Celsius.
    fn temperature(&self, device: usize, sensor: usize) -> Reading<f64>;
    fn powers(&self, device: usize) -> Vec<PowerDomain>;
    /// Microjoules; never decreases.
    fn energy(&self, device: usize, domain: usize) -> Reading<Stamped>;
    fn power_limits(&self, device: usize, domain: usize) -> Reading<Vec<PowerLimit>>;
    /// Milliwatts of the sustained (or burst) limit.
    fn set_power_limit(
        &self,
        device: usize,
        domain: usize,
        burst: bool,
        power_mw: i32,
    ) -> Reading<()>;
    /// `None`: memory errors are not counted here.
    fn memory_errors(&self, device: usize) -> Option<Reading<MemoryErrors>>;
    /// Name and version of the firmware inside the device.
    fn firmwares(&self, device: usize) -> Vec<(String, String)>;
    /// Ends kernels that run on the device for this process. The caller has marked their contexts as lost.
    fn reset(&self, device: usize);
    /// The engine's work.
    fn work(&self) -> Work;
    /// Counters that this process may read; [`Self::count`] reads them.
    fn counters(&self) -> Vec<Counter>;
    /// Why there are fewer [`Self::counters`] than the machine has; empty when none are missing.
    fn counters_missing(&self) -> String;
    /// Reads all of [`Self::counters`], summed over the engine's threads; they count from the first reading on.
    fn count(&self) -> Reading<Vec<u64>>;
}
