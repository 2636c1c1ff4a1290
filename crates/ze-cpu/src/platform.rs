//! The platform: all parts together behind `ze_driver::device::Platform`.

use crate::check::{self, Check};
use crate::clock;
use crate::engine::{self, Engine};
use crate::environment::{Compiler, NullArguments, Settings, Tiers};
use crate::facts;
use crate::image;
use crate::memory::Memory;
use crate::program::Builder;
use crate::telemetry::{Sensors, Sources, Usage};
use crate::topology::{self, Machine};
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use ze_driver::address_space::AddressSpace;
use ze_driver::command_order::Position;
use ze_driver::device::{
    AllocError, AllocInfo, AllocRequest, BuildFailure, Device, DeviceFacts, ImageView, Launch,
    MemoryKind, MemoryUse, Platform, PlatformFacts, Program, ProgramInput, Requirements,
    SamplerFacts, Task, WrongFree,
};
use ze_driver::telemetry::Telemetry;

/// Returns the machine's CPUs as Level Zero devices. Created once in a process; its threads never end.
///
/// # Errors
/// A text for the user if an environment variable has an invalid value. It also goes to stderr as one line, because
/// most programs print only an error code.
pub fn platform() -> Result<Arc<dyn Platform>, String> {
    match Settings::from_process() {
        Ok(settings) => Ok(Arc::new(CpuPlatform::new(&settings))),
        Err(text) => {
            let line = text.replace(['\n', '\r'], " ");
            signal_mask::write_stderr(format!("solum: {line}\n").as_bytes());
            Err(text)
        }
    }
}

/// As [`platform`], with settings of the caller's.
#[must_use]
pub fn platform_with(settings: &Settings) -> Arc<dyn Platform> {
    Arc::new(CpuPlatform::new(settings))
}

struct CpuPlatform {
    facts: PlatformFacts,
    devices: Vec<Arc<dyn Device>>,
    memory: Memory,
    engine: &'static Engine,
    /// The engines of sub-devices, by number: each has its own workers, on its CPUs.
    shares: Vec<&'static Engine>,
    builder: Builder,
    sensors: Sensors,
    check: Option<&'static Check>,
}

struct CpuDevice {
    facts: DeviceFacts,
}

impl Device for CpuDevice {
    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }
}

impl CpuPlatform {
    fn new(settings: &Settings) -> Self {
        let settings = &with_checks(settings);
        let check = settings.check.as_ref().map(check::start);
        crate::witness::name(settings.witness.as_ref());
        crate::program::perf::want(settings.perf);
        crate::program::stages::want(settings.log_compile);
        if settings.log_calls {
            ze_driver::call_log::want();
        }
        if let Some(milliseconds) = settings.kernel_timeout {
            crate::fault::watchdog::limit(milliseconds as u64);
        }
        crate::program::find_code_generator();
        let machine = Machine::detect();
        let mut facts: Vec<_> = settings
            .devices
            .iter()
            .enumerate()
            .map(|(index, &choice)| facts::device(&machine, settings, index, choice))
            .collect();
        let shares = topology::shares(settings.sub_devices);
        let mut nodes = vec![None; facts.len()];
        for root in 0..facts.len() {
            for (number, share) in shares.iter().enumerate() {
                let cpus = share.cpus.len();
                let sub = facts::sub_device(&facts[root], root, number, shares.len(), cpus);
                facts.push(sub);
                nodes.push(share.node);
            }
        }
        let usage = Usage::own();
        if let Some(why) = usage.hidden() {
            crate::program::stages::note(&format!(
                "counters: other processes cannot see this one's usage: {why}"
            ));
        }
        let sensors = Sensors::new(
            Sources::below("/"),
            usage,
            topology::allowed_cpus(),
            &machine.name,
            &facts,
        );
        let devices = facts
            .into_iter()
            .map(|facts| Arc::new(CpuDevice { facts }) as Arc<dyn Device>)
            .collect();
        let mut memory = Memory::with_nodes(facts::memory_limit(&machine, settings), nodes);
        memory.trust_all_users(settings.ipc_any_user);
        if machine.has_ranks {
            memory.begin_with_pages();
        }
        memory.fill_with(settings.contents);
        memory.explain_faults();
        Self {
            shares: shares
                .into_iter()
                .map(|share| Engine::on(share.cpus.len(), settings.run_while_waiting, share.cpus))
                .collect(),
            facts: facts::platform(),
            devices,
            memory,
            engine: Engine::new(
                settings.workers.unwrap_or(machine.share),
                settings.run_while_waiting,
            ),
            builder: Builder::new(settings, &machine),
            sensors,
            check,
        }
    }
}

/// The allocation around `ptr`, unless the program has freed it: freed memory is kept for a while.
#[cold]
fn find_unless_freed(check: &Check, memory: &Memory, ptr: *const u8) -> Option<AllocInfo> {
    memory.find(ptr).filter(|found| !check.is_freed(found.base))
}

/// Settings that checks need: findings do not depend on timing, each kernel is compiled once, and null is null.
fn with_checks(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    if settings.check.is_some() && settings.compiler == Compiler::Interpreter {
        let text = "solum: SOLUM_CHECK has no effect with SOLUM_COMPILER=interpreter\n";
        signal_mask::write_stderr(text.as_bytes());
        settings.check = None;
    }
    if let Some(check) = &settings.check {
        // Launches are attempted on all processors if checks of races can undo them: see `check/attempt`.
        if !check.of_kernels().races {
            settings.workers = Some(1);
        }
        settings.run_while_waiting = false;
        settings.tiers = Tiers::Full;
        settings.null_arguments = NullArguments::Fault;
    }
    settings
}

