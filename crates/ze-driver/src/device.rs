//! The boundary below Level Zero's semantics: what a device implements.
//!
//! `ze-driver` has objects, rules and dependencies. A device allocates memory, builds programs and runs [`Task`]s whose
//! dependencies have been met. Everything here is `Send + Sync`. Any thread may call it at any time, also from inside
//! [`Task::finished`].

use crate::address_space::AddressSpace;
pub use crate::allocation::{
    AllocError, AllocInfo, AllocRequest, ExportError, MemoryKind, MemoryUse, NoFile, WrongFree,
};
use crate::check::lock;
use crate::command_order::Position;
use signal_mask::HeldSignals;
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex, PoisonError};

/// A set of devices behind one Level Zero driver handle.
pub trait Platform: Send + Sync {
    /// At least one device, in the order of `zeDeviceGet`.
    fn devices(&self) -> &[Arc<dyn Device>];
    /// Properties of the driver object.
    fn facts(&self) -> &PlatformFacts;
    /// Allocates whole pages that can be exported later.
    ///
    /// # Errors
    /// [`AllocError`].
    fn allocate(&self, request: &AllocRequest) -> Result<*mut u8, AllocError>;
    /// Memory in use, where the platform has its own limit.
    fn memory_use(&self) -> Option<MemoryUse> {
        None
    }
    /// Frees the allocation at `base`; `false` when none begins there.
    fn free(&self, base: *mut u8) -> bool;
    /// The program has freed memory in a wrong way, as far as it is known.
    fn wrong_free(&self, _address: *const u8, _how: WrongFree) {}
    /// The program destroys the object `handle`, a list or queue with this lane.
    fn gives_up(&self, _handle: usize, _lane: Position) {}
    /// The driver frees the allocation at `base` when it is no longer in use: the program has nothing more to do.
    fn frees_itself(&self, _base: *const u8) {}
    /// Finds the allocation around any address, without a lock.
    fn find(&self, ptr: *const u8) -> Option<AllocInfo>;
    /// Base and size of the allocation around any address: a faster [`Self::find`].
    fn range(&self, ptr: *const u8) -> Option<(*mut u8, u64)> {
        self.find(ptr).map(|info| (info.base, info.size))
    }
    /// Builds a program for `device`'s target.
    ///
    /// # Errors
    /// The log of a failed build.
    fn build(&self, input: &ProgramInput) -> Result<Arc<dyn Program>, BuildFailure>;
    /// A program whose only kernel is kernel `index` of `program`, for launches in which the pointers at these offsets of
    /// the argument block are null: reads through them return zero, writes are dropped. `None` where the platform has no
    /// such program.
    fn ignoring(
        &self,
        program: &Arc<dyn Program>,
        index: usize,
        offsets: &[u32],
    ) -> Option<Arc<dyn Program>> {
        let _ = (program, index, offsets);
        None
    }
    /// The author's name for [`Self::requirements`].
    fn requirements_key(&self) -> &'static CStr {
        c"SOLUM"
    }
    /// The device features that the code of these programs needs, as text for other processes.
    fn requirements(&self, programs: &[Arc<dyn Program>]) -> String {
        let _ = programs;
        "SOLUM\n".to_owned()
    }
    /// Whether the platform meets the requirements in such a text, of any origin.
    fn judge_requirements(&self, text: &str) -> Requirements {
        match text {
            "SOLUM\n" => Requirements::Met,
            _ => Requirements::Foreign,
        }
    }
    /// The greatest number of work-groups in a cooperative launch.
    fn most_cooperative_groups(&self) -> u64 {
        u64::MAX
    }
    /// Runs `task` as soon as a thread is free. Tasks may overlap and finish in any order.
    ///
    /// [`Task::finished`] is called exactly once, by the thread that ran the task. That is a worker of the platform; a
    /// thread inside [`Self::wait`] whose wait needs the task; or the caller of `submit` itself, before it returns: for
    /// short copies, and where the system gives the platform no threads. So callers hold no lock that `finished` takes.
    fn submit(&self, task: Arc<dyn Task>);
    /// Whether a launch is too short to be worth a separate task. Must be cheap, and must not call back.
    fn is_brief(&self, launch: &Launch) -> bool {
        let _ = launch;
        false
    }
    /// How many tasks of a device run at once; further ones wait in a queue.
    fn workers(&self, device: usize) -> usize {
        let _ = device;
        usize::MAX
    }
    /// Blocks until `done()` is true or `deadline_ns` (device clock; `u64::MAX`: none) has passed. Returns `done()`.
    ///
    /// - `awaited` is a futex word, and the number that the wait is for. The word changes whenever `done` may have become
    ///   true, and all its waiters are then woken, by `FUTEX_WAKE` without the private flag: it may lie in shared memory.
    /// - `sleepers` counts threads that sleep on the word, or are about to. The wake is left out while it is 0, so raise it
    ///   (SeqCst) before the last call of `done`.
    /// - Call `done` after each look at the word and before each sleep: it may note what the thread waits for.
    ///
    /// A wait without a deadline may run submitted tasks meanwhile: those that say that waits on this word for this number
    /// need them ([`Task::needed_by`]).
    fn wait(
        &self,
        awaited: (&std::sync::atomic::AtomicU32, u64),
        sleepers: &std::sync::atomic::AtomicU32,
        done: &dyn Fn() -> bool,
        deadline_ns: u64,
    ) -> bool;
    /// Nanoseconds on the monotonic clock of all timestamps.
    fn now_ns(&self) -> u64;
    /// One moment in nanoseconds: on the clock of host timestamps, and on that of `now_ns`.
    fn clocks(&self) -> (u64, u64);
    /// Sensors and counters, where the platform has them.
    fn telemetry(&self) -> Option<&dyn crate::telemetry::Telemetry> {
        None
    }
    /// The record that kernels read of an image, at an address that stays while the image does; none without images.
    fn image_record(&self, view: &ImageView) -> Option<Box<[u128]>> {
        let _ = view;
        None
    }
    /// The word that kernels get as a sampler; none without images.
    fn sampler_word(&self, sampler: &SamplerFacts) -> Option<u64> {
        let _ = sampler;
        None
    }
    /// Pages and files, where the platform has them.
    fn address_space(&self) -> Option<&dyn AddressSpace> {
        None
    }
    /// Calls `look` about once a millisecond from a separate thread until it returns `false`. It finds changes that
    /// other processes make without notice. Returns whether the thread could be started.
    fn poll(&self, mut look: Box<dyn FnMut() -> bool + Send>) -> bool {
        let _held = HeldSignals::all();
        let thread = std::thread::Builder::new().name("solum-poll".to_owned());
        let started = thread.spawn(move || {
            while look() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        started.is_ok()
    }
}

/// The result of [`Platform::judge_requirements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirements {
    /// The text has another author.
    Foreign,
    /// All requirements are met.
    Met,
    /// All are met, and a new build would use more features.
    MetButOld,
    /// At least one is not met.
    NotMet,
}

