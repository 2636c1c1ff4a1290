//! A platform of three devices (the third with its own memory) that runs tasks on three threads, in any order.
//!
//! Kernels: `add` (pointer, u32: adds the value to one `u32` per work-item), `count` (pointer, local: writes the group
//! count), `fault`, `store` and `stays` (pointer, u32: writes the value through the pointer unchecked; only of `store`
//! there is a variant for null). SPIR-V is never read; a first input byte of `'!'` makes the build fail.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Instant;
use ze_driver::device::*;

#[path = "sensors.rs"]
pub(crate) mod sensors;

struct Fake {
    devices: Vec<Arc<dyn Device>>,
    facts: PlatformFacts,
    memory: Mutex<BTreeMap<usize, (AllocInfo, std::alloc::Layout)>>,
    ids: AtomicU64,
    tasks: mpsc::Sender<Arc<dyn Task>>,
    start: Instant,
}
// SAFETY: the addresses in `memory` are guarded by its lock.
unsafe impl Send for Fake {}
// SAFETY: as for `Send`.
unsafe impl Sync for Fake {}

struct FakeDevice(DeviceFacts);
impl Device for FakeDevice {
    fn facts(&self) -> &DeviceFacts {
        &self.0
    }
}

fn device(gpu_typed: bool, integrated: bool) -> Arc<dyn Device> {
    Arc::new(FakeDevice(DeviceFacts {
        gpu_typed,
        sub_of: None,
        sub_number: 0,
        integrated,
        vendor_id: 0x8086,
        device_id: 1,
        name: "fake".into(),
        uuid: [u8::from(gpu_typed) + 2 * u8::from(integrated); 16],
        ip_version: 0x0300_0000,
        core_clock_mhz: 1000,
        max_mem_alloc_size: 1 << 20,
        total_memory: 1 << 30,
        physical_memory: 1 << 31,
        num_slices: 1,
        num_subslices_per_slice: 1,
        num_eus_per_subslice: 2,
        num_threads_per_eu: 1,
        physical_eu_simd_width: 8,
        max_hardware_contexts: 64,
        max_command_queue_priority: 0,
        timestamp_valid_bits: 64,
        kernel_timestamp_valid_bits: 63,
        max_total_group_size: 1024,
        max_group_size: [1024, 1024, 64],
        max_group_count: [u32::MAX; 3],
        max_shared_local_memory: 65536,
        sub_group_sizes: vec![8, 16, 32],
        spirv_version: 0x1_0004,
        module_flags: 0,
        fp16_flags: 0,
        fp32_flags: 0,
        fp64_flags: 0,
        max_arguments_size: 2048,
        printf_buffer_size: 1 << 20,
        native_kernel_uuid: [3; 16],
        fp_atomics: [1, 2, 4],
        queue_count: 4,
        memory_kind: level_zero_sys::ZE_DEVICE_MEMORY_EXT_TYPE_DDR4,
        memory_clock_mhz: 1000,
        memory_bus_width: 64,
        caches: vec![(1, 32768), (2, 1 << 20)],
        cache_line_size: 64,
        default_sub_group_size: 16,
        images: true,
        ignores_null_arguments: gpu_typed,
    }))
}

/// How often a variant for null arguments was requested.
pub(crate) static VARIANTS: AtomicUsize = AtomicUsize::new(0);

struct FakeProgram {
    names: Vec<String>,
    kernels: Vec<Arc<KernelFacts>>,
    binary: Vec<u8>,
    unresolved: Vec<String>,
    origin: Option<(Arc<dyn Program>, usize)>,
}
impl Program for FakeProgram {
    fn names(&self) -> &[String] {
        &self.names
    }
    fn kernel(&self, index: usize) -> Result<&Arc<KernelFacts>, BuildFailure> {
        let kernel = &self.kernels[index];
        match kernel.name.as_str() {
            "late" => Err(BuildFailure {
                not_a_binary: false,
                link: false,
                log: "error: kernel \"late\": more than the code generator can do\n".to_owned(),
            }),
            _ => Ok(kernel),
        }
    }
    fn global(&self, name: &str) -> Option<(*mut c_void, usize)> {
        (name == "table").then_some((0x1000 as *mut c_void, 16))
    }
    fn function(&self, name: &str) -> FunctionPlace {
        match name {
            "inlined" => FunctionPlace::WithoutAddress,
            "called" => FunctionPlace::At(0x2000 as *mut c_void),
            _ => FunctionPlace::Absent,
        }
    }
    fn native_binary(&self) -> Result<&[u8], BuildFailure> {
        Ok(&self.binary)
    }
    fn uuid(&self) -> [u8; 16] {
        [7; 16]
    }
    fn unresolved(&self) -> &[String] {
        &self.unresolved
    }
    fn log(&self) -> &str {
        "a warning"
    }
    fn origin(&self) -> Option<(&Arc<dyn Program>, usize)> {
        self.origin
            .as_ref()
            .map(|(program, index)| (program, *index))
    }
}

