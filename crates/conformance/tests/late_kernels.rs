//! Kernels of a program are compiled when they are created: through the driver, in processes of their own.
//!
//! Each process is this binary, asked for its one test that does nothing without `LATE_LIBRARIES`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use level_zero::sys::*;
use level_zero::{Context, Device, Loader, Module, ModuleSource};
use std::path::{Path, PathBuf};
use std::process::Command;

/// 25 kernels that stand alone: more than are compiled at once.
const MODULE: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/arith_int.spv");
const KERNELS: usize = 25;
/// One of its kernels is called `loops`.
const LOOPS: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/control.spv");
/// Of the log, where a kernel's code was replaced.
const REPLACED: &str = "full code instead of baseline code";
/// Of the log, where baseline code was made.
const BASELINE: &str = ", baseline:";

/// A folder of this test process, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solum-late-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The loader and the driver, without a code generator.
    fn without_code_generator(name: &str) -> Self {
        let folder = Self::new(name);
        for library in ["libze_loader.so.1", "libze_solum_cpu.so.1"] {
            let from = conformance::artefacts().join(library);
            std::fs::copy(from, folder.0.join(library)).unwrap();
        }
        folder
    }

    fn entries(&self) -> usize {
        let files = std::fs::read_dir(&self.0).unwrap().map(Result::unwrap);
        let name = |file: std::fs::DirEntry| file.file_name().into_string().unwrap();
        files
            .map(name)
            .filter(|name| name.ends_with(".solum"))
            .count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Plays `role` in a process with these libraries and this cache.
fn play(role: &str, libraries: &Path, cache: &Path) {
    play_in("both", role, libraries, cache);
}

/// The same with that code for kernels. Returns the driver's log.
fn play_in(tiers: &str, role: &str, libraries: &Path, cache: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "roles", "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", libraries)
        .env("LATE_LIBRARIES", libraries)
        .env("LATE_ROLE", role)
        .env("SOLUM_CACHE_DIR", cache)
        .env("SOLUM_TIERS", tiers)
        .env("SOLUM_LOG", "compile")
        .env_remove("SOLUM_CACHE")
        .env_remove("SOLUM_COMPILER")
        .env_remove("SOLUM_DEVICES")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{role}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stderr).into_owned()
}

struct Machine {
    context: Context,
    device: Device,
}

impl Machine {
    fn open(libraries: &Path) -> Self {
        let loader = Loader::open_at(&libraries.join("libze_loader.so.1")).unwrap();
        let driver = loader.drivers().unwrap().remove(0);
        let device = driver.devices().unwrap().remove(0);
        let context = driver.create_context().unwrap();
        Self { context, device }
    }

    fn build(&self, source: ModuleSource<'_>, flags: &str) -> Module {
        self.context
            .build_module(&self.device, source, flags)
            .unwrap()
    }

    /// What `loops` makes of a number for each work-item of as many groups: how often it came round.
    fn count(&self, module: &Module, groups: u32, size: u32) {
        const NUMBER: i32 = 19;
        let items = (groups * size) as usize;
        let mut numbers = self
            .context
            .allocate_shared::<i32>(&self.device, items)
            .unwrap();
        let out = self
            .context
            .allocate_shared::<i32>(&self.device, 2 * items)
            .unwrap();
        numbers.as_mut_slice().fill(NUMBER);
        let mut kernel = module.create_kernel("loops").unwrap();
        kernel.set_group_size([size, 1, 1]).unwrap();
        kernel.set_memory(0, &numbers).unwrap();
        kernel.set_memory(1, &out).unwrap();
        let list = self
            .context
            .create_immediate_list(&self.device, Default::default());
        let mut list = list.unwrap();
        // SAFETY: the memory lives until the launch has ended, and has what the kernel reads and writes.
        unsafe { list.append_launch(&kernel, [groups, 1, 1], None, &[]) }.unwrap();
        assert!(list.synchronize(u64::MAX).unwrap());
        let expected = counted(NUMBER);
        for (i, found) in out.as_slice().chunks_exact(2).enumerate() {
            assert_eq!(found, expected, "{i}");
        }
    }

