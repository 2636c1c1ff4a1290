//! Measures the cost of a command group against the same commands appended directly to Level Zero, in one run.
//!
//! Kernels are one work-item with one store, so that the runtime dominates. `./x bench sycl` runs this; with `--json`
//! each row is one JSON object on a line, as in the other benchmarks. Tests never measure time.
//!
//! If `SOLUM_PEER_SYCL` names the program of tests/sycl/queues.cpp and `SOLUM_ARTEFACTS` the folder of `solum` and the
//! libraries, DPC++ runs the same cases over the same driver, each right after ours. The folder also has the XPTI
//! framework and a subscriber (`listen`, an example of crate xpti) to measure the cost of tools.
//!
//! With `SOLUM_ZE_LOADER` everything runs over that loader and its driver instead of the driver inside this program,
//! and cases without a device are left out; `./x bench sycl --against` compares two installations this way.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark prints, and panics on errors"
)]

use std::time::Instant;

use level_zero::sys::*;
use level_zero::{Loader, Tables};
use sycl::interop::get_native;
use sycl::{
    Buffer, BufferOptions, Event, Kernel, KernelBundle, NdRange, Queue, Range, Read, ReadWrite, usm,
};
use sycl_graph::{Access, Cuboid, Dep, Domain, Grid, Links, Mode};

static SPIRV: &[u8] = include_bytes!("../kernels/tests.spv");

/// The same work without the runtime: an in-order immediate list and a ring of events.
struct Raw {
    tables: &'static Tables,
    list: ze_command_list_handle_t,
    kernel: ze_kernel_handle_t,
    events: Vec<ze_event_handle_t>,
    next: usize,
    memory: *mut std::ffi::c_void,
}

/// Calls Level Zero.
macro_rules! call {
    ($tables:expr, $table:ident.$slot:ident($($argument:expr),* $(,)?)) => {{
        let function = $tables.$table.$slot.unwrap();
        // SAFETY: live handles and valid outputs.
        let code = unsafe { function($($argument),*) };
        assert_eq!(code, ZE_RESULT_SUCCESS, stringify!($slot));
    }};
}

const EVENTS: usize = 4096;

impl Raw {
    fn new(tables: &'static Tables, queue: &Queue, kernel: &Kernel) -> Self {
        let (context, device) = (get_native(&queue.context()), get_native(&queue.device()));
        let desc = ze_command_queue_desc_t {
            flags: ZE_COMMAND_QUEUE_FLAG_IN_ORDER,
            mode: ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
            ..Default::default()
        };
        let mut list = std::ptr::null_mut();
        call!(
            tables,
            command_list.pfnCreateImmediate(context, device, &raw const desc, &raw mut list)
        );
        let desc = ze_event_pool_desc_t {
            flags: ZE_EVENT_POOL_FLAG_HOST_VISIBLE,
            count: EVENTS as u32,
            ..Default::default()
        };
        let mut pool = std::ptr::null_mut();
        let none = std::ptr::null_mut();
        call!(
            tables,
            event_pool.pfnCreate(context, &raw const desc, 0, none, &raw mut pool)
        );
        let events = (0..EVENTS as u32).map(|index| {
            let desc = ze_event_desc_t {
                index,
                signal: ZE_EVENT_SCOPE_FLAG_HOST,
                wait: ZE_EVENT_SCOPE_FLAG_HOST,
                ..Default::default()
            };
            let mut event = std::ptr::null_mut();
            call!(
                tables,
                event.pfnCreate(pool, &raw const desc, &raw mut event)
            );
            event
        });
        let desc = ze_host_mem_alloc_desc_t::default();
        let mut memory = std::ptr::null_mut();
        call!(
            tables,
            mem.pfnAllocHost(context, &raw const desc, 65536, 64, &raw mut memory)
        );
        Self {
            tables,
            list,
            kernel: get_native(kernel),
            events: events.collect(),
            next: 0,
            memory,
        }
    }

