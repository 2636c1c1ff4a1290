//! The effects of environment variables, each tested in a separate process over a driver that reports its calls.

use std::ffi::{CStr, c_void};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use level_zero::sys::*;
use sycl::interop::{NativeQueue, get_native};
use sycl::{Buffer, Event, EventStatus, Plus, Queue, Reduction, Submission, Write, usm};

use crate::world::{Gate, Log, call, devices, immediate, is_running};
use crate::{Test, WORLD, Where, shim};

pub(crate) const TESTS: &[Test] = &[
    ("variables_are_honoured", Where::Host, honoured),
    ("our_own_variables_are_checked", Where::Host, checked),
    ("log_lines", Where::Host, said),
];

/// Queue group and index of each immediate list.
static LISTS: Mutex<Vec<(u32, u32)>> = Mutex::new(Vec::new());
/// Work-items of the last launch's work-group.
static GROUP: AtomicUsize = AtomicUsize::new(0);
/// Barriers that are being appended, the maximum at once, and how often a single one waits for another.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static PATIENCE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn create_immediate(
    context: ze_context_handle_t,
    device: ze_device_handle_t,
    desc: *const ze_command_queue_desc_t,
    list: *mut ze_command_list_handle_t,
) -> ze_result_t {
    let real = shim::list().pfnCreateImmediate.unwrap();
    // SAFETY: the caller's contract.
    unsafe {
        LISTS.lock().unwrap().push(((*desc).ordinal, (*desc).index));
        real(context, device, desc, list)
    }
}

unsafe extern "C" fn append_barrier(
    list: ze_command_list_handle_t,
    signal: ze_event_handle_t,
    count: u32,
    waits: *mut ze_event_handle_t,
) -> ze_result_t {
    let now = INSIDE.fetch_add(1, Ordering::SeqCst) + 1;
    MOST.fetch_max(now, Ordering::SeqCst);
    for _ in 0..PATIENCE.load(Ordering::SeqCst) {
        if MOST.load(Ordering::SeqCst) > 1 {
            break;
        }
        std::thread::yield_now();
    }
    let real = shim::list().pfnAppendBarrier.unwrap();
    // SAFETY: the caller's contract.
    let code = unsafe { real(list, signal, count, waits) };
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    code
}

unsafe extern "C" fn launch(
    list: ze_command_list_handle_t,
    kernel: ze_kernel_handle_t,
    groups: ze_group_count_t,
    size: ze_group_size_t,
    arguments: *mut *mut c_void,
    next: *const c_void,
    signal: ze_event_handle_t,
    count: u32,
    waits: *mut ze_event_handle_t,
) -> ze_result_t {
    GROUP.store(size.groupSizeX as usize, Ordering::SeqCst);
    let real = shim::list();
    let real = real.pfnAppendLaunchKernelWithArguments.unwrap();
    // SAFETY: the caller's contract.
    unsafe {
        real(
            list, kernel, groups, size, arguments, next, signal, count, waits,
        )
    }
}

unsafe extern "C" fn list_table(
    version: ze_api_version_t,
    table: *mut ze_command_list_dditable_t,
) -> ze_result_t {
    // SAFETY: the caller's contract.
    unsafe {
        shim::list_table(version, table, |table| {
            table.pfnCreateImmediate = Some(create_immediate);
            table.pfnAppendBarrier = Some(append_barrier);
            table.pfnAppendLaunchKernelWithArguments = Some(launch);
        })
    }
}

/// The driver that reports its calls.
fn telling(name: &CStr) -> *const () {
    match name.to_bytes() {
        b"zeGetCommandListProcAddrTable" => list_table as *const (),
        _ => shim::real(name),
    }
}

/// A group on a separate buffer, gated by an event if there is one.
fn alone(queue: &Queue, after: &[Event]) -> Event {
    let buffer = Buffer::<i32>::new(16).unwrap();
    let submitted = queue.submit(|cg| {
        cg.depends_on(after);
        let _a = cg.access(&buffer, Write.no_init())?;
        cg.barrier()
    });
    submitted.unwrap()
}