fn kernel(name: &str, args: &[(KernelArgKind, u32, u32)]) -> KernelFacts {
    KernelFacts {
        name: name.into(),
        args: args
            .iter()
            .map(|(kind, size, offset)| KernelArgFacts {
                kind: *kind,
                size: *size,
                unpadded: *size,
                offset: *offset,
                ..Default::default()
            })
            .collect(),
        args_size: 16,
        sub_group_size: 16,
        attributes: "vec_type_hint(int)".into(),
        ..Default::default()
    }
}

fn run(work: &Work, now: &dyn Fn() -> u64) -> Option<String> {
    // SAFETY: tests pass addresses that live until their commands are done.
    unsafe {
        match work {
            Work::Nothing => {}
            Work::Copy { dst, src, len } => src.copy_to(*dst, *len as usize),
            Work::Fill { dst, pattern, len } => {
                for i in 0..*len as usize {
                    dst.add(i).write(pattern[i % pattern.len()]);
                }
            }
            Work::CopyRegion(c) => {
                for z in 0..c.slices {
                    for y in 0..c.rows {
                        let from = c
                            .src
                            .add((z * c.src_slice_pitch + y * c.src_pitch) as usize);
                        let to = c
                            .dst
                            .add((z * c.dst_slice_pitch + y * c.dst_pitch) as usize);
                        from.copy_to(to, c.width as usize);
                    }
                }
            }
            Work::WriteTimestamp(at) => at.write(now()),
            Work::Write { parts, .. } => {
                for (to, bytes) in parts() {
                    bytes.as_ptr().copy_to(to, bytes.len());
                }
            }
            Work::Host { function, data } => function(*data),
            Work::Internal(function) => function(),
            Work::Launch(launch) => return run_kernel(launch),
        }
    }
    None
}

fn run_kernel(launch: &Launch) -> Option<String> {
    let word = |at: usize| u64::from_ne_bytes(launch.args[at..at + 8].try_into().expect("8 bytes"));
    let groups = match launch.groups {
        GroupCount::Direct(groups) => groups,
        // SAFETY: tests pass live buffers.
        GroupCount::Indirect(at) => unsafe { at.cast::<[u32; 3]>().read() },
        GroupCount::IndirectBelow {
            groups,
            index,
            below,
            // SAFETY: as above.
        } => unsafe {
            if index >= below.read() {
                return None;
            }
            groups.cast::<[u32; 3]>().read()
        },
    };
    let items = groups[0] * launch.group_size[0];
    let buffer = word(0) as *mut u32;
    match launch.program.names()[launch.kernel].as_str() {
        "add" => {
            let value = word(8) as u32;
            for i in 0..items as usize {
                // SAFETY: tests pass a live buffer with one `u32` for each item.
                unsafe { *buffer.add(i) += value };
            }
            None
        }
        "count" => {
            // SAFETY: tests pass a live buffer; the second word is the size of the local argument.
            unsafe { buffer.write(groups[0] + word(8) as u32) };
            None
        }
        "look" => {
            // SAFETY: a record of this platform's: base and bytes; the image lives until the launch is done.
            unsafe {
                let record = word(0) as *const u128;
                let (base, bytes) = (record.read() as usize, record.add(1).read() as usize);
                ((base + bytes - 4) as *mut u32).write_unaligned(word(8) as u32);
            }
            None
        }
        "store" | "stays" if buffer.is_null() => match launch.program.origin() {
            Some(_) => None,
            None => Some("kernel \"store\" wrote at address 0".into()),
        },
        "store" | "stays" => {
            // SAFETY: tests pass a live buffer.
            unsafe { buffer.write(word(8) as u32) };
            None
        }
        _ => Some("kernel \"fault\" read address 0".into()),
    }
}