/// One device.
pub trait Device: Send + Sync {
    /// All values that properties report.
    fn facts(&self) -> &DeviceFacts;
}

/// Properties of the driver object.
#[derive(Clone, Debug)]
pub struct PlatformFacts {
    /// `ze_driver_properties_t.driverVersion`.
    pub driver_version: u32,
    /// `ze_driver_properties_t.uuid`.
    pub uuid: [u8; 16],
    /// `zeDriverGetApiVersion`, e.g. 0x1_0011 for 1.17.
    pub api_version: u32,
}

/// Properties of a device, under the names of the specification's fields.
#[derive(Clone, Debug)]
#[expect(
    missing_docs,
    reason = "named after the specification's fields; units as there"
)]
pub struct DeviceFacts {
    /// True: `ZE_DEVICE_TYPE_GPU`; false: `ZE_DEVICE_TYPE_CPU`.
    pub gpu_typed: bool,
    /// Index of the root device, for a sub-device; sub-devices follow their root.
    pub sub_of: Option<usize>,
    /// Number among the root's sub-devices.
    pub sub_number: u32,
    /// False for a `discrete` device: own memory domain, peer access needed.
    pub integrated: bool,
    pub vendor_id: u32,
    pub device_id: u32,
    pub name: String,
    pub uuid: [u8; 16],
    /// `ze_device_ip_version_ext_t`.
    pub ip_version: u32,
    pub core_clock_mhz: u32,
    pub max_mem_alloc_size: u64,
    /// The size that programs see; at most [`Self::physical_memory`].
    pub total_memory: u64,
    /// The hardware's size.
    pub physical_memory: u64,
    pub num_slices: u32,
    pub num_subslices_per_slice: u32,
    pub num_eus_per_subslice: u32,
    pub num_threads_per_eu: u32,
    pub physical_eu_simd_width: u32,
    pub max_hardware_contexts: u32,
    pub max_command_queue_priority: u32,
    pub timestamp_valid_bits: u32,
    pub kernel_timestamp_valid_bits: u32,
    pub max_total_group_size: u32,
    pub max_group_size: [u32; 3],
    pub max_group_count: [u32; 3],
    pub max_shared_local_memory: u32,
    pub sub_group_sizes: Vec<u32>,
    /// SPIR-V version as `zeDeviceGetModuleProperties` reports it.
    pub spirv_version: u32,
    /// `ze_device_module_flags_t`.
    pub module_flags: u32,
    pub fp16_flags: u32,
    pub fp32_flags: u32,
    pub fp64_flags: u32,
    pub max_arguments_size: u32,
    pub printf_buffer_size: u32,
    pub native_kernel_uuid: [u8; 16],
    /// Hint: `ze_device_fp_atomic_ext_flags_t` for 16, 32 and 64 bits.
    pub fp_atomics: [u32; 3],
    pub queue_count: u32,
    pub memory_kind: level_zero_sys::ze_device_memory_ext_type_t,
    /// 0: unknown.
    pub memory_clock_mhz: u32,
    /// Bits; not 0 (see `leniency`).
    pub memory_bus_width: u32,
    /// (level, bytes) from L1 up.
    pub caches: Vec<(u32, u64)>,
    pub cache_line_size: u64,
    /// Sub-group size of kernels that require none.
    pub default_sub_group_size: u32,
    /// Whether kernels may use images.
    pub images: bool,
    /// Whether launches with null arguments that a kernel dereferences run the program of [`Platform::ignoring`].
    pub ignores_null_arguments: bool,
}