    fn launch(&mut self) -> ze_event_handle_t {
        let event = self.events[self.next % EVENTS];
        if self.next >= EVENTS {
            call!(self.tables, event.pfnHostReset(event));
        }
        self.next += 1;
        let one = ze_group_count_t {
            groupCountX: 1,
            groupCountY: 1,
            groupCountZ: 1,
        };
        let size = ze_group_size_t {
            groupSizeX: 1,
            groupSizeY: 1,
            groupSizeZ: 1,
        };
        let mut arguments = [(&raw mut self.memory).cast()];
        call!(
            self.tables,
            command_list.pfnAppendLaunchKernelWithArguments(
                self.list,
                self.kernel,
                one,
                size,
                arguments.as_mut_ptr(),
                std::ptr::null(),
                event,
                0,
                std::ptr::null_mut()
            )
        );
        event
    }

    /// Launches and waits at the end; an event is reused only after its command has ended.
    fn many(&mut self, count: usize) {
        for step in 0..count {
            self.launch();
            if step % (EVENTS / 2) == EVENTS / 2 - 1 {
                self.wait();
            }
        }
        self.wait();
    }

    fn wait(&self) {
        call!(
            self.tables,
            command_list.pfnHostSynchronize(self.list, u64::MAX)
        );
    }
}

struct Out {
    json: bool,
    /// Whether the words are whole names of cases rather than prefixes.
    exact: bool,
    only: Vec<String>,
}

const RUNS: usize = 30;
const MILLION: usize = 1_000_000;

/// The resident memory of this process in bytes.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0
}

impl Out {
    fn wants(&self, case: &str) -> bool {
        let is_it = |only: &String| match self.exact {
            true => case == only,
            false => case.starts_with(only.as_str()),
        };
        self.only.is_empty() || self.only.iter().any(is_it)
    }

    /// The growth of this process in bytes over a million tasks, after a warm-up of a tenth of them.
    fn growth(&self, case: &str, work: &mut dyn FnMut(usize), peer: &mut dyn FnMut(usize)) {
        if !self.wants(case) {
            return;
        }
        let grown = |work: &mut dyn FnMut(usize)| {
            work(MILLION / 10);
            let before = resident();
            work(MILLION);
            resident() - before
        };
        let (ours, raw) = (grown(work), grown(peer));
        if self.json {
            println!(
                "{{\"bench\":\"sycl\",\"case\":\"{case}\",\"unit\":\"bytes\",\"ours\":{ours:.0},\"peer\":\"raw\",\"peer_value\":{raw:.0}}}"
            );
        } else {
            println!(
                "sycl {case:<18} {ours:>9.0} bytes more after {MILLION} tasks   raw {raw:>7.0}"
            );
        }
    }