impl Platform for Fake {
    fn devices(&self) -> &[Arc<dyn Device>] {
        &self.devices
    }
    fn facts(&self) -> &PlatformFacts {
        &self.facts
    }
    fn allocate(&self, request: &AllocRequest) -> Result<*mut u8, AllocError> {
        let layout = std::alloc::Layout::from_size_align(
            request.size as usize,
            request.align.max(4096) as usize,
        )
        .map_err(|_| AllocError::TooLarge)?;
        // SAFETY: the size is at least 1.
        let base = unsafe { std::alloc::alloc_zeroed(layout) };
        let info = AllocInfo {
            base,
            size: request.size,
            kind: request.kind,
            device: request.device,
            context: request.context,
            id: self.ids.fetch_add(1, Ordering::Relaxed),
            page_size: 4096,
            imported: false,
        };
        self.memory
            .lock()
            .expect("no panic under the lock")
            .insert(base as usize, (info, layout));
        Ok(base)
    }
    fn free(&self, base: *mut u8) -> bool {
        let found = self
            .memory
            .lock()
            .expect("no panic under the lock")
            .remove(&(base as usize));
        if let Some((_, layout)) = found {
            // SAFETY: allocated above with that layout.
            unsafe { std::alloc::dealloc(base, layout) };
        }
        found.is_some()
    }
    fn find(&self, ptr: *const u8) -> Option<AllocInfo> {
        let memory = self.memory.lock().expect("no panic under the lock");
        let (_, (info, _)) = memory.range(..=ptr as usize).next_back()?;
        ((ptr as usize) < info.base as usize + info.size as usize).then_some(*info)
    }
    fn build(&self, input: &ProgramInput) -> Result<Arc<dyn Program>, BuildFailure> {
        let (first, text) = match input {
            ProgramInput::Native(bytes) => (bytes, "native".to_owned()),
            ProgramInput::Spirv { modules, options } => (
                &modules[0].0,
                format!("{} modules, options {options}", modules.len()),
            ),
        };
        if first.first() == Some(&b'!') {
            return Err(BuildFailure {
                not_a_binary: true,
                link: false,
                log: "word 0: not SPIR-V\nmore".into(),
            });
        }
        let unresolved = if first.first() == Some(&b'?') {
            vec!["missing".to_owned()]
        } else {
            vec![]
        };
        use KernelArgKind::{Image, Local, Pointer, Sampler, Value};
        let mut vectors = kernel(
            "vectors",
            &[(Value, 16, 0), (Value, 4, 16), (Value, 16, 32)],
        );
        vectors.args_size = 48;
        for (arg, unpadded) in vectors.args.iter_mut().zip([12, 3]) {
            arg.unpadded = unpadded;
        }
        let unchecked = |name| KernelFacts {
            unchecked: vec![0],
            ..kernel(name, &[(Pointer, 8, 0), (Value, 4, 8)])
        };
        let kernels = vec![
            kernel("add", &[(Pointer, 8, 0), (Value, 4, 8)]),
            kernel("count", &[(Pointer, 8, 0), (Local, 8, 8)]),
            kernel("fault", &[]),
            kernel("look", &[(Image, 8, 0), (Sampler, 8, 8)]),
            kernel("late", &[]),
            unchecked("store"),
            unchecked("stays"),
            KernelFacts {
                required_group_size: [2048, 1, 1],
                ..kernel("vast", &[])
            },
            vectors,
        ];
        Ok(Arc::new(FakeProgram {
            names: kernels.iter().map(|kernel| kernel.name.clone()).collect(),
            kernels: kernels.into_iter().map(Arc::new).collect(),
            binary: text.into_bytes(),
            unresolved,
            origin: None,
        }))
    }
    fn ignoring(
        &self,
        program: &Arc<dyn Program>,
        index: usize,
        offsets: &[u32],
    ) -> Option<Arc<dyn Program>> {
        let name = &program.names()[index];
        assert_eq!(offsets, [0]);
        VARIANTS.fetch_add(1, Ordering::Relaxed);
        (name == "store").then(|| {
            let facts = KernelFacts {
                unchecked: Vec::new(),
                ..KernelFacts::clone(program.kernel(index).expect("a kernel"))
            };
            Arc::new(FakeProgram {
                names: vec![name.clone()],
                kernels: vec![Arc::new(facts)],
                binary: Vec::new(),
                unresolved: Vec::new(),
                origin: Some((Arc::clone(program), index)),
            }) as Arc<dyn Program>
        })
    }
    fn image_record(&self, view: &ImageView) -> Option<Box<[u128]>> {
        let bytes = view.slice_pitch * u64::from(view.extent[2]);
        Some([view.base as usize as u128, u128::from(bytes)].into())
    }
    fn sampler_word(&self, sampler: &SamplerFacts) -> Option<u64> {
        let address = match sampler.address {
            SamplerAddress::Mirror => 0x70,
            _ => 0,
        };
        Some(address | u64::from(sampler.linear) << 1 | u64::from(sampler.normalised))
    }
    fn is_brief(&self, launch: &Launch) -> bool {
        launch.program.names()[launch.kernel] == "add"
    }
    fn most_cooperative_groups(&self) -> u64 {
        64
    }
    fn workers(&self, _device: usize) -> usize {
        3
    }
    fn submit(&self, task: Arc<dyn Task>) {
        self.tasks.send(task).expect("the worker lives for ever");
    }
    fn wait(
        &self,
        (word, _): (&AtomicU32, u64),
        sleepers: &AtomicU32,
        done: &dyn Fn() -> bool,
        deadline_ns: u64,
    ) -> bool {
        sleepers.fetch_add(1, Ordering::SeqCst);
        let met = loop {
            let seen = word.load(Ordering::SeqCst);
            if done() {
                break true;
            }
            let left = deadline_ns.saturating_sub(self.now_ns());
            if left == 0 {
                break false;
            }
            let left = left.min(10_000_000_000);
            let timeout = libc::timespec {
                tv_sec: (left / 1_000_000_000) as libc::time_t,
                tv_nsec: (left % 1_000_000_000) as libc::c_long,
            };
            // SAFETY: the word and the timeout are alive for the call.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    word.as_ptr(),
                    libc::FUTEX_WAIT,
                    seen,
                    &raw const timeout,
                );
            }
        };
        sleepers.fetch_sub(1, Ordering::SeqCst);
        met
    }
    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64 + 1000
    }
    fn clocks(&self) -> (u64, u64) {
        let now = self.now_ns();
        (now * 2, now)
    }
    fn telemetry(&self) -> Option<&dyn ze_driver::telemetry::Telemetry> {
        static SENSORS: sensors::Sensors = sensors::Sensors::new();
        Some(&SENSORS)
    }
}

