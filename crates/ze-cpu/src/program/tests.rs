//! Programs from a C compiler through loader, launch and cache.

mod native;
mod outlines;

use super::*;
use crate::c_compiler::compile;
use crate::engine::Engine;
use kernel_ir::abi::{ArgInfo, KernelInfo, ModuleInfo};
use kernel_ir::build::{Compiled, Outline};
use std::sync::atomic::{AtomicU32, Ordering};
use ze_driver::device::{FunctionPlace, GroupCount, Keeps, Launch, Need, Outcome, Task, Work};

/// Kernels as the code generator would compile them, with the launch ABI.
const KERNELS: &str = r#"
typedef unsigned int u32; typedef unsigned long u64; typedef unsigned char u8;
struct launch { u32 size[3], dims, count[3], items; u64 offset[3], state, scratch, printf, cancel; };
#define KERNEL(name) void name(const u8 *args, const struct launch *l, u64 first, u64 n, u8 *memory)
int solum_printf(u64, u32, const void *, u32);

/* out[global id] += global id + offset + bias */
KERNEL(add) {
    u64 *out = *(u64 **)args; u64 bias = *(u64 *)(args + 8);
    for (u64 g = first; g < first + n; g++)
        for (u32 i = 0; i < l->items; i++)
            __atomic_fetch_add(&out[g * l->items + i], g * l->items + i + l->offset[0] + bias, 5);
}
/* Writes through two local arguments and all other memory it was promised. */
KERNEL(locals) {
    u64 *out = *(u64 **)args; u64 a = *(u64 *)(args + 8), b = *(u64 *)(args + 16);
    for (u64 g = first; g < first + n; g++) {
        for (u64 i = 0; i < 100; i++) memory[i] = 1;
        for (u64 i = 0; i < 8ul * l->items; i++) memory[l->scratch + i] = 2;
        for (u64 i = 0; i < 1000; i++) memory[a + i] = 3;
        for (u64 i = 0; i < 5000; i++) memory[b + i] = 4;
        for (u64 i = 0; i < 48ul * ((l->items + 15) / 16); i++) memory[l->state + i] = 5;
        out[g] = memory[99] + 10 * memory[l->scratch] + 100 * memory[a + 999] + 1000 * memory[b]
               + 10000 * (a % 128 + b % 128 + (u64)memory % 64) + 100000 * (memory[l->state] - 5);
    }
}
KERNEL(null) { for (u64 g = first; g < first + n; g++) if (g == 777) *(volatile int *)16 = 1; }
KERNEL(spin) {
    volatile u32 *flags = *(u32 **)args; u64 mine = *(u64 *)(args + 8);
    flags[mine] = 1; while (!flags[1 - mine]) ;
}
/* A barrier over all groups of the launch, five times. */
KERNEL(meet) {
    u32 *arrived = *(u32 **)args;
    for (u64 g = first; g < first + n; g++)
        for (u32 round = 1; round <= 5; round++) {
            __atomic_fetch_add(arrived, 1, 5);
            while (__atomic_load_n(arrived, 5) < round * l->count[0]) __asm__ volatile("pause");
        }
}
KERNEL(print) {
    struct { u32 kind, count, size, zero; u64 value; } a = {0, 1, 8, 0, 0};
    for (u64 g = first; g < first + n; g++) { a.value = g; solum_printf(l->printf, 0, &a, sizeof a); }
}
"#;

fn arg(kind: u8, offset: u32) -> ArgInfo {
    ArgInfo {
        name: String::new(),
        kind,
        size: 8,
        unpadded: 8,
        offset,
    }
}

fn identity() -> Identity {
    Identity::new(&[0; 32], "code".to_owned())
}

