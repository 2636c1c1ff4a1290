//! Faults of hand-written machine code.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory that holds machine code, leaked.
fn code(bytes: &[u8]) -> usize {
    // SAFETY: fresh memory of a page; the code fits.
    unsafe {
        let page = libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(page, libc::MAP_FAILED);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), page.cast(), bytes.len());
        libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_EXEC);
        page as usize
    }
}

// mov rax, [rdi]; mov [rsi], rax; ret
const LOAD: &[u8] = &[0x48, 0x8b, 0x07, 0x48, 0x89, 0x06, 0xc3];
// xor eax, eax; cqo; idiv rax; ret
const DIVIDE: &[u8] = &[0x31, 0xc0, 0x48, 0x99, 0x48, 0xf7, 0xf8, 0xc3];
// push rax; call to itself
const RECURSE: &[u8] = &[0x50, 0xe8, 0xfa, 0xff, 0xff, 0xff];
// ud2
const STOP: &[u8] = &[0x0f, 0x0b];

#[test]
fn ten_thousand_faults_are_survived_and_distinguished() {
    let thread = std::thread::Builder::new().stack_size(1 << 20);
    let run = thread.spawn(|| {
        let guard = Guard::enter().unwrap();
        assert!(Guard::enter().is_none(), "one guard a thread");
        let (load, divide) = (code(LOAD), code(DIVIDE));
        let (recurse, stop) = (code(RECURSE), code(STOP));
        let mut out = 0u64;
        let to = std::ptr::from_mut(&mut out) as usize;
        let value = 77u64;
        let from = std::ptr::from_ref(&value) as usize;
        for round in 0..3400 {
            // SAFETY: our own machine code, which drops nothing.
            unsafe {
                let fault = guard.call(load, [8, to, 0, 0, 0]).unwrap_err();
                assert_eq!((fault.signal, fault.address), (libc::SIGSEGV, 8));
                assert_eq!(fault.instruction, load);
                let fault = guard.call(divide, [0; 5]).unwrap_err();
                assert_eq!(fault.signal, libc::SIGFPE);
                let fault = guard.call(stop, [0; 5]).unwrap_err();
                assert_eq!(fault.signal, libc::SIGILL);
                if round % 100 == 0 {
                    let fault = guard.call(recurse, [0; 5]).unwrap_err();
                    assert_eq!(fault.signal, libc::SIGSEGV);
                }
                guard.call(load, [from, to, 0, 0, 0]).unwrap();
            }
        }
        assert_eq!(out, 77);
    });
    run.unwrap().join().unwrap();
}

#[test]
fn copies_through_bad_pointers_are_faults_of_the_copy() {
    let guard = Guard::enter().unwrap();
    let mut bytes = [1u8; 64];
    let good = bytes.as_mut_ptr();
    assert_eq!(
        guard
            .move_bytes(good, std::ptr::null(), 8)
            .unwrap_err()
            .address,
        0
    );
    assert!(guard.move_bytes(16 as *mut u8, good, 8).is_err());
    assert!(guard.set_bytes(usize::MAX as *mut u8, 0, 1).is_err());
    assert!(
        guard
            .move_bytes(std::ptr::null_mut(), std::ptr::null(), 0)
            .is_ok()
    );
    guard.set_bytes(good, 9, 64).unwrap();
    assert_eq!(bytes, [9; 64]);
    // Inside a callback the guard is off, but a nested copy may ask for it again.
    disarmed(|| {
        assert!(!copy_here(good, 8 as *const u8, 4));
        assert!(copy_here(good, [3u8; 4].as_ptr(), 4));
    });
    assert_eq!(bytes[..5], [3, 3, 3, 3, 9]);
}

#[test]
fn guarded_code_has_its_own_sse_control_word() {
    // stmxcsr [rdi]; ret
    let store = code(&[0x0f, 0xae, 0x1f, 0xc3]);
    let guard = Guard::enter().unwrap();
    let mut seen = 0u32;
    for modes in [MODES_FLUSH, MODES] {
        guard.set_modes(modes);
        let to = std::ptr::from_mut(&mut seen) as usize;
        // SAFETY: our own machine code, which drops nothing.
        unsafe { guard.call(store, [to, 0, 0, 0, 0]).unwrap() };
        assert_eq!(seen & 0xffc0, modes & 0xffc0);
    }
}

#[test]
fn a_reset_ends_only_calls_on_its_device() {
    use super::watchdog::{Limit, end};
    // 1: mov eax, [rdi]; test eax, eax; je 1b; ret
    let spin = code(&[0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3]);
    static FLAGS: [std::sync::atomic::AtomicU32; 2] =
        [const { std::sync::atomic::AtomicU32::new(0) }; 2];
    // Devices that no other test uses.
    let run = |which: usize| {
        std::thread::spawn(move || {
            let guard = Guard::enter().unwrap();
            let flag = FLAGS[which].as_ptr() as usize;
            // SAFETY: our own machine code, which reads a static.
            unsafe { guard.call_until(&Limit::new(100 + which), spin, [flag, 0, 0, 0, 0]) }
        })
    };
    let before = Limit::new(100);
    let (ended, other) = (run(0), run(1));
    while !ended.is_finished() {
        end(&[100]);
    }
    let fault = ended.join().unwrap().unwrap_err();
    assert!(fault.to_string().contains("reset"), "{fault}");
    assert!(before.over(0).is_some_and(|why| why.contains("reset")));
    assert!(!other.is_finished());
    FLAGS[1].store(1, std::sync::atomic::Ordering::Relaxed);
    other.join().unwrap().unwrap();
    assert_eq!(Limit::new(100).over(0), None);
}

/// Copies as a printf does, until 50 ms after `BEGUN`, then spins until `FREE`.
unsafe extern "C" fn print_and_spin(bytes: *mut u8, len: usize) {
    disarmed(|| {
        let mut end = u64::MAX;
        while crate::clock::now_ns() < end {
            assert!(
                copy_here(bytes, bytes.wrapping_add(len), len),
                "good memory"
            );
            if BEGUN.load(Ordering::SeqCst) && end == u64::MAX {
                end = crate::clock::now_ns() + 50_000_000;
            }
        }
    });
    while !FREE.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

static BEGUN: AtomicBool = AtomicBool::new(false);
static FREE: AtomicBool = AtomicBool::new(false);

#[test]
fn a_reset_that_meets_a_callback_ends_the_call_after_it() {
    use super::watchdog::{Limit, end};
    const LEN: usize = 4 << 20;
    let run = std::thread::spawn(|| {
        let guard = Guard::enter().unwrap();
        let bytes = vec![1u8; 2 * LEN].leak().as_mut_ptr() as usize;
        let code = print_and_spin as *const () as usize;
        // SAFETY: the function drops nothing where it can be left.
        unsafe { guard.call_until(&Limit::new(102), code, [bytes, LEN, 0, 0, 0]) }
    });
    // Time for the first copies.
    std::thread::sleep(std::time::Duration::from_millis(20));
    BEGUN.store(true, Ordering::SeqCst);
    end(&[102]);
    let waited = std::time::Instant::now();
    while !run.is_finished() && waited.elapsed().as_secs() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    FREE.store(true, Ordering::Relaxed);
    let fault = run.join().unwrap().unwrap_err();
    assert!(fault.to_string().contains("reset"), "{fault}");
}