/// Runs in a separate process: prints facts, one on a line.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn tell() {
    crate::world::enter_over(telling);
    // The first enumeration of devices reports invalid variables.
    drop(devices());
    println!("page {}", Buffer::<u8>::new(1000).unwrap().page_size()[2]);
    let log = Log::start();
    let queue = Queue::builder().device(&devices()[0]).build().unwrap();
    let lists = || log.count("zeCommandListCreateImmediate");
    println!("lists of a new queue {}", lists());
    println!("group and engine {:?}", LISTS.lock().unwrap().first());
    let kind = match get_native(&queue) {
        NativeQueue::CommandQueue(_) => "command queue",
        NativeQueue::ImmediateList(_) => "immediate list",
    };
    println!("native {kind}");
    let event = alone(&queue, &[]);
    // Polling submits a list that is being recorded: only the first result counts.
    let serialized = std::env::var("UR_L0_SERIALIZE").unwrap_or_default();
    if serialized == "2" || serialized == "3" {
        println!("ended {}", event.status() == EventStatus::Complete);
    }
    event.wait().unwrap();
    let values = Buffer::from_vec(vec![1i32; 4096], [4096]).unwrap();
    let sum = Buffer::<i32>::new([1]).unwrap();
    match queue.reduce(&values, Reduction::new(&sum, Plus).initialize_to_identity()) {
        Ok(event) => {
            event.wait().unwrap();
            println!("reduction in groups of {}", GROUP.load(Ordering::SeqCst));
        }
        Err(error) => println!("reduction: {:?} {error}", error.errc()),
    }
    println!("group of the last list {:?}", LISTS.lock().unwrap().last());
    if !serialized.is_empty() {
        at_once(serialized == "0");
        return;
    }
    println!("lists after a reduction {}", lists());
    // After a wait that the runtime does not know: work that follows an event of the program has its own lists.
    let (gate, waiting) = (Gate::new(), immediate());
    if let NativeQueue::ImmediateList(list) = get_native(&waiting) {
        let mut native = gate.native;
        call!(command_list.pfnAppendWaitOnEvents(list, 1, &raw mut native));
    }
    let blocked = alone(&waiting, &[]);
    let before = lists();
    let queue = Queue::builder().device(&devices()[0]).build().unwrap();
    let lists = || lists() - before;
    let first = address(&queue);
    let held = std::slice::from_ref(&blocked);
    let mut events: Vec<Event> = (0..24).map(|_| alone(&queue, held)).collect();
    println!("lists of a busy queue {}", lists());
    let block = usm::Block::<i32, usm::HostKind>::host(&queue, 16).unwrap();
    let pointer = block.as_ptr().addr();
    drop(block);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| alone(&queue, held));
        events.push(other.join().unwrap());
    });
    println!("lists of two threads {}", lists());
    assert!(events.iter().all(is_running));
    let recorded = Queue::builder().device(&devices()[0]).in_order();
    let recorded = recorded.submission(Submission::Batched).build().unwrap();
    let before = log.count("zeCommandQueueExecuteCommandLists");
    events.push(alone(&recorded, held));
    (0..11).for_each(|_| events.push(alone(&recorded, &[])));
    let executed = log.count("zeCommandQueueExecuteCommandLists") - before;
    println!("executed {executed}");
    println!("freed in use {}", log.frees_of(pointer));
    gate.open();
    Event::wait_all(&events).unwrap();
    queue.wait().unwrap();
    println!("freed at the end {}", log.frees_of(pointer));
    let other = std::thread::scope(|scope| scope.spawn(|| address(&queue)).join().unwrap());
    println!("same handle {}", [address(&queue), other] == [first; 2]);
}

