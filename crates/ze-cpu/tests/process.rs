//! Effects of the device on its process: each test runs this test binary again as the affected program, and checks how
//! it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use ze_driver::device::{AllocRequest, MemoryKind, Outcome, Platform, Task, Work};

#[path = "process/faults.rs"]
mod faults;
#[path = "process/float_modes.rs"]
mod float_modes;
#[path = "process/hostile.rs"]
mod hostile;
#[path = "process/limited.rs"]
mod limited;
#[path = "process/linked.rs"]
mod linked;
#[path = "process/logged.rs"]
mod logged;
#[path = "process/nulls.rs"]
mod nulls;
#[path = "process/quiet_exit.rs"]
mod quiet_exit;
#[path = "process/vanish.rs"]
mod vanish;

/// Which program this process is to be; none: the tests.
const ROLE: &str = "SOLUM_TEST_ROLE";

/// Runs `role` in a separate process, with `variables` in its environment.
fn program(role: &str, variables: &[(&str, &str)]) -> Output {
    of_role(role, variables).output().unwrap()
}

/// The test binary, where another user may run it; `None`: as it was started.
const PROGRAM: &str = "SOLUM_TEST_PROGRAM";

/// As [`program`], not yet started.
fn of_role(role: &str, variables: &[(&str, &str)]) -> Command {
    let program = std::env::var_os(PROGRAM).map(std::path::PathBuf::from);
    let mut command = Command::new(program.unwrap_or_else(|| std::env::current_exe().unwrap()));
    command
        .args(["--exact", "roles", "--nocapture"])
        .env(ROLE, role)
        .envs(variables.iter().copied());
    command
}

struct Item {
    work: Work,
    done: AtomicU32,
    outcome: Mutex<Option<Outcome>>,
}

impl Task for Item {
    fn work(&self) -> &Work {
        &self.work
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        *self.outcome.lock().unwrap() = Some(outcome);
        self.done.store(1, Ordering::Release);
        // SAFETY: wakes threads that wait on a live word.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.done.as_ptr(),
                libc::FUTEX_WAKE,
                i32::MAX,
            );
        }
    }
}

fn submit(platform: &Arc<dyn Platform>, work: Work) -> Arc<Item> {
    let item = Arc::new(Item {
        work,
        done: AtomicU32::new(0),
        outcome: Mutex::new(None),
    });
    platform.submit(Arc::clone(&item) as Arc<dyn Task>);
    item
}

fn run(platform: &Arc<dyn Platform>, work: Work) -> Option<String> {
    let item = submit(platform, work);
    let done = || item.done.load(Ordering::Acquire) == 1;
    assert!(platform.wait((&item.done, 0), &AtomicU32::new(0), &done, u64::MAX));
    let outcome = item.outcome.lock().unwrap().take();
    outcome.unwrap().fault
}

fn bad_copy() -> Work {
    Work::Copy {
        dst: 4096 as *mut u8,
        src: 8192 as *const u8,
        len: 8,
    }
}

