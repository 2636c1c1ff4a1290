//! What a device tells of itself while it works: the boundary below system management and metrics.
//!
//! A platform that has a [`Telemetry`] lists parts (sensors, domains, modules) once, in a fixed order, and reads one
//! of them at a time: a reading costs what its source costs. Devices are indices of root devices in
//! `Platform::devices`; parts are indices of the list that the device gave. Any thread may call at any time.

/// Why a value cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The system denies it; says what to allow.
    Denied(String),
    /// There is no such thing on this machine; says what was looked for.
    Absent(String),
}

/// Result of a reading.
pub type Reading<T> = Result<T, ReadError>;

/// Who made the device; empty strings are unknown.
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
    /// Its number.
    pub pid: u32,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Bytes of memory that it shares with the host.
    pub shared_bytes: u64,
    /// It runs kernels, or ran one last.
    pub compute: bool,
    /// It runs copies, or ran one last.
    pub copy: bool,
}

/// What an engine group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Everything that the device does, whoever asked for it.
    All,
    /// Kernels.
    ComputeAll,
    /// Copies and fills.
    CopyAll,
    /// One core, whatever it does.
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

/// How much of a memory is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryState {
    /// Bytes that can be allocated.
    pub free: u64,
    /// Bytes in all.
    pub size: u64,
    /// Known to be good (or, by error counters, not).
    pub healthy: Option<bool>,
}

/// A set of cores with one clock.
#[derive(Clone, Debug, PartialEq)]
pub struct FrequencyDomain {
    /// Lowest clock in MHz.
    pub min_mhz: f64,
    /// Highest clock in MHz.
    pub max_mhz: f64,
    /// The range can be set by this process.
    pub can_control: bool,
    /// Throttling is counted.
    pub counts_throttling: bool,
}

/// What a clock does now; `None`: not known.
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
    /// Held below the request by heat.
    pub thermal: bool,
}

/// Where a sensor sits.
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
    /// Where.
    pub place: SensorPlace,
    /// Degrees Celsius at which the device protects itself.
    pub critical: Option<f64>,
}

/// What a power domain feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerPlace {
    /// The processor's package.
    Package,
    /// Its memory.
    Memory,
    /// Its cores.
    Cores,
}

/// Something whose energy is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerDomain {
    /// What.
    pub place: PowerPlace,
    /// Default limit in milliwatts.
    pub default_limit_mw: Option<i32>,
    /// Highest limit in milliwatts.
    pub max_limit_mw: Option<i32>,
    /// The limit can be set by this process.
    pub can_control: bool,
}

/// A limit of average power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLimit {
    /// In force.
    pub enabled: bool,
    /// Milliwatts.
    pub power_mw: i32,
    /// Milliseconds that the average is taken over.
    pub interval_ms: i32,
    /// The burst limit rather than the sustained one.
    pub burst: bool,
}

/// Errors that memory has had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryErrors {
    /// Corrected.
    pub corrected: u64,
    /// Not corrected.
    pub uncorrected: u64,
}

/// What the device's engine has done since the process began; all of the process's devices of one machine together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Nanoseconds of the device clock at the reading.
    pub time_ns: u64,
    /// Thread-nanoseconds in kernels, those under way included.
    pub compute_ns: u64,
    /// Thread-nanoseconds in copies and fills, those under way included.
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
    /// What it counts.
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
    /// Limits in MHz; `None`: as the machine came.
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
    /// Microjoules, only rising.
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
    /// Ends kernels that run on the device for this process. Their contexts are lost before.
    fn reset(&self, device: usize);
    /// What the engine has done.
    fn work(&self) -> Work;
    /// Counters that the system lets this process have; taken in by [`Self::count`].
    fn counters(&self) -> Vec<Counter>;
    /// Why there are fewer [`Self::counters`] than the machine has; empty when none are missing.
    fn counters_missing(&self) -> String;
    /// Reads all of [`Self::counters`], summed over the engine's threads; they count from the first reading on.
    fn count(&self) -> Reading<Vec<u64>>;
}