/// Bytes of a SPIR-V module, and its specialisation constants: `SpecId` and value bytes.
pub type SpirvModule = (Vec<u8>, Vec<(u32, Vec<u8>)>);

/// Input of a build.
#[derive(Clone, Debug)]
pub enum ProgramInput {
    /// SPIR-V modules to be linked into one: bytes and specialisation constants (`SpecId`, value bytes).
    Spirv {
        /// Modules.
        modules: Vec<SpirvModule>,
        /// Build flags, all modules'.
        options: String,
    },
    /// Bytes of [`Program::native_binary`].
    Native(Vec<u8>),
}

/// Why a build failed.
#[derive(Clone, Debug)]
pub struct BuildFailure {
    /// `true`: the input is not a program (INVALID_NATIVE_BINARY for native input); `false`: MODULE_BUILD_FAILURE.
    pub not_a_binary: bool,
    /// MODULE_LINK_FAILURE rather than MODULE_BUILD_FAILURE.
    pub link: bool,
    /// Text of the build log, one line for each error.
    pub log: String,
}

/// Where a function of a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionPlace {
    /// The program exports no function of that name.
    Absent,
    /// It is exported, but no pointer to it can be made.
    WithoutAddress,
    /// The value of a pointer to it.
    At(*mut c_void),
}

