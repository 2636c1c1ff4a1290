//! Loads an object as the driver does, and calls a kernel of it.

use std::cell::RefCell;
use std::ffi::c_int;

use codegen_llvm::Settings;
use kernel_ir::abi::{CALLEE_SYMBOL, Launch, ModuleInfo, PRINTF_SYMBOL, TRAP_SYMBOL};
use object_loader::Image;

type KernelFn = unsafe extern "C" fn(*const u8, *const Launch, u64, u64, *mut u8);

thread_local! {
    static PRINTED: RefCell<Vec<(u32, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn printed(_: u64, format: u32, blob: *const u8, len: u32) -> c_int {
    // SAFETY: the kernel passes its record and the record's length.
    let bytes = unsafe { std::slice::from_raw_parts(blob, len as usize) };
    PRINTED.with_borrow_mut(|all| all.push((format, bytes.to_vec())));
    0
}

/// What the driver's function of that name does: a kernel here calls only functions of its own program.
extern "C" fn callee(record: *const u64, signature: u64, program: u64) -> u64 {
    // SAFETY: the tests' kernels call through addresses of records only.
    let record = unsafe { std::slice::from_raw_parts(record, 4) };
    let known = record[0] == u64::from_le_bytes(*b"function") && record[1] == signature;
    let ours = record[2] == 0 || record[2] == program;
    // A panic here ends the process: it cannot unwind through the kernel.
    assert!(
        known && ours && record[3] != 0,
        "no such function: {record:x?}, wanted {signature:x} of {program:x}"
    );
    record[3]
}

/// No test's kernel gets there: those that trap are the driver's to test.
extern "C" fn trapped(_: *const u64, _: u32, word: u32) {
    // A panic here ends the process: it cannot unwind through the kernel.
    panic!("the kernel trapped at word {word}");
}

pub(crate) fn external(name: &str) -> Option<usize> {
    match name {
        PRINTF_SYMBOL => Some(printed as *const () as usize),
        TRAP_SYMBOL => Some(trapped as *const () as usize),
        CALLEE_SYMBOL => Some(callee as *const () as usize),
        _ => object_loader::mathematics(name),
    }
}

/// A compiled module in memory.
pub(crate) struct Native {
    image: Image,
    pub(crate) info: ModuleInfo,
    module: kernel_ir::Module,
    settings: Settings,
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
        baseline: false,
    }
}

/// Whether this processor has all of x86-64-v4.
pub(crate) fn v4() -> bool {
    std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512cd")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
}

impl Native {
    pub(crate) fn new(module: kernel_ir::Module, settings: Settings) -> Self {
        let text = || codegen_llvm::llvm_text(&module, &settings).unwrap_or_default();
        let compiled = codegen_llvm::compile_module(module.clone(), settings.clone())
            .unwrap_or_else(|error| panic!("{error}\n{}", text()));
        let image = object_loader::load(&compiled.object, &external)
            .unwrap_or_else(|refusal| panic!("{refusal}\n{}", text()));
        Self {
            image,
            info: compiled.info,
            module,
            settings,
        }
    }

    /// LLVM's text of it.
    pub(crate) fn text(&self) -> String {
        codegen_llvm::llvm_text(&self.module, &self.settings).unwrap_or_default()
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
        let symbol = self.info.kernels[index].symbol.as_str();
        let place = self.image.symbol(symbol).expect("kernel");
        // SAFETY: every kernel has this signature.
        let kernel = unsafe { std::mem::transmute::<usize, KernelFn>(place.address) };
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

    /// Runs all groups of the first kernel, with the memory that its information asks for.
    ///
    /// # Safety
    /// The block is of this kernel, and the kernel stays within what its addresses lead to.
    pub(crate) unsafe fn run_all(&self, block: &[u8], launch: &Launch) {
        let info = &self.info.kernels[0];
        let mut args = vec![0u128; block.len().div_ceil(16)];
        let blocks = u64::from(launch.items_per_group.div_ceil(info.width.max(1)));
        let room = launch.state_offset + info.state_per_block * blocks;
        let mut memory = vec![0xaa_u8; room as usize + 128];
        let at = memory.as_mut_ptr().align_offset(64);
        // SAFETY: `args` has the block's size, memory what the information asks for; the rest is the caller's word.
        unsafe {
            std::ptr::copy_nonoverlapping(block.as_ptr(), args.as_mut_ptr().cast(), block.len());
            let args = std::slice::from_raw_parts(args.as_ptr().cast(), block.len());
            let groups = 0..u64::from(launch.group_count[0]);
            self.run(0, args, launch, groups, memory.as_mut_ptr().add(at));
        }
    }
}