/// The handle that a queue appends to.
fn address(queue: &Queue) -> usize {
    match get_native(queue) {
        NativeQueue::CommandQueue(queue) => queue.addr(),
        NativeQueue::ImmediateList(list) => list.addr(),
    }
}

/// Two threads submit to their own queues: whether both are ever in the driver. If they may be, each waits for the
/// other.
#[expect(clippy::print_stdout, reason = "the test reads it")]
fn at_once(they_may: bool) {
    let new = || Queue::builder().device(&devices()[0]).build().unwrap();
    let queues = [new(), new()];
    MOST.store(0, Ordering::SeqCst);
    let patience = if they_may { usize::MAX } else { 2000 };
    PATIENCE.store(patience, Ordering::SeqCst);
    std::thread::scope(|scope| {
        for queue in &queues {
            scope.spawn(|| alone(queue, &[]).wait().unwrap());
        }
    });
    println!("submissions at once {}", MOST.load(Ordering::SeqCst));
}

/// Variables with their values, and lines that [`tell`] prints with them.
type Case = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

fn honoured() {
    const LISTS_OF_QUEUES: &str = "UR_L0_USE_IMMEDIATE_COMMANDLISTS";
    const REDUCTION: &str = "SYCL_REDUCTION_PREFERRED_WORKGROUP_SIZE";
    const DISCRETE: (&str, &str) = ("SOLUM_DEVICES", "cpu:2,discrete");
    let cases: &[Case] = &[
        (
            &[],
            &[
                "page 1000",
                "lists of a new queue 1",
                "native immediate list",
                "lists of a busy queue 4",
                "lists of two threads 4",
                "group and engine Some((0, 0))",
                "reduction in groups of 256",
                "freed in use 0",
                "freed at the end 1",
            ],
        ),
        (&[("SOLUM_SYCL_PAGE", "256")], &["page 256"]),
        (&[("SOLUM_SYCL_LANES", "2")], &["lists of a busy queue 2"]),
        (&[("SOLUM_SYCL_LANES", "7")], &["lists of a busy queue 7"]),
        (&[("UR_L0_EAGER_INIT", "1")], &["lists of a new queue 4"]),
        (&[("UR_L0_SERIALIZE", "0")], &["submissions at once 2"]),
        (&[("UR_L0_SERIALIZE", "1")], &["submissions at once 1"]),
        (&[("UR_L0_SERIALIZE", "2")], &["ended true"]),
        (
            &[("UR_L0_SERIALIZE", "3")],
            &["ended true", "submissions at once 1"],
        ),
        (&[DISCRETE], &["group of the last list Some((1, 0))"]),
        (
            &[DISCRETE, ("UR_L0_USE_COPY_ENGINE", "0")],
            &["group of the last list Some((0, 0))"],
        ),
        // There is one copy engine, number 0.
        (
            &[DISCRETE, ("UR_L0_USE_COPY_ENGINE", "0:3")],
            &["group of the last list Some((1, 0))"],
        ),
        (
            &[DISCRETE, ("UR_L0_USE_COPY_ENGINE", "1:3")],
            &["group of the last list Some((0, 0))"],
        ),
        (
            &[(REDUCTION, "gpu:48,cpu:8")],
            &["reduction in groups of 32"],
        ),
        (
            &[(REDUCTION, "gpu:64,*:16")],
            &["reduction in groups of 16"],
        ),
        (
            &[(REDUCTION, "gpu")],
            &[
                "reduction: Invalid SYCL_REDUCTION_PREFERRED_WORKGROUP_SIZE: `gpu` is not TYPE:SIZE, where TYPE is cpu, gpu, acc or *",
            ],
        ),
        (&[("UR_L0_BATCH_SIZE", "3")], &["executed 4"]),
        (&[("UR_L0_BATCH_SIZE", "5")], &["executed 2"]),
        (
            &[(LISTS_OF_QUEUES, "0")],
            &[
                "native command queue",
                "lists of a new queue 0",
                "same handle true",
            ],
        ),
        (&[(LISTS_OF_QUEUES, "1")], &["native immediate list"]),
        (&[(LISTS_OF_QUEUES, "nonsense")], &["native command queue"]),
        (
            &[(LISTS_OF_QUEUES, "2")],
            &[
                "native immediate list",
                "lists of a busy queue 1",
                "lists of two threads 2",
                "same handle true",
            ],
        ),
        // A missing engine is ignored.
        (
            &[("UR_L0_USE_COMPUTE_ENGINE", "77")],
            &["group and engine Some((0, 0))"],
        ),
        (
            &[("UR_L0_USE_COMPUTE_ENGINE", "1")],
            &["group and engine Some((0, 1))"],
        ),
        (
            &[("UR_L0_USE_COMPUTE_ENGINE", "-1")],
            &["group and engine Some((0, 0))"],
        ),
    ];
    for (variables, facts) in cases {
        let (out, err) = told(variables, true);
        assert_eq!(err, "", "{variables:?}");
        for fact in *facts {
            assert!(
                out.lines().any(|line| line == *fact),
                "{variables:?}: no `{fact}` in\n{out}"
            );
        }
    }
}