/// A built program, loaded for execution.
pub trait Program: Send + Sync {
    /// Names of the kernels, by index.
    fn names(&self) -> &[String];
    /// A kernel by index. Its code is loaded when this returns, and stays loaded.
    ///
    /// # Errors
    /// Why there is no code. [`Platform::build`] reports errors of the program as a whole.
    fn kernel(&self, index: usize) -> Result<&Arc<KernelFacts>, BuildFailure>;
    /// Address and size of a program-scope variable.
    fn global(&self, name: &str) -> Option<(*mut c_void, usize)>;
    /// A function that kernels may call through a pointer.
    fn function(&self, name: &str) -> FunctionPlace;
    /// Bytes for [`ProgramInput::Native`].
    ///
    /// # Errors
    /// Why there is no code of some kernel.
    fn native_binary(&self) -> Result<&[u8], BuildFailure>;
    /// The same for the same input.
    fn uuid(&self) -> [u8; 16];
    /// Names of unresolved imports.
    fn unresolved(&self) -> &[String];
    /// Warnings for the build log.
    fn log(&self) -> &str;
    /// The program that [`Platform::ignoring`] made this from, and the index of the kernel in it.
    fn origin(&self) -> Option<(&Arc<dyn Program>, usize)> {
        None
    }
    /// The program itself, for the platform that built it.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}

/// Facts about a kernel.
#[derive(Clone, Debug, Default)]
#[expect(
    missing_docs,
    reason = "named after the specification's fields; units as there"
)]
pub struct KernelFacts {
    pub name: String,
    pub args: Vec<KernelArgFacts>,
    /// Bytes of the argument block that [`Launch::args`] holds.
    pub args_size: u32,
    pub required_group_size: [u32; 3],
    pub required_sub_group_size: u32,
    pub sub_group_size: u32,
    /// Local memory of the kernel itself, without local arguments.
    pub local_size: u64,
    /// Local memory per work-item, added to `local_size`.
    pub local_per_item: u64,
    pub private_size: u64,
    pub spill_size: u64,
    pub attributes: String,
    /// Offsets in the argument block of pointers that the kernel dereferences without comparing them with null.
    pub unchecked: Vec<u32>,
}

/// One kernel argument.
#[derive(Clone, Debug, Default)]
pub struct KernelArgFacts {
    /// Name; may be empty.
    pub name: String,
    /// How it is passed.
    pub kind: KernelArgKind,
    /// Bytes the host must pass (8 for pointers).
    pub size: u32,
    /// Bytes without the padding after a vector of three components; `size` for all others.
    pub unpadded: u32,
    /// Byte offset in the argument block.
    pub offset: u32,
}

/// An image or a view of one, for kernels.
#[derive(Clone, Copy, Debug)]
pub struct ImageView {
    /// First texel.
    pub base: *mut u8,
    /// Width, height, and depth or layers, in texels; 1 for a dimension that the image does not have.
    pub extent: [u32; 3],
    /// Bytes of a texel: 1, 2, 3, 4, 6, 8, 12 or 16.
    pub texel: u32,
    /// Bytes from a row to the next.
    pub row_pitch: u64,
    /// Bytes from a slice or layer to the next.
    pub slice_pitch: u64,
    /// Type of the channels.
    pub numeric: ImageNumeric,
    /// Channels R, G, B, A.
    pub channels: [ImageChannel; 4],
    /// The channel or constant that a kernel reads as x, y, z, w; writes use the inverse.
    pub select: [ImageSelect; 4],
    /// A depth image.
    pub depth: bool,
    /// The sampler, for an image that kernels use with a sampler by one handle.
    pub sampler: Option<SamplerFacts>,
}

/// How the bits of a channel are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum ImageNumeric {
    Uint,
    Sint,
    Unorm,
    Snorm,
    /// Of 32, 16, 11 or 10 bits; a channel of 2 bits beside such is `Unorm`.
    Float,
}

/// Bits of a texel, counted from the lowest of its first byte; 0 bits for an absent channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "bits")]
pub struct ImageChannel {
    pub shift: u8,
    pub bits: u8,
}

/// Where a component comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum ImageSelect {
    /// R, G, B, A by number.
    Channel(u8),
    Zero,
    One,
}

/// A sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerFacts {
    /// Coordinates outside the image.
    pub address: SamplerAddress,
    /// Weights of neighbours, rather than the nearest texel.
    pub linear: bool,
    /// Coordinates from 0 to 1.
    pub normalised: bool,
}

