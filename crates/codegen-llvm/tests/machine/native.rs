//! Loads an object the way a linker does, and calls a kernel of it.

use std::cell::RefCell;
use std::ffi::c_int;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use codegen_llvm::Settings;
use kernel_ir::abi::{Launch, ModuleInfo};

type KernelFn = unsafe extern "C" fn(*const u8, *const Launch, u64, u64, *mut u8);
type PrintfFn = extern "C" fn(u64, u32, *const u8, u32) -> c_int;

/// A folder that goes away with the test.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "solum-codegen-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("scratch folder");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

thread_local! {
    static PRINTED: RefCell<Vec<(u32, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn printed(_: u64, format: u32, blob: *const u8, len: u32) -> c_int {
    // SAFETY: the kernel passes its record and the record's length.
    let bytes = unsafe { std::slice::from_raw_parts(blob, len as usize) };
    PRINTED.with_borrow_mut(|all| all.push((format, bytes.to_vec())));
    0
}

/// A compiled module in memory.
pub(crate) struct Native {
    library: libloading::Library,
    pub(crate) info: ModuleInfo,
    /// LLVM's text of it.
    pub(crate) text: String,
    _scratch: Scratch,
}

/// Code for any x86-64 processor of the last ten years.
pub(crate) fn settings(sub_group_size: u32) -> Settings {
    Settings {
        cpu: "x86-64-v3".into(),
        features: String::new(),
        sub_group_size,
        options: kernel_ir::Options::default(),
        wide: true,
        lanes: None,
    }
}

impl Native {
    pub(crate) fn new(module: kernel_ir::Module, settings: Settings) -> Self {
        let text = codegen_llvm::llvm_text(&module, &settings).unwrap_or_default();
        let compiled = codegen_llvm::compile_module(module, settings)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scratch = Scratch::new();
        let file = |name: &str| scratch.0.join(name);
        std::fs::write(file("kernels.o"), &compiled.object).expect("object");
        std::fs::write(
            file("printf.c"),
            "int (*hook)(unsigned long, unsigned, const void*, unsigned);\n\
             int solum_printf(unsigned long p, unsigned f, const void* b, unsigned n) { return hook(p, f, b, n); }\n\
             unsigned long solum_callee(const unsigned long* r, unsigned long type, unsigned long program) {\n\
               if (r[0] != 0x6e6f6974636e7566 || r[1] != type || r[2] && r[2] != program || !r[3]) __builtin_trap();\n\
               return r[3]; }\n",
        )
        .expect("stub");
        let out = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .args(["kernels.so", "kernels.o", "printf.c", "-lm"].map(file_name(&scratch)))
            .output()
            .expect("cc");
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        // SAFETY: the library was just made and has no initialisers.
        let library = unsafe { libloading::Library::new(file("kernels.so")) }.expect("load");
        // SAFETY: the stub's variable is a function pointer of that type.
        unsafe {
            let hook: libloading::Symbol<'_, *mut PrintfFn> = library.get(b"hook").expect("hook");
            **hook = printed;
        }
        Self {
            library,
            info: compiled.info,
            text,
            _scratch: scratch,
        }
    }

    /// Runs kernel `index`; returns what it printed.
    ///
    /// # Safety
    /// Arguments, launch and memory are what the kernel expects.
    pub(crate) unsafe fn run(
        &self,
        index: usize,
        args: &[u8],
        launch: &Launch,
        groups: std::ops::Range<u64>,
        memory: *mut u8,
    ) -> Vec<(u32, Vec<u8>)> {
        let symbol = self.info.kernels[index].symbol.clone();
        // SAFETY: every kernel has this signature.
        let kernel: libloading::Symbol<'_, KernelFn> =
            unsafe { self.library.get(symbol.as_bytes()) }.expect("kernel");
        PRINTED.with_borrow_mut(Vec::clear);
        // SAFETY: the caller's word.
        unsafe {
            kernel(
                args.as_ptr(),
                launch,
                groups.start,
                groups.end - groups.start,
                memory,
            );
        }
        PRINTED.take()
    }
}

fn file_name(scratch: &Scratch) -> impl Fn(&str) -> PathBuf + '_ {
    |name| {
        if name.starts_with('-') {
            name.into()
        } else {
            scratch.0.join(name)
        }
    }
}