fn program() -> Arc<CpuProgram> {
    let kernel = |name: &str, args: Vec<ArgInfo>| KernelInfo {
        name: name.to_owned(),
        symbol: name.to_owned(),
        args_size: (args.len() * 8).next_multiple_of(16) as u32,
        args,
        width: 16,
        sub_group_size: 16,
        ..KernelInfo::default()
    };
    let mut locals = kernel("locals", vec![arg(1, 0), arg(2, 8), arg(2, 16)]);
    (
        locals.local_size,
        locals.local_per_item,
        locals.state_per_block,
    ) = (100, 8, 48);
    let info = ModuleInfo {
        kernels: vec![
            kernel("add", vec![arg(1, 0), arg(0, 8)]),
            locals,
            kernel("null", vec![]),
            kernel("spin", vec![arg(1, 0), arg(0, 8)]),
            kernel("print", vec![]),
            kernel("meet", vec![arg(1, 0)]),
        ],
        printf_formats: vec![b"%ld ".to_vec()],
        ..ModuleInfo::default()
    };
    let compiled = Compiled {
        object: compile("kernels", KERNELS, &["-fPIC"]),
        info,
    };
    let loaded = native_program(
        compiled,
        Arc::from(&b""[..]),
        identity(),
        Some(&Arc::new(noted())),
    )
    .unwrap();
    Arc::new(CpuProgram {
        loaded: Arc::new(loaded),
        origin: None,
    })
}

