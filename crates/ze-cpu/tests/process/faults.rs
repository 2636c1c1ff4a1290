//! Kernels that end with a fault, a hundred times in one process: list, queue and context are lost and report its
//! location; everything else continues.

use level_zero::{
    CommandList, Context, Device, Driver, Error, Kernel, Loader, Module, ModuleSource, QueueMode,
};
use level_zero_sys::*;

/// From the compiler's corpus: each kernel adds one to a number per work-item, and faults in one.
const FAULTS: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/faults.spv");
const GROUP: u32 = 32;
const GROUPS: u32 = 6;
const ITEMS: u32 = GROUP * GROUPS;
/// The work-item that faults: of group 3, and not the first of anything.
const AT: u64 = 109;

/// An unmapped address.
const BAD: u64 = 64;

/// How a kernel ends, and its text besides kernel and work-item.
struct Case {
    kernel: &'static str,
    /// Whether machine code reports the exact work-item.
    exact: bool,
    says: &'static [&'static str],
    /// The interpreter's text, if it differs.
    interpreted: Option<&'static [&'static str]>,
}

const TRAP: &[&str] = &["a trap", "of the SPIR-V module"];

const CASES: [Case; 6] = [
    Case {
        kernel: "traps",
        exact: true,
        says: TRAP,
        interpreted: None,
    },
    Case {
        kernel: "traps_in_loop",
        exact: true,
        says: TRAP,
        interpreted: None,
    },
    Case {
        kernel: "traps_at_barrier",
        exact: true,
        says: TRAP,
        interpreted: None,
    },
    Case {
        kernel: "asserts",
        exact: true,
        says: &[
            "faults.cl:35: asserts: global id: [109,0,0], local id: [13,0,0] Assertion `id != at` failed.",
        ],
        interpreted: None,
    },
    Case {
        kernel: "asserts_in_c",
        exact: true,
        says: &[
            "faults.cl:41: asserts_in_c: global id: [109,0,0], local id: [13,0,0] Assertion `id != at` failed.",
        ],
        interpreted: None,
    },
    Case {
        kernel: "pokes",
        exact: false,
        says: &["SIGSEGV at address 0x40: ", "no allocation is near"],
        interpreted: Some(&["write of 4 bytes at 0x40", "no allocation is near"]),
    },
];

fn kernel(module: &Module, name: &str, memory: &level_zero::SharedMemory<i32>, at: u64) -> Kernel {
    let mut kernel = module.create_kernel(name).unwrap();
    kernel.set_group_size([GROUP, 1, 1]).unwrap();
    kernel.set_memory(0, memory).unwrap();
    kernel.set_argument(1, at).unwrap();
    if name == "pokes" {
        kernel.set_argument(2, BAD).unwrap();
    }
    if name == "traps_at_barrier" {
        kernel.set_local(2, GROUP as usize * 4).unwrap();
    }
    kernel
}

fn launch(list: &mut CommandList, kernel: &Kernel) -> Result<(), Error> {
    // SAFETY: the kernel touches its memory only, which lives until after the wait; else it faults.
    unsafe { list.append_launch(kernel, [GROUPS, 1, 1], None, &[]) }
}

/// The text in `result` about the fault that lost the device.
fn lost<T>(result: Result<T, Error>, what: &str) -> String {
    match result {
        Err(Error::Call {
            code: ZE_RESULT_ERROR_DEVICE_LOST,
            text,
            ..
        }) => match text.split_once("by an earlier fault: ") {
            Some((_, fault)) => fault.to_owned(),
            None => panic!("{what}: {text}"),
        },
        Err(error) => panic!("{what}: {error}"),
        Ok(_) => panic!("{what} succeeded"),
    }
}

fn status(context: &Context) -> ze_result_t {
    let get = ze_driver::getters::lookup(c"zeContextGetStatus");
    // SAFETY: the function of that name, a live handle.
    unsafe {
        let get = std::mem::transmute::<*const (), ze_pfnContextGetStatus_t>(get);
        get.unwrap()(context.as_raw())
    }
}

/// A context with the module and some memory.
struct World {
    context: Context,
    device: Device,
    module: Module,
    memory: level_zero::SharedMemory<i32>,
}

