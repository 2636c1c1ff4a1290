//! The end of a process while its threads compile: the test runs itself again as a program that ends then.

#![cfg(llvm)]

use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kernel_ir::Request;
use kernel_ir::build::{Reply, SpirvInput};

const CONTROL: &[u8] = include_bytes!("../../kernel-ir/tests/corpus/control.spv");
/// Set in the program that ends.
const ROLE: &str = "SOLUM_TEST_ENDS";
/// The program's exit code, and its code when something was not as it should be.
const ENDED: i32 = 7;
const FAILED: i32 = 3;
/// A program that runs for so long hangs: it takes less than two seconds.
const HANGS_SECONDS: u32 = 120;

/// This process is the program that ends.
static ENDS: AtomicBool = AtomicBool::new(false);
/// Replies that the program's threads got.
static REPLIES: AtomicU64 = AtomicU64::new(0);

fn compile() -> Reply {
    REPLIES.fetch_add(1, Ordering::Relaxed);
    codegen_llvm::compile(&Request {
        modules: vec![SpirvInput {
            words: CONTROL.to_vec(),
            constants: Vec::new(),
        }],
        cpu: "x86-64-v3".into(),
        sub_group_size: 16,
        ..Request::default()
    })
}

fn wait_for_replies(count: u64) {
    while REPLIES.load(Ordering::Relaxed) < count {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Whether LLVM is a library of its own, whose static variables are destroyed at the end of the process.
fn llvm_is_shared() -> bool {
    std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("libLLVM"))
}

extern "C" fn at_start() {
    // SAFETY: a function without arguments.
    unsafe { libc::atexit(late) };
}

/// The number puts it before the constructors of the program's C++ code: what it registers runs after their destructors.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static AT_START: extern "C" fn() = at_start;

/// The program's threads go on when it runs, and it compiles itself.
extern "C" fn late() {
    if !ENDS.load(Ordering::Relaxed) {
        return;
    }
    wait_for_replies(REPLIES.load(Ordering::Relaxed) + 8);
    let is_right = match compile() {
        Ok(_) => !llvm_is_shared(),
        Err(error) => llvm_is_shared() && error.message.ends_with("because the process ends"),
    };
    if !is_right {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(FAILED) };
    }
}

/// Not a test of its own: the program.
#[test]
#[cfg_attr(
    shared_llvm,
    ignore = "exit destroys a shared libLLVM's variables: SOLUM_LLVM=static"
)]
fn role() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    ENDS.store(true, Ordering::Relaxed);
    // SAFETY: no pointers; the signal ends the process.
    unsafe { libc::alarm(HANGS_SECONDS) };
    for _ in 0..4 {
        std::thread::spawn(|| {
            loop {
                drop(compile());
            }
        });
    }
    wait_for_replies(4);
    // SAFETY: no pointers.
    unsafe { libc::exit(ENDED) };
}

#[test]
#[cfg_attr(
    shared_llvm,
    ignore = "exit destroys a shared libLLVM's variables: SOLUM_LLVM=static"
)]
fn a_process_may_end_while_its_threads_compile() {
    for _ in 0..3 {
        let mut program = Command::new(std::env::current_exe().expect("this program"));
        program.args(["--exact", "role", "--nocapture"]);
        let output = program.env(ROLE, "1").output().expect("a process");
        assert_eq!(
            output.status.code(),
            Some(ENDED),
            "{}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