/// Not a test: the programs that the tests below run.
#[test]
fn roles() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    match role.as_str() {
        "linked" => return linked::run(),
        "hostile-bytes" => return hostile::fuzz(),
        "hostile-peer" => return hostile::peer(),
        "known-by-number" => return hostile::known_by_number(),
        "hostile-server" => return hostile::server(),
        "limited" => return limited::use_memory(),
        "locked-memory" => return limited::export_locked_memory(),
        "large-memory" => return limited::use_large_memory(),
        "count-allocations" => return limited::count_allocations(),
        "threadless" => return limited::run_without_threads(),
        "quiet-exit" => return quiet_exit::exit(),
        "vanish" => return vanish::run(),
        "float-modes" => return float_modes::run(),
        "logged" => return logged::run(),
        "logged-calls" => return logged::run_calls(),
        "faults" => return faults::run(),
        "nulls" => return nulls::run(),
        "local-memory" => return nulls::ask_for_local_memory(),
        "spins" => return faults::run_without_end(),
        "bad-count" => return linked::run_with_a_bad_count(),
        "function-pointers" => return linked::run_with_function_pointers(),
        _ => {}
    }
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let of_the_harness = threads();
    let platform = ze_cpu::platform();
    let Ok(platform) = platform else {
        std::process::exit(3);
    };
    match role.as_str() {
        "start" => {
            assert_eq!(
                threads(),
                of_the_harness,
                "no thread before the first submission"
            );
            assert_eq!(run(&platform, Work::Nothing), None);
            assert!(threads() >= of_the_harness + 2, "two workers at least");
        }
        "signals" => {
            assert_eq!(run(&platform, Work::Nothing), None);
            let (told, tell) = std::sync::mpsc::channel();
            assert!(platform.poll(Box::new(move || {
                let _ = told.send(());
                true
            })));
            tell.recv().unwrap();
            // A thread sets its own name once it runs.
            let wanted = ["solum-0", "solum-poll", "solum-watchdog"];
            let all = |ours: &[(String, u64)]| {
                let is_there = |name: &&str| ours.iter().any(|(ours, _)| ours == name);
                wanted.iter().all(is_there)
            };
            let begun = std::time::Instant::now();
            let ours = loop {
                let ours = threads_of_ours();
                if all(&ours) {
                    break ours;
                }
                assert!(
                    begun.elapsed() < std::time::Duration::from_secs(60),
                    "{ours:?}"
                );
                std::thread::yield_now();
            };
            for (name, blocked) in ours {
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGCHLD] {
                    assert!(blocked >> (signal - 1) & 1 == 1, "{name} takes {signal}");
                }
                assert!(blocked >> (libc::SIGSEGV - 1) & 1 == 0, "{name}");
            }
        }
        "exit" => {
            // Ends while workers copy, sleep and spin.
            let len = 256u64 << 20;
            let request = AllocRequest {
                kind: MemoryKind::Shared,
                size: len,
                align: 1,
                device: Some(0),
                context: 0,
            };
            let at = platform.allocate(&request).unwrap();
            for _ in 0..8 {
                submit(
                    &platform,
                    Work::Fill {
                        dst: at,
                        pattern: Box::new([1, 2, 3, 4]),
                        len,
                    },
                );
            }
            submit(&platform, Work::Internal(Arc::new(std::thread::park)));
            std::process::exit(7);
        }
        "crash" => crash(),
        "crash-after-work" => {
            assert!(run(&platform, bad_copy()).is_some());
            crash();
        }
        "own-handler" => {
            // Installed after ours, as crash reporters are; ours must be reinstalled, and this one must still get the
            // program's faults.
            assert!(run(&platform, bad_copy()).is_some());
            install(report as *const () as usize, libc::SA_SIGINFO);
            std::thread::sleep(std::time::Duration::from_millis(50));
            for _ in 0..100 {
                assert!(run(&platform, bad_copy()).is_some());
            }
            crash();
        }
        "chaining-handler" => {
            assert!(run(&platform, bad_copy()).is_some());
            // SAFETY: saves ours, then installs one that calls it.
            unsafe {
                let mut ours: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGSEGV, std::ptr::null(), &mut ours);
                OURS.store(ours.sa_sigaction, Ordering::Release);
            }
            install(pass_on as *const () as usize, libc::SA_SIGINFO);
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(run(&platform, bad_copy()).is_some());
            crash();
        }
        "raise" => {
            // Rust's own handler ignores a signal that was sent.
            install(libc::SIG_DFL, 0);
            assert_eq!(run(&platform, Work::Nothing), None);
            // SAFETY: sends a signal to this thread.
            unsafe { libc::raise(libc::SIGSEGV) };
        }
        "fork" => {
            assert_eq!(run(&platform, Work::Nothing), None);
            // SAFETY: the child only calls us and `_exit`.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    submit(&platform, Work::Nothing);
                    libc::_exit(9);
                }
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                assert_eq!(libc::WEXITSTATUS(status), 9);
            }
            assert_eq!(run(&platform, Work::Nothing), None);
        }
        other => panic!("no role {other}"),
    }
}

/// Names of the threads that the driver has started, with the signals that they have blocked, a bit each.
fn threads_of_ours() -> Vec<(String, u64)> {
    let of = |status: &str, key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.unwrap_or_default().trim().to_owned()
    };
    let mut ours = Vec::new();
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let name = of(&status, "Name:");
        if name.starts_with("solum") {
            let blocked = of(&status, "SigBlk:");
            ours.push((name, u64::from_str_radix(&blocked, 16).unwrap()));
        }
    }
    ours
}

/// A null read outside kernels.
fn crash() {
    // SAFETY: none: this is the crash that the test is about.
    unsafe { std::ptr::read_volatile(std::hint::black_box(16 as *const u8)) };
}

fn install(handler: usize, flags: i32) {
    // SAFETY: the handlers below have the signature that the flags ask for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = flags;
        libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
    }
}

static OURS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

extern "C" fn report(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system's, or whoever chains to us, gives a valid pointer.
    let address = unsafe { (*info).si_addr() } as usize;
    // SAFETY: ends the process at once.
    unsafe { libc::_exit(if address == 16 { 42 } else { 43 }) };
}

extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let ours = OURS.load(Ordering::Acquire);
    // SAFETY: our handler's address, taken from the system.
    let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
        unsafe { std::mem::transmute(ours) };
    call(signal, info, context);
}

#[test]
fn threads_start_with_the_first_submission() {
    let output = program("start", &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn no_thread_of_the_driver_takes_the_programs_signals() {
    let output = program("signals", &[("SOLUM_KERNEL_TIMEOUT_MS", "600000")]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_process_may_exit_while_work_runs() {
    for _ in 0..5 {
        assert_eq!(program("exit", &[]).status.code(), Some(7));
    }
}

#[test]
fn the_programs_own_crashes_stay_its_own() {
    for role in ["crash", "crash-after-work", "raise", "chaining-handler"] {
        let status = program(role, &[]).status;
        assert_eq!(status.signal(), Some(libc::SIGSEGV), "{role}: {status}");
    }
    assert_eq!(program("own-handler", &[]).status.code(), Some(42));
}

#[test]
fn a_forked_child_can_do_nothing_and_harms_nothing() {
    let output = program("fork", &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn threads_that_end_during_a_wait_do_not_disturb_others() {
    let output = program("vanish", &[]);
    assert!(
        output.status.success(),
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_program_with_the_driver_linked_in_needs_no_library() {
    run_linked("linked");
}

#[test]
fn a_call_through_a_pointer_to_no_function_loses_the_context_only() {
    run_linked("function-pointers");
}

/// Runs `role` with the interpreter, and with the code generator if that is linked in.
fn run_linked(role: &str) {
    let mut engines = vec![("SOLUM_COMPILER", "interpreter")];
    if cfg!(linked_generator) {
        // No entries of an earlier run, so that the code generator inside must compile.
        engines.push(("SOLUM_CACHE", "0"));
    }
    for engine in engines {
        let output = program(role, &[engine]);
        assert!(
            output.status.success(),
            "{engine:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn kernels_that_fault_lose_their_context_only_a_hundred_times() {
    // Contexts are created by the hundred, with programs from a cache.
    let folder = std::env::temp_dir().join(format!("solum-faults-{}", std::process::id()));
    let kept = folder.to_str().unwrap();
    let mut engines = vec![("SOLUM_COMPILER", "interpreter")];
    if cfg!(linked_generator) {
        engines.extend([("SOLUM_LANES", "auto"), ("SOLUM_LANES", "1")]);
    }
    for engine in engines {
        let output = program("faults", &[engine, ("SOLUM_CACHE_DIR", kept)]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{engine:?}: {text}");
        // As DPC++'s runtimes print it: on a separate line.
        let line = "faults.cl:35: asserts: global id: [109,0,0], local id: [13,0,0] Assertion `id != at` failed.";
        let said = text.lines().filter(|said| *said == line).count();
        assert_eq!(said, 100, "{engine:?}");
    }
    // The cache is otherwise only in the system's default folder.
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn null_arguments_are_ignored_and_reported_if_the_variable_says_so() {
    let folder = std::env::temp_dir().join(format!("solum-nulls-{}", std::process::id()));
    let kept = ("SOLUM_CACHE_DIR", folder.to_str().unwrap());
    let mut engines = vec![[("SOLUM_COMPILER", "interpreter"); 2]];
    if cfg!(linked_generator) {
        engines.push([("SOLUM_TIERS", "baseline"), ("SOLUM_LANES", "auto")]);
        engines.push([("SOLUM_TIERS", "full"), ("SOLUM_LANES", "1")]);
        // Once more, by the cache.
        engines.push([("SOLUM_TIERS", "full"), ("SOLUM_LANES", "1")]);
    }
    let told = "solum: kernel \"writes\" is launched with null for argument 1: reads through null give zero, writes are lost";
    for [first, second] in engines {
        for (choice, well) in [
            ("", [true, false]),
            ("ignore", [true; 2]),
            ("fault", [false; 2]),
        ] {
            let variables = [
                first,
                second,
                kept,
                ("SOLUM_DEVICES", "gpu,cpu"),
                ("SOLUM_LOG", "calls"),
                ("SOLUM_NULL_ARGUMENTS", choice),
            ];
            let output = program("nulls", &variables);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{first:?}, {choice:?}: {text}");
            for (device, well) in well.into_iter().enumerate() {
                let begin = format!("device {device}: ");
                let ended = said
                    .lines()
                    .find_map(|line| line.strip_prefix(begin.as_str()));
                let ended = ended.unwrap_or_else(|| panic!("{said}"));
                if well {
                    assert_eq!(ended, "well", "{first:?}, {choice:?}");
                } else {
                    let why = "; argument 1 of \"writes\" is null";
                    assert!(ended.ends_with(why), "{first:?}, {choice:?}: {ended}");
                }
            }
            // Once, not with each launch.
            let count = text.lines().filter(|line| *line == told).count();
            let expected = well.iter().filter(|well| **well).count();
            assert_eq!(count, expected, "{first:?}, {choice:?}: {text}");
        }
    }
    // The cache is otherwise only in the system's default folder.
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn a_launch_beyond_the_local_memory_reports_need_and_limit() {
    let variables = [("SOLUM_COMPILER", "interpreter"), ("SOLUM_LOG", "calls")];
    let output = program("local-memory", &variables);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let line = "zeCommandListAppendLaunchKernel: kernel \"sums\" needs 131073 bytes of local memory for groups of \
                [16, 1, 1], the device has 131072";
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let last_error = said.lines().filter(|said| said.contains(line)).count();
    let log = format!("solum: {line}");
    let log = text.lines().filter(|said| **said == log).count();
    assert_eq!((last_error, log), (1, 1), "{said}\n{text}");
}

#[test]
fn an_endless_loop_loses_only_its_context() {
    if !cfg!(linked_generator) {
        return;
    }
    for lanes in ["auto", "1"] {
        let variables = [
            ("SOLUM_LANES", lanes),
            ("SOLUM_CACHE", "0"),
            ("SOLUM_KERNEL_TIMEOUT_MS", "1000"),
        ];
        let output = program("spins", &variables);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{lanes}: {text}");
    }
}

#[test]
fn kernels_round_independently_of_the_programs_modes() {
    run_linked("float-modes");
}

#[test]
fn the_log_of_compiling_has_a_line_for_each_program_with_its_stages() {
    let kept = std::env::temp_dir().join(format!("solum-log-{}", std::process::id()));
    let engine = if cfg!(linked_generator) {
        ("SOLUM_COMPILER", "llvm")
    } else {
        ("SOLUM_COMPILER", "interpreter")
    };
    let folder = ("SOLUM_CACHE_DIR", kept.to_str().unwrap());
    let log = |choice| {
        let variables = [
            engine,
            folder,
            ("SOLUM_LOG", choice),
            ("SOLUM_TIERS", "full"),
        ];
        let output = program("logged", &variables);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        let _ = std::fs::remove_dir_all(&kept);
        logged::lines(&text)
    };
    assert_eq!(log("none"), [""; 0]);
    // Kernels that are compiled ahead of demand are logged at any time.
    let unasked = |line: &String| line.starts_with("kernel ") && !line.contains(" of program ");
    let mut found = log("compile");
    if engine.1 == "interpreter" {
        let line = "program P, for the interpreter: key N ms, interpreter N ms";
        assert_eq!(found, [line; 4]);
        return;
    }
    let own = "kernel \"copies\": lanes N ms, LLVM passes N ms, instructions N ms";
    assert_eq!(found.remove(1), own);
    found.retain(|line| !unasked(line));
    let expected = [
        "N bytes of SPIR-V, kernels: N: front end N ms, scalar passes N ms",
        "program P, compiled, kernels: N: key N ms, cache N ms, code generator N ms, loading N ms, cache N ms",
        "program P, already loaded: key N ms",
        "program P, from the cache: key N ms, cache N ms, loading N ms",
        "N bytes of SPIR-V, kernels: N: front end N ms, scalar passes N ms",
        "program P, read, kernels to be compiled when they are created: N: key N ms, cache N ms, code generator N ms, \
         loading N ms, cache N ms",
    ];
    let last = found.pop().unwrap();
    assert_eq!(found, expected);
    let stages = ", compiled: cache and loading N ms, code generator N ms, loading N ms";
    let named = last.starts_with("kernel \"") && last.contains(" of program P");
    assert!(named && last.ends_with(stages), "{last}");
}

#[test]
fn the_log_has_each_failed_call_and_each_launch_without_work_groups() {
    for (choice, told) in [
        (
            "calls",
            &[
                "kernel \"copies\" is launched with [0, 1, 1] work-groups: nothing runs",
                "kernel \"copies\" is launched with [2, 0, 3] work-groups: nothing runs",
                "kernel \"copies\" is launched with [0, 0, 0] work-groups: nothing runs",
                "zeKernelCreate: ",
            ][..],
        ),
        ("none", &[]),
    ] {
        let variables = [("SOLUM_COMPILER", "interpreter"), ("SOLUM_LOG", choice)];
        let output = program("logged-calls", &variables);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        let lines: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("solum: "))
            .collect();
        assert_eq!(lines.len(), told.len(), "{text}");
        for (line, told) in lines.iter().zip(told) {
            assert!(line.starts_with(told), "{text}");
        }
    }
}

#[test]
fn an_unusable_cache_is_reported_once_with_its_folder() {
    let base = std::env::temp_dir().join(format!("solum-no-cache-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&base);
    std::fs::create_dir(&base).unwrap();
    let (open, file) = (base.join("open"), base.join("file"));
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    std::fs::write(&file, b"").unwrap();
    let (open, below) = (open.to_str().unwrap(), file.join("below"));
    let below = below.to_str().unwrap();
    for (folder, log, expected) in [
        (
            open,
            "compile",
            vec![format!("cache {open}: other users can write to it; ")],
        ),
        (below, "compile", vec![format!("cache {below}: ")]),
        (
            "",
            "compile",
            vec!["no cache: neither SOLUM_CACHE_DIR, ".to_owned()],
        ),
        (open, "none", vec![]),
    ] {
        let variables = [
            ("SOLUM_COMPILER", "llvm"),
            ("SOLUM_CACHE_DIR", folder),
            ("XDG_CACHE_HOME", ""),
            ("HOME", "relative"),
            ("SOLUM_LOG", log),
        ];
        let output = program("logged", &variables);
        let text = String::from_utf8_lossy(&output.stderr);
        // Without a code generator the program fails, after it has read the cache.
        assert!(output.status.success() || !cfg!(linked_generator), "{text}");
        let mut lines = text
            .lines()
            .map(|line| line.strip_prefix("solum: compile: "));
        let told: Vec<_> = lines
            .by_ref()
            .flatten()
            .filter(|line| line.contains("kernels again"))
            .collect();
        assert_eq!(told.len(), expected.len(), "{folder:?}: {text}");
        for (told, expected) in told.iter().zip(&expected) {
            assert!(told.starts_with(expected.as_str()), "{folder:?}: {told}");
        }
    }
    // The cache is otherwise only in the system's default folder.
    let _ = std::fs::remove_dir_all(&base);
}

/// The smallest limit holds no entry of the cache, the largest all of them.
#[test]
fn a_limit_on_file_sizes_costs_cache_entries_and_is_reported() {
    use std::os::unix::process::CommandExt as _;
    let base = std::env::temp_dir().join(format!("solum-cache-limit-{}", std::process::id()));
    let engine = if cfg!(linked_generator) {
        "llvm"
    } else {
        "interpreter"
    };
    for kibibytes in [1, 300_000] {
        let _ = std::fs::remove_dir_all(&base);
        let variables = [
            ("SOLUM_COMPILER", engine),
            ("SOLUM_CACHE_DIR", base.to_str().unwrap()),
            ("SOLUM_LOG", "compile"),
            ("SOLUM_TIERS", "full"),
        ];
        let mut command = of_role("logged", &variables);
        let limit = libc::rlimit {
            rlim_cur: kibibytes << 10,
            rlim_max: kibibytes << 10,
        };
        // SAFETY: a system call that reads the structure.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{kibibytes} KiB: {text}");
        let told = text.lines().filter(|line| line.contains("is not kept"));
        let named = told.clone().filter(|line| {
            line.starts_with("solum: compile: cache: ")
                && line.contains("1024 bytes (RLIMIT_FSIZE, ulimit -f)")
        });
        assert_eq!(told.clone().count(), named.count(), "{text}");
        // Nor is there room for the page of counters.
        assert!(
            kibibytes > 1 || text.contains("solum: counters: "),
            "{text}"
        );
        let expected = cfg!(linked_generator) && kibibytes == 1;
        assert_eq!(told.count() > 0, expected, "{kibibytes} KiB: {text}");
    }
    let _ = std::fs::remove_dir_all(&base);
}

#[test]
fn a_home_folder_may_have_any_bytes_in_its_name() {
    let variables = [("SOLUM_COMPILER", "interpreter")];
    for name in ["HOME", "XDG_CACHE_HOME", "SOLUM_CACHE_DIR"] {
        let output = of_role("start", &variables)
            .env(name, OsStr::from_bytes(b"/nowhere\xff"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}");
    }
}

#[test]
fn a_launch_whose_count_is_not_there_loses_the_context_only() {
    let output = program("bad-count", &[("SOLUM_COMPILER", "interpreter")]);
    assert!(
        output.status.success(),
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn an_invalid_value_is_reported_on_one_line() {
    let output = program("start", &[("SOLUM_DEVICES", "toaster")]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("SOLUM_DEVICES"))
        .collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(
        lines[0].contains("toaster") && lines[0].contains("discrete"),
        "{text}"
    );
}
