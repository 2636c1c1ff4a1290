//! The work of the programs, and when they end.

use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use level_zero::{Context, Device, Loader, Module, ModuleSource};

/// The exit code of a program that ends as it should.
pub(crate) const ENDED: i32 = 7;
/// The exit code of a program for which something failed before its end.
const FAILED: u8 = 3;

/// 25 kernels that are compiled one by one.
const MODULE: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/arith_int.spv");
/// Some of them.
const NAMES: [&str; 3] = ["div_int", "rem_int", "div_uint"];
/// One of its kernels is called `loops`.
const LOOPS: &[u8] = include_bytes!("../../../kernel-ir/tests/corpus/control.spv");

type Role = fn(&Path, u64) -> level_zero::Result<()>;

/// Each ends the process with [`ENDED`]; one that returns has failed.
pub(crate) const ROLES: [(&str, Role); 6] = [
    ("after-last-kernel", after_last_kernel),
    ("while-full-code-is-made", while_full_code_is_made),
    ("while-threads-compile", while_threads_compile),
    ("in-a-late-exit-handler", in_a_late_exit_handler),
    ("in-a-signal-handler", in_a_signal_handler),
    ("after-forks", after_forks),
];

/// Plays a role. Returns only when something failed.
pub(crate) fn play(role: &str, number: u64, libraries: &Path) -> ExitCode {
    let Some((_, play)) = ROLES.iter().find(|(known, _)| *known == role) else {
        eprintln!("endings: no role {role:?}");
        return ExitCode::from(FAILED);
    };
    if let Err(error) = play(libraries, number) {
        eprintln!("{role} {number}: {error}");
    }
    ExitCode::from(FAILED)
}

/// Ends the process as a C program does. Nothing is dropped before.
fn end() -> ! {
    // SAFETY: no argument is a pointer.
    unsafe { libc::exit(ENDED) }
}

struct Machine {
    context: Context,
    device: Device,
}

impl Machine {
    fn open(libraries: &Path) -> level_zero::Result<Self> {
        let loader = Loader::open_at(&libraries.join("libze_loader.so.1"))?;
        let driver = loader.drivers()?.remove(0);
        let device = driver.devices()?.remove(0);
        let context = driver.create_context()?;
        Ok(Self { context, device })
    }

    fn build(&self, spirv: &[u8]) -> level_zero::Result<Module> {
        let source = ModuleSource::Spirv(spirv);
        self.context.build_module(&self.device, source, "")
    }

    /// Builds a module that no other call builds, and some of its kernels.
    fn build_another(&self) -> level_zero::Result<()> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut spirv = MODULE.to_vec();
        // The third word names the tool that made the module, and means nothing.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        spirv[8..12].copy_from_slice(&number.to_le_bytes());
        let module = self.build(&spirv)?;
        for name in NAMES {
            module.create_kernel(name)?;
        }
        Ok(())
    }

    /// Runs `kernel` of `module`, whose arguments are arrays of integers, with `items` work-items.
    fn run(
        &self,
        module: &Module,
        kernel: &str,
        arguments: u32,
        items: u32,
    ) -> level_zero::Result<()> {
        let mut kernel = module.create_kernel(kernel)?;
        kernel.set_group_size([items.min(32), 1, 1])?;
        let mut memory = Vec::new();
        for index in 0..arguments {
            let mut array = self
                .context
                .allocate_shared::<i32>(&self.device, 2 * items as usize)?;
            array.as_mut_slice().fill(19);
            kernel.set_memory(index, &array)?;
            memory.push(array);
        }
        let mut list = self
            .context
            .create_immediate_list(&self.device, Default::default())?;
        // SAFETY: `memory` has what the kernel reads and writes, and lives until the launch has ended.
        unsafe { list.append_launch(&kernel, [items.div_ceil(32), 1, 1], None, &[]) }?;
        list.synchronize(u64::MAX)?;
        Ok(())
    }
}

/// A moment below `bound`, spread by the number.
fn moment(number: u64, bound: Duration) -> Duration {
    // A multiplicative hash: neighbouring numbers are far apart.
    let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    bound.mul_f64(spread as f64 / f64::from(u32::MAX))
}

/// The program ends right after the kernels that it waited for; the compiler goes ahead to kernels that follow.
fn after_last_kernel(libraries: &Path, number: u64) -> level_zero::Result<()> {
    let machine = Machine::open(libraries)?;
    let module = machine.build(MODULE)?;
    for name in &NAMES[..1 + number as usize % NAMES.len()] {
        machine.run(&module, name, 3, 64)?;
    }
    end()
}