/// How coordinates outside an image are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the specification's names")]
pub enum SamplerAddress {
    None,
    Repeat,
    Clamp,
    ClampToBorder,
    Mirror,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelArgKind {
    /// Bytes.
    #[default]
    Value,
    /// USM or null pointer.
    Pointer,
    /// Only a size: the block gets it in bytes as a `u64`, and the engine lays out the memory.
    Local,
    /// Image: the block gets the address of its record ([`Platform::image_record`]).
    Image,
    /// Sampler: the block gets its word ([`Platform::sampler_word`]).
    Sampler,
}

/// An object that work needs, with the number of the argument that names it.
pub type Kept = (u32, Arc<dyn Any + Send + Sync>);

/// Objects that work needs. They live until it is done; for work that runs once, no longer.
#[derive(Debug, Default)]
pub struct Keeps(Option<Box<Mutex<Vec<Kept>>>>);

impl Keeps {
    /// Replaces the object of an argument.
    pub(crate) fn replace(&mut self, kept: Kept) {
        let all = self.0.get_or_insert_default();
        let all = all.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(index, _)| *index != kept.0);
        all.push(kept);
    }

    /// The object of argument `index`.
    pub(crate) fn get(&self, index: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        let all = lock(self.0.as_deref()?);
        let (_, object) = all.iter().find(|(at, _)| *at == index)?;
        Some(Arc::clone(object))
    }

    /// Drops all objects.
    pub(crate) fn let_go(&self) {
        if let Some(all) = &self.0 {
            // Dropped without the lock, because an object may free memory.
            let gone = std::mem::take(&mut *lock(all));
            drop(gone);
        }
    }
}

impl FromIterator<Kept> for Keeps {
    fn from_iter<I: IntoIterator<Item = Kept>>(all: I) -> Self {
        let mut all = all.into_iter().peekable();
        // Nearly all work needs no object: then nothing is allocated.
        Self(
            all.peek()
                .is_some()
                .then(|| Box::new(Mutex::new(all.collect()))),
        )
    }
}

impl Clone for Keeps {
    fn clone(&self) -> Self {
        self.0.iter().flat_map(|all| lock(all).clone()).collect()
    }
}

/// A kernel launch, complete.
#[derive(Clone)]
pub struct Launch {
    /// The program.
    pub program: Arc<dyn Program>,
    /// Index into [`Program::names`].
    pub kernel: usize,
    /// The argument block of [`KernelFacts::args_size`] bytes; the 8 bytes of a `Local` argument are its size.
    pub args: Box<[u8]>,
    /// The objects that addresses in `args` point into, by argument; they live as long as the launch.
    pub keeps: Keeps,
    /// Work-items per group.
    pub group_size: [u32; 3],
    /// Work-groups.
    pub groups: GroupCount,
    /// Global offset in work-items.
    pub offset: [u64; 3],
    /// Device index: where to run.
    pub device: usize,
    /// All groups must run at once, because they wait for each other.
    pub cooperative: bool,
}

/// Number of work-groups.
#[derive(Clone, Copy, Debug)]
pub enum GroupCount {
    /// Known.
    Direct([u32; 3]),
    /// Three `u32` at this address, read when the launch starts. An address without memory is a fault.
    Indirect(*const u32),
    /// As [`Self::Indirect`] if `index` is less than the `u32` at `below`, read when the launch starts; else 0 groups.
    IndirectBelow {
        /// Address of the three.
        groups: *const u32,
        /// Position among the launches of one append.
        index: u32,
        /// Address of the number of launches that run.
        below: *const u32,
    },
}

/// A 3-D copy: `rows` and `slices` of `width` bytes.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "bytes throughout")]
pub struct RegionCopy {
    pub dst: *mut u8,
    pub dst_pitch: u64,
    pub dst_slice_pitch: u64,
    pub src: *const u8,
    pub src_pitch: u64,
    pub src_slice_pitch: u64,
    pub width: u64,
    pub rows: u64,
    pub slices: u64,
    /// Objects that the bytes belong to; they live as long as the copy.
    pub keeps: Keeps,
}

/// An address, and the bytes to write there.
pub type Part = (*mut u8, Box<[u8]>);