    /// Nanoseconds per task, ours and the peer's in alternation.
    fn row(
        &self,
        case: &str,
        count: usize,
        mut ours: impl FnMut(usize),
        mut peer: impl FnMut(usize),
    ) {
        if !self.wants(case) {
            return;
        }
        let time = |work: &mut dyn FnMut(usize)| {
            let began = Instant::now();
            work(count);
            began.elapsed().as_nanos() as f64 / count as f64
        };
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        // Short cases run more often, so that one sleep of a worker does not dominate.
        let runs = RUNS * (1_000 / count).clamp(1, 20);
        for run in 0..=runs {
            let (one, other) = (time(&mut ours), time(&mut peer));
            // The first round is a warm-up.
            if run > 0 {
                mine.push(one);
                theirs.push(other);
            }
        }
        mine.sort_by(f64::total_cmp);
        theirs.sort_by(f64::total_cmp);
        let (min, median, raw) = (mine[0], mine[runs / 2], theirs[0]);
        if std::env::var_os(ALONE).is_some() {
            println!("{min} {median}");
            return;
        }
        let dpcpp = dpcpp(case, count, runs.min(RUNS));
        if let Some((least, middle)) = dpcpp.filter(|_| self.json) {
            println!(
                "{{\"bench\":\"sycl\",\"case\":\"{case}\",\"unit\":\"ns\",\"ours\":{min:.1},\"peer\":\"DPC++\",\"peer_value\":{least:.1},\"ratio\":{:.3},\"min\":{min:.1},\"median\":{median:.1},\"peer_median\":{middle:.1},\"runs\":{runs}}}",
                least / min
            );
        }
        if self.json {
            println!(
                "{{\"bench\":\"sycl\",\"case\":\"{case}\",\"unit\":\"ns\",\"ours\":{min:.1},\"peer\":\"raw\",\"peer_value\":{raw:.1},\"ratio\":{:.3},\"min\":{min:.1},\"median\":{median:.1},\"runs\":{runs}}}",
                raw / min
            );
        } else {
            println!(
                "sycl {case:<18} {min:>9.0} ns a task (median {median:.0}, 90 of 100 below {:.0})   raw {raw:>7.0} (median {:.0})   {:+.0}",
                mine[runs * 9 / 10],
                theirs[runs / 2],
                min - raw
            );
            if let Some((least, middle)) = dpcpp {
                println!(
                    "     {:<18} DPC++ {least:>7.0} (median {middle:.0})   {:.1} times ours",
                    "",
                    least / min
                );
            }
        }
    }
}

/// The output of the peer program over our driver; `None` if it is missing or fails.
fn peer_says(arguments: &[&str]) -> Option<String> {
    let (program, artefacts) = (
        std::env::var_os("SOLUM_PEER_SYCL")?,
        std::env::var_os("SOLUM_ARTEFACTS")?,
    );
    let said = std::process::Command::new(std::path::Path::new(&artefacts).join("solum"))
        .args(["run", "--as", "gpu", "--"])
        .arg(program)
        .args(arguments)
        .output()
        .ok()?;
    let said_well = said.status.success().then_some(said.stdout)?;
    String::from_utf8(said_well).ok()
}

/// Whether the peer program runs over DPC++'s runtime and our driver; anything else is reported once.
fn is_dpcpp() -> bool {
    static IS_IT: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *IS_IT.get_or_init(|| {
        let Some(said) = peer_says(&["--who"]) else {
            return false;
        };
        let files = said.lines().filter_map(|line| line.strip_prefix("file "));
        let (mut runtime, mut driver) = (false, false);
        for file in files {
            let bytes = std::fs::read(file).unwrap_or_default();
            let ours = library_mark::is_marked(&bytes);
            let of_sycl = b"_ZN4sycl3_V1";
            runtime |= file.contains("/libsycl.so")
                && !ours
                && bytes.windows(of_sycl.len()).any(|part| part == of_sycl);
            driver |= file.contains("/libze_solum_cpu.so") && ours;
        }
        if !(runtime && driver) {
            eprintln!(
                "bench: sycl: DPC++ is left out: the program must run over DPC++'s runtime and Solum's driver, but runs over\n{said}"
            );
        }
        runtime && driver
    })
}

/// The least and the median nanoseconds of a task with DPC++'s runtime, if it is installed and has the case.
fn dpcpp(case: &str, count: usize, runs: usize) -> Option<(f64, f64)> {
    if !is_dpcpp() {
        return None;
    }
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/tests.spv");
    let said = peer_says(&[kernels, case, &count.to_string(), &runs.to_string()])?;
    let (least, median) = said.trim().split_once(' ')?;
    Some((least.parse().ok()?, median.parse().ok()?))
}

/// Measures one number only: the least and the median nanoseconds of a task of the first case.
const ALONE: &str = "SOLUM_BENCH_ALONE";