impl CpuPlatform {
    /// The workers of a device.
    fn engine_of(&self, device: usize) -> &'static Engine {
        let facts = self.devices.get(device).map(|device| device.facts());
        let share = facts
            .filter(|facts| facts.sub_of.is_some())
            .and_then(|facts| self.shares.get(facts.sub_number as usize));
        share.copied().unwrap_or(self.engine)
    }

    /// Whether only devices may access the memory: that of GPU-typed devices, and of devices with memory of their own.
    fn is_for_devices(&self, info: &AllocInfo) -> bool {
        let device = info.device.and_then(|device| self.devices.get(device));
        let facts = device.map(|device| device.facts());
        info.kind == MemoryKind::Device
            && facts.is_some_and(|facts| facts.gpu_typed || !facts.integrated)
    }

    /// Counts memory for other processes to see; memory of a sub-device counts for its root.
    fn count(&self, device: Option<usize>, kind: MemoryKind, bytes: i64) {
        let root = device.map(|device| {
            let facts = self.devices.get(device).map(|device| device.facts());
            facts.and_then(|facts| facts.sub_of).unwrap_or(device)
        });
        // Host memory belongs to all devices; it counts for the first.
        Usage::own().memory(root.or(Some(0)), kind, bytes);
    }
}

impl Platform for CpuPlatform {
    fn devices(&self) -> &[Arc<dyn Device>] {
        &self.devices
    }

    fn facts(&self) -> &PlatformFacts {
        &self.facts
    }

    fn allocate(&self, request: &AllocRequest) -> Result<*mut u8, AllocError> {
        let base = match (self.memory.allocate(request), self.check) {
            (Err(AllocError::OutOfMemory), Some(check)) => {
                // Freed memory that is kept may be what is missing.
                check.release(&self.memory);
                self.memory.allocate(request)?
            }
            (made, _) => made?,
        };
        if let Some(check) = self.check
            && let Some(info) = self.memory.find(base)
        {
            check.allocated(&info, self.is_for_devices(&info));
        }
        self.count(request.device, request.kind, request.size.cast_signed());
        Ok(base)
    }

    fn memory_use(&self) -> Option<MemoryUse> {
        Some(self.memory.taken())
    }

    fn most_cooperative_groups(&self) -> u64 {
        engine::MOST_COOPERATIVE
    }

    fn free(&self, base: *mut u8) -> bool {
        let info = self.find(base).filter(|info| !info.imported);
        let freed = match self.check {
            Some(check) => check.free(&self.memory, base),
            None => self.memory.free(base),
        };
        if let (true, Some(info)) = (freed, info) {
            self.count(
                info.device,
                info.kind,
                info.size.cast_signed().wrapping_neg(),
            );
        }
        freed
    }

    fn wrong_free(&self, address: *const u8, how: WrongFree) {
        if let Some(check) = self.check {
            check.wrong_free(&self.memory, address, how);
        }
    }

    fn gives_up(&self, handle: usize, lane: Position) {
        if let Some(check) = self.check {
            check.gives_up(handle, lane);
        }
    }

    fn frees_itself(&self, base: *const u8) {
        if let Some(check) = self.check {
            check.frees_itself(&self.memory, base);
        }
    }

    fn find(&self, ptr: *const u8) -> Option<AllocInfo> {
        // First, so that a program without checks gets the memory's answer as it is.
        match self.check {
            None => self.memory.find(ptr),
            Some(check) => find_unless_freed(check, &self.memory, ptr),
        }
    }

    fn range(&self, ptr: *const u8) -> Option<(*mut u8, u64)> {
        match self.check {
            None => self.memory.range(ptr),
            Some(check) => {
                let found = find_unless_freed(check, &self.memory, ptr)?;
                Some((found.base, found.size))
            }
        }
    }

    fn build(&self, input: &ProgramInput) -> Result<Arc<dyn Program>, BuildFailure> {
        Ok(self.builder.build(input)?)
    }

    fn ignoring(
        &self,
        program: &Arc<dyn Program>,
        index: usize,
        offsets: &[u32],
    ) -> Option<Arc<dyn Program>> {
        Some(self.builder.ignoring(program, index, offsets)?)
    }

    fn requirements_key(&self) -> &'static CStr {
        c"SOLUM.CPU"
    }

    fn requirements(&self, programs: &[Arc<dyn Program>]) -> String {
        self.builder.requirements(programs)
    }

    fn judge_requirements(&self, text: &str) -> Requirements {
        self.builder.judge(text)
    }

    fn submit(&self, task: Arc<dyn Task>) {
        if let Some(check) = self.check {
            check.task_submitted();
        }
        self.engine_of(task.device()).submit(task);
    }

    fn workers(&self, device: usize) -> usize {
        self.engine_of(device).workers()
    }

    fn is_brief(&self, launch: &Launch) -> bool {
        engine::is_brief(launch)
    }

    fn wait(
        &self,
        word: (&AtomicU32, u64),
        sleepers: &AtomicU32,
        done: &dyn Fn() -> bool,
        deadline_ns: u64,
    ) -> bool {
        self.engine.wait(word, sleepers, done, deadline_ns)
    }

    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    fn clocks(&self) -> (u64, u64) {
        clock::clocks()
    }

    fn telemetry(&self) -> Option<&dyn Telemetry> {
        Some(&self.sensors)
    }

    fn image_record(&self, view: &ImageView) -> Option<Box<[u128]>> {
        Some(image::record(view))
    }

    fn sampler_word(&self, sampler: &SamplerFacts) -> Option<u64> {
        Some(image::sampler_word(sampler))
    }

    fn address_space(&self) -> Option<&dyn AddressSpace> {
        Some(&self.memory)
    }
}