    /// What `div_int` makes of 40 numbers by 3: tails, whole vectors, and a true result.
    fn divide(&self, module: &Module) {
        const ITEMS: usize = 40;
        let [mut a, mut b, out] = [0; 3].map(|_: i32| {
            self.context
                .allocate_shared::<i32>(&self.device, ITEMS)
                .unwrap()
        });
        for (i, a) in a.as_mut_slice().iter_mut().enumerate() {
            *a = i as i32 * 7 - 90;
        }
        b.as_mut_slice().fill(3);
        let mut kernel = module.create_kernel("div_int").unwrap();
        kernel.set_group_size([ITEMS as u32, 1, 1]).unwrap();
        for (index, memory) in [&a, &b, &out].into_iter().enumerate() {
            kernel.set_memory(index as u32, memory).unwrap();
        }
        let list = self
            .context
            .create_immediate_list(&self.device, Default::default());
        let mut list = list.unwrap();
        // SAFETY: the memory lives until the launch has ended, and has what the kernel reads and writes.
        unsafe { list.append_launch(&kernel, [1, 1, 1], None, &[]) }.unwrap();
        assert!(list.synchronize(u64::MAX).unwrap());
        for (i, found) in out.as_slice().iter().enumerate() {
            assert_eq!(*found, (i as i32 * 7 - 90) / 3, "{i}");
        }
    }
}

/// The kernel `loops` of the corpus, in Rust.
fn counted(n: i32) -> [i32; 2] {
    let (mut sum, mut turns) = (0, 0);
    for j in (0..n).filter(|j| j % 5 != 3) {
        if j * j > 400 {
            break;
        }
        let mut k = j;
        while k > 0 {
            sum += if k & 1 == 1 { j } else { 1 };
            k /= 2;
        }
    }
    let mut x = n as u32;
    while x != 1 && turns < 200 {
        x = if x & 1 == 1 { 3 * x + 1 } else { x / 2 };
        turns += 1;
        if x == 0 {
            break;
        }
    }
    loop {
        turns += 2;
        if turns % 7 == 0 {
            return [sum, turns];
        }
    }
}

/// What lies in a cache: files and their bytes.
fn content(cache: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(cache).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut all: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|name| name == "solum"))
        .filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn roles() {
    let (Some(libraries), Ok(role)) = (
        std::env::var_os("LATE_LIBRARIES"),
        std::env::var("LATE_ROLE"),
    ) else {
        return;
    };
    let machine = Machine::open(libraries.as_ref());
    let binary = PathBuf::from(std::env::var_os("SOLUM_CACHE_DIR").unwrap()).join("binary");
    let spirv = || machine.build(ModuleSource::Spirv(MODULE), "");
    match role.as_str() {
        "one kernel" => machine.divide(&spirv()),
        "one kernel, another is not there" => {
            let module = spirv();
            assert_eq!(module.kernel_names().unwrap().len(), KERNELS);
            machine.divide(&module);
            let error = module.create_kernel("rem_int").unwrap_err();
            assert_eq!(error.code(), Some(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE));
            let text = error.to_string();
            assert!(
                text.contains("kernel \"rem_int\"") && text.contains("is not installed"),
                "{text}"
            );
            // What failed is nothing's end.
            machine.divide(&module);
        }
        "binary" => {
            let module = spirv();
            machine.divide(&module);
            std::fs::write(binary, module.native_binary().unwrap()).unwrap();
            machine.divide(&module);
        }
        "from the binary" => {
            let bytes = std::fs::read(binary).unwrap();
            let module = machine.build(ModuleSource::Native(&bytes), "");
            let names = module.kernel_names().unwrap();
            assert_eq!(names.len(), KERNELS);
            for name in names {
                module.create_kernel(&name).unwrap();
            }
            machine.divide(&module);
        }
        "all at once" => {
            let module = spirv();
            let names = module.kernel_names().unwrap();
            std::thread::scope(|scope| {
                for thread in 0..6 {
                    let (machine, module, names) = (&machine, &module, &names);
                    scope.spawn(move || {
                        for i in 0..names.len() {
                            let name = &names[(i + thread % 2 * 12) % names.len()];
                            module.create_kernel(name).unwrap();
                        }
                        machine.divide(module);
                    });
                }
            });
        }
        "one work-item" => machine.count(&machine.build(ModuleSource::Spirv(LOOPS), ""), 1, 1),
        "few work-items" => machine.count(&machine.build(ModuleSource::Spirv(LOOPS), ""), 2, 5),
        "until there is full code" => {
            let module = machine.build(ModuleSource::Spirv(LOOPS), "");
            machine.count(&module, 1, 5);
            let cache = PathBuf::from(std::env::var_os("SOLUM_CACHE_DIR").unwrap());
            let before = content(&cache);
            let begun = std::time::Instant::now();
            while content(&cache) == before {
                machine.count(&module, 500, 37);
                assert!(begun.elapsed() < std::time::Duration::from_secs(120));
            }
            machine.count(&module, 500, 37);
        }
        "for some time" => {
            let module = machine.build(ModuleSource::Spirv(LOOPS), "");
            for _ in 0..20 {
                machine.count(&module, 500, 37);
            }
        }
        other => panic!("no role {other:?}"),
    }
}