/// A module that contains only the information that kernel "null" begins at line 7 of k.cl.
fn noted() -> Request {
    use debugger::noted::{module, text};
    let ([name, rest], [file, more]) = (text("null"), text("k.cl"));
    let words = module(&[
        (15, &[6, 10, name, rest]),
        (7, &[1, file, more]),
        (8, &[1, 7, 1]),
        (54, &[5, 10, 0, 6]),
        (56, &[]),
    ]);
    Request {
        modules: vec![SpirvInput {
            words,
            constants: Vec::new(),
        }],
        ..Request::default()
    }
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
    fn needed_by(&self) -> [Need; 2] {
        [Need::of(&self.done), Need::NONE]
    }
    fn finished(self: Arc<Self>, outcome: Outcome) {
        assert!(self.outcome.lock().unwrap().replace(outcome).is_none());
        self.done.store(1, Ordering::Release);
        // SAFETY: wakes threads that sleep on a live word.
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

fn submit(engine: &'static Engine, launch: Launch) -> Arc<Item> {
    let item = Arc::new(Item {
        work: Work::Launch(launch),
        done: AtomicU32::new(0),
        outcome: Mutex::new(None),
    });
    engine.submit(Arc::clone(&item) as Arc<dyn Task>);
    item
}

fn end(item: &Item) -> Option<String> {
    while item.done.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    item.outcome.lock().unwrap().take().unwrap().fault
}

/// As [`end`], with a wait that may run the launch itself.
fn end_helped(engine: &'static Engine, item: &Item) -> Option<String> {
    let done = || item.done.load(Ordering::Acquire) == 1;
    assert!(engine.wait((&item.done, 0), &AtomicU32::new(0), &done, u64::MAX));
    end(item)
}

fn launch(program: &Arc<CpuProgram>, kernel: usize, args: &[u64], groups: [u32; 3]) -> Launch {
    let bytes: Vec<u8> = args.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let mut args = vec![0; program.kernel(kernel).unwrap().info.args_size as usize];
    args[..bytes.len()].copy_from_slice(&bytes);
    Launch {
        program: Arc::clone(program) as Arc<dyn Program>,
        kernel,
        args: args.into(),
        keeps: Keeps::default(),
        group_size: [32, 1, 1],
        groups: GroupCount::Direct(groups),
        offset: [0; 3],
        device: 0,
        cooperative: false,
    }
}

#[test]
fn every_group_of_a_launch_runs_once_however_it_is_shared() {
    let engine = Engine::new(2, true);
    let program = program();
    for groups in [[1, 1, 1], [3, 2, 1], [500, 1, 1], [40, 50, 20], [0, 5, 5]] {
        let total = groups.iter().product::<u32>() as usize;
        for round in 1..=4u64 {
            let mut out = vec![0u64; total * 32];
            let mut work = launch(&program, 0, &[out.as_mut_ptr() as u64, 7], groups);
            work.offset[0] = 1000 * round;
            // The same counts, read when the launch starts.
            if round % 2 == 0 {
                work.groups = GroupCount::Indirect(groups.as_ptr());
            }
            assert_eq!(end(&submit(engine, work)), None);
            for (i, value) in out.iter().enumerate() {
                assert_eq!(*value, i as u64 + 7 + 1000 * round, "{groups:?}");
            }
        }
    }
}

#[test]
fn groups_are_limited_to_the_size_that_kernels_assume() {
    let engine = Engine::new(2, true);
    let program = program();
    let most = kernel_ir::abi::MOST_ITEMS;
    let mut out = vec![0u64; most as usize];
    for (size, runs) in [
        ([most, 1, 1], true),
        ([256, most / 256, 1], true),
        ([most + 1, 1, 1], false),
        ([256, most / 256, 2], false),
        ([u32::MAX; 3], false),
        ([1, 0, 1], false),
    ] {
        out.fill(0);
        let mut launch = launch(&program, 0, &[out.as_mut_ptr() as u64, 1], [1, 1, 1]);
        launch.group_size = size;
        let fault = end(&submit(engine, launch));
        assert_eq!(fault.is_none(), runs, "{size:?}: {fault:?}");
        let limit = format!("allowed: 1 to {most}");
        assert!(fault.is_none_or(|why| why.contains(&limit)), "{size:?}");
        assert_eq!(out.iter().all(|n| *n != 0), runs, "{size:?}");
    }
}

#[test]
fn local_memory_of_every_kind_is_there_and_aligned() {
    let engine = Engine::new(2, true);
    let program = program();
    let mut out = vec![0u64; 64];
    let work = launch(
        &program,
        1,
        &[out.as_mut_ptr() as u64, 1000, 5000],
        [64, 1, 1],
    );
    assert_eq!(end(&submit(engine, work)), None);
    assert_eq!(out, vec![4321u64; 64]);
    // More local memory than there is.
    let work = launch(
        &program,
        1,
        &[out.as_mut_ptr() as u64, 1000, u64::MAX - 5000],
        [1, 1, 1],
    );
    assert!(
        end(&submit(engine, work))
            .unwrap()
            .contains("memory exceeds")
    );
}

#[test]
fn a_faulting_group_ends_only_its_launch_with_its_name() {
    let engine = Engine::new(2, true);
    let program = program();
    for _ in 0..200 {
        let item = submit(engine, launch(&program, 2, &[], [100_000, 1, 1]));
        let mut out = vec![0u64; 32 * 10];
        let good = launch(&program, 0, &[out.as_mut_ptr() as u64, 0], [10, 1, 1]);
        let other = submit(engine, good);
        let fault = end(&item).unwrap();
        assert!(
            fault.contains("\"null\"") && fault.contains("0x10"),
            "{fault}"
        );
        assert_eq!(end(&other), None);
        assert_eq!(out[319], 319);
    }
    let bad = 64 as *const u32;
    let below = |groups, below| GroupCount::IndirectBelow {
        groups,
        index: 1,
        below,
    };
    for (groups, said) in [
        (GroupCount::Indirect(bad), Some("group counts at 0x40")),
        (
            below([1; 3].as_ptr(), bad),
            Some("count of launches at 0x40"),
        ),
        (below(bad, &2), Some("group counts at 0x40")),
        (below(bad, &1), None),
    ] {
        let mut work = launch(&program, 0, &[0, 0], [1, 1, 1]);
        work.groups = groups;
        let fault = end(&submit(engine, work));
        assert_eq!(fault.is_some(), said.is_some(), "{fault:?}");
        let fault = fault.unwrap_or_default();
        assert!(fault.contains(said.unwrap_or_default()), "{fault}");
    }
    let huge = launch(&program, 2, &[], [u32::MAX; 3]);
    assert!(end(&submit(engine, huge)).unwrap().contains("2^64"));
}

/// Faults as C code causes them; `poke` is harmless with a valid address. One source with calls, one without.
const FAULTS: [&str; 2] = [
    r#"
KERNEL(trap) { __builtin_trap(); }
KERNEL(jump) { void (*volatile nowhere)(void) = 0; nowhere(); }
KERNEL(poke) { *(volatile int **)args == 0 ? (void)0 : (void)(**(volatile int **)args = 1); }
"#,
    r#"
__attribute__((noinline)) static u64 down(volatile u64 *from, u64 n) {
    volatile u64 here[64]; here[n % 64] = n; return down(here, n + 1) + here[0] + *from;
}
KERNEL(deep) { u64 start = 0; *(volatile u64 *)&start = down(&start, 1); }
static void verify(int is_true) { if (!is_true) __builtin_trap(); }
KERNEL(wrong) { verify(*(volatile const int *)&l->dims == 77); }
"#,
];

#[test]
fn workers_and_waiters_report_and_survive_each_fault_a_hundred_times() {
    let preamble = &KERNELS[..KERNELS.find("int solum_printf").unwrap()];
    let [plain, calls] = FAULTS.map(|source| {
        let names = source.split("KERNEL(").skip(1);
        let kernels = names.map(|rest| {
            let name = rest.split(')').next().unwrap();
            KernelInfo {
                name: name.to_owned(),
                symbol: name.to_owned(),
                args_size: 16,
                args: vec![arg(1, 0)],
                width: 1,
                ..KernelInfo::default()
            }
        });
        let compiled = Compiled {
            object: compile("faults", &format!("{preamble}{source}"), &["-fPIC"]),
            info: ModuleInfo {
                kernels: kernels.collect(),
                ..ModuleInfo::default()
            },
        };
        let loaded = native_program(
            compiled,
            Arc::from(&b""[..]),
            identity(),
            Some(&Arc::new(noted())),
        )
        .unwrap();
        Arc::new(CpuProgram {
            loaded: Arc::new(loaded),
            origin: None,
        })
    });
    assert!(plain.kernel(0).unwrap().is_plain() && !calls.kernel(0).unwrap().is_plain());
    let engine = Engine::new(2, true);
    let one = |program: &Arc<CpuProgram>, kernel, address: u64, helped: bool| {
        let mut work = launch(program, kernel, &[address], [1, 1, 1]);
        work.group_size = [1, 1, 1];
        let item = submit(engine, work);
        if helped {
            end_helped(engine, &item)
        } else {
            end(&item)
        }
    };
    let mut good = 0u32;
    for round in 0..200 {
        let helped = round % 2 == 1;
        for (program, kernel, name, said) in [
            (&plain, 0, "trap", "SIGILL"),
            (&plain, 1, "jump", "SIGSEGV at address 0x0"),
            (&calls, 0, "deep", "SIGSEGV at address"),
            (&calls, 1, "wrong", "SIGILL"),
        ] {
            let fault = one(program, kernel, 0, helped).unwrap();
            let named = format!("kernel {name:?}: in work-item [0, 0, 0]: {said}");
            assert!(fault.starts_with(&named), "{fault}");
            let told = fault.contains(&format!("argument 0 of {name:?} is null"));
            assert_eq!(said.starts_with("SIGSEGV"), told, "{fault}");
            assert_eq!(
                name == "deep",
                fault.contains("the stack ends here"),
                "{fault}"
            );
        }
        // Known to be brief after the first: a waiting thread uses the fast path.
        for _ in 0..4 {
            assert_eq!(one(&plain, 2, &raw mut good as u64, helped), None);
        }
        let fault = one(&plain, 2, 20, helped).unwrap();
        assert!(
            fault.contains("\"poke\"") && fault.contains("0x14"),
            "{fault}"
        );
    }
    assert_eq!(good, 1);
}

#[test]
fn addresses_of_compiled_kernels_have_names_for_perf() {
    perf::want(true);
    let program = program();
    perf::want(false);
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let map = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    let lines: Vec<(usize, usize, &str)> = map
        .lines()
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut number = || usize::from_str_radix(words.next().unwrap(), 16).unwrap();
            (number(), number(), words.next().unwrap())
        })
        .collect();
    for index in 0..6 {
        let kernel = program.kernel(index).unwrap();
        let Entry::Native(code) = &kernel.entry else {
            panic!("compiled code is native")
        };
        let code = code.load(Ordering::Relaxed);
        // The last line around an instruction's address: another test's program may have lain there before.
        let around = lines
            .iter()
            .rev()
            .find(|(start, bytes, _)| (*start..start + bytes).contains(&(code + 1)));
        assert_eq!(around.map(|(.., name)| *name), Some(&*kernel.info.name));
        // perf looks there for memory without a file only: as the system names it, or not.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let named = maps.lines().find_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let edge = |text| usize::from_str_radix(text, 16).ok();
            let name = rest.splitn(5, ' ').nth(4)?.trim_start();
            (edge(start)?..edge(end)?).contains(&code).then_some(name)
        });
        let named = named.expect("code is in a mapping");
        assert!(
            named.is_empty() || named.starts_with("/dev/zero"),
            "{named}"
        );
    }
}