/// The chain in separate processes, if the libraries are installed: without tools, with the framework but no
/// subscriber, and with a subscriber to all streams that does nothing.
fn tools(out: &Out) {
    let Some(artefacts) = std::env::var_os("SOLUM_ARTEFACTS") else {
        return;
    };
    let artefacts = std::path::Path::new(&artefacts);
    let alone = |variables: &[(&str, std::path::PathBuf)]| -> Option<(f64, f64)> {
        let mut program = std::process::Command::new(std::env::current_exe().ok()?);
        for name in [
            "XPTI_TRACE_ENABLE",
            "XPTI_FRAMEWORK_DISPATCHER",
            "XPTI_SUBSCRIBERS",
        ] {
            program.env_remove(name);
        }
        program.arg("chain").env(ALONE, "1");
        program.envs(variables.iter().map(|(name, value)| (name, value)));
        let said = String::from_utf8(program.output().ok()?.stdout).ok()?;
        let (least, median) = said.trim().split_once(' ')?;
        Some((least.parse().ok()?, median.parse().ok()?))
    };
    let framework = [
        ("XPTI_TRACE_ENABLE", "1".into()),
        ("XPTI_FRAMEWORK_DISPATCHER", artefacts.join("libxptifw.so")),
    ];
    let listener = ("XPTI_SUBSCRIBERS", artefacts.join("examples/liblisten.so"));
    let listening = [framework.as_slice(), &[listener]].concat();
    for (case, variables) in [("xpti-nobody", &framework[..]), ("xpti-empty", &listening)] {
        if !out.wants(case) {
            continue;
        }
        // In alternation, so that other load on the machine affects both.
        let mut ours = (f64::MAX, f64::MAX);
        let mut without = (f64::MAX, f64::MAX);
        for _ in 0..3 {
            for (best, variables) in [(&mut ours, variables), (&mut without, &[][..])] {
                if let Some((least, median)) = alone(variables) {
                    *best = (best.0.min(least), best.1.min(median));
                }
            }
        }
        if ours.0 == f64::MAX || without.0 == f64::MAX {
            continue;
        }
        if out.json {
            println!(
                "{{\"bench\":\"sycl\",\"case\":\"{case}\",\"unit\":\"ns\",\"ours\":{:.1},\"peer\":\"without\",\"peer_value\":{:.1},\"median\":{:.1},\"peer_median\":{:.1}}}",
                ours.0, without.0, ours.1, without.1
            );
        } else {
            println!(
                "sycl {case:<18} {:>9.0} ns a task (median {:.0})   without {:>7.0} (median {:.0})   {:+.0}",
                ours.0,
                ours.1,
                without.0,
                without.1,
                ours.0 - without.0
            );
        }
    }
}