/// The output and the complaints of [`tell`].
fn told(variables: &[(&str, &str)], good: bool) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(WORLD, "tell").envs(variables.iter().copied());
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(stdout), text(stderr));
    assert_eq!(status.success(), good, "{variables:?}: {out}{err}");
    (out, err)
}

fn checked() {
    for (name, value, allowed) in [
        ("SOLUM_SYCL_LANES", "0", "1 to 16"),
        ("SOLUM_SYCL_LANES", "17", "1 to 16"),
        ("SOLUM_SYCL_LANES", "many", "1 to 16"),
        ("SOLUM_SYCL_PAGE", "0", "1 on"),
        ("SOLUM_SYCL_PAGE", "64KiB", "1 on"),
        ("SOLUM_SYCL_TRACE", "4", "0 to 3"),
        ("SOLUM_SYCL_TRACE", "-1", "0 to 3"),
        ("SOLUM_SYCL_TRACE", "all", "0 to 3"),
    ] {
        let (out, err) = told(&[(name, value)], false);
        let expected = format!("sycl: {name}: `{value}` is not a number from {allowed}");
        assert_eq!(err.lines().next(), Some(&*expected), "{out}");
        assert!(err.contains("Invalid"), "{err}");
    }
}

/// One line of each kind, with its level.
fn said() {
    const LINES: [(usize, &str); 12] = [
        (1, "sycl: Level Zero is the program's own"),
        (1, "sycl: device 0: "),
        (1, "sycl: hidden as a whole: "),
        (
            1,
            "sycl: queue to device 0: out of order, immediate lists, at most 4\n",
        ),
        (1, "sycl: built for device 0: reduce_int, "),
        (2, ": 64 bytes of device memory of device 0\n"),
        (2, ": 64 bytes of host memory"),
        (2, " is on device 0 at 0x"),
        (2, ": copies 16384 bytes at 0 from the host to device 0\n"),
        (2, "sycl: frees 0x"),
        (3, "sycl: submits reduce_int at "),
        (3, "sycl: submits barrier at "),
    ];
    for level in 0..=3 {
        let level_text = level.to_string();
        let variables = [
            ("SOLUM_SYCL_TRACE", &*level_text),
            ("SOLUM_DEVICES", "cpu:2,discrete"),
            ("ONEAPI_DEVICE_SELECTOR", "level_zero:1"),
        ];
        let (_, err) = told(&variables, true);
        for (from, line) in LINES {
            assert_eq!(err.contains(line), level >= from, "{level}: {line}\n{err}");
        }
        assert!(err.lines().all(|line| line.starts_with("sycl: ")), "{err}");
    }
}
