//! Intel's CPU OpenCL runtime, in a process of its own: it measures a case for each line that it reads.

use std::ffi::{CString, c_char, c_void};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::{null, null_mut};
use std::time::Instant;

use libloading::Library;

use crate::peers::INTEL_OPENCL;

/// The process; it ends when its input does.
pub(crate) struct Peer {
    process: Child,
    ask: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it, where `SOLUM_PEER_INTEL` names the runtime's folder and it works.
    pub(crate) fn start() -> Option<Self> {
        let folder = std::env::var_os("SOLUM_PEER_INTEL").map(PathBuf::from)?;
        let icd = std::env::temp_dir().join(format!("solum-bench-{}", std::process::id()));
        std::fs::create_dir_all(&icd).ok()?;
        std::fs::write(
            icd.join("intel.icd"),
            format!("{}\n", folder.join("libintelocl.so").display()),
        )
        .ok()?;
        let mut process = Command::new(std::env::current_exe().ok()?)
            .args(["child", "opencl"])
            .env("OCL_ICD_VENDORS", &icd)
            .env("LD_LIBRARY_PATH", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (ask, answers) = (process.stdin.take(), process.stdout.take()?);
        let mut peer = Self {
            process,
            ask,
            answers: BufReader::new(answers),
        };
        let works = peer.measure("submit-minimum").is_finite();
        let _ = std::fs::remove_dir_all(&icd);
        works.then_some(peer)
    }

    /// Nanoseconds of one call of `case`; NaN when it fails.
    pub(crate) fn measure(&mut self, case: &str) -> f64 {
        let mut line = String::new();
        let asked = self
            .ask
            .as_mut()
            .is_some_and(|ask| writeln!(ask, "{case}").and_then(|()| ask.flush()).is_ok());
        if !asked || self.answers.read_line(&mut line).is_err() {
            return f64::NAN;
        }
        line.trim().parse().unwrap_or(f64::NAN)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.ask.take());
        let _ = self.process.wait();
    }
}

type Handle = *mut c_void;
type Build = unsafe extern "C" fn(
    Handle,
    u32,
    *const Handle,
    *const c_char,
    *const c_void,
    *const c_void,
) -> i32;
type Enqueue = unsafe extern "C" fn(
    Handle,
    Handle,
    u32,
    *const usize,
    *const usize,
    *const usize,
    u32,
    *const Handle,
    *mut Handle,
) -> i32;

struct Runtime {
    library: Library,
    context: Handle,
    queue: Handle,
    kernel: Handle,
    with_argument: Handle,
    buffer: Handle,
}

impl Runtime {
    /// # Safety
    /// `T` is the type of the function `name`.
    unsafe fn get<T: Copy>(&self, name: &str) -> T {
        // SAFETY: this function's contract; a name that is missing ends the child.
        unsafe {
            *self
                .library
                .get(name.as_bytes())
                .expect("an OpenCL 2.0 runtime")
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "a child of the benchmark that fails is a missing column"
    )]
    fn open() -> Self {
        let source = CString::new(
            "kernel void empty(void) {} kernel void one(global int *a) { if (a == 0) a[0] = 1; }",
        )
        .expect("no zero");
        // SAFETY: signatures and arguments as in the OpenCL 2.0 headers; every out pointer is a live local.
        unsafe {
            let library = Library::new("libOpenCL.so.1").expect("libOpenCL.so.1");
            let mut me = Self {
                library,
                context: null_mut(),
                queue: null_mut(),
                kernel: null_mut(),
                with_argument: null_mut(),
                buffer: null_mut(),
            };
            let (mut platform, mut device): (Handle, Handle) = (null_mut(), null_mut());
            let platforms: unsafe extern "C" fn(u32, *mut Handle, *mut u32) -> i32 =
                me.get("clGetPlatformIDs");
            assert_eq!(platforms(1, &raw mut platform, null_mut()), 0);
            type Info = unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32;
            let told = |of: Handle, function: &str, what: u32| {
                let (ask, mut text): (Info, _) = (me.get(function), [0_u8; 256]);
                assert_eq!(
                    ask(of, what, text.len(), text.as_mut_ptr().cast(), null_mut()),
                    0
                );
                let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                String::from_utf8_lossy(text).into_owned()
            };
            const PLATFORM: (u32, u32) = (0x902, 0x903);
            const DEVICE_NAME: u32 = 0x102b;
            let name = told(platform, "clGetPlatformInfo", PLATFORM.0);
            let vendor = told(platform, "clGetPlatformInfo", PLATFORM.1);
            let devices: unsafe extern "C" fn(Handle, u64, u32, *mut Handle, *mut u32) -> i32 =
                me.get("clGetDeviceIDs");
            assert_eq!(
                devices(
                    platform,
                    u64::from(u32::MAX),
                    1,
                    &raw mut device,
                    null_mut()
                ),
                0
            );
            let shown = told(device, "clGetDeviceInfo", DEVICE_NAME);
            if let Err(text) = INTEL_OPENCL.check(&name, &vendor, &shown) {
                eprintln!("bench: driver: no peer: {text}");
                std::process::exit(1);
            }
            let context: unsafe extern "C" fn(
                *const isize,
                u32,
                *const Handle,
                *const c_void,
                *const c_void,
                *mut i32,
            ) -> Handle = me.get("clCreateContext");
            me.context = context(null(), 1, &raw const device, null(), null(), null_mut());
            let queue: unsafe extern "C" fn(Handle, Handle, *const u64, *mut i32) -> Handle =
                me.get("clCreateCommandQueueWithProperties");
            me.queue = queue(me.context, device, null(), null_mut());
            let program: unsafe extern "C" fn(
                Handle,
                u32,
                *const *const c_char,
                *const usize,
                *mut i32,
            ) -> Handle = me.get("clCreateProgramWithSource");
            let text = source.as_ptr();
            let program = program(me.context, 1, &raw const text, null(), null_mut());
            let build: Build = me.get("clBuildProgram");
            assert_eq!(build(program, 0, null(), null(), null(), null()), 0);
            let kernel: unsafe extern "C" fn(Handle, *const c_char, *mut i32) -> Handle =
                me.get("clCreateKernel");
            me.kernel = kernel(program, c"empty".as_ptr(), null_mut());
            me.with_argument = kernel(program, c"one".as_ptr(), null_mut());
            me.buffer = me.create_buffer(64 << 10);
            assert!(
                [me.context, me.queue, me.kernel, me.with_argument, me.buffer]
                    .iter()
                    .all(|h| !h.is_null())
            );
            me
        }
    }