#[test]
fn a_kernel_that_was_created_once_needs_no_code_generator_again() {
    let cache = Folder::new("cache");
    play("one kernel", conformance::artefacts(), &cache.0);
    assert_eq!(cache.entries(), 2, "the outline and one kernel");
    let bare = Folder::without_code_generator("bare");
    play("one kernel", &bare.0, &cache.0);
    play("one kernel, another is not there", &bare.0, &cache.0);
    assert_eq!(cache.entries(), 2);
}

#[test]
fn a_native_binary_has_all_kernels_and_so_has_the_cache_then() {
    let cache = Folder::new("binary");
    play("binary", conformance::artefacts(), &cache.0);
    let bare = Folder::without_code_generator("reload");
    play("from the binary", &bare.0, &cache.0);
    play("all at once", &bare.0, &cache.0);
}

#[test]
fn threads_that_create_the_same_kernels_at_once_each_get_them() {
    let cache = Folder::new("threads");
    play("all at once", conformance::artefacts(), &cache.0);
    assert_eq!(cache.entries(), KERNELS + 1);
}

#[test]
fn a_kernel_that_runs_long_enough_gets_full_code_while_it_runs() {
    let cache = Folder::new("hot");
    let libraries = conformance::artefacts();
    let log = play_in("both", "few work-items", libraries, &cache.0);
    assert!(log.contains(BASELINE) && !log.contains(REPLACED), "{log}");
    // From the cache, where it is baseline code: the compiler is opened for the better one only.
    let log = play_in("both", "until there is full code", libraries, &cache.0);
    assert!(log.contains(REPLACED), "{log}");
    assert_eq!(cache.entries(), 2, "full code is where baseline code was");
    // Now nothing is missing, whatever is wanted.
    let bare = Folder::without_code_generator("hot-bare");
    for tiers in ["both", "full", "baseline"] {
        let log = play_in(tiers, "for some time", &bare.0, &cache.0);
        assert!(!log.contains(BASELINE) && !log.contains(REPLACED), "{log}");
    }
}

#[test]
fn kernels_have_the_tiers_that_are_asked_for() {
    let libraries = conformance::artefacts();
    // (tiers, what runs, whether there is baseline code, whether it is replaced)
    for (tiers, role, has_baseline, is_replaced) in [
        ("full", "for some time", false, false),
        ("baseline", "for some time", true, false),
        ("baseline", "one work-item", true, false),
        // Who has one work-item that comes round cannot get better code meanwhile.
        ("both", "one work-item", true, true),
        ("both", "few work-items", true, false),
    ] {
        let cache = Folder::new("tiers");
        let log = play_in(tiers, role, libraries, &cache.0);
        assert_eq!(
            log.contains(BASELINE),
            has_baseline,
            "{tiers}, {role}: {log}"
        );
        assert_eq!(
            log.contains(REPLACED),
            is_replaced,
            "{tiers}, {role}: {log}"
        );
        // Baseline code is nothing for who wants full code.
        let log = play_in("full", "few work-items", libraries, &cache.0);
        assert!(!log.contains(BASELINE), "{tiers}, {role}: {log}");
        let is_made = log.contains("kernel \"loops\": lanes");
        assert_eq!(
            is_made,
            has_baseline && !is_replaced,
            "{tiers}, {role}: {log}"
        );
    }
}