/// The work of a task on the device.
#[derive(Clone)]
pub enum Work {
    /// Nothing: finished at once, on the thread that takes it.
    Nothing,
    /// Run a kernel.
    Launch(Launch),
    /// Copy `len` bytes.
    Copy {
        /// To.
        dst: *mut u8,
        /// From; the ranges may overlap.
        src: *const u8,
        /// Bytes.
        len: u64,
    },
    /// Repeat `pattern` over `len` bytes (a multiple of its length).
    Fill {
        /// To.
        dst: *mut u8,
        /// 1 byte or more.
        pattern: Box<[u8]>,
        /// Bytes.
        len: u64,
    },
    /// Copy a region.
    CopyRegion(RegionCopy),
    /// Write the clock in ns as a `u64`.
    WriteTimestamp(*mut u64),
    /// Write bytes that are known when the work runs.
    Write {
        /// A name of the bytes, for the text of a fault.
        what: &'static str,
        /// Addresses and bytes. An address without memory is a fault.
        parts: Arc<dyn Fn() -> Vec<Part> + Send + Sync>,
    },
    /// Call the host.
    Host {
        /// Callback.
        function: unsafe extern "C" fn(*mut c_void),
        /// Its argument.
        data: *mut c_void,
    },
    /// Something short that the driver itself does on a worker.
    Internal(Arc<dyn Fn() + Send + Sync>),
}
// SAFETY: the pointers are addresses that the client gave for asynchronous use. The specification makes the client keep
// them valid until the command is done; each dereference argues for itself.
unsafe impl Send for Work {}
// SAFETY: as for `Send`.
unsafe impl Sync for Work {}

/// How a task ended.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Device clock in ns when work began.
    pub start_ns: u64,
    /// Device clock in ns when work ended.
    pub end_ns: u64,
    /// Says what faulted and where, if a kernel or copy did: the context is lost.
    pub fault: Option<String>,
}

/// The priority of a queue's or immediate list's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// After all others.
    Low,
    /// The default.
    #[default]
    Normal,
    /// Before all others.
    High,
}

/// Waits on a futex word for a number or a later one: they cannot end before some task has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Address of the futex word; 0 for no wait.
    pub word: usize,
    /// The least number.
    pub number: u64,
}

impl Need {
    /// No wait.
    pub const NONE: Self = Self { word: 0, number: 0 };

    /// Every wait on `word`.
    #[must_use]
    pub fn of(word: &std::sync::atomic::AtomicU32) -> Self {
        Self::from(word, 0)
    }

    /// Waits on `word` for `number` or a later one.
    #[must_use]
    pub fn from(word: &std::sync::atomic::AtomicU32, number: u64) -> Self {
        Self {
            word: word.as_ptr().addr(),
            number,
        }
    }

    /// Whether a wait on `word` for `number` is one of these.
    #[must_use]
    pub fn is_met_by(self, word: &std::sync::atomic::AtomicU32, number: u64) -> bool {
        self.word == word.as_ptr().addr() && self.number <= number
    }
}

/// A command whose dependencies have been met.
pub trait Task: Send + Sync {
    /// The operation.
    fn work(&self) -> &Work;
    /// How many brief launches ([`Platform::is_brief`]) follow [`Task::work`]; each runs when the one before has ended.
    fn more(&self) -> usize {
        0
    }
    /// One of the launches that follow.
    fn next_work(&self, index: usize) -> &Work {
        let _ = index;
        &Work::Nothing
    }
    /// Whether no further command of its queue has been submitted yet. Then the submitting thread may run a short copy or
    /// fill itself ([`Platform::submit`]).
    fn is_last(&self) -> bool {
        false
    }
    /// Index of the device in [`Platform::devices`] that runs it.
    fn device(&self) -> usize {
        0
    }
    /// Orders tasks when more of them wait than there are workers.
    fn priority(&self) -> Priority {
        Priority::Normal
    }
    /// The command that it is the work of.
    fn position(&self) -> crate::command_order::Position {
        crate::command_order::Position::default()
    }
    /// The context, as [`AllocRequest::context`] has it; 0 if it belongs to none.
    fn context(&self) -> usize {
        0
    }
    /// Called once when the work's effects are visible to all threads, by the thread that ran it
    /// ([`Platform::submit`] says which).
    fn finished(self: Arc<Self>, outcome: Outcome);
    /// The waits that cannot end before this task has. A thread that waits so may run the task, and then calls
    /// [`Task::finished`] itself. Called once, by [`Platform::submit`].
    fn needed_by(&self) -> [Need; 2] {
        [Need::NONE; 2]
    }
}