/// The platform of the test process.
pub(crate) fn platform() -> Result<Arc<dyn Platform>, String> {
    static ONE: OnceLock<Arc<Fake>> = OnceLock::new();
    let one = ONE.get_or_init(|| {
        let (tasks, inbox) = mpsc::channel::<Arc<dyn Task>>();
        let start = Instant::now();
        let now = move || start.elapsed().as_nanos() as u64 + 1000;
        let inbox = Arc::new(Mutex::new(inbox));
        for _ in 0..3 {
            let inbox = Arc::clone(&inbox);
            std::thread::spawn(move || {
                // A platform may have a task longer than the driver waits for it.
                let mut last = None;
                loop {
                    let next = inbox.lock().expect("no panic under the lock").recv();
                    let Ok(task) = next else { return };
                    let start_ns = now();
                    let rest = (0..task.more()).map(|index| task.next_work(index));
                    let fault = std::iter::once(task.work())
                        .chain(rest)
                        .find_map(|work| run(work, &now));
                    Arc::clone(&task).finished(Outcome {
                        start_ns,
                        end_ns: now(),
                        fault,
                    });
                    last.replace(task);
                }
            });
        }
        Arc::new(Fake {
            devices: vec![
                device(true, true),
                device(false, true),
                device(false, false),
            ],
            facts: PlatformFacts {
                driver_version: 7,
                uuid: [9; 16],
                api_version: 0x1_0011,
            },
            memory: Mutex::default(),
            ids: AtomicU64::new(1),
            tasks,
            start,
        })
    });
    Ok(Arc::clone(one) as Arc<dyn Platform>)
}