/// The program ends when a kernel has run for about as long as it runs before full code is made of it.
fn while_full_code_is_made(libraries: &Path, number: u64) -> level_zero::Result<()> {
    let machine = Machine::open(libraries)?;
    let module = machine.build(LOOPS)?;
    let begun = Instant::now();
    // Full code is asked for after 8 ms of processor time.
    let time = Duration::from_millis(6) + moment(number, Duration::from_millis(20));
    while begun.elapsed() < time {
        machine.run(&module, "loops", 2, 16_000)?;
    }
    end()
}

static MACHINE: OnceLock<Machine> = OnceLock::new();
/// Modules that the threads have built, or were refused.
static BUILT: AtomicU64 = AtomicU64::new(0);

/// Starts four threads that build modules for ever.
fn start_threads(libraries: &Path) -> level_zero::Result<&'static Machine> {
    let opened = Machine::open(libraries)?;
    let machine = MACHINE.get_or_init(|| opened);
    for _ in 0..4 {
        std::thread::spawn(move || {
            loop {
                let _ = machine.build_another();
                BUILT.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    Ok(machine)
}

/// The program ends at any moment while its threads build modules.
fn while_threads_compile(libraries: &Path, number: u64) -> level_zero::Result<()> {
    start_threads(libraries)?;
    std::thread::sleep(moment(number, Duration::from_millis(80)));
    end()
}

fn wait_until_built(count: u64) {
    while BUILT.load(Ordering::Relaxed) < count {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// The handler is registered before any library is opened, so it runs after their own. The threads still compile then, and
/// so does the handler.
fn in_a_late_exit_handler(libraries: &Path, _: u64) -> level_zero::Result<()> {
    extern "C" fn late() {
        wait_until_built(BUILT.load(Ordering::Relaxed) + 12);
        let built = MACHINE.get().map(|machine| {
            machine.build_another()?;
            let module = machine.build(LOOPS)?;
            machine.run(&module, "loops", 2, 64)
        });
        let is_right = match &built {
            Some(Ok(())) => true,
            // So it is with a shared libLLVM.
            Some(Err(error)) => error.to_string().contains("because the process ends"),
            None => false,
        };
        if !is_right {
            eprintln!("in a late exit handler: {built:?}");
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(FAILED.into()) };
        }
    }
    // SAFETY: a function without arguments; a panic in it would abort, which the test would see.
    unsafe { libc::atexit(late) };
    start_threads(libraries)?;
    wait_until_built(4);
    end()
}

/// A signal handler calls `exit` while its thread launches kernels.
fn in_a_signal_handler(libraries: &Path, number: u64) -> level_zero::Result<()> {
    extern "C" fn handler(_: i32) {
        end()
    }
    let machine = Machine::open(libraries)?;
    let module = machine.build(MODULE)?;
    machine.run(&module, NAMES[0], 3, 64)?;
    // SAFETY: a handler of the type that `signal` takes; a handle of this thread, which is there until the process ends.
    let this = unsafe {
        libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t);
        libc::pthread_self()
    };
    std::thread::spawn(move || {
        std::thread::sleep(moment(number, Duration::from_millis(20)));
        // SAFETY: the thread is there.
        unsafe { libc::pthread_kill(this, libc::SIGUSR1) };
    });
    loop {
        machine.run(&module, NAMES[0], 3, 64)?;
    }
}

/// Children of a process whose threads launch and compile each exit at once.
fn after_forks(libraries: &Path, number: u64) -> level_zero::Result<()> {
    const CHILDREN: u64 = 20;
    let machine = start_threads(libraries)?;
    std::thread::spawn(|| -> level_zero::Result<()> {
        let module = machine.build(MODULE)?;
        loop {
            machine.run(&module, NAMES[0], 3, 64)?;
        }
    });
    // The first children begin while the compiler's library is opened.
    for child in 0..CHILDREN {
        std::thread::sleep(moment(number * CHILDREN + child, Duration::from_millis(2)));
        // SAFETY: the child only calls the driver and ends.
        let process = unsafe { libc::fork() };
        if process == 0 {
            let refused = machine.context.allocate_host::<u8>(64).is_err();
            let code = if refused { ENDED } else { FAILED.into() };
            // Half of them end through the exit handlers.
            // SAFETY: neither has an argument that is a pointer.
            unsafe {
                if child % 2 == 0 {
                    libc::exit(code);
                }
                libc::_exit(code);
            }
        }
        let mut status = 0;
        // SAFETY: the child is ours; a place to write to.
        unsafe { libc::waitpid(process, &raw mut status, 0) };
        if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != ENDED {
            eprintln!("a child ended with {status:#x}");
            return Ok(());
        }
    }
    end()
}