impl World {
    fn new(driver: &Driver) -> Self {
        let device = driver.devices().unwrap().remove(0);
        let context = driver.create_context().unwrap();
        let source = ModuleSource::Spirv(FAULTS);
        let module = context.build_module(&device, source, "").unwrap();
        let memory = context.allocate_shared(&device, ITEMS as usize).unwrap();
        Self {
            context,
            device,
            module,
            memory,
        }
    }

    /// Everything works here.
    fn goes_on(&mut self) {
        self.memory.as_mut_slice().fill(5);
        let list = self
            .context
            .create_immediate_list(&self.device, Default::default());
        let mut list = list.unwrap();
        launch(
            &mut list,
            &kernel(&self.module, "traps", &self.memory, u64::MAX),
        )
        .unwrap();
        list.synchronize(u64::MAX).unwrap();
        assert_eq!(self.memory.as_slice(), [6; ITEMS as usize]);
    }
}

/// The fault of `kernel` through an immediate list, or through a list on a queue, as its context reports it.
fn fault(world: World, name: &str, queued: bool) -> String {
    let World {
        context,
        device,
        module,
        memory,
    } = world;
    let kernel = kernel(&module, name, &memory, AT);
    let text = if queued {
        let queue = context
            .create_queue(&device, QueueMode::Asynchronous)
            .unwrap();
        let mut list = context.create_list(&device, Default::default()).unwrap();
        launch(&mut list, &kernel).unwrap();
        list.close().unwrap();
        // SAFETY: as for the launch; the list lives until after the wait.
        let executed = unsafe { queue.execute(&list, None) };
        let text = lost(executed.and_then(|()| queue.synchronize(u64::MAX)), name);
        // SAFETY: as above.
        let again = unsafe { queue.execute(&list, None) };
        assert_eq!(lost(again, "the queue once more"), text);
        text
    } else {
        let mut list = context
            .create_immediate_list(&device, Default::default())
            .unwrap();
        let launched = launch(&mut list, &kernel);
        let text = lost(launched.and_then(|()| list.synchronize(u64::MAX)), name);
        assert_eq!(lost(launch(&mut list, &kernel), "the list once more"), text);
        text
    };
    assert_eq!(status(&context), ZE_RESULT_ERROR_DEVICE_LOST, "{name}");
    text
}

fn check(case: &Case, text: &str) {
    let interpreted = std::env::var("SOLUM_COMPILER").is_ok_and(|name| name == "interpreter");
    let exact = format!("in work-item [{AT}, 0, 0] of work-group [3, 0, 0]");
    let range = "in one of the work-items between [";
    assert!(
        text.contains(&format!("kernel {:?}: ", case.kernel)),
        "{text}"
    );
    if case.exact || interpreted {
        assert!(text.contains(&exact), "{text}");
    } else {
        assert!(text.contains(range), "{text}");
    }
    let says = case
        .interpreted
        .filter(|_| interpreted)
        .unwrap_or(case.says);
    for words in says {
        assert!(
            text.contains(words),
            "{}: {words:?} is not in {text}",
            case.kernel
        );
    }
}

/// Each fault again and again, among work of other contexts.
pub(crate) fn run() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let mut other = World::new(&driver);
    for round in 0..100 {
        for case in &CASES {
            check(
                case,
                &fault(World::new(&driver), case.kernel, round % 2 == 1),
            );
        }
        other.goes_on();
        World::new(&driver).goes_on();
    }
}

/// An endless loop, which the time limit ends.
pub(crate) fn run_without_end() {
    let drivers = Loader::from_entry(ze_cpu::entry()).unwrap().drivers();
    let driver = drivers.unwrap().remove(0);
    let mut other = World::new(&driver);
    for round in 0..4 {
        let text = fault(World::new(&driver), "spins", round % 2 == 1);
        let begins = "kernel \"spins\": in one of the work-items between [";
        assert!(text.contains(begins), "{text}");
        assert!(text.contains("SOLUM_KERNEL_TIMEOUT_MS"), "{text}");
        other.goes_on();
    }
}
