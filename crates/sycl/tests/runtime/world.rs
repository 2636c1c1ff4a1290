//! The base of the tests: devices, kernels, and the log of the runtime's Level Zero calls.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use level_zero::sys::*;
use level_zero::{Entry, Loader, Tables};
use sycl::interop::{EventInput, Ownership, get_native, make_event};
use sycl::{Context, Device, Event, Executable, Kernel, KernelBundle, Platform, Queue};
use ze_layers::recorder::{self, Call, Script, Session};

/// Puts the recorder over the driver inside this program.
pub(crate) fn enter() {
    enter_over(crate::copies::watched);
}

/// Puts the recorder over a driver.
pub(crate) fn enter_over(driver: fn(&CStr) -> *const ()) {
    // SAFETY: the driver's functions carry the specification's signatures and are static.
    let lookup = unsafe { recorder::wrap(driver) };
    // SAFETY: so do the recorder's.
    sycl::use_entry(unsafe { Entry::new(lookup) }).unwrap();
}

/// Level Zero, under the same recorder.
pub(crate) fn ze() -> &'static Tables {
    static LOADER: OnceLock<Loader> = OnceLock::new();
    LOADER
        .get_or_init(|| {
            // SAFETY: as in `enter`.
            Loader::from_entry(unsafe { Entry::new(recorder::lookup) }).unwrap()
        })
        .tables()
}

/// Calls Level Zero, which must succeed: `call!(event.pfnHostSignal(handle))`.
macro_rules! call {
    ($table:ident.$slot:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::world::ze().$table.$slot.unwrap();
        // SAFETY: the tests pass live handles and valid outputs.
        let code = unsafe { function($($argument),*) };
        assert_eq!(code, level_zero::sys::ZE_RESULT_SUCCESS, stringify!($slot));
    }};
}
pub(crate) use call;

/// An event that the test signals, as SYCL and Level Zero see it.
pub(crate) struct Gate {
    pub(crate) event: Event,
    pub(crate) native: ze_event_handle_t,
    pool: ze_event_pool_handle_t,
}

// SAFETY: event functions may be called from simultaneous threads.
unsafe impl Send for Gate {}
// SAFETY: as for `Send`.
unsafe impl Sync for Gate {}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::of(&context())
    }

    pub(crate) fn of(context: &Context) -> Self {
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: 1,
            ..Default::default()
        };
        let mut pool = std::ptr::null_mut();
        let mut native = std::ptr::null_mut();
        let handle = get_native(context);
        let none = std::ptr::null_mut();
        call!(event_pool.pfnCreate(handle, &raw const desc, 0, none, &raw mut pool));
        let desc = ze_event_desc_t {
            signal: ZE_EVENT_SCOPE_FLAG_HOST,
            wait: ZE_EVENT_SCOPE_FLAG_HOST,
            ..Default::default()
        };
        call!(event.pfnCreate(pool, &raw const desc, &raw mut native));
        let input = EventInput {
            native_handle: native,
            ownership: Ownership::Keep,
        };
        // SAFETY: a live event of the context.
        let event = unsafe { make_event(input, context) }.unwrap();
        Self {
            event,
            native,
            pool,
        }
    }

    pub(crate) fn open(&self) {
        call!(event.pfnHostSignal(self.native));
    }

    /// Opens the gate; `wait`, on another thread, must return then, and not before.
    pub(crate) fn holds_up(&self, wait: impl FnOnce() + Send) {
        let opened = AtomicBool::new(false);
        let (begins, begun) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let _ = begins.send(());
                wait();
                assert!(
                    opened.load(Ordering::SeqCst),
                    "it did not wait for the gate"
                );
            });
            // Time in which a call that does not wait would return; one that waits passes however short it is.
            let _ = begun.recv();
            (0..100).for_each(|_| std::thread::yield_now());
            opened.store(true, Ordering::SeqCst);
            self.open();
            waiter.join().unwrap();
        });
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // The work that waits for it must end before the event is destroyed.
        self.open();
        self.event = Event::default();
        call!(event.pfnDestroy(self.native));
        call!(event_pool.pfnDestroy(self.pool));
    }
}

/// Whether work has neither ended nor failed.
pub(crate) fn is_running(event: &Event) -> bool {
    !matches!(
        event.status(),
        sycl::EventStatus::Complete | sycl::EventStatus::Failed
    )
}

pub(crate) fn devices() -> Vec<Device> {
    Device::all(None).unwrap()
}

pub(crate) fn context() -> Context {
    Platform::all().unwrap()[0].default_context().unwrap()
}

/// A queue of the n-th device.
pub(crate) fn queue(number: usize) -> Queue {
    Queue::builder().device(&devices()[number]).build().unwrap()
}

/// After a test: its remaining work ends and is freed, so that it appears in no other test's log.
pub(crate) fn settle() {
    for device in devices() {
        call!(device.pfnSynchronize(get_native(&device)));
    }
    queue(0).wait().unwrap();
}

/// Whether devices have their own memories.
pub(crate) fn is_discrete() -> bool {
    has_peers() || std::env::var("SOLUM_DEVICES").is_ok_and(|devices| devices.contains("discrete"))
}

/// Whether devices have peer access.
pub(crate) fn has_peers() -> bool {
    std::env::var(crate::WORLD).is_ok_and(|world| world == "peers")
}

static SPIRV: &[u8] = include_bytes!("../../kernels/tests.spv");

pub(crate) fn words() -> Vec<u32> {
    let (words, _) = SPIRV.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// A queue of the first device with immediate lists, whatever the environment says.
pub(crate) fn immediate() -> Queue {
    let queue = Queue::builder().device(&devices()[0]);
    let queue = queue.submission(sycl::Submission::Immediate);
    queue.build().unwrap()
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

/// The Level Zero calls since this was created.
pub(crate) struct Log(pub(crate) Session);

impl Log {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// A log with a script of the recorder.
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

    /// Bytes of the device allocations.
    pub(crate) fn device_allocations(&self) -> Vec<u64> {
        self.sizes("zeMemAllocDevice")
    }

    /// Bytes of the host allocations.
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

    /// The positions in the log where a handle was passed to a function, most often the one that destroys it.
    pub(crate) fn places(&self, function: &str, parameter: &str, handle: usize) -> Vec<usize> {
        let calls = self.0.calls().into_iter().enumerate();
        calls
            .filter(|(_, call)| call.function == function)
            .filter(|(_, call)| argument(call, parameter) == handle as u64)
            .map(|(at, _)| at)
            .collect()
    }

    /// How often this memory was freed.
    pub(crate) fn frees_of(&self, pointer: usize) -> usize {
        let frees = self.calls("zeMemFree");
        frees
            .iter()
            .filter(|call| argument(call, "ptr") == pointer as u64)
            .count()
    }
}

/// An argument of a call.
pub(crate) fn argument(call: &Call, name: &str) -> u64 {
    let found = call.arguments.iter().find(|(known, ..)| *known == name);
    found
        .unwrap_or_else(|| panic!("{call} has no argument {name}"))
        .1
}
