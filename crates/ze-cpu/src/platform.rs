//! The platform: everything together behind the boundary.

use crate::engine::{self, Engine};
use crate::environment::Settings;
use crate::facts;
use crate::memory::Memory;
use crate::program::Builder;
use crate::topology::Machine;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use ze_driver::address_space::AddressSpace;
use ze_driver::device::{
    AllocError, AllocInfo, AllocRequest, BuildFailure, Device, DeviceFacts, Platform,
    PlatformFacts, Program, ProgramInput, Task,
};

/// The machine's CPUs as Level Zero devices. Made once in a process's life; its threads never end.
///
/// # Errors
/// A text for the user when an environment variable has a value that is not understood. It also goes
/// to stderr as one line, because most programs show no more than an error code.
pub fn platform() -> Result<Arc<dyn Platform>, String> {
    match Settings::from_process() {
        Ok(settings) => Ok(Arc::new(CpuPlatform::new(&settings))),
        Err(text) => {
            let line = text.replace(['\n', '\r'], " ");
            // A closed stderr must not change what the program sees.
            let _ = writeln!(std::io::stderr(), "solum: {line}");
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
    builder: Builder,
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
        crate::witness::name(settings.witness.as_ref());
        let machine = Machine::detect();
        let devices = settings
            .devices
            .iter()
            .enumerate()
            .map(|(index, &choice)| {
                let facts = facts::device(&machine, settings, index, choice);
                Arc::new(CpuDevice { facts }) as Arc<dyn Device>
            })
            .collect();
        Self {
            facts: facts::platform(),
            devices,
            memory: Memory::new(facts::memory_limit(&machine, settings)),
            engine: Engine::new(settings.workers.unwrap_or(machine.cpus), settings.help),
            builder: Builder::new(settings, &machine),
        }
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
        self.memory.allocate(request)
    }

    fn free(&self, base: *mut u8) -> bool {
        self.memory.free(base)
    }

    fn find(&self, ptr: *const u8) -> Option<AllocInfo> {
        self.memory.find(ptr)
    }

    fn build(&self, input: &ProgramInput) -> Result<Arc<dyn Program>, BuildFailure> {
        Ok(self.builder.build(input)?)
    }

    fn submit(&self, task: Arc<dyn Task>) {
        self.engine.submit(task);
    }

    fn wait(&self, word: &AtomicU32, done: &dyn Fn() -> bool, deadline_ns: u64) -> bool {
        self.engine.wait(word, done, deadline_ns)
    }

    fn now_ns(&self) -> u64 {
        engine::now_ns()
    }

    fn address_space(&self) -> Option<&dyn AddressSpace> {
        Some(&self.memory)
    }
}