/// Set for the process that a debugger runs.
const DEBUGGED: &str = "SOLUM_TEST_DEBUGGED";

/// Not a test: the program that the debugger of the next test runs.
#[test]
fn a_kernel_that_faults_under_a_debugger() {
    if std::env::var_os(DEBUGGED).is_none() {
        return;
    }
    let engine = Engine::new(1, true);
    let fault = end(&submit(engine, launch(&program(), 2, &[], [1000, 1, 1])));
    println!("the kernel's end: {}", fault.unwrap());
}

#[test]
fn a_debugger_names_kernel_and_line_of_a_fault() {
    let gdb = |arguments: &[&str]| {
        std::process::Command::new("gdb")
            .args(["-nx", "--batch", "-ex", "set debuginfod enabled off"])
            .args(arguments)
            .env(DEBUGGED, "1")
            .env("LC_ALL", "C")
            .env_remove("SOLUM_PERF")
            .output()
    };
    // Systems may have no debugger, or forbid tracing.
    let traces = gdb(&["-ex", "run", "--args", "/bin/true"]);
    let exited = |text: &[u8]| String::from_utf8_lossy(text).contains("exited normally");
    if !traces.is_ok_and(|output| exited(&output.stdout)) {
        println!("no debugger here");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "program::tests::a_kernel_that_faults_under_a_debugger";
    let output = gdb(&[
        "-ex",
        "run",
        "-ex",
        "frame",
        "-ex",
        "continue",
        "--args",
        this.to_str().unwrap(),
        "--exact",
        name,
        "--nocapture",
    ]);
    let output = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    assert!(output.contains("received signal SIGSEGV"), "{output}");
    assert!(output.contains("in null () at k.cl:7"), "{output}");
    // The debugger hands the signal on: it is a fault as without one.
    assert!(
        output.contains("the kernel's end: kernel \"null\""),
        "{output}"
    );
}

#[test]
fn two_kernels_that_spin_for_each_other_overlap() {
    let engine = Engine::new(1, true);
    let program = program();
    for _ in 0..50 {
        let mut flags = [0u32; 2];
        let at = flags.as_mut_ptr() as u64;
        let both = [0, 1].map(|mine| submit(engine, launch(&program, 3, &[at, mine], [1, 1, 1])));
        for item in both {
            assert_eq!(end(&item), None);
        }
    }
}

#[test]
fn all_groups_of_a_cooperative_launch_are_under_way_at_once() {
    let engine = Engine::new(1, true);
    let program = program();
    for groups in [1, 2, 5] {
        let mut arrived = 0u32;
        let at = std::ptr::from_mut(&mut arrived) as u64;
        let mut work = launch(&program, 5, &[at], [groups, 1, 1]);
        work.cooperative = true;
        assert_eq!(end(&submit(engine, work)), None);
        assert_eq!(arrived, 5 * groups);
    }
    let mut work = launch(&program, 5, &[0], [5000, 1, 1]);
    work.cooperative = true;
    assert!(end(&submit(engine, work)).unwrap().contains("cooperative"));
}

#[test]
fn inconsistent_metadata_is_rejected() {
    let object = compile("empty", "void k(void) {} int v;", &["-fPIC"]);
    let good = KernelInfo {
        name: "k".to_owned(),
        symbol: "k".to_owned(),
        args: vec![arg(1, 8)],
        args_size: 16,
        width: 1,
        ..KernelInfo::default()
    };
    let with = |change: &dyn Fn(&mut KernelInfo)| {
        let mut kernel = good.clone();
        change(&mut kernel);
        let info = ModuleInfo {
            kernels: vec![kernel],
            ..ModuleInfo::default()
        };
        let object = object.clone();
        native_program(
            Compiled { object, info },
            Arc::from(&b""[..]),
            identity(),
            None,
        )
        .err()
    };
    assert_eq!(with(&|_| {}), None);
    assert!(with(&|k| k.args[0].offset = 9).is_some());
    assert!(with(&|k| k.args[0].offset = u32::MAX).is_some());
    assert!(with(&|k| k.width = 0).is_some());
    assert!(with(&|k| k.args_size = u32::MAX).is_some());
    assert!(
        with(&|k| k.symbol = "v".to_owned()).is_some(),
        "a variable is not a kernel"
    );
    assert!(with(&|k| k.symbol = "absent".to_owned()).is_some());
}

/// A builder with its own cache directory, deleted at the end.
struct Fixture {
    directory: std::path::PathBuf,
    builder: Builder,
}

impl Fixture {
    fn new(name: &str, more: &'static [(&str, &str)]) -> Self {
        let directory =
            std::env::temp_dir().join(format!("solum-build-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let path = directory.clone().into_os_string();
        let settings = Settings::read(
            &|name| {
                let given = more.iter().find(|(n, _)| *n == name);
                let path = || (name == "SOLUM_CACHE_DIR").then(|| path.clone());
                given.map(|(_, value)| (*value).into()).or_else(path)
            },
            false,
        );
        let builder = Builder::new(&settings.unwrap(), &Machine::detect());
        Self { directory, builder }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn input(words: &[u8]) -> ProgramInput {
    ProgramInput::Spirv {
        modules: vec![(words.to_vec(), vec![(1, vec![2])])],
        options: "-ze-opt-level=1".to_owned(),
    }
}

/// Puts a compiled program into the fixture's cache, as if it had been built from `words`.
fn plant(fixture: &Fixture, words: &[u8], source: &str) -> Key {
    let request = request(fixture, words);
    let key = fixture.builder.key(&request.encode());
    let content = encode_reply(&Ok(planted(source)));
    let container = fixture.builder.container(Kind::Code, &request, content);
    fixture.builder.cache.keep(&key, &container);
    key
}

/// The request of [`input`].
fn request(fixture: &Fixture, words: &[u8]) -> Request {
    let ProgramInput::Spirv { modules, options } = input(words) else {
        unreachable!("made above")
    };
    Request {
        modules: modules
            .into_iter()
            .map(|(words, constants)| SpirvInput { words, constants })
            .collect(),
        options,
        cpu: fixture.builder.cpu.clone(),
        features: fixture.builder.features.to_owned(),
        sub_group_size: 16,
        lanes: 0,
        nulls: None,
        transforms: kernel_ir::Transforms::default(),
        checks: kernel_ir::Checks::default(),
    }
}

/// A program of one kernel `k`, made from C.
fn planted(source: &str) -> Compiled {
    let kernel = KernelInfo {
        name: "k".to_owned(),
        symbol: "k".to_owned(),
        width: 1,
        ..KernelInfo::default()
    };
    Compiled {
        object: compile("planted", source, &["-fPIC"]),
        info: ModuleInfo {
            kernels: vec![kernel],
            ..ModuleInfo::default()
        },
    }
}

#[test]
fn a_cached_program_is_loaded_without_the_code_generator_and_shared_when_it_may_be() {
    let fixture = Fixture::new("cached", &[]);
    // These words are not SPIR-V: a compiler would reject them.
    plant(&fixture, b"constant", "void k(void) {}");
    plant(&fixture, b"variable", "int v = 1; void k(void) { v++; }");
    let build = |words| fixture.builder.build(&input(words)).unwrap();
    let (one, two) = (build(b"constant"), build(b"constant"));
    assert!(
        Arc::ptr_eq(&one.loaded, &two.loaded),
        "one copy of the code"
    );
    let (three, four) = (build(b"variable"), build(b"variable"));
    assert!(
        !Arc::ptr_eq(&three.loaded, &four.loaded),
        "variables are each program's own"
    );
    // The native binary is the same program, and can be loaded.
    let binary = one.native_binary().unwrap().to_vec();
    assert!(binary.windows(16).any(|w| w == b"-ze-opt-level=O1"));
    let again = fixture
        .builder
        .build(&ProgramInput::Native(binary.clone()))
        .unwrap();
    assert_eq!(again.names(), ["k"]);
    // Damaged, cut, foreign, or for another machine: no binary.
    for bytes in [
        &binary[..binary.len() - 1],
        b"",
        b"\x7fELF\x02\x01\x01 Gen code",
        &[0; 3000],
    ] {
        let failure = fixture
            .builder
            .build(&ProgramInput::Native(bytes.to_vec()))
            .err()
            .unwrap();
        assert!(failure.not_a_binary && !failure.log.is_empty());
    }
    // Of another driver, without SPIR-V: an ELF header of Intel's GPUs.
    let mut intel = vec![0; 64];
    intel[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    (intel[18], intel[20]) = (205, 1);
    let failure = fixture.builder.build(&ProgramInput::Native(intel));
    let failure = failure.err().unwrap();
    let told = "error: a native binary with only Intel machine code (64 bytes)";
    assert!(
        failure.not_a_binary && failure.log.starts_with(told),
        "{}",
        failure.log
    );
}

#[test]
fn code_for_one_processor_is_never_found_for_another() {
    const TARGETS: [(&str, &[(&str, &str)]); 3] = [
        ("v2", &[("SOLUM_CPU_TARGET", "x86-64-v2")]),
        ("v3", &[("SOLUM_CPU_TARGET", "x86-64-v3")]),
        ("v4", &[("SOLUM_CPU_TARGET", "x86-64-v4")]),
    ];
    let fixtures = TARGETS.map(|(name, target)| Fixture::new(name, target));
    let keys = fixtures
        .each_ref()
        .map(|fixture| plant(fixture, b"words", "void k(void) {}"));
    for (fixture, own) in fixtures.iter().zip(&keys) {
        assert!(fixture.builder.build(&input(b"words")).is_ok());
        for key in keys.iter().filter(|key| *key != own) {
            assert!(fixture.builder.cache.get().unwrap().get(key).is_none());
        }
    }
    // Not as a binary either: a machine runs code for a lesser target, and makes its own from what is for a greater one.
    let binary = |fixture: &Fixture| {
        let program = fixture.builder.build(&input(b"words")).unwrap();
        ProgramInput::Native(program.native_binary().unwrap().to_vec())
    };
    let [v2, _, v4] = &fixtures;
    for builder in [&v2.builder, &v4.builder] {
        for of in [v2, v4] {
            let program = builder.build(&binary(of)).unwrap();
            let lesser = std::cmp::min(&builder.cpu, &of.builder.cpu);
            assert!(program.loaded.identity.needs.ends_with(lesser.as_str()));
        }
    }
}

#[test]
fn an_entry_that_does_not_load_is_compiled_again() {
    let fixture = Fixture::new("unloadable", &[]);
    let key = plant(
        &fixture,
        b"words",
        "void system(void); void k(void) { system(); }",
    );
    assert!(fixture.builder.cache.get().unwrap().get(&key).is_some());
    // The code generator, if installed, rejects the words; otherwise the error says that it is missing.
    let failure = fixture.builder.build(&input(b"words")).err().unwrap();
    assert!(
        !failure.not_a_binary && failure.log.starts_with("error: "),
        "{}",
        failure.log
    );
}

#[test]
fn the_interpreter_rejects_bad_words_with_a_text() {
    let fixture = Fixture::new("interpreter", &[("SOLUM_COMPILER", "interpreter")]);
    let failure = fixture
        .builder
        .build(&input(b"no SPIR-V at all"))
        .err()
        .unwrap();
    assert!(
        !failure.not_a_binary && failure.log.starts_with("error: module 0"),
        "{}",
        failure.log
    );
}

#[test]
fn exported_functions_are_found_by_name_and_kernels_are_not() {
    let fixture = Fixture::new("exports", &[("SOLUM_COMPILER", "interpreter")]);
    let modules: [&[u8]; 2] = [
        include_bytes!("../../../kernel-ir/tests/corpus/linking_a.spv"),
        include_bytes!("../../../kernel-ir/tests/corpus/linking_b.spv"),
    ];
    let input = ProgramInput::Spirv {
        modules: modules.map(|words| (words.to_vec(), Vec::new())).into(),
        options: String::new(),
    };
    let program = fixture.builder.build(&input).unwrap();
    for (name, exported) in [
        ("own", true),
        ("twice", true),
        ("use", false),
        ("shared_table", false),
        ("", false),
    ] {
        let absent = program.function(name) == FunctionPlace::Absent;
        assert_eq!(absent, !exported, "{name:?}");
    }
}
