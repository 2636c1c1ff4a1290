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
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "roles", "--nocapture", "--test-threads=1"])
        .env("LD_LIBRARY_PATH", libraries)
        .env("LATE_LIBRARIES", libraries)
        .env("LATE_ROLE", role)
        .env("SOLUM_CACHE_DIR", cache)
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