    fn create_buffer(&self, size: usize) -> Handle {
        // SAFETY: as in `open`.
        unsafe {
            let create: unsafe extern "C" fn(Handle, u64, usize, *mut c_void, *mut i32) -> Handle =
                self.get("clCreateBuffer");
            create(self.context, 1, size, null_mut(), null_mut())
        }
    }

    fn finish(&self) {
        // SAFETY: as in `open`.
        unsafe {
            let finish: unsafe extern "C" fn(Handle) -> i32 = self.get("clFinish");
            assert_eq!(finish(self.queue), 0);
        }
    }

    /// Nanoseconds for each of `count` launches; with or without the wait at the end.
    fn launches(&self, count: u32, with_wait: bool) -> f64 {
        // SAFETY: as in `open`.
        let enqueue: Enqueue = unsafe { self.get("clEnqueueNDRangeKernel") };
        let began = Instant::now();
        for _ in 0..count {
            // SAFETY: as in `open`.
            let code = unsafe {
                enqueue(
                    self.queue,
                    self.kernel,
                    1,
                    null(),
                    &1,
                    &1,
                    0,
                    null(),
                    null_mut(),
                )
            };
            assert_eq!(code, 0);
        }
        if with_wait {
            self.finish();
        }
        let time = began.elapsed().as_nanos() as f64 / f64::from(count);
        self.finish();
        time
    }

    fn many(&self) -> Vec<f64> {
        let mut all: Vec<_> = (0..500).map(|_| self.launches(1, true)).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    fn events(&self, case: &str) -> f64 {
        const COUNT: usize = 1000;
        // SAFETY: as in `open`.
        unsafe {
            let create: unsafe extern "C" fn(Handle, *mut i32) -> Handle =
                self.get("clCreateUserEvent");
            let signal: unsafe extern "C" fn(Handle, i32) -> i32 = self.get("clSetUserEventStatus");
            let query: unsafe extern "C" fn(Handle, u32, usize, *mut c_void, *mut usize) -> i32 =
                self.get("clGetEventInfo");
            let release: unsafe extern "C" fn(Handle) -> i32 = self.get("clReleaseEvent");
            let timed = |work: &mut dyn FnMut()| {
                let began = Instant::now();
                work();
                began.elapsed().as_nanos() as f64 / COUNT as f64
            };
            let mut all = Vec::with_capacity(COUNT);
            let created =
                timed(&mut || all.extend((0..COUNT).map(|_| create(self.context, null_mut()))));
            let signalled = timed(&mut || {
                all.iter()
                    .for_each(|event| assert_eq!(signal(*event, 0), 0))
            });
            let queried = timed(&mut || {
                for event in &all {
                    let mut status = 0_i32;
                    // CL_EVENT_COMMAND_EXECUTION_STATUS.
                    assert_eq!(
                        query(*event, 0x11d3, 4, (&raw mut status).cast(), null_mut()),
                        0
                    );
                }
            });
            all.iter().for_each(|event| assert_eq!(release(*event), 0));
            match case {
                "event-create" => created,
                "event-signal" => signalled,
                _ => queried,
            }
        }
    }

    fn measure(&self, case: &str) -> f64 {
        match case {
            "enqueue" => self.launches(1000, false),
            "enqueue-10000" => self.launches(10_000, true),
            "submit-1000" => self.launches(1000, true),
            "submit-median" => self.many()[250],
            "submit-minimum" => self.many()[0],
            "event-create" | "event-signal" | "event-query" => self.events(case),
            "set-argument" => {
                // SAFETY: as in `open`.
                let set: unsafe extern "C" fn(Handle, u32, usize, *const c_void) -> i32 =
                    unsafe { self.get("clSetKernelArg") };
                crate::nanoseconds(1000, || {
                    // SAFETY: the buffer's handle lives as long as this.
                    let code =
                        unsafe { set(self.with_argument, 0, 8, (&raw const self.buffer).cast()) };
                    assert_eq!(code, 0);
                })
            }
            "buffer-64KiB" => {
                // SAFETY: as in `open`.
                let release: unsafe extern "C" fn(Handle) -> i32 =
                    unsafe { self.get("clReleaseMemObject") };
                crate::nanoseconds(100, || {
                    // SAFETY: the buffer was just made.
                    assert_eq!(unsafe { release(self.create_buffer(64 << 10)) }, 0);
                })
            }
            _ => f64::NAN,
        }
    }
}

/// The child's side: answers until its input ends.
#[expect(clippy::print_stdout, reason = "the answers")]
pub(crate) fn serve() {
    let runtime = Runtime::open();
    for case in std::io::stdin().lines().map_while(std::result::Result::ok) {
        println!("{}", runtime.measure(case.trim()));
        let _ = std::io::stdout().flush();
    }
}