fn touch(
    queue: &Queue,
    kernel: &Kernel,
    reads: &[&Buffer<'_, i32>],
    writes: (&Buffer<'_, i32>, usize, usize),
) -> Event {
    let submitted = queue.submit(|cg| {
        for buffer in reads {
            cg.access(buffer, Read)?;
        }
        let (buffer, first, count) = writes;
        let a = cg.access_ranged(buffer, ReadWrite, count, first)?;
        cg.parallel_for_nd(kernel, NdRange::new(1, 1), (&a,))
    });
    submitted.unwrap()
}

/// Pages of the stencil's buffers, and elements of a page.
const SLABS: usize = 64;
const SLAB: usize = 256;

fn slabs() -> BufferOptions<1> {
    BufferOptions {
        page_size: Some(Range([SLAB])),
        ..BufferOptions::default()
    }
}

/// Two memories with a direct link.
struct Beside;

impl Links for Beside {
    fn cost(&self, _: Domain, _: Domain) -> Option<u32> {
        Some(1)
    }
}

/// The cost of planning the copies of a task when two devices write alternately, with the bookkeeping but without a
/// device. The peer is the same case without necessary copies.
fn planning(out: &Out) {
    let grid = Grid::new([1, 512, 512], 4, Some([1, 16, 16])).unwrap();
    let devices = [1, 2].map(|number| Domain::new(number).unwrap());
    let all = grid.whole();
    let page = Cuboid::new([0, 32, 32], [1, 48, 48]);
    let tile = Cuboid::new([0, 64, 64], [1, 192, 192]);
    let turns = |count: usize, places: &[Cuboid], devices: [Domain; 2]| {
        let mut state = sycl_graph::Buffer::new(grid);
        state.adopt(devices[0]);
        for turn in 0..count {
            let access = |elements| Access {
                mode: Mode::ReadWrite,
                elements,
            };
            let accesses = [access(places[turn % places.len()])];
            let (device, work) = (devices[turn % 2], Dep::new(0, turn as u64 + 1));
            for copy in state.plan(device, &accesses, &Beside) {
                state.commit_transfer(copy, work);
            }
            state.commit_accesses(device, &accesses, work);
            state.tidy(|_| false);
        }
    };
    let same = [devices[0]; 2];
    for (name, places) in [
        ("plan-page", &[page][..]),
        ("plan-tile", &[tile]),
        ("plan-whole", &[all]),
        // Each access finds its data in both memories.
        ("plan-mixed", &[all, tile, page]),
    ] {
        out.row(
            name,
            10_000,
            |count| turns(count, places, devices),
            |count| turns(count, places, same),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let out = Out {
        json: arguments.iter().any(|argument| argument == "--json"),
        exact: arguments.iter().any(|argument| argument == "--exact"),
        only: arguments
            .iter()
            .filter(|argument| !argument.starts_with("--"))
            .cloned()
            .collect(),
    };
    // Uses the loader that the variable names, for `./x bench sycl --against`; else the driver inside this program.
    let installed = std::env::var_os("SOLUM_ZE_LOADER").filter(|path| !path.is_empty());
    let loader = match &installed {
        Some(path) => Loader::open_at(std::path::Path::new(path)).unwrap(),
        None => {
            let entry = ze_cpu::entry();
            sycl::use_entry(entry).unwrap();
            Loader::from_entry(entry).unwrap()
        }
    };
    let loader: &'static Loader = Box::leak(Box::new(loader));
    let queue = Queue::new().unwrap();
    let (words, _) = SPIRV.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (context, device) = (queue.context(), queue.device());
    // SAFETY: the kernels stay inside what is passed here.
    let bundle = unsafe { KernelBundle::from_spirv(&context, &[device], &words) };
    let bundle = bundle.unwrap().build(c"").unwrap();
    let store = bundle.kernel(c"store").unwrap();
    let by_hand = bundle.kernel(c"store").unwrap();
    let mut raw = Raw::new(loader.tables(), &queue, &by_hand);
    let buffer = || Buffer::<i32>::from_slice(&[0; 16384], 16384).unwrap();
    let whole = |buffer| (buffer, 0, 16384);

    let one = buffer();
    out.row(
        "chain",
        10_000,
        |count| {
            (0..count).for_each(|_| drop(touch(&queue, &store, &[], whole(&one))));
            queue.wait().unwrap();
        },
        |count| raw.many(count),
    );
    let (left, right, both) = (buffer(), buffer(), buffer());
    out.row(
        "diamond",
        10_000,
        |count| {
            for _ in 0..count / 4 {
                touch(&queue, &store, &[], whole(&both));
                touch(&queue, &store, &[&both], whole(&left));
                touch(&queue, &store, &[&both], whole(&right));
                touch(&queue, &store, &[&left, &right], whole(&both));
            }
            queue.wait().unwrap();
        },
        |count| raw.many(count),
    );
    out.growth(
        "million-tasks",
        &mut |count| {
            for task in 0..count {
                touch(&queue, &store, &[&right], whole(&left));
                if task % 10_000 == 0 {
                    queue.wait().unwrap();
                }
            }
            queue.wait().unwrap();
        },
        &mut |count| raw.many(count),
    );
    let own = buffer();
    for count in [10, 1_000, 100_000] {
        out.row(
            &format!("fan-out-{count}"),
            count,
            |count| {
                touch(&queue, &store, &[], whole(&one));
                for _ in 0..count {
                    let submitted = queue.submit(|cg| {
                        let a = cg.access(&one, Read)?;
                        cg.parallel_for_nd(&store, NdRange::new(1, 1), (&a,))
                    });
                    submitted.unwrap();
                }
                touch(&queue, &store, &[], whole(&one));
                queue.wait().unwrap();
            },
            |count| raw.many(count),
        );
    }
    let options = BufferOptions {
        page_size: Some(Range([16])),
        ..BufferOptions::default()
    };
    let pages = Buffer::<i32>::from_slice_with(&[0; 16384], 16384, &options).unwrap();
    for count in [10, 1_000, 100_000] {
        out.row(
            &format!("fan-in-{count}"),
            count,
            |count| {
                for task in 0..count {
                    touch(&queue, &store, &[], (&pages, task % 1024 * 16, 16));
                }
                touch(&queue, &store, &[&pages], whole(&own));
                queue.wait().unwrap();
            },
            |count| raw.many(count),
        );
    }
    let sides = [(); 2].map(|()| Buffer::from_slice_with(&[0; 16384], 16384, &slabs()).unwrap());
    out.row(
        "stencil",
        100 * SLABS,
        |count| {
            for step in 0..count / SLABS {
                let (from, to) = (&sides[step % 2], &sides[(step + 1) % 2]);
                for slab in 0..SLABS {
                    let first = slab.saturating_sub(1) * SLAB;
                    let end = (slab + 2).min(SLABS) * SLAB;
                    let submitted = queue.submit(|cg| {
                        cg.access_ranged(from, Read, end - first, first)?;
                        let a = cg.access_ranged(to, ReadWrite, SLAB, slab * SLAB)?;
                        cg.parallel_for_nd(&store, NdRange::new(1, 1), (&a,))
                    });
                    submitted.unwrap();
                }
            }
            queue.wait().unwrap();
        },
        |count| raw.many(count),
    );
    for threads in [1, 2, 4] {
        let own: Vec<_> = (0..threads)
            .map(|_| (Queue::new().unwrap(), buffer()))
            .collect();
        // Launches set the kernel's arguments, so each thread has its own kernel.
        let kernels: Vec<_> = own
            .iter()
            .map(|_| bundle.kernel(c"store").unwrap())
            .collect();
        out.row(
            &format!("threads-{threads}"),
            10_000,
            |count| {
                std::thread::scope(|scope| {
                    for ((queue, buffer), kernel) in own.iter().zip(&kernels) {
                        scope.spawn(move || {
                            for _ in 0..count / threads {
                                touch(queue, kernel, &[], (buffer, 0, 16384));
                            }
                            queue.wait().unwrap();
                        });
                    }
                });
            },
            |count| raw.many(count),
        );
    }
    // Planning calls no driver, so there is nothing to compare with an installed one.
    if installed.is_none() {
        planning(&out);
    }
    tools(&out);
    let in_order = Queue::builder().in_order().build().unwrap();
    let block = usm::Block::<i32, usm::SharedKind>::shared(&in_order, 64).unwrap();
    out.row(
        "usm-in-order",
        10_000,
        |count| {
            for _ in 0..count {
                let submitted =
                    in_order.submit(|cg| cg.parallel_for_nd(&store, NdRange::new(1, 1), (&block,)));
                submitted.unwrap();
            }
            in_order.wait().unwrap();
        },
        |count| raw.many(count),
    );
    out.row(
        "submit-wait",
        1_000,
        |count| (0..count).for_each(|_| touch(&queue, &store, &[], whole(&one)).wait().unwrap()),
        |count| {
            for _ in 0..count {
                let event = raw.launch();
                call!(raw.tables, event.pfnHostSynchronize(event, u64::MAX));
            }
        },
    );
    out.row(
        "buffer-life",
        1_000,
        |count| {
            for _ in 0..count {
                let buffer = Buffer::<i32>::new(16384).unwrap();
                touch(&queue, &store, &[], (&buffer, 0, 16384));
            }
            queue.wait().unwrap();
        },
        |count| raw.many(count),
    );
}
