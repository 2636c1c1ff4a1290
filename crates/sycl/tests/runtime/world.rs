//! What the tests stand on: devices, kernels, and the log of what the runtime asked of Level Zero.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use level_zero::Entry;
use sycl::{Context, Device, Executable, Kernel, KernelBundle, Platform, Queue};
use ze_layers::recorder::{self, Call, Script, Session};

/// Puts the recorder over the driver inside this program.
pub(crate) fn enter() {
    // SAFETY: the driver's functions carry the specification's signatures and are static.
    let lookup = unsafe { recorder::wrap(driver) };
    // SAFETY: so do the recorder's.
    sycl::use_entry(unsafe { Entry::new(lookup) }).unwrap();
}

fn driver(name: &CStr) -> *const () {
    ze_cpu::entry().address(name)
}

pub(crate) fn devices() -> Vec<Device> {
    Device::all(None).unwrap()
}

pub(crate) fn context() -> Context {
    Platform::all().unwrap()[0].default_context().unwrap()
}

/// A queue to the n-th device.
pub(crate) fn queue(number: usize) -> Queue {
    Queue::builder().device(&devices()[number]).build().unwrap()
}

static SPIRV: &[u8] = include_bytes!("../../kernels/tests.spv");

pub(crate) fn words() -> Vec<u32> {
    let (words, _) = SPIRV.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The tests' kernels for all devices.
pub(crate) fn bundle() -> &'static KernelBundle<Executable> {
    static BUNDLE: OnceLock<KernelBundle<Executable>> = OnceLock::new();
    BUNDLE.get_or_init(|| {
        // SAFETY: the kernels stay inside what the tests pass.
        let input = unsafe { KernelBundle::from_spirv(&context(), &devices(), &words()) };
        input.unwrap().build(c"").unwrap()
    })
}

pub(crate) fn kernel(name: &str) -> Kernel {
    bundle().kernel(&CString::new(name).unwrap()).unwrap()
}

/// What was asked of Level Zero since its making.
pub(crate) struct Log(pub(crate) Session);

impl Log {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// With a script of the recorder's.
    pub(crate) fn with(script: &str) -> Self {
        Self(recorder::start(Script::parse(script).unwrap()))
    }

    pub(crate) fn calls(&self, function: &str) -> Vec<Call> {
        let calls = self.0.calls().into_iter();
        calls.filter(|call| call.function == function).collect()
    }

    pub(crate) fn count(&self, function: &str) -> usize {
        self.calls(function).len()
    }

    fn sizes(&self, function: &str) -> Vec<u64> {
        self.calls(function)
            .iter()
            .map(|call| argument(call, "size"))
            .collect()
    }

    /// Bytes of the allocations on devices.
    pub(crate) fn device_allocations(&self) -> Vec<u64> {
        self.sizes("zeMemAllocDevice")
    }

    /// Bytes of the allocations on the host.
    pub(crate) fn host_allocations(&self) -> Vec<u64> {
        self.sizes("zeMemAllocHost")
    }

    /// Bytes of each plain copy, and of each copy of a region.
    pub(crate) fn copies(&self) -> Vec<u64> {
        let mut all = self.sizes("zeCommandListAppendMemoryCopy");
        all.extend(
            self.calls("zeCommandListAppendMemoryCopyRegion")
                .iter()
                .map(|_| 0),
        );
        all
    }

    pub(crate) fn frees(&self) -> usize {
        self.count("zeMemFree")
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}

/// An argument of a call.
pub(crate) fn argument(call: &Call, name: &str) -> u64 {
    let found = call.arguments.iter().find(|(known, ..)| *known == name);
    found
        .unwrap_or_else(|| panic!("{call} has no argument {name}"))
        .1
}
